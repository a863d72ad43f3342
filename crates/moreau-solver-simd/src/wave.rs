//! The order in which several sweeps are made side by side, see [`crate::layers`].

use crate::layers::Layers;
use std::ops::Range;

/// Sweeps that can be made side by side. Momentum that should start anew may have to wait for all others: in piles of 100,000
/// balls the residual after 100 sweeps is the same as with four.
pub(crate) const MOST_SWEEPS: usize = 8;

/// Contacts that sweeps side by side may keep in the caches, in bytes.
const CACHE: usize = 24 << 20;

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

/// A layer of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LayerVisit {
    pub(crate) sweep: u8,
    pub(crate) layer: u32,
}

/// Which steps follow each other; keeps its memory.
///
/// Threads take whole layers of different sweeps, and meet once in a wave; or, where they are more than the sweeps, blocks of all
/// layers of a wave, and meet after each colour.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schedule {
    pub(crate) visits: Vec<LayerVisit>,
    /// Visits that can be made at once, one after the other; all of them for one thread, which makes them in their order.
    pub(crate) waves: Vec<Range<usize>>,
    /// What is done in a layer: all layers, and the part of each.
    pub(crate) parts: Vec<What>,
    pub(crate) layer_parts: Vec<Range<usize>>,
    /// The same as `visits`, for many threads.
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

/// Layers from one sweep to the next, on each side. Those of a wave that are visited at once must have no body in common; one
/// after the other, the foremost sweep first, they may.
const fn lag(shared: bool) -> usize {
    if shared { 2 } else { 1 }
}

/// How many sweeps are worth making side by side where the contacts of a problem take so many bytes. Fewer than 2 for one thread
/// means the same for several.
pub(crate) fn worth(layers: usize, bytes: usize, shared: bool) -> usize {
    // On both sides.
    let fit = CACHE.saturating_mul(layers) / bytes.saturating_mul(2 * lag(shared)).max(1);
    // Fewer layers than that are all at work most of the time.
    fit.min(layers / 4).min(MOST_SWEEPS)
}

impl Schedule {
    pub(crate) fn clear(&mut self) {
        self.visits.clear();
        self.waves.clear();
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
        self.list_parts(layers.middle, groups);
        let (count, middle) = (layers.count(), layers.middle);
        let below = |sweep: usize, step: usize| (sweep, middle.checked_sub(step));
        let above = |sweep: usize, step: usize| {
            let layer = middle + step;
            (sweep, (step > 0 && layer < count).then_some(layer))
        };
        let lag = lag(shared);
        let waves = (middle + 1).max(count - middle) + lag * (sweeps - 1);
        let at_work =
            |wave: usize| (0..sweeps).filter_map(move |k| Some((k, wave.checked_sub(lag * k)?)));
        if !shared {
            // Once the last sweep has left the middle, one side after the other: half as much has to stay near.
            let together = sweeps.min(waves);
            for wave in 0..together {
                self.visit(at_work(wave).flat_map(|(k, step)| [below(k, step), above(k, step)]));
            }
            for wave in together..waves {
                self.visit(at_work(wave).map(|(k, step)| below(k, step)));
            }
            for wave in together..waves {
                self.visit(at_work(wave).map(|(k, step)| above(k, step)));
            }
            self.waves.push(0..self.visits.len());
            return;
        }
        for wave in 0..waves {
            let first = self.visits.len();
            // The threads of the first half keep below the middle, those of the other one above.
            let lower = at_work(wave).map(|(k, step)| below(k, step));
            self.visit(lower.chain(at_work(wave).map(|(k, step)| above(k, step))));
            self.waves.push(first..self.visits.len());
            self.list_steps(first..self.visits.len(), layers.middle, groups);
        }
    }

    /// Sweeps and their layers, where there are such ones.
    fn visit(&mut self, visits: impl Iterator<Item = (usize, Option<usize>)>) {
        self.visits.extend(visits.filter_map(|(sweep, layer)| {
            Some(LayerVisit {
                sweep: sweep as u8,
                layer: layer? as u32,
            })
        }));
    }

