use crate::ActiveSetSettings;
use crate::bounded::{Bounded, Outcome};
use moreau_constraint::{BodyInput, ContactPoint, ContactProblem, Impulses, Row};
use moreau_math::{Vec3, Velocity, vec3};
use moreau_solver::{
    ContactSolver, SolveError, SolveReport, StopReason, natural_map, row_natural_map,
};

const NAME: &str = "active-set";

/// The exact solver of small problems without friction: contacts, bounded and bilateral rows.
///
/// Which contacts press and which rows lie at a bound is found by pivoting, so there is no sweep and no
/// convergence: an answer is exact but for rounding, redundant contacts (four of a face, the same one
/// twice) included. Redundant impulses are shared out in one of many ways; the velocities are unique.
///
/// A warm start within the tolerance comes back bit for bit; one whose contacts press just where the
/// answer's do costs one factorisation. Where a problem has no solution (contacts that two immovable
/// bodies squeeze, joints that contradict each other) the report says so, and the impulses are the best
/// of a few sweeps.
#[derive(Clone, Debug, Default)]
pub struct ActiveSetSolver {
    settings: ActiveSetSettings,
    rows: Vec<Row>,
    bounded: Bounded,
    best: Vec<f64>,
}

impl ActiveSetSolver {
    /// A solver with the given settings. They are checked by each solve.
    pub fn new(settings: ActiveSetSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    /// The settings.
    pub fn settings(&self) -> &ActiveSetSettings {
        &self.settings
    }

    /// Pivots of the last solve; 0 where the warm start's active set was right.
    pub fn pivots(&self) -> u32 {
        self.bounded.pivots
    }

    /// Whether `problem` is of the kind and size that this solver takes.
    ///
    /// # Errors
    /// [`SolveError::Unsupported`], with the reason.
    pub fn accepts(&self, problem: &ContactProblem) -> Result<(), SolveError> {
        let refuse = |what| Err(SolveError::Unsupported { solver: NAME, what });
        if problem.contacts().iter().any(|c| c.friction > 0.0) {
            return refuse("contacts with friction");
        }
        if problem.contacts().len() + problem.rows().len() > self.settings.max_rows {
            return refuse("more contacts and rows than `max_rows`");
        }
        Ok(())
    }

    /// Contacts as rows, then the rows.
    fn load(&mut self, problem: &ContactProblem, impulses: &Impulses) {
        self.rows.clear();
        self.rows.extend(problem.contacts().iter().map(normal_row));
        self.rows.extend_from_slice(problem.rows());
        let n = self.rows.len();
        let bodies = problem.bodies();
        let b = &mut self.bounded;
        b.a.clear();
        b.a.resize(n * n, 0.0);
        for i in 0..n {
            for j in 0..=i {
                let product = coupling(bodies, &self.rows[i], &self.rows[j]);
                b.a[i * n + j] = product;
                b.a[j * n + i] = product;
            }
            b.a[i * n + i] += self.rows[i].regularization;
        }
        b.q.clear();
        b.lower.clear();
        b.upper.clear();
        for r in &self.rows {
            let free = r.velocity(&bodies[r.a].velocity, &bodies[r.b].velocity);
            b.q.push(free + r.bias);
            b.lower.push(r.lower);
            b.upper.push(r.upper);
        }
        b.l.clear();
        b.l.extend(impulses.contacts.iter().map(|l| l.x));
        b.l.extend_from_slice(&impulses.rows);
        for (l, r) in b.l.iter_mut().zip(&self.rows) {
            *l = l.clamp(r.lower, r.upper);
        }
    }

    /// The best of a few sweeps from `l`, for problems that have no exact answer.
    fn sweep(&mut self, problem: &ContactProblem, impulses: &mut Impulses, v: &mut Vec<Velocity>) {
        self.bounded.l.clone_from(&self.best);
        let mut least = f64::INFINITY;
        for _ in 0..SWEEPS {
            store(&self.bounded.l, impulses);
            problem.velocities_into(impulses, v);
            let (residual, _) = residual(problem, impulses, v);
            if residual < least {
                least = residual;
                self.best.clone_from(&self.bounded.l);
            }
            let b = &mut self.bounded;
            let n = b.q.len();
            for i in 0..n {
                let row = &b.a[i * n..(i + 1) * n];
                let w = row.iter().zip(&b.l).fold(b.q[i], |w, (a, l)| w + a * l);
                let step = w / row[i];
                if step.is_finite() {
                    b.l[i] = (b.l[i] - step).clamp(b.lower[i], b.upper[i]);
                }
            }
        }
        store(&self.best, impulses);
    }
}

/// Sweeps where there is no exact answer.
const SWEEPS: u32 = 50;

impl ContactSolver for ActiveSetSolver {
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
        self.accepts(problem)?;
        impulses.sanitize(problem.contacts().len(), problem.rows().len());
        problem.velocities_into(impulses, velocities);
        (self.bounded.pivots, self.bounded.factorizations) = (0, 0);
        let start = residual(problem, impulses, velocities);
        if start.0 <= self.settings.tolerance {
            return Ok(self.report(start, StopReason::Converged));
        }
        self.load(problem, impulses);
        self.best.clone_from(&self.bounded.l);
        let outcome = self.bounded.solve();
        if outcome == Outcome::Solved {
            store(&self.bounded.l, impulses);
        } else {
            self.sweep(problem, impulses, velocities);
        }
        problem.velocities_into(impulses, velocities);
        if let Some(body) = velocities.iter().position(|v| !v.is_finite()) {
            // Nothing that is not finite leaves this function.
            impulses.contacts.fill(Vec3::ZERO);
            impulses.rows.fill(0.0);
            problem.velocities_into(impulses, velocities);
            return Err(SolveError::Overflow { body });
        }
        let end = residual(problem, impulses, velocities);
        let stop = if end.0 <= self.settings.tolerance {
            StopReason::Converged
        } else if outcome == Outcome::NoSolution {
            StopReason::NoSolution
        } else {
            StopReason::Stalled
        };
        Ok(self.report(end, stop))
    }

