use crate::BlockSettings;
use crate::iteration::{Iteration, Phase};
use moreau_constraint::{ContactProblem, Impulses};
use moreau_math::{Vec3, Velocity};
use moreau_solver::{ContactSolver, SolveError, SolveReport};
use serde::{Deserialize, Serialize};

pub(crate) const NAME: &str = "block";

/// Block Gauss-Seidel for contacts with Coulomb friction and for scalar rows.
///
/// A sweep visits rows, then contacts, in index order, and every second sweep in reverse. A contact is
/// solved exactly while all others stay as they are, normal and friction together; a row is clamped to
/// its bounds. Anderson acceleration combines earlier steps.
///
/// It stops on the natural map of [`moreau_solver::certify`], evaluated at velocities that are
/// recomputed from the impulses, so what the report says holds for what is returned. A warm start
/// within the tolerance comes back bit for bit, after 0 sweeps. Where the budget runs out the best
/// iterate is returned.
#[derive(Clone, Debug, Default)]
pub struct BlockSolver {
    settings: BlockSettings,
    iteration: Iteration,
}

/// What Anderson acceleration did in a solve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockStats {
    /// Combined steps after which the natural map was not larger than before.
    pub accepted: u32,
    /// Combined steps that were taken back.
    pub rejected: u32,
}

impl BlockSolver {
    /// A solver with the given settings. They are checked by each solve.
    pub fn new(settings: BlockSettings) -> Self {
        Self {
            settings,
            iteration: Iteration::default(),
        }
    }

    /// The settings.
    pub fn settings(&self) -> &BlockSettings {
        &self.settings
    }

    /// Of the last solve.
    pub fn stats(&self) -> BlockStats {
        self.iteration.stats
    }
}

impl ContactSolver for BlockSolver {
    fn name(&self) -> &'static str {
        NAME
    }

    fn solve(
        &mut self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        velocities: &mut Vec<Velocity>,
    ) -> Result<SolveReport, SolveError> {
        self.settings.validate(NAME)?;
        impulses.sanitize(problem.contacts().len(), problem.rows().len());
        let report = self.iteration.run(
            &self.settings,
            (problem, Phase::Whole),
            impulses,
            velocities,
        );
        refuse_overflow(problem, impulses, velocities)?;
        Ok(report)
    }

    fn fork(&self) -> Box<dyn ContactSolver> {
        Box::new(Self::new(self.settings))
    }
}

/// Nothing that is not finite leaves a solve.
pub(crate) fn refuse_overflow(
    problem: &ContactProblem,
    impulses: &mut Impulses,
    velocities: &mut Vec<Velocity>,
) -> Result<(), SolveError> {
    let Some(body) = velocities.iter().position(|v| !v.is_finite()) else {
        return Ok(());
    };
    impulses.contacts.fill(Vec3::ZERO);
    impulses.rows.fill(0.0);
    problem.velocities_into(impulses, velocities);
    Err(SolveError::Overflow { body })
}
