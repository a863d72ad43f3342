//! Problems with certified answers, as files inside this crate.
//!
//! Body i of a file is body i + 1 of the problem; body 0 is the static world. The shift of the normal
//! velocity is gap/dt where there is a gap, else restitution times the approach speed.

use crate::{Case, Group, Trial};
use moreau_constraint::{BodyInput, ContactInput, ContactProblem, ProblemError};
use moreau_math::{Mat3, SymMat3, Vec3, Velocity};
use serde::Deserialize;

/// Text of a file, and whether every sound method solves it within its default budget.
const FILES: [(&str, bool); 15] = [
    (
        include_str!("../../problems/single_stick_corner.json"),
        true,
    ),
    (
        include_str!("../../problems/single_slip_com_seed003_ex3_e05.json"),
        true,
    ),
    (include_str!("../../problems/single_aniso.json"), true),
    (include_str!("../../problems/single_aniso_e07.json"), true),
    (include_str!("../../problems/single_mu50.json"), false),
    (include_str!("../../problems/spin_sphere_e05.json"), true),
    (include_str!("../../problems/rod_th1_mu0.5.json"), false),
    (
        include_str!("../../problems/cube_slide_45deg_mu1.json"),
        false,
    ),
    (include_str!("../../problems/cube_spin_yaw.json"), true),
    (
        include_str!("../../problems/stack2_r1_mu0.5_v0.1_p0.json"),
        true,
    ),
    (
        include_str!("../../problems/stack5_r1_mu0.5_v0_p5.json"),
        false,
    ),
    (
        include_str!("../../problems/stack5_r10000_mu0.5_v0.1_p0top.json"),
        false,
    ),
    (include_str!("../../problems/wedge30_mu0.2.json"), false),
    (include_str!("../../problems/wedge30_mu1.2.json"), false),
    (include_str!("../../problems/rnd4_8_mu0.8_r0.json"), false),
];

#[derive(Deserialize)]
struct File {
    name: String,
    dt: f64,
    bodies: Vec<FileBody>,
    contacts: Vec<FileContact>,
    reference: FileReference,
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
struct FileReference {
    v_plus: Vec<[f64; 6]>,
    unique_in_probes: bool,
}

pub(super) fn cases() -> Vec<Case> {
    let read = |(text, essential): &(&str, bool)| {
        let case = read(text).expect("the kit's own files are in order");
        if *essential { case } else { case.hard() }
    };
    FILES.iter().map(read).collect()
}

/// The problem of the file of that name, with v+.
pub(super) fn unique(name: &str) -> (ContactProblem, Vec<Velocity>) {
    let found = cases()
        .into_iter()
        .find(|case| case.name == format!("reference_{name}"));
    match found.map(|case| (case.problem, case.trial)) {
        Some((problem, Trial::Velocities { want, .. })) => (problem, want),
        _ => unreachable!("the kit has a reference `{name}` with a unique answer"),
    }
}

fn read(text: &str) -> Result<Case, Box<dyn std::error::Error>> {
    let file: File = serde_json::from_str(text)?;
    let problem = problem(&file)?;
    let trial = if file.reference.unique_in_probes {
        let after = file.reference.v_plus.iter().map(|v| {
            let (linear, angular) = (Vec3::new(v[0], v[1], v[2]), Vec3::new(v[3], v[4], v[5]));
            Velocity::new(linear, angular)
        });
        Trial::Velocities {
            want: std::iter::once(Velocity::ZERO).chain(after).collect(),
            amplification: 1000.0,
        }
    } else {
        Trial::Residual
    };
    Ok(Case::new(
        &format!("reference_{}", file.name),
        Group::Reference,
        problem,
        trial,
    ))
}

fn problem(file: &File) -> Result<ContactProblem, ProblemError> {
    let mut problem = ContactProblem::new(file.dt)?;
    problem.add_body(BodyInput::fixed())?;
    for b in &file.bodies {
        problem.add_body(BodyInput {
            inverse_mass: b.inv_mass,
            inverse_inertia: SymMat3::from_mat3(Mat3::from_cols_array(&b.inv_inertia_world)),
            velocity: Velocity::new(Vec3::from(b.v), Vec3::from(b.w)),
        })?;
    }
    for c in &file.contacts {
        problem.add_contact(ContactInput {
            a: (c.a + 1) as usize,
            b: (c.b + 1) as usize,
            normal: Vec3::from(c.normal),
            lever_a: Vec3::from(c.r_a),
            lever_b: Vec3::from(c.r_b),
            separation: c.gap,
            friction: c.mu,
            restitution: c.restitution,
        })?;
    }
    Ok(problem)
}
