//! Whatever the warm start is: the answer is that of the problem.

use moreau_constraint::{BodyInput, ContactInput, ContactProblem, Impulses};
use moreau_math::{SymMat3, Vec3, Velocity, vec3};
use moreau_solver::{ContactSolver, SolveReport, certify};
use moreau_solver_simd::{SimdSettings, SimdSolver};

const DT: f64 = 0.01;

/// A ball of 1 kg on another body, with friction 0.5.
fn put(problem: &mut ContactProblem, below: usize, velocity: Vec3) -> usize {
    let ball = BodyInput {
        inverse_mass: 1.0,
        inverse_inertia: SymMat3::ZERO,
        velocity: Velocity::new(velocity, Vec3::ZERO),
    };
    let ball = problem.add_body(ball).unwrap();
    let contact = ContactInput {
        a: below,
        b: ball,
        normal: Vec3::Y,
        lever_a: 0.5 * Vec3::Y,
        lever_b: -0.5 * Vec3::Y,
        separation: 0.0,
        friction: 0.5,
        restitution: 0.0,
    };
    problem.add_contact(contact).unwrap();
    ball
}

/// Balls on each other that slide at 0.01 m/s: they stop, and each bears those above.
fn tower(height: usize) -> ContactProblem {
    let mut problem = ContactProblem::new(DT).unwrap();
    let mut below = problem.add_body(BodyInput::fixed()).unwrap();
    for _ in 0..height {
        below = put(&mut problem, below, vec3(0.01, -9.81 * DT, 0.0));
    }
    problem
}

fn solve(problem: &ContactProblem, warm: Vec3, keep_best: bool) -> (Impulses, SolveReport) {
    let mut solver = SimdSolver::new(SimdSettings {
        max_sweeps: 20_000,
        keep_best,
        ..SimdSettings::default()
    });
    let mut impulses = problem.cold_start();
    impulses.contacts.fill(warm);
    let report = solver
        .solve(problem, &mut impulses, &mut Vec::new())
        .unwrap();
    (impulses, report)
}

/// Sweeps change velocities; those of a far too large warm start are rounded to more than the answer.
#[test]
fn far_too_large_ones_leave_nothing_behind() {
    let problem = tower(8);
    for keep_best in [false, true] {
        for size in [1e9, 1e12, 1e20, 1e100, 1e160, 1e300] {
            for warm in [vec3(size, 0.0, 0.0), vec3(size, -size, size)] {
                let (impulses, report) = solve(&problem, warm, keep_best);
                assert!(report.converged(), "{size} {keep_best} {report:?}");
                let certificate = certify(&problem, &impulses).unwrap();
                assert!(certificate.natural_map <= 2e-9, "{size} {certificate:?}");
                for (k, impulse) in impulses.contacts.iter().enumerate() {
                    let borne = (8 - k) as f64 * 9.81 * DT;
                    assert!((impulse.x - borne).abs() < 1e-7, "{size} {k} {impulse}");
                }
            }
        }
    }
}

/// A solve that starts anew, with velocities that fit, leaves what rests at rest, and counts it so.
#[test]
fn what_rests_does_so_after_a_new_start() {
    let mut problem = tower(8);
    // Eight packs that are solved from the start.
    for _ in 0..64 {
        put(&mut problem, 0, -Vec3::Y);
    }
    let mut impulses = problem.cold_start();
    impulses.contacts.fill(Vec3::X);
    // As large as may be: the sweeps end where the rounding of this is left in the velocities.
    impulses.contacts[..8].fill(vec3(1e8, 0.0, 0.0));
    let mut solver = SimdSolver::new(SimdSettings {
        max_sweeps: 20_000,
        ..SimdSettings::default()
    });
    let report = solver
        .solve(&problem, &mut impulses, &mut Vec::new())
        .unwrap();
    assert!(report.converged(), "{report:?}");
    let may_rest = (33..=report.sweeps as usize).filter(|sweep| sweep % 8 != 0);
    // Those after which it looks, and the first of the new start, visit all.
    let (most, whole) = (may_rest.count(), 4);
    let stats = solver.stats();
    let spared = 8 * (most - whole)..=8 * most;
    assert!(spared.contains(&stats.spared), "{report:?} {stats:?}");
}
