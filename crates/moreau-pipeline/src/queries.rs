//! Questions about the bodies as they are between steps.

use crate::world::WorldState;
use crate::{BodyId, BodyView, World};
use moreau_collision::{
    Aabb, BroadPhase, ClosestPoints, Groups, Hit, Impact, Inside, PointProjection, QueryError, Ray,
    RayHit, Search, Shape,
};
use moreau_math::{Pose, Vec3};
use std::sync::PoisonError;

/// Which bodies a query looks at. The default looks at all but sensors.
#[derive(Clone, Copy, Default)]
pub struct BodyFilter<'a> {
    /// The query's own groups: it looks at the bodies that these [meet](Groups::meets).
    pub groups: Groups,
    /// Bodies to pass over.
    pub exclude: &'a [BodyId],
    /// Looks at sensors, too. Default false.
    pub sensors: bool,
    /// Bodies for which this is false are passed over, too.
    pub accept: Option<&'a dyn Fn(BodyView<'_>) -> bool>,
}

impl BodyFilter<'_> {
    fn admits(&self, body: BodyView<'_>) -> bool {
        self.groups.meets(body.groups())
            && (self.sensors || !body.is_sensor())
            && !self.exclude.contains(&body.id())
            && self.accept.is_none_or(|accept| accept(body))
    }
}

/// Boxes of the bodies where they are. The step's own are stretched along its motion, and older.
#[derive(Default)]
pub(crate) struct QueryTree {
    boxes: BroadPhase,
    /// How many slots the boxes were made from.
    slots: usize,
    is_fresh: bool,
}

impl QueryTree {
    fn update(&mut self, state: &WorldState) {
        if self.is_fresh {
            return;
        }
        self.slots = self.slots.max(state.bodies.len());
        for index in 0..self.slots as u32 {
            let slot = state.bodies.get(index as usize);
            match slot.and_then(|slot| slot.value.as_ref()) {
                Some(body) => {
                    let aabb = body.shape.aabb(&body.pose());
                    // Of none of them pairs are asked for: all may keep enlarged boxes.
                    self.boxes.set(index, aabb, false);
                }
                None => self.boxes.remove(index),
            }
        }
        self.boxes.update();
        self.is_fresh = true;
    }
}

impl World {
    /// The first body that the ray meets within `max_distance` (m, may be infinite); of equals that
    /// with the smaller id.
    ///
    /// # Errors
    /// Where the distance is negative or not a number.
    pub fn cast_ray(
        &self,
        ray: &Ray,
        max_distance: f64,
        inside: Inside,
        filter: &BodyFilter<'_>,
    ) -> Result<Option<Hit<BodyId, RayHit>>, QueryError> {
        let hit = self.ask(filter, |s| s.cast_ray(ray, max_distance, inside))?;
        Ok(hit.map(|hit| self.named(hit)))
    }

    /// What the ray meets of every body within `max_distance` (m, may be infinite), the nearest
    /// first, of equals the smaller id.
    ///
    /// # Errors
    /// Where the distance is negative or not a number.
    pub fn cast_ray_all(
        &self,
        ray: &Ray,
        max_distance: f64,
        inside: Inside,
        filter: &BodyFilter<'_>,
    ) -> Result<Vec<Hit<BodyId, RayHit>>, QueryError> {
        let mut hits = Vec::new();
        self.ask(filter, |s| {
            s.cast_ray_all(ray, max_distance, inside, &mut hits)
        })?;
        Ok(hits.into_iter().map(|hit| self.named(hit)).collect())
    }

    /// The first body that `shape`, moved from a pose with a velocity (m/s) and not turned, meets
    /// within `duration` (s, may be infinite). Bodies stay where they are. The body is A of the
    /// impact, so the normal points out of it. The velocity may be a displacement: times are then
    /// parts of it.
    ///
    /// # Errors
    /// Where a number is not finite, the duration is negative, or the shape is unusable or unbounded.
    pub fn cast_shape(
        &self,
        shape: &Shape,
        motion: (&Pose, Vec3),
        duration: f64,
        filter: &BodyFilter<'_>,
    ) -> Result<Option<Hit<BodyId, Impact>>, QueryError> {
        let (pose, velocity) = motion;
        let hit = self.ask(filter, |s| s.cast_shape(shape, pose, velocity, duration))?;
        Ok(hit.map(|hit| self.named(hit)))
    }

