//! The examples of document 003, "Friction Cone Solver", under the model that it poses: the associated
//! one. Its answers to the sliding examples hold for this model and not for Coulomb's law.
//!
//! A 10 kg cube meets the ground without a lever arm, so that A = 0.1 I and the answer is the
//! projection of b/0.1 on the cone; n, t1, t2 are z, x, y.

use moreau_conformance::{Outcome, cases, run};
use moreau_constraint::{
    BodyInput, ContactFrame, ContactInput, ContactPoint, ContactProblem, Impulses, Row,
    project_cone,
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

/// Numbers in (-1, 1), the same on every run.
fn random(state: &mut u64) -> f64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// A body of 1 kg that comes down on `contacts` points of the ground.
fn landing(state: &mut u64, contacts: usize, restitution: f64) -> ContactProblem {
    let mut number = || random(state);
    let moments = vec3(number(), number(), number());
    let linear = vec3(4.0 * number(), 4.0 * number(), -2.5 + 2.0 * number());
    let angular = 6.0 * vec3(number(), number(), number());
    let mut problem = ContactProblem::new(1.0 / 60.0).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    problem
        .add_body(BodyInput {
            inverse_mass: 1.0,
            inverse_inertia: SymMat3::from_diagonal(Vec3::splat(6.0) + 3.0 * moments),
            velocity: Velocity::new(linear, angular),
        })
        .unwrap();
    for _ in 0..contacts {
        problem
            .add_contact(ContactInput {
                a: 0,
                b: 1,
                normal: Vec3::Z,
                lever_a: Vec3::ZERO,
                lever_b: vec3(0.5 * number(), 0.5 * number(), -0.5),
                separation: 0.0,
                friction: 0.6 + 0.5 * number(),
                restitution,
            })
            .unwrap();
    }
    problem
}

/// A = J M^-1 J' with 1e-10 on its diagonal, row by row, and b.
fn dense(problem: &ContactProblem) -> (Vec<Vec<f64>>, Vec<f64>) {
    let shifted = |l: &Impulses| -> Vec<f64> {
        let v = problem.velocities(l);
        let contacts = problem.contacts().iter();
        contacts
            .flat_map(|c| (problem.contact_velocity(c, &v) + c.bias).to_array())
            .collect()
    };
    let free = shifted(&problem.cold_start());
    let n = free.len();
    let mut a = vec![vec![0.0; n]; n];
    for j in 0..n {
        let mut unit = problem.cold_start();
        unit.contacts[j / 3][j % 3] = 1.0;
        for (row, (s, s0)) in a.iter_mut().zip(shifted(&unit).iter().zip(&free)) {
            row[j] = s - s0;
        }
        a[j][j] += 1e-10;
    }
    (a, free.iter().map(|s| -s).collect())
}

/// x = A^-1 r by elimination; A is positive definite.
fn eliminate(a: &[Vec<f64>], r: &[f64]) -> Vec<f64> {
    let n = r.len();
    let (mut a, mut x) = (a.to_vec(), r.to_vec());
    for k in 0..n {
        for i in k + 1..n {
            let f = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= f * a[k][j];
            }
            x[i] -= f * x[k];
        }
    }
    for k in (0..n).rev() {
        for j in k + 1..n {
            x[k] -= a[k][j] * x[j];
        }
        x[k] /= a[k][k];
    }
    x
}

/// The "block projected Newton" iteration of section M2, to the letter; whether its own residual
/// (equation 11) gets below 1e-8 in 100 steps.
fn as_printed(problem: &ContactProblem) -> bool {
    let (a, b) = dense(problem);
    let n = b.len();
    let project = |x: &[f64]| -> Vec<f64> {
        let contacts = problem.contacts().iter().enumerate();
        contacts
            .flat_map(|(i, c)| {
                let z = vec3(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
                project_cone(z, c.friction).to_array()
            })
            .collect()
    };
    let times = |x: &[f64]| -> Vec<f64> {
        let rows = a.iter();
        rows.map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum())
            .collect()
    };
    let cost = |x: &[f64]| {
        let ax = times(x);
        (0..n).fold(0.0, |f, i| f + x[i] * (0.5 * ax[i] - b[i]))
    };
    let along = |x: &[f64], d: &[f64], t: f64| -> Vec<f64> {
        project(
            &x.iter()
                .zip(d)
                .map(|(x, d)| x + t * d)
                .collect::<Vec<f64>>(),
        )
    };
    let mut x = vec![0.0; n];
    for _ in 0..100 {
        let g: Vec<f64> = times(&x).iter().zip(&b).map(|(ax, b)| ax - b).collect();
        let moved = along(&x, &g, -1.0);
        let residual = x
            .iter()
            .zip(&moved)
            .fold(0.0, |r, (x, p)| r + (x - p) * (x - p))
            .sqrt();
        if residual < 1e-8 {
            return true;
        }
        let step: Vec<f64> = eliminate(&a, &g).iter().map(|d| -d).collect();
        let (mut t, mut trial) = (1.0, along(&x, &step, 1.0));
        for _ in 0..10 {
            let change = (0..n).fold(0.0, |s, i| s + g[i] * (trial[i] - x[i]));
            if cost(&trial) <= cost(&x) + 1e-4 * change {
                break;
            }
            t *= 0.5;
            trial = along(&x, &step, t);
        }
        x = trial;
    }
    false
}

#[test]
fn the_iteration_as_printed_does_not_converge_where_contacts_are_coupled() {
    // M2 and M4 claim 3 to 8 steps. Every step aims at the unconstrained minimum, and its projection is
    // not the constrained one unless A is a multiple of I.
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    for (contacts, least, most) in [(1, 10, 60), (2, 0, 25), (4, 0, 2)] {
        let mut converged = 0;
        for _ in 0..100 {
            let problem = landing(&mut state, contacts, 0.0);
            converged += u32::from(as_printed(&problem));
            // The method here solves all of them.
            let (impulses, _, _) = solve(&problem, &problem.cold_start());
            let certificate = certify_convex(&problem, &impulses).unwrap();
            assert!(certificate.natural_map < 1e-12, "{certificate:?}");
        }
        println!("{contacts} contacts: {converged} of 100");
        assert!(
            (least..=most).contains(&converged),
            "{contacts}: {converged}"
        );
    }
    // It does where A is one.
    assert!(as_printed(&cube(vec3(1.5, -5.0, 0.0), 0.0, &[0.5])));
}

#[test]
fn restitution_with_friction_gains_energy_at_times() {
    // M7 claims that it never does; it never does without restitution.
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let (mut gains, mut largest) = (0, 0.0_f64);
    for _ in 0..500 {
        for restitution in [0.0, 1.0] {
            let problem = landing(&mut state, 1, restitution);
            let (_, v, _) = solve(&problem, &problem.cold_start());
            let free: Vec<Velocity> = problem.bodies().iter().map(|b| b.velocity).collect();
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
