//! S2: primal-dual semismooth Newton on the map of Alart and Curnier.
//!
//! ```text
//! F = l - p(l - rho u),  E = (I - G + delta I)^-1
//! (M + J' E G rho J) dv = -J' E F,   dl = -E F - E G rho J dv
//! ```
//!
//! delta regularises the map and not the bodies, and goes to zero as steps succeed. Backtracking on
//! |F/rho| over the last four values; on a stall, sweeps from the best answer so far.

use crate::cascade::{Best, Budget};
use crate::form::{BodyForm, Dual, Six};
use crate::maps::{IDENTITY, Three, ZERO, alart_curnier, apply, inverse, multiply, scaled};
use crate::sweeps::sweeps;
use crate::system::{CONTACT_SWEEP, System, Weights, contact_rate};
use moreau_math::Vec3;

const DELTA_START: f64 = 1e-3;
const DELTA_LEAST: f64 = 1e-9;
const DELTA_MOST: f64 = 1e-1;
const BACKTRACKS: u32 = 12;
/// A contact that changes its bodies' velocities by less than this (m/s) hardly pushes.
const FIRM: f64 = 1e-4;
/// The part of its friction cone within which a contact counts as inside.
const INSIDE: f64 = 0.999;
/// The least with which the systems of redundant contacts keep enough digits.
const DELTA_POLISH: f64 = 1e-6;
const POLISH_STEPS: u32 = 8;
/// Steps towards the tolerance from an answer that is good enough.
const EXTRA_STEPS: u32 = 6;

#[derive(Clone, Debug, Default)]
pub(crate) struct PrimalDual {
    weights: Weights,
    /// E of each contact and row.
    e: Vec<Three>,
    e_rows: Vec<f64>,
    jacobians: Vec<Three>,
    jacobian_rows: Vec<f64>,
    /// Of a contact's velocity the part that a polish takes to zero.
    held: Vec<Three>,
    residual: Dual,
    l: Dual,
    trial: Dual,
    step: Dual,
    v: Vec<Six>,
    trial_v: Vec<Six>,
    step_v: Vec<Six>,
    force: Vec<Six>,
    dv: Vec<Six>,
}

impl PrimalDual {
    /// Improves `best` until its residual is within the tolerance or the budget of factorisations is
    /// used up.
    pub(crate) fn run(
        &mut self,
        form: &BodyForm,
        system: &mut System,
        best: &mut Best,
        budget: &Budget,
        report: &mut crate::cascade::Count,
    ) {
        let start = system.factorizations;
        let mut extra = 0;
        let mut sweep_count = 20_u32;
        let mut delta = DELTA_START;
        let (mut failures, mut need_sweeps, mut first) = (0, true, true);
        let mut history: Vec<f64> = Vec::new();
        while best.residual > budget.tolerance
            && !budget.is_used_up(system, start)
            && report.sweeps < budget.sweeps
        {
            if best.residual <= budget.enough {
                extra += 1;
                if extra > EXTRA_STEPS || need_sweeps && !first {
                    return;
                }
            }
            if need_sweeps {
                self.l.clone_from(&best.impulses);
                if first {
                    form.velocities(&self.l, &mut self.v);
                } else {
                    sweeps(form, &mut self.l, &mut self.v, sweep_count);
                    system.charge(form, CONTACT_SWEEP * u64::from(sweep_count));
                    report.sweeps += sweep_count;
                    if !best.offer(form, &self.l, &self.v) && sweep_count < 200 {
                        sweep_count += sweep_count / 2;
                    }
                }
                first = false;
                need_sweeps = false;
                history.clear();
                history.push(self.evaluate(form));
                continue;
            }
            self.weigh(form, delta);
            if !system.factor(form, &self.weights) || !self.direction(form, system) {
                (need_sweeps, delta) = (true, (delta * 10.0).min(1e-2));
                continue;
            }
            let merit = history.iter().rev().take(4).fold(0.0_f64, |m, x| m.max(*x));
            match self.search(form, merit) {
                Some((t, value)) => {
                    history.push(value);
                    self.offer(form, best);
                    let factor = if t == 1.0 {
                        0.1
                    } else if t > 0.1 {
                        1.0
                    } else {
                        5.0
                    };
                    delta = (delta * factor).clamp(DELTA_LEAST, DELTA_MOST);
                    let n = history.len();
                    need_sweeps = n > 12 && history[n - 1] > 0.7 * history[n - 10];
                }
                None => {
                    delta = (delta * 30.0).min(DELTA_MOST);
                    failures += 1;
                    if delta >= DELTA_MOST || failures >= 3 {
                        (need_sweeps, delta, failures) = (true, DELTA_START, 0);
                    }
                }
            }
        }
    }

