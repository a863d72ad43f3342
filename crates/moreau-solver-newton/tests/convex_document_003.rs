//! The examples of document 003, "Friction Cone Solver", under the model that it poses: the associated
//! one. Its answers to the sliding examples hold for this model and not for Coulomb's law.
//!
//! A 10 kg cube meets the ground without a lever arm, so that A = 0.1 I and the answer is the
//! projection of b/0.1 on the cone; n, t1, t2 are z, x, y.

use moreau_conformance::{Outcome, cases, run};
use moreau_constraint::{
    BodyInput, ContactFrame, ContactInput, ContactPoint, ContactProblem, Impulses, Row,
};
use moreau_math::{SymMat3, Vec3, Velocity, vec3};
use moreau_solver::{ContactSolver, certify, certify_convex};
use moreau_solver_newton::{ConvexSettings, ConvexSolver};

const TOLERANCE: f64 = 1e-11;

/// The cube with contacts of the right-hand side `b` = (n, t1, t2) and these coefficients; the
/// restitution e of the normal row is part of b_n = -(1 + e) u_n.
fn cube(b: Vec3, e: f64, frictions: &[f64]) -> ContactProblem {
    let mut problem = ContactProblem::new(1.0 / 60.0).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    let normal = -b.x / (1.0 + e);
    problem
        .add_body(BodyInput {
            inverse_mass: 0.1,
            inverse_inertia: SymMat3::from_diagonal(Vec3::splat(0.6)),
            velocity: Velocity::new(vec3(-b.y, -b.z, normal), Vec3::ZERO),
        })
        .unwrap();
    for friction in frictions {
        let point = ContactPoint {
            a: 0,
            b: 1,
            frame: ContactFrame {
                normal: Vec3::Z,
                tangent1: Vec3::X,
                tangent2: Vec3::Y,
            },
            lever_a: Vec3::ZERO,
            lever_b: Vec3::ZERO,
            friction: *friction,
            bias: vec3(e * normal, 0.0, 0.0),
        };
        problem.add_contact_point(point).unwrap();
    }
    problem
}

fn solve(problem: &ContactProblem, start: &Impulses) -> (Impulses, Vec<Velocity>, u32) {
    let (mut impulses, mut v) = (start.clone(), Vec::new());
    let settings = ConvexSettings {
        tolerance: 2e-13,
        ..ConvexSettings::default()
    };
    let report = ConvexSolver::new(settings)
        .solve(problem, &mut impulses, &mut v)
        .unwrap();
    assert!(report.converged(), "{report:?}");
    (impulses, v, report.factorizations)
}

#[track_caller]
fn close(value: Vec3, want: Vec3, tolerance: f64) {
    assert!(
        (value - want).length() <= tolerance,
        "{value} is not {want}"
    );
}

#[track_caller]
fn check(b: Vec3, e: f64, friction: f64, want: Vec3) {
    let problem = cube(b, e, &[friction]);
    let (impulses, v, _) = solve(&problem, &problem.cold_start());
    close(impulses.contacts[0], want, TOLERANCE);
    let point = problem.contacts()[0];
    let s = problem.contact_velocity(&point, &v) + point.bias;
    // A l - b, and its place in the dual cone.
    close(s, 0.1 * want - b, TOLERANCE);
    let slip = (s.y * s.y + s.z * s.z).sqrt();
    assert!(
        (s.x - friction * slip).abs() < TOLERANCE || slip == 0.0,
        "{s}"
    );
}

#[test]
fn examples_1_and_2_frictionless_and_sticking() {
    check(vec3(1.5, 0.0, 0.0), 0.5, 0.0, vec3(15.0, 0.0, 0.0));
    check(vec3(1.5, -0.2, 0.0), 0.5, 0.5, vec3(15.0, -2.0, 0.0));
}

#[test]
fn example_3_slides_and_lifts_off() {
    let normal: f64 = 30.0 / 1.09;
    assert!((normal - 27.52).abs() < 5e-3);
    let want = vec3(normal, -0.18 * normal, -0.24 * normal);
    check(vec3(1.5, -3.0, -4.0), 0.5, 0.3, want);
    // It leaves with 1.75 m/s, where restitution alone gives 0.5.
    let problem = cube(vec3(1.5, -3.0, -4.0), 0.5, &[0.3]);
    let (_, v, _) = solve(&problem, &problem.cold_start());
    assert!((v[1].linear.z - (0.1 * normal - 1.0)).abs() < TOLERANCE);
    assert!((v[1].linear.z - 1.75).abs() < 5e-3);
}

#[test]
fn example_4_both_stick_and_the_split_is_not_unique() {
    let problem = cube(vec3(1.5, -1.0, 0.0), 0.5, &[0.8, 0.2]);
    let third = 1.0 / 3.0;
    let splits = [
        [
            vec3(35.0, -28.0, 0.0) * third,
            vec3(10.0, -2.0, 0.0) * third,
        ],
        [vec3(14.0, -9.9, 0.0), vec3(1.0, -0.1, 0.0)],
    ];
    let starts = splits.map(|split| Impulses {
        contacts: split.to_vec(),
        rows: Vec::new(),
    });
    for start in starts.iter().chain([&problem.cold_start()]) {
        let (impulses, v, _) = solve(&problem, start);
        close(v[1].linear, vec3(0.0, 0.0, 0.5), TOLERANCE);
        close(
            impulses.contacts[0] + impulses.contacts[1],
            vec3(15.0, -10.0, 0.0),
            TOLERANCE,
        );
    }
    // The two splits are answers already and come back as they are.
    for start in &starts {
        assert!(certify_convex(&problem, start).unwrap().natural_map < 1e-14);
        assert_eq!(&solve(&problem, start).0, start);
    }
}

