use moreau_solver::SolveError;
use serde::{Deserialize, Serialize};

/// What a visit of a sweep does with a contact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LocalStep {
    /// The exact law of the contact, all others held.
    #[default]
    Exact,
    /// The step of document 001 with its third phase: see the formulas in `hold.rs`. Its fixed point neither
    /// sinks nor lifts off, but a sliding contact has not the friction of Coulomb's law.
    HoldAndResolve,
}

/// Settings of [`crate::BlockSolver`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BlockSettings {
    /// Budget of sweeps over all rows and contacts (default 400). Too small: stacks keep an error of
    /// many times the tolerance. Too big: a problem that does not converge costs its whole budget
    /// every step.
    pub max_sweeps: u32,
    /// The natural map (m/s) at which an answer counts as solved (default 1e-9). Too small: below
    /// about 1e-16 of the largest impulse times inverse mass no f64 answer exists. Too big: friction
    /// creeps and contacts sink by that much a second.
    pub tolerance: f64,
    /// Whether every second sweep runs in reverse order (default false). Reversing removes the bias
    /// that an unfinished answer has from the order of the contacts, and costs sweeps: over the 43
    /// reference problems 1.7 times as many without acceleration, 1.5 times with it, in the geometric
    /// mean.
    pub alternate: bool,
    /// How many earlier steps Anderson acceleration combines (default 10, at most 32); 0 switches it
    /// off. Too small: little gain. Too big: old steps, made while other contacts slid, mislead, and
    /// each step costs more.
    pub anderson_window: u32,
    /// What a visit does with a contact (default the exact law).
    pub local_step: LocalStep,
}

impl Default for BlockSettings {
    fn default() -> Self {
        Self {
            max_sweeps: 400,
            tolerance: 1e-9,
            alternate: false,
            anderson_window: 10,
            local_step: LocalStep::Exact,
        }
    }
}

/// The largest [`BlockSettings::anderson_window`].
pub(crate) const LARGEST_WINDOW: usize = 32;

impl BlockSettings {
    pub(crate) fn validate(&self, solver: &'static str) -> Result<(), SolveError> {
        let refuse = |field, value, allowed| {
            Err(SolveError::Setting {
                solver,
                field,
                value,
                allowed,
            })
        };
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            return refuse("tolerance", self.tolerance, "0 or more, and finite");
        }
        if self.anderson_window as usize > LARGEST_WINDOW {
            let value = f64::from(self.anderson_window);
            return refuse("anderson_window", value, "at most 32");
        }
        Ok(())
    }
}
