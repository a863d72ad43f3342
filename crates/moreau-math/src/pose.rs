use crate::{Quat, Vec3, rotation_difference, rotation_from_vector};
use serde::{Deserialize, Serialize};

/// Position and orientation of a frame: maps local points to world points,
/// `world = rotation * local + translation`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// Origin of the frame in the world, in metres.
    pub translation: Vec3,
    /// Unit quaternion, local axes to world axes.
    pub rotation: Quat,
}

impl Default for Pose {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Pose {
    /// The world frame itself.
    pub const IDENTITY: Self = Self {
        translation: Vec3::ZERO,
        rotation: Quat::IDENTITY,
    };

    /// A frame at `translation` (m), turned by the unit quaternion `rotation`.
    pub const fn new(translation: Vec3, rotation: Quat) -> Self {
        Self {
            translation,
            rotation,
        }
    }

    /// A frame at `translation` (m) with the world's axes.
    pub const fn from_translation(translation: Vec3) -> Self {
        Self {
            translation,
            rotation: Quat::IDENTITY,
        }
    }

    /// Local point to world point.
    #[inline]
    pub fn transform_point(&self, point: Vec3) -> Vec3 {
        self.rotation * point + self.translation
    }

    /// World point to local point.
    #[inline]
    pub fn inverse_transform_point(&self, point: Vec3) -> Vec3 {
        self.rotation.conjugate() * (point - self.translation)
    }

    /// Local direction to world direction.
    #[inline]
    pub fn transform_vector(&self, vector: Vec3) -> Vec3 {
        self.rotation * vector
    }

    /// World direction to local direction.
    #[inline]
    pub fn inverse_transform_vector(&self, vector: Vec3) -> Vec3 {
        self.rotation.conjugate() * vector
    }

    /// The pose that maps world points to local points.
    #[inline]
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.conjugate();
        Self {
            translation: -(rotation * self.translation),
            rotation,
        }
    }

    /// `self` after `local`: maps what `local` maps into this frame on to the world.
    #[inline]
    pub fn mul_pose(&self, local: &Self) -> Self {
        Self {
            translation: self.transform_point(local.translation),
            rotation: self.rotation * local.rotation,
        }
    }

    /// `other` as seen from this frame: `self.mul_pose(&self.relative(other)) == other`.
    #[inline]
    pub fn relative(&self, other: &Self) -> Self {
        let back = self.rotation.conjugate();
        Self {
            translation: back * (other.translation - self.translation),
            rotation: back * other.rotation,
        }
    }

    /// The pose a part `t` of the way from this one to `other`, for drawing between two steps: along
    /// the straight line, and about one axis the shorter way round. `t` from 0 to 1; beyond, the
    /// motion goes on.
    pub fn interpolated(&self, other: &Self, t: f64) -> Self {
        let turn = rotation_difference(self.rotation, other.rotation);
        Self {
            translation: self.translation + (other.translation - self.translation) * t,
            rotation: (rotation_from_vector(turn * t) * self.rotation).normalize(),
        }
    }

    /// Whether every component is finite.
    pub fn is_finite(&self) -> bool {
        self.translation.is_finite() && self.rotation.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec3;

    fn close(a: &Pose, b: &Pose) {
        assert!(
            (a.translation - b.translation).length() < 1e-14,
            "{a:?} {b:?}"
        );
        let turned = rotation_difference(a.rotation, b.rotation).length();
        assert!(turned < 1e-15, "{a:?} {b:?}");
    }

    fn two() -> (Pose, Pose) {
        let q = |x, y, z, w| Quat::from_xyzw(x, y, z, w).normalize();
        (
            Pose::new(vec3(1.0, -2.0, 3.0), q(0.1, 0.5, -0.3, 0.8)),
            Pose::new(vec3(0.5, 4.0, -1.0), q(-0.7, 0.2, 0.1, 0.4)),
        )
    }

    #[test]
    fn inverse_and_relative_undo() {
        let (a, b) = two();
        close(&a.mul_pose(&a.inverse()), &Pose::IDENTITY);
        close(&a.mul_pose(&a.relative(&b)), &b);
        let point = vec3(0.3, 0.7, -2.0);
        let there = a.transform_point(b.transform_point(point));
        assert!((a.mul_pose(&b).transform_point(point) - there).length() < 1e-14);
        assert!((a.inverse_transform_point(a.transform_point(point)) - point).length() < 1e-14);
        let back = a.inverse_transform_vector(a.transform_vector(point));
        assert!((back - point).length() < 1e-15);
    }

    #[test]
    fn interpolation_meets_its_ends_and_turns_evenly() {
        let (a, b) = two();
        close(&a.interpolated(&b, 0.0), &a);
        close(&a.interpolated(&b, 1.0), &b);
        close(
            &a.interpolated(&Pose::new(b.translation, -b.rotation), 1.0),
            &b,
        );
        let middle = a.interpolated(&b, 0.5);
        close(&middle, &b.interpolated(&a, 0.5));
        let half = rotation_difference(a.rotation, middle.rotation);
        let whole = rotation_difference(a.rotation, b.rotation);
        assert!((half * 2.0 - whole).length() < 1e-15);
    }
}
