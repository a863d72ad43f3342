//! Contacts that are too far open for a step are left out of the sweeps, and nothing else changes.

mod balls;

use balls::{DT, ball, touch};
use moreau_constraint::{BodyInput, ContactProblem, Impulses};
use moreau_math::{Vec3, Velocity, vec3};
use moreau_solver::{ContactSolver, SolveReport, StopReason, certify};
use moreau_solver_simd::{SimdSettings, SimdSolver, SimdStats};

/// `count` towers of five balls that rest on the ground, each beside the next one with a gap that nothing
/// closes, and each under a ball that hangs `above` m over it and falls at 1 m/s.
fn towers(count: usize, above: f64) -> ContactProblem {
    let mut problem = ContactProblem::new(DT).unwrap();
    let ground = problem.add_body(BodyInput::fixed()).unwrap();
    let pull = vec3(0.0, -9.81 * DT, 0.0);
    let mut before: Option<Vec<usize>> = None;
    for _ in 0..count {
        let tower: Vec<usize> = (0..5).map(|_| ball(&mut problem, pull)).collect();
        touch(&mut problem, (ground, tower[0]), Vec3::Y, 0.0);
        for pair in tower.windows(2) {
            touch(&mut problem, (pair[0], pair[1]), Vec3::Y, 0.0);
        }
        let falling = ball(&mut problem, vec3(0.0, -1.0, 0.0));
        touch(&mut problem, (tower[4], falling), Vec3::Y, above);
        if let Some(before) = before {
            for (a, b) in before.iter().zip(&tower) {
                touch(&mut problem, (*a, *b), Vec3::X, 0.05);
            }
        }
        before = Some(tower);
    }
    problem
}

fn solve(
    problem: &ContactProblem,
    settings: SimdSettings,
) -> (Impulses, Vec<Velocity>, SolveReport, SimdStats) {
    let mut solver = SimdSolver::new(settings);
    let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
    let report = solver
        .solve(problem, &mut impulses, &mut velocities)
        .unwrap();
    (impulses, velocities, report, solver.stats())
}

fn with(leave_out_open: bool) -> SimdSettings {
    SimdSettings {
        max_sweeps: 4000,
        leave_out_open,
        ..SimdSettings::default()
    }
}

#[test]
fn gaps_that_nothing_closes_are_not_visited() {
    let problem = towers(40, 0.2);
    let (impulses, velocities, report, stats) = solve(&problem, with(true));
    assert!(report.converged(), "{report:?}");
    // Five beside each tower but the first, one above each.
    assert_eq!((stats.waiting, stats.contacts), (39 * 5 + 40, 40 * 5));
    assert_eq!(stats.woken, 0);
    let certificate = certify(&problem, &impulses).unwrap();
    assert!(certificate.natural_map <= 1e-9, "{certificate:?}");
    for (body, v) in problem.bodies().iter().zip(&velocities) {
        let falls = body.velocity.linear.y == -1.0;
        let expected = if falls {
            body.velocity.linear
        } else {
            Vec3::ZERO
        };
        assert!((v.linear - expected).length() < 1e-7, "{v:?}");
    }
    let (_, _, _, all) = solve(&problem, with(false));
    assert_eq!((all.waiting, all.contacts), (0, problem.contacts().len()));
}

/// A chain of a thousand balls of which the first is struck: each blow closes the next gap, until 20 of them move,
/// each 0.5 m/s slower than the one before.
fn chain() -> ContactProblem {
    let mut problem = ContactProblem::new(DT).unwrap();
    let mut last = ball(&mut problem, vec3(100.0, 0.0, 0.0));
    for _ in 0..1000 {
        let next = ball(&mut problem, Vec3::ZERO);
        touch(&mut problem, (last, next), Vec3::X, 0.5 * DT);
        last = next;
    }
    problem
}

#[test]
fn what_closes_later_is_found() {
    for keep_best in [false, true] {
        let problem = chain();
        let settings = SimdSettings {
            keep_best,
            ..with(true)
        };
        let (impulses, velocities, report, stats) = solve(&problem, settings);
        assert!(
            report.converged() && stats.woken >= 18,
            "{report:?} {stats:?}"
        );
        let certificate = certify(&problem, &impulses).unwrap();
        assert!(certificate.natural_map <= 1e-8, "{certificate:?}");
        let (_, others, report, stats) = solve(&problem, with(false));
        assert!(report.converged() && stats.woken == 0, "{report:?}");
        for (v, w) in velocities.iter().zip(&others) {
            assert!((v.linear - w.linear).length() < 1e-6, "{v:?} {w:?}");
        }
        let moving = velocities.iter().filter(|v| v.linear.x > 1e-6).count();
        assert!((19..=21).contains(&moving), "{moving}");
        let momentum: f64 = velocities.iter().map(|v| v.linear.x).sum();
        assert!((momentum - 100.0).abs() < 1e-9);
    }
}

/// Where the budget ends before what woke is solved, the report says so.
#[test]
fn the_report_holds_for_contacts_that_wait() {
    let problem = chain();
    for max_sweeps in [0, 1, 2, 3, 5, 9, 20] {
        let settings = SimdSettings {
            max_sweeps,
            ..with(true)
        };
        let (impulses, _, report, _) = solve(&problem, settings);
        let certificate = certify(&problem, &impulses).unwrap();
        assert!(report.residual > 1e-3, "{max_sweeps} {report:?}");
        let error = (report.residual - certificate.natural_map).abs();
        assert!(error <= 1e-9 * report.residual, "{report:?}");
    }
}

/// A tower of balls that each plain sweep hardly helps: it ends where that is allowed.
#[test]
fn a_slow_solve_may_end_before_its_tolerance() {
    let mut problem = ContactProblem::new(DT).unwrap();
    let mut below = problem.add_body(BodyInput::fixed()).unwrap();
    for _ in 0..40 {
        let next = ball(&mut problem, vec3(0.0, -9.81 * DT, 0.0));
        touch(&mut problem, (below, next), Vec3::Y, 0.0);
        below = next;
    }
    let patient = SimdSettings {
        max_sweeps: 100_000,
        tolerance: 1e-12,
        accelerate: false,
        keep_best: false,
        ..SimdSettings::default()
    };
    let all = solve(&problem, patient).2;
    // It converges where the budget is large enough.
    let slow = SimdSettings {
        slow_tolerance: 0.02,
        ..patient
    };
    assert_eq!(solve(&problem, slow).2.sweeps, all.sweeps);
    let slow = SimdSettings {
        max_sweeps: 400,
        ..slow
    };
    let (impulses, _, report, _) = solve(&problem, slow);
    assert_eq!(report.stop, StopReason::Stalled);
    assert!(report.sweeps < 300, "{report:?} {all:?}");
    let certificate = certify(&problem, &impulses).unwrap();
    assert!((report.residual - certificate.natural_map).abs() <= 1e-9 * report.residual);
    assert!(
        report.residual > 1e-12 && report.residual < 0.02,
        "{report:?}"
    );

    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        let settings = SimdSettings {
            slow_tolerance: bad,
            ..patient
        };
        let mut solver = SimdSolver::new(settings);
        let error = solver
            .solve(&problem, &mut problem.cold_start(), &mut Vec::new())
            .unwrap_err();
        assert!(error.to_string().contains("slow_tolerance"), "{error}");
    }
}
