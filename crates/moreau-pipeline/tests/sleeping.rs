//! Islands that lie still fall asleep, stay as they are, and give the same results as if they did not.

mod support;

use moreau_collision::Shape;
use moreau_math::{Pose, Vec3, Velocity, libm, vec3};
use moreau_pipeline::{Body, BodyId, Joint, Sleeping, World, WorldSettings};
use support::{DT, asleep, awake, cube, settings, settle, stack};

#[test]
fn a_stack_falls_asleep_as_a_whole_and_stays_as_it_is() {
    let (mut world, _, cubes) = stack(5);
    assert!(asleep(&world, &cubes));
    // The first step with all of them asleep was the one before.
    assert!((30..40).contains(&(world.steps() - 1)), "{}", world.steps());
    let contacts = world.contacts().to_vec();
    assert_eq!(contacts.len(), 20);
    assert!(world.awake_contacts().is_empty());
    let weight = 9.81 * 1000.0 * DT;
    let on_ground: f64 = contacts[..4].iter().map(|c| c.impulse.x).sum();
    assert!((on_ground - 5.0 * weight).abs() < 1e-6 * weight);
    let hash = world.hash();
    let poses: Vec<Pose> = world.bodies().map(|b| b.pose()).collect();
    for _ in 0..300 {
        let report = world.step(DT).unwrap();
        assert_eq!((report.awake_bodies, report.sleeping_bodies), (0, 5));
        assert_eq!((report.islands, report.sleeping_islands), (0, 1));
        assert_eq!((report.bodies, report.contact_points), (6, 20));
        assert_eq!((report.pairs, report.woken_islands), (0, 0));
        assert!((report.potential_energy / (9810.0 * 12.5) - 1.0).abs() < 1e-6);
        assert!(report.certified);
    }
    assert_eq!(world.hash(), hash);
    assert_eq!(world.contacts(), contacts);
    assert!(world.bodies().map(|b| b.pose()).eq(poses));
    assert!(world.bodies().all(|b| b.velocity() == Velocity::ZERO));
}

/// A step of another length than the one in which it fell asleep has other impulses.
/// Everything that a user can do to a world, and whom it wakes: the stack on the ground, and a cube
/// apart from it.
/// Two cubes one behind the other: the first is asleep when the second hits it. What follows is what
/// would have, had it not slept.
/// A fixed body that is put where something sleeps does not meet it by itself.
/// Bodies that are slow for a moment, or slow for good, are no bodies at rest.
#[test]
fn what_only_seems_to_rest_stays_awake() {
    let run = |world: &mut World, id: BodyId, steps: usize, what: &str| {
        for step in 0..steps {
            world.step(DT).unwrap();
            assert!(awake(world, &[id]), "{what} sleeps at step {step}");
        }
    };
    let ground = || {
        let mut world = World::new(settings()).unwrap();
        world
            .add(Body::fixed(Shape::half_space(Vec3::Y)).friction(0.5))
            .unwrap();
        world
    };

    // A pendulum, started at its turning point; also by a hair.
    for turned in [1.0, 1e-3] {
        let mut world = World::new(settings()).unwrap();
        let hook = world.add(Body::fixed(Shape::sphere(0.1))).unwrap();
        let at = vec3(2.0 * libm::sin(turned), -2.0 * libm::cos(turned), 0.0);
        let bob = world.add(Body::dynamic(Shape::sphere(0.2)).at(at)).unwrap();
        world
            .add_joint(Joint::distance(hook, Vec3::ZERO, bob, Vec3::ZERO, 2.0))
            .unwrap();
        run(&mut world, bob, 600, "a pendulum");
    }

    // A ball that is thrown up, seen around its apex in small steps.
    let mut world = ground();
    let ball = Body::dynamic(Shape::sphere(0.2)).at(vec3(0.0, 3.0, 0.0));
    let ball = world
        .add(ball.moving(vec3(0.0, 1.0, 0.0), Vec3::ZERO))
        .unwrap();
    for _ in 0..2000 {
        world.step(1e-4).unwrap();
        assert!(awake(&world, &[ball]));
    }

    // A ball that rolls slowly, without anything to stop it.
    let mut world = ground();
    let (speed, radius) = (5e-5, 0.5);
    let ball = Body::dynamic(Shape::sphere(radius))
        .at(vec3(0.0, radius, 0.0))
        .moving(vec3(speed, 0.0, 0.0), vec3(0.0, 0.0, -speed / radius));
    let ball = world.add(ball).unwrap();
    run(&mut world, ball, 600, "a rolling ball");
    let way = world.body(ball).unwrap().position().x;
    assert!((way - 10.0 * speed).abs() < 0.01 * 10.0 * speed, "{way}");

    // A cube that slides down at the angle of friction, at constant speed.
    let mut world = ground();
    let cube = Body::dynamic(Shape::cuboid(0.5, 0.2, 0.5))
        .friction(0.5)
        .at(vec3(0.0, 0.2, 0.0));
    let cube = world
        .add(cube.moving(vec3(1e-4, 0.0, 0.0), Vec3::ZERO))
        .unwrap();
    let slope = libm::atan(0.5);
    world
        .set_settings(WorldSettings {
            gravity: vec3(libm::sin(slope), -libm::cos(slope), 0.0) * 9.81,
            ..settings()
        })
        .unwrap();
    run(&mut world, cube, 600, "a cube that creeps");

    // A rod on its end that begins to tip.
    let mut world = ground();
    let rod = Body::dynamic(Shape::capsule(0.8, 0.1)).at(vec3(0.0, 0.9, 0.0));
    let rod = world
        .add(rod.moving(Vec3::ZERO, vec3(0.0, 0.0, 1e-6)))
        .unwrap();
    while world.body(rod).unwrap().position().y > 0.5 {
        run(&mut world, rod, 1, "a rod that tips");
        assert!(world.steps() < 600);
    }

    // Bodies that nothing holds.
    let mut world = World::new(WorldSettings {
        gravity: Vec3::ZERO,
        ..settings()
    })
    .unwrap();
    let drift = Body::dynamic(Shape::sphere(0.2)).moving(vec3(1e-9, 0.0, 0.0), Vec3::ZERO);
    let drift = world.add(drift).unwrap();
    run(&mut world, drift, 120, "a body that drifts");
    world.set_velocity(drift, Velocity::ZERO).unwrap();
    settle(&mut world, 60);
}

