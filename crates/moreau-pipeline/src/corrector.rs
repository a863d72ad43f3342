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

/// b_n (m/s) of a contact of separation `phi` (m) that opens with the speed `u` (m/s), for
/// pseudo-velocities.
///
/// A contact that asks for nothing may close by what is left of its gap after the step. One that overlaps by then, by less than
/// `give` (m), may overlap by as much again, up to `give`: what one contact of a pile asks for is then taken up by those
/// around it, and does not move all bodies from wall to wall.
pub(crate) fn bias(knobs: &PositionCorrection, give: f64, dt: f64, (phi, u): (f64, f64)) -> f64 {
    if phi < -knobs.slop {
        let wanted = (knobs.rate * (-phi - knobs.slop) / dt).min(knobs.max_speed);
        // What the velocity opens anyway need not be corrected.
        -(wanted - u.max(0.0)).max(0.0)
    } else {
        let after = phi + u * dt;
        // Without a branch, which would often be mispredicted.
        let room = after.max((give + after).min(-after));
        (room / dt).max(0.0)
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

    fn ball(inverse_mass: f64) -> BodyInput {
        BodyInput {
            inverse_mass,
            inverse_inertia: SymMat3::from_diagonal(Vec3::splat(10.0)),
            velocity: Velocity::default(),
        }
    }

    fn contact(a: usize, b: usize) -> ContactInput {
        ContactInput {
            a,
            b,
            normal: Vec3::Y,
            lever_a: 0.5 * Vec3::Y,
            lever_b: -0.5 * Vec3::Y,
            separation: 0.0,
            friction: 0.0,
            restitution: 0.0,
        }
    }

    fn solve(knobs: &PositionCorrection, problem: &ContactProblem) -> Vec<Velocity> {
        let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
        let simd = (&mut SimdSolver::default(), Instructions::Fastest);
        Corrector::default()
            .solve((knobs, true), simd, problem, &mut impulses, &mut velocities)
            .unwrap();
        velocities
    }

    /// An overlap in the middle of a tower, which its upper half has to follow: what is asked for by hardly more than
    /// makes a correction begin is taken out by half or more, and not handed on to the next contact.
    #[test]
    fn what_is_taken_up_is_taken_out() {
        let knobs = PositionCorrection::default();
        let dt = 1.0 / 60.0;
        let mut problem = ContactProblem::new(dt).unwrap();
        let mut below = problem.add_body(BodyInput::fixed()).unwrap();
        for level in 0..70 {
            // It gives way to the asked one first.
            let ball = ball(if level == 35 { 10.0 } else { 1.0 });
            let ball = problem.add_body(ball).unwrap();
            problem.add_contact(contact(below, ball)).unwrap();
            below = ball;
        }
        let tolerance = tolerance(&knobs, problem.contacts().len(), dt);
        let asked = 1.01 * TAKE_UP * tolerance;
        problem.make_frictionless(35, -asked).unwrap();
        let velocities = solve(&knobs, &problem);
        for (i, contact) in problem.contacts().iter().enumerate() {
            let opens = velocities[contact.b].linear.y - velocities[contact.a].linear.y;
            let least = if i == 35 { 0.5 } else { -0.5 } * asked;
            assert!(opens >= least, "{i} opens by {opens} m/s, at least {least}");
        }
    }

    #[test]
    fn a_contact_gives_way_by_what_it_overlaps() {
        let (knobs, dt) = (PositionCorrection::default(), 1.0 / 60.0);
        let slop = knobs.slop;
        let room = |give: f64, phi: f64, u: f64| bias(&knobs, give, dt, (phi, u)) * dt;
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12 * slop;
        for give in [0.0, slop] {
            // What is left of a gap, and of one that opens or closes.
            assert!(near(room(give, 2.0 * slop, 0.0), 2.0 * slop));
            assert!(near(room(give, 2.0 * slop, -slop / dt), slop));
            assert!(near(room(give, -0.5 * slop, slop / dt), 0.5 * slop));
            for end in [0.0, -slop] {
                assert!(near(room(give, end, 0.0), 0.0));
            }
            // It closes, and overlaps by more than the slop then.
            assert_eq!(room(give, -0.5 * slop, -slop / dt), 0.0);
            assert!(near(room(give, -3.0 * slop, 0.0), -2.0 * knobs.rate * slop));
        }
        for (overlap, most) in [(0.1, 0.1), (0.5, 0.5), (0.8, 0.2)] {
            assert!(near(room(slop, -overlap * slop, 0.0), most * slop));
            // Whatever it opens by.
            let (before, speed) = (-(overlap + 0.1) * slop, 0.1 * slop / dt);
            assert!(near(room(slop, before, speed), most * slop));
            assert_eq!(room(0.0, -overlap * slop, 0.0), 0.0);
        }
    }

    /// A row of balls that overlap by half of the slop, two of them by more: these two alone move, if the others may give way.
    #[test]
    fn what_one_asks_for_is_taken_up_around_it() {
        let (knobs, dt) = (PositionCorrection::default(), 1.0 / 60.0);
        let excess = 0.4 * knobs.slop;
        for (count, give) in [(20, knobs.slop), (201, knobs.slop), (20, 0.0)] {
            let mut problem = ContactProblem::new(dt).unwrap();
            let mut last = problem.add_body(ball(1.0)).unwrap();
            for i in 0..count {
                let next = problem.add_body(ball(1.0)).unwrap();
                problem.add_contact(contact(last, next)).unwrap();
                let overlap = if i == count / 2 {
                    knobs.slop + excess
                } else {
                    0.5 * knobs.slop
                };
                let bias = bias(&knobs, give, dt, (-overlap, 0.0));
                problem.make_frictionless(i, bias).unwrap();
                last = next;
            }
            let velocities = solve(&knobs, &problem);
            let asked = knobs.rate * excess / dt;
            for (i, v) in velocities.iter().enumerate() {
                let moved = v.linear.y.abs();
                if give > 0.0 {
                    let expected = if i.abs_diff(count / 2) + i.abs_diff(count / 2 + 1) == 1 {
                        0.5 * asked
                    } else {
                        0.0
                    };
                    assert!(
                        (moved - expected).abs() < 1e-2 * asked,
                        "{count} {i}: {moved}"
                    );
                } else {
                    assert!(moved > 1e-2 * asked, "{i}: {moved}");
                }
            }
        }
    }
}
