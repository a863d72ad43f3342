use crate::PgsSettings;
use crate::packed::{FrictionContact, Motion, NormalContact, PackedRow};
use moreau_constraint::{ContactProblem, Impulses, project_disc};
use moreau_math::{Vec3, Velocity};
use moreau_solver::{
    BestIterate, ContactSolver, SolveError, SolveReport, StopReason, WorstResidual, row_natural_map,
};

const NAME: &str = "pgs";

/// Projected Gauss-Seidel for contacts with Coulomb friction and for scalar rows.
///
/// A sweep visits rows, contacts without friction, then contacts with friction, each in index order
/// (see [`PgsSettings::alternate`] for the reverse). A contact is one visit of its normal row and
/// then of its friction disc; a frictionless contact is a plain row and costs half.
///
/// It stops on the natural map of [`moreau_solver::certify`], evaluated at velocities that are
/// recomputed from the impulses, so what the report says holds for what is returned. A warm start
/// within the tolerance comes back bit for bit, after 0 sweeps. Where the budget runs out the best
/// of the checked iterates is returned.
#[derive(Clone, Debug, Default)]
pub struct PgsSolver {
    settings: PgsSettings,
    scratch: Scratch,
}

/// Memory kept from solve to solve.
#[derive(Clone, Default)]
struct Scratch {
    contacts: Vec<FrictionContact>,
    frictionless: Vec<NormalContact>,
    rows: Vec<PackedRow>,
    diagonals: Vec<f64>,
    best: BestIterate,
}

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scratch").finish_non_exhaustive()
    }
}

impl PgsSolver {
    /// A solver with the given settings. They are checked by each solve.
    pub fn new(settings: PgsSettings) -> Self {
        Self {
            settings,
            scratch: Scratch::default(),
        }
    }

    /// The settings.
    pub fn settings(&self) -> &PgsSettings {
        &self.settings
    }
}

impl ContactSolver for PgsSolver {
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
        problem.velocities_into(impulses, velocities);
        let report = self
            .scratch
            .iterate(&self.settings, problem, impulses, velocities);
        if velocities.iter().any(|v| !v.is_finite()) {
            // An infinite impulse times the zero inverse mass of its partner is a NaN too: name the
            // body that moves.
            let mut pairs = problem.bodies().iter().zip(velocities.iter());
            let body = pairs
                .position(|(b, v)| !v.is_finite() && !b.is_immovable())
                .unwrap_or(0);
            // Nothing not finite leaves this function.
            impulses.contacts.fill(Vec3::ZERO);
            impulses.rows.fill(0.0);
            problem.velocities_into(impulses, velocities);
            return Err(SolveError::Overflow { body });
        }
        Ok(report)
    }

    fn fork(&self) -> Box<dyn ContactSolver> {
        Box::new(Self::new(self.settings))
    }
}

impl Scratch {
    fn iterate(
        &mut self,
        settings: &PgsSettings,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        velocities: &mut Vec<Velocity>,
    ) -> SolveReport {
        if problem.contacts().is_empty() && problem.rows().is_empty() {
            return SolveReport::empty();
        }
        self.pack(problem);
        let mut residual = self.residual(problem, impulses, velocities);
        if residual.value <= settings.tolerance {
            return residual.report(0, StopReason::Converged);
        }
        if make_feasible(problem, impulses) {
            problem.velocities_into(impulses, velocities);
            residual = self.residual(problem, impulses, velocities);
        }
        self.best.begin();
        self.best.offer(impulses, residual.value);

        let tolerance_squared = settings.tolerance * settings.tolerance;
        let mut trigger = tolerance_squared;
        let (mut sweeps, mut still) = (0, 0);
        let mut stop = StopReason::Budget;
        while sweeps < settings.max_sweeps {
            let motion = self.sweep(
                problem,
                velocities,
                impulses,
                (settings.relaxation, settings.alternate && sweeps % 2 == 1),
            );
            sweeps += 1;
            still = if motion.moved { 0 } else { still + 1 };
            // The corrections only hint at the residual; it is evaluated where they are small.
            let hint = motion.squared <= trigger || still > 0;
            if !hint && sweeps % settings.check_every != 0 {
                continue;
            }
            residual = self.residual(problem, impulses, velocities);
            if residual.value <= settings.tolerance || still > 0 || !residual.value.is_finite() {
                problem.velocities_into(impulses, velocities);
                residual = self.residual(problem, impulses, velocities);
            }
            if residual.value <= settings.tolerance {
                return residual.report(sweeps, StopReason::Converged);
            }
            self.best.offer(impulses, residual.value);
            // Two sweeps, which may be one in each direction, changed nothing but last digits.
            if still >= 2 {
                stop = StopReason::Stalled;
                break;
            }
            if !residual.value.is_finite() {
                break;
            }
            trigger = trigger.min(motion.squared) * 0.25;
        }
        problem.velocities_into(impulses, velocities);
        residual = self.residual(problem, impulses, velocities);
        if self.best.beats(residual.value) {
            self.best.restore(impulses);
            problem.velocities_into(impulses, velocities);
            residual = self.residual(problem, impulses, velocities);
        }
        if residual.value <= settings.tolerance {
            stop = StopReason::Converged;
        }
        residual.report(sweeps, stop)
    }

