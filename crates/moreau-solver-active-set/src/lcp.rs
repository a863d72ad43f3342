//! Linear complementarity problems, solved or refuted.
//!
//! ```text
//! w = M z + q,    0 <= z _|_ w >= 0
//! ```
//!
//! 1. Rows and columns are scaled by powers of two (R M C, R q; z = C z'), which keeps the problem.
//! 2. Lemke's method, from a few covering vectors.
//! 3. A set of positive z is solved for afresh and refined, and the result checked against M and q.
//! 4. Where that failed: no z >= 0 with M z + q >= 0 at all is proven by Farkas' lemma; else, up to
//!    [`ENUMERATION_LIMIT`] rows, all 2^n complementary cones are looked at.
//!
//! What is claimed is what was checked: solutions by their residual, the lack of one by a vector or by
//! completeness. The rest is [`LcpAnswer::Undecided`].

use crate::dense::{Factorization, power_of_two};
use crate::enumerate::enumerate;
use crate::lemke::{End, Run, Tableau};
use crate::simplex::{Feasibility, find_nonnegative, proof};

/// Problems of at most this many rows are decided by enumeration where nothing else decides them.
pub const ENUMERATION_LIMIT: usize = 15;

/// The answer of [`solve_lcp_exact`].
#[derive(Clone, Debug, PartialEq)]
pub enum LcpAnswer {
    /// A z whose residual (see [`lcp_residual`]) is rounding.
    Solution(Vec<f64>),
    /// There is none.
    NoSolution(NoSolution),
    /// Neither was proven.
    Undecided,
}

/// Why there is no solution.
#[derive(Clone, Debug, PartialEq)]
pub enum NoSolution {
    /// No z >= 0 has M z + q >= 0: this y >= 0 has M'y <= 0 and q·y < 0 (both up to rounding).
    Infeasible(Vec<f64>),
    /// Every complementary cone was looked at, and q is in none.
    Enumerated,
}

/// Why a problem was refused.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum LcpError {
    /// The matrix is not square of the size of q.
    #[error("the matrix has {entries} entries, q has {rows}: must be its square")]
    Length {
        /// Of the matrix.
        entries: usize,
        /// Of q.
        rows: usize,
    },
    /// A number is not finite.
    #[error("{what} {index} is {value}, must be finite")]
    NotFinite {
        /// `matrix entry` or `q`.
        what: &'static str,
        /// Index in the row-major matrix, or in q.
        index: usize,
        /// Its value.
        value: f64,
    },
}

/// Solves the problem of the row-major n x n `matrix` and `q`, or proves that it has no solution.
///
/// # Errors
/// Where the lengths do not fit or a number is not finite.
///
/// ```
/// use moreau_solver_active_set::{LcpAnswer, NoSolution, solve_lcp_exact};
/// let answer = solve_lcp_exact(&[2.0, 1.0, 1.0, 2.0], &[-1.0, 1.0])?;
/// assert_eq!(answer, LcpAnswer::Solution(vec![0.5, 0.0]));
/// let answer = solve_lcp_exact(&[-1.0], &[-1.0])?;
/// assert_eq!(answer, LcpAnswer::NoSolution(NoSolution::Infeasible(vec![1.0])));
/// # Ok::<(), moreau_solver_active_set::LcpError>(())
/// ```
pub fn solve_lcp_exact(matrix: &[f64], q: &[f64]) -> Result<LcpAnswer, LcpError> {
    check(matrix, q)?;
    let scaled = Scaled::new(matrix, q);
    let mut work = Work::default();
    if let Some(z) = work.lemke(&scaled) {
        return Ok(LcpAnswer::Solution(scaled.unscale(z)));
    }
    // Lemke's method follows one path; that no path can end well is a matter of its own.
    if let Some(y) = work.refute(&scaled) {
        let y = y.iter().zip(&scaled.rows).map(|(y, r)| y * r).collect();
        return Ok(LcpAnswer::NoSolution(NoSolution::Infeasible(normal(y))));
    }
    if q.len() > ENUMERATION_LIMIT {
        return Ok(LcpAnswer::Undecided);
    }
    Ok(match enumerate(&scaled.matrix, &scaled.q) {
        LcpAnswer::Solution(z) => LcpAnswer::Solution(scaled.unscale(z)),
        other => other,
    })
}