    /// Steps from an answer that is right but for some digits, all with one factorisation, as long as each
    /// takes off half of the residual and it is not within the tolerance.
    ///
    /// Contacts that hardly push keep their impulses: whether they are open, stick or slide is a matter of
    /// rounding, and they come to rest with the others. Those on the surface of their cones stay on it. No
    /// search: the step is shorter than the others are from theirs.
    pub(crate) fn polish(
        &mut self,
        form: &BodyForm,
        system: &mut System,
        best: &mut Best,
        tolerance: f64,
    ) {
        self.l.clone_from(&best.impulses);
        form.velocities(&self.l, &mut self.v);
        for step in 0..POLISH_STEPS {
            let before = best.residual;
            if before <= tolerance {
                return;
            }
            if step == 0 {
                self.choose_held(form);
                self.weigh(form, DELTA_POLISH);
                if !system.factor(form, &self.weights) {
                    return;
                }
            }
            self.evaluate_held(form);
            if !self.direction(form, system) {
                return;
            }
            self.l.step(1.0, &self.step, &mut self.trial);
            std::mem::swap(&mut self.l, &mut self.trial);
            self.offer(form, best);
            if !(best.residual <= 0.5 * before) {
                return;
            }
            std::mem::swap(&mut self.l, &mut self.trial);
            std::mem::swap(&mut self.v, &mut self.trial_v);
        }
    }

    /// G of contacts and rows that hold still, or stay on their cones, or keep their impulses.
    fn choose_held(&mut self, form: &BodyForm) {
        self.jacobians.clear();
        self.held.clear();
        for (c, l) in form.contacts.iter().zip(&self.l.contacts) {
            let (least, most) = (FIRM * c.rho, c.mu * l.x);
            let tangential = (l.y * l.y + l.z * l.z).sqrt();
            let (mut g, mut held) = (ZERO, ZERO);
            if l.x >= least {
                if most < least {
                    held[0][0] = 1.0;
                    g = held;
                } else if tangential <= INSIDE * most {
                    (g, held) = (IDENTITY, IDENTITY);
                } else {
                    let (d1, d2) = (l.y / tangential, l.z / tangential);
                    held = [
                        [1.0, 0.0, 0.0],
                        [0.0, d2 * d2, -d1 * d2],
                        [0.0, -d1 * d2, d1 * d1],
                    ];
                    g = held;
                    (g[1][0], g[2][0]) = (c.mu * d1, c.mu * d2);
                }
            }
            self.jacobians.push(g);
            self.held.push(held);
        }
        self.jacobian_rows.clear();
        for (r, l) in form.rows.iter().zip(&self.l.rows) {
            let least = FIRM / r.diagonal;
            let inside = l - r.lower > least && r.upper - l > least;
            self.jacobian_rows.push(if inside { 1.0 } else { 0.0 });
        }
    }

    /// F where those hold still.
    fn evaluate_held(&mut self, form: &BodyForm) {
        self.residual.contacts.clear();
        for (c, held) in form.contacts.iter().zip(&self.held) {
            let f = apply(held, c.velocity(&self.v) * c.rho);
            self.residual.contacts.push(f);
        }
        self.residual.rows.clear();
        for (i, (r, g)) in form.rows.iter().zip(&self.jacobian_rows).enumerate() {
            let w = r.velocity(&self.v) + r.bias + r.regularization * self.l.rows[i];
            self.residual.rows.push(g * w / r.diagonal);
        }
    }

    /// Offers l, put into its cones.
    fn offer(&mut self, form: &BodyForm, best: &mut Best) {
        self.trial.clone_from(&self.l);
        form.project(&mut self.trial);
        form.velocities(&self.trial, &mut self.trial_v);
        best.offer(form, &self.trial, &self.trial_v);
    }

    /// F and G at (l, v); returns |F/rho|.
    fn evaluate(&mut self, form: &BodyForm) -> f64 {
        evaluate(
            form,
            &self.l,
            &self.v,
            &mut self.residual,
            (&mut self.jacobians, &mut self.jacobian_rows),
        )
    }

    /// E and the weights of the system.
    fn weigh(&mut self, form: &BodyForm, delta: f64) {
        self.e.clear();
        self.weights.contacts.clear();
        for (c, g) in form.contacts.iter().zip(&self.jacobians) {
            let mut m = IDENTITY;
            for (r, (row, g)) in m.iter_mut().zip(g).enumerate() {
                for (x, g) in row.iter_mut().zip(g) {
                    *x -= g;
                }
                row[r] += delta;
            }
            let e = inverse(&m);
            self.weights.contacts.push(scaled(&multiply(&e, g), c.rho));
            self.e.push(e);
        }
        self.e_rows.clear();
        self.weights.rows.clear();
        for (r, g) in form.rows.iter().zip(&self.jacobian_rows) {
            let rho = 1.0 / r.diagonal;
            let e = 1.0 / (1.0 - g + g * rho * r.regularization + delta);
            self.weights.rows.push(e * g * rho);
            self.e_rows.push(e);
        }
    }

