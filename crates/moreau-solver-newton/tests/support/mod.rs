//! Problem files; see the README beside them for the format.
#![allow(dead_code, unreachable_pub)]

use moreau_constraint::{BodyInput, ContactInput, ContactProblem};
use moreau_math::{Mat3, SymMat3, Vec3, Velocity};
use serde::Deserialize;
use std::path::{Path, PathBuf};

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
    pub convex: Option<ConvexReference>,
}

/// The answer of the associated model.
#[derive(Deserialize)]
pub struct ConvexReference {
    /// Linear and angular velocity a body.
    pub v: Vec<[f64; 6]>,
    /// The natural map to which it is known, m/s.
    pub residual: f64,
}

impl ProblemFile {
    /// Body i of the file is body i + 1 of the problem; body 0 is the static world.
    pub fn problem(&self) -> ContactProblem {
        let mut problem = ContactProblem::new(self.dt).unwrap();
        problem.add_body(BodyInput::fixed()).unwrap();
        for b in &self.bodies {
            let body = BodyInput {
                inverse_mass: b.inv_mass,
                inverse_inertia: SymMat3::from_mat3(Mat3::from_cols_array(&b.inv_inertia_world)),
                velocity: Velocity::new(Vec3::from(b.v), Vec3::from(b.w)),
            };
            problem.add_body(body).unwrap();
        }
        for c in &self.contacts {
            let input = ContactInput {
                a: (c.a + 1) as usize,
                b: (c.b + 1) as usize,
                normal: Vec3::from(c.normal),
                lever_a: Vec3::from(c.r_a),
                lever_b: Vec3::from(c.r_b),
                separation: c.gap,
                friction: c.mu,
                restitution: c.restitution,
            };
            problem.add_contact(input).unwrap();
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

/// The root of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder of the large problem sets: `MOREAU_PROBLEMS`, or beside the workspace.
pub fn problems() -> PathBuf {
    std::env::var_os("MOREAU_PROBLEMS")
        .map_or_else(|| root().join("../shared/problems"), PathBuf::from)
}
