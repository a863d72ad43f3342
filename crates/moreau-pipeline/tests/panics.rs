//! A solver of the caller's that panics: the world is as before, and steps on.

use moreau_collision::Shape;
use moreau_constraint::{ContactProblem, Impulses};
use moreau_math::{Vec3, Velocity, vec3};
use moreau_pipeline::{Body, World, WorldSettings};
use moreau_solver::{ContactSolver, SolveError, SolveReport};
use moreau_solver_pgs::{PgsSettings, PgsSolver};
use std::panic::{AssertUnwindSafe, catch_unwind};

struct Panics;

impl ContactSolver for Panics {
    fn name(&self) -> &'static str {
        "panics"
    }

    fn solve(
        &mut self,
        problem: &ContactProblem,
        _: &mut Impulses,
        _: &mut Vec<Velocity>,
    ) -> Result<SolveReport, SolveError> {
        panic!("{} contacts", problem.contacts().len())
    }

    fn fork(&self) -> Box<dyn ContactSolver> {
        Box::new(Self)
    }
}

#[test]
fn a_world_steps_on_after_a_panic_of_its_solver() {
    for threads in [1, 3] {
        let mut world = World::new(WorldSettings::default()).unwrap();
        world.set_threads(threads).unwrap();
        world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
        for i in 0..600 {
            let at = vec3(f64::from(i / 2), 0.25 + 0.5 * f64::from(i % 2), 0.0);
            let cube = Body::dynamic(Shape::cuboid(0.25, 0.25, 0.25)).at(at);
            world
                .add(cube.moving(vec3(0.0, 0.0, 0.2), Vec3::ZERO))
                .unwrap();
        }
        world.step(0.01).unwrap();
        let before = world.snapshot();
        let mut other = World::from_snapshot(&before).unwrap();
        world.set_solver(Box::new(Panics));
        assert!(catch_unwind(AssertUnwindSafe(|| world.step(0.01))).is_err());
        assert!(world.snapshot() == before, "{threads} threads");
        for world in [&mut world, &mut other] {
            world.set_solver(Box::new(PgsSolver::new(PgsSettings::default())));
            for _ in 0..3 {
                world.step(0.01).unwrap();
            }
        }
        assert_eq!(world.hash(), other.hash(), "{threads} threads");
    }
}
