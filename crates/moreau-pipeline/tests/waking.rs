//! What wakes sleeping islands, and that they are none the worse for it.

mod support;

use moreau_collision::{Groups, Shape};
use moreau_math::{Pose, Quat, Vec3, Velocity, vec3};
use moreau_pipeline::{
    Body, BodyId, BodyKind, Joint, Mass, Material, Sleeping, World, WorldError, WorldSettings,
};
use support::{DT, asleep, awake, cube, settings, settle, stack};

#[test]
fn a_woken_stack_does_not_twitch() {
    let (mut world, _, cubes) = stack(8);
    let before: Vec<Vec3> = world.bodies().map(|b| b.position()).collect();
    world.wake(cubes[3]).unwrap();
    assert!(awake(&world, &cubes));
    let report = world.step(DT).unwrap();
    assert_eq!(report.warm_started, 32);
    assert!(report.certified && report.residual < 1e-7);
    assert!(report.kinetic_energy < 1e-12, "{}", report.kinetic_energy);
    settle(&mut world, 40);
    for (before, body) in before.iter().zip(world.bodies()) {
        assert!((body.position() - *before).length() < 1e-7);
    }
}

#[test]
fn impulses_are_those_of_the_step_that_wakes() {
    let (mut world, _, cubes) = stack(4);
    for _ in 0..3 {
        world.step(DT / 4.0).unwrap();
    }
    world.wake(cubes[0]).unwrap();
    let on_ground: f64 = world.contacts()[..4].iter().map(|c| c.impulse.x).sum();
    let weight = 4.0 * 9810.0 * DT / 4.0;
    assert!((on_ground / weight - 1.0).abs() < 1e-6);
    let report = world.step(DT / 4.0).unwrap();
    assert_eq!(report.warm_started, 16);
    assert!(report.kinetic_energy < 1e-12);
}

#[test]
fn what_is_done_to_bodies_wakes_their_islands() {
    type Deed = fn(&mut World, BodyId, BodyId) -> Result<(), WorldError>;
    let deeds: [(&str, Deed, bool); 30] = [
        ("nothing", |_, _, _| Ok(()), false),
        ("wake", |w, _, c| w.wake(c), true),
        (
            "pose",
            |w, _, c| {
                let pose = w.body(c)?.pose();
                w.set_pose(c, pose)
            },
            true,
        ),
        (
            "velocity",
            |w, _, c| w.set_velocity(c, Velocity::new(Vec3::X, Vec3::ZERO)),
            true,
        ),
        (
            "the same velocity",
            |w, _, c| w.set_velocity(c, Velocity::ZERO),
            false,
        ),
        (
            "material",
            |w, _, c| w.set_material(c, Material::default()),
            true,
        ),
        ("groups", |w, _, c| w.set_groups(c, Groups::ALL), true),
        (
            "surface",
            |w, _, c| w.set_surface_velocity(c, Vec3::X),
            true,
        ),
        ("mass", |w, _, c| w.set_mass(c, Mass::Density(500.0)), true),
        (
            "shape",
            |w, _, c| w.set_shape(c, Shape::cuboid(0.5, 0.5, 0.4), Mass::Density(1000.0)),
            true,
        ),
        (
            "kind",
            |w, _, c| w.set_kind(c, BodyKind::Static, Mass::Density(1.0)),
            true,
        ),
        ("force", |w, _, c| w.add_force(c, Vec3::X), true),
        ("no force", |w, _, c| w.add_force(c, Vec3::ZERO), false),
        ("torque", |w, _, c| w.add_torque(c, Vec3::X), true),
        (
            "force at",
            |w, _, c| w.add_force_at(c, Vec3::X, Vec3::ZERO),
            true,
        ),
        (
            "constant force",
            |w, _, c| w.set_constant_force(c, Vec3::X, Vec3::ZERO),
            true,
        ),
        (
            "impulse",
            |w, _, c| w.apply_impulse(c, Vec3::X, Vec3::ZERO),
            true,
        ),
        (
            "no impulse",
            |w, _, c| w.apply_impulse(c, Vec3::ZERO, Vec3::ZERO),
            false,
        ),
        ("removal", |w, _, c| w.remove(c), true),
        (
            "joint",
            |w, g, c| {
                w.add_joint(Joint::ball(g, Vec3::ZERO, c, Vec3::ZERO))
                    .map(|_| ())
            },
            true,
        ),
        ("ignored pair", |w, g, c| w.ignore_pair(g, c, true), true),
        ("removal of the ground", |w, g, _| w.remove(g), true),
        (
            "pose of the ground",
            |w, g, _| w.set_pose(g, Pose::new(vec3(0.0, -0.1, 0.0), Quat::IDENTITY)),
            true,
        ),
        (
            "shape of the ground",
            |w, g, _| {
                w.set_shape(
                    g,
                    Shape::half_space(vec3(0.6, 0.8, 0.0)),
                    Mass::Density(1.0),
                )
            },
            true,
        ),
        (
            "groups of the ground",
            |w, g, _| {
                w.set_groups(
                    g,
                    Groups {
                        member: 0,
                        ..Groups::ALL
                    },
                )
            },
            true,
        ),
        (
            "material of the ground",
            |w, g, _| {
                let m = Material {
                    friction: 0.0,
                    ..Material::default()
                };
                w.set_material(g, m)
            },
            true,
        ),
        (
            "surface of the ground",
            |w, g, _| w.set_surface_velocity(g, Vec3::X),
            true,
        ),
        (
            "settings",
            |w, _, _| {
                w.set_settings(WorldSettings {
                    gravity: vec3(0.0, -1.0, 0.0),
                    ..*w.settings()
                })
            },
            true,
        ),
        (
            "the same settings",
            |w, _, _| w.set_settings(*w.settings()),
            false,
        ),
        (
            "all",
            |w, _, _| {
                w.wake_all();
                Ok(())
            },
            true,
        ),
    ];
    for (what, deed, wakes) in deeds {
        let (mut world, ground, cubes) = stack(3);
        let apart = world.add(cube(vec3(5.0, 0.5, 0.0))).unwrap();
        settle(&mut world, 60);
        deed(&mut world, ground, cubes[1]).unwrap_or_else(|e| panic!("{what}: {e}"));
        let others = [cubes[0], cubes[2]];
        if wakes {
            assert!(awake(&world, &others), "{what}");
        } else {
            assert!(asleep(&world, &others), "{what}");
        }
        let everything = what.contains("ground") || ["settings", "all"].contains(&what);
        assert_eq!(asleep(&world, &[apart]), !everything, "{what}");
        world.step(DT).unwrap_or_else(|e| panic!("{what}: {e}"));
        // What the world holds is still sound.
        World::from_snapshot(&world.snapshot()).unwrap_or_else(|e| panic!("{what}: {e}"));
    }
}

