//! The kit of `moreau-conformance`: every case without friction, exactly.

use moreau_conformance::{Options, Outcome, run_with};
use moreau_solver_active_set::{ActiveSetSettings, ActiveSetSolver};

#[test]
fn the_solver_conforms() {
    let mut solver = ActiveSetSolver::new(ActiveSetSettings {
        max_rows: 80,
        ..ActiveSetSettings::default()
    });
    let options = Options {
        strict: true,
        ..Options::default()
    };
    let report = run_with(&mut solver, &options);
    println!("{report}");
    assert!(report.passed(), "{report}");
    // Contacts with friction are not for it.
    assert!(report.count(Outcome::Passed) > 30, "{report}");
    assert_eq!(report.count(Outcome::Limited), 0, "{report}");
}
