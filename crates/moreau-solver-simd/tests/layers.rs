//! Several sweeps go through large problems side by side, and nothing else changes.

mod balls;

use balls::{DT, ball, touch};
use moreau_constraint::{BodyInput, ContactProblem, Row};
use moreau_math::{SymMat3, Vec3, Velocity, libm, vec3};
use moreau_solver::{ContactSolver, SolveReport, certify};
use moreau_solver_simd::{Instructions, SimdSettings, SimdSolver, SimdStats};

/// Balls of 1 to 2 kg in a lattice of so many along x, y and z, some missing, on the ground, in the order of their
/// numbers or of another one; the balls beside each other have a gap of `beside` m.
fn lattice(size: [usize; 3], stride: usize, beside: f64) -> ContactProblem {
    let mut problem = ContactProblem::new(DT).unwrap();
    let count = size.iter().product::<usize>();
    let missing = |number: usize| number % 23 == 7;
    let mut bodies = vec![usize::MAX; count];
    for k in 0..count {
        let number = k * stride % count;
        if !missing(number) {
            let inverse_mass = 1.0 / (1.0 + (number * 37 % 101) as f64 / 101.0);
            let body = BodyInput {
                inverse_mass,
                inverse_inertia: SymMat3::from_diagonal(Vec3::splat(10.0 * inverse_mass)),
                velocity: Velocity::new(vec3(0.0, -9.81 * DT, 0.0), Vec3::ZERO),
            };
            bodies[number] = problem.add_body(body).unwrap();
        }
    }
    // Not the first one: nothing depends on where those that do not move stand.
    let ground = problem.add_body(BodyInput::fixed()).unwrap();
    for number in (0..count).filter(|number| !missing(*number)) {
        let [x, y, z] = place(size, number);
        let mut touch_at = |at: [usize; 3], normal: Vec3, gap: f64| {
            let other = at[0] + size[0] * (at[1] + size[1] * at[2]);
            if at.iter().zip(size).all(|(k, most)| *k < most) && !missing(other) {
                touch(&mut problem, (bodies[number], bodies[other]), normal, gap);
            }
        };
        touch_at([x + 1, y, z], vec3(1.0, 0.1, 0.0).normalize(), beside);
        touch_at([x, y + 1, z], vec3(0.1, 1.0, 0.2).normalize(), 0.0);
        touch_at([x, y, z + 1], vec3(0.0, -0.1, 1.0).normalize(), beside);
        if y == 0 {
            touch(&mut problem, (ground, bodies[number]), Vec3::Y, 0.0);
        }
    }
    problem
}

fn place([x, y, _]: [usize; 3], number: usize) -> [usize; 3] {
    [number % x, number / x % y, number / (x * y)]
}

fn solve(
    problem: &ContactProblem,
    settings: SimdSettings,
) -> (Vec<Vec3>, Vec<Velocity>, SolveReport, SimdStats) {
    let mut solver = SimdSolver::new(settings);
    solver.use_pool(true);
    let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
    let report = solver
        .solve(problem, &mut impulses, &mut velocities)
        .unwrap();
    let certificate = certify(problem, &impulses).unwrap();
    let difference = (certificate.natural_map - report.residual).abs();
    assert!(difference < 1e-12, "{certificate:?} {report:?}");
    (impulses.contacts, velocities, report, solver.stats())
}

/// In layers from a thousand contacts on, or never.
fn with(layers: bool) -> SimdSettings {
    SimdSettings {
        max_sweeps: 20_000,
        layers_from: if layers { 1000 } else { usize::MAX },
        ..SimdSettings::default()
    }
}

/// Forces and motions of such a heap are not unique: what counts is the certificate.
#[test]
fn the_answer_is_as_good_with_layers() {
    for (size, stride) in [([5, 5, 25], 1), ([5, 4, 30], 7), ([25, 6, 5], 11)] {
        let problem = lattice(size, stride, 0.0);
        for layers in [false, true] {
            let (_, _, report, stats) = solve(&problem, with(layers));
            assert!(report.converged(), "{size:?} {layers} {report:?}");
            assert_eq!(stats.side_by_side > 1, layers, "{stats:?}");
        }
    }
}

