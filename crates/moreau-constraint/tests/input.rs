//! What a contact problem refuses, and what its errors say.

use moreau_constraint::{BodyInput, ContactFrame, ContactInput, ContactPoint, ContactProblem, Row};
use moreau_math::{SymMat3, Vec3, Velocity, vec3};

fn two_bodies() -> ContactProblem {
    let mut problem = ContactProblem::new(0.01).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    let ball = BodyInput {
        inverse_mass: 0.5,
        inverse_inertia: SymMat3::from_diagonal(Vec3::splat(3.0)),
        velocity: Velocity::new(vec3(1.0, -2.0, 0.5), vec3(0.0, 0.1, 0.2)),
    };
    problem.add_body(ball).unwrap();
    problem
}

fn touching() -> ContactInput {
    ContactInput {
        a: 0,
        b: 1,
        normal: Vec3::Y,
        lever_a: Vec3::ZERO,
        lever_b: vec3(0.1, -0.5, 0.0),
        separation: 0.0,
        friction: 0.4,
        restitution: 0.5,
    }
}

#[track_caller]
fn refused(change: impl Fn(&mut ContactInput), message: &str) {
    let mut problem = two_bodies();
    let mut input = touching();
    change(&mut input);
    let error = problem.add_contact(input).unwrap_err();
    assert_eq!(error.to_string(), message);
    assert!(problem.contacts().is_empty());
}

#[test]
fn bad_contacts_are_refused_with_the_field_and_its_value() {
    refused(
        |c| c.friction = -0.5,
        "contact 0: friction is -0.5, must be 0 or more, and finite",
    );
    refused(
        |c| c.friction = f64::NAN,
        "contact 0: friction is NaN, must be 0 or more, and finite",
    );
    refused(
        |c| c.restitution = 1.5,
        "contact 0: restitution is 1.5, must be 0 to 1",
    );
    refused(
        |c| c.separation = f64::INFINITY,
        "contact 0: separation is inf, must be finite",
    );
    refused(
        |c| c.normal = 2.0 * Vec3::Y,
        "contact 0: |normal| is 2, must be 1 within 1e-6",
    );
    refused(
        |c| c.b = 7,
        "contact 0: b is 7, but the problem has 2 bodies",
    );
    refused(
        |c| c.a = 1,
        "contact 0: nothing can move between bodies 1 and 1",
    );
    refused(
        |c| c.lever_b.z = f64::NAN,
        "contact 0: lever_b is [0.1, -0.5, NaN], must be finite",
    );
}

#[test]
fn a_frame_must_be_orthonormal() {
    let mut problem = two_bodies();
    let mut point = ContactPoint {
        a: 0,
        b: 1,
        frame: ContactFrame::new(Vec3::Y),
        lever_a: Vec3::ZERO,
        lever_b: Vec3::ZERO,
        friction: 0.5,
        bias: Vec3::ZERO,
    };
    point.frame.tangent2 = point.frame.tangent1;
    let error = problem.add_contact_point(point).unwrap_err().to_string();
    assert!(
        error.starts_with("contact 0: tangent1·tangent2 is "),
        "{error}"
    );
    point.frame = ContactFrame::new(Vec3::Y);
    assert_eq!(problem.add_contact_point(point), Ok(0));
    let error = problem.set_bias(1, Vec3::ZERO).unwrap_err();
    assert_eq!(
        error.to_string(),
        "contact 1 was named, but the problem has 1 contacts"
    );
    assert!(problem.set_bias(0, Vec3::NAN).is_err());
    assert_eq!(problem.contacts()[0].bias, Vec3::ZERO);
}

#[test]
fn bad_bodies_and_rows_are_refused() {
    let mut problem = two_bodies();
    let mut body = BodyInput::fixed();
    body.inverse_mass = -1.0;
    let error = problem.add_body(body).unwrap_err();
    assert_eq!(
        error.to_string(),
        "body 2: inverse_mass is -1, must be 0 or more, and finite"
    );
    let mut row = Row::bilateral((0, 1), Vec3::X, (Vec3::ZERO, Vec3::ZERO), 0.0);
    row.lower = 1.0;
    row.upper = 0.0;
    let error = problem.add_row(row).unwrap_err();
    assert_eq!(
        error.to_string(),
        "row 0: upper is 0, must be a number not below `lower`"
    );
    assert!(ContactProblem::new(0.0).is_err());
}

