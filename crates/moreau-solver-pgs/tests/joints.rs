//! Joints as rows, solved: forces and motions with closed forms.

mod support;

use moreau_constraint::{BodyInput, ContactProblem, Row, ball_joint_rows, distance_joint_row};
use moreau_math::{Quat, SymMat3, Vec3, Velocity, libm, vec3};
use moreau_solver::{ContactSolver, certify};
use moreau_solver_pgs::PgsSolver;
use support::{body, close, close_vec, solve, solve_with};

const G: f64 = 9.81;

/// A body that does not turn.
fn point_mass(mass: f64, velocity: Vec3) -> BodyInput {
    BodyInput {
        inverse_mass: 1.0 / mass,
        inverse_inertia: SymMat3::ZERO,
        velocity: Velocity::new(velocity, Vec3::ZERO),
    }
}

/// The arithmetic-geometric mean.
fn agm(mut a: f64, mut b: f64) -> f64 {
    for _ in 0..40 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    a
}

#[test]
fn a_pendulum_swings_with_the_period_of_the_elliptic_integral() {
    // T = 2 pi sqrt(L/g) / agm(1, cos(amplitude/2)), from 40 degrees.
    let (length, dt) = (0.8, 2e-4);
    let amplitude: f64 = 40.0 * std::f64::consts::PI / 180.0;
    let want =
        2.0 * std::f64::consts::PI * (length / G).sqrt() / agm(1.0, libm::cos(0.5 * amplitude));

    let mut problem = ContactProblem::new(dt).unwrap();
    let mut solver = PgsSolver::default();
    let (mut impulses, mut v) = (problem.cold_start(), Vec::new());
    let mut x = length * vec3(libm::sin(amplitude), 0.0, -libm::cos(amplitude));
    let (mut velocity, mut time) = (Vec3::ZERO, 0.0);
    let mut crossings = Vec::new();
    while crossings.len() < 9 {
        problem.clear();
        let free = velocity - Vec3::Z * (G * dt);
        problem.add_body(BodyInput::fixed()).unwrap();
        problem.add_body(point_mass(2.0, free)).unwrap();
        let stretch = x.length() - length;
        let row = distance_joint_row(
            (0, 1),
            x.normalize(),
            (Vec3::ZERO, Vec3::ZERO),
            stretch / dt,
        );
        problem.add_row(row).unwrap();
        assert!(
            solver
                .solve(&problem, &mut impulses, &mut v)
                .unwrap()
                .converged()
        );
        velocity = v[1].linear;
        let before = x.x;
        x += velocity * dt;
        time += dt;
        if before > 0.0 && x.x <= 0.0 {
            crossings.push(time - dt * x.x / (x.x - before));
        }
    }
    let period = (crossings[8] - crossings[0]) / 8.0;
    // First order in dt: 2e-4 of the period.
    close(period / want, 1.0, 2e-4);
    close(x.length(), length, 1e-5);
}

#[test]
fn a_hanging_chain_carries_what_is_below() {
    let (dt, masses) = (0.01, [1.0, 3.0, 0.5, 2.0, 10.0]);
    let mut problem = ContactProblem::new(dt).unwrap();
    let mut above = problem.add_body(BodyInput::fixed()).unwrap();
    for mass in masses {
        let index = problem
            .add_body(point_mass(mass, vec3(0.0, 0.0, -G * dt)))
            .unwrap();
        let levers = (Vec3::ZERO, Vec3::ZERO);
        problem
            .add_row(distance_joint_row((above, index), -Vec3::Z, levers, 0.0))
            .unwrap();
        above = index;
    }
    let (impulses, v, report) = solve(&problem);
    assert!(report.residual < 1e-13, "{report:?}");
    for (i, l) in impulses.rows.iter().enumerate() {
        // The axis points down, so a tension is negative.
        let below: f64 = masses[i..].iter().sum();
        close(-l / (below * G * dt), 1.0, 1e-11);
    }
    for v in &v {
        close_vec(v.linear, Vec3::ZERO, 1e-12);
    }
}

#[test]
fn two_ropes_share_a_weight_by_their_angle() {
    // Each pulls with m g/(2 cos a).
    let (dt, mass) = (0.01, 4.0);
    let (sin, cos) = (0.6, 0.8);
    let mut problem = ContactProblem::new(dt).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    problem
        .add_body(point_mass(mass, vec3(0.0, 0.0, -G * dt)))
        .unwrap();
    for side in [-1.0, 1.0] {
        // From the anchor above on that side down to the weight.
        let axis = vec3(-side * sin, 0.0, -cos);
        let row = distance_joint_row((0, 1), axis, (Vec3::ZERO, Vec3::ZERO), 0.0);
        problem.add_row(row).unwrap();
    }
    let (impulses, _, _) = solve(&problem);
    for l in &impulses.rows {
        close(*l, -mass * G * dt / (2.0 * cos), 1e-12);
    }
}

