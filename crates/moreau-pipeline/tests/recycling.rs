//! Kept manifolds: cheaper, still, and of no effect on where bodies go.

use moreau_collision::Shape;
use moreau_math::{Pose, Quat, Vec3, vec3};
use moreau_pipeline::{Body, BodyId, World, WorldSettings};

const DT: f64 = 1.0 / 60.0;

fn world(recycling: f64) -> World {
    World::new(WorldSettings {
        recycling,
        ..WorldSettings::default()
    })
    .unwrap()
}

fn cube(edge: f64, at: Vec3, turn: f64) -> Body {
    let half = 0.5 * edge;
    Body::dynamic(Shape::cuboid(half, half, half))
        .at(at)
        .rotated(Quat::from_axis_angle(Vec3::Y, turn))
        .density(1000.0)
}

/// Boxes on each other, each turned, so that every face contact has eight corners for four points.
fn twisted_stack(recycling: f64, boxes: usize) -> (World, Vec<BodyId>) {
    let mut world = world(recycling);
    world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
    let ids = (0..boxes).map(|i| {
        let at = vec3(0.0, 0.5 + i as f64, 0.0);
        world.add(cube(1.0, at, 0.7 * i as f64)).unwrap()
    });
    let ids = ids.collect();
    (world, ids)
}

#[test]
fn a_still_stack_keeps_its_manifolds() {
    let (mut world, ids) = twisted_stack(2e-4, 6);
    let mut features = Vec::new();
    for step in 0..240 {
        let report = world.step(DT).unwrap();
        if step < 10 {
            continue;
        }
        assert_eq!(report.recycled, report.pairs, "step {step}");
        let now: Vec<_> = world
            .contacts()
            .iter()
            .map(|c| (c.a, c.b, c.feature))
            .collect();
        if step > 10 {
            assert_eq!(now, features, "step {step}");
        }
        features = now;
    }
    for (i, id) in ids.iter().enumerate() {
        let at = world.body(*id).unwrap().pose().translation;
        assert!(
            (at - vec3(0.0, 0.5 + i as f64, 0.0)).length() < 1e-7,
            "{at}"
        );
    }
}

#[test]
fn nothing_is_kept_where_it_is_switched_off() {
    let (mut world, _) = twisted_stack(0.0, 3);
    for _ in 0..20 {
        assert_eq!(world.step(DT).unwrap().recycled, 0);
    }
}

/// A cube slides to a stop: v²/(2 mu g), with and without.
#[test]
fn a_slide_ends_at_the_same_place() {
    let way = |recycling: f64, dt: f64| {
        let mut world = world(recycling);
        world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
        let id = world
            .add(cube(0.2, vec3(0.0, 0.1, 0.0), 0.3).moving(vec3(2.0, 0.0, 0.0), Vec3::ZERO))
            .unwrap();
        let steps = (1.5 / dt) as usize;
        let recycled: usize = (0..steps).map(|_| world.step(dt).unwrap().recycled).sum();
        assert_eq!(recycled > 0, recycling > 0.0);
        world.body(id).unwrap().pose().translation
    };
    let mu = moreau_pipeline::Material::default().friction;
    for dt in [1.0 / 60.0, 1.0 / 240.0, 1e-3] {
        let (with, without) = (way(2e-4, dt), way(0.0, dt));
        assert!((with - without).length() < 1e-7, "{with} {without}");
        let right = 4.0 / (2.0 * mu * 9.81);
        assert!(
            (with.x - right).abs() < mu * 9.81 * dt * dt + 1e-7,
            "{with}"
        );
    }
}

/// Rolls and tumbles are made of contacts that do not stay.
#[test]
fn a_ball_rolls_as_far() {
    let way = |recycling: f64| {
        let mut world = world(recycling);
        world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
        let ball = Body::dynamic(Shape::sphere(0.25))
            .at(vec3(0.0, 0.25, 0.0))
            .density(1000.0)
            .moving(vec3(0.002, 0.0, 0.0), vec3(0.0, 0.0, -0.008));
        let id = world.add(ball).unwrap();
        for _ in 0..600 {
            world.step(DT).unwrap();
        }
        world.body(id).unwrap().pose().translation
    };
    // So slow that a kept contact point would be carried along.
    let at = way(2e-4);
    assert!((at - vec3(0.02, 0.25, 0.0)).length() < 1e-6, "{at}");
    assert!((way(0.0) - at).length() < 1e-6);
}

#[test]
fn a_restored_world_goes_on_with_the_same_bits() {
    for threads in [1, 2, 4] {
        let (mut world, _) = twisted_stack(2e-4, 5);
        world.set_threads(threads).unwrap();
        for step in 0..60 {
            let mut other = World::from_snapshot(&world.snapshot()).unwrap();
            let (report, again) = (world.step(DT).unwrap(), other.step(DT).unwrap());
            assert_eq!(report.recycled, again.recycled, "step {step}");
            assert_eq!(world.hash(), other.hash(), "step {step}");
        }
    }
}

#[test]
fn a_body_that_was_changed_is_looked_at_again() {
    let (mut world, ids) = twisted_stack(2e-4, 2);
    for _ in 0..10 {
        world.step(DT).unwrap();
    }
    let all = world.step(DT).unwrap();
    assert_eq!((all.pairs, all.recycled), (2, 2));
    // To the same place.
    let pose = world.body(ids[1]).unwrap().pose();
    world.set_pose(ids[1], pose).unwrap();
    assert_eq!(world.step(DT).unwrap().recycled, 1);
    assert_eq!(world.step(DT).unwrap().recycled, 2);
    // Away, to the side, by more than the tolerance and less than the bodies.
    let pose = world.body(ids[1]).unwrap().pose();
    let aside = Pose::new(pose.translation + vec3(0.3, 0.0, 0.0), pose.rotation);
    world.set_pose(ids[1], aside).unwrap();
    world.step(DT).unwrap();
    let reach = world
        .contacts()
        .iter()
        .filter(|c| c.b == ids[1])
        .map(|c| c.lever_b.x)
        .fold(f64::INFINITY, f64::min);
    assert!(reach > -0.85, "{reach}");
    // A heavier shape in its place.
    let mut settings = *world.settings();
    settings.prediction_distance = 0.05;
    world.set_settings(settings).unwrap();
    assert_eq!(world.step(DT).unwrap().recycled, 0);
    world.remove(ids[1]).unwrap();
    assert_eq!(world.step(DT).unwrap().recycled, 1);
}

#[test]
fn settings_out_of_range_are_refused() {
    for recycling in [-1e-3, 0.2, f64::NAN, f64::INFINITY] {
        let settings = WorldSettings {
            recycling,
            ..WorldSettings::default()
        };
        let error = World::new(settings).unwrap_err().to_string();
        assert!(error.contains("recycling"), "{error}");
    }
}
