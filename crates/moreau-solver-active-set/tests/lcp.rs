//! Dense problems against brute force that shares no code with the solver.

use moreau_solver_active_set::{LcpAnswer, LcpError, NoSolution, lcp_residual, solve_lcp_exact};

struct Random(u64);

impl Random {
    /// In -1..1.
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// One of `count` integers from 0.
    fn choose(&mut self, count: usize) -> usize {
        ((self.next() + 1.0) * 0.5 * count as f64) as usize
    }
}

/// Solves A x = b by elimination with pivoting; `None` where a pivot is tiny.
fn linear_solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Option<Vec<f64>> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|i, j| a[*i][k].abs().total_cmp(&a[*j][k].abs()))?;
        if a[pivot][k].abs() < 1e-12 {
            return None;
        }
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= factor * a[k][j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        for j in k + 1..n {
            b[k] -= a[k][j] * b[j];
        }
        b[k] /= a[k][k];
    }
    Some(b)
}

fn velocity(matrix: &[f64], q: &[f64], z: &[f64], i: usize) -> f64 {
    let n = q.len();
    (0..n).fold(q[i], |w, j| w + matrix[i * n + j] * z[j])
}

/// All solutions whose positive z have a regular matrix.
fn all_solutions(matrix: &[f64], q: &[f64]) -> Vec<Vec<f64>> {
    let n = q.len();
    let mut found = Vec::new();
    for set in 0..1_usize << n {
        let active: Vec<usize> = (0..n).filter(|i| set >> i & 1 == 1).collect();
        let a = active
            .iter()
            .map(|i| active.iter().map(|j| matrix[i * n + j]).collect());
        let Some(x) = linear_solve(a.collect(), active.iter().map(|i| -q[*i]).collect()) else {
            continue;
        };
        let mut z = vec![0.0; n];
        for (i, x) in active.iter().zip(&x) {
            z[*i] = *x;
        }
        // Nearly singular sets have large z, and so larger rounding.
        let size = z.iter().fold(1.0_f64, |m, z| m.max(z.abs()));
        let least = -1e-10 * size;
        if (0..n).all(|i| z[i] >= least && velocity(matrix, q, &z, i) >= least) {
            found.push(z);
        }
    }
    found
}

/// F F' with F of n x `rank`, plus `shift` on the diagonal.
fn semi_definite(random: &mut Random, n: usize, rank: usize, shift: f64) -> Vec<f64> {
    let factor: Vec<f64> = (0..n * rank).map(|_| random.next()).collect();
    let mut matrix = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            let products = (0..rank).map(|k| factor[i * rank + k] * factor[j * rank + k]);
            matrix[i * n + j] = products.sum::<f64>() + if i == j { shift } else { 0.0 };
        }
    }
    matrix
}

fn solution(matrix: &[f64], q: &[f64]) -> Vec<f64> {
    match solve_lcp_exact(matrix, q).unwrap() {
        LcpAnswer::Solution(z) => {
            assert!(lcp_residual(matrix, q, &z) <= 1e-12);
            z
        }
        other => panic!("{other:?}\n{matrix:?}\n{q:?}"),
    }
}

/// Checks y >= 0, M'y <= 0, q·y < 0.
fn check_proof(matrix: &[f64], q: &[f64], y: &[f64]) {
    let n = q.len();
    assert!(y.iter().all(|y| *y >= 0.0));
    let gain: f64 = q.iter().zip(y).map(|(q, y)| q * y).sum();
    assert!(gain < -1e-10, "{gain}");
    for j in 0..n {
        let sum: f64 = (0..n).map(|i| matrix[i * n + j] * y[i]).sum();
        assert!(sum <= 1e-10, "{sum}");
    }
}

#[test]
fn positive_definite_problems_have_the_enumerated_solution() {
    let mut random = Random(7);
    for k in 0..300 {
        let n = 1 + k % 7;
        let matrix = semi_definite(&mut random, n, n, 0.1);
        let q: Vec<f64> = (0..n).map(|_| random.next()).collect();
        let all = all_solutions(&matrix, &q);
        let z = solution(&matrix, &q);
        let near = |other: &Vec<f64>| z.iter().zip(other).all(|(a, b)| (a - b).abs() < 1e-10);
        assert!(all.iter().any(near), "{z:?} {all:?}");
    }
}

#[test]
fn rank_deficient_problems_have_unique_velocities() {
    // q in the range, as for contacts of bodies that move and nothing else: there is a solution, and
    // w = M z + q is the same for all.
    let mut random = Random(8);
    for k in 0..300 {
        let n = 2 + k % 7;
        let rank = 1 + random.choose(n.min(3));
        let matrix = semi_definite(&mut random, n, rank, 0.0);
        let x: Vec<f64> = (0..n).map(|_| random.next()).collect();
        let zero = vec![0.0; n];
        let q: Vec<f64> = (0..n).map(|i| velocity(&matrix, &zero, &x, i)).collect();
        let z = solution(&matrix, &q);
        let all = all_solutions(&matrix, &q);
        assert!(!all.is_empty());
        for other in &all {
            for i in 0..n {
                let (a, b) = (
                    velocity(&matrix, &q, &z, i),
                    velocity(&matrix, &q, other, i),
                );
                assert!((a - b).abs() < 1e-8, "{a} {b}");
            }
        }
    }
}