#[test]
fn a_problem_from_a_file_is_checked_like_any_other() {
    let mut problem = two_bodies();
    problem.add_contact(touching()).unwrap();
    let good = serde_json::to_value(&problem).unwrap();
    let back: ContactProblem = serde_json::from_value(good.clone()).unwrap();
    assert_eq!(back, problem);
    for (field, value) in [("a", 9), ("b", 0), ("friction", -1)] {
        let mut bad = good.clone();
        bad["contacts"][0][field] = value.into();
        assert!(
            serde_json::from_value::<ContactProblem>(bad).is_err(),
            "{field}"
        );
    }
}

#[test]
fn the_bias_of_a_contact_follows_its_gap_and_approach() {
    let mut problem = two_bodies();
    // v + w x r with r = (0.1, -0.5, 0): u_n = -2 + w_z r_x - w_x r_z = -1.98.
    problem.add_contact(touching()).unwrap();
    let bias = problem.contacts()[0].bias;
    assert!((bias - vec3(-0.99, 0.0, 0.0)).length() < 1e-15, "{bias}");
    let open = ContactInput {
        separation: 0.03,
        ..touching()
    };
    problem.add_contact(open).unwrap();
    assert!((problem.contacts()[1].bias.x - 3.0).abs() < 1e-14);
    problem.set_bounce_threshold(1.985);
    problem.add_contact(touching()).unwrap();
    assert_eq!(problem.contacts()[2].bias.x, 0.0);
}

#[test]
fn the_delassus_block_is_the_velocity_change_of_unit_impulses() {
    let mut problem = two_bodies();
    let other = BodyInput {
        inverse_mass: 2.0,
        inverse_inertia: SymMat3 {
            xx: 3.0,
            yy: 2.0,
            zz: 4.0,
            xy: 0.5,
            xz: -0.3,
            yz: 0.2,
        },
        velocity: Velocity::ZERO,
    };
    let c = problem.add_body(other).unwrap();
    let normal = vec3(2.0, 3.0, 6.0) / 7.0;
    let lever_a = vec3(0.3, 0.2, -0.4);
    problem
        .add_contact(ContactInput {
            a: 1,
            b: c,
            normal,
            lever_a,
            ..touching()
        })
        .unwrap();
    let point = problem.contacts()[0];
    let w = problem.delassus_block(&point);
    let before = problem.free_velocity(&point);
    for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
        let mut impulses = problem.cold_start();
        impulses.contacts[0] = axis;
        let v = problem.velocities(&impulses);
        let change = problem.contact_velocity(&point, &v) - before;
        assert!((change - w * axis).length() < 1e-14, "{axis}");
    }
    // A row is one axis of it.
    let row = Row::bilateral((1, c), normal, (lever_a, point.lever_b), 0.0);
    assert!((problem.row_diagonal(&row) - w.x_axis.x).abs() < 1e-14);
}

#[test]
fn a_problem_can_be_turned_into_one_of_pseudo_velocities() {
    let mut problem = two_bodies();
    problem.add_contact(touching()).unwrap();
    let pull = (Vec3::ZERO, Vec3::ZERO);
    problem
        .add_row(Row::bilateral((0, 1), Vec3::X, pull, 0.1))
        .unwrap();
    let before = problem.clone();
    problem.stop_bodies();
    problem.clear_rows();
    problem.make_frictionless(0, -0.25).unwrap();
    assert!(problem.rows().is_empty());
    let (old, new) = (&before.contacts()[0], &problem.contacts()[0]);
    assert_eq!(new.bias, vec3(-0.25, 0.0, 0.0));
    assert_eq!(new.friction, 0.0);
    assert_eq!((new.a, new.b, new.frame), (old.a, old.b, old.frame));
    assert_eq!((new.lever_a, new.lever_b), (old.lever_a, old.lever_b));
    for (old, new) in before.bodies().iter().zip(problem.bodies()) {
        assert_eq!(new.velocity, Velocity::ZERO);
        assert_eq!(new.inverse_mass, old.inverse_mass);
    }
    assert!(problem.make_frictionless(1, 0.0).is_err());
    assert!(problem.make_frictionless(0, f64::NAN).is_err());
    assert_eq!(problem.contacts()[0].bias.x, -0.25);
}

