//! Contact sweeps over SIMD lanes: the fast path for large islands.
//!
//! **Owns**: [`SimdSolver`], the colouring of contacts and the packing of eight at a time.
//!
//! **Must not know**: shapes, the pipeline, other solver crates.
//!
//! ```
//! use moreau_constraint::{BodyInput, ContactInput, ContactProblem};
//! use moreau_math::{SymMat3, Vec3, Velocity, vec3};
//! use moreau_solver::ContactSolver;
//! use moreau_solver_simd::SimdSolver;
//!
//! // A ball of 1 kg and 0.5 m that slides at 5 m/s, mu = 0.3, for 0.01 s.
//! let mut problem = ContactProblem::new(0.01)?;
//! let ground = problem.add_body(BodyInput::fixed())?;
//! let ball = problem.add_body(BodyInput {
//!     inverse_mass: 1.0,
//!     inverse_inertia: SymMat3::from_diagonal(Vec3::splat(10.0)),
//!     velocity: Velocity::new(vec3(5.0, -0.0981, 0.0), Vec3::ZERO),
//! })?;
//! problem.add_contact(ContactInput {
//!     a: ground, b: ball, normal: Vec3::Y, lever_a: Vec3::ZERO, lever_b: vec3(0.0, -0.5, 0.0),
//!     separation: 0.0, friction: 0.3, restitution: 0.0,
//! })?;
//! let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
//! let report = SimdSolver::default().solve(&problem, &mut impulses, &mut velocities)?;
//! assert!(report.converged());
//! assert!((velocities[ball].linear - vec3(5.0 - 0.3 * 0.0981, 0.0, 0.0)).length() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The fixed point of a sweep obeys the exact law of Coulomb friction, with the disc and not a
//! pyramid; what a small budget of sweeps leaves is in the report.
//!
//! | file | what |
//! |---|---|
//! | `colour.rs` | the order of a sweep |
//! | `layers.rs` | how several sweeps go through a large problem side by side |
//! | `wave.rs` | in what order they do |
//! | `packed.rs` | the records that it reads and writes |
//! | `visit.rs` | what it does with them, once for all instruction sets |
//! | `job.rs` | what is done to all of them |
//! | `kernel.rs` | who touches what, where several threads do it |
//! | `field.rs` | the memory that they share |
//! | `lanes.rs` | eight f64 side by side |
//! | `arithmetic.rs` | which instructions they are made of |
//! | `first_look.rs` | what is asked of each contact and of the warm start; contacts that are left out of sweeps |
//! | `team.rs` | threads that share a task |
//! | `solver.rs` | the loop of sweeps |
//! | `progress.rs` | how far a solve is |
//! | `momentum.rs` | how far ahead a sweep starts |

mod arithmetic;
mod balls;
mod colour;
mod field;
mod fill;
mod first_look;
mod job;
mod kernel;
mod lanes;
mod layers;
mod momentum;
mod packed;
mod progress;
mod rows;
mod settings;
mod solver;
mod team;
mod visit;
mod wave;

pub use settings::{Instructions, SimdSettings};
pub use solver::{SimdSolver, SimdStats};
