//! Cylinders and cones: the points that they touch with, and what holds at every pose.

mod scenes;

use moreau_collision::{Manifold, Shape, closest_points};
use moreau_math::{Pose, Quat, Vec3, vec3};
use scenes::{Random, Scene, at, box_hull, contact, turned};
use std::f64::consts::{FRAC_PI_2, PI};

const PREDICTION: f64 = 0.05;

fn quarter(axis: Vec3) -> Quat {
    turned(Vec3::ZERO, axis, FRAC_PI_2).rotation
}

/// The grounds that everything flat lies on, their surface at y = 0.
fn grounds() -> Vec<(Shape, Pose)> {
    vec![
        (Shape::half_space(Vec3::Y), at(0.3, 0.0, -0.2)),
        (Shape::cuboid(4.0, 0.5, 4.0), at(0.1, -0.5, 0.2)),
        (box_hull(4.0, 0.5, 4.0), at(0.1, -0.5, 0.2)),
        (Shape::cylinder(0.5, 4.0), at(-0.1, -0.5, 0.3)),
        (
            Shape::cone(0.5, 4.0),
            Pose::new(
                vec3(-0.1, -0.5, 0.3),
                turned(Vec3::ZERO, Vec3::X, PI).rotation,
            ),
        ),
    ]
}

fn ids(manifold: &Manifold) -> Vec<u32> {
    manifold.points().iter().map(|p| p.feature.0).collect()
}

/// What touches the ground, how it is turned, how high its origin is, and at how many points.
#[test]
fn what_lies_and_stands_touches_with_its_faces_and_lines() {
    let (half, radius) = (0.3, 0.2);
    let lying = quarter(Vec3::X);
    let cylinder = Shape::cylinder(half, radius);
    let cone = Shape::cone(half, radius);
    // On its side the cone's axis rises by the angle between side and axis.
    let slope = moreau_math::libm::atan2(radius, 2.0 * half);
    let on_side = turned(Vec3::ZERO, Vec3::Z, FRAC_PI_2 + slope).rotation;
    let side = (4.0 * half * half + radius * radius).sqrt();
    let middle = radius * half / side;
    let cases = [
        (&cylinder, Quat::IDENTITY, half, 4, 2.0 * radius),
        (
            &cylinder,
            turned(Vec3::ZERO, Vec3::Y, 0.7).rotation,
            half,
            4,
            2.0 * radius,
        ),
        (&cylinder, lying, radius, 2, 2.0 * half),
        (
            &cylinder,
            lying * turned(Vec3::ZERO, Vec3::Y, 1.1).rotation,
            radius,
            2,
            2.0 * half,
        ),
        (&cone, Quat::IDENTITY, half, 4, 2.0 * radius),
        (&cone, on_side, middle, 2, side),
        (
            &cone,
            turned(Vec3::ZERO, Vec3::Z, PI).rotation,
            half,
            1,
            0.0,
        ),
    ];
    for (shape, rotation, height, count, width) in cases {
        for (ground, place) in grounds() {
            for separation in [0.0, -1e-3, 0.01] {
                let pose = Pose::new(vec3(0.1, height + separation, 0.2), rotation);
                let m = contact((&ground, place), (shape, pose), 0.02);
                let names = format!("{shape:?} on {} at {separation}: {m:?}", ground.kind());
                assert_eq!(m.points().len(), count, "{names}");
                assert!((m.normal() - Vec3::Y).length() < 1e-12, "{names}");
                let mut widest: f64 = 0.0;
                for p in m.points() {
                    assert!((p.separation - separation).abs() < 1e-12, "{names}");
                    assert!(p.point_a.y.abs() < 1e-12, "{names}");
                    assert!((p.point_b.y - separation).abs() < 1e-12, "{names}");
                    for q in m.points() {
                        widest = widest.max((p.point_b - q.point_b).length());
                    }
                }
                assert!(
                    (widest - width).abs() < 1e-9,
                    "{widest}, not {width}: {names}"
                );
            }
        }
    }
}

