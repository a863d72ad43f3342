use super::closest::PointProjection;
use super::error::QueryError;
use super::impact::Impact;
use super::ray::{Inside, Ray, RayHit};
use super::search::{Hit, Search};
use crate::{Aabb, BroadPhase, ClosestPoints, Groups, Shape};
use moreau_math::{Pose, Vec3};

/// Which shapes a query looks at. The default looks at all.
#[derive(Clone, Copy, Default)]
pub struct QueryFilter<'a> {
    /// The query's own groups: it looks at the shapes that these [meet](Groups::meets).
    pub groups: Groups,
    /// Shapes to pass over.
    pub exclude: &'a [u32],
    /// Shapes for which this is false are passed over, too.
    pub accept: Option<&'a dyn Fn(u32) -> bool>,
}

impl QueryFilter<'_> {
    fn admits(&self, id: u32, groups: Groups) -> bool {
        self.groups.meets(groups)
            && !self.exclude.contains(&id)
            && self.accept.is_none_or(|accept| accept(id))
    }
}

#[derive(Clone, Debug)]
struct Item {
    shape: Shape,
    pose: Pose,
    groups: Groups,
}

/// Shapes at poses, kept in a tree, to ask questions of.
///
/// ```
/// use moreau_collision::{Inside, QueryFilter, Ray, Shape, ShapeSet};
/// use moreau_math::{Pose, Vec3, vec3};
///
/// let mut set = ShapeSet::new();
/// let floor = set.insert(Shape::half_space(Vec3::Y), Pose::IDENTITY)?;
/// let ball = set.insert(Shape::sphere(0.5), Pose::from_translation(vec3(0.0, 2.0, 0.0)))?;
/// let down = Ray::new(vec3(0.0, 5.0, 0.0), Vec3::NEG_Y)?;
/// let hit = set.cast_ray(&down, f64::INFINITY, Inside::Solid, &QueryFilter::default())?.unwrap();
/// assert_eq!((hit.id, hit.at.distance), (ball, 2.5));
/// let no_ball = QueryFilter { exclude: &[ball], ..QueryFilter::default() };
/// assert_eq!(set.cast_ray(&down, 10.0, Inside::Solid, &no_ball)?.unwrap().id, floor);
/// # Ok::<(), moreau_collision::QueryError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ShapeSet {
    boxes: BroadPhase,
    items: Vec<Option<Item>>,
    free: Vec<u32>,
}

impl ShapeSet {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many shapes there are.
    pub fn len(&self) -> usize {
        self.boxes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.boxes.is_empty()
    }

    /// Adds a shape of [all groups](Groups::ALL); ids are small, and those of removed shapes are used
    /// again.
    ///
    /// # Errors
    /// Where the shape is not usable or the pose not finite.
    pub fn insert(&mut self, shape: Shape, pose: Pose) -> Result<u32, QueryError> {
        shape.validate()?;
        checked(&pose)?;
        let id = self.free.pop().unwrap_or(self.items.len() as u32);
        let aabb = shape.aabb(&pose);
        let item = Some(Item {
            shape,
            pose,
            groups: Groups::ALL,
        });
        match self.items.get_mut(id as usize) {
            Some(place) => *place = item,
            None => self.items.push(item),
        }
        self.boxes.set(id, aabb, false);
        self.boxes.update();
        Ok(id)
    }

    /// Moves a shape.
    ///
    /// # Errors
    /// Where there is no such shape, or the pose is not finite.
    pub fn set_pose(&mut self, id: u32, pose: Pose) -> Result<(), QueryError> {
        checked(&pose)?;
        let item = self.get_mut(id)?;
        item.pose = pose;
        let aabb = item.shape.aabb(&pose);
        self.boxes.set(id, aabb, false);
        self.boxes.update();
        Ok(())
    }

    /// Sets the groups of a shape.
    ///
    /// # Errors
    /// Where there is no such shape.
    pub fn set_groups(&mut self, id: u32, groups: Groups) -> Result<(), QueryError> {
        self.get_mut(id)?.groups = groups;
        Ok(())
    }

    /// Removes a shape.
    ///
    /// # Errors
    /// Where there is no such shape.
    pub fn remove(&mut self, id: u32) -> Result<(), QueryError> {
        self.get_mut(id)?;
        self.items[id as usize] = None;
        self.free.push(id);
        self.boxes.remove(id);
        Ok(())
    }

