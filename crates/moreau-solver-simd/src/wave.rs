//! The order in which several sweeps are made side by side, see [`crate::layers`].

use crate::layers::Layers;
use std::ops::Range;

/// Sweeps that can be made side by side: as many as there are between two looks by default.
pub(crate) const MOST_SWEEPS: usize = 8;

/// Contacts that sweeps side by side may keep in the cache, in bytes.
const CACHE: usize = 12 << 20;

/// Bodies that are moved ahead at a time.
const BODIES: usize = 512;

/// Something to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) what: What,
    /// Which of the sweeps does it.
    pub(crate) sweep: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Visit a block.
    Visit(u32),
    /// Move the bodies of a share ahead.
    Advance(u32),
}

/// What the sweeps are that are made side by side.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Plan {
    /// The first so many of all that the schedule has.
    pub(crate) sweeps: usize,
    pub(crate) betas: [f64; MOST_SWEEPS],
    /// Whether a sweep visits packs that rest.
    pub(crate) whole: [bool; MOST_SWEEPS],
}

/// Which steps follow each other; keeps its memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schedule {
    pub(crate) steps: Vec<Step>,
    /// What can be done at once, one after the other.
    pub(crate) phases: Vec<Range<usize>>,
    /// Places of bodies that are moved ahead together.
    pub(crate) shares: Vec<Range<usize>>,
    /// Sweeps at most; 0 where they are made one after the other.
    pub(crate) sweeps: usize,
    layer_shares: Vec<Range<usize>>,
    /// Groups by their layers, and where each layer's start.
    groups: Vec<u32>,
    starts: Vec<usize>,
}

/// Layers from one sweep to the next. Those of a wave that are visited at once must have no body in common; one after
/// the other, the foremost sweep first, they may.
const fn lag(shared: bool) -> usize {
    if shared { 2 } else { 1 }
}

/// How many sweeps are worth making side by side where the contacts of a problem take so many bytes. Fewer than 2 for one thread
/// means the same for several.
pub(crate) fn worth(layers: usize, bytes: usize, shared: bool) -> usize {
    let fit = CACHE.saturating_mul(layers) / bytes.saturating_mul(lag(shared)).max(1);
    // Fewer layers than that are all at work most of the time.
    fit.min(layers / 4).min(MOST_SWEEPS)
}

impl Schedule {
    pub(crate) fn clear(&mut self) {
        self.steps.clear();
        self.phases.clear();
        self.sweeps = 0;
    }

    /// `groups` with the layers in which they are visited. `shared`: by several threads.
    pub(crate) fn build(
        &mut self,
        layers: &Layers,
        (groups, layer_of): (&[Range<usize>], &[u32]),
        sweeps: usize,
        shared: bool,
    ) {
        self.clear();
        self.sweeps = sweeps;
        self.share_bodies(layers);
        self.sort_groups(layers.count(), layer_of);
        let lag = lag(shared);
        let waves = layers.count() + lag * (sweeps - 1);
        for wave in 0..waves {
            let visits = |sweep: usize| {
                let layer = wave.checked_sub(lag * sweep)?;
                (layer < layers.count()).then_some((sweep, layer))
            };
            if shared {
                for visit in (0..sweeps).filter_map(visits) {
                    self.advance(visit);
                }
                self.end_phase();
                // Groups of different layers share no body.
                for k in 0.. {
                    for (sweep, layer) in (0..sweeps).filter_map(visits) {
                        if let Some(group) = self.groups_of(layer).get(k) {
                            self.visit(sweep, &groups[*group as usize]);
                        }
                    }
                    if !self.end_phase() {
                        break;
                    }
                }
            } else {
                for (sweep, layer) in (0..sweeps).filter_map(visits) {
                    self.advance((sweep, layer));
                    for at in self.starts[layer]..self.starts[layer + 1] {
                        let group = self.groups[at] as usize;
                        self.visit(sweep, &groups[group]);
                    }
                }
            }
        }
        self.end_phase();
    }

    fn groups_of(&self, layer: usize) -> &[u32] {
        &self.groups[self.starts[layer]..self.starts[layer + 1]]
    }

    fn visit(&mut self, sweep: usize, blocks: &Range<usize>) {
        self.steps.extend(blocks.clone().map(|block| Step {
            what: What::Visit(block as u32),
            sweep: sweep as u8,
        }));
    }

    /// The bodies that a sweep meets first in a layer.
    fn advance(&mut self, (sweep, layer): (usize, usize)) {
        let first = if layer == 0 { 0 } else { layer + 1 };
        let layers = first..(layer + 2).min(self.layer_shares.len());
        for layer in layers {
            let shares = self.layer_shares[layer].clone();
            self.steps.extend(shares.map(|share| Step {
                what: What::Advance(share as u32),
                sweep: sweep as u8,
            }));
        }
    }

    /// Says whether there was anything in it.
    fn end_phase(&mut self) -> bool {
        let start = self.phases.last().map_or(0, |phase| phase.end);
        let new = self.steps.len() > start;
        if new {
            self.phases.push(start..self.steps.len());
        }
        new
    }

    fn share_bodies(&mut self, layers: &Layers) {
        self.shares.clear();
        self.layer_shares.clear();
        for range in &layers.ranges {
            let first = self.shares.len();
            let starts = range.clone().step_by(BODIES);
            let shares = starts.map(|start| start..(start + BODIES).min(range.end));
            self.shares.extend(shares);
            self.layer_shares.push(first..self.shares.len());
        }
    }

    fn sort_groups(&mut self, layers: usize, layer_of: &[u32]) {
        self.starts.clear();
        self.starts.resize(layers + 1, 0);
        for layer in layer_of {
            self.starts[*layer as usize + 1] += 1;
        }
        for layer in 0..layers {
            self.starts[layer + 1] += self.starts[layer];
        }
        self.groups.clear();
        self.groups.extend(0..layer_of.len() as u32);
        self.groups.sort_by_key(|group| layer_of[*group as usize]);
    }
}