#[test]
fn without_support_it_falls() {
    let (mut world, ground, cubes) = stack(3);
    world.remove(ground).unwrap();
    for _ in 0..30 {
        world.step(DT).unwrap();
    }
    for (i, id) in cubes.iter().enumerate() {
        let fallen = 0.5 + i as f64 - world.body(*id).unwrap().position().y;
        assert!((fallen - 0.5 * 9.81 * 0.25).abs() < 1e-6, "{fallen}");
    }
    // The lowest of a stack.
    let (mut world, _, cubes) = stack(3);
    world.remove(cubes[0]).unwrap();
    settle(&mut world, 200);
    let height = world.body(cubes[1]).unwrap().position().y;
    assert!((height - 0.5).abs() < 1e-3, "{height}");
}

#[test]
fn a_sleeping_body_is_hit_as_if_it_had_been_awake() {
    let ends = [None, Some(Sleeping::default())].map(|sleeping| {
        let mut world = World::new(WorldSettings {
            sleeping,
            ..WorldSettings::default()
        })
        .unwrap();
        world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
        let target = world.add(cube(vec3(0.0, 0.5, 0.0)).friction(0.2)).unwrap();
        for _ in 0..60 {
            world.step(DT).unwrap();
        }
        assert_eq!(world.is_sleeping(target).unwrap(), sleeping.is_some());
        let ball = Body::dynamic(Shape::sphere(0.3))
            .at(vec3(-3.0, 0.6, 0.1))
            .moving(vec3(8.0, 0.5, 0.0), Vec3::ZERO)
            .restitution(0.5);
        let ball = world.add(ball).unwrap();
        let mut woken = 0;
        for _ in 0..60 {
            woken += world.step(DT).unwrap().woken_islands;
        }
        assert_eq!(woken, usize::from(sleeping.is_some()));
        [target, ball].map(|id| world.body(id).unwrap().position())
    });
    assert!(ends[0][0].x > 0.05, "it was hit: {}", ends[0][0]);
    for (off, on) in ends[0].iter().zip(ends[1]) {
        assert!((*off - on).length() < 1e-6, "{off} and {on}");
    }
}

#[test]
fn what_passes_by_wakes_nobody() {
    let (mut world, _, cubes) = stack(2);
    let ball = Body::dynamic(Shape::sphere(0.25))
        .at(vec3(-2.0, 0.25, 0.78))
        .moving(vec3(4.0, 0.0, 0.0), vec3(0.0, 0.0, -16.0));
    let ball = world.add(ball).unwrap();
    for _ in 0..60 {
        assert_eq!(world.step(DT).unwrap().woken_islands, 0);
        assert!(asleep(&world, &cubes));
    }
    // It came within 3 cm.
    assert!(world.body(ball).unwrap().position().x > 1.9);
}

