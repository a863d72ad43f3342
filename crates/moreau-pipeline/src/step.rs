//! The step: detect, group, solve, move.
//!
//! Everything is worked out in scratch memory first; the state changes only at the end, so that a
//! step that fails leaves no trace.

use crate::activity::Activity;
use crate::commit::Energy;
use crate::contact::Contact;
use crate::crossings::{self, Crossings};
use crate::integrate::{Motion, Start, advance, free_velocity};
use crate::island::{IslandRange, Islands};
use crate::island_solve::{IslandResult, StepInput, Worker};
use crate::motion::{self, Held, Moving, Ride};
use crate::profile::{Clock, StageTimes, StepProfile, held};
use crate::seams::Seams;
use crate::second_look::SecondLook;
use crate::sensors::Sensors;
use crate::share::{SHARE, awake, each_slot, each_slot_of_two};
use crate::trial::Pause;
use crate::wake::Undo;
use crate::world::{World, WorldState};
use crate::{BodyId, LaneFill, StepReport, WorldBytes, WorldError};
use moreau_math::{Quat, Vec3, Velocity};
use rayon::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Memory that steps reuse. Holds no state.
#[derive(Default)]
pub(crate) struct Scratch {
    workers: Vec<Mutex<Worker>>,
    pub(crate) islands: Islands,
    pub(crate) points: Vec<Contact>,
    seams: Seams,
    sensors: Sensors,
    crossings: Crossings,
    pub(crate) second_look: SecondLook,
    pub(crate) warm: Vec<Vec3>,
    free: Vec<Velocity>,
    starts: Vec<Start>,
    pub(crate) results: Vec<IslandResult>,
    pub(crate) motions: Vec<Motion>,
    held: Vec<Held>,
    pub(crate) rides: Vec<Ride>,
    /// By contact point.
    closing: Vec<bool>,
    /// Where each slot will be: centre, rotation, angular velocity.
    pub(crate) moved: Vec<(Vec3, Quat, Vec3)>,
    /// Slots of the bodies that went through the step impact by impact, ascending.
    pub(crate) followed: Vec<u32>,
    /// Slots that took part in the last step.
    stepped: Vec<u32>,
    /// By slot, of the dynamic bodies that took part in the last step.
    pub(crate) energies: Vec<Energy>,
    /// Of the contact points of the last step, m; minus infinity where there are none.
    pub(crate) deepest: f64,
    /// Contact points with sleeping bodies.
    pub(crate) sleeping_points: usize,
    /// Pairs of the last step whose manifold was used as it was.
    placed: usize,
}

impl Scratch {
    /// Notes where the bodies are that no step moves.
    fn stand(&mut self, state: &WorldState) {
        self.moved.clear();
        self.moved
            .extend(state.bodies.iter().map(|slot| match &slot.value {
                Some(body) => (body.center, body.rotation, body.velocity.angular),
                None => (Vec3::ZERO, Quat::IDENTITY, Vec3::ZERO),
            }));
    }

    /// The next step forks the world's solver again.
    pub(crate) fn forget_solvers(&mut self) {
        self.workers.clear();
    }

    /// The time (s) that the step waited for the islands, by what was done in it.
    fn share_out(&self, seconds: f64, times: &mut StageTimes) {
        let (mut assembly, mut solve, mut correction) = (0.0, 0.0, 0.0);
        for result in &self.results[..self.islands.ranges.len()] {
            assembly += result.profile.assembly;
            solve += result.profile.solve;
            correction += result.profile.correction;
        }
        let all = assembly + solve + correction;
        let share = if all > 0.0 { seconds / all } else { 0.0 };
        times.assembly += assembly * share;
        times.solve += solve * share;
        times.correction += correction * share;
    }

    fn lane_fill(&self) -> LaneFill {
        let mut fill = LaneFill::default();
        for result in &self.results[..self.islands.ranges.len()] {
            fill.add(&result.profile.lanes);
        }
        fill
    }

