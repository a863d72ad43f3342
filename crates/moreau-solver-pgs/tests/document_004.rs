//! The formulas of document 004, "Non-relativistic math primer", sections 1 to 8, corrected.

mod support;

use moreau_constraint::{ContactProblem, project_disc};
use moreau_math::{SymMat3, Vec3, Velocity, vec3};
use moreau_solver::certify;
use support::{body, close, close_vec, contact, solve};

const TOLERANCE: f64 = 1e-12;
const LEVERS: (Vec3, Vec3) = (vec3_const(0.4, 0.3, -0.2), vec3_const(-0.5, 0.2, 0.1));

const fn vec3_const(x: f64, y: f64, z: f64) -> Vec3 {
    Vec3::new(x, y, z)
}

/// Two free bodies that meet off centre, with friction and restitution.
fn pair(friction: f64, restitution: f64) -> ContactProblem {
    let mut problem = ContactProblem::new(0.01).unwrap();
    let inertia = vec3(0.3, 0.5, 0.4);
    let a = body(2.0, inertia, vec3(1.0, 0.4, -0.3), vec3(0.2, -1.0, 0.5));
    let mut b = body(
        0.8,
        0.5 * inertia,
        vec3(-2.0, 0.1, 0.6),
        vec3(1.0, 0.3, -0.7),
    );
    b.inverse_inertia.xy = 0.7;
    problem.add_body(a).unwrap();
    problem.add_body(b).unwrap();
    let input = contact(
        (0, 1),
        vec3(2.0, 2.0, 1.0) / 3.0,
        LEVERS,
        friction,
        restitution,
    );
    problem.add_contact(input).unwrap();
    problem
}

fn inertia(inverse: &SymMat3) -> SymMat3 {
    inverse.inverse().unwrap()
}

/// Total linear momentum, and angular momentum about the common contact point, of two bodies whose
/// contact points coincide in space.
fn momentum(problem: &ContactProblem, v: &[Velocity]) -> (Vec3, Vec3) {
    let (mut linear, mut angular) = (Vec3::ZERO, Vec3::ZERO);
    for ((body, v), lever) in problem.bodies().iter().zip(v).zip([LEVERS.0, LEVERS.1]) {
        let p = v.linear / body.inverse_mass;
        linear += p;
        angular += inertia(&body.inverse_inertia).mul_vec(v.angular) - lever.cross(p);
    }
    (linear, angular)
}

fn free(problem: &ContactProblem) -> Vec<Velocity> {
    problem.bodies().iter().map(|b| b.velocity).collect()
}

#[test]
fn section_2_relative_velocity_is_b_minus_a() {
    let problem = pair(0.5, 0.0);
    let point = problem.contacts()[0];
    let (a, b) = (&problem.bodies()[0].velocity, &problem.bodies()[1].velocity);
    let u = (b.linear + b.angular.cross(LEVERS.1)) - (a.linear + a.angular.cross(LEVERS.0));
    close_vec(
        point.frame.to_world(problem.free_velocity(&point)),
        u,
        TOLERANCE,
    );
    assert!(problem.free_velocity(&point).x < 0.0, "the bodies approach");
}

#[test]
fn section_3_k_is_the_inverse_of_the_effective_mass() {
    // k_d = J M^-1 J', along any direction d, not its inverse.
    let problem = pair(0.5, 0.0);
    let point = problem.contacts()[0];
    let w = problem.delassus_block(&point);
    let frame = point.frame;
    for (d, k) in [
        (frame.normal, w.x_axis.x),
        (frame.tangent1, w.y_axis.y),
        (frame.tangent2, w.z_axis.z),
    ] {
        let (a, b) = (&problem.bodies()[0], &problem.bodies()[1]);
        let (ra, rb) = (LEVERS.0.cross(d), LEVERS.1.cross(d));
        let want = a.inverse_mass
            + b.inverse_mass
            + ra.dot(a.inverse_inertia.mul_vec(ra))
            + rb.dot(b.inverse_inertia.mul_vec(rb));
        close(k, want, TOLERANCE);
    }
}

#[test]
fn section_4_an_impulse_changes_the_normal_velocity_by_k() {
    let problem = pair(0.0, 0.0);
    let point = problem.contacts()[0];
    let k = problem.delassus_block(&point).x_axis.x;
    let before = problem.free_velocity(&point).x;
    let mut impulses = problem.cold_start();
    impulses.contacts[0].x = 0.7;
    let v = problem.velocities(&impulses);
    close(
        problem.contact_velocity(&point, &v).x - before,
        0.7 * k,
        TOLERANCE,
    );
    // Body by body.
    let (a, b) = (&problem.bodies()[0], &problem.bodies()[1]);
    let p = 0.7 * point.frame.normal;
    close_vec(
        v[0].linear,
        a.velocity.linear - p * a.inverse_mass,
        TOLERANCE,
    );
    close_vec(
        v[1].linear,
        b.velocity.linear + p * b.inverse_mass,
        TOLERANCE,
    );
    let turn = b.inverse_inertia.mul_vec(LEVERS.1.cross(p));
    close_vec(v[1].angular, b.velocity.angular + turn, TOLERANCE);
    // The boxed formula is the solution without friction: (target - v)/k.
    let (solved, _, _) = solve(&problem);
    close(solved.contacts[0].x, (0.0 - before) / k, TOLERANCE);
}

