//! From a separating axis of two polytopes to their manifold.
//!
//! The axis of greatest separation s bounds the distance from below. Where the patch along it has a
//! point at s the bound is reached, and the axis is the direction of the shortest distance; always so
//! for overlapping shapes. Where the shapes are apart and it has none, the nearest features are two
//! vertices or a vertex and an edge: no axis of the list, so the direction comes from `gjk`.

use super::context::Context;
use super::feature::Feature;
use super::gjk;
use super::patch::{Code, Corners, Projection, intersect};
use super::placed::PlacedBox;
use super::polyhedron::{BoxTables, Polyhedron};
use super::reduce::emit;
use crate::Shape;
use moreau_math::{Pose, Vec3};

/// Distance below which the direction between two nearest points is rounding, relative to `touch`.
const DIRECTION_LOST: f64 = 1e3;

/// A unit direction from A to B, and by how much it separates them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub(super) normal: Vec3,
    /// Least n·b - greatest n·a, m.
    pub(super) separation: f64,
}

/// A box or a hull in the working frame.
#[derive(Clone, Copy, Debug)]
pub(super) enum Polytope<'a> {
    Box(PlacedBox),
    Hull(Polyhedron<'a>),
}

impl<'a> Polytope<'a> {
    /// None for shapes that are neither.
    pub(super) fn new(shape: &'a Shape, pose: &Pose, origin: Vec3) -> Option<Self> {
        match shape {
            Shape::Cuboid { half_extents } => {
                Some(Self::Box(PlacedBox::new(*half_extents, pose, origin)))
            }
            Shape::Hull(hull) => Some(Self::Hull(Polyhedron::of_hull(hull, pose, origin))),
            _ => None,
        }
    }

    /// With all its features; `tables` are those of its shape.
    pub(super) fn polyhedron(&self, tables: &'a BoxTables) -> Polyhedron<'a> {
        match self {
            Self::Box(b) => Polyhedron::of_box(b, tables),
            Self::Hull(hull) => *hull,
        }
    }

    /// What faces along the unit vector `n`.
    pub(super) fn feature(&self, n: Vec3, context: &Context<'_>) -> Feature {
        match self {
            Self::Box(b) => Feature::of_box(b, n),
            Self::Hull(hull) => Feature::of_hull(hull, n, context.tie),
        }
    }

    /// The vertex furthest along `direction`.
    pub(super) fn support(&self, direction: Vec3) -> (u16, Vec3) {
        match self {
            Self::Box(b) => {
                let index = b.support(direction);
                (index as u16, b.vertex(index))
            }
            Self::Hull(hull) => {
                let (index, _) = hull.support(hull.local_vector(direction));
                (index as u16, hull.placed(hull.vertices[index]))
            }
        }
    }
}

/// Fills the manifold along `axis`, the one of greatest separation.
pub(super) fn collide(context: &mut Context<'_>, axis: Axis, a: &Polytope<'_>, b: &Polytope<'_>) {
    let mut patch = Patch::new(context, axis.normal, a, b);
    if !patch.reaches(axis.separation + context.tie) {
        if axis.separation >= -context.tie {
            let near = gjk::nearest(context, axis.normal, a, b);
            if near.distance > context.limit {
                return;
            }
            if near.distance > DIRECTION_LOST * context.touch {
                patch = Patch::new(context, near.normal, a, b);
            }
            patch.add_nearest(context, near.points, near.vertices);
        } else if patch.corners.is_empty() {
            let (va, pa) = a.support(axis.normal);
            let (vb, pb) = b.support(-axis.normal);
            patch.add_nearest(context, [pa, pb], [va, vb]);
        }
    }
    let features = Some((&patch.a, &patch.b));
    emit(context, &patch.projection, &mut patch.corners, features);
}

/// The contact patch along a normal.
struct Patch {
    projection: Projection,
    a: Feature,
    b: Feature,
    corners: Corners,
}

impl Patch {
    fn new(context: &Context<'_>, normal: Vec3, a: &Polytope<'_>, b: &Polytope<'_>) -> Self {
        let (a, b) = (a.feature(normal, context), b.feature(-normal, context));
        let projection = Projection::new(normal);
        let corners = intersect(&a, &b, &projection, context.touch);
        Self {
            projection,
            a,
            b,
            corners,
        }
    }

    /// Whether a corner has at most this separation.
    fn reaches(&self, separation: f64) -> bool {
        self.corners.iter().any(|c| c.separation <= separation)
    }

    /// Adds the pair of nearest points unless a corner is as near.
    fn add_nearest(&mut self, context: &Context<'_>, points: [Vec3; 2], vertices: [u16; 2]) {
        let code = Code {
            crossing: false,
            a: vertices[0],
            b: vertices[1],
        };
        let nearest = self.projection.corner(points[0], points[1], code);
        if !self.reaches(nearest.separation + context.tie) {
            self.corners.push(nearest);
        }
    }
}