    /// Adds what is held here.
    pub(crate) fn add_bytes(&self, bytes: &mut WorldBytes) {
        bytes.bodies += held(&self.free)
            + held(&self.starts)
            + held(&self.motions)
            + held(&self.held)
            + held(&self.rides)
            + held(&self.stepped)
            + held(&self.moved)
            + held(&self.energies)
            + held(&self.followed);
        bytes.contacts += held(&self.points) + held(&self.warm) + held(&self.closing);
        bytes.contacts += self.second_look.bytes();
        bytes.islands += self.islands.bytes() + held(&self.results);
        bytes.islands += self.results.iter().map(IslandResult::bytes).sum::<usize>();
        for worker in &self.workers {
            let worker = worker.lock().unwrap_or_else(|e| e.into_inner());
            bytes.islands += worker.bytes();
        }
    }

    /// Velocity of a slot after the step's forces.
    pub(crate) fn free_velocity(&self, slot: u32) -> &Velocity {
        &self.free[slot as usize]
    }

    /// Normal velocity of a contact after the step's forces, m/s.
    pub(crate) fn free_speed(&self, p: &Contact) -> f64 {
        let at = |slot: u32, lever| self.free[slot as usize].at(lever);
        p.normal
            .dot(at(p.b.index, p.lever_b) - at(p.a.index, p.lever_a))
    }

    /// Contact points and what the solve made of them.
    pub(crate) fn impulses(&self) -> impl Iterator<Item = (&Contact, &Vec3)> {
        let islands = self.islands.ranges.iter().zip(&self.results);
        islands.flat_map(|(range, result)| {
            let contacts = self.islands.contacts[range.contacts.clone()].iter();
            let points = contacts.map(|i| &self.points[*i as usize]);
            points.zip(&result.impulses)
        })
    }

    /// What the islands' solvers see.
    pub(crate) fn input<'a>(
        &'a self,
        (state, activity): (&'a WorldState, &'a Activity),
        dt: f64,
    ) -> StepInput<'a> {
        StepInput {
            state,
            marks: &activity.marks,
            islands: &self.islands,
            points: &self.points,
            warm: &self.warm,
            free: &self.free,
            starts: &self.starts,
            dt,
            profiling: false,
        }
    }
}

impl World {
    /// Advances the world by `dt` (s).
    ///
    /// The report says how far the step's impulses are from exact ones; that a solver did not
    /// converge is not an error.
    ///
    /// # Errors
    /// Where `dt` is not positive and finite, or the step would leave numbers that are not finite.
    /// The world is then as before.
    pub fn step(&mut self, dt: f64) -> Result<StepReport, WorldError> {
        if !(dt > 0.0 && dt.is_finite()) {
            return Err(WorldError::BadTimeStep { dt });
        }
        // The scratch leaves the world for the time of the step, so that both can be borrowed.
        let mut scratch = std::mem::take(&mut self.scratch);
        let result = match self.pool.clone() {
            Some(pool) => {
                // Of the last step; in the first one nobody knows yet.
                let worth_it = self.activity.bodies.len() >= 2 * SHARE;
                let scratch = &mut scratch;
                pool.install(|| awake(worth_it, || self.step_with(scratch, dt, true)))
            }
            None => self.step_with(&mut scratch, dt, false),
        };
        self.scratch = scratch;
        result
    }

    fn step_with(
        &mut self,
        scratch: &mut Scratch,
        dt: f64,
        parallel: bool,
    ) -> Result<StepReport, WorldError> {
        let mut whole = Clock::new(true);
        let mut clock = Clock::new(self.profiling);
        let mut times = StageTimes::default();
        let mut undo = None;
        let mut report = loop {
            let solved = self.solve(scratch, (dt, parallel), (&mut clock, &mut times), &mut undo);
            let solved = solved.and_then(|mut report| {
                self.check_motions(scratch, dt, parallel)?;
                let asleep = self.follow_bullets(scratch, dt, &mut report);
                if asleep.is_empty() && !scratch.followed.is_empty() {
                    self.gather_reports(scratch, &mut report)?;
                }
                Ok((report, asleep))
            });
            match solved {
                Ok((report, asleep)) if asleep.is_empty() => break report,
                Ok((_, asleep)) => self.wake_struck(asleep, &mut undo),
                Err(error) => {
                    if let Some(undo) = undo {
                        self.undo(undo);
                    }
                    return Err(error);
                }
            }
        };
        report.woken_islands = undo.map_or(0, |undo| undo.woken());
        times.integration = clock.lap();
        let stopped = crossings::stop(
            &mut scratch.crossings,
            &mut self.detection,
            (&self.state, &self.activity.bodies, &scratch.followed),
            (&scratch.motions, &mut scratch.moved),
            (dt, parallel),
        );
        report.stopped_bodies += stopped.bodies;
        report.leg_work = stopped.leg_work;
        self.watch_passing(&mut scratch.sensors, &scratch.moved, dt);
        times.continuous = clock.lap();
        self.commit(scratch, dt, parallel);
        self.report_sensors(&mut scratch.sensors);
        self.fill_report(scratch, &mut report);
        self.fall_asleep(scratch, dt);
        times.commit = clock.lap();
        report.seconds = whole.lap();
        if self.profiling {
            times.total = report.seconds;
            report.profile = Some(StepProfile {
                times,
                placed: scratch.placed,
                lanes: scratch.lane_fill(),
                bytes: self.bytes_with(scratch),
            });
        }
        Ok(report)
    }

