//! Worked examples of texts on contact, with right answers.

use crate::draft::{
    CORNERS, Draft, GRAVITY_STEP, central, cube_on, one, particle, round, touching,
};
use crate::{Case, Group, Trial};
use moreau_constraint::{ContactInput, ContactProblem};
use moreau_math::{Vec3, Velocity, vec3};

pub(super) fn cases() -> Vec<Case> {
    let mut all = vec![
        head_on("head_on_plastic", 0.0),
        head_on("head_on_elastic", 1.0),
        glancing(),
        resting_below_normal(),
        tipping(),
        flat_bounce(),
        leaving_neighbour(),
    ];
    for (name, direction) in [("axis", Vec3::X), ("diagonal", vec3(0.6, 0.8, 0.0))] {
        let free = 5.0 * direction - GRAVITY_STEP * Vec3::Z;
        let after = (5.0 - 0.3 * GRAVITY_STEP) * direction;
        all.push(case(
            &format!("cube_slides_{name}"),
            cube_on(&CORNERS, free, 0.3),
            one(after, Vec3::ZERO),
        ));
    }
    all.extend(friction_cone_examples());
    all
}

fn case(name: &str, problem: ContactProblem, want: Vec<Velocity>) -> Case {
    let trial = Trial::Velocities {
        want,
        amplification: 1000.0,
    };
    Case::new(&format!("worked_{name}"), Group::Worked, problem, trial)
}

/// Equal spheres at 2 and -1 m/s.
fn head_on(name: &str, restitution: f64) -> Case {
    let sphere = |speed| round(1.0, 0.4, speed * Vec3::X, Vec3::ZERO);
    let contact = ContactInput {
        restitution,
        ..touching((0, 1), Vec3::X, (1.5 * Vec3::X, -1.5 * Vec3::X), 0.0)
    };
    let draft = Draft::empty().body(sphere(2.0)).body(sphere(-1.0));
    let (mean, half) = (0.5, 1.5 * restitution);
    let want = [mean - half, mean + half].map(|v| Velocity::new(v * Vec3::X, Vec3::ZERO));
    case(name, draft.contact(contact).done(), want.to_vec())
}

/// Off the line of centres: A = 3.75 1/kg, e = 0.5, so 0.4 N s.
fn glancing() -> Case {
    let cube = |mass: f64, speed: f64| round(mass, mass / 6.0, speed * Vec3::X, Vec3::ZERO);
    let contact = ContactInput {
        restitution: 0.5,
        ..touching(
            (0, 1),
            Vec3::X,
            (vec3(0.5, 0.5, 0.0), vec3(-0.5, 0.5, 0.0)),
            0.0,
        )
    };
    let draft = Draft::empty().body(cube(2.0, 1.0)).body(cube(1.0, 0.0));
    let want = vec![
        Velocity::new(0.8 * Vec3::X, 0.6 * Vec3::Z),
        Velocity::new(0.4 * Vec3::X, -1.2 * Vec3::Z),
    ];
    case("glancing", draft.contact(contact).done(), want)
}

/// A is the cube and B the ground: the normal points down.
fn resting_below_normal() -> Case {
    let free = -GRAVITY_STEP * Vec3::Z;
    let draft = Draft::on_ground().body(round(5.0, 5.0 / 6.0, free, Vec3::ZERO));
    let contact = touching((1, 0), -Vec3::Z, (-0.5 * Vec3::Z, Vec3::ZERO), 0.5);
    case(
        "resting_on_body_b",
        draft.contact(contact).done(),
        one(Vec3::ZERO, Vec3::ZERO),
    )
}

/// A cube that sticks tips over its leading edge: (I + m/2) w = (v - g h)/2 about that edge.
fn tipping() -> Case {
    let problem = cube_on(&CORNERS, vec3(3.0, 0.0, -GRAVITY_STEP), 2.0);
    let spin = 0.75 * (3.0 - GRAVITY_STEP);
    case(
        "cube_tips",
        problem,
        one(vec3(0.5 * spin, 0.0, 0.5 * spin), spin * Vec3::Y),
    )
}

fn flat_bounce() -> Case {
    let mut draft = Draft::on_ground().body(round(1.0, 1.0 / 6.0, -3.0 * Vec3::Z, Vec3::ZERO));
    for corner in CORNERS {
        draft = draft.contact(ContactInput {
            restitution: 0.5,
            ..touching((0, 1), Vec3::Z, (Vec3::ZERO, corner), 0.4)
        });
    }
    case(
        "cube_bounces_flat",
        draft.done(),
        one(1.5 * Vec3::Z, Vec3::ZERO),
    )
}