/// Also where momentum starts anew at looks only. The residual of one budget is some times larger or smaller by chance,
/// so that many are compared.
#[test]
fn as_many_sweeps_are_worth_as_much() {
    let residuals = |stride: usize, max_sweeps: u32| {
        let problem = lattice([5, 5, 60], stride, 0.0);
        [false, true].map(|layers| {
            let settings = SimdSettings {
                max_sweeps,
                keep_best: false,
                ..with(layers)
            };
            let (_, _, report, stats) = solve(&problem, settings);
            assert_eq!(report.sweeps, max_sweeps);
            assert_eq!(stats.visits % max_sweeps as usize, 0);
            report.residual
        })
    };
    let (mut sum, mut late, mut count) = (0.0, 0.0, 0.0);
    for stride in [1, 7, 11] {
        for max_sweeps in [8, 16, 24, 32, 40, 50, 64, 80] {
            let [one, several] = residuals(stride, max_sweeps);
            sum += libm::log(several / one);
            let [one, several] = residuals(stride, 100 + 2 * max_sweeps);
            late += libm::log(several / one);
            count += 1.0;
        }
    }
    let (early, late) = (libm::exp(sum / count), libm::exp(late / count));
    assert!(early < 3.0 && late < 1.5, "{early} {late}");
}

#[test]
fn the_bits_are_the_same_on_all_threads_and_instructions() {
    // Contacts beside wake up on the way.
    for beside in [0.0, 3e-4] {
        let problem = lattice([5, 5, 120], 7, beside);
        for (max_sweeps, check_every) in [(150, 8), (61, 5), (40, 1), (45, 40)] {
            let of = |threads: usize, instructions| {
                let settings = SimdSettings {
                    max_sweeps,
                    check_every,
                    instructions,
                    ..with(true)
                };
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                let pool = pool.build().unwrap();
                let (impulses, _, report, stats) = pool.install(|| solve(&problem, settings));
                assert!(stats.side_by_side > 1, "{stats:?}");
                assert_eq!(stats.threads > 1, threads > 1, "{stats:?}");
                let bits = impulses.iter().flat_map(|l| l.to_array());
                let bits: Vec<_> = bits.map(f64::to_bits).collect();
                (bits, report, stats.woken, stats.spared)
            };
            let one = of(1, Instructions::Baseline);
            assert_eq!(beside > 0.0, one.2 > 0, "{} woken", one.2);
            for threads in [1, 2, 3, 8] {
                for instructions in [Instructions::Fastest, Instructions::Avx2] {
                    let other = of(threads, instructions);
                    assert!(one == other, "{threads} {instructions:?} {max_sweeps}");
                }
            }
        }
    }
}

/// What waits may join bodies that nothing else joins: layers count it.
#[test]
fn contacts_that_wake_up_find_their_layers() {
    let problem = lattice([3, 40, 20], 11, 3e-4);
    let (_, _, report, stats) = solve(&problem, with(true));
    assert!(report.converged(), "{report:?}");
    assert!(stats.woken > 0 && stats.side_by_side > 1, "{stats:?}");
}

/// Islands beside each other share layers.
#[test]
fn islands_of_one_problem_do_not_disturb_each_other() {
    let mut problem = ContactProblem::new(DT).unwrap();
    let ground = problem.add_body(BodyInput::fixed()).unwrap();
    for tower in 0..60 {
        let mut below = ground;
        for _ in 0..10 + tower % 30 {
            let next = ball(&mut problem, vec3(0.0, -9.81 * DT, 0.0));
            touch(&mut problem, (below, next), Vec3::Y, 0.0);
            below = next;
        }
    }
    // A ball that nothing touches, and one that nothing moves.
    let free = ball(&mut problem, vec3(1.0, 2.0, 3.0));
    problem.add_body(BodyInput::fixed()).unwrap();
    let (_, velocities, report, stats) = solve(&problem, with(true));
    assert!(report.converged() && stats.side_by_side > 1, "{stats:?}");
    assert_eq!(velocities[free].linear, vec3(1.0, 2.0, 3.0));
    for (body, v) in velocities.iter().enumerate().filter(|(k, _)| *k != free) {
        assert!(v.linear.length() < 1e-7, "{body} {v:?}");
    }
}

