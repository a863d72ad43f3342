//! At the edge of what a problem may be.

use crate::draft::{Draft, central, one, particle, round, stack, touching};
use crate::{Case, Group, Trial};
use moreau_constraint::{BodyInput, ContactProblem, Row};
use moreau_math::{SymMat3, Vec3, Velocity, vec3};

pub(super) fn cases() -> Vec<Case> {
    let thrown = vec3(1.0, -2.0, 3.0);
    let spin = vec3(0.3, 0.5, -0.7);
    let body = round(2.0, 0.3, thrown, spin);
    let kinematic = BodyInput::moving(Velocity::new(Vec3::X, Vec3::Y));
    let moved = vec![Velocity::ZERO, Velocity::new(Vec3::X, Vec3::Y)];
    let still = Draft::on_ground().body(round(2.0, 0.3, Vec3::ZERO, Vec3::ZERO));
    vec![
        case("empty", Draft::empty().done(), Vec::new()),
        case(
            "fixed_only",
            Draft::on_ground().body(kinematic).done(),
            moved,
        ),
        case(
            "no_contacts",
            Draft::on_ground().body(body).done(),
            one(thrown, spin),
        ),
        case(
            "all_at_rest",
            still.point(central(0.5, Vec3::ZERO)).done(),
            one(Vec3::ZERO, Vec3::ZERO),
        ),
        idle_neighbour(),
        point_mass(),
        wheel(),
        dust(),
        rough_face(),
        stuck_wheel(),
        contradiction(),
    ]
}

fn case(name: &str, problem: ContactProblem, want: Vec<Velocity>) -> Case {
    let trial = Trial::Velocities {
        want,
        amplification: 1000.0,
    };
    Case::new(
        &format!("degenerate_{name}"),
        Group::Degenerate,
        problem,
        trial,
    )
}

/// A body without contacts beside one with a contact keeps its velocity.
fn idle_neighbour() -> Case {
    let thrown = round(3.0, 1.0, vec3(1.0, 2.0, 3.0), Vec3::X);
    let landing = particle(1.0, vec3(3.0, 0.0, -1.0));
    let contact = touching((0, 2), Vec3::Z, (Vec3::ZERO, Vec3::ZERO), 0.5);
    let problem = Draft::on_ground()
        .body(thrown)
        .body(landing)
        .contact(contact)
        .done();
    let want = vec![
        Velocity::ZERO,
        thrown.velocity,
        Velocity::new(2.5 * Vec3::X, Vec3::ZERO),
    ];
    case("idle_neighbour", problem, want)
}

/// Levers of a body that does not turn do not matter.
fn point_mass() -> Case {
    let body = particle(1.0, vec3(3.0, 0.0, -1.0));
    let contact = touching((0, 1), Vec3::Z, (Vec3::X, vec3(0.3, 0.2, -5.0)), 0.5);
    let problem = Draft::on_ground().body(body).contact(contact).done();
    case("point_mass", problem, one(2.5 * Vec3::X, Vec3::ZERO))
}

/// A wheel on a fixed axle along y, whose rim 0.5 m to the side moves down at 2 m/s and is stopped.
fn wheel() -> Case {
    let wheel = BodyInput {
        inverse_mass: 0.0,
        inverse_inertia: SymMat3::from_diagonal(vec3(0.0, 5.0, 0.0)),
        velocity: Velocity::new(Vec3::ZERO, 4.0 * Vec3::Y),
    };
    let contact = touching((0, 1), Vec3::Z, (Vec3::ZERO, 0.5 * Vec3::X), 0.5);
    let problem = Draft::on_ground().body(wheel).contact(contact).done();
    case("wheel", problem, one(Vec3::ZERO, Vec3::ZERO))
}

/// Both move at the boulder's speed after it.
fn dust() -> Case {
    let draft = Draft::empty()
        .body(particle(1e6, Vec3::X))
        .body(particle(1e-6, -Vec3::X));
    let contact = touching((0, 1), Vec3::X, (Vec3::ZERO, Vec3::ZERO), 0.5);
    // The common velocity (1e6 - 1e-6)/(1e6 + 1e-6) = 1 - 2e-12.
    let common = (1e6 - 1e-6) / (1e6 + 1e-6) * Vec3::X;
    let after = Velocity::new(common, Vec3::ZERO);
    case(
        "dust_on_a_boulder",
        draft.contact(contact).done(),
        vec![after, after],
    )
}

/// Friction of a thousand on a redundant face.
fn rough_face() -> Case {
    let mut draft =
        Draft::on_ground().body(round(1.0, 1.0 / 6.0, vec3(0.0, 0.0, -1.0), Vec3::ZERO));
    for corner in crate::draft::CORNERS {
        draft = draft.contact(touching((0, 1), Vec3::Z, (Vec3::ZERO, corner), 1e3));
    }
    case("face_mu1e3", draft.done(), one(Vec3::ZERO, Vec3::ZERO))
}

/// No impulse through its axle turns a wheel: the approach stays.
fn stuck_wheel() -> Case {
    let wheel = BodyInput {
        inverse_mass: 0.0,
        inverse_inertia: SymMat3::from_diagonal(vec3(0.0, 0.0, 2.0)),
        velocity: Velocity::new(-Vec3::Z, 5.0 * Vec3::Z),
    };
    let contact = touching((0, 1), Vec3::Z, (Vec3::ZERO, Vec3::ZERO), 0.5);
    let problem = Draft::on_ground().body(wheel).contact(contact).done();
    Case::new(
        "degenerate_nothing_moves_it",
        Group::Degenerate,
        problem,
        Trial::Unsolvable,
    )
}

/// Two rows that want different velocities of the same point.
fn contradiction() -> Case {
    let row = |bias| Row::bilateral((0, 1), Vec3::Z, (Vec3::ZERO, Vec3::ZERO), bias);
    let mut draft = Draft::on_ground().body(particle(1.0, Vec3::ZERO));
    draft = draft.row(row(0.0)).row(row(1.0));
    Case::new(
        "degenerate_contradiction",
        Group::Degenerate,
        draft.done(),
        Trial::Unsolvable,
    )
}

/// Three boxes; for whoever needs a small problem that takes more than one iteration.
pub(super) fn three_boxes() -> ContactProblem {
    stack(&[1.0; 3], 0.5)
}
