//! Shapes, broad phase, narrow phase and contact manifolds. Usable without any solver.
//!
//! **Owns**: [`Shape`] and its mass properties, [`Aabb`], the [`BroadPhase`], [`collide`] with
//! the [`Manifold`] that it fills, [`closest_points`], [`Groups`] of who meets whom, and queries:
//! rays, casts, overlaps, nearest points and times of impact, of two shapes or of a [`ShapeSet`].
//!
//! **Must not know**: velocities, masses of bodies, friction, solvers, worlds.
//!
//! ```
//! use moreau_collision::{CollideSettings, Manifold, Shape, collide};
//! use moreau_math::{Pose, vec3};
//!
//! let floor = Shape::cuboid(5.0, 0.5, 5.0);
//! let cube = Shape::cuboid(0.5, 0.5, 0.5);
//! let mut manifold = Manifold::default();
//! let above = Pose::from_translation(vec3(0.0, 0.999, 0.0));
//! collide(&floor, &Pose::IDENTITY, &cube, &above, &CollideSettings::default(), &mut manifold);
//! assert_eq!(manifold.points().len(), 4);
//! assert!((manifold.normal().y - 1.0).abs() < 1e-12);
//! assert!(manifold.points().iter().all(|p| (p.separation + 0.001).abs() < 1e-12));
//! ```
//!
//! Conventions: SI units; the normal is a unit vector from A to B; `point_a` lies on A's surface and
//! `point_b` on B's; separation = normal·(point_b - point_a), negative where the shapes overlap.
//!
//! # In an engine of one's own
//!
//! Boxes make pairs, pairs make manifolds, and each point of a manifold is a constraint of the solver:
//!
//! ```
//! use moreau_collision::{BroadPhase, CollideSettings, FeatureId, Shape, collide_all};
//! use moreau_math::{Pose, vec3};
//! use std::collections::BTreeMap;
//!
//! let bodies = [
//!     (Shape::cuboid(5.0, 0.5, 5.0), Pose::IDENTITY),
//!     (Shape::cuboid(0.5, 0.5, 0.5), Pose::from_translation(vec3(0.0, 1.01, 0.0))),
//! ];
//! let centers = [vec3(0.0, 0.0, 0.0), vec3(0.0, 1.01, 0.0)]; // of mass
//! type Name = (u32, u32, (u32, u32), FeatureId);
//! let kept: BTreeMap<Name, f64> = BTreeMap::new(); // impulses of the step before
//!
//! let settings = CollideSettings { prediction: 0.02 };
//! let mut broad_phase = BroadPhase::new();
//! for (id, (shape, pose)) in (0..).zip(&bodies) {
//!     let aabb = shape.aabb(pose).enlarged(0.5 * settings.prediction);
//!     broad_phase.set(id, aabb, id == 0);
//! }
//! let (mut pairs, mut manifolds, mut rows) = (Vec::new(), Vec::new(), Vec::new());
//! broad_phase.pairs(&mut pairs);
//! for (a, b) in pairs {
//!     let [(shape_a, pose_a), (shape_b, pose_b)] = [a, b].map(|id| &bodies[id as usize]);
//!     collide_all(shape_a, pose_a, shape_b, pose_b, &settings, &mut manifolds);
//!     for manifold in &manifolds {
//!         for point in manifold.points() {
//!             let lever_a = point.point_a - centers[a as usize];
//!             let lever_b = point.point_b - centers[b as usize];
//!             let name = (a, b, manifold.parts(), point.feature);
//!             let guess = kept.get(&name).copied().unwrap_or(0.0);
//!             rows.push((manifold.normal(), lever_a, lever_b, point.separation, guess));
//!         }
//!     }
//! }
//! assert_eq!(rows.len(), 4);
//! ```
//!
//! - **A row.** The impulse along the normal pushes B, its opposite A. With u the velocity of B's point less that
//!   of A's, a contact that is apart by d holds where normal·u + d/dt >= 0: it stops the bodies at the surface. Lever
//!   arms go to each body's own point; a solver that knows one point only takes the middle. How overlaps are pushed
//!   apart is the solver's matter.
//! - **Names.** Within a pair of bodies, [`Manifold::parts`] and [`ManifoldPoint::feature`] name a point from step
//!   to step, for as long as the same features touch. What has a new name starts from nothing.
//! - **How far to look.** The prediction distance is that by which two bodies may come closer in a step, and a
//!   little more, so that points do not come and go. What is faster is found by [`time_of_impact`] and [`cast_shape`].
//! - **What is kept.** Nothing is, but by the [`BroadPhase`]; all functions are pure. A caller may keep the manifold of
//!   a pair that hardly moves, its points fixed to both bodies and the normal to one (docs/collision.md), or ask for
//!   two parts alone ([`collide_parts`]).
//! - **Threads.** Shapes are `Send` and `Sync`, and clones of hulls, meshes, heightfields and compounds share them.
//!   Pairs are independent; [`BroadPhase::pairs_by`] gives the caller's threads their shares.
//! - **Errors.** [`Shape::hull`], [`Shape::mesh`], [`Shape::heightfield`], [`Shape::compound`] and [`Shape::validate`]
//!   say what is wrong with a shape ([`ShapeError`]), queries what is wrong with a question ([`QueryError`]). What
//!   means nothing, as a pose that is not finite, touches nothing.

mod aabb;
mod area_vector;
mod broad_phase;
mod compound;
mod error;
mod groups;
mod heightfield;
mod hull;
mod hull_builder;
mod manifold;
mod mesh;
mod narrow_phase;
mod query;
mod quickhull;
mod shape;
mod static_tree;
mod surface;

pub use aabb::Aabb;
pub use broad_phase::{BroadPhase, BroadPhaseCounters, BroadPhaseSettings, PairShare, PairWork};
pub use compound::{Compound, CompoundChild};
pub use error::ShapeError;
pub use groups::Groups;
pub use heightfield::Heightfield;
pub use hull::{ConvexHull, HullEdge, HullFace};
pub use manifold::{FeatureId, Manifold, ManifoldPoint};
pub use mesh::TriangleMesh;
pub use narrow_phase::{
    ClosestPoints, CollideSettings, closest_points, collide, collide_all, collide_holding,
    collide_parts,
};
pub use query::{
    Hit, Impact, ImpactSettings, Inside, Motion, PointProjection, QueryError, QueryFilter, Ray,
    RayHit, Search, ShapeSet, cast_shape, overlaps, project_point, time_of_impact,
};
pub use shape::Shape;
