//! What stands still stays where it is, and what is known of it is used again, of no effect on where anything goes.

use moreau_collision::Shape;
use moreau_math::{Pose, Quat, Vec3, Velocity, vec3};
use moreau_pipeline::{Body, BodyId, BodyKind, Mass, World, WorldSettings};

const DT: f64 = 1.0 / 60.0;

fn with(standstill: f64) -> World {
    World::new(WorldSettings {
        standstill,
        ..WorldSettings::default()
    })
    .unwrap()
}

fn cube(at: Vec3) -> Body {
    Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5))
        .at(at)
        .density(1000.0)
        .friction(0.5)
}

/// A floor of two tiles, rows of cubes on it, a wedge and a plank that leans, and a ball that comes rolling.
fn yard(standstill: f64) -> (World, Vec<BodyId>) {
    let mut world = with(standstill);
    let mut ids = Vec::new();
    for x in [-10.0, 10.0] {
        let tile = Body::fixed(Shape::cuboid(10.0, 0.5, 10.0)).at(vec3(x, -0.5, 0.0));
        ids.push(world.add(tile.friction(0.5)).unwrap());
    }
    for row in 0..4 {
        for i in 0..4 - row {
            let x = 3.0 + 1.03 * (i as f64 - 0.5 * (3 - row) as f64);
            ids.push(world.add(cube(vec3(x, 0.5 + row as f64, 0.0))).unwrap());
        }
    }
    let corners = [
        vec3(-0.5, 0.0, -0.5),
        vec3(0.5, 0.0, -0.5),
        vec3(-0.5, 0.0, 0.5),
        vec3(0.5, 0.0, 0.5),
        vec3(0.0, 0.6, 0.0),
    ];
    let wedge = Body::dynamic(Shape::hull(&corners).unwrap()).at(vec3(-3.0, 0.0, 0.0));
    ids.push(world.add(wedge.density(500.0)).unwrap());
    let plank = Body::dynamic(Shape::cuboid(1.0, 0.05, 0.3)).at(vec3(-2.6, 0.5, 0.0));
    let turn = Quat::from_axis_angle(Vec3::Z, -0.4);
    ids.push(world.add(plank.rotated(turn).density(700.0)).unwrap());
    let ball = Body::dynamic(Shape::sphere(0.4)).at(vec3(-6.0, 0.4, 0.1));
    ids.push(
        world
            .add(ball.moving(vec3(2.0, 0.0, 0.0), Vec3::ZERO))
            .unwrap(),
    );
    (world, ids)
}

/// What a world of this kind may be told between steps.
fn edit(world: &mut World, ids: &[BodyId], step: usize) {
    let settings = *world.settings();
    match step {
        60 => {
            let mut material = world.body(ids[0]).unwrap().material();
            material.friction = 0.3;
            world.set_material(ids[0], material).unwrap();
        }
        90 => world.set_mass(ids[3], Mass::Total(500.0)).unwrap(),
        120 => {
            let at = world.body(ids[5]).unwrap().pose();
            let up = Pose::new(at.translation + 0.01 * Vec3::Y, at.rotation);
            world.set_pose(ids[5], up).unwrap();
        }
        150 => {
            let shape = Shape::cuboid(10.0, 0.51, 10.0);
            world.set_shape(ids[1], shape, Mass::Total(1.0)).unwrap();
        }
        180 => world
            .set_settings(WorldSettings {
                recycling: 1e-5,
                ..settings
            })
            .unwrap(),
        200 => {
            let slow = Velocity::new(vec3(1e-4, 0.0, 0.0), Vec3::ZERO);
            world
                .set_kind(ids[4], BodyKind::Kinematic, Mass::Total(1.0))
                .unwrap();
            world.set_velocity(ids[4], slow).unwrap();
        }
        230 => world.remove(ids[2]).unwrap(),
        231 => {
            world.add(cube(vec3(1.4, 0.52, 0.0))).unwrap();
        }
        260 => world
            .apply_impulse(ids[6], 50.0 * Vec3::Y, Vec3::ZERO)
            .map(|_| ())
            .unwrap(),
        _ => {}
    }
}