/// Tilted, the lowest point of the rim is exact (to 1e-11 of the ground's size), at any tilt.
#[test]
fn a_tilted_cylinder_touches_at_the_lowest_point_of_its_rim() {
    let (half, radius) = (0.3, 0.2);
    let shape = Shape::cylinder(half, radius);
    for exponent in 0..40 {
        let tilt = moreau_math::libm::exp(-0.6 * f64::from(exponent));
        for heading in [0.0, 0.3, 0.9, 2.0, -2.5] {
            let (s, c) = (moreau_math::libm::sin(tilt), moreau_math::libm::cos(tilt));
            let axis = turned(Vec3::ZERO, Vec3::Y, heading).rotation * Vec3::X;
            let rotation = turned(Vec3::ZERO, axis, tilt).rotation;
            let below = -(half * c + radius * s);
            let pose = Pose::new(vec3(0.2, -below - 1e-4, -0.1), rotation);
            for (ground, place) in grounds() {
                let m = contact((&ground, place), (&shape, pose), 0.02);
                let least = m.min_separation().unwrap();
                assert!(
                    (least + 1e-4).abs() < 1e-10,
                    "{tilt}: {least} on {}",
                    ground.kind()
                );
                assert!((m.normal() - Vec3::Y).length() < 1e-9, "{tilt}: {m:?}");
            }
        }
    }
}

/// A standing cylinder that shakes keeps its points and their names.
#[test]
fn a_shaking_cylinder_keeps_its_points() {
    let (half, radius) = (0.3, 0.2);
    for (shape, rotation, height) in [
        (Shape::cylinder(half, radius), Quat::IDENTITY, half),
        (Shape::cylinder(half, radius), quarter(Vec3::X), radius),
        (Shape::cone(half, radius), Quat::IDENTITY, half),
    ] {
        for (ground, place) in grounds() {
            let reference = contact(
                (&ground, place),
                (&shape, Pose::new(vec3(0.1, height, 0.2), rotation)),
                0.02,
            );
            for seed in 0..200 {
                let mut random = Random(seed);
                let shake = random.direction() * 1e-6;
                let turn = random.direction() * 1e-6;
                let small = Quat::from_xyzw(turn.x, turn.y, turn.z, 1.0).normalize();
                let pose = Pose::new(vec3(0.1, height, 0.2) + shake, small * rotation);
                let m = contact((&ground, place), (&shape, pose), 0.02);
                assert_eq!(ids(&m), ids(&reference), "{shape:?} on {}", ground.kind());
                assert!((m.normal() - reference.normal()).length() < 5e-6);
                for (p, q) in m.points().iter().zip(reference.points()) {
                    assert!((p.separation - q.separation).abs() < 5e-6);
                    // A point of a rim may be the lowest one instead, an eighth of a turn away.
                    let moved = (p.point_b - q.point_b).length();
                    assert!(
                        moved < 0.8 * radius,
                        "{shape:?} on {}: {moved}",
                        ground.kind()
                    );
                }
            }
        }
    }
}

/// Half over the edge of a table: two points on the edge, two on the rim above the table.
#[test]
fn a_cylinder_over_an_edge_touches_on_the_table_only() {
    let radius = 0.2;
    let shape = Shape::cylinder(0.3, radius);
    for table in [Shape::cuboid(1.0, 0.5, 1.0), box_hull(1.0, 0.5, 1.0)] {
        for over in [0.0, 0.05, 0.15, -0.1] {
            let pose = at(1.0 + over, 0.8, 0.1);
            let m = contact((&table, at(0.0, 0.0, 0.0)), (&shape, pose), 0.02);
            assert!(m.points().len() >= 3, "{over}: {m:?}");
            let chord = (radius * radius - over * over).sqrt();
            let on_edge = |z: f64| {
                (m.points().iter()).any(|p| (p.point_a - vec3(1.0, 0.5, z)).length() < 1e-9)
            };
            assert!(
                on_edge(0.1 + chord) && on_edge(0.1 - chord),
                "{over}: {m:?}"
            );
            for p in m.points() {
                assert!(p.point_a.x < 1.0 + 1e-12 && p.separation.abs() < 1e-12);
                assert!(
                    vec3(p.point_b.x - 1.0 - over, 0.0, p.point_b.z - 0.1).length()
                        < radius + 1e-12
                );
            }
        }
    }
}

