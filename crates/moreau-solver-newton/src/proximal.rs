//! One proximal step in contact space, by primal-dual semismooth Newton.
//!
//! ```text
//! u = W r + q + alpha (r - center),   F = r - p(r - rho u),   rho_c = 3/trace(W_cc + alpha I)
//! (I - G + delta I + rho G (W + alpha I)) dr = -F
//! ```
//!
//! p is the map of Alart and Curnier, G its Jacobian, W any matrix of 3x3 blocks. alpha > 0 makes
//! the problem regular where contacts are redundant; whoever moves the center to the answer, again
//! and again, gets the answer without alpha. delta goes to zero as steps succeed. Backtracking on
//! |F/rho| over the last four values. A step of iterative refinement follows each solve.

use crate::block::transposed;
use crate::block_lu::BlockLu;
use crate::maps::{IDENTITY, Three, ZERO, alart_curnier, apply, multiply, scaled};
use crate::ordering::Symbolic;
use moreau_math::Vec3;
use moreau_solver::DelassusProblem;

const DELTA_LEAST: f64 = 1e-9;
const DELTA_MOST: f64 = 1e-1;
const BACKTRACKS: u32 = 12;
const FAILURES: u32 = 3;

/// The proximal problem.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step<'a> {
    pub(crate) problem: &'a DelassusProblem,
    /// Of W's diagonal blocks, all positive.
    pub(crate) traces: &'a [f64],
    pub(crate) center: &'a [Vec3],
    /// 1/kg.
    pub(crate) alpha: f64,
}

impl Step<'_> {
    fn rho(&self, contact: usize) -> f64 {
        3.0 / (self.traces[contact] + 3.0 * self.alpha)
    }
}

/// Memory of the Newton method.
#[derive(Clone, Debug, Default)]
pub(crate) struct Proximal {
    edges: Vec<(u32, u32)>,
    nodes: usize,
    symbolic: Symbolic,
    lu: BlockLu<3>,
    u: Vec<Vec3>,
    f: Vec<Vec3>,
    jacobians: Vec<Three>,
    direction: Vec<[f64; 3]>,
    rest: Vec<[f64; 3]>,
    d: Vec<Vec3>,
    /// W d.
    rate: Vec<Vec3>,
    history: Vec<f64>,
    /// Factorisations since this was made.
    pub(crate) factorizations: u32,
}

impl Proximal {
    /// Analyses the pattern of W, unless it is that of the last problem.
    pub(crate) fn analyse(&mut self, problem: &DelassusProblem) {
        let mut edges = std::mem::take(&mut self.edges);
        let (known, mut same) = (edges.len(), self.nodes == problem.contacts());
        let mut at = 0;
        for i in 0..problem.contacts() {
            for (j, _) in problem.row(i).filter(|(j, _)| *j != i) {
                let edge = (i as u32, j as u32);
                same &= edges.get(at) == Some(&edge);
                if !same {
                    edges.truncate(at);
                    edges.push(edge);
                }
                at += 1;
            }
        }
        edges.truncate(at);
        if !same || known != at {
            self.nodes = problem.contacts();
            self.symbolic = Symbolic::new(self.nodes, edges.iter().copied());
        }
        self.edges = edges;
    }

    /// Multiply-adds of one factorisation.
    pub(crate) fn multiply_adds(&self) -> u64 {
        self.symbolic.work() * 27
    }

    /// Moves `r` towards the answer until |F/rho| (m/s) is at most `target`; false where that was not
    /// reached in `most` factorisations, or steps did not help.
    pub(crate) fn solve(
        &mut self,
        step: &Step<'_>,
        r: &mut [Vec3],
        (target, most): (f64, u32),
        mut delta: f64,
    ) -> bool {
        step.problem.velocities_into(r, &mut self.u);
        let mut value = self.evaluate(step, r);
        self.history.clear();
        self.history.push(value);
        let (last, mut failures) = (self.factorizations.saturating_add(most), 0);
        while value > target {
            if self.factorizations >= last || failures >= FAILURES || self.slow() {
                return false;
            }
            let merit = self.history.iter().rev().take(4);
            let merit = merit.fold(0.0_f64, |m, x| m.max(*x));
            let found = self
                .direction(step, delta)
                .then(|| self.search(step, r, merit));
            if let Some(Some(t)) = found {
                for (r, d) in r.iter_mut().zip(&self.d) {
                    *r += *d * t;
                }
                step.problem.velocities_into(r, &mut self.u);
                value = self.evaluate(step, r);
                self.history.push(value);
                let factor = match t {
                    1.0 => 0.1,
                    t if t > 0.1 => 1.0,
                    _ => 5.0,
                };
                delta = (delta * factor).clamp(DELTA_LEAST, DELTA_MOST);
            } else {
                self.evaluate(step, r);
                delta = (delta * 30.0).min(DELTA_MOST);
                failures += 1;
            }
        }
        value <= target
    }

