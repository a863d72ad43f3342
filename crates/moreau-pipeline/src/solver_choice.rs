//! Which solver an island gets.
//!
//! The rule of [`SolverChoice::Auto`], in this order:
//!
//! | island | solver |
//! |---|---|
//! | no friction anywhere, at most `active_set.max_rows` contacts and rows | active set; Newton where that finds no answer |
//! | at most `exact_contact_limit` contacts, a factorisation of at most `exact_work_limit` | Newton, with a budget for each contact; with the limit and budget of the next line where there are more than 64 and they are calm; where that ends before it is there, `fast` goes on from its best answer |
//! | calm, more contacts than that, at most `calm.contact_limit`, a factorisation of at most `calm.work_limit` | the same |
//! | all others | `fast`: sweeps over SIMD lanes (up to four times as many as usual where there are few contacts), block sweeps, or sequential impulses |
//!
//! Where that was not enough for some steps in a row, `fast` solves an island alone for some more, or Newton gets a
//! short budget ([`crate::trial`]).
//! Large heaps are swept without a look for their best order of elimination ([`NewtonSolver::is_within`]).
//!
//! Where two solvers worked on an island the one whose answer counts is named, and has the sweeps and
//! factorisations of both. The rule looks at nothing but the island's own problem and past, so that the same island
//! gets the same solver, and the same bits, whatever else is in the world.

use crate::calm::{CalmLimits, Effort};
use crate::energy::adds_energy;
use crate::no_answer;
use crate::own_answer;
use crate::trial::{NEAR, Outcome};
use moreau_constraint::{ContactProblem, Impulses};
use moreau_math::Velocity;
use moreau_solver::{ContactSolver, SolveError, SolveReport, StopReason, tolerance_at};
use moreau_solver_active_set::{ActiveSetSettings, ActiveSetSolver};
use moreau_solver_block::{BlockSettings, BlockSolver};
use moreau_solver_newton::{NewtonSettings, NewtonSolver};
use moreau_solver_pgs::{PgsSettings, PgsSolver};
use moreau_solver_simd::{SimdSettings, SimdSolver, SimdStats};
use serde::{Deserialize, Serialize};

/// Which of the workspace's solvers solve the islands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SolverChoice {
    /// Each island by the solver that suits it: exact where that is cheap, the fast path elsewhere.
    #[default]
    Auto,
    /// Sweeps over SIMD lanes, with momentum, for every island.
    Simd,
    /// Sequential impulses for every island.
    Pgs,
    /// Block sweeps with Anderson acceleration for every island.
    Block,
    /// The exact frictionless solver for every island. A step with an island that it does not take
    /// (friction, or more rows than `active_set.max_rows`) fails with
    /// [`SolveError::Unsupported`], and leaves the world as it was.
    ActiveSet,
    /// Newton for every island, whatever it costs.
    Newton,
}

/// What solves the islands that are too large to be solved exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FastPath {
    /// Sweeps over SIMD lanes, with momentum.
    #[default]
    Simd,
    /// Sequential impulses.
    Pgs,
    /// Block sweeps with Anderson acceleration.
    Block,
}

impl FastPath {
    fn solver(self) -> IslandSolver {
        match self {
            Self::Simd => IslandSolver::Simd,
            Self::Pgs => IslandSolver::Pgs,
            Self::Block => IslandSolver::Block,
        }
    }
}

/// A solver that solved an island.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum IslandSolver {
    /// moreau-solver-active-set.
    ActiveSet,
    /// moreau-solver-newton.
    Newton,
    /// moreau-solver-simd.
    Simd,
    /// moreau-solver-block.
    Block,
    /// moreau-solver-pgs.
    Pgs,
    /// The solver given to [`crate::World::set_solver`].
    #[default]
    Own,
}

impl IslandSolver {
    /// All of them, in the order of [`Ord`].
    pub const ALL: [Self; 6] = [
        Self::ActiveSet,
        Self::Newton,
        Self::Simd,
        Self::Block,
        Self::Pgs,
        Self::Own,
    ];

    /// The name that the solver itself has; `own` for the caller's.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ActiveSet => "active-set",
            Self::Newton => "newton",
            Self::Simd => "simd",
            Self::Block => "block",
            Self::Pgs => "pgs",
            Self::Own => "own",
        }
    }
}

