//! Looking through the boxes without changing them.
//!
//! Proxies that wait to be put into a tree are looked at one by one, so that an answer never depends
//! on whether [`BroadPhase::update`] was called.

use super::tree::Tree;
use super::{BroadPhase, Kind};
use crate::Aabb;
use moreau_math::Vec3;

/// Relative rounding of the parameters at which a line enters a box, several operations deep.
const ROUNDING: f64 = 1e-12;

/// A box on a straight way: the point `start` + t `way`, and `half` around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoxPath {
    pub(crate) start: Vec3,
    pub(crate) way: Vec3,
    pub(crate) half: Vec3,
}

impl BoxPath {
    /// When the moving box meets `aabb`, in t >= 0, not later than it truly does; None where it does
    /// not.
    pub(crate) fn meets(&self, aabb: &Aabb) -> Option<f64> {
        let (mut enter, mut leave) = (0.0f64, f64::INFINITY);
        for axis in 0..3 {
            let (start, way, half) = (self.start[axis], self.way[axis], self.half[axis]);
            let (min, max) = (aabb.min[axis] - half, aabb.max[axis] + half);
            let room = ROUNDING * (start.abs() + half);
            let (min, max) = (min - start - room, max - start + room);
            if way == 0.0 {
                if min > 0.0 || max < 0.0 {
                    return None;
                }
            } else {
                let (t0, t1) = (min / way, max / way);
                enter = enter.max(t0.min(t1) * (1.0 - ROUNDING));
                leave = leave.min(t0.max(t1) * (1.0 + ROUNDING));
            }
        }
        (enter <= leave).then_some(enter)
    }
}

/// Square of the distance between two boxes; 0 where they overlap.
fn square_between(a: &Aabb, b: &Aabb) -> f64 {
    let apart = (a.min - b.max).max(b.min - a.max).max(Vec3::ZERO);
    apart.length_squared() * (1.0 - ROUNDING)
}

impl BroadPhase {
    /// Puts what was set since the last call into the trees, so that the queries that follow are
    /// fast; their answers do not depend on it.
    pub fn update(&mut self) {
        self.update_trees();
    }

    /// Calls `visit` with the id of every proxy whose box overlaps `aabb`, in no order.
    pub(crate) fn visit_overlaps(&self, aabb: &Aabb, mut visit: impl FnMut(u32)) {
        if aabb.is_empty() {
            return;
        }
        let wanted = |b: &Aabb| b.overlaps(aabb).then_some(0.0);
        self.visit(wanted, f64::INFINITY, |id, limit| {
            visit(id);
            limit
        });
    }

    /// Calls `visit` with the id of every proxy whose box the moving box meets before the limit,
    /// about in the order in which it does; what `visit` returns is the limit from then on.
    pub(crate) fn visit_path(
        &self,
        path: &BoxPath,
        limit: f64,
        visit: impl FnMut(u32, f64) -> f64,
    ) {
        self.visit(|b| path.meets(b), limit, visit);
    }

    /// Calls `visit` with the id of every proxy whose box is at most the limit (m) away from `aabb`,
    /// about the nearest first; what `visit` returns is the limit from then on.
    pub(crate) fn visit_near(
        &self,
        aabb: &Aabb,
        limit: f64,
        mut visit: impl FnMut(u32, f64) -> f64,
    ) {
        let square = |limit: f64| limit * limit * (1.0 + 4.0 * ROUNDING);
        let mut limit = limit;
        self.visit(
            |b| Some(square_between(b, aabb)),
            square(limit),
            |id, _| {
                limit = visit(id, limit);
                square(limit)
            },
        );
    }

    /// `cost` of a box is at most that of every box inside of it; None for all where none matters.
    fn visit(
        &self,
        cost: impl Fn(&Aabb) -> Option<f64>,
        mut limit: f64,
        mut visit: impl FnMut(u32, f64) -> f64,
    ) {
        let mut leaf = |slot: u32, limit: f64| {
            let index = slot as usize;
            match cost(&self.tight[index]) {
                Some(cost) if cost <= limit => visit(self.proxies[index].id, limit),
                _ => limit,
            }
        };
        for &slot in &self.unbounded {
            limit = leaf(slot, limit);
        }
        for &slot in &self.unplaced {
            // A slot may be listed and have lost its owner, or have become unbounded since.
            if matches!(self.kinds[slot as usize], Kind::Static | Kind::Moving) {
                limit = leaf(slot, limit);
            }
        }
        // A leaf whose proxy waits holds an earlier box, and the proxy was looked at.
        let mut placed = |slot: u32, limit: f64| match self.proxies[slot as usize].unplaced {
            true => limit,
            false => leaf(slot, limit),
        };
        let mut stack = Vec::with_capacity(64);
        for tree in [&self.static_tree, &self.moving_tree] {
            limit = tree.visit(&mut stack, &cost, limit, &mut placed);
        }
    }
}

impl Tree {
    /// Depth first, the cheaper child first; returns the last limit.
    fn visit(
        &self,
        stack: &mut Vec<(f64, u32)>,
        cost: &impl Fn(&Aabb) -> Option<f64>,
        mut limit: f64,
        leaf: &mut impl FnMut(u32, f64) -> f64,
    ) -> f64 {
        stack.clear();
        if let Some(root) = self.nodes.get(self.root as usize)
            && let Some(cost) = cost(&root.aabb)
        {
            stack.push((cost, self.root));
        }
        while let Some((at, index)) = stack.pop() {
            if at > limit {
                continue;
            }
            let node = &self.nodes[index as usize];
            if node.is_leaf() {
                limit = leaf(node.children[0], limit);
                continue;
            }
            let [a, b] = node.children.map(|c| {
                let cost = cost(&self.nodes[c as usize].aabb);
                cost.map(|cost| (cost, c))
            });
            let (first, second) = match (a, b) {
                (Some(a), Some(b)) if b.0 < a.0 => (Some(b), Some(a)),
                both => both,
            };
            stack.extend(
                second
                    .into_iter()
                    .chain(first)
                    .filter(|child| child.0 <= limit),
            );
        }
        limit
    }
}
