//! Interior points: the way through islands of hundreds of contacts that slide, stick and part all at once.
//!
//! With the friction cone made Lorentz's (`lorentz.rs`), T = diag(mu, 1, 1), Coulomb's law is
//!
//! ```text
//! x = T l,   y = (s_n/mu + |s_t|, s_t):     x in L,   y in L,   x·y = 0
//! ```
//!
//! (without friction x = l_n and y = s_n). Its central path is x∘y = r t² e at each contact, r = 3/trace(T^-1 W
//! T^-1): a speed t > 0 holds all impulses and gaps open, and goes to zero. Newton's steps along it, with
//! Nesterov's and Todd's scaling W of (x, y), lambda = W y, and Mehrotra's predictor and corrector:
//!
//! ```text
//! dy = E (T^-1 ds) + p,   W^-1 dx + W dy = c,   ds = J dv,   M dv = J' T^-1 dx
//! (M + J' K J) dv = J' T^-1 (W c - W² p),       K = T^-1 W² E T^-1
//! ```
//!
//! p = what y is off by, E = I + (0, y_t/|y_t|) in its first row, c = lambda \ (sigma r t² e - lambda∘lambda -
//! (W^-1 dx)∘(W dy) of the predictor). y is an unknown of its own, so that a step need only stay inside of the
//! cones: no contact that changes sides can hold up all the others, as it does in a search along |F|.
//!
//! The law is not monotone, and its path can turn back: then steps shorten to nothing, and the stage ends with the
//! best answer on the way. Elsewhere the path ends at 1e-6 m/s or so, where contacts that hardly push or hardly slide are no longer told apart; the
//! primal-dual method goes on from there.
//!
//! Mehrotra, "On the implementation of a primal-dual interior point method", SIAM J. Optim. 2 (1992). Kleinert,
//! Simeon and Obermayr, "An inexact interior point method for the large-scale simulation of granular material",
//! Comput. Methods Appl. Mech. Eng. 278 (2014).

use crate::cascade::{Best, Budget};
use crate::form::{BodyForm, Contact, Dual, Six};
use crate::lorentz::{Scaling, central, det, divide, longest, margin, product};
use crate::maps::{Three, apply, multiply};
use crate::system::{System, Weights, contact_rate};
use moreau_math::{Vec3, vec3};

/// t at the start, as a part of the mean speed that impulses are up against.
const START: f64 = 1.0;
/// The part of the way to the surface of a cone that a step goes.
const INSIDE: f64 = 0.95;
/// Bounds of sigma.
const LEAST_SIGMA: f64 = 1e-6;
const MOST_SIGMA: f64 = 0.8;
/// Steps shorter than this, one after the other, that end the stage.
const HELD_UP: f64 = 0.05;
const PATIENCE: u32 = 6;
/// Below this, contacts count as frictionless.
const SMOOTH: f64 = 1e-6;
/// What a row without bounds yields, as a part of its diagonal.
const ROW_SOFTNESS: f64 = 1e-9;
/// t (m/s) below which rounding decides.
const LEAST_SPEED: f64 = 1e-12;