    fn fork(&self) -> Box<dyn ContactSolver> {
        Box::new(Self::new(self.settings))
    }
}

impl ActiveSetSolver {
    fn report(&self, (residual, worst): (f64, Option<usize>), stop: StopReason) -> SolveReport {
        SolveReport {
            sweeps: 0,
            factorizations: self.bounded.factorizations,
            stop,
            residual,
            worst_contact: worst,
        }
    }
}

/// The normal direction of a contact as a row: l >= 0, w = s_n.
fn normal_row(c: &ContactPoint) -> Row {
    Row {
        lower: 0.0,
        ..Row::bilateral((c.a, c.b), c.frame.normal, (c.lever_a, c.lever_b), c.bias.x)
    }
}

/// J_i M^-1 J_j'.
fn coupling(bodies: &[BodyInput], i: &Row, j: &Row) -> f64 {
    let mut sum = 0.0;
    for (body, linear, angular) in [
        (i.a, i.linear_a, i.angular_a),
        (i.b, i.linear_b, i.angular_b),
    ] {
        for (other, to, turn) in [
            (j.a, j.linear_a, j.angular_a),
            (j.b, j.linear_b, j.angular_b),
        ] {
            if body == other {
                let inverse = &bodies[body];
                sum += linear.dot(to) * inverse.inverse_mass
                    + angular.dot(inverse.inverse_inertia.mul_vec(turn));
            }
        }
    }
    sum
}

fn store(l: &[f64], impulses: &mut Impulses) {
    let (contacts, rows) = l.split_at(impulses.contacts.len());
    for (out, l) in impulses.contacts.iter_mut().zip(contacts) {
        *out = vec3(*l, 0.0, 0.0);
    }
    impulses.rows.copy_from_slice(rows);
}

/// The largest natural map (m/s), as `certify` has it, and its contact.
fn residual(problem: &ContactProblem, l: &Impulses, v: &[Velocity]) -> (f64, Option<usize>) {
    let mut worst = (0.0, None);
    for (i, (c, l)) in problem.contacts().iter().zip(&l.contacts).enumerate() {
        let s = problem.contact_velocity(c, v) + c.bias;
        let w = problem.delassus_block(c);
        let trace = w.x_axis.x + w.y_axis.y + w.z_axis.z;
        let map = natural_map(*l, s, c.friction, trace);
        if map >= worst.0 || map.is_nan() {
            worst = (map, Some(i));
        }
    }
    for (r, l) in problem.rows().iter().zip(&l.rows) {
        let w = r.velocity(&v[r.a], &v[r.b]) + r.bias + r.regularization * l;
        let map = row_natural_map(*l, w, r, problem.row_diagonal(r));
        if map > worst.0 || map.is_nan() {
            worst = (map, None);
        }
    }
    worst
}
