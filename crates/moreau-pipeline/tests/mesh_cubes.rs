//! A cube whose surface is a mesh rests and slides as a box does, and does not begin to turn.

#[path = "support/random.rs"]
mod random;

use moreau_collision::Shape;
use moreau_math::{Quat, Vec3, vec3};
use moreau_pipeline::{Body, World, WorldSettings};
use random::Random;

/// A box with these half edges (m), of twelve triangles.
fn mesh_box(half: Vec3) -> Shape {
    let side = |i: u32, bit: u32| if i >> bit & 1 == 0 { -1.0 } else { 1.0 };
    let corners: Vec<Vec3> = (0..8)
        .map(|i| half * vec3(side(i, 0), side(i, 1), side(i, 2)))
        .collect();
    let Shape::Hull(hull) = Shape::hull(&corners).unwrap() else {
        panic!("no hull");
    };
    let triangles: Vec<[u32; 3]> = hull.triangles().collect();
    Shape::mesh(hull.vertices(), &triangles).unwrap()
}

/// Level ground of 20 m by 20 m, of one of six kinds.
fn ground(kind: usize) -> Vec<(Shape, Vec3)> {
    let field = || Shape::heightfield(21, 21, vec![0.0; 441], [1.0, 1.0]).unwrap();
    let corner = vec3(-10.0, 0.0, -10.0);
    let deep = vec3(0.0, -10.0, 0.0);
    let tiles = |tile: Shape| {
        let place = |i: i32| vec3(1.25 * f64::from(i) + 0.625, -0.5, 0.0);
        let tile = move |i| (tile.clone(), place(i));
        (-8..8).map(tile).collect()
    };
    let half = vec3(0.625, 0.5, 10.0);
    match kind {
        0 => vec![(field(), corner)],
        1 => {
            let Shape::Heightfield(field) = field() else {
                panic!("no heightfield");
            };
            let triangles: Vec<[u32; 3]> = field.triangles().collect();
            let mesh = Shape::mesh(field.vertices(), &triangles).unwrap();
            vec![(mesh, corner)]
        }
        2 => vec![(mesh_box(Vec3::splat(10.0)), deep)],
        3 => vec![(Shape::cuboid(10.0, 10.0, 10.0), deep)],
        4 => tiles(Shape::cuboid(half.x, half.y, half.z)),
        _ => tiles(mesh_box(half)),
    }
}

/// Least angular velocity that counts as turning, rad/s.
const TURNING: f64 = 1e-6;

#[test]
fn cubes_of_triangles_do_not_begin_to_turn_on_level_ground() {
    let mut random = Random(7);
    let mut slid = 0.0_f64;
    for case in 0..120 {
        let half = random.range(0.05, 0.55);
        let speed = (random.range(-1.0, 2.5)).max(0.0);
        let friction = (random.range(-0.3, 0.6)).max(0.0);
        // Let down from a millimetre, or put on the ground.
        let fall = (random.range(-1e-3, 1e-3)).max(0.0);
        let dt = [1.0 / 30.0, 1.0 / 60.0, 1.0 / 240.0][case % 3];
        let yaw = Quat::from_axis_angle(Vec3::Y, random.range(0.0, 3.0));
        let frame = match case % 2 {
            0 => Quat::IDENTITY,
            _ => random.rotation(),
        };
        let mut world = World::new(WorldSettings {
            gravity: frame * vec3(0.0, -9.81, 0.0),
            ..WorldSettings::default()
        })
        .unwrap();
        let kind = case / 6 % 6;
        for (tile, place) in ground(kind) {
            let tile = Body::fixed(tile).at(frame * place).rotated(frame);
            world.add(tile.friction(friction)).unwrap();
        }
        let start = vec3(
            random.range(-0.5, 0.5),
            half + fall,
            random.range(-0.5, 0.5),
        );
        let cube = Body::dynamic(mesh_box(Vec3::splat(half)))
            .at(frame * start)
            .rotated(frame * yaw)
            .moving(frame * vec3(speed, 0.0, 0.37 * speed), Vec3::ZERO)
            .friction(friction);
        let id = world.add(cube).unwrap();
        for step in 0..60 {
            world.step(dt).unwrap();
            let body = world.body(id).unwrap();
            let place = frame.conjugate() * body.center_of_mass();
            let turning = body.velocity().angular.length();
            if fall == 0.0 || step > 30 {
                assert!(
                    turning < TURNING,
                    "case {case}, step {step}: {turning} rad/s"
                );
                let height = (place.y - half).abs();
                assert!(height < 1.1e-4, "case {case}, step {step}: {height} m");
            }
            slid = slid.max((place - start).length());
        }
    }
    assert!(slid > 3.0, "{slid} m at most");
}