    /// What is done in each layer, by one thread.
    fn list_parts(&mut self, middle: usize, groups: &[Range<usize>]) {
        self.parts.clear();
        self.layer_parts.clear();
        for layer in 0..self.starts.len() - 1 {
            let first = self.parts.len();
            let shares = shares_of(&self.layer_shares, layer, middle);
            let shares = shares.map(|share| What::Advance(share as u32));
            self.parts.extend(shares);
            for at in self.starts[layer]..self.starts[layer + 1] {
                let blocks = groups[self.groups[at] as usize].clone();
                let visits = blocks.map(|block| What::Visit(block as u32));
                self.parts.extend(visits);
            }
            self.layer_parts.push(first..self.parts.len());
        }
    }

    /// What can be done at once of the visits of a wave.
    fn list_steps(&mut self, wave: Range<usize>, middle: usize, groups: &[Range<usize>]) {
        let visits = std::mem::take(&mut self.visits);
        for visit in &visits[wave.clone()] {
            let shares = shares_of(&self.layer_shares, visit.layer as usize, middle);
            self.steps.extend(shares.map(|share| Step {
                what: What::Advance(share as u32),
                sweep: visit.sweep,
            }));
        }
        self.end_phase();
        // Groups of different layers share no body.
        for k in 0.. {
            for visit in &visits[wave.clone()] {
                if let Some(group) = self.groups_of(visit.layer as usize).get(k) {
                    let blocks = groups[*group as usize].clone();
                    self.steps.extend(blocks.map(|block| Step {
                        what: What::Visit(block as u32),
                        sweep: visit.sweep,
                    }));
                }
            }
            if !self.end_phase() {
                break;
            }
        }
        self.visits = visits;
    }

    fn groups_of(&self, layer: usize) -> &[u32] {
        &self.groups[self.starts[layer]..self.starts[layer + 1]]
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

/// Of the bodies that a sweep meets first in a layer: its own below the middle, those of the next one above it, and there both.
fn shares_of(layer_shares: &[Range<usize>], layer: usize, middle: usize) -> Range<usize> {
    let first = layer + usize::from(layer > middle);
    let last = layer + usize::from(layer >= middle);
    match (layer_shares.get(first), layer_shares.get(last)) {
        (Some(first), Some(last)) => first.start..last.end,
        (Some(first), None) => first.clone(),
        _ => 0..0,
    }
}

#[cfg(test)]
mod tests {
    //! Sweeps side by side have the bits of the same sweeps one after the other.

    use super::{MOST_SWEEPS, Plan};
    use crate::arithmetic::Arithmetic;
    use crate::first_look::FirstLook;
    use crate::job::{Job, Task};
    use crate::kernel::{Conductor, View};
    use crate::packed::{How, Packed};
    use moreau_constraint::{BodyInput, ContactInput, ContactProblem};
    use moreau_math::{SymMat3, Vec3, Velocity, vec3};

    /// Boxes in a row, each on the ground and against the next one and the next but one, with 1 to 6 contacts a pair.
    fn row(count: usize) -> ContactProblem {
        let mut problem = ContactProblem::new(0.01).unwrap();
        let ground = problem.add_body(BodyInput::fixed()).unwrap();
        let part = |k: usize| (k * 7919 % 101) as f64 / 101.0 - 0.5;
        for k in 0..count {
            let speed = vec3(part(k), part(k + 1) - 0.1, part(k + 2));
            let body = BodyInput {
                inverse_mass: 1.0 + part(k),
                inverse_inertia: SymMat3::from_diagonal(vec3(4.0, 5.0, 6.0 + part(k))),
                velocity: Velocity::new(speed, vec3(part(k + 3), 0.0, part(k + 4))),
            };
            problem.add_body(body).unwrap();
        }
        for k in 1..=count {
            for other in [0, k + 1, k + 2] {
                let (a, b) = if other == 0 { (ground, k) } else { (k, other) };
                if b > count {
                    continue;
                }
                for corner in 0..1 + (k + other) % 6 {
                    let normal = vec3(1.0, 0.3 * part(k), 0.2 * part(other)).normalize();
                    let offset = 0.3 * vec3(0.0, part(corner), part(corner + 5));
                    let contact = ContactInput {
                        a,
                        b,
                        normal: if other == 0 { Vec3::Y } else { normal },
                        lever_a: 0.5 * Vec3::X + offset,
                        lever_b: offset - 0.5 * Vec3::X,
                        separation: 0.0,
                        friction: 0.5,
                        restitution: 0.0,
                    };
                    problem.add_contact(contact).unwrap();
                }
            }
        }
        problem
    }

    /// Everything that eleven sweeps leave and say, with `run` for all of them; `threads` share them.
    fn eleven(
        threads: usize,
        arithmetic: Arithmetic,
        run: impl Fn(&mut Conductor<'_, '_>, &[f64], &[bool], &mut Vec<[f64; 3]>) + Sync,
    ) -> (Vec<u64>, Vec<[u64; 3]>, [usize; 2]) {
        let problem = row(900);
        let how = How {
            arithmetic,
            parallel: threads > 1,
            layers_from: 1000,
        };
        let (mut packed, mut first_look) = (Packed::default(), FirstLook::default());
        let bodies = packed.list_bodies(&problem);
        first_look.look(&problem, bodies, &mut problem.cold_start(), (false, false));
        packed.load(&problem, &first_look, how);
        assert!(packed.schedule.sweeps > 1);
        let order = [packed.schedule.sweeps, packed.groups.len()];
        let betas = [0.0, 0.25, 0.4, 0.5, 0.571, 0.0, 0.25, 0.4, 0.5, 0.6, 0.7];
        let whole = betas.map(|beta| beta != 0.4);
        let mut said = Vec::new();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            View::new(&mut packed, arithmetic).conduct(threads, |conductor| {
                run(conductor, &betas, &whole, &mut said);
            });
        });
        let lanes = packed.impulses.iter().flatten().flatten();
        let left = lanes.chain(&packed.velocities).chain(&packed.ends);
        let left = left.flat_map(|oct| oct.0).map(f64::to_bits).collect();
        let said = said.iter().map(|s| s.map(f64::to_bits)).collect();
        (left, said, order)
    }

