use moreau_solver::SolveError;
use serde::{Deserialize, Serialize};

/// Settings of [`crate::ActiveSetSolver`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ActiveSetSettings {
    /// The natural map (m/s) at which an answer counts as solved (default 1e-10). Answers are as exact
    /// as f64 allows whatever it is; too small calls them stalled, too big keeps a warm start that is
    /// that wrong.
    pub tolerance: f64,
    /// The most contacts and rows together that a problem may have (default 20). The work grows with
    /// their cube and more: a tower of 20 takes some 50 microseconds. Too small leaves
    /// exactness out where it was cheap, too big lets a large island hold up a step.
    pub max_rows: usize,
}

impl Default for ActiveSetSettings {
    fn default() -> Self {
        Self {
            tolerance: 1e-10,
            max_rows: 20,
        }
    }
}

impl ActiveSetSettings {
    pub(crate) fn validate(&self, solver: &'static str) -> Result<(), SolveError> {
        if self.tolerance >= 0.0 && self.tolerance.is_finite() {
            return Ok(());
        }
        Err(SolveError::Setting {
            solver,
            field: "tolerance",
            value: self.tolerance,
            allowed: "0 or more, and finite",
        })
    }
}
