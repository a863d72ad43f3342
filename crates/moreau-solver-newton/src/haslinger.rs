//! S4: damped Haslinger iteration.
//!
//! The friction radii g are held while a convex problem (Tresca's) takes one step of its augmented
//! Lagrangian, with a symmetric Newton matrix and an exact line search; then g moves towards mu l_n:
//!
//! ```text
//! v = argmin of 1/2 |v - v_free|² in M + the augmented terms,   l = p_g(l - r u),
//! g += damping (mu l_n - g)
//! ```
//!
//! Slow, but it goes on where Newton on the full law stalls, and its answers start that well.

use crate::augmented::momentum_error;
use crate::cascade::{Best, Budget};
use crate::form::{BodyForm, Dual, Six, add_scaled};
use crate::maps::{fixed_radius, scaled};
use crate::system::{System, Weights};
use moreau_math::Vec3;

const PENALTY: f64 = 300.0;
const OUTER: u32 = 100;
const INNER: u32 = 50;

#[derive(Clone, Debug, Default)]
pub(crate) struct Haslinger {
    radii: Vec<f64>,
    weights: Weights,
    force: Vec<Six>,
    dv: Vec<Six>,
    pub(crate) l: Dual,
    p: Dual,
    projected: Dual,
    v: Vec<Six>,
    trial_v: Vec<Six>,
    projected_v: Vec<Six>,
}

impl Haslinger {
    /// Improves `best` from the impulses `start`; `self.l` holds the last iterate after it.
    pub(crate) fn run(
        &mut self,
        form: &BodyForm,
        system: &mut System,
        (best, start): (&mut Best, Dual),
        budget: &Budget,
        damping: f64,
    ) {
        let first = system.factorizations;
        self.l = start;
        form.velocities(&self.l, &mut self.v);
        self.radii.clear();
        self.radii.extend(
            form.contacts
                .iter()
                .zip(&self.l.contacts)
                .map(|(c, l)| c.mu * l.x),
        );
        let scale = form
            .mass
            .iter()
            .fold(f64::INFINITY, |m, x| m.min(*x))
            .sqrt();
        let (mut residual, _) = form.residual(&self.l, &self.v);
        for _ in 0..OUTER {
            let target = (0.03 * residual.min(1e-2)).max(0.02 * budget.tolerance) * scale;
            for _ in 0..INNER {
                let v = std::mem::take(&mut self.v);
                let value = self.balance(form, &v, true);
                self.v = v;
                if value < target || budget.is_used_up(system, first) {
                    break;
                }
                if !system.factor(form, &self.weights)
                    || !system.solve(form, &self.weights, &self.force, &mut self.dv)
                    || !self.search(form)
                {
                    break;
                }
            }
            let v = std::mem::take(&mut self.v);
            self.balance(form, &v, false);
            self.v = v;
            std::mem::swap(&mut self.l, &mut self.p);
            for ((c, l), g) in form
                .contacts
                .iter()
                .zip(&self.l.contacts)
                .zip(&mut self.radii)
            {
                *g += damping * (c.mu * l.x - *g);
            }
            self.projected.clone_from(&self.l);
            for (c, l) in form.contacts.iter().zip(&mut self.projected.contacts) {
                let (t1, t2) = moreau_constraint::project_disc(l.y, l.z, c.mu * l.x);
                *l = Vec3::new(l.x, t1, t2);
            }
            form.velocities(&self.projected, &mut self.projected_v);
            residual = form.residual(&self.projected, &self.projected_v).0;
            best.offer(form, &self.projected, &self.projected_v);
            if residual <= budget.tolerance || budget.is_used_up(system, first) {
                break;
            }
        }
    }

    /// The root of the directional derivative in (0, 1]; false where it does not descend.
    fn search(&mut self, form: &BodyForm) -> bool {
        let slope_at_start = -self.slope();
        if slope_at_start >= 0.0 {
            return false;
        }
        let mut t = 1.0;
        let mut slope = self.slope_at(form, t);
        if slope > 1e-3 * slope_at_start.abs() {
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..20 {
                t = 0.5 * (low + high);
                slope = self.slope_at(form, t);
                if slope.abs() < 0.05 * slope_at_start.abs() {
                    break;
                }
                if slope < 0.0 {
                    low = t;
                } else {
                    high = t;
                }
            }
        }
        for (v, d) in self.v.iter_mut().zip(&self.dv) {
            add_scaled(v, d, t);
        }
        true
    }

    fn slope_at(&mut self, form: &BodyForm, t: f64) -> f64 {
        let mut trial = std::mem::take(&mut self.trial_v);
        trial.clone_from(&self.v);
        for (v, d) in trial.iter_mut().zip(&self.dv) {
            add_scaled(v, d, t);
        }
        self.balance(form, &trial, false);
        self.trial_v = trial;
        -self.slope()
    }

    /// force·dv.
    fn slope(&self) -> f64 {
        self.force
            .iter()
            .zip(&self.dv)
            .map(|(f, d)| crate::form::dot(f, d))
            .sum()
    }

    fn balance(&mut self, form: &BodyForm, v: &[Six], weights: bool) -> f64 {
        self.p.contacts.clear();
        self.p.rows.clear();
        if weights {
            self.weights.contacts.clear();
            self.weights.rows.clear();
        }
        let duals = self.l.contacts.iter().zip(&self.radii);
        for (contact, (l, radius)) in form.contacts.iter().zip(duals) {
            let r = PENALTY * contact.rho;
            let (p, g) = fixed_radius(*l - contact.velocity(v) * r, *radius);
            self.p.contacts.push(p);
            if weights {
                self.weights.contacts.push(scaled(&g, r));
            }
        }
        for (row, l) in form.rows.iter().zip(&self.l.rows) {
            let r = PENALTY / row.diagonal;
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
