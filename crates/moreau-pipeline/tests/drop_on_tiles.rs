//! A body that comes down askew over the seams of level tiles meets level ground.

use moreau_collision::Shape;
use moreau_math::{Quat, Vec3, vec3};
use moreau_pipeline::{Body, World, WorldSettings};

/// Numbers in [0, 1) that look random.
fn part(case: u32, k: f64) -> f64 {
    (f64::from(case + 1) * k).fract()
}

/// The deepest overlap of a cube that is dropped tilted, m; and where it is after a second.
fn drop(case: u32, half: f64, dt: f64, tiles: bool) -> (f64, Vec3) {
    let mut world = World::new(WorldSettings::default()).unwrap();
    if tiles {
        let side = half * (0.8 + 2.0 * part(case, 0.618_033_988_7));
        let tile = Shape::cuboid(side, side, side);
        for i in -3..=3 {
            for k in -3..=3 {
                let at = vec3(2.0 * f64::from(i), 0.0, 2.0 * f64::from(k)) * side;
                world
                    .add(Body::fixed(tile.clone()).at(at - side * Vec3::Y))
                    .unwrap();
            }
        }
    } else {
        let ground = Body::fixed(Shape::half_space(Vec3::Y));
        world.add(ground).unwrap();
    }
    let axis = vec3(
        part(case, 0.754_877_666) - 0.5,
        0.0,
        part(case, 0.569_840_290) - 0.5,
    );
    let tilt = axis.normalize() * 0.2 * part(case, 0.819_172_513);
    let yaw = Quat::from_axis_angle(Vec3::Y, 3.0 * part(case, 0.671_043_606));
    let over = vec3(part(case, 0.549_700_477), 0.0, part(case, 0.450_299_522)) * half;
    let body = Body::dynamic(Shape::cuboid(half, half, half))
        .at(over + vec3(0.0, 2.2 * half, 0.0))
        .rotated(Quat::from_scaled_axis(tilt) * yaw);
    let id = world.add(body).unwrap();
    let mut deepest = 0.0_f64;
    let steps = (1.0 / dt) as u32;
    for _ in 0..steps {
        deepest = deepest.max(world.step(dt).unwrap().max_penetration);
    }
    (deepest, world.body(id).unwrap().center_of_mass())
}

/// Where a corner of the cube is not among the four points of its face over a tile, it falls on for a step.
#[test]
fn a_tilted_cube_sinks_into_tiles_hardly_deeper_than_into_level_ground() {
    let mut deeper = 0;
    for case in 0..200 {
        for (half, dt) in [(0.05, 1.0 / 120.0), (0.05, 1.0 / 1000.0), (0.5, 1.0 / 60.0)] {
            let (tiles, at) = drop(case, half, dt, true);
            let (ground, _) = drop(case, half, dt, false);
            assert!(
                (at.y - half).abs() < 2e-4,
                "case {case}, {half} m, {dt} s: {at}"
            );
            assert!(
                tiles < ground + 0.02 * half,
                "case {case}, {half} m, {dt} s: {tiles:e} m, {ground:e} m on level ground"
            );
            deeper += u32::from(tiles > ground + 0.01 * half);
        }
    }
    assert!(deeper <= 3, "{deeper} of 600");
}
