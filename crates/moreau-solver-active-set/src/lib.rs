//! Exact answers for frictionless contact of small islands, and for linear complementarity problems.
//!
//! **Owns**: [`ActiveSetSolver`] for contact problems without friction, with bounded and bilateral
//! rows, and [`solve_lcp_exact`] for any dense problem w = M z + q, 0 <= z _|_ w >= 0.
//!
//! **Must not know**: collision, the pipeline, other solvers.
//!
//! ```
//! use moreau_constraint::{BodyInput, ContactInput, ContactProblem};
//! use moreau_math::{SymMat3, Vec3, Velocity, vec3};
//! use moreau_solver::ContactSolver;
//! use moreau_solver_active_set::ActiveSetSolver;
//!
//! // A cube on its four lower corners: four contacts, of which three would do.
//! let mut problem = ContactProblem::new(0.01)?;
//! let a = problem.add_body(BodyInput::fixed())?;
//! let inverse_inertia = SymMat3::from_diagonal(Vec3::splat(6.0));
//! let velocity = Velocity::new(vec3(1.0, -2.0, 0.0), vec3(0.0, 0.0, 0.5));
//! let b = problem.add_body(BodyInput { inverse_mass: 1.0, inverse_inertia, velocity })?;
//! for (x, z) in [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)] {
//!     problem.add_contact(ContactInput {
//!         a, b, normal: Vec3::Y, lever_a: vec3(x, 0.0, z), lever_b: vec3(x, -0.5, z),
//!         separation: 0.0, friction: 0.0, restitution: 0.0,
//!     })?;
//! }
//! let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
//! let report = ActiveSetSolver::default().solve(&problem, &mut impulses, &mut velocities)?;
//! assert!(report.converged() && report.residual < 1e-14);
//! assert!((velocities[b].linear - Vec3::X).length() < 1e-14);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Everything rests on Lemke's method with lexicographic pivots (`lemke.rs`), which ends on degenerate
//! problems; for the matrices of contact, symmetric and positive semi-definite, its end says whether
//! there is a solution.

mod bounded;
mod dense;
mod enumerate;
mod lcp;
mod lemke;
mod settings;
mod simplex;
mod solver;

pub use lcp::{ENUMERATION_LIMIT, LcpAnswer, LcpError, NoSolution, lcp_residual, solve_lcp_exact};
pub use settings::ActiveSetSettings;
pub use solver::ActiveSetSolver;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
