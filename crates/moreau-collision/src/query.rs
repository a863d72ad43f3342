//! Questions about shapes that touch nothing: rays, casts, overlaps, nearest points, times of impact.
//!
//! Of two shapes: [`Ray::cast`], [`cast_shape`], [`time_of_impact`], [`overlaps`], [`project_point`],
//! [`closest_points`](crate::closest_points). Of many, kept in a tree: [`ShapeSet`], or [`Search`] over shapes that live elsewhere.
//! Answers depend on the shapes alone, never on the order in which they came; of equals the smaller
//! id is first. Input that means nothing is an error, and a pose that is not finite is nowhere.

mod closest;
mod error;
mod impact;
mod pieces;
mod ray;
mod search;
mod set;
mod spans;

pub use closest::{PointProjection, overlaps, project_point};
pub use error::QueryError;
pub use impact::{Impact, ImpactSettings, Motion, cast_shape, time_of_impact};
pub use ray::{Inside, Ray, RayHit};
pub use search::{Hit, Search};
pub use set::{QueryFilter, ShapeSet};