    /// The bodies that share a point with `shape` at `pose`, in id order; touching counts.
    ///
    /// # Errors
    /// Where the pose is not finite or the shape not usable.
    pub fn overlaps(
        &self,
        shape: &Shape,
        pose: &Pose,
        filter: &BodyFilter<'_>,
    ) -> Result<Vec<BodyId>, QueryError> {
        let mut ids = Vec::new();
        self.ask(filter, |s| s.overlaps(shape, pose, &mut ids))?;
        Ok(ids.into_iter().map(|index| self.id_of(index)).collect())
    }

    /// The bodies whose boxes overlap `aabb`, in id order.
    pub fn overlaps_aabb(&self, aabb: &Aabb, filter: &BodyFilter<'_>) -> Vec<BodyId> {
        let mut ids = Vec::new();
        self.ask(filter, |s| s.overlaps_aabb(aabb, &mut ids));
        ids.into_iter().map(|index| self.id_of(index)).collect()
    }

    /// The surface point nearest to `point` (m) of the body that is nearest, within `max_distance`
    /// (m, may be infinite); inside of bodies the distance is negative, and the deepest counts.
    ///
    /// # Errors
    /// Where the point is not finite, or the distance negative or not a number.
    pub fn closest_point(
        &self,
        point: Vec3,
        max_distance: f64,
        filter: &BodyFilter<'_>,
    ) -> Result<Option<Hit<BodyId, PointProjection>>, QueryError> {
        let hit = self.ask(filter, |s| s.closest_point(point, max_distance))?;
        Ok(hit.map(|hit| self.named(hit)))
    }

    /// The body that is nearest to `shape` at `pose`, within `max_distance` (m, may be infinite), as
    /// A of the points returned; where bodies overlap it, the deepest.
    ///
    /// # Errors
    /// Where the pose is not finite, the shape not usable, or the distance negative or not a number.
    pub fn closest_body(
        &self,
        shape: &Shape,
        pose: &Pose,
        max_distance: f64,
        filter: &BodyFilter<'_>,
    ) -> Result<Option<Hit<BodyId, ClosestPoints>>, QueryError> {
        let hit = self.ask(filter, |s| s.closest_shape(shape, pose, max_distance))?;
        Ok(hit.map(|hit| self.named(hit)))
    }

    /// The next query makes new boxes.
    pub(crate) fn forget_queries(&mut self) {
        let tree = self.query_tree.get_mut();
        tree.unwrap_or_else(PoisonError::into_inner).is_fresh = false;
    }

    pub(crate) fn ask<R>(
        &self,
        filter: &BodyFilter<'_>,
        question: impl FnOnce(Search<'_>) -> R,
    ) -> R {
        let shape_of = |index: u32| {
            let id = self.id_of(index);
            let state = self.state.bodies[index as usize].value.as_ref()?;
            let admitted = filter.admits(BodyView { id, state });
            admitted.then(|| (&state.shape, state.pose()))
        };
        loop {
            let tree = self.query_tree.read();
            let tree = tree.unwrap_or_else(PoisonError::into_inner);
            if tree.is_fresh {
                return question(Search::new(&tree.boxes, &shape_of));
            }
            drop(tree);
            let tree = self.query_tree.write();
            tree.unwrap_or_else(PoisonError::into_inner)
                .update(&self.state);
        }
    }

    fn named<T>(&self, hit: Hit<u32, T>) -> Hit<BodyId, T> {
        hit.named(|index| self.id_of(index))
    }

    fn id_of(&self, index: u32) -> BodyId {
        BodyId {
            index,
            generation: self.state.bodies[index as usize].generation,
        }
    }
}
