//! One row of figures a run, to compare scenes, solvers and commits in a table program.
//!
//! `docs/metrics.md` defines each column with its formula.

use moreau_scene::Figures;
use serde_json::{Map, Value};
use std::fmt::Write;

/// The columns of [`Metrics::row`].
pub const METRICS_HEADER: &str = "scene,solver,iterations,steps,N_bodies,N_contacts,N_joints,tile_size,\
    ms_per_step,drift_max,Linf_penetration,energy_drift,cone_consistency,simd,threads,commit_sha";

/// The figures of a run as a row of a CSV file.
#[derive(Clone, Debug, PartialEq)]
pub struct Metrics {
    /// Name of the scene.
    pub scene: String,
    /// Name of the solver.
    pub solver: String,
    /// Sweeps and factorisations of an island in a step, on average.
    pub iterations: f64,
    /// Steps made.
    pub steps: u64,
    /// Bodies of all kinds.
    pub bodies: u64,
    /// Contact points in the last step.
    pub contacts: u64,
    /// Joints.
    pub joints: u64,
    /// Contacts that are solved side by side.
    pub tile_size: u32,
    /// Median time of a step, ms.
    pub ms_per_step: f64,
    /// Largest change of momentum along one of ten directions that nothing accounts for, N s.
    pub drift_max: f64,
    /// Deepest overlap, m.
    pub linf_penetration: f64,
    /// Largest distance of the mechanical energy from that at the start, J.
    pub energy_drift: f64,
    /// Largest |l_t| - mu l_n of a contact over the largest l_n of its step.
    pub cone_consistency: f64,
    /// `avx512f`, `avx2` or `baseline` where SIMD sweeps took part, else `off`.
    pub simd: &'static str,
    /// Threads.
    pub threads: u64,
    /// Commit of the program; `unknown` where it is.
    pub commit: String,
}

/// The solver whose sweeps run over SIMD lanes, and how many contacts one sweep takes at a time.
const SIMD: (&str, u32) = ("simd", 8);

impl Metrics {
    /// Those of a run.
    pub fn of(figures: &Figures, commit: &str) -> Self {
        let value = serde_json::to_value(figures);
        let map = value.ok().and_then(|value| value.as_object().cloned());
        Self::of_recorded(&map.unwrap_or_default(), commit)
    }

    /// Those of a recorded run, from [`crate::RecordedRun::figures`]. What is not there is NaN or 0.
    pub fn of_recorded(figures: &Map<String, Value>, commit: &str) -> Self {
        let text = |name: &str| {
            let value = figures.get(name).and_then(Value::as_str);
            value.unwrap_or_default().to_owned()
        };
        let real = |name: &str| {
            figures
                .get(name)
                .and_then(Value::as_f64)
                .unwrap_or(f64::NAN)
        };
        let count = |name: &str| figures.get(name).and_then(Value::as_u64).unwrap_or(0);
        // A list in a run, its JSON in a recording.
        let solvers: Vec<Value> = match figures.get("solvers") {
            Some(Value::Array(list)) => list.clone(),
            Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_default(),
            _ => Vec::new(),
        };
        let sum = |name: &str| -> u64 {
            let values = solvers.iter().filter_map(|s| s[name].as_u64());
            values.fold(0, u64::saturating_add)
        };
        let islands = sum("islands");
        let iterations = if islands == 0 {
            0.0
        } else {
            (sum("sweeps") + sum("factorizations")) as f64 / islands as f64
        };
        let lanes = solvers.iter().any(|s| s["solver"] == SIMD.0);
        Self {
            scene: text("scene"),
            solver: text("solver"),
            iterations,
            steps: count("steps"),
            bodies: count("bodies"),
            contacts: count("contact_points"),
            joints: count("joints"),
            tile_size: if lanes { SIMD.1 } else { 1 },
            ms_per_step: real("ms_per_step_median"),
            drift_max: real("directional_momentum_drift_n_s"),
            linf_penetration: real("max_penetration_m"),
            energy_drift: real("energy_drift_j"),
            cone_consistency: real("cone_excess"),
            simd: if lanes { instructions() } else { "off" },
            threads: count("threads"),
            commit: commit.to_owned(),
        }
    }

    /// The row, along [`METRICS_HEADER`]; numbers read back to the bit.
    pub fn row(&self) -> String {
        let mut row = format!("{},{}", quoted(&self.scene), quoted(&self.solver));
        let reals = |row: &mut String, values: &[f64]| {
            for x in values {
                let _ = write!(row, ",{x:?}");
            }
        };
        reals(&mut row, &[self.iterations]);
        for x in [
            self.steps,
            self.bodies,
            self.contacts,
            self.joints,
            self.tile_size.into(),
        ] {
            let _ = write!(row, ",{x}");
        }
        let measured = [
            self.ms_per_step,
            self.drift_max,
            self.linf_penetration,
            self.energy_drift,
            self.cone_consistency,
        ];
        reals(&mut row, &measured);
        let _ = write!(
            row,
            ",{},{},{}",
            self.simd,
            self.threads,
            quoted(&self.commit)
        );
        row
    }
}

/// What the SIMD sweeps use on this machine.
fn instructions() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f") {
            return "avx512f";
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            return "avx2";
        }
    }
    "baseline"
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_row_has_a_field_for_each_column() {
        let figures = json!({
            "scene": "a \"b\", c", "solver": "auto", "steps": 600, "bodies": 12,
            "contact_points": 34, "joints": 5, "threads": 2, "ms_per_step_median": 0.1,
            "directional_momentum_drift_n_s": 1e-15, "max_penetration_m": 0.25,
            "energy_drift_j": 7.0, "cone_excess": 0.0,
            "solvers": [
                {"solver": "simd", "islands": 3, "sweeps": 20, "factorizations": 0},
                {"solver": "newton", "islands": 1, "sweeps": 7, "factorizations": 3},
            ],
        });
        let mut map = figures.as_object().unwrap().clone();
        let metrics = Metrics::of_recorded(&map, "0123abc");
        assert_eq!(metrics.iterations, 7.5);
        assert_eq!(metrics.tile_size, 8);
        assert!(["avx512f", "avx2", "baseline"].contains(&metrics.simd));
        let row = metrics.row();
        let expect = format!(
            "\"a \"\"b\"\", c\",auto,7.5,600,12,34,5,8,0.1,1e-15,0.25,7.0,0.0,{},2,0123abc",
            metrics.simd
        );
        assert_eq!(row, expect);
        assert_eq!(row.replace("\", c", "").split(',').count(), 16);
        assert_eq!(METRICS_HEADER.split(',').count(), 16);
        assert!(!METRICS_HEADER.contains(' '));
        // As it stands in a recording.
        let text = map["solvers"].to_string();
        map.insert("solvers".into(), text.into());
        assert_eq!(Metrics::of_recorded(&map, "0123abc"), metrics);
        map.insert("solvers".into(), "[]".into());
        let metrics = Metrics::of_recorded(&map, "");
        assert_eq!(
            (metrics.iterations, metrics.tile_size, metrics.simd),
            (0.0, 1, "off")
        );
    }
}
