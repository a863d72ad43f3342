//! What came out, as data and as a table.

use crate::Group;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// What was expected came.
    Passed,
    /// Something else came.
    Failed,
    /// The solver said, rightly, that it did not converge, on a case that not every method can do.
    Limited,
    /// The solver does not take this kind of problem.
    Skipped,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Passed => "pass",
            Self::Failed => "FAIL",
            Self::Limited => "limited",
            Self::Skipped => "skip",
        })
    }
}

/// How one case went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseReport {
    /// The case's name.
    pub name: String,
    /// What kind of case it is.
    pub group: Group,
    /// Whether an answer that is not converged fails it.
    pub essential: bool,
    /// How it ended.
    pub outcome: Outcome,
    /// What was expected, in words.
    pub expected: String,
    /// What came, in words.
    pub found: String,
    /// How far the one may be from the other, in the unit that the words name (mostly m/s).
    pub tolerance: f64,
    /// The natural map of the answer (m/s) by the certificate; `None` where there was no finite one.
    pub residual: Option<f64>,
    /// Sweeps of the first solve.
    pub sweeps: u32,
    /// Factorisations of the first solve.
    pub factorizations: u32,
}

/// How a solver did, case by case in the order of [`crate::cases`].
///
/// Its `Display` is a table; what did not pass is spelled out below it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The solver's name.
    pub solver: String,
    /// The natural map that was asked for, m/s.
    pub tolerance: f64,
    /// All cases.
    pub cases: Vec<CaseReport>,
}

impl Report {
    /// Whether no case failed and at least one passed.
    pub fn passed(&self) -> bool {
        self.count(Outcome::Failed) == 0 && self.count(Outcome::Passed) > 0
    }

    /// How many cases ended so.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.cases.iter().filter(|c| c.outcome == outcome).count()
    }

    /// The cases that ended so.
    pub fn with_outcome(&self, outcome: Outcome) -> impl Iterator<Item = &CaseReport> {
        self.cases.iter().filter(move |c| c.outcome == outcome)
    }

    /// The case of that name.
    pub fn case(&self, name: &str) -> Option<&CaseReport> {
        self.cases.iter().find(|c| c.name == name)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.cases.iter().map(|c| c.name.len()).max().unwrap_or(4);
        writeln!(
            f,
            "solver `{}`, natural map {:.0e} m/s",
            self.solver, self.tolerance
        )?;
        writeln!(
            f,
            "{:<width$}  {:<8} {:<9} {:>8} {:>7} {:>7}",
            "case", "outcome", "essential", "residual", "sweeps", "factors"
        )?;
        for c in &self.cases {
            let residual = c.residual.map_or("-".into(), |r| format!("{r:.1e}"));
            writeln!(
                f,
                "{:<width$}  {:<8} {:<9} {residual:>8} {:>7} {:>7}",
                c.name,
                c.outcome,
                if c.essential { "yes" } else { "" },
                c.sweeps,
                c.factorizations
            )?;
        }
        for c in self.cases.iter().filter(|c| c.outcome != Outcome::Passed) {
            writeln!(
                f,
                "{} {}: expected {} (within {:.1e}), found {}",
                c.outcome, c.name, c.expected, c.tolerance, c.found
            )?;
        }
        write!(
            f,
            "{} passed, {} failed, {} limited, {} skipped",
            self.count(Outcome::Passed),
            self.count(Outcome::Failed),
            self.count(Outcome::Limited),
            self.count(Outcome::Skipped)
        )
    }
}
