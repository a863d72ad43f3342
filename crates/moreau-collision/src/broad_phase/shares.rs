//! The work of finding pairs in shares that do not depend on each other.
//!
//! ```text
//! search   partners of the proxies whose fat box changed     a share: CHANGED of them
//! narrow   fat pairs whose tight boxes overlap               a share: KEPT of them
//! ```
//!
//! Shares are cut by number, whoever does them, and their results are put together in their order.

use super::{BroadPhase, FatPair, Kind};
use crate::Aabb;

/// Changed proxies of a share.
const CHANGED: usize = 128;

/// Changed proxies that look for partners at once.
const PACKET: usize = 8;

/// How many times the sum of their surfaces that of the box around a packet may be for looking at once.
const SCATTERED: f64 = 2.0;

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
    /// What lies around a packet.
    near: Vec<(u32, Aabb)>,
    /// New pairs of fat boxes.
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
            + self.near.capacity() * size_of::<(u32, Aabb)>()
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
        self.stack.capacity()
            + self.near.capacity()
            + self.found.capacity()
            + self.overlapping.capacity()
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
        share.found.clear();
        for packet in self.changed[share.start..share.end].chunks(PACKET) {
            // Where the slots were put in order with their tree they are neighbours.
            let (mut around, mut area) = (Aabb::EMPTY, 0.0);
            for &slot in packet {
                let index = slot as usize;
                if self.kinds[index] == Kind::Moving {
                    around = around.union(&self.proxies[index].fat);
                    area += self.proxies[index].fat.half_area();
                }
            }
            if packet.len() > 1 && around.half_area() <= SCATTERED * area {
                self.search_around(&around, packet, share);
                let statics = |s: &&u32| self.kinds[**s as usize] == Kind::Static;
                packet
                    .iter()
                    .filter(statics)
                    .for_each(|&slot| self.search_one(slot, share));
            } else {
                packet.iter().for_each(|&slot| self.search_one(slot, share));
            }
        }
    }

    fn search_one(&self, slot: u32, share: &mut PairShare) {
        let fat = &self.proxies[slot as usize].fat;
        let trees = match self.kinds[slot as usize] {
            Kind::Static => [Some(&self.moving_tree), None],
            Kind::Moving => [Some(&self.moving_tree), Some(&self.static_tree)],
            _ => return,
        };
        let PairShare { stack, found, .. } = share;
        for tree in trees.into_iter().flatten() {
            tree.query(
                stack,
                |b| b.overlaps(fat),
                |other, _| {
                    if self.keeps(slot, other) {
                        found.push(self.fat_pair(slot, other));
                    }
                },
            );
        }
    }

    /// Looks for the partners of the moving ones of `packet` at once, in `around` them all.
    fn search_around(&self, around: &Aabb, packet: &[u32], share: &mut PairShare) {
        let PairShare {
            stack, found, near, ..
        } = share;
        near.clear();
        for tree in [&self.moving_tree, &self.static_tree] {
            tree.query(
                stack,
                |b| b.overlaps(around),
                |other, aabb| near.push((other, *aabb)),
            );
        }
        let moving = |s: &&u32| self.kinds[**s as usize] == Kind::Moving;
        for &slot in packet.iter().filter(moving) {
            let fat = &self.proxies[slot as usize].fat;
            for (other, aabb) in near.iter() {
                if aabb.overlaps(fat) && self.keeps(slot, *other) {
                    found.push(self.fat_pair(slot, *other));
                }
            }
        }
    }

    /// Two changed proxies find each other; the smaller slot keeps the pair.
    fn keeps(&self, slot: u32, other: u32) -> bool {
        other > slot || (other < slot && !self.is_changed[other as usize])
    }

    fn fat_pair(&self, slot: u32, other: u32) -> FatPair {
        let (a, b) = (
            self.proxies[slot as usize].id,
            self.proxies[other as usize].id,
        );
        match a < b {
            true => FatPair {
                ids: (a, b),
                slots: (slot, other),
            },
            false => FatPair {
                ids: (b, a),
                slots: (other, slot),
            },
        }
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
