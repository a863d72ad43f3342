//! The same problem told in other ways. Only problems whose v+ is unique.

use super::joints::sledge_problem;
use super::reference::unique;
use super::single::off_centre;
use crate::draft::{CORNERS, GRAVITY_STEP, cube_on};
use crate::{Case, Group, Transform, Trial};
use moreau_constraint::ContactProblem;
use moreau_math::{Quat, Vec3, vec3};

pub(super) fn cases() -> Vec<Case> {
    let slides = (vec3(1.0, 0.3, 0.4), vec3(0.0, -0.6, -0.8));
    let (pair, _) = off_centre(0.5, slides.0, slides.1, -0.4);
    let cube = cube_on(&CORNERS, vec3(4.0, 3.0, -GRAVITY_STEP), 0.3);
    let (spun, _) = unique("cube_spin_yaw");
    let (wedge, _) = unique("wedge30_mu0.2");
    let (random, _) = unique("rnd4_8_mu0.8_r0");
    let (sledge, _) = sledge_problem();
    let turn = Transform::Turn(Quat::from_xyzw(0.5, -0.1, 0.3, 0.8).normalize());
    let boost = Transform::Boost(vec3(3.0, -7.0, 2.0));
    let told = [
        ("turned", turn),
        ("boosted", boost),
        ("reordered", Transform::Reorder),
        ("sides_swapped", Transform::SwapSides),
        ("mass_1e6", Transform::Mass(1e6)),
        ("mass_1e-6", Transform::Mass(1e-6)),
        ("size_1e6", Transform::Size(1e6)),
        ("size_1e-6", Transform::Size(1e-6)),
    ];
    let bases = [
        ("pair", pair, true),
        ("cube", cube, true),
        ("spun_cube", spun, true),
        ("wedge", wedge, false),
        ("heap", random, false),
        ("sledge", sledge, true),
    ];
    let mut all = Vec::new();
    for (base, problem, essential) in &bases {
        for (how, by) in told {
            let case = same(&format!("invariance_{base}_{how}"), problem.clone(), by);
            all.push(if *essential { case } else { case.hard() });
        }
    }
    // A quarter turn about each axis sends axes to axes: where special cases hide.
    let half = 0.5_f64.sqrt();
    for (name, axis) in [("x", Vec3::X), ("y", Vec3::Y), ("z", Vec3::Z)] {
        let quarter = Quat::from_xyzw(half * axis.x, half * axis.y, half * axis.z, half);
        let name = format!("invariance_cube_quarter_turn_{name}");
        all.push(same(&name, bases[1].1.clone(), Transform::Turn(quarter)));
    }
    all
}

fn same(name: &str, problem: ContactProblem, by: Transform) -> Case {
    let trial = Trial::Same {
        by,
        amplification: 1000.0,
    };
    Case::new(name, Group::Invariance, problem, trial)
}

#[cfg(test)]
mod tests {
    use super::*;
    use moreau_solver::certify;

    #[test]
    fn an_answer_told_in_the_other_way_is_an_answer() {
        // For one contact with a tangential bias, by hand: every transform keeps the residual zero.
        let slides = (vec3(1.0, 0.3, 0.4), vec3(0.0, -0.6, -0.8));
        let (problem, after) = off_centre(0.5, slides.0, slides.1, -0.4);
        let turn = Transform::Turn(Quat::from_xyzw(0.5, -0.1, 0.3, 0.8).normalize());
        let world = problem.contacts()[0].frame.to_world(slides.0);
        let Transform::Turn(q) = turn else {
            unreachable!()
        };
        for (by, force) in [
            (turn, q * world),
            (Transform::Boost(Vec3::ONE), world),
            (Transform::Reorder, world),
            (Transform::SwapSides, -world),
            (Transform::Mass(10.0), 10.0 * world),
            (Transform::Size(10.0), world),
        ] {
            let told = by.apply(&problem).unwrap();
            let mut impulses = told.cold_start();
            impulses.contacts[0] = told.contacts()[0].frame.to_local(force);
            let certificate = certify(&told, &impulses).unwrap();
            assert!(certificate.natural_map < 1e-13, "{by:?} {certificate:?}");
            let pairs = told
                .velocities(&impulses)
                .into_iter()
                .zip(by.velocities(&after));
            for (v, want) in pairs {
                assert!((v.linear - want.linear).length() < 1e-13, "{by:?}");
                assert!((v.angular - want.angular).length() < 1e-13, "{by:?}");
            }
        }
    }
}
