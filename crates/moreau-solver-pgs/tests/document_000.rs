//! The worked examples of document 000, "Contact Constraint System", corrected as in
//! `docs/errata.md`, solved and compared to 1e-12.

mod support;

use moreau_constraint::{BodyInput, ContactProblem, Impulses, Row};
use moreau_math::{Quat, Vec3, vec3};
use moreau_solver::certify;
use moreau_solver_pgs::{PgsSettings, dense::solve_lcp};
use support::{body, close, close_vec, contact, solve, solve_with};

const TOLERANCE: f64 = 1e-12;

/// 11.1: equal spheres, 2 and -1 m/s.
fn head_on(restitution: f64) -> ContactProblem {
    let mut problem = ContactProblem::new(0.016).unwrap();
    for speed in [2.0, -1.0] {
        let sphere = body(1.0, Vec3::splat(0.4), vec3(speed, 0.0, 0.0), Vec3::ZERO);
        problem.add_body(sphere).unwrap();
    }
    let levers = (vec3(1.5, 0.0, 0.0), vec3(-1.5, 0.0, 0.0));
    problem
        .add_contact(contact((0, 1), Vec3::X, levers, 0.0, restitution))
        .unwrap();
    problem
}

/// 11.2: a 2 kg cube hits a 1 kg cube off the line of centres. The two contact points given lie 1 m
/// apart; the lever arms are what the numbers hold for.
fn glancing(restitution: f64) -> ContactProblem {
    let mut problem = ContactProblem::new(0.016).unwrap();
    for (mass, speed) in [(2.0, 1.0), (1.0, 0.0)] {
        let cube = body(
            mass,
            Vec3::splat(mass / 6.0),
            vec3(speed, 0.0, 0.0),
            Vec3::ZERO,
        );
        problem.add_body(cube).unwrap();
    }
    let levers = (vec3(0.5, 0.5, 0.0), vec3(-0.5, 0.5, 0.0));
    problem
        .add_contact(contact((0, 1), Vec3::X, levers, 0.0, restitution))
        .unwrap();
    problem
}

#[test]
fn head_on_elastic_collision_swaps_the_velocities() {
    let problem = head_on(1.0);
    let (impulses, v, report) = solve(&problem);
    assert!(report.converged());
    close(impulses.contacts[0].x, 3.0, TOLERANCE);
    close_vec(v[0].linear, vec3(-1.0, 0.0, 0.0), TOLERANCE);
    close_vec(v[1].linear, vec3(2.0, 0.0, 0.0), TOLERANCE);
    assert_eq!((v[0].angular, v[1].angular), (Vec3::ZERO, Vec3::ZERO));
    close(
        problem.delassus_block(&problem.contacts()[0]).x_axis.x,
        2.0,
        TOLERANCE,
    );
    let certificate = certify(&problem, &impulses).unwrap();
    close(certificate.energy_change, 0.0, TOLERANCE);
    close(certificate.directional_momentum_drift, 0.0, TOLERANCE);
}

#[test]
fn glancing_collision_spins_both_cubes() {
    let problem = glancing(0.5);
    let (impulses, v, report) = solve(&problem);
    assert!(report.converged());
    close(
        problem.delassus_block(&problem.contacts()[0]).x_axis.x,
        3.75,
        TOLERANCE,
    );
    close(impulses.contacts[0].x, 0.4, TOLERANCE);
    close_vec(v[0].linear, vec3(0.8, 0.0, 0.0), TOLERANCE);
    close_vec(v[1].linear, vec3(0.4, 0.0, 0.0), TOLERANCE);
    close_vec(v[0].angular, vec3(0.0, 0.0, 0.6), TOLERANCE);
    close_vec(v[1].angular, vec3(0.0, 0.0, -1.2), TOLERANCE);
    let certificate = certify(&problem, &impulses).unwrap();
    close(certificate.directional_momentum_drift, 0.0, TOLERANCE);
}

#[test]
fn complementarity_is_against_the_target_of_the_bounce() {
    // 5.1, 5.2: with restitution lambda C' is not zero, lambda (C' - target) is.
    let problem = glancing(0.5);
    let (impulses, v, _) = solve(&problem);
    let point = problem.contacts()[0];
    let separating = problem.contact_velocity(&point, &v).x;
    close(separating, 0.5, TOLERANCE);
    let lambda = impulses.contacts[0].x;
    assert!(lambda * separating > 0.19);
    close(lambda * (separating + point.bias.x), 0.0, TOLERANCE);
    // 6.2: the approach is C' < 0 in a Jacobian that takes B minus A.
    assert!(problem.free_velocity(&point).x < 0.0);
}

