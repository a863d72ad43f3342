//! Nothing passes through anything, however fast: bullets, spinning rods, chains of impacts.

#[path = "support/random.rs"]
mod random;

use moreau_collision::Shape;
use moreau_math::{Vec3, rotation_from_vector, vec3};
use moreau_pipeline::{Body, BodyId, World, WorldSettings};
use random::Random;

const STEPS: [f64; 3] = [1.0 / 60.0, 1.0 / 240.0, 1.0 / 1000.0];

fn weightless() -> World {
    let settings = WorldSettings {
        gravity: Vec3::ZERO,
        ..WorldSettings::default()
    };
    World::new(settings).unwrap()
}

fn position(world: &World, id: BodyId) -> Vec3 {
    world.body(id).unwrap().position()
}

/// The least height of the body's box over the origin along an axis, m.
fn lowest(world: &World, id: BodyId, axis: Vec3) -> f64 {
    let body = world.body(id).unwrap();
    let aabb = body.shape().aabb(&body.pose());
    axis.dot(aabb.min).min(axis.dot(aabb.max))
}

fn bullets() -> [Shape; 5] {
    [
        Shape::sphere(0.02),
        Shape::cuboid(0.05, 0.02, 0.002),
        Shape::capsule(0.05, 0.005),
        Shape::cylinder(0.03, 0.01),
        Shape::cuboid(0.02, 0.02, 0.02),
    ]
}

/// A closed room of thin plates, 2 m wide; bullets of every kind fly about in it, spinning.
#[test]
fn bullets_stay_in_a_room_of_thin_walls() {
    let mut random = Random(1);
    for dt in STEPS {
        for speed in [10.0, 100.0, 1000.0] {
            let mut world = weightless();
            for (axis, half) in [
                (Vec3::X, vec3(0.002, 1.1, 1.1)),
                (Vec3::Y, vec3(1.1, 0.002, 1.1)),
                (Vec3::Z, vec3(1.1, 1.1, 0.002)),
            ] {
                for side in [-1.0, 1.0] {
                    let wall = Body::fixed(Shape::cuboid(half.x, half.y, half.z));
                    let wall = wall.at(axis * side).restitution(0.9).friction(0.3);
                    world.add(wall).unwrap();
                }
            }
            let mut ids = Vec::new();
            for k in 0..4 {
                for shape in bullets() {
                    let velocity = random.vec(1.0).normalize() * speed;
                    let body = Body::dynamic(shape.clone()).restitution(0.9).friction(0.3);
                    let body = body.at(random.vec(0.8)).rotated(random.rotation());
                    let spin = random.vec(30.0 * f64::from(k));
                    ids.push(world.add(body.moving(velocity, spin)).unwrap());
                }
            }
            let steps = (0.5 / dt).min(60.0) as u32;
            for step in 0..steps {
                world.step(dt).unwrap();
                for &id in &ids {
                    let p = position(&world, id);
                    let out = p.abs().max_element();
                    assert!(
                        out < 1.0,
                        "{} at {p} after step {step} of {dt} s at {speed} m/s",
                        world.body(id).unwrap().shape().kind()
                    );
                }
            }
        }
    }
}

/// Plates in the way of bullets from every side, at the speeds and steps of the table.
#[test]
fn a_wall_stops_bullets_from_every_side() {
    let mut random = Random(2);
    for dt in STEPS {
        for speed in [10.0, 50.0, 300.0, 1000.0] {
            for shape in bullets() {
                for _ in 0..4 {
                    let mut world = weightless();
                    let turn = random.rotation();
                    let normal = turn * Vec3::X;
                    let wall = Body::fixed(Shape::cuboid(0.001, 200.0, 200.0)).rotated(turn);
                    world.add(wall.friction(0.0)).unwrap();
                    let aim = turn * vec3(0.0, random.unit(), random.unit());
                    let slant = turn * vec3(0.0, random.unit() - 0.5, random.unit() - 0.5);
                    let way = (normal + slant).normalize();
                    // Reaches the wall at a random moment of some step.
                    let start = aim - way * (speed * dt * (0.2 + 3.0 * random.unit()) + 0.2);
                    let body = Body::dynamic(shape.clone()).at(start).friction(0.0);
                    let body = body
                        .rotated(random.rotation())
                        .moving(way * speed, Vec3::ZERO);
                    let id = world.add(body).unwrap();
                    for step in 0..6 {
                        world.step(dt).unwrap();
                        let height = normal.dot(position(&world, id));
                        assert!(
                            height < 0.0,
                            "{}: {height} after step {step} of {dt} s at {speed} m/s",
                            shape.kind()
                        );
                    }
                }
            }
        }
    }
}

