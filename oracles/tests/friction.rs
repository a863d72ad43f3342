//! Clarabel against the workspace's solvers on random problems.

use moreau_constraint::{
    BodyInput, ContactInput, ContactProblem, Impulses, ball_joint_rows, distance_joint_row,
};
use moreau_math::{Quat, SymMat3, Vec3, Velocity, vec3};
use moreau_oracles::{Answer, associated};
use moreau_solver::{ContactSolver, SolveReport, certify_convex};
use moreau_solver_newton::{ConvexSolver, NewtonSolver};

/// Numbers in (-1, 1), the same on every run.
struct Random(u64);

impl Random {
    fn number(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self) -> Vec3 {
        vec3(self.number(), self.number(), self.number())
    }

    fn below(&mut self, count: usize) -> usize {
        (((0.5 + 0.5 * self.number()) * count as f64) as usize).min(count - 1)
    }
}

/// Up to eight bodies on and beside each other over a fixed one, with up to three contacts a pair, and
/// joints in every third problem. Masses differ by up to a hundred.
fn problem(seed: u64) -> ContactProblem {
    let mut random = Random(seed);
    for _ in 0..10 {
        random.number();
    }
    let mut problem = ContactProblem::new(1.0 / 60.0).unwrap();
    problem.add_body(BodyInput::fixed()).unwrap();
    let bodies = 1 + random.below(8);
    for _ in 0..bodies {
        let mass = [0.1, 1.0, 3.0, 10.0][random.below(4)];
        let turn = Quat::from_scaled_axis(2.0 * random.vector());
        let moments = vec3(7.0, 6.0, 5.0) + 2.0 * random.vector();
        problem
            .add_body(BodyInput {
                inverse_mass: 1.0 / mass,
                inverse_inertia: SymMat3::from_diagonal(moments / mass).rotated(turn),
                velocity: Velocity::new(
                    2.0 * random.vector() - vec3(0.0, 0.0, 1.0),
                    2.0 * random.vector(),
                ),
            })
            .unwrap();
    }
    for b in 1..=bodies {
        let a = random.below(b);
        let normal = (vec3(0.0, 0.0, 1.2) + random.vector()).normalize();
        for _ in 0..1 + random.below(3) {
            let (lever_a, lever_b) = (0.5 * random.vector(), 0.5 * random.vector());
            problem
                .add_contact(ContactInput {
                    a,
                    b,
                    normal,
                    lever_a,
                    lever_b,
                    separation: (0.01 * random.number()).max(0.0),
                    friction: [0.0, 0.2, 0.5, 1.0][random.below(4)],
                    restitution: [0.0, 0.0, 0.4][random.below(3)],
                })
                .unwrap();
        }
    }
    if seed.is_multiple_of(3) && bodies > 2 {
        for row in ball_joint_rows(
            (1, 2),
            (0.5 * random.vector(), 0.5 * random.vector()),
            Vec3::ZERO,
        ) {
            problem.add_row(row).unwrap();
        }
        let axis = random.vector().normalize();
        let levers = (0.5 * random.vector(), 0.5 * random.vector());
        let row = distance_joint_row((2, 3), axis, levers, 0.1 * random.number());
        problem.add_row(row).unwrap();
    }
    problem
}

fn solve(
    solver: &mut dyn ContactSolver,
    problem: &ContactProblem,
) -> (Impulses, Vec<Velocity>, SolveReport) {
    let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
    let report = solver
        .solve(problem, &mut impulses, &mut velocities)
        .unwrap();
    (impulses, velocities, report)
}

/// The largest difference of two sets of velocities (m/s, rad/s), and its kinetic energy (J).
fn difference(problem: &ContactProblem, a: &[Velocity], b: &[Velocity]) -> (f64, f64) {
    let pairs = a.iter().zip(b);
    let apart: Vec<Velocity> = pairs
        .map(|(a, b)| Velocity::new(a.linear - b.linear, a.angular - b.angular))
        .collect();
    let largest = apart.iter().fold(0.0, |m: f64, v| {
        m.max(v.linear.length()).max(v.angular.length())
    });
    (largest, problem.kinetic_energy(&apart))
}

