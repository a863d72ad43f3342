//! The examples of document 003, "Friction Cone Solver", under Coulomb's law.
//!
//! A 10 kg cube meets the ground without a lever arm, so that A = 0.1 I; n, t1, t2 are z, x, y. The
//! document's answers to the sliding examples are those of the associated model, in which a sliding
//! body lifts off with mu |u_t|. Normal impulses act on the cube, as they do in the document's text.

mod support;

use moreau_constraint::{BodyInput, ContactFrame, ContactPoint, ContactProblem, Impulses, Row};
use moreau_math::{Vec3, vec3};
use moreau_solver::certify;
use support::{body, close, close_vec, solve};

const TOLERANCE: f64 = 1e-12;

/// The cube with the free velocity `u` and contacts of the given coefficients, all at its centre.
/// Vectors are (n, t1, t2); `e` acts on the normal row only.
fn cube(u: Vec3, e: f64, frictions: &[f64]) -> ContactProblem {
    let mut problem = ContactProblem::new(1.0 / 60.0).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    let inertia = Vec3::splat(10.0 / 6.0);
    problem
        .add_body(body(10.0, inertia, vec3(u.y, u.z, u.x), Vec3::ZERO))
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
            bias: vec3(e * u.x, 0.0, 0.0),
        };
        problem.add_contact_point(point).unwrap();
    }
    problem
}

/// The impulse on the cube and its velocity after, both (n, t1, t2).
#[track_caller]
fn check(u: Vec3, e: f64, friction: f64, impulse: Vec3, velocity: Vec3) {
    let problem = cube(u, e, &[friction]);
    let (impulses, v, report) = solve(&problem);
    assert!(report.converged(), "{report:?}");
    close_vec(impulses.contacts[0], impulse, TOLERANCE);
    close_vec(
        problem.contact_velocity(&problem.contacts()[0], &v),
        velocity,
        TOLERANCE,
    );
}

/// The document's right-hand side b = A lambda of a free contact is minus the free velocity where
/// e = 0.
fn from_rhs(b: Vec3) -> Vec3 {
    -b
}

#[test]
fn examples_1_and_2_frictionless_and_sticking() {
    check(
        vec3(-1.0, 0.0, 0.0),
        0.5,
        0.0,
        vec3(15.0, 0.0, 0.0),
        vec3(0.5, 0.0, 0.0),
    );
    check(
        vec3(-1.0, 0.2, 0.0),
        0.5,
        0.5,
        vec3(15.0, -2.0, 0.0),
        vec3(0.5, 0.0, 0.0),
    );
}

#[test]
fn example_3_a_sliding_cube_bounces_by_restitution_alone() {
    let u = vec3(-1.0, 3.0, 4.0);
    check(u, 0.5, 0.3, vec3(15.0, -2.7, -3.6), vec3(0.5, 2.73, 3.64));
    // The associated model's answer is on the cone too, but leaves with 0.5 + mu |u_t| = 1.75 m/s.
    let problem = cube(u, 0.5, &[0.3]);
    let normal = 30.0 / 1.09;
    let mut associated = problem.cold_start();
    associated.contacts[0] = vec3(normal, -0.18 * normal, -0.24 * normal);
    let v = problem.velocities(&associated);
    let after = problem.contact_velocity(&problem.contacts()[0], &v);
    close(after.x, 1.752, 5e-4);
    close(
        after.x - 0.5,
        0.3 * vec3(0.0, after.y, after.z).length(),
        TOLERANCE,
    );
    let certificate = certify(&problem, &associated).unwrap();
    close(certificate.max_cone_excess, 0.0, TOLERANCE);
    assert!(certificate.natural_map > 0.5);
}