    /// dv, dl from F by the factored system; false where there is none.
    fn direction(&mut self, form: &BodyForm, system: &mut System) -> bool {
        self.step.contacts.clear();
        let pairs = self.e.iter().zip(&self.residual.contacts);
        self.step.contacts.extend(pairs.map(|(e, f)| -apply(e, *f)));
        self.step.rows.clear();
        let pairs = self.e_rows.iter().zip(&self.residual.rows);
        self.step.rows.extend(pairs.map(|(e, f)| -e * f));
        self.force.clear();
        self.force.resize(form.bodies(), [0.0; 6]);
        form.add_jacobian(&self.step, 1.0, &mut self.force);
        if !system.solve(form, &self.weights, &self.force, &mut self.dv) {
            return false;
        }
        for (i, c) in form.contacts.iter().enumerate() {
            self.step.contacts[i] -= apply(&self.weights.contacts[i], contact_rate(c, &self.dv));
        }
        for (i, r) in form.rows.iter().enumerate() {
            self.step.rows[i] -= self.weights.rows[i] * r.velocity(&self.dv);
        }
        if !self.step.is_finite() {
            return false;
        }
        self.step_v.clear();
        self.step_v.resize(form.bodies(), [0.0; 6]);
        form.add_mass_jacobian(&self.step, &mut self.step_v);
        true
    }

    /// Backtracks from the full step; returns its length and the new |F/rho|, or `None`.
    fn search(&mut self, form: &BodyForm, merit: f64) -> Option<(f64, f64)> {
        let mut t = 1.0;
        for _ in 0..BACKTRACKS {
            self.l.step(t, &self.step, &mut self.trial);
            self.trial_v.clone_from(&self.v);
            for (v, d) in self.trial_v.iter_mut().zip(&self.step_v) {
                crate::form::add_scaled(v, d, t);
            }
            let value = value_within((1.0 - 1e-3 * t) * merit, form, &self.trial, &self.trial_v);
            if let Some(value) = value {
                std::mem::swap(&mut self.l, &mut self.trial);
                form.velocities(&self.l, &mut self.v);
                self.evaluate(form);
                return Some((t, value));
            }
            t *= 0.5;
        }
        self.evaluate(form);
        None
    }
}

/// F = l - p(l - rho u) into `residual`, and the Jacobians of p; returns |F/rho|.
fn evaluate(
    form: &BodyForm,
    l: &Dual,
    v: &[Six],
    residual: &mut Dual,
    (contacts, rows): (&mut Vec<Three>, &mut Vec<f64>),
) -> f64 {
    residual.contacts.clear();
    residual.rows.clear();
    contacts.clear();
    rows.clear();
    let mut sum = 0.0;
    for (c, l) in form.contacts.iter().zip(&l.contacts) {
        let z: Vec3 = *l - c.velocity(v) * c.rho;
        let (p, g) = alart_curnier(z, c.mu);
        let f = *l - p;
        sum += (f / c.rho).length_squared();
        residual.contacts.push(f);
        contacts.push(g);
    }
    for (r, l) in form.rows.iter().zip(&l.rows) {
        let w = r.velocity(v) + r.bias + r.regularization * l;
        let z = l - w / r.diagonal;
        let p = z.clamp(r.lower, r.upper);
        let f = l - p;
        sum += (f * r.diagonal) * (f * r.diagonal);
        residual.rows.push(f);
        rows.push(if p == z { 1.0 } else { 0.0 });
    }
    sum.sqrt()
}

/// |F/rho| where it is at most `most`; looks no further than where that is sure to be false.
fn value_within(most: f64, form: &BodyForm, l: &Dual, v: &[Six]) -> Option<f64> {
    // Sums of squares only grow; this much more and the root of no rounding is within.
    let enough = most * most * (1.0 + 1e-9) + f64::MIN_POSITIVE;
    let mut sum = 0.0;
    for (c, l) in form.contacts.iter().zip(&l.contacts) {
        let z: Vec3 = *l - c.velocity(v) * c.rho;
        let (p, _) = alart_curnier(z, c.mu);
        sum += ((*l - p) / c.rho).length_squared();
        if sum > enough {
            return None;
        }
    }
    for (r, l) in form.rows.iter().zip(&l.rows) {
        let w = r.velocity(v) + r.bias + r.regularization * l;
        let f = l - (l - w / r.diagonal).clamp(r.lower, r.upper);
        sum += (f * r.diagonal) * (f * r.diagonal);
    }
    let value = sum.sqrt();
    (value <= most).then_some(value)
}
