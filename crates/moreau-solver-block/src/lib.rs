//! Block Gauss-Seidel: one contact after the other takes the impulse that is exactly right, normal and
//! friction together, while all others stay as they are.
//!
//! **Owns**: [`BlockSolver`] with safeguarded Anderson acceleration, and [`PoissonRestitution`].
//!
//! **Must not know**: collision, the pipeline, other solvers.
//!
//! ```
//! use moreau_constraint::{BodyInput, ContactInput, ContactProblem};
//! use moreau_math::{SymMat3, Vec3, Velocity, vec3};
//! use moreau_solver::ContactSolver;
//! use moreau_solver_block::BlockSolver;
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
//! let report = BlockSolver::default().solve(&problem, &mut impulses, &mut velocities)?;
//! assert!(report.sweeps == 1 && (velocities[ball].linear.y - 0.5).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Restitution comes in two forms. Newton's is a target for the end velocity, already in the problem's
//! bias; it is what [`BlockSolver`] solves, and several such impacts with friction can gain energy, which
//! the caller guards against. [`PoissonRestitution`] gives back a part of each contact's own impulse.
//!
//! # Against document 001
//!
//! | the document | here |
//! |---|---|
//! | phase B: K^-1 (-v), then the tangent scaled to the cone | the exact law of the contact. The document's step has a fixed point with u_n = K_nt K_tt^-1 u_t: a cube that slides lifts off at 1.8 m/s, and energy grows. It is not offered |
//! | phase A, then B: no friction on the bounce | friction in compression and expansion |
//! | phase 3, hold and resolve | [`LocalStep::HoldAndResolve`], off by default; see `hold.rs` for what it leaves wrong |
//! | 1e-8 on the diagonal of K | nothing is added; singular blocks are solved as they are |

mod anderson;
mod hold;
mod iteration;
mod packed;
mod poisson;
mod settings;
mod solver;

pub use poisson::{PoissonReport, PoissonRestitution};
pub use settings::{BlockSettings, LocalStep};
pub use solver::{BlockSolver, BlockStats};
