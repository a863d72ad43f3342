//! The certificate of the associated model against answers made wrong by hand.

use moreau_constraint::{BodyInput, ContactFrame, ContactPoint, ContactProblem, Impulses, Row};
use moreau_math::{SymMat3, Vec3, Velocity, vec3};
use moreau_solver::{
    ConvexCertificate, SolveError, certify, certify_convex, convex_natural_map, natural_map,
};

/// A 2 kg body that meets the ground at its centre, mu = 0.5, n = z: A = I/2. With the free velocity
/// (3, 0, -1) the answer is the projection of (2; -6, 0) on the cone, (4; -2, 0), v+ = (2, 0, 1).
fn sliding() -> (ContactProblem, Impulses) {
    let mut problem = ContactProblem::new(0.01).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    problem
        .add_body(BodyInput {
            inverse_mass: 0.5,
            inverse_inertia: SymMat3::from_diagonal(Vec3::splat(2.0)),
            velocity: Velocity::new(vec3(3.0, 0.0, -1.0), Vec3::ZERO),
        })
        .unwrap();
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
        friction: 0.5,
        bias: Vec3::ZERO,
    };
    problem.add_contact_point(point).unwrap();
    let mut impulses = problem.cold_start();
    impulses.contacts[0] = vec3(4.0, -2.0, 0.0);
    (problem, impulses)
}

fn close(value: f64, want: f64) {
    assert!((value - want).abs() < 1e-14, "{value} is not {want}");
}

#[test]
fn a_right_answer_has_no_error_and_is_not_coulombs() {
    let (problem, impulses) = sliding();
    let c = certify_convex(&problem, &impulses).unwrap();
    for error in [
        c.natural_map,
        c.momentum_balance,
        c.max_cone_excess,
        c.max_dual_excess,
        c.duality_gap,
    ] {
        close(error, 0.0);
    }
    assert_eq!((c.worst_contact, c.worst_row), (Some(0), None));
    // 1/2 l'A l - b'l with b = (1, -3, 0): 1/2 · 20/2 - (4 + 6).
    close(c.cost, -5.0);
    assert!(certify(&problem, &impulses).unwrap().natural_map > 0.5);
    // Coulomb's answer is none here.
    let (problem, mut impulses) = sliding();
    impulses.contacts[0] = vec3(2.0, -1.0, 0.0);
    assert!(certify(&problem, &impulses).unwrap().natural_map < 1e-15);
    let c = certify_convex(&problem, &impulses).unwrap();
    assert!(c.natural_map > 0.5, "{c:?}");
    assert!(c.cost > -5.0 + 0.1);
}

#[test]
fn every_field_reacts_to_its_own_mistake() {
    let (problem, right) = sliding();
    let with = |l: Vec3| {
        let mut impulses = right.clone();
        impulses.contacts[0] = l;
        certify_convex(&problem, &impulses).unwrap()
    };
    close(with(vec3(4.0, -2.5, 0.0)).max_cone_excess, 0.5);
    // No impulse: s = (-1; 3, 0). Its distance to K* is that of -s to the polar cone, the length of
    // its projection on K: ((1 + 1.5)/1.25)(1; -0.5, 0).
    let none = with(Vec3::ZERO);
    close(none.max_dual_excess, 2.0 * 1.25_f64.sqrt());
    close(none.natural_map, 2.0 * 1.25_f64.sqrt());
    close(none.cost, 0.0);
    // Twice the impulse: s = (3; 1, 0), l·s = 24 - 4.
    close(with(vec3(8.0, -4.0, 0.0)).duality_gap, 20.0);
    let mut v = problem.velocities(&right);
    v[1].linear.y += 0.125;
    let moved = ConvexCertificate::of(&problem, &right, &v).unwrap();
    close(moved.momentum_balance, 0.125);
    v[1].linear.y = f64::NAN;
    let broken = ConvexCertificate::of(&problem, &right, &v).unwrap();
    assert!(broken.natural_map.is_nan() && broken.momentum_balance.is_nan());
}

#[test]
fn the_cost_is_least_at_the_answer() {
    let (problem, right) = sliding();
    let least = certify_convex(&problem, &right).unwrap().cost;
    for (x, y, z) in [
        (0.1, 0.0, 0.0),
        (-0.1, 0.05, 0.0),
        (0.0, 0.1, 0.0),
        (0.1, 0.0, 0.1),
    ] {
        let mut other = right.clone();
        other.contacts[0] += vec3(x, y, z);
        let c = certify_convex(&problem, &other).unwrap();
        assert!(
            c.max_cone_excess < 1e-12,
            "the neighbour is feasible: {c:?}"
        );
        assert!(c.cost > least, "{c:?}");
    }
}

#[test]
fn rows_count_with_their_softness() {
    let (mut problem, mut impulses) = sliding();
    let row = Row {
        regularization: 0.25,
        ..Row::bilateral((0, 1), Vec3::Y, (Vec3::ZERO, Vec3::ZERO), 0.75)
    };
    problem.add_row(row).unwrap();
    impulses.rows = vec![0.0];
    let c = certify_convex(&problem, &impulses).unwrap();
    close(c.natural_map, 0.75);
    assert_eq!((c.worst_contact, c.worst_row), (None, Some(0)));
    // (1/2 + 1/4) l + 0.75 = 0; it acts along y and so changes the contact's t2, which the contact
    // then feels.
    impulses.rows[0] = -1.0;
    let c = certify_convex(&problem, &impulses).unwrap();
    assert_eq!(c.worst_row, None);
    // 1/2 · 0.75 - 0.75 of the row.
    close(c.cost, -5.0 + 0.375 - 0.75);
}

#[test]
fn the_map_differs_from_coulombs_by_the_shift() {
    let (l, s) = (vec3(2.0, -0.6, 0.8), vec3(0.4, 0.3, -0.4));
    let shift = vec3(0.5 * 0.5, 0.0, 0.0);
    close(
        convex_natural_map(l, s + shift, 0.5, 3.0),
        natural_map(l, s, 0.5, 3.0),
    );
    assert!(convex_natural_map(l, s, 0.5, 3.0) != natural_map(l, s, 0.5, 3.0));
    // Nothing moves it: the distance to the dual cone.
    close(
        convex_natural_map(Vec3::ZERO, vec3(-0.5, 0.0, 0.0), 0.5, 0.0),
        0.5,
    );
    close(
        convex_natural_map(Vec3::ZERO, vec3(0.5, 0.6, 0.8), 0.5, 0.0),
        0.0,
    );
}

#[test]
fn lengths_must_fit() {
    let (problem, impulses) = sliding();
    let error = certify_convex(&problem, &Impulses::zero(2, 0)).unwrap_err();
    assert!(
        matches!(
            error,
            SolveError::Length {
                what: "contact",
                ..
            }
        ),
        "{error}"
    );
    assert!(ConvexCertificate::of(&problem, &impulses, &[]).is_err());
}
