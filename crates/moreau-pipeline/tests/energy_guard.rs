//! Contacts put no energy into bodies, whatever was left of the budget of the solve.

#[path = "support/random.rs"]
mod random;

use moreau_collision::Shape;
use moreau_constraint::{ContactProblem, Impulses};
use moreau_math::{Vec3, Velocity, rotation_from_vector, vec3};
use moreau_pipeline::{Body, SolverChoice, World, WorldSettings};
use moreau_solver::{ContactSolver, SolveError, SolveReport};
use moreau_solver_pgs::{PgsSettings, PgsSolver};
use random::Random;

/// Clusters of tumbling boxes and balls without forces, all elastic, with and without friction; solved
/// fully, and by as little as one sweep.
#[test]
fn elastic_clusters_never_gain_energy() {
    let mut random = Random(1);
    let mut guarded = 0;
    for dt in [1.0 / 60.0, 1.0 / 240.0] {
        for sweeps in [1, 2, 5, 20, 100] {
            for friction in [0.0, 0.3, 1.0] {
                for bullets in [false, true] {
                    let mut settings = WorldSettings {
                        gravity: Vec3::ZERO,
                        ordered_impacts: 0,
                        ..WorldSettings::default()
                    };
                    settings.solver.exact_base_work = 0;
                    settings.solver.exact_contact_work = 0;
                    settings.solver.active_set.max_rows = 0;
                    settings.solver.simd.max_sweeps = sweeps;
                    let mut world = World::new(settings).unwrap();
                    for i in 0..18 {
                        let at = vec3(f64::from(i % 3), f64::from(i / 3 % 3), f64::from(i / 9));
                        let shape = if i % 4 == 0 {
                            Shape::sphere(0.25)
                        } else {
                            Shape::cuboid(0.25, 0.2, 0.3)
                        };
                        let at = (at - vec3(1.0, 1.0, 0.5)) * 0.5;
                        let mut body = Body::dynamic(shape).restitution(1.0).friction(friction);
                        body.bullet = bullets && i % 5 == 0;
                        let body = body.at(at).rotated(rotation_from_vector(random.vec(1.0)));
                        let v = random.vec(3.0) - at * 20.0;
                        world.add(body.moving(v, random.vec(10.0))).unwrap();
                    }
                    let mut energy = world.kinetic_energy();
                    for step in 0..30 {
                        world.step(dt).unwrap();
                        guarded += world.island_reports().iter().filter(|i| i.guarded).count();
                        let now = world.kinetic_energy();
                        assert!(
                            now <= energy * (1.0 + 1e-9),
                            "step {step} of {dt} s, {sweeps} sweeps, friction {friction}, bullets {bullets}: {energy} J, then {now} J"
                        );
                        energy = now;
                    }
                }
            }
        }
    }
    assert!(guarded > 20, "only {guarded} islands would have gained any");
}

/// Says some multiple of the right impulses.
struct TooMuch(f64);

impl ContactSolver for TooMuch {
    fn name(&self) -> &'static str {
        "too-much"
    }

    fn solve(
        &mut self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        velocities: &mut Vec<Velocity>,
    ) -> Result<SolveReport, SolveError> {
        let mut right = PgsSolver::new(PgsSettings::default());
        let report = right.solve(problem, impulses, velocities)?;
        impulses.contacts.iter_mut().for_each(|l| *l *= self.0);
        problem.velocities_into(impulses, velocities);
        Ok(report)
    }

    fn fork(&self) -> Box<dyn ContactSolver> {
        Box::new(Self(self.0))
    }
}