    /// From forces to the motions of all bodies; again from the start where that wakes an island.
    fn solve(
        &mut self,
        scratch: &mut Scratch,
        (dt, parallel): (f64, bool),
        (clock, times): (&mut Clock, &mut StageTimes),
        undo: &mut Option<Undo>,
    ) -> Result<StepReport, WorldError> {
        self.wake_edited(undo);
        let report = loop {
            let mut report = StepReport {
                dt,
                step: self.state.steps + 1,
                ..StepReport::default()
            };
            self.find_pairs(scratch, dt, parallel, &mut report);
            times.broad_phase += clock.lap();
            self.find_contacts(scratch, dt, parallel, &mut report);
            times.narrow_phase += clock.lap();
            if self.wake_met(scratch, dt, undo) {
                continue;
            }

            // The groups that must be solved together.
            scratch.islands.build(&self.state, &self.activity);
            report.islands = scratch.islands.ranges.len();
            times.islands += clock.lap();

            self.look_up_warm_starts(scratch, dt, parallel, &mut report);
            times.assembly += clock.lap();
            self.solve_islands(scratch, (dt, parallel), &[], &mut report)?;
            self.gather(scratch, (dt, parallel));
            self.look_again(scratch, (dt, parallel), &mut report)?;
            scratch.share_out(clock.lap(), times);
            if !self.wake_pushed(scratch, undo) {
                break report;
            }
        };
        Ok(report)
    }

    /// What the islands' solves make of the bodies.
    pub(crate) fn gather(&self, scratch: &mut Scratch, (dt, parallel): (f64, bool)) {
        motion::gather(
            &self.state,
            &scratch.islands,
            &scratch.results,
            &mut scratch.points,
            Moving {
                active: &self.activity.bodies,
                starts: &scratch.starts,
                free: &scratch.free,
                motions: &mut scratch.motions,
                held: &mut scratch.held,
                rides: &mut scratch.rides,
                closing: &mut scratch.closing,
                dt,
                parallel,
            },
        );
    }

    /// Forces, then who may touch whom on the free path through the step.
    pub(crate) fn find_pairs(
        &mut self,
        scratch: &mut Scratch,
        dt: f64,
        parallel: bool,
        report: &mut StepReport,
    ) {
        // A step that panicked has lost its memory.
        let is_lost = scratch.moved.len() != self.state.bodies.len();
        if self.activity.refresh(&self.state) || is_lost {
            scratch.stand(&self.state);
        }
        self.integrate_forces(scratch, (dt, parallel));
        report.pairs =
            self.detection
                .find_pairs((&self.state, &self.activity), &scratch.free, dt, parallel);
    }

    /// What touches what on the free path through the step.
    pub(crate) fn find_contacts(
        &mut self,
        scratch: &mut Scratch,
        dt: f64,
        parallel: bool,
        report: &mut StepReport,
    ) {
        let Scratch {
            free,
            islands,
            points,
            seams,
            placed,
            ..
        } = &mut *scratch;
        let counts = (self.detection).find_points(&self.state, (free, dt), points, parallel);
        report.recycled = counts.recycled;
        *placed = counts.placed;
        report.manifolds = counts.manifolds;
        let (ghosts, ghost_points) = seams.remove_ghosts(
            (&self.state, &self.activity.marks),
            (free, dt),
            (points, self.detection.mixed()),
        );
        islands.list_ends(points, parallel);
        report.manifolds -= ghosts;
        report.seam_points = ghost_points;
        report.contact_points = scratch.points.len();
    }

