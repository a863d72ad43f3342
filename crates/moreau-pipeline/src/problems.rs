//! The contact problems of a step, for whoever wants to look at them or solve them elsewhere.

use crate::island_solve::Worker;
use crate::world::World;
use crate::{StepReport, WorldError};
use moreau_constraint::{ContactProblem, Impulses};

/// What the solver of an island is given.
#[derive(Clone, Debug, PartialEq)]
pub struct IslandProblem {
    /// The bodies with their free velocities (those that nothing moves come last), the contact
    /// points, and the rows of the joints.
    pub problem: ContactProblem,
    /// Impulses remembered from the step before.
    pub warm_start: Impulses,
}

impl World {
    /// The problems that a step of `dt` (s) would solve, one for each island, in their order.
    /// Nothing of the world changes: the steps that follow have the same bits. Sleeping islands are
    /// shown as if they were awake.
    ///
    /// # Errors
    /// Where `dt` is not positive and finite, or a number of the problem is not finite.
    pub fn next_problems(&mut self, dt: f64) -> Result<Vec<IslandProblem>, WorldError> {
        if !(dt > 0.0 && dt.is_finite()) {
            return Err(WorldError::BadTimeStep { dt });
        }
        if !self.state.sleepers.is_empty() {
            // Looking may wake what sleeps.
            let mut twin = Self::from_state(self.state.clone());
            twin.solver = self.solver.fork();
            twin.wake_all();
            return twin.next_problems(dt);
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut report = StepReport::default();
        self.find_pairs(&mut scratch, dt, false, &mut report);
        self.find_contacts(&mut scratch, dt, false, &mut report);
        scratch.islands.build(&self.state, &self.activity);
        self.look_up_warm_starts(&mut scratch, dt, false, &mut report);
        let mut worker = Worker::new(self.solver.fork());
        let input = scratch.input((&self.state, &self.activity), dt);
        let ranges = scratch.islands.ranges.iter();
        let problems = ranges.map(|range| worker.problem(&input, range)).collect();
        self.scratch = scratch;
        problems
    }
}
