//! The kit of `moreau-conformance`.

use moreau_conformance::{Outcome, run};
use moreau_solver_pgs::PgsSolver;

#[test]
fn the_solver_conforms() {
    let report = run(&mut PgsSolver::default());
    println!("{report}");
    assert!(report.passed(), "{report}");
    assert_eq!(report.count(Outcome::Skipped), 0);
    // Sweeps converge linearly: bodies on bodies are what the default budget does not always do.
    for case in report.with_outcome(Outcome::Limited) {
        let hard = ["stack", "boxes", "wedge"];
        assert!(
            hard.iter().any(|kind| case.name.contains(kind)),
            "{}",
            case.name
        );
    }
    assert!(report.count(Outcome::Limited) < 25, "{report}");
}
