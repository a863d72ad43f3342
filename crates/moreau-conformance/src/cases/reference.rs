//! Problems with certified answers, as files inside this crate.

use crate::{Case, Group, Trial};
use moreau_constraint::ContactProblem;
use moreau_math::{Vec3, Velocity};
use moreau_solver::files::ProblemFile;

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

/// `None` where the file is of another kind.
fn read(text: &str) -> Option<Case> {
    let Ok(ProblemFile::Reference(file)) = ProblemFile::parse(text) else {
        return None;
    };
    let trial = if file.reference.unique_in_probes {
        let after = file.reference.v_plus.iter().map(|v| {
            let (linear, angular) = (Vec3::new(v[0], v[1], v[2]), Vec3::new(v[3], v[4], v[5]));
            Velocity::new(linear, angular)
        });
        Trial::Velocities {
            // Body 0 is the static world.
            want: std::iter::once(Velocity::ZERO).chain(after).collect(),
            amplification: 1000.0,
        }
    } else {
        Trial::Residual
    };
    let name = format!("reference_{}", file.name);
    Some(Case::new(&name, Group::Reference, file.problem, trial))
}
