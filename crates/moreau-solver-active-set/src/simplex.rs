//! Whether a system has a solution without negative entries, with a proof either way.
//!
//! ```text
//! find x >= 0 with G x = h,   else y with G'y <= 0 and h·y > 0      (Farkas)
//! ```
//!
//! Phase one of the simplex method with Bland's rule, which ends on every problem: artificial variables
//! a >= 0, G x + a = h after turning rows so that h >= 0, minimise sum a. y is the vector of multipliers
//! at the end. Both outcomes are checked against G and h before they are returned.

/// What was proven.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Feasibility {
    /// Such an x.
    Feasible(Vec<f64>),
    /// Such a y, of largest entry 1.
    Infeasible(Vec<f64>),
    /// Rounding spoils both.
    Unclear,
}

/// Entries below this count as zero; G and h are expected to be about 1.
const TOLERANCE: f64 = 1e-11;

/// Solves it for the row-major m x n matrix `g` and `h` of length m.
pub(crate) fn find_nonnegative(g: &[f64], h: &[f64]) -> Feasibility {
    let m = h.len();
    let n = g.len().checked_div(m).unwrap_or(0);
    let width = n + m + 1;
    let mut rows = vec![0.0; m * width];
    let signs: Vec<f64> = h
        .iter()
        .map(|h| if *h < 0.0 { -1.0 } else { 1.0 })
        .collect();
    for (i, row) in rows.chunks_exact_mut(width).enumerate() {
        for j in 0..n {
            row[j] = signs[i] * g[i * n + j];
        }
        row[n + i] = 1.0;
        row[width - 1] = signs[i] * h[i];
    }
    let mut basic: Vec<usize> = (n..n + m).collect();
    // Reduced costs of sum a: minus the sum of the rows, 0 for the artificial variables.
    let mut cost = vec![0.0; width];
    for row in rows.chunks_exact(width) {
        for j in (0..n).chain([width - 1]) {
            cost[j] -= row[j];
        }
    }
    let budget = 200 * (m + n + 1);
    for _ in 0..budget {
        let Some(column) = (0..n).find(|j| cost[*j] < -TOLERANCE) else {
            break;
        };
        let mut leaving: Option<(usize, f64)> = None;
        for i in 0..m {
            let d = rows[i * width + column];
            if d <= TOLERANCE {
                continue;
            }
            let ratio = rows[i * width + width - 1] / d;
            let better = leaving.is_none_or(|(k, least)| {
                ratio < least - TOLERANCE || (ratio <= least + TOLERANCE && basic[i] < basic[k])
            });
            if better {
                leaving = Some((i, ratio));
            }
        }
        let Some((row, _)) = leaving else { break };
        pivot(&mut rows, &mut cost, width, (row, column));
        basic[row] = column;
    }
    let mut x = vec![0.0; n];
    for (row, basic) in rows.chunks_exact(width).zip(&basic) {
        if *basic < n {
            x[*basic] = row[width - 1].max(0.0);
        }
    }
    if is_solution(g, h, &x) {
        return Feasibility::Feasible(x);
    }
    // The cost of an artificial column is 1 less its multiplier, up to the sign of the row.
    let y: Vec<f64> = (0..m).map(|i| signs[i] * (1.0 - cost[n + i])).collect();
    match proof(g, h, &y) {
        Some(y) => Feasibility::Infeasible(y),
        None => Feasibility::Unclear,
    }
}

fn pivot(rows: &mut [f64], cost: &mut [f64], width: usize, (row, column): (usize, usize)) {
    let start = row * width;
    let inverse = 1.0 / rows[start + column];
    let pivot_row: Vec<f64> = rows[start..start + width]
        .iter()
        .map(|x| x * inverse)
        .collect();
    let reduce = |to: &mut [f64]| {
        let factor = to[column];
        if factor != 0.0 {
            for (x, p) in to.iter_mut().zip(&pivot_row) {
                *x -= factor * p;
            }
            to[column] = 0.0;
        }
    };
    for (i, other) in rows.chunks_exact_mut(width).enumerate() {
        if i == row {
            other.copy_from_slice(&pivot_row);
            other[column] = 1.0;
        } else {
            reduce(other);
        }
    }
    reduce(cost);
}

fn is_solution(g: &[f64], h: &[f64], x: &[f64]) -> bool {
    let n = x.len();
    h.iter().enumerate().all(|(i, h)| {
        let (mut sum, mut size) = (-h, h.abs());
        for (g, x) in g[i * n..(i + 1) * n].iter().zip(x) {
            sum += g * x;
            size += (g * x).abs();
        }
        sum.abs() <= 1e-12 * size.max(1e-3)
    })
}

/// `y` with largest entry 1, where it proves that there is no solution by a margin far above rounding.
pub(crate) fn proof(g: &[f64], h: &[f64], y: &[f64]) -> Option<Vec<f64>> {
    let m = h.len();
    let n = g.len().checked_div(m).unwrap_or(0);
    let largest = y.iter().fold(0.0_f64, |m, y| m.max(y.abs()));
    if !(largest > 0.0 && largest.is_finite()) {
        return None;
    }
    let y: Vec<f64> = y.iter().map(|y| y / largest).collect();
    let gain: f64 = h.iter().zip(&y).map(|(h, y)| h * y).sum();
    let worst = (0..n).fold(0.0_f64, |worst, j| {
        worst.max((0..m).map(|i| g[i * n + j] * y[i]).sum())
    });
    // With x of any size below gain/worst there is none; at 1e-12 that is beyond what f64 can hold
    // beside h.
    (gain > 1e-9 && worst <= 1e-12 * gain.min(1.0)).then_some(y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_outcomes_come_with_a_proof() {
        let g = [1.0, 2.0, -1.0, 0.0, 1.0, 1.0];
        match find_nonnegative(&g, &[1.0, 2.0]) {
            Feasibility::Feasible(x) => {
                assert!((x[0] + 2.0 * x[1] - x[2] - 1.0).abs() < 1e-12);
                assert!((x[1] + x[2] - 2.0).abs() < 1e-12);
            }
            other => panic!("{other:?}"),
        }
        match find_nonnegative(&g, &[1.0, -2.0]) {
            Feasibility::Infeasible(y) => {
                assert!(y[0] - 2.0 * y[1] > 0.0);
                assert!(y[0] <= 1e-12 && 2.0 * y[0] + y[1] <= 1e-12 && y[1] - y[0] <= 1e-12);
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn redundant_rows_do_no_harm() {
        let g = [1.0, 1.0, 1.0, 1.0];
        assert!(matches!(
            find_nonnegative(&g, &[1.0, 1.0]),
            Feasibility::Feasible(_)
        ));
        assert!(matches!(
            find_nonnegative(&g, &[1.0, 2.0]),
            Feasibility::Infeasible(_)
        ));
    }
}
