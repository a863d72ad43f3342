//! A binary tree of axis-aligned boxes.
//!
//! Each inner node's box is the union of its children's. A leaf is put next to the node at which the
//! summed surface area of the tree grows least (the cost of a query is about proportional to that
//! sum: surface area heuristic), and on the way back up each ancestor may swap a child with a
//! grandchild of the other side where that makes a box smaller, which keeps the tree in shape.
//! Nodes are 64 bytes, a cache line, in one array with a free list.

use crate::Aabb;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) aabb: Aabb,
    pub(super) parent: u32,
    /// Two nodes; for a leaf its slot and `NONE`.
    pub(super) children: [u32; 2],
    /// Zero for a leaf.
    pub(super) height: u32,
}

const _: () = assert!(size_of::<Node>() == 64);

impl Node {
    pub(super) fn leaf(slot: u32, aabb: Aabb, parent: u32) -> Self {
        Self {
            aabb,
            parent,
            children: [slot, NONE],
            height: 0,
        }
    }

    pub(super) fn is_leaf(&self) -> bool {
        self.children[1] == NONE
    }
}

#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) root: u32,
    /// Unused places in `nodes`.
    pub(super) free: Vec<u32>,
}

impl Default for Tree {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            root: NONE,
            free: Vec::new(),
        }
    }
}

impl Tree {
    /// Longest way from the root to a leaf.
    pub(super) fn height(&self) -> u32 {
        self.nodes.get(self.root as usize).map_or(0, |n| n.height)
    }

    /// Calls `visit` with slot and box of every leaf whose box `wanted` accepts; `wanted` must accept
    /// every box that contains one that it accepts.
    pub(super) fn query(
        &self,
        stack: &mut Vec<u32>,
        wanted: impl Fn(&Aabb) -> bool,
        mut visit: impl FnMut(u32, &Aabb),
    ) {
        stack.clear();
        if self.root != NONE && wanted(&self.nodes[self.root as usize].aabb) {
            stack.push(self.root);
        }
        while let Some(index) = stack.pop() {
            let node = &self.nodes[index as usize];
            if node.is_leaf() {
                visit(node.children[0], &node.aabb);
                continue;
            }
            for child in node.children {
                if wanted(&self.nodes[child as usize].aabb) {
                    stack.push(child);
                }
            }
        }
    }

    /// Adds a leaf and returns its node.
    pub(super) fn insert(&mut self, slot: u32, aabb: Aabb) -> u32 {
        let leaf = self.allocate(Node::leaf(slot, aabb, NONE));
        if self.root == NONE {
            self.root = leaf;
            return leaf;
        }
        let sibling = self.best_sibling(&aabb);
        let above = self.nodes[sibling as usize].parent;
        let parent = self.allocate(Node {
            aabb,
            parent: above,
            children: [sibling, leaf],
            height: 0,
        });
        self.nodes[sibling as usize].parent = parent;
        self.nodes[leaf as usize].parent = parent;
        self.replace_child(above, sibling, parent);
        self.refit_from(parent);
        leaf
    }

    /// Removes the leaf at node `leaf`.
    pub(super) fn remove(&mut self, leaf: u32) {
        let parent = self.nodes[leaf as usize].parent;
        self.free.push(leaf);
        if parent == NONE {
            self.root = NONE;
            return;
        }
        let Node {
            children,
            parent: above,
            ..
        } = self.nodes[parent as usize];
        let sibling = if children[0] == leaf {
            children[1]
        } else {
            children[0]
        };
        self.free.push(parent);
        self.nodes[sibling as usize].parent = above;
        self.replace_child(above, parent, sibling);
        self.refit_from(above);
    }

    fn allocate(&mut self, node: Node) -> u32 {
        match self.free.pop() {
            Some(index) => {
                self.nodes[index as usize] = node;
                index
            }
            None => {
                self.nodes.push(node);
                (self.nodes.len() - 1) as u32
            }
        }
    }

    /// Makes `above` (or the root) point to `new` where it pointed to `old`.
    fn replace_child(&mut self, above: u32, old: u32, new: u32) {
        if above == NONE {
            self.root = new;
            return;
        }
        let children = &mut self.nodes[above as usize].children;
        let side = usize::from(children[1] == old);
        children[side] = new;
    }

