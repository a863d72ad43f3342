//! The certificate against answers made wrong by hand: every field reacts to its own mistake.

use moreau_constraint::{BodyInput, ContactInput, ContactProblem, Impulses, Row};
use moreau_math::{SymMat3, Vec3, Velocity, vec3};
use moreau_solver::{Certificate, SolveError, certify, natural_map, row_natural_map};

/// A 2 kg ball of inertia 0.5 that slides at 3 m/s along x and falls at 1 m/s on the ground, mu 0.4,
/// without a lever arm: l = (2, friction 0.8 against x).
fn sliding() -> (ContactProblem, Impulses) {
    let mut problem = ContactProblem::new(0.01).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    let ball = BodyInput {
        inverse_mass: 0.5,
        inverse_inertia: SymMat3::from_diagonal(Vec3::splat(2.0)),
        velocity: Velocity::new(vec3(3.0, -1.0, 0.0), Vec3::ZERO),
    };
    problem.add_body(ball).unwrap();
    let contact = ContactInput {
        a: 0,
        b: 1,
        normal: Vec3::Y,
        lever_a: Vec3::ZERO,
        lever_b: Vec3::ZERO,
        separation: 0.0,
        friction: 0.4,
        restitution: 0.0,
    };
    problem.add_contact(contact).unwrap();
    let mut impulses = problem.cold_start();
    set(&problem, &mut impulses, vec3(-0.8, 2.0, 0.0));
    (problem, impulses)
}

/// Sets the contact's impulse to the world vector `p`.
fn set(problem: &ContactProblem, impulses: &mut Impulses, p: Vec3) {
    impulses.contacts[0] = problem.contacts()[0].frame.to_local(p);
}

fn close(value: f64, want: f64) {
    assert!((value - want).abs() < 1e-14, "{value} is not {want}");
}

#[test]
fn a_right_answer_has_no_error() {
    let (problem, impulses) = sliding();
    let c = certify(&problem, &impulses).unwrap();
    for error in [
        c.natural_map,
        c.momentum_balance,
        c.min_normal_velocity,
        c.max_complementarity,
        c.max_cone_excess,
        c.max_direction_error,
    ] {
        assert!(error.abs() < 1e-15, "{c:?}");
    }
    assert_eq!((c.worst_contact, c.worst_row), (Some(0), None));
    close(c.min_normal_impulse, 2.0);
    // From (3, -1) to (2.6, 0): 1 kg/2 · (6.76 - 10) = -3.24 J, and the ground takes up (-0.8, 2).
    close(c.energy_change, 2.6 * 2.6 - 10.0);
    close(c.directional_momentum_drift, 2.0);
}

#[test]
fn a_pull_shows_in_the_normal_impulse() {
    let (problem, mut impulses) = sliding();
    set(&problem, &mut impulses, vec3(0.0, -0.25, 0.0));
    let c = certify(&problem, &impulses).unwrap();
    close(c.min_normal_impulse, -0.25);
    close(c.min_normal_velocity, -1.125);
    close(c.max_cone_excess, 0.1);
    assert!(c.natural_map > 0.5);
}

#[test]
fn a_push_that_separates_shows_in_complementarity() {
    let (problem, mut impulses) = sliding();
    set(&problem, &mut impulses, vec3(-1.2, 3.0, 0.0));
    let c = certify(&problem, &impulses).unwrap();
    close(c.min_normal_velocity, 0.5);
    close(c.max_complementarity, 1.5);
    close(c.max_cone_excess, 0.0);
    close(c.max_direction_error, 0.0);
    // rho = 3/trace(W) = 2: the step l - rho (s + g, s_t) leaves the cone by about s_n.
    assert!(c.natural_map > 0.1, "{c:?}");
}

#[test]
fn friction_beyond_the_cone_shows_in_the_excess() {
    let (problem, mut impulses) = sliding();
    set(&problem, &mut impulses, vec3(-1.3, 2.0, 0.0));
    let c = certify(&problem, &impulses).unwrap();
    close(c.max_cone_excess, 0.5);
    assert!(c.natural_map > 0.1);
}

