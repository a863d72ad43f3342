//! Bringing trees and kept pairs up to date with the boxes given.

use super::id_map::NONE;
use super::shares::Runner;
use super::{BroadPhase, FatPair, Kind, Scratch};

/// A tree is built anew where more than one in this many of its leaves changed.
const REBUILD_SHARE: usize = 4;

impl BroadPhase {
    pub(super) fn update_trees(&mut self) {
        if self.unplaced.is_empty() {
            return;
        }
        for kind in [Kind::Static, Kind::Moving] {
            let wanted = |s: &&u32| self.kinds[**s as usize] == kind;
            let count = self.unplaced.iter().filter(wanted).count();
            let tree = if kind == Kind::Static {
                &self.static_tree
            } else {
                &self.moving_tree
            };
            if count * REBUILD_SHARE > tree.len() + count {
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
            if self.kinds[index] == kind && self.proxies[index].leaf == NONE {
                let proxy = &mut self.proxies[index];
                let tree = match kind {
                    Kind::Static => &mut self.static_tree,
                    _ => &mut self.moving_tree,
                };
                proxy.leaf = tree.insert(slot, proxy.fat);
            }
        }
    }

    pub(super) fn rebuild_tree(&mut self, kind: Kind) {
        let Scratch { leaves, tasks, .. } = &mut self.scratch;
        leaves.clear();
        for (slot, k) in self.kinds.iter().enumerate() {
            if *k == kind {
                leaves.push((slot as u32, self.proxies[slot].fat));
            }
        }
        let tree = if kind == Kind::Static {
            &mut self.static_tree
        } else {
            &mut self.moving_tree
        };
        let proxies = &mut self.proxies;
        tree.rebuild(leaves, tasks, |slot, leaf| {
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
            ..
        } = &mut scratch;
        let count = self.run_search(shares, runner);
        new_pairs.clear();
        for share in &shares[..count] {
            new_pairs.extend_from_slice(&share.found);
        }
        // The shares' pairs are sorted runs.
        new_pairs.sort_unstable_by_key(|p| p.ids);
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
