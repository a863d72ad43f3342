//! The loop of sweeps.
//!
//! Sweeps alone converge slowly where many bodies lie on each other: the error of the slowest motions
//! falls by a hair each time. With G a sweep and y_k the impulses that it starts from, the next one
//! starts ahead of where the last one ended (Nesterov's method, with G in the place of a gradient
//! step):
//!
//! ```text
//! y_(k+1) = G(y_k) + beta_k (G(y_k) - G(y_(k-1))),    beta_k = min(k/(k+3), limit)
//! k = 0 again where (G(y_k) - y_k)·D (G(y_k) - G(y_(k-1))) < 0: it went too far
//! ```
//!
//! D = trace(W)/3 of each contact. Velocities are affine in the impulses and take the same
//! combination. A sweep itself works out y of the contacts that it visits, and the products, so that
//! momentum costs no passes over memory. What is looked at and returned are the G(y_k), which lie in their cones. The limit is
//! 0.9, and is halved at each look where the change of a sweep did not fall: without one, momentum
//! keeps sliding contacts from coming to rest. In a pile of 2000 boxes 40 sweeps are worth 250 plain
//! ones.
//!
//! **Rest.** What is left of the error lies in few places mostly, and most contacts hardly change. At each look, every
//! `check_every` sweeps, from the fourth one on, packs rest that the sweep changed by less than a part of what it changed a contact at most (in
//! m/s, |g| D): momentum is taken back from them, they keep their impulses, and sweeps pass them by until the next look, whose sweep
//! visits all again. Velocities stay those of the impulses all the time. In a pile that is nearly at rest most visits are
//! spared so, and the residual after as many sweeps is the same to some per cent.
//!
//! Nesterov, "A method for solving the convex programming problem with convergence rate O(1/k²)"
//! (1983); O'Donoghue and Candès, "Adaptive restart for accelerated gradient schemes", Found. Comput.
//! Math. 15 (2015); for contacts by projected gradients: Mazhar, Heyn, Negrut, Tasora, ACM Trans. Graph.
//! 34 (2015).

use crate::arithmetic::Arithmetic;
use crate::first_look::{FirstLook, make_feasible};
use crate::job::{Job, Task};
use crate::kernel::{Conductor, View};
use crate::lanes::WIDTH;
use crate::momentum::Momentum;
use crate::packed::{Block, How, Impulse, NONE, Packed, RestState, get_impulses, set_impulses};
use crate::progress::{Progress, Sweep, last_of, sum};
use crate::rows::Rows;
use crate::settings::{Instructions, SimdSettings};
use crate::wave::{MOST_SWEEPS, Plan};
use moreau_constraint::{ContactProblem, Impulses};
use moreau_math::{Vec3, Velocity};
use moreau_solver::{ContactSolver, SolveError, SolveReport, StopReason, WorstResidual};
use serde::{Deserialize, Serialize};

const NAME: &str = "simd";

/// Contacts for each thread of a team. Fewer are done sooner than divided.
const CONTACTS_A_THREAD: usize = 2000;

/// Coloured sweeps, eight contacts at a time.
///
/// The report holds for what is returned: it is made at velocities recomputed from the impulses. A
/// warm start within the tolerance comes back bit for bit, after 0 sweeps. Where the budget runs out
/// the best iterate that was looked at is returned, or the last one where
/// [`SimdSettings::keep_best`] is off.
#[derive(Debug, Default)]
pub struct SimdSolver {
    settings: SimdSettings,
    use_pool: bool,
    scratch: Scratch,
}

/// How the contacts of the last solve were laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SimdStats {
    /// Colours in use.
    pub colours: usize,
    /// Pairs of bodies (of at most four contacts each) that found no colour and were visited alone.
    pub serial: usize,
    /// Contacts that were visited.
    pub contacts: usize,
    /// Places for them in the packs; contacts/places is how full they are.
    pub places: usize,
    /// Contacts that waited to the end: too far open to be visited.
    pub waiting: usize,
    /// Contacts that waited at first, and were visited later.
    pub woken: usize,
    /// Visits of packs, each of eight pairs, that sweeps over all of them would have made.
    pub visits: usize,
    /// Of these the ones that were not made, of packs that rested.
    pub spared: usize,
    /// Threads that could take part.
    pub threads: usize,
    /// Sweeps that went through the problem side by side, at most; 0 where they followed each other.
    pub side_by_side: usize,
}