/// max_i |min(z_i, w_i)| in units that do not depend on how large z is: w_i over
/// |q_i| + sum |M_ij| |z_j|, z_i over max(1, |z|). 0 for a solution, 1e-15 or so for one in f64,
/// infinite where something is not finite.
pub fn lcp_residual(matrix: &[f64], q: &[f64], z: &[f64]) -> f64 {
    let n = q.len();
    let largest = z.iter().fold(1.0_f64, |m, z| m.max(z.abs()));
    let mut worst = 0.0_f64;
    for i in 0..n {
        let (mut w, mut size) = (q[i], q[i].abs());
        for (m, z) in matrix[i * n..(i + 1) * n].iter().zip(z) {
            w += m * z;
            size += (m * z).abs();
        }
        let w = if size > 0.0 { w / size } else { 0.0 };
        let error = (z[i] / largest).min(w).abs();
        if error.is_nan() {
            return f64::INFINITY;
        }
        worst = worst.max(error);
    }
    worst
}

/// The largest residual of what is called a solution.
pub(crate) const ACCEPTED: f64 = 1e-12;

fn check(matrix: &[f64], q: &[f64]) -> Result<(), LcpError> {
    let (entries, rows) = (matrix.len(), q.len());
    if entries != rows * rows {
        return Err(LcpError::Length { entries, rows });
    }
    for (what, values) in [("matrix entry", matrix), ("q", q)] {
        if let Some(index) = values.iter().position(|x| !x.is_finite()) {
            let value = values[index];
            return Err(LcpError::NotFinite { what, index, value });
        }
    }
    Ok(())
}

/// Largest entry 1.
fn normal(y: Vec<f64>) -> Vec<f64> {
    let largest = y.iter().fold(0.0_f64, |m, y| m.max(*y));
    y.into_iter().map(|y| y / largest).collect()
}

/// The scaled problem.
struct Scaled {
    matrix: Vec<f64>,
    q: Vec<f64>,
    rows: Vec<f64>,
    /// z = columns z'.
    columns: Vec<f64>,
}

impl Scaled {
    fn new(matrix: &[f64], q: &[f64]) -> Self {
        let n = q.len();
        let (mut rows, mut columns) = (vec![1.0; n], vec![1.0; n]);
        let mut scaled = matrix.to_vec();
        // Each round takes the square root of the rows' and columns' sizes to both sides.
        for _ in 0..4 {
            let mut sizes = vec![(0.0_f64, 0.0_f64); n];
            for i in 0..n {
                for j in 0..n {
                    let entry = scaled[i * n + j].abs();
                    sizes[i].0 = sizes[i].0.max(entry);
                    sizes[j].1 = sizes[j].1.max(entry);
                }
            }
            for i in 0..n {
                rows[i] /= power_of_two(sizes[i].0.sqrt());
                columns[i] /= power_of_two(sizes[i].1.sqrt());
            }
            for i in 0..n {
                for j in 0..n {
                    scaled[i * n + j] = matrix[i * n + j] * rows[i] * columns[j];
                }
            }
        }
        let mut scaled_q: Vec<f64> = q.iter().zip(&rows).map(|(q, r)| q * r).collect();
        let largest = power_of_two(scaled_q.iter().fold(0.0_f64, |m, q| m.max(q.abs())));
        for q in &mut scaled_q {
            *q /= largest;
        }
        for c in &mut columns {
            *c *= largest;
        }
        Self {
            matrix: scaled,
            q: scaled_q,
            rows,
            columns,
        }
    }

    fn unscale(&self, z: Vec<f64>) -> Vec<f64> {
        z.iter().zip(&self.columns).map(|(z, c)| z * c).collect()
    }
}

/// Memory of the parts.
#[derive(Default)]
struct Work {
    tableau: Tableau,
    factorization: Factorization,
    support: Vec<usize>,
    ray: Vec<f64>,
}

