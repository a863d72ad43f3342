//! The engines, behind one trait.

#[cfg(feature = "box3d")]
mod box3d;
mod ours;
mod rapier;

use crate::layout::Layout;
use moreau::{Pose, Velocity};

/// A world of some engine.
pub(crate) trait Engine {
    /// One step of the layout's length.
    fn step(&mut self);
    /// Frames and velocities (of the centres of mass) of all bodies, in the order of the layout.
    fn state(&self) -> Vec<(Pose, Velocity)>;
    /// Largest natural map of a step so far, m/s, where the engine tells it.
    fn residual(&self) -> Option<f64> {
        None
    }
}

/// Names of all engines that are compiled in.
pub(crate) const NAMES: &[&str] = &[
    "moreau",
    "rapier3d-f64",
    "rapier3d",
    #[cfg(feature = "box3d")]
    "box3d",
];

/// A world of the engine `name`, filled.
pub(crate) fn build(name: &str, layout: &Layout) -> Result<Box<dyn Engine>, String> {
    match name {
        "moreau" => ours::build(layout),
        "rapier3d-f64" => rapier::double::build(layout),
        "rapier3d" => rapier::single::build(layout),
        #[cfg(feature = "box3d")]
        "box3d" => box3d::build(layout),
        _ => Err(format!("there is no engine {name:?}")),
    }
}
