//! Contacts that have no answer.
//!
//! Walls that close in on a body from all sides, or bounces that ask it to leave each of two walls towards the other,
//! cannot all be obeyed. Solvers then push from all sides at once, and the impulses, which cancel, grow for as long as
//! they run, and so large that rounding makes up a residual. So where an impulse is beyond what a step can ask for,
//!
//! ```text
//! |l| > 1e4 · sum m · max |u_free + b|
//! ```
//!
//! (1e8 where the solve has converged; m of all bodies that move), it is given up, and sweeps from no impulses
//! take its place: each of them adds at most what takes out the velocities that there are.

use moreau_constraint::{ContactProblem, Impulses};
use moreau_math::Velocity;
use moreau_solver::{ContactSolver, SolveError, SolveReport};
use moreau_solver_pgs::{PgsSettings, PgsSolver};

/// Sweeps add up to about a thousand; what is wedged in by a hundredth of a degree asks for 6000. An answer may ask
/// for more, up to where its rounding is that of a tolerance.
const MOST: f64 = 1e4;
const MOST_OF_AN_ANSWER: f64 = 1e8;
const MOST_SWEEPS: u32 = 400;

/// Whether impulses are larger than any answer's, or no numbers.
pub(crate) fn is_beyond(problem: &ContactProblem, impulses: &Impulses, converged: bool) -> bool {
    // The largest, or what is no number; squared.
    let mut largest = 0.0_f64;
    for l in &impulses.contacts {
        let size = l.length_squared();
        if !(size <= largest) {
            largest = size;
        }
    }
    if largest == 0.0 {
        return false;
    }
    let bodies = problem.bodies();
    let moving = bodies.iter().filter(|b| b.inverse_mass > 0.0);
    let mass: f64 = moving.map(|b| 1.0 / b.inverse_mass).sum();
    let most = if converged { MOST_OF_AN_ANSWER } else { MOST };
    // One contact or row that is fast enough will do, and nearly all are.
    let least = largest.sqrt() / (most * mass);
    let mut contacts = problem.contacts().iter();
    let mut rows = problem.rows().iter();
    let allowed = contacts.any(|c| (problem.free_velocity(c) + c.bias).length() >= least)
        || rows.any(|r| {
            let (a, b) = (&bodies[r.a].velocity, &bodies[r.b].velocity);
            (r.velocity(a, b) + r.bias).abs() >= least
        });
    !allowed
}

/// Sweeps from no impulses.
pub(crate) fn sweep(
    settings: &PgsSettings,
    problem: &ContactProblem,
    impulses: &mut Impulses,
    velocities: &mut Vec<Velocity>,
) -> Result<SolveReport, SolveError> {
    *impulses = problem.cold_start();
    let settings = PgsSettings {
        max_sweeps: settings.max_sweeps.min(MOST_SWEEPS),
        ..*settings
    };
    PgsSolver::new(settings).solve(problem, impulses, velocities)
}
