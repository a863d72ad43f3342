//! The contact-solver trait, solve reports and certificates.
//!
//! **Owns**: [`ContactSolver`], [`SolveReport`], the [`Certificate`] that says how right any solver's
//! answer is, the problem in contact space ([`DelassusProblem`]), and problem files
//! ([`files::ProblemFile`]; feature `files`, on by default).
//!
//! **Must not know**: any one algorithm, the pipeline.
//!
//! ```
//! use moreau_constraint::{BodyInput, ContactInput, ContactProblem};
//! use moreau_math::{SymMat3, Vec3, Velocity, vec3};
//! use moreau_solver::certify;
//!
//! let mut problem = ContactProblem::new(0.01)?;
//! let ground = problem.add_body(BodyInput::fixed())?;
//! let inverse_inertia = SymMat3::from_diagonal(Vec3::splat(6.0));
//! let velocity = Velocity::new(vec3(0.0, -0.0981, 0.0), Vec3::ZERO);
//! let cube = problem.add_body(BodyInput { inverse_mass: 1.0, inverse_inertia, velocity })?;
//! problem.add_contact(ContactInput {
//!     a: ground, b: cube, normal: Vec3::Y, lever_a: Vec3::ZERO, lever_b: vec3(0.0, -0.5, 0.0),
//!     separation: 0.0, friction: 0.5, restitution: 0.0,
//! })?;
//! let mut impulses = problem.cold_start();
//! assert!(certify(&problem, &impulses)?.natural_map > 0.09); // nothing holds the cube
//! impulses.contacts[0].x = 0.0981;
//! assert!(certify(&problem, &impulses)?.natural_map < 1e-15);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod certificate;
mod convex;
mod delassus;
#[cfg(feature = "files")]
pub mod files;
mod measures;
mod progress;
mod report;

pub use certificate::{
    Certificate, NORMAL_SHARE, certify, momentum_directions, natural_map, row_natural_map,
};
pub use convex::{ConvexCertificate, certify_convex, convex_natural_map};
pub use delassus::{DelassusError, DelassusProblem};
pub use measures::Measures;
pub use progress::{BestIterate, WorstResidual};
pub use report::{ORDINARY_SPEED, SolveError, SolveReport, StopReason, tolerance_at};

use moreau_constraint::{ContactProblem, Impulses};
use moreau_math::Velocity;

/// An algorithm that solves a [`ContactProblem`].
///
/// A solver is a value with settings and scratch memory. It remembers nothing from one solve to the
/// next but memory: the same problem and warm start give the same bits, on any thread and any
/// instance with the same settings.
pub trait ContactSolver: Send {
    /// A short stable name, such as `pgs`.
    fn name(&self) -> &'static str;

    /// Solves `problem`.
    ///
    /// `impulses`: the warm start on the way in (any length; what is missing or not finite counts
    /// as zero), the solution on the way out. `velocities`: v+ of every body on the way out.
    ///
    /// Not to converge is not an error: the best iterate is returned and the report says so.
    ///
    /// # Errors
    /// [`SolveError`] where the problem is not of a kind that this solver takes.
    fn solve(
        &mut self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        velocities: &mut Vec<Velocity>,
    ) -> Result<SolveReport, SolveError>;

    /// A fresh solver with the same settings, for another worker.
    fn fork(&self) -> Box<dyn ContactSolver>;
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
