//! Krylov solves of the Newton systems of islands too large for a factorisation.
//!
//! ```text
//! H x = r,   preconditioner P = L U of H without fill,   lengths |r|² = r' M^-1 r
//! H symmetric:  conjugate gradients on P^-1 H
//! else:         GMRES on H P^-1 y = r, x = P^-1 y, restarted every 60 steps
//! ```
//!
//! The incomplete factors of a symmetric H need not be positive definite; where conjugate gradients
//! meet a direction without curvature, GMRES goes on from where they got to. M^-1 makes lengths of
//! momentum, linear and angular, comparable: |M^-1 r| in M is a velocity weighted by mass.
//!
//! Sums run in a fixed order: the same bits on any number of threads.
//!
//! Saad, "Iterative methods for sparse linear systems", 2nd ed. (2003), algorithms 9.1, 9.5 and 10.4.

use crate::block_lu::{BlockLu, Entries};
use crate::form::{BodyForm, Six, add_scaled, dot};
use crate::ordering::Symbolic;

/// Steps between two restarts of GMRES.
const RESTART: usize = 60;

/// A matrix and its incomplete factors.
pub(crate) struct Preconditioned<'a> {
    pub(crate) form: &'a BodyForm,
    pub(crate) symbolic: &'a Symbolic,
    pub(crate) matrix: &'a Entries<6>,
    pub(crate) factors: &'a BlockLu<6>,
    pub(crate) symmetric: bool,
}

/// When a solve ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    /// Part of |r| that may be left.
    pub(crate) reduction: f64,
    /// Products with H.
    pub(crate) iterations: u32,
}

/// Memory of the solves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Krylov {
    /// Products with H since this was made.
    pub(crate) iterations: u64,
    rest: Vec<Six>,
    z: Vec<Six>,
    direction: Vec<Six>,
    product: Vec<Six>,
    basis: Vec<Vec<Six>>,
    hessenberg: Vec<[f64; RESTART + 1]>,
}

/// a' M^-1 b, each body with its own inverse mass and inertia.
fn inner(form: &BodyForm, a: &[Six], b: &[Six]) -> f64 {
    let mut sum = 0.0;
    for (body, (a, b)) in a.iter().zip(b).enumerate() {
        sum += dot(a, &form.momentum_to_velocity(body, b));
    }
    sum
}

fn euclidean(a: &[Six], b: &[Six]) -> f64 {
    a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + dot(a, b))
}

fn add(to: &mut [Six], x: &[Six], scale: f64) {
    for (to, x) in to.iter_mut().zip(x) {
        add_scaled(to, x, scale);
    }
}

impl Krylov {
    /// Solves H x = r from x = 0. Returns |r - H x|/|r| as the recurrences have it; 0 for r = 0.
    pub(crate) fn solve(
        &mut self,
        system: &Preconditioned<'_>,
        r: &[Six],
        end: &End,
        x: &mut Vec<Six>,
    ) -> f64 {
        x.clear();
        x.resize(r.len(), [0.0; 6]);
        self.rest.clear();
        self.rest.extend_from_slice(r);
        let whole = system.form.momentum_length(r);
        if !(whole > 0.0) {
            return whole;
        }
        let target = end.reduction * whole;
        let mut left = end.iterations;
        let mut reached = whole;
        if system.symmetric {
            reached = self.conjugate_gradients(system, target, &mut left, x);
        }
        while reached > target && left > 0 {
            let before = reached;
            reached = self.gmres_cycle(system, target, &mut left, x);
            // Rounding, or a preconditioner that is of no use.
            if !(reached < 0.9 * before) {
                break;
            }
        }
        reached / whole
    }

    /// Ends at the target, at the budget, or where a direction has no curvature.
    fn conjugate_gradients(
        &mut self,
        system: &Preconditioned<'_>,
        target: f64,
        left: &mut u32,
        x: &mut [Six],
    ) -> f64 {
        self.z.clone_from(&self.rest);
        system.factors.solve(system.symbolic, &mut self.z);
        self.direction.clone_from(&self.z);
        let mut rz = euclidean(&self.rest, &self.z);
        let mut reached = system.form.momentum_length(&self.rest);
        while reached > target && *left > 0 && rz > 0.0 && rz.is_finite() {
            *left -= 1;
            self.iterations += 1;
            system
                .matrix
                .multiply(system.symbolic, &self.direction, &mut self.product);
            let curvature = euclidean(&self.direction, &self.product);
            if !(curvature > 0.0 && curvature.is_finite()) {
                break;
            }
            let step = rz / curvature;
            add(x, &self.direction, step);
            add(&mut self.rest, &self.product, -step);
            reached = system.form.momentum_length(&self.rest);
            self.z.clone_from(&self.rest);
            system.factors.solve(system.symbolic, &mut self.z);
            let next = euclidean(&self.rest, &self.z);
            let factor = next / rz;
            rz = next;
            for (d, z) in self.direction.iter_mut().zip(&self.z) {
                for i in 0..6 {
                    d[i] = z[i] + factor * d[i];
                }
            }
        }
        reached
    }