/// A world that comes from its snapshot knows nothing but its state.
#[test]
fn a_world_without_memory_takes_the_same_steps() {
    for threads in [1, 3] {
        let (mut world, ids) = yard(1e-9);
        world.set_threads(threads).unwrap();
        let (mut stood, mut moved) = (0, 0);
        for step in 0..300 {
            edit(&mut world, &ids, step);
            let mut other = World::from_snapshot(&world.snapshot()).unwrap();
            let report = world.step(DT).unwrap();
            let fresh = other.step(DT).unwrap();
            assert_eq!(world.hash(), other.hash(), "step {step}, {threads} threads");
            assert_eq!(world.contacts(), other.contacts());
            let counts = |r: &moreau_pipeline::StepReport| {
                (r.pairs, r.manifolds, r.recycled, r.standing_bodies)
            };
            assert_eq!(counts(&report), counts(&fresh));
            stood += usize::from(report.standing_bodies > 8);
            moved += usize::from(report.standing_bodies < report.awake_bodies);
        }
        assert!(stood > 100 && moved > 100, "{stood} {moved}");
    }
}

#[test]
fn what_stands_stays_to_the_bit() {
    let (mut world, ids) = yard(1e-9);
    world.remove(*ids.last().unwrap()).unwrap();
    let poses = |world: &World| world.bodies().map(|b| b.pose()).collect::<Vec<_>>();
    for _ in 0..240 {
        world.step(DT).unwrap();
    }
    let before = poses(&world);
    let mut work = 0;
    for _ in 0..600 {
        let report = world.step(DT).unwrap();
        assert_eq!(report.standing_bodies, 12);
        work += report.factorizations + report.total_sweeps;
    }
    assert_eq!(poses(&world), before);

    let (mut free, ids) = yard(0.0);
    free.remove(*ids.last().unwrap()).unwrap();
    let mut more = 0;
    for step in 0..840 {
        let report = free.step(DT).unwrap();
        assert_eq!(report.standing_bodies, 0);
        if step >= 240 {
            more += report.factorizations + report.total_sweeps;
        }
    }
    assert!(10 * work < more, "{work} against {more}");
}

/// A push that is not enough to move it at once does so as soon as there has been enough of it.
#[test]
fn a_weak_force_moves_what_nothing_holds() {
    for standstill in [0.0, 1e-9, 1e-8, 1e-6] {
        let mut world = with(standstill);
        let ice = Body::fixed(Shape::half_space(Vec3::Y)).friction(0.0);
        world.add(ice).unwrap();
        let cube = Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5)).at(vec3(0.0, 0.5, 0.0));
        let id = world.add(cube.mass(1.0).friction(0.0)).unwrap();
        // 1e-9 m/s a step.
        let force = 60e-9;
        world
            .set_constant_force(id, vec3(force, 0.0, 0.0), Vec3::ZERO)
            .unwrap();
        let steps = 6000;
        for _ in 0..steps {
            world.step(DT).unwrap();
        }
        let time = steps as f64 * DT;
        let body = world.body(id).unwrap();
        let speed = body.velocity().linear.x;
        assert!((speed / (force * time) - 1.0).abs() < 1e-6, "{speed}");
        // It stands until it is as fast as that, and goes on from there.
        let way = 0.5 * force * time * time - 0.5 * standstill * standstill / force;
        let x = body.position().x;
        assert!((x / way - 1.0).abs() < 2e-3, "{standstill}: {x} for {way}");
    }
}

/// On a slope below the angle of friction nothing creeps, and above it what is let go slides away from the first step on.
#[test]
fn nothing_is_held_that_slides() {
    for (friction, slides) in [(0.5, false), (0.2, true)] {
        let mut world = with(1e-9);
        let turn = Quat::from_axis_angle(Vec3::Z, -0.3);
        let slope = Body::fixed(Shape::half_space(Vec3::Y)).rotated(turn);
        world.add(slope.friction(friction)).unwrap();
        let body = cube(turn * vec3(0.0, 0.5, 0.0)).rotated(turn);
        let id = world.add(body.friction(friction)).unwrap();
        let start = world.body(id).unwrap().position();
        for _ in 0..600 {
            world.step(DT).unwrap();
        }
        let way = (world.body(id).unwrap().position() - start).length();
        let (sine, cosine) = (moreau_math::libm::sin(0.3), moreau_math::libm::cos(0.3));
        let expected = 0.5 * 9.81 * (sine - 0.2 * cosine) * 100.0;
        if slides {
            assert!((way / expected - 1.0).abs() < 1e-6, "{way} for {expected}");
        } else {
            assert!(way < 1e-9, "{way}");
        }
    }
}
