use crate::{BodyId, IslandSolver, StepProfile};
use moreau_solver::SolveReport;
use serde::{Deserialize, Serialize};

/// What a step did and how right it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    /// How many steps the world has made, this one included.
    pub step: u64,
    /// Length of the step, s.
    pub dt: f64,
    /// Bodies in the world.
    pub bodies: usize,
    /// Dynamic bodies that took part in the step.
    pub awake_bodies: usize,
    /// Bodies that slept through it.
    pub sleeping_bodies: usize,
    /// Groups in which they sleep.
    pub sleeping_islands: usize,
    /// Sleeping groups that something woke in it.
    pub woken_islands: usize,
    /// Pairs whose boxes overlap, but for those of sleeping bodies with others that do not move.
    pub pairs: usize,
    /// Pairs with at least one contact point.
    pub manifolds: usize,
    /// Pairs whose manifold was kept from an earlier step.
    pub recycled: usize,
    /// Contact points, those of sleeping bodies included.
    pub contact_points: usize,
    /// Contact points with fixed bodies that were left out because another fixed body, flush with
    /// theirs, already carries the body: the edges of tiles.
    pub seam_points: usize,
    /// Islands that were solved again, since their bodies turn so far that they would have come deep into each other.
    pub islands_again: usize,
    /// Bodies whose way through the step was cut short, since they would have passed through another.
    pub stopped_bodies: usize,
    /// What it cost to follow the ways of bodies that turn far or wobble in the step, in looks: one for each leg
    /// of a way after its first, and eight for each look at a pair on such a leg.
    pub leg_work: u64,
    /// Impacts that were taken one after the other: of bullets and what they struck, and those in small
    /// islands that bounce ([`crate::WorldSettings::ordered_impacts`]).
    pub ordered_impacts: usize,
    /// What that cost, in looks at a pair or a contact point
    /// ([`crate::WorldSettings::ordered_base_work`]).
    pub ordered_work: u64,
    /// Groups of bodies whose impacts would have cost more than they may, so that the rest of their step
    /// was taken as one.
    pub hurried_groups: usize,
    /// Joints.
    pub joints: usize,
    /// Groups of awake bodies that touch; bodies without contact count as none.
    pub islands: usize,
    /// Contact points of the largest island.
    pub largest_island: usize,
    /// Contact points that started from a remembered impulse.
    pub warm_started: usize,
    /// Most sweeps that an island took.
    pub sweeps: u32,
    /// Sum of the sweeps of all islands.
    pub total_sweeps: u64,
    /// Sum of the factorisations of all islands.
    pub factorizations: u64,
    /// Natural map of the worst contact, m/s: how far the answer is from exact Coulomb friction.
    pub residual: f64,
    /// Its index in [`crate::World::awake_contacts`]; `None` where a joint is worse, or where the worst is
    /// of a part of the step that a bullet cut.
    pub worst_contact: Option<usize>,
    /// Whether every island's solve converged to its tolerance, which grows with the speed of islands faster than
    /// 20 m/s ([`moreau_solver::tolerance_at`]). The world finds that out itself where the solver is the caller's
    /// ([`crate::World::set_solver`]).
    pub certified: bool,
    /// Islands that did not.
    pub uncertified_islands: usize,
    /// Which solver did how much.
    pub solvers: SolverShares,
    /// Islands in which the energy guard reduced the bounce, or an unfinished answer.
    pub guarded_islands: usize,
    /// Islands that were swept because the exact solver did not get done with them in the last steps, see
    /// [`crate::SolverSettings::exact_wait`].
    pub waiting_islands: usize,
    /// Islands that the exact solver had a short budget for, because it did not get done with them in the last steps but
    /// came near; see [`crate::SolverSettings::exact_wait`].
    pub hurrying_islands: usize,
    /// Islands whose overlaps were taken out in part, by pseudo-velocities.
    pub corrected_islands: usize,
    /// Bodies that stay exactly where they are; see [`crate::WorldSettings::standstill`].
    pub standing_bodies: usize,
    /// Deepest overlap at the start of the step, m.
    pub max_penetration: f64,
    /// Kinetic energy of all dynamic bodies after the step, J.
    pub kinetic_energy: f64,
    /// Potential energy of all dynamic bodies in the uniform gravity after the step, J (zero at
    /// the world's origin).
    pub potential_energy: f64,
    /// How long the step took, s. Not part of any state.
    pub seconds: f64,
    /// Where the time went, and what memory the world holds; `None` where it was not asked for by
    /// [`crate::World::set_profiling`].
    pub profile: Option<StepProfile>,
}

/// What one solver did in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SolverShare {
    /// Islands that it solved.
    pub islands: usize,
    /// Those among them that did not converge to its tolerance.
    pub uncertified_islands: usize,
    /// Contact points of its islands.
    pub contact_points: usize,
    /// Sum of its sweeps.
    pub sweeps: u64,
    /// Sum of its factorisations.
    pub factorizations: u64,
    /// Natural map of its worst contact or row, m/s.
    pub residual: f64,
}

/// What each solver did in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SolverShares([SolverShare; IslandSolver::ALL.len()]);

impl SolverShares {
    /// The share of one solver.
    pub fn of(&self, solver: IslandSolver) -> &SolverShare {
        &self.0[solver as usize]
    }

    /// All solvers and their shares, those that did nothing included.
    pub fn iter(&self) -> impl Iterator<Item = (IslandSolver, &SolverShare)> {
        IslandSolver::ALL.into_iter().zip(&self.0)
    }

    pub(crate) fn count(&mut self, solver: IslandSolver, contacts: usize, solve: &SolveReport) {
        let share = &mut self.0[solver as usize];
        share.islands += 1;
        share.uncertified_islands += usize::from(!solve.converged());
        share.contact_points += contacts;
        share.sweeps += u64::from(solve.sweeps);
        share.factorizations += u64::from(solve.factorizations);
        share.residual = share.residual.max(solve.residual);
    }
}

/// An island of a step and how it was solved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct IslandReport {
    /// Its dynamic body with the smallest id.
    pub first_body: BodyId,
    /// Dynamic bodies.
    pub bodies: usize,
    /// Contact points.
    pub contact_points: usize,
    /// Joints.
    pub joints: usize,
    /// Who solved it.
    pub solver: IslandSolver,
    /// How far. Its `worst_contact` is an index in [`crate::World::awake_contacts`].
    pub solve: SolveReport,
    /// Whether the energy guard reduced the bounce, or an unfinished answer.
    pub guarded: bool,
}
