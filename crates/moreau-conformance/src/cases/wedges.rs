//! Bodies in grooves.

use crate::draft::{Draft, one, particle, touching};
use crate::{Case, Group, Trial};
use moreau_constraint::ContactProblem;
use moreau_math::{Vec3, vec3};

pub(super) fn cases() -> Vec<Case> {
    let wide = vec3(0.6, 0.0, 0.8);
    let velocities = |after| Trial::Velocities {
        want: one(after, Vec3::ZERO),
        amplification: 1000.0,
    };
    // 2 l 0.8 = m 1 m/s, so each normal impulse is 0.625 N s and friction 0.625 N s in all.
    let slides = groove(wide, vec3(0.0, 2.0, -1.0), 0.5);
    let sticks = groove(wide, vec3(0.0, 0.3, -1.0), 0.5);
    let plain = groove(wide, vec3(0.0, 2.0, -1.0), 0.0);
    // Steep walls: friction alone could hold it, in many ways.
    let steep = vec3(0.96, 0.0, 0.28);
    vec![
        Case::new(
            "wedge_slides",
            Group::Wedge,
            slides,
            velocities(1.375 * Vec3::Y),
        ),
        Case::new("wedge_sticks", Group::Wedge, sticks, velocities(Vec3::ZERO)),
        Case::new(
            "wedge_frictionless",
            Group::Wedge,
            plain,
            velocities(2.0 * Vec3::Y),
        ),
        jam("wedge_steep_mu0.5", steep, 0.5),
        jam("wedge_steep_mu5", steep, 5.0),
    ]
}

fn jam(name: &str, normal: Vec3, friction: f64) -> Case {
    let problem = groove(normal, vec3(0.05, 0.1, -1.0), friction);
    Case::new(name, Group::Wedge, problem, Trial::Residual).hard()
}

/// A particle between two walls with the normals `n` and its mirror image in x.
fn groove(n: Vec3, free: Vec3, friction: f64) -> ContactProblem {
    let levers = (Vec3::ZERO, Vec3::ZERO);
    Draft::on_ground()
        .body(particle(1.0, free))
        .contact(touching((0, 1), n, levers, friction))
        .contact(touching((0, 1), vec3(-n.x, n.y, n.z), levers, friction))
        .done()
}
