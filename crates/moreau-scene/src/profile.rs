//! Where the time of a run went.

use crate::figures::{median, percentile};
use moreau_pipeline::{LaneFill, StageTimes, StepProfile, StepReport, WorldBytes};
use serde::Serialize;

/// What the profiles of a run's measured steps came to; see [`crate::RunOptions::profile`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProfileFigures {
    /// Steps that count: those from `measure_from` on, or all of a run that ends before.
    pub steps: usize,
    /// The stages in the order of a step.
    pub stages: Vec<StageFigures>,
    /// Part of the pairs of close bodies whose manifold was kept from an earlier step, 0 to 1.
    pub recycled: f64,
    /// Part of the pairs whose kept manifold was used as it was, for both bodies stood, 0 to 1.
    pub placed: f64,
    /// Groups of bodies that touch, in the last step.
    pub islands: usize,
    /// Of the last step in which the fast path solved an island; all zero where there was none.
    pub lanes: LaneFill,
    /// Held after the last step.
    pub bytes: WorldBytes,
}

/// The time of one stage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageFigures {
    /// Its name.
    pub stage: &'static str,
    /// Median of a step, ms.
    pub ms_median: f64,
    /// What 95 % of the steps did not exceed, ms.
    pub ms_p95: f64,
    /// Part of the time of all steps together, 0 to 1.
    pub share: f64,
}

/// What is kept of the steps.
#[derive(Debug, Default)]
pub(crate) struct Profiles {
    /// Of each step.
    times: Vec<StageTimes>,
    pairs: u64,
    recycled: u64,
    placed: u64,
    islands: usize,
    lanes: LaneFill,
    bytes: WorldBytes,
}

impl Profiles {
    pub(crate) fn add(&mut self, report: &StepReport, profile: &StepProfile) {
        self.times.push(profile.times);
        self.pairs += report.pairs as u64;
        self.recycled += report.recycled as u64;
        self.placed += profile.placed as u64;
        self.islands = report.islands;
        if profile.lanes.contacts > 0 {
            self.lanes = profile.lanes;
        }
        self.bytes = profile.bytes;
    }

    /// `from`: how many steps do not count.
    pub(crate) fn figures(&self, from: u64) -> ProfileFigures {
        let counted = self.times.get(from as usize..).filter(|t| !t.is_empty());
        let times = counted.unwrap_or(&self.times);
        let total: f64 = times.iter().map(|t| t.total).sum();
        let stages = StageTimes::NAMES.iter().enumerate().map(|(i, stage)| {
            let ms: Vec<f64> = times.iter().map(|t| 1e3 * t.stages()[i]).collect();
            let sum: f64 = times.iter().map(|t| t.stages()[i]).sum();
            StageFigures {
                stage,
                ms_median: median(&ms),
                ms_p95: percentile(&ms, 95),
                share: if total > 0.0 { sum / total } else { 0.0 },
            }
        });
        let of_pairs = |count: u64| match self.pairs {
            0 => 0.0,
            all => count as f64 / all as f64,
        };
        ProfileFigures {
            steps: times.len(),
            stages: stages.collect(),
            recycled: of_pairs(self.recycled),
            placed: of_pairs(self.placed),
            islands: self.islands,
            lanes: self.lanes,
            bytes: self.bytes,
        }
    }
}