    /// Greedy descent to the node that a new leaf best shares a parent with.
    fn best_sibling(&self, aabb: &Aabb) -> u32 {
        let area = aabb.half_area();
        let mut here = self.root;
        let mut best = here;
        let root = &self.nodes[here as usize];
        // Of equally good places the one with the least height below it keeps the tree shallow.
        let mut best_cost = (root.aabb.union(aabb).half_area(), root.height);
        // What all boxes from the root to `here` grow by.
        let mut inherited = 0.0;
        while !self.nodes[here as usize].is_leaf() {
            let node = &self.nodes[here as usize];
            inherited += node.aabb.union(aabb).half_area() - node.aabb.half_area();
            let mut next = (NONE, f64::INFINITY, u32::MAX);
            for child in node.children {
                let below = &self.nodes[child as usize];
                let grown = below.aabb.union(aabb).half_area();
                if (grown + inherited, below.height) < best_cost {
                    best = child;
                    best_cost = (grown + inherited, below.height);
                }
                // No place under the child costs less than this.
                let least = inherited + grown - below.aabb.half_area() + area;
                if (least, below.height) < (next.1, next.2) {
                    next = (child, least, below.height);
                }
            }
            if next.0 == NONE || next.1 > best_cost.0 {
                break;
            }
            here = next.0;
        }
        best
    }

    /// Recomputes boxes and heights from `index` up to the root, rotating where it helps.
    fn refit_from(&mut self, mut index: u32) {
        while index != NONE {
            self.rotate(index);
            self.refit(index);
            index = self.nodes[index as usize].parent;
        }
    }

    fn refit(&mut self, index: u32) {
        let [a, b] = self.nodes[index as usize].children;
        let (a, b) = (&self.nodes[a as usize], &self.nodes[b as usize]);
        let aabb = a.aabb.union(&b.aabb);
        let height = 1 + a.height.max(b.height);
        let node = &mut self.nodes[index as usize];
        node.aabb = aabb;
        node.height = height;
    }

    /// Swaps a child of `index` with a child of its other child where that makes the latter smaller.
    fn rotate(&mut self, index: u32) {
        let children = self.nodes[index as usize].children;
        // Gain, side of the child that goes down, which grandchild comes up.
        let mut best = (0.0, 0, 0);
        for side in 0..2 {
            let down = &self.nodes[children[side] as usize];
            let other = &self.nodes[children[1 - side] as usize];
            if other.is_leaf() {
                continue;
            }
            for up in 0..2 {
                let stays = &self.nodes[other.children[1 - up] as usize];
                let gain = other.aabb.half_area() - stays.aabb.union(&down.aabb).half_area();
                if gain > best.0 {
                    best = (gain, side, up);
                }
            }
        }
        let (gain, side, up) = best;
        if gain > 0.0 {
            let (down, other) = (children[side], children[1 - side]);
            let raised = self.nodes[other as usize].children[up];
            self.nodes[index as usize].children[side] = raised;
            self.nodes[other as usize].children[up] = down;
            self.nodes[raised as usize].parent = index;
            self.nodes[down as usize].parent = other;
            self.refit(other);
        }
    }
}

#[cfg(test)]
impl Tree {
    /// Number of leaves.
    fn len(&self) -> usize {
        (self.nodes.len() - self.free.len()).div_ceil(2)
    }

    /// Panics where the tree is not in order.
    pub(super) fn check(&self) {
        if self.root == NONE {
            assert_eq!(self.len(), 0);
            return;
        }
        assert_eq!(self.nodes[self.root as usize].parent, NONE);
        let (mut stack, mut leaves, mut visited) = (vec![self.root], 0, 0);
        while let Some(index) = stack.pop() {
            visited += 1;
            assert!(!self.free.contains(&index));
            let node = &self.nodes[index as usize];
            if node.is_leaf() {
                leaves += 1;
                assert_eq!(node.height, 0);
                continue;
            }
            let [a, b] = node.children.map(|c| &self.nodes[c as usize]);
            assert!(a.parent == index && b.parent == index);
            assert_eq!(node.aabb, a.aabb.union(&b.aabb));
            assert_eq!(node.height, 1 + a.height.max(b.height));
            stack.extend(node.children);
        }
        assert_eq!(leaves, self.len());
        assert_eq!(visited + self.free.len(), self.nodes.len());
    }
}
