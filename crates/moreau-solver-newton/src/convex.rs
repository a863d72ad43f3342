//! The associated (convex) model of friction, solved exactly. It is **not** Coulomb's law.
//!
//! ```text
//! min 1/2 l'A l - b'l  over |l_t| <= mu l_n,   A = J M^-1 J',  b = -(J v_free + bias)
//! ```
//!
//! Its optimality conditions, K contains l, K* contains s = J v + bias, l·s = 0, are those of
//!
//! ```text
//! v = argmin 1/2 |v - v_free|² in M  over  s(v) in K*,
//! ```
//!
//! so that v is unique, and exists wherever some velocity keeps all s in K*. Augmented Lagrangian in
//! body space:
//!
//! ```text
//! v <- argmin 1/2 |v - v_free|² in M + sum |P_K(l - r s(v))|²/(2 r),   r = c rho
//! l <- P_K(l - r s(v)),   c <- 10 c where the natural map falls slowly, c/30 where rounding stops
//!                         the inner minimum short of its target
//! ```
//!
//! The inner function is convex with gradient M (v - v_free) - J' P_K(l - r s); semismooth Newton with
//! the matrix M + J' r D J, D the symmetric Jacobian of the projection, and the exact minimum along
//! each direction. Document 003 poses the problem; its own iteration does not converge for coupled
//! contacts, and what it calls exact Coulomb friction is this model (`docs/errata.md`).

use crate::augmented::momentum_error;
use crate::form::{BodyForm, Dual, Six, add_scaled, dot};
use crate::maps::{ZERO, cone, scaled};
use crate::settings::NewtonSettings;
use crate::system::{KrylovLimits, System, Weights};
use moreau_constraint::{ContactProblem, Impulses};
use moreau_math::{Vec3, Velocity};
use moreau_solver::{ContactSolver, SolveError, SolveReport, StopReason, convex_natural_map};
use serde::{Deserialize, Serialize};

const NAME: &str = "convex";
const PENALTY_START: f64 = 1000.0;
const PENALTY_MOST: f64 = 1e9;
const PENALTY_LEAST: f64 = 10.0;
const INNER: u32 = 60;
/// Outer steps without a better answer after which it is called stalled.
const PATIENCE: u32 = 40;

/// Settings of [`ConvexSolver`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConvexSettings {
    /// The natural map of the associated model (m/s) at which an answer counts as solved. Default
    /// 1e-10. Below about 1e-16 of the largest impulse times inverse mass no f64 answer exists; too
    /// big lets contacts sink by that much a second.
    pub tolerance: f64,
    /// Matrix factorisations that a solve may take. Default 500. Too few leave piles unsolved.
    pub max_factorizations: u32,
    /// Multiply-adds of the largest factorisation; larger systems are solved by conjugate gradients.
    /// Default as [`crate::NewtonSettings::krylov_work`].
    pub krylov_work: u64,
}

impl Default for ConvexSettings {
    fn default() -> Self {
        Self {
            tolerance: 1e-10,
            max_factorizations: 500,
            krylov_work: NewtonSettings::default().krylov_work,
        }
    }
}

