//! The certificate against answers made wrong by hand: every field reacts to its own mistake.

use moreau_constraint::{BodyInput, ContactInput, ContactProblem, Impulses, Row, project_cone};
use moreau_math::{SymMat3, Vec3, Velocity, libm, vec3};
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

/// Numbers in [-1, 1), by a Weyl sequence: l, s, mu and trace of anything.
fn contacts() -> impl Iterator<Item = (Vec3, Vec3, f64, f64)> {
    let number = |i: u32, k: u32| {
        let step = [0.754_877_666_2, 0.569_840_291, 0.618_033_988_7][k as usize % 3];
        2.0 * (f64::from(i * 7 + k) * step).fract() - 1.0
    };
    (1..20_000_u32).map(move |i| {
        let vec = |k| vec3(number(i, k), number(i, k + 1), number(i, k + 2));
        let l = if i % 4 == 0 { Vec3::ZERO } else { vec(0) };
        let (s, mu) = (
            vec(3) * libm::pow(10.0, f64::from(i % 9) - 6.0),
            libm::pow(10.0, 6.0 * number(i, 6)),
        );
        (l, s, mu, 3.0 * libm::pow(10.0, number(i, 7)))
    })
}

/// |min(l_n/rho, s_n)|: the law of the normal direction.
fn normal_map(l: Vec3, s: Vec3, trace: f64) -> f64 {
    (l.x * trace / 3.0).min(s.x).abs()
}

#[test]
fn no_contact_closes_at_more_than_ten_times_its_map() {
    let mut closing = 0;
    for (l, s, mu, trace) in contacts() {
        let map = natural_map(l, s, mu, trace);
        let normal = normal_map(l, s, trace);
        assert!(normal <= 10.0 * map * (1.0 + 1e-12), "{l} {s} {mu}: {map}");
        assert!(-s.x <= 10.0 * map * (1.0 + 1e-12), "{l} {s} {mu}: {map}");
        closing += u32::from(s.x < 0.0 && mu > 100.0);
    }
    assert!(closing > 1000, "only {closing} that close");
    // A body that falls, with the slightest slip: 3 m/s of approach are not 3 nm/s.
    for mu in [1e2, 1e4, 1e6, 1e9, 1e12, 1e16] {
        for speed in [1e-6, 1.0, 3.0, 1e3] {
            let s = vec3(-speed, 2.0 * speed / mu, 0.0);
            for trace in [0.0, 1e-3, 4.5] {
                let map = natural_map(Vec3::ZERO, s, mu, trace);
                assert!(map >= 0.1 * speed * (1.0 - 1e-15), "{mu} {speed}: {map}");
            }
        }
    }
}

/// | l - P_K(l - rho (s + g)) | / rho, and no more: the projection bounds the law of the normal direction.
#[test]
fn with_usual_friction_the_map_is_that_of_the_cone() {
    for (l, s, mu, trace) in contacts().filter(|c| c.2 <= 9.9) {
        let rho = 3.0 / trace;
        let g = vec3(mu * (s.y * s.y + s.z * s.z).sqrt(), 0.0, 0.0);
        let cone = (l - project_cone(l - (s + g) * rho, mu)).length() / rho;
        let map = natural_map(l, s, mu, trace);
        let rounding = 1e-14 * (1.0 + mu) * (l.length() / rho + s.length());
        assert!((map - cone).abs() <= rounding, "{l} {s} {mu}: {map} {cone}");
        let bound = (1.0 + mu * mu).sqrt() * cone;
        assert!(normal_map(l, s, trace) <= bound + rounding, "{l} {s} {mu}");
    }
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