/// Two drums, one on the other and off its middle: the lens of their discs.
#[test]
fn stacked_drums_touch_within_both_discs() {
    let (a, b) = (Shape::cylinder(0.2, 0.5), Shape::cylinder(0.3, 0.3));
    for (x, least) in [(0.0, 4), (0.1, 4), (0.3, 4), (0.6, 3), (0.79, 2)] {
        let m = contact((&a, at(0.0, 0.0, 0.0)), (&b, at(x, 0.5, 0.0)), 0.02);
        assert!(m.points().len() >= least, "{x}: {m:?}");
        for p in m.points() {
            assert!(p.separation.abs() < 1e-12);
            let from = |c: f64| vec3(p.point_a.x - c, 0.0, p.point_a.z).length();
            assert!(
                from(0.0) < 0.5 + 1e-12 && from(x) < 0.3 + 1e-12,
                "{x}: {m:?}"
            );
        }
        if x > 0.5 {
            // Both tips of the lens.
            let along = (0.25 - 0.09 + x * x) / (2.0 * x);
            let z = (0.25 - along * along).sqrt();
            for tip in [z, -z] {
                let found = (m.points().iter())
                    .any(|p| (p.point_a - vec3(along, 0.2, tip)).length() < 1e-9);
                assert!(found, "{x}: {m:?}");
            }
        }
    }
}

/// Depths and distances in closed form.
#[test]
fn simple_poses_have_simple_answers() {
    let drum = Shape::cylinder(0.5, 0.25);
    let crossed = quarter(Vec3::X);
    let corner = std::f64::consts::FRAC_1_SQRT_2;
    let eighth = turned(Vec3::ZERO, Vec3::Y, 0.25 * PI).rotation;
    let cases = [
        // Side against side, crossed and parallel.
        (
            drum.clone(),
            at(0.0, 0.0, 0.0),
            drum.clone(),
            Pose::new(vec3(0.4, 0.0, 0.0), crossed),
            -0.1,
        ),
        (
            drum.clone(),
            at(0.0, 0.0, 0.0),
            drum.clone(),
            at(0.7, 0.3, 0.0),
            0.2,
        ),
        // Coaxial, one within the other: along the axis, or across it.
        (
            drum.clone(),
            at(0.0, 0.0, 0.0),
            drum.clone(),
            at(0.0, 0.9, 0.0),
            -0.1,
        ),
        (
            drum.clone(),
            at(0.0, 0.0, 0.0),
            drum.clone(),
            at(0.0, 0.1, 0.0),
            -0.5,
        ),
        // The rims of two that stand side by side, apart across and along.
        (
            drum.clone(),
            at(0.0, 0.0, 0.0),
            drum.clone(),
            at(0.8, 1.4, 0.0),
            0.5,
        ),
        // Side against the edge of a box, seen along the axis.
        (
            drum.clone(),
            at(0.0, 0.0, 0.0),
            Shape::cuboid(0.5, 0.5, 0.5),
            Pose::new(vec3(0.9, 0.2, 0.0), eighth),
            0.9 - 0.5 / corner - 0.25,
        ),
        // The tip of a cone against an end, a side, and the tip of another.
        (
            drum.clone(),
            at(0.0, 0.0, 0.0),
            Shape::cone(0.5, 0.25),
            at(0.1, -1.05, 0.05),
            0.05,
        ),
        (
            Shape::cone(0.5, 0.25),
            at(0.0, 0.0, 0.0),
            Shape::cone(0.5, 0.25),
            Pose::new(
                vec3(0.3, 1.4, 0.0),
                turned(Vec3::ZERO, Vec3::X, PI).rotation,
            ),
            0.5,
        ),
        // A capsule's core that pierces a cylinder.
        (
            drum.clone(),
            at(0.0, 0.0, 0.0),
            Shape::capsule(1.0, 0.1),
            Pose::new(vec3(0.0, 0.2, 0.0), crossed),
            -0.35,
        ),
    ];
    for (a, pose_a, b, pose_b, separation) in cases {
        let near = closest_points(&a, &pose_a, &b, &pose_b).unwrap();
        let names = format!("{a:?} {b:?} at {pose_b:?}: {near:?}, not {separation}");
        assert!((near.separation - separation).abs() < 1e-12, "{names}");
        let along = near.point_b - near.point_a - near.normal * near.separation;
        assert!(along.length() < 1e-7, "{names}");
    }
}