/// Solves the associated (convex) model: see the formulas in `convex.rs`.
///
/// v+ is unique, and exists wherever some velocity satisfies all contacts and rows; but it is **not
/// Coulomb's law**: a contact that slides parts with
/// s_n = mu |s_t|, so that sliding bodies lift off and, at steady sliding, hover at a gap of
/// h mu |u_t|. Use it where uniqueness counts for more than friction; never expect it to pass
/// [`moreau_solver::certify`] with friction. Its certificate is [`moreau_solver::certify_convex`], and
/// the residual and the worst contact of its reports are by that one.
///
/// ```
/// use moreau_constraint::{BodyInput, ContactInput, ContactProblem};
/// use moreau_math::{SymMat3, Vec3, Velocity, vec3};
/// use moreau_solver::{ContactSolver, certify, certify_convex};
/// use moreau_solver_newton::ConvexSolver;
///
/// let mut problem = ContactProblem::new(0.01)?;
/// let ground = problem.add_body(BodyInput::fixed())?;
/// let velocity = Velocity::new(vec3(3.0, 0.0, -1.0), Vec3::ZERO);
/// let inverse_inertia = SymMat3::from_diagonal(Vec3::splat(6.0));
/// let body = problem.add_body(BodyInput { inverse_mass: 1.0, inverse_inertia, velocity })?;
/// problem.add_contact(ContactInput {
///     a: ground, b: body, normal: Vec3::Z, lever_a: Vec3::ZERO, lever_b: Vec3::ZERO,
///     separation: 0.0, friction: 0.5, restitution: 0.0,
/// })?;
/// let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
/// ConvexSolver::default().solve(&problem, &mut impulses, &mut velocities)?;
/// let v = velocities[body].linear;
/// assert!((v - vec3(2.0, 0.0, 1.0)).length() < 1e-9); // it lifts off with mu times its speed
/// assert!(certify_convex(&problem, &impulses)?.natural_map < 1e-10);
/// assert!(certify(&problem, &impulses)?.natural_map > 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ConvexSolver {
    settings: ConvexSettings,
    form: BodyForm,
    system: System,
    iteration: Iteration,
}

impl ConvexSolver {
    /// A solver with the given settings.
    pub fn new(settings: ConvexSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    /// Its settings.
    pub fn settings(&self) -> &ConvexSettings {
        &self.settings
    }
}

impl ContactSolver for ConvexSolver {
    fn name(&self) -> &'static str {
        NAME
    }

    fn solve(
        &mut self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        velocities: &mut Vec<Velocity>,
    ) -> Result<SolveReport, SolveError> {
        impulses.sanitize(problem.contacts().len(), problem.rows().len());
        self.form.load(problem);
        let start = Dual::from_impulses(impulses);
        let (form, system) = (&self.form, &mut self.system);
        let report = self.iteration.solve(form, system, start, &self.settings);
        let answer = &self.iteration.best.impulses;
        impulses.contacts.clone_from(&answer.contacts);
        impulses.rows.clone_from(&answer.rows);
        form.velocities(answer, &mut self.iteration.v);
        form.export(problem, &self.iteration.v, velocities);
        match velocities.iter().position(|v| !v.is_finite()) {
            Some(body) => Err(SolveError::Overflow { body }),
            None => Ok(report),
        }
    }

    fn fork(&self) -> Box<dyn ContactSolver> {
        Box::new(Self::new(self.settings))
    }
}

/// The best answer so far, by the map without De Saxcé's term.
#[derive(Clone, Debug, Default)]
struct Best {
    impulses: Dual,
    residual: f64,
    worst: Option<usize>,
}

/// Memory of the iteration.
#[derive(Clone, Debug, Default)]
struct Iteration {
    best: Best,
    weights: Weights,
    force: Vec<Six>,
    dv: Vec<Six>,
    l: Dual,
    p: Dual,
    v: Vec<Six>,
    trial_v: Vec<Six>,
}