#[derive(Debug, Default)]
struct Scratch {
    packed: Packed,
    rows: Rows,
    best: Vec<Impulse>,
    best_rows: Vec<f64>,
    first_look: FirstLook,
    visits: usize,
    spared: usize,
    threads: usize,
}

impl SimdSolver {
    /// A solver with the given settings. They are checked by each solve.
    pub fn new(settings: SimdSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    /// The settings.
    pub fn settings(&self) -> &SimdSettings {
        &self.settings
    }

    /// Changes the settings, and keeps the memory.
    pub fn set_settings(&mut self, settings: SimdSettings) {
        self.settings = settings;
    }

    /// Whether the other threads of the rayon pool that a solve is called in help it with large problems
    /// (default false). The answer has the same bits with any number of them. They are taken for the
    /// length of a solve; a thread that waits in a solve may run other work of the pool.
    pub fn use_pool(&mut self, yes: bool) {
        self.use_pool = yes;
    }

    /// Of the last solve.
    pub fn stats(&self) -> SimdStats {
        let packed = &self.scratch.packed;
        let points = |blocks: &[Block]| -> (usize, usize) {
            let places = blocks.iter().flat_map(|b| b.points.clone());
            let lanes = places.clone().flat_map(|i| packed.contacts[i]);
            (lanes.filter(|c| *c != NONE).count(), places.count() * WIDTH)
        };
        let (waiting, _) = points(&packed.blocks[packed.waiting.clone()]);
        let (contacts, places) = points(&packed.blocks[packed.waiting.end..]);
        SimdStats {
            colours: packed.colouring.colours,
            serial: packed.colouring.serial,
            contacts,
            places,
            waiting,
            woken: packed.woken,
            visits: self.scratch.visits,
            spared: self.scratch.spared,
            threads: self.scratch.threads,
            side_by_side: packed.schedule.sweeps,
        }
    }

    /// Threads for a problem of so many contacts.
    fn threads(&self, contacts: usize) -> usize {
        if !self.use_pool || rayon::current_thread_index().is_none() {
            return 1;
        }
        rayon::current_num_threads().min((contacts / CONTACTS_A_THREAD).max(1))
    }
}

impl Clone for SimdSolver {
    /// The same settings; memory is not copied.
    fn clone(&self) -> Self {
        Self {
            settings: self.settings,
            use_pool: self.use_pool,
            scratch: Scratch::default(),
        }
    }
}

impl ContactSolver for SimdSolver {
    fn name(&self) -> &'static str {
        NAME
    }

    fn solve(
        &mut self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        velocities: &mut Vec<Velocity>,
    ) -> Result<SolveReport, SolveError> {
        self.settings.validate(NAME)?;
        impulses.sanitize(problem.contacts().len(), problem.rows().len());
        self.scratch.threads = self.threads(problem.contacts().len());
        let report = self.scratch.solve(&self.settings, problem, impulses);
        let parallel = self.scratch.threads > 1;
        self.scratch.packed.get_velocities(velocities, parallel);
        let Some(body) = velocities.iter().position(|v| !v.is_finite()) else {
            return Ok(report);
        };
        // Nothing that is not finite leaves a solve.
        impulses.contacts.fill(Vec3::ZERO);
        impulses.rows.fill(0.0);
        problem.velocities_into(impulses, velocities);
        Err(SolveError::Overflow { body })
    }

    fn fork(&self) -> Box<dyn ContactSolver> {
        Box::new(self.clone())
    }
}

