use moreau_solver::SolveError;
use serde::{Deserialize, Serialize};

/// Settings of [`crate::PgsSolver`] and of [`crate::dense::solve_lcp`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PgsSettings {
    /// Budget of sweeps over all rows and contacts (default 400). Too small: stacks keep an error of
    /// many times the tolerance, light bodies below heavy ones sink. Too big: a problem that does
    /// not converge costs its whole budget every step.
    pub max_sweeps: u32,
    /// The natural map (m/s) at which an answer counts as solved (default 1e-9). Too small: below
    /// about 1e-16 of the largest impulse times inverse mass no f64 answer exists, and the solver
    /// stops as stalled. Too big: friction creeps and contacts sink by that much a second.
    pub tolerance: f64,
    /// Over-relaxation: the factor on each correction, above 0 and below 2 (default 1). Above 1 can
    /// speed up long chains, but over the reference problems 1.2 already took a third more sweeps and
    /// from 1.4 on some that converge at 1 no longer did: contacts that open and close, or that stick
    /// and slide, oscillate. Too small wastes sweeps.
    pub relaxation: f64,
    /// The exact natural map is evaluated after this many sweeps, and whenever the corrections of a
    /// sweep get as small as the tolerance (default 8, at least 1). Too small: a check costs about
    /// half a sweep. Too big: a budget that runs out keeps a worse iterate, since the best is
    /// chosen among the checked ones.
    pub check_every: u32,
    /// Whether every second sweep runs in reverse order (default false). Reversing removes the bias
    /// that an unfinished answer has from the order of the contacts, and costs sweeps: over the 43
    /// reference problems 1.7 times as many in the geometric mean.
    pub alternate: bool,
}

impl Default for PgsSettings {
    fn default() -> Self {
        Self {
            max_sweeps: 400,
            tolerance: 1e-9,
            relaxation: 1.0,
            check_every: 8,
            alternate: false,
        }
    }
}

impl PgsSettings {
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
        if !(self.relaxation > 0.0 && self.relaxation < 2.0) {
            return refuse("relaxation", self.relaxation, "above 0 and below 2");
        }
        if self.check_every == 0 {
            return refuse("check_every", 0.0, "1 or more");
        }
        Ok(())
    }
}