impl Iteration {
    fn solve(
        &mut self,
        form: &BodyForm,
        system: &mut System,
        start: Dual,
        settings: &ConvexSettings,
    ) -> SolveReport {
        let tolerance = settings.tolerance;
        let first = system.factorizations;
        self.start(form, start, tolerance);
        let mut stop = StopReason::Budget;
        if self.best.residual > tolerance {
            let limits = KrylovLimits {
                work: settings.krylov_work,
                iterations: NewtonSettings::default().krylov_iterations,
                reduction: KrylovLimits::EXACT,
            };
            system.analyse(form, &limits);
            // |F| in M^-1 that amounts to a velocity of the lightest body.
            let scale = form
                .mass
                .iter()
                .fold(f64::INFINITY, |m, x| m.min(*x))
                .sqrt();
            let (mut c, mut previous, mut worse) = (PENALTY_START, self.best.residual, 0);
            let last = first.saturating_add(settings.max_factorizations);
            system.allow(u64::MAX);
            while self.best.residual > tolerance && system.factorizations < last {
                let target = (0.05 * previous.min(1e-2)).max(0.05 * tolerance) * scale;
                let reached = self.minimise(form, system, c, (target, last));
                std::mem::swap(&mut self.l, &mut self.p);
                form.velocities(&self.l, &mut self.v);
                let (residual, worst) = associated_residual(form, &self.l, &self.v);
                if residual < self.best.residual {
                    (self.best.residual, self.best.worst) = (residual, worst);
                    self.best.impulses.clone_from(&self.l);
                    worse = 0;
                } else {
                    worse += 1;
                }
                if worse >= PATIENCE || !residual.is_finite() {
                    stop = StopReason::Stalled;
                    break;
                }
                if !reached {
                    c = (c / 30.0).max(PENALTY_LEAST);
                } else if residual > 0.5 * previous {
                    c = (c * 10.0).min(PENALTY_MOST);
                }
                previous = residual;
            }
        }
        if self.best.residual <= tolerance {
            stop = StopReason::Converged;
        }
        SolveReport {
            sweeps: 0,
            factorizations: system.factorizations - first,
            stop,
            residual: self.best.residual,
            worst_contact: self.best.worst,
        }
    }

    /// Takes the warm start: to the bit where it is the answer, else projected on the cones; nothing
    /// where it is of no use.
    fn start(&mut self, form: &BodyForm, start: Dual, tolerance: f64) {
        self.best.residual = f64::INFINITY;
        let mut candidates = [start, form.zero()];
        for (k, candidate) in candidates.iter_mut().enumerate() {
            for projected in [false, true] {
                if projected {
                    form.project(candidate);
                }
                form.velocities(candidate, &mut self.v);
                let (residual, worst) = associated_residual(form, candidate, &self.v);
                // Zero impulses are kept even where not even they have a finite residual.
                if residual < self.best.residual || (k == 1 && self.best.residual == f64::INFINITY)
                {
                    (self.best.residual, self.best.worst) = (residual, worst);
                    self.best.impulses.clone_from(candidate);
                }
                if self.best.residual <= tolerance {
                    break;
                }
            }
            if self.best.residual.is_finite() {
                break;
            }
        }
        self.l.clone_from(&self.best.impulses);
        form.project(&mut self.l);
        form.velocities(&self.l, &mut self.v);
    }

    /// The inner minimum at fixed l and c, from `self.v`; `self.p` holds the new impulses. False where
    /// |F| stays above `target`.
    fn minimise(
        &mut self,
        form: &BodyForm,
        system: &mut System,
        c: f64,
        (target, last): (f64, u32),
    ) -> bool {
        let (mut best, mut stuck) = (f64::INFINITY, 0);
        for _ in 0..INNER {
            let v = std::mem::take(&mut self.v);
            let value = self.balance(form, c, &v, true);
            self.v = v;
            // Rounding where |F| does not fall any more.
            stuck = if value < 0.9 * best { 0 } else { stuck + 1 };
            best = best.min(value);
            if value < target || stuck > 8 || system.factorizations >= last {
                break;
            }
            if !system.factor(form, &self.weights)
                || !system.solve(form, &self.weights, &self.force, &mut self.dv)
                || !self.search(form, c)
            {
                break;
            }
        }
        let v = std::mem::take(&mut self.v);
        let value = self.balance(form, c, &v, false);
        self.v = v;
        value < target
    }