/// Knobs of the solvers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SolverSettings {
    /// Which solver.
    pub choice: SolverChoice,
    /// [`SolverChoice::Auto`]: largest work of one factorisation that is solved exactly, in
    /// multiply-adds. Default 5 million (about 2 ms; a tower of 30 takes 20 thousand). Too
    /// small gives up exactness where it was cheap, too big lets a collapsing pile stall a step.
    pub exact_work_limit: u64,
    /// [`SolverChoice::Auto`]: most contact points of an island that is solved exactly. Default
    /// 2500. Bounds the cost of estimating the work. Calm islands may have more, see `calm`.
    pub exact_contact_limit: usize,
    /// [`SolverChoice::Auto`]: multiply-adds that the exact solve of any island may cost. Default 40
    /// million (about 12 ms): small islands nearly always get to their exact answer by then, a row of
    /// falling dominoes needs 10 million in some steps.
    pub exact_base_work: u64,
    /// [`SolverChoice::Auto`]: multiply-adds that it may cost beyond that for each contact and row.
    /// Default 80,000 (about 25 us; the fast path takes 1 to 4). Too small leaves islands in motion to
    /// the fast path, with residuals of 1e-3 m/s instead of 1e-8; too big lets those that collapse
    /// hold up a step for what they hardly ever get to. [`NewtonSettings::max_work`] bounds both.
    pub exact_contact_work: u64,
    /// [`SolverChoice::Auto`]: whether an island that the exact solver did not get done with is put off for some steps
    /// before it is tried again. Default true: an island in collapse would cost its whole budget in each step, in
    /// vain. False certifies a few more steps of it, for up to ten times the time.
    /// An island of more than 64 contacts and rows is put off after its fifth attempt in a row, for 1, 2, 4, and then
    /// always 8 steps; a large calm one after the first, for 8, 16, 32, and then always 64. Where the last attempt was at
    /// most 0.1 mm/s off (10,000 tolerances) it gets 15 factorisations meanwhile, else, and where it is large, it is swept.
    /// The bodies keep it.
    pub exact_wait: bool,
    /// [`SolverChoice::Auto`]: the limits of islands whose contacts stay as they are; smaller ones than
    /// `exact_contact_limit` get its work and the larger work limit too. Default: its own.
    pub calm: CalmLimits,
    /// [`SolverChoice::Auto`]: what solves the islands above these limits. Default sweeps
    /// over SIMD lanes.
    pub fast: FastPath,
    /// [`SolverChoice::Auto`]: sweeps times contacts and rows up to which an island gets more than `simd.max_sweeps`, at
    /// most four times as many. Default 250,000 (about 3 ms): 400 sweeps up to 625 contacts, 100 from 2500 on. Of what
    /// 100 sweeps leave 400 leave a quarter or so, in islands that the exact solver did not get done with. 0: none.
    pub fast_sweeps: u64,
    /// The exact frictionless solver. Default: its own.
    pub active_set: ActiveSetSettings,
    /// Sweeps over SIMD lanes. Default: that solver's own, but for a `tolerance` of 1e-8 m/s,
    /// `max_sweeps` of 100 (about 1.4 us a contact; see `fast_sweeps`), and `keep_best` off.
    pub simd: SimdSettings,
    /// Sequential impulses. Default: its own.
    pub pgs: PgsSettings,
    /// Block sweeps with Anderson acceleration. Default: its own.
    pub block: BlockSettings,
    /// Newton. Default: that solver's own, but for a `tolerance` of 1e-8 m/s and a `max_work` of 8e7
    /// (about 25 ms), so that no island holds up a step for long. With `auto` the budget of
    /// `exact_base_work` and `exact_contact_work` is mostly less. The answers of a solver set by hand are held against
    /// this `tolerance`, too ([`crate::World::set_solver`]).
    pub newton: NewtonSettings,
}

