use moreau_math::Vec3;
use serde::{Deserialize, Serialize};

/// Axis-aligned box, in metres, closed. Half-spaces have infinite bounds.
///
/// A box whose `min` is above its `max` on some axis, or that holds a number that is not one, is
/// empty; [`Aabb::is_empty`] tells.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Aabb {
    /// Smallest corner.
    pub min: Vec3,
    /// Largest corner.
    pub max: Vec3,
}

impl Aabb {
    /// All of space.
    pub const INFINITE: Self = Self::new(Vec3::NEG_INFINITY, Vec3::INFINITY);

    /// No point at all; what [`include`](Self::include) and [`union`](Self::union) start from.
    pub const EMPTY: Self = Self::new(Vec3::INFINITY, Vec3::NEG_INFINITY);

    /// A box from its corners.
    pub const fn new(min: Vec3, max: Vec3) -> Self {
        Self { min, max }
    }

    /// The box with the given center and half edge lengths (m).
    pub fn around(center: Vec3, half_extents: Vec3) -> Self {
        Self::new(center - half_extents, center + half_extents)
    }

    /// The smallest box around `points` (m).
    pub fn of_points(points: &[Vec3]) -> Self {
        let mut aabb = Self::EMPTY;
        points.iter().for_each(|&p| aabb.include(p));
        aabb
    }

    /// Grown by `margin` (m) on every side.
    pub fn enlarged(&self, margin: f64) -> Self {
        Self {
            min: self.min - Vec3::splat(margin),
            max: self.max + Vec3::splat(margin),
        }
    }

    /// Grown just enough to hold `point`.
    pub fn include(&mut self, point: Vec3) {
        self.min = self.min.min(point);
        self.max = self.max.max(point);
    }

    /// Whether the closed boxes share a point. Neither may be empty.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.min.cmple(other.max).all() && other.min.cmple(self.max).all()
    }

    /// Whether `other` lies inside (boundaries may touch).
    pub fn contains(&self, other: &Self) -> bool {
        self.min.cmple(other.min).all() && other.max.cmple(self.max).all()
    }

    /// The smallest box around both.
    pub fn union(&self, other: &Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    /// Whether no point lies inside, which is also so where a bound is not a number.
    pub fn is_empty(&self) -> bool {
        !self.min.cmple(self.max).all()
    }

    /// Whether all bounds are finite.
    pub fn is_finite(&self) -> bool {
        self.min.is_finite() && self.max.is_finite()
    }

    /// The middle, m; not a number where the box is infinite.
    pub fn center(&self) -> Vec3 {
        (self.min + self.max) * 0.5
    }

    /// Edge lengths, m.
    pub fn extents(&self) -> Vec3 {
        self.max - self.min
    }

    /// Half the surface area, m²: what the cost of visiting a box grows with.
    pub fn half_area(&self) -> f64 {
        let e = self.extents();
        e.x * e.y + e.y * e.z + e.z * e.x
    }
}
