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

    /// Calls `f` with all features of the shape.
    pub(super) fn with_polyhedron<R>(&self, f: impl FnOnce(&Polyhedron<'_>) -> R) -> R {
        match self {
            Self::Box(b) => f(&Polyhedron::of_box(b, &BoxTables::new(b.half))),
            Self::Hull(hull) => f(hull),
        }
    }

    /// What faces along the unit vector `n`.
    pub(super) fn feature(&self, n: Vec3, context: &Context<'_>) -> Feature {
        let mut out = Feature::default();
        self.set_feature(n, context, &mut out);
        out
    }

    /// The same in the place of `feature`, which is large to move.
    fn set_feature(&self, n: Vec3, context: &Context<'_>, feature: &mut Feature) {
        match self {
            Self::Box(b) => feature.set_box(b, n),
            Self::Hull(hull) => feature.set_hull(hull, n, context.tie),
        }
    }

    /// How many vertices it has.
    pub(super) fn vertex_count(&self) -> u16 {
        match self {
            Self::Box(_) => 8,
            Self::Hull(hull) => hull.vertices.len() as u16,
        }
    }

    /// The place of a vertex.
    pub(super) fn vertex(&self, index: u16) -> Vec3 {
        match self {
            Self::Box(b) => b.vertex(usize::from(index)),
            Self::Hull(hull) => hull.placed(hull.vertices[usize::from(index)]),
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
    let mut corners = Corners::new();
    let mut faces = Facing {
        projection: Projection::new(axis.normal),
        a: Feature::default(),
        b: Feature::default(),
    };
    faces.find(context, [a, b], &mut corners);
    if !reaches(&corners, axis.separation + context.tie) {
        if axis.separation >= -context.tie {
            let near = gjk::nearest(context, axis.normal, a, b);
            if near.distance > context.limit {
                return;
            }
            // The direction of a very small distance is rounding: it has to separate better.
            let along = near
                .normal
                .dot(b.support(-near.normal).1 - a.support(near.normal).1);
            if along > axis.separation + context.tie {
                corners.clear();
                faces.projection = Projection::new(near.normal);
                faces.find(context, [a, b], &mut corners);
            }
            faces.add_nearest(context, near.points, near.vertices, &mut corners);
        } else if corners.is_empty() {
            let (va, pa) = a.support(axis.normal);
            let (vb, pb) = b.support(-axis.normal);
            faces.add_nearest(context, [pa, pb], [va, vb], &mut corners);
        }
    }
    let features = Some((&faces.a, &faces.b));
    emit(context, &faces.projection, &mut corners, features);
}

/// Whether a corner has at most this separation.
fn reaches(corners: &Corners, separation: f64) -> bool {
    corners.iter().any(|c| c.separation <= separation)
}

/// The features that face each other along a normal.
struct Facing {
    projection: Projection,
    a: Feature,
    b: Feature,
}

impl Facing {
    /// Finds the features along the projection's normal, and adds the corners of their patch.
    fn find(&mut self, context: &Context<'_>, [a, b]: [&Polytope<'_>; 2], corners: &mut Corners) {
        let normal = self.projection.normal;
        a.set_feature(normal, context, &mut self.a);
        b.set_feature(-normal, context, &mut self.b);
        intersect(&self.a, &self.b, &self.projection, context.touch, corners);
    }

    /// Adds the pair of nearest points unless a corner is as near.
    fn add_nearest(
        &self,
        context: &Context<'_>,
        points: [Vec3; 2],
        vertices: [u16; 2],
        corners: &mut Corners,
    ) {
        let code = Code {
            crossing: false,
            a: vertices[0],
            b: vertices[1],
        };
        let nearest = self.projection.corner(points[0], points[1], code);
        if !reaches(corners, nearest.separation + context.tie) {
            corners.push(nearest);
        }
    }
}
