//! Mass, centre of mass and inertia of solids.

use crate::{Pose, SymMat3, Vec3};
use serde::{Deserialize, Serialize};

/// Why mass properties could not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MassError {
    /// A dimension, density or mass that must be positive and finite is not.
    #[error("{field} is {value}, must be positive and finite")]
    NotPositive {
        /// What was given.
        field: &'static str,
        /// Its value.
        value: f64,
    },
    /// The solid encloses no volume (or is inside out).
    #[error("the solid encloses a volume of {volume} m³, must be positive")]
    NoVolume {
        /// Signed volume, m³.
        volume: f64,
    },
    /// A compound of no parts.
    #[error("a compound needs at least one part")]
    NoParts,
}

/// Mass (kg), centre of mass (m, body frame) and inertia tensor about the centre of mass
/// (kg m², body axes).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MassProperties {
    /// kg.
    pub mass: f64,
    /// In the body frame, m.
    pub center_of_mass: Vec3,
    /// About the centre of mass, in body axes, kg m².
    pub inertia: SymMat3,
}

impl MassProperties {
    /// A solid box with the given half extents (m) and density (kg/m³).
    pub fn cuboid(half_extents: Vec3, density: f64) -> Result<Self, MassError> {
        let h = half_extents;
        positive("half_extents.x", h.x)?;
        positive("half_extents.y", h.y)?;
        positive("half_extents.z", h.z)?;
        positive("density", density)?;
        let mass = 8.0 * h.x * h.y * h.z * density;
        let (xx, yy, zz) = (h.x * h.x, h.y * h.y, h.z * h.z);
        let diagonal = Vec3::new(yy + zz, xx + zz, xx + yy) * (mass / 3.0);
        Ok(Self {
            mass,
            center_of_mass: Vec3::ZERO,
            inertia: SymMat3::from_diagonal(diagonal),
        })
    }

    /// The same solid placed by `pose` in another frame.
    pub fn transformed(&self, pose: &Pose) -> Self {
        Self {
            mass: self.mass,
            center_of_mass: pose.transform_point(self.center_of_mass),
            inertia: self.inertia.rotated(pose.rotation),
        }
    }
}

fn positive(field: &'static str, value: f64) -> Result<(), MassError> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(MassError::NotPositive { field, value })
    }
}