/// The median and the largest.
fn summary(mut values: Vec<f64>) -> String {
    values.sort_by(f64::total_cmp);
    let (count, last) = (values.len(), values.len() - 1);
    format!(
        "{count} problems agree; median difference {:.1e}, largest {:.1e} m/s",
        values[count / 2],
        values[last]
    )
}

#[test]
fn the_associated_model_agrees_with_an_interior_point_method() {
    let mut differences = Vec::new();
    for seed in 0..300 {
        let problem = problem(seed);
        let (impulses, v, report) = solve(&mut ConvexSolver::default(), &problem);
        assert!(report.converged(), "{seed}: {report:?}");
        let Answer::Solved {
            velocities,
            cost,
            gap,
        } = associated(&problem)
        else {
            panic!("{seed}: no answer");
        };
        // Strong duality: the least cost in impulses is minus that in velocities.
        let certificate = certify_convex(&problem, &impulses).unwrap();
        let rounding = 1e-9 * (1.0 + cost);
        let apart = (certificate.cost + cost).abs();
        assert!(
            apart < 2.0 * gap + rounding,
            "{seed}: {certificate:?} {cost} {gap}"
        );
        let (largest, energy) = difference(&problem, &v, &velocities);
        assert!(energy < 2.0 * gap + 1e-12, "{seed}: {energy} of {gap}");
        differences.push(largest);
    }
    println!("{}", summary(differences));
}

#[test]
fn coulombs_law_is_the_associated_model_with_the_shift_of_its_own_answer() {
    // An answer of Coulomb's law solves the convex problem whose normal velocities are shifted by its
    // own mu |s_t|, and that problem has one answer.
    let mut differences = Vec::new();
    for seed in 0..300 {
        let mut problem = problem(seed);
        let (_, v, report) = solve(&mut NewtonSolver::default(), &problem);
        assert!(report.converged(), "{seed}: {report:?}");
        for i in 0..problem.contacts().len() {
            let c = problem.contacts()[i];
            let s = problem.contact_velocity(&c, &v) + c.bias;
            let slip = (s.y * s.y + s.z * s.z).sqrt();
            let shift = vec3(c.friction * slip, 0.0, 0.0);
            problem.set_bias(i, c.bias + shift).unwrap();
        }
        let Answer::Solved {
            velocities, gap, ..
        } = associated(&problem)
        else {
            panic!("{seed}: no answer to the shifted problem");
        };
        let (largest, energy) = difference(&problem, &v, &velocities);
        assert!(energy < 2.0 * gap + 1e-12, "{seed}: {energy} of {gap}");
        differences.push(largest);
    }
    println!("{}", summary(differences));
}

#[test]
fn what_has_no_answer_has_none_for_either() {
    // A body between two walls that close in.
    let mut problem = ContactProblem::new(0.01).unwrap();
    for speed in [1.0, 0.0, -1.0] {
        let velocity = Velocity::new(speed * Vec3::X, Vec3::ZERO);
        let mut body = BodyInput::moving(velocity);
        if speed == 0.0 {
            (body.inverse_mass, body.inverse_inertia) = (1.0, SymMat3::from_diagonal(Vec3::ONE));
        }
        problem.add_body(body).unwrap();
    }
    for (a, b) in [(0, 1), (1, 2)] {
        problem
            .add_contact(ContactInput {
                a,
                b,
                normal: Vec3::X,
                lever_a: Vec3::ZERO,
                lever_b: Vec3::ZERO,
                separation: 0.0,
                friction: 0.3,
                restitution: 0.0,
            })
            .unwrap();
    }
    assert_eq!(associated(&problem), Answer::Infeasible);
    let (_, _, report) = solve(&mut ConvexSolver::default(), &problem);
    assert!(!report.converged() && report.residual > 0.5, "{report:?}");
}
