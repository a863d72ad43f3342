//! What `PgsSolver` promises beside the right answer.

mod support;

use moreau_constraint::{BodyInput, ContactProblem, Impulses, Row};
use moreau_math::{SymMat3, Vec3, Velocity, vec3};
use moreau_solver::files::ReferenceProblem;
use moreau_solver::{ContactSolver, SolveError, StopReason, certify};
use moreau_solver_pgs::{PgsSettings, PgsSolver};
use support::{body, close_vec, contact, read_folder, root, solve};

fn fixtures() -> Vec<ReferenceProblem> {
    read_folder(&root().join("fixtures/problems")).expect("fixtures/problems")
}

fn fixture(name: &str) -> ContactProblem {
    let file = fixtures().into_iter().find(|f| f.name.starts_with(name));
    file.unwrap().problem
}

fn solver(max_sweeps: u32, tolerance: f64) -> PgsSolver {
    PgsSolver::new(PgsSettings {
        max_sweeps,
        tolerance,
        ..PgsSettings::default()
    })
}

/// Boxes of 1 kg on top of each other, at rest but for one step of gravity.
fn stack(height: usize, friction: f64) -> ContactProblem {
    let mut problem = ContactProblem::new(1.0 / 60.0).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    for level in 1..=height {
        let free = vec3(0.0, -9.81 / 60.0, 0.0);
        problem
            .add_body(body(1.0, Vec3::splat(1.0 / 6.0), free, Vec3::ZERO))
            .unwrap();
        for (x, z) in [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)] {
            let below = if level == 1 { 0.0 } else { 0.5 };
            let levers = (vec3(x, below, z), vec3(x, -0.5, z));
            problem
                .add_contact(contact((level - 1, level), Vec3::Y, levers, friction, 0.0))
                .unwrap();
        }
    }
    problem
}

#[test]
fn a_warm_start_within_the_tolerance_comes_back_bit_for_bit() {
    let problem = stack(5, 0.5);
    let mut solver = solver(20_000, 1e-9);
    let (mut impulses, mut v) = (problem.cold_start(), Vec::new());
    let cold = solver.solve(&problem, &mut impulses, &mut v).unwrap();
    assert!(cold.converged() && cold.sweeps > 10, "{cold:?}");
    let kept = impulses.clone();
    let warm = solver.solve(&problem, &mut impulses, &mut v).unwrap();
    assert_eq!((warm.sweeps, warm.stop), (0, StopReason::Converged));
    assert_eq!(impulses, kept);
    assert_eq!(v, problem.velocities(&kept));
}

#[test]
fn the_report_is_the_certificate_of_what_is_returned() {
    for file in fixtures() {
        let problem = file.problem.clone();
        for budget in [0, 1, 7, 20, 100] {
            let (mut impulses, mut v) = (problem.cold_start(), Vec::new());
            let report = solver(budget, 0.0)
                .solve(&problem, &mut impulses, &mut v)
                .unwrap();
            let certificate = certify(&problem, &impulses).unwrap();
            assert_eq!(
                report.residual, certificate.natural_map,
                "{} {budget}",
                file.name
            );
            assert_eq!(v, problem.velocities(&impulses));
            assert!(report.sweeps <= budget);
            let worst = report.worst_contact.unwrap();
            let (c, l) = (&problem.contacts()[worst], impulses.contacts[worst]);
            let w = problem.delassus_block(c);
            let trace = w.x_axis.x + w.y_axis.y + w.z_axis.z;
            let s = problem.contact_velocity(c, &v) + c.bias;
            let map = moreau_solver::natural_map(l, s, c.friction, trace);
            assert_eq!(map, report.residual, "{} {budget}", file.name);
        }
    }
}

#[test]
fn a_larger_budget_never_returns_a_worse_answer() {
    // Budgets are multiples of the checking interval, so the larger one has seen every iterate of
    // the smaller one and keeps the best.
    for file in fixtures() {
        let problem = file.problem.clone();
        let mut last = f64::INFINITY;
        for budget in [8, 16, 24, 48, 96, 200] {
            let (mut impulses, mut v) = (problem.cold_start(), Vec::new());
            let report = solver(budget, 1e-13)
                .solve(&problem, &mut impulses, &mut v)
                .unwrap();
            // Velocities carried along in the sweeps differ from recomputed ones by rounding.
            assert!(
                report.residual <= last * (1.0 + 1e-9) + 1e-14,
                "{} {budget}",
                file.name
            );
            last = report.residual;
        }
    }
}

