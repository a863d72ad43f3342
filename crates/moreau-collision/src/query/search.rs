use super::closest::{PointProjection, overlaps, project_point};
use super::error::{QueryError, finite, limit};
use super::impact::{Impact, cast_shape};
use super::pieces::distance;
use super::ray::{Inside, Ray, RayHit};
use crate::broad_phase::BoxPath;
use crate::{Aabb, BroadPhase, ClosestPoints, Shape};
use moreau_math::{Pose, Vec3};

/// What a query found: which shape, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit<Id, T> {
    /// Which.
    pub id: Id,
    /// Where.
    pub at: T,
}

impl<Id, T> Hit<Id, T> {
    /// The same under another id.
    pub fn named<Other>(self, name: impl FnOnce(Id) -> Other) -> Hit<Other, T> {
        Hit {
            id: name(self.id),
            at: self.at,
        }
    }
}

/// Queries of shapes that live elsewhere and whose boxes are in a [`BroadPhase`].
///
/// `shape_of` gives the shape and pose of an id, or None for one that the query is to pass over; it
/// is asked only for boxes that the query meets. The boxes must contain the shapes.
///
/// Of equal answers the smaller id is taken; lists are sorted.
#[derive(Clone, Copy)]
pub struct Search<'a> {
    boxes: &'a BroadPhase,
    shape_of: &'a dyn Fn(u32) -> Option<(&'a Shape, Pose)>,
}

