//! Building a whole tree of boxes at once, top down.
//!
//! Many boxes are divided where the highest bit of their codes changes (`order.rs`), which halves the cube
//! that holds them. A cluster of fewer is dealt into bins by their centers along the axis on which these
//! spread most; the cut between two bins with the least n_left area_left + n_right area_right divides
//! them. Costs less than inserting them one by one, about the same for each however many there are, and gives
//! the better tree.

use super::order::doubled_center;
use super::tree::{Node, Tree};
use crate::Aabb;

const BINS: usize = 8;

/// Most boxes that are divided by the cost of the cut.
const CLUSTER: usize = 64;

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
    /// Replaces the tree by one over `leaves` (slot and box) with their codes in order, and reorders them
    /// further. Calls `placed` with each slot and the node of its leaf, neighbours one after another.
    pub(super) fn rebuild(
        &mut self,
        (leaves, codes): (&mut [(u32, Aabb)], &[u32]),
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
            let middle = match split_by_code(&codes[task.start..task.end]) {
                Some(middle) => middle,
                None => split(run, task.depth),
            };
            self.nodes.push(Node {
                aabb: Aabb::EMPTY,
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
        // Children come after their parents, so one pass backwards finds boxes and heights.
        for index in (1..self.nodes.len()).rev() {
            let Node {
                aabb,
                parent,
                height,
                ..
            } = self.nodes[index];
            let above = &mut self.nodes[parent as usize];
            above.aabb = above.aabb.union(&aabb);
            above.height = above.height.max(height + 1);
        }
    }
}

/// Where the highest bit in which codes differ changes; None for a cluster and where all are the same.
fn split_by_code(codes: &[u32]) -> Option<usize> {
    let [first, .., last] = codes else {
        return None;
    };
    let differing = first ^ last;
    if codes.len() <= CLUSTER || differing == 0 {
        return None;
    }
    let bit = 1 << differing.ilog2();
    Some(codes.partition_point(|code| code & bit == 0))
}

/// Reorders two or more boxes into two parts; returns where the second part starts.
fn split(run: &mut [(u32, Aabb)], depth: u32) -> usize {
    let mut centers = Aabb::EMPTY;
    for (_, aabb) in run.iter() {
        centers.include(doubled_center(aabb));
    }
    let spread = centers.extents();
    let axis = spread.max_position();
    let half = run.len() / 2;
    if run.len() == 2 || spread[axis] == 0.0 {
        return half;
    }
    if depth > DEEP {
        let center = |leaf: &(u32, Aabb)| doubled_center(&leaf.1)[axis];
        run.select_nth_unstable_by(half, |a, b| center(a).total_cmp(&center(b)));
        return half;
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
    middle
}
