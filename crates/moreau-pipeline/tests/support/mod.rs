//! What the tests of sleep share.

use moreau_collision::Shape;
use moreau_math::{Vec3, vec3};
use moreau_pipeline::{Body, BodyId, Sleeping, World, WorldSettings};

pub(crate) const DT: f64 = 1.0 / 60.0;

pub(crate) fn settings() -> WorldSettings {
    WorldSettings {
        sleeping: Some(Sleeping::default()),
        ..WorldSettings::default()
    }
}

pub(crate) fn cube(at: Vec3) -> Body {
    Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5)).at(at)
}

/// Ground, and a stack of cubes at x = 0; steps until it sleeps.
pub(crate) fn stack(height: usize) -> (World, BodyId, Vec<BodyId>) {
    let mut world = World::new(settings()).unwrap();
    let ground = world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
    let cubes: Vec<BodyId> = (0..height)
        .map(|i| world.add(cube(vec3(0.0, 0.5 + i as f64, 0.0))).unwrap())
        .collect();
    settle(&mut world, 120);
    (world, ground, cubes)
}

/// Steps until all sleeps, at most `most` times; returns how often.
pub(crate) fn settle(world: &mut World, most: usize) -> usize {
    for step in 1..=most {
        let report = world.step(DT).unwrap();
        if report.awake_bodies == 0 && report.sleeping_bodies > 0 {
            return step;
        }
    }
    panic!("still awake after {most} steps");
}

pub(crate) fn asleep(world: &World, ids: &[BodyId]) -> bool {
    ids.iter().all(|id| world.is_sleeping(*id).unwrap())
}

pub(crate) fn awake(world: &World, ids: &[BodyId]) -> bool {
    ids.iter().all(|id| !world.is_sleeping(*id).unwrap())
}
