//! The first Newton stage of large islands: convex steps towards Coulomb's law.
//!
//! De Saxcé's form of the law is the associated model with s_n + g for s_n, g = mu |s_t|. With g held
//! that is a convex problem, of which each step here is one of the augmented Lagrangian:
//!
//! ```text
//! v <- argmin 1/2 |v - v_free|² in M + sum |P_K(l - r (s(v) + g n))|²/(2 r),   r = c rho
//! l <- P_K(l - r (s(v) + g n)),   then g <- mu |s_t|
//! ```
//!
//! The inner function has one minimum, its Newton matrix M + J' r D J is symmetric and positive
//! definite, and the minimum along a direction is found exactly, so that thousands of contacts may
//! change between open, sticking and sliding without a step going astray, and a direction to two
//! digits is enough: some ten steps of conjugate gradients.
//!
//! What c has to be: an error of the natural map e moves an impulse by c rho e a step. c is the speed
//! of the problem over e to begin with, and grows tenfold where a step takes less than half of e
//! away. Too large a c takes too many Newton steps: where they run out, the stage goes back to the
//! best answer with a tenth of c.
//!
//! With g = 0 throughout it is the associated model itself (`ConvexSteps::stick`), which has one motion. Where
//! no contact that pushes slips in that one, it is an answer of Coulomb's law too, and the law may have others.
//!
//! De Saxcé and Feng, "The bipotential method", Math. Comput. Modelling 28 (1998). Acary, Cadoux,
//! Lemaréchal and Malick, "A formulation of the linear discrete Coulomb friction problem via convex
//! optimization", ZAMM 91 (2011).

use crate::augmented::momentum_error;
use crate::cascade::{Best, Budget};
use crate::convex::associated_residual;
use crate::form::{BodyForm, Dual, Six, add_scaled, dot};
use crate::maps::{ZERO, cone, scaled};
use crate::system::{CONTACT_LOOK, System, Weights};
use moreau_math::{Vec3, vec3};

const OUTER: u32 = 30;
const INNER: u32 = 15;
const C_LEAST: f64 = 1.0;
const C_START_MOST: f64 = 1e4;
const C_MOST: f64 = 1e7;
/// Convex problems that may stay unsolved, and that may take less than half of the residual away,
/// one after the other.
const FAILURES: u32 = 2;
const SLOW: u32 = 4;
/// Part of a right-hand side that a direction may miss.
const REDUCTION: f64 = 1e-2;

/// c of the associated model.
const C_STICK: f64 = 1e4;
/// Where the map of the associated model is less than this part of that of Coulomb's law, its answer slips.
const SLIPS: f64 = 1e-2;
/// Factorisations towards the tolerance from an answer that is good enough.
const EXTRA_STEPS: u32 = 2;

#[derive(Clone, Debug, Default)]
pub(crate) struct ConvexSteps {
    shift: Vec<f64>,
    weights: Weights,
    force: Vec<Six>,
    dv: Vec<Six>,
    l: Dual,
    p: Dual,
    v: Vec<Six>,
    trial_v: Vec<Six>,
}

impl ConvexSteps {
    /// Improves `best` until its residual is within the tolerance, the budget is used up, or steps
    /// do not help.
    pub(crate) fn run(
        &mut self,
        form: &BodyForm,
        system: &mut System,
        best: &mut Best,
        budget: &Budget,
    ) {
        let reduction = std::mem::replace(&mut system.reduction, REDUCTION);
        self.iterate(form, system, best, budget);
        system.reduction = reduction;
    }

    /// The answer of the associated model, measured by Coulomb's law, until that is within the tolerance, the
    /// budget is used up, or it is clear that contacts slip. From no impulses at all: from those of sweeps, which
    /// slide, it takes three times as many factorisations.
    pub(crate) fn stick(
        &mut self,
        form: &BodyForm,
        system: &mut System,
        best: &mut Best,
        budget: &Budget,
    ) {
        let start = system.factorizations;
        let lightest = form.mass.iter().fold(f64::INFINITY, |m, x| m.min(*x));
        let scale = lightest.sqrt();
        self.shift.clear();
        self.shift.resize(form.contacts.len(), 0.0);
        self.l = form.zero();
        form.velocities(&self.l, &mut self.v);
        let (mut c, mut previous) = (C_STICK, f64::INFINITY);
        // A step may need no factorisation.
        for _ in 0..OUTER {
            if best.residual <= budget.tolerance || budget.is_used_up(system, start) {
                return;
            }
            let target = (0.03 * previous.min(1e-2)).max(0.05 * budget.tolerance) * scale;
            let mut budget = *budget;
            if best.residual <= budget.enough {
                // The target may be less than rounding leaves.
                let most = system.factorizations - start + EXTRA_STEPS;
                budget.factorizations = budget.factorizations.min(most);
            }
            let reached = self.minimise(form, system, c, (target, &budget, start));
            std::mem::swap(&mut self.l, &mut self.p);
            form.velocities(&self.l, &mut self.v);
            best.offer(form, &self.l, &self.v);
            let (residual, _) = associated_residual(form, &self.l, &self.v);
            let (exact, _) = form.residual(&self.l, &self.v);
            if !reached || residual < SLIPS * exact {
                return;
            }
            if residual > 0.5 * previous {
                c = (c * 10.0).min(C_MOST);
            }
            previous = residual;
        }
    }

