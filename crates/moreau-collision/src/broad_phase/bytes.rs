//! How much memory a broad phase holds.

use super::BroadPhase;

fn held<T>(list: &Vec<T>) -> usize {
    list.capacity() * size_of::<T>()
}

impl BroadPhase {
    /// Bytes of its boxes, trees and pairs, with what they keep free.
    pub fn bytes(&self) -> usize {
        let trees = [&self.static_tree, &self.moving_tree];
        let trees = trees.map(|tree| held(&tree.nodes) + held(&tree.free));
        let scratch = &self.scratch;
        let shares = scratch.shares.iter().map(|share| share.bytes());
        self.slots.bytes()
            + held(&self.proxies)
            + held(&self.tight)
            + held(&self.kinds)
            + held(&self.is_changed)
            + held(&self.vacant)
            + trees.iter().sum::<usize>()
            + held(&self.unbounded)
            + held(&self.changed)
            + held(&self.unplaced)
            + held(&self.fat_pairs)
            + held(&scratch.stack)
            + held(&scratch.tasks)
            + held(&scratch.leaves)
            + scratch.order.bytes()
            + held(&scratch.starts)
            + held(&scratch.shares)
            + shares.sum::<usize>()
            + held(&scratch.new_pairs)
            + held(&scratch.merged)
            + held(&scratch.unbounded_pairs)
    }
}