/// A rod of 2 m at 100 rad/s with a thin plate in its way, free and fixed.
#[test]
fn a_spinning_rod_does_not_pass_a_plate() {
    for dt in STEPS {
        for fixed in [true, false] {
            for k in 0..12 {
                let ahead = 0.3 + 0.2 * f64::from(k);
                for distance in [0.5, 0.8] {
                    let mut world = weightless();
                    let quarter =
                        rotation_from_vector(vec3(0.0, 0.0, -std::f64::consts::FRAC_PI_2));
                    let rod = Body::dynamic(Shape::capsule(0.98, 0.02)).mass(5.0);
                    let rod = rod.rotated(quarter).friction(0.0);
                    let rod = rod.moving(Vec3::ZERO, vec3(0.0, 100.0, 0.0));
                    let rod = world.add(rod).unwrap();
                    // A positive turn about y takes x towards -z.
                    let turn = rotation_from_vector(vec3(0.0, ahead, 0.0));
                    let plate = Shape::cuboid(0.1, 0.3, 0.005);
                    let plate = if fixed {
                        Body::fixed(plate)
                    } else {
                        Body::dynamic(plate).mass(0.5)
                    };
                    let plate = plate.at(turn * (Vec3::X * distance)).rotated(turn);
                    let plate = world.add(plate.friction(0.0)).unwrap();
                    let side = |world: &World| {
                        let body = world.body(rod).unwrap();
                        let axis = body.rotation() * Vec3::Y;
                        axis.cross(position(world, plate) - body.position()).y
                    };
                    let (mut before, mut touched) = (side(&world), false);
                    for step in 0..(0.12 / dt) as u32 {
                        world.step(dt).unwrap();
                        touched |= world.contacts().iter().any(|c| c.impulse.x > 0.0);
                        let after = side(&world);
                        assert!(
                            touched || before * after > 0.0,
                            "dt {dt}, fixed {fixed}, {ahead} rad ahead, at {distance} m, step {step}"
                        );
                        before = after;
                    }
                    assert!(touched, "dt {dt}, {ahead} rad ahead, at {distance} m");
                }
            }
        }
    }
}

/// Thin plates that fly at each other from random sides, both turning.
#[test]
fn plates_in_flight_do_not_cross() {
    let mut random = Random(4);
    for dt in STEPS {
        for speed in [20.0, 200.0] {
            for _ in 0..20 {
                let mut world = weightless();
                let way = random.vec(1.0).normalize();
                let side = rotation_from_vector(Vec3::Z.cross(way) * 1.3);
                let mut plate = |at: f64, v: f64| {
                    let turned = rotation_from_vector(random.vec(0.3)) * side;
                    let body = Body::dynamic(Shape::cuboid(0.5, 0.5, 0.01)).rotated(turned);
                    let body = body.at(way * at).friction(0.0).restitution(0.5);
                    world.add(body.moving(way * v, random.vec(3.0))).unwrap()
                };
                let gap = 0.7 + speed * dt * 0.7;
                let (a, b) = (plate(-gap, speed), plate(gap, -0.6 * speed));
                let before: Vec3 = world.bodies().map(|b| b.momentum()).sum();
                // B's centre, seen from A: it may leave over A's edge, but not through A.
                let seen = |world: &World| {
                    let pose = world.body(a).unwrap().pose();
                    pose.inverse_transform_point(position(world, b))
                };
                let mut before_step = seen(&world);
                for _ in 0..8 {
                    world.step(dt).unwrap();
                    let now = seen(&world);
                    let over = |p: Vec3| p.x.abs().max(p.y.abs()) < 0.45;
                    assert!(
                        before_step.z * now.z > 0.0 || !over(before_step) || !over(now),
                        "{before_step} to {now} at dt {dt}, {speed} m/s"
                    );
                    before_step = now;
                }
                let after: Vec3 = world.bodies().map(|b| b.momentum()).sum();
                assert!((after - before).length() < 1e-9 * speed * 30.0);
            }
        }
    }
}

/// A bullet into a row of five resting cubes in front of a thin wall.
#[test]
fn a_chain_passes_the_blow_on_and_not_itself() {
    for dt in STEPS {
        for gap in [0.0, 0.001, 0.05, 0.4] {
            for restitution in [0.0, 0.5, 1.0] {
                let mut world = weightless();
                let wall = Body::fixed(Shape::cuboid(0.005, 1.0, 1.0)).at(vec3(4.0, 0.0, 0.0));
                world
                    .add(wall.friction(0.0).restitution(restitution))
                    .unwrap();
                let mut ids = Vec::new();
                for i in 0..5 {
                    let x = -0.2 + (0.2 + gap) * f64::from(i);
                    let cube = Body::dynamic(Shape::cuboid(0.1, 0.1, 0.1)).friction(0.0);
                    let cube = cube.at(vec3(x, 0.0, 0.0)).restitution(restitution);
                    ids.push(world.add(cube).unwrap());
                }
                let bullet = Body::dynamic(Shape::sphere(0.02))
                    .density(8000.0)
                    .friction(0.0);
                let bullet = bullet.at(vec3(-3.0, 0.0, 0.0)).restitution(restitution);
                let bullet = bullet.moving(vec3(400.0, 0.0, 0.0), Vec3::ZERO);
                ids.insert(0, world.add(bullet).unwrap());
                let width = |k: usize| if k == 0 { 0.02 } else { 0.1 };
                for step in 0..(0.3 / dt) as u32 {
                    world.step(dt).unwrap();
                    let x: Vec<f64> = ids.iter().map(|&id| position(&world, id).x).collect();
                    // Half-way to the middle of a cube is far from through it.
                    for k in 0..5 {
                        let overlap = width(k) + width(k + 1) - (x[k + 1] - x[k]);
                        assert!(
                            overlap < 0.05,
                            "{overlap} of {k}, step {step} of {dt}, gap {gap}, e {restitution}: {x:?}"
                        );
                    }
                    assert!(x[5] < 4.0 - 0.1, "{x:?} at step {step} of {dt}");
                }
            }
        }
    }
}

