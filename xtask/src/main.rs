//! Automation of the workspace: `cargo xtask help`.

mod bench;
mod manifolds;
mod snapshot;
mod solvers;
mod tidy;

use clap::{Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// What to run when.
const EXAMPLES: &str = "\
Examples:
  cargo xtask tidy                                   before a commit
  cargo xtask snapshot check                         does every scene give what it gave?
  cargo xtask snapshot review                        old and new figures of what changed
  cargo xtask snapshot diff pyramid_20               the first bit that differs, and where
  cargo xtask snapshot accept pyramid_20 --reason …  the new answer is the better one
  cargo xtask solvers                                which solver is fast, and where
  cargo xtask bench --peers                          how fast it is, and who is faster
  cargo xtask manifolds                              the pictures of docs/collision.md

All that must hold before a change lands: .ci/run";

/// Automation of the moreau workspace.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Checks what the compiler cannot: layers, determinism, docs, white space
    Tidy,
    /// Compares what every scene gives with what it gave
    #[command(subcommand)]
    Snapshot(snapshot::Command),
    /// Compares all solvers on problem files: a table and plots
    Solvers(solvers::Arguments),
    /// Measures all scenes, piles of growing size, threads and other engines; writes docs/benchmarks.md
    Bench(bench::Arguments),
    /// Draws the contact manifolds of docs/collision.md
    Manifolds(manifolds::Arguments),
}

/// The folder of the workspace.
fn root() -> PathBuf {
    // Cargo names it to what it runs; the place of the build counts for a program run alone.
    let own = std::env::var("CARGO_MANIFEST_DIR").unwrap_or(env!("CARGO_MANIFEST_DIR").to_owned());
    let own = Path::new(&own);
    own.parent().unwrap_or(own).to_owned()
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Tidy => run_tidy(&root()),
        Command::Snapshot(command) => snapshot::run(&root(), command),
        Command::Solvers(arguments) => solvers::run(&root(), &arguments),
        Command::Bench(arguments) => bench::run(&root(), &arguments),
        Command::Manifolds(arguments) => manifolds::run(&root(), &arguments),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

/// Whether all is well.
fn run_tidy(root: &Path) -> Result<bool, String> {
    let start = Instant::now();
    let report = tidy::check(root)?;
    for problem in &report.problems {
        println!("{problem}");
    }
    let seconds = start.elapsed().as_secs_f64();
    let count = report.problems.len();
    let what = match count {
        0 => "tidy".to_owned(),
        1 => "1 problem".to_owned(),
        _ => format!("{count} problems"),
    };
    println!("{what} in {} files ({seconds:.2} s)", report.files);
    Ok(count == 0)
}
