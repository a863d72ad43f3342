//! The loop of sweeps, its acceleration and its end.
//!
//! A step is one sweep, or a forward and a reverse one where directions alternate, so that it is the
//! same map each time. After a step with Anderson acceleration the state is combined with earlier ones,
//! and the next step starts there; where it ends with a larger natural map than the step before, the
//! combination is taken back, the history forgotten, and plain steps go on from where it was: 2 of them
//! after the first time, up to 16 where combinations keep failing.

use crate::anderson::Anderson;
use crate::hold::HoldBlock;
use crate::packed::{Motion, PackedContact, PackedRow, hold_block};
use crate::settings::BlockSettings;
use crate::solver::BlockStats;
use moreau_constraint::{ContactProblem, Impulses};
use moreau_math::{Vec3, Velocity};
use moreau_solver::{BestIterate, SolveReport, StopReason, WorstResidual};

/// The part of an impact that is solved.
#[derive(Clone, Copy)]
pub(crate) enum Phase<'a> {
    /// All of it, with the biases of the problem.
    Whole,
    /// Up to no approach: normal targets that ask for a rebound are left out.
    Compression,
    /// From the end of compression: its velocities and row impulses, and the least normal impulses.
    Expansion {
        velocities: &'a [Velocity],
        rows: &'a [f64],
        floors: &'a [f64],
    },
}

/// Memory kept from solve to solve.
#[derive(Clone, Default)]
pub(crate) struct Iteration {
    pub(crate) stats: BlockStats,
    contacts: Vec<PackedContact>,
    holds: Vec<HoldBlock>,
    rows: Vec<PackedRow>,
    /// Velocities without the impulses of this phase.
    base: Vec<Velocity>,
    best: BestIterate,
    anderson: Anderson,
    /// Flat states before and after a step.
    before: Vec<f64>,
    after: Vec<f64>,
}

impl std::fmt::Debug for Iteration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Iteration")
            .field("stats", &self.stats)
            .finish_non_exhaustive()
    }
}

/// Plain sweeps between two looks at the natural map.
const CHECK_EVERY: u32 = 8;

/// When to combine, and when to take it back.
#[derive(Default)]
struct Safeguard {
    /// Whether the step under way started from a combined state.
    combined: bool,
    /// The natural map at the end of the last step that was kept.
    last: f64,
    /// Plain steps still to make.
    wait: u32,
    /// Plain steps after the last rejection, less for what was accepted since.
    period: u32,
}

impl Safeguard {
    /// Whether the step is to be taken back. A NaN is.
    fn rejects(&mut self, residual: f64) -> bool {
        let rejected = self.combined && !(residual <= self.last);
        if rejected {
            self.combined = false;
            self.period = (2 * self.period + 2).min(16);
            self.wait = self.period;
        }
        rejected
    }

    /// Whether the step that is kept had started from a combined state.
    fn accept(&mut self, residual: f64) -> bool {
        self.last = residual;
        if self.combined {
            self.period /= 2;
        }
        std::mem::take(&mut self.combined)
    }

    fn may_combine(&mut self) -> bool {
        let may = self.wait == 0;
        self.wait = self.wait.saturating_sub(1);
        may
    }
}

