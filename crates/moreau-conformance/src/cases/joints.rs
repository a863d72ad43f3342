//! Rows: bilateral, one-sided, bounded, soft, and together with contacts.

use crate::draft::{Draft, GRAVITY_STEP, one, particle, round, touching};
use crate::{Case, Group, Trial};
use moreau_constraint::{ContactProblem, Row, ball_joint_rows, distance_joint_row};
use moreau_math::{Vec3, Velocity, vec3};

const CENTRES: (Vec3, Vec3) = (Vec3::ZERO, Vec3::ZERO);

pub(super) fn cases() -> Vec<Case> {
    let vertical = Row::bilateral((0, 1), Vec3::Z, CENTRES, 0.0);
    let (moving, after) = (vec3(1.0, 2.0, -1.0), vec3(1.0, 2.0, 0.0));
    let one_sided = Row {
        lower: 0.0,
        ..vertical
    };
    // v + l/m + r l = 0 with m = 2 kg, r = 0.5: l = 1 N s.
    let soft = Row {
        regularization: 0.5,
        ..vertical
    };
    vec![
        lone("rod", moving, &[vertical], after),
        lone("same_rod_twice", moving, &[vertical, vertical], after),
        lone("one_sided_holds", moving, &[one_sided], after),
        lone("one_sided_lets_go", -moving, &[one_sided], -moving),
        lone("soft", moving, &[soft], vec3(1.0, 2.0, -0.5)),
        lone("motor", Vec3::ZERO, &[motor(10.0)], 3.0 * Vec3::X),
        lone(
            "motor_at_its_bound",
            Vec3::ZERO,
            &[motor(2.5)],
            1.25 * Vec3::X,
        ),
        pendulum(),
        brake(),
        chain(),
        carried(),
        sledge(),
    ]
}

fn case(name: &str, problem: ContactProblem, want: Vec<Velocity>) -> Case {
    let trial = Trial::Velocities {
        want,
        amplification: 1000.0,
    };
    Case::new(&format!("joint_{name}"), Group::Joint, problem, trial)
}

/// A particle of 2 kg.
fn lone(name: &str, free: Vec3, rows: &[Row], after: Vec3) -> Case {
    let draft = Draft::on_ground().body(particle(2.0, free));
    case(
        name,
        draft.rows(rows.iter().copied()).done(),
        one(after, Vec3::ZERO),
    )
}

/// Wants 3 m/s along x.
fn motor(bound: f64) -> Row {
    Row {
        lower: -bound,
        upper: bound,
        ..Row::bilateral((0, 1), Vec3::X, CENTRES, -3.0)
    }
}

/// A ball joint 0.5 m above the centre: K = diag(3.5, 3.5, 1), u = (2, 0, -1).
fn pendulum() -> Case {
    let body = round(1.0, 0.1, vec3(1.0, 0.0, -1.0), 2.0 * Vec3::Y);
    let rows = ball_joint_rows((0, 1), (Vec3::ZERO, 0.5 * Vec3::Z), Vec3::ZERO);
    let problem = Draft::on_ground().body(body).rows(rows).done();
    let after = one(3.0 / 7.0 * Vec3::X, -6.0 / 7.0 * Vec3::Y);
    case("pendulum", problem, after)
}

/// An angular row that takes at most 0.05 N m s from I = 0.1 kg m².
fn brake() -> Case {
    let row = Row {
        linear_a: Vec3::ZERO,
        angular_a: -Vec3::Z,
        linear_b: Vec3::ZERO,
        angular_b: Vec3::Z,
        lower: -0.05,
        upper: 0.05,
        ..Row::bilateral((0, 1), Vec3::Z, CENTRES, 0.0)
    };
    let body = round(1.0, 0.1, Vec3::X, vec3(1.0, 0.0, 2.0));
    let problem = Draft::on_ground().body(body).row(row).done();
    case(
        "brake_at_its_bound",
        problem,
        one(Vec3::X, vec3(1.0, 0.0, 1.5)),
    )
}

/// Four weights under each other.
fn chain() -> Case {
    let mut draft = Draft::on_ground();
    for (above, mass) in [1.0, 3.0, 0.5, 2.0].into_iter().enumerate() {
        draft = draft.body(particle(mass, -GRAVITY_STEP * Vec3::Z));
        draft = draft.row(distance_joint_row(
            (above, above + 1),
            -Vec3::Z,
            CENTRES,
            0.0,
        ));
    }
    case("chain", draft.done(), vec![Velocity::ZERO; 5])
}

/// A ball on the ground carries a weight on a rod.
fn carried() -> Case {
    let free = -GRAVITY_STEP * Vec3::Z;
    let problem = Draft::on_ground()
        .body(particle(1.0, free))
        .body(particle(3.0, free))
        .contact(touching((0, 1), Vec3::Z, CENTRES, 0.5))
        .row(distance_joint_row((1, 2), Vec3::Z, CENTRES, 0.0))
        .done();
    case("carried_by_a_contact", problem, vec![Velocity::ZERO; 3])
}

/// Two runners of 1 kg on a rod along their way, one of them rough: 0.3 N s slow down 2 kg.
fn sledge() -> Case {
    let (problem, want) = sledge_problem();
    case("sledge", problem, want)
}

pub(super) fn sledge_problem() -> (ContactProblem, Vec<Velocity>) {
    let free = vec3(2.0, 0.0, -1.0);
    let problem = Draft::on_ground()
        .body(particle(1.0, free))
        .body(particle(1.0, free))
        .contact(touching((0, 1), Vec3::Z, CENTRES, 0.3))
        .contact(touching((0, 2), Vec3::Z, CENTRES, 0.0))
        .row(distance_joint_row((1, 2), Vec3::X, CENTRES, 0.0))
        .done();
    let after = Velocity::new(1.85 * Vec3::X, Vec3::ZERO);
    (problem, vec![Velocity::ZERO, after, after])
}
