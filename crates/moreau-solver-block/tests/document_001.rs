//! Document 001, "Unified Contact Constraint": the right answers where its scheme is wrong, by exact
//! blocks and by Poisson's law, and what its third phase does.
//!
//! The set-ups are those behind the corrections of `docs/errata.md`; one kg, cubes of 1 m.

mod support;

use moreau_constraint::{BodyInput, ContactProblem};
use moreau_math::{Vec3, Velocity, vec3};
use moreau_solver::certify;
use moreau_solver_block::{BlockSettings, LocalStep, PoissonRestitution};
use support::{body, close, close_vec, contact, solve, solve_with};

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

/// A sphere of radius 0.5 that spins at 20 rad/s about y and falls at 2 m/s, mu = 0.4.
fn spinning_sphere(restitution: f64) -> ContactProblem {
    let mut problem = ContactProblem::new(1.0 / 60.0).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    let (linear, angular) = (vec3(0.0, 0.0, -2.0), vec3(0.0, 20.0, 0.0));
    problem
        .add_body(body(1.0, Vec3::splat(0.1), linear, angular))
        .unwrap();
    let levers = (Vec3::ZERO, vec3(0.0, 0.0, -0.5));
    problem
        .add_contact(contact((0, 1), Vec3::Z, levers, 0.4, restitution))
        .unwrap();
    problem
}

fn exact() -> PoissonRestitution {
    PoissonRestitution::new(BlockSettings {
        max_sweeps: 20_000,
        tolerance: 1e-14,
        ..BlockSettings::default()
    })
}

#[test]
fn a_sliding_cube_does_not_lift() {
    for direction in [Vec3::X, vec3(1.0, 1.0, 0.0).normalize()] {
        let mut velocity = Velocity::new(5.0 * direction, Vec3::ZERO);
        velocity.linear.z = -GRAVITY_STEP;
        let problem = cube(velocity, 0.3, 0.0);
        let (impulses, v, report) = solve(&problem);
        assert!(report.residual < 1e-13, "{report:?}");
        let want = (5.0 - 0.3 * GRAVITY_STEP) * direction;
        close_vec(v[1].linear, want, TOLERANCE);
        close_vec(v[1].angular, Vec3::ZERO, 1e-11);
        assert!(certify(&problem, &impulses).unwrap().energy_change < 0.0);
    }
}

#[test]
fn hold_and_resolve_stops_the_lift_and_leaves_friction_wrong() {
    // One corner of a cube that slides at 5 m/s: the document's step without its third phase would
    // lift it off at K_nt K_tt^-1 u_t. With it the contact keeps its height, exactly.
    let velocity = Velocity::new(vec3(5.0, 1.0, -1.0), Vec3::ZERO);
    let mut problem = ContactProblem::new(1.0 / 60.0).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    problem
        .add_body(body(
            1.0,
            Vec3::splat(1.0 / 6.0),
            velocity.linear,
            Vec3::ZERO,
        ))
        .unwrap();
    let levers = (Vec3::ZERO, vec3(0.3, 0.1, -0.5));
    problem
        .add_contact(contact((0, 1), Vec3::Z, levers, 0.3, 0.0))
        .unwrap();
    let settings = BlockSettings {
        local_step: LocalStep::HoldAndResolve,
        max_sweeps: 2_000,
        tolerance: 1e-12,
        ..BlockSettings::default()
    };
    let plain = BlockSettings {
        anderson_window: 0,
        ..settings
    };
    for settings in [settings, plain] {
        let (impulses, v, report) = solve_with(&problem, settings);
        // It does not call that an answer.
        assert!(!report.converged() && report.residual > 1e-2, "{report:?}");
        let u = problem.contact_velocity(&problem.contacts()[0], &v);
        close(u.x, 0.0, TOLERANCE);
        let l = impulses.contacts[0];
        let held = (l.y * l.y + l.z * l.z).sqrt();
        assert!((held / (0.3 * l.x) - 1.0).abs() > 0.05, "{l}");
    }
    // The exact block, of the same contact.
    let (impulses, v, report) = solve(&problem);
    assert!(report.converged());
    let l = impulses.contacts[0];
    close((l.y * l.y + l.z * l.z).sqrt(), 0.3 * l.x, TOLERANCE);
    let u = problem.contact_velocity(&problem.contacts()[0], &v);
    close(u.x, 0.0, TOLERANCE);
}

