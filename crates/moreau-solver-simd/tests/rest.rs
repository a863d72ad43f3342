//! Contacts that sweeps hardly change are passed by, and nothing else changes.

mod balls;

use balls::{DT, ball, touch};
use moreau_constraint::{BodyInput, ContactProblem, Impulses, Row};
use moreau_math::{Vec3, Velocity, vec3};
use moreau_solver::{ContactSolver, SolveReport, StopReason, certify};
use moreau_solver_simd::{Instructions, SimdSettings, SimdSolver, SimdStats};

/// A tower of balls on a body, which move so, from below.
fn tower(problem: &mut ContactProblem, mut below: usize, velocities: &[Vec3]) {
    for velocity in velocities {
        let next = ball(problem, *velocity);
        touch(problem, (below, next), Vec3::Y, 0.0);
        below = next;
    }
}

/// Forty towers of balls on a ground, the first one of forty, the others of five; the topmost ball of the
/// first moves at `speed`, m/s.
fn towers(speed: Vec3) -> ContactProblem {
    let mut problem = ContactProblem::new(DT).unwrap();
    let ground = problem.add_body(BodyInput::fixed()).unwrap();
    let mut velocities = [vec3(0.0, -9.81 * DT, 0.0); 40];
    velocities[39] += speed;
    tower(&mut problem, ground, &velocities);
    for _ in 1..40 {
        tower(&mut problem, ground, &velocities[..5]);
    }
    problem
}

fn solve(
    problem: &ContactProblem,
    start: &Impulses,
    settings: SimdSettings,
) -> (Impulses, Vec<Velocity>, SolveReport, SimdStats) {
    let mut solver = SimdSolver::new(settings);
    let (mut impulses, mut velocities) = (start.clone(), Vec::new());
    let report = solver
        .solve(problem, &mut impulses, &mut velocities)
        .unwrap();
    (impulses, velocities, report, solver.stats())
}

fn with(rest_part: f64) -> SimdSettings {
    SimdSettings {
        max_sweeps: 40_000,
        rest_part,
        ..SimdSettings::default()
    }
}

/// The same with a blow at the top of the first tower, and the impulses without it.
fn struck() -> (ContactProblem, Impulses) {
    let still = towers(Vec3::ZERO);
    let (start, _, report, _) = solve(&still, &still.cold_start(), with(0.0));
    assert!(report.converged(), "{report:?}");
    (towers(vec3(0.3, -1.0, 0.2)), start)
}

#[test]
fn the_answer_is_the_same_with_and_without_rest() {
    let (problem, start) = struck();
    let (_, velocities, report, stats) = solve(&problem, &start, with(0.0));
    assert!(report.converged() && stats.spared == 0, "{report:?}");
    for rest_part in [0.001, 0.02, 0.3, 0.9] {
        let (impulses, others, report, stats) = solve(&problem, &start, with(rest_part));
        assert!(report.converged(), "{rest_part} {report:?}");
        assert!(stats.spared > 0 && stats.spared < stats.visits, "{stats:?}");
        let certificate = certify(&problem, &impulses).unwrap();
        assert!(certificate.natural_map <= 1e-9, "{certificate:?}");
        // The forces are not unique, the motion is.
        for (v, w) in velocities.iter().zip(&others) {
            assert!((v.linear - w.linear).length() < 1e-6, "{v:?} {w:?}");
        }
    }
}

#[test]
fn visits_of_what_is_nearly_at_rest_are_spared() {
    let (problem, start) = struck();
    let (_, _, report, stats) = solve(&problem, &start, with(0.02));
    let sweeps = report.sweeps as usize;
    assert_eq!(stats.visits % sweeps, 0);
    assert!(5 * stats.spared > stats.visits, "{stats:?}");
}

