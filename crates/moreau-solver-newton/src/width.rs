//! Graphs that no order factors cheaply, seen without looking for one.
//!
//! A search in breadth goes through a graph level by level, and an elimination in that order has the widths of two
//! levels in its columns. That is an order for chains and walls, at some times the work of the best, and for heaps
//! at a few times it. So what would take many times the limit in that order is not worth the search for a better
//! one, which costs as much as a solve by sweeps where thousands of bodies lie in a heap.

/// By how many times the limit.
const FAR: f64 = 20.0;

/// A node with more neighbours than this many times the mean is a plate or a floor on which much lies: no level goes
/// through it, and it comes last.
const HUB: usize = 6;

/// Of each node its neighbours, one list after the other.
struct Lists {
    start: Vec<u32>,
    all: Vec<u32>,
}

impl Lists {
    fn new(nodes: usize, edges: &[(u32, u32)]) -> Self {
        let mut start = vec![0_u32; nodes + 1];
        for (a, b) in edges {
            start[*a as usize] += 1;
            start[*b as usize] += 1;
        }
        let mut sum = 0;
        for count in &mut start {
            sum += *count;
            *count = sum;
        }
        let mut all = vec![0_u32; sum as usize];
        for (a, b) in edges {
            for (from, to) in [(*a, *b), (*b, *a)] {
                start[from as usize] -= 1;
                all[start[from as usize] as usize] = to;
            }
        }
        Self { start, all }
    }

    fn of(&self, node: u32) -> &[u32] {
        &self.all[self.start[node as usize] as usize..self.start[node as usize + 1] as usize]
    }
}

/// Whether a graph, and what it fills up with, is far too wide for `most` block operations.
pub(crate) fn is_far_beyond(nodes: usize, edges: &[(u32, u32)], most: u64) -> bool {
    let lists = Lists::new(nodes, edges);
    let mut degree: Vec<u32> = (0..nodes as u32)
        .map(|node| lists.of(node).len() as u32)
        .collect();
    let mut level = vec![OPEN; nodes];
    strip_leaves(&lists, &mut degree, &mut level);
    let left = level.iter().filter(|level| **level == OPEN).count();
    let ends = level.iter().zip(&degree);
    let ends = ends.filter(|(level, _)| **level == OPEN);
    let ends: usize = ends.map(|(_, degree)| *degree as usize).sum();
    let mut hubs = 0;
    for (level, degree) in level.iter_mut().zip(&degree) {
        if *level == OPEN && *degree as usize * left > HUB * ends {
            *level = OUT;
            hubs += 1;
        }
    }
    let (mut order, mut work) = (Vec::new(), 0.0);
    let limit = FAR * most as f64;
    for node in 0..nodes as u32 {
        if level[node as usize] == OPEN {
            // From the far end of the part: there its levels are narrow.
            walk(&lists, &mut level, (node, OPEN, SEEN), &mut order);
            let end = order.last().copied().unwrap_or(node);
            let widths = walk(&lists, &mut level, (end, SEEN, OUT), &mut order);
            for (at, width) in widths.iter().enumerate() {
                let next = widths.get(at + 1).copied().unwrap_or(0);
                let column = 0.5 * *width as f64 + (next + hubs) as f64;
                work += *width as f64 * column * column;
            }
            if work > limit {
                return true;
            }
        }
    }
    false
}

/// Where a node is.
const OPEN: u8 = 0;
const SEEN: u8 = 1;
const OUT: u8 = 2;

/// Takes out nodes that hang on one other, until there are none: they go first, at no cost.
fn strip_leaves(lists: &Lists, degree: &mut [u32], level: &mut [u8]) {
    let nodes = 0..degree.len() as u32;
    let mut leaves: Vec<u32> = nodes.filter(|node| degree[*node as usize] <= 1).collect();
    while let Some(leaf) = leaves.pop() {
        level[leaf as usize] = OUT;
        for next in lists.of(leaf) {
            let degree = &mut degree[*next as usize];
            *degree = degree.saturating_sub(1);
            if *degree == 1 && level[*next as usize] == OPEN {
                leaves.push(*next);
            }
        }
    }
}

/// Goes in breadth from `start` through the nodes marked `from`, which are marked `to`, and lists them; returns
/// how many are in each level.
fn walk(
    lists: &Lists,
    level: &mut [u8],
    (start, from, to): (u32, u8, u8),
    order: &mut Vec<u32>,
) -> Vec<usize> {
    let mut widths = Vec::new();
    order.clear();
    order.push(start);
    level[start as usize] = to;
    let mut at = 0;
    while at < order.len() {
        let end = order.len();
        widths.push(end - at);
        while at < end {
            for next in lists.of(order[at]) {
                if level[*next as usize] == from {
                    level[*next as usize] = to;
                    order.push(*next);
                }
            }
            at += 1;
        }
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ordering::Symbolic;

    /// Boxes in a block of x by y by z, each of which touches those beside, above and below.
    fn block(x: u32, y: u32, z: u32) -> (usize, Vec<(u32, u32)>) {
        let at = |i: u32, j: u32, k: u32| (k * y + j) * x + i;
        let mut edges = Vec::new();
        for (i, j, k) in (0..x * y * z).map(|n| (n % x, n / x % y, n / x / y)) {
            for (a, b, c) in [(1, 0, 0), (0, 1, 0), (0, 0, 1)] {
                if i + a < x && j + b < y && k + c < z {
                    edges.push((at(i, j, k), at(i + a, j + b, k + c)));
                }
            }
        }
        ((x * y * z) as usize, edges)
    }

    /// The same on a plate.
    fn on_a_plate((nodes, mut edges): (usize, Vec<(u32, u32)>)) -> (usize, Vec<(u32, u32)>) {
        let plate = nodes as u32;
        edges.extend((0..plate).map(|node| (node, plate)));
        (nodes + 1, edges)
    }

    #[test]
    fn what_fits_is_never_far_beyond() {
        let star = on_a_plate((3000, Vec::new()));
        let tree = (1023, (1..1023).map(|node| (node, (node - 1) / 2)).collect());
        let graphs = [
            block(1500, 1, 1),
            block(300, 3, 1),
            block(60, 10, 1),
            block(30, 20, 1),
            block(25, 25, 1),
            block(6, 6, 6),
            on_a_plate(block(60, 10, 1)),
            on_a_plate(block(25, 25, 1)),
            star,
            tree,
            (0, Vec::new()),
            (7, Vec::new()),
        ];
        for (nodes, edges) in graphs {
            let work = Symbolic::new(nodes, edges.iter().copied()).work();
            assert!(!is_far_beyond(nodes, &edges, work), "{nodes} nodes");
        }
    }

    #[test]
    fn heaps_are_far_beyond_the_work_of_a_wall() {
        let (nodes, edges) = block(30, 20, 1);
        let wall = Symbolic::new(nodes, edges.iter().copied()).work();
        for (nodes, edges) in [block(12, 12, 12), block(10, 10, 10), block(20, 5, 20)] {
            assert!(is_far_beyond(nodes, &edges, wall), "{nodes} nodes");
        }
    }
}
