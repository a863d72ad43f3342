//! Contacts put no energy into bodies, whatever was left of the budget of the solve.

#[path = "support/random.rs"]
mod random;

use moreau_collision::Shape;
use moreau_constraint::{ContactProblem, Impulses};
use moreau_math::{Vec3, Velocity, rotation_from_vector, vec3};
use moreau_pipeline::{Body, World, WorldSettings};
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
    for factor in [1.5, 2.5, 10.0, 1000.0] {
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
                let body = Body::dynamic(shape).restitution(1.0).friction(0.3);
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
                    "{factor} times, case {case}, step {step}: {energy} J, then {now} J"
                );
                energy = now;
            }
            assert!(guarded > 0, "{factor} times, case {case}: nothing to guard");
            let lost = (momentum(&world) - before).length();
            assert!(
                lost < 1e-9,
                "{factor} times, case {case}: momentum off by {lost}"
            );
        }
    }
}
