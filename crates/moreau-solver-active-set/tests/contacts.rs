//! Frictionless contact problems: redundant contacts, joints, bounds, no solutions, order.

use moreau_constraint::{BodyInput, ContactInput, ContactProblem, Impulses, Row, ball_joint_rows};
use moreau_math::{SymMat3, Vec3, Velocity, vec3};
use moreau_solver::{ContactSolver, SolveError, SolveReport, StopReason, certify};
use moreau_solver_active_set::{ActiveSetSettings, ActiveSetSolver};

struct Random(u64);

impl Random {
    fn signed(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self) -> Vec3 {
        vec3(self.signed(), self.signed(), self.signed())
    }
}

fn body(mass: f64, inertia: Vec3, linear: Vec3, angular: Vec3) -> BodyInput {
    BodyInput {
        inverse_mass: 1.0 / mass,
        inverse_inertia: SymMat3::from_diagonal(inertia.recip()),
        velocity: Velocity::new(linear, angular),
    }
}

fn contact((a, b): (usize, usize), normal: Vec3, levers: (Vec3, Vec3), e: f64) -> ContactInput {
    ContactInput {
        a,
        b,
        normal,
        lever_a: levers.0,
        lever_b: levers.1,
        separation: 0.0,
        friction: 0.0,
        restitution: e,
    }
}

fn solve(problem: &ContactProblem) -> (Impulses, Vec<Velocity>, SolveReport) {
    let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
    let report = ActiveSetSolver::default()
        .solve(problem, &mut impulses, &mut velocities)
        .unwrap();
    (impulses, velocities, report)
}

#[track_caller]
fn close(value: Vec3, want: Vec3, tolerance: f64) {
    assert!(
        (value - want).length() <= tolerance,
        "{value} is not {want} within {tolerance}"
    );
}

/// Signorini's law to 1e-12 m/s, by a certificate that shares no code with the pivots.
#[track_caller]
fn check(problem: &ContactProblem, impulses: &Impulses, report: &SolveReport) {
    assert_eq!(report.stop, StopReason::Converged, "{report:?}");
    let certificate = certify(problem, impulses).unwrap();
    assert!(certificate.natural_map <= 1e-12, "{certificate:?}");
    assert!(certificate.min_normal_impulse >= 0.0);
    assert!(certificate.min_normal_velocity >= -1e-12);
    assert!((certificate.natural_map - report.residual).abs() < 1e-15);
}

/// Cubes of 1 m on each other, `corners` contacts a face, on the ground.
fn tower(masses: &[f64], corners: &[(f64, f64)]) -> ContactProblem {
    let mut problem = ContactProblem::new(1.0 / 60.0).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    for (k, mass) in masses.iter().enumerate() {
        let inertia = Vec3::splat(mass / 6.0);
        let cube = body(*mass, inertia, vec3(0.1, 0.0, -9.81 / 60.0), Vec3::ZERO);
        problem.add_body(cube).unwrap();
        for (x, y) in corners {
            let top = if k == 0 { 0.0 } else { 0.5 };
            let levers = (vec3(*x, *y, top), vec3(*x, *y, -0.5));
            problem
                .add_contact(contact((k, k + 1), Vec3::Z, levers, 0.0))
                .unwrap();
        }
    }
    problem
}

const FACE: [(f64, f64); 4] = [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)];

#[test]
fn a_tower_rests_on_its_faces() {
    let problem = tower(&[1.0; 5], &FACE);
    let (impulses, v, report) = solve(&problem);
    check(&problem, &impulses, &report);
    for v in &v[1..] {
        close(v.linear, vec3(0.1, 0.0, 0.0), 1e-13);
        close(v.angular, Vec3::ZERO, 1e-13);
    }
    let weight: f64 = impulses.contacts[..4].iter().map(|l| l.x).sum();
    assert!((weight - 5.0 * 9.81 / 60.0).abs() < 1e-12);
}

#[test]
fn heavy_on_light_is_as_exact_as_numbers_allow() {
    for ratio in [1e2, 1e4, 1e6] {
        let problem = tower(&[1.0, ratio, 1.0, ratio], &FACE);
        let (impulses, v, report) = solve(&problem);
        // One unit in the last place of an impulse, on the lightest body, a few times over.
        let largest = impulses.contacts.iter().fold(0.0, |m: f64, l| m.max(l.x));
        let floor = 8.0 * f64::EPSILON * largest;
        assert!(report.residual <= floor.max(1e-12), "{ratio} {report:?}");
        assert!(report.converged() || report.residual > 1e-10, "{report:?}");
        for v in &v[1..] {
            close(v.linear, vec3(0.1, 0.0, 0.0), 10.0 * floor);
        }
    }
}

