//! Homogeneous solids in closed form.
//!
//! Symbols: r radius; h half height; m mass; density (kg/m³); everything about the centre of mass.
//!
//! ```text
//! box       m = 8 hx hy hz density     Ixx = m (hy² + hz²)/3, ...
//! sphere    m = 4/3 pi r³ density      I = 2/5 m r²
//! cylinder  m = 2 pi r² h density      Iyy = m r²/2            Ixx = Izz = m (r²/4 + h²/3)
//! cone      m = 2/3 pi r² h density    Iyy = 3/10 m r²         Ixx = Izz = 3/20 m (r² + h²)
//! capsule   cylinder of mass a, and two half balls of together mass s:
//!           Iyy = a r²/2 + 2/5 s r²    Ixx = Izz = a (r²/4 + h²/3) + s (2/5 r² + h² + 3/4 h r)
//! ```
//!
//! A half ball has its centre of mass 3/8 r from its flat face, about which 2/5 m r² holds for every
//! axis in the face; shifting by the parallel-axis theorem gives the capsule's last term.

use super::error::{not_negative, positive};
use super::{MassError, MassProperties};
use crate::{SymMat3, Vec3, vec3};
use std::f64::consts::PI;

impl MassProperties {
    /// A solid box with the given half extents (m) and density (kg/m³), centred on the origin.
    pub fn cuboid(half_extents: Vec3, density: f64) -> Result<Self, MassError> {
        let h = half_extents;
        positive("half_extents.x", h.x)?;
        positive("half_extents.y", h.y)?;
        positive("half_extents.z", h.z)?;
        positive("density", density)?;
        let mass = 8.0 * h.x * h.y * h.z * density;
        let (xx, yy, zz) = (h.x * h.x, h.y * h.y, h.z * h.z);
        let diagonal = Vec3::new(yy + zz, xx + zz, xx + yy) * (mass / 3.0);
        Self::solid(mass, Vec3::ZERO, SymMat3::from_diagonal(diagonal))
    }

    /// A solid ball of `radius` (m) and density (kg/m³), centred on the origin.
    pub fn sphere(radius: f64, density: f64) -> Result<Self, MassError> {
        positive("radius", radius)?;
        positive("density", density)?;
        let mass = ball(radius, density);
        let moment = 0.4 * mass * radius * radius;
        Self::solid(
            mass,
            Vec3::ZERO,
            SymMat3::from_diagonal(Vec3::splat(moment)),
        )
    }

    /// A solid capsule along y, centred on the origin: all points within `radius` (m) of the
    /// segment from (0, -`half_height`, 0) to (0, `half_height`, 0). A `half_height` of zero is a
    /// sphere. Density in kg/m³.
    pub fn capsule(half_height: f64, radius: f64, density: f64) -> Result<Self, MassError> {
        not_negative("half_height", half_height)?;
        positive("radius", radius)?;
        positive("density", density)?;
        let (h, r) = (half_height, radius);
        let (hh, rr) = (h * h, r * r);
        let middle = 2.0 * PI * rr * h * density;
        let caps = ball(radius, density);
        let axial = (0.5 * middle + 0.4 * caps) * rr;
        let across = middle * (rr / 4.0 + hh / 3.0) + caps * (0.4 * rr + hh + 0.75 * h * r);
        Self::solid(middle + caps, Vec3::ZERO, about_y(axial, across))
    }

    /// A solid cylinder of `radius` (m) along y, from -`half_height` to `half_height` (m). Density in
    /// kg/m³.
    pub fn cylinder(half_height: f64, radius: f64, density: f64) -> Result<Self, MassError> {
        positive("half_height", half_height)?;
        positive("radius", radius)?;
        positive("density", density)?;
        let (hh, rr) = (half_height * half_height, radius * radius);
        let mass = 2.0 * PI * rr * half_height * density;
        let inertia = about_y(0.5 * mass * rr, mass * (rr / 4.0 + hh / 3.0));
        Self::solid(mass, Vec3::ZERO, inertia)
    }

    /// A solid cone along y: apex at (0, `half_height`, 0), base of `radius` (m) at
    /// y = -`half_height` (m). The origin is at mid-height, so the centre of mass, a quarter of the
    /// height above the base, is at (0, -`half_height`/2, 0). Density in kg/m³.
    pub fn cone(half_height: f64, radius: f64, density: f64) -> Result<Self, MassError> {
        positive("half_height", half_height)?;
        positive("radius", radius)?;
        positive("density", density)?;
        let (hh, rr) = (half_height * half_height, radius * radius);
        let mass = 2.0 / 3.0 * PI * rr * half_height * density;
        let inertia = about_y(0.3 * mass * rr, 0.15 * mass * (rr + hh));
        Self::solid(mass, vec3(0.0, -0.5 * half_height, 0.0), inertia)
    }
}

fn ball(radius: f64, density: f64) -> f64 {
    4.0 / 3.0 * PI * radius * radius * radius * density
}

/// A tensor symmetric about y.
fn about_y(axial: f64, across: f64) -> SymMat3 {
    SymMat3::from_diagonal(vec3(across, axial, across))
}
