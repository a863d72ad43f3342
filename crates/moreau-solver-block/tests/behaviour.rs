//! What every caller relies on: warm starts, budgets, switches, refusals, equal bits.

mod support;

use moreau_constraint::{BodyInput, ContactProblem, Impulses, Row, ball_joint_rows};
use moreau_math::{SymMat3, Vec3, Velocity, vec3};
use moreau_solver::{ContactSolver, SolveError, StopReason, certify};
use moreau_solver_block::{BlockSettings, BlockSolver};
use support::{body, close, close_vec, contact, solve, solve_with};

/// A tower of `count` cubes that falls at 0.1 m/s and slides at 0.3 m/s.
fn tower(count: usize) -> ContactProblem {
    let mut problem = ContactProblem::new(1.0 / 60.0).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    for k in 0..count {
        let velocity = vec3(0.3, 0.05 * k as f64, -0.1);
        let cube = body(1.0, Vec3::splat(1.0 / 6.0), velocity, Vec3::ZERO);
        problem.add_body(cube).unwrap();
        for (x, y) in [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)] {
            let top = if k == 0 { 0.0 } else { 0.5 };
            let levers = (vec3(x, y, top), vec3(x, y, -0.5));
            let input = contact((k, k + 1), Vec3::Z, levers, 0.5, 0.0);
            problem.add_contact(input).unwrap();
        }
    }
    problem
}

fn settings(max_sweeps: u32, tolerance: f64, anderson_window: u32) -> BlockSettings {
    BlockSettings {
        max_sweeps,
        tolerance,
        anderson_window,
        ..BlockSettings::default()
    }
}

#[test]
fn a_solved_warm_start_comes_back_bit_for_bit() {
    let problem = tower(3);
    let mut solver = BlockSolver::new(settings(2_000, 1e-10, 10));
    let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
    let report = solver
        .solve(&problem, &mut impulses, &mut velocities)
        .unwrap();
    assert!(report.converged() && report.sweeps > 5, "{report:?}");
    let (solved, moved) = (impulses.clone(), velocities.clone());
    let report = solver
        .solve(&problem, &mut impulses, &mut velocities)
        .unwrap();
    assert_eq!((report.sweeps, report.stop), (0, StopReason::Converged));
    assert_eq!((impulses, velocities), (solved, moved));
}

#[test]
fn acceleration_has_a_switch_and_a_counter() {
    let problem = tower(3);
    let mut counts = Vec::new();
    let mut answers = Vec::new();
    for window in [0, 10] {
        let mut solver = BlockSolver::new(settings(5_000, 1e-12, window));
        let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
        let report = solver
            .solve(&problem, &mut impulses, &mut velocities)
            .unwrap();
        assert!(report.converged(), "{report:?}");
        counts.push((report.sweeps, solver.stats().accepted));
        answers.push(impulses);
    }
    assert_eq!(counts[0].1, 0);
    assert!(counts[1].1 > 3, "{counts:?}");
    assert!(2 * counts[1].0 < counts[0].0, "{counts:?}");
    // The velocities of a Coulomb problem need not be unique; the residuals are what counts.
    for impulses in &answers {
        assert!(certify(&problem, impulses).unwrap().natural_map < 2e-12);
    }
}

#[test]
fn a_budget_that_runs_out_returns_the_best_iterate() {
    let problem = tower(5);
    let mut last = f64::INFINITY;
    for window in [0, 10] {
        for budget in [1, 2, 5, 10, 20] {
            let (impulses, _, report) = solve_with(&problem, settings(budget, 1e-14, window));
            let certificate = certify(&problem, &impulses).unwrap();
            assert_eq!((report.sweeps, report.stop), (budget, StopReason::Budget));
            close(certificate.natural_map, report.residual, 1e-15);
            // A larger budget sees more iterates, of which the best is returned.
            if window > 0 {
                assert!(report.residual <= last, "{report:?}");
            }
            last = report.residual;
        }
        last = f64::INFINITY;
    }
}

#[test]
fn both_orders_end_in_an_answer() {
    let problem = tower(2);
    let mut answers = Vec::new();
    for alternate in [false, true] {
        let settings = BlockSettings {
            alternate,
            ..settings(20_000, 1e-13, 0)
        };
        let (impulses, _, report) = solve_with(&problem, settings);
        assert!(report.converged(), "{report:?}");
        assert!(certify(&problem, &impulses).unwrap().natural_map < 2e-13);
        answers.push(impulses);
    }
    // Another order of the same steps.
    assert_ne!(answers[0], answers[1]);
}