#[test]
fn piles_of_cubes_in_any_motion_are_exact() {
    // Degenerate (faces, grids, equal velocities) and ill-conditioned (mass ratios) at once.
    let mut random = Random(6);
    for k in 0..2000 {
        let count = 1 + k % 5;
        let mut problem = ContactProblem::new(1.0 / 60.0).unwrap();
        problem.add_body(BodyInput::fixed()).unwrap();
        let whole = |random: &mut Random| (3.0 * random.signed()).round();
        let mut heaviest = 1.0_f64;
        for b in 0..count {
            let mass = [1.0, 1.0, 10.0, 1e3][((random.signed() + 1.0) * 2.0) as usize];
            heaviest = heaviest.max(mass);
            let linear = vec3(whole(&mut random), whole(&mut random), whole(&mut random));
            let angular = vec3(whole(&mut random), whole(&mut random), 0.0);
            problem
                .add_body(body(mass, Vec3::splat(mass / 6.0), linear, angular))
                .unwrap();
            let below = if k % 3 == 0 { 0 } else { b };
            for (x, y) in FACE {
                let top = if below == 0 { 0.0 } else { 0.5 };
                let levers = (vec3(x, y, top), vec3(x, y, -0.5));
                let e = [0.0, 0.5, 1.0][k / 5 % 3];
                let input = contact((below, b + 1), Vec3::Z, levers, e);
                problem.add_contact(input).unwrap();
            }
        }
        let (impulses, _, report) = solve(&problem);
        assert!(report.converged(), "{k} {report:?}");
        let certificate = certify(&problem, &impulses).unwrap();
        let rounding = 1e-13 * heaviest;
        assert!(
            certificate.natural_map <= rounding.max(1e-12),
            "{k} {certificate:?}"
        );
        if k / 5 % 3 == 0 {
            // Without bounces; with them, Newton's law on several contacts can gain energy.
            assert!(
                certificate.energy_change <= 1e-9 * heaviest,
                "{k} {certificate:?}"
            );
        }
    }
}

#[test]
fn the_same_contact_twice_changes_nothing() {
    let once = tower(&[2.0], &FACE);
    let twice: Vec<(f64, f64)> = FACE.into_iter().chain(FACE).chain(FACE).collect();
    let twice = tower(&[2.0], &twice);
    let (one, two) = (solve(&once), solve(&twice));
    check(&twice, &two.0, &two.2);
    close(one.1[1].linear, two.1[1].linear, 1e-13);
    close(one.1[1].angular, two.1[1].angular, 1e-13);
}

/// A random heap of a few bodies with contacts in random places.
fn heap(random: &mut Random, contacts: usize) -> ContactProblem {
    let mut problem = ContactProblem::new(0.01).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    for _ in 0..3 {
        let inertia = vec3(
            1.2 + random.signed(),
            1.2 + random.signed(),
            1.2 + random.signed(),
        );
        let input = body(
            1.5 + random.signed(),
            inertia,
            2.0 * random.vector(),
            random.vector(),
        );
        problem.add_body(input).unwrap();
    }
    for k in 0..contacts {
        let pair = [(0, 1), (1, 2), (0, 3), (2, 3), (0, 2)][k % 5];
        let normal = random.vector().normalize();
        let levers = (random.vector(), random.vector());
        let e = 0.5 * (random.signed() + 1.0);
        problem
            .add_contact(contact(pair, normal, levers, e))
            .unwrap();
    }
    problem
}

#[test]
fn random_heaps_are_exact() {
    let mut random = Random(3);
    let mut pressing = 0;
    for k in 0..400 {
        let problem = heap(&mut random, 1 + k % 9);
        let (impulses, _, report) = solve(&problem);
        check(&problem, &impulses, &report);
        pressing += impulses.contacts.iter().filter(|l| l.x > 0.0).count();
    }
    assert!(pressing > 400);
}

/// The same problem with contacts in the order of `order`.
fn reordered(problem: &ContactProblem, order: &[usize]) -> ContactProblem {
    let mut other = ContactProblem::new(problem.dt()).unwrap();
    for b in problem.bodies() {
        other.add_body(*b).unwrap();
    }
    for i in order {
        other.add_contact_point(problem.contacts()[*i]).unwrap();
    }
    other
}

#[test]
fn velocities_do_not_depend_on_the_order_of_contacts() {
    let mut random = Random(4);
    let problems: Vec<ContactProblem> = (0..60)
        .map(|k| heap(&mut random, 2 + k % 8))
        .chain([tower(&[1.0; 5], &FACE), tower(&[1.0, 50.0, 3.0], &FACE)])
        .collect();
    for problem in problems {
        let n = problem.contacts().len();
        let want = solve(&problem).1;
        for shift in [1, n / 2, n - 1] {
            let mut order: Vec<usize> = (0..n).map(|i| (i + shift) % n).collect();
            order.reverse();
            let got = solve(&reordered(&problem, &order)).1;
            for (got, want) in got.iter().zip(&want) {
                close(got.linear, want.linear, 1e-11);
                close(got.angular, want.angular, 1e-11);
            }
        }
    }
}

