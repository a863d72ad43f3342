//! Groups, ignored pairs and sensors.

use SensorEventKind::{Begin, End, Stay};
use moreau_collision::{Groups, Shape};
use moreau_math::{Pose, Vec3, vec3};
use moreau_pipeline::{Body, BodyId, SensorEventKind, World, WorldSettings};

const DT: f64 = 1.0 / 60.0;

fn weightless() -> World {
    let settings = WorldSettings {
        gravity: Vec3::ZERO,
        ..WorldSettings::default()
    };
    World::new(settings).unwrap()
}

fn cube() -> Body {
    Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5))
}

fn height(world: &World, id: BodyId) -> f64 {
    world.body(id).unwrap().position().y
}

#[test]
fn groups_decide_who_collides() {
    let mut world = World::new(WorldSettings::default()).unwrap();
    let shelf = Body::fixed(Shape::cuboid(5.0, 0.5, 5.0)).at(vec3(0.0, -0.5, 0.0));
    world.add(shelf.groups(Groups::new(0b100, 0b001))).unwrap();
    let mut drop = |x: f64, groups| {
        let body = cube().at(vec3(x, 0.5, 0.0)).groups(groups);
        world.add(body).unwrap()
    };
    let meets = drop(-3.0, Groups::new(0b001, 0b100));
    let wrong_group = drop(-1.0, Groups::new(0b010, 0b100));
    let looks_away = drop(1.0, Groups::new(0b001, 0b001));
    let default = drop(3.0, Groups::ALL);
    for _ in 0..60 {
        world.step(DT).unwrap();
    }
    // Free fall in 60 steps is 4.905 m.
    for (id, expected) in [
        (meets, 0.5),
        (wrong_group, 0.5 - 4.905),
        (looks_away, 0.5 - 4.905),
        (default, 0.5),
    ] {
        assert!((height(&world, id) - expected).abs() < 1e-6, "{id}");
    }
    // Changed while it rests, it falls as well.
    world.set_groups(meets, Groups::NONE).unwrap();
    for _ in 0..60 {
        world.step(DT).unwrap();
    }
    assert!((height(&world, meets) - (0.5 - 4.905)).abs() < 1e-6);
}

#[test]
fn ignored_pairs_pass_through_each_other() {
    let mut world = weightless();
    let a = cube()
        .at(vec3(-2.0, 0.0, 0.0))
        .moving(vec3(4.0, 0.0, 0.0), Vec3::ZERO);
    let a = world.add(a).unwrap();
    let b = world.add(cube().at(vec3(0.0, 0.0, 0.0))).unwrap();
    let c = world.add(cube().at(vec3(3.0, 0.0, 0.0))).unwrap();
    world.ignore_pair(b, a, true).unwrap();
    let bytes = world.snapshot();
    let through = |world: &mut World| {
        for _ in 0..90 {
            world.step(DT).unwrap();
        }
        let speed = |id| world.body(id).unwrap().velocity().linear.x;
        (speed(a), speed(b), speed(c))
    };
    // Without restitution a and c go on together.
    let (va, vb, vc) = through(&mut world);
    assert!((va - 2.0).abs() < 1e-9 && vb == 0.0 && (vc - 2.0).abs() < 1e-9);
    let restored = through(&mut World::from_snapshot(&bytes).unwrap());
    assert_eq!(restored, (va, vb, vc));
    let mut again = World::from_snapshot(&bytes).unwrap();
    again.ignore_pair(a, b, false).unwrap();
    assert!(through(&mut again).1 > 1.0);
    // With a body its pairs go, and the id that follows does not inherit them.
    let mut again = World::from_snapshot(&bytes).unwrap();
    again.remove(b).unwrap();
    let d = again.add(cube()).unwrap();
    assert_eq!(d.index, b.index);
    for _ in 0..60 {
        again.step(DT).unwrap();
    }
    assert!(again.body(d).unwrap().velocity().linear.x > 1.0);
    assert!(again.ignore_pair(a, b, true).is_err());
}

/// The events of the last step, by names.
fn events(world: &World) -> Vec<(BodyId, BodyId, SensorEventKind)> {
    let events = world.sensor_events().iter();
    events.map(|e| (e.sensor, e.body, e.kind)).collect()
}

