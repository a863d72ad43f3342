//! A world of rigid bodies that steps.
//!
//! **Owns**: world state, contact graph, islands, the step, determinism, snapshots of a world.
//!
//! **Must not know**: files, rendering, how a solver works inside.
//!
//! ```
//! use moreau_collision::Shape;
//! use moreau_math::{Vec3, vec3};
//! use moreau_pipeline::{Body, World, WorldSettings};
//!
//! let mut world = World::new(WorldSettings::default())?;
//! world.add(Body::fixed(Shape::half_space(Vec3::Y)))?;
//! let cube = world.add(Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5)).at(vec3(0.0, 1.0, 0.0)))?;
//! for _ in 0..120 {
//!     assert!(world.step(1.0 / 60.0)?.certified);
//! }
//! assert!((world.body(cube)?.position().y - 0.5).abs() < 1e-6);
//! # Ok::<(), moreau_pipeline::WorldError>(())
//! ```
//!
//! Conventions: SI units; the normal of a contact points from A to B, A being the body with the
//! smaller id; impulses act on B and their opposites on A.

mod activity;
mod assembly;
mod body;
mod bullets;
mod calm;
mod commit;
mod common_point;
mod contact;
mod corrector;
mod crossings;
mod detect;
mod energy;
mod error;
mod forces;
mod hash;
mod ids;
mod integrate;
mod island;
mod island_solve;
mod joint;
mod material;
mod motion;
mod no_answer;
mod own_answer;
mod problems;
mod profile;
mod queries;
mod recycle;
mod report;
mod seams;
mod second_look;
mod sensors;
mod settings;
mod share;
mod sleep;
mod snapshot;
mod solver_choice;
mod step;
mod sweep;
mod trial;
mod wake;
mod warm_start;
mod ways;
mod world;

pub use body::{Body, BodyKind, BodyView, Mass};
pub use calm::CalmLimits;
pub use contact::Contact;
pub use error::{SnapshotError, WorldError};
pub use hash::StateHash;
pub use ids::{BodyId, JointId};
pub use joint::{Joint, JointKind};
pub use material::{CombineRule, Material};
pub use problems::IslandProblem;
pub use profile::{LaneFill, StageTimes, StepProfile, WorldBytes};
pub use queries::BodyFilter;
pub use report::{IslandReport, SolverShare, SolverShares, StepReport};
pub use sensors::{SensorEvent, SensorEventKind};
pub use settings::{PositionCorrection, WorldSettings};
pub use sleep::Sleeping;
pub use solver_choice::{FastPath, IslandSolver, SolverChoice, SolverSettings};
pub use world::World;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
