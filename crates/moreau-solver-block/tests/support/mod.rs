//! Reading of problem files, and small builders that the tests share.
#![allow(dead_code, unreachable_pub)]

use moreau_constraint::{
    BodyInput, ContactFrame, ContactInput, ContactPoint, ContactProblem, Impulses,
};
use moreau_math::{Mat3, SymMat3, Vec3, Velocity};
use moreau_solver::{ContactSolver, SolveReport};
use moreau_solver_block::{BlockSettings, BlockSolver};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// A problem file: see the README beside the files for the format.
#[derive(Deserialize)]
pub struct ProblemFile {
    pub name: String,
    bodies: Vec<FileBody>,
    contacts: Vec<FileContact>,
    dt: f64,
    pub reference: Reference,
}

#[derive(Deserialize)]
struct FileBody {
    inv_mass: f64,
    inv_inertia_world: [f64; 9],
    v: [f64; 3],
    w: [f64; 3],
}

#[derive(Deserialize)]
struct FileContact {
    a: i64,
    b: i64,
    normal: [f64; 3],
    r_a: [f64; 3],
    r_b: [f64; 3],
    mu: f64,
    restitution: f64,
    gap: f64,
}

#[derive(Deserialize)]
pub struct Reference {
    pub v_plus: Vec<[f64; 6]>,
    pub residual_scale: f64,
    pub unique_in_probes: bool,
}

impl ProblemFile {
    /// The residual (m/s) to which the reference is certified.
    pub fn tolerance(&self) -> f64 {
        1e-10 * self.reference.residual_scale
    }

    /// Body i of the file is body i + 1 of the problem; body 0 is the static world.
    pub fn problem(&self) -> ContactProblem {
        let mut problem = ContactProblem::new(self.dt).unwrap();
        problem.add_body(BodyInput::fixed()).unwrap();
        for b in &self.bodies {
            let body = BodyInput {
                inverse_mass: b.inv_mass,
                // Symmetric, so rows and columns may change places.
                inverse_inertia: SymMat3::from_mat3(Mat3::from_cols_array(&b.inv_inertia_world)),
                velocity: Velocity::new(Vec3::from(b.v), Vec3::from(b.w)),
            };
            problem.add_body(body).unwrap();
        }
        for c in &self.contacts {
            let (a, b) = ((c.a + 1) as usize, (c.b + 1) as usize);
            let mut point = ContactPoint {
                a,
                b,
                frame: ContactFrame::new(Vec3::from(c.normal)),
                lever_a: Vec3::from(c.r_a),
                lever_b: Vec3::from(c.r_b),
                friction: c.mu,
                bias: Vec3::ZERO,
            };
            let approach = problem.free_velocity(&point).x;
            point.bias.x = if c.gap > 0.0 {
                c.gap / self.dt
            } else if approach < 0.0 {
                c.restitution * approach
            } else {
                0.0
            };
            problem.add_contact_point(point).unwrap();
        }
        problem
    }
}

/// Every problem of a folder in the order of its names, `None` where there is no folder.
pub fn read_folder(folder: &Path) -> Option<Vec<ProblemFile>> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .ok()?
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
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