/// Two maxima 6 degrees apart that differ by 2e-5: along the axis of the cylinder, and rim against rim.
#[test]
fn of_two_near_maxima_the_greater_is_the_normal() {
    let s = Scene {
        a: (
            Shape::cylinder(0.2214233140915819, 0.5770581174161366),
            Pose::new(
                vec3(0.7105788700007969, -0.1852217025786516, 0.6788008473788583),
                Quat::from_xyzw(
                    0.8817040757427693,
                    -0.11232280590359982,
                    -0.13713475054658608,
                    0.4372362865603182,
                ),
            ),
        ),
        b: (
            Shape::cone(0.5554201026116712, 0.3236913017242136),
            Pose::new(
                vec3(0.6587778407271017, 0.568656970809525, 0.6067147216385735),
                Quat::from_xyzw(
                    -0.24789437070741174,
                    -0.9067311443245103,
                    0.16041736284345007,
                    0.30108683561705807,
                ),
            ),
        ),
    };
    let near = closest_points(&s.a.0, &s.a.1, &s.b.0, &s.b.1).unwrap();
    let along_axis = s.separation(s.a.1.transform_vector(-Vec3::Y));
    assert!(near.separation > along_axis + 1e-5);
    for i in 0..10_000 {
        let n = (near.normal + Random(i).direction() * 0.2).normalize();
        assert!(s.separation(n) < near.separation + 1e-12);
    }
}

fn scene(random: &mut Random, kind_a: u64, kind_b: u64) -> Scene {
    let (a, b) = (random.shape(kind_a), random.shape(kind_b));
    let pose_a = Pose::new(random.direction() * 3.0, random.rotation());
    let pose_b = Pose::new(pose_a.translation, random.rotation());
    let mut out = Scene {
        a: (a, pose_a),
        b: (b, pose_b),
    };
    let away = random.direction();
    let wanted = if random.below(2) == 0 {
        random.range(-0.02, 0.06)
    } else {
        random.range(-0.8, 0.1)
    };
    out.b.1.translation += away * (wanted - out.separation(away));
    out.b.1.translation += random.direction() * random.range(0.0, 0.2);
    out
}

/// Pairs in which one at least is a cylinder or a cone.
fn scenes(count: u64) -> impl Iterator<Item = Scene> {
    (0..count).flat_map(|i| {
        (0..6).flat_map(move |ka| {
            (0..6).filter(move |kb| ka > 3 || *kb > 3).map(move |kb| {
                let mut random = Random(i * 36 + ka * 6 + kb);
                scene(&mut random, ka, kb)
            })
        })
    })
}

fn manifold(s: &Scene) -> Manifold {
    contact((&s.a.0, s.a.1), (&s.b.0, s.b.1), PREDICTION)
}

#[test]
fn exchanging_the_shapes_exchanges_the_manifold() {
    for s in scenes(300) {
        let back = contact((&s.b.0, s.b.1), (&s.a.0, s.a.1), PREDICTION);
        assert_eq!(manifold(&s), back.swapped());
    }
}

#[test]
fn a_rigid_motion_of_the_scene_moves_the_manifold() {
    for (i, s) in scenes(300).enumerate() {
        let mut random = Random(i as u64);
        let motion = Pose::new(random.direction() * 5.0, random.rotation());
        let m = manifold(&s);
        let n = contact(
            (&s.a.0, motion.mul_pose(&s.a.1)),
            (&s.b.0, motion.mul_pose(&s.b.1)),
            PREDICTION,
        );
        let names = format!("{:?}\n{:?}\n{m:#?}\n{n:#?}", s.a, s.b);
        assert_eq!(m.points().len(), n.points().len(), "{names}");
        if m.is_empty() {
            continue;
        }
        assert!(
            (motion.transform_vector(m.normal()) - n.normal()).length() < 1e-7,
            "{names}"
        );
        for (p, q) in m.points().iter().zip(n.points()) {
            assert_eq!(p.feature, q.feature, "{names}");
            assert!((p.separation - q.separation).abs() < 1e-9);
            assert!(
                (motion.transform_point(p.point_a) - q.point_a).length() < 1e-7,
                "{names}"
            );
            assert!(
                (motion.transform_point(p.point_b) - q.point_b).length() < 1e-7,
                "{names}"
            );
        }
    }
}

