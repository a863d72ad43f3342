//! The end of a step: what was worked out becomes the world's state, and the report says what that is.

use crate::contact::Contact;
use crate::share::{SHARE, each_slot_of_two};
use crate::step::Scratch;
use crate::world::{World, WorldState};
use crate::{BodyId, IslandReport, StepReport, sleep};
use moreau_cache::NewEntries;
use moreau_math::{Vec3, Velocity};
use moreau_solver::SolveReport;

/// What a body has (J) after a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Energy {
    kinetic: f64,
    potential: f64,
}

impl World {
    pub(crate) fn commit(&mut self, scratch: &mut Scratch, dt: f64, parallel: bool) {
        let WorldState {
            bodies,
            joints,
            cache,
            kept,
            settings,
            trials_until,
            ..
        } = &mut self.state;
        let Scratch {
            motions,
            moved,
            points,
            energies,
            deepest,
            ..
        } = scratch;
        let (activity, detection) = (&self.activity, &mut self.detection);
        energies.resize(bodies.len(), Energy::default());
        let mut remember = || {
            let points = &points[..];
            *deepest = cache.replace_by(points.len(), |places| {
                remember(points, (0, places), parallel)
            });
        };
        let mut move_bodies = || {
            let lists = (&mut bodies[..], &mut energies[..]);
            each_slot_of_two(
                parallel,
                &activity.bodies,
                lists,
                |_, index, (slot, energy)| {
                    let Some(body) = &mut slot.value else {
                        return;
                    };
                    if let Some(sleeping) = &settings.sleeping
                        && body.is_dynamic()
                    {
                        sleep::observe(body, &motions[index], sleeping, dt);
                    }
                    let (center, rotation, angular) = moved[index];
                    body.force = Vec3::ZERO;
                    body.torque = Vec3::ZERO;
                    body.center = center;
                    body.rotation = rotation;
                    body.velocity = Velocity::new(motions[index].velocity.linear, angular);
                    if body.is_dynamic() {
                        *energy = Energy {
                            kinetic: body.kinetic_energy(),
                            potential: body.potential_energy(settings.gravity),
                        };
                    }
                },
            );
        };
        let mut list_kept = || detection.list_kept(kept);
        if parallel && activity.bodies.len() >= 2 * SHARE {
            rayon::join(|| rayon::join(remember, move_bodies), list_kept);
        } else {
            remember();
            move_bodies();
            list_kept();
        }
        for slot in &activity.joints {
            if let Some(joint) = &mut joints[*slot as usize].value {
                joint.impulses = [0.0; 3];
            }
        }
        for (range, result) in scratch.islands.ranges.iter().zip(&scratch.results) {
            let slots = &scratch.islands.joints[range.joints.clone()];
            for (slot, impulses) in slots.iter().zip(&result.joint_impulses) {
                if let Some(joint) = &mut joints[*slot as usize].value {
                    joint.impulses = *impulses;
                }
            }
            let Some(trial) = result.trial else {
                continue;
            };
            *trials_until = trial.forgotten().max(*trials_until);
            for slot in &scratch.islands.bodies[range.bodies.clone()] {
                if let Some(body) = &mut bodies[*slot as usize].value {
                    body.trial = trial;
                }
            }
        }
        let state = &mut self.state;
        if !(state.contacts.is_empty() && scratch.points.is_empty()) {
            // The old ones are written over by the next step.
            std::mem::swap(&mut state.contacts, &mut scratch.points);
            self.all_contacts.take();
        }
        state.steps += 1;
        state.time += dt;
        state.last_dt = dt;
        if !self.activity.bodies.is_empty() {
            self.forget_queries();
        }
    }

    /// What the step has come to.
    pub(crate) fn fill_report(&mut self, scratch: &Scratch, report: &mut StepReport) {
        self.list_islands(scratch);
        let sleeping = &self.activity.sleeping;
        report.bodies = self.body_count();
        report.awake_bodies = self.activity.awake;
        report.sleeping_bodies = sleeping.bodies;
        report.sleeping_islands = sleeping.islands;
        report.contact_points += sleeping.contacts;
        report.joints = self.state.joints.len() - self.state.free_joints.len();
        report.max_penetration = sleeping.deepest.max(scratch.deepest);
        let stands = |slot: &&u32| scratch.rides[**slot as usize].stands;
        report.standing_bodies = self.activity.bodies.iter().filter(stands).count();
        let dynamic = |slot: &&u32| self.activity.marks[**slot as usize].is_dynamic();
        let awake = self.activity.bodies.iter().filter(dynamic);
        let energies = awake.map(|slot| scratch.energies[*slot as usize]);
        report.kinetic_energy = energies.clone().map(|e| e.kinetic).sum();
        let potential: f64 = energies.map(|e| e.potential).sum();
        report.potential_energy = potential + sleeping.potential;
    }

    fn list_islands(&mut self, scratch: &Scratch) {
        let islands = &scratch.islands;
        self.island_reports.clear();
        for (range, result) in islands.ranges.iter().zip(&scratch.results) {
            let (Some(first), Some(solve)) =
                (islands.bodies.get(range.bodies.start), &result.report)
            else {
                continue;
            };
            let contacts = &islands.contacts[range.contacts.clone()];
            self.island_reports.push(IslandReport {
                first_body: BodyId {
                    index: *first,
                    generation: self.state.bodies[*first as usize].generation,
                },
                bodies: range.bodies.len(),
                contact_points: range.contacts.len(),
                joints: range.joints.len(),
                solver: result.solver,
                solve: SolveReport {
                    worst_contact: solve.worst_contact.map(|c| contacts[c] as usize),
                    ..*solve
                },
                guarded: result.guarded,
            });
        }
    }
}

/// Remembers the impulses of the points from `first` on in their places; returns how deep they are at most, m, minus
/// infinity where there are none.
fn remember(points: &[Contact], (first, places): (usize, NewEntries<'_>), parallel: bool) -> f64 {
    if parallel && places.len() >= 2 * SHARE {
        let middle = places.len() / 2;
        let (places, more) = places.split_at(middle);
        let (x, y) = rayon::join(
            || remember(points, (first, places), true),
            || remember(points, (first + middle, more), true),
        );
        return x.max(y);
    }
    let mut deepest = f64::NEG_INFINITY;
    let own = first..first + places.len();
    places.fill(|i| {
        let p = &points[i];
        if own.contains(&i) {
            deepest = deepest.max(-p.separation);
        }
        p.remembered()
    });
    deepest
}
