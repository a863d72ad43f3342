use moreau_solver::SolveError;
use serde::{Deserialize, Serialize};

/// Which instructions a solve may use. The answer has the same bits with all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Instructions {
    /// The fastest that the processor has.
    #[default]
    Fastest,
    /// The same without registers of more than 256 bits.
    Avx2,
    /// What every processor of the architecture has.
    Baseline,
}

/// Settings of [`crate::SimdSolver`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SimdSettings {
    /// Budget of sweeps over all rows and contacts (default 400). Too small: stacks keep an error of
    /// many times the tolerance. Too big: a problem that does not converge costs its whole budget
    /// every step.
    pub max_sweeps: u32,
    /// The natural map (m/s) at which an answer counts as solved (default 1e-9). Too small: below
    /// about 1e-16 of the largest impulse times inverse mass no f64 answer exists. Too big: friction
    /// creeps and contacts sink by that much a second.
    pub tolerance: f64,
    /// How small the changes of a sweep (m/s) must be for a solve to end before the tolerance where further sweeps
    /// hardly help: where the square of what they change fell by less than half in two looks, and will not reach
    /// the tolerance within the budget at this pace (default 0: never). Worlds take 1e-6, and the next step goes on
    /// from there. Too big: bodies that should come to rest creep.
    pub slow_tolerance: f64,
    /// The momentum is adapted, and the natural map evaluated, after this many sweeps (default 8, at least
    /// 1). A look costs about half a sweep; without `keep_best` it is spared while sweeps change much.
    pub check_every: u32,
    /// Whether each sweep starts ahead of where the last one ended (default true). Costs little, and
    /// saves most of them.
    pub accelerate: bool,
    /// What is returned where the budget runs out: the iterate with the best worst contact, never worse than the
    /// start (default true), or the last one. Worlds take the last one: what a single contact lost, all
    /// the others gained, and the next step starts from there. A pile of 2000 boxes comes to rest with
    /// it, and not with the best one.
    pub keep_best: bool,
    /// Packs of eight pairs rest, and are visited in one of `check_every` sweeps alone from the fourth look on, while sweeps change them by less
    /// than this part of what they change a contact at most (default 0.02; 0: none rests). Too big: sweeps are worth less, for
    /// much of what they do is done to contacts whose neighbours do not answer.
    pub rest_part: f64,
    /// Contacts, without those that are left out, from which several sweeps go through a problem side by side, so that it is fetched from memory
    /// less often (default 65,536, more than caches hold; `usize::MAX`: never). Needs a problem without rows whose
    /// graph of contacts is long enough. Momentum then starts anew at the end of such sweeps only.
    pub layers_from: usize,
    /// Whether contacts that are too far open to close are left out of the sweeps, and looked at now and then
    /// (default true). In piles they are a quarter to a half of all contacts. What is returned holds for all of
    /// them.
    pub leave_out_open: bool,
    /// Which instructions to use.
    pub instructions: Instructions,
}

impl Default for SimdSettings {
    fn default() -> Self {
        Self {
            max_sweeps: 400,
            tolerance: 1e-9,
            slow_tolerance: 0.0,
            check_every: 8,
            accelerate: true,
            keep_best: true,
            rest_part: 0.02,
            layers_from: 1 << 16,
            leave_out_open: true,
            instructions: Instructions::Fastest,
        }
    }
}

impl SimdSettings {
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
        if !(self.slow_tolerance >= 0.0 && self.slow_tolerance.is_finite()) {
            let value = self.slow_tolerance;
            return refuse("slow_tolerance", value, "0 or more, and finite");
        }
        if !(0.0..1.0).contains(&self.rest_part) {
            return refuse("rest_part", self.rest_part, "0 or more, and less than 1");
        }
        if self.check_every == 0 {
            return refuse("check_every", 0.0, "1 or more");
        }
        Ok(())
    }
}