#[test]
fn a_pushed_body_stays_awake_and_a_leaning_one_sleeps() {
    // Forces of single steps, too small to move it.
    let (mut world, _, cubes) = stack(1);
    for _ in 0..60 {
        world.add_force(cubes[0], vec3(10.0, 0.0, 0.0)).unwrap();
        world.step(DT).unwrap();
        assert!(awake(&world, &cubes));
    }
    // A constant one.
    world
        .set_constant_force(cubes[0], vec3(10.0, 0.0, 0.0), Vec3::ZERO)
        .unwrap();
    settle(&mut world, 60);
    let sideways: Vec3 = world.contacts().iter().map(|c| c.world_impulse()).sum();
    assert!((sideways.x + 10.0 * DT).abs() < 1e-6, "{sideways}");
}

#[test]
fn a_body_can_be_put_to_sleep_in_flight() {
    let mut world = World::new(WorldSettings::default()).unwrap();
    let ball = world
        .add(Body::dynamic(Shape::sphere(0.2)).at(vec3(0.0, 3.0, 0.0)))
        .unwrap();
    let fixed = world.add(Body::fixed(Shape::sphere(0.2))).unwrap();
    for _ in 0..10 {
        world.step(DT).unwrap();
    }
    let height = world.body(ball).unwrap().position().y;
    world.put_to_sleep(ball).unwrap();
    assert!(world.put_to_sleep(fixed).is_err());
    for _ in 0..100 {
        world.step(DT).unwrap();
    }
    assert_eq!(world.body(ball).unwrap().position().y, height);
    world.wake(ball).unwrap();
    world.step(DT).unwrap();
    assert!(world.body(ball).unwrap().position().y < height);
}

/// Stacks, a pile that falls on them, and a ball that comes later.
fn playground(sleeping: Option<Sleeping>, threads: usize) -> World {
    let mut world = World::new(WorldSettings {
        sleeping,
        ..WorldSettings::default()
    })
    .unwrap();
    world.set_threads(threads).unwrap();
    world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
    for i in 0..6 {
        for k in 0..4 {
            let place = vec3(1.5 * f64::from(i), 0.25 + 0.5 * f64::from(k), 0.0);
            let body = Body::dynamic(Shape::cuboid(0.25, 0.25, 0.25)).at(place);
            world.add(body).unwrap();
        }
    }
    world
}

fn play(world: &mut World, step: usize) {
    if step == 100 {
        let ball = Body::dynamic(Shape::sphere(0.3))
            .at(vec3(-2.0, 1.0, 0.05))
            .moving(vec3(9.0, 1.0, 0.0), Vec3::ZERO);
        world.add(ball).unwrap();
    }
    if step == 200 {
        let body = world.bodies().nth(20).unwrap().id();
        world.remove(body).unwrap();
    }
    world.step(DT).unwrap();
}