impl Iteration {
    /// Solves a phase of `problem`. `impulses` have the problem's lengths and are those of the phase
    /// alone; `velocities` are those at its end.
    pub(crate) fn run(
        &mut self,
        settings: &BlockSettings,
        (problem, phase): (&ContactProblem, Phase<'_>),
        impulses: &mut Impulses,
        velocities: &mut Vec<Velocity>,
    ) -> SolveReport {
        self.stats = BlockStats::default();
        self.pack(settings, problem, phase);
        self.velocities(problem, impulses, velocities);
        if problem.contacts().is_empty() && problem.rows().is_empty() {
            return SolveReport::empty();
        }
        let mut residual = self.residual(impulses, velocities);
        if residual.value <= settings.tolerance {
            return residual.report(0, StopReason::Converged);
        }
        if self.make_feasible(impulses) {
            self.velocities(problem, impulses, velocities);
            residual = self.residual(impulses, velocities);
        }
        self.best.begin();
        self.best.offer(impulses, residual.value);
        let (sweeps, mut stop) = self.iterate(settings, problem, impulses, velocities);
        self.velocities(problem, impulses, velocities);
        residual = self.residual(impulses, velocities);
        if self.best.beats(residual.value) {
            self.best.restore(impulses);
            self.velocities(problem, impulses, velocities);
            residual = self.residual(impulses, velocities);
        }
        if residual.value <= settings.tolerance {
            stop = StopReason::Converged;
        }
        residual.report(sweeps, stop)
    }

    /// The number of sweeps and why they ended; the last state in `impulses`, the best in `self.best`.
    fn iterate(
        &mut self,
        settings: &BlockSettings,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        velocities: &mut Vec<Velocity>,
    ) -> (u32, StopReason) {
        let accelerate = settings.anderson_window > 0;
        if accelerate {
            self.prepare_anderson(settings, problem);
            store(&mut self.before, impulses, velocities);
        }
        let mut safeguard = Safeguard::default();
        let mut trigger = settings.tolerance * settings.tolerance;
        let (mut sweeps, mut steps, mut still) = (0, 0, 0);
        while sweeps < settings.max_sweeps {
            let motion = self.step(settings, problem, velocities, impulses, &mut sweeps);
            steps += 1;
            still = if motion.moved { 0 } else { still + 1 };
            // Plain sweeps are looked at where their corrections get small, or now and then.
            let hint = motion.squared <= trigger || still > 0;
            if !accelerate && !hint && steps % CHECK_EVERY != 0 {
                continue;
            }
            trigger = trigger.min(motion.squared) * 0.25;
            let mut residual = self.residual(impulses, velocities);
            if residual.value <= settings.tolerance || still > 0 {
                self.velocities(problem, impulses, velocities);
                residual = self.residual(impulses, velocities);
            }
            let converged = residual.value <= settings.tolerance;
            if !converged && safeguard.rejects(residual.value) {
                // Back to where the combination was made.
                load(&self.after, impulses, velocities);
                self.before.copy_from_slice(&self.after);
                self.anderson.forget();
                self.stats.rejected += 1;
                continue;
            }
            self.stats.accepted += u32::from(safeguard.accept(residual.value));
            self.best.offer(impulses, residual.value);
            if converged {
                return (sweeps, StopReason::Converged);
            }
            if still >= 2 {
                return (sweeps, StopReason::Stalled);
            }
            if !residual.value.is_finite() {
                break;
            }
            if accelerate {
                store(&mut self.after, impulses, velocities);
                self.anderson.record(&self.before, &self.after);
                if safeguard.may_combine() && self.anderson.combine(&mut self.before) {
                    safeguard.combined = true;
                    load(&self.before, impulses, velocities);
                } else {
                    self.before.copy_from_slice(&self.after);
                }
            }
        }
        (sweeps, StopReason::Budget)
    }

    fn prepare_anderson(&mut self, settings: &BlockSettings, problem: &ContactProblem) {
        let impulses = 3 * self.contacts.len() + self.rows.len();
        let state = impulses + 6 * problem.bodies().len();
        let window = settings.anderson_window as usize;
        self.anderson.prepare(window, impulses, state);
        let weights = &mut self.anderson.weights;
        for c in &self.contacts {
            weights.extend([c.mean_diagonal(); 3]);
        }
        weights.extend(self.rows.iter().map(|r| r.diagonal));
        self.before.clear();
        self.before.resize(state, 0.0);
        self.after.clear();
        self.after.resize(state, 0.0);
    }

    fn pack(&mut self, settings: &BlockSettings, problem: &ContactProblem, phase: Phase<'_>) {
        let bodies = problem.bodies();
        let (mut floors, mut before): (&[f64], &[f64]) = (&[], &[]);
        self.base.clear();
        if let Phase::Expansion {
            velocities,
            rows,
            floors: least,
        } = phase
        {
            (floors, before) = (least, rows);
            self.base.extend_from_slice(velocities);
        } else {
            self.base.extend(bodies.iter().map(|b| b.velocity));
        }
        self.contacts.clear();
        self.holds.clear();
        for (index, c) in problem.contacts().iter().enumerate() {
            let w = problem.delassus_block(c);
            let mut bias = c.bias;
            if !matches!(phase, Phase::Whole) {
                bias.x = bias.x.max(0.0);
            }
            let floor = floors.get(index).copied().unwrap_or(0.0);
            self.contacts.push(PackedContact::new(c, bias, &w, floor));
            self.holds.extend(hold_block(settings.local_step, c, &w));
        }
        self.rows.clear();
        for (index, r) in problem.rows().iter().enumerate() {
            let diagonal = problem.row_diagonal(r);
            let before = before.get(index).copied().unwrap_or(0.0);
            self.rows.push(PackedRow::new(r, diagonal, before, bodies));
        }
    }

    /// The velocities that follow from the impulses of the phase: contacts, then rows.
    fn velocities(&self, problem: &ContactProblem, impulses: &Impulses, v: &mut Vec<Velocity>) {
        v.clear();
        v.extend_from_slice(&self.base);
        for (c, l) in problem.contacts().iter().zip(&impulses.contacts) {
            problem.apply_contact(c, *l, v);
        }
        for (r, l) in problem.rows().iter().zip(&impulses.rows) {
            problem.apply_row(r, *l, v);
        }
    }

    /// Puts a warm start into its cones and bounds; says whether that changed anything.
    fn make_feasible(&self, impulses: &mut Impulses) -> bool {
        let mut changed = false;
        for (c, l) in self.contacts.iter().zip(&mut impulses.contacts) {
            let inside = c.inside(*l);
            changed |= inside != *l;
            *l = inside;
        }
        for (r, l) in self.rows.iter().zip(&mut impulses.rows) {
            let inside = r.inside(*l);
            changed |= inside != *l;
            *l = inside;
        }
        changed
    }

    /// One sweep, or one in each direction.
    fn step(
        &mut self,
        settings: &BlockSettings,
        problem: &ContactProblem,
        v: &mut [Velocity],
        impulses: &mut Impulses,
        sweeps: &mut u32,
    ) -> Motion {
        let mut motion = Motion::default();
        self.sweep(problem, v, impulses, false, &mut motion);
        *sweeps += 1;
        if settings.alternate && *sweeps < settings.max_sweeps {
            motion = Motion::default();
            self.sweep(problem, v, impulses, true, &mut motion);
            *sweeps += 1;
        }
        motion
    }

    /// One visit of everything, in index order or in reverse.
    fn sweep(
        &mut self,
        problem: &ContactProblem,
        v: &mut [Velocity],
        impulses: &mut Impulses,
        reverse: bool,
        motion: &mut Motion,
    ) {
        if !reverse {
            for (r, l) in self.rows.iter().zip(&mut impulses.rows) {
                r.visit(v, l, motion);
            }
        }
        let bodies = problem.bodies();
        let pairs = self.contacts.iter_mut().zip(&mut impulses.contacts);
        if !self.holds.is_empty() {
            for ((c, l), hold) in pairs.zip(&self.holds) {
                c.visit_held(hold, bodies, v, l, motion);
            }
        } else if reverse {
            for (c, l) in pairs.rev() {
                c.visit(bodies, v, l, motion);
            }
        } else {
            for (c, l) in pairs {
                c.visit(bodies, v, l, motion);
            }
        }
        if reverse {
            for (r, l) in self.rows.iter().zip(&mut impulses.rows).rev() {
                r.visit(v, l, motion);
            }
        }
    }

    fn residual(&self, impulses: &Impulses, v: &[Velocity]) -> WorstResidual {
        let mut out = WorstResidual::default();
        for (index, (c, l)) in self.contacts.iter().zip(&impulses.contacts).enumerate() {
            out.include(c.natural_map(v, *l), Some(index));
        }
        for (r, l) in self.rows.iter().zip(&impulses.rows) {
            out.include(r.natural_map(v, *l), None);
        }
        out
    }
}

/// Writes a state: contacts, rows, velocities.
fn store(flat: &mut [f64], impulses: &Impulses, v: &[Velocity]) {
    let (contacts, rest) = flat.split_at_mut(3 * impulses.contacts.len());
    let (rows, bodies) = rest.split_at_mut(impulses.rows.len());
    for (out, l) in contacts.chunks_exact_mut(3).zip(&impulses.contacts) {
        out.copy_from_slice(&l.to_array());
    }
    rows.copy_from_slice(&impulses.rows);
    for (out, v) in bodies.chunks_exact_mut(6).zip(v) {
        out[..3].copy_from_slice(&v.linear.to_array());
        out[3..].copy_from_slice(&v.angular.to_array());
    }
}

/// Reads what [`store`] wrote.
fn load(flat: &[f64], impulses: &mut Impulses, v: &mut [Velocity]) {
    let (contacts, rest) = flat.split_at(3 * impulses.contacts.len());
    let (rows, bodies) = rest.split_at(impulses.rows.len());
    for (l, from) in impulses.contacts.iter_mut().zip(contacts.chunks_exact(3)) {
        *l = Vec3::from_slice(from);
    }
    impulses.rows.copy_from_slice(rows);
    for (v, from) in v.iter_mut().zip(bodies.chunks_exact(6)) {
        *v = Velocity::new(Vec3::from_slice(from), Vec3::from_slice(&from[3..]));
    }
}
