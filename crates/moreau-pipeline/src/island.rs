//! Islands: awake dynamic bodies that touch or are joined, directly or through others. Bodies that are
//! not dynamic, or asleep, do not join islands.

use crate::activity::Activity;
use crate::contact::Contact;
use crate::profile::held;
use crate::share::SHARE;
use crate::world::WorldState;
use rayon::prelude::*;

/// The islands of a step, as ranges into three lists.
#[derive(Default)]
pub(crate) struct Islands {
    /// The bodies of each contact point, by slot, apart from the points themselves: most passes ask for no more.
    pub(crate) ends: Vec<(u32, u32)>,
    parent: Vec<u32>,
    /// Of the sort by island.
    starts: Vec<usize>,
    /// Island of each slot, `NONE` for a body in no island.
    island: Vec<u32>,
    /// Place of each slot among the bodies of its island.
    pub(crate) places: Vec<u32>,
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
        held(&self.ends)
            + held(&self.parent)
            + held(&self.island)
            + held(&self.places)
            + held(&self.bodies)
            + held(&self.contacts)
            + held(&self.joints)
            + held(&self.ranges)
            + held(&self.starts)
    }

    /// Whether the body in a slot is in an island.
    pub(crate) fn holds(&self, slot: u32) -> bool {
        self.island[slot as usize] != NONE
    }

    /// The island of the body in a slot.
    pub(crate) fn island_of(&self, slot: u32) -> Option<&IslandRange> {
        self.ranges.get(self.island[slot as usize] as usize)
    }

    /// Lists the bodies of all contact points.
    pub(crate) fn list_ends(&mut self, points: &[Contact], parallel: bool) {
        let ends = |p: &Contact| (p.a.index, p.b.index);
        if parallel && points.len() >= 2 * SHARE {
            let points = points.par_iter().with_min_len(SHARE);
            points.map(ends).collect_into_vec(&mut self.ends);
        } else {
            self.ends.clear();
            self.ends.extend(points.iter().map(ends));
        }
    }

    /// Makes the islands anew. The bodies of the contact points are those that were listed last.
    pub(crate) fn build(&mut self, state: &WorldState, activity: &Activity) {
        let slots = state.bodies.len();
        // Only the bodies that take part are looked at.
        for index in self.bodies.drain(..) {
            self.island[index as usize] = NONE;
        }
        self.parent.resize(slots, NONE);
        self.island.resize(slots, NONE);
        for index in &activity.bodies {
            self.parent[*index as usize] = *index;
        }
        let dynamic = |index: u32| activity.marks[index as usize].moves();
        let ends = std::mem::take(&mut self.ends);
        // Bodies with a contact or joint are marked with island 0 until the islands have numbers; roots are
        // the smallest.
        for run in ends.chunk_by(PartialEq::eq) {
            self.link(run[0].0, run[0].1, &dynamic);
        }
        let joint = |slot: &u32| state.joints[*slot as usize].value.map(|j| j.joint);
        for joint in activity.joints.iter().filter_map(joint) {
            self.link(joint.a.index, joint.b.index, &dynamic);
        }

        // Number the islands in the order of their smallest body.
        self.ranges.clear();
        for &index in &activity.bodies {
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
        let (ranges, starts, island) = (&mut self.ranges, &mut self.starts, &self.island);
        let place = |index: u32| island[index as usize];
        let bodies = activity.bodies.iter().map(|i| (place(*i), *i));
        let keys = bodies.filter(|(island, _)| *island != NONE);
        sort_into(keys, (ranges, starts), &mut self.bodies, |range, r| {
            range.bodies = r
        });
        self.places.resize(slots, NONE);
        for range in ranges.iter() {
            for (place, slot) in (0..).zip(&self.bodies[range.bodies.clone()]) {
                self.places[*slot as usize] = place;
            }
        }
        if let [only] = &mut ranges[..] {
            only.contacts = 0..ends.len();
            self.contacts.clear();
            self.contacts.extend(0..ends.len() as u32);
        } else {
            let keys = (0..).zip(&ends);
            let keys = keys.map(|(i, (a, b))| (place(island_of(*a, *b)), i));
            sort_into(keys, (ranges, starts), &mut self.contacts, |range, r| {
                range.contacts = r
            });
        }
        let joints = activity.joints.iter().filter_map(|slot| {
            let joint = joint(slot)?;
            let island = place(island_of(joint.a.index, joint.b.index));
            // A joint whose bodies have both stopped being dynamic holds nothing.
            (island != NONE).then_some((island, *slot))
        });
        sort_into(joints, (ranges, starts), &mut self.joints, |range, r| {
            range.joints = r
        });
        self.ends = ends;
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
    (ranges, starts): (&mut [IslandRange], &mut Vec<usize>),
    out: &mut Vec<u32>,
    place: impl Fn(&mut IslandRange, std::ops::Range<usize>),
) {
    starts.clear();
    starts.resize(ranges.len() + 1, 0);
    for (island, _) in keys.clone() {
        starts[island as usize + 1] += 1;
    }
    for (i, range) in ranges.iter_mut().enumerate() {
        starts[i + 1] += starts[i];
        place(range, starts[i]..starts[i + 1]);
    }
    out.clear();
    out.resize(starts[ranges.len()], 0);
    for (island, item) in keys {
        out[starts[island as usize]] = item;
        starts[island as usize] += 1;
    }
}
