//! Which solver an island gets.

use moreau_constraint::{ContactProblem, Impulses};
use moreau_math::Velocity;
use moreau_solver::{ContactSolver, SolveError, SolveReport};
use moreau_solver_newton::{NewtonSettings, NewtonSolver};
use moreau_solver_pgs::{PgsSettings, PgsSolver};
use serde::{Deserialize, Serialize};

/// Which of the workspace's solvers solve the islands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SolverChoice {
    /// Newton where its work is within the limit, sequential impulses elsewhere.
    #[default]
    Auto,
    /// Sequential impulses for every island.
    Pgs,
    /// Newton for every island, whatever it costs.
    Newton,
}

/// Knobs of the solvers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SolverSettings {
    /// Which solver.
    pub choice: SolverChoice,
    /// [`SolverChoice::Auto`]: largest work of one factorisation that is solved exactly, in
    /// multiply-adds. Default 5 million (about 3 ms; a tower of 30 takes 20 thousand). Too
    /// small gives up exactness where it was cheap, too big lets a collapsing pile stall a step.
    pub exact_work_limit: u64,
    /// [`SolverChoice::Auto`]: most contact points of an island that is solved exactly. Default
    /// 2500. Bounds the cost of estimating the work.
    pub exact_contact_limit: usize,
    /// Sequential impulses.
    pub pgs: PgsSettings,
    /// Newton. Default: that solver's own, but for a `tolerance` of 1e-8 m/s and a `max_work` of 4e7
    /// (about 20 ms), so that no island holds up a step for long.
    pub newton: NewtonSettings,
}

impl Default for SolverSettings {
    fn default() -> Self {
        Self {
            choice: SolverChoice::Auto,
            exact_work_limit: 5_000_000,
            exact_contact_limit: 2500,
            pgs: PgsSettings::default(),
            newton: NewtonSettings {
                tolerance: 1e-8,
                max_work: 40_000_000,
                ..NewtonSettings::default()
            },
        }
    }
}

/// The solver that a world has unless it is given another.
#[derive(Debug)]
pub(crate) struct ChosenSolver {
    settings: SolverSettings,
    pgs: PgsSolver,
    newton: NewtonSolver,
}

impl ChosenSolver {
    pub(crate) fn new(settings: SolverSettings) -> Self {
        Self {
            settings,
            pgs: PgsSolver::new(settings.pgs),
            newton: NewtonSolver::new(settings.newton),
        }
    }

    fn exact(&mut self, problem: &ContactProblem) -> bool {
        match self.settings.choice {
            SolverChoice::Pgs => false,
            SolverChoice::Newton => true,
            SolverChoice::Auto => {
                problem.contacts().len() <= self.settings.exact_contact_limit
                    && self.newton.work_estimate(problem) <= self.settings.exact_work_limit
            }
        }
    }
}

impl ContactSolver for ChosenSolver {
    fn name(&self) -> &'static str {
        match self.settings.choice {
            SolverChoice::Auto => "auto",
            SolverChoice::Pgs => "pgs",
            SolverChoice::Newton => "newton",
        }
    }

    fn solve(
        &mut self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        velocities: &mut Vec<Velocity>,
    ) -> Result<SolveReport, SolveError> {
        if self.exact(problem) {
            self.newton.solve(problem, impulses, velocities)
        } else {
            self.pgs.solve(problem, impulses, velocities)
        }
    }

    fn fork(&self) -> Box<dyn ContactSolver> {
        Box::new(Self::new(self.settings))
    }
}
