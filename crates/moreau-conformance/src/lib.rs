//! The kit that any contact solver runs to show that it is one.
//!
//! **Owns**: cases with known answers (closed forms, worked examples, certified reference problems),
//! invariants (rigid motion, order, units), honesty of reports, determinism, warm starts, and numbers
//! at the edge of f64, behind one call.
//!
//! **Must not know**: any one solver, collision, the pipeline.
//!
//! ```
//! use moreau_constraint::{ContactProblem, Impulses};
//! use moreau_math::Velocity;
//! use moreau_solver::{ContactSolver, SolveError, SolveReport};
//!
//! /// Does nothing, and says that it did it well.
//! struct Idle;
//!
//! impl ContactSolver for Idle {
//!     fn name(&self) -> &'static str {
//!         "idle"
//!     }
//!     fn solve(&mut self, problem: &ContactProblem, impulses: &mut Impulses,
//!              velocities: &mut Vec<Velocity>) -> Result<SolveReport, SolveError> {
//!         *impulses = problem.cold_start();
//!         problem.velocities_into(impulses, velocities);
//!         Ok(SolveReport::empty())
//!     }
//!     fn fork(&self) -> Box<dyn ContactSolver> {
//!         Box::new(Idle)
//!     }
//! }
//!
//! let report = moreau_conformance::run(&mut Idle);
//! assert!(!report.passed());
//! println!("{report}"); // a table, and what was expected where something else came
//! ```
//!
//! In a solver crate's own tests: `assert!(report.passed(), "{report}")`.
//!
//! An answer passes on its own certificate, not on what the solver says. A solver that says that it
//! converged where it did not **fails**; one that says that it did not is **limited** on the cases
//! that not every method can do (long stacks, large mass ratios), and fails on the essential ones. A
//! solver that returns [`moreau_solver::SolveError::Unsupported`] skips the case.

mod bench;
mod case;
mod cases;
mod draft;
mod options;
mod report;
mod run;
mod scale;
mod transform;

pub use case::{Case, Group, Trial};
pub use cases::cases;
pub use options::Options;
pub use report::{CaseReport, Outcome, Report};
pub use run::{run, run_case, run_with};
pub use transform::Transform;
