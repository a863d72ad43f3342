//! The problems of a step, looked at from outside.

use moreau_collision::Shape;
use moreau_constraint::Impulses;
use moreau_math::{Vec3, vec3};
use moreau_pipeline::{Body, BodyId, Joint, World, WorldError, WorldSettings};
use moreau_solver::{ContactSolver, certify};
use moreau_solver_newton::NewtonSolver;

const DT: f64 = 1.0 / 60.0;

/// A stack of three boxes, a ball that rolls away, and a pendulum.
fn world() -> (World, [BodyId; 3]) {
    let mut world = World::new(WorldSettings::default()).unwrap();
    let ground = world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
    let boxes = [0.0, 1.0, 2.0].map(|k| {
        let place = vec3(0.05 * k, 0.5 + k, 0.0);
        let body = Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5)).at(place);
        world.add(body).unwrap()
    });
    let ball = Body::dynamic(Shape::sphere(0.5)).at(vec3(5.0, 0.5, 0.0));
    world.add(ball.moving(Vec3::X, Vec3::ZERO)).unwrap();
    let bob = Body::dynamic(Shape::sphere(0.2)).at(vec3(-5.0, 3.0, 0.0));
    let bob = world.add(bob).unwrap();
    let anchors = (vec3(-6.0, 3.0, 0.0), vec3(-1.0, 0.0, 0.0));
    world
        .add_joint(Joint::ball(ground, anchors.0, bob, anchors.1))
        .unwrap();
    (world, boxes)
}

#[test]
fn looking_changes_nothing() {
    let (mut plain, mut watched) = (world().0, world().0);
    for _ in 0..40 {
        watched.next_problems(DT).unwrap();
        assert_eq!(watched.next_problems(DT), watched.next_problems(DT));
        let reports = (plain.step(DT).unwrap(), watched.step(DT).unwrap());
        assert_eq!(reports.0.residual, reports.1.residual);
        assert_eq!(plain.hash(), watched.hash());
        assert_eq!(plain.snapshot(), watched.snapshot());
    }
}

#[test]
fn the_problems_are_those_that_the_step_solves() {
    let (mut world, boxes) = world();
    for _ in 0..20 {
        world.step(DT).unwrap();
    }
    let problems = world.next_problems(DT).unwrap();
    let report = world.step(DT).unwrap();
    assert_eq!(problems.len(), report.islands);
    let contacts: usize = problems.iter().map(|p| p.problem.contacts().len()).sum();
    assert_eq!(contacts, report.contact_points);
    let rows: usize = problems.iter().map(|p| p.problem.rows().len()).sum();
    assert_eq!(rows, 3);
    // The impulses of the step answer the problem of the stack, which is the largest island.
    let stack = problems
        .iter()
        .max_by_key(|p| p.problem.contacts().len())
        .unwrap();
    let of_stack = world
        .contacts()
        .iter()
        .filter(|c| boxes.contains(&c.a) || boxes.contains(&c.b));
    let answer = Impulses {
        contacts: of_stack.map(|c| c.impulse).collect(),
        rows: Vec::new(),
    };
    assert!(certify(&stack.problem, &answer).unwrap().natural_map < 1e-7);
    // The warm start is nearly that.
    let mut warm = stack.warm_start.clone();
    let mut velocities = Vec::new();
    let mut solver = NewtonSolver::default();
    assert!(certify(&stack.problem, &warm).unwrap().natural_map < 1e-2);
    solver
        .solve(&stack.problem, &mut warm, &mut velocities)
        .unwrap();
    assert!(certify(&stack.problem, &warm).unwrap().natural_map < 1e-9);
}

#[test]
fn a_bad_step_is_refused() {
    let error = world().0.next_problems(-1.0).unwrap_err();
    assert!(matches!(error, WorldError::BadTimeStep { dt } if dt == -1.0));
}

/// Nothing is known of the contacts of what is just set up: that gets more steps to find them before interior points,
/// whose impulses would have to be polished in many of the steps at rest.
#[test]
fn a_new_pyramid_is_solved_without_interior_points() {
    let (rows, mut world) = (12, World::new(WorldSettings::default()).unwrap());
    world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
    for row in 0..rows {
        for k in 0..rows - row {
            let x = 1.01 * (f64::from(k) + 0.5 * f64::from(row));
            let cube = Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5)).friction(0.5);
            let cube = cube.at(vec3(x, 0.5 + f64::from(row), 0.0));
            world.add(cube).unwrap();
        }
    }
    let problems = world.next_problems(DT).unwrap();
    assert_eq!(problems.len(), 1);
    let problem = &problems[0].problem;
    let solve = |mut impulses: Impulses| {
        let (mut solver, mut velocities) = (NewtonSolver::default(), Vec::new());
        let report = solver
            .solve(problem, &mut impulses, &mut velocities)
            .unwrap();
        assert!(report.converged(), "{report:?}");
        (solver.stats(), impulses)
    };
    let (cold, answer) = solve(problems[0].warm_start.clone());
    assert!(cold.direct > 6 + cold.stick, "{cold:?}");
    assert_eq!(cold.interior, 0, "{cold:?}");
    // The answer itself is kept.
    assert_eq!(solve(answer).0.direct, 0);
}
