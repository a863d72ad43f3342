//! Warm starts, whatever comes in as one, and the same bits.

use super::degenerate::three_boxes;
use super::joints::sledge_problem;
use super::reference::unique;
use super::single::off_centre;
use crate::draft::{CORNERS, GRAVITY_STEP, cube_on, sliding_ball};
use crate::{Case, Group, Trial};
use moreau_constraint::{ContactProblem, Impulses};
use moreau_math::{Vec3, vec3};

pub(super) fn cases() -> Vec<Case> {
    let slides = (vec3(1.0, 0.3, 0.4), vec3(0.0, -0.6, -0.8));
    let (pair, _) = off_centre(0.5, slides.0, slides.1, 0.0);
    let cube = cube_on(&CORNERS, vec3(4.0, 3.0, -GRAVITY_STEP), 0.3);
    let (wedge, _) = unique("wedge30_mu0.2");
    let (sledge, _) = sledge_problem();
    let problems = [
        ("ball", sliding_ball(), true),
        ("pair", pair, true),
        ("cube", cube, true),
        ("three_boxes", three_boxes(), false),
        ("wedge", wedge, false),
        ("sledge", sledge, true),
    ];
    let mut all = Vec::new();
    for (name, problem, essential) in problems {
        let kinds = [
            ("warm_start", Group::WarmStart, Trial::WarmStart),
            (
                "any_start",
                Group::WarmStart,
                Trial::Starts(starts(&problem)),
            ),
            ("same_bits", Group::Determinism, Trial::Repeat),
        ];
        for (kind, group, trial) in kinds {
            let case = Case::new(&format!("{kind}_{name}"), group, problem.clone(), trial);
            all.push(if essential { case } else { case.hard() });
        }
    }
    all
}

/// Starts of wrong lengths, that are no numbers, that pull, or that lie far outside of the cones.
fn starts(problem: &ContactProblem) -> Vec<Impulses> {
    let (contacts, rows) = (problem.contacts().len(), problem.rows().len());
    let all = |l: Vec3, row: f64| Impulses {
        contacts: vec![l; contacts],
        rows: vec![row; rows],
    };
    let mut mixed = all(vec3(0.1, 0.02, -0.01), 0.1);
    if let Some(first) = mixed.contacts.first_mut() {
        first.y = f64::NAN;
    }
    vec![
        Impulses::default(),
        Impulses::zero(contacts + 3, rows + 2),
        Impulses::zero(contacts.saturating_sub(1), 0),
        all(Vec3::NAN, f64::NAN),
        all(Vec3::INFINITY, f64::NEG_INFINITY),
        mixed,
        all(vec3(-1.0, 0.5, 0.5), -1.0),
        all(vec3(1.0, -30.0, 20.0), 3.0),
        all(vec3(1e3, 0.0, 0.0), 1e3),
    ]
}
