//! One solver on one problem.

use super::Problem;
use moreau::solve::{FileAnswer, SOLVERS, SolveLimits, solve_file};
use std::time::Instant;

/// What a solver did on a problem.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    pub(crate) solver: &'static str,
    /// Of the answer, m/s; `None` where the solver does not take the problem.
    pub(crate) residual: Option<f64>,
    pub(crate) certified: bool,
    pub(crate) sweeps: u32,
    pub(crate) factorizations: u32,
    /// The least of some runs, s.
    pub(crate) seconds: f64,
}

impl Trial {
    /// Milliseconds to an answer that counts.
    pub(crate) fn ms(&self) -> Option<f64> {
        self.certified.then_some(1e3 * self.seconds)
    }
}

/// A short solve is repeated until that much time has passed, s.
const LONG_ENOUGH: f64 = 0.02;

/// All solvers on all problems, a row a problem.
pub(crate) fn run(problems: &[Problem], tolerance: f64) -> Vec<Vec<Trial>> {
    let row = |problem: &Problem| {
        let typical = problem.file.reference().map_or(1.0, |r| r.residual_scale);
        let limits = SolveLimits {
            tolerance: tolerance * typical,
            ..SolveLimits::default()
        };
        let solvers = SOLVERS.iter();
        solvers
            .map(|entry| measure(problem, entry.name, &limits))
            .collect()
    };
    problems.iter().map(row).collect()
}

fn measure(problem: &Problem, solver: &'static str, limits: &SolveLimits) -> Trial {
    let mut trial = Trial {
        solver,
        residual: None,
        certified: false,
        sweeps: 0,
        factorizations: 0,
        seconds: f64::INFINITY,
    };
    let mut spent = 0.0;
    while spent < LONG_ENOUGH {
        let start = Instant::now();
        let answer = solve_file(&problem.file, solver, limits);
        let seconds = start.elapsed().as_secs_f64();
        let Ok(answer) = answer else {
            return trial;
        };
        fill(&mut trial, &answer);
        trial.seconds = trial.seconds.min(seconds);
        spent += seconds;
    }
    trial
}

fn fill(trial: &mut Trial, answer: &FileAnswer) {
    trial.residual = Some(answer.residual);
    trial.certified = answer.certified();
    trial.sweeps = answer.report.sweeps;
    trial.factorizations = answer.report.factorizations;
}
