//! Building a whole tree of boxes at once, top down.
//!
//! Boxes are dealt into bins by their centers along the axis on which the centers spread most; the
//! cut between two bins with the least n_left area_left + n_right area_right divides them. Costs less
//! than inserting them one by one, and gives the better tree.

use super::tree::{Node, Tree};
use crate::Aabb;
use moreau_math::Vec3;

const BINS: usize = 8;

/// Below this depth the boxes are halved by number, so that no arrangement makes a deep tree.
const DEEP: u32 = 40;

const NONE: u32 = u32::MAX;

/// A run of boxes that waits to become the child of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    start: usize,
    end: usize,
    parent: u32,
    side: usize,
    depth: u32,
}

impl Tree {
    /// Replaces the tree by one over `leaves` (slot and box), which it reorders. Calls `placed` with
    /// each slot and the node of its leaf, neighbours one after another.
    pub(super) fn rebuild(
        &mut self,
        leaves: &mut [(u32, Aabb)],
        tasks: &mut Vec<Task>,
        mut placed: impl FnMut(u32, u32),
    ) {
        self.nodes.clear();
        self.free.clear();
        self.root = NONE;
        tasks.clear();
        if !leaves.is_empty() {
            self.root = 0;
            tasks.push(Task {
                start: 0,
                end: leaves.len(),
                parent: NONE,
                side: 0,
                depth: 0,
            });
        }
        while let Some(task) = tasks.pop() {
            let index = self.nodes.len() as u32;
            if task.parent != NONE {
                self.nodes[task.parent as usize].children[task.side] = index;
            }
            let run = &mut leaves[task.start..task.end];
            if let [(slot, aabb)] = *run {
                self.nodes.push(Node::leaf(slot, aabb, task.parent));
                placed(slot, index);
                continue;
            }
            let (aabb, middle) = split(run, task.depth);
            self.nodes.push(Node {
                aabb,
                parent: task.parent,
                children: [NONE; 2],
                height: 0,
            });
            let middle = task.start + middle;
            for (start, end, side) in [(middle, task.end, 1), (task.start, middle, 0)] {
                tasks.push(Task {
                    start,
                    end,
                    parent: index,
                    side,
                    depth: task.depth + 1,
                });
            }
        }
        // Children come after their parents, so one pass backwards finds the heights.
        for index in (1..self.nodes.len()).rev() {
            let Node { parent, height, .. } = self.nodes[index];
            let above = &mut self.nodes[parent as usize];
            above.height = above.height.max(height + 1);
        }
    }
}

/// Twice the center: it orders boxes as the center does.
fn doubled_center(aabb: &Aabb) -> Vec3 {
    aabb.min + aabb.max
}

/// Reorders two or more boxes into two parts; returns their union and where the second part starts.
fn split(run: &mut [(u32, Aabb)], depth: u32) -> (Aabb, usize) {
    let (mut bounds, mut centers) = (Aabb::EMPTY, Aabb::EMPTY);
    for (_, aabb) in run.iter() {
        bounds = bounds.union(aabb);
        centers.include(doubled_center(aabb));
    }
    let spread = centers.extents();
    let axis = spread.max_position();
    let half = run.len() / 2;
    if run.len() == 2 || spread[axis] == 0.0 {
        return (bounds, half);
    }
    if depth > DEEP {
        let center = |leaf: &(u32, Aabb)| doubled_center(&leaf.1)[axis];
        run.select_nth_unstable_by(half, |a, b| center(a).total_cmp(&center(b)));
        return (bounds, half);
    }

    let start = centers.min[axis];
    let scale = BINS as f64 / spread[axis];
    // The conversion saturates, so every box falls into a bin.
    let bin_of =
        |aabb: &Aabb| (((doubled_center(aabb)[axis] - start) * scale) as usize).min(BINS - 1);
    let mut bins = [(0usize, Aabb::EMPTY); BINS];
    for (_, aabb) in run.iter() {
        let bin = &mut bins[bin_of(aabb)];
        bin.0 += 1;
        bin.1 = bin.1.union(aabb);
    }
    let cost = |bins: &[(usize, Aabb)]| {
        let union = |(n, u): (usize, Aabb), b: &(usize, Aabb)| (n + b.0, u.union(&b.1));
        let (count, union) = bins.iter().fold((0, Aabb::EMPTY), union);
        count as f64 * union.half_area()
    };
    // The first and the last bin hold a box each, so no cut leaves a side empty.
    let mut best = (1, f64::INFINITY);
    for cut in 1..BINS {
        let total = cost(&bins[..cut]) + cost(&bins[cut..]);
        if total < best.1 {
            best = (cut, total);
        }
    }
    let mut middle = 0;
    for i in 0..run.len() {
        if bin_of(&run[i].1) < best.0 {
            run.swap(i, middle);
            middle += 1;
        }
    }
    // Only a spread that underflows could put all boxes in one bin.
    if middle == 0 || middle == run.len() {
        middle = half;
    }
    (bounds, middle)
}