#[test]
fn example_4_both_contacts_stick_and_any_split_is_right() {
    let problem = cube(vec3(-1.0, 1.0, 0.0), 0.5, &[0.8, 0.2]);
    let (impulses, v, report) = solve(&problem);
    assert!(report.converged());
    for point in problem.contacts() {
        close_vec(
            problem.contact_velocity(point, &v),
            vec3(0.5, 0.0, 0.0),
            TOLERANCE,
        );
    }
    close_vec(
        impulses.contacts[0] + impulses.contacts[1],
        vec3(15.0, -10.0, 0.0),
        TOLERANCE,
    );
    // The split that regularization prefers, both on their cones, and another one.
    let third = 1.0 / 3.0;
    for split in [
        [
            vec3(35.0 * third, -28.0 * third, 0.0),
            vec3(10.0 * third, -2.0 * third, 0.0),
        ],
        [vec3(14.0, -9.9, 0.0), vec3(1.0, -0.1, 0.0)],
    ] {
        let contacts = split.to_vec();
        let answer = Impulses {
            contacts,
            rows: Vec::new(),
        };
        let certificate = certify(&problem, &answer).unwrap();
        assert!(certificate.natural_map < 1e-14, "{certificate:?}");
    }
}

#[test]
fn examples_5_and_6_slide_and_do_not_fly() {
    let b = vec3(1.5, -5.0, 0.0);
    check(
        from_rhs(b),
        0.0,
        0.5,
        vec3(15.0, -7.5, 0.0),
        vec3(0.0, 4.25, 0.0),
    );
    let grazing = vec3(0.001, -5.0, 0.0);
    check(
        from_rhs(grazing),
        0.0,
        0.5,
        vec3(0.01, -0.005, 0.0),
        vec3(0.0, 4.9995, 0.0),
    );
}

#[test]
fn example_5_a_warm_start_takes_fewer_sweeps() {
    let problem = cube(from_rhs(vec3(1.5, -5.0, 0.0)), 0.0, &[0.5]);
    let (impulses, _, cold) = solve(&problem);
    let mut warm = impulses.clone();
    let mut solver = moreau_solver_pgs::PgsSolver::default();
    let mut v = Vec::new();
    let report =
        moreau_solver::ContactSolver::solve(&mut solver, &problem, &mut warm, &mut v).unwrap();
    assert!(report.sweeps == 0 && cold.sweeps > 0);
    assert_eq!(warm, impulses);
}

#[test]
fn example_7_sticks_and_slides_on_the_incline() {
    // t1 points uphill: the friction of the sliding case pushes uphill with mu l_n.
    check(
        from_rhs(vec3(0.2013, 0.0671, 0.0)),
        0.0,
        0.5,
        vec3(2.013, 0.671, 0.0),
        Vec3::ZERO,
    );
    let slides = vec3(0.0, -0.10065, 0.0);
    check(
        from_rhs(vec3(0.2013, 0.2013, 0.0)),
        0.0,
        0.5,
        vec3(2.013, 1.0065, 0.0),
        slides,
    );
}

#[test]
fn restitution_is_of_the_normal_row_only() {
    // Equation 5 and M7: v_n+ = -e v_n-, and the tangent of a sticking contact stops dead.
    for e in [0.0, 0.3, 1.0] {
        let normal = 10.0 * (1.0 + e);
        check(
            vec3(-1.0, 0.2, -0.1),
            e,
            0.5,
            vec3(normal, -2.0, 1.0),
            vec3(e, 0.0, 0.0),
        );
    }
}

#[test]
fn regularization_shifts_the_normal_impulse() {
    // Examples 1 and 2 ask for 1e-8 of a system with 1e-10 on its diagonal: 1.5/(0.1 + 1e-10) is
    // 1.5e-8 off 15.
    for regularization in [0.0, 1e-10] {
        let row = Row {
            lower: 0.0,
            regularization,
            ..Row::bilateral((0, 1), Vec3::Z, (Vec3::ZERO, Vec3::ZERO), -0.5)
        };
        let mut problem = cube(vec3(-1.0, 0.0, 0.0), 0.5, &[]);
        problem.add_row(row).unwrap();
        let (impulses, _, report) = solve(&problem);
        assert!(report.converged());
        close(15.0 - impulses.rows[0], 150.0 * regularization, 1e-13);
    }
}
