//! All complementary cones of a small linear complementarity problem.
//!
//! For each set s of rows: z_s >= 0 and w_i >= 0 (i not in s) with
//!
//! ```text
//! [ columns s of M | -e_i for i not in s ] x = -q,    x = (z_s, w)
//! ```
//!
//! A regular system has one x, whose signs decide; a singular one is decided by the simplex method. q is
//! in no cone exactly where the problem has no solution.

use crate::dense::Factorization;
use crate::lcp::{ACCEPTED, LcpAnswer, NoSolution, lcp_residual, solve_support};
use crate::simplex::{Feasibility, find_nonnegative};

/// Below this least pivot a cone is decided by the simplex method.
const REGULAR: f64 = 1e-9;
/// A negative entry below this, in units of the largest, is negative.
const NEGATIVE: f64 = 1e-9;

/// Looks at all sets, from the empty one on. `matrix` and `q` are expected to be about 1.
pub(crate) fn enumerate(matrix: &[f64], q: &[f64]) -> LcpAnswer {
    let n = q.len();
    let mut factorization = Factorization::default();
    let mut doubtful = false;
    let mut support = Vec::with_capacity(n);
    let mut x = Vec::with_capacity(n);
    for set in 0..1_u32 << n {
        support.clear();
        support.extend((0..n).filter(|i| set >> i & 1 == 1));
        let entry = |i: usize, j: usize| matrix[support[i] * n + support[j]];
        if factorization.factorize(support.len(), entry) > REGULAR {
            x.clear();
            x.extend(support.iter().map(|i| -q[*i]));
            factorization.solve(&mut x);
            if is_negative(matrix, q, &support, &x) {
                continue;
            }
            if let Some(z) = solve_support((matrix, q), &support, &mut factorization) {
                return LcpAnswer::Solution(z);
            }
            doubtful = true;
            continue;
        }
        match singular(matrix, q, set) {
            Feasibility::Feasible(x) => {
                let mut z = vec![0.0; n];
                for i in &support {
                    z[*i] = x[*i];
                }
                if lcp_residual(matrix, q, &z) <= ACCEPTED {
                    return LcpAnswer::Solution(z);
                }
                doubtful = true;
            }
            Feasibility::Infeasible(_) => {}
            Feasibility::Unclear => doubtful = true,
        }
    }
    if doubtful {
        LcpAnswer::Undecided
    } else {
        LcpAnswer::NoSolution(NoSolution::Enumerated)
    }
}

/// Whether any z of the support or any other w is negative beyond doubt.
fn is_negative(matrix: &[f64], q: &[f64], support: &[usize], x: &[f64]) -> bool {
    let n = q.len();
    let largest = x.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    if x.iter().any(|x| *x < -NEGATIVE * largest) {
        return true;
    }
    (0..n).filter(|i| !support.contains(i)).any(|i| {
        let (mut w, mut size) = (q[i], q[i].abs());
        for (j, x) in support.iter().zip(x) {
            let product = matrix[i * n + j] * x;
            w += product;
            size += product.abs();
        }
        w < -NEGATIVE * size
    })
}

/// The simplex method's verdict; x_i is z_i for i in the set and w_i for the others.
fn singular(matrix: &[f64], q: &[f64], set: u32) -> Feasibility {
    let n = q.len();
    let mut g = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            g[i * n + j] = if set >> j & 1 == 1 {
                matrix[i * n + j]
            } else if i == j {
                -1.0
            } else {
                0.0
            };
        }
    }
    let h: Vec<f64> = q.iter().map(|q| -q).collect();
    find_nonnegative(&g, &h)
}