    /// One cycle of GMRES from (x, rest); returns the length of the new rest, worked out afresh.
    fn gmres_cycle(
        &mut self,
        system: &Preconditioned<'_>,
        target: f64,
        left: &mut u32,
        x: &mut [Six],
    ) -> f64 {
        let form = system.form;
        let start = form.momentum_length(&self.rest);
        if !(start > target && start.is_finite()) {
            return start;
        }
        let nodes = self.rest.len();
        self.basis
            .resize_with(RESTART + 1, || Vec::with_capacity(nodes));
        self.hessenberg.clear();
        let mut rotations: Vec<(f64, f64)> = Vec::with_capacity(RESTART);
        let mut g = [0.0; RESTART + 1];
        g[0] = start;
        self.basis[0].clone_from(&self.rest);
        scale(&mut self.basis[0], 1.0 / start);
        while self.hessenberg.len() < RESTART && *left > 0 {
            *left -= 1;
            self.iterations += 1;
            let k = self.hessenberg.len();
            self.z.clone_from(&self.basis[k]);
            system.factors.solve(system.symbolic, &mut self.z);
            system
                .matrix
                .multiply(system.symbolic, &self.z, &mut self.product);
            let mut column = [0.0; RESTART + 1];
            // Twice is enough: once is not where the basis is nearly dependent.
            for _ in 0..2 {
                for (h, basis) in column.iter_mut().zip(&self.basis[..=k]) {
                    let part = inner(form, basis, &self.product);
                    *h += part;
                    add(&mut self.product, basis, -part);
                }
            }
            let rest = form.momentum_length(&self.product);
            if !rest.is_finite() {
                break;
            }
            column[k + 1] = rest;
            for (i, (c, s)) in rotations.iter().enumerate() {
                let (a, b) = (column[i], column[i + 1]);
                (column[i], column[i + 1]) = (c * a + s * b, c * b - s * a);
            }
            let radius = (column[k] * column[k] + rest * rest).sqrt();
            if !(radius > 0.0) {
                break;
            }
            let (c, s) = (column[k] / radius, rest / radius);
            rotations.push((c, s));
            (column[k], column[k + 1]) = (radius, 0.0);
            (g[k], g[k + 1]) = (c * g[k], -s * g[k]);
            self.hessenberg.push(column);
            if g[k + 1].abs() <= target || rest <= f64::EPSILON * radius {
                break;
            }
            self.basis[k + 1].clone_from(&self.product);
            scale(&mut self.basis[k + 1], 1.0 / rest);
        }
        self.take_cycle(system, &g, x);
        form.momentum_length(&self.rest)
    }

    /// x += P^-1 (basis y) with the triangular R y = g; the rest follows.
    fn take_cycle(&mut self, system: &Preconditioned<'_>, g: &[f64; RESTART + 1], x: &mut [Six]) {
        let steps = self.hessenberg.len();
        let mut y = [0.0; RESTART];
        for i in (0..steps).rev() {
            let mut sum = g[i];
            for j in i + 1..steps {
                sum -= self.hessenberg[j][i] * y[j];
            }
            y[i] = sum / self.hessenberg[i][i];
        }
        self.z.clear();
        self.z.resize(self.rest.len(), [0.0; 6]);
        for (basis, y) in self.basis.iter().zip(&y[..steps]) {
            add(&mut self.z, basis, *y);
        }
        system.factors.solve(system.symbolic, &mut self.z);
        add(x, &self.z, 1.0);
        system
            .matrix
            .multiply(system.symbolic, &self.z, &mut self.product);
        add(&mut self.rest, &self.product, -1.0);
    }
}

fn scale(x: &mut [Six], factor: f64) {
    for x in x.iter_mut().flatten() {
        *x *= factor;
    }
}