impl Default for SolverSettings {
    fn default() -> Self {
        Self {
            choice: SolverChoice::Auto,
            exact_work_limit: 5_000_000,
            exact_contact_limit: 2500,
            exact_base_work: 40_000_000,
            exact_contact_work: 80_000,
            exact_wait: true,
            calm: CalmLimits::default(),
            fast: FastPath::Simd,
            fast_sweeps: 250_000,
            active_set: ActiveSetSettings::default(),
            simd: SimdSettings {
                max_sweeps: 100,
                tolerance: 1e-8,
                slow_tolerance: 1e-6,
                keep_best: false,
                ..SimdSettings::default()
            },
            pgs: PgsSettings::default(),
            block: BlockSettings::default(),
            newton: NewtonSettings {
                tolerance: 1e-8,
                max_work: 80_000_000,
                ..NewtonSettings::default()
            },
        }
    }
}

/// What solves an island.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) solver: IslandSolver,
    /// Multiply-adds that Newton may spend.
    work: u64,
}

/// Steps of Newton's method that an island in motion takes at least (39 of the fewest in heaps, struck walls and the
/// showcase), and those that one gets that has not work for as many.
const LONG_WAY: u64 = 40;
const SHORT_WAY: u64 = 15;

/// The most that [`SolverSettings::fast_sweeps`] adds to, as a multiple of the fast path's own.
const MOST_SWEEPS: u32 = 4;

/// Contacts up to which one thread solves an island.
const SHARED_CONTACTS: usize = 2000;

/// What solves a world's islands: the solvers of the settings, or one set by hand.
#[derive(Default)]
pub(crate) struct WorldSolver {
    chosen: ChosenSolver,
    own: Option<Box<dyn ContactSolver>>,
}

impl WorldSolver {
    pub(crate) fn chosen(settings: SolverSettings) -> Self {
        Self {
            chosen: ChosenSolver::new(settings),
            own: None,
        }
    }

    /// Of the settings the own solver's answer is held against the tolerance.
    pub(crate) fn own(solver: Box<dyn ContactSolver>, settings: SolverSettings) -> Self {
        Self {
            chosen: ChosenSolver::new(settings),
            own: Some(solver),
        }
    }

    /// Takes other settings; a solver set by hand stays.
    pub(crate) fn set_settings(&mut self, settings: SolverSettings) {
        self.chosen = ChosenSolver::new(settings);
    }

    pub(crate) fn is_own(&self) -> bool {
        self.own.is_some()
    }