#[test]
fn where_no_digit_can_be_gained_it_stops_as_stalled() {
    let problem = fixture("stack2");
    let (mut impulses, mut v) = (problem.cold_start(), Vec::new());
    let report = solver(1_000_000, 0.0)
        .solve(&problem, &mut impulses, &mut v)
        .unwrap();
    assert_eq!(report.stop, StopReason::Stalled, "{report:?}");
    assert!(
        report.residual < 1e-14 && report.sweeps < 10_000,
        "{report:?}"
    );
}

#[test]
fn used_solvers_forks_and_fresh_ones_give_the_same_bits() {
    let problems: Vec<ContactProblem> =
        fixtures().iter().map(|file| file.problem.clone()).collect();
    let mut used = solver(60, 1e-12);
    assert_eq!(used.name(), "pgs");
    let run = |solver: &mut dyn ContactSolver, problem: &ContactProblem| {
        let (mut impulses, mut v) = (Impulses::default(), Vec::new());
        let report = solver.solve(problem, &mut impulses, &mut v).unwrap();
        (impulses, v, report)
    };
    let first: Vec<_> = problems.iter().map(|p| run(&mut used, p)).collect();
    let mut fork = used.fork();
    for (problem, want) in problems.iter().zip(&first).rev() {
        assert_eq!(&run(&mut used, problem), want);
        assert_eq!(&run(fork.as_mut(), problem), want);
        assert_eq!(&run(&mut solver(60, 1e-12), problem), want);
    }
}

#[test]
fn whatever_comes_in_as_a_warm_start_is_repaired() {
    let problem = fixture("stack2");
    let starts = [
        Impulses::default(),
        Impulses {
            contacts: vec![Vec3::NAN; 3],
            rows: vec![f64::INFINITY; 5],
        },
        Impulses {
            contacts: vec![vec3(-5.0, 3.0, 9.0); 20],
            rows: Vec::new(),
        },
        Impulses {
            contacts: vec![vec3(1e200, 1e200, 0.0); 8],
            rows: Vec::new(),
        },
    ];
    for (i, mut impulses) in starts.into_iter().enumerate() {
        let mut v = vec![Velocity::new(Vec3::NAN, Vec3::NAN); 40];
        let report = solver(20_000, 1e-9)
            .solve(&problem, &mut impulses, &mut v)
            .unwrap();
        assert!(v.iter().all(Velocity::is_finite), "start {i}");
        assert_eq!((impulses.contacts.len(), impulses.rows.len()), (8, 0));
        assert_eq!(v.len(), problem.bodies().len());
        // From 1e200 N s no sweep gets back; the cold start is kept as the better iterate.
        assert!(report.converged() || i == 3, "start {i}: {report:?}");
    }
}

#[test]
fn an_overflow_is_an_error_and_leaves_nothing_that_is_not_finite() {
    let mut problem = ContactProblem::new(0.01).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    let free = vec3(0.0, -1e308, 1e308);
    problem
        .add_body(body(1.0, Vec3::ONE, free, vec3(1e308, 0.0, 1e308)))
        .unwrap();
    let levers = (Vec3::ZERO, vec3(10.0, -0.5, 0.0));
    problem
        .add_contact(contact((0, 1), Vec3::Y, levers, 0.5, 0.0))
        .unwrap();
    let (mut impulses, mut v) = (problem.cold_start(), Vec::new());
    match PgsSolver::default().solve(&problem, &mut impulses, &mut v) {
        Err(error) => assert_eq!(error, SolveError::Overflow { body: 1 }),
        // Or the velocities after are within range.
        Ok(report) => assert!(!report.converged()),
    }
    assert!(v.iter().all(Velocity::is_finite));
    assert!(impulses.contacts.iter().all(|l| l.is_finite()));
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    let problem = fixture("single");
    let base = PgsSettings::default();
    for (settings, field) in [
        (
            PgsSettings {
                tolerance: f64::NAN,
                ..base
            },
            "tolerance",
        ),
        (
            PgsSettings {
                tolerance: -1.0,
                ..base
            },
            "tolerance",
        ),
        (
            PgsSettings {
                relaxation: 0.0,
                ..base
            },
            "relaxation",
        ),
        (
            PgsSettings {
                relaxation: 2.0,
                ..base
            },
            "relaxation",
        ),
        (
            PgsSettings {
                check_every: 0,
                ..base
            },
            "check_every",
        ),
    ] {
        let (mut impulses, mut v) = (problem.cold_start(), Vec::new());
        let error = PgsSolver::new(settings)
            .solve(&problem, &mut impulses, &mut v)
            .unwrap_err();
        assert!(error.to_string().contains(field), "{error}");
    }
}

