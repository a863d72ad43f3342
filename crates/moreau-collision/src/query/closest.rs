use super::error::{QueryError, finite};
use super::pieces::distance;
use crate::{CollideSettings, Manifold, Shape, collide, collide_all};
use moreau_math::{Pose, Vec3};

/// The point of a surface nearest to a given one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointProjection {
    /// World frame, m.
    pub point: Vec3,
    /// Unit, out of the shape at that point.
    pub normal: Vec3,
    /// Of the given point from the surface, m; negative inside.
    pub distance: f64,
}

impl PointProjection {
    /// Whether the given point lies in the shape or on its surface.
    pub fn is_inside(&self) -> bool {
        self.distance <= 0.0
    }
}

/// Whether two shapes share a point; touching counts, to rounding. False for two half-spaces, and
/// where a pose is not finite.
pub fn overlaps(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> bool {
    let touching = CollideSettings { prediction: 0.0 };
    if !(a.is_convex() && b.is_convex()) {
        let mut manifolds = Vec::new();
        collide_all(a, pose_a, b, pose_b, &touching, &mut manifolds);
        return !manifolds.is_empty();
    }
    let mut manifold = Manifold::default();
    collide(a, pose_a, b, pose_b, &touching, &mut manifold);
    !manifold.is_empty()
}

/// The point of the surface of `shape` that is nearest to `point` (m, world frame), from outside or
/// from inside.
///
/// # Errors
/// Where the point or the pose is not finite.
pub fn project_point(
    shape: &Shape,
    pose: &Pose,
    point: Vec3,
) -> Result<PointProjection, QueryError> {
    finite("point", point)?;
    let dot = Shape::Sphere { radius: 0.0 };
    let near = distance(shape, pose, &dot, &Pose::from_translation(point));
    let near = near.ok_or_else(|| QueryError::NotFinite {
        field: "pose",
        value: format!("{pose:?}"),
    })?;
    Ok(PointProjection {
        point: near.point_a,
        normal: near.normal,
        distance: near.separation,
    })
}