#[test]
fn joints_motors_and_contacts_meet() {
    // A pendulum on a ball joint, pressed by a motor of limited impulse against a wall.
    let mut problem = ContactProblem::new(0.01).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    problem
        .add_body(body(1.0, Vec3::splat(0.1), vec3(0.3, 0.2, 0.0), Vec3::ZERO))
        .unwrap();
    let pivot = vec3(0.0, 0.0, 1.0);
    for row in ball_joint_rows((0, 1), (Vec3::ZERO, pivot), Vec3::ZERO) {
        problem.add_row(row).unwrap();
    }
    let motor = |speed: f64, bound: f64| Row {
        linear_a: Vec3::ZERO,
        linear_b: Vec3::ZERO,
        angular_a: -Vec3::Y,
        angular_b: Vec3::Y,
        lower: -bound,
        upper: bound,
        ..Row::bilateral((0, 1), Vec3::Y, (Vec3::ZERO, Vec3::ZERO), -speed)
    };
    problem.add_row(motor(-5.0, 0.3)).unwrap();
    problem.add_row(motor(4.0, 0.1)).unwrap();
    let levers = (Vec3::ZERO, vec3(0.1, 0.0, 0.0));
    problem
        .add_contact(contact((0, 1), -Vec3::X, levers, 0.0))
        .unwrap();
    let (impulses, v, report) = solve(&problem);
    check(&problem, &impulses, &report);
    close(v[1].at(pivot), Vec3::ZERO, 1e-13);
    // Both motors are at their bounds: they pull apart.
    assert_eq!((impulses.rows[3], impulses.rows[4]), (-0.3, 0.1));
    assert!(impulses.contacts[0].x > 0.0);
}

#[test]
fn bounds_hold_one_way_and_both() {
    // 2 kg at 1 m/s and rows along x with all kinds of bounds; closed forms.
    let cases = [
        // (lower, upper, bias, velocity, impulse)
        (f64::NEG_INFINITY, f64::INFINITY, 0.0, 0.0, -2.0),
        (f64::NEG_INFINITY, 0.0, 0.0, 0.0, -2.0),
        (0.0, f64::INFINITY, 0.0, 1.0, 0.0),
        (-0.5, 0.5, 0.0, 0.75, -0.5),
        (-0.5, 9.0, -3.0, 3.0, 4.0),
        (-0.5, 1.0, -3.0, 1.5, 1.0),
        (0.25, 0.25, 0.0, 1.125, 0.25),
        (f64::NEG_INFINITY, 3.0, -9.0, 2.5, 3.0),
    ];
    for (lower, upper, bias, velocity, impulse) in cases {
        let mut problem = ContactProblem::new(0.01).unwrap();
        problem.add_body(BodyInput::fixed()).unwrap();
        problem
            .add_body(body(2.0, Vec3::ONE, Vec3::X, Vec3::ZERO))
            .unwrap();
        let row = Row::bilateral((0, 1), Vec3::X, (Vec3::ZERO, Vec3::ZERO), bias);
        problem
            .add_row(Row {
                lower,
                upper,
                ..row
            })
            .unwrap();
        let (impulses, v, report) = solve(&problem);
        assert!(report.converged(), "{lower} {upper} {report:?}");
        close(v[1].linear, velocity * Vec3::X, 1e-14);
        assert!((impulses.rows[0] - impulse).abs() < 1e-14);
    }
}

#[test]
fn redundant_joints_hold_and_contradictions_are_named() {
    let pinned = |second: f64| {
        let mut problem = ContactProblem::new(0.01).unwrap();
        problem.add_body(BodyInput::fixed()).unwrap();
        problem
            .add_body(body(1.0, Vec3::ONE, Vec3::ONE, Vec3::X))
            .unwrap();
        // The same ball joint twice.
        for bias in [Vec3::ZERO, second * Vec3::X] {
            for row in ball_joint_rows((0, 1), (Vec3::ZERO, Vec3::Z), bias) {
                problem.add_row(row).unwrap();
            }
        }
        solve(&problem)
    };
    let (_, v, report) = pinned(0.0);
    assert!(report.converged(), "{report:?}");
    close(v[1].at(Vec3::Z), Vec3::ZERO, 1e-13);
    let (impulses, _, report) = pinned(0.5);
    assert_eq!(report.stop, StopReason::NoSolution);
    assert!(impulses.rows.iter().all(|l| l.is_finite()));
}

