//! Nothing passes through a mesh, a heightfield or a compound, however fast it comes or is made by a
//! blow in the same step.

#[path = "support/random.rs"]
mod random;

use moreau_collision::Shape;
use moreau_math::{Pose, Vec3, rotation_from_vector, vec3};
use moreau_pipeline::{Body, BodyId, World, WorldSettings};
use random::Random;

const STEPS: [f64; 3] = [1.0 / 60.0, 1.0 / 240.0, 1.0 / 1000.0];

/// Half the width of the grounds, m, and of their cells.
const HALF: f64 = 60.0;
const CELL: f64 = 6.0;

/// A level sheet at height zero: open, of triangles.
fn sheet() -> Shape {
    let count = (2.0 * HALF / CELL) as u32;
    let at = |i: u32| CELL * f64::from(i) - HALF;
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    for i in 0..=count {
        vertices.extend((0..=count).map(|k| vec3(at(i), 0.0, at(k))));
    }
    for i in 0..count {
        for k in 0..count {
            let a = i * (count + 1) + k;
            let b = a + count + 1;
            triangles.extend([[a, a + 1, b], [b, a + 1, b + 1]]);
        }
    }
    Shape::mesh(&vertices, &triangles).unwrap()
}

/// Level grounds at height zero.
fn grounds() -> Vec<(&'static str, Body)> {
    let count = (2.0 * HALF / CELL) as usize + 1;
    let field = Shape::heightfield(count, count, vec![0.0; count * count], [CELL; 2]).unwrap();
    let corner = vec3(-HALF, 0.0, -HALF);
    let plate = Shape::cuboid(0.5 * HALF, 0.002, HALF);
    let plates = [-0.5, 0.5].map(|side| {
        let place = Pose::from_translation(vec3(side * HALF, -0.002, 0.0));
        (plate.clone(), place)
    });
    let sheets = [(sheet(), Pose::IDENTITY)];
    let fields = [(field.clone(), Pose::from_translation(corner))];
    let compound = |parts: &[(Shape, Pose)]| Body::fixed(Shape::compound(parts).unwrap());
    vec![
        ("mesh", Body::fixed(sheet())),
        ("heightfield", Body::fixed(field).at(corner)),
        ("compound of plates", compound(&plates)),
        ("compound with a mesh", compound(&sheets)),
        ("compound with a heightfield", compound(&fields)),
    ]
}

fn bullets() -> Vec<Shape> {
    let dumbbell = [-0.05, 0.05].map(|x| {
        let place = Pose::from_translation(vec3(x, 0.0, 0.0));
        (Shape::sphere(0.02), place)
    });
    let corners: Vec<Vec3> = (0..6)
        .map(|i| Vec3::AXES[i / 2] * if i % 2 == 0 { 0.03 } else { -0.03 })
        .collect();
    vec![
        Shape::sphere(0.02),
        Shape::cuboid(0.05, 0.02, 0.002),
        Shape::capsule(0.05, 0.005),
        Shape::cylinder(0.03, 0.01),
        Shape::cone(0.03, 0.02),
        Shape::hull(&corners).unwrap(),
        Shape::compound(&dumbbell).unwrap(),
    ]
}

fn weightless() -> World {
    let settings = WorldSettings {
        gravity: Vec3::ZERO,
        ..WorldSettings::default()
    };
    World::new(settings).unwrap()
}

fn height(world: &World, id: BodyId) -> f64 {
    world.body(id).unwrap().position().y
}

fn over_the_ground(world: &World, id: BodyId) -> bool {
    let p = world.body(id).unwrap().position();
    p.x.abs().max(p.z.abs()) < HALF - 1.0
}

/// The heights at which the body's lowest point is, m.
fn lowest(world: &World, id: BodyId) -> f64 {
    let body = world.body(id).unwrap();
    body.shape().aabb(&body.pose()).min.y
}

#[test]
fn bullets_do_not_pass_a_ground() {
    let mut random = Random(1);
    for (name, ground) in grounds() {
        for dt in STEPS {
            for speed in [10.0, 50.0, 300.0, 1000.0] {
                for shape in bullets() {
                    for spin in [0.0, 100.0] {
                        let mut world = weightless();
                        world.add(ground.clone().friction(0.0)).unwrap();
                        let way = vec3(0.4 * random.signed(), -1.0, 0.4 * random.signed());
                        let way = way.normalize();
                        let aim = vec3(random.signed(), 0.0, random.signed());
                        let start = aim - way * (speed * dt * (0.2 + 2.0 * random.unit()) + 0.2);
                        let body = Body::dynamic(shape.clone()).at(start).friction(0.0);
                        let axis = random.rotation() * Vec3::X;
                        let body = body.rotated(random.rotation());
                        let body = body.restitution(if spin == 0.0 { 0.0 } else { 0.5 });
                        let id = world.add(body.moving(way * speed, axis * spin)).unwrap();
                        for step in 0..5 {
                            world.step(dt).unwrap();
                            let y = height(&world, id);
                            assert!(
                                y > 0.0 || !over_the_ground(&world, id),
                                "{} in a {name}: {y} after step {step} of {dt} s at {speed} m/s",
                                shape.kind()
                            );
                        }
                    }
                }
            }
        }
    }
}