#[test]
fn friction_in_a_wrong_direction_shows_in_the_direction_error() {
    let (problem, mut impulses) = sliding();
    // Along z and not against x: the right direction is nearly (-1, 0) since the sliding is fast.
    set(&problem, &mut impulses, vec3(0.0, 2.0, 0.8));
    let c = certify(&problem, &impulses).unwrap();
    close(c.max_cone_excess, 0.0);
    close(c.min_normal_velocity, 0.0);
    assert!(
        c.max_direction_error > 0.8 && c.max_direction_error < 1.6,
        "{c:?}"
    );
    // Pushing the ball forward is worse still, and gains energy against the right answer.
    set(&problem, &mut impulses, vec3(0.8, 2.0, 0.0));
    let forward = certify(&problem, &impulses).unwrap();
    close(forward.max_direction_error, 1.6);
    close(forward.energy_change, 3.4 * 3.4 - 10.0);
    // No friction at all: 0.8 N s are missing.
    set(&problem, &mut impulses, vec3(0.0, 2.0, 0.0));
    close(
        certify(&problem, &impulses).unwrap().max_direction_error,
        0.8,
    );
}

#[test]
fn velocities_that_do_not_follow_from_the_impulses_show_in_the_balance() {
    let (problem, impulses) = sliding();
    let right = problem.velocities(&impulses);
    let of = |v: &[Velocity]| Certificate::of(&problem, &impulses, v).unwrap();
    assert_eq!(of(&right).momentum_balance, 0.0);
    let mut linear = right.clone();
    linear[1].linear.z += 0.125;
    close(of(&linear).momentum_balance, 0.125);
    // Angular: I w²/m = 0.5 · 0.04 / 2 = 0.01, so a spin of 0.2 rad/s counts as 0.1 m/s.
    let mut angular = right.clone();
    angular[1].angular.y += 0.2;
    close(of(&angular).momentum_balance, 0.1);
    // A fixed body must not move either.
    let mut ground = right.clone();
    ground[0].angular.x = 0.5;
    close(of(&ground).momentum_balance, 0.5);
}

#[test]
fn momentum_drift_is_zero_between_free_bodies_and_sees_every_direction() {
    let mut problem = ContactProblem::new(0.01).unwrap();
    for speed in [1.0, -2.0] {
        let body = BodyInput {
            inverse_mass: 1.0,
            inverse_inertia: SymMat3::from_diagonal(Vec3::ONE),
            velocity: Velocity::new(vec3(speed, 0.3, -0.1), Vec3::ZERO),
        };
        problem.add_body(body).unwrap();
    }
    let contact = ContactInput {
        a: 0,
        b: 1,
        normal: Vec3::X,
        lever_a: vec3(0.5, 0.2, 0.0),
        lever_b: vec3(-0.5, 0.2, 0.0),
        separation: 0.0,
        friction: 0.4,
        restitution: 0.0,
    };
    problem.add_contact(contact).unwrap();
    let mut impulses = problem.cold_start();
    impulses.contacts[0] = vec3(1.7, 0.3, -0.2);
    let v = problem.velocities(&impulses);
    let drift = |v: &[Velocity]| {
        Certificate::of(&problem, &impulses, v)
            .unwrap()
            .directional_momentum_drift
    };
    assert!(drift(&v) < 1e-15);
    // A change along a face diagonal is largest along that diagonal, and whole there.
    for d in [
        Vec3::X,
        vec3(0.0, 1.0, -1.0).normalize(),
        vec3(1.0, 1.0, 1.0).normalize(),
    ] {
        let mut moved = v.clone();
        moved[1].linear += 0.25 * d;
        close(drift(&moved), 0.25);
    }
}

