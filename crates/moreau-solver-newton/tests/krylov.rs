//! The path of large islands: Krylov solves, and the convex steps before the other stages.

mod support;

use moreau_constraint::{BodyInput, ContactInput, ContactProblem};
use moreau_math::{SymMat3, Vec3, Velocity, vec3};
use moreau_solver::{ContactSolver, StopReason, certify};
use moreau_solver_newton::{NewtonSettings, NewtonSolver};
use support::{fixtures, folder};

/// A solver that leaves every linear system to Krylov methods.
fn krylov(tolerance: f64) -> NewtonSettings {
    NewtonSettings {
        tolerance,
        aim: tolerance,
        krylov_work: 0,
        ..NewtonSettings::default()
    }
}

/// Layers of `side` x `side` cubes of 1 m and 1000 kg, every other one moved by half a cube both
/// ways, so that a cube rests on up to four others with four points each. Every cube has a little
/// velocity of its own.
fn layers(side: i32, height: i32) -> ContactProblem {
    let (dt, mass) = (1.0 / 60.0, 1000.0);
    let mut problem = ContactProblem::new(dt).unwrap();
    let ground = problem.add_body(BodyInput::fixed()).unwrap();
    let mut seed = 1_u64;
    let mut number = || {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    let mut below: Vec<(usize, Vec3)> = Vec::new();
    for layer in 0..height {
        let mut this = Vec::new();
        for cell in 0..side * side {
            let shift = 0.5 * f64::from(layer % 2);
            let center = vec3(
                f64::from(cell % side) + shift,
                f64::from(layer) + 0.5,
                f64::from(cell / side) + shift,
            );
            let noise = vec3(number(), number(), number()) * 0.02;
            let body = problem
                .add_body(BodyInput {
                    inverse_mass: 1.0 / mass,
                    inverse_inertia: SymMat3::from_diagonal(Vec3::splat(6.0 / mass)),
                    velocity: Velocity::new(noise + vec3(0.0, -9.81 * dt, 0.0), noise),
                })
                .unwrap();
            let mut touch = |a: usize, at: Vec3, [x0, x1, z0, z1]: [f64; 4]| {
                for (x, z) in [(x0, z0), (x0, z1), (x1, z0), (x1, z1)] {
                    let point = vec3(x, f64::from(layer), z);
                    problem
                        .add_contact(ContactInput {
                            a,
                            b: body,
                            normal: Vec3::Y,
                            lever_a: point - at,
                            lever_b: point - center,
                            separation: 0.0,
                            friction: 0.4,
                            restitution: 0.0,
                        })
                        .unwrap();
                }
            };
            let (x, z) = (center.x, center.z);
            if layer == 0 {
                let face = [x - 0.5, x + 0.5, z - 0.5, z + 0.5];
                touch(ground, Vec3::ZERO, face);
            }
            for &(other, at) in &below {
                let range = |c: f64, o: f64| (c.max(o) - 0.5, c.min(o) + 0.5);
                let ((x0, x1), (z0, z1)) = (range(x, at.x), range(z, at.z));
                if x1 > x0 && z1 > z0 {
                    touch(other, at, [x0, x1, z0, z1]);
                }
            }
            this.push((body, center));
        }
        below = this;
    }
    problem
}

#[test]
fn every_reference_problem_is_solved_without_a_factorization() {
    let mut files = fixtures();
    files.extend(folder("made").unwrap_or_default());
    for (name, file) in files {
        let (problem, reference) = (file.problem().unwrap(), file.reference().unwrap());
        // The largest takes a minute; its systems are those of the test in `system.rs`.
        if problem.contacts().len() > 400 {
            continue;
        }
        let tolerance = reference.tolerance();
        let mut solver = NewtonSolver::new(krylov(tolerance));
        let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
        let report = solver
            .solve(problem, &mut impulses, &mut velocities)
            .unwrap();
        let certificate = certify(problem, &impulses).unwrap();
        assert!(report.converged(), "{name}: {report:?}");
        assert!(
            certificate.natural_map <= 1.001 * tolerance,
            "{name}: {certificate:?}"
        );
        let stats = solver.stats();
        assert_eq!(stats.krylov, report.factorizations, "{name}");
        assert_eq!(stats.direct, 0, "{name}");
        if reference.unique_in_probes {
            for (v, want) in velocities[1..].iter().zip(&reference.v_plus) {
                let got = [v.linear.to_array(), v.angular.to_array()].concat();
                for (got, want) in got.iter().zip(want) {
                    assert!((got - want).abs() <= 1e3 * tolerance, "{name}");
                }
            }
        }
    }
}

#[test]
fn thousands_of_contacts_are_certified() {
    let problem = layers(12, 4);
    assert!(problem.contacts().len() > 6000);
    let tolerance = 1e-8;
    let mut solver = NewtonSolver::new(krylov(tolerance));
    let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
    let start = std::time::Instant::now();
    let report = solver
        .solve(&problem, &mut impulses, &mut velocities)
        .unwrap();
    println!(
        "{} contacts: {report:?} {:?}, {:?}",
        problem.contacts().len(),
        solver.stats(),
        start.elapsed()
    );
    assert!(report.converged(), "{report:?}");
    assert!(solver.stats().krylov_iterations > 0);
    let certificate = certify(&problem, &impulses).unwrap();
    assert!(
        certificate.natural_map <= 1.001 * tolerance,
        "{certificate:?}"
    );
    // 1e-12 of the impulse of a body's weight times the height.
    assert!(certificate.max_cone_excess <= 1e-9 && certificate.min_normal_impulse >= 0.0);

    // The answer is its own warm start, and one that has been moved is found again in less.
    let answer = impulses.clone();
    let again = solver
        .solve(&problem, &mut impulses, &mut velocities)
        .unwrap();
    assert_eq!((again.sweeps, again.factorizations), (0, 0));
    assert_eq!(impulses, answer);
    for l in &mut impulses.contacts {
        *l *= 1.0 + 1e-3;
    }
    let near = solver
        .solve(&problem, &mut impulses, &mut velocities)
        .unwrap();
    println!("warm: {near:?}");
    assert!(near.converged() && near.factorizations < report.factorizations);
}

#[test]
fn a_used_solver_and_a_fork_give_the_same_bits() {
    let (problem, other) = (layers(5, 3), layers(4, 4));
    let mut used = NewtonSolver::new(krylov(1e-8));
    let solve = |solver: &mut dyn ContactSolver, problem: &ContactProblem| {
        let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
        let report = solver
            .solve(problem, &mut impulses, &mut velocities)
            .unwrap();
        (report, impulses, velocities)
    };
    let first = solve(&mut used, &problem);
    assert!(first.0.factorizations > 0);
    let mut fork = used.fork();
    solve(&mut used, &other);
    assert_eq!(solve(&mut used, &problem), first);
    assert_eq!(solve(fork.as_mut(), &problem), first);
    // An estimate of the work in between leaves no trace either.
    let mut used = NewtonSolver::new(krylov(1e-8));
    assert!(used.work_estimate(&problem) > 0);
    assert_eq!(solve(&mut used, &problem), first);
}

#[test]
fn the_setting_says_who_solves() {
    let problem = layers(4, 3);
    let work = NewtonSolver::new(NewtonSettings {
        krylov_work: u64::MAX,
        ..krylov(1e-8)
    })
    .work_estimate(&problem);
    for (krylov_work, direct) in [(work, true), (work - 1, false), (0, false)] {
        let settings = NewtonSettings {
            krylov_work,
            ..krylov(1e-8)
        };
        let mut solver = NewtonSolver::new(settings);
        let estimate = solver.work_estimate(&problem);
        assert_eq!(estimate <= krylov_work, direct);
        let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
        let report = solver
            .solve(&problem, &mut impulses, &mut velocities)
            .unwrap();
        assert!(report.converged() && report.factorizations > 0);
        let stats = solver.stats();
        let (used, other) = if direct {
            (stats.direct, stats.krylov)
        } else {
            (stats.krylov, stats.direct)
        };
        assert_eq!((used, other), (report.factorizations, 0));
        assert_eq!(stats.krylov_iterations > 0, !direct);
    }
}

#[test]
fn a_solve_that_stops_short_says_so() {
    let problem = layers(6, 4);
    let mut last = u32::MAX;
    for max_work in [100_000_000, 30_000_000, 0] {
        let mut solver = NewtonSolver::new(NewtonSettings {
            max_work,
            ..krylov(1e-13)
        });
        let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
        let report = solver
            .solve(&problem, &mut impulses, &mut velocities)
            .unwrap();
        assert_eq!(report.stop, StopReason::Budget);
        assert!(report.factorizations < last, "{report:?}");
        last = report.factorizations;
        let map = certify(&problem, &impulses).unwrap().natural_map;
        assert!(map > 1e-13 && (map - report.residual).abs() <= 1e-3 * map + 1e-13);
    }
    assert_eq!(last, 0);
}
