//! What a final state is worth, measured alike for all engines.

use crate::layout::Layout;
use moreau::collision::{BroadPhase, closest_points};
use moreau::{Pose, Vec3, Velocity};
use serde::{Deserialize, Serialize};

/// Of the final state.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Measures {
    /// Deepest overlap of two bodies, m.
    pub(crate) penetration_m: f64,
    /// Largest distance of a dynamic body's centre of mass from where it was at the start, across
    /// gravity, m; `None` where there is no gravity.
    pub(crate) drift_m: Option<f64>,
    /// Largest speed of a dynamic body, m/s.
    pub(crate) speed_m_s: f64,
    /// Change of the total angular momentum about the origin, over itself at the start; `None` where
    /// there is gravity.
    pub(crate) spin_drift: Option<f64>,
}

impl Measures {
    pub(crate) fn of(layout: &Layout, state: &[(Pose, Velocity)]) -> Self {
        let up = layout.gravity.normalize_or_zero();
        let floats = up == Vec3::ZERO;
        let (mut drift, mut speed) = (0.0, 0.0);
        for (item, (pose, velocity)) in layout.items.iter().zip(state) {
            if item.dynamic {
                let center = item.mass.center_of_mass;
                let moved = pose.transform_point(center) - item.pose.transform_point(center);
                drift = f64::max(drift, (moved - up * moved.dot(up)).length());
                speed = f64::max(speed, velocity.linear.length());
            }
        }
        let start: Vec<_> = layout.items.iter().map(|i| (i.pose, i.velocity)).collect();
        let before = spin(layout, &start);
        let spin_drift = (spin(layout, state) - before).length() / before.length();
        Self {
            penetration_m: penetration(layout, state),
            drift_m: (!floats).then_some(drift),
            speed_m_s: speed,
            spin_drift: floats.then_some(spin_drift),
        }
    }
}

fn spin(layout: &Layout, state: &[(Pose, Velocity)]) -> Vec3 {
    let mut total = Vec3::ZERO;
    for (item, (pose, velocity)) in layout.items.iter().zip(state).filter(|(i, _)| i.dynamic) {
        let center = pose.transform_point(item.mass.center_of_mass);
        total += center.cross(velocity.linear * item.mass.mass);
        total += item.mass.angular_momentum(pose.rotation, velocity.angular);
    }
    total
}

fn penetration(layout: &Layout, state: &[(Pose, Velocity)]) -> f64 {
    let mut boxes = BroadPhase::new();
    for (index, (item, (pose, _))) in layout.items.iter().zip(state).enumerate() {
        boxes.set(index as u32, item.shape.aabb(pose), !item.dynamic);
    }
    let mut pairs = Vec::new();
    boxes.pairs(&mut pairs);
    let mut deepest = 0.0;
    for (a, b) in pairs {
        let shape = |i: u32| (&layout.items[i as usize].shape, &state[i as usize].0);
        let ((shape_a, pose_a), (shape_b, pose_b)) = (shape(a), shape(b));
        if let Some(closest) = closest_points(shape_a, pose_a, shape_b, pose_b) {
            deepest = f64::max(deepest, -closest.separation);
        }
    }
    deepest
}