    fn integrate_forces(&self, scratch: &mut Scratch, (dt, parallel): (f64, bool)) {
        // Who took part in the last step may not in this one.
        for index in scratch.stepped.drain(..) {
            let index = index as usize;
            scratch.free[index] = Velocity::ZERO;
            scratch.starts[index] = Start::default();
            scratch.motions[index] = Motion::NONE;
        }
        let slots = self.state.bodies.len();
        scratch.free.resize(slots, Velocity::ZERO);
        scratch.starts.resize(slots, Start::default());
        scratch.motions.resize(slots, Motion::NONE);
        scratch.held.resize(slots, Held::default());
        scratch.stepped.extend_from_slice(&self.activity.bodies);
        let lists = (&mut scratch.free[..], &mut scratch.starts[..]);
        let (bodies, settings) = (&self.state.bodies, &self.state.settings);
        let work = |_, slot: usize, (free, start): (&mut Velocity, &mut Start)| {
            if let Some(body) = &bodies[slot].value {
                *start = Start::of(body);
                *free = free_velocity(body, &start.inverse_inertia, settings, dt);
            }
        };
        each_slot_of_two(parallel, &scratch.stepped, lists, work);
    }

    /// Solves all islands, or of those that there are, where `again` says so.
    pub(crate) fn solve_islands(
        &mut self,
        scratch: &mut Scratch,
        (dt, parallel): (f64, bool),
        again: &[bool],
        report: &mut StepReport,
    ) -> Result<(), WorldError> {
        let workers = if parallel {
            rayon::current_num_threads()
        } else {
            1
        };
        while scratch.workers.len() < workers {
            scratch
                .workers
                .push(Mutex::new(Worker::new(self.solver.fork())));
        }
        let count = scratch.islands.ranges.len();
        while scratch.results.len() < count {
            scratch.results.push(IslandResult::default());
        }
        let mut results = std::mem::take(&mut scratch.results);
        for result in &mut results[..count] {
            result.exact = None;
        }
        let input = StepInput {
            profiling: self.profiling,
            ..scratch.input((&self.state, &self.activity), dt)
        };
        let workers = &scratch.workers;
        let worker = || {
            // Each thread has a worker of its own, so the lock is always free.
            let index = if parallel {
                rayon::current_thread_index().unwrap_or(0)
            } else {
                0
            };
            workers[index].lock().unwrap_or_else(|e| e.into_inner())
        };
        let solve = |together: bool, range: &IslandRange, result: &mut IslandResult| {
            let mut worker = worker();
            worker.use_pool(together);
            worker.solve(&input, range, result);
        };
        let ranges = &scratch.islands.ranges;
        let wanted = |i: &usize| again.get(*i).copied().unwrap_or(true);
        if parallel {
            // Large islands one after the other, each by all threads; then the others, each by one. Not
            // at the same time: who waits in a large island would take up a small one, and its worker is
            // busy.
            let most = self.solver.shared_contacts();
            let large = |range: &IslandRange| range.contacts.len() > most;
            // What is solved exactly is among the others.
            if ranges.iter().any(large) {
                let pairs = ranges.par_iter().zip(results[..count].par_iter_mut());
                let pairs = pairs.enumerate();
                let pairs = pairs.filter(|(i, (range, _))| wanted(i) && large(range));
                pairs.for_each(|(_, (range, result))| {
                    result.exact = Some(worker().is_exact(&input, range));
                });
            }
            let pairs = ranges.iter().zip(&mut results[..count]).enumerate();
            let pairs = pairs.filter(|(i, (_, result))| wanted(i) && result.exact == Some(false));
            for (_, (range, result)) in pairs {
                solve(true, range, result);
            }
            let pairs = ranges.par_iter().zip(results[..count].par_iter_mut());
            let pairs = pairs.enumerate();
            let pairs = pairs.filter(|(i, (_, result))| wanted(i) && result.exact != Some(false));
            pairs.for_each(|(_, (range, result))| solve(false, range, result));
        } else {
            let pairs = ranges.iter().zip(&mut results[..count]).enumerate();
            let pairs = pairs.filter(|(i, _)| wanted(i));
            pairs.for_each(|(_, (range, result))| solve(false, range, result));
        }
        scratch.results = results;
        self.gather_reports(scratch, report)
    }

