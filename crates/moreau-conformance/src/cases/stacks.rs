//! Stacks at rest, up to mass ratios of a million.
//!
//! Without friction v+ is unique, and zero. With friction it is not always, and the residual counts.

use crate::draft::stack;
use crate::{Case, Group, Trial};
use moreau_math::Velocity;

pub(super) fn cases() -> Vec<Case> {
    let mut all = vec![
        still("stack2", &[1.0, 1.0]),
        rubbing("stack2", &[1.0, 1.0]),
        still("stack5", &[1.0; 5]).hard(),
        rubbing("stack5", &[1.0; 5]).hard(),
        rubbing("stack10", &[1.0; 10]).hard(),
        rubbing("stack2_light_on_heavy", &[1e3, 1.0]),
    ];
    let ratios = [
        ("1e1", 1e1),
        ("1e2", 1e2),
        ("1e3", 1e3),
        ("1e4", 1e4),
        ("1e5", 1e5),
        ("1e6", 1e6),
    ];
    for (name, ratio) in ratios {
        let name = format!("stack2_ratio_{name}");
        all.push(still(&name, &[1.0, ratio]).hard());
        all.push(rubbing(&name, &[1.0, ratio]).hard());
    }
    let alternating = [1.0, 1e4, 1.0, 1e4, 1.0];
    all.push(rubbing("stack5_alternating_1e4", &alternating).hard());
    all
}

fn still(name: &str, masses: &[f64]) -> Case {
    let trial = Trial::Velocities {
        want: vec![Velocity::ZERO; masses.len() + 1],
        amplification: 1000.0 * masses.len() as f64,
    };
    Case::new(
        &format!("{name}_mu0"),
        Group::Stack,
        stack(masses, 0.0),
        trial,
    )
}

fn rubbing(name: &str, masses: &[f64]) -> Case {
    let problem = stack(masses, 0.5);
    Case::new(
        &format!("{name}_mu0.5"),
        Group::Stack,
        problem,
        Trial::Residual,
    )
}
