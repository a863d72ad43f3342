use super::error::{QueryError, finite};
use super::pieces::{cast_on_children, pierce};
use super::spans;
use crate::Shape;
use moreau_math::{Pose, Vec3};

/// A half-line in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    origin: Vec3,
    direction: Vec3,
}

/// What a ray meets that starts inside of a shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inside {
    /// The shape, at once: distance 0, and as a normal the way the ray came from.
    #[default]
    Solid,
    /// The surface, where the ray leaves the shape.
    Hollow,
}

/// Where a ray meets a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// From the ray's origin, m.
    pub distance: f64,
    /// World frame, m.
    pub point: Vec3,
    /// Unit, out of the shape, world frame. Points along the ray where that leaves a hollow shape.
    pub normal: Vec3,
}

impl Ray {
    /// From `origin` (m) along `direction`, of any length but zero.
    ///
    /// # Errors
    /// Where either is not finite, or the direction is zero.
    pub fn new(origin: Vec3, direction: Vec3) -> Result<Self, QueryError> {
        let origin = finite("origin", origin)?;
        let direction = finite("direction", direction)?;
        // Scaled first, so that no square overflows or vanishes.
        let scale = direction.abs().max_element();
        if scale == 0.0 {
            return Err(QueryError::ZeroDirection);
        }
        // In two steps, as the inverse of a very small number is infinite.
        let direction = (direction / scale).normalize();
        Ok(Self { origin, direction })
    }

    /// Where it starts, m.
    pub fn origin(&self) -> Vec3 {
        self.origin
    }

    /// Unit.
    pub fn direction(&self) -> Vec3 {
        self.direction
    }

    /// The point at a distance (m) from its origin.
    pub fn at(&self, distance: f64) -> Vec3 {
        self.origin + self.direction * distance
    }

    /// The first point of `shape` at `pose` that the ray meets within `max_distance` (m, may be
    /// infinite); surfaces are closed, so it may graze. None where a pose or the distance is not a
    /// number, or a coordinate of the point too large for one.
    ///
    /// Triangles count from both sides. Behind those of a closed mesh or a heightfield is solid; the
    /// normal of an open mesh points to where the ray comes from. Of a compound each child is met on
    /// its own.
    pub fn cast(
        &self,
        shape: &Shape,
        pose: &Pose,
        max_distance: f64,
        inside: Inside,
    ) -> Option<RayHit> {
        if !pose.is_finite() {
            return None;
        }
        // Local axes about the shape's origin.
        let start = pose.inverse_transform_point(self.origin);
        let way = pose.inverse_transform_vector(self.direction);
        if !start.is_finite() {
            return None;
        }
        if let Some(surface) = shape.surface() {
            let solid = shape.is_solid() || matches!(shape, Shape::Heightfield(_));
            let inside = solid.then_some(inside);
            let (distance, normal) = pierce(surface, (start, way), max_distance, inside)?;
            let normal = pose.transform_vector(normal);
            return self.hit(distance, normal, max_distance);
        }
        if let Shape::Compound(compound) = shape {
            return cast_on_children(self, compound.children(), pose, max_distance, inside);
        }
        let span = spans::of(shape, start, way)?;
        let (distance, normal) = if span.leave < 0.0 {
            return None;
        } else if span.enter > 0.0 {
            (span.enter, pose.transform_vector(span.normal_in))
        } else if inside == Inside::Solid {
            (0.0, -self.direction)
        } else {
            (span.leave, pose.transform_vector(span.normal_out))
        };
        self.hit(distance, normal, max_distance)
    }

    fn hit(&self, distance: f64, normal: Vec3, max_distance: f64) -> Option<RayHit> {
        let point = self.at(distance);
        // The point may be beyond the largest number where the distance is not.
        let is_there = distance <= max_distance && distance.is_finite() && point.is_finite();
        is_there.then_some(RayHit {
            distance,
            point,
            normal,
        })
    }
}
