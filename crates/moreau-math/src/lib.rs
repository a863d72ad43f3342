//! Kinematics and mass of rigid bodies, in `f64`.
//!
//! **Owns**: the one re-export of [`glam`], [`Pose`], [`Velocity`], [`SymMat3`], [`MassProperties`]
//! of solids, meshes and compounds, principal axes, tangent bases, and the integrators of rotation.
//!
//! **Must not know**: shapes as collision geometry, contacts, solvers, worlds.
//!
//! ```
//! use moreau_math::{MassProperties, Pose, Quat, Vec3, vec3};
//!
//! let brick = MassProperties::cuboid(vec3(0.5, 0.5, 0.5), 1000.0)?;
//! assert!((brick.mass - 1000.0).abs() < 1e-9);
//!
//! let pose = Pose::new(vec3(0.0, 2.0, 0.0), Quat::IDENTITY);
//! let world_inertia = brick.inertia.rotated(pose.rotation);
//! assert!((world_inertia.mul_vec(Vec3::X).x - 1000.0 / 6.0).abs() < 1e-9);
//! # Ok::<(), moreau_math::MassError>(())
//! ```
//!
//! Conventions: SI units, right-handed axes; quaternions are unit and map body axes to world axes;
//! angular velocities are in the world frame.
//!
//! Transcendental functions come from [`libm`] and never from the platform, so that every target
//! computes the same bits.

mod basis;
mod eigen;
mod free_body;
mod mass;
mod pose;
mod rotation;
mod symmetric;
mod velocity;

pub use glam;
pub use libm;

pub use glam::{DMat3 as Mat3, DQuat as Quat, DVec3 as Vec3, dvec3 as vec3};

pub use basis::tangent_basis;
pub use free_body::rotate_free_body;
pub use mass::{MassError, MassProperties};
pub use pose::Pose;
pub use rotation::{
    integrate_rotation, rotation_difference, rotation_from_vector, rotation_to_vector,
};
pub use symmetric::SymMat3;
pub use velocity::Velocity;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
