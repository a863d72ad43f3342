//! What slides without friction over level tiles goes straight on, where one or both are meshes.

#[path = "support/random.rs"]
mod random;

use moreau_collision::{ConvexHull, Shape};
use moreau_math::{Pose, Quat, Vec3, libm, vec3};
use moreau_pipeline::{Body, BodyId, World, WorldSettings};
use random::Random;
use std::sync::Arc;

/// A prism of this many sides about y that fills a box of these half edges, m, or nearly.
fn prism(sides: u32, half: Vec3) -> Arc<ConvexHull> {
    // Of four sides, the box.
    let turn = std::f64::consts::FRAC_PI_4;
    let scale = if sides == 4 { 2.0_f64.sqrt() } else { 1.0 };
    let corner = |i: u32| {
        let angle = turn + std::f64::consts::TAU * f64::from(i / 2) / f64::from(sides);
        let level = if i.is_multiple_of(2) { -1.0 } else { 1.0 };
        half * vec3(scale * libm::cos(angle), level, scale * libm::sin(angle))
    };
    let corners: Vec<Vec3> = (0..2 * sides).map(corner).collect();
    let Shape::Hull(hull) = Shape::hull(&corners).unwrap() else {
        panic!("no hull");
    };
    hull
}

/// A hull as itself, or its surface as a mesh.
fn shape(hull: Arc<ConvexHull>, is_mesh: bool) -> Shape {
    if !is_mesh {
        return Shape::Hull(hull);
    }
    let triangles: Vec<[u32; 3]> = hull.triangles().collect();
    Shape::mesh(hull.vertices(), &triangles).unwrap()
}

/// Number of steps that a scene runs, and of tiles in a row.
const LENGTH: u32 = 60;
const TILES: u32 = 32;

/// A body on level tiles, in a frame that is moved and turned as a whole.
struct Scene {
    what: String,
    frame: Pose,
    dt: f64,
    /// Half height of the body, m.
    height: f64,
    start: Vec3,
    velocity: Vec3,
    world: World,
    body: BodyId,
}

fn scene(random: &mut Random, number: u32) -> Scene {
    let decades = |random: &mut Random, low, high| libm::pow(10.0, random.range(low, high));
    let h = decades(random, -2.5, 0.0);
    let dt = [1.0 / 30.0, 1.0 / 60.0, 1.0 / 240.0, 1.0 / 1000.0][number as usize % 4];
    let speed = decades(random, -1.0, 1.3);
    let (sides, wide) = (3 + number / 4 % 5, decades(random, -0.3, 0.6));
    let size = vec3(h * wide, h, h * decades(random, -0.3, 0.6));
    let meshes = [[true, true], [true, false], [false, true]][number as usize / 20 % 3];
    let reach = f64::from(LENGTH) * speed * dt + 12.0 * h;
    let half = vec3(reach / f64::from(TILES), decades(random, -1.0, 0.5), reach);
    let frame = match number % 3 {
        0 => Pose::IDENTITY,
        _ => Pose::new(random.vec(50.0), random.rotation()),
    };
    let turn = frame.rotation;
    let mut world = World::new(WorldSettings {
        gravity: turn * vec3(0.0, -9.81, 0.0),
        ..WorldSettings::default()
    })
    .unwrap();
    let tile = shape(prism(4, half), meshes[1]);
    for i in 0..TILES {
        let place = vec3(half.x * f64::from(2 * i + 1) - 6.0 * h, -half.y, 0.0);
        let tile = Body::fixed(tile.clone()).at(frame.transform_point(place));
        world.add(tile.rotated(turn).friction(0.0)).unwrap();
    }
    let heading = random.range(-0.5, 0.5);
    let velocity = speed * vec3(libm::cos(heading), 0.0, libm::sin(heading));
    let yaw = Quat::from_axis_angle(Vec3::Y, random.range(-3.0, 3.0));
    let start = vec3(
        random.range(0.0, 6.0 * h),
        h,
        random.range(-0.3, 0.3) * reach,
    );
    let body = Body::dynamic(shape(prism(sides, size), meshes[0]))
        .mass(1.0)
        .at(frame.transform_point(start))
        .rotated(turn * yaw)
        .moving(turn * velocity, Vec3::ZERO)
        .friction(0.0);
    let body = world.add(body).unwrap();
    Scene {
        what: format!(
            "{number}: {sides} sides, {size:?}, meshes {meshes:?}, {half:?}, {speed} m/s"
        ),
        frame,
        dt,
        height: h,
        start,
        velocity,
        world,
        body,
    }
}

/// Bodies of 3 to 7 sides and 3 mm to 1 m, tiles of whatever size, seen from near and far.
#[test]
fn what_slides_over_tiles_of_triangles_goes_straight_on() {
    let mut random = Random(11);
    for number in 0..120 {
        let mut scene = scene(&mut random, number);
        let turn = scene.frame.rotation.conjugate();
        let scale = scene.velocity.length().max(1.0);
        for step in 0..LENGTH {
            scene.world.step(scene.dt).unwrap();
            let body = scene.world.body(scene.body).unwrap();
            let place = turn * (body.center_of_mass() - scene.frame.translation);
            let v = body.velocity();
            let way = scene.velocity * scene.dt * f64::from(step + 1);
            let off = [
                (turn * v.linear - scene.velocity).length() / scale,
                v.angular.length() * scene.height / scale,
                (place.y - scene.height).abs(),
                (place - (scene.start + way)).length(),
            ];
            let worst = off.into_iter().fold(0.0, f64::max);
            assert!(
                worst < 1e-6,
                "{}, dt {}, step {step}: {off:?}",
                scene.what,
                scene.dt
            );
        }
    }
}
