//! The kit catches what is wrong, passes what is right, and reports both.

mod support;

use moreau_conformance::{
    Case, Options, Outcome, Report, Transform, Trial, cases, run, run_case, run_with,
};
use moreau_constraint::{ContactProblem, Impulses};
use moreau_math::{Quat, Vec3, Velocity};
use moreau_solver::{ContactSolver, SolveError, SolveReport, certify};
use support::{Habit, Law, Probe, probe};

#[test]
fn a_sound_solver_passes() {
    let report = run(&mut probe(Law::Exact, Habit::None));
    assert!(report.passed(), "{report}");
    assert_eq!(report.count(Outcome::Skipped), 0);
    // Gauss-Seidel does not get through the hardest stacks, says so, and is not failed for it.
    assert!(report.count(Outcome::Limited) > 3, "{report}");
    assert!(report.with_outcome(Outcome::Limited).all(|c| !c.essential));
    // A solver that claims more is.
    let options = Options {
        strict: true,
        filter: "stack2_ratio_1e6".to_owned(),
        ..Options::default()
    };
    let strict = run_with(&mut probe(Law::Exact, Habit::None), &options);
    assert!(
        !strict.passed() && strict.count(Outcome::Limited) == 0,
        "{strict}"
    );
}

/// A solver, cases that must fail, and cases that its flaw does not touch.
type Row = (
    (Law, Habit),
    &'static [&'static str],
    &'static [&'static str],
);

#[test]
fn every_bad_solver_is_caught_where_it_is_bad() {
    let exact = |habit| (Law::Exact, habit);
    let wrong = |law| (law, Habit::None);
    let table: &[Row] = &[
        (
            wrong(Law::Idle),
            &[
                "single_stick",
                "worked_cone_1",
                "redundant_face4_rest_mu0",
                "stack2_mu0",
            ],
            &["single_open", "degenerate_no_contacts"],
        ),
        (
            wrong(Law::Frictionless),
            &[
                "single_slip",
                "single_rolling",
                "worked_cube_tips",
                "wedge_slides",
                "kinematic_lift",
            ],
            &[
                "single_frictionless",
                "worked_head_on_elastic",
                "redundant_face8_slide_mu0",
            ],
        ),
        (
            wrong(Law::Pyramid),
            &[
                "single_slip",
                "single_sliding",
                "worked_cone_3",
                "worked_cube_slides_diagonal",
            ],
            &["single_stick", "single_grazing", "worked_cone_5"],
        ),
        (
            wrong(Law::Associated),
            &[
                "single_slip",
                "single_grazing",
                "worked_cone_3",
                "worked_cone_6",
                "kinematic_belt_slips",
            ],
            &[
                "single_stick",
                "worked_cone_4",
                "redundant_face4_rest_mu0.5",
            ],
        ),
        (
            (Law::Associated, Habit::GivesUp),
            &["single_slip", "single_grazing"],
            &["single_stick"],
        ),
        (
            exact(Habit::Lies),
            &[
                "kinematic_squeezed",
                "stack2_ratio_1e6_mu0",
                "degenerate_contradiction",
            ],
            &["single_open"],
        ),
        (
            exact(Habit::Hopes),
            &[
                "stack2_mu0.5",
                "redundant_face4_rest_mu0.5",
                "worked_cube_tips",
            ],
            &["single_slip", "joint_rod"],
        ),
        (
            exact(Habit::Flatters),
            &["stack2_ratio_1e3_mu0"],
            &["single_open"],
        ),
        (exact(Habit::NamesAny), &["stack10_mu0.5"], &["single_slip"]),
        (
            exact(Habit::Drifts),
            &["same_bits_ball", "same_bits_pair", "same_bits_cube"],
            &["single_slip", "invariance_sledge_turned"],
        ),
        (
            exact(Habit::ForksPoorly),
            &["same_bits_cube", "same_bits_wedge"],
            &["warm_start_cube", "worked_cube_tips"],
        ),
        (
            exact(Habit::Forgets),
            &["warm_start_cube"],
            &["any_start_cube", "same_bits_cube"],
        ),
        (
            exact(Habit::Trusts),
            &["any_start_cube", "any_start_ball", "any_start_sledge"],
            &["warm_start_cube"],
        ),
        (
            exact(Habit::Indexes),
            &["any_start_ball", "any_start_wedge"],
            &["warm_start_ball"],
        ),
        (
            exact(Habit::LeavesVelocities),
            &["single_stick", "joint_rod", "reference_single_aniso_e07"],
            &["single_open"],
        ),
        (
            exact(Habit::MovesGround),
            &["single_open", "stack2_mu0"],
            &["degenerate_empty"],
        ),
        (
            exact(Habit::Appends),
            &["single_open", "degenerate_empty"],
            &[],
        ),
        (
            exact(Habit::SkipsRows),
            &["joint_rod", "joint_motor", "joint_sledge", "joint_soft"],
            &["single_stick", "joint_one_sided_lets_go"],
        ),
        (
            exact(Habit::SkipsBias),
            &[
                "single_bounce_half",
                "single_gap_closes",
                "kinematic_belt_slips",
            ],
            &["single_stick", "kinematic_lift"],
        ),
        (exact(Habit::Worsens), &["stack5_mu0.5", "single_open"], &[]),
        (
            exact(Habit::GivesUp),
            &["stack2_ratio_1e6_mu0.5"],
            &["single_slip", "kinematic_squeezed"],
        ),
        (
            exact(Habit::HasUnits),
            &["single_slip", "invariance_pair_mass_1e6"],
            &["single_stick"],
        ),
    ];
    let mut surprises = Vec::new();
    for ((law, habit), caught, untouched) in table {
        let report = run(&mut probe(*law, *habit));
        assert!(!report.passed(), "{law:?} {habit:?} passed");
        let wanted = caught.iter().map(|name| (name, Outcome::Failed));
        for (name, outcome) in wanted.chain(untouched.iter().map(|name| (name, Outcome::Passed))) {
            match report.case(name) {
                Some(case) if case.outcome == outcome => {}
                other => surprises.push(format!("{law:?} {habit:?} {name}: {other:?}")),
            }
        }
    }
    assert!(surprises.is_empty(), "{surprises:#?}");
}