    fn iterate(&mut self, form: &BodyForm, system: &mut System, best: &mut Best, budget: &Budget) {
        let start = system.factorizations;
        let tolerance = budget.tolerance;
        let lightest = form.mass.iter().fold(f64::INFINITY, |m, x| m.min(*x));
        let scale = lightest.sqrt();
        self.l.clone_from(&best.impulses);
        form.project(&mut self.l);
        form.velocities(&self.l, &mut self.v);
        let mut c = (form.speed() / best.residual).clamp(C_LEAST, C_START_MOST);
        let (mut previous, mut failures, mut slow) = (best.residual, 0, 0);
        for _ in 0..OUTER {
            if best.residual <= tolerance || budget.is_used_up(system, start) {
                return;
            }
            self.shift.clear();
            self.shift.extend(form.contacts.iter().map(|k| {
                let s = k.velocity(&self.v);
                k.mu * (s.y * s.y + s.z * s.z).sqrt()
            }));
            let target = (0.03 * previous.min(1e-2)).max(0.05 * tolerance) * scale;
            let reached = self.minimise(form, system, c, (target, budget, start));
            std::mem::swap(&mut self.l, &mut self.p);
            form.velocities(&self.l, &mut self.v);
            let (residual, _) = form.residual(&self.l, &self.v);
            best.offer(form, &self.l, &self.v);
            if !reached {
                failures += 1;
                c *= 0.1;
                if failures >= FAILURES || c < C_LEAST {
                    return;
                }
                self.l.clone_from(&best.impulses);
                form.velocities(&self.l, &mut self.v);
                previous = best.residual;
                continue;
            }
            if residual > 0.5 * previous {
                slow += 1;
                c = (c * 10.0).min(C_MOST);
                if slow >= SLOW {
                    return;
                }
            } else {
                slow = 0;
            }
            previous = residual;
        }
    }

    /// The inner minimum at fixed l, g and c, from `self.v`; `self.p` holds the new impulses. False
    /// where |F| stays above the target.
    fn minimise(
        &mut self,
        form: &BodyForm,
        system: &mut System,
        c: f64,
        (target, budget, start): (f64, &Budget, u32),
    ) -> bool {
        for _ in 0..INNER {
            let value = self.balance_here(form, c, true);
            if value < target {
                return true;
            }
            // The look above, and those of the search.
            system.charge(form, 4 * CONTACT_LOOK);
            if budget.is_used_up(system, start)
                || !system.factor(form, &self.weights)
                || !system.solve(form, &self.weights, &self.force, &mut self.dv)
                || !self.search(form, c)
            {
                return false;
            }
        }
        self.balance_here(form, c, false) < target
    }

    /// The minimum along dv, which is the root of the slope; false where it does not descend.
    fn search(&mut self, form: &BodyForm, c: f64) -> bool {
        let at_start = -self.force_along();
        if !(at_start < 0.0) {
            return false;
        }
        let enough = 0.05 * at_start.abs();
        let (mut low, mut high) = ((0.0, at_start), (1.0, self.slope(form, c, 1.0)));
        let mut t = 1.0;
        if high.1 > enough {
            for k in 0..30 {
                // A bisection every third time keeps a long flat side from stopping the secant.
                t = if k % 3 == 2 {
                    0.5 * (low.0 + high.0)
                } else {
                    low.0 - low.1 * (high.0 - low.0) / (high.1 - low.1)
                };
                let slope = self.slope(form, c, t);
                if slope.abs() < enough {
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

    fn balance_here(&mut self, form: &BodyForm, c: f64, weights: bool) -> f64 {
        let v = std::mem::take(&mut self.v);
        let value = self.balance(form, c, &v, weights);
        self.v = v;
        value
    }

    /// P_K(l - r (s(v) + g n)) into `p` and minus the gradient into `force`; returns its length in
    /// M^-1. With `weights`, r D too.
    fn balance(&mut self, form: &BodyForm, c: f64, v: &[Six], weights: bool) -> f64 {
        self.p.contacts.clear();
        self.p.rows.clear();
        if weights {
            self.weights.contacts.clear();
            self.weights.rows.clear();
        }
        let duals = self.l.contacts.iter().zip(&self.shift);
        for (contact, (l, shift)) in form.contacts.iter().zip(duals) {
            let r = c * contact.rho;
            let (p, d) = if r.is_finite() {
                let s = contact.velocity(v) + vec3(*shift, 0.0, 0.0);
                cone(*l - s * r, contact.mu)
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
