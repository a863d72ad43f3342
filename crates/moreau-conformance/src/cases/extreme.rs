//! Numbers near the end of f64: an honest finite answer or an error, never a NaN.

use crate::draft::{Draft, particle, round, touching};
use crate::{Case, Group, Trial};
use moreau_constraint::{BodyInput, ContactPoint, ContactProblem};
use moreau_math::{SymMat3, Vec3, Velocity, vec3};

pub(super) fn cases() -> Vec<Case> {
    let fast = |speed: f64| hit(1.0, vec3(0.3, 0.2, -1.0) * speed, vec3(0.1, 0.0, -0.5), 0.5);
    let of_mass = |mass: f64| hit(mass, vec3(3.0, 0.0, -1.0), vec3(0.1, 0.0, -0.5), 0.5);
    let lever = |length: f64| {
        hit(
            1.0,
            vec3(3.0, 0.0, -1.0),
            vec3(0.1, 0.0, -0.5) * length,
            0.5,
        )
    };
    let rough = |friction: f64| hit(1.0, vec3(3.0, 0.0, -1.0), vec3(0.1, 0.0, -0.5), friction);
    let table = [
        ("speed_1e100", fast(1e100)),
        ("speed_1e200", fast(1e200)),
        ("speed_1e308", fast(1e308)),
        ("speed_1e-300", fast(1e-300)),
        ("mass_1e150", of_mass(1e150)),
        ("mass_1e-150", of_mass(1e-150)),
        ("mass_1e300", of_mass(1e300)),
        ("mass_1e-300", of_mass(1e-300)),
        ("lever_1e100", lever(1e100)),
        ("lever_1e200", lever(1e200)),
        ("friction_1e15", rough(1e15)),
        ("friction_1e200", rough(1e200)),
        ("bias_1e308", biased()),
        ("mass_ratio_1e300", ratio()),
        ("spin_1e200", spinning()),
    ];
    table
        .into_iter()
        .map(|(name, problem)| {
            Case::new(
                &format!("extreme_{name}"),
                Group::Extreme,
                problem,
                Trial::Finite,
            )
        })
        .collect()
}

/// One body of moment of inertia 0.2 m² times its mass.
fn hit(mass: f64, free: Vec3, lever: Vec3, friction: f64) -> ContactProblem {
    let body = BodyInput {
        inverse_mass: 1.0 / mass,
        inverse_inertia: SymMat3::from_diagonal(Vec3::splat(5.0 / mass)),
        velocity: Velocity::new(free, Vec3::ZERO),
    };
    let contact = touching((0, 1), Vec3::Z, (Vec3::ZERO, lever), friction);
    Draft::on_ground().body(body).contact(contact).done()
}

fn biased() -> ContactProblem {
    let point = ContactPoint {
        bias: -1e308 * Vec3::X,
        ..crate::draft::central(0.5, Vec3::ZERO)
    };
    let body = particle(1.0, vec3(1.0, 0.0, -1e308));
    Draft::on_ground().body(body).point(point).done()
}

fn ratio() -> ContactProblem {
    let levers = (Vec3::ZERO, Vec3::ZERO);
    Draft::on_ground()
        .body(particle(1e-150, -Vec3::Z))
        .body(particle(1e150, -Vec3::Z))
        .contact(touching((0, 1), Vec3::Z, levers, 0.5))
        .contact(touching((1, 2), Vec3::Z, levers, 0.5))
        .done()
}

fn spinning() -> ContactProblem {
    let body = round(1.0, 0.1, -Vec3::Z, vec3(1e200, -1e200, 3.0));
    let contact = touching((0, 1), Vec3::Z, (Vec3::ZERO, -0.5 * Vec3::Z), 0.5);
    Draft::on_ground().body(body).contact(contact).done()
}
