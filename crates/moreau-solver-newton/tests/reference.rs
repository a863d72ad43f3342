//! The reference problems are solved to their own tolerance, in body space.
//!
//! What counts is the natural map of `certify`, which shares no code with the solver.

mod support;

use moreau_solver::files::ProblemFile;
use moreau_solver::{ContactSolver, certify};
use moreau_solver_newton::{NewtonSettings, NewtonSolver};
use support::{fixtures, folder};

fn check(name: &str, file: &ProblemFile) {
    let (problem, reference) = (file.problem().unwrap(), file.reference().unwrap());
    let tolerance = reference.tolerance();
    let mut solver = NewtonSolver::new(NewtonSettings {
        tolerance,
        aim: tolerance,
        ..NewtonSettings::default()
    });
    let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
    let report = solver
        .solve(problem, &mut impulses, &mut velocities)
        .unwrap();
    let certificate = certify(problem, &impulses).unwrap();
    println!(
        "{name}: {:.1e} of {tolerance:.1e}, {report:?}",
        certificate.natural_map
    );
    assert!(report.converged(), "{name}: {report:?}");
    // The velocities are rounded differently there.
    assert!(
        certificate.natural_map <= 1.001 * tolerance,
        "{name}: {certificate:?}"
    );
    assert!(certificate.min_normal_impulse >= 0.0, "{name}");
    if reference.unique_in_probes {
        // The distance in v is a multiple of the residual that depends on the problem.
        for (v, want) in velocities[1..].iter().zip(&reference.v_plus) {
            let got = [v.linear.to_array(), v.angular.to_array()].concat();
            for (got, want) in got.iter().zip(want) {
                assert!(
                    (got - want).abs() <= 1e3 * tolerance,
                    "{name}: {got} {want}"
                );
            }
        }
    }
    let again = solver
        .solve(problem, &mut impulses, &mut velocities)
        .unwrap();
    assert_eq!((again.sweeps, again.factorizations), (0, 0), "{name}");
}

#[test]
fn the_fixtures_are_solved() {
    let files = fixtures();
    assert_eq!(files.len(), 6);
    for (name, file) in files {
        check(&name, &file);
    }
}

#[test]
fn every_reference_problem_is_solved() {
    let Some(files) = folder("made") else {
        return;
    };
    assert_eq!(files.len(), 43);
    for (name, file) in files {
        check(&name, &file);
    }
}
