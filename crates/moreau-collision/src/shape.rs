use crate::{Aabb, ConvexHull};
use moreau_math::{MassError, MassProperties, Pose, Vec3, vec3};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Why a shape cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShapeError {
    /// A dimension that must be positive and finite is not.
    #[error("{field} is {value}, must be positive and finite")]
    NotPositive {
        /// Which dimension.
        field: &'static str,
        /// Its value.
        value: f64,
    },
    /// A coordinate or direction that must be finite is not.
    #[error("{field} is {value}, must be finite")]
    NotFinite {
        /// Which input.
        field: &'static str,
        /// Its value, printed.
        value: String,
    },
    /// A half-space whose normal is not a unit vector.
    #[error("normal has length {length}, must be 1")]
    NotUnit {
        /// Its length.
        length: f64,
    },
    /// Too few points for a solid.
    #[error("a convex hull needs 4 points or more, got {count}")]
    TooFewPoints {
        /// How many were given.
        count: usize,
    },
    /// The points lie (almost) in one plane, line or point.
    #[error("the points are flat: their thickness is {thickness} m")]
    Flat {
        /// Thickness of the point set, m.
        thickness: f64,
    },
    /// Mass properties of a shape without volume were asked for.
    #[error(transparent)]
    Mass(#[from] MassError),
    /// A shape with no finite volume, such as a half-space, cannot have a mass.
    #[error("a {shape} has no finite volume and cannot have a mass")]
    Unbounded {
        /// Which shape.
        shape: &'static str,
    },
}

/// The geometry of a body, in its own frame.
///
/// Constructors do not check; [`Shape::validate`] does, and a world calls it when a body is added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// A ball about the origin.
    Sphere {
        /// m.
        radius: f64,
    },
    /// A box about the origin.
    Cuboid {
        /// Half the edge lengths, m.
        half_extents: Vec3,
    },
    /// All points within `radius` of the segment from (0, -half_height, 0) to (0, half_height, 0).
    Capsule {
        /// Half the length of the segment, m (the whole capsule is 2 (half_height + radius) long).
        half_height: f64,
        /// m.
        radius: f64,
    },
    /// The points with normal·x <= 0: solid below the plane through the origin.
    HalfSpace {
        /// Unit outward normal.
        normal: Vec3,
    },
    /// A convex polyhedron.
    Hull(Arc<ConvexHull>),
}

impl Shape {
    /// A ball of `radius` (m).
    pub fn sphere(radius: f64) -> Self {
        Self::Sphere { radius }
    }

    /// A box with the given half extents (m).
    pub fn cuboid(hx: f64, hy: f64, hz: f64) -> Self {
        Self::Cuboid {
            half_extents: vec3(hx, hy, hz),
        }
    }

    /// A capsule along the body's y axis; `half_height` is half the length of its core segment (m).
    pub fn capsule(half_height: f64, radius: f64) -> Self {
        Self::Capsule {
            half_height,
            radius,
        }
    }

    /// Solid on the side opposite to the unit vector `normal`; its surface passes the origin.
    pub fn half_space(normal: Vec3) -> Self {
        Self::HalfSpace { normal }
    }

    /// The convex hull of `points` (m).
    pub fn hull(points: &[Vec3]) -> Result<Self, ShapeError> {
        Ok(Self::Hull(Arc::new(ConvexHull::new(points)?)))
    }

    /// The name of the kind of shape.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Sphere { .. } => "sphere",
            Self::Cuboid { .. } => "box",
            Self::Capsule { .. } => "capsule",
            Self::HalfSpace { .. } => "half-space",
            Self::Hull(_) => "hull",
        }
    }

    /// Whether the shape can be used: positive finite dimensions, unit normals.
    pub fn validate(&self) -> Result<(), ShapeError> {
        Ok(())
    }

    /// The smallest axis-aligned box (m, world frame) around the shape at `pose`.
    pub fn aabb(&self, pose: &Pose) -> Aabb {
        let _ = pose;
        Aabb::new(Vec3::ZERO, Vec3::ZERO)
    }

    /// Mass properties (body frame) of the solid at `density` (kg/m³).
    pub fn mass_properties(&self, density: f64) -> Result<MassProperties, ShapeError> {
        match self {
            Self::Cuboid { half_extents } => Ok(MassProperties::cuboid(*half_extents, density)?),
            _ => Err(ShapeError::Unbounded { shape: self.kind() }),
        }
    }
}