#[test]
fn what_a_solver_does_not_take_is_skipped() {
    let report = run(&mut probe(Law::Exact, Habit::RefusesRows));
    assert!(report.passed(), "{report}");
    assert_eq!(report.case("joint_rod").unwrap().outcome, Outcome::Skipped);
    let with_rows = cases()
        .iter()
        .filter(|c| !c.problem.rows().is_empty())
        .count();
    assert_eq!(report.count(Outcome::Skipped), with_rows);
    // To skip everything is not to pass.
    let options = Options {
        filter: "joint_".to_owned(),
        ..Options::default()
    };
    let only_rows = run_with(&mut probe(Law::Exact, Habit::RefusesRows), &options);
    assert!(only_rows.count(Outcome::Failed) == 0 && !only_rows.passed());
}

#[test]
fn a_wrong_expectation_fails() {
    let all = cases();
    let base = all.iter().find(|c| c.name == "single_slip").unwrap();
    let check = |trial: Trial| {
        let case = Case {
            trial,
            ..base.clone()
        };
        run_case(
            &mut probe(Law::Exact, Habit::None),
            &case,
            &Options::default(),
        )
    };
    let Trial::Velocities { want, .. } = &base.trial else {
        panic!("single_slip knows its velocities");
    };
    for (body, shift) in [(0, Vec3::X), (1, Vec3::Y), (1, -Vec3::Z)] {
        for angular in [false, true] {
            let mut wrong = want.clone();
            let v = &mut wrong[body];
            let part = if angular {
                &mut v.angular
            } else {
                &mut v.linear
            };
            *part += 1e-4 * shift;
            let report = check(Trial::Velocities {
                want: wrong,
                amplification: 100.0,
            });
            assert_eq!(report.outcome, Outcome::Failed, "{report:?}");
            assert!(
                report.expected.contains(&format!("body {body}")),
                "{report:?}"
            );
        }
    }
    // Too few bodies, and a solvable problem that is said not to be.
    let short = Trial::Velocities {
        want: want[..1].to_vec(),
        amplification: 100.0,
    };
    assert_eq!(check(short).outcome, Outcome::Failed);
    assert_eq!(check(Trial::Unsolvable).outcome, Outcome::Failed);
    assert_eq!(check(Trial::Starts(Vec::new())).outcome, Outcome::Failed);
}