    /// The minimum along dv, which is the root of the slope; false where it does not descend.
    fn search(&mut self, form: &BodyForm, c: f64) -> bool {
        let at_start = -self.force_along();
        if !(at_start < 0.0) {
            return false;
        }
        let (mut low, mut high) = ((0.0, at_start), (1.0, self.slope(form, c, 1.0)));
        let mut t = 1.0;
        if high.1 > 1e-3 * at_start.abs() {
            for k in 0..40 {
                let secant = low.0 - low.1 * (high.0 - low.0) / (high.1 - low.1);
                // A bisection every third time keeps a long flat side from stopping the secant.
                t = if k % 3 == 2 {
                    0.5 * (low.0 + high.0)
                } else {
                    secant
                };
                let slope = self.slope(form, c, t);
                if slope.abs() < 1e-3 * at_start.abs() {
                    break;
                }
                if slope < 0.0 {
                    low = (t, slope);
                } else {
                    high = (t, slope);
                }
            }
        }
        for (v, d) in self.v.iter_mut().zip(&self.dv) {
            add_scaled(v, d, t);
        }
        t > 0.0
    }

    /// The slope of the inner function at v + t dv along dv.
    fn slope(&mut self, form: &BodyForm, c: f64, t: f64) -> f64 {
        let mut trial = std::mem::take(&mut self.trial_v);
        trial.clone_from(&self.v);
        for (v, d) in trial.iter_mut().zip(&self.dv) {
            add_scaled(v, d, t);
        }
        self.balance(form, c, &trial, false);
        self.trial_v = trial;
        -self.force_along()
    }

    fn force_along(&self) -> f64 {
        let pairs = self.force.iter().zip(&self.dv);
        pairs.fold(0.0, |sum, (f, d)| sum + dot(f, d))
    }

    /// P_K(l - r s(v)) into `p` and minus the gradient into `force`; returns its length in M^-1. With
    /// `weights`, r D too.
    fn balance(&mut self, form: &BodyForm, c: f64, v: &[Six], weights: bool) -> f64 {
        self.p.contacts.clear();
        self.p.rows.clear();
        if weights {
            self.weights.contacts.clear();
            self.weights.rows.clear();
        }
        for (contact, l) in form.contacts.iter().zip(&self.l.contacts) {
            let r = c * contact.rho;
            let (p, d) = if r.is_finite() {
                cone(*l - contact.velocity(v) * r, contact.mu)
            } else {
                // No impulse moves it.
                (Vec3::ZERO, ZERO)
            };
            self.p.contacts.push(p);
            if weights {
                let weight = if r.is_finite() { scaled(&d, r) } else { ZERO };
                self.weights.contacts.push(weight);
            }
        }
        for (row, l) in form.rows.iter().zip(&self.l.rows) {
            let r = c / row.diagonal;
            if !r.is_finite() {
                self.p.rows.push(0.0);
                if weights {
                    self.weights.rows.push(0.0);
                }
                continue;
            }
            // p = clamp(l - r (w + regularization p)), solved for p.
            let soften = 1.0 / (1.0 + r * row.regularization);
            let z = (l - r * (row.velocity(v) + row.bias)) * soften;
            let p = z.clamp(row.lower, row.upper);
            self.p.rows.push(p);
            if weights {
                let weight = if p == z { r * soften } else { 0.0 };
                self.weights.rows.push(weight);
            }
        }
        momentum_error(form, v, &self.p, &mut self.force)
    }
}

/// The largest natural map of the associated model (m/s), and its contact.
pub(crate) fn associated_residual(form: &BodyForm, l: &Dual, v: &[Six]) -> (f64, Option<usize>) {
    let mut worst = (0.0, None);
    for (i, (c, l)) in form.contacts.iter().zip(&l.contacts).enumerate() {
        let map = convex_natural_map(*l, c.velocity(v), c.mu, c.trace);
        if map > worst.0 || map.is_nan() || worst.1.is_none() {
            worst = (map, Some(i));
        }
    }
    form.rows_residual(l, v, worst)
}