/// Three free bodies in a row, joined by ball joints off their centres.
fn linkage() -> (ContactProblem, Vec<Vec3>) {
    let mut problem = ContactProblem::new(0.01).unwrap();
    let centres = vec![Vec3::ZERO, vec3(1.0, 0.2, 0.0), vec3(1.8, 1.0, 0.4)];
    let turn = Quat::from_axis_angle(vec3(1.0, 1.0, 0.3).normalize(), 0.8);
    for (i, mass) in [2.0, 1.0, 0.5].into_iter().enumerate() {
        let k = i as f64;
        let linear = vec3(1.0 - k, 0.5 * k, -0.3 + k * k);
        let angular = vec3(0.4, -1.0 + k, 2.0 - k);
        let mut input = body(mass, Vec3::ONE, linear, angular);
        let inverse = SymMat3::from_diagonal(vec3(3.0, 5.0, 8.0) / mass);
        input.inverse_inertia = inverse.rotated(turn);
        problem.add_body(input).unwrap();
    }
    for i in 0..2 {
        let joint = 0.5 * (centres[i] + centres[i + 1]) + vec3(0.0, 0.1, -0.2);
        let levers = (joint - centres[i], joint - centres[i + 1]);
        for row in ball_joint_rows((i, i + 1), levers, Vec3::ZERO) {
            problem.add_row(row).unwrap();
        }
    }
    (problem, centres)
}

#[test]
fn ball_joints_keep_momentum_and_take_only_the_energy_of_the_correction() {
    let (problem, centres) = linkage();
    let (impulses, v, report) = solve_with(&problem, 100_000, 1e-14);
    assert!(report.residual < 1e-13, "{report:?}");
    // The joined points move together.
    for rows in problem.rows().chunks(3) {
        for row in rows {
            close(row.velocity(&v[row.a], &v[row.b]), 0.0, 1e-13);
        }
    }
    let momentum = |v: &[Velocity]| {
        let mut total = (Vec3::ZERO, Vec3::ZERO);
        for ((body, v), x) in problem.bodies().iter().zip(v).zip(&centres) {
            let p = v.linear / body.inverse_mass;
            let spin = body.inverse_inertia.inverse().unwrap().mul_vec(v.angular);
            total = (total.0 + p, total.1 + spin + x.cross(p));
        }
        total
    };
    let free: Vec<Velocity> = problem.bodies().iter().map(|b| b.velocity).collect();
    let (before, after) = (momentum(&free), momentum(&v));
    close_vec(after.0, before.0, 1e-13);
    close_vec(after.1, before.1, 1e-12);
    // v+ is the orthogonal projection of v in the norm of M: E(v) = E(v+) + E(v - v+).
    let pairs = free.iter().zip(&v);
    let difference: Vec<Velocity> = pairs
        .map(|(a, b)| Velocity::new(a.linear - b.linear, a.angular - b.angular))
        .collect();
    let change = certify(&problem, &impulses).unwrap().energy_change;
    close(change, -problem.kinetic_energy(&difference), 1e-12);
    assert!(change < -0.1);
}

#[test]
fn a_motor_pushes_no_harder_than_its_bound() {
    // The wanted speed 3 m/s needs 6 N s of a 2 kg mass; the bound is 2.5 N s.
    for (bound, impulse) in [(10.0, 6.0), (2.5, 2.5)] {
        let mut problem = ContactProblem::new(0.01).unwrap();
        problem.add_body(BodyInput::fixed()).unwrap();
        problem.add_body(point_mass(2.0, Vec3::ZERO)).unwrap();
        let row = Row {
            lower: -bound,
            upper: bound,
            ..Row::bilateral((0, 1), Vec3::X, (Vec3::ZERO, Vec3::ZERO), -3.0)
        };
        problem.add_row(row).unwrap();
        let (impulses, v, report) = solve(&problem);
        assert!(report.converged());
        close(impulses.rows[0], impulse, 1e-14);
        close(v[1].linear.x, 0.5 * impulse, 1e-14);
    }
}

#[test]
fn a_regularized_row_is_an_implicit_spring() {
    // A spring of stiffness k and damping c at the stretch x, taken implicitly:
    // m (v+ - v) = -h (k (x + h v+) + c v+). As a row: regularization 1/(h (c + h k)), bias
    // k x/(c + h k).
    let (m, k, c, h, x, v0) = (2.0, 300.0, 4.0, 0.01, 0.05, 0.3);
    let damping = c + k * h;
    let mut problem = ContactProblem::new(h).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    problem.add_body(point_mass(m, vec3(v0, 0.0, 0.0))).unwrap();
    let row = Row {
        regularization: 1.0 / (h * damping),
        ..Row::bilateral((0, 1), Vec3::X, (Vec3::ZERO, Vec3::ZERO), k * x / damping)
    };
    problem.add_row(row).unwrap();
    let (_, v, report) = solve(&problem);
    assert!(report.converged());
    let want = (m * v0 - h * k * x) / (m + h * c + h * h * k);
    close(v[1].linear.x, want, 1e-14);
}

#[test]
fn a_contact_and_a_joint_are_solved_together() {
    // A 1 kg ball on the ground carries, by a vertical rod, a 3 kg mass: contact 4 m g dt, rod 3.
    let dt = 0.01;
    let mut problem = ContactProblem::new(dt).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    problem
        .add_body(point_mass(1.0, vec3(0.0, 0.0, -G * dt)))
        .unwrap();
    problem
        .add_body(point_mass(3.0, vec3(0.0, 0.0, -G * dt)))
        .unwrap();
    let levers = (Vec3::ZERO, Vec3::ZERO);
    problem
        .add_contact(support::contact((0, 1), Vec3::Z, levers, 0.5, 0.0))
        .unwrap();
    problem
        .add_row(distance_joint_row((1, 2), Vec3::Z, levers, 0.0))
        .unwrap();
    let (impulses, _, report) = solve(&problem);
    assert!(report.residual < 1e-13, "{report:?}");
    close(impulses.contacts[0].x, 4.0 * G * dt, 1e-12);
    close(impulses.rows[0], 3.0 * G * dt, 1e-12);
}
