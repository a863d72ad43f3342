//! Bodies that have landed are deeper in the ground than the slop for a while. Flush tiles are a floor to them, too.

use moreau_collision::Shape;
use moreau_math::{Quat, Vec3, Velocity, rotation_from_vector, vec3};
use moreau_pipeline::{Body, World, WorldSettings};

/// Of half extents 0.5 x 0.1 x 0.5 m, their tops at y = 0, along x; turned about y by `heading`, in that order or in
/// the other one.
fn tiles(count: i32, heading: f64, reversed: bool) -> World {
    let mut world = World::new(WorldSettings::default()).unwrap();
    let turn = Quat::from_rotation_y(heading);
    for i in 0..count {
        let i = if reversed { count - 1 - i } else { i };
        let at = turn * vec3(f64::from(i), -0.1, 0.0);
        let tile = Body::fixed(Shape::cuboid(0.5, 0.1, 0.5)).friction(0.0);
        world.add(tile.at(at).rotated(turn)).unwrap();
    }
    world
}

fn prism() -> Shape {
    let corner = |i: u32, y: f64| {
        let angle = f64::from(i % 8) * std::f64::consts::FRAC_PI_4;
        vec3(
            0.25 * moreau_math::libm::cos(angle),
            y,
            0.25 * moreau_math::libm::sin(angle),
        )
    };
    let points: Vec<Vec3> = (0..16)
        .map(|i| corner(i, if i < 8 { -0.25 } else { 0.25 }))
        .collect();
    Shape::hull(&points).unwrap()
}

#[test]
fn what_slides_deep_in_tiles_runs_into_none() {
    let shapes = [
        Shape::cuboid(0.25, 0.25, 0.25),
        Shape::cylinder(0.25, 0.25),
        prism(),
    ];
    let mut cases = 0;
    for shape in &shapes {
        for depth in [5e-5, 1.01e-4, 3e-4, 1e-3, 3e-3] {
            for tilt in [-1e-3, -2e-4, 0.0, 4e-4] {
                for (dt, speed) in [(1.0 / 240.0, 5.0), (1.0 / 60.0, 8.0)] {
                    for (heading, reversed) in [(0.0, false), (0.7, true)] {
                        let mut world = tiles(6, heading, reversed);
                        let turn = Quat::from_rotation_y(heading);
                        let lean = rotation_from_vector(vec3(0.0, 0.0, tilt));
                        let body = Body::dynamic(shape.clone()).friction(0.0);
                        let body = body.at(turn * vec3(0.1, 0.25 - depth, 0.0));
                        let velocity = turn * (speed * Vec3::X);
                        let body = body.rotated(turn * lean).moving(velocity, Vec3::ZERO);
                        let id = world.add(body).unwrap();
                        let steps = (4.0 / speed / dt) as u32;
                        for step in 0..steps {
                            world.step(dt).unwrap();
                            let v: Velocity = world.body(id).unwrap().velocity();
                            let along = turn.inverse() * v.linear;
                            let lost = (along.x - speed).abs().max(along.z.abs());
                            assert!(
                                lost < 0.01 * speed * tilt.abs() + 1e-6,
                                "{shape:?} {depth} m deep, tilt {tilt}, {dt} s, heading {heading}, step {step}: {along}"
                            );
                        }
                        cases += 1;
                    }
                }
            }
        }
    }
    assert_eq!(cases, 240);
}
