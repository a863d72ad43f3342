//! Islands: dynamic bodies that touch or are joined, directly or through others. Bodies that are
//! not dynamic do not join islands.

use crate::contact::Contact;
use crate::profile::held;
use crate::world::WorldState;

/// The islands of a step, as ranges into three lists.
#[derive(Default)]
pub(crate) struct Islands {
    parent: Vec<u32>,
    /// Island of each slot, `NONE` for a body in no island.
    island: Vec<u32>,
    /// Slots of dynamic bodies, island after island, ascending in each.
    pub(crate) bodies: Vec<u32>,
    /// Indices of contact points, island after island, ascending in each.
    pub(crate) contacts: Vec<u32>,
    /// Slots of joints, island after island, ascending in each.
    pub(crate) joints: Vec<u32>,
    /// One an island, in the order of its smallest body.
    pub(crate) ranges: Vec<IslandRange>,
}

/// Where an island lies in the lists of [`Islands`].
#[derive(Clone, Debug, Default)]
pub(crate) struct IslandRange {
    pub(crate) bodies: std::ops::Range<usize>,
    pub(crate) contacts: std::ops::Range<usize>,
    pub(crate) joints: std::ops::Range<usize>,
}

pub(crate) const NONE: u32 = u32::MAX;

impl Islands {
    /// What is held here.
    pub(crate) fn bytes(&self) -> usize {
        held(&self.parent)
            + held(&self.island)
            + held(&self.bodies)
            + held(&self.contacts)
            + held(&self.joints)
            + held(&self.ranges)
    }

    pub(crate) fn build(&mut self, state: &WorldState, points: &[Contact]) {
        let slots = state.bodies.len();
        self.parent.clear();
        self.parent.extend(0..slots as u32);
        self.island.clear();
        self.island.resize(slots, NONE);
        let dynamic = |index: u32| {
            state.bodies[index as usize]
                .value
                .as_ref()
                .is_some_and(|b| b.is_dynamic())
        };
        // Bodies with a contact or joint are marked with island 0 until the islands have numbers; roots are
        // the smallest.
        let mut last = (NONE, NONE);
        for p in points {
            let (a, b) = (p.a.index, p.b.index);
            if (a, b) != last {
                last = (a, b);
                self.link(a, b, &dynamic);
            }
        }
        for joint in state.joints.iter().filter_map(|slot| slot.value.as_ref()) {
            self.link(joint.joint.a.index, joint.joint.b.index, &dynamic);
        }

        // Number the islands in the order of their smallest body.
        self.ranges.clear();
        for index in 0..slots as u32 {
            if self.island[index as usize] != NONE {
                let root = self.find(index);
                let island = if root == index {
                    self.ranges.push(IslandRange::default());
                    self.ranges.len() as u32 - 1
                } else {
                    self.island[root as usize]
                };
                self.island[index as usize] = island;
            }
        }
        let island_of = |a: u32, b: u32| if dynamic(a) { a } else { b };
        let count = self.ranges.len();
        let members = (0..slots as u32).filter(|i| self.island[*i as usize] != NONE);
        let keys = members.map(|i| (self.island[i as usize], i));
        sort_into(keys, count, &mut self.bodies, |k, r| {
            self.ranges[k].bodies = r
        });
        let keys = points.iter().enumerate().map(|(i, p)| {
            (
                self.island[island_of(p.a.index, p.b.index) as usize],
                i as u32,
            )
        });
        sort_into(keys, count, &mut self.contacts, |k, r| {
            self.ranges[k].contacts = r
        });
        let joints = state.joints.iter().enumerate().filter_map(|(i, slot)| {
            let joint = slot.value.as_ref()?.joint;
            let island = self.island[island_of(joint.a.index, joint.b.index) as usize];
            // A joint whose bodies have both stopped being dynamic holds nothing.
            (island != NONE).then_some((island, i as u32))
        });
        sort_into(joints, count, &mut self.joints, |k, r| {
            self.ranges[k].joints = r
        });
    }

    fn link(&mut self, a: u32, b: u32, dynamic: &impl Fn(u32) -> bool) {
        let (moves_a, moves_b) = (dynamic(a), dynamic(b));
        for (index, moves) in [(a, moves_a), (b, moves_b)] {
            if moves {
                self.island[index as usize] = 0;
            }
        }
        if moves_a && moves_b {
            let (a, b) = (self.find(a), self.find(b));
            self.parent[a.max(b) as usize] = a.min(b);
        }
    }

    /// The root of a set, its smallest member; halves the path on the way.
    fn find(&mut self, mut index: u32) -> u32 {
        while self.parent[index as usize] != index {
            let up = self.parent[self.parent[index as usize] as usize];
            self.parent[index as usize] = up;
            index = up;
        }
        index
    }
}

/// Stable counting sort of `(island, item)` into `out`; `place` is told each island's range.
fn sort_into(
    keys: impl Iterator<Item = (u32, u32)> + Clone,
    islands: usize,
    out: &mut Vec<u32>,
    mut place: impl FnMut(usize, std::ops::Range<usize>),
) {
    let mut starts = vec![0_usize; islands + 1];
    for (island, _) in keys.clone() {
        starts[island as usize + 1] += 1;
    }
    for i in 0..islands {
        starts[i + 1] += starts[i];
        place(i, starts[i]..starts[i + 1]);
    }
    out.clear();
    out.resize(starts[islands], 0);
    for (island, item) in keys {
        out[starts[island as usize]] = item;
        starts[island as usize] += 1;
    }
}
