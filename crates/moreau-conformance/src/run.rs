//! Runs cases.

use crate::bench::{Answer, Bench, Finding, call, shape};
use crate::draft;
use crate::{Case, CaseReport, Options, Outcome, Report, Transform, Trial, cases};
use moreau_constraint::{ContactProblem, Impulses};
use moreau_math::Velocity;
use moreau_solver::{Certificate, ContactSolver, SolveError, SolveReport};

/// Runs all cases with the default [`Options`].
pub fn run(solver: &mut dyn ContactSolver) -> Report {
    run_with(solver, &Options::default())
}

/// Runs the cases that `options` asks for.
pub fn run_with(solver: &mut dyn ContactSolver, options: &Options) -> Report {
    let chosen = cases().into_iter();
    let chosen: Vec<Case> = chosen
        .filter(|case| case.name.contains(&options.filter))
        .collect();
    Report {
        solver: solver.name().to_owned(),
        tolerance: options.tolerance,
        cases: chosen
            .iter()
            .map(|case| run_case(solver, case, options))
            .collect(),
    }
}

/// Runs one case, which may be one of your own.
pub fn run_case(solver: &mut dyn ContactSolver, case: &Case, options: &Options) -> CaseReport {
    let mut bench = Bench {
        solver,
        options,
        essential: case.essential,
        first: None,
    };
    let finding = match trial(&mut bench, case) {
        Ok(finding) | Err(finding) => finding,
    };
    let (report, residual) = bench.first.unwrap_or((SolveReport::empty(), f64::NAN));
    CaseReport {
        name: case.name.clone(),
        group: case.group,
        essential: case.essential,
        outcome: finding.outcome,
        expected: finding.expected,
        found: finding.found,
        tolerance: finding.tolerance,
        residual: residual.is_finite().then_some(residual),
        sweeps: report.sweeps,
        factorizations: report.factorizations,
    }
}

fn trial(bench: &mut Bench<'_>, case: &Case) -> Result<Finding, Finding> {
    let problem = &case.problem;
    match &case.trial {
        Trial::Residual => {
            let answer = bench.solve(problem, &problem.cold_start())?;
            Ok(solved(&answer))
        }
        Trial::Velocities {
            want,
            amplification,
        } => {
            let answer = bench.solve(problem, &problem.cold_start())?;
            let tolerance = amplification * answer.tolerance;
            velocities(&answer.velocities, want, tolerance, 1.0)
        }
        Trial::Same { by, amplification } => same(bench, problem, by, *amplification),
        Trial::WarmStart => warm_start(bench, problem),
        Trial::Starts(starts) => {
            let mut last = None;
            for start in starts {
                last = Some(solved(&bench.solve(problem, start)?));
            }
            last.ok_or_else(|| Finding::failed("a start", "none", 0.0))
        }
        Trial::Repeat => repeat(bench, problem),
        Trial::Unsolvable => {
            let answer = bench.attempt(problem, &problem.cold_start())?;
            // Impulses without end have rounding without end: it excuses nothing here.
            let tolerance = bench.options.tolerance;
            let residual = answer.certificate.natural_map;
            let found = format!("{} at {residual:.3e} m/s", answer.report.stop);
            let honest = !answer.report.converged() && residual > tolerance;
            let outcome = if honest {
                Outcome::Passed
            } else {
                Outcome::Failed
            };
            Ok(Finding::new(
                outcome,
                "an admission that nothing solves it",
                found,
                tolerance,
            ))
        }
        Trial::Finite => finite(bench, problem),
    }
}

fn solved(answer: &Answer) -> Finding {
    let found = format!("{:.3e} m/s", answer.certificate.natural_map);
    Finding::new(
        Outcome::Passed,
        "a natural map of 0 m/s",
        found,
        answer.tolerance,
    )
}

/// Compares velocities body by body, angular ones at the length `reach` (m).
fn velocities(
    got: &[Velocity],
    want: &[Velocity],
    tolerance: f64,
    reach: f64,
) -> Result<Finding, Finding> {
    if got.len() != want.len() {
        return Err(Finding::failed(
            format!("{} bodies", want.len()),
            got.len().to_string(),
            0.0,
        ));
    }
    let mut worst = (0.0, 0);
    for (i, (got, want)) in got.iter().zip(want).enumerate() {
        let linear = (got.linear - want.linear).length();
        let angular = (got.angular - want.angular).length() * reach;
        let distance = linear.max(angular);
        if distance > worst.0 || linear.is_nan() || angular.is_nan() {
            worst = (distance, i);
        }
    }
    let describe = |v: &Velocity| {
        format!(
            "v ({:?}), w ({:?})",
            v.linear.to_array(),
            v.angular.to_array()
        )
    };
    let Some((got, want)) = got.get(worst.1).zip(want.get(worst.1)) else {
        return Ok(Finding::new(
            Outcome::Passed,
            "no bodies",
            "none",
            tolerance,
        ));
    };
    let outcome = if worst.0 <= tolerance {
        Outcome::Passed
    } else {
        Outcome::Failed
    };
    let expected = format!("body {} at {}", worst.1, describe(want));
    Ok(Finding::new(outcome, expected, describe(got), tolerance))
}

fn same(
    bench: &mut Bench<'_>,
    problem: &ContactProblem,
    by: &Transform,
    amplification: f64,
) -> Result<Finding, Finding> {
    let told = by.apply(problem).map_err(|error| {
        Finding::failed("a problem that can be told so", error.to_string(), 0.0)
    })?;
    let base = bench.solve(problem, &problem.cold_start())?;
    let answer = bench.solve(&told, &told.cold_start())?;
    let tolerance = amplification * (answer.tolerance + base.tolerance);
    velocities(
        &answer.velocities,
        &by.velocities(&base.velocities),
        tolerance,
        by.reach(),
    )
}

