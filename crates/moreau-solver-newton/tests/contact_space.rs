//! Problems of which only W and q are known.

mod support;

use moreau_constraint::{Impulses, project_cone};
use moreau_math::{Mat3, Vec3, vec3};
use moreau_solver::files::ProblemFile;
use moreau_solver::{ContactSolver, DelassusProblem, Measures, StopReason, certify};
use moreau_solver_newton::{NewtonSettings, NewtonSolver};
use support::{fixtures, folder};

fn solve(problem: &DelassusProblem) -> (Vec<Vec3>, moreau_solver::SolveReport) {
    let mut r = Vec::new();
    let report = NewtonSolver::default().solve_delassus(problem, &mut r);
    (r, report)
}

#[test]
fn every_public_problem_is_solved() {
    let Some(files) = folder("fclib") else {
        return;
    };
    assert_eq!(files.len(), 25);
    for (name, file) in files {
        let ProblemFile::Delassus(problem) = file else {
            panic!("{name} is of another format");
        };
        let (mut r, report) = solve(&problem);
        let measures = Measures::in_contact_space(&problem, &r);
        let (map, scaled) = (measures.natural_map, measures.scaled_natural_map);
        println!("{name}: {map:.1e} {scaled:.1e} {report:?}");
        assert!(map <= 1e-10 && scaled <= 1e-10, "{name}: {map} {scaled}");
        assert_eq!(report.residual, problem.residual(&r).0, "{name}");
        // What rounding leaves of two cubes of mass ratio 1e6 is more than the tolerance.
        let allowed = if name.starts_with("2cubes") {
            StopReason::Stalled
        } else {
            StopReason::Converged
        };
        assert_eq!(report.stop, allowed, "{name}");
        for (r, mu) in r.iter().zip(problem.friction()) {
            let tangent = (r.y * r.y + r.z * r.z).sqrt();
            assert!(
                r.x >= 0.0 && tangent <= mu * r.x * (1.0 + 1e-15),
                "{name}: {r}"
            );
        }
        if allowed == StopReason::Converged {
            // The answer as a warm start costs nothing, and stays as it is.
            let answer = r.clone();
            let again = NewtonSolver::default().solve_delassus(&problem, &mut r);
            assert_eq!((again.sweeps, again.factorizations), (0, 0), "{name}");
            assert_eq!(r, answer, "{name}");
        }
    }
}

#[test]
fn contact_space_agrees_with_body_space() {
    for (name, file) in fixtures() {
        let problem = file.problem().unwrap();
        let (r, report) = solve(&DelassusProblem::from_problem(problem).unwrap());
        assert!(report.converged(), "{name}: {report:?}");
        let impulses = Impulses {
            contacts: r,
            rows: Vec::new(),
        };
        let map = certify(problem, &impulses).unwrap().natural_map;
        assert!(map <= 1.1e-10, "{name}: {map}");
        if file.reference().unwrap().unique_in_probes {
            let velocities = problem.velocities(&impulses);
            for (v, want) in velocities[1..]
                .iter()
                .zip(&file.reference().unwrap().v_plus)
            {
                let got = [v.linear.to_array(), v.angular.to_array()].concat();
                for (got, want) in got.iter().zip(want) {
                    assert!((got - want).abs() < 1e-7, "{name}: {got} {want}");
                }
            }
        }
    }
}

/// One contact, and W = I: the answer is the projection of -q on the disc of mu max(0, -q_n).
#[test]
fn a_contact_alone() {
    for (q, want) in [
        (vec3(-1.0, 0.3, -0.2), vec3(1.0, -0.3, 0.2)),
        (vec3(-1.0, 3.0, -4.0), vec3(1.0, -0.3, 0.4)),
        (vec3(1.0, 3.0, -4.0), Vec3::ZERO),
    ] {
        let w = vec![(0, 0, Mat3::IDENTITY)];
        let problem = DelassusProblem::new(vec![q], vec![0.5], w).unwrap();
        let (r, report) = solve(&problem);
        assert!(report.converged());
        assert!((r[0] - want).length() < 1e-14, "{}", r[0]);
    }
}

