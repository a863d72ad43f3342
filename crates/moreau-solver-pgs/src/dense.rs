//! Linear complementarity problems given as a dense matrix.
//!
//! ```text
//! w = M z + q,    0 <= z _|_ w >= 0
//! ```
//!
//! Frictionless contact is the case M = J M_mass^-1 J' (1/kg), z the normal impulses (N s) and w the
//! separating velocities (m/s); nothing here depends on it. The sweep is
//! z_i <- max(0, z_i - omega w_i/M_ii), i rising.
//!
//! It converges for symmetric positive semi-definite M that has a solution, and for strictly
//! diagonally dominant M; for others it may not, and says so.

use crate::PgsSettings;
use moreau_solver::{SolveError, SolveReport, StopReason};

/// Solves the problem of the row-major n x n `matrix` and `q` from the start `z`, which takes the
/// answer.
///
/// The residual is the natural map max_i | z_i - max(0, z_i - w_i/d_i) | d_i with d_i = M_ii, in the
/// units of q (d_i is the largest |M_ij| of the row where the diagonal is not positive);
/// [`SolveReport::worst_contact`] is its row. The best checked iterate is returned.
///
/// # Errors
/// Where the lengths do not fit or a setting is out of range, and [`SolveError::Overflow`] where an
/// input is not finite or too large.
///
/// ```
/// use moreau_solver_pgs::{PgsSettings, dense::solve_lcp};
/// let mut z = [0.0; 2];
/// let report = solve_lcp(&[2.0, 1.0, 1.0, 2.0], &[-1.0, 1.0], &mut z, &PgsSettings::default())?;
/// assert!(report.converged());
/// assert_eq!(z, [0.5, 0.0]);
/// # Ok::<(), moreau_solver::SolveError>(())
/// ```
pub fn solve_lcp(
    matrix: &[f64],
    q: &[f64],
    z: &mut [f64],
    settings: &PgsSettings,
) -> Result<SolveReport, SolveError> {
    settings.validate("lcp")?;
    let n = q.len();
    for (what, count, expected) in [("matrix", matrix.len(), n * n), ("z", z.len(), n)] {
        if count != expected {
            return Err(SolveError::Length {
                what,
                count,
                expected,
            });
        }
    }
    for value in z.iter_mut() {
        *value = if value.is_finite() {
            value.max(0.0)
        } else {
            0.0
        };
    }
    let scales: Vec<f64> = (0..n)
        .map(|i| scale(&matrix[i * n..(i + 1) * n], i))
        .collect();
    let lcp = Lcp {
        matrix,
        q,
        scales: &scales,
    };

    let mut best = z.to_vec();
    let (mut best_residual, mut best_row) = lcp.residual(z);
    let mut sweeps = 0;
    let mut stop = StopReason::Budget;
    let mut still = 0;
    while best_residual > settings.tolerance && sweeps < settings.max_sweeps {
        let moved = lcp.sweep(
            z,
            settings.relaxation,
            settings.alternate && sweeps % 2 == 1,
        );
        sweeps += 1;
        still = if moved { 0 } else { still + 1 };
        if moved && sweeps % settings.check_every != 0 && sweeps != settings.max_sweeps {
            continue;
        }
        let (residual, row) = lcp.residual(z);
        if residual < best_residual {
            (best_residual, best_row) = (residual, row);
            best.copy_from_slice(z);
        }
        if !residual.is_finite() {
            break;
        }
        if still >= 2 {
            stop = StopReason::Stalled;
            break;
        }
    }
    z.copy_from_slice(&best);
    if !best_residual.is_finite() {
        let body = best_row.unwrap_or(0);
        z.fill(0.0);
        return Err(SolveError::Overflow { body });
    }
    if best_residual <= settings.tolerance {
        stop = StopReason::Converged;
    }
    Ok(SolveReport {
        sweeps,
        factorizations: 0,
        stop,
        residual: best_residual,
        worst_contact: best_row,
    })
}

struct Lcp<'a> {
    matrix: &'a [f64],
    q: &'a [f64],
    scales: &'a [f64],
}

/// The positive number that a row is divided by.
fn scale(row: &[f64], diagonal: usize) -> f64 {
    if row[diagonal] > 0.0 {
        return row[diagonal];
    }
    let largest = row.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    if largest > 0.0 { largest } else { 1.0 }
}

impl Lcp<'_> {
    fn w(&self, i: usize, z: &[f64]) -> f64 {
        let n = z.len();
        let row = &self.matrix[i * n..(i + 1) * n];
        row.iter().zip(z).fold(self.q[i], |w, (m, z)| w + m * z)
    }

    /// Whether any entry changed by more than its last digits.
    fn sweep(&self, z: &mut [f64], relaxation: f64, reverse: bool) -> bool {
        let n = z.len();
        let mut moved = false;
        for k in 0..n {
            let i = if reverse { n - 1 - k } else { k };
            let target = z[i] - relaxation * self.w(i, z) / self.scales[i];
            let value = target.max(0.0);
            moved |= (value - z[i]).abs() > 4.0 * f64::EPSILON * value;
            z[i] = value;
        }
        moved
    }

    /// The largest natural map and its row; a NaN counts as infinite.
    fn residual(&self, z: &[f64]) -> (f64, Option<usize>) {
        let mut worst = (0.0, None);
        for i in 0..z.len() {
            let (d, w) = (self.scales[i], self.w(i, z));
            // `max` would take a NaN for zero.
            let map = if w.is_finite() {
                (z[i] - (z[i] - w / d).max(0.0)).abs() * d
            } else {
                f64::INFINITY
            };
            if worst.1.is_none() || map > worst.0 {
                worst = (map, Some(i));
            }
        }
        worst
    }
}
