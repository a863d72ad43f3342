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

/// The speed (m/s) up to which a tolerance is meant as it is given.
pub const ORDINARY_SPEED: f64 = 20.0;

/// The natural map (m/s) that counts as solved where bodies move with at most `speed` (m/s): `tolerance` up to
/// [`ORDINARY_SPEED`], and in proportion to the speed beyond, since rounding is. A stack that is struck at 100 m/s
/// keeps some 2e-8 m/s of it whoever solves it; of a tolerance of 1e-8 m/s, 5e-8 are allowed there.
/// [`SolveReport::residual`] is always the natural map itself.
pub fn tolerance_at(tolerance: f64, speed: f64) -> f64 {
    if speed > ORDINARY_SPEED && speed.is_finite() {
        tolerance * (speed / ORDINARY_SPEED)
    } else {
        tolerance
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

    /// Whether the natural map is within the solver's tolerance; nothing else counts. Worlds take
    /// [`tolerance_at`] the speed of the island.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tolerance_grows_with_the_speed_beyond_ordinary_ones_only() {
        for speed in [0.0, 1.0, 20.0, f64::INFINITY, f64::NAN] {
            assert_eq!(tolerance_at(1e-8, speed), 1e-8);
        }
        assert_eq!(tolerance_at(1e-8, 100.0), 5e-8);
        assert_eq!(tolerance_at(0.0, 100.0), 0.0);
    }
}
