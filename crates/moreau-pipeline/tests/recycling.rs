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

/// A pair of cubes that turn and drift slowly without weight, the second as it is put at first.
fn slow_pair(recycling: f64, first: Pose, second: Pose) -> (World, BodyId) {
    let mut world = World::new(WorldSettings {
        recycling,
        gravity: Vec3::ZERO,
        sleeping: None,
        ..WorldSettings::default()
    })
    .unwrap();
    let still = Body::fixed(Shape::cuboid(0.5, 0.5, 0.5));
    world
        .add(still.at(first.translation).rotated(first.rotation))
        .unwrap();
    let cube = Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5)).density(1000.0);
    let cube = cube.at(second.translation).rotated(second.rotation);
    let drift = vec3(2e-5, -3e-5, 1e-5);
    let id = world.add(cube.moving(drift, vec3(3e-5, 2e-5, -4e-5)));
    (world, id.unwrap())
}

/// The normal of two crossing edges turns with both, so that a kept manifold is as exact as a new one;
/// that of two corners stays within what keeping allows. In every attitude, whichever body is first.
#[test]
fn kept_edges_and_corners_are_as_they_would_be_found() {
    let edge_up = Quat::from_axis_angle(Vec3::X, std::f64::consts::FRAC_PI_4);
    let edge_down = Quat::from_axis_angle(Vec3::Z, std::f64::consts::FRAC_PI_4);
    let askew = Quat::from_axis_angle(Vec3::Y, 0.4) * edge_down;
    let upright = Quat::from_rotation_arc(Vec3::ONE.normalize(), Vec3::Y);
    let (edges, corners) = (2.0 * 0.5f64.sqrt(), 3.0f64.sqrt());
    let cases = [
        ("square edges", edge_up, edge_down, edges, 1e-12),
        ("oblique edges", edge_up, askew, edges, 1e-12),
        ("corners", upright, upright, corners, 1.2e-3),
    ];
    let gap = 5e-3;
    let motions = [
        Pose::IDENTITY,
        Pose::new(
            vec3(2.0, -1.0, 0.5),
            Quat::from_xyzw(0.1, -0.7, 0.3, 0.5).normalize(),
        ),
        Pose::new(vec3(-3.0, 4.0, 7.0), Quat::from_axis_angle(Vec3::X, 2.5)),
    ];
    for (name, below, above, height, tilt) in cases {
        for motion in motions {
            for swapped in [false, true] {
                let mut poses = [
                    Pose::new(Vec3::ZERO, below),
                    Pose::new(vec3(0.0, height + gap, 0.0), above),
                ];
                if swapped {
                    poses.reverse();
                }
                let poses = poses.map(|pose| {
                    let at = motion.transform_point(pose.translation);
                    Pose::new(at, motion.rotation * pose.rotation)
                });
                let worlds = [2e-4, 0.0].map(|r| slow_pair(r, poses[0], poses[1]));
                let [(mut kept, _), (mut found, _)] = worlds;
                let mut recycled = 0;
                for step in 0..400 {
                    let what = format!("{name}, step {step}, swapped {swapped}");
                    recycled += kept.step(DT).unwrap().recycled;
                    assert_eq!(found.step(DT).unwrap().recycled, 0);
                    assert_eq!(kept.contacts().len(), 1, "{what}");
                    let (k, f) = (&kept.contacts()[0], &found.contacts()[0]);
                    assert!(
                        (k.separation - f.separation).abs() < tilt * tilt * gap + 1e-12,
                        "{what}"
                    );
                    assert!(
                        (k.normal - f.normal).length() < tilt,
                        "{what}: {k:?}, {f:?}"
                    );
                }
                assert!(recycled > 200, "{name}: {recycled}");
            }
        }
    }
}

/// Corners that come close are found anew.
#[test]
fn corners_that_meet_are_not_kept() {
    let upright = Quat::from_rotation_arc(Vec3::ONE.normalize(), Vec3::Y);
    let height = 3.0f64.sqrt();
    let at = Pose::new(vec3(0.0, height + 1e-4, 0.0), upright);
    let (mut world, _) = slow_pair(2e-4, Pose::new(Vec3::ZERO, upright), at);
    for step in 0..20 {
        let report = world.step(DT).unwrap();
        let counts = (report.recycled, report.contact_points);
        assert_eq!(counts, (0, 1), "step {step}");
    }
}

/// Boxes whose centres are just above an edge of the cubes that they lie on. The faces meet in five corners and
/// more, and the edge of any four points may pass the centre on the wrong side.
#[test]
fn a_box_that_hangs_over_an_edge_comes_to_rest() {
    // Half extents (m), turn about the vertical (degrees), and where the centre is (x and z, m).
    let boxes = [
        ([0.689, 0.529, 0.729], 43.78, [-0.4103, -0.9715]),
        ([0.868, 0.821, 0.344], 27.44, [-0.5727, 0.9795]),
        ([0.886, 0.956, 0.829], 46.95, [-0.4099, 0.9816]),
        ([0.807, 0.411, 0.763], 39.94, [0.368, 0.9746]),
        ([0.96, 0.421, 0.87], 45.76, [-0.6318, 0.9823]),
        ([0.411, 0.724, 0.936], 28.62, [0.9905, 0.5715]),
        ([0.416, 0.971, 0.722], 51.82, [0.7276, 0.9799]),
        ([0.364, 0.626, 0.946], 23.43, [0.9872, 0.2557]),
        ([0.41, 0.373, 0.66], 56.78, [-0.375, -0.996]),
        ([0.312, 0.729, 0.696], 63.58, [-0.7107, -0.9927]),
        ([0.71, 0.445, 0.942], 43.93, [0.9699, 0.5458]),
        ([0.71, 0.409, 0.614], 46.31, [0.6192, -0.9774]),
        ([0.713, 0.397, 0.578], 44.57, [-0.6133, 0.9708]),
    ];
    for dt in [1.0 / 60.0, 1.0 / 120.0, 1.0 / 240.0] {
        let mut world = world(2e-4);
        let mut placed = Vec::new();
        for (k, ([x, y, z], degrees, [along, across])) in boxes.into_iter().enumerate() {
            let place = vec3(8.0 * k as f64, 0.0, 0.0);
            let fixed = Body::fixed(Shape::cuboid(1.0, 0.5, 1.0)).friction(0.8);
            world.add(fixed.at(place - 0.5 * Vec3::Y)).unwrap();
            let turn = Quat::from_axis_angle(Vec3::Y, f64::to_radians(degrees));
            let at = place + vec3(along, y, across);
            let body = Body::dynamic(Shape::cuboid(x, y, z)).friction(0.8);
            placed.push((world.add(body.at(at).rotated(turn)).unwrap(), at));
        }
        let steps = (6.0 / dt) as usize;
        for step in 0..steps {
            world.step(dt).unwrap();
            let rests = step >= steps * 5 / 6;
            for (id, at) in &placed {
                let body = world.body(*id).unwrap();
                let (way, most) = if rests { (3e-4, 1e-8) } else { (3e-3, 0.1) };
                let shift = (body.pose().translation - *at).length();
                assert!(shift < way, "step {step}, {at}: {shift} m");
                let speed = body.velocity().linear.length();
                assert!(speed < most, "step {step}, {at}: {speed:e} m/s");
            }
        }
    }
}