/// A ball that a mirror turns aside cuts short the way of a wobbling brick that nothing pushes: it keeps
/// its energy and the vector of its angular momentum.
#[test]
fn a_cut_way_keeps_the_angular_momentum() {
    let dt = 1.0 / 60.0;
    let mut cut = 0;
    for k in 0..10 {
        let mut world = weightless();
        let eighth = rotation_from_vector(vec3(0.0, 0.0, std::f64::consts::FRAC_PI_4));
        let mirror = Body::fixed(Shape::cuboid(0.3, 0.005, 0.3)).rotated(eighth);
        let mirror = mirror.friction(0.0).restitution(1.0);
        world.add(mirror).unwrap();
        let brick = Body::dynamic(Shape::cuboid(0.1, 0.2, 0.3)).friction(0.0);
        let brick = brick.at(vec3(-0.45 + 0.01 * f64::from(k), 1.2, 0.0));
        let brick = world
            .add(brick.moving(Vec3::ZERO, vec3(9.0, 8.0, 7.0)))
            .unwrap();
        let ball = Body::dynamic(Shape::sphere(0.02))
            .friction(0.0)
            .restitution(1.0);
        let ball = ball.at(vec3(-1.0, 0.0, 0.0));
        world
            .add(ball.moving(vec3(200.0, 0.0, 0.0), Vec3::ZERO))
            .unwrap();
        let spin = |world: &World| {
            let body = world.body(brick).unwrap();
            (body.angular_momentum(), body.kinetic_energy())
        };
        let before = spin(&world);
        let report = world.step(dt).unwrap();
        let pushed = world
            .contacts()
            .iter()
            .any(|c| (c.a == brick || c.b == brick) && c.impulse != Vec3::ZERO);
        if report.stopped_bodies == 0 || pushed {
            continue;
        }
        cut += 1;
        let after = spin(&world);
        assert!((after.0 - before.0).length() < 1e-12 * before.0.length());
        assert!((after.1 - before.1).abs() < 1e-12 * before.1);
    }
    assert!(cut > 3, "{cut}");
}

/// Bodies that turn by 40 to 2000 rad a step in front of a wall, that they pass by or run into: they go on as far as
/// there is room, up to 200 rad, and not through it.
#[test]
fn what_spins_by_many_turns_a_step_neither_stands_nor_passes() {
    let mut random = Random(9);
    let shapes = [
        Shape::cuboid(0.3, 0.1, 0.02),
        Shape::capsule(0.3, 0.05),
        Shape::cone(0.3, 0.1),
        Shape::cylinder(0.02, 0.3),
    ];
    let dt = 1.0 / 60.0;
    for shape in shapes {
        for turn in [40.0, 97.0, 200.0, 2000.0] {
            for (toward, apart) in [(0.0, 0.25), (0.5, 0.4), (3.0, 0.4), (20.0, 0.6)] {
                let mut world = weightless();
                let wall = Body::fixed(Shape::cuboid(0.01, 500.0, 500.0)).friction(0.0);
                world.add(wall).unwrap();
                let axis = random.vec(1.0).normalize();
                let body = Body::dynamic(shape.clone()).friction(0.0);
                let body = body.rotated(random.rotation()).at(Vec3::NEG_X * apart);
                let along = vec3(toward, 3.0, 4.0);
                let body = body.moving(along, axis * (turn / dt));
                let id = world.add(body).unwrap();
                if lowest(&world, id, Vec3::NEG_X) < 0.01 {
                    // In the wall from the start.
                    continue;
                }
                let center = |world: &World| world.body(id).unwrap().center_of_mass();
                let (start, energy) = (center(&world).y, world.kinetic_energy());
                let steps = 60;
                for step in 1..=steps {
                    world.step(dt).unwrap();
                    let p = center(&world);
                    assert!(
                        p.x < 0.0,
                        "{} with {turn} rad, {toward} m/s: {p} after step {step}",
                        shape.kind()
                    );
                    let now = world.kinetic_energy();
                    assert!(now < energy * (1.0 + 1e-9), "{now} J of {energy}");
                }
                // Nothing slows it along the smooth wall, but its way is cut while it strikes.
                let way = center(&world).y - start;
                let right = 3.0 * dt * f64::from(steps);
                assert!(
                    (way > 0.15 * right || turn > 200.0) && way < 1.001 * right,
                    "{} with {turn} rad, {toward} m/s, at {apart} m: {way} m of {right}",
                    shape.kind()
                );
            }
        }
    }
}