#[test]
fn the_bits_are_those_of_one_thread_and_of_a_restored_snapshot() {
    let mut world = playground(Some(Sleeping::default()), 1);
    let mut twins = [2, 3, 8].map(|n| playground(Some(Sleeping::default()), n));
    let mut restored = World::new(WorldSettings::default()).unwrap();
    let (mut slept, mut woken) = (0, 0);
    for step in 0..320 {
        play(&mut world, step);
        for twin in &mut twins {
            play(twin, step);
            assert_eq!(twin.hash(), world.hash(), "step {step}");
        }
        if [0, 80, 99, 150, 199, 250].contains(&step) {
            let bytes = world.snapshot();
            restored.restore(&bytes).unwrap();
            assert_eq!(restored.snapshot(), bytes);
        } else {
            play(&mut restored, step);
        }
        assert_eq!(restored.hash(), world.hash(), "step {step}");
        slept = slept.max(world.bodies().filter(|b| b.is_sleeping()).count());
        woken += usize::from(step > 100 && world.bodies().any(|b| !b.is_sleeping()));
    }
    assert_eq!(slept, 24);
    assert!(woken > 0);
}

#[test]
fn results_with_and_without_sleep_agree() {
    let mut on = playground(Some(Sleeping::default()), 1);
    let mut off = playground(None, 1);
    let mut most = 0;
    for step in 0..320 {
        play(&mut on, step);
        play(&mut off, step);
        most = most.max(on.bodies().filter(|b| b.is_sleeping()).count());
        // What a ball throws about depends on the last digits of what it meets.
        if step < 105 {
            for (a, b) in on.bodies().zip(off.bodies()) {
                assert!((a.position() - b.position()).length() < 1e-7, "step {step}");
                assert!((a.velocity().linear - b.velocity().linear).length() < 1e-4);
            }
        }
    }
    assert_eq!(most, 24);
    // The stacks that nothing hit.
    for id in [13, 14, 15, 16] {
        let place = |world: &World| world.bodies().nth(id).unwrap().position();
        assert!((place(&on) - place(&off)).length() < 1e-7);
    }
}

/// The same bodies added in another order sleep in the same step, at the same places.
#[test]
fn the_order_of_ids_does_not_matter() {
    let places: Vec<Vec3> = (0..12)
        .map(|i| vec3(1.2 * f64::from(i % 4), 0.5 + f64::from(i / 4), 0.0))
        .collect();
    let ends = [1, 5, 7].map(|stride| {
        let mut world = World::new(settings()).unwrap();
        let mut ids = [None; 12];
        for k in 0..12 {
            if k == 6 {
                world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
            }
            let i = k * stride % 12;
            ids[i] = Some(world.add(cube(places[i])).unwrap());
        }
        let steps = settle(&mut world, 100);
        let place = |id: &Option<BodyId>| world.body(id.unwrap()).unwrap().position();
        (steps, ids.iter().map(place).collect::<Vec<_>>())
    });
    for (steps, places) in &ends[1..] {
        assert_eq!(*steps, ends[0].0);
        for (a, b) in places.iter().zip(&ends[0].1) {
            assert!((*a - *b).length() < 1e-9);
        }
    }
}

/// A step that fails after it woke an island leaves it asleep.
#[test]
fn sensors_see_sleeping_bodies() {
    let (mut world, _, cubes) = stack(2);
    let zone = world
        .add(Body::fixed(Shape::cuboid(2.0, 2.0, 2.0)).sensor())
        .unwrap();
    for _ in 0..5 {
        world.step(DT).unwrap();
        assert!(asleep(&world, &cubes));
        let seen: Vec<_> = world
            .sensor_events()
            .iter()
            .map(|e| (e.sensor, e.body))
            .collect();
        assert!(seen.contains(&(zone, cubes[0])) && seen.contains(&(zone, cubes[1])));
    }
}

#[test]
fn queries_find_sleeping_bodies() {
    let (world, _, cubes) = stack(2);
    let ray = moreau_collision::Ray::new(vec3(-5.0, 1.5, 0.0), Vec3::X).unwrap();
    let hit = world
        .cast_ray(&ray, 10.0, Default::default(), &Default::default())
        .unwrap()
        .unwrap();
    assert_eq!(hit.id, cubes[1]);
}

#[test]
fn problems_of_the_next_step_show_sleeping_islands() {
    let (mut world, _, _) = stack(2);
    let hash = world.hash();
    let problems = world.next_problems(DT).unwrap();
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].problem.contacts().len(), 8);
    assert_eq!(world.hash(), hash);
}
