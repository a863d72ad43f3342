//! Anderson acceleration (type II) of a fixed-point iteration x -> g(x).
//!
//! ```text
//! f_k = g(x_k) - x_k;   columns df_j = f_(j+1) - f_j,  dg_j = g_(j+1) - g_j  of the last m steps
//! gamma = argmin | D (f_k - sum gamma_j df_j) |
//! x_(k+1) = g_k - sum gamma_j dg_j
//! ```
//!
//! x holds impulses and the velocities that follow from them. These are affine in the impulses, so the
//! same combination of both stays consistent. D scales each impulse by its own diagonal of W, to m/s;
//! velocities take no part in the minimum. The normal equations are kept as a Gram matrix, of which one
//! row changes a step, and solved with unit diagonal and the shift 1e-12.
//!
//! Walker and Ni, "Anderson acceleration for fixed-point iterations", SIAM J. Numer. Anal. 49 (2011).

use crate::settings::LARGEST_WINDOW;

/// Memory of the last steps.
#[derive(Clone, Default)]
pub(crate) struct Anderson {
    window: usize,
    /// Length of f and of g.
    lengths: (usize, usize),
    /// D, one a component of f.
    pub(crate) weights: Vec<f64>,
    df: Vec<f64>,
    dg: Vec<f64>,
    gram: Vec<f64>,
    f: Vec<f64>,
    g: Vec<f64>,
    /// Whether `f` and `g` hold a step.
    started: bool,
    columns: usize,
    next: usize,
}

impl Anderson {
    /// Forgets all steps and sets the sizes; [`Self::weights`] comes out empty.
    pub(crate) fn prepare(&mut self, window: usize, residuals: usize, state: usize) {
        self.window = window;
        self.lengths = (residuals, state);
        self.weights.clear();
        self.df.resize(window * residuals, 0.0);
        self.dg.resize(window * state, 0.0);
        self.gram.resize(window * window, 0.0);
        self.f.resize(residuals, 0.0);
        self.g.resize(state, 0.0);
        self.forget();
    }

    /// Forgets all steps.
    pub(crate) fn forget(&mut self) {
        (self.started, self.columns, self.next) = (false, 0, 0);
    }

    /// Takes note of the step from `x` to `g`.
    pub(crate) fn record(&mut self, x: &[f64], g: &[f64]) {
        let (m, (nf, ng)) = (self.window, self.lengths);
        if !self.started {
            for i in 0..nf {
                self.f[i] = (g[i] - x[i]) * self.weights[i];
            }
            self.g.copy_from_slice(g);
            self.started = true;
            return;
        }
        let slot = self.next;
        let df = &mut self.df[slot * nf..(slot + 1) * nf];
        for i in 0..nf {
            let f = (g[i] - x[i]) * self.weights[i];
            df[i] = f - self.f[i];
            self.f[i] = f;
        }
        let dg = &mut self.dg[slot * ng..(slot + 1) * ng];
        for i in 0..ng {
            dg[i] = g[i] - self.g[i];
        }
        self.g.copy_from_slice(g);
        self.next = (slot + 1) % m;
        self.columns = (self.columns + 1).min(m);
        for j in 0..self.columns {
            let product = dot(self.column(slot), self.column(j));
            self.gram[slot * m + j] = product;
            self.gram[j * m + slot] = product;
        }
    }

    /// Writes the combined state to `x`; false, and `x` as it was, where there is nothing to combine
    /// yet.
    pub(crate) fn combine(&self, x: &mut [f64]) -> bool {
        if self.columns == 0 {
            return false;
        }
        let mut gamma = [0.0; LARGEST_WINDOW];
        for j in 0..self.columns {
            gamma[j] = dot(self.column(j), &self.f);
        }
        self.solve(&mut gamma);
        x.copy_from_slice(&self.g);
        let ng = self.lengths.1;
        for (j, gamma) in gamma[..self.columns].iter().enumerate() {
            let dg = &self.dg[j * ng..(j + 1) * ng];
            for (x, d) in x.iter_mut().zip(dg) {
                *x -= gamma * d;
            }
        }
        true
    }

    fn column(&self, j: usize) -> &[f64] {
        let n = self.lengths.0;
        &self.df[j * n..(j + 1) * n]
    }

    /// Solves the normal equations in place by Cholesky's method.
    fn solve(&self, b: &mut [f64; LARGEST_WINDOW]) {
        let (m, n) = (self.window, self.columns);
        let mut scale = [0.0; LARGEST_WINDOW];
        for j in 0..n {
            let square = self.gram[j * m + j];
            // A column without length takes no part.
            scale[j] = if square > 0.0 {
                1.0 / square.sqrt()
            } else {
                0.0
            };
            b[j] *= scale[j];
        }
        let mut l = [[0.0; LARGEST_WINDOW]; LARGEST_WINDOW];
        for i in 0..n {
            for j in 0..=i {
                let mut sum = self.gram[i * m + j] * scale[i] * scale[j];
                for k in 0..j {
                    sum -= l[i][k] * l[j][k];
                }
                l[i][j] = if i == j {
                    (sum.max(0.0) + SHIFT).sqrt()
                } else {
                    sum / l[j][j]
                };
            }
        }
        for i in 0..n {
            for k in 0..i {
                b[i] -= l[i][k] * b[k];
            }
            b[i] /= l[i][i];
        }
        for i in (0..n).rev() {
            for k in i + 1..n {
                b[i] -= l[k][i] * b[k];
            }
            b[i] /= l[i][i];
        }
        for j in 0..n {
            b[j] *= scale[j];
        }
    }
}

/// Added to the unit diagonal of the normal equations.
const SHIFT: f64 = 1e-12;

/// In four independent sums, so that it does not wait for one addition after the other.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a4, b4) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest = a4.remainder().iter().zip(b4.remainder());
    let rest = rest.fold(0.0, |sum, (x, y)| sum + x * y);
    for (x, y) in a4.zip(b4) {
        for k in 0..4 {
            sums[k] += x[k] * y[k];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}