#[test]
fn kinematic_bodies_wake_what_they_meet_and_what_they_carry() {
    // A wall that comes from the side.
    let (mut world, _, cubes) = stack(2);
    let wall = Body::kinematic(Shape::cuboid(0.1, 1.0, 1.0))
        .at(vec3(-1.0, 1.0, 0.0))
        .moving(vec3(1.0, 0.0, 0.0), Vec3::ZERO);
    let wall = world.add(wall).unwrap();
    let mut steps = 0;
    while asleep(&world, &cubes) {
        world.step(DT).unwrap();
        steps += 1;
        assert!(steps < 40);
    }
    // It has 0.4 m to go.
    assert!((22..26).contains(&steps), "{steps}");
    for _ in 0..30 {
        world.step(DT).unwrap();
    }
    let ahead = world.body(cubes[0]).unwrap().position().x - world.body(wall).unwrap().position().x;
    assert!((ahead - 0.6).abs() < 1e-3, "{ahead}");

    // A lift that starts.
    let mut world = World::new(settings()).unwrap();
    let lift = Body::kinematic(Shape::cuboid(2.0, 0.1, 2.0)).at(vec3(0.0, -0.1, 0.0));
    let lift = world.add(lift).unwrap();
    let load = world.add(cube(vec3(0.0, 0.5, 0.0))).unwrap();
    settle(&mut world, 60);
    for (speed, lower) in [(0.5, 0.49), (-0.5, 0.0)] {
        let up = Velocity::new(vec3(0.0, speed, 0.0), Vec3::ZERO);
        world.set_velocity(lift, up).unwrap();
        assert!(awake(&world, &[load]));
        for _ in 0..60 {
            world.step(DT).unwrap();
            assert!(awake(&world, &[load]), "it moves");
        }
        let height = world.body(load).unwrap().position().y - 0.5;
        assert!((height - lower).abs() < 0.02, "{height}");
    }
    world.set_velocity(lift, Velocity::ZERO).unwrap();
    settle(&mut world, 60);
}

#[test]
fn fixed_bodies_wake_what_they_are_put_on() {
    let block = |x: f64| Body::fixed(Shape::cuboid(0.5, 0.5, 0.5)).at(vec3(x, 0.5, 0.0));
    for (x, wakes) in [(0.95, true), (1.5, false)] {
        let (mut world, _, cubes) = stack(2);
        world.add(block(x)).unwrap();
        // A snapshot knows what is to be looked at.
        let mut world = World::from_snapshot(&world.snapshot()).unwrap();
        let report = world.step(DT).unwrap();
        assert_eq!(report.woken_islands > 0, wakes, "{x}");
        assert_eq!(asleep(&world, &cubes), !wakes, "{x}");

        let (mut world, _, cubes) = stack(2);
        let far = world.add(block(9.0)).unwrap();
        world.step(DT).unwrap();
        assert!(asleep(&world, &cubes));
        world
            .set_pose(far, Pose::new(vec3(x, 0.5, 0.0), Quat::IDENTITY))
            .unwrap();
        world.step(DT).unwrap();
        assert_eq!(asleep(&world, &cubes), !wakes, "{x}");
    }
}

#[test]
fn joints_sleep_and_wake_with_their_bodies() {
    let mut world = World::new(settings()).unwrap();
    let hook = world.add(Body::fixed(Shape::sphere(0.1))).unwrap();
    let weight = world
        .add(Body::dynamic(Shape::sphere(0.2)).at(vec3(0.0, -2.0, 0.0)))
        .unwrap();
    let rod = world
        .add_joint(Joint::distance(hook, Vec3::ZERO, weight, Vec3::ZERO, 2.0))
        .unwrap();
    settle(&mut world, 60);
    let mass = world.body(weight).unwrap().mass_properties().mass;
    let pull = world.joint_impulse(rod).unwrap()[0];
    assert!(
        (pull.abs() - mass * 9.81 * DT).abs() < 1e-6 * pull.abs(),
        "{pull}"
    );
    world.step(DT).unwrap();
    assert_eq!(world.joint_impulse(rod).unwrap()[0], pull);
    world.wake(weight).unwrap();
    assert!(world.step(DT).unwrap().kinetic_energy < 1e-15);
    settle(&mut world, 60);
    world.remove_joint(rod).unwrap();
    assert!(awake(&world, &[weight]));
    world.step(DT).unwrap();
    assert!(world.body(weight).unwrap().velocity().linear.y < -0.1);
}

#[test]
fn a_step_that_fails_wakes_nobody() {
    let (mut world, _, cubes) = stack(3);
    let bullet = Body::dynamic(Shape::sphere(0.1))
        .at(vec3(-1.0, 1.5, 0.0))
        .moving(vec3(100.0, 0.0, 0.0), Vec3::ZERO);
    let bullet = world.add(bullet).unwrap();
    let far = world
        .add(Body::dynamic(Shape::sphere(0.1)).at(vec3(0.0, 9.0, 0.0)))
        .unwrap();
    let fast = Velocity::new(vec3(f64::MAX, 0.0, 0.0), Vec3::ZERO);
    world.set_velocity(far, fast).unwrap();
    let before = world.snapshot();
    for _ in 0..2 {
        assert!(world.step(10.0).is_err());
        assert!(asleep(&world, &cubes));
        assert!(world.snapshot() == before);
    }
    world.set_velocity(far, Velocity::ZERO).unwrap();
    let mut twin = World::from_snapshot(&world.snapshot()).unwrap();
    assert_eq!(world.step(DT).unwrap().woken_islands, 1);
    twin.step(DT).unwrap();
    assert_eq!(world.hash(), twin.hash());
    assert!(awake(&world, &[bullet, cubes[0]]));
}