    /// A shape and its pose.
    pub fn get(&self, id: u32) -> Option<(&Shape, Pose)> {
        let item = self.items.get(id as usize)?.as_ref()?;
        Some((&item.shape, item.pose))
    }

    /// As [`Search::cast_ray`].
    ///
    /// # Errors
    /// As there.
    pub fn cast_ray(
        &self,
        ray: &Ray,
        max_distance: f64,
        inside: Inside,
        filter: &QueryFilter<'_>,
    ) -> Result<Option<Hit<u32, RayHit>>, QueryError> {
        self.search(filter, |s| s.cast_ray(ray, max_distance, inside))
    }

    /// As [`Search::cast_ray_all`].
    ///
    /// # Errors
    /// As there.
    pub fn cast_ray_all(
        &self,
        ray: &Ray,
        max_distance: f64,
        inside: Inside,
        filter: &QueryFilter<'_>,
    ) -> Result<Vec<Hit<u32, RayHit>>, QueryError> {
        let mut hits = Vec::new();
        self.search(filter, |s| {
            s.cast_ray_all(ray, max_distance, inside, &mut hits)
        })?;
        Ok(hits)
    }

    /// As [`Search::cast_shape`].
    ///
    /// # Errors
    /// As there.
    pub fn cast_shape(
        &self,
        shape: &Shape,
        motion: (&Pose, Vec3),
        duration: f64,
        filter: &QueryFilter<'_>,
    ) -> Result<Option<Hit<u32, Impact>>, QueryError> {
        let (pose, velocity) = motion;
        self.search(filter, |s| s.cast_shape(shape, pose, velocity, duration))
    }

    /// As [`Search::overlaps`].
    ///
    /// # Errors
    /// As there.
    pub fn overlaps(
        &self,
        shape: &Shape,
        pose: &Pose,
        filter: &QueryFilter<'_>,
    ) -> Result<Vec<u32>, QueryError> {
        let mut ids = Vec::new();
        self.search(filter, |s| s.overlaps(shape, pose, &mut ids))?;
        Ok(ids)
    }

    /// As [`Search::overlaps_aabb`].
    pub fn overlaps_aabb(&self, aabb: &Aabb, filter: &QueryFilter<'_>) -> Vec<u32> {
        let mut ids = Vec::new();
        self.search(filter, |s| s.overlaps_aabb(aabb, &mut ids));
        ids
    }

    /// As [`Search::closest_point`].
    ///
    /// # Errors
    /// As there.
    pub fn closest_point(
        &self,
        point: Vec3,
        max_distance: f64,
        filter: &QueryFilter<'_>,
    ) -> Result<Option<Hit<u32, PointProjection>>, QueryError> {
        self.search(filter, |s| s.closest_point(point, max_distance))
    }

    /// As [`Search::closest_shape`].
    ///
    /// # Errors
    /// As there.
    pub fn closest_shape(
        &self,
        shape: &Shape,
        pose: &Pose,
        max_distance: f64,
        filter: &QueryFilter<'_>,
    ) -> Result<Option<Hit<u32, ClosestPoints>>, QueryError> {
        self.search(filter, |s| s.closest_shape(shape, pose, max_distance))
    }

    fn search<R>(&self, filter: &QueryFilter<'_>, ask: impl FnOnce(Search<'_>) -> R) -> R {
        let shape_of = |id: u32| {
            let item = self.items.get(id as usize)?.as_ref()?;
            let admitted = filter.admits(id, item.groups);
            admitted.then_some((&item.shape, item.pose))
        };
        ask(Search::new(&self.boxes, &shape_of))
    }

    fn get_mut(&mut self, id: u32) -> Result<&mut Item, QueryError> {
        let item = self.items.get_mut(id as usize).and_then(|i| i.as_mut());
        item.ok_or(QueryError::NoSuchShape { id })
    }
}

fn checked(pose: &Pose) -> Result<(), QueryError> {
    if pose.is_finite() {
        return Ok(());
    }
    let value = format!("{pose:?}");
    Err(QueryError::NotFinite {
        field: "pose",
        value,
    })
}
