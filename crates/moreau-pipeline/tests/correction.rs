//! What takes overlaps out, and what gives way to it.

use moreau_collision::Shape;
use moreau_math::{Quat, Vec3};
use moreau_pipeline::{Body, BodyId, World, WorldSettings};

const DT: f64 = 1.0 / 60.0;
const RADIUS: f64 = 0.5;

/// Balls along `axis` in space, each `gaps` m from the last one.
fn row(axis: Vec3, gaps: impl Iterator<Item = f64>) -> (World, Vec<BodyId>) {
    let settings = WorldSettings {
        gravity: Vec3::ZERO,
        ..WorldSettings::default()
    };
    let mut world = World::new(settings).unwrap();
    let ball = Body::dynamic(Shape::sphere(RADIUS)).density(1000.0);
    let mut at = 0.0;
    let mut ids = vec![world.add(ball.clone()).unwrap()];
    for gap in gaps {
        at += 2.0 * RADIUS + gap;
        ids.push(world.add(ball.clone().at(at * axis)).unwrap());
    }
    (world, ids)
}

fn places(world: &World, ids: &[BodyId], axis: Vec3) -> Vec<f64> {
    let place = |id: &BodyId| world.body(*id).unwrap().center_of_mass().dot(axis);
    ids.iter().map(place).collect()
}

fn gaps(places: &[f64]) -> Vec<f64> {
    let pairs = places.windows(2);
    pairs.map(|pair| pair[1] - pair[0] - 2.0 * RADIUS).collect()
}

fn axes() -> [Vec3; 3] {
    [0.0, 0.7, 2.1].map(|angle| Quat::from_axis_angle(Vec3::ONE.normalize(), angle) * Vec3::X)
}

/// Where velocities are right, balls that touch or overlap by no more than the slop are pushed along as they are.
#[test]
fn the_others_are_pushed_along_as_they_are() {
    let slop = WorldSettings::default().position_correction.slop;
    for (axis, gap) in axes()
        .into_iter()
        .flat_map(|axis| [(axis, 0.0), (axis, -slop)])
    {
        let excess = 10.0 * slop;
        let asked = |i: usize| if i == 2 { -slop - excess } else { gap };
        let (mut world, ids) = row(axis, (0..6).map(asked));
        let mut last = gaps(&places(&world, &ids, axis));
        for _ in 0..80 {
            world.step(DT).unwrap();
            let now = gaps(&places(&world, &ids, axis));
            for (i, (now, last)) in now.iter().zip(&last).enumerate() {
                let change = now - last;
                if i == 2 {
                    let wanted = 0.2 * (-last - slop);
                    assert!((change - wanted).abs() < 1e-8, "{change} {wanted}");
                } else {
                    assert!(change.abs() < 1e-8, "{i}: {change}");
                }
            }
            last = now;
        }
        assert!((last[2] + slop).abs() < 1e-7, "{}", last[2]);
    }
}