#[test]
fn a_squeezed_body_has_no_solution() {
    // Two immovable jaws close at 1 m/s each on a ball.
    let mut problem = ContactProblem::new(0.01).unwrap();
    for speed in [1.0, -1.0] {
        let velocity = Velocity::new(speed * Vec3::X, Vec3::ZERO);
        problem.add_body(BodyInput::moving(velocity)).unwrap();
    }
    problem
        .add_body(body(1.0, Vec3::ONE, Vec3::ZERO, Vec3::ZERO))
        .unwrap();
    for (jaw, normal) in [(0, Vec3::X), (1, -Vec3::X)] {
        let levers = (Vec3::ZERO, -0.5 * normal);
        problem
            .add_contact(contact((jaw, 2), normal, levers, 0.0))
            .unwrap();
    }
    let (impulses, _, report) = solve(&problem);
    assert_eq!(report.stop, StopReason::NoSolution, "{report:?}");
    // The middle is the best that can be had.
    assert!(report.residual < 1.01, "{report:?}");
    assert!(impulses.contacts.iter().all(|l| l.is_finite()));
}

#[test]
fn a_warm_start_is_kept_and_its_active_set_is_tried_first() {
    let problem = tower(&[1.0; 4], &FACE);
    let mut solver = ActiveSetSolver::default();
    let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
    solver
        .solve(&problem, &mut impulses, &mut velocities)
        .unwrap();
    assert!(solver.pivots() > 0);
    let solved = impulses.clone();
    let report = solver
        .solve(&problem, &mut impulses, &mut velocities)
        .unwrap();
    assert_eq!((report.factorizations, &impulses), (0, &solved));
    // The same contacts press, a little harder.
    for l in &mut impulses.contacts {
        *l *= 1.3;
    }
    let report = solver
        .solve(&problem, &mut impulses, &mut velocities)
        .unwrap();
    check(&problem, &impulses, &report);
    assert_eq!((report.factorizations, solver.pivots()), (1, 0));
}

#[test]
fn used_solvers_and_forks_give_the_same_bits() {
    let problem = tower(&[1.0, 2.0, 3.0], &FACE);
    let answer = |solver: &mut dyn ContactSolver, problem: &ContactProblem| {
        let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
        let report = solver
            .solve(problem, &mut impulses, &mut velocities)
            .unwrap();
        (report, impulses, velocities)
    };
    let fresh = answer(&mut ActiveSetSolver::default(), &problem);
    let mut used = ActiveSetSolver::default();
    answer(&mut used, &heap(&mut Random(5), 9));
    assert_eq!(answer(&mut used, &problem), fresh);
    assert_eq!(answer(used.fork().as_mut(), &problem), fresh);
}

#[test]
fn what_it_does_not_take_is_refused() {
    let mut problem = tower(&[1.0; 5], &FACE);
    let mut solver = ActiveSetSolver::default();
    assert_eq!(solver.accepts(&problem), Ok(()));
    let levers = (Vec3::ZERO, Vec3::ZERO);
    problem
        .add_contact(contact((0, 1), Vec3::Z, levers, 0.0))
        .unwrap();
    let mut impulses = problem.cold_start();
    let error = solver
        .solve(&problem, &mut impulses, &mut Vec::new())
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the solver `active-set` does not take more contacts and rows than `max_rows`"
    );
    let mut large = ActiveSetSolver::new(ActiveSetSettings {
        max_rows: 21,
        ..ActiveSetSettings::default()
    });
    assert!(
        large
            .solve(&problem, &mut impulses, &mut Vec::new())
            .is_ok()
    );

    let mut problem = tower(&[1.0], &FACE[..1]);
    let mut rough = contact((0, 1), Vec3::Z, levers, 0.0);
    rough.friction = 0.1;
    problem.add_contact(rough).unwrap();
    assert_eq!(
        solver.accepts(&problem),
        Err(SolveError::Unsupported {
            solver: "active-set",
            what: "contacts with friction"
        })
    );
}

#[test]
fn bad_numbers_do_no_harm() {
    let problem = tower(&[1.0], &FACE);
    let mut impulses = Impulses {
        contacts: vec![vec3(f64::NAN, 0.0, 0.0), vec3(-5.0, 3.0, 1e300)],
        rows: vec![1.0],
    };
    let mut velocities = Vec::new();
    let report = ActiveSetSolver::default()
        .solve(&problem, &mut impulses, &mut velocities)
        .unwrap();
    check(&problem, &impulses, &report);
    let settings = ActiveSetSettings {
        tolerance: f64::NAN,
        ..ActiveSetSettings::default()
    };
    assert!(
        ActiveSetSolver::new(settings)
            .solve(&problem, &mut impulses, &mut velocities)
            .is_err()
    );
}
