//! What solves the pseudo-velocities of an island.
//!
//! | island | solver |
//! |---|---|
//! | at most 64 contacts | sequential impulses, without the packing of lanes |
//! | all others | sweeps over SIMD lanes |
//!
//! The problem is frictionless and starts from zero, for what overlaps now says little about what
//! overlapped in the last step.

use crate::PositionCorrection;
use moreau_constraint::{ContactProblem, Impulses};
use moreau_math::{Vec3, Velocity};
use moreau_solver::{ContactSolver, SolveError, SolveReport};
use moreau_solver_pgs::{PgsSettings, PgsSolver};
use moreau_solver_simd::{Instructions, SimdSettings, SimdSolver};

/// Contacts up to which packing them into lanes costs more than it saves.
const FEW_CONTACTS: usize = 64;

/// Natural map at which the correction of a small island is good enough, m/s: a micrometre in ten
/// seconds.
const TOLERANCE: f64 = 1e-7;

/// Part of the slop that one step may leave or add in a large island. What it is wrong by, the next
/// steps see and mend.
const PART_OF_SLOP: f64 = 1e-3;

/// A correction begins where an overlap asks for more than this many times the tolerance. Where it began at the tolerance
/// it would end there at once, with the overlap left as it was, and be asked for in every step anew: what each of
/// them leaves kept a pile of 2000 boxes from coming to rest.
pub(crate) const TAKE_UP: f64 = 2.0;

/// Natural map (m/s) at which the correction of an island is good enough.
pub(crate) fn tolerance(knobs: &PositionCorrection, contacts: usize, dt: f64) -> f64 {
    if contacts <= FEW_CONTACTS {
        TOLERANCE
    } else {
        TOLERANCE.max(PART_OF_SLOP * knobs.slop / dt)
    }
}

/// Solvers of one worker.
#[derive(Debug, Default)]
pub(crate) struct Corrector {
    pgs: PgsSolver,
    simd: SimdSolver,
}

impl Corrector {
    /// Whether the other threads of the pool help with large islands.
    pub(crate) fn use_pool(&mut self, yes: bool) {
        self.simd.use_pool(yes);
    }

    /// Impulses from a cold start, and the pseudo-velocities that follow from them.
    pub(crate) fn solve(
        &mut self,
        knobs: &PositionCorrection,
        instructions: Instructions,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        velocities: &mut Vec<Velocity>,
    ) -> Result<SolveReport, SolveError> {
        impulses.contacts.clear();
        impulses
            .contacts
            .resize(problem.contacts().len(), Vec3::ZERO);
        impulses.rows.clear();
        impulses.rows.resize(problem.rows().len(), 0.0);
        let tolerance = tolerance(knobs, problem.contacts().len(), problem.dt());
        if problem.contacts().len() <= FEW_CONTACTS {
            let settings = PgsSettings {
                max_sweeps: knobs.max_sweeps,
                tolerance,
                ..PgsSettings::default()
            };
            if *self.pgs.settings() != settings {
                self.pgs = PgsSolver::new(settings);
            }
            self.pgs.solve(problem, impulses, velocities)
        } else {
            let settings = SimdSettings {
                max_sweeps: knobs.max_sweeps,
                tolerance,
                keep_best: false,
                instructions,
                ..SimdSettings::default()
            };
            self.simd.set_settings(settings);
            self.simd.solve(problem, impulses, velocities)
        }
    }
}
