//! What solves the pseudo-velocities of an island.
//!
//! | island | solver |
//! |---|---|
//! | at most 64 contacts | sequential impulses, without the packing of lanes; Newton's method where those get nowhere, and the velocities are certified |
//! | all others | sweeps over SIMD lanes |
//!
//! The problem is frictionless and starts from zero, for what overlaps now says little about what
//! overlapped in the last step.

use crate::PositionCorrection;
use moreau_constraint::{ContactProblem, Impulses};
use moreau_math::{Vec3, Velocity};
use moreau_solver::{ContactSolver, SolveError, SolveReport};
use moreau_solver_newton::{NewtonSettings, NewtonSolver};
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

/// Multiply-adds that Newton's method may take in a small island: some milliseconds.
const MOST_WORK: u64 = 20_000_000;

/// A correction begins where an overlap asks for more than this many times the tolerance. Where it began at the tolerance
/// it could end there at once, with the overlap left as it was, and be asked for in every step anew.
pub(crate) const TAKE_UP: f64 = 2.0;

/// Natural map (m/s) at which the correction of an island is good enough.
pub(crate) fn tolerance(knobs: &PositionCorrection, contacts: usize, dt: f64) -> f64 {
    if contacts <= FEW_CONTACTS {
        TOLERANCE
    } else {
        TOLERANCE.max(PART_OF_SLOP * knobs.slop / dt)
    }
}

/// Solvers of one worker, but for that of large islands.
#[derive(Debug, Default)]
pub(crate) struct Corrector {
    pgs: PgsSolver,
    newton: NewtonSolver,
}

impl Corrector {
    /// Impulses from a cold start, and the pseudo-velocities that follow from them. `certified`: whether the
    /// velocities of the island are right. `simd`: for large islands; what it laid out for these velocities serves
    /// again.
    pub(crate) fn solve(
        &mut self,
        (knobs, certified): (&PositionCorrection, bool),
        (simd, instructions): (&mut SimdSolver, Instructions),
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
            let report = self.pgs.solve(problem, impulses, velocities)?;
            let still = impulses.contacts.iter().all(|l| *l == Vec3::ZERO)
                && impulses.rows.iter().all(|l| *l == 0.0);
            if report.converged() || !still || !certified {
                return Ok(report);
            }
            // None of the sweeps was better than the start. That is the same in every step, so none ever would be.
            // Where velocities are wrong it is no use to mend what they break: pulled apart in full, a light body
            // under a heavy one slips away.
            let settings = NewtonSettings {
                tolerance,
                max_work: MOST_WORK,
                ..NewtonSettings::default()
            };
            if *self.newton.settings() != settings {
                self.newton = NewtonSolver::new(settings);
            }
            self.newton.solve(problem, impulses, velocities)
        } else {
            let settings = SimdSettings {
                max_sweeps: knobs.max_sweeps,
                tolerance,
                keep_best: false,
                instructions,
                ..SimdSettings::default()
            };
            simd.set_settings(settings);
            simd.solve(problem, impulses, velocities)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use moreau_constraint::{BodyInput, ContactInput};
    use moreau_math::SymMat3;

    /// An overlap in the middle of a tower, which its upper half has to follow: what is asked for by hardly more than
    /// makes a correction begin is taken out by half or more, and not handed on to the next contact.
    #[test]
    fn what_is_taken_up_is_taken_out() {
        let knobs = PositionCorrection::default();
        let dt = 1.0 / 60.0;
        let mut problem = ContactProblem::new(dt).unwrap();
        let mut below = problem.add_body(BodyInput::fixed()).unwrap();
        for level in 0..70 {
            let ball = BodyInput {
                // It gives way to the asked one first.
                inverse_mass: if level == 35 { 10.0 } else { 1.0 },
                inverse_inertia: SymMat3::from_diagonal(Vec3::splat(10.0)),
                velocity: Velocity::default(),
            };
            let ball = problem.add_body(ball).unwrap();
            let contact = ContactInput {
                a: below,
                b: ball,
                normal: Vec3::Y,
                lever_a: 0.5 * Vec3::Y,
                lever_b: -0.5 * Vec3::Y,
                separation: 0.0,
                friction: 0.0,
                restitution: 0.0,
            };
            problem.add_contact(contact).unwrap();
            below = ball;
        }
        let tolerance = tolerance(&knobs, problem.contacts().len(), dt);
        let asked = 1.01 * TAKE_UP * tolerance;
        problem.make_frictionless(35, -asked).unwrap();
        let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
        Corrector::default()
            .solve(
                (&knobs, true),
                (&mut SimdSolver::default(), Instructions::Fastest),
                &problem,
                &mut impulses,
                &mut velocities,
            )
            .unwrap();
        for (i, contact) in problem.contacts().iter().enumerate() {
            let opens = velocities[contact.b].linear.y - velocities[contact.a].linear.y;
            let least = if i == 35 { 0.5 } else { -0.5 } * asked;
            assert!(opens >= least, "{i} opens by {opens} m/s, at least {least}");
        }
    }
}
