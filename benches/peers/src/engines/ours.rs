//! This workspace's.

use super::Engine;
use crate::layout::Layout;
use moreau::{Pose, Velocity, World};

struct Ours {
    world: World,
    dt: f64,
    residual: f64,
}

pub(crate) fn build(layout: &Layout) -> Result<Box<dyn Engine>, String> {
    let built = layout.scene.build().map_err(|e| e.to_string())?;
    Ok(Box::new(Ours {
        world: built.world,
        dt: layout.scene.dt,
        residual: 0.0,
    }))
}

impl Engine for Ours {
    fn step(&mut self) {
        let report = self.world.step(self.dt).expect("scenes stay finite");
        self.residual = self.residual.max(report.residual);
    }

    fn state(&self) -> Vec<(Pose, Velocity)> {
        let bodies = self.world.bodies();
        bodies.map(|b| (b.pose(), b.velocity())).collect()
    }

    fn residual(&self) -> Option<f64> {
        Some(self.residual)
    }
}
