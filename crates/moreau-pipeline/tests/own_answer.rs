//! What a solver set by hand says of itself certifies nothing; its impulses do.

use moreau_collision::Shape;
use moreau_constraint::{ContactProblem, Impulses};
use moreau_math::{Vec3, Velocity, vec3};
use moreau_pipeline::{Body, BodyId, Joint, World, WorldError, WorldSettings};
use moreau_solver::{ContactSolver, SolveError, SolveReport, StopReason};
use moreau_solver_block::BlockSolver;
use moreau_solver_newton::NewtonSolver;
use moreau_solver_pgs::{PgsSettings, PgsSolver};
use moreau_solver_simd::SimdSolver;

const DT: f64 = 1.0 / 60.0;
const G: f64 = 9.81;

/// Answers with what `answer` makes of the right impulses and velocities.
struct Own<F>(F);

impl<F> ContactSolver for Own<F>
where
    F: Fn(&mut Impulses, &mut [Velocity], SolveReport) -> SolveReport + Clone + Send + 'static,
{
    fn name(&self) -> &'static str {
        "own"
    }

    fn solve(
        &mut self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        velocities: &mut Vec<Velocity>,
    ) -> Result<SolveReport, SolveError> {
        let right = PgsSolver::new(PgsSettings::default()).solve(problem, impulses, velocities)?;
        Ok(self.0(impulses, velocities, right))
    }

    fn fork(&self) -> Box<dyn ContactSolver> {
        Box::new(Self(self.0.clone()))
    }
}

fn own<F>(answer: F) -> Box<dyn ContactSolver>
where
    F: Fn(&mut Impulses, &mut [Velocity], SolveReport) -> SolveReport + Clone + Send + 'static,
{
    Box::new(Own(answer))
}

/// No impulses, and all that a report can claim.
fn idle() -> Box<dyn ContactSolver> {
    own(|impulses, _, _| {
        impulses.contacts.fill(Vec3::ZERO);
        impulses.rows.fill(0.0);
        SolveReport::empty()
    })
}

fn world_of(shape: Shape, solver: Box<dyn ContactSolver>) -> (World, BodyId) {
    let mut world = World::new(WorldSettings::default()).unwrap();
    world.set_solver(solver);
    world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
    let body = Body::dynamic(shape).at(vec3(0.0, 0.5, 0.0));
    let body = world.add(body).unwrap();
    (world, body)
}

#[test]
fn a_solver_that_does_nothing_is_not_certified_and_has_the_true_residual() {
    for shape in [Shape::sphere(0.5), Shape::cuboid(0.5, 0.5, 0.5)] {
        let (mut world, body) = world_of(shape, idle());
        for step in 1..=10 {
            let report = world.step(DT).unwrap();
            assert!(!report.certified && report.uncertified_islands == 1);
            // It falls freely, and nothing else is wrong with the answer.
            let want = G * DT * f64::from(step);
            let residual = report.residual;
            assert!((residual - want).abs() < 1e-12, "{residual} is not {want}");
            let island = &world.island_reports()[0];
            assert_eq!(island.solve.stop, StopReason::Stalled);
            assert_eq!(report.worst_contact, island.solve.worst_contact);
        }
        let body = world.body(body).unwrap();
        assert!((body.velocity().linear.y + G * DT * 10.0).abs() < 1e-12);
        assert!(body.position().y < 0.49);
    }
}

#[test]
fn a_joint_that_nothing_holds_is_not_certified() {
    let mut world = World::new(WorldSettings::default()).unwrap();
    world.set_solver(idle());
    let ball = Body::dynamic(Shape::sphere(0.5)).at(vec3(0.0, -1.0, 0.0));
    let post = Body::fixed(Shape::sphere(0.1));
    let (post, ball) = (world.add(post).unwrap(), world.add(ball).unwrap());
    let joint = Joint::distance(post, Vec3::ZERO, ball, Vec3::ZERO, 1.0);
    world.add_joint(joint).unwrap();
    let report = world.step(DT).unwrap();
    assert!(!report.certified && (report.residual - G * DT).abs() < 1e-12);
    assert_eq!(report.worst_contact, None);
}

/// Velocities of rest beside no impulses: the body is where the impulses leave it.
#[test]
fn velocities_that_no_impulse_makes_do_not_count() {
    let solver = own(|impulses, velocities, _| {
        impulses.contacts.fill(Vec3::ZERO);
        velocities.fill(Velocity::default());
        SolveReport::empty()
    });
    let (mut world, body) = world_of(Shape::sphere(0.5), solver);
    let report = world.step(DT).unwrap();
    assert!(!report.certified);
    let v = world.body(body).unwrap().velocity();
    assert_eq!(v.linear, vec3(0.0, -G * DT, 0.0));
}

#[test]
fn a_solver_that_is_no_number_is_not_certified() {
    let solver = own(|impulses, _, _| {
        impulses.contacts.fill(Vec3::splat(f64::NAN));
        SolveReport::empty()
    });
    let (mut world, _) = world_of(Shape::cuboid(0.5, 0.5, 0.5), solver);
    // Sweeps take its place, and are named.
    let report = world.step(DT).unwrap();
    assert!(report.residual < 1e-8 && report.certified);
    assert_eq!(world.island_reports()[0].solver.name(), "pgs");
}

#[test]
fn right_answers_are_certified_whatever_is_said_of_them() {
    let solvers: [Box<dyn ContactSolver>; 5] = [
        Box::new(PgsSolver::default()),
        Box::new(BlockSolver::default()),
        Box::new(SimdSolver::default()),
        Box::new(NewtonSolver::default()),
        own(|_, _, right| SolveReport {
            stop: StopReason::Budget,
            residual: 7.0,
            worst_contact: None,
            ..right
        }),
    ];
    for solver in solvers {
        let (mut world, body) = world_of(Shape::cuboid(0.5, 0.5, 0.5), solver);
        let velocity = Velocity::new(vec3(1.0, 0.0, 0.0), Vec3::ZERO);
        world.set_velocity(body, velocity).unwrap();
        for _ in 0..60 {
            let report = world.step(DT).unwrap();
            assert!(report.certified && report.residual < 1e-8);
        }
    }
}

/// What is allowed is in the settings, whether they come before the solver, after it or with a snapshot.
#[test]
fn the_tolerance_is_that_of_the_world() {
    let lax = |world: &World| {
        let mut settings = *world.settings();
        settings.solver.newton.tolerance = 1.0;
        settings
    };
    let (mut world, _) = world_of(Shape::sphere(0.5), idle());
    let strict = world.snapshot();
    world.set_settings(lax(&world)).unwrap();
    let report = world.step(DT).unwrap();
    assert!(report.certified && (report.residual - G * DT).abs() < 1e-12);
    world.restore(&strict).unwrap();
    assert!(!world.step(DT).unwrap().certified);
    world.set_settings(lax(&world)).unwrap();
    world.set_solver(idle());
    assert!(world.step(DT).unwrap().certified);
}

#[test]
fn answers_of_another_length_are_refused() {
    for count in [0, 3, 5] {
        let solver = own(move |impulses, _, right| {
            impulses.contacts.resize(count, Vec3::ZERO);
            right
        });
        let (mut world, _) = world_of(Shape::cuboid(0.5, 0.5, 0.5), solver);
        let before = world.snapshot();
        let error = world.step(DT).unwrap_err();
        let want = SolveError::Length {
            what: "contact",
            count,
            expected: 4,
        };
        assert!(matches!(&error, WorldError::Solve(e) if *e == want));
        assert!(world.snapshot() == before);
    }
}
