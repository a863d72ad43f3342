//! A tree of boxes that never move: over the triangles of a mesh, the children of a compound.
//!
//! ```text
//! nodes: [root][left][left.left]...[right]      depth first: the first child follows its parent
//!         box, and where the subtree ends
//! ```
//!
//! A query walks the list from front to back and leaps over a subtree whose box it does not want, so
//! it needs no stack.

use crate::Aabb;

/// A binary tree of boxes, built once.
#[derive(Clone, Debug, Default)]
pub(crate) struct StaticTree {
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    aabb: Aabb,
    /// The node after the subtree.
    end: u32,
    /// The item of a leaf, or `INNER`.
    item: u32,
}

const INNER: u32 = u32::MAX;

impl StaticTree {
    /// The tree over `boxes`; an item is the index of a box.
    pub(crate) fn new(boxes: &[Aabb]) -> Self {
        let mut items: Vec<u32> = (0..boxes.len() as u32).collect();
        let mut nodes = Vec::with_capacity(2 * boxes.len());
        // Runs of items that wait, and nodes whose subtree ends when the list is that short again.
        let mut open: Vec<u32> = Vec::new();
        let mut tasks = vec![Task::Run(0, items.len())];
        while let Some(task) = tasks.pop() {
            let (start, end) = match task {
                Task::Run(start, end) => (start, end),
                Task::Close => {
                    if let Some(node) = open.pop() {
                        nodes[node as usize] = Node {
                            end: nodes.len() as u32,
                            ..nodes[node as usize]
                        };
                    }
                    continue;
                }
            };
            let index = nodes.len() as u32;
            let run = &mut items[start..end];
            let aabb = (run.iter()).fold(Aabb::EMPTY, |u, &i| u.union(&boxes[i as usize]));
            let item = match run {
                [] => continue,
                [item] => *item,
                _ => INNER,
            };
            nodes.push(Node {
                aabb,
                end: index + 1,
                item,
            });
            if item == INNER {
                let middle = start + halve(run, boxes);
                open.push(index);
                tasks.push(Task::Close);
                tasks.push(Task::Run(middle, end));
                tasks.push(Task::Run(start, middle));
            }
        }
        Self { nodes }
    }

    /// The box around everything.
    pub(crate) fn bounds(&self) -> Aabb {
        self.nodes.first().map_or(Aabb::EMPTY, |root| root.aabb)
    }

    /// Calls `visit` with each item whose own box and those above it are `wanted`.
    pub(crate) fn visit(&self, wanted: impl Fn(&Aabb) -> bool, mut visit: impl FnMut(u32)) {
        let mut index = 0;
        while let Some(node) = self.nodes.get(index) {
            if !wanted(&node.aabb) {
                index = node.end as usize;
                continue;
            }
            if node.item != INNER {
                visit(node.item);
            }
            index += 1;
        }
    }

    /// Replaces the content of `items` by those whose boxes overlap `aabb`, ascending.
    pub(crate) fn overlapping(&self, aabb: &Aabb, items: &mut Vec<u32>) {
        items.clear();
        if !aabb.is_empty() {
            self.visit(|b| b.overlaps(aabb), |item| items.push(item));
            items.sort_unstable();
        }
    }
}

enum Task {
    Run(usize, usize),
    /// The innermost open node is complete.
    Close,
}

/// Orders two or more items along the axis on which their centres spread most; returns half their
/// number.
fn halve(run: &mut [u32], boxes: &[Aabb]) -> usize {
    let doubled_center = |i: u32| boxes[i as usize].min + boxes[i as usize].max;
    let mut centers = Aabb::EMPTY;
    run.iter().for_each(|&i| centers.include(doubled_center(i)));
    let axis = centers.extents().max_position();
    let half = run.len() / 2;
    run.select_nth_unstable_by(half, |&i, &k| {
        let (x, y) = (doubled_center(i)[axis], doubled_center(k)[axis]);
        x.total_cmp(&y).then(i.cmp(&k))
    });
    half
}

#[cfg(test)]
mod tests {
    use super::*;
    use moreau_math::{Vec3, vec3};

    #[test]
    fn a_query_finds_what_brute_force_finds() {
        let mut state = 7_u64;
        let mut random = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        for count in [0, 1, 2, 3, 50, 1000] {
            let boxes: Vec<Aabb> = (0..count)
                .map(|_| {
                    let center = vec3(random(), random(), random()) * 10.0;
                    Aabb::around(center, vec3(random(), random(), random()))
                })
                .collect();
            let tree = StaticTree::new(&boxes);
            let mut found = Vec::new();
            for _ in 0..50 {
                let center = vec3(random(), random(), random()) * 10.0;
                let wanted = Aabb::around(center, Vec3::splat(random()));
                tree.overlapping(&wanted, &mut found);
                let brute: Vec<u32> = (0..count)
                    .filter(|&i| boxes[i as usize].overlaps(&wanted))
                    .collect();
                assert_eq!(found, brute);
            }
            let union = boxes.iter().fold(Aabb::EMPTY, |u, b| u.union(b));
            assert_eq!(tree.bounds(), union);
        }
    }

    #[test]
    fn boxes_in_one_place_make_a_tree_all_the_same() {
        let boxes = vec![Aabb::around(Vec3::ONE, Vec3::ONE); 100];
        let tree = StaticTree::new(&boxes);
        let mut found = Vec::new();
        tree.overlapping(&boxes[0], &mut found);
        assert_eq!(found, (0..100).collect::<Vec<u32>>());
        tree.overlapping(&Aabb::EMPTY, &mut found);
        assert!(found.is_empty());
    }
}