/// A matrix whose triangles differ: the law must hold for u = W r + q with W as it is.
#[test]
fn an_unsymmetric_matrix_is_not_symmetrized() {
    let own = Mat3::from_cols_array(&[2.0, 0.3, 0.0, 0.1, 2.0, 0.2, 0.0, -0.1, 3.0]);
    let (above, below) = (Mat3::from_diagonal(Vec3::splat(0.5)), Mat3::IDENTITY * 0.3);
    let q = vec![vec3(-1.0, 0.5, 2.0), vec3(-0.5, -1.0, 0.1)];
    let blocks = vec![(0, 0, own), (0, 1, above), (1, 0, below), (1, 1, own)];
    let problem = DelassusProblem::new(q.clone(), vec![0.4, 0.9], blocks).unwrap();
    let (r, report) = solve(&problem);
    assert!(report.converged() && r[0].x > 0.0 && r[1].x > 0.0);
    let u = [
        own * r[0] + above * r[1] + q[0],
        below * r[0] + own * r[1] + q[1],
    ];
    for ((r, u), mu) in r.iter().zip(u).zip([0.4, 0.9]) {
        let slip = (u.y * u.y + u.z * u.z).sqrt();
        let step = vec3(u.x + mu * slip, u.y, u.z);
        assert!((*r - project_cone(*r - step, mu)).length() < 1e-9);
    }
    let mirrored = vec![(0, 0, own), (0, 1, below), (1, 0, above), (1, 1, own)];
    let other = DelassusProblem::new(q, vec![0.4, 0.9], mirrored).unwrap();
    assert!(Measures::in_contact_space(&other, &r).natural_map > 1e-2);
}

#[test]
fn any_warm_start_is_taken() {
    let (_, file) = fixtures().swap_remove(1);
    let problem = DelassusProblem::from_problem(file.problem().unwrap()).unwrap();
    for start in [
        vec![Vec3::NAN; 2],
        vec![Vec3::splat(1e300); 500],
        vec![vec3(-1.0, 5.0, 0.0); 64],
    ] {
        let mut r = start;
        let report = NewtonSolver::default().solve_delassus(&problem, &mut r);
        assert_eq!(r.len(), problem.contacts());
        assert!(report.converged(), "{report:?}");
    }
    let empty = DelassusProblem::default();
    let mut r = vec![Vec3::X];
    let report = NewtonSolver::default().solve_delassus(&empty, &mut r);
    assert!(report.converged() && r.is_empty());
}

#[test]
fn a_solver_used_before_gives_the_same_bits() {
    let problems: Vec<DelassusProblem> = fixtures()
        .iter()
        .map(|(_, file)| DelassusProblem::from_problem(file.problem().unwrap()).unwrap())
        .collect();
    let mut used = NewtonSolver::default();
    for problem in problems.iter().chain(&problems) {
        let mut r = Vec::new();
        let report = used.solve_delassus(problem, &mut r);
        assert_eq!((r, report), solve(problem));
    }
}

#[test]
fn budgets_are_kept() {
    let (_, file) = fixtures().swap_remove(1);
    let problem = DelassusProblem::from_problem(file.problem().unwrap()).unwrap();
    let (_, full) = solve(&problem);
    assert!(full.factorizations > 2);
    let mut solver = NewtonSolver::new(NewtonSettings {
        max_work: 1,
        ..NewtonSettings::default()
    });
    let mut r = Vec::new();
    let report = solver.solve_delassus(&problem, &mut r);
    assert_eq!(report.factorizations, 0);
    assert_eq!(report.stop, StopReason::Budget);
    assert_eq!(report.residual, problem.residual(&r).0);
}

/// The cascade in body space leaves the certificate alone: what it reports is what is checked.
#[test]
fn body_space_reports_what_is_certified() {
    for (name, file) in fixtures() {
        let problem = file.problem().unwrap();
        let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
        let report = NewtonSolver::default()
            .solve(problem, &mut impulses, &mut velocities)
            .unwrap();
        let map = certify(problem, &impulses).unwrap().natural_map;
        assert!((map - report.residual).abs() < 1e-13, "{name}");
    }
}
