//! The convex partner of a surface: a core, polyhedral or revolved, and a radius.

use super::context::Context;
use super::core::{Core, Kind};
use super::feature::Feature;
use super::placed::PlacedBox;
use super::polyhedron::{BoxTables, Polyhedron};
use super::polytope::Polytope;
use super::round::Round;
use crate::Shape;
use crate::hull::HullEdge;
use moreau_math::{Mat3, Pose, Vec3};
use smallvec::SmallVec;

/// A convex shape in the working frame.
pub(super) struct Solid<'a> {
    /// Its radius is not that of the shape: it has none.
    pub(super) core: Core<'a>,
    /// m.
    pub(super) radius: f64,
    /// Of a ball or capsule.
    pub(super) round: Option<Round>,
    /// Outward unit normals of the faces of the core.
    pub(super) faces: SmallVec<[Vec3; 8]>,
    /// Directions of its edges, of any length and without those parallel to others.
    pub(super) edges: SmallVec<[Vec3; 8]>,
}

/// The edge of a segment; it has no faces.
const SEGMENT: [HullEdge; 1] = [HullEdge {
    vertices: [0, 1],
    faces: [0, 0],
}];

/// Square of the sine between parallel edges.
const PARALLEL: f64 = 1e-24;

impl<'a> Solid<'a> {
    /// Calls `f` with the shape at a pose of the working frame; `None` for shapes that are not convex
    /// or have no size.
    pub(super) fn with<R>(
        shape: &Shape,
        pose: &Pose,
        f: impl FnOnce(&Solid<'_>) -> R,
    ) -> Option<R> {
        match shape {
            Shape::Cuboid { half_extents } => {
                let placed = PlacedBox::new(*half_extents, pose, Vec3::ZERO);
                let tables = BoxTables::new(placed.half);
                let core = Polyhedron::of_box(&placed, &tables);
                Some(f(&Solid::of_polyhedron(core, None)))
            }
            Shape::Hull(hull) => {
                let core = Polyhedron::of_hull(hull, pose, Vec3::ZERO);
                Some(f(&Solid::of_polyhedron(core, None)))
            }
            Shape::Sphere { .. } | Shape::Capsule { .. } => {
                let round = Round::new(shape, pose, Vec3::ZERO)?;
                let is_point = round.ends[0] == round.ends[1];
                let (vertices, edges) = if is_point {
                    (&round.ends[..1], &SEGMENT[..0])
                } else {
                    (&round.ends[..], &SEGMENT[..])
                };
                let tables = (&[][..], edges);
                let (rotation, origin) = (Mat3::IDENTITY, Vec3::ZERO);
                let core = Polyhedron::of_tables(vertices, tables, (&[], &[]), rotation, origin);
                Some(f(&Solid::of_polyhedron(core, Some(round))))
            }
            Shape::Cylinder { .. } | Shape::Cone { .. } => {
                let core = Core::new(shape, pose, Vec3::ZERO)?;
                let axis = pose.rotation * Vec3::Y;
                Some(f(&Solid {
                    radius: 0.0,
                    round: None,
                    faces: core.plain_normals().into_iter().collect(),
                    // Of the side of a cylinder; that of a cone has other ones.
                    edges: std::iter::once(axis).collect(),
                    core,
                }))
            }
            _ => None,
        }
    }

    fn of_polyhedron(core: Polyhedron<'a>, round: Option<Round>) -> Self {
        let mut edges: SmallVec<[Vec3; 8]> = SmallVec::new();
        for edge in core.edges {
            let [from, to] = core.ends(edge);
            let along = core.rotation * (to - from);
            let parallel = |held: &Vec3| {
                let scale = held.length_squared() * along.length_squared();
                held.cross(along).length_squared() <= PARALLEL * scale
            };
            if !edges.iter().any(parallel) {
                edges.push(along);
            }
        }
        Self {
            radius: round.map_or(0.0, |r| r.radius),
            faces: (core.faces.iter().map(|f| core.rotation * f.normal)).collect(),
            core: hard(Kind::Polytope(Polytope::Hull(core))),
            round,
            edges,
        }
    }

    /// How far the core reaches along `n`.
    pub(super) fn reach(&self, n: Vec3) -> f64 {
        self.core.support(n).1.dot(n)
    }

    /// The name and the place of the point of the core furthest along `n`.
    pub(super) fn support(&self, n: Vec3) -> (u16, Vec3) {
        self.core.support(n)
    }

    /// What of the core faces along the unit vector `n`.
    pub(super) fn feature(&self, n: Vec3, context: &Context<'_>) -> Feature {
        self.core.feature(n, context)
    }

    /// Whether it is a cylinder or a cone.
    pub(super) fn is_revolved(&self) -> bool {
        matches!(self.core.kind, Kind::Revolved(_))
    }
}

/// A core without a radius.
pub(super) fn hard(kind: Kind<'_>) -> Core<'_> {
    Core { kind, radius: 0.0 }
}
