//! Rotations as vectors: exponential, logarithm, and turning at a constant angular velocity.
//!
//! A rotation vector v (rad) is axis times angle. As a quaternion it is
//! exp(v/2) = (v/|v| sin(|v|/2), cos(|v|/2)); q and -q are the same rotation.

use crate::{Quat, Vec3};

/// The orientation after turning for `dt` (s) with the constant world angular velocity `angular`
/// (rad/s): q' = exp(dt w / 2) q, renormalised.
pub fn integrate_rotation(rotation: Quat, angular: Vec3, dt: f64) -> Quat {
    (rotation_from_vector(angular * dt) * rotation).normalize()
}

/// The unit quaternion of the rotation vector `v` (rad). A length that is not finite is no turn.
pub fn rotation_from_vector(v: Vec3) -> Quat {
    let half = 0.5 * v.length();
    if !half.is_finite() {
        return Quat::IDENTITY;
    }
    // sin(h)/(2h)... below 1e-4 the series' next term is under 1e-18.
    let (scale, cos) = if half < 1e-4 {
        (0.5 * (1.0 - half * half / 6.0), 1.0 - 0.5 * half * half)
    } else {
        (0.5 * libm::sin(half) / half, libm::cos(half))
    };
    Quat::from_xyzw(v.x * scale, v.y * scale, v.z * scale, cos)
}

/// The shortest rotation vector (rad, length at most pi) of the unit quaternion `rotation`: the
/// inverse of [`rotation_from_vector`].
pub fn rotation_to_vector(rotation: Quat) -> Vec3 {
    // Of q and -q, the one with the positive scalar part is the shorter way round.
    let q = if rotation.w < 0.0 {
        -rotation
    } else {
        rotation
    };
    let v = q.xyz();
    let sin = v.length();
    let scale = if sin > 0.0 {
        2.0 * libm::atan2(sin, q.w) / sin
    } else {
        2.0
    };
    v * scale
}

/// The shortest rotation vector (rad, world frame) that turns `from` into `to`:
/// exp(v/2) `from` = `to`. Divided by a time, the mean angular velocity between the two.
pub fn rotation_difference(from: Quat, to: Quat) -> Vec3 {
    rotation_to_vector(to * from.conjugate())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec3;
    use std::f64::consts::PI;

    #[test]
    fn vectors_come_back_from_quaternions() {
        let axis = vec3(0.36, -0.48, 0.8);
        for angle in [0.0, 1e-300, 1e-160, 1e-9, 1e-4, 2.1e-4, 0.5, 3.0, PI - 1e-9] {
            let v = axis * angle;
            let q = rotation_from_vector(v);
            assert!((q.length() - 1.0).abs() < 1e-15);
            assert!((rotation_to_vector(q) - v).length() <= 1e-15 * (1.0 + angle));
            assert_eq!(rotation_to_vector(-q), rotation_to_vector(q));
        }
        // The long way round comes back as the short one.
        let back = rotation_to_vector(rotation_from_vector(axis * 4.0));
        assert!((back - axis * (4.0 - 2.0 * PI)).length() < 1e-15);
    }

    #[test]
    fn the_difference_turns_one_into_the_other() {
        let from = Quat::from_xyzw(0.5, -0.1, 0.3, 0.8).normalize();
        let w = vec3(2.0, -1.0, 0.5);
        let to = integrate_rotation(from, w, 0.25);
        assert!((rotation_difference(from, to) - w * 0.25).length() < 1e-15);
    }

    #[test]
    fn the_quarter_turn() {
        let q = integrate_rotation(Quat::IDENTITY, vec3(0.0, PI / 2.0, 0.0), 1.0);
        assert!((q * Vec3::Z - Vec3::X).length() < 1e-15);
    }

    #[test]
    fn what_is_not_finite_is_no_turn() {
        for w in [f64::NAN, f64::INFINITY, 1e300] {
            let w = vec3(0.0, w, 0.0);
            assert_eq!(integrate_rotation(Quat::IDENTITY, w, 1.0), Quat::IDENTITY);
        }
    }
}
