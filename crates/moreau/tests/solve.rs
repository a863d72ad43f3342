//! Solvers by name.

use moreau::solve::{SOLVERS, SolveFileError, SolveLimits, solve_file, solver_by_name};
use moreau::solver::files::{NamedProblem, ProblemFile};
use moreau::{BodyInput, ContactInput, ContactProblem, SymMat3, Vec3, Velocity, vec3};

/// A ball of 1 kg that falls on the ground at 2 m/s and slides at `slide` m/s.
fn ball(friction: f64, slide: f64) -> ProblemFile {
    let mut problem = ContactProblem::new(0.01).unwrap();
    let ground = problem.add_body(BodyInput::fixed()).unwrap();
    let ball = problem
        .add_body(BodyInput {
            inverse_mass: 1.0,
            inverse_inertia: SymMat3::from_diagonal(Vec3::splat(10.0)),
            velocity: Velocity::new(vec3(slide, -2.0, 0.0), Vec3::ZERO),
        })
        .unwrap();
    problem
        .add_contact(ContactInput {
            a: ground,
            b: ball,
            normal: Vec3::Y,
            lever_a: Vec3::ZERO,
            lever_b: vec3(0.0, -0.5, 0.0),
            separation: 0.0,
            friction,
            restitution: 0.0,
        })
        .unwrap();
    let name = String::new();
    ProblemFile::Problem(NamedProblem { name, problem })
}

#[test]
fn every_name_gives_a_solver_that_solves() {
    let limits = SolveLimits::default();
    for entry in &SOLVERS {
        // Sliding or not: the normal impulse stops the fall.
        for (friction, slide) in [(0.0, 1.0), (0.5, 5.0)] {
            let answer = solve_file(&ball(friction, slide), entry.name, &limits);
            if friction > 0.0 && entry.name == "active-set" {
                assert!(matches!(answer, Err(SolveFileError::Solve(_))));
                continue;
            }
            let answer = answer.unwrap();
            assert!(answer.certified(), "{}: {answer:?}", entry.name);
            let l = answer.impulses.contacts[0];
            assert!((l.x - 2.0).abs() < 1e-9, "{}: {l}", entry.name);
            let tangent = (l.y * l.y + l.z * l.z).sqrt();
            assert!(
                (tangent - friction * 2.0).abs() < 1e-9,
                "{}: {l}",
                entry.name
            );
        }
        // The unaccelerated sweeps are the block solver with a setting.
        let solver = solver_by_name(entry.name, &limits).unwrap();
        let plain = entry.name != "sweeps";
        assert_eq!(solver.name() == entry.name, plain, "{}", entry.name);
    }
}

#[test]
fn unknown_names_list_the_known_ones() {
    let limits = SolveLimits::default();
    let error = solver_by_name("magic", &limits).err().unwrap();
    assert_eq!(
        error.to_string(),
        "there is no solver `magic`; known are: newton, block, sweeps, simd, pgs, active-set"
    );
    let text = "3 1  0 3 3  3 3  1 0 0 0 1 0 0 0 1  -1 3 -4  0.5";
    let file = ProblemFile::parse(text).unwrap();
    let error = solve_file(&file, "pgs", &limits).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the solver `pgs` needs the bodies of a problem; of W and q alone are solved by: newton, sweeps"
    );
}

#[test]
fn budgets_and_tolerances_reach_the_solver() {
    let limits = SolveLimits {
        max_sweeps: 0,
        max_work: 0,
        ..SolveLimits::default()
    };
    for name in ["simd", "pgs", "block", "sweeps"] {
        let answer = solve_file(&ball(0.5, 5.0), name, &limits).unwrap();
        assert!(!answer.certified() && answer.report.sweeps == 0, "{name}");
        let loose = SolveLimits {
            tolerance: 1e3,
            ..limits
        };
        assert!(
            solve_file(&ball(0.5, 5.0), name, &loose)
                .unwrap()
                .certified()
        );
    }
}
