//! Dense linear complementarity problems against enumeration of all active sets.

mod support;

use moreau_constraint::{BodyInput, ContactProblem};
use moreau_math::{Vec3, vec3};
use moreau_solver::{SolveError, StopReason};
use moreau_solver_pgs::{PgsSettings, dense::solve_lcp};
use support::{body, close, contact, solve};

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
}

fn settings(max_sweeps: u32, tolerance: f64) -> PgsSettings {
    PgsSettings {
        max_sweeps,
        tolerance,
        ..PgsSettings::default()
    }
}

/// Solves A x = b by elimination with pivoting; A is row-major.
fn linear_solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n)
            .max_by(|i, j| a[*i][k].abs().total_cmp(&a[*j][k].abs()))
            .unwrap();
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
    b
}

/// The solution by trying every set of positive z.
fn enumerate(matrix: &[f64], q: &[f64]) -> Vec<f64> {
    let n = q.len();
    let mut found = Vec::new();
    for set in 0..1_usize << n {
        let active: Vec<usize> = (0..n).filter(|i| set >> i & 1 == 1).collect();
        let a = active
            .iter()
            .map(|i| active.iter().map(|j| matrix[i * n + j]).collect());
        let x = linear_solve(a.collect(), active.iter().map(|i| -q[*i]).collect());
        let mut z = vec![0.0; n];
        for (i, x) in active.iter().zip(&x) {
            z[*i] = *x;
        }
        let w = |i: usize| q[i] + (0..n).map(|j| matrix[i * n + j] * z[j]).sum::<f64>();
        let fits = (0..n).all(|i| z[i] >= 0.0 && (set >> i & 1 == 1 || w(i) >= 0.0));
        if fits {
            found.push(z);
        }
    }
    assert_eq!(
        found.len(),
        1,
        "a positive definite problem has one solution"
    );
    found.remove(0)
}

#[test]
fn random_positive_definite_problems_agree_with_enumeration() {
    let mut random = Random(7);
    let n = 6;
    for _ in 0..50 {
        let factor: Vec<f64> = (0..n * n).map(|_| random.next()).collect();
        let mut matrix = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                let product: f64 = (0..n).map(|k| factor[i * n + k] * factor[j * n + k]).sum();
                matrix[i * n + j] = product + if i == j { 0.2 } else { 0.0 };
            }
        }
        let q: Vec<f64> = (0..n).map(|_| random.next()).collect();
        let want = enumerate(&matrix, &q);
        let mut z = vec![0.0; n];
        let report = solve_lcp(&matrix, &q, &mut z, &settings(20_000, 1e-14)).unwrap();
        assert!(report.residual < 1e-13, "{report:?}");
        for (z, want) in z.iter().zip(&want) {
            close(*z, *want, 1e-11);
        }
    }
}

#[test]
fn frictionless_contact_is_the_dense_problem_of_its_delassus_matrix() {
    // A box that falls askew on four points and has a shelf on top.
    let mut problem = ContactProblem::new(0.01).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    problem
        .add_body(body(
            2.0,
            vec3(0.3, 0.4, 0.5),
            vec3(0.1, 0.0, -1.0),
            vec3(0.5, -0.8, 0.0),
        ))
        .unwrap();
    problem
        .add_body(body(
            1.0,
            vec3(0.1, 0.3, 0.2),
            vec3(0.0, 0.0, -2.0),
            vec3(0.0, 1.0, 0.0),
        ))
        .unwrap();
    for (x, y) in [(-0.5, -0.4), (0.5, -0.4), (0.5, 0.4), (-0.5, 0.4)] {
        let levers = (Vec3::ZERO, vec3(x, y, -0.3));
        problem
            .add_contact(contact((0, 1), Vec3::Z, levers, 0.0, 0.2))
            .unwrap();
    }
    for x in [-0.3, 0.3] {
        let levers = (vec3(x, 0.1, 0.3), vec3(x, 0.1, -0.1));
        problem
            .add_contact(contact((1, 2), Vec3::Z, levers, 0.0, 0.2))
            .unwrap();
    }
    let n = problem.contacts().len();
    let shifted = |l: &[f64]| -> Vec<f64> {
        let mut impulses = problem.cold_start();
        for (l, value) in impulses.contacts.iter_mut().zip(l) {
            l.x = *value;
        }
        let v = problem.velocities(&impulses);
        let contacts = problem.contacts().iter();
        contacts
            .map(|c| problem.contact_velocity(c, &v).x + c.bias.x)
            .collect()
    };
    let q = shifted(&vec![0.0; n]);
    let mut matrix = vec![0.0; n * n];
    for j in 0..n {
        let mut unit = vec![0.0; n];
        unit[j] = 1.0;
        for (i, s) in shifted(&unit).iter().enumerate() {
            matrix[i * n + j] = s - q[i];
        }
    }
    let mut z = vec![0.0; n];
    let dense = solve_lcp(&matrix, &q, &mut z, &settings(20_000, 1e-13)).unwrap();
    assert!(dense.converged());
    let (_, v, report) = solve(&problem);
    assert!(report.residual < 1e-12, "{report:?}");
    // The split over the four points of a face is not unique; the velocities are.
    for (s, c) in shifted(&z).iter().zip(problem.contacts()) {
        close(*s, problem.contact_velocity(c, &v).x + c.bias.x, 1e-11);
    }
}

#[test]
fn a_start_at_the_solution_is_kept_and_a_bad_start_is_repaired() {
    let (matrix, q) = ([2.0, 0.5, 0.5, 3.0], [-1.0, -1.5]);
    let settings = settings(400, 1e-12);
    let mut z = [0.0; 2];
    solve_lcp(&matrix, &q, &mut z, &settings).unwrap();
    let solved = z;
    let report = solve_lcp(&matrix, &q, &mut z, &settings).unwrap();
    assert_eq!((report.sweeps, z), (0, solved));
    let mut z = [f64::NAN, -4.0];
    assert!(
        solve_lcp(&matrix, &q, &mut z, &settings)
            .unwrap()
            .converged()
    );
    close(z[0], solved[0], 1e-11);
}

#[test]
fn a_problem_without_a_solution_does_not_converge() {
    // w = -z - 1 is never >= 0.
    let mut z = [0.5];
    let report = solve_lcp(&[-1.0], &[-1.0], &mut z, &settings(200, 1e-9)).unwrap();
    assert_eq!(report.stop, StopReason::Budget);
    assert!(report.residual > 0.5 && z[0].is_finite());
}

#[test]
fn bad_input_is_refused() {
    let settings = PgsSettings::default();
    let mut z = [0.0; 2];
    let error = solve_lcp(&[1.0; 3], &[1.0; 2], &mut z, &settings).unwrap_err();
    assert_eq!(
        error.to_string(),
        "matrix: 3 values were given, the problem has 4"
    );
    assert!(solve_lcp(&[1.0; 4], &[1.0; 2], &mut [0.0; 3], &settings).is_err());
    let nan = [1.0, f64::NAN, 0.0, 1.0];
    let error = solve_lcp(&nan, &[-1.0; 2], &mut z, &settings).unwrap_err();
    assert!(matches!(error, SolveError::Overflow { body: 0 }));
    assert_eq!(z, [0.0; 2]);
    assert!(solve_lcp(&[], &[], &mut [], &settings).unwrap().converged());
}
