//! Scenes with known right answers, stepped through the public world.
//!
//! Each scene is written once in its own frame (y up, SI units). [`harness`] puts it anywhere,
//! turned and in any order of bodies, and audits every step: finite numbers, momentum balance of
//! each body, energy. Names that begin with `b` and a number follow the project's list of reported
//! scenes.

mod harness;

mod all_shapes;
mod fast_path;
mod forces;
mod friction;
mod impacts;
mod instructions;
mod known_limits;
mod large_and_calm;
mod narrow_phase;
mod pushed_piles;
mod reproducible;
mod restitution;
mod revolved;
mod robustness;
mod rolling;
mod rotation;
mod stacking;
mod swinging;
mod tipping;
