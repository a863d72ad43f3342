//! The work of finding pairs in shares that do not depend on each other.
//!
//! ```text
//! search   partners of the proxies whose fat box changed     a share: CHANGED of them
//! narrow   fat pairs whose tight boxes overlap               a share: KEPT of them
//! ```
//!
//! Shares are cut by number, whoever does them, and their results are put together in their order.

use super::{BroadPhase, FatPair, Kind};

/// Changed proxies of a share.
const CHANGED: usize = 128;

/// Kept pairs of a share.
const KEPT: usize = 4096;

#[derive(Clone, Copy, Debug)]
enum Stage {
    Search,
    Narrow,
}

/// What the shares of [`BroadPhase::pairs_by`] are of. Any thread may look at it.
#[derive(Clone, Copy, Debug)]
pub struct PairWork<'a> {
    broad_phase: &'a BroadPhase,
    stage: Stage,
}

/// A part of the work of [`BroadPhase::pairs_by`], with its result.
#[derive(Clone, Debug, Default)]
pub struct PairShare {
    start: usize,
    end: usize,
    is_done: bool,
    stack: Vec<u32>,
    /// New pairs of fat boxes, in order.
    pub(super) found: Vec<FatPair>,
    /// Of the kept pairs those that overlap, in order, then others.
    overlapping: Vec<(u32, u32)>,
    /// How many overlap.
    count: usize,
}

impl PairShare {
    /// What is held here.
    pub(super) fn bytes(&self) -> usize {
        self.stack.capacity() * size_of::<u32>()
            + self.found.capacity() * size_of::<FatPair>()
            + self.overlapping.capacity() * size_of::<(u32, u32)>()
    }

    /// The kept pairs that overlap, in order.
    pub(super) fn overlapping(&self) -> &[(u32, u32)] {
        &self.overlapping[..self.count]
    }
}

impl PairWork<'_> {
    /// Does a share; nothing where it is done.
    pub fn run(&self, share: &mut PairShare) {
        if share.is_done {
            return;
        }
        share.is_done = true;
        match self.stage {
            Stage::Search => self.broad_phase.search(share),
            Stage::Narrow => self.broad_phase.narrow(share),
        }
    }
}

#[cfg(test)]
impl PairShare {
    /// Elements that its buffers have room for.
    pub(super) fn capacity(&self) -> usize {
        self.stack.capacity() + self.found.capacity() + self.overlapping.capacity()
    }
}

/// How the caller does shares.
pub(super) type Runner<'r> = dyn FnMut(&PairWork<'_>, &mut [PairShare]) + 'r;

impl BroadPhase {
    /// Has all shares of looking for partners done; returns how many there are.
    pub(super) fn run_search(&self, shares: &mut Vec<PairShare>, runner: &mut Runner<'_>) -> usize {
        self.run_stage(Stage::Search, (self.changed.len(), CHANGED), shares, runner)
    }

    /// Has all shares of looking at the fat pairs done; returns how many there are.
    pub(super) fn run_narrow(&self, shares: &mut Vec<PairShare>, runner: &mut Runner<'_>) -> usize {
        self.run_stage(Stage::Narrow, (self.fat_pairs.len(), KEPT), shares, runner)
    }

    fn run_stage(
        &self,
        stage: Stage,
        (total, size): (usize, usize),
        shares: &mut Vec<PairShare>,
        runner: &mut Runner<'_>,
    ) -> usize {
        let count = total.div_ceil(size);
        if shares.len() < count {
            shares.resize_with(count, PairShare::default);
        }
        let shares = &mut shares[..count];
        for (i, share) in shares.iter_mut().enumerate() {
            share.start = i * size;
            share.end = total.min(share.start + size);
            share.is_done = false;
        }
        let work = PairWork {
            broad_phase: self,
            stage,
        };
        runner(&work, shares);
        // What the caller left out.
        shares.iter_mut().for_each(|share| work.run(share));
        count
    }

    fn search(&self, share: &mut PairShare) {
        let PairShare { stack, found, .. } = share;
        found.clear();
        for &slot in &self.changed[share.start..share.end] {
            let proxy = &self.proxies[slot as usize];
            let trees = match self.kinds[slot as usize] {
                Kind::Static => [Some(&self.moving_tree), None],
                Kind::Moving => [Some(&self.moving_tree), Some(&self.static_tree)],
                _ => continue,
            };
            for tree in trees.into_iter().flatten() {
                tree.query(
                    stack,
                    |b| b.overlaps(&proxy.fat),
                    |other| {
                        // Two changed proxies find each other; the smaller slot keeps the pair.
                        if other > slot || (other < slot && !self.is_changed[other as usize]) {
                            let (a, b) = (proxy.id, self.proxies[other as usize].id);
                            found.push(if a < b {
                                FatPair {
                                    ids: (a, b),
                                    slots: (slot, other),
                                }
                            } else {
                                FatPair {
                                    ids: (b, a),
                                    slots: (other, slot),
                                }
                            });
                        }
                    },
                );
            }
        }
        found.sort_unstable_by_key(|p| p.ids);
    }

    fn narrow(&self, share: &mut PairShare) {
        let pairs = &self.fat_pairs[share.start..share.end];
        let out = &mut share.overlapping;
        out.resize(pairs.len(), (0, 0));
        // Without a branch, which would wait for one box after the other to come from memory.
        let mut count = 0;
        for pair in pairs {
            let [a, b] = [pair.slots.0, pair.slots.1].map(|slot| &self.tight[slot as usize]);
            let overlap = a.min.cmple(b.max).all() & b.min.cmple(a.max).all();
            out[count] = pair.ids;
            count += usize::from(overlap);
        }
        share.count = count;
    }
}