#[test]
fn degenerate_problems_end() {
    // Zeros in q, equal rows, entries of few values: every ratio test has ties.
    let mut random = Random(9);
    for k in 0..500 {
        let n = 2 + k % 9;
        let rank = 1 + random.choose(3);
        let factor: Vec<f64> = (0..n * rank)
            .map(|_| random.choose(3) as f64 - 1.0)
            .collect();
        let mut matrix = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                let products = (0..rank).map(|k| factor[i * rank + k] * factor[j * rank + k]);
                matrix[i * n + j] = products.sum::<f64>();
            }
        }
        let x: Vec<f64> = (0..n).map(|_| random.choose(4) as f64 - 2.0).collect();
        let zero = vec![0.0; n];
        let q: Vec<f64> = (0..n).map(|i| velocity(&matrix, &zero, &x, i)).collect();
        let z = solution(&matrix, &q);
        for i in 0..n {
            let w = velocity(&matrix, &q, &z, i);
            assert!(z[i] >= 0.0 && w >= -1e-12 && (z[i] == 0.0 || w.abs() < 1e-12));
        }
    }
}

#[test]
fn infeasible_semi_definite_problems_are_refuted() {
    let mut random = Random(10);
    let mut refuted = 0;
    for _ in 0..300 {
        // Opposite rows that both want to open: w_0 + w_1 = q_0 + q_1 < 0.
        let n = 5;
        let mut matrix = semi_definite(&mut random, n, 3, 0.0);
        for j in 0..n {
            matrix[n + j] = -matrix[j];
        }
        for i in 0..n {
            matrix[i * n + 1] = -matrix[i * n];
        }
        let q: Vec<f64> = (0..n).map(|_| random.next()).collect();
        let answer = solve_lcp_exact(&matrix, &q).unwrap();
        match answer {
            LcpAnswer::NoSolution(NoSolution::Infeasible(y)) => {
                check_proof(&matrix, &q, &y);
                refuted += 1;
            }
            LcpAnswer::Solution(z) => {
                assert!(q[0] + q[1] >= 0.0);
                assert!(lcp_residual(&matrix, &q, &z) <= 1e-12);
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(refuted > 100, "{refuted}");
}

/// Whether p = x1 a + x2 b with x >= 0, in integers.
fn in_cone(p: [i64; 2], a: [i64; 2], b: [i64; 2]) -> bool {
    let cross = |u: [i64; 2], v: [i64; 2]| u[0] * v[1] - u[1] * v[0];
    let dot = |u: [i64; 2], v: [i64; 2]| u[0] * v[0] + u[1] * v[1];
    if p == [0, 0] {
        return true;
    }
    let det = cross(a, b);
    if det != 0 {
        return cross(p, b) * det.signum() >= 0 && cross(a, p) * det.signum() >= 0;
    }
    [a, b]
        .into_iter()
        .any(|u| cross(u, p) == 0 && dot(u, p) > 0)
}

#[test]
fn all_small_integer_problems_are_decided_right() {
    // Every 2 x 2 matrix and q with entries in -2..=2, singular ones included, in exact arithmetic.
    let values = [-2_i64, -1, 0, 1, 2];
    let (mut solved, mut refuted) = (0, 0);
    for index in 0..5_usize.pow(6) {
        let digit = |k: u32| values[index / 5_usize.pow(k) % 5];
        let (m, q) = (
            [digit(0), digit(1), digit(2), digit(3)],
            [digit(4), digit(5)],
        );
        let p = [-q[0], -q[1]];
        let pairs = [([m[0], m[2]], [-1, 0]), ([m[1], m[3]], [0, -1])];
        let exists = (0..4).any(|set| {
            let column = |k: usize| {
                if set >> k & 1 == 1 {
                    pairs[k].0
                } else {
                    pairs[k].1
                }
            };
            in_cone(p, column(0), column(1))
        });
        let answer = solve_lcp_exact(&m.map(|x| x as f64), &q.map(|x| x as f64)).unwrap();
        match &answer {
            LcpAnswer::Solution(z) => {
                assert!(exists, "{m:?} {q:?} {z:?}");
                solved += 1;
            }
            LcpAnswer::NoSolution(_) => {
                assert!(!exists, "{m:?} {q:?} {answer:?}");
                refuted += 1;
            }
            LcpAnswer::Undecided => panic!("{m:?} {q:?}"),
        }
    }
    println!("{solved} solved, {refuted} refuted");
    assert!(solved > 1000 && refuted > 1000);
}

#[test]
fn any_matrix_is_decided_as_enumeration_does() {
    let mut random = Random(11);
    let (mut solved, mut refuted, mut enumerated) = (0, 0, 0);
    for k in 0..1500 {
        let n = 2 + k % 5;
        let matrix: Vec<f64> = (0..n * n).map(|_| random.next()).collect();
        let q: Vec<f64> = (0..n).map(|_| random.next() - 0.3).collect();
        let all = all_solutions(&matrix, &q);
        match solve_lcp_exact(&matrix, &q).unwrap() {
            LcpAnswer::Solution(z) => {
                assert!(lcp_residual(&matrix, &q, &z) <= 1e-12);
                assert!(!all.is_empty());
                solved += 1;
            }
            LcpAnswer::NoSolution(why) => {
                assert!(all.is_empty(), "{matrix:?} {q:?} {all:?}");
                match why {
                    NoSolution::Infeasible(y) => check_proof(&matrix, &q, &y),
                    NoSolution::Enumerated => enumerated += 1,
                }
                refuted += 1;
            }
            LcpAnswer::Undecided => panic!("{matrix:?} {q:?}"),
        }
    }
    println!("{solved} solved, {refuted} refuted, {enumerated} of them by enumeration");
    assert!(solved > 200 && refuted > 200 && enumerated > 20);
}

#[test]
fn what_nothing_proves_is_called_undecided() {
    // w_0 = -2 z_0 + z_1 - 1, w_1 = -2 z_0 + 2 z_1 - 1: feasible at (0, 1), and no solution. z_i >= 1
    // for all others. Up to the limit all cones are looked at; beyond, nothing can be said.
    let problem = |n: usize| {
        let mut matrix = vec![0.0; n * n];
        for i in 2..n {
            matrix[i * n + i] = 1.0;
        }
        (matrix[0], matrix[1], matrix[n], matrix[n + 1]) = (-2.0, 1.0, -2.0, 2.0);
        (matrix, vec![-1.0; n])
    };
    for (n, want) in [
        (2, LcpAnswer::NoSolution(NoSolution::Enumerated)),
        (12, LcpAnswer::NoSolution(NoSolution::Enumerated)),
        (16, LcpAnswer::Undecided),
    ] {
        let (matrix, q) = problem(n);
        assert_eq!(solve_lcp_exact(&matrix, &q), Ok(want), "{n}");
    }
}

#[test]
fn units_do_not_matter() {
    let mut random = Random(12);
    for _ in 0..100 {
        let n = 5;
        let matrix = semi_definite(&mut random, n, n, 0.1);
        let q: Vec<f64> = (0..n).map(|_| random.next()).collect();
        let z = solution(&matrix, &q);
        // Rows and columns in other units, from 1e-9 to 1e9.
        let power = |k: usize| [1e-9, 1e9, 1.0, 1e4, 1e-6][k];
        let mut other = matrix.clone();
        for i in 0..n {
            for j in 0..n {
                other[i * n + j] *= power(i) * power(j);
            }
        }
        let q: Vec<f64> = q.iter().enumerate().map(|(i, q)| q * power(i)).collect();
        let LcpAnswer::Solution(scaled) = solve_lcp_exact(&other, &q).unwrap() else {
            panic!("{other:?} {q:?}");
        };
        for i in 0..n {
            let back = scaled[i] * power(i);
            assert!(
                (back - z[i]).abs() <= 1e-9 * (1.0 + z[i]),
                "{back} {}",
                z[i]
            );
        }
    }
}

#[test]
fn the_same_problem_has_the_same_bits() {
    let mut random = Random(13);
    let matrix = semi_definite(&mut random, 12, 4, 0.0);
    let x: Vec<f64> = (0..12).map(|_| random.next()).collect();
    let zero = vec![0.0; 12];
    let q: Vec<f64> = (0..12).map(|i| velocity(&matrix, &zero, &x, i)).collect();
    assert_eq!(solution(&matrix, &q), solution(&matrix, &q));
}

#[test]
fn bad_input_is_refused() {
    assert_eq!(
        solve_lcp_exact(&[1.0; 3], &[1.0; 2]),
        Err(LcpError::Length {
            entries: 3,
            rows: 2
        })
    );
    let error = solve_lcp_exact(&[1.0, f64::INFINITY, 0.0, 1.0], &[-1.0; 2]).unwrap_err();
    assert_eq!(error.to_string(), "matrix entry 1 is inf, must be finite");
    assert!(solve_lcp_exact(&[1.0], &[f64::NAN]).is_err());
    assert_eq!(solve_lcp_exact(&[], &[]), Ok(LcpAnswer::Solution(vec![])));
}