#[test]
fn relaxation_and_direction_do_not_change_the_answer() {
    for file in fixtures().iter().filter(|f| f.reference.unique_in_probes) {
        let problem = file.problem.clone();
        let base = PgsSettings {
            max_sweeps: 20_000,
            tolerance: 1e-12,
            ..PgsSettings::default()
        };
        let mut answers = Vec::new();
        for (relaxation, alternate) in [(1.0, false), (0.8, false), (1.1, false), (1.0, true)] {
            let settings = PgsSettings {
                relaxation,
                alternate,
                ..base
            };
            let (mut impulses, mut v) = (problem.cold_start(), Vec::new());
            let mut solver = PgsSolver::new(settings);
            let report = solver.solve(&problem, &mut impulses, &mut v).unwrap();
            assert!(
                report.residual < 1e-9,
                "{} {settings:?} {report:?}",
                file.name
            );
            answers.push(v);
        }
        for v in &answers[1..] {
            for (v, want) in v.iter().zip(&answers[0]) {
                close_vec(v.linear, want.linear, 1e-6);
                close_vec(v.angular, want.angular, 1e-6);
            }
        }
    }
}

#[test]
fn a_frictionless_contact_is_a_contact_of_vanishing_friction() {
    // The fast path of mu = 0 against the general one at a mu that changes nothing visible.
    let (plain, general) = (stack(3, 0.0), stack(3, 1e-14));
    let (a, va, _) = solve(&plain);
    let (b, vb, _) = solve(&general);
    for (a, b) in a.contacts.iter().zip(&b.contacts) {
        close_vec(*a, *b, 1e-12);
        assert_eq!((a.y, a.z), (0.0, 0.0));
    }
    for (a, b) in va.iter().zip(&vb) {
        close_vec(a.linear, b.linear, 1e-12);
    }
    // A warm start with friction loses it.
    let mut impulses = Impulses {
        contacts: vec![vec3(1.0, 0.5, -0.5); 12],
        rows: Vec::new(),
    };
    let mut v = Vec::new();
    let report = solver(20_000, 1e-12)
        .solve(&plain, &mut impulses, &mut v)
        .unwrap();
    assert!(report.converged());
    assert!(impulses.contacts.iter().all(|l| (l.y, l.z) == (0.0, 0.0)));
}

#[test]
fn contacts_and_rows_that_nothing_moves_do_no_harm() {
    // A wheel on a fixed axle: no impulse through its axle turns it.
    let mut problem = ContactProblem::new(0.01).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    let wheel = BodyInput {
        inverse_mass: 0.0,
        inverse_inertia: SymMat3::from_diagonal(vec3(0.0, 0.0, 2.0)),
        velocity: Velocity::new(vec3(0.0, -1.0, 0.0), vec3(0.0, 0.0, 5.0)),
    };
    problem.add_body(wheel).unwrap();
    problem
        .add_contact(contact((0, 1), Vec3::Y, (Vec3::ZERO, Vec3::ZERO), 0.5, 0.0))
        .unwrap();
    problem
        .add_row(Row::bilateral(
            (0, 1),
            Vec3::Y,
            (Vec3::ZERO, Vec3::ZERO),
            0.0,
        ))
        .unwrap();
    let (mut impulses, mut v) = (problem.cold_start(), Vec::new());
    let report = PgsSolver::default()
        .solve(&problem, &mut impulses, &mut v)
        .unwrap();
    assert_eq!(report.stop, StopReason::Stalled);
    assert_eq!(report.residual, 1.0);
    assert_eq!(v[1], problem.bodies()[1].velocity);
    // A row with an arm stops the wheel.
    problem.clear();
    problem.add_body(BodyInput::fixed()).unwrap();
    problem
        .add_body(BodyInput {
            velocity: Velocity::new(Vec3::ZERO, 5.0 * Vec3::Z),
            ..wheel
        })
        .unwrap();
    problem
        .add_row(Row::bilateral(
            (0, 1),
            Vec3::X,
            (Vec3::ZERO, -0.5 * Vec3::Y),
            0.0,
        ))
        .unwrap();
    let report = PgsSolver::default()
        .solve(&problem, &mut impulses, &mut v)
        .unwrap();
    assert!(report.converged());
    // I w + r l = 0: l = -2.5/(0.25 · 2).
    assert_eq!((impulses.rows[0], v[1].angular.z), (-5.0, 0.0));
}

#[test]
fn no_constraints_means_free_flight() {
    let mut problem = ContactProblem::new(0.01).unwrap();
    let thrown = body(1.0, Vec3::ONE, Vec3::X, Vec3::Y);
    problem.add_body(thrown).unwrap();
    let (mut impulses, mut v) = (Impulses::zero(3, 2), vec![]);
    let report = PgsSolver::default()
        .solve(&problem, &mut impulses, &mut v)
        .unwrap();
    assert!(report.converged() && impulses == problem.cold_start());
    assert_eq!(v, [thrown.velocity]);
}