#[test]
fn sensors_tell_who_comes_stays_and_goes() {
    // A gate from x = -1 to 1, cubes that pass it, and bodies that it does not see.
    let mut world = weightless();
    let speed = vec3(6.0, 0.0, 0.0);
    let first = world
        .add(cube().at(vec3(-2.04, 0.0, 0.0)).moving(speed, Vec3::ZERO))
        .unwrap();
    let gate = world
        .add(Body::fixed(Shape::cuboid(1.0, 3.0, 3.0)).sensor())
        .unwrap();
    let post = Body::fixed(Shape::sphere(0.1)).at(vec3(0.0, -2.0, 0.0));
    world.add(post).unwrap();
    let cart = Body::kinematic(Shape::sphere(0.1)).at(vec3(-1.55, 2.0, 0.0));
    let cart = world.add(cart.moving(speed, Vec3::ZERO)).unwrap();
    let other = Groups::new(2, 2);
    let ghost = cube().at(vec3(0.0, 0.0, -2.0)).groups(other);
    let ghost = world.add(ghost).unwrap();
    world.set_groups(gate, Groups::new(1, 1)).unwrap();
    let watcher = Body::kinematic(Shape::sphere(1.0)).sensor();
    world
        .add(watcher.at(vec3(0.0, 0.0, -1.0)).groups(other))
        .unwrap();
    let mut seen = Vec::new();
    for _ in 0..60 {
        world.step(DT).unwrap();
        seen.push(events(&world));
    }
    // The cube: overlap from x = -1.5 to 1.5, at 0.1 m a step from -2.04: steps 6 to 35. The cart:
    // from -1.1 to 1.1 from -1.55: steps 5 to 26.
    for (k, at) in (1..).zip(&seen) {
        let phase = |from: i32, to: i32| match k {
            k if k == from => Some(Begin),
            k if k > from && k <= to => Some(Stay),
            k if k == to + 1 => Some(End),
            _ => None,
        };
        let mut expected = Vec::new();
        if let Some(kind) = phase(6, 35) {
            expected.push((gate, first, kind));
        }
        if let Some(kind) = phase(5, 26) {
            expected.push((gate, cart, kind));
        }
        let of_gate: Vec<_> = at.iter().filter(|e| e.0 == gate).copied().collect();
        assert_eq!(of_gate, expected, "step {k}");
        // The other sensor, of the ghost's group, sees the ghost and no sensor.
        let others: Vec<_> = at.iter().filter(|e| e.0 != gate).map(|e| e.1).collect();
        assert!(others.contains(&ghost) && !others.contains(&gate));
    }
    // Nothing was pushed.
    assert_eq!(world.body(first).unwrap().velocity().linear, speed);
    assert_eq!(world.contacts().len(), 0);
}

#[test]
fn a_bullet_that_passes_a_sensor_within_a_step_is_seen() {
    let mut world = weightless();
    let gate = Body::fixed(Shape::cuboid(0.01, 1.0, 1.0)).sensor();
    let gate = world.add(gate.at(vec3(5.0, 0.0, 0.0))).unwrap();
    let bullet = |y: f64| {
        let body = Body::dynamic(Shape::sphere(0.02)).at(vec3(0.0, y, 0.0));
        body.moving(vec3(900.0, 0.0, 0.0), Vec3::ZERO)
    };
    let hits = world.add(bullet(0.3)).unwrap();
    world.add(bullet(1.3)).unwrap();
    world.step(DT).unwrap();
    assert_eq!(events(&world), [(gate, hits, Begin), (gate, hits, End)]);
    world.step(DT).unwrap();
    assert_eq!(events(&world), []);
}

#[test]
fn sensors_in_snapshots_and_without_their_bodies() {
    let mut world = weightless();
    let zone = world
        .add(Body::kinematic(Shape::sphere(1.0)).sensor())
        .unwrap();
    let body = world.add(cube().at(vec3(0.5, 0.0, 0.0))).unwrap();
    let wall = Body::fixed(Shape::cuboid(0.1, 1.0, 1.0)).at(vec3(-0.5, 0.0, 0.0));
    let wall = world.add(wall).unwrap();
    world.step(DT).unwrap();
    // A sensor that moves sees fixed bodies, too.
    assert_eq!(events(&world), [(zone, body, Begin), (zone, wall, Begin)]);
    let mut copy = World::from_snapshot(&world.snapshot()).unwrap();
    assert_eq!(events(&copy), events(&world));
    for world in [&mut world, &mut copy] {
        world.step(DT).unwrap();
        assert_eq!(events(world), [(zone, body, Stay), (zone, wall, Stay)]);
    }
    world.remove(body).unwrap();
    world
        .set_pose(wall, Pose::from_translation(vec3(9.0, 0.0, 0.0)))
        .unwrap();
    world.step(DT).unwrap();
    assert_eq!(events(&world), [(zone, body, End), (zone, wall, End)]);
    world.step(DT).unwrap();
    assert_eq!(events(&world), []);
    copy.remove(zone).unwrap();
    copy.step(DT).unwrap();
    assert_eq!(events(&copy), [(zone, body, End), (zone, wall, End)]);
    // And the cube and the wall had never anything to do with the zone's place.
    assert_eq!(copy.body(body).unwrap().position(), vec3(0.5, 0.0, 0.0));
}

#[test]
fn a_floor_that_is_a_sensor() {
    let mut world = World::new(WorldSettings::default()).unwrap();
    let below = world
        .add(Body::fixed(Shape::half_space(Vec3::Y)).sensor())
        .unwrap();
    let body = world.add(cube().at(vec3(0.0, 0.6, 0.0))).unwrap();
    let mut begin = 0;
    for k in 1..60 {
        world.step(DT).unwrap();
        let now = events(&world);
        if now == [(below, body, Begin)] {
            begin = k;
        }
    }
    // 0.1 m of free fall take 0.1428 s: within the ninth step.
    assert_eq!(begin, 9);
    assert!(height(&world, body) < -3.0);
}
