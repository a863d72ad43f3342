//! Islands that bullets strike wait as others do.

use moreau_collision::Shape;
use moreau_math::{Pose, Vec3, Velocity, vec3};
use moreau_pipeline::{Body, BodyId, Sleeping, World, WorldSettings};

const DT: f64 = 1.0 / 60.0;

/// A plane and a tower of 20 cubes, which is never solved exactly.
fn world() -> (World, Vec<BodyId>) {
    let mut settings = WorldSettings::default();
    settings.solver.newton.tolerance = 0.0;
    settings.solver.exact_base_work = 1_000_000;
    settings.solver.exact_contact_work = 0;
    settings.sleeping = Some(Sleeping {
        time: 100.0,
        ..Sleeping::default()
    });
    let mut world = World::new(settings).unwrap();
    world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
    let ids = tower(&mut world, 0.0);
    (world, ids)
}

fn tower(world: &mut World, x: f64) -> Vec<BodyId> {
    let cube = |k: i32| {
        let cube = Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5)).friction(0.5);
        cube.at(vec3(x, 0.5 + f64::from(k), 0.0))
    };
    (0..20).map(|k| world.add(cube(k)).unwrap()).collect()
}

fn throw(world: &mut World, ball: BodyId, at: Vec3, velocity: Vec3) {
    let pose = Pose {
        translation: at,
        ..Pose::default()
    };
    world.set_pose(ball, pose).unwrap();
    let velocity = Velocity::new(velocity, Vec3::ZERO);
    world.set_velocity(ball, velocity).unwrap();
}

#[test]
fn what_a_bullet_strikes_in_each_step_waits() {
    let (mut world, _) = world();
    let ball = Body::dynamic(Shape::sphere(0.05)).restitution(0.9).bullet();
    let ball = world.add(ball.at(vec3(0.0, 20.1, 0.0))).unwrap();
    let (mut tried, mut impacts) = (0, 0);
    for _ in 0..40 {
        throw(
            &mut world,
            ball,
            vec3(0.01, 20.06, 0.0),
            vec3(0.0, -3.0, 0.0),
        );
        let report = world.step(DT).unwrap();
        tried += usize::from(report.factorizations > 0);
        impacts += report.ordered_impacts;
    }
    assert!(impacts >= 20, "{impacts}");
    assert!((5..=12).contains(&tried), "{tried}");
}

/// What is forgotten must not count again where something else in the world fails.
#[test]
fn a_bullet_does_not_bring_back_what_is_forgotten() {
    let struck = |with_another: bool| {
        let (mut world, ids) = world();
        let ball = Body::dynamic(Shape::sphere(0.2)).bullet();
        let away = vec3(-3.0, 200.0, 0.1);
        let ball = world.add(ball.at(away)).unwrap();
        if with_another {
            tower(&mut world, 60.0);
        }
        for _ in 0..4 {
            world.step(DT).unwrap();
        }
        for id in &ids {
            world.put_to_sleep(*id).unwrap();
        }
        for _ in 0..220 {
            throw(&mut world, ball, away, Vec3::ZERO);
            world.step(DT).unwrap();
        }
        assert!(world.body(ids[0]).unwrap().is_sleeping());
        throw(&mut world, ball, vec3(-0.8, 5.2, 0.1), vec3(60.0, 0.0, 0.0));
        let mut bits = Vec::new();
        for _ in 0..4 {
            world.step(DT).unwrap();
            for id in &ids {
                let body = world.body(*id).unwrap();
                let v = body.velocity();
                for x in [body.center_of_mass(), v.linear, v.angular] {
                    bits.extend(x.to_array().map(f64::to_bits));
                }
            }
        }
        assert!(!world.body(ids[5]).unwrap().is_sleeping());
        bits
    };
    assert!(struck(false) == struck(true));
}