/// What is calm at first may be so because a push has not got there: nothing rests before that.
#[test]
fn a_blow_at_one_end_gets_to_the_other() {
    let mut problem = ContactProblem::new(DT).unwrap();
    let ground = problem.add_body(BodyInput::fixed()).unwrap();
    let mut velocities = [Vec3::ZERO; 60];
    velocities[59] = -Vec3::Y;
    for _ in 0..8 {
        tower(&mut problem, ground, &velocities);
    }
    for max_sweeps in [40, 48] {
        let of = |rest_part| {
            let settings = SimdSettings {
                max_sweeps,
                tolerance: 0.0,
                keep_best: false,
                ..with(rest_part)
            };
            let (impulses, _, _, stats) = solve(&problem, &problem.cold_start(), settings);
            (certify(&problem, &impulses).unwrap().natural_map, stats)
        };
        let ((all, _), (some, stats)) = (of(0.0), of(0.02));
        assert!(stats.spared > 0, "{stats:?}");
        assert!(some <= 1.2 * all, "{max_sweeps} {some:e} {all:e}");
    }
}

/// Wherever the budget ends, what is reported is what is returned.
#[test]
fn the_report_holds_for_what_rests() {
    let (problem, start) = struck();
    for keep_best in [false, true] {
        for max_sweeps in [31, 32, 33, 34, 39, 40, 41, 44, 65] {
            let settings = SimdSettings {
                max_sweeps,
                keep_best,
                ..with(0.1)
            };
            let (impulses, velocities, report, stats) = solve(&problem, &start, settings);
            assert_eq!(report.stop, StopReason::Budget);
            assert_eq!(max_sweeps > 33, stats.spared > 0, "{max_sweeps} {stats:?}");
            let certificate = certify(&problem, &impulses).unwrap();
            let difference = (certificate.natural_map - report.residual).abs();
            assert!(difference < 1e-12, "{certificate:?} {report:?}");
            let exact = problem.velocities(&impulses);
            for (v, w) in velocities.iter().zip(&exact) {
                assert!((v.linear - w.linear).length() < 1e-12, "{v:?} {w:?}");
            }
        }
    }
}

/// Rows may be in any unit: that they change much by its measure is no reason for contacts to rest.
#[test]
fn the_unit_of_rows_does_not_matter() {
    let (mut problem, _) = struck();
    // The topmost balls of neighbours hang together.
    for tower in 1..20 {
        let top = |tower: usize| 40 + 5 * tower;
        let pair = (top(2 * tower - 1), top(2 * tower));
        let levers = (0.5 * Vec3::X, -0.5 * Vec3::X);
        let axis = vec3(0.6, 0.8, 0.0);
        let mut row = Row::bilateral(pair, axis, levers, 0.3);
        for part in [
            &mut row.linear_a,
            &mut row.angular_a,
            &mut row.linear_b,
            &mut row.angular_b,
        ] {
            *part *= 1e4;
        }
        row.bias *= 1e4;
        problem.add_row(row).unwrap();
    }
    let sweeps = [0.0, 0.02].map(|rest_part| {
        let (_, _, report, _) = solve(&problem, &problem.cold_start(), with(rest_part));
        assert!(report.converged(), "{rest_part} {report:?}");
        report.sweeps
    });
    assert!(2 * sweeps[1] < 3 * sweeps[0], "{sweeps:?}");
}

#[test]
fn the_bits_are_the_same_on_all_instructions() {
    let (problem, start) = struck();
    let of = |instructions| {
        let settings = SimdSettings {
            instructions,
            max_sweeps: 90,
            ..with(0.02)
        };
        let (impulses, _, _, stats) = solve(&problem, &start, settings);
        assert!(stats.spared > 0);
        let bits = impulses.contacts.iter().flat_map(|l| l.to_array());
        bits.map(f64::to_bits).collect::<Vec<_>>()
    };
    let baseline = of(Instructions::Baseline);
    assert_eq!(of(Instructions::Avx2), baseline);
    assert_eq!(of(Instructions::Fastest), baseline);
}

#[test]
fn a_part_that_is_no_number_is_refused() {
    let problem = towers(Vec3::ZERO);
    for rest_part in [-0.1, 1.0, f64::NAN, f64::INFINITY] {
        let mut impulses = problem.cold_start();
        let error = SimdSolver::new(with(rest_part))
            .solve(&problem, &mut impulses, &mut Vec::new())
            .unwrap_err();
        assert!(error.to_string().contains("rest_part"), "{error}");
    }
}
