use crate::Vec3;
use serde::{Deserialize, Serialize};

/// Twist of a rigid body: velocity of its centre of mass and angular velocity, in the world frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Velocity {
    /// Velocity of the centre of mass, m/s.
    pub linear: Vec3,
    /// Angular velocity in the world frame, rad/s.
    pub angular: Vec3,
}

impl Velocity {
    /// At rest.
    pub const ZERO: Self = Self {
        linear: Vec3::ZERO,
        angular: Vec3::ZERO,
    };

    /// A twist from its linear (m/s) and angular (rad/s) parts.
    pub const fn new(linear: Vec3, angular: Vec3) -> Self {
        Self { linear, angular }
    }

    /// Velocity (m/s) of the body's material point at `lever_arm` (m, world axes) from its centre
    /// of mass: v + w x r.
    pub fn at(&self, lever_arm: Vec3) -> Vec3 {
        self.linear + self.angular.cross(lever_arm)
    }

    /// Whether every component is finite.
    pub fn is_finite(&self) -> bool {
        self.linear.is_finite() && self.angular.is_finite()
    }
}
