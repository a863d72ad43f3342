//! Warm starts of bodies at rest: kept to the bit, or polished by one factorisation.

use moreau_constraint::{BodyInput, ContactInput, ContactProblem, Impulses};
use moreau_math::{SymMat3, Vec3, Velocity, vec3};
use moreau_solver::{ContactSolver, certify};
use moreau_solver_newton::{NewtonSettings, NewtonSolver};

const DT: f64 = 1.0 / 60.0;

/// Cubes of 1 m and 1000 kg on each other on the ground, after a step of gravity, each faster than it should
/// be by `off` (m/s, down and sideways).
fn tower(count: usize, friction: f64, off: f64) -> ContactProblem {
    let mut problem = ContactProblem::new(DT).unwrap();
    let ground = problem.add_body(BodyInput::fixed()).unwrap();
    let mut below = (ground, 0.0);
    for _ in 0..count {
        let cube = BodyInput {
            inverse_mass: 1e-3,
            inverse_inertia: SymMat3::from_diagonal(Vec3::splat(6e-3)),
            velocity: Velocity::new(vec3(0.3 * off, -9.81 * DT - off, 0.0), Vec3::ZERO),
        };
        let cube = problem.add_body(cube).unwrap();
        for (x, z) in [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)] {
            let contact = ContactInput {
                a: below.0,
                b: cube,
                normal: Vec3::Y,
                lever_a: vec3(x, below.1, z),
                lever_b: vec3(x, -0.5, z),
                separation: 0.0,
                friction,
                restitution: 0.0,
            };
            problem.add_contact(contact).unwrap();
        }
        below = (cube, 0.5);
    }
    problem
}

/// The exact impulses of a tower at rest: the weight above, in equal parts.
fn weights(count: usize) -> Impulses {
    let mut impulses = Impulses::zero(4 * count, 0);
    for (i, l) in impulses.contacts.iter_mut().enumerate() {
        l.x = (count - i / 4) as f64 * 1000.0 * 9.81 * DT / 4.0;
    }
    impulses
}

#[test]
fn the_answer_is_kept_to_the_bit() {
    let (problem, exact) = (tower(5, 0.5, 0.0), weights(5));
    let mut impulses = exact.clone();
    let mut velocities = Vec::new();
    let mut solver = NewtonSolver::default();
    let report = solver
        .solve(&problem, &mut impulses, &mut velocities)
        .unwrap();
    assert_eq!(impulses, exact);
    assert_eq!((report.sweeps, report.factorizations), (0, 0));
    assert!(report.converged() && report.residual < 1e-14);
    let certificate = certify(&problem, &impulses).unwrap();
    assert!(certificate.natural_map < 1e-14);
    for v in &velocities {
        assert!(v.linear.length() < 1e-14 && v.angular.length() < 1e-14);
    }
}

#[test]
fn what_is_nearly_the_answer_takes_one_factorization_and_no_sweep() {
    for friction in [0.0, 0.5] {
        for off in [1e-9, 1e-8] {
            // Without friction nothing holds a cube sideways, and nothing should.
            let problem = tower(8, friction, off);
            let solve = |polish: f64| {
                let settings = NewtonSettings {
                    polish,
                    ..NewtonSettings::default()
                };
                let mut solver = NewtonSolver::new(settings);
                let (mut impulses, mut velocities) = (weights(8), Vec::new());
                let report = solver
                    .solve(&problem, &mut impulses, &mut velocities)
                    .unwrap();
                let certificate = certify(&problem, &impulses).unwrap();
                assert!(report.converged() && certificate.natural_map <= 1.01e-10);
                (report, certificate.natural_map, solver.stats().polish)
            };
            let (report, map, polish) = solve(1e-14);
            assert_eq!((report.sweeps, report.factorizations, polish), (0, 1, 1));
            assert!(map < 1e-12, "{friction} {off}: {map:e}");
            let (report, _, polish) = solve(0.0);
            assert!(report.sweeps > 0 && polish == 0);
        }
    }
}

#[test]
fn impulses_that_have_just_stopped_a_body_are_not_kept_where_it_rests() {
    // Within the aim of 1e-10 m/s.
    let problem = tower(5, 0.5, 6e-11);
    let solve = |polish: f64, speed: f64| {
        let mut solver = NewtonSolver::new(NewtonSettings {
            polish,
            ..NewtonSettings::default()
        });
        let (mut impulses, mut velocities) = (weights(5), Vec::new());
        let report = solver
            .solve_from(&problem, &mut impulses, &mut velocities, speed)
            .unwrap();
        (report.residual, report.factorizations, impulses)
    };
    let (residual, factorizations, _) = solve(1e-14, 0.0);
    assert!(residual < 1e-13 && factorizations == 1);
    // As fast before, or nothing is known of it, or it is switched off.
    for (polish, speed) in [(1e-14, 6e-11), (1e-14, f64::INFINITY), (0.0, 0.0)] {
        let (residual, factorizations, impulses) = solve(polish, speed);
        assert!(residual > 3e-11 && factorizations == 0);
        assert_eq!(impulses, weights(5));
    }
}

#[test]
fn a_cube_that_slides_is_not_held() {
    // 3 m/s along x, mu = 0.5: the impulses of the last step are right but for 1e-9 of them.
    let slide = |velocity: Vec3| {
        let mut problem = ContactProblem::new(DT).unwrap();
        let ground = problem.add_body(BodyInput::fixed()).unwrap();
        let cube = BodyInput {
            inverse_mass: 1e-3,
            inverse_inertia: SymMat3::from_diagonal(Vec3::splat(6e-3)),
            velocity: Velocity::new(velocity - Vec3::Y * (9.81 * DT), Vec3::ZERO),
        };
        let cube = problem.add_body(cube).unwrap();
        for (x, z) in [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)] {
            let contact = ContactInput {
                a: ground,
                b: cube,
                normal: Vec3::Y,
                lever_a: vec3(x, 0.0, z),
                lever_b: vec3(x, -0.5, z),
                separation: 0.0,
                friction: 0.5,
                restitution: 0.0,
            };
            problem.add_contact(contact).unwrap();
        }
        problem
    };
    let problem = slide(vec3(3.0, 0.0, 0.0));
    let mut solver = NewtonSolver::default();
    let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
    solver
        .solve(&problem, &mut impulses, &mut velocities)
        .unwrap();
    let problem = slide(vec3(2.9, 1e-9, 0.0));
    let report = solver
        .solve_from(&problem, &mut impulses, &mut velocities, 2.9)
        .unwrap();
    assert!(report.converged());
    let v = velocities[1].linear;
    assert!(
        (v.x - (2.9 - 0.5 * (9.81 * DT - 1e-9))).abs() < 1e-10,
        "{v}"
    );
    assert!(v.y.abs() < 1e-10 && v.z.abs() < 1e-10, "{v}");
}
