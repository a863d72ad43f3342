//! One contact, in closed form.
//!
//! With levers a contact is made from its answer: impulse l in its cone, shifted velocity s that
//! obeys Coulomb's law with it, any v+ with J v+ + b = s; the free velocity is v+ - M^-1 J' l. For
//! mu |W_tn| < W_nn the answer is unique.

use crate::draft::{Draft, ball, central, one, round, sliding_ball, touching};
use crate::{Case, Group, Trial};
use moreau_constraint::{BodyInput, ContactFrame, ContactInput, ContactPoint, ContactProblem};
use moreau_math::{Quat, SymMat3, Vec3, Velocity, vec3};

pub(super) fn cases() -> Vec<Case> {
    let mut all = vec![
        central_case("open", vec3(1.0, -2.0, 0.5), 0.5, vec3(1.0, -2.0, 0.5)),
        central_case("touching", vec3(1.0, -2.0, 0.0), 0.5, vec3(1.0, -2.0, 0.0)),
        central_case("stick", vec3(0.2, 0.1, -1.0), 0.5, Vec3::ZERO),
        central_case("slip", vec3(3.0, -4.0, -1.0), 0.3, vec3(2.82, -3.76, 0.0)),
        // It must not lift off: the associated model gives it 0.5 |u_t|.
        central_case(
            "grazing",
            vec3(5.0, 0.0, -1e-4),
            0.5,
            vec3(5.0 - 5e-5, 0.0, 0.0),
        ),
        central_case(
            "frictionless",
            vec3(3.0, -4.0, -1.0),
            0.0,
            vec3(3.0, -4.0, 0.0),
        ),
        central_case("mu50_stick", vec3(30.0, 0.0, -1.0), 50.0, Vec3::ZERO),
        central_case(
            "mu50_slip",
            vec3(64.0, 48.0, -1.0),
            50.0,
            vec3(24.0, 18.0, 0.0),
        ),
        central_case("mu1e3_stick", vec3(100.0, 0.0, -1.0), 1e3, Vec3::ZERO),
        central_case(
            "mu1e3_slip",
            vec3(3.0, 4.0, -1e-3),
            1e3,
            vec3(2.4, 3.2, 0.0),
        ),
        // What sticks has no error of friction.
        rough_case("mu1e6", 1e6),
        rough_case("mu1e9", 1e9),
        rolling(),
        sliding(),
        bounce("bounce_half", 0.5),
        bounce("bounce_elastic", 1.0),
    ];
    all.extend(gaps());
    all.extend(made_from_answers());
    all
}

fn case(name: &str, problem: ContactProblem, want: Vec<Velocity>, amplification: f64) -> Case {
    let trial = Trial::Velocities {
        want,
        amplification,
    };
    Case::new(&format!("single_{name}"), Group::Single, problem, trial)
}

/// A body of 2 kg with its contact at its centre: W = I/m.
fn central_case(name: &str, free: Vec3, friction: f64, after: Vec3) -> Case {
    let body = round(2.0, 0.3, free, Vec3::ZERO);
    let draft = Draft::on_ground().body(body);
    let problem = draft.point(central(friction, Vec3::ZERO)).done();
    // An error of the normal impulse counts mu times in friction.
    case(
        name,
        problem,
        one(after, Vec3::ZERO),
        100.0 + 10.0 * friction,
    )
}

/// A body of 2 kg that is stopped, whatever its friction.
fn rough_case(name: &str, friction: f64) -> Case {
    let body = round(2.0, 0.3, vec3(100.0, 0.0, -1.0), Vec3::ZERO);
    let draft = Draft::on_ground().body(body);
    let problem = draft.point(central(friction, Vec3::ZERO)).done();
    case(
        &format!("{name}_stick"),
        problem,
        one(Vec3::ZERO, Vec3::ZERO),
        100.0,
    )
}

/// The ball sticks and so rolls: l_t = -u_t/(1/m + r²/I) = -0.5/3.5.
fn rolling() -> Case {
    let problem = ball(vec3(0.5, 0.0, -1.0), Vec3::ZERO, 0.5, 0.0);
    let after = one(vec3(0.5 - 1.0 / 7.0, 0.0, 0.0), vec3(0.0, 5.0 / 7.0, 0.0));
    case("rolling", problem, after, 100.0)
}

/// The ball slides at u_t = (2.5, -1.75), friction 0.4 N s against it.
fn sliding() -> Case {
    let direction = vec3(2.5, -1.75, 0.0).normalize();
    let friction = -0.4 * direction;
    let torque = vec3(0.5 * friction.y, -0.5 * friction.x, 0.0);
    let after = one(
        vec3(3.0, -2.0, 0.0) + friction,
        vec3(0.5, 1.0, -2.0) + 10.0 * torque,
    );
    case("sliding", sliding_ball(), after, 100.0)
}

/// Friction acts with the whole normal impulse of the bounce, (1 + e) 2 N s.
fn bounce(name: &str, restitution: f64) -> Case {
    let problem = ball(vec3(0.0, 0.0, -2.0), vec3(0.0, 20.0, 0.0), 0.4, restitution);
    let friction = 0.8 * (1.0 + restitution);
    let after = one(
        vec3(friction, 0.0, 2.0 * restitution),
        vec3(0.0, 20.0 - 5.0 * friction, 0.0),
    );
    case(name, problem, after, 100.0)
}

