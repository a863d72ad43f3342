use crate::system::KrylovLimits;
use serde::{Deserialize, Serialize};

/// By how much kept impulses let the speeds of bodies at rest grow in a step, at most: a tall tower falls over
/// on impulses that stay as they are.
const GROWTH: f64 = 4.0;
/// The part of the aim that is nothing. Rounding of poses alone brings a light body under a heavy one there in a
/// step; with a hundredth of the aim three steps of four were polished, with all of it every other one has to take
/// back what the last has just stopped.
const FRESH: f64 = 0.2;

/// Settings of [`crate::NewtonSolver`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NewtonSettings {
    /// The natural map (m/s) at which an answer counts as solved. Default 1e-10. Below about 1e-16
    /// of the largest impulse times inverse mass no f64 answer exists; too big lets friction creep
    /// and contacts sink by that much a second.
    pub tolerance: f64,
    /// The natural map (m/s) that the cheap stages go on to where they can; at most `tolerance`
    /// counts. Default 1e-10. A warm start that is within it is kept to the bit. With a wide
    /// `tolerance` it keeps resting bodies from creeping at that speed.
    pub aim: f64,
    /// The natural map (m/s) that a warm start which is nearly the answer is polished to, by Newton steps
    /// and without sweeps. Default 1e-14; 0: never. Kept impulses that are off by some momentum give bodies
    /// at rest that momentum in every step anew, so that they drift until they have to be solved
    /// again: too big, and that is every few steps. Too small only costs a factorisation that
    /// rounding makes useless.
    pub polish: f64,
    /// Sweeps of single-contact solves before the first factorisation. Default 30. Too few: Newton
    /// starts far away; too many: easy problems pay for them.
    pub first_sweeps: u32,
    /// Whether a cold start (no impulse yet on any contact with friction) begins with the answer of the associated
    /// model. Default true. Coulomb's law has several motions for a body that is pressed between fingers: in one it
    /// sticks, in others it slides and falls. The associated model has one motion, and where no contact that pushes
    /// slips in it, it is one of Coulomb's law too and is taken. Elsewhere the other stages begin as without it.
    /// It takes up to 15 factorisations and a quarter of `max_work`, on top of that.
    pub stick_first: bool,
    /// Factorisations of the primal-dual stage. Default 25.
    pub primal_dual_steps: u32,
    /// Factorisations of interior points, where the first 6 of the primal-dual stage (15 up to 64 contacts, or from a
    /// cold start) do not get there, there are more than 20 contacts, and `max_work` is enough for 40 in all. Default 60; 0: none, and the
    /// primal-dual stage gets all of its steps at once. Too few: the path ends far from the answer; too many cost only
    /// what is left where the path does not end.
    pub interior_steps: u32,
    /// Factorisations of the augmented Lagrangian stage; the Haslinger stage gets twice as many and
    /// each round doubles them. Default 80.
    pub augmented_steps: u32,
    /// Rounds of the two slow stages. Default 3. 0 ends after the primal-dual stage.
    pub rounds: u32,
    /// Multiply-adds that the Newton steps of one solve may cost together. Default 1e12 (minutes):
    /// no limit in practice. A world in real time sets less; what is not solved by then is reported
    /// as not converged.
    pub max_work: u64,
    /// Multiply-adds of the largest factorisation; the systems of larger islands are solved by a
    /// Krylov method instead. Default 2e8 (some 30 ms). 0: always Krylov; `u64::MAX`: never. Too
    /// small: Krylov methods take hundreds of steps where much sticks, and a factorisation would
    /// have cost less. Too big: the memory and time of a factorisation grow with the square of the
    /// number of bodies in a pile.
    pub krylov_work: u64,
    /// Steps that a Krylov solve may take. Default 1000. Too few: directions stay inexact, and more
    /// of them are needed; too many: an ill-conditioned system eats the time of all.
    pub krylov_iterations: u32,
}

impl NewtonSettings {
    /// The natural map (m/s) at which nothing more is done.
    pub(crate) fn first_aim(&self) -> f64 {
        self.aim.min(self.tolerance)
    }

    /// The natural map (m/s) up to which a warm start is kept, where the bodies moved with at most `speed`
    /// (m/s) before. Impulses that have just stopped them would set them off to the other side, as fast
    /// as they were.
    pub(crate) fn keep(&self, speed: f64) -> f64 {
        let aim = self.first_aim();
        if self.polish > 0.0 {
            (GROWTH * speed).clamp(FRESH * aim, aim)
        } else {
            aim
        }
    }

    pub(crate) fn krylov(&self) -> KrylovLimits {
        KrylovLimits {
            work: self.krylov_work,
            iterations: self.krylov_iterations,
            reduction: KrylovLimits::EXACT,
        }
    }
}

impl Default for NewtonSettings {
    fn default() -> Self {
        Self {
            tolerance: 1e-10,
            aim: 1e-10,
            polish: 1e-14,
            first_sweeps: 30,
            stick_first: true,
            primal_dual_steps: 25,
            interior_steps: 60,
            augmented_steps: 80,
            rounds: 3,
            max_work: 1_000_000_000_000,
            krylov_work: 200_000_000,
            krylov_iterations: 1000,
        }
    }
}
