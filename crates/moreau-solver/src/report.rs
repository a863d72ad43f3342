use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a solver stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The natural map is within the tolerance.
    Converged,
    /// The budget of sweeps or factorisations is used up.
    Budget,
    /// No further progress is possible in this arithmetic.
    Stalled,
    /// The problem was found to have no solution.
    NoSolution,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Converged => "converged",
            Self::Budget => "budget used up",
            Self::Stalled => "stalled",
            Self::NoSolution => "no solution",
        })
    }
}

/// What a solve did and how right its answer is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SolveReport {
    /// Gauss-Seidel (or similar) sweeps over all contacts and rows.
    pub sweeps: u32,
    /// Matrix factorisations.
    pub factorizations: u32,
    /// Why it stopped.
    pub stop: StopReason,
    /// The natural map of the worst contact or row, m/s.
    pub residual: f64,
    /// The contact with the largest natural map; `None` where a row is worse, or for no contacts.
    pub worst_contact: Option<usize>,
}

impl SolveReport {
    /// The report of a problem without contacts and rows.
    pub const fn empty() -> Self {
        Self {
            sweeps: 0,
            factorizations: 0,
            stop: StopReason::Converged,
            residual: 0.0,
            worst_contact: None,
        }
    }

    /// Whether the natural map is within the solver's tolerance; nothing else counts.
    pub fn converged(&self) -> bool {
        self.stop == StopReason::Converged
    }
}

/// Why a problem was not solved at all.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SolveError {
    /// The solver does not take this kind of problem.
    #[error("the solver `{solver}` does not take {what}")]
    Unsupported {
        /// Name of the solver.
        solver: &'static str,
        /// What the problem has.
        what: &'static str,
    },
    /// A setting of the solver is out of its range.
    #[error("the solver `{solver}`: {field} is {value}, must be {allowed}")]
    Setting {
        /// Name of the solver.
        solver: &'static str,
        /// Which setting.
        field: &'static str,
        /// Its value.
        value: f64,
        /// What is allowed, in words.
        allowed: &'static str,
    },
    /// A list of another length than the problem's.
    #[error("{what}: {count} values were given, the problem has {expected}")]
    Length {
        /// Which list, such as `contact` or `row` impulses.
        what: &'static str,
        /// How many were given.
        count: usize,
        /// How many there should be.
        expected: usize,
    },
    /// The answer overflowed: an input of the problem is too extreme for f64.
    #[error("the velocity of body {body} is not finite after the solve")]
    Overflow {
        /// Index of the body.
        body: usize,
    },
}
