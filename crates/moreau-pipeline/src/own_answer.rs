//! What the answer of a solver that was set by hand is worth.
//!
//! Only its impulses l count. The velocities are worked out from them, and from both the natural map of the worst
//! contact or row, in m/s:
//!
//! ```text
//! v+ = v + M^-1 J' l
//! ```
//!
//! The answer is certified where that is within the world's tolerance, and nowhere else: what the solver says of
//! itself decides nothing.

use moreau_constraint::{ContactProblem, Impulses};
use moreau_math::Velocity;
use moreau_solver::{Certificate, SolveError, SolveReport, StopReason, tolerance_at};

/// The report of an answer, for which its solver gave `said`; fills `velocities`.
pub(crate) fn judge(
    problem: &ContactProblem,
    impulses: &Impulses,
    velocities: &mut Vec<Velocity>,
    said: SolveReport,
    tolerance: f64,
) -> Result<SolveReport, SolveError> {
    problem.velocities_into(impulses, velocities);
    let certificate = Certificate::of(problem, impulses, velocities)?;
    let squares = problem.bodies().iter();
    let squares = squares.map(|b| b.velocity.linear.length_squared());
    let fastest = squares.fold(0.0, f64::max).sqrt();
    let residual = if certificate.natural_map.is_nan() {
        f64::INFINITY
    } else {
        certificate.natural_map
    };
    let stop = if residual <= tolerance_at(tolerance, fastest) {
        StopReason::Converged
    } else if said.stop == StopReason::Converged {
        StopReason::Stalled
    } else {
        said.stop
    };
    Ok(SolveReport {
        stop,
        residual,
        worst_contact: certificate.worst_contact,
        ..said
    })
}
