//! Numbers at the edge of f64: a step works, or says that it would not and leaves the world alone.

use moreau_collision::Shape;
use moreau_math::{Vec3, Velocity, vec3};
use moreau_pipeline::{Body, BodyId, Mass, World, WorldError, WorldSettings};

fn pair(world: &mut World) -> [BodyId; 2] {
    world
        .add(Body::fixed(Shape::half_space(Vec3::Y)).restitution(1.0))
        .unwrap();
    let cube = Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5))
        .mass(1.0)
        .restitution(1.0);
    let ball = Body::dynamic(Shape::sphere(0.5)).mass(1.0).restitution(1.0);
    [
        world.add(cube.at(vec3(0.0, 0.5, 0.0))).unwrap(),
        world.add(ball.at(vec3(0.3, 1.5, 0.0))).unwrap(),
    ]
}

/// Steps a few times: every number stays finite, and a step that fails leaves no trace.
fn survive(world: &mut World, what: &str) {
    for _ in 0..5 {
        let before = world.snapshot();
        match world.step(1.0 / 60.0) {
            Ok(report) => {
                assert!(!report.residual.is_nan(), "{what}: residual");
                for body in world.bodies() {
                    let v = body.velocity();
                    let finite = body.pose().is_finite()
                        && v.linear.is_finite()
                        && v.angular.is_finite()
                        && (body.rotation().length() - 1.0).abs() < 1e-6;
                    assert!(finite, "{what}: body {}", body.id());
                }
                for c in world.contacts() {
                    assert!(
                        c.impulse.is_finite() && c.separation.is_finite(),
                        "{what}: contact"
                    );
                }
            }
            Err(error) => {
                let told = matches!(
                    error,
                    WorldError::Diverged { .. } | WorldError::Solve(_) | WorldError::Problem(_)
                );
                assert!(told, "{what}: {error:?}");
                assert!(world.snapshot() == before, "{what}: the world has changed");
                return;
            }
        }
    }
}

#[test]
fn huge_velocities() {
    let directions = [Vec3::X, -Vec3::Y, vec3(0.6, -0.8, 0.0), Vec3::Z];
    for exponent in [3, 6, 9, 12, 50, 100, 150, 155, 200, 300, 307] {
        let size: f64 = format!("1e{exponent}").parse().unwrap();
        for direction in directions {
            for (linear, angular) in [
                (direction, Vec3::ZERO),
                (Vec3::ZERO, direction),
                (direction, direction),
            ] {
                let mut world = World::new(WorldSettings::default()).unwrap();
                let ids = pair(&mut world);
                for id in ids {
                    let v = Velocity::new(linear * size, angular * size);
                    world.set_velocity(id, v).unwrap();
                    survive(&mut world, &format!("1e{exponent} along {direction}"));
                }
            }
        }
    }
}

#[test]
fn huge_forces_and_gravity() {
    for exponent in [6, 12, 100, 200, 308] {
        let size: f64 = format!("1e{exponent}").parse().unwrap();
        let mut world = World::new(WorldSettings {
            gravity: vec3(0.0, -size, 0.0),
            ..WorldSettings::default()
        })
        .unwrap();
        pair(&mut world);
        survive(&mut world, &format!("gravity 1e{exponent}"));
        let mut world = World::new(WorldSettings::default()).unwrap();
        let ids = pair(&mut world);
        world.add_force(ids[0], vec3(size, 0.0, size)).unwrap();
        world.add_torque(ids[1], vec3(size, size, 0.0)).unwrap();
        survive(&mut world, &format!("force 1e{exponent}"));
    }
}

#[test]
fn far_away() {
    for exponent in [6, 9, 15, 16, 20, 100, 200, 307] {
        let far: f64 = format!("1e{exponent}").parse().unwrap();
        let mut world = World::new(WorldSettings::default()).unwrap();
        let cube = Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5)).mass(1.0);
        for i in 0..3 {
            world
                .add(cube.clone().at(vec3(far, f64::from(i) * 0.9, -far)))
                .unwrap();
        }
        survive(&mut world, &format!("1e{exponent} m away"));
    }
}

#[test]
fn masses_of_every_size() {
    for low in [-90, -50, -20, 0] {
        for high in [0, 20, 50, 90] {
            let [light, heavy]: [f64; 2] = [low, high].map(|e| format!("1e{e}").parse().unwrap());
            let mut world = World::new(WorldSettings::default()).unwrap();
            let ids = pair(&mut world);
            world.set_mass(ids[0], Mass::Total(light)).unwrap();
            world.set_mass(ids[1], Mass::Total(heavy)).unwrap();
            survive(&mut world, &format!("{light} kg below {heavy} kg"));
        }
    }
}

#[test]
fn sizes_of_every_order() {
    for exponent in [-9, -6, -3, 3, 6, 9] {
        let size: f64 = format!("1e{exponent}").parse().unwrap();
        let mut world = World::new(WorldSettings::default()).unwrap();
        world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
        for i in 0..3 {
            let cube = Body::dynamic(Shape::cuboid(0.5 * size, 0.5 * size, 0.5 * size));
            world
                .add(cube.at(vec3(0.0, (f64::from(i) + 0.5) * size, 0.0)))
                .unwrap();
        }
        survive(&mut world, &format!("cubes of {size} m"));
    }
}

#[test]
fn steps_of_every_length() {
    for exponent in [-12, -9, -6, -3, 0, 3, 6, 100, 300] {
        let dt: f64 = format!("1e{exponent}").parse().unwrap();
        let mut world = World::new(WorldSettings::default()).unwrap();
        pair(&mut world);
        for _ in 0..3 {
            let before = world.snapshot();
            if world.step(dt).is_err() {
                assert!(world.snapshot() == before, "dt {dt}: the world has changed");
                break;
            }
            assert!(world.bodies().all(|b| b.pose().is_finite()), "dt {dt}");
        }
    }
}
