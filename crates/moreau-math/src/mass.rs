//! Mass, centre of mass and inertia of rigid bodies, and how they combine.
//!
//! Symbols: m mass (kg); c centre of mass (m); I inertia tensor about c (kg m²), body axes;
//! d = c_i - c the offset of a part.
//!
//! Parallel axes (Huygens-Steiner): the tensor about c + d is I + m (|d|² 1 - d d').
//! Compound: m = sum m_i, c = sum m_i c_i / m, I = sum of I_i + m_i (|d_i|² 1 - d_i d_i').

mod error;
mod mesh;
mod solids;

pub use error::MassError;

use crate::{Pose, Quat, SymMat3, Vec3, Velocity};
use error::{finite, positive};
use serde::{Deserialize, Serialize};

/// Mass (kg), centre of mass (m, body frame) and inertia tensor about the centre of mass
/// (kg m², body axes).
///
/// ```
/// use moreau_math::{MassProperties, Pose, vec3};
///
/// // A hammer: a handle along y and a steel head on top, given one common mass.
/// let handle = MassProperties::cylinder(0.15, 0.015, 700.0)?;
/// let head = MassProperties::cuboid(vec3(0.06, 0.02, 0.02), 7800.0)?
///     .transformed(&Pose::from_translation(vec3(0.0, 0.17, 0.0)));
/// let hammer = MassProperties::compound(&[handle, head])?.with_mass(2.0)?;
/// assert!(hammer.center_of_mass.y > 0.1);
/// assert_eq!(hammer.inverse_mass(), 0.5);
/// # Ok::<(), moreau_math::MassError>(())
/// ```
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
    /// Measured or prescribed properties, checked by [`MassProperties::validate`].
    pub fn new(mass: f64, center_of_mass: Vec3, inertia: SymMat3) -> Result<Self, MassError> {
        let properties = Self {
            mass,
            center_of_mass,
            inertia,
        };
        properties.validate()?;
        Ok(properties)
    }

    /// A point of `mass` (kg) at `position` (m, body frame): no inertia about itself.
    pub fn point(mass: f64, position: Vec3) -> Result<Self, MassError> {
        Self::new(mass, position, SymMat3::ZERO)
    }

    /// Whether the mass is positive, everything is finite and no principal moment is negative
    /// (beyond the rounding of the tensor's entries).
    ///
    /// The triangle inequality between the principal moments, which every real solid meets, is not
    /// demanded: scaled tensors are a common means against too lively bodies.
    pub fn validate(&self) -> Result<(), MassError> {
        positive("mass", self.mass)?;
        for value in self.center_of_mass.to_array() {
            finite("center_of_mass", value)?;
        }
        for value in self.inertia.entries() {
            finite("inertia", value)?;
        }
        if self.inertia != SymMat3::ZERO {
            let moments = self.inertia.principal_axes().0;
            let moment = moments.min_element();
            if moment < -1e-14 * moments.abs().max_element() {
                return Err(MassError::NegativeMoment { moment });
            }
        }
        Ok(())
    }

    /// Sum of several parts, all given in the same frame (see [`MassProperties::transformed`]).
    /// Parts that overlap count twice where they do.
    pub fn compound(parts: &[Self]) -> Result<Self, MassError> {
        let first = parts.first().ok_or(MassError::NoParts)?;
        for (part, properties) in parts.iter().enumerate() {
            properties.validate().map_err(|reason| {
                let reason = Box::new(reason);
                MassError::InvalidPart { part, reason }
            })?;
        }
        // Offsets from the first part, so that a compound far from the origin keeps its digits.
        let origin = first.center_of_mass;
        let mut mass = 0.0;
        let mut moment = Vec3::ZERO;
        for part in parts {
            mass += part.mass;
            moment += (part.center_of_mass - origin) * part.mass;
        }
        let offset = moment / mass;
        let mut inertia = SymMat3::ZERO;
        for part in parts {
            let d = (part.center_of_mass - origin) - offset;
            inertia = inertia + part.inertia + parallel_axis(part.mass, d);
        }
        Self {
            mass,
            center_of_mass: origin + offset,
            inertia,
        }
        .in_range()
    }

    /// The same distribution of mass, scaled to a total of `mass` (kg).
    pub fn with_mass(&self, mass: f64) -> Result<Self, MassError> {
        positive("mass", mass)?;
        Self {
            mass,
            center_of_mass: self.center_of_mass,
            inertia: self.inertia.scaled(mass / self.mass),
        }
        .in_range()
    }

    /// The same solid placed by `pose` in another frame.
    pub fn transformed(&self, pose: &Pose) -> Self {
        Self {
            mass: self.mass,
            center_of_mass: pose.transform_point(self.center_of_mass),
            inertia: self.inertia.rotated(pose.rotation),
        }
    }

    /// The inertia tensor (kg m², body axes) about `point` (m, body frame).
    pub fn inertia_about(&self, point: Vec3) -> SymMat3 {
        self.inertia + parallel_axis(self.mass, point - self.center_of_mass)
    }

    /// Principal moments (kg m²) and the rotation from principal to body axes, as
    /// [`SymMat3::principal_axes`] orders them: already diagonal tensors come back unturned.
    pub fn principal(&self) -> (Vec3, Quat) {
        self.inertia.principal_axes()
    }

    /// 1/m, kg⁻¹.
    pub fn inverse_mass(&self) -> f64 {
        1.0 / self.mass
    }

    /// The inverse of the inertia tensor, (kg m²)⁻¹, body axes.
    ///
    /// Zero for a point mass, which cannot turn. Any other singular tensor is an error, because no
    /// finite inverse describes it.
    pub fn inverse_inertia(&self) -> Result<SymMat3, MassError> {
        if self.inertia == SymMat3::ZERO {
            return Ok(SymMat3::ZERO);
        }
        let singular = || MassError::SingularInertia {
            moment: self.inertia.principal_axes().0.min_element(),
        };
        let inverse = self.inertia.inverse().ok_or_else(singular)?;
        // A tensor that is singular but for rounding has an inverse of either sign.
        if inverse.xx > 0.0 && inverse.yy > 0.0 && inverse.zz > 0.0 && inverse.is_finite() {
            Ok(inverse)
        } else {
            Err(singular())
        }
    }

    /// Angular momentum about the centre of mass, world frame (kg m²/s), of the body with its axes
    /// turned by `rotation` and the world angular velocity `angular` (rad/s): R I R' w.
    pub fn angular_momentum(&self, rotation: Quat, angular: Vec3) -> Vec3 {
        rotation * self.inertia.mul_vec(rotation.conjugate() * angular)
    }

    /// Kinetic energy (J): m |v|²/2 + w'(R I R')w/2.
    pub fn kinetic_energy(&self, rotation: Quat, velocity: &Velocity) -> f64 {
        let angular = rotation.conjugate() * velocity.angular;
        0.5 * (self.mass * velocity.linear.length_squared() + self.inertia.quadratic(angular))
    }

    /// Rejects results that have overflowed, or vanished by underflow.
    fn in_range(self) -> Result<Self, MassError> {
        let out_of_range = |field, value| Err(MassError::OutOfRange { field, value });
        if !self.mass.is_normal() {
            return out_of_range("mass", self.mass);
        }
        for value in self.center_of_mass.to_array() {
            if !value.is_finite() {
                return out_of_range("center_of_mass", value);
            }
        }
        for value in self.inertia.entries() {
            if !value.is_finite() || value.is_subnormal() {
                return out_of_range("inertia", value);
            }
        }
        Ok(self)
    }

    /// A solid's properties: like `in_range`, and its three moments must not have vanished.
    fn solid(mass: f64, center_of_mass: Vec3, inertia: SymMat3) -> Result<Self, MassError> {
        for value in [inertia.xx, inertia.yy, inertia.zz] {
            if value == 0.0 {
                return Err(MassError::OutOfRange {
                    field: "inertia",
                    value,
                });
            }
        }
        Self {
            mass,
            center_of_mass,
            inertia,
        }
        .in_range()
    }
}

/// m (|d|² 1 - d d').
fn parallel_axis(mass: f64, d: Vec3) -> SymMat3 {
    let (xx, yy, zz) = (d.x * d.x, d.y * d.y, d.z * d.z);
    SymMat3 {
        xx: mass * (yy + zz),
        yy: mass * (xx + zz),
        zz: mass * (xx + yy),
        xy: -mass * (d.x * d.y),
        xz: -mass * (d.x * d.z),
        yz: -mass * (d.y * d.z),
    }
}
