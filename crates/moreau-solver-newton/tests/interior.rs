//! Interior points, on an island of the showcase that collapses: 23 dominoes, 146 contacts that slide, stick and part;
//! and five balls in a groove, 13 contacts, that go without them.

use moreau_constraint::{ContactProblem, Impulses};
use moreau_solver::files::ProblemFile;
use moreau_solver::{ContactSolver, certify};
use moreau_solver_newton::{NewtonSettings, NewtonSolver, NewtonStats};

/// Factorisations that the problem takes from its warm start; it must be solved.
fn solve(interior_steps: u32) -> (u32, NewtonStats) {
    let text = include_str!("data/falling_dominoes.json");
    let (problem, mut impulses): (ContactProblem, Impulses) = serde_json::from_str(text).unwrap();
    let mut solver = NewtonSolver::new(NewtonSettings {
        tolerance: 1e-8,
        interior_steps,
        ..NewtonSettings::default()
    });
    let mut velocities = Vec::new();
    let report = solver
        .solve_from(&problem, &mut impulses, &mut velocities, f64::INFINITY)
        .unwrap();
    assert!(report.converged(), "{report:?}");
    let certificate = certify(&problem, &impulses).unwrap();
    assert!(certificate.natural_map <= 1e-8, "{certificate:?}");
    (report.factorizations, solver.stats())
}

#[test]
fn they_solve_a_collapse_in_half_of_the_factorisations() {
    let (with, stats) = solve(NewtonSettings::default().interior_steps);
    assert!(stats.interior > 0 && stats.interior < with);
    let (without, stats) = solve(0);
    assert_eq!(stats.interior, 0);
    assert!(2 * with < without, "{with} {without}");
}

/// Two answers solve this problem, 0.06 m/s apart; interior points end at the other one.
#[test]
fn few_contacts_go_without_them_to_the_reference() {
    let file = ProblemFile::parse(include_str!("data/wedge80.json")).unwrap();
    let (problem, reference) = (file.problem().unwrap(), file.reference().unwrap());
    let tolerance = reference.tolerance();
    let mut solver = NewtonSolver::new(NewtonSettings {
        tolerance,
        ..NewtonSettings::default()
    });
    let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
    let report = solver
        .solve(problem, &mut impulses, &mut velocities)
        .unwrap();
    assert!(report.converged(), "{report:?}");
    assert!(report.factorizations > 0 && solver.stats().interior == 0);
    for (v, want) in velocities[1..].iter().zip(&reference.v_plus) {
        let got = [v.linear.to_array(), v.angular.to_array()].concat();
        for (got, want) in got.iter().zip(want) {
            assert!((got - want).abs() <= 1e3 * tolerance, "{got} {want}");
        }
    }
}