/// One contact on its way.
#[derive(Clone, Copy, Debug)]
struct Point {
    x: Vec3,
    y: Vec3,
    r: f64,
    /// The diagonal of T^-1, with zeros for the tangents of a frictionless contact.
    unscale: Vec3,
    /// W y.
    lambda: Vec3,
    scaling: Scaling,
    slope: Three,
    /// p, with the slope.
    off: Vec3,
    /// c.
    target: Vec3,
    dx: Vec3,
    dy: Vec3,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Interior {
    weights: Weights,
    points: Vec<Point>,
    l: Dual,
    step: Dual,
    projected: Dual,
    v: Vec<Six>,
    projected_v: Vec<Six>,
    force: Vec<Six>,
    dv: Vec<Six>,
}

impl Interior {
    /// Improves `best` until its residual is within the tolerance, the budget of factorisations is used up, or
    /// the path ends. Rows with bounds are not its business: with one of them nothing is done.
    pub(crate) fn run(
        &mut self,
        form: &BodyForm,
        system: &mut System,
        best: &mut Best,
        budget: &Budget,
    ) {
        let start = system.factorizations;
        if !self.begin(form, best) {
            return;
        }
        let mut held_up = 0;
        while best.residual > budget.tolerance && !budget.is_used_up(system, start) {
            form.velocities(&self.l, &mut self.v);
            let square = self.look(form);
            if square.sqrt() < LEAST_SPEED || !system.factor(form, &self.weights) {
                return;
            }
            for p in &mut self.points {
                p.target = -p.lambda;
            }
            if !self.direction(form, system) {
                return;
            }
            let predicted = self.mean_square(self.longest().min(1.0));
            let ratio = (predicted / square).clamp(0.0, 1.0);
            let sigma = (ratio * ratio * ratio).clamp(LEAST_SIGMA, MOST_SIGMA);
            for p in &mut self.points {
                let second = product(apply(&p.scaling.inverse, p.dx), apply(&p.scaling.w, p.dy));
                let aim = vec3(sigma * square * p.r, 0.0, 0.0);
                p.target = divide(p.lambda, aim - product(p.lambda, p.lambda) - second);
            }
            if !self.direction(form, system) {
                return;
            }
            let length = (INSIDE * self.longest()).min(1.0);
            // Impulses that grow without bounds, where nothing solves the problem, round its residual away.
            let most = budget.tolerance / f64::EPSILON;
            if !self.advance(length, most) {
                return;
            }
            self.projected.clone_from(&self.l);
            form.project(&mut self.projected);
            form.velocities(&self.projected, &mut self.projected_v);
            best.offer(form, &self.projected, &self.projected_v);
            held_up = if length < HELD_UP { held_up + 1 } else { 0 };
            if held_up >= PATIENCE {
                return;
            }
        }
    }

    /// The point of the path that is as near to the best answer as t allows; false where there is none.
    fn begin(&mut self, form: &BodyForm, best: &Best) -> bool {
        let bounded = |r: &crate::form::Row| {
            r.lower.is_finite() || r.upper.is_finite() || !(r.diagonal > 0.0)
        };
        if form.contacts.is_empty() || form.rows.iter().any(bounded) {
            return false;
        }
        self.l.clone_from(&best.impulses);
        form.velocities(&self.l, &mut self.v);
        let squares = form.contacts.iter();
        let squares = squares.map(|c| c.velocity(&form.free).length_squared());
        let sum = squares.fold(0.0, |sum, x| sum + x);
        let t = START * (sum / form.contacts.len() as f64).sqrt();
        self.points.clear();
        for (c, l) in form.contacts.iter().zip(&mut self.l.contacts) {
            let (unscale, r) = scales(c);
            if !(r.is_finite() && r * t > 0.0) {
                return false;
            }
            let s = c.velocity(&self.v) * unscale;
            let y = vec3(s.x + (s.y * s.y + s.z * s.z).sqrt(), s.y, s.z);
            let x = vec3(l.x / unscale.x, l.y * unscale.y, l.z * unscale.z);
            let z = x - y * r;
            let (x, y) = (central(z, r * t), central(-z, r * t) / r);
            *l = x * unscale;
            self.points.push(Point {
                x,
                y,
                r,
                unscale,
                lambda: Vec3::ZERO,
                scaling: Scaling::default(),
                slope: [[0.0; 3]; 3],
                off: Vec3::ZERO,
                target: Vec3::ZERO,
                dx: Vec3::ZERO,
                dy: Vec3::ZERO,
            });
        }
        true
    }

