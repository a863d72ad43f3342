//! Rigid-body contact dynamics with exact Coulomb friction, in `f64`, bit-reproducible.
//!
//! **Owns**: the names under which the workspace's crates appear together, and those under which a
//! solver can be asked for ([`solve`]).
//!
//! **Must not know**: anything that a crate below could not say itself.
//!
//! ```
//! use moreau::{Body, BodyFilter, Inside, Ray, Shape, Vec3, World, WorldSettings, vec3};
//!
//! let mut world = World::new(WorldSettings::default())?;
//! world.add(Body::fixed(Shape::half_space(Vec3::Y)))?;
//! let ball = world.add(Body::dynamic(Shape::sphere(0.5)).at(vec3(0.0, 3.0, 0.0)))?;
//! for _ in 0..600 {
//!     let report = world.step(1.0 / 60.0)?; // times, counts, worst residual
//!     assert!(report.certified);
//! }
//! assert!((world.body(ball)?.position().y - 0.5).abs() < 1e-6);
//!
//! // What is below (0, 5, 0)? The top of the ball, 4 m down.
//! let down = Ray::new(vec3(0.0, 5.0, 0.0), -Vec3::Y)?;
//! let hit = world.cast_ray(&down, 100.0, Inside::default(), &BodyFilter::default())?;
//! assert!(hit.is_some_and(|hit| hit.id == ball && (hit.at.distance - 4.0).abs() < 1e-6));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Each level can be entered by itself:
//!
//! | you have | you want | take |
//! |---|---|---|
//! | shapes and poses | manifolds | [`collision`] |
//! | bodies and contacts | impulses | [`constraint`] and a solver such as [`solver_pgs`] |
//! | an idea for a solver | a bench to prove it on | [`solver`] |
//! | contacts from frame to frame | warm starts | [`cache`] |
//! | nothing yet | a world that steps | [`World`] |
//! | a scene file | a world from it | [`scene`] |
//! | a problem file | its answer, by any solver | [`solve`] |

pub mod solve;

pub use moreau_cache as cache;
pub use moreau_collision as collision;
pub use moreau_constraint as constraint;
pub use moreau_math as math;
pub use moreau_pipeline as pipeline;
pub use moreau_scene as scene;
pub use moreau_solver as solver;
pub use moreau_solver_active_set as solver_active_set;
pub use moreau_solver_block as solver_block;
pub use moreau_solver_newton as solver_newton;
pub use moreau_solver_pgs as solver_pgs;
pub use moreau_solver_simd as solver_simd;

pub use moreau_collision::{
    Aabb, CollideSettings, Compound, ConvexHull, Groups, Heightfield, Hit, Inside, Manifold,
    QueryError, Ray, RayHit, Shape, ShapeError, TriangleMesh, collide, collide_all,
};
pub use moreau_constraint::{BodyInput, ContactInput, ContactProblem, Impulses};
pub use moreau_math::{MassProperties, Mat3, Pose, Quat, SymMat3, Vec3, Velocity, vec3};
pub use moreau_pipeline::{
    Body, BodyFilter, BodyId, BodyKind, BodyView, CombineRule, Contact, FastPath, IslandProblem,
    IslandReport, IslandSolver, Joint, JointId, JointKind, LaneFill, Mass, Material,
    PositionCorrection, SensorEvent, SensorEventKind, Sleeping, SnapshotError, SolverChoice,
    SolverSettings, SolverShare, SolverShares, StageTimes, StateHash, StepProfile, StepReport,
    World, WorldBytes, WorldError, WorldSettings,
};
pub use moreau_solver::{Certificate, ContactSolver, Measures, SolveReport, StopReason};
pub use moreau_solver_newton::{NewtonSettings, NewtonSolver};
pub use moreau_solver_pgs::{PgsSettings, PgsSolver};
pub use moreau_solver_simd::{SimdSettings, SimdSolver};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