#[test]
fn energy_of_a_bounce_is_lost_by_the_appendix_formula() {
    // -1/2 (1 - e)/(1 + e) A lambda², with A in 1/kg.
    for e in [0.0, 0.2, 0.5, 0.9, 1.0] {
        for problem in [head_on(e), glancing(e)] {
            let (impulses, _, _) = solve(&problem);
            let a = problem.delassus_block(&problem.contacts()[0]).x_axis.x;
            let lambda = impulses.contacts[0].x;
            let want = -0.5 * (1.0 - e) / (1.0 + e) * a * lambda * lambda;
            let change = certify(&problem, &impulses).unwrap().energy_change;
            close(change, want, TOLERANCE);
        }
    }
    let problem = glancing(0.5);
    let (impulses, _, _) = solve(&problem);
    close(
        certify(&problem, &impulses).unwrap().energy_change,
        -0.1,
        TOLERANCE,
    );
}

#[test]
fn resting_contact_carries_the_weight() {
    // 11.3, 12.3: A is the cube and B the ground, so the normal from A to B points down.
    let (mass, g, dt) = (5.0, 9.81, 0.016);
    let mut problem = ContactProblem::new(dt).unwrap();
    let free = vec3(0.0, 0.0, -g * dt);
    let cube = problem
        .add_body(body(mass, Vec3::splat(mass / 6.0), free, Vec3::ZERO))
        .unwrap();
    let ground = problem.add_body(BodyInput::fixed()).unwrap();
    let levers = (vec3(0.0, 0.0, -0.5), Vec3::ZERO);
    problem
        .add_contact(contact((cube, ground), -Vec3::Z, levers, 0.5, 0.0))
        .unwrap();
    let (impulses, v, report) = solve(&problem);
    assert!(report.converged());
    close(impulses.contacts[0].x, mass * g * dt, TOLERANCE);
    close(impulses.contacts[0].x / dt, 49.05, TOLERANCE);
    close_vec(v[cube].linear, Vec3::ZERO, TOLERANCE);
}

#[test]
fn an_impact_of_five_metres_a_second_needs_32_weights() {
    // 9.6: a cap of 10 m g dt would let the cube through the floor.
    let (mass, g, dt) = (5.0, 9.81, 0.016);
    let mut problem = ContactProblem::new(dt).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    let free = vec3(0.0, 0.0, -5.0);
    problem
        .add_body(body(mass, Vec3::splat(mass / 6.0), free, Vec3::ZERO))
        .unwrap();
    let levers = (Vec3::ZERO, vec3(0.0, 0.0, -0.5));
    problem
        .add_contact(contact((0, 1), Vec3::Z, levers, 0.0, 0.0))
        .unwrap();
    let (impulses, v, _) = solve(&problem);
    close(
        impulses.contacts[0].x / (mass * g * dt),
        5.0 / (g * dt),
        TOLERANCE,
    );
    assert!(impulses.contacts[0].x > 31.8 * mass * g * dt);
    close(v[1].linear.z, 0.0, TOLERANCE);
}

#[test]
fn projected_gauss_seidel_solves_the_two_by_two_example() {
    // 12.4 with w = A lambda - b: M = A, q = -b. A lambda = b at (2.25, 2.5)/5.75.
    let (a, b) = ([2.0, 0.5, 0.5, 3.0], [1.0, 1.5]);
    let mut z = [0.0; 2];
    let settings = PgsSettings {
        tolerance: 1e-15,
        ..PgsSettings::default()
    };
    let report = solve_lcp(&a, &b.map(|b| -b), &mut z, &settings).unwrap();
    assert!(report.converged());
    close(z[0], 2.25 / 5.75, TOLERANCE);
    close(z[1], 2.5 / 5.75, TOLERANCE);
}