/// Right to 1e-9 m/s, but on the other side of the answer where the first normal does not point up.
struct Chooser(Probe);

impl ContactSolver for Chooser {
    fn name(&self) -> &'static str {
        "chooser"
    }
    fn solve(
        &mut self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        velocities: &mut Vec<Velocity>,
    ) -> Result<SolveReport, SolveError> {
        let report = self.0.solve(problem, impulses, velocities)?;
        let up = problem.contacts()[0].frame.normal.z > 0.99;
        impulses.contacts[0].x *= if up { 1.0 + 1e-9 } else { 1.0 - 1e-9 };
        problem.velocities_into(impulses, velocities);
        let certificate = certify(problem, impulses)?;
        Ok(SolveReport {
            residual: certificate.natural_map,
            worst_contact: certificate.worst_contact,
            ..report
        })
    }
    fn fork(&self) -> Box<dyn ContactSolver> {
        self.0.fork()
    }
}

#[test]
fn answers_that_depend_on_the_way_of_telling_are_caught() {
    let all = cases();
    let base = all.iter().find(|c| c.name == "single_stick").unwrap();
    let told = |by| {
        let case = Case {
            trial: Trial::Same {
                by,
                amplification: 0.05,
            },
            ..base.clone()
        };
        let mut chooser = Chooser(probe(Law::Exact, Habit::None));
        run_case(&mut chooser, &case, &Options::default())
    };
    let turn = Transform::Turn(Quat::from_xyzw(0.5, -0.1, 0.3, 0.8).normalize());
    for (by, outcome) in [
        (turn, Outcome::Failed),
        (Transform::SwapSides, Outcome::Failed),
        // The normal still points up.
        (Transform::Boost(Vec3::ONE), Outcome::Passed),
        (Transform::Mass(10.0), Outcome::Passed),
    ] {
        let report = told(by);
        assert_eq!(report.outcome, outcome, "{by:?} {report:?}");
    }
}

/// Returns numbers that are not finite, where it can.
struct Overflows;

impl ContactSolver for Overflows {
    fn name(&self) -> &'static str {
        "overflows"
    }
    fn solve(
        &mut self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        velocities: &mut Vec<Velocity>,
    ) -> Result<SolveReport, SolveError> {
        *impulses = problem.cold_start();
        problem.velocities_into(impulses, velocities);
        let fastest = velocities
            .iter()
            .fold(0.0, |m: f64, v| m.max(v.linear.length()));
        if let Some(l) = impulses.contacts.first_mut().filter(|_| fastest > 1e150) {
            l.x = f64::NAN;
        }
        Ok(SolveReport::empty())
    }
    fn fork(&self) -> Box<dyn ContactSolver> {
        Box::new(Self)
    }
}

#[test]
fn numbers_that_are_not_finite_are_caught() {
    let report = run(&mut Overflows);
    for name in [
        "extreme_speed_1e200",
        "extreme_speed_1e308",
        "extreme_bias_1e308",
    ] {
        let case = report.case(name).unwrap();
        assert_eq!(case.outcome, Outcome::Failed, "{case:?}");
        assert!(case.found.contains("NaN"), "{case:?}");
    }
    // A claim of convergence is held against it at any size.
    assert_eq!(
        report.case("extreme_mass_1e150").unwrap().outcome,
        Outcome::Failed
    );
}

#[test]
fn reports_survive_json_and_read_as_a_table() {
    let options = Options {
        filter: "single_".to_owned(),
        ..Options::default()
    };
    let report = run_with(&mut probe(Law::Associated, Habit::None), &options);
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    let table = report.to_string();
    let line = table
        .lines()
        .find(|l| l.starts_with("single_grazing "))
        .unwrap();
    assert!(line.contains("FAIL") && line.contains("yes"), "{line}");
    let passed = report.count(Outcome::Passed);
    let failed = report.count(Outcome::Failed);
    assert!(passed > 0 && failed > 0);
    assert!(table.ends_with(&format!(
        "{passed} passed, {failed} failed, 0 limited, 0 skipped"
    )));
    assert!(table.contains("FAIL single_grazing: expected "), "{table}");
}