    fn said(conductor: &mut Conductor<'_, '_>, sweep: usize) -> [f64; 3] {
        let mut all = [0.0_f64; 3];
        for sums in conductor.sums_of(sweep) {
            all[0] += sums.square;
            all[1] += sums.along;
            all[2] = all[2].max(sums.change_squared);
        }
        all
    }

    #[test]
    fn sweeps_side_by_side_are_the_same_sweeps() {
        let fastest = Arithmetic::fastest(false);
        let (left, all, [_, groups]) = eleven(1, fastest, |conductor, betas, whole, out| {
            for (k, (beta, whole)) in betas.iter().zip(whole).enumerate() {
                for task in [Task::Advance, Task::Sweep] {
                    conductor.run(Job {
                        task,
                        current: k & 1,
                        beta: *beta,
                        whole: *whole,
                    });
                }
                out.push(said(conductor, 0));
            }
        });
        assert!(groups > 100 && all.iter().all(|s| f64::from_bits(s[0]) > 0.0));
        for arithmetic in [fastest, Arithmetic::fastest(true), Arithmetic::Plain] {
            for (threads, at_once) in [(1, 8), (1, 3), (1, 1), (2, 8), (3, 2), (8, 5)] {
                let (other, others, [most, _]) =
                    eleven(threads, arithmetic, |conductor, betas, whole, out| {
                        let at_once = at_once.min(conductor.sweeps_at_once());
                        let mut first = 0;
                        for (betas, whole) in betas.chunks(at_once).zip(whole.chunks(at_once)) {
                            let mut plan = Plan {
                                sweeps: betas.len(),
                                ..Plan::default()
                            };
                            plan.betas[..betas.len()].copy_from_slice(betas);
                            plan.whole[..whole.len()].copy_from_slice(whole);
                            conductor.run_sweeps(plan, first & 1);
                            first += betas.len();
                            out.extend((0..betas.len()).map(|k| said(conductor, k)));
                        }
                    });
                assert_eq!(most, MOST_SWEEPS);
                assert!(left == other, "{arithmetic:?} {threads} {at_once}");
                assert!(all == others, "{arithmetic:?} {threads} {at_once}");
            }
        }
    }
}
