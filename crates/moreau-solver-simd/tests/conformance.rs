//! The kit of `moreau-conformance`.

use moreau_conformance::{Outcome, run};
use moreau_solver_simd::{SimdSettings, SimdSolver};

#[test]
fn the_solver_conforms() {
    for accelerate in [false, true] {
        let mut solver = SimdSolver::new(SimdSettings {
            accelerate,
            ..SimdSettings::default()
        });
        let report = run(&mut solver);
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
        let most = if accelerate { 16 } else { 25 };
        assert!(report.count(Outcome::Limited) < most, "{report}");
    }
}