    fn gather_reports(
        &self,
        scratch: &mut Scratch,
        report: &mut StepReport,
    ) -> Result<(), WorldError> {
        report.certified = true;
        (report.largest_island, report.guarded_islands) = (0, 0);
        (report.corrected_islands, report.waiting_islands) = (0, 0);
        report.hurrying_islands = 0;
        (report.sweeps, report.total_sweeps, report.factorizations) = (0, 0, 0);
        (
            report.uncertified_islands,
            report.residual,
            report.worst_contact,
        ) = (0, 0.0, None);
        report.solvers = Default::default();
        for (range, result) in scratch.islands.ranges.iter().zip(&mut scratch.results) {
            if let Some(error) = result.error.take() {
                return Err(error);
            }
            report.largest_island = report.largest_island.max(range.contacts.len());
            report.guarded_islands += usize::from(result.guarded);
            report.corrected_islands += usize::from(!result.corrections.is_empty());
            report.waiting_islands += usize::from(result.pause == Pause::Waits);
            report.hurrying_islands += usize::from(result.pause == Pause::Hurries);
            let Some(solve) = &result.report else {
                continue;
            };
            report
                .solvers
                .count(result.solver, range.contacts.len(), solve);
            report.sweeps = report.sweeps.max(solve.sweeps);
            report.total_sweeps += u64::from(solve.sweeps);
            report.factorizations += u64::from(solve.factorizations);
            if !solve.converged() {
                report.certified = false;
                report.uncertified_islands += 1;
            }
            if solve.residual >= report.residual {
                report.residual = solve.residual;
                let contacts = &scratch.islands.contacts[range.contacts.clone()];
                report.worst_contact = solve.worst_contact.map(|c| contacts[c] as usize);
            }
        }
        Ok(())
    }

    /// Works out the new poses; refuses those that are not finite.
    fn check_motions(
        &self,
        scratch: &mut Scratch,
        dt: f64,
        parallel: bool,
    ) -> Result<(), WorldError> {
        let (motions, bodies) = (&scratch.motions, &self.state.bodies);
        let rides = &scratch.rides;
        let active = &self.activity.bodies;
        let diverges = AtomicBool::new(false);
        each_slot(parallel, active, &mut scratch.moved, |_, slot, moved| {
            if let Some(body) = &bodies[slot].value {
                let motion = &motions[slot];
                *moved = if rides[slot].stands {
                    (body.center, body.rotation, motion.velocity.angular)
                } else {
                    advance(body, motion, dt)
                };
                let vectors = [motion.velocity.linear, moved.0, moved.2];
                if !(vectors.iter().all(|v| v.is_finite()) && moved.1.is_finite()) {
                    diverges.store(true, Ordering::Relaxed);
                }
            }
        });
        if !diverges.into_inner() {
            return Ok(());
        }
        for index in active.iter().map(|i| *i as usize) {
            let slot = &self.state.bodies[index];
            if slot.value.is_none() {
                continue;
            }
            let (motion, moved) = (&motions[index], &scratch.moved[index]);
            let id = BodyId {
                index: index as u32,
                generation: slot.generation,
            };
            let diverged = |field, value: String| Err(WorldError::Diverged { id, field, value });
            if !motion.velocity.linear.is_finite() {
                return diverged("velocity.linear", motion.velocity.linear.to_string());
            }
            if !moved.2.is_finite() {
                return diverged("velocity.angular", moved.2.to_string());
            }
            if !moved.0.is_finite() {
                return diverged("position", moved.0.to_string());
            }
            if !moved.1.is_finite() {
                return diverged("rotation", moved.1.to_string());
            }
        }
        Ok(())
    }

    /// Kinetic energy of all dynamic bodies, J.
    pub fn kinetic_energy(&self) -> f64 {
        let dynamic = self.bodies().filter(|b| b.state.is_dynamic());
        dynamic.map(|b| b.state.kinetic_energy()).sum()
    }

    /// Potential energy of all dynamic bodies in the uniform gravity, J; zero at the origin.
    pub fn potential_energy(&self) -> f64 {
        let gravity = self.state.settings.gravity;
        let dynamic = self.bodies().filter(|b| b.state.is_dynamic());
        dynamic.map(|b| b.state.potential_energy(gravity)).sum()
    }
}