    fn pack(&mut self, problem: &ContactProblem) {
        let bodies = problem.bodies();
        self.contacts.clear();
        self.frictionless.clear();
        for (index, c) in problem.contacts().iter().enumerate() {
            let w = problem.delassus_block(c);
            if c.friction > 0.0 {
                self.contacts.push(FrictionContact::new(index, c, &w));
            } else {
                let contact = NormalContact::new(index, c, &w, bodies);
                self.frictionless.push(contact);
            }
        }
        self.rows.clear();
        self.diagonals.clear();
        for r in problem.rows() {
            let diagonal = problem.row_diagonal(r);
            self.rows.push(PackedRow::new(r, diagonal, bodies));
            self.diagonals.push(diagonal);
        }
    }

    /// One visit of everything, in the order of the lists or in reverse.
    fn sweep(
        &self,
        problem: &ContactProblem,
        v: &mut [Velocity],
        impulses: &mut Impulses,
        (relaxation, reverse): (f64, bool),
    ) -> Motion {
        let mut motion = Motion {
            squared: 0.0,
            moved: false,
        };
        let bodies = problem.bodies();
        let l = &mut impulses.contacts[..];
        if reverse {
            for c in self.contacts.iter().rev() {
                c.visit(bodies, v, &mut l[c.index as usize], relaxation, &mut motion);
            }
            for c in self.frictionless.iter().rev() {
                c.visit(v, &mut l[c.index as usize], relaxation, &mut motion);
            }
            for (r, l) in self.rows.iter().zip(&mut impulses.rows).rev() {
                r.visit(v, l, relaxation, &mut motion);
            }
        } else {
            for (r, l) in self.rows.iter().zip(&mut impulses.rows) {
                r.visit(v, l, relaxation, &mut motion);
            }
            for c in &self.frictionless {
                c.visit(v, &mut l[c.index as usize], relaxation, &mut motion);
            }
            for c in &self.contacts {
                c.visit(bodies, v, &mut l[c.index as usize], relaxation, &mut motion);
            }
        }
        motion
    }

    fn residual(
        &self,
        problem: &ContactProblem,
        impulses: &Impulses,
        v: &[Velocity],
    ) -> WorstResidual {
        let mut out = WorstResidual::default();
        for c in &self.frictionless {
            let index = c.index as usize;
            out.include(c.natural_map(v, impulses.contacts[index]), Some(index));
        }
        for c in &self.contacts {
            let index = c.index as usize;
            out.include(c.natural_map(v, impulses.contacts[index]), Some(index));
        }
        for ((r, l), d) in problem
            .rows()
            .iter()
            .zip(&impulses.rows)
            .zip(&self.diagonals)
        {
            let w = r.velocity(&v[r.a], &v[r.b]) + r.bias + r.regularization * l;
            out.include(row_natural_map(*l, w, r, *d), None);
        }
        out
    }
}

/// Puts a warm start into its cones and bounds; says whether that changed anything.
fn make_feasible(problem: &ContactProblem, impulses: &mut Impulses) -> bool {
    let mut changed = false;
    for (c, l) in problem.contacts().iter().zip(&mut impulses.contacts) {
        let normal = l.x.max(0.0);
        let (t1, t2) = project_disc(l.y, l.z, c.friction * normal);
        let inside = Vec3::new(normal, t1, t2);
        changed |= inside != *l;
        *l = inside;
    }
    for (r, l) in problem.rows().iter().zip(&mut impulses.rows) {
        let inside = l.clamp(r.lower, r.upper);
        changed |= inside != *l;
        *l = inside;
    }
    changed
}
