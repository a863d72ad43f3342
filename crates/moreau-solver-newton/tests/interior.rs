//! Interior points, on an island of the showcase that collapses: 23 dominoes, 146 contacts that slide, stick and part.

use moreau_constraint::{ContactProblem, Impulses};
use moreau_solver::certify;
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