    pub(crate) fn name(&self) -> &'static str {
        match &self.own {
            Some(solver) => solver.name(),
            None => self.chosen.name(),
        }
    }

    /// How the fast path laid out the last problem that it was given.
    pub(crate) fn lanes(&self) -> SimdStats {
        self.chosen.simd.stats()
    }

    /// The fast path, for another problem.
    pub(crate) fn simd(&mut self) -> &mut SimdSolver {
        &mut self.chosen.simd
    }

    /// Contacts above which threads solve an island together, unless [`Self::is_within`] says that it is solved
    /// exactly: what is left to the fast path of SIMD lanes, and is large enough to be divided. The largest number
    /// where there is nothing of that.
    pub(crate) fn shared_contacts(&self) -> usize {
        let settings = &self.chosen.settings;
        match (&self.own, settings.choice, settings.fast) {
            (None, SolverChoice::Simd, _) => SHARED_CONTACTS,
            (None, SolverChoice::Auto, FastPath::Simd) => {
                settings.exact_contact_limit.max(SHARED_CONTACTS)
            }
            _ => usize::MAX,
        }
    }

    /// Whether the other threads of the pool help the fast path.
    pub(crate) fn use_pool(&mut self, yes: bool) {
        self.chosen.simd.use_pool(yes);
    }

    /// The same for another worker.
    pub(crate) fn fork(&self) -> Self {
        match &self.own {
            Some(solver) => Self::own(solver.fork(), self.chosen.settings),
            None => Self::chosen(self.chosen.settings),
        }
    }

    /// Whether the limits of calm islands are asked for one of so many contacts.
    pub(crate) fn asks_for_calm(&self, contacts: usize) -> bool {
        let settings = &self.chosen.settings;
        self.own.is_none()
            && settings.choice == SolverChoice::Auto
            && contacts <= settings.calm.contact_limit
    }

    /// Whether an island of so many contacts is solved exactly only where it is calm.
    pub(crate) fn is_large(&self, contacts: usize) -> bool {
        contacts > self.chosen.settings.exact_contact_limit
    }

    /// Whether each island gets the solver that suits it.
    pub(crate) fn is_auto(&self) -> bool {
        self.own.is_none() && self.chosen.settings.choice == SolverChoice::Auto
    }

    /// Whether that is the exact solver, and the rule's own choice.
    pub(crate) fn is_attempt(&self, chosen: Chosen) -> bool {
        self.is_auto() && chosen.solver == IslandSolver::Newton
    }

    /// What came of it.
    pub(crate) fn outcome(&self, solver: IslandSolver, report: &SolveReport) -> Outcome {
        if solver == IslandSolver::Newton && report.converged() {
            Outcome::Solved
        } else if report.residual <= NEAR * self.chosen.settings.newton.tolerance {
            Outcome::Near
        } else {
            Outcome::Far
        }
    }

    /// Whether a factorisation is within what it may cost for a calm island of so many `bodies`; see
    /// [`NewtonSolver::is_within`].
    pub(crate) fn is_within(
        &mut self,
        bodies: usize,
        pairs: impl Iterator<Item = (u32, u32)>,
    ) -> bool {
        let most = self.chosen.settings.calm.work_limit;
        self.chosen.newton.is_within(bodies, pairs, most)
    }

    /// Which solver gets the problem; its biases and impulses play no part. `effort`: that of the exact solver;
    /// `hurries`: with a short budget all the same.
    pub(crate) fn choose(
        &mut self,
        problem: &ContactProblem,
        effort: Effort,
        hurries: bool,
    ) -> Chosen {
        match &self.own {
            Some(_) => Chosen::default(),
            None => self.chosen.choose(problem, effort, hurries),
        }
    }

    /// As [`ContactSolver::solve`] by the chosen one, and who did it. `speed`: the largest of the
    /// island before forces, m/s.
    pub(crate) fn solve(
        &mut self,
        chosen: Chosen,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        velocities: &mut Vec<Velocity>,
        speed: f64,
    ) -> Result<(IslandSolver, SolveReport), SolveError> {
        let (solver, report) = match &mut self.own {
            Some(solver) => {
                let said = solver.solve(problem, impulses, velocities)?;
                let tolerance = self.chosen.settings.newton.tolerance;
                let report = own_answer::judge(problem, impulses, velocities, said, tolerance)?;
                (IslandSolver::Own, report)
            }
            None => {
                self.chosen.speed = speed;
                self.chosen.solve(chosen, problem, impulses, velocities)?
            }
        };
        if !no_answer::is_beyond(problem, impulses, report.converged()) {
            return Ok((solver, report));
        }
        let second = no_answer::sweep(&self.chosen.settings.pgs, problem, impulses, velocities)?;
        let report = SolveReport {
            sweeps: report.sweeps + second.sweeps,
            factorizations: report.factorizations,
            ..second
        };
        Ok((IslandSolver::Pgs, report))
    }
}

/// The solvers that the settings choose from.
#[derive(Default)]
struct ChosenSolver {
    settings: SolverSettings,
    active_set: ActiveSetSolver,
    simd: SimdSolver,
    pgs: PgsSolver,
    block: BlockSolver,
    newton: NewtonSolver,
    /// Of the island before forces, m/s.
    speed: f64,
    /// The warm start, where a second solver may have to start from it.
    start: Impulses,
    /// The velocities of the first answer.
    velocities: Vec<Velocity>,
}

impl ChosenSolver {
    fn new(settings: SolverSettings) -> Self {
        Self {
            settings,
            active_set: ActiveSetSolver::new(settings.active_set),
            simd: SimdSolver::new(settings.simd),
            pgs: PgsSolver::new(settings.pgs),
            block: BlockSolver::new(settings.block),
            newton: NewtonSolver::new(settings.newton),
            speed: f64::INFINITY,
            start: Impulses::default(),
            velocities: Vec::new(),
        }
    }

