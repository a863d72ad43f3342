//! The kit of `moreau-conformance`.

use moreau_conformance::{Outcome, run};
use moreau_solver_block::{BlockSettings, BlockSolver, LocalStep};

#[test]
fn the_solver_conforms() {
    for anderson_window in [0, 10] {
        let mut solver = BlockSolver::new(BlockSettings {
            anderson_window,
            ..BlockSettings::default()
        });
        let report = run(&mut solver);
        println!("{report}");
        assert!(report.passed(), "{report}");
        assert_eq!(report.count(Outcome::Skipped), 0);
        // Bodies on bodies are what the default budget does not always do.
        for case in report.with_outcome(Outcome::Limited) {
            let hard = ["stack", "boxes", "wedge"];
            assert!(
                hard.iter().any(|kind| case.name.contains(kind)),
                "{}",
                case.name
            );
        }
        // Acceleration is worth a third of them.
        let most = if anderson_window == 0 { 25 } else { 16 };
        assert!(report.count(Outcome::Limited) < most, "{report}");
    }
}

#[test]
fn holding_and_resolving_does_not() {
    let mut solver = BlockSolver::new(BlockSettings {
        local_step: LocalStep::HoldAndResolve,
        ..BlockSettings::default()
    });
    let report = run(&mut solver);
    assert!(!report.passed());
    let outcome = |name: &str| report.case(name).map(|case| case.outcome);
    assert_eq!(outcome("single_rolling"), Some(Outcome::Passed), "{report}");
    assert_eq!(
        outcome("single_anisotropic_slip_mu0.5_0"),
        Some(Outcome::Failed),
        "{report}"
    );
}
