//! Runs the conformance kit on the solver and prints the report: `cargo run -p custom-solver`.

use custom_solver::JacobiSolver;
use std::process::ExitCode;

fn main() -> ExitCode {
    let report = moreau_conformance::run(&mut JacobiSolver::default());
    println!("{report}");
    if report.passed() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
