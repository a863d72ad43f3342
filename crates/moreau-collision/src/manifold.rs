use moreau_math::Vec3;
use serde::{Deserialize, Serialize};

/// Names the pair of geometric features (face, edge, vertex) that made a contact point.
///
/// Stays the same from step to step while the same features touch, so that impulses can be
/// remembered. Unique within a manifold; points are sorted by it. (Hulls of more than 32,767 vertices
/// or edges have more features than names.)
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct FeatureId(pub u32);

impl FeatureId {
    /// Bits of the name of one side's feature.
    const PART: u32 = 0x7fff;
    const A_SHIFT: u32 = 15;
    const KIND_SHIFT: u32 = 30;

    /// `kind` below 4, the names of the features of A and B below 2^15.
    pub(crate) fn new(kind: u32, a: u16, b: u16) -> Self {
        let (a, b) = (u32::from(a) & Self::PART, u32::from(b) & Self::PART);
        Self(kind << Self::KIND_SHIFT | a << Self::A_SHIFT | b)
    }

    fn exchanged(self) -> Self {
        let a = self.0 >> Self::A_SHIFT & Self::PART;
        let b = self.0 & Self::PART;
        Self::new(self.0 >> Self::KIND_SHIFT, b as u16, a as u16)
    }
}

/// One point of a [`Manifold`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ManifoldPoint {
    /// On the surface of A, world frame, m.
    pub point_a: Vec3,
    /// On the surface of B, world frame, m.
    pub point_b: Vec3,
    /// normal·(point_b - point_a), m; negative where the shapes overlap.
    pub separation: f64,
    /// Which features touch.
    pub feature: FeatureId,
}

/// The contact of two convex shapes, or of parts of two shapes: a common normal and at most four
/// points.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manifold {
    normal: Vec3,
    points: [ManifoldPoint; Self::CAPACITY],
    len: usize,
    parts: (u32, u32),
}

/// Equal normals, points and parts.
impl PartialEq for Manifold {
    fn eq(&self, other: &Self) -> bool {
        self.normal == other.normal && self.points() == other.points() && self.parts == other.parts
    }
}

impl Manifold {
    /// The most points that a manifold holds.
    pub const CAPACITY: usize = 4;

    /// Unit vector from A to B, world frame. Meaningless where there are no points.
    #[inline]
    pub fn normal(&self) -> Vec3 {
        self.normal
    }

    /// The points; empty where the shapes are further apart than the prediction distance.
    #[inline]
    pub fn points(&self) -> &[ManifoldPoint] {
        &self.points[..self.len]
    }

    /// Which parts of A and of B touch, as [`collide_all`](crate::collide_all) numbers them; (0, 0) for
    /// convex shapes.
    #[inline]
    pub fn parts(&self) -> (u32, u32) {
        self.parts
    }

    pub(crate) fn set_parts(&mut self, parts: (u32, u32)) {
        self.parts = parts;
    }

    /// Whether there is no contact.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The least separation of its points, m.
    pub fn min_separation(&self) -> Option<f64> {
        self.points().iter().map(|p| p.separation).reduce(f64::min)
    }

    /// Forgets all points and sets the normal.
    #[inline]
    pub fn reset(&mut self, normal: Vec3) {
        self.normal = normal;
        self.len = 0;
    }

    /// Makes it as one that was just made, without wiping the memory of its points.
    #[inline]
    pub fn clear(&mut self) {
        self.reset(Vec3::ZERO);
        self.parts = (0, 0);
    }

    /// Adds a point; returns false (and drops it) where four are held already.
    #[inline]
    pub fn push(&mut self, point: ManifoldPoint) -> bool {
        if self.len == Self::CAPACITY {
            return false;
        }
        self.points[self.len] = point;
        self.len += 1;
        true
    }

    /// The same contact with A and B exchanged.
    pub fn swapped(&self) -> Self {
        let mut out = *self;
        out.exchange();
        out
    }

    /// Exchanges A and B; the ids with them, as they name features of A and of B.
    pub(crate) fn exchange(&mut self) {
        self.normal = -self.normal;
        self.parts = (self.parts.1, self.parts.0);
        let points = &mut self.points[..self.len];
        for p in points.iter_mut() {
            std::mem::swap(&mut p.point_a, &mut p.point_b);
            p.feature = p.feature.exchanged();
        }
        points.sort_unstable_by_key(|p| p.feature);
    }
}
