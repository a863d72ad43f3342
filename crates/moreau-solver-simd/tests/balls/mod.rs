//! Balls of 1 kg and 1 m that touch each other.

use moreau_constraint::{BodyInput, ContactInput, ContactProblem};
use moreau_math::{SymMat3, Vec3, Velocity};

/// Length of a step, s.
pub(crate) const DT: f64 = 0.01;

pub(crate) fn ball(problem: &mut ContactProblem, velocity: Vec3) -> usize {
    let body = BodyInput {
        inverse_mass: 1.0,
        inverse_inertia: SymMat3::from_diagonal(Vec3::splat(10.0)),
        velocity: Velocity::new(velocity, Vec3::ZERO),
    };
    problem.add_body(body).unwrap()
}

/// A on B's side of -n, with the surfaces `separation` apart.
pub(crate) fn touch(
    problem: &mut ContactProblem,
    (a, b): (usize, usize),
    normal: Vec3,
    separation: f64,
) {
    let contact = ContactInput {
        a,
        b,
        normal,
        lever_a: 0.5 * normal,
        lever_b: -0.5 * normal,
        separation,
        friction: 0.4,
        restitution: 0.0,
    };
    problem.add_contact(contact).unwrap();
}
