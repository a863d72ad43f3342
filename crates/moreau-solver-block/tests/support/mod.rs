//! Reading of problem files, and small builders that the tests share.
#![allow(dead_code, unreachable_pub)]

use moreau_constraint::{BodyInput, ContactInput, ContactProblem, Impulses};
use moreau_math::{SymMat3, Vec3, Velocity};
use moreau_solver::files::{ProblemFile, ReferenceProblem, load};
use moreau_solver::{ContactSolver, SolveReport};
use moreau_solver_block::{BlockSettings, BlockSolver};
use std::path::{Path, PathBuf};

/// Every reference problem of a folder in the order of its names, `None` where there is no folder.
pub fn read_folder(folder: &Path) -> Option<Vec<ReferenceProblem>> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .ok()?
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    paths.sort();
    let read = |path: &PathBuf| match load(path) {
        Ok(ProblemFile::Reference(file)) => file,
        Ok(_) => panic!("{}: not a reference problem", path.display()),
        Err(error) => panic!("{}: {error}", path.display()),
    };
    Some(paths.iter().map(read).collect())
}

/// The folder of the large problem sets: `MOREAU_PROBLEMS`, or beside the workspace.
pub fn problems() -> PathBuf {
    std::env::var_os("MOREAU_PROBLEMS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/problems"),
        PathBuf::from,
    )
}

/// Solves from a cold start with a generous budget and a tolerance at the end of f64.
pub fn solve(problem: &ContactProblem) -> (Impulses, Vec<Velocity>, SolveReport) {
    let settings = BlockSettings {
        max_sweeps: 20_000,
        tolerance: 1e-14,
        ..BlockSettings::default()
    };
    solve_with(problem, settings)
}

/// Solves from a cold start.
pub fn solve_with(
    problem: &ContactProblem,
    settings: BlockSettings,
) -> (Impulses, Vec<Velocity>, SolveReport) {
    let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
    let report = BlockSolver::new(settings)
        .solve(problem, &mut impulses, &mut velocities)
        .unwrap();
    (impulses, velocities, report)
}

/// A body of that mass (kg) and principal inertia (kg m²).
pub fn body(mass: f64, inertia: Vec3, linear: Vec3, angular: Vec3) -> BodyInput {
    BodyInput {
        inverse_mass: 1.0 / mass,
        inverse_inertia: SymMat3::from_diagonal(inertia.recip()),
        velocity: Velocity::new(linear, angular),
    }
}

/// A closed contact from `a` to `b`.
pub fn contact(
    (a, b): (usize, usize),
    normal: Vec3,
    (lever_a, lever_b): (Vec3, Vec3),
    friction: f64,
    restitution: f64,
) -> ContactInput {
    ContactInput {
        a,
        b,
        normal,
        lever_a,
        lever_b,
        separation: 0.0,
        friction,
        restitution,
    }
}

/// |value - want| <= tolerance, with both in the message.
#[track_caller]
pub fn close(value: f64, want: f64, tolerance: f64) {
    assert!(
        (value - want).abs() <= tolerance,
        "{value} is not {want} within {tolerance}"
    );
}

/// The same for vectors.
#[track_caller]
pub fn close_vec(value: Vec3, want: Vec3, tolerance: f64) {
    assert!(
        (value - want).length() <= tolerance,
        "{value} is not {want} within {tolerance}"
    );
}