#[test]
fn used_solvers_and_forks_give_the_same_bits() {
    let problem = tower(4);
    let mut used = BlockSolver::default();
    let answer = |solver: &mut dyn ContactSolver, problem: &ContactProblem| {
        let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
        let report = solver
            .solve(problem, &mut impulses, &mut velocities)
            .unwrap();
        (report, impulses, velocities)
    };
    let fresh = answer(&mut BlockSolver::default(), &problem);
    answer(&mut used, &tower(7));
    assert_eq!(answer(&mut used, &problem), fresh);
    assert_eq!(answer(used.fork().as_mut(), &problem), fresh);
}

#[test]
fn rows_and_contacts_share_a_body() {
    // A pendulum of 1 kg hangs from a ball joint and is pushed against a wall that has no friction.
    let mut problem = ContactProblem::new(0.01).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    let linear = vec3(0.4, 0.3, -0.0981);
    let bob = body(1.0, Vec3::splat(0.1), linear, vec3(0.2, 0.0, 0.1));
    problem.add_body(bob).unwrap();
    let levers = (Vec3::ZERO, vec3(0.0, 0.0, 1.0));
    for row in ball_joint_rows((0, 1), levers, Vec3::ZERO) {
        problem.add_row(row).unwrap();
    }
    let levers = (Vec3::ZERO, vec3(0.1, 0.0, 0.0));
    problem
        .add_contact(contact((0, 1), -Vec3::X, levers, 0.0, 0.0))
        .unwrap();
    let (impulses, v, report) = solve(&problem);
    assert!(report.residual < 1e-13, "{report:?}");
    close_vec(v[1].at(vec3(0.0, 0.0, 1.0)), Vec3::ZERO, 1e-12);
    assert!(impulses.contacts[0].x > 0.1);
    close(v[1].at(vec3(0.1, 0.0, 0.0)).x, 0.0, 1e-12);
    assert!(certify(&problem, &impulses).unwrap().natural_map < 1e-13);
}

#[test]
fn a_motor_stays_within_its_bounds() {
    let mut problem = ContactProblem::new(0.01).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    problem
        .add_body(body(2.0, Vec3::ONE, vec3(0.0, 1.0, 0.0), Vec3::ZERO))
        .unwrap();
    let row = |bound: f64| Row {
        lower: -bound,
        upper: bound,
        ..Row::bilateral((0, 1), Vec3::Y, (Vec3::ZERO, Vec3::ZERO), -3.0)
    };
    problem.add_row(row(1.0)).unwrap();
    let (impulses, v, report) = solve(&problem);
    assert!(report.converged());
    assert_eq!(impulses.rows, [1.0]);
    close(v[1].linear.y, 1.5, 1e-15);
}

#[test]
fn whatever_comes_in_nothing_that_is_not_finite_leaves() {
    let problem = tower(2);
    let mut solver = BlockSolver::default();
    let mut impulses = Impulses {
        contacts: vec![vec3(f64::NAN, 1.0, 0.0), vec3(-1e300, 1e300, 0.0)],
        rows: vec![f64::INFINITY],
    };
    let mut velocities = Vec::new();
    let report = solver
        .solve(&problem, &mut impulses, &mut velocities)
        .unwrap();
    assert!(report.residual.is_finite());
    assert!(impulses.contacts.iter().all(|l| l.is_finite()));

    let mut problem = ContactProblem::new(0.01).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    problem
        .add_body(BodyInput {
            inverse_mass: 1e-300,
            inverse_inertia: SymMat3::ZERO,
            velocity: Velocity::new(vec3(0.0, 0.0, -1e300), Vec3::ZERO),
        })
        .unwrap();
    let levers = (Vec3::ZERO, Vec3::ZERO);
    problem
        .add_contact(contact((0, 1), Vec3::Z, levers, 0.5, 0.0))
        .unwrap();
    let mut impulses = problem.cold_start();
    let result = solver.solve(&problem, &mut impulses, &mut velocities);
    if let Err(error) = result {
        assert!(matches!(error, SolveError::Overflow { .. }));
    }
    assert!(impulses.contacts[0].is_finite() && velocities.iter().all(|v| v.is_finite()));
}

#[test]
fn bad_settings_are_refused() {
    let problem = tower(1);
    for (bad, message) in [
        (
            settings(1, -1.0, 10),
            "the solver `block`: tolerance is -1, must be 0 or more, and finite",
        ),
        (
            settings(1, 1e-9, 33),
            "the solver `block`: anderson_window is 33, must be at most 32",
        ),
    ] {
        let mut impulses = problem.cold_start();
        let error = BlockSolver::new(bad)
            .solve(&problem, &mut impulses, &mut Vec::new())
            .unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn nothing_to_solve_is_solved() {
    let mut problem = ContactProblem::new(0.01).unwrap();
    let velocity = Velocity::new(Vec3::X, Vec3::Y);
    problem.add_body(BodyInput::moving(velocity)).unwrap();
    let (_, v, report) = solve(&problem);
    assert!(report.converged() && report.sweeps == 0);
    assert_eq!(v, [velocity]);
}