    /// Whether the last ten steps did little.
    fn slow(&self) -> bool {
        let n = self.history.len();
        n > 12 && self.history[n - 1] > 0.7 * self.history[n - 10]
    }

    /// F and G at r; returns |F/rho|.
    fn evaluate(&mut self, step: &Step<'_>, r: &[Vec3]) -> f64 {
        self.f.clear();
        self.jacobians.clear();
        let mut sum = 0.0;
        for (i, (r, u)) in r.iter().zip(&self.u).enumerate() {
            let rho = step.rho(i);
            let u = *u + (*r - step.center[i]) * step.alpha;
            let (p, g) = alart_curnier(*r - u * rho, step.problem.friction()[i]);
            sum += ((*r - p) / rho).length_squared();
            self.f.push(*r - p);
            self.jacobians.push(g);
        }
        sum.sqrt()
    }

    /// |F/rho| at r + t d.
    fn value_at(&self, step: &Step<'_>, r: &[Vec3], t: f64) -> f64 {
        let mut sum = 0.0;
        for (i, r) in r.iter().enumerate() {
            let rho = step.rho(i);
            let r = *r + self.d[i] * t;
            let u = self.u[i] + self.rate[i] * t + (r - step.center[i]) * step.alpha;
            let (p, _) = alart_curnier(r - u * rho, step.problem.friction()[i]);
            sum += ((r - p) / rho).length_squared();
        }
        sum.sqrt()
    }

    /// Backtracks from the full step; its length, or `None`.
    fn search(&self, step: &Step<'_>, r: &[Vec3], merit: f64) -> Option<f64> {
        let mut t = 1.0;
        for _ in 0..BACKTRACKS {
            if self.value_at(step, r, t) <= (1.0 - 1e-3 * t) * merit {
                return Some(t);
            }
            t *= 0.5;
        }
        None
    }

    /// d and W d; false where the system is singular.
    fn direction(&mut self, step: &Step<'_>, delta: f64) -> bool {
        self.factorizations += 1;
        self.assemble(step, delta);
        if !self.lu.factor(&self.symbolic) {
            return false;
        }
        self.direction.clear();
        self.direction
            .extend(self.f.iter().map(|f| (-*f).to_array()));
        self.lu.solve(&self.symbolic, &mut self.direction);
        self.d.clear();
        self.d.extend(self.direction.iter().map(|d| Vec3::from(*d)));
        self.rates(step);
        // Refinement: what the first answer leaves of the right-hand side.
        self.rest.clear();
        for (i, g) in self.jacobians.iter().enumerate() {
            let (d, rho) = (self.d[i], step.rho(i));
            let pull = (self.rate[i] + d * step.alpha) * rho - d;
            let left = d * (1.0 + delta) + apply(g, pull);
            self.rest.push((-self.f[i] - left).to_array());
        }
        self.lu.solve(&self.symbolic, &mut self.rest);
        for (d, rest) in self.d.iter_mut().zip(&self.rest) {
            *d += Vec3::from(*rest);
        }
        self.rates(step);
        self.d.iter().all(|d| d.is_finite())
    }

    fn rates(&mut self, step: &Step<'_>) {
        self.rate.clear();
        for i in 0..self.d.len() {
            let row = step.problem.row(i);
            let rate = row.fold(Vec3::ZERO, |rate, (j, w)| rate + *w * self.d[j]);
            self.rate.push(rate);
        }
    }

    fn assemble(&mut self, step: &Step<'_>, delta: f64) {
        self.lu.reset(&self.symbolic);
        for (i, g) in self.jacobians.iter().enumerate() {
            let scaled_g = scaled(g, step.rho(i));
            for (j, w) in step.problem.row(i) {
                if i == j {
                    let mut block = multiply(&scaled_g, &w.transpose().to_cols_array_2d());
                    for a in 0..3 {
                        for b in 0..3 {
                            block[a][b] += IDENTITY[a][b] * (1.0 + delta) - g[a][b]
                                + scaled_g[a][b] * step.alpha;
                        }
                    }
                    *self.lu.entry(&self.symbolic, i as u32, i as u32) = transposed(&block);
                } else if *g != ZERO {
                    let block = multiply(&scaled_g, &w.transpose().to_cols_array_2d());
                    *self.lu.entry(&self.symbolic, i as u32, j as u32) = transposed(&block);
                }
            }
        }
    }
}
