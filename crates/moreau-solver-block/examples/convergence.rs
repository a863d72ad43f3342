//! Sweeps and time of block sweeps, with and without Anderson acceleration, over a folder of problem
//! files, one line a problem: `made` of the large sets where they are at hand (`MOREAU_PROBLEMS`, or
//! ../shared/problems beside the workspace), else fixtures/problems.

#[path = "../tests/support/mod.rs"]
mod support;

use moreau_constraint::ContactProblem;
use moreau_math::libm;
use moreau_solver::ContactSolver;
use moreau_solver::files::ReferenceProblem;
use moreau_solver_block::{BlockSettings, BlockSolver};
use moreau_solver_pgs::{PgsSettings, PgsSolver};
use std::path::Path;
use std::time::Instant;

const BUDGET: u32 = 20_000;
const NAMES: [&str; 4] = ["row-wise", "block", "block, alternating", "block, Anderson"];

struct Outcome {
    sweeps: u32,
    converged: bool,
    residual: f64,
    /// ns a contact and sweep.
    cost: f64,
}

fn run(solver: &mut dyn ContactSolver, problem: &ContactProblem) -> Outcome {
    let mut velocities = Vec::new();
    // Once to get the memory, once to measure.
    solver
        .solve(problem, &mut problem.cold_start(), &mut velocities)
        .expect("a problem that solvers take");
    let mut impulses = problem.cold_start();
    let start = Instant::now();
    let report = solver
        .solve(problem, &mut impulses, &mut velocities)
        .expect("a problem that solvers take");
    let elapsed = start.elapsed().as_secs_f64();
    let visits = f64::from(report.sweeps.max(1)) * problem.contacts().len() as f64;
    Outcome {
        sweeps: report.sweeps,
        converged: report.converged(),
        residual: report.residual,
        cost: elapsed * 1e9 / visits,
    }
}

/// The problems of the large set, else those of the workspace.
fn problems() -> Result<Vec<ReferenceProblem>, String> {
    let made = support::problems().join("made");
    let read = |folder: &Path| support::read_folder(folder).filter(|files| !files.is_empty());
    if let Some(files) = read(&made) {
        return Ok(files);
    }
    let made = made.display();
    eprintln!("no problems in {made} (set MOREAU_PROBLEMS): only fixtures/problems");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/problems");
    read(&fixtures).ok_or_else(|| format!("no problems in {made}, nor in {}", fixtures.display()))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files = problems()?;
    println!(
        "sweeps to the file's tolerance (or the residual after {BUDGET}), ns a contact and sweep"
    );
    print!("{:32} {:>8}", "", "contacts");
    NAMES.iter().for_each(|name| print!(" {name:>18}"));
    println!("  combined: kept, taken back");
    let (mut solved, mut logs) = ([0; 4], [0.0; 4]);
    for file in &files {
        let problem = file.problem.clone();
        let tolerance = file.reference.tolerance();
        let block = |alternate, anderson_window| {
            BlockSolver::new(BlockSettings {
                max_sweeps: BUDGET,
                tolerance,
                alternate,
                anderson_window,
                ..BlockSettings::default()
            })
        };
        let mut pgs = PgsSolver::new(PgsSettings {
            max_sweeps: BUDGET,
            tolerance,
            ..PgsSettings::default()
        });
        let mut accelerated = block(false, 10);
        let outcomes = [
            run(&mut pgs, &problem),
            run(&mut block(false, 0), &problem),
            run(&mut block(true, 0), &problem),
            run(&mut accelerated, &problem),
        ];
        print!("{:32} {:>8}", file.name, problem.contacts().len());
        for (k, outcome) in outcomes.iter().enumerate() {
            if outcome.converged {
                solved[k] += 1;
                print!(" {:>10} {:>5.0}ns", outcome.sweeps, outcome.cost);
            } else {
                print!(" {:>10.0e} {:>5.0}ns", outcome.residual, outcome.cost);
            }
            logs[k] += libm::log(f64::from(outcome.sweeps.max(1)));
        }
        let stats = accelerated.stats();
        println!("  {}, {}", stats.accepted, stats.rejected);
    }
    for (k, name) in NAMES.iter().enumerate() {
        let mean = libm::exp(logs[k] / files.len() as f64);
        println!(
            "{name}: {} of {} solved, geometric mean of sweeps {mean:.0}",
            solved[k],
            files.len()
        );
    }
    Ok(())
}
