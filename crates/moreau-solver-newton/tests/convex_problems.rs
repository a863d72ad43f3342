//! The associated model on problem files that carry its answer.

mod support;

use moreau_constraint::Impulses;
use moreau_math::Velocity;
use moreau_solver::files::ProblemFile;
use moreau_solver::{ContactSolver, SolveReport, certify, certify_convex};
use moreau_solver_newton::ConvexSolver;
use support::{fixtures, folder};

const TOLERANCE: f64 = 1e-10;

/// Solves a file, certifies the answer and compares v+, which is unique.
fn check((name, file): &(String, ProblemFile)) -> Option<(Impulses, SolveReport)> {
    let reference = file.reference()?.convex.as_ref()?;
    let problem = file.problem()?;
    let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
    let mut solver = ConvexSolver::default();
    let report = solver
        .solve(problem, &mut impulses, &mut velocities)
        .unwrap();
    assert!(report.converged(), "{name}: {report:?}");
    let certificate = certify_convex(problem, &impulses).unwrap();
    // The solver works in body space and the certificate does not: they agree but for rounding.
    let rounding = 1e-11;
    assert!(
        (certificate.natural_map - report.residual).abs() < rounding,
        "{name}: {certificate:?} {report:?}"
    );
    assert!(certificate.natural_map < TOLERANCE + rounding, "{name}");
    let largest = impulses
        .contacts
        .iter()
        .fold(0.0, |m: f64, l| m.max(l.length()));
    assert!(certificate.max_cone_excess <= 1e-15 * largest, "{name}");
    assert_eq!(velocities[0], Velocity::ZERO, "{name}");
    // The distance in v is a multiple of the residuals of both that depends on the problem.
    let tolerance = 1e3 * (TOLERANCE + reference.residual);
    for (v, want) in velocities[1..].iter().zip(&reference.v) {
        let got = [v.linear.to_array(), v.angular.to_array()].concat();
        for (got, want) in got.iter().zip(want) {
            assert!(
                (got - want).abs() < tolerance,
                "{name}: {got} is not {want}"
            );
        }
    }
    Some((impulses, report))
}

#[test]
fn the_fixtures_are_solved() {
    let files = fixtures();
    assert_eq!(files.iter().filter_map(check).count(), 6);
}

#[test]
fn a_warm_start_is_kept_and_a_near_one_helps() {
    let files = fixtures();
    let mut solver = ConvexSolver::default();
    let mut velocities = Vec::new();
    let (mut cold_steps, mut warm_steps) = (0, 0);
    for file in &files {
        let problem = file.1.problem().unwrap();
        let (answer, cold) = check(file).unwrap();
        let mut impulses = answer.clone();
        let report = solver
            .solve(problem, &mut impulses, &mut velocities)
            .unwrap();
        assert_eq!(
            (report.factorizations, &impulses),
            (0, &answer),
            "{}",
            file.0
        );
        // A start a millionth off; what no impulse is needed for stays as it is.
        for l in &mut impulses.contacts {
            *l *= 1.0 + 1e-6;
        }
        let warm = solver
            .solve(problem, &mut impulses, &mut velocities)
            .unwrap();
        assert!(warm.converged());
        cold_steps += cold.factorizations;
        warm_steps += warm.factorizations;
    }
    println!("{cold_steps} cold, {warm_steps} warm");
    assert!(
        2 * warm_steps < cold_steps,
        "{cold_steps} cold, {warm_steps} warm"
    );
}

#[test]
fn forks_and_used_solvers_give_the_same_bits() {
    let files = fixtures();
    let mut used = ConvexSolver::default();
    let run = |solver: &mut dyn ContactSolver, file: &ProblemFile| {
        let problem = file.problem().unwrap();
        let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
        let report = solver
            .solve(problem, &mut impulses, &mut velocities)
            .unwrap();
        (impulses, velocities, report)
    };
    let first: Vec<_> = files.iter().map(|(_, file)| run(&mut used, file)).collect();
    let mut fork = used.fork();
    for ((_, file), want) in files.iter().zip(&first).rev() {
        assert_eq!(&run(&mut used, file), want);
        assert_eq!(&run(fork.as_mut(), file), want);
    }
}

#[test]
fn all_of_the_reference_set_is_solved() {
    let Some(files) = folder("made") else {
        return;
    };
    let (mut solved, mut factorizations, mut not_coulomb) = (0, 0, 0);
    for file in &files {
        if let Some((impulses, report)) = check(file) {
            solved += 1;
            factorizations += report.factorizations;
            let coulomb = certify(file.1.problem().unwrap(), &impulses)
                .unwrap()
                .natural_map;
            not_coulomb += usize::from(coulomb > 1e-3);
        }
    }
    println!(
        "{solved} of {} carry a reference, {factorizations} factorisations",
        files.len()
    );
    let with_reference = files
        .iter()
        .filter(|(_, f)| f.reference().is_some_and(|r| r.convex.is_some()));
    assert_eq!(solved, with_reference.count());
    assert!(solved > 40);
    // It is another law: most of these slide somewhere.
    assert!(not_coulomb > 25, "{not_coulomb}");
}