/// The third particle leaves while the first hits the second: its contact must not pull.
fn leaving_neighbour() -> Case {
    let mut draft = Draft::empty();
    for speed in [2.0, 0.0, 5.0] {
        draft = draft.body(particle(1.0, speed * Vec3::X));
    }
    let levers = (Vec3::ZERO, Vec3::ZERO);
    for pair in [(0, 1), (1, 2)] {
        draft = draft.contact(touching(pair, Vec3::X, levers, 0.0));
    }
    let want = [1.0, 1.0, 5.0].map(|v| Velocity::new(v * Vec3::X, Vec3::ZERO));
    case("leaving_neighbour", draft.done(), want.to_vec())
}

/// A 10 kg cube that meets the ground at its centre, A = 0.1 I, once for each coefficient.
fn cube_at_centre(free: Vec3, e: f64, frictions: &[f64]) -> ContactProblem {
    let bias = e * free.z * Vec3::X;
    let draft = Draft::on_ground().body(round(10.0, 10.0 / 6.0, free, Vec3::ZERO));
    let points = frictions.iter().map(|mu| central(*mu, bias));
    points.fold(draft, Draft::point).done()
}

/// Two contacts of friction 0.8 and 0.2 at one place. The split of the normal impulse is free, and with
/// it how much friction there is: the cube stops, or slides on at anything up to 0.7 m/s. All of it is
/// right by Coulomb's law.
fn cone_4() -> ContactProblem {
    cube_at_centre(vec3(1.0, 0.0, -1.0), 0.5, &[0.8, 0.2])
}

/// Cubes that meet the ground at their centre; u and v+ as (x, y, z) with the
/// normal z. Under the associated model the sliding ones would lift off.
fn friction_cone_examples() -> Vec<Case> {
    let table = [
        (
            "cone_1",
            vec3(0.0, 0.0, -1.0),
            0.5,
            0.0,
            vec3(0.0, 0.0, 0.5),
        ),
        (
            "cone_2",
            vec3(0.2, 0.0, -1.0),
            0.5,
            0.5,
            vec3(0.0, 0.0, 0.5),
        ),
        (
            "cone_3",
            vec3(3.0, 4.0, -1.0),
            0.5,
            0.3,
            vec3(2.73, 3.64, 0.5),
        ),
        (
            "cone_5",
            vec3(5.0, 0.0, -1.5),
            0.0,
            0.5,
            vec3(4.25, 0.0, 0.0),
        ),
        (
            "cone_6",
            vec3(5.0, 0.0, -0.001),
            0.0,
            0.5,
            vec3(4.9995, 0.0, 0.0),
        ),
        ("cone_7a", vec3(-0.0671, 0.0, -0.2013), 0.0, 0.5, Vec3::ZERO),
        (
            "cone_7b",
            vec3(-0.2013, 0.0, -0.2013),
            0.0,
            0.5,
            vec3(-0.10065, 0.0, 0.0),
        ),
    ];
    let mut all: Vec<Case> = table
        .into_iter()
        .map(|(name, free, e, mu, after)| {
            case(name, cube_at_centre(free, e, &[mu]), one(after, Vec3::ZERO))
        })
        .collect();
    all.push(Case::new(
        "worked_cone_4",
        Group::Worked,
        cone_4(),
        Trial::Residual,
    ));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use moreau_solver::certify;

    #[test]
    fn contacts_of_different_friction_at_one_place_have_many_answers() {
        let problem = cone_4();
        let mut impulses = problem.cold_start();
        for (rough, smooth, speed) in [
            (15.0, 0.0, None),
            (7.5, 7.5, Some(0.25)),
            (0.0, 15.0, Some(0.7)),
        ] {
            let friction = |mu: f64, normal: f64| match speed {
                // What stops it, all of it at the rough contact.
                None if mu > 0.5 => -10.0,
                None => 0.0,
                Some(_) => -mu * normal,
            };
            impulses.contacts[0] = vec3(rough, friction(0.8, rough), 0.0);
            impulses.contacts[1] = vec3(smooth, friction(0.2, smooth), 0.0);
            let certificate = certify(&problem, &impulses).unwrap();
            assert!(certificate.natural_map < 1e-14, "{certificate:?}");
            let v = problem.velocities(&impulses)[1].linear;
            assert!((v.x - speed.unwrap_or(0.0)).abs() < 1e-15, "{v}");
        }
    }
}
