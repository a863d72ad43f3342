//! Forces into velocities, velocities into poses.

use crate::body::BodyState;
use crate::settings::WorldSettings;
use moreau_math::{SymMat3, Vec3, Velocity, integrate_rotation, rotate_free_body};

/// v_free = v + h M^-1 f. The gyroscopic term is part of the rotation in [`advance`], which keeps
/// angular momentum and energy.
pub(crate) fn free_velocity(
    body: &BodyState,
    inverse_inertia: &SymMat3,
    settings: &WorldSettings,
    dt: f64,
) -> Velocity {
    if !body.is_dynamic() {
        return body.velocity;
    }
    let force = body.force + body.constant_force;
    let torque = body.torque + body.constant_torque;
    let acceleration = settings.gravity * body.gravity_scale + force * body.inverse_mass;
    Velocity {
        linear: body.velocity.linear + acceleration * dt,
        angular: body.velocity.angular + inverse_inertia.mul_vec(torque) * dt,
    }
}

/// What contacts and islands ask of a body at the start of a step, apart from the body itself, which is large.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Start {
    /// Centre of mass, m.
    pub(crate) center: Vec3,
    /// Of its centre, before forces, m/s.
    pub(crate) speed: f64,
    pub(crate) inverse_mass: f64,
    /// World axes.
    pub(crate) inverse_inertia: SymMat3,
}

impl Start {
    pub(crate) fn of(body: &BodyState) -> Self {
        Self {
            center: body.center,
            speed: body.velocity.linear.length(),
            inverse_mass: body.inverse_mass,
            inverse_inertia: body.world_inverse_inertia(),
        }
    }
}

/// How a step moves a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Motion {
    /// Velocity at the end of the step.
    pub(crate) velocity: Velocity,
    /// Mean linear velocity over the step, with which the centre moves, m/s (see [`crate::motion`]).
    pub(crate) mean: Vec3,
    /// Pseudo-velocity that takes out overlaps; not kept.
    pub(crate) correction: Velocity,
}

// One for each slot.
const _: () = assert!(size_of::<Motion>() <= 120);

impl Motion {
    /// Of a body that takes no part in a step.
    pub(crate) const NONE: Self = Self {
        velocity: Velocity::ZERO,
        mean: Vec3::ZERO,
        correction: Velocity::ZERO,
    };
}

/// Moves centre and orientation; returns (center, rotation, angular velocity at the end).
pub(crate) fn advance(
    body: &BodyState,
    motion: &Motion,
    dt: f64,
) -> (Vec3, moreau_math::Quat, Vec3) {
    let center = body.center + (motion.mean + motion.correction.linear) * dt;
    let start = (body.rotation, motion.velocity.angular);
    let (rotation, angular) = turn(body, start, motion.correction.angular, dt);
    (center, rotation, angular)
}

/// Turns a body on from an orientation and angular velocity (rad/s) for `dt` (s), with a pseudo-velocity (rad/s).
pub(crate) fn turn(
    body: &BodyState,
    (rotation, w): (moreau_math::Quat, Vec3),
    correction: Vec3,
    dt: f64,
) -> (moreau_math::Quat, Vec3) {
    let (mut rotation, mut angular) = if body.is_dynamic() && !body.lock_rotation {
        rotate_free_body(rotation, w, &body.mass.inertia, dt)
    } else {
        (integrate_rotation(rotation, w, dt), w)
    };
    if correction != Vec3::ZERO {
        // The spin turns along, so that a body whose inertia differs between its axes keeps its
        // kinetic energy.
        let local = rotation.conjugate() * angular;
        rotation = integrate_rotation(rotation, correction, dt);
        angular = rotation * local;
    }
    (rotation, angular)
}