#[test]
fn contacts_are_filled_in_parts_or_not_at_all() {
    let point = |x: f64| ContactPoint {
        a: 0,
        b: 1,
        frame: ContactFrame::new(Vec3::Y),
        lever_a: vec3(x, 0.0, 0.0),
        lever_b: vec3(x, -0.5, 0.0),
        friction: 0.5,
        bias: Vec3::ZERO,
    };
    let mut one_by_one = two_bodies();
    let mut problem = two_bodies();
    for i in 0..12 {
        one_by_one.add_contact_point(point(f64::from(i))).unwrap();
    }
    problem.add_contact_point(point(0.0)).unwrap();
    let added = problem.add_contacts_by(11, |places| {
        let (first, second) = places.split_at(4);
        assert_eq!((first.len(), second.len()), (4, 7));
        second.fill(|i| point(5.0 + i as f64))?;
        first.fill(|i| point(1.0 + i as f64))
    });
    assert_eq!(added, Ok(1..12));
    assert_eq!(problem, one_by_one);

    // What is refused, or not given, leaves the problem as it was.
    let bad = problem.add_contacts_by(5, |places| {
        let (first, second) = places.split_at(2);
        first.fill(|_| point(0.0))?;
        second.fill(|i| point(if i == 1 { f64::NAN } else { 0.0 }))
    });
    assert_eq!(
        bad.unwrap_err().to_string(),
        "contact 15: lever_a is [NaN, 0, 0], must be finite"
    );
    let missing = problem.add_contacts_by(5, |places| places.split_at(2).0.fill(|_| point(0.0)));
    assert_eq!(
        missing.unwrap_err().to_string(),
        "3 of the contacts that were to be filled are missing"
    );
    assert_eq!(problem, one_by_one);
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        problem.add_contacts_by(5, |places| {
            places.fill(|i| point(if i < 3 { 0.0 } else { panic!("at {i}") }))
        })
    }));
    assert!(panic.is_err());
    assert_eq!(problem, one_by_one);
}

#[test]
fn bodies_filled_in_parts_are_those_added_one_by_one() {
    let body = |x: f64| BodyInput {
        inverse_mass: x,
        inverse_inertia: SymMat3::from_diagonal(Vec3::splat(x)),
        velocity: Velocity::new(Vec3::X * x, Vec3::ZERO),
    };
    let mut one_by_one = ContactProblem::new(0.01).unwrap();
    let mut problem = one_by_one.clone();
    for i in 0..12 {
        one_by_one.add_body(body(f64::from(i))).unwrap();
    }
    // Places that hold something from before.
    for i in 0..20 {
        problem.add_body(body(100.0 + f64::from(i))).unwrap();
    }
    problem.clear();
    problem.add_body(body(0.0)).unwrap();
    let added = problem.add_bodies_by(11, |places| {
        let (first, second) = places.split_at(4);
        assert_eq!((first.len(), second.len()), (4, 7));
        second.fill(|i| body(5.0 + i as f64))?;
        first.fill(|i| body(1.0 + i as f64))
    });
    assert_eq!(added, Ok(1..12));
    assert_eq!(problem, one_by_one);

    // What is refused, or not given, leaves the problem as it was.
    let bad = problem.add_bodies_by(5, |places| {
        let (first, second) = places.split_at(2);
        first.fill(|_| body(1.0))?;
        second.fill(|i| body(if i == 1 { -1.0 } else { 1.0 }))
    });
    assert_eq!(
        bad.unwrap_err().to_string(),
        "body 15: inverse_mass is -1, must be 0 or more, and finite"
    );
    let missing = problem.add_bodies_by(5, |places| places.split_at(2).0.fill(|_| body(1.0)));
    assert_eq!(
        missing.unwrap_err().to_string(),
        "3 of the bodies that were to be filled are missing"
    );
    assert_eq!(problem, one_by_one);
}

#[test]
fn friction_and_bounce_are_taken_in_parts() {
    let mut problem = two_bodies();
    for _ in 0..5 {
        problem.add_contact(touching()).unwrap();
    }
    let mut one_by_one = problem.clone();
    for i in [0, 1, 2, 4] {
        one_by_one.make_frictionless(i, -1.0 - i as f64).unwrap();
    }
    let set = problem.make_frictionless_by(|contacts| {
        let (first, second) = contacts.split_at(2);
        assert_eq!((first.len(), second.len()), (2, 3));
        let second = second.set_biases(|i, _| if i == 1 { f64::NAN } else { -3.0 - i as f64 });
        (first.set_biases(|i, _| -1.0 - i as f64), second)
    });
    assert_eq!(set, (true, false));
    assert_eq!(problem, one_by_one);
}