/// Where rows join bodies, where all bodies are near to each other, and where there are few contacts.
#[test]
fn sweeps_follow_each_other_where_they_must() {
    let mut rows = lattice([5, 5, 60], 1, 0.0);
    let levers = (0.5 * Vec3::X, -0.5 * Vec3::X);
    rows.add_row(Row::bilateral((0, 1200), Vec3::X, levers, 0.0))
        .unwrap();
    let mut hub = ContactProblem::new(DT).unwrap();
    let plate = ball(&mut hub, Vec3::ZERO);
    for _ in 0..3000 {
        let next = ball(&mut hub, vec3(0.0, -9.81 * DT, 0.0));
        touch(&mut hub, (plate, next), Vec3::Y, 0.0);
    }
    let small = lattice([5, 5, 10], 1, 0.0);
    for problem in [rows, hub, small] {
        let settings = SimdSettings {
            max_sweeps: 30,
            ..with(true)
        };
        let (impulses, _, _, stats) = solve(&problem, settings);
        assert_eq!(stats.side_by_side, 0);
        // With the bits that they have without the setting.
        let settings = SimdSettings {
            layers_from: usize::MAX,
            ..settings
        };
        assert_eq!(solve(&problem, settings).0, impulses);
    }
}

/// Contacts that wait are looked at after powers of two of sweeps, whenever looks come and whatever is kept.
#[test]
fn contacts_wake_up_between_looks() {
    let problem = lattice([5, 5, 60], 7, 3e-4);
    for check_every in [3, 5, 100] {
        let settings = SimdSettings {
            max_sweeps: 30,
            check_every,
            keep_best: false,
            ..with(true)
        };
        let (_, _, _, stats) = solve(&problem, settings);
        assert!(stats.side_by_side > 1 && stats.waiting + stats.woken > 0);
        let (_, _, _, other) = solve(
            &problem,
            SimdSettings {
                layers_from: usize::MAX,
                ..settings
            },
        );
        // One after the other they wake up.
        assert!(
            other.woken > 0 && 2 * stats.woken > other.woken,
            "{check_every} {stats:?} {other:?}"
        );
    }
}

/// What is known of one problem serves the next one, where that has the same contacts between the same bodies: so in
/// each step for the velocities and the correction of overlaps.
#[test]
fn a_solver_that_has_seen_other_problems_gives_the_same_bits() {
    let first = lattice([5, 5, 60], 7, 3e-4);
    let mut pushed = first.clone();
    pushed.make_frictionless(40, -1e-3).unwrap();
    // The same pairs, of which fewer bodies move; and other pairs of as many.
    let mut stands: Vec<_> = first.bodies().iter().map(BodyInput::is_immovable).collect();
    for k in (0..stands.len()).step_by(13) {
        let beside = |body: usize| {
            let contacts = first.contacts().iter();
            let mut contacts = contacts.filter(|c| c.a == body || c.b == body);
            contacts.any(|c| stands[c.a] || stands[c.b])
        };
        stands[k] |= !beside(k);
    }
    let mut held = ContactProblem::new(DT).unwrap();
    for (body, stands) in first.bodies().iter().zip(&stands) {
        let body = if *stands { BodyInput::fixed() } else { *body };
        held.add_body(body).unwrap();
    }
    for contact in first.contacts() {
        held.add_contact_point(*contact).unwrap();
    }
    assert!(stands.iter().filter(|stands| **stands).count() > 50);
    let other = lattice([5, 5, 60], 11, 3e-4);
    assert_eq!(first.contacts().len(), other.contacts().len());
    let settings = SimdSettings {
        max_sweeps: 60,
        ..with(true)
    };
    let mut old = SimdSolver::new(settings);
    for problem in [&first, &pushed, &first, &held, &other, &held, &pushed] {
        let answer = |solver: &mut SimdSolver| {
            let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
            solver
                .solve(problem, &mut impulses, &mut velocities)
                .unwrap();
            assert!(solver.stats().side_by_side > 1);
            let numbers = impulses.contacts.iter().flat_map(|l| l.to_array());
            numbers.map(f64::to_bits).collect::<Vec<_>>()
        };
        let new = answer(&mut SimdSolver::new(settings));
        assert!(answer(&mut old) == new);
    }
}
