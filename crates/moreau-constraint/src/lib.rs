//! Contact and joint constraints, assembled into one [`ContactProblem`].
//!
//! **Owns**: contact frames, Jacobian blocks, effective mass, restitution targets, the friction cone
//! and its projections, joint rows, and the assembly of a [`ContactProblem`].
//!
//! **Must not know**: shapes, the broad phase, how a problem is solved.
//!
//! ```
//! use moreau_constraint::{BodyInput, ContactInput, ContactProblem};
//! use moreau_math::{SymMat3, Vec3, Velocity, vec3};
//!
//! let mut problem = ContactProblem::new(1.0 / 60.0)?;
//! let ground = problem.add_body(BodyInput::fixed())?;
//! let ball = problem.add_body(BodyInput {
//!     inverse_mass: 1.0,
//!     inverse_inertia: SymMat3::from_diagonal(Vec3::splat(10.0)),
//!     velocity: Velocity::new(vec3(0.0, -2.0, 0.0), Vec3::ZERO),
//! })?;
//! problem.add_contact(ContactInput {
//!     a: ground, b: ball, normal: Vec3::Y, lever_a: Vec3::ZERO, lever_b: vec3(0.0, -0.5, 0.0),
//!     separation: 0.0, friction: 0.5, restitution: 0.5,
//! })?;
//! assert_eq!(problem.contacts()[0].bias.x, -1.0); // asks for a rebound of 0.5 * 2 m/s
//! # Ok::<(), moreau_constraint::ProblemError>(())
//! ```
//!
//! Conventions: the normal points from A to B; u = (v_b + w_b x r_b) - (v_a + w_a x r_a), in the
//! contact frame (n, t1, t2), so u_n > 0 separates; an impulse (n, t1, t2) acts on B, its opposite
//! on A, each at its own lever arm.

mod body;
mod cone;
mod contact;
mod disc;
mod error;
mod frictionless;
mod impulses;
mod joint;
mod new_bodies;
mod new_contacts;
mod problem;
mod reused;
mod row;
mod single;

pub use body::BodyInput;
pub use cone::{project_cone, project_disc, project_dual_cone};
pub use contact::{Approach, ContactFrame, ContactInput, ContactPoint, Impact, Rebound, rebound};
pub use error::ProblemError;
pub use frictionless::Frictionless;
pub use impulses::Impulses;
pub use joint::{ball_joint_rows, distance_joint_row};
pub use new_bodies::NewBodies;
pub use new_contacts::NewContacts;
pub use problem::ContactProblem;
pub use row::Row;
pub use single::{ContactBlock, ContactState, SingleContact, solve_single_contact};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