impl<'a> Search<'a> {
    /// Asks `boxes` for candidates and `shape_of` for their shapes.
    pub fn new(
        boxes: &'a BroadPhase,
        shape_of: &'a dyn Fn(u32) -> Option<(&'a Shape, Pose)>,
    ) -> Self {
        Self { boxes, shape_of }
    }

    /// The first shape that the ray meets within `max_distance` (m, may be infinite).
    ///
    /// # Errors
    /// Where the distance is negative or not a number.
    pub fn cast_ray(
        &self,
        ray: &Ray,
        max_distance: f64,
        inside: Inside,
    ) -> Result<Option<Hit<u32, RayHit>>, QueryError> {
        limit("max_distance", max_distance)?;
        let mut best: Option<Hit<u32, RayHit>> = None;
        self.visit_ray(ray, max_distance, |id, most| {
            let Some(at) = self.ray_hit(id, ray, most, inside) else {
                return most;
            };
            let first = best.is_none_or(|b| (at.distance, id) < (b.at.distance, b.id));
            if first {
                best = Some(Hit { id, at });
            }
            at.distance
        });
        Ok(best)
    }

    /// Replaces the content of `hits` by what the ray meets within `max_distance` (m, may be
    /// infinite) of every shape, the nearest first.
    ///
    /// # Errors
    /// Where the distance is negative or not a number.
    pub fn cast_ray_all(
        &self,
        ray: &Ray,
        max_distance: f64,
        inside: Inside,
        hits: &mut Vec<Hit<u32, RayHit>>,
    ) -> Result<(), QueryError> {
        hits.clear();
        limit("max_distance", max_distance)?;
        self.visit_ray(ray, max_distance, |id, most| {
            let hit = self.ray_hit(id, ray, most, inside);
            hits.extend(hit.map(|at| Hit { id, at }));
            most
        });
        hits.sort_unstable_by(|a, b| {
            let order = a.at.distance.total_cmp(&b.at.distance);
            order.then(a.id.cmp(&b.id))
        });
        Ok(())
    }

    /// The first shape that `shape`, moved from `pose` with `velocity` (m/s) and not turned, meets
    /// within `duration` (s, may be infinite); the found shape is A of the impact, so the normal
    /// points out of it. The velocity may be a displacement: times are then parts of it.
    ///
    /// # Errors
    /// Where a number is not finite, the duration is negative, or the shape is unusable or unbounded.
    pub fn cast_shape(
        &self,
        shape: &Shape,
        pose: &Pose,
        velocity: Vec3,
        duration: f64,
    ) -> Result<Option<Hit<u32, Impact>>, QueryError> {
        let aabb = bounded(shape, pose)?;
        let path = BoxPath {
            start: aabb.center(),
            way: finite("velocity", velocity)?,
            half: aabb.extents() * 0.5,
        };
        limit("duration", duration)?;
        let mut best: Option<Hit<u32, Impact>> = None;
        let mut failed = None;
        self.boxes.visit_path(&path, duration, |id, most| {
            let Some((target, at)) = (self.shape_of)(id) else {
                return most;
            };
            match cast_shape(shape, pose, velocity, target, &at, most) {
                Ok(Some(at)) => {
                    let first = best.is_none_or(|b| (at.time, id) < (b.at.time, b.id));
                    if first {
                        best = Some(Hit { id, at });
                    }
                    // A little room, as an impact at the very end of a duration counts as none.
                    (at.time * (1.0 + 1e-9)).min(most)
                }
                Ok(None) => most,
                Err(error) => {
                    failed = Some(error);
                    most
                }
            }
        });
        failed.map_or(Ok(best), Err)
    }

    /// Replaces the content of `ids` by the shapes that share a point with `shape` at `pose`;
    /// touching counts.
    ///
    /// # Errors
    /// Where the pose is not finite or the shape not usable.
    pub fn overlaps(
        &self,
        shape: &Shape,
        pose: &Pose,
        ids: &mut Vec<u32>,
    ) -> Result<(), QueryError> {
        ids.clear();
        let aabb = usable(shape, pose)?;
        // Touching is told to rounding, which the boxes must not decide.
        let size = aabb.min.abs().max(aabb.max.abs()).max_element();
        let margin = if size.is_finite() { 1e-9 * size } else { 0.0 };
        self.boxes.visit_overlaps(&aabb.enlarged(margin), |id| {
            if let Some((other, at)) = (self.shape_of)(id)
                && overlaps(other, &at, shape, pose)
            {
                ids.push(id);
            }
        });
        ids.sort_unstable();
        Ok(())
    }

    /// Replaces the content of `ids` by the shapes whose boxes overlap `aabb`; none where it is
    /// empty.
    pub fn overlaps_aabb(&self, aabb: &Aabb, ids: &mut Vec<u32>) {
        ids.clear();
        self.boxes.visit_overlaps(aabb, |id| {
            if let Some((shape, pose)) = (self.shape_of)(id)
                && shape.aabb(&pose).overlaps(aabb)
            {
                ids.push(id);
            }
        });
        ids.sort_unstable();
    }

    /// The surface point nearest to `point` (m) of the shape that is nearest, within `max_distance`
    /// (m, may be infinite). A shape that holds the point has a negative distance; the deepest is
    /// then the nearest.
    ///
    /// # Errors
    /// Where the point is not finite, or the distance negative or not a number.
    pub fn closest_point(
        &self,
        point: Vec3,
        max_distance: f64,
    ) -> Result<Option<Hit<u32, PointProjection>>, QueryError> {
        finite("point", point)?;
        limit("max_distance", max_distance)?;
        let aabb = Aabb::new(point, point);
        Ok(self.nearest(&aabb, max_distance, |shape, pose| {
            let at = project_point(shape, pose, point).ok()?;
            Some((at.distance, at))
        }))
    }

    /// The shape that is nearest to `shape` at `pose`, within `max_distance` (m, may be infinite),
    /// as A of the points returned. Where shapes overlap it, that of the deepest.
    ///
    /// # Errors
    /// Where the pose is not finite, the shape not usable, or the distance negative or not a number.
    pub fn closest_shape(
        &self,
        shape: &Shape,
        pose: &Pose,
        max_distance: f64,
    ) -> Result<Option<Hit<u32, ClosestPoints>>, QueryError> {
        let aabb = usable(shape, pose)?;
        limit("max_distance", max_distance)?;
        Ok(self.nearest(&aabb, max_distance, |other, at| {
            let near = distance(other, at, shape, pose)?;
            Some((near.separation, near))
        }))
    }

    fn nearest<T: Copy>(
        &self,
        aabb: &Aabb,
        max_distance: f64,
        measure: impl Fn(&Shape, &Pose) -> Option<(f64, T)>,
    ) -> Option<Hit<u32, T>> {
        let mut best: Option<(f64, Hit<u32, T>)> = None;
        self.boxes.visit_near(aabb, max_distance, |id, most| {
            let found = (self.shape_of)(id).and_then(|(shape, pose)| measure(shape, &pose));
            let Some((apart, at)) = found.filter(|f| f.0 <= max_distance) else {
                return most;
            };
            let first = (best.as_ref()).is_none_or(|(b, hit)| (apart, id) < (*b, hit.id));
            if first {
                best = Some((apart, Hit { id, at }));
            }
            // Boxes that overlap can hold shapes of any depth.
            most.min(apart.max(0.0))
        });
        best.map(|(_, hit)| hit)
    }

    fn visit_ray(&self, ray: &Ray, most: f64, visit: impl FnMut(u32, f64) -> f64) {
        let path = BoxPath {
            start: ray.origin(),
            way: ray.direction(),
            half: Vec3::ZERO,
        };
        self.boxes.visit_path(&path, most, visit);
    }

    fn ray_hit(&self, id: u32, ray: &Ray, most: f64, inside: Inside) -> Option<RayHit> {
        let (shape, pose) = (self.shape_of)(id)?;
        ray.cast(shape, &pose, most, inside)
    }
}

/// The box of a shape to ask with.
fn usable(shape: &Shape, pose: &Pose) -> Result<Aabb, QueryError> {
    shape.validate()?;
    if !pose.is_finite() {
        let value = format!("{pose:?}");
        return Err(QueryError::NotFinite {
            field: "pose",
            value,
        });
    }
    Ok(shape.aabb(pose))
}

fn bounded(shape: &Shape, pose: &Pose) -> Result<Aabb, QueryError> {
    if !shape.is_bounded() {
        let shape = shape.kind();
        return Err(QueryError::Unbounded { shape });
    }
    usable(shape, pose)
}
