use crate::{Quat, Vec3};
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
    pub fn transform_point(&self, point: Vec3) -> Vec3 {
        self.rotation * point + self.translation
    }

    /// World point to local point.
    pub fn inverse_transform_point(&self, point: Vec3) -> Vec3 {
        self.rotation.conjugate() * (point - self.translation)
    }

    /// Local direction to world direction.
    pub fn transform_vector(&self, vector: Vec3) -> Vec3 {
        self.rotation * vector
    }

    /// World direction to local direction.
    pub fn inverse_transform_vector(&self, vector: Vec3) -> Vec3 {
        self.rotation.conjugate() * vector
    }

    /// The pose that maps world points to local points.
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.conjugate();
        Self {
            translation: -(rotation * self.translation),
            rotation,
        }
    }

    /// `self` after `local`: maps what `local` maps into this frame on to the world.
    pub fn mul_pose(&self, local: &Self) -> Self {
        Self {
            translation: self.transform_point(local.translation),
            rotation: self.rotation * local.rotation,
        }
    }

    /// `other` as seen from this frame: `self.mul_pose(&self.relative(other)) == other`.
    pub fn relative(&self, other: &Self) -> Self {
        let back = self.rotation.conjugate();
        Self {
            translation: back * (other.translation - self.translation),
            rotation: back * other.rotation,
        }
    }

    /// Whether every component is finite.
    pub fn is_finite(&self) -> bool {
        self.translation.is_finite() && self.rotation.is_finite()
    }
}