impl Scratch {
    fn solve(
        &mut self,
        settings: &SimdSettings,
        problem: &ContactProblem,
        impulses: &mut Impulses,
    ) -> SolveReport {
        let arithmetic = match settings.instructions {
            Instructions::Fastest => Arithmetic::fastest(false),
            Instructions::Avx2 => Arithmetic::fastest(true),
            Instructions::Baseline => Arithmetic::Plain,
        };
        self.rows.load(problem);
        (self.visits, self.spared) = (0, 0);
        if problem.contacts().is_empty() && problem.rows().is_empty() {
            let how = How {
                arithmetic,
                parallel: false,
                layers_from: usize::MAX,
            };
            self.packed.list_bodies(problem);
            self.first_look.clear();
            self.packed.load(problem, &self.first_look, how);
            return SolveReport::empty();
        }
        let parallel = self.threads > 1;
        let bodies = self.packed.list_bodies(problem);
        let how = (settings.leave_out_open, parallel);
        self.first_look.look(problem, bodies, impulses, how);
        let how = How {
            arithmetic,
            parallel,
            layers_from: settings.layers_from,
        };
        self.packed.load(problem, &self.first_look, how);
        let mut progress = None;
        loop {
            // The list of which contact is where is not part of what threads share.
            let contacts = std::mem::take(&mut self.packed.contacts);
            let report =
                View::new(&mut self.packed, arithmetic).conduct(self.threads, |conductor| {
                    let solve = Solve {
                        settings,
                        problem,
                        contacts: &contacts,
                        first_look: &self.first_look,
                        conductor,
                        rows: &mut self.rows,
                        best: (&mut self.best, &mut self.best_rows),
                        visits: (&mut self.visits, &mut self.spared),
                    };
                    solve.run(impulses, &mut progress)
                });
            self.packed.contacts = contacts;
            if let Some(report) = report {
                return report;
            }
            let contacts = (problem, &self.first_look.glances[..]);
            self.packed.wake(contacts, settings.tolerance, how);
            self.best.resize(self.packed.maps.len(), Impulse::default());
        }
    }
}

/// How many times the tolerance the changes of a sweep may be for the natural map to be worth a look, when
/// it is time for one.
const NEAR: f64 = 16.0;

/// A warm start that leaves more, m/s, is of no use: no bodies are so fast.
const MOST_RESIDUAL: f64 = 1e9;

/// To what part of the residual a solve that goes on with velocities made anew must have come since the last time.
const HELPS: f64 = 1e-3;

/// Looks before packs rest. Sooner, much is calm only because what pushes from far away has not got there: pyramids of
/// 40 rows and more spread by twice to three times as far.
const FIRST_REST: u32 = 4;

/// A solve at work.
struct Solve<'s, 'v, 'a> {
    settings: &'s SimdSettings,
    problem: &'s ContactProblem,
    contacts: &'s [[u32; WIDTH]],
    first_look: &'s FirstLook,
    conductor: &'s mut Conductor<'v, 'a>,
    rows: &'s mut Rows,
    best: (&'s mut Vec<Impulse>, &'s mut Vec<f64>),
    /// Of [`SimdStats`]: all, and those that were spared.
    visits: (&'s mut usize, &'s mut usize),
}