    /// Scaling, slope and p of each contact, and the weights of the system; returns the mean of t², (m/s)².
    fn look(&mut self, form: &BodyForm) -> f64 {
        self.weights.contacts.clear();
        self.weights.rows.clear();
        for (p, c) in self.points.iter_mut().zip(&form.contacts) {
            let (s, y) = (c.velocity(&self.v) * p.unscale, p.y);
            let slip = (y.y * y.y + y.z * y.z).sqrt();
            let error = vec3(s.x + slip - y.x, s.y - y.y, s.z - y.z);
            let (d1, d2) = if slip > 0.0 {
                (y.y / slip, y.z / slip)
            } else {
                (0.0, 0.0)
            };
            p.slope = [[1.0, d1, d2], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
            p.off = apply(&p.slope, error);
            p.scaling.set(p.x, y);
            p.lambda = apply(&p.scaling.w, y);
            let mut k = multiply(&p.scaling.square, &p.slope);
            for (row, a) in k.iter_mut().zip(p.unscale.to_array()) {
                for (x, b) in row.iter_mut().zip(p.unscale.to_array()) {
                    *x *= a * b;
                }
            }
            self.weights.contacts.push(k);
        }
        let rows = form.rows.iter();
        let soft = rows.map(|r| 1.0 / (r.regularization + ROW_SOFTNESS * r.diagonal));
        self.weights.rows.extend(soft);
        self.mean_square(0.0)
    }

    /// The mean of t² after a step of the given length, (m/s)².
    fn mean_square(&self, length: f64) -> f64 {
        let squares = self.points.iter();
        let squares = squares.map(|p| (p.x + p.dx * length).dot(p.y + p.dy * length) / p.r);
        squares.fold(0.0, |sum, x| sum + x) / self.points.len() as f64
    }

    /// The longest step for which all stay in their cones.
    fn longest(&self) -> f64 {
        self.points.iter().fold(f64::INFINITY, |most, p| {
            most.min(longest(p.x, p.dx)).min(longest(p.y, p.dy))
        })
    }

    /// dx and dy of all contacts and the step of the rows, for the targets; false where there is none.
    fn direction(&mut self, form: &BodyForm, system: &mut System) -> bool {
        self.step.contacts.clear();
        self.step.contacts.extend(self.points.iter().map(|p| {
            (apply(&p.scaling.w, p.target) - apply(&p.scaling.square, p.off)) * p.unscale
        }));
        self.step.rows.clear();
        let rows = form.rows.iter().zip(&self.l.rows).zip(&self.weights.rows);
        self.step.rows.extend(rows.map(|((r, l), k)| {
            let w = r.velocity(&self.v) + r.bias + r.regularization * l;
            -w * k
        }));
        self.force.clear();
        self.force.resize(form.bodies(), [0.0; 6]);
        form.add_jacobian(&self.step, 1.0, &mut self.force);
        if !system.solve(form, &self.weights, &self.force, &mut self.dv) {
            return false;
        }
        let mut finite = true;
        for (p, c) in self.points.iter_mut().zip(&form.contacts) {
            let ds = contact_rate(c, &self.dv) * p.unscale;
            p.dy = apply(&p.slope, ds) + p.off;
            p.dx = apply(&p.scaling.w, p.target) - apply(&p.scaling.square, p.dy);
            finite &= p.dx.is_finite() && p.dy.is_finite();
        }
        for (i, r) in form.rows.iter().enumerate() {
            self.step.rows[i] -= self.weights.rows[i] * r.velocity(&self.dv);
        }
        finite
    }

    /// Takes the step; false where rounding put a contact out of its cone, or where an impulse is worth more than
    /// the speed `most`, m/s.
    fn advance(&mut self, length: f64, most: f64) -> bool {
        let mut inside = true;
        for (p, l) in self.points.iter_mut().zip(&mut self.l.contacts) {
            p.x += p.dx * length;
            p.y += p.dy * length;
            *l = p.x * p.unscale;
            inside &= p.x.x <= most * p.r;
            inside &= margin(p.x) > 0.0 && margin(p.y) > 0.0 && det(p.x) * det(p.y) > 0.0;
        }
        for (l, d) in self.l.rows.iter_mut().zip(&self.step.rows) {
            *l += d * length;
        }
        inside
    }
}

/// The diagonal of T^-1 and r of a contact.
fn scales(c: &Contact) -> (Vec3, f64) {
    let w = &c.w;
    if c.mu < SMOOTH {
        return (Vec3::X, 1.0 / w.x_axis.x);
    }
    let unscale = vec3(1.0 / c.mu, 1.0, 1.0);
    let trace = w.x_axis.x * unscale.x * unscale.x + w.y_axis.y + w.z_axis.z;
    (unscale, 3.0 / trace)
}
