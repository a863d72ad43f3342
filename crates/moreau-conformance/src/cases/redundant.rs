//! More contacts than the motion needs: the Delassus matrix is singular, impulses are not unique.

use crate::draft::{CORNERS, Draft, GRAVITY_STEP, cube_on, one, round, touching};
use crate::{Case, Group, Trial};
use moreau_constraint::ContactProblem;
use moreau_math::{Vec3, vec3};

pub(super) fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    let edge = [CORNERS[0], CORNERS[3]];
    let eight: Vec<Vec3> = CORNERS
        .into_iter()
        .chain(CORNERS.map(|c| vec3(0.5 * (c.x - c.y), 0.5 * (c.x + c.y), c.z)))
        .collect();
    for (name, levers) in [
        ("diagonal", &edge[..]),
        ("face4", &CORNERS[..]),
        ("face8", &eight[..]),
    ] {
        for mu in [0.0, 0.5] {
            let rest = cube_on(levers, -GRAVITY_STEP * Vec3::Z, mu);
            all.push(case(&format!("{name}_rest_mu{mu}"), rest, Vec3::ZERO));
            let direction = vec3(0.28, -0.96, 0.0);
            let free = 4.0 * direction - GRAVITY_STEP * Vec3::Z;
            let after = (4.0 - mu * GRAVITY_STEP) * direction;
            // A cube on two points would trip.
            if name != "diagonal" || mu == 0.0 {
                let slide = cube_on(levers, free, mu);
                all.push(case(&format!("{name}_slide_mu{mu}"), slide, after));
            }
        }
    }
    for count in [1, 15] {
        all.push(duplicate(count));
    }
    all
}

fn case(name: &str, problem: ContactProblem, after: Vec3) -> Case {
    let trial = Trial::Velocities {
        want: one(after, Vec3::ZERO),
        amplification: 1000.0,
    };
    Case::new(
        &format!("redundant_{name}"),
        Group::Redundant,
        problem,
        trial,
    )
}

/// The same contact several times is that contact.
fn duplicate(count: usize) -> Case {
    let body = round(2.0, 0.3, vec3(3.0, -4.0, -1.0), Vec3::ZERO);
    let contact = touching((0, 1), Vec3::Z, (Vec3::ZERO, Vec3::ZERO), 0.3);
    let problem = Draft::on_ground()
        .body(body)
        .contact(contact)
        .again(count)
        .done();
    case(
        &format!("same_{}", count + 1),
        problem,
        vec3(2.82, -3.76, 0.0),
    )
}
