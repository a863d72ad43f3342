//! S3: augmented Lagrangian with the map of Alart and Curnier.
//!
//! Outer: r = c rho; inner Newton for v of
//!
//! ```text
//! F(v) = M (v - v_free) - J' p(l - r u(v)),   matrix M + J' r G J,   |F| in M^-1
//! ```
//!
//! then l = p(l - r u). c grows while the residual falls slowly, and shrinks where the inner solve
//! fails.

use crate::cascade::{Best, Budget};
use crate::form::{BodyForm, Dual, Six, add_scaled};
use crate::maps::{alart_curnier, scaled};
use crate::system::{System, Weights};

const INNER: u32 = 25;
const OUTER: u32 = 40;
const C_START: f64 = 10.0;
const C_MOST: f64 = 1e9;
const C_LEAST: f64 = 1e-2;

#[derive(Clone, Debug, Default)]
pub(crate) struct Augmented {
    pub(crate) weights: Weights,
    pub(crate) force: Vec<Six>,
    pub(crate) dv: Vec<Six>,
    l: Dual,
    p: Dual,
    projected: Dual,
    v: Vec<Six>,
    inner_v: Vec<Six>,
    trial_v: Vec<Six>,
    projected_v: Vec<Six>,
}

impl Augmented {
    /// Improves `best`. `c_start` scales the first penalty.
    pub(crate) fn run(
        &mut self,
        form: &BodyForm,
        system: &mut System,
        best: &mut Best,
        budget: &Budget,
        c_scale: f64,
    ) {
        let start = system.factorizations;
        let mut c = C_START * c_scale;
        self.l.clone_from(&best.impulses);
        form.velocities(&self.l, &mut self.v);
        let scale = form
            .mass
            .iter()
            .fold(f64::INFINITY, |m, x| m.min(*x))
            .sqrt();
        let (mut previous, mut failures) = (best.residual, 0);
        for _ in 0..OUTER {
            if best.residual <= budget.tolerance || budget.is_used_up(system, start) {
                break;
            }
            let target = (0.03 * best.residual.min(1e-2)).max(0.02 * budget.tolerance) * scale;
            let solved = self.inner(form, system, c, target);
            self.projected.clone_from(&self.p);
            form.project(&mut self.projected);
            form.velocities(&self.projected, &mut self.projected_v);
            let (residual, _) = form.residual(&self.projected, &self.projected_v);
            best.offer(form, &self.projected, &self.projected_v);
            if solved {
                std::mem::swap(&mut self.l, &mut self.p);
                std::mem::swap(&mut self.v, &mut self.inner_v);
                failures = 0;
                if residual > 0.1 * previous {
                    c = (c * 10.0).min(C_MOST);
                }
                previous = residual;
            } else {
                failures += 1;
                c /= 30.0;
                if failures >= 3 || c < C_LEAST {
                    break;
                }
            }
        }
    }

    /// Newton for v at fixed l and c; `p` and `inner_v` hold the answer.
    fn inner(&mut self, form: &BodyForm, system: &mut System, c: f64, target: f64) -> bool {
        self.inner_v.clone_from(&self.v);
        let mut value = self.balance(form, c, &self.v.clone(), true);
        for _ in 0..INNER {
            if value < target {
                return true;
            }
            if !system.factor(form, &self.weights)
                || !system.solve(form, &self.weights, &self.force, &mut self.dv)
            {
                return false;
            }
            let (mut t, mut next) = (1.0, None);
            for _ in 0..10 {
                self.trial_v.clone_from(&self.inner_v);
                for (v, d) in self.trial_v.iter_mut().zip(&self.dv) {
                    add_scaled(v, d, t);
                }
                let trial = std::mem::take(&mut self.trial_v);
                let trial_value = self.balance(form, c, &trial, false);
                self.trial_v = trial;
                if trial_value < (1.0 - 1e-4 * t) * value {
                    next = Some(trial_value);
                    break;
                }
                t *= 0.5;
            }
            let Some(trial_value) = next else {
                self.balance(form, c, &self.inner_v.clone(), false);
                return false;
            };
            std::mem::swap(&mut self.inner_v, &mut self.trial_v);
            self.balance(form, c, &self.inner_v.clone(), true);
            if trial_value > 0.999 * value && t < 1e-2 {
                return false;
            }
            value = trial_value;
        }
        value < target
    }

    /// p(l - r u(v)) and force = -F(v); returns |F| in M^-1. With `weights`, r G too.
    fn balance(&mut self, form: &BodyForm, c: f64, v: &[Six], weights: bool) -> f64 {
        self.p.contacts.clear();
        self.p.rows.clear();
        if weights {
            self.weights.contacts.clear();
            self.weights.rows.clear();
        }
        for (contact, l) in form.contacts.iter().zip(&self.l.contacts) {
            let r = c * contact.rho;
            let (p, g) = alart_curnier(*l - contact.velocity(v) * r, contact.mu);
            self.p.contacts.push(p);
            if weights {
                self.weights.contacts.push(scaled(&g, r));
            }
        }
        for (row, l) in form.rows.iter().zip(&self.l.rows) {
            // p = clamp(l - r (w + regularization p)), solved for p.
            let r = c / row.diagonal;
            let soften = 1.0 / (1.0 + r * row.regularization);
            let z = (l - r * (row.velocity(v) + row.bias)) * soften;
            let p = z.clamp(row.lower, row.upper);
            self.p.rows.push(p);
            if weights {
                self.weights
                    .rows
                    .push(if p == z { r * soften } else { 0.0 });
            }
        }
        momentum_error(form, v, &self.p, &mut self.force)
    }
}

/// force = J' p - M (v - v_free); returns its length in M^-1.
pub(crate) fn momentum_error(form: &BodyForm, v: &[Six], p: &Dual, force: &mut Vec<Six>) -> f64 {
    force.clear();
    for (body, (v, free)) in v.iter().zip(&form.free).enumerate() {
        let mut d = *free;
        add_scaled(&mut d, v, -1.0);
        force.push(form.mass_times(body, &d));
    }
    form.add_jacobian(p, 1.0, force);
    let mut sum = 0.0;
    for (body, f) in force.iter().enumerate() {
        let linear = f[0] * f[0] + f[1] * f[1] + f[2] * f[2];
        let angular = moreau_math::vec3(f[3], f[4], f[5]);
        sum += linear * form.inverse_mass[body] + form.inverse_inertia[body].quadratic(angular);
    }
    sum.max(0.0).sqrt()
}