#[test]
fn a_separating_contact_gets_no_impulse() {
    // 12.5, solved and then tested.
    let mut problem = ContactProblem::new(0.016).unwrap();
    for speed in [-1.0, 1.0] {
        let sphere = body(1.0, Vec3::splat(0.4), vec3(speed, 0.0, 0.0), Vec3::ZERO);
        problem.add_body(sphere).unwrap();
    }
    let levers = (Vec3::X, -Vec3::X);
    problem
        .add_contact(contact((0, 1), Vec3::X, levers, 0.5, 1.0))
        .unwrap();
    // Started from an impulse, so that the solver has to take it away.
    let mut impulses = problem.cold_start();
    impulses.contacts[0] = vec3(4.0, 1.0, -1.0);
    let mut v = Vec::new();
    let mut solver = moreau_solver_pgs::PgsSolver::default();
    let report =
        moreau_solver::ContactSolver::solve(&mut solver, &problem, &mut impulses, &mut v).unwrap();
    assert!(report.converged() && report.sweeps > 0);
    assert_eq!(impulses.contacts[0], Vec3::ZERO);
    assert_eq!(problem.contact_velocity(&problem.contacts()[0], &v).x, 2.0);
}

/// 12.6: a 10 kg cube on two supports.
fn two_supports(regularization: f64, lever: f64) -> ContactProblem {
    let dt = 0.016;
    let mut problem = ContactProblem::new(dt).unwrap();
    let ground = problem.add_body(BodyInput::fixed()).unwrap();
    let free = vec3(0.0, 0.0, -9.81 * dt);
    let inertia = Vec3::splat(10.0 / 6.0);
    let cube = problem
        .add_body(body(10.0, inertia, free, Vec3::ZERO))
        .unwrap();
    for side in [-lever, lever] {
        let arm = vec3(side, 0.0, if lever == 0.0 { 0.0 } else { -0.5 });
        let row = Row {
            lower: 0.0,
            regularization,
            ..Row::bilateral((ground, cube), Vec3::Z, (Vec3::ZERO, arm), 0.0)
        };
        problem.add_row(row).unwrap();
    }
    problem
}

#[test]
fn two_supports_share_the_weight_when_regularized() {
    // Without lever arms: A = [[a, a], [a, a]] + eps I, so each takes v/(2a + eps).
    let (eps, v) = (1e-6, 9.81 * 0.016);
    // Gauss-Seidel evens the split out by eps/a a sweep: slow, but it gets there.
    let (impulses, _, report) = solve_with(&two_supports(eps, 0.0), 5_000_000, 1e-15);
    assert!(report.residual < 1e-14, "{report:?}");
    for l in &impulses.rows {
        close(*l, v / (0.2 + eps), 1e-8);
    }
    close(
        impulses.rows[0] + impulses.rows[1],
        2.0 * v / (0.2 + eps),
        TOLERANCE,
    );
}

#[test]
fn two_supports_with_lever_arms_share_the_weight() {
    let (impulses, v, report) = solve(&two_supports(0.0, 0.5));
    assert!(report.converged());
    for l in &impulses.rows {
        close(*l, 0.5 * 10.0 * 9.81 * 0.016, TOLERANCE);
    }
    close_vec(v[1].linear, Vec3::ZERO, TOLERANCE);
    close_vec(v[1].angular, Vec3::ZERO, TOLERANCE);
}

#[test]
fn four_coplanar_contacts_have_a_null_vector() {
    // 10.3: distinct lever arms do not make A regular. Pressing on one diagonal and pulling on the
    // other changes nothing: any such split is as right an answer as another.
    let dt = 0.016;
    let mut problem = ContactProblem::new(dt).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    let free = vec3(0.0, 0.0, -9.81 * dt);
    problem
        .add_body(body(10.0, Vec3::splat(10.0 / 6.0), free, Vec3::ZERO))
        .unwrap();
    for (x, y) in [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)] {
        let levers = (Vec3::ZERO, vec3(x, y, -0.5));
        problem
            .add_contact(contact((0, 1), Vec3::Z, levers, 0.0, 0.0))
            .unwrap();
    }
    let null = Impulses {
        contacts: [1.0, -1.0, 1.0, -1.0].map(|l| vec3(l, 0.0, 0.0)).to_vec(),
        rows: Vec::new(),
    };
    let v = problem.velocities(&null);
    assert_eq!(v, problem.velocities(&problem.cold_start()));

    let (mut impulses, v, report) = solve(&problem);
    assert!(report.converged());
    close_vec(v[1].linear, Vec3::ZERO, TOLERANCE);
    close_vec(v[1].angular, Vec3::ZERO, TOLERANCE);
    let total: f64 = impulses.contacts.iter().map(|l| l.x).sum();
    close(total, 10.0 * 9.81 * dt, TOLERANCE);
    for (l, n) in impulses.contacts.iter_mut().zip(&null.contacts) {
        *l += 0.1 * *n;
    }
    assert!(certify(&problem, &impulses).unwrap().natural_map < 1e-15);
}