/// Solves that end far off their answer, with bounce and without.
#[test]
fn impulses_that_are_too_large_give_no_energy() {
    let mut random = Random(2);
    for (factor, restitution) in [
        (1.5, 1.0),
        (2.5, 1.0),
        (10.0, 1.0),
        (1000.0, 1.0),
        (2.5, 0.0),
        (10.0, 0.0),
        (1000.0, 0.0),
    ] {
        let mut guarded_cases = 0;
        for case in 0..20 {
            let mut world = World::new(WorldSettings {
                gravity: Vec3::ZERO,
                ordered_impacts: 0,
                ..WorldSettings::default()
            })
            .unwrap();
            world.set_solver(Box::new(TooMuch(factor)));
            for side in [-1.0, 1.0] {
                let shape = if case % 2 == 0 {
                    Shape::sphere(0.25)
                } else {
                    Shape::cuboid(0.25, 0.2, 0.3)
                };
                let body = Body::dynamic(shape).restitution(restitution).friction(0.3);
                let body = body
                    .mass(0.5 + random.unit())
                    .at(vec3(0.4 * side, 0.0, 0.0));
                let turned = body.rotated(rotation_from_vector(random.vec(0.5)));
                let v = vec3(-3.0 * side, 0.0, 0.0) + random.vec(0.5);
                world.add(turned.moving(v, random.vec(5.0))).unwrap();
            }
            let momentum = |world: &World| world.bodies().map(|b| b.momentum()).sum::<Vec3>();
            let (mut energy, before) = (world.kinetic_energy(), momentum(&world));
            let mut guarded = 0;
            for step in 0..12 {
                guarded += world.step(1.0 / 60.0).unwrap().guarded_islands;
                let now = world.kinetic_energy();
                assert!(
                    now <= energy * (1.0 + 1e-9),
                    "{factor} times, bounce {restitution}, case {case}, step {step}: {energy} J, then {now} J"
                );
                energy = now;
            }
            // What only closes a gap can do so with several times the impulse for it.
            assert!(
                guarded > 0 || restitution == 0.0,
                "{factor} times, case {case}: nothing to guard"
            );
            guarded_cases += u32::from(guarded > 0);
            let lost = (momentum(&world) - before).length();
            assert!(
                lost < 1e-9,
                "{factor} times, case {case}: momentum off by {lost}"
            );
        }
        assert!(
            guarded_cases > 1,
            "{factor} times, bounce {restitution}: only {guarded_cases}"
        );
    }
}

/// A wall that a ball strikes, rougher than anything: sweeps and factorisations do not get done with it.
#[test]
fn a_struck_wall_gains_no_energy_however_rough_it_is() {
    for (friction, choice) in [
        (500.0, SolverChoice::Auto),
        (1e4, SolverChoice::Auto),
        (1e6, SolverChoice::Auto),
        (500.0, SolverChoice::Newton),
        (1e4, SolverChoice::Newton),
    ] {
        let mut settings = WorldSettings {
            gravity: Vec3::ZERO,
            ..WorldSettings::default()
        };
        settings.solver.choice = choice;
        settings.solver.newton.max_work = 100_000_000;
        let mut world = World::new(settings).unwrap();
        let ground = Body::fixed(Shape::half_space(Vec3::Y));
        world.add(ground.friction(friction)).unwrap();
        for (row, column) in (0..6).flat_map(|row| (0..5).map(move |column| (row, column))) {
            let x = f64::from(column) + 0.5 * f64::from(row % 2);
            let brick = Body::dynamic(Shape::cuboid(0.5, 0.25, 0.25)).friction(friction);
            world
                .add(brick.at(vec3(x, 0.25 + 0.5 * f64::from(row), 0.0)))
                .unwrap();
        }
        let ball = Body::dynamic(Shape::sphere(0.5)).friction(friction);
        let ball = ball.at(vec3(2.0, 1.5, 4.0));
        world
            .add(ball.moving(vec3(0.0, 0.0, -10.0), Vec3::ZERO))
            .unwrap();
        let mut energy = world.kinetic_energy();
        for step in 0..100 {
            world.step(1.0 / 60.0).unwrap();
            let now = world.kinetic_energy();
            assert!(
                now <= energy * (1.0 + 1e-9),
                "friction {friction}, {choice:?}, step {step}: {energy} J, then {now} J"
            );
            energy = now;
        }
    }
}