#[test]
fn section_5_restitution_reverses_and_correction_adds() {
    let problem = pair(0.0, 0.6);
    let point = problem.contacts()[0];
    let before = problem.free_velocity(&point).x;
    let (_, v, _) = solve(&problem);
    close(
        problem.contact_velocity(&point, &v).x,
        -0.6 * before,
        TOLERANCE,
    );
    // Baumgarte: the target gains +(beta/h) max(0, -C - s), so that a deep contact separates.
    let (beta, h, gap, slop) = (0.2, 0.01, -0.03, 0.01);
    let target = beta / h * f64::max(0.0, -gap - slop);
    let mut problem = pair(0.0, 0.0);
    problem.set_bias(0, vec3(-target, 0.0, 0.0)).unwrap();
    let (_, v, _) = solve(&problem);
    close(problem.contact_velocity(&point, &v).x, 0.4, TOLERANCE);
}

#[test]
fn section_6_friction_is_clamped_as_one_vector() {
    // The two tangents are coupled: |(t1, t2)| <= mu n, not each by itself.
    for friction in [0.05, 0.2, 3.0] {
        let problem = pair(friction, 0.0);
        let (impulses, v, report) = solve(&problem);
        assert!(report.residual < 1e-13, "{report:?}");
        let (l, point) = (impulses.contacts[0], problem.contacts()[0]);
        let tangential = length(l.y, l.z);
        let s = problem.contact_velocity(&point, &v);
        let slip = length(s.y, s.z);
        assert!(l.x > 0.0);
        if slip > 1e-9 {
            close(tangential, friction * l.x, TOLERANCE);
            close(l.y * slip + friction * l.x * s.y, 0.0, TOLERANCE);
            close(l.z * slip + friction * l.x * s.z, 0.0, TOLERANCE);
        } else {
            assert!(friction == 3.0 && tangential <= friction * l.x);
        }
    }
    assert_eq!(project_disc(3.0, 4.0, 5.0), (3.0, 4.0));
}

fn length(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt()
}

#[test]
fn section_7_momentum_is_kept_with_friction_and_restitution_but_energy_is_not() {
    for (friction, restitution) in [(0.0, 0.0), (0.0, 1.0), (0.4, 0.0), (0.4, 0.7), (2.0, 0.2)] {
        let problem = pair(friction, restitution);
        let (impulses, v, _) = solve(&problem);
        let (linear, angular) = momentum(&problem, &v);
        let (linear_before, angular_before) = momentum(&problem, &free(&problem));
        close_vec(linear, linear_before, TOLERANCE);
        close_vec(angular, angular_before, TOLERANCE);
        let change = certify(&problem, &impulses).unwrap().energy_change;
        if (friction, restitution) == (0.0, 1.0) {
            close(change, 0.0, TOLERANCE);
        } else {
            assert!(change < -1e-3, "{friction} {restitution}: {change}");
        }
    }
}

#[test]
fn section_8_directional_drift_is_the_worst_of_ten_directions() {
    let problem = pair(0.4, 0.7);
    let (impulses, v, _) = solve(&problem);
    let certificate = certify(&problem, &impulses).unwrap();
    assert!(certificate.directional_momentum_drift < 1e-14);
    // By hand for velocities that do not conserve it.
    let mut wrong = v;
    wrong[0].linear += vec3(0.05, -0.02, 0.01);
    wrong[1].linear += vec3(0.01, 0.03, -0.04);
    let change = momentum(&problem, &wrong).0 - momentum(&problem, &free(&problem)).0;
    let (x, y, z) = (change.x, change.y, change.z);
    let two = 2.0_f64.sqrt();
    let projections = [
        x,
        y,
        z,
        (x + y) / two,
        (y + z) / two,
        (z + x) / two,
        (x + y + z) / 3.0_f64.sqrt(),
        (x - y) / two,
        (y - z) / two,
        (z - x) / two,
    ];
    let want = projections.iter().fold(0.0, |m: f64, p| m.max(p.abs()));
    let certificate = moreau_solver::Certificate::of(&problem, &impulses, &wrong).unwrap();
    close(certificate.directional_momentum_drift, want, TOLERANCE);
}