/// Largest absolute eigenvalue of the 3x3 `matrix` by the power method on its square, which also
/// copes with a pair of opposite signs.
fn spectral_radius(apply: impl Fn(Vec3) -> Vec3) -> f64 {
    let mut x = vec3(1.0, 0.7, -0.3);
    let mut radius = 0.0;
    for _ in 0..2000 {
        let y = apply(apply(x));
        radius = (y.length() / x.length()).sqrt();
        x = y / y.length();
    }
    radius
}

#[test]
fn the_spectral_radius_of_the_jacobi_matrix_does_not_govern_gauss_seidel() {
    // 7.5: A = 1 on the diagonal and 0.9 beside it, positive definite with eigenvalues 2.8, 0.1, 0.1.
    let c = 0.9;
    let jacobi = |x: Vec3| -c * vec3(x.y + x.z, x.x + x.z, x.x + x.y);
    let gauss_seidel = |x: Vec3| {
        let first = -c * (x.y + x.z);
        let second = -c * (first + x.z);
        vec3(first, second, -c * (first + second))
    };
    close(spectral_radius(jacobi), 1.8, 1e-12);
    // The nonzero eigenvalues of Gauss-Seidel for three unknowns solve
    // x² - (3 c² - c³) x + c³ = 0, a complex pair: the radius is c^(3/2).
    close(c * c.sqrt(), 0.854, 5e-4);
    let x = (0..400).fold(vec3(1.0, 0.7, -0.3), |x, _| gauss_seidel(x));
    let rate = root(x.length(), 400.0);
    close(rate, c * c.sqrt(), 5e-3);

    // And PGS does converge on it.
    let matrix = [1.0, c, c, c, 1.0, c, c, c, 1.0];
    let want = [1.0, 2.0, 0.5];
    let q: Vec<f64> = (0..3)
        .map(|i| -(0..3).map(|j| matrix[3 * i + j] * want[j]).sum::<f64>())
        .collect();
    let mut z = [0.0; 3];
    let settings = PgsSettings {
        tolerance: 1e-14,
        max_sweeps: 1000,
        ..PgsSettings::default()
    };
    assert!(
        solve_lcp(&matrix, &q, &mut z, &settings)
            .unwrap()
            .converged()
    );
    for (z, want) in z.iter().zip(want) {
        close(*z, want, TOLERANCE);
    }
}

/// x^(1/n).
fn root(x: f64, n: f64) -> f64 {
    moreau_math::libm::pow(x, 1.0 / n)
}

#[test]
fn the_rate_of_a_quaternion_gives_the_angular_velocity_of_the_body_frame() {
    // 3.5, appendix A: Q' = (0, w_world)/2 Q, and 2 conj(Q) Q' is w in body axes.
    let q = Quat::from_xyzw(0.3, -0.2, 0.5, 0.7).normalize();
    let w = vec3(0.4, -1.3, 2.0);
    let pure = |v: Vec3| Quat::from_xyzw(v.x, v.y, v.z, 0.0);
    let rate = pure(w) * q * 0.5;
    let body = q.conjugate() * rate * 2.0;
    close_vec(body.xyz(), q.conjugate() * w, TOLERANCE);
    close(body.w, 0.0, TOLERANCE);
    assert!((body.xyz() - w).length() > 0.1);
    close_vec((rate * q.conjugate() * 2.0).xyz(), w, TOLERANCE);
}

#[test]
fn split_impulse_pushes_out_along_the_normal_at_a_speed() {
    // 8.6: the pseudo-velocity of B is -(beta/dt) min(C, 0) n, m/s, from a solve of its own whose
    // free velocities are zero: the bias is minus the wanted speed.
    let (dt, beta, depth) = (0.01, 0.2, 0.003);
    let mut problem = ContactProblem::new(dt).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    problem
        .add_body(body(2.0, Vec3::ONE, Vec3::ZERO, Vec3::ZERO))
        .unwrap();
    for x in [-0.5, 0.5] {
        let levers = (Vec3::ZERO, vec3(x, 0.0, -0.5));
        let index = problem
            .add_contact(contact((0, 1), Vec3::Z, levers, 0.0, 0.0))
            .unwrap();
        problem
            .set_bias(index, vec3(-beta / dt * depth, 0.0, 0.0))
            .unwrap();
    }
    let (_, v, report) = solve(&problem);
    assert!(report.converged());
    close_vec(v[1].linear, vec3(0.0, 0.0, 0.06), TOLERANCE);
    close_vec(v[1].angular, Vec3::ZERO, TOLERANCE);
}