    fn name(&self) -> &'static str {
        match self.settings.choice {
            SolverChoice::Auto => "auto",
            SolverChoice::Simd => IslandSolver::Simd.name(),
            SolverChoice::Pgs => IslandSolver::Pgs.name(),
            SolverChoice::Block => IslandSolver::Block.name(),
            SolverChoice::ActiveSet => IslandSolver::ActiveSet.name(),
            SolverChoice::Newton => IslandSolver::Newton.name(),
        }
    }

    fn choose(&mut self, problem: &ContactProblem, effort: Effort, hurries: bool) -> Chosen {
        let solver = match self.settings.choice {
            SolverChoice::Simd => IslandSolver::Simd,
            SolverChoice::Pgs => IslandSolver::Pgs,
            SolverChoice::Block => IslandSolver::Block,
            SolverChoice::ActiveSet => IslandSolver::ActiveSet,
            SolverChoice::Newton => IslandSolver::Newton,
            SolverChoice::Auto => return self.choose_by_rule(problem, effort, hurries),
        };
        Chosen {
            solver,
            work: self.settings.newton.max_work,
        }
    }

    fn choose_by_rule(
        &mut self,
        problem: &ContactProblem,
        effort: Effort,
        hurries: bool,
    ) -> Chosen {
        let work = self.work(problem);
        let by = |solver, work| Chosen { solver, work };
        let (fast, newton) = (self.settings.fast.solver(), IslandSolver::Newton);
        if self.active_set.accepts(problem).is_ok() {
            return by(IslandSolver::ActiveSet, work);
        }
        let large = problem.contacts().len() > self.settings.exact_contact_limit;
        let (limit, calm) = (self.settings.exact_work_limit, self.settings.calm);
        let (limit, work) = match effort {
            Effort::None => return by(fast, 0),
            Effort::Usual => (limit, work),
            Effort::Calm if large => (limit, self.calm_work(problem)),
            Effort::Calm => {
                let work = work.max(self.calm_work(problem));
                (limit.max(calm.work_limit), work)
            }
        };
        if large {
            return by(newton, work);
        }
        let factorization = self.factorization(problem, limit);
        if factorization.unwrap_or(0) > limit {
            return by(fast, 0);
        }
        if !hurries && (effort == Effort::Calm || factorization.is_none()) {
            return by(newton, work);
        }
        // Only what is nearly solved, mostly at rest, takes less than the long way.
        let step = self.newton.step_estimate(problem);
        let short = hurries || work / LONG_WAY < step;
        let most = if short { SHORT_WAY * step } else { work };
        by(newton, work.min(most))
    }

    /// Multiply-adds of a factorisation; `None` where they are within `limit` for any problem of so many bodies.
    fn factorization(&mut self, problem: &ContactProblem, limit: u64) -> Option<u64> {
        // No order of elimination takes more than a dense matrix of 6x6 blocks.
        let bodies = problem.bodies().len() as u64;
        let dense = bodies.saturating_pow(3).saturating_mul(216);
        (dense > limit).then(|| self.newton.work_estimate(problem))
    }

    fn solve(
        &mut self,
        chosen: Chosen,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        velocities: &mut Vec<Velocity>,
    ) -> Result<(IslandSolver, SolveReport), SolveError> {
        self.start.clone_from(impulses);
        let mut solver = chosen.solver;
        let mut report = self.run((solver, chosen.work), problem, impulses, velocities)?;
        if report.converged() || self.settings.choice != SolverChoice::Auto {
            return Ok((solver, report));
        }
        match solver {
            IslandSolver::ActiveSet => {
                impulses.clone_from(&self.start);
                solver = IslandSolver::Newton;
                report = self.run((solver, chosen.work), problem, impulses, velocities)?;
            }
            IslandSolver::Newton => {
                // What holds energy that no contact gives is no place to begin at.
                if adds_energy(problem, impulses, velocities, false) {
                    impulses.clone_from(&self.start);
                    let second = self.run(
                        (self.settings.fast.solver(), 0),
                        problem,
                        impulses,
                        velocities,
                    )?;
                    let report = SolveReport {
                        sweeps: report.sweeps + second.sweeps,
                        factorizations: report.factorizations + second.factorizations,
                        ..second
                    };
                    return Ok((self.settings.fast.solver(), report));
                }
                let fast = (self.settings.fast.solver(), 0);
                return self.go_on(fast, (solver, report), problem, impulses, velocities);
            }
            _ => {}
        }
        Ok((solver, report))
    }

    /// Another solver from where one ended; the better answer counts.
    fn go_on(
        &mut self,
        (solver, work): (IslandSolver, u64),
        (by, first): (IslandSolver, SolveReport),
        problem: &ContactProblem,
        impulses: &mut Impulses,
        velocities: &mut Vec<Velocity>,
    ) -> Result<(IslandSolver, SolveReport), SolveError> {
        self.start.clone_from(impulses);
        self.velocities.clone_from(velocities);
        let second = self.run((solver, work), problem, impulses, velocities)?;
        // An unfinished answer can hold energy that no contact gives.
        let energy = problem.kinetic_energy(velocities);
        let free = problem.bodies().iter();
        let free = free.fold(0.0, |sum, b| sum + b.kinetic_energy(&b.velocity));
        let better = second.residual < first.residual
            && (second.converged() || energy <= problem.kinetic_energy(&self.velocities).max(free));
        if !better {
            impulses.clone_from(&self.start);
            velocities.clone_from(&self.velocities);
        }
        let report = SolveReport {
            sweeps: first.sweeps + second.sweeps,
            factorizations: first.factorizations + second.factorizations,
            ..if better { second } else { first }
        };
        Ok((if better { solver } else { by }, report))
    }

    /// Those for an island: the fewer contacts, the more sweeps.
    fn simd_settings(&self, problem: &ContactProblem) -> SimdSettings {
        let simd = self.settings.simd;
        if self.settings.choice != SolverChoice::Auto {
            return simd;
        }
        let size = (problem.contacts().len() + problem.rows().len()).max(1) as u64;
        let sweeps = u32::try_from(self.settings.fast_sweeps / size).unwrap_or(u32::MAX);
        let most = simd.max_sweeps.saturating_mul(MOST_SWEEPS);
        SimdSettings {
            max_sweeps: sweeps.clamp(simd.max_sweeps, most),
            ..simd
        }
    }

    /// Multiply-adds that Newton may spend on an island.
    fn work(&self, problem: &ContactProblem) -> u64 {
        let settings = &self.settings;
        let own = self.work_of_all(problem, settings.exact_contact_work);
        settings.newton.max_work.min(own)
    }

    /// Those of a calm island.
    fn calm_work(&self, problem: &ContactProblem) -> u64 {
        let calm = &self.settings.calm;
        calm.max_work
            .min(self.work_of_all(problem, calm.contact_work))
    }

    fn work_of_all(&self, problem: &ContactProblem, each: u64) -> u64 {
        let size = (problem.contacts().len() + problem.rows().len()) as u64;
        let own = each.saturating_mul(size);
        self.settings.exact_base_work.saturating_add(own)
    }

    fn run(
        &mut self,
        (solver, work): (IslandSolver, u64),
        problem: &ContactProblem,
        impulses: &mut Impulses,
        velocities: &mut Vec<Velocity>,
    ) -> Result<SolveReport, SolveError> {
        let squares = problem.bodies().iter();
        let squares = squares.map(|b| b.velocity.linear.length_squared());
        let fastest = squares.fold(0.0, f64::max).sqrt();
        let (tolerance, mut report) = match solver {
            IslandSolver::ActiveSet => {
                return self.active_set.solve(problem, impulses, velocities);
            }
            IslandSolver::Simd => {
                self.simd.set_settings(self.simd_settings(problem));
                (
                    self.settings.simd.tolerance,
                    self.simd.solve(problem, impulses, velocities)?,
                )
            }
            IslandSolver::Pgs => (
                self.settings.pgs.tolerance,
                self.pgs.solve(problem, impulses, velocities)?,
            ),
            IslandSolver::Block => (
                self.settings.block.tolerance,
                self.block.solve(problem, impulses, velocities)?,
            ),
            IslandSolver::Newton | IslandSolver::Own => {
                let tolerance = self.settings.newton.tolerance;
                self.newton.set_max_work(work);
                self.newton.set_tolerance(tolerance_at(tolerance, fastest));
                let report = self
                    .newton
                    .solve_from(problem, impulses, velocities, self.speed)?;
                (tolerance, report)
            }
        };
        // The law is as right as rounding lets it be where bodies are fast.
        if report.residual <= tolerance_at(tolerance, fastest) {
            report.stop = StopReason::Converged;
        }
        Ok(report)
    }
}
