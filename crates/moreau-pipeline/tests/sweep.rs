//! Bodies that move further in a step than the prediction distance, or than their own size.

use moreau_collision::Shape;
use moreau_math::{Quat, Vec3, vec3};
use moreau_pipeline::{Body, BodyId, World, WorldSettings};

const STEPS: [f64; 3] = [1.0 / 60.0, 1.0 / 240.0, 1.0 / 1000.0];

fn weightless() -> World {
    let settings = WorldSettings {
        gravity: Vec3::ZERO,
        ..WorldSettings::default()
    };
    World::new(settings).unwrap()
}

fn run(world: &mut World, seconds: f64, dt: f64) {
    for _ in 0..(seconds / dt).round() as u32 {
        world.step(dt).unwrap();
    }
}

fn position(world: &World, id: BodyId) -> Vec3 {
    world.body(id).unwrap().position()
}

fn velocity(world: &World, id: BodyId) -> Vec3 {
    world.body(id).unwrap().velocity().linear
}

#[test]
fn a_fall_ends_on_the_floor_and_not_in_it() {
    let shapes = [
        Shape::sphere(0.5),
        Shape::cuboid(0.5, 0.5, 0.5),
        Shape::capsule(0.3, 0.5),
        Shape::hull(&[
            Vec3::X,
            -Vec3::X,
            Vec3::Z,
            -Vec3::Z,
            vec3(0.0, -0.5, 0.0),
            Vec3::Y,
        ])
        .unwrap(),
    ];
    let floors = [
        (Shape::half_space(Vec3::Y), 0.0),
        (Shape::cuboid(5.0, 1.0, 5.0), -1.0),
    ];
    for dt in STEPS {
        for shape in &shapes {
            for (floor, y) in &floors {
                let mut world = World::new(WorldSettings::default()).unwrap();
                world
                    .add(Body::fixed(floor.clone()).at(vec3(0.0, *y, 0.0)))
                    .unwrap();
                let turned = Quat::from_rotation_y(0.3);
                let body = Body::dynamic(shape.clone())
                    .at(vec3(0.0, 8.0, 0.0))
                    .rotated(turned);
                world.add(body).unwrap();
                let mut deepest = 0.0_f64;
                for _ in 0..(2.0 / dt) as u32 {
                    deepest = deepest.max(world.step(dt).unwrap().max_penetration);
                }
                // The gap at which a swept pair counts as met, and the slop of resting contacts.
                assert!(
                    deepest < 1.1e-4,
                    "{} at dt {dt}: {deepest} m deep",
                    shape.kind()
                );
            }
        }
    }
}

#[test]
fn a_bullet_does_not_pass_a_wall_thinner_than_its_step() {
    for dt in STEPS {
        for shape in [
            Shape::sphere(0.05),
            Shape::cuboid(0.05, 0.03, 0.02),
            Shape::capsule(0.05, 0.02),
        ] {
            let mut world = weightless();
            let wall = Shape::cuboid(0.005, 2.0, 2.0);
            world
                .add(Body::fixed(wall).at(vec3(0.123, 0.0, 0.0)).friction(0.0))
                .unwrap();
            let start = vec3(-3.0, 0.3, 0.2);
            let bullet = Body::dynamic(shape)
                .at(start)
                .moving(vec3(700.0, 20.0, 0.0), Vec3::ZERO);
            let bullet = world.add(bullet.friction(0.0)).unwrap();
            run(&mut world, 0.05, dt);
            let (p, v) = (position(&world, bullet), velocity(&world, bullet));
            assert!(p.x < 0.123, "dt {dt}: {p}");
            assert!(v.x.abs() < 1e-9, "dt {dt}: {v}");
        }
    }
}

#[test]
fn head_on_elastic_bullets_swap_their_velocities() {
    for dt in STEPS {
        let mut world = weightless();
        let ball = |x: f64, v: f64| {
            let body = Body::dynamic(Shape::sphere(0.1)).at(vec3(x, 0.0, 0.0));
            body.moving(vec3(v, 0.0, 0.0), Vec3::ZERO).restitution(1.0)
        };
        let a = world.add(ball(-1.0, 200.0)).unwrap();
        let b = world.add(ball(1.0, -200.0)).unwrap();
        run(&mut world, 0.05, dt);
        assert!((velocity(&world, a) - vec3(-200.0, 0.0, 0.0)).length() < 1e-10);
        assert!((velocity(&world, b) - vec3(200.0, 0.0, 0.0)).length() < 1e-10);
        assert!(position(&world, a).x < position(&world, b).x);
    }
}

#[test]
fn what_passes_by_is_not_stopped() {
    for dt in STEPS {
        for shape in [Shape::sphere(0.1), Shape::cuboid(0.1, 0.1, 0.1)] {
            let mut world = weightless();
            let block = Body::fixed(Shape::cuboid(0.5, 0.5, 0.5)).at(vec3(0.0, -0.5, 0.0));
            world.add(block).unwrap();
            // Along the top face 30 mm above it, and down past an edge.
            let along = Body::dynamic(shape.clone()).at(vec3(-2.1, 0.13, 0.0));
            let along = world
                .add(along.moving(vec3(240.0, 0.0, 0.0), Vec3::ZERO))
                .unwrap();
            let down = Body::dynamic(shape).at(vec3(0.65, 2.1, 0.3));
            let down = world
                .add(down.moving(vec3(0.0, -240.0, 0.0), Vec3::ZERO))
                .unwrap();
            run(&mut world, 0.05, dt);
            assert_eq!(velocity(&world, along), vec3(240.0, 0.0, 0.0), "dt {dt}");
            assert_eq!(velocity(&world, down), vec3(0.0, -240.0, 0.0), "dt {dt}");
        }
    }
}

#[test]
fn a_body_stopped_in_the_step_stops_the_one_behind_it() {
    // Two cubes fall together; their relative velocity is zero until the first lands.
    for dt in STEPS {
        let mut world = World::new(WorldSettings::default()).unwrap();
        world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
        let cube = |y: f64| {
            let body = Body::dynamic(Shape::cuboid(0.2, 0.2, 0.2)).at(vec3(0.0, y, 0.0));
            body.moving(vec3(0.0, -30.0, 0.0), Vec3::ZERO)
        };
        let lower = world.add(cube(3.0)).unwrap();
        let upper = world.add(cube(3.45)).unwrap();
        let mut deepest = 0.0_f64;
        for _ in 0..(0.5 / dt) as u32 {
            deepest = deepest.max(world.step(dt).unwrap().max_penetration);
        }
        assert!(deepest < 1.1e-4, "dt {dt}: {deepest} m deep");
        assert!((position(&world, lower).y - 0.2).abs() < 2e-4);
        assert!((position(&world, upper).y - 0.6).abs() < 4e-4);
    }
}
