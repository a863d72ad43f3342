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
use moreau_solver::{
    SolveError, SolveReport, StopReason, WorstResidual, natural_map, row_natural_map, tolerance_at,
};

/// The report of an answer, for which its solver gave `said`; fills `velocities`.
pub(crate) fn judge(
    problem: &ContactProblem,
    impulses: &Impulses,
    velocities: &mut Vec<Velocity>,
    said: SolveReport,
    tolerance: f64,
) -> Result<SolveReport, SolveError> {
    for (what, count, expected) in [
        ("contact", impulses.contacts.len(), problem.contacts().len()),
        ("row", impulses.rows.len(), problem.rows().len()),
    ] {
        if count != expected {
            return Err(SolveError::Length {
                what,
                count,
                expected,
            });
        }
    }
    problem.velocities_into(impulses, velocities);
    let worst = worst(problem, impulses, velocities);
    let squares = problem.bodies().iter();
    let squares = squares.map(|b| b.velocity.linear.length_squared());
    let fastest = squares.fold(0.0, f64::max).sqrt();
    let stop = if worst.value <= tolerance_at(tolerance, fastest) {
        StopReason::Converged
    } else if said.stop == StopReason::Converged {
        StopReason::Stalled
    } else {
        said.stop
    };
    Ok(SolveReport {
        factorizations: said.factorizations,
        ..worst.report(said.sweeps, stop)
    })
}

fn worst(problem: &ContactProblem, impulses: &Impulses, v: &[Velocity]) -> WorstResidual {
    let mut worst = WorstResidual::default();
    for (i, (c, l)) in problem
        .contacts()
        .iter()
        .zip(&impulses.contacts)
        .enumerate()
    {
        let s = problem.contact_velocity(c, v) + c.bias;
        let w = problem.delassus_block(c);
        let trace = w.x_axis.x + w.y_axis.y + w.z_axis.z;
        worst.include(natural_map(*l, s, c.friction, trace), Some(i));
    }
    for (r, l) in problem.rows().iter().zip(&impulses.rows) {
        let w = r.velocity(&v[r.a], &v[r.b]) + r.bias + r.regularization * l;
        worst.include(row_natural_map(*l, w, r, problem.row_diagonal(r)), None);
    }
    worst
}
