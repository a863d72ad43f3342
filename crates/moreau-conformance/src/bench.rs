//! One solve, looked at from all sides: whether the answer is an answer, and the report honest.

use crate::scale::rounding_floor;
use crate::{Options, Outcome};
use moreau_constraint::{ContactProblem, Impulses};
use moreau_math::Velocity;
use moreau_solver::{
    Certificate, ContactSolver, SolveError, SolveReport, StopReason, certify, natural_map,
};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How a case ended before its end, or what it came to.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) outcome: Outcome,
    pub(crate) expected: String,
    pub(crate) found: String,
    pub(crate) tolerance: f64,
}

impl Finding {
    pub(crate) fn new(
        outcome: Outcome,
        expected: impl Into<String>,
        found: impl Into<String>,
        tolerance: f64,
    ) -> Self {
        Self {
            outcome,
            expected: expected.into(),
            found: found.into(),
            tolerance,
        }
    }

    pub(crate) fn failed(
        expected: impl Into<String>,
        found: impl Into<String>,
        tolerance: f64,
    ) -> Self {
        Self::new(Outcome::Failed, expected, found, tolerance)
    }
}

/// What a solver handed back, and its certificate.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) impulses: Impulses,
    pub(crate) velocities: Vec<Velocity>,
    pub(crate) report: SolveReport,
    pub(crate) certificate: Certificate,
    /// The residual that counts as solved: the one asked for, or rounding where that is larger.
    pub(crate) tolerance: f64,
}

/// A solver on trial in one case.
pub(crate) struct Bench<'a> {
    pub(crate) solver: &'a mut dyn ContactSolver,
    pub(crate) options: &'a Options,
    pub(crate) essential: bool,
    /// The report and the certificate's residual of the first solve.
    pub(crate) first: Option<(SolveReport, f64)>,
}

impl Bench<'_> {
    /// Solves from `start` and asks for a solution.
    pub(crate) fn solve(
        &mut self,
        problem: &ContactProblem,
        start: &Impulses,
    ) -> Result<Answer, Finding> {
        let answer = self.attempt(problem, start)?;
        let residual = answer.certificate.natural_map;
        if residual <= answer.tolerance {
            return Ok(answer);
        }
        let stop = answer.report.stop;
        if stop == StopReason::NoSolution {
            return Err(Finding::failed(
                "a solution: there is one",
                "no solution",
                answer.tolerance,
            ));
        }
        let mut start = start.clone();
        start.sanitize(problem.contacts().len(), problem.rows().len());
        let before = certify(problem, &start).map_or(f64::NAN, |c| c.natural_map);
        if residual > before + answer.tolerance {
            return Err(Finding::failed(
                format!("an answer no worse than the start, whose natural map is {before:.3e} m/s"),
                format!("{stop} at {residual:.3e} m/s"),
                answer.tolerance,
            ));
        }
        Err(self.not_converged(&answer))
    }

    /// The finding of an answer that is honestly not converged.
    pub(crate) fn not_converged(&self, answer: &Answer) -> Finding {
        let outcome = if self.essential || self.options.strict {
            Outcome::Failed
        } else {
            Outcome::Limited
        };
        let (stop, residual) = (answer.report.stop, answer.certificate.natural_map);
        let found = format!("{stop} at {residual:.3e} m/s");
        Finding::new(outcome, "a converged answer", found, answer.tolerance)
    }

    /// Solves from `start` and checks that what comes back is what it says it is, solved or not.
    pub(crate) fn attempt(
        &mut self,
        problem: &ContactProblem,
        start: &Impulses,
    ) -> Result<Answer, Finding> {
        let (impulses, velocities, report) = match call(self.solver, problem, start)? {
            Ok(answer) => answer,
            Err(error @ SolveError::Unsupported { .. }) => {
                let found = error.to_string();
                return Err(Finding::new(Outcome::Skipped, "an answer", found, 0.0));
            }
            Err(error) => return Err(Finding::failed("an answer", error.to_string(), 0.0)),
        };
        shape(problem, &impulses, &velocities)?;
        let certificate = Certificate::of(problem, &impulses, &velocities)
            .map_err(|error| Finding::failed("an answer that fits", error.to_string(), 0.0))?;
        let floor = rounding_floor(problem, &impulses);
        let answer = Answer {
            impulses,
            velocities,
            report,
            certificate,
            tolerance: floor.max(self.options.tolerance),
        };
        if self.first.is_none() {
            self.first = Some((report, answer.certificate.natural_map));
        }
        consistent(problem, &answer, floor)?;
        honest(problem, &answer, floor)?;
        Ok(answer)
    }
}

type Solved = Result<(Impulses, Vec<Velocity>, SolveReport), SolveError>;