#[test]
fn a_row_outside_of_its_law_is_named() {
    let (mut problem, mut impulses) = sliding();
    // A motor that wants a spin of -0.5 rad/s about z, which the contact does not feel.
    let row = Row {
        linear_a: Vec3::ZERO,
        linear_b: Vec3::ZERO,
        angular_b: Vec3::Z,
        ..Row::bilateral((0, 1), Vec3::Z, (Vec3::ZERO, Vec3::ZERO), 0.5)
    };
    problem.add_row(row).unwrap();
    impulses.rows = vec![0.0];
    let c = certify(&problem, &impulses).unwrap();
    close(c.natural_map, 0.5);
    assert_eq!((c.worst_contact, c.worst_row), (None, Some(0)));
    impulses.rows[0] = -0.25;
    assert!(certify(&problem, &impulses).unwrap().natural_map < 1e-15);
}

#[test]
fn bounds_of_a_row_allow_a_velocity_of_one_sign() {
    let mut row = Row::bilateral((0, 1), Vec3::X, (Vec3::ZERO, Vec3::ZERO), 0.0);
    (row.lower, row.upper) = (-1.0, 2.0);
    for (l, w, want) in [
        (-1.0, 0.5, 0.0),
        (-1.0, -0.5, 0.5),
        (2.0, -0.5, 0.0),
        (2.0, 0.5, 0.5),
        (0.0, 0.25, 0.25),
        (3.0, 0.0, 4.0), // 1 N s outside, times the diagonal
    ] {
        close(row_natural_map(l, w, &row, 4.0), want);
    }
    // No impulse changes anything: w itself is the error, unless a bound allows it.
    close(row_natural_map(0.0, 0.25, &row, 0.0), 0.25);
    close(row_natural_map(2.0, -0.25, &row, 0.0), 0.0);
}

#[test]
fn the_natural_map_is_zero_exactly_on_the_law() {
    let (mu, trace) = (0.5, 3.0);
    // Open, closed and sticking, sliding, and without friction.
    for (l, s, mu) in [
        (Vec3::ZERO, vec3(0.3, 5.0, -2.0), mu),
        (vec3(2.0, 0.5, -0.8), Vec3::ZERO, mu),
        (vec3(2.0, -0.6, 0.8), vec3(0.0, 1.5, -2.0), mu),
        (vec3(2.0, 0.0, 0.0), vec3(0.0, 1.5, -2.0), 0.0),
    ] {
        assert!(natural_map(l, s, mu, trace) < 1e-15, "{l} {s}");
        let worse = vec3(l.x + 0.01, l.y, l.z);
        let worse_map = natural_map(worse, s, mu, trace);
        let open_or_sliding = s != Vec3::ZERO && mu > 0.0;
        assert!(!open_or_sliding || worse_map > 1e-4, "{l} {s}: {worse_map}");
    }
    // A contact that nothing moves: the map is the distance of s to what is allowed.
    close(natural_map(Vec3::ZERO, vec3(-0.5, 0.0, 0.0), mu, 0.0), 0.5);
    close(natural_map(Vec3::ZERO, vec3(0.5, 0.1, 0.0), mu, 0.0), 0.0);
}

#[test]
fn nothing_not_finite_passes() {
    let (problem, impulses) = sliding();
    let mut v = problem.velocities(&impulses);
    v[1].linear.x = f64::NAN;
    let c = Certificate::of(&problem, &impulses, &v).unwrap();
    for field in [
        c.natural_map,
        c.momentum_balance,
        c.max_direction_error,
        c.energy_change,
        c.directional_momentum_drift,
    ] {
        assert!(field.is_nan(), "{c:?}");
    }
}

#[test]
fn lengths_must_fit() {
    let (problem, impulses) = sliding();
    let error = certify(&problem, &Impulses::zero(2, 0)).unwrap_err();
    let SolveError::Length {
        what,
        count,
        expected,
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!((what, count, expected), ("contact", 2, 1));
    assert!(certify(&problem, &Impulses::zero(1, 3)).is_err());
    assert!(Certificate::of(&problem, &impulses, &[]).is_err());
}