/// A gap of phi lets the body approach with phi/h: with h = 1/60 s, 0.01 m is 0.6 m/s.
fn gaps() -> [Case; 2] {
    let make = |separation| {
        let body = round(1.0, 0.3, vec3(3.0, 0.0, -1.0), Vec3::ZERO);
        let contact = ContactInput {
            separation,
            ..touching((0, 1), Vec3::Z, (Vec3::ZERO, Vec3::ZERO), 0.5)
        };
        Draft::on_ground().body(body).contact(contact).done()
    };
    let closes = one(vec3(2.8, 0.0, -0.6), Vec3::ZERO);
    let misses = one(vec3(3.0, 0.0, -1.0), Vec3::ZERO);
    [
        case("gap_closes", make(0.01), closes, 100.0),
        case("gap_stays", make(0.1), misses, 100.0),
    ]
}

fn made_from_answers() -> Vec<Case> {
    let mut all = Vec::new();
    let directions = [(0.6, 0.8), (-1.0, 0.0), (0.28, -0.96)];
    for (k, (cos, sin)) in directions.into_iter().enumerate() {
        for (mu, name) in [(0.1, "mu0.1"), (0.5, "mu0.5"), (1.0, "mu1")] {
            let slip = 1.3;
            let slides = (
                vec3(1.0, mu * cos, mu * sin),
                vec3(0.0, -slip * cos, -slip * sin),
            );
            let sticks = (vec3(1.0, 0.7 * mu * cos, 0.7 * mu * sin), Vec3::ZERO);
            for (state, (impulse, s)) in [("slip", slides), ("stick", sticks)] {
                let (problem, after) = off_centre(mu, impulse, s, 0.0);
                let name = format!("anisotropic_{state}_{name}_{k}");
                all.push(case(&name, problem, after, 1000.0));
            }
        }
    }
    let slides = (vec3(1.0, 0.3, 0.4), vec3(0.0, -0.6, -0.8));
    let (problem, after) = off_centre(0.5, slides.0, slides.1, -0.4);
    all.push(case("anisotropic_bounce", problem, after, 1000.0));
    let (problem, after) = off_centre(0.5, Vec3::ZERO, vec3(0.3, 2.0, -1.0), 0.0);
    all.push(case("anisotropic_open", problem, after, 100.0));
    all
}

/// Two free bodies that touch off their centres, and v+, from the impulse, the shifted velocity and
/// the normal bias.
pub(super) fn off_centre(
    friction: f64,
    impulse: Vec3,
    shifted: Vec3,
    bias: f64,
) -> (ContactProblem, Vec<Velocity>) {
    let turn = Quat::from_xyzw(0.3, -0.2, 0.5, 0.7).normalize();
    let body = |mass: f64, velocity: Velocity| BodyInput {
        inverse_mass: 1.0 / mass,
        inverse_inertia: SymMat3::from_diagonal(vec3(3.0, 5.0, 8.0) / mass).rotated(turn),
        velocity,
    };
    let frame = ContactFrame::new(vec3(2.0, 2.0, 1.0) / 3.0);
    let (lever_a, lever_b) = (vec3(0.4, 0.3, -0.2), vec3(-0.4, -0.25, 0.1));
    let u = frame.to_world(shifted - bias * Vec3::X);
    let a = Velocity::new(vec3(1.0, 0.4, -0.3), vec3(0.2, -1.0, 0.5));
    let spin = vec3(1.0, 0.3, -0.7);
    let b = Velocity::new(a.at(lever_a) + u - spin.cross(lever_b), spin);
    let point = ContactPoint {
        a: 0,
        b: 1,
        frame,
        lever_a,
        lever_b,
        friction,
        bias: bias * Vec3::X,
    };
    let make = |a: Velocity, b: Velocity| {
        let bodies = Draft::empty().body(body(2.0, a)).body(body(0.8, b));
        bodies.point(point).done()
    };
    let after = make(a, b);
    let mut taken_back = after.cold_start();
    taken_back.contacts[0] = -impulse;
    let free = after.velocities(&taken_back);
    (make(free[0], free[1]), vec![a, b])
}

#[cfg(test)]
mod tests {
    use super::*;
    use moreau_solver::certify;

    #[test]
    fn the_answers_that_problems_are_made_from_are_right_and_unique() {
        let (impulse, s) = (vec3(1.0, 0.6, 0.8), vec3(0.0, -1.2, -1.6));
        let (problem, after) = off_centre(1.0, impulse, s, -0.4);
        let mut impulses = problem.cold_start();
        impulses.contacts[0] = impulse;
        assert!(certify(&problem, &impulses).unwrap().natural_map < 1e-14);
        for (v, want) in problem.velocities(&impulses).iter().zip(after) {
            assert!((v.linear - want.linear).length() < 1e-14);
            assert!((v.angular - want.angular).length() < 1e-14);
        }
        let w = problem.delassus_block(&problem.contacts()[0]);
        let coupling = (w.x_axis.y * w.x_axis.y + w.x_axis.z * w.x_axis.z).sqrt();
        // Off the diagonal, so that the block is not a multiple of I, and small enough for mu = 1.
        assert!(coupling > 0.1 * w.x_axis.x && coupling < w.x_axis.x, "{w}");
    }
}
