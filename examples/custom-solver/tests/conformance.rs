//! What a solver crate's test of itself looks like.

use custom_solver::JacobiSolver;
use moreau_conformance::run;

#[test]
fn the_solver_conforms() {
    let report = run(&mut JacobiSolver::default());
    assert!(report.passed(), "{report}");
}
