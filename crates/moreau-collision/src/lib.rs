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