impl Work {
    /// A checked solution.
    fn lemke(&mut self, problem: &Scaled) -> Option<Vec<f64>> {
        let n = problem.q.len();
        let budget = if n < 16 { 2000 + (1 << n) } else { 100_000 };
        for attempt in 0..6_u32 {
            let cover = cover(n, attempt / 3);
            let run = Run {
                cover: &cover,
                pivot_tolerance: [1e-11, 1e-9, 1e-13][(attempt % 3) as usize],
                budget,
            };
            match self.tableau.run(&problem.matrix, &problem.q, run) {
                End::Complementary => {
                    self.tableau.support(&mut self.support);
                    let z = solve_support(
                        (&problem.matrix, &problem.q),
                        &self.support,
                        &mut self.factorization,
                    );
                    if z.is_some() {
                        return z;
                    }
                }
                End::Ray => self.tableau.ray(&mut self.ray),
                End::Budget => {}
            }
        }
        None
    }

    /// A proof that not even z >= 0, M z + q >= 0 is possible: y >= 0, M'y <= 0, q·y < 0.
    fn refute(&mut self, problem: &Scaled) -> Option<Vec<f64>> {
        let n = problem.q.len();
        // M z - s = -q with (z, s) >= 0.
        let width = 2 * n;
        let mut g = vec![0.0; n * width];
        for i in 0..n {
            g[i * width..i * width + n].copy_from_slice(&problem.matrix[i * n..(i + 1) * n]);
            g[i * width + n + i] = -1.0;
        }
        let h: Vec<f64> = problem.q.iter().map(|q| -q).collect();
        // For positive semi-definite M the ray itself is the proof.
        if self.ray.len() == n
            && let Some(y) = proof(&g, &h, &self.ray)
        {
            return Some(y);
        }
        match find_nonnegative(&g, &h) {
            Feasibility::Infeasible(y) => Some(y.into_iter().map(|y| y.max(0.0)).collect()),
            _ => None,
        }
    }
}

/// 1 for the first attempt, else different numbers in 1..2.
fn cover(n: usize, attempt: u32) -> Vec<f64> {
    let place = |i: usize| {
        if attempt == 0 {
            return 1.0;
        }
        let spread = (i + 1) as f64 * 0.618_033_988_749_894_9 * f64::from(attempt);
        1.0 + spread - spread.floor()
    };
    (0..n).map(place).collect()
}

/// z with the given support, M_ss z_s = -q_s, refined twice; where it solves the problem. An entry that
/// comes out negative by what may be rounding leaves the support: the problem is degenerate.
pub(crate) fn solve_support(
    (matrix, q): (&[f64], &[f64]),
    support: &[usize],
    factorization: &mut Factorization,
) -> Option<Vec<f64>> {
    let mut support = support.to_vec();
    loop {
        let z = solve_columns((matrix, q), &support, factorization)?;
        let largest = z.iter().fold(1.0_f64, |m, z| m.max(z.abs()));
        let place = (0..support.len()).min_by(|i, j| z[support[*i]].total_cmp(&z[support[*j]]));
        match place {
            Some(k) if z[support[k]] < 0.0 && z[support[k]] >= -1e-6 * largest => {
                support.remove(k);
            }
            _ => return (lcp_residual(matrix, q, &z) <= ACCEPTED).then_some(z),
        }
    }
}

fn solve_columns(
    (matrix, q): (&[f64], &[f64]),
    support: &[usize],
    factorization: &mut Factorization,
) -> Option<Vec<f64>> {
    let n = q.len();
    let entry = |i: usize, j: usize| matrix[support[i] * n + support[j]];
    if !(factorization.factorize(support.len(), entry) > 0.0) {
        return None;
    }
    let mut z = vec![0.0; n];
    let mut step = vec![0.0; support.len()];
    for _ in 0..3 {
        for (r, i) in step.iter_mut().zip(support) {
            let row = &matrix[i * n..(i + 1) * n];
            *r = -row.iter().zip(&z).fold(q[*i], |w, (m, z)| w + m * z);
        }
        factorization.solve(&mut step);
        for (d, i) in step.iter().zip(support) {
            z[*i] += d;
        }
    }
    Some(z)
}
