//! The kit of `moreau-conformance`, strictly: this solver claims to solve everything.

use moreau_conformance::{Options, run_with};
use moreau_solver_newton::NewtonSolver;

#[test]
fn the_solver_conforms() {
    let options = Options {
        strict: true,
        ..Options::default()
    };
    let report = run_with(&mut NewtonSolver::default(), &options);
    println!("{report}");
    assert!(report.passed(), "{report}");
}
