//! Certified problem files, where they are at hand: block sweeps with and without acceleration.
//!
//! The residual that counts is the one of `certify`, which shares no code with the solver's sweeps.

mod support;

use moreau_solver::certify;
use moreau_solver::files::ReferenceProblem;
use moreau_solver_block::BlockSettings;
use support::{close, problems, read_folder, solve_with};

/// Whether the solver reaches the file's own tolerance, and in how many sweeps; an answer that it calls
/// converged is checked against the reference.
fn reaches_reference(file: &ReferenceProblem, settings: BlockSettings) -> (bool, u32) {
    let problem = file.problem.clone();
    let tolerance = file.reference.tolerance();
    let (impulses, velocities, report) = solve_with(
        &problem,
        BlockSettings {
            tolerance,
            ..settings
        },
    );
    let certificate = certify(&problem, &impulses).unwrap();
    let name = &file.name;
    assert!(
        (certificate.natural_map - report.residual).abs() <= 1e-14 * file.reference.residual_scale,
        "{name}: the report is not the certificate"
    );
    assert_eq!(report.converged(), report.residual <= tolerance, "{name}");
    // Whatever the residual, the answer lies in the cones and follows from its impulses.
    assert!(certificate.min_normal_impulse >= 0.0, "{name}");
    let largest = impulses
        .contacts
        .iter()
        .fold(0.0, |m: f64, l| m.max(l.length()));
    assert!(
        certificate.max_cone_excess <= 1e-14 * largest,
        "{name} {}",
        certificate.max_cone_excess / largest
    );
    if report.converged() && file.reference.unique_in_probes {
        // The distance in v is a multiple of the residual that depends on the problem.
        for (v, want) in velocities[1..].iter().zip(&file.reference.v_plus) {
            let got = [v.linear.to_array(), v.angular.to_array()].concat();
            for (got, want) in got.iter().zip(want) {
                close(*got, *want, 1e3 * tolerance);
            }
        }
    }
    (report.converged(), report.sweeps)
}

#[test]
fn the_fixtures_are_solved_to_their_tolerance() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/problems");
    let files = read_folder(&folder).expect("fixtures/problems");
    assert!(files.len() >= 6);
    for file in &files {
        let settings = BlockSettings {
            max_sweeps: 5_000,
            ..BlockSettings::default()
        };
        assert!(reaches_reference(file, settings).0, "{}", file.name);
    }
}

#[test]
fn acceleration_solves_more_in_fewer_sweeps() {
    let folder = problems().join("made");
    let Some(files) = read_folder(&folder) else {
        eprintln!(
            "SKIPPED: no problems in {} (set MOREAU_PROBLEMS)",
            folder.display()
        );
        return;
    };
    let plain = BlockSettings {
        max_sweeps: 5_000,
        anderson_window: 0,
        ..BlockSettings::default()
    };
    let accelerated = BlockSettings {
        anderson_window: 10,
        ..plain
    };
    let (mut solved, mut logs) = ([0, 0], [0.0, 0.0]);
    for file in &files {
        for (k, settings) in [plain, accelerated].into_iter().enumerate() {
            let (converged, sweeps) = reaches_reference(file, settings);
            solved[k] += u32::from(converged);
            logs[k] += moreau_math::libm::log(f64::from(sweeps.max(1)));
        }
    }
    let mean = logs.map(|sum| moreau_math::libm::exp(sum / files.len() as f64));
    println!(
        "{solved:?} of {}, geometric means of sweeps {mean:?}",
        files.len()
    );
    // Out of reach: stacks of mass ratio 1e3 and more, and tall stacks that stick and slide.
    assert!(solved[1] >= 34 && solved[1] > solved[0], "{solved:?}");
    assert!(mean[1] < 0.6 * mean[0], "{mean:?}");
}
