//! Surfaces and bodies that move whatever the impulses.

use crate::draft::{Draft, central, particle};
use crate::{Case, Group, Trial};
use moreau_constraint::{BodyInput, ContactPoint, ContactProblem};
use moreau_math::{Vec3, Velocity, vec3};

pub(super) fn cases() -> Vec<Case> {
    let falling = -Vec3::Z;
    let belt = vec3(0.0, 1.5, 0.0);
    let at_rest = Velocity::ZERO;
    let lift = Velocity::new(vec3(2.0, 0.0, 0.5), Vec3::ZERO);
    let table = Velocity::new(Vec3::ZERO, 3.0 * Vec3::Z);
    let rim = ContactPoint {
        lever_a: Vec3::X,
        ..central(0.5, Vec3::ZERO)
    };
    vec![
        // b_t = 1.5 m/s wants u_t = -1.5 m/s; friction of 0.5 N s does not get it there.
        case(
            "belt_slips",
            at_rest,
            central(0.5, belt),
            falling,
            vec3(-0.5, 0.0, 0.0),
        ),
        case(
            "belt_grips",
            at_rest,
            central(2.0, belt),
            falling,
            vec3(-1.5, 0.0, 0.0),
        ),
        case(
            "lift",
            lift,
            central(0.4, Vec3::ZERO),
            falling,
            vec3(0.6, 0.0, 0.5),
        ),
        // At 1 m from its axis the table moves with 3 m/s along y.
        case("turntable", table, rim, falling, vec3(0.0, 0.5, 0.0)),
        squeezed(),
    ]
}

fn on(ground: Velocity, point: ContactPoint, free: Vec3) -> ContactProblem {
    let draft = Draft::empty().body(BodyInput::moving(ground));
    draft.body(particle(1.0, free)).point(point).done()
}

fn case(name: &str, ground: Velocity, point: ContactPoint, free: Vec3, after: Vec3) -> Case {
    let trial = Trial::Velocities {
        want: vec![ground, Velocity::new(after, Vec3::ZERO)],
        amplification: 1000.0,
    };
    Case::new(
        &format!("kinematic_{name}"),
        Group::Kinematic,
        on(ground, point, free),
        trial,
    )
}

/// Two walls that close in from both sides: no velocity satisfies both.
fn squeezed() -> Case {
    let wall = |speed: f64| BodyInput::moving(Velocity::new(speed * Vec3::X, Vec3::ZERO));
    let draft = Draft::empty()
        .body(wall(1.0))
        .body(particle(1.0, Vec3::ZERO))
        .body(wall(-1.0));
    let push = |a, b| crate::draft::touching((a, b), Vec3::X, (Vec3::ZERO, Vec3::ZERO), 0.5);
    let problem = draft.contact(push(0, 1)).contact(push(1, 2)).done();
    Case::new(
        "kinematic_squeezed",
        Group::Kinematic,
        problem,
        Trial::Unsolvable,
    )
}