#[test]
fn hold_and_resolve_is_exact_without_coupling() {
    let problem = spinning_sphere(0.0);
    let settings = BlockSettings {
        local_step: LocalStep::HoldAndResolve,
        ..BlockSettings::default()
    };
    let (_, v, report) = solve_with(&problem, settings);
    assert!(report.converged(), "{report:?}");
    close_vec(v[1].linear, vec3(0.8, 0.0, 0.0), 1e-11);
}

#[test]
fn friction_acts_during_a_bounce() {
    // It slides through the whole bounce, so friction is mu times the normal impulse (1 + e) 2 N s:
    // the same by Newton's target and by Poisson's two phases.
    for (e, friction) in [(0.0, 0.8), (0.2, 0.96), (0.5, 1.2), (0.9, 1.52), (1.0, 1.6)] {
        let want = vec3(friction, 0.0, 2.0 * (1.0 + e));
        let problem = spinning_sphere(e);
        let (impulses, v, report) = solve(&problem);
        assert!(report.converged());
        let frame = problem.contacts()[0].frame;
        close_vec(frame.to_world(impulses.contacts[0]), want, TOLERANCE);
        close_vec(v[1].linear, vec3(friction, 0.0, 2.0 * e), TOLERANCE);

        let (mut impulses, mut v) = (problem.cold_start(), Vec::new());
        let report = exact()
            .solve(&problem, &[e], &mut impulses, &mut v)
            .unwrap();
        assert_eq!(report.kept, 1.0);
        close_vec(frame.to_world(impulses.contacts[0]), want, TOLERANCE);
        close_vec(v[1].linear, vec3(friction, 0.0, 2.0 * e), TOLERANCE);
        let spin = vec3(0.0, 20.0 - 5.0 * friction, 0.0);
        close_vec(v[1].angular, spin, TOLERANCE);
    }
}

#[test]
fn a_flat_cube_bounces_without_spin() {
    let problem = cube(Velocity::new(vec3(0.0, 0.0, -3.0), Vec3::ZERO), 0.4, 0.5);
    let (_, v, report) = solve(&problem);
    assert!(report.converged());
    close_vec(v[1].linear, vec3(0.0, 0.0, 1.5), TOLERANCE);
    close_vec(v[1].angular, Vec3::ZERO, TOLERANCE);

    let (mut impulses, mut v) = (problem.cold_start(), Vec::new());
    let report = exact()
        .solve(&problem, &[0.5; 4], &mut impulses, &mut v)
        .unwrap();
    assert!(report.compression.converged() && report.expansion.converged());
    close_vec(v[1].linear, vec3(0.0, 0.0, 1.5), TOLERANCE);
    close_vec(v[1].angular, Vec3::ZERO, TOLERANCE);
}

#[test]
fn a_cube_that_sticks_tips_over_its_leading_edge() {
    // 3 m/s along x, mu = 2. The angular momentum about the leading lower edge is kept:
    // (I + m/2) w = (v - g dt)/2, so w = 0.75 (3 - g dt) and v = w/2 forward and up.
    let velocity = Velocity::new(vec3(3.0, 0.0, -GRAVITY_STEP), Vec3::ZERO);
    let (_, v, report) = solve(&cube(velocity, 2.0, 0.0));
    assert!(report.residual < 1e-13, "{report:?}");
    let spin = 0.75 * (3.0 - GRAVITY_STEP);
    close_vec(v[1].angular, vec3(0.0, spin, 0.0), TOLERANCE);
    close_vec(v[1].linear, vec3(0.5 * spin, 0.0, 0.5 * spin), TOLERANCE);
    close(spin, 2.127, 5e-4);
    close(0.5 * spin, 1.0637, 5e-5);
}
