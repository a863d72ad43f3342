//! Bringing trees and kept pairs up to date with the boxes given.

use super::id_map::NONE;
use super::shares::{PairShare, Runner};
use super::{BroadPhase, FatPair, Kind, Scratch};

/// A tree is built anew where more than one in this many of its leaves changed.
const REBUILD_SHARE: usize = 8;

impl BroadPhase {
    pub(super) fn update_trees(&mut self) {
        if self.unplaced.is_empty() {
            return;
        }
        for kind in [Kind::Static, Kind::Moving] {
            let wanted = |s: &&u32| self.kinds[**s as usize] == kind;
            let count = self.unplaced.iter().filter(wanted).count();
            let is_of_kind = |k: &&Kind| **k == kind;
            if count * REBUILD_SHARE > self.kinds.iter().filter(is_of_kind).count() {
                self.rebuild_tree(kind);
            } else if count > 0 {
                self.insert_unplaced(kind);
            }
        }
        for slot in self.unplaced.drain(..) {
            self.proxies[slot as usize].unplaced = false;
        }
    }

    fn insert_unplaced(&mut self, kind: Kind) {
        for &slot in &self.unplaced {
            let index = slot as usize;
            if self.kinds[index] == kind {
                let proxy = &mut self.proxies[index];
                let tree = match kind {
                    Kind::Static => &mut self.static_tree,
                    _ => &mut self.moving_tree,
                };
                if proxy.leaf != NONE {
                    tree.remove(proxy.leaf);
                }
                proxy.leaf = tree.insert(slot, proxy.fat);
            }
        }
    }

    pub(super) fn rebuild_tree(&mut self, kind: Kind) {
        let Scratch {
            leaves,
            tasks,
            order,
            ..
        } = &mut self.scratch;
        leaves.clear();
        for (slot, k) in self.kinds.iter().enumerate() {
            if *k == kind {
                leaves.push((slot as u32, self.proxies[slot].fat));
            }
        }
        order.put_near_together(leaves);
        let tree = if kind == Kind::Static {
            &mut self.static_tree
        } else {
            &mut self.moving_tree
        };
        let proxies = &mut self.proxies;
        tree.rebuild((leaves, order.codes()), tasks, |slot, leaf| {
            proxies[slot as usize].leaf = leaf
        });
        self.counters.rebuilds += 1;
        // Neighbours in space then look for partners one after another, in warm caches.
        self.changed.retain(|s| self.kinds[*s as usize] != kind);
        let listed = leaves.iter().filter(|l| self.is_changed[l.0 as usize]);
        self.changed.extend(listed.map(|l| l.0));
    }

    /// Brings the sorted list of pairs of overlapping fat boxes up to date.
    pub(super) fn update_fat_pairs(&mut self, runner: &mut Runner<'_>) {
        if self.changed.is_empty() {
            return;
        }
        let is_changed = &self.is_changed;
        self.fat_pairs
            .retain(|p| !is_changed[p.slots.0 as usize] && !is_changed[p.slots.1 as usize]);

        let mut scratch = std::mem::take(&mut self.scratch);
        let Scratch {
            shares,
            new_pairs,
            merged,
            starts,
            ..
        } = &mut scratch;
        let count = self.run_search(shares, runner);
        sort(&shares[..count], new_pairs, starts);
        merge(&self.fat_pairs, new_pairs, merged);
        std::mem::swap(&mut self.fat_pairs, merged);
        self.scratch = scratch;
        for slot in self.changed.drain(..) {
            self.is_changed[slot as usize] = false;
        }
    }

    pub(super) fn find_unbounded_pairs(&mut self) {
        let found = &mut self.scratch.unbounded_pairs;
        found.clear();
        for &slot in &self.unbounded {
            let (aabb, kind) = (self.tight[slot as usize], self.kinds[slot as usize]);
            for (other, &other_kind) in self.kinds.iter().enumerate() {
                let twice = other_kind.is_unbounded() && other <= slot as usize;
                if !twice && kind.pairs_with(other_kind) && aabb.overlaps(&self.tight[other]) {
                    let (a, b) = (self.proxies[slot as usize].id, self.proxies[other].id);
                    found.push((a.min(b), a.max(b)));
                }
            }
        }
        found.sort_unstable();
    }
}

/// Ids up to this many times the number of pairs are counted and not compared.
const SPARSE: usize = 8;

/// Puts what the shares found into one sorted list.
///
/// By the number of pairs of each smaller id: a pair costs the same however many there are, and of one
/// id there are few.
fn sort(shares: &[PairShare], pairs: &mut Vec<FatPair>, starts: &mut Vec<u32>) {
    let found = || shares.iter().flat_map(|share| &share.found);
    pairs.clear();
    let count: usize = shares.iter().map(|share| share.found.len()).sum();
    let Some(largest) = found().map(|p| p.ids.0).max() else {
        return;
    };
    if largest as usize >= SPARSE * count || u32::try_from(count).is_err() {
        pairs.extend(found());
        pairs.sort_unstable_by_key(|p| p.ids);
        return;
    }
    starts.clear();
    starts.resize(largest as usize + 1, 0);
    found().for_each(|p| starts[p.ids.0 as usize] += 1);
    let mut before = 0;
    for start in starts.iter_mut() {
        before += std::mem::replace(start, before);
    }
    if let Some(&some) = found().next() {
        pairs.resize(count, some);
    }
    for &pair in found() {
        let place = &mut starts[pair.ids.0 as usize];
        pairs[*place as usize] = pair;
        *place += 1;
    }
    pairs
        .chunk_by_mut(|p, q| p.ids.0 == q.ids.0)
        .for_each(|run| run.sort_unstable_by_key(|p| p.ids.1));
}

/// Two sorted lists into one.
fn merge(a: &[FatPair], b: &[FatPair], merged: &mut Vec<FatPair>) {
    merged.clear();
    let mut a = a.iter().copied().peekable();
    for &pair in b {
        while let Some(earlier) = a.next_if(|p| p.ids < pair.ids) {
            merged.push(earlier);
        }
        merged.push(pair);
    }
    merged.extend(a);
}
