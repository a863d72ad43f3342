use moreau_pipeline::WorldSettings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Knobs of the world that differ from their defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SettingsSpec {
    /// Contacts are found up to this separation, m, 0 or more. Default 0.02.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prediction_distance: Option<f64>,
    /// Contacts that close slower than this do not bounce, m/s, 0 or more. Default 0.01.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounce_threshold: Option<f64>,
    /// Keeps simultaneous impacts with friction from creating energy. Default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_guard: Option<bool>,
    /// Starts each solve from the impulses of the last step. Default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_start: Option<bool>,
    /// Removal of overlaps. Default: all of its defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position_correction: Option<PositionCorrectionSpec>,
    /// The default solver. Default: all of its defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solver: Option<SolverSpec>,
}

/// Removal of overlaps by pseudo-velocities.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PositionCorrectionSpec {
    /// Part of the overlap beyond the slop that one step takes out, 0 to 1. Default 0.2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Overlap that is left alone, m, 0 or more. Default 1e-4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slop: Option<f64>,
    /// Largest speed of a correction, m/s, 0 or more. Default 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_speed: Option<f64>,
    /// Sweeps of the pseudo-velocity solve. Default 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_sweeps: Option<u32>,
}

/// Knobs of the default solver.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SolverSpec {
    /// Most sweeps over an island. Default 400.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_sweeps: Option<u32>,
    /// Natural map at which an island counts as solved, m/s, 0 or more. Default 1e-9.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Over-relaxation, above 0 and below 2. Default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relaxation: Option<f64>,
}

fn set<T: Copy>(to: &mut T, from: Option<T>) {
    if let Some(value) = from {
        *to = value;
    }
}

impl SettingsSpec {
    /// The world's settings: defaults, but for what is given here. Gravity is the scene's.
    pub fn world_settings(&self) -> WorldSettings {
        let mut out = WorldSettings::default();
        set(&mut out.prediction_distance, self.prediction_distance);
        set(&mut out.bounce_threshold, self.bounce_threshold);
        set(&mut out.energy_guard, self.energy_guard);
        set(&mut out.warm_start, self.warm_start);
        if let Some(correction) = &self.position_correction {
            set(&mut out.position_correction.rate, correction.rate);
            set(&mut out.position_correction.slop, correction.slop);
            set(&mut out.position_correction.max_speed, correction.max_speed);
            set(
                &mut out.position_correction.max_sweeps,
                correction.max_sweeps,
            );
        }
        if let Some(solver) = &self.solver {
            set(&mut out.solver.max_sweeps, solver.max_sweeps);
            set(&mut out.solver.tolerance, solver.tolerance);
            set(&mut out.solver.relaxation, solver.relaxation);
        }
        out
    }
}
