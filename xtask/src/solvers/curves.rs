//! The residual against the work: what one more sweep or factorisation buys.
//!
//! A point is a solve from a cold start with that budget. Nothing in it is a time, so that the plot
//! is the same on every machine.

use super::Problem;
use super::plot::{Axis, Panel, Scale, Series, page};
use moreau::NewtonSolver;
use moreau::solve::{SolveLimits, solve_file};

/// Plotted where nothing else is asked for: easy, long, and of mass ratio 1000.
pub(crate) const PROBLEMS: [&str; 3] = ["pyramid4", "stack10_r1_mu0.5", "stack2_r1000"];

const MOST_SWEEPS: u32 = 10_000;
const MOST_FACTORIZATIONS: u64 = 100;
/// Residuals are cut off below, m/s.
const LEAST: f64 = 1e-14;
const LARGEST: f64 = 10.0;

/// A row of panels for each problem; `None` where no problem has such a name and bodies.
pub(crate) fn plot(problems: &[Problem], names: &[String]) -> Option<String> {
    let chosen = names.iter().filter_map(|name| {
        let mut found = problems.iter().filter(|p| p.file.problem().is_some());
        found.find(|p| p.name.contains(name.as_str()))
    });
    let rows: Vec<Vec<Panel>> = chosen.map(|p| vec![sweeping(p), factoring(p)]).collect();
    (!rows.is_empty()).then(|| page("Residual against work", &rows))
}

fn panel(problem: &Problem, x: Axis, series: Vec<Series>) -> Panel {
    let contacts = problem.file.contacts();
    let number = |c: char| c.is_ascii_digit() || c == '_';
    Panel {
        title: format!(
            "{}, {contacts} contacts",
            problem.name.trim_start_matches(number)
        ),
        x,
        y: ("natural map, m/s".into(), Scale::Log, (LEAST, LARGEST)),
        series,
    }
}

/// The solvers that sweep, against sweeps.
fn sweeping(problem: &Problem) -> Panel {
    let series = ["block", "sweeps", "simd", "pgs"].map(|solver| {
        let mut points = Vec::new();
        let mut budget = 1;
        while budget <= MOST_SWEEPS {
            let limits = SolveLimits {
                max_sweeps: budget,
                tolerance: LEAST,
                ..SolveLimits::default()
            };
            if let Ok(answer) = solve_file(&problem.file, solver, &limits) {
                points.push((f64::from(budget), answer.residual));
                if answer.report.sweeps < budget {
                    break;
                }
            }
            budget += (budget / 4).max(1);
        }
        Series {
            name: solver.to_owned(),
            points,
        }
    });
    let ends = (1.0, f64::from(MOST_SWEEPS));
    panel(problem, ("sweeps".into(), Scale::Log, ends), series.into())
}

/// Newton, against factorisations.
fn factoring(problem: &Problem) -> Panel {
    let mut points = Vec::new();
    let work = problem
        .file
        .problem()
        .map_or(0, |p| NewtonSolver::default().work_estimate(p));
    for budget in 0..=MOST_FACTORIZATIONS {
        let limits = SolveLimits {
            max_work: budget * work,
            tolerance: LEAST,
            ..SolveLimits::default()
        };
        if let Ok(answer) = solve_file(&problem.file, "newton", &limits) {
            points.push((budget as f64, answer.residual));
            if u64::from(answer.report.factorizations) < budget {
                break;
            }
        }
    }
    let series = vec![Series {
        name: "newton".into(),
        points,
    }];
    let ends = (0.0, MOST_FACTORIZATIONS as f64);
    panel(
        problem,
        ("factorisations".into(), Scale::Linear, ends),
        series,
    )
}
