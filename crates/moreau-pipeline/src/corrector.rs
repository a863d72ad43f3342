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
use moreau_math::Velocity;
use moreau_solver::{ContactSolver, SolveError, SolveReport};
use moreau_solver_pgs::{PgsSettings, PgsSolver};
use moreau_solver_simd::{Instructions, SimdSettings, SimdSolver};

/// Contacts up to which packing them four at a time costs more than it saves.
const FEW_CONTACTS: usize = 64;

/// Natural map at which a correction is good enough, m/s: a micrometre in ten seconds.
const TOLERANCE: f64 = 1e-7;

/// Solvers of one worker.
#[derive(Debug, Default)]
pub(crate) struct Corrector {
    pgs: PgsSolver,
    simd: SimdSolver,
}

impl Corrector {
    /// Impulses from a cold start, and the pseudo-velocities that follow from them.
    pub(crate) fn solve(
        &mut self,
        knobs: &PositionCorrection,
        instructions: Instructions,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        velocities: &mut Vec<Velocity>,
    ) -> Result<SolveReport, SolveError> {
        *impulses = problem.cold_start();
        if problem.contacts().len() <= FEW_CONTACTS {
            let settings = PgsSettings {
                max_sweeps: knobs.max_sweeps,
                tolerance: TOLERANCE,
                ..PgsSettings::default()
            };
            if *self.pgs.settings() != settings {
                self.pgs = PgsSolver::new(settings);
            }
            self.pgs.solve(problem, impulses, velocities)
        } else {
            let settings = SimdSettings {
                max_sweeps: knobs.max_sweeps,
                tolerance: TOLERANCE,
                keep_best: false,
                instructions,
                ..SimdSettings::default()
            };
            if *self.simd.settings() != settings {
                self.simd = SimdSolver::new(settings);
            }
            self.simd.solve(problem, impulses, velocities)
        }
    }
}