impl Solve<'_, '_, '_> {
    /// Nothing where contacts that waited are in the way: their maps are there, and the solve goes on once they
    /// are visited.
    fn run(
        mut self,
        impulses: &mut Impulses,
        progress: &mut Option<Progress>,
    ) -> Option<SolveReport> {
        let tolerance = self.settings.tolerance;
        let progress = match progress {
            Some(progress) => progress,
            None => {
                self.start(impulses);
                let mut residual = self.first_residual();
                if residual <= tolerance {
                    let residual = self.residual(0);
                    return Some(residual.report(0, StopReason::Converged));
                }
                if !(residual <= MOST_RESIDUAL) {
                    // The way back from there is longer than that from nothing.
                    impulses.contacts.fill(Vec3::ZERO);
                    impulses.rows.fill(0.0);
                    make_feasible(self.problem, impulses, |_, _| {});
                    self.start_anew(impulses);
                    residual = self.largest_map(0);
                }
                if self.settings.keep_best {
                    self.keep(0);
                }
                self.rest();
                progress.insert(Progress {
                    sweeps: 0,
                    momentum: Momentum::new(),
                    beta: 0.0,
                    current: 0,
                    whole: true,
                    resting: 0,
                    best: residual,
                    last: residual,
                    squares: [f64::INFINITY; 2],
                    mistaken: f64::INFINITY,
                })
            }
        };
        let (stop, residual) = loop {
            let stop = self.iterate(progress)?;
            self.finish(progress, impulses);
            let residual = self.residual(progress.current);
            // Sweeps from a far too large warm start leave its rounding in the velocities that they change; it is
            // gone from those that are made anew.
            let mistaken = progress.last <= tolerance && residual.value > NEAR * tolerance;
            let helps = residual.value < HELPS * progress.mistaken;
            if !(mistaken && helps) || progress.sweeps == self.settings.max_sweeps {
                break (stop, residual);
            }
            self.go_on(progress, residual.value);
        };
        let current = self.conductor.impulses(progress.current);
        get_impulses(self.contacts, current, &mut impulses.contacts);
        impulses.rows.copy_from_slice(&self.rows.impulses);
        let stop = if residual.value <= tolerance {
            StopReason::Converged
        } else {
            stop
        };
        Some(residual.report(progress.sweeps, stop))
    }

    /// Starts anew from where the solve is, with velocities that fit.
    fn go_on(&mut self, progress: &mut Progress, residual: f64) {
        self.rows.rest();
        self.conductor.copy_impulses(progress.current);
        *progress = Progress {
            sweeps: progress.sweeps,
            momentum: Momentum::new(),
            beta: 0.0,
            current: progress.current,
            whole: true,
            // Packs that rest do so until the next look.
            resting: progress.resting,
            best: residual,
            last: residual,
            squares: [f64::INFINITY; 2],
            mistaken: residual,
        };
    }

    /// Sweeps, up to the end or to where contacts that waited have to be visited.
    fn iterate(&mut self, progress: &mut Progress) -> Option<StopReason> {
        let SimdSettings {
            max_sweeps,
            check_every,
            accelerate,
            keep_best,
            tolerance,
            ..
        } = *self.settings;
        while progress.sweeps < max_sweeps {
            let sweep = match self.conductor.sweeps_at_once() {
                0..=1 => self.sweep(progress),
                most => self.several_sweeps(progress, most),
            };
            let sweeps = progress.sweeps;
            let early = self.is_early(sweeps);
            let due = self.is_due(sweeps);
            if due {
                progress.momentum.adapt();
            }
            let near = if due { NEAR } else { 1.0 } * tolerance;
            let whole = progress.whole;
            let stalled = whole
                && (sweep.square == 0.0
                    || due && !early && progress.is_hopeless(&sweep, self.settings));
            let mut looked = false;
            if due && keep_best || sweep.change <= near || stalled {
                self.look(progress);
                looked = true;
            }
            if whole && due && sweeps >= FIRST_REST.saturating_mul(check_every) {
                self.rest_packs(&sweep, progress);
            }
            let next = sweeps + 1;
            // Whatever is looked at for `keep_best`.
            progress.whole = sweep.change <= near || self.is_whole(next);
            if !sweep.square.is_finite() {
                progress.last = sweep.square;
            }
            if progress.last <= tolerance || !progress.last.is_finite() {
                break;
            }
            if accelerate {
                progress.beta = progress.momentum.beta(sweep.square, sweep.along);
            }
            let glance = looked || sweeps.is_power_of_two();
            if glance && sweeps < max_sweeps && self.waited_too_long(progress, looked) {
                return None;
            }
            if stalled {
                return Some(StopReason::Stalled);
            }
        }
        Some(StopReason::Budget)
    }

    /// After a whole sweep: lets packs rest that it hardly changed.
    fn rest_packs(&mut self, sweep: &Sweep, progress: &mut Progress) {
        // Rows have units of their own, which tell nothing of contacts.
        let limit = self.settings.rest_part * sweep.contact_change;
        let limit_squared = limit * limit;
        progress.resting = 0;
        for rest in self.conductor.rests() {
            // Not where that is no number.
            let rests = limit > 0.0 && rest.change_squared <= limit_squared;
            rest.state = if rests {
                progress.resting += 1;
                RestState::LiesDown
            } else {
                RestState::Awake
            };
        }
    }

    /// Whether a contact that waits closes by more than the tolerance. `looked`: its map is there.
    fn waited_too_long(&mut self, progress: &Progress, looked: bool) -> bool {
        if !looked {
            self.run_task(Task::WaitingMaps, progress.current, 0.0);
        }
        let tolerance = self.settings.tolerance;
        let sums = self.conductor.waiting_sums();
        sums.iter().any(|sums| sums.map > tolerance)
    }

    /// Takes the last state, or the best of those that were looked at, with its own velocities.
    fn finish(&mut self, progress: &Progress, warm: &Impulses) {
        if self.settings.keep_best {
            let current = self.conductor.impulses(progress.current);
            current.copy_from_slice(self.best.0);
            self.rows.impulses.copy_from_slice(self.best.1);
        } else if !progress.last.is_finite() {
            let current = self.conductor.impulses(progress.current);
            set_impulses(self.contacts, &warm.contacts, current);
            self.rows.impulses.clone_from(&warm.rows);
        }
        self.refresh(progress.current);
    }

    fn is_early(&self, sweeps: u32) -> bool {
        sweeps < self.settings.check_every && sweeps.is_power_of_two()
    }

    /// Whether it is time for a look after so many sweeps.
    fn is_due(&self, sweeps: u32) -> bool {
        let regular = sweeps.is_multiple_of(self.settings.check_every);
        self.is_early(sweeps) || regular || sweeps == self.settings.max_sweeps
    }

    /// Whether a sweep visits all packs in any case.
    fn is_whole(&self, sweep: u32) -> bool {
        let check_every = self.settings.check_every;
        sweep <= FIRST_REST.saturating_mul(check_every)
            || sweep.is_multiple_of(check_every)
            || sweep == self.settings.max_sweeps
    }

    /// Up to where it is time for a look, or some more will follow; at most `most` at a time. The last one's changes.
    fn several_sweeps(&mut self, progress: &mut Progress, most: usize) -> Sweep {
        let first = progress.sweeps;
        // Contacts that wait are looked at after powers of two.
        let ends = |count: &usize| {
            let end = first + *count as u32;
            self.is_due(end) || end.is_power_of_two()
        };
        let count = (1..MOST_SWEEPS).find(ends).unwrap_or(MOST_SWEEPS);
        let mut sweeps = [Sweep::default(); MOST_SWEEPS];
        let mut made = 0;
        while made < count {
            let mut plan = Plan {
                sweeps: most.min(count - made),
                ..Plan::default()
            };
            for k in 0..plan.sweeps {
                if made + k > 0 {
                    progress.whole = self.is_whole(progress.sweeps + 1);
                    if self.settings.accelerate {
                        progress.beta = progress.momentum.next();
                    }
                }
                plan.betas[k] = progress.beta;
                plan.whole[k] = progress.whole;
                self.count(progress);
            }
            self.conductor.run_sweeps(plan, progress.current);
            for k in 0..plan.sweeps {
                sweeps[made + k] = sum(self.conductor.sums_of(k), Sweep::default());
            }
            progress.current = (progress.current + plan.sweeps) & 1;
            made += plan.sweeps;
        }
        progress.momentum.see(&sweeps[..count - 1]);
        last_of(&sweeps[..count])
    }

    /// A sweep that is made now.
    fn count(&mut self, progress: &mut Progress) {
        progress.sweeps += 1;
        *self.visits.0 += self.conductor.visited_packs();
        *self.visits.1 += if progress.whole { 0 } else { progress.resting };
    }

    /// One visit of all rows and contacts.
    fn sweep(&mut self, progress: &mut Progress) -> Sweep {
        let beta = progress.beta;
        self.run_task(Task::Advance, progress.current, beta);
        self.rows.advance(beta);
        let [square, along, change] = self.rows.sweep(self.conductor.velocities());
        self.conductor.run(Job {
            task: Task::Sweep,
            current: progress.current,
            beta,
            whole: progress.whole,
        });
        self.count(progress);
        progress.current = 1 - progress.current;
        let of_rows = Sweep {
            square,
            along,
            change,
            contact_change: 0.0,
        };
        sum(self.conductor.sums(), of_rows)
    }

    fn run_task(&mut self, task: Task, current: usize, beta: f64) {
        self.conductor.run(Job {
            task,
            current,
            beta,
            whole: true,
        });
    }

    /// The residual; keeps the state where it is the smallest yet.
    fn look(&mut self, progress: &mut Progress) {
        let largest = self.largest_map(progress.current);
        if largest < progress.best && self.settings.keep_best {
            progress.best = largest;
            self.keep(progress.current);
        }
        progress.last = largest;
    }

    /// The residual, m/s.
    fn largest_map(&mut self, current: usize) -> f64 {
        self.run_task(Task::Maps, current, 0.0);
        let mut worst = self.worst_block();
        self.rows.residual(self.conductor.velocities(), &mut worst);
        worst.value
    }

    /// The largest natural map of all contacts in the last look.
    fn worst_block(&mut self) -> WorstResidual {
        let mut worst = WorstResidual::default();
        for sums in self.conductor.sums() {
            if !(sums.map <= worst.value) {
                worst.include(sums.map, None);
            }
        }
        worst
    }

    fn keep(&mut self, current: usize) {
        self.best.0.clear();
        let current = self.conductor.impulses(current);
        self.best.0.extend_from_slice(current);
        self.best.1.clone_from(&self.rows.impulses);
    }

    /// From the warm start.
    fn start(&mut self, impulses: &Impulses) {
        if !self.first_look.warm {
            // As it was laid out.
            return self.rows.impulses.clone_from(&impulses.rows);
        }
        let Some(velocities) = self.first_look.velocities() else {
            return self.start_anew(impulses);
        };
        self.conductor.set_velocities(velocities);
        self.set_impulses(impulses);
    }

    /// From any impulses.
    fn start_anew(&mut self, impulses: &Impulses) {
        self.set_impulses(impulses);
        self.refresh(0);
    }

    fn set_impulses(&mut self, impulses: &Impulses) {
        let current = self.conductor.impulses(0);
        set_impulses(self.contacts, &impulses.contacts, current);
        self.rows.impulses.clone_from(&impulses.rows);
    }

    /// The residual of the start, m/s; or what it is at least, where that is too much for an answer already.
    fn first_residual(&mut self) -> f64 {
        let least = self.first_look.least_residual;
        // Lanes round in another order, but not to half of it. Who keeps the best state has to know it.
        if 0.5 * least > self.settings.tolerance && !self.settings.keep_best {
            return least;
        }
        self.largest_map(0)
    }

    /// From here on there is no momentum.
    fn rest(&mut self) {
        self.rows.rest();
        self.conductor.copy_impulses(0);
    }

    /// Velocities from impulses.
    fn refresh(&mut self, current: usize) {
        self.conductor.free_velocities(self.problem.bodies());
        self.rows.apply(self.conductor.velocities());
        self.run_task(Task::Apply, current, 0.0);
    }

    /// With the worst contact.
    fn residual(&mut self, current: usize) -> WorstResidual {
        self.run_task(Task::Maps, current, 0.0);
        let largest = self.worst_block().value;
        // The first one of them, in the order of the layout.
        let mut first = usize::MAX;
        for (place, maps) in self.conductor.maps_from(largest) {
            for (lane, map) in maps.0.into_iter().enumerate() {
                let there = self.contacts[place][lane] != NONE;
                if there && !(map < largest) {
                    first = first.min(place * WIDTH + lane);
                }
            }
        }
        let mut worst = WorstResidual::default();
        if first < usize::MAX {
            let contact = self.contacts[first / WIDTH][first % WIDTH];
            worst.include(largest, Some(contact as usize));
        } else {
            // None of them alone, but too much for a number together.
            worst.include(largest, None);
        }
        self.rows.residual(self.conductor.velocities(), &mut worst);
        worst
    }
}
