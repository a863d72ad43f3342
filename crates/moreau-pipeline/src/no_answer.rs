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
    let bodies = problem.bodies().iter();
    let moving = bodies.filter(|b| b.inverse_mass > 0.0);
    let mass: f64 = moving.map(|b| 1.0 / b.inverse_mass).sum();
    let contacts = problem.contacts().iter();
    let contacts = contacts.map(|c| (problem.free_velocity(c) + c.bias).length());
    let rows = problem.rows().iter().map(|r| {
        let bodies = problem.bodies();
        (r.velocity(&bodies[r.a].velocity, &bodies[r.b].velocity) + r.bias).abs()
    });
    let speed = contacts.chain(rows).fold(0.0, f64::max);
    let most = if converged { MOST_OF_AN_ANSWER } else { MOST };
    let most = most * mass * speed;
    let sizes = impulses.contacts.iter().map(|l| l.length());
    // Also where a number is none.
    sizes.into_iter().any(|size| !(size <= most))
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
