//! Bodies that land on the seams of flush tiles without friction, turning or not, keep their way.

#[path = "support/random.rs"]
mod random;

use moreau_collision::Shape;
use moreau_math::{Quat, Vec3, rotation_from_vector, vec3};
use moreau_pipeline::{Body, World, WorldSettings};
use random::Random;

/// Narrow ones, their tops at y = 0, across the way that goes along `turn` x.
fn tiles(width: f64, turn: Quat, restitution: f64) -> World {
    let mut world = World::new(WorldSettings::default()).unwrap();
    for i in -4..=30 {
        let at = turn * vec3(f64::from(i) * width, -0.1, 0.0);
        let tile = Body::fixed(Shape::cuboid(0.5 * width, 0.1, 3.0)).friction(0.0);
        let tile = tile.restitution(restitution).at(at).rotated(turn);
        world.add(tile).unwrap();
    }
    world
}

/// The largest part of its speed that any of `count` throws has lost or gained along or across its way.
fn lost(random: &mut Random, count: u32, shape: &Shape, spin: f64, width: f64) -> f64 {
    let mut worst = 0.0_f64;
    for case in 0..count {
        let restitution = if case % 3 == 0 { 0.5 } else { 0.0 };
        let turn = Quat::from_rotation_y(if case % 2 == 0 { 0.0 } else { 0.7 });
        let mut world = tiles(width, turn, restitution);
        let lean =
            rotation_from_vector(random.vec(1.0).normalize() * [0.01, 0.17][case as usize % 2]);
        let height = shape.bounding_radius() * (1.05 + random.unit());
        let at = turn * vec3(width * random.unit(), height, 0.0);
        let speed = 0.5 + 1.5 * random.unit();
        let body = Body::dynamic(shape.clone())
            .friction(0.0)
            .restitution(restitution);
        let body = body.at(at).rotated(turn * lean);
        let way = turn * Vec3::X;
        let spin = random.vec(1.0).normalize() * spin;
        let id = world.add(body.mass(1.0).moving(way * speed, spin)).unwrap();
        for _ in 0..90 {
            world.step(1.0 / 60.0).unwrap();
        }
        let v = world.body(id).unwrap().velocity().linear;
        let off = vec3(v.x, 0.0, v.z) - way * speed;
        worst = worst.max(off.length() / speed);
    }
    worst
}

#[test]
fn what_lands_on_seams_keeps_its_way() {
    let mut random = Random(3);
    // What has faces may touch a tile with one of its own, a thousandth askew; a rim that turns down
    // beyond the edge of the tile that carries it meets that edge.
    let shapes = [
        ("sphere", Shape::sphere(0.25), 1e-9),
        ("box", Shape::cuboid(0.25, 0.25, 0.25), 5e-3),
        ("cylinder", Shape::cylinder(0.25, 0.25), 5e-3),
        ("capsule", Shape::capsule(0.2, 0.15), 1e-5),
        ("cone", Shape::cone(0.25, 0.25), 2e-2),
    ];
    for (name, shape, most) in shapes {
        for spin in [0.0, 5.0] {
            for width in [0.3, 1.0] {
                let lost = lost(&mut random, 24, &shape, spin, width);
                assert!(
                    lost < most,
                    "{name}, spin {spin}, tiles of {width} m: {lost:e} of the speed"
                );
            }
        }
    }
}
