use serde::{Deserialize, Serialize};

/// What is asked of a solver, and of which cases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The natural map (m/s) that an answer may have, and that `Converged` promises. Default 1e-8.
    /// Set it to the solver's own tolerance or a little above. Below about 1e-13 of the velocities
    /// rounding decides; too big and wrong answers pass.
    pub tolerance: f64,
    /// Runs only the cases whose name contains this text. Default empty: all.
    pub filter: String,
    /// Whether an answer that is honestly not converged fails (default false: it does so only in the
    /// cases marked essential). For solvers that claim to solve everything.
    pub strict: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            filter: String::new(),
            strict: false,
        }
    }
}