#[test]
fn example_5_a_warm_start_takes_no_more_steps() {
    let (b, want) = (vec3(1.5, -5.0, 0.0), vec3(32.0, -16.0, 0.0));
    check(b, 0.0, 0.5, want);
    let problem = cube(b, 0.0, &[0.5]);
    let (_, _, cold) = solve(&problem, &problem.cold_start());
    let near = Impulses {
        contacts: vec![vec3(31.0, -15.5, 0.0)],
        rows: Vec::new(),
    };
    let (impulses, _, warm) = solve(&problem, &near);
    close(impulses.contacts[0], want, TOLERANCE);
    assert!(warm <= cold, "{warm} against {cold}");
    let (kept, _, again) = solve(&problem, &impulses);
    assert_eq!((again, kept), (0, impulses));
}

#[test]
fn example_6_grazes_and_flies() {
    check(vec3(0.001, -5.0, 0.0), 0.0, 0.5, vec3(20.008, -10.004, 0.0));
}

#[test]
fn example_7_sticks_and_slides_on_the_incline() {
    check(vec3(0.2013, 0.0671, 0.0), 0.0, 0.5, vec3(2.013, 0.671, 0.0));
    check(
        vec3(0.2013, 0.2013, 0.0),
        0.0,
        0.5,
        vec3(2.4156, 1.2078, 0.0),
    );
}

#[test]
fn restitution_with_friction_gains_energy_at_times() {
    // M7 claims that it never does; it never does without restitution.
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    let (mut gains, mut largest) = (0, 0.0_f64);
    for _ in 0..500 {
        let inverse_inertia = vec3(
            6.0 + 3.0 * random(),
            6.0 + 3.0 * random(),
            6.0 + 3.0 * random(),
        );
        let linear = vec3(4.0 * random(), 4.0 * random(), -2.5 + 2.0 * random());
        let velocity = Velocity::new(linear, 6.0 * vec3(random(), random(), random()));
        let lever_b = vec3(0.5 * random(), 0.5 * random(), -0.5);
        let friction = 0.6 + 0.5 * random();
        for restitution in [0.0, 1.0] {
            let mut problem = ContactProblem::new(1.0 / 60.0).unwrap();
            problem.add_body(BodyInput::fixed()).unwrap();
            problem
                .add_body(BodyInput {
                    inverse_mass: 1.0,
                    inverse_inertia: SymMat3::from_diagonal(inverse_inertia),
                    velocity,
                })
                .unwrap();
            problem
                .add_contact(ContactInput {
                    a: 0,
                    b: 1,
                    normal: Vec3::Z,
                    lever_a: Vec3::ZERO,
                    lever_b,
                    separation: 0.0,
                    friction,
                    restitution,
                })
                .unwrap();
            let (_, v, _) = solve(&problem, &problem.cold_start());
            let free = [Velocity::ZERO, velocity];
            let gain = problem.kinetic_energy(&v) / problem.kinetic_energy(&free) - 1.0;
            if restitution == 0.0 {
                assert!(gain <= 1e-12, "{gain}");
            } else if gain > 1e-6 {
                gains += 1;
                largest = largest.max(gain);
            }
        }
    }
    println!("{gains} of 500 gain energy, up to {largest}");
    assert!(
        (25..150).contains(&gains) && largest > 0.1,
        "{gains} {largest}"
    );
}

#[test]
fn rows_take_part() {
    // A motor at its bound drags the cube of example 3 against friction, with a soft row beside it.
    let mut problem = cube(vec3(1.5, 0.0, 0.0), 0.5, &[0.3]);
    let levers = (Vec3::ZERO, Vec3::ZERO);
    let motor = Row {
        lower: -6.0,
        upper: 6.0,
        ..Row::bilateral((0, 1), Vec3::X, levers, -3.0)
    };
    let soft = Row {
        regularization: 0.2,
        ..Row::bilateral((0, 1), Vec3::Y, levers, 0.3)
    };
    problem.add_row(motor).unwrap();
    problem.add_row(soft).unwrap();
    let (impulses, v, _) = solve(&problem, &problem.cold_start());
    let certificate = certify_convex(&problem, &impulses).unwrap();
    assert!(certificate.natural_map < 1e-13, "{certificate:?}");
    assert_eq!(impulses.rows[0], 6.0);
    assert!(v[1].linear.x > 0.05 && v[1].linear.x < 0.6, "{v:?}");
}

#[test]
fn the_kit_tells_it_from_coulombs_law() {
    let report = run(&mut ConvexSolver::default());
    assert!(!report.passed());
    let outcome = |name: &str| report.case(name).map(|case| case.outcome);
    for name in ["single_grazing", "worked_cone_3", "worked_cube_slides_axis"] {
        assert_eq!(outcome(name), Some(Outcome::Failed), "{report}");
    }
    // Where nothing slides, or nothing rubs, the two laws agree.
    for name in [
        "single_frictionless",
        "single_stick",
        "stack2_mu0",
        "stack2_ratio_1e4_mu0",
        "redundant_face4_rest_mu0.5",
        "worked_cone_4",
        "joint_pendulum",
    ] {
        let case = cases().into_iter().find(|case| case.name == name).unwrap();
        let (mut impulses, mut v) = (case.problem.cold_start(), Vec::new());
        let mut solver = ConvexSolver::default();
        let report = solver.solve(&case.problem, &mut impulses, &mut v).unwrap();
        assert!(report.converged(), "{name}");
        let coulomb = certify(&case.problem, &impulses).unwrap();
        assert!(coulomb.natural_map < 2e-10, "{name}: {coulomb:?}");
    }
}
