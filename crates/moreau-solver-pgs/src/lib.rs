//! Projected Gauss-Seidel, also known as sequential impulses: one contact after the other takes the
//! impulse that is right while all others stay as they are.
//!
//! **Owns**: [`PgsSolver`] for contact problems with exact Coulomb friction, and [`dense`] for
//! linear complementarity problems given as a matrix.
//!
//! **Must not know**: collision, the pipeline, other solvers.
//!
//! ```
//! use moreau_constraint::{BodyInput, ContactInput, ContactProblem};
//! use moreau_math::{SymMat3, Vec3, Velocity, vec3};
//! use moreau_solver::ContactSolver;
//! use moreau_solver_pgs::PgsSolver;
//!
//! let mut problem = ContactProblem::new(0.01)?;
//! let ground = problem.add_body(BodyInput::fixed())?;
//! let inverse_inertia = SymMat3::from_diagonal(Vec3::splat(6.0));
//! let velocity = Velocity::new(vec3(0.2, -1.0, 0.0), Vec3::ZERO);
//! let ball = problem.add_body(BodyInput { inverse_mass: 1.0, inverse_inertia, velocity })?;
//! problem.add_contact(ContactInput {
//!     a: ground, b: ball, normal: Vec3::Y, lever_a: Vec3::ZERO, lever_b: vec3(0.0, -0.5, 0.0),
//!     separation: 0.0, friction: 0.5, restitution: 0.5,
//! })?;
//! let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
//! let report = PgsSolver::default().solve(&problem, &mut impulses, &mut velocities)?;
//! assert!(report.converged() && (velocities[ball].linear.y - 0.5).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! At its fixed point the method solves the exact problem: nothing is approximated but the number of
//! sweeps. It converges linearly, slowly where light bodies carry heavy ones.

pub mod dense;
mod packed;
mod settings;
mod solver;

pub use settings::PgsSettings;
pub use solver::PgsSolver;
