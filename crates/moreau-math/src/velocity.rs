use crate::Vec3;
use serde::{Deserialize, Serialize};

/// Twist of a rigid body: velocity of its centre of mass and angular velocity, in the world frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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

impl std::ops::Add for Velocity {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self::new(self.linear + o.linear, self.angular + o.angular)
    }
}

impl std::ops::Sub for Velocity {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Self::new(self.linear - o.linear, self.angular - o.angular)
    }
}

impl std::ops::Neg for Velocity {
    type Output = Self;
    fn neg(self) -> Self {
        Self::new(-self.linear, -self.angular)
    }
}

impl std::ops::Mul<f64> for Velocity {
    type Output = Self;
    fn mul(self, scale: f64) -> Self {
        Self::new(self.linear * scale, self.angular * scale)
    }
}

impl std::ops::AddAssign for Velocity {
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

impl std::ops::SubAssign for Velocity {
    fn sub_assign(&mut self, o: Self) {
        *self = *self - o;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vec3;

    #[test]
    fn twists_form_a_vector_space_and_points_follow() {
        let a = Velocity::new(vec3(1.0, 2.0, 3.0), vec3(0.5, 0.0, -1.0));
        let b = Velocity::new(vec3(-2.0, 0.0, 1.0), vec3(0.0, 4.0, 2.0));
        let arm = vec3(0.25, -1.0, 2.0);
        // w x r for w = (0.5, 0, -1): (0*2 - (-1)(-1), -1*0.25 - 0.5*2, 0.5*(-1) - 0).
        assert_eq!(a.at(arm), vec3(1.0 - 1.0, 2.0 - 1.25, 3.0 - 0.5));
        assert_eq!((a + b * 2.0).at(arm), a.at(arm) + b.at(arm) * 2.0);
        assert_eq!(a - b, a + -b);
        let mut c = a;
        c += b;
        c -= a;
        assert_eq!(c, b);
    }
}