/// Calls the solver; a panic is a finding.
pub(crate) fn call(
    solver: &mut dyn ContactSolver,
    problem: &ContactProblem,
    start: &Impulses,
) -> Result<Solved, Finding> {
    let mut impulses = start.clone();
    // What is left in the buffer from before must not matter.
    let mut velocities = vec![Velocity::ZERO; 3];
    let result = catch_unwind(AssertUnwindSafe(|| {
        solver.solve(problem, &mut impulses, &mut velocities)
    }));
    match result {
        Ok(result) => Ok(result.map(|report| (impulses, velocities, report))),
        Err(payload) => {
            let text = payload
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string))
                .unwrap_or_default();
            Err(Finding::failed("no panic", format!("a panic: {text}"), 0.0))
        }
    }
}

/// Right lengths, finite numbers.
pub(crate) fn shape(
    problem: &ContactProblem,
    impulses: &Impulses,
    velocities: &[Velocity],
) -> Result<(), Finding> {
    for (what, count, expected) in [
        (
            "contact impulses",
            impulses.contacts.len(),
            problem.contacts().len(),
        ),
        ("row impulses", impulses.rows.len(), problem.rows().len()),
        ("velocities", velocities.len(), problem.bodies().len()),
    ] {
        if count != expected {
            return Err(Finding::failed(
                format!("{expected} {what}"),
                count.to_string(),
                0.0,
            ));
        }
    }
    let not_finite = |what: &str, index: usize, value: String| {
        Err(Finding::failed(
            "finite numbers",
            format!("{what} {index} is {value}"),
            0.0,
        ))
    };
    if let Some(i) = impulses.contacts.iter().position(|l| !l.is_finite()) {
        return not_finite("contact impulse", i, impulses.contacts[i].to_string());
    }
    if let Some(i) = impulses.rows.iter().position(|l| !l.is_finite()) {
        return not_finite("row impulse", i, impulses.rows[i].to_string());
    }
    if let Some(i) = velocities.iter().position(|v| !v.is_finite()) {
        return not_finite("velocity", i, format!("{:?}", velocities[i]));
    }
    Ok(())
}

/// The velocities follow from the impulses, and what impulses do not move keeps its velocity.
fn consistent(problem: &ContactProblem, answer: &Answer, floor: f64) -> Result<(), Finding> {
    for (i, (body, v)) in problem.bodies().iter().zip(&answer.velocities).enumerate() {
        if body.is_immovable() && *v != body.velocity {
            return Err(Finding::failed(
                format!("immovable body {i} at {:?}", body.velocity),
                format!("{v:?}"),
                0.0,
            ));
        }
    }
    let balance = answer.certificate.momentum_balance;
    if !(balance <= floor) && floor.is_finite() {
        return Err(Finding::failed(
            "velocities that follow from the impulses, to 0 m/s",
            format!("{balance:.3e} m/s off"),
            floor,
        ));
    }
    Ok(())
}

/// The report says what the certificate says.
fn honest(problem: &ContactProblem, answer: &Answer, floor: f64) -> Result<(), Finding> {
    let (report, right) = (&answer.report, answer.certificate.natural_map);
    let slack = 1e-6 * right + floor;
    if report.converged() && !(right <= answer.tolerance) {
        return Err(Finding::failed(
            "a natural map of 0 m/s where the report says converged",
            format!("{right:.3e} m/s"),
            answer.tolerance,
        ));
    }
    // Where sizes overflow nothing can be said about digits.
    if !slack.is_finite() {
        return Ok(());
    }
    if !((report.residual - right).abs() <= slack) {
        return Err(Finding::failed(
            format!("the reported residual to be {right:.6e} m/s"),
            format!("{:.6e} m/s", report.residual),
            slack,
        ));
    }
    let maps = contact_maps(problem, answer);
    let largest = maps.iter().fold(0.0_f64, |m, x| m.max(*x));
    let named = match report.worst_contact {
        Some(i) => maps.get(i).copied().ok_or(i),
        // A row is worse, or no contact has any error.
        None => Ok(if answer.certificate.worst_row.is_some() {
            right
        } else {
            0.0
        }),
    };
    let found = match named {
        Err(i) => format!("contact {i} of {}", maps.len()),
        Ok(map) if map + slack >= largest.max(right) => return Ok(()),
        Ok(map) => format!("one of {map:.3e} m/s"),
    };
    Err(Finding::failed(
        format!("the reported worst contact to have the natural map {right:.3e} m/s"),
        found,
        slack,
    ))
}

/// The natural map of every contact.
fn contact_maps(problem: &ContactProblem, answer: &Answer) -> Vec<f64> {
    let pairs = problem.contacts().iter().zip(&answer.impulses.contacts);
    pairs
        .map(|(c, l)| {
            let s = problem.contact_velocity(c, &answer.velocities) + c.bias;
            let w = problem.delassus_block(c);
            natural_map(*l, s, c.friction, w.x_axis.x + w.y_axis.y + w.z_axis.z)
        })
        .collect()
}