fn warm_start(bench: &mut Bench<'_>, problem: &ContactProblem) -> Result<Finding, Finding> {
    let first = bench.solve(problem, &problem.cold_start())?;
    if !first.report.converged() {
        return Err(bench.not_converged(&first));
    }
    let second = bench.solve(problem, &first.impulses)?;
    let iterations = second.report.sweeps + second.report.factorizations;
    if iterations > 1 {
        return Err(Finding::failed(
            "at most one iteration from the answer",
            format!("{iterations}"),
            0.0,
        ));
    }
    // Impulses, as the velocities (m/s) that they amount to.
    let mut moved = 0.0_f64;
    let pairs = first
        .impulses
        .contacts
        .iter()
        .zip(&second.impulses.contacts);
    for (c, (old, new)) in problem.contacts().iter().zip(pairs) {
        let w = problem.delassus_block(c);
        let trace = w.x_axis.x + w.y_axis.y + w.z_axis.z;
        moved = moved.max((*new - *old).length() * trace / 3.0);
    }
    let pairs = first.impulses.rows.iter().zip(&second.impulses.rows);
    for (r, (old, new)) in problem.rows().iter().zip(pairs) {
        moved = moved.max((new - old).abs() * problem.row_diagonal(r));
    }
    let tolerance = if iterations == 0 {
        0.0
    } else {
        10.0 * first.tolerance
    };
    let outcome = if moved <= tolerance {
        Outcome::Passed
    } else {
        Outcome::Failed
    };
    let found = format!("{iterations} iterations, moved by {moved:.3e} m/s");
    Ok(Finding::new(
        outcome,
        "the answer kept, in at most one iteration",
        found,
        tolerance,
    ))
}

/// Everything that a solve gives, in bits.
fn bits(impulses: &Impulses, velocities: &[Velocity], report: &SolveReport) -> Vec<u64> {
    let contacts = impulses.contacts.iter().flat_map(|l| l.to_array());
    let bodies = velocities
        .iter()
        .flat_map(|v| [v.linear.to_array(), v.angular.to_array()].concat());
    let numbers = contacts
        .chain(impulses.rows.iter().copied())
        .chain(bodies)
        .chain([report.residual]);
    let counts = [report.sweeps, report.factorizations].map(u64::from);
    let worst = report.worst_contact.map_or(u64::MAX, |i| i as u64);
    numbers
        .map(f64::to_bits)
        .chain(counts)
        .chain([worst, report.stop as u64])
        .collect()
}

fn repeat(bench: &mut Bench<'_>, problem: &ContactProblem) -> Result<Finding, Finding> {
    let cold = problem.cold_start();
    let first = bench.attempt(problem, &cold)?;
    let want = bits(&first.impulses, &first.velocities, &first.report);
    let compare = |solver: &mut dyn ContactSolver, how: &str| {
        let found = match call(solver, problem, &cold)? {
            Ok((l, v, r)) if bits(&l, &v, &r) == want => return Ok(()),
            Ok(_) => format!("other bits {how}"),
            Err(error) => format!("{error}, {how}"),
        };
        Err(Finding::failed("the same bits", found, 0.0))
    };
    compare(bench.solver, "on the second solve")?;
    // Memory of another problem, of another size, must not show. Whether it is solved does not matter.
    let other = draft::sliding_ball();
    let _ = call(bench.solver, &other, &other.cold_start())?;
    compare(bench.solver, "after another problem")?;
    let mut fork = bench.solver.fork();
    if fork.name() != bench.solver.name() {
        return Err(Finding::failed(bench.solver.name(), fork.name(), 0.0));
    }
    compare(fork.as_mut(), "by a fork")?;
    // The first solve was compared with the second: both may have been warm. A fork of the fork is not.
    compare(fork.fork().as_mut(), "by a fork of a fork")?;
    Ok(Finding::new(
        Outcome::Passed,
        "the same bits",
        "the same bits",
        0.0,
    ))
}

fn finite(bench: &mut Bench<'_>, problem: &ContactProblem) -> Result<Finding, Finding> {
    let pass = |found: String| {
        Ok(Finding::new(
            Outcome::Passed,
            "finite numbers or an error",
            found,
            0.0,
        ))
    };
    let (impulses, velocities, report) = match call(bench.solver, problem, &problem.cold_start())? {
        Ok(answer) => answer,
        Err(error @ SolveError::Unsupported { .. }) => {
            let found = error.to_string();
            return Err(Finding::new(Outcome::Skipped, "an answer", found, 0.0));
        }
        Err(error) => return pass(error.to_string()),
    };
    shape(problem, &impulses, &velocities)?;
    let certificate = Certificate::of(problem, &impulses, &velocities)
        .map_err(|error| Finding::failed("an answer that fits", error.to_string(), 0.0))?;
    let residual = certificate.natural_map;
    bench.first = Some((report, residual));
    let floor = crate::scale::rounding_floor(problem, &impulses);
    let enough = floor.max(bench.options.tolerance);
    if report.converged() && !(residual <= enough) {
        return Err(Finding::failed(
            "a natural map of 0 m/s where the report says converged",
            format!("{residual:.3e} m/s"),
            enough,
        ));
    }
    pass(format!("{} at {residual:.3e} m/s", report.stop))
}