/// As for shapes of flat faces: a pose changed by 1e-6 changes the manifold by about as much, but for
/// the few scenes that lie on a border.
#[test]
fn a_small_motion_changes_the_manifold_by_as_much() {
    const STEP: f64 = 1e-6;
    let close = |p: Vec3, q: Vec3, tolerance: f64| (p - q).length() < tolerance;
    let (mut smooth, mut jumps) = (0, 0);
    for (i, s) in scenes(300).enumerate() {
        let mut random = Random(i as u64);
        let m = manifold(&s);
        let mut moved = s.b.1;
        moved.translation += random.direction() * STEP;
        let turn = random.direction() * (0.5 * STEP);
        let q = Quat::from_xyzw(turn.x, turn.y, turn.z, 1.0).normalize();
        moved.rotation = (q * moved.rotation).normalize();
        let n = contact((&s.a.0, s.a.1), (&s.b.0, moved), PREDICTION);
        let same = m.points().len() == n.points().len()
            && (m.points().iter().zip(n.points())).all(|(p, q)| {
                p.feature == q.feature
                    && (p.separation - q.separation).abs() < 100.0 * STEP
                    && close(p.point_a, q.point_a, 1e3 * STEP)
                    && close(p.point_b, q.point_b, 1e3 * STEP)
            })
            && close(m.normal(), n.normal(), 1e3 * STEP);
        if same {
            smooth += 1;
        } else {
            jumps += 1;
        }
        if let (Some(d), Some(e)) = (m.min_separation(), n.min_separation()) {
            assert!((d - e).abs() < 4.0 * STEP, "{d} {e}: {:?} {:?}", s.a, s.b);
        }
    }
    println!("{smooth} smooth, {jumps} jumps");
    assert!(smooth > 5000);
    assert!(jumps < 30, "{jumps} jumps, {smooth} smooth");
}

/// On a grid and turned by quarters: ties and zero lengths are the rule.
#[test]
fn nothing_breaks_where_nothing_is_in_general_position() {
    let mut found = 0;
    for seed in 0..20_000 {
        let mut random = Random(seed);
        let mut shape = |curved: bool| {
            let mut size = || [0.25, 0.5, 0.5, 1.0][random.below(4) as usize];
            let (x, y, z) = (size(), size(), size());
            match random.below(if curved { 2 } else { 6 }) {
                0 => Shape::cylinder(x, y),
                1 => Shape::cone(x, y),
                2 => Shape::sphere(x),
                3 => Shape::capsule(x, y),
                4 => box_hull(x, y, z),
                _ => Shape::cuboid(x, y, z),
            }
        };
        let (a, b) = (shape(true), shape(false));
        // Of directions that are equal but for a noise, such as all those across a common axis, any may
        // be taken: no better ones are found among infinitely many.
        let noise = [0.0, 0.0, 1e-13, 1e-8][random.below(4) as usize];
        let tolerance = if noise > 1e-9 { 4.0 * noise } else { 1e-9 };
        let mut pose = || {
            let mut step = || random.range(-3.0, 4.0).floor() * 0.25;
            let place = vec3(step(), step(), step());
            let axis = [Vec3::X, Vec3::Y, Vec3::Z][random.below(3) as usize];
            let angle = 0.25 * PI * random.below(5) as f64;
            let off = random.direction() * noise;
            turned(place + off, axis + off, angle)
        };
        let s = Scene {
            a: (a, pose()),
            b: (b, pose()),
        };
        let m = contact((&s.a.0, s.a.1), (&s.b.0, s.b.1), 0.3);
        let back = contact((&s.b.0, s.b.1), (&s.a.0, s.a.1), 0.3);
        if s.a.0 != s.b.0 || s.a.1 != s.b.1 {
            assert_eq!(m, back.swapped(), "seed {seed}");
        }
        let Some(least) = m.min_separation() else {
            continue;
        };
        found += 1;
        assert!(
            (m.normal().length() - 1.0).abs() < 1e-15,
            "seed {seed}: {m:?}"
        );
        let along = s.separation(m.normal());
        assert!(
            (along - least).abs() < 1e-9,
            "seed {seed}: {along}, {m:?}\n{:?}\n{:?}",
            s.a,
            s.b
        );
        // Directions between the axes of both: none of them separates better.
        let axes =
            [s.a.1, s.b.1].map(|p| [Vec3::X, Vec3::Y, Vec3::Z].map(|v| p.transform_vector(v)));
        for n in 0..2000 {
            let pick = |k: u64| axes[(k & 1) as usize][(k >> 1) as usize % 3];
            let n = match n {
                0..6 => pick(n),
                6..12 => -pick(n - 6),
                _ => random.direction(),
            };
            assert!(
                s.separation(n) < least + tolerance,
                "seed {seed}: {n}, {m:?}\n{:?}\n{:?}",
                s.a,
                s.b
            );
        }
        for p in m.points() {
            assert!(p.point_a.is_finite() && p.point_b.is_finite());
            assert!((p.separation - m.normal().dot(p.point_b - p.point_a)).abs() < 1e-12);
        }
        for pair in m.points().windows(2) {
            assert!(pair[0].feature < pair[1].feature, "{m:?}");
        }
    }
    assert!(found > 8000, "{found}");
}
