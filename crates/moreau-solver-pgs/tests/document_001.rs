//! Document 001, "Unified Contact Constraint": where its two-phase scheme is wrong, the right answers.
//!
//! The set-ups are those behind the corrections of `docs/errata.md`; one kg, cubes of 1 m.

mod support;

use moreau_constraint::{BodyInput, ContactProblem};
use moreau_math::{Vec3, Velocity, vec3};
use moreau_solver::certify;
use support::{body, close, close_vec, contact, solve};

const TOLERANCE: f64 = 1e-12;
const GRAVITY_STEP: f64 = 9.81 / 60.0;

/// A cube with its four lower corners on the ground.
fn cube(velocity: Velocity, friction: f64, restitution: f64) -> ContactProblem {
    let mut problem = ContactProblem::new(1.0 / 60.0).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    let inertia = Vec3::splat(1.0 / 6.0);
    problem
        .add_body(body(1.0, inertia, velocity.linear, velocity.angular))
        .unwrap();
    for (x, y) in [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)] {
        let levers = (Vec3::ZERO, vec3(x, y, -0.5));
        let input = contact((0, 1), Vec3::Z, levers, friction, restitution);
        problem.add_contact(input).unwrap();
    }
    problem
}

#[test]
fn a_sliding_cube_does_not_lift() {
    // Along the edge and at 45 degrees: friction takes mu g dt of speed, and nothing else happens.
    for direction in [Vec3::X, vec3(1.0, 1.0, 0.0).normalize()] {
        let mut velocity = Velocity::new(5.0 * direction, Vec3::ZERO);
        velocity.linear.z = -GRAVITY_STEP;
        let problem = cube(velocity, 0.3, 0.0);
        let (impulses, v, report) = solve(&problem);
        assert!(report.residual < 1e-13, "{report:?}");
        close_vec(
            v[1].linear,
            (5.0 - 0.3 * GRAVITY_STEP) * direction,
            TOLERANCE,
        );
        close_vec(v[1].angular, Vec3::ZERO, 1e-11);
        assert!(certify(&problem, &impulses).unwrap().energy_change < 0.0);
    }
}

#[test]
fn friction_acts_during_a_bounce() {
    // A sphere of radius 0.5 spins at 20 rad/s about y and falls at 2 m/s, mu = 0.4: it slides
    // through the whole bounce, so friction is mu times the normal impulse (1 + e) 2 N s.
    for (e, friction) in [(0.0, 0.8), (0.2, 0.96), (0.5, 1.2), (0.9, 1.52), (1.0, 1.6)] {
        let mut problem = ContactProblem::new(1.0 / 60.0).unwrap();
        problem.add_body(BodyInput::fixed()).unwrap();
        let sphere = body(
            1.0,
            Vec3::splat(0.1),
            vec3(0.0, 0.0, -2.0),
            vec3(0.0, 20.0, 0.0),
        );
        problem.add_body(sphere).unwrap();
        let levers = (Vec3::ZERO, vec3(0.0, 0.0, -0.5));
        problem
            .add_contact(contact((0, 1), Vec3::Z, levers, 0.4, e))
            .unwrap();
        let (impulses, v, report) = solve(&problem);
        assert!(report.converged());
        let world = problem.contacts()[0].frame.to_world(impulses.contacts[0]);
        close_vec(world, vec3(friction, 0.0, 2.0 * (1.0 + e)), TOLERANCE);
        close_vec(v[1].linear, vec3(friction, 0.0, 2.0 * e), TOLERANCE);
        // The torque is r x f = -0.5 z x f x = -0.5 f y, over I = 0.1.
        close_vec(
            v[1].angular,
            vec3(0.0, 20.0 - 5.0 * friction, 0.0),
            TOLERANCE,
        );
    }
}

#[test]
fn a_flat_cube_bounces_without_spin() {
    let problem = cube(Velocity::new(vec3(0.0, 0.0, -3.0), Vec3::ZERO), 0.4, 0.5);
    let (_, v, report) = solve(&problem);
    assert!(report.converged());
    close_vec(v[1].linear, vec3(0.0, 0.0, 1.5), TOLERANCE);
    close_vec(v[1].angular, Vec3::ZERO, TOLERANCE);
}

#[test]
fn a_cube_that_sticks_tips_over_its_leading_edge() {
    // 3 m/s along x, mu = 2. The angular momentum about the leading lower edge is kept:
    // (I + m/2) w = (v - g dt)/2, so w = 0.75 (3 - g dt) and v = w/2 forward and up.
    let velocity = Velocity::new(vec3(3.0, 0.0, -GRAVITY_STEP), Vec3::ZERO);
    let problem = cube(velocity, 2.0, 0.0);
    let (_, v, report) = solve(&problem);
    assert!(report.residual < 1e-13, "{report:?}");
    let spin = 0.75 * (3.0 - GRAVITY_STEP);
    close_vec(v[1].angular, vec3(0.0, spin, 0.0), TOLERANCE);
    close_vec(v[1].linear, vec3(0.5 * spin, 0.0, 0.5 * spin), TOLERANCE);
    close(spin, 2.127, 5e-4);
    close(0.5 * spin, 1.0637, 5e-5);
}

#[test]
fn a_single_impact_without_restitution_never_gains_energy() {
    // The claim of the document's proof, for the law for which it holds: one contact, e = 0.
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    for _ in 0..300 {
        let mut problem = ContactProblem::new(1.0 / 60.0).unwrap();
        problem.add_body(BodyInput::fixed()).unwrap();
        let inertia = vec3(1.5 + random(), 1.5 + random(), 1.5 + random()) / 10.0;
        let linear = vec3(4.0 * random(), 4.0 * random(), -2.5 + 2.0 * random());
        let angular = 6.0 * vec3(random(), random(), random());
        problem
            .add_body(body(1.0, inertia, linear, angular))
            .unwrap();
        let lever = vec3(0.5 * random(), 0.5 * random(), -0.5);
        let friction = 0.6 + 0.5 * random();
        let input = contact((0, 1), Vec3::Z, (Vec3::ZERO, lever), friction, 0.0);
        problem.add_contact(input).unwrap();
        let (impulses, _, report) = solve(&problem);
        let certificate = certify(&problem, &impulses).unwrap();
        assert!(report.residual < 1e-12, "{report:?}");
        assert!(certificate.energy_change <= 1e-12, "{certificate:?}");
    }
}