/// A body at rest over the ground that a bullet drives into it in the step in which it is hit.
#[test]
fn a_blow_does_not_drive_a_body_through_the_ground() {
    let mut random = Random(2);
    for (name, ground) in grounds() {
        for dt in STEPS {
            for speed in [50.0, 300.0, 1000.0] {
                for shape in bullets() {
                    let mut world = weightless();
                    world.add(ground.clone().friction(0.0)).unwrap();
                    let place = vec3(random.signed(), 0.3 * speed * dt + 0.1, random.signed());
                    let body = Body::dynamic(shape.clone()).at(place).friction(0.0);
                    let id = world.add(body.rotated(random.rotation())).unwrap();
                    let above = place + Vec3::Y * 0.2;
                    let hammer = Body::dynamic(Shape::sphere(0.08)).density(8000.0);
                    let hammer = hammer.at(above).moving(Vec3::NEG_Y * speed, Vec3::ZERO);
                    world.add(hammer.friction(0.0)).unwrap();
                    for step in 0..5 {
                        world.step(dt).unwrap();
                        let y = height(&world, id);
                        assert!(
                            y > 0.0 || !over_the_ground(&world, id),
                            "{} in a {name}: {y} after step {step} of {dt} s at {speed} m/s",
                            shape.kind()
                        );
                    }
                }
            }
        }
    }
}

/// A rod of 2 m that turns above the ground, its ends on their way through it, by itself or from a blow
/// to one end.
#[test]
fn the_ends_of_a_turning_rod_do_not_pass_a_ground() {
    let quarter = rotation_from_vector(vec3(0.0, 0.0, -std::f64::consts::FRAC_PI_2));
    for (name, ground) in grounds() {
        for dt in STEPS {
            for spin in [20.0, 60.0, 100.0] {
                for struck in [false, true] {
                    for rise in [0.3, 0.9] {
                        let mut world = weightless();
                        world.add(ground.clone().friction(0.0)).unwrap();
                        let rod = Body::dynamic(Shape::capsule(0.98, 0.02)).mass(5.0);
                        let rod = rod.rotated(quarter).at(Vec3::Y * rise).friction(0.0);
                        let turn = if struck { 0.0 } else { spin };
                        let rod = rod.moving(Vec3::ZERO, Vec3::Z * -turn);
                        let rod = world.add(rod).unwrap();
                        if struck {
                            let ball = Body::dynamic(Shape::sphere(0.05)).mass(20.0);
                            let ball = ball.at(vec3(0.95, rise + 0.08, 0.0)).friction(0.0);
                            world
                                .add(ball.moving(Vec3::NEG_Y * spin, Vec3::ZERO))
                                .unwrap();
                        }
                        for step in 0..(0.1 / dt) as u32 {
                            world.step(dt).unwrap();
                            let low = lowest(&world, rod);
                            // The rod's own thickness at the most.
                            assert!(
                                low > -0.02,
                                "{low} in a {name} after step {step} of {dt} s, {spin} rad/s, \
                                 struck {struck}, {rise} m above"
                            );
                        }
                    }
                }
            }
        }
    }
}

/// Bodies of parts that are as deep in each other as bodies may be, more or less, and that fly apart while they
/// spin: they went nowhere, and gathered what fell to them of gravity as speed.
#[test]
fn nothing_stands_still_for_being_deep_already() {
    let brick = || {
        let only = (Shape::cuboid(0.4, 0.2, 0.2), Pose::IDENTITY);
        Shape::compound(&[only]).unwrap()
    };
    // A quarter of the inner radius.
    let kappa = 0.05;
    let mut random = Random(7);
    let mut seen = 0;
    for part in [0.5, 0.98, 0.99, 0.995, 0.999, 1.0, 1.001, 1.01, 1.1, 2.0] {
        for dt in STEPS {
            let turn = random.rotation();
            let mut settings = WorldSettings {
                gravity: Vec3::ZERO,
                ..WorldSettings::default()
            };
            settings.position_correction.rate = 0.0;
            let mut world = World::new(settings).unwrap();
            let along = turn * Vec3::Y;
            let up = along * (0.4 - part * kappa);
            let still = Body::fixed(brick()).rotated(turn).friction(0.0);
            world.add(still).unwrap();
            // Its corners part from the other, though one that is as far away as the furthest might not.
            let scale = 4.0 / (60.0 * dt);
            let speed = turn * vec3(0.1, 1.35, 0.2) * scale;
            let spin = turn * vec3(0.0, 0.0, 3.0) * scale;
            let flying = Body::dynamic(brick()).at(up).rotated(turn).friction(0.0);
            let id = world.add(flying.moving(speed, spin)).unwrap();
            world.step(dt).unwrap();
            let way = world.body(id).unwrap().position() - up;
            let velocity = world.body(id).unwrap().velocity().linear;
            assert!(
                (velocity - speed).length() < 1e-9,
                "{part} {dt}: {velocity}"
            );
            let off = (way - speed * dt).length();
            assert!(
                off < 0.05 * speed.length() * dt,
                "{part} {dt}: {way} of {}",
                speed * dt
            );
            seen += 1;
        }
    }
    assert_eq!(seen, 30);
}
