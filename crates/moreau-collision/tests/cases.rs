//! Scenes that narrow phases are known to get wrong, with their closed-form answers.

mod scenes;

use moreau_collision::{Manifold, Shape};
use moreau_math::{Pose, Quat, Vec3, vec3};
use scenes::brute::{Solid, separation};
use scenes::{at, box_hull, contact, turned};

fn ids(manifold: &Manifold) -> Vec<u32> {
    manifold.points().iter().map(|p| p.feature.0).collect()
}

/// Two touching shapes: a small ball whose centre is above, in and below the surface of a solid.
#[test]
fn a_ball_has_the_signed_distance_of_its_centre() {
    let radius = 0.005;
    let ball = Shape::sphere(radius);
    let solids = [
        (Shape::half_space(Vec3::Z), at(0.0, 0.0, -0.005), -0.005),
        (Shape::cuboid(0.5, 0.5, 0.25), at(0.0, 0.0, -0.255), -0.005),
        (box_hull(0.5, 0.5, 0.25), at(0.0, 0.0, -0.255), -0.005),
    ];
    let depths = (0..400).map(|i| -0.01 + 0.000_025 * f64::from(i) - 1e-6);
    for z in depths.chain([-1e-6, -0.005, -0.005 - 1e-14, -0.005 + 1e-14]) {
        for (solid, pose, surface) in &solids {
            let m = contact((solid, *pose), (&ball, at(0.0, 0.0, z)), 0.01);
            assert_eq!(m.points().len(), 1, "{} at {z}", solid.kind());
            assert_eq!(m.normal(), Vec3::Z);
            let p = m.points()[0];
            assert!(
                (p.separation - (z - surface - radius)).abs() < 1e-15,
                "{z}: {p:?}"
            );
            assert!((p.point_a - vec3(0.0, 0.0, *surface)).length() < 1e-15);
            assert!((p.point_b - vec3(0.0, 0.0, z - radius)).length() < 1e-15);
        }
    }
}

/// A capsule above a wide box near the end of its top: touching, and 0.0109 m deep.
#[test]
fn a_touching_capsule_has_its_point_on_the_box_below_it() {
    let capsule = Shape::capsule(0.25, 0.5);
    for solid in [Shape::cuboid(4.0, 0.5, 1.0), box_hull(4.0, 0.5, 1.0)] {
        for (y, separation) in [(-1.25, 0.0), (-1.2391, -0.0109), (-1.26, 0.01)] {
            let x = -2.037_373_5;
            let m = contact((&capsule, at(0.0, 0.0, 0.0)), (&solid, at(x, y, 0.0)), 0.01);
            assert_eq!(m.points().len(), 1, "{y}");
            let p = m.points()[0];
            assert!((m.normal() + Vec3::Y).length() < 1e-15);
            assert!((p.separation - separation).abs() < 1e-15);
            assert!((p.point_a - vec3(0.0, -0.75, 0.0)).length() < 1e-15);
            let local = p.point_b - vec3(x, y, 0.0);
            assert!((local - vec3(-x, 0.5, 0.0)).length() < 1e-15);
        }
    }
}

/// A peg lies across a smaller cube: the patch is where they overlap, not the peg's ends.
#[test]
fn a_peg_across_a_cube_touches_on_the_cube() {
    let cube = Shape::cuboid(0.025, 0.025, 0.025);
    let peg = Shape::cuboid(0.048, 0.01, 0.01);
    let m = contact(
        (&cube, at(0.0, 0.0, 0.025)),
        (&peg, at(0.0, 0.0, 0.06)),
        0.0,
    );
    assert_eq!(m.points().len(), 4);
    assert_eq!(m.normal(), Vec3::Z);
    for p in m.points() {
        assert!(p.separation.abs() < 1e-15);
        assert!((p.point_a.x.abs() - 0.025).abs() < 1e-15);
        assert!((p.point_a.y.abs() - 0.01).abs() < 1e-15);
    }
    // Ids survive small shifts and turns.
    for i in 0..50 {
        let shake = 1e-6 * f64::from(i % 7 - 3);
        let pose = turned(
            vec3(shake, -shake, 0.06 + 0.1 * shake),
            vec3(1.0, 2.0, 3.0),
            shake,
        );
        let n = contact((&cube, at(0.0, 0.0, 0.025)), (&peg, pose), 0.001);
        assert_eq!(ids(&m), ids(&n), "shake {shake}");
    }
}

/// Equal shapes at one point: a finite unit normal, and the exact depth.
#[test]
fn coincident_shapes_have_a_normal_and_the_exact_depth() {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let eighth = turned(Vec3::ZERO, Vec3::Y, 0.25 * std::f64::consts::PI).rotation;
    let rotations = [
        Quat::IDENTITY,
        Quat::from_xyzw(half, 0.0, 0.0, half),
        Quat::from_xyzw(0.0, 0.0, half, half),
        eighth,
        turned(Vec3::ZERO, vec3(1.0, 2.0, 3.0), 1.0).rotation,
    ];
    let shapes = [
        Shape::sphere(0.5),
        Shape::sphere(1e-3),
        Shape::capsule(0.5, 0.25),
        Shape::cuboid(0.5, 0.5, 0.5),
        Shape::cuboid(0.5, 0.25, 1.0),
        box_hull(0.5, 0.5, 0.5),
    ];
    for place in [Vec3::ZERO, vec3(1e3, -2e3, 5e2)] {
        for a in &shapes {
            for b in &shapes {
                for rotation in rotations {
                    let pose_a = Pose::from_translation(place);
                    let pose_b = Pose::new(place, rotation);
                    let m = contact((a, pose_a), (b, pose_b), 0.0);
                    let names = format!("{a:?}, {b:?} turned by {rotation}");
                    let exact = separation(&Solid::new(a, &pose_a), &Solid::new(b, &pose_b));
                    assert!((m.normal().length() - 1.0).abs() <= 1e-15, "{names}");
                    let least = m.min_separation().unwrap();
                    assert!(
                        (least - exact).abs() < 1e-11,
                        "{least}, not {exact}: {names}"
                    );
                    let back = contact((b, pose_b), (a, pose_a), 0.0);
                    if a != b || rotation != Quat::IDENTITY {
                        assert_eq!(m, back.swapped(), "{names}");
                    }
                }
            }
        }
    }
}

/// Far from the origin only the rounding of the poses is felt.
#[test]
fn a_million_metres_away_separations_are_as_exact_as_the_poses() {
    let far = vec3(1e6, -1e6, 1e6);
    let shapes = [
        Shape::sphere(0.5),
        Shape::capsule(0.25, 0.25),
        Shape::cuboid(0.5, 0.5, 0.5),
        box_hull(0.5, 0.5, 0.5),
    ];
    for a in &shapes {
        for b in &shapes {
            for prediction in [0.0, 0.01] {
                // Representable offsets: the shapes touch exactly, also out there.
                let above = vec3(0.25, 1.0, -0.125);
                let above = if matches!(a, Shape::Sphere { .. } | Shape::Capsule { .. }) {
                    Vec3::Y
                } else {
                    above
                };
                let near = contact(
                    (a, at(0.0, 0.0, 0.0)),
                    (b, Pose::from_translation(above)),
                    prediction,
                );
                let a_far = Pose::from_translation(far);
                let b_far = Pose::from_translation(far + above);
                let m = contact((a, a_far), (b, b_far), prediction);
                assert!(!near.is_empty(), "{a:?} {b:?}");
                assert_eq!(ids(&m), ids(&near), "{a:?} {b:?}");
                assert_eq!(m.normal(), near.normal());
                for (p, q) in m.points().iter().zip(near.points()) {
                    assert_eq!(p.separation, q.separation);
                    assert!((p.point_a - far - q.point_a).length() < 1e-9);
                }
            }
        }
    }
}

/// Sizes that differ ten thousand times.
#[test]
fn a_grain_on_a_boulder_has_its_own_depth() {
    for (grain, half) in [
        (Shape::sphere(1e-4), 1e-4),
        (Shape::cuboid(1e-4, 1e-4, 1e-4), 1e-4),
        (box_hull(1e-4, 1e-4, 1e-4), 1e-4),
    ] {
        for boulder in [Shape::cuboid(1.0, 1.0, 1.0), box_hull(1.0, 1.0, 1.0)] {
            let pose = at(0.9, 1.0 + half - 1e-6, -0.7);
            let m = contact((&boulder, at(0.0, 0.0, 0.0)), (&grain, pose), 0.0);
            assert_eq!(m.normal(), Vec3::Y);
            for p in m.points() {
                assert!((p.separation + 1e-6).abs() < 1e-15);
                assert!(((p.point_b - pose.translation).y + half).abs() < 1e-15);
            }
            let expected = if half == 1e-4 && grain.kind() == "sphere" {
                1
            } else {
                4
            };
            assert_eq!(m.points().len(), expected);
        }
    }
}

/// Two cubes a hair apart across a common corner: the normal is the diagonal, the distance the gap's.
#[test]
fn cubes_apart_across_a_corner_or_an_edge_have_the_true_normal() {
    let cube = Shape::cuboid(0.5, 0.5, 0.5);
    let origin = at(0.0, 0.0, 0.0);
    for gap in [1e-6, 1e-4, 0.005] {
        let m = contact(
            (&cube, origin),
            (&cube, at(1.0 + gap, 1.0 + gap, 1.0 + gap)),
            0.02,
        );
        assert_eq!(m.points().len(), 1);
        let p = m.points()[0];
        let diagonal = Vec3::ONE.normalize();
        // The gap is a difference of coordinates near 1: known to 1e-16.
        assert!((m.normal() - diagonal).length() < 1e-15 / gap);
        assert!((p.separation - gap * 3f64.sqrt()).abs() < 1e-15);
        assert!((p.point_a - Vec3::splat(0.5)).length() < 1e-15);

        let m = contact(
            (&cube, origin),
            (&cube, at(1.0 + gap, 1.0 + 2.0 * gap, 0.25)),
            0.02,
        );
        assert_eq!(m.points().len(), 2, "{m:?}");
        assert!((m.normal() - vec3(1.0, 2.0, 0.0).normalize()).length() < 1e-15 / gap);
        for p in m.points() {
            assert!((p.separation - gap * 5f64.sqrt()).abs() < 1e-15);
            assert!((p.point_a - vec3(0.5, 0.5, p.point_a.z)).length() < 1e-15);
        }
        let (low, high) = (m.points()[0].point_a.z, m.points()[1].point_a.z);
        assert!((low.min(high) + 0.25).abs() < 1e-12 && (low.max(high) - 0.5).abs() < 1e-12);
    }
}

#[test]
fn a_capsule_that_lies_on_a_face_or_along_an_edge_has_two_points() {
    let capsule = Shape::capsule(0.3, 0.1);
    let half = std::f64::consts::FRAC_1_SQRT_2;
    // The capsule's axis along x.
    let lying = Quat::from_xyzw(0.0, 0.0, half, half);
    for solid in [Shape::cuboid(0.5, 0.5, 0.5), box_hull(0.5, 0.5, 0.5)] {
        let origin = at(0.0, 0.0, 0.0);
        // Wholly over the face; beyond its end; on the edge, 45 degrees down the side.
        let diagonal = 0.099 * half;
        let places = [
            (vec3(0.0, 0.599, 0.1), Vec3::Y, [-0.3, 0.3], 0.5),
            (vec3(0.4, 0.599, 0.1), Vec3::Y, [0.1, 0.5], 0.5),
            (
                vec3(0.1, 0.5 + diagonal, 0.5 + diagonal),
                vec3(0.0, half, half),
                [-0.2, 0.4],
                0.5,
            ),
        ];
        for (place, normal, ends, height) in places {
            let m = contact((&solid, origin), (&capsule, Pose::new(place, lying)), 0.0);
            assert_eq!(m.points().len(), 2, "{place}");
            assert!((m.normal() - normal).length() < 1e-14, "{}", m.normal());
            let mut reached = [m.points()[0].point_a, m.points()[1].point_a];
            reached.sort_by(|p, q| p.x.total_cmp(&q.x));
            for (p, x) in reached.iter().zip(ends) {
                assert!(
                    (p.x - x).abs() < 1e-12 && (p.y - height).abs() < 1e-12,
                    "{p}"
                );
            }
            assert!(
                m.points()
                    .iter()
                    .all(|p| (p.separation + 0.001).abs() < 1e-14)
            );
        }
    }
}

/// Equal cubes in a stack, aligned, shifted or turned, that shake by a few micrometres.
#[test]
fn a_shaking_stack_keeps_its_ids() {
    let cube = Shape::cuboid(0.5, 0.5, 0.5);
    for yaw in [0.0, 0.3] {
        for offset in [Vec3::ZERO, vec3(0.2, 0.0, 0.0), vec3(0.2, 0.0, -0.3)] {
            let mut reference: Option<Vec<u32>> = None;
            for i in 0..200_u32 {
                let mut random = scenes::Random(u64::from(i));
                let shake = random.direction() * 1e-6;
                let turn = random.range(-1e-6, 1e-6);
                let pose = turned(vec3(0.0, 1.0, 0.0) + offset + shake, Vec3::Y, yaw + turn);
                let m = contact((&cube, at(0.0, 0.0, 0.0)), (&cube, pose), 0.001);
                assert_eq!(m.points().len(), 4, "yaw {yaw}, offset {offset}");
                let reference = reference.get_or_insert(ids(&m));
                assert_eq!(&ids(&m), reference, "yaw {yaw}, offset {offset}, {i}");
            }
        }
    }
}

/// Turned by 45 degrees, equal cubes overlap in an octagon: the four points kept span most of it.
#[test]
fn four_of_eight_points_keep_the_width_and_the_deepest() {
    let cube = Shape::cuboid(0.5, 0.5, 0.5);
    let octagon = 2.0 * (2f64.sqrt() - 1.0);
    for tilt in [0.0, 1e-4, -3e-4, 1e-3] {
        let mut pose = turned(vec3(0.0, 1.0, 0.0), Vec3::Y, 0.25 * std::f64::consts::PI);
        pose.rotation = turned(Vec3::ZERO, vec3(0.3, 0.0, 1.0), tilt).rotation * pose.rotation;
        let m = contact((&cube, at(0.0, 0.0, 0.0)), (&cube, pose), 0.02);
        assert_eq!(m.points().len(), 4);
        let a = Solid::new(&cube, &at(0.0, 0.0, 0.0));
        let exact = separation(&a, &Solid::new(&cube, &pose));
        assert!((m.min_separation().unwrap() - exact).abs() < 1e-12);
        // Area of the quadrilateral, its corners in order of their angle.
        let mut corners: Vec<Vec3> = m.points().iter().map(|p| p.point_a).collect();
        let angle = |p: &Vec3| moreau_math::libm::atan2(p.z, p.x);
        corners.sort_by(|p, q| angle(p).total_cmp(&angle(q)));
        let area: f64 = (0..4)
            .map(|i| (corners[i], corners[(i + 1) % 4]))
            .map(|(p, q)| 0.5 * (p.x * q.z - p.z * q.x))
            .sum();
        assert!(area > 0.6 * octagon, "tilt {tilt}: {area} of {octagon}");
    }
}

/// Anything on a half-space, touching, in any direction and wherever the plane's origin is.
#[test]
fn shapes_touch_a_half_space_with_what_lies_in_the_plane() {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let lying = Quat::from_xyzw(0.0, 0.0, half, half);
    let shapes = [
        (Shape::sphere(0.5), Quat::IDENTITY, 0.5, 1),
        (Shape::capsule(0.5, 0.25), Quat::IDENTITY, 0.75, 1),
        (Shape::capsule(0.5, 0.25), lying, 0.25, 2),
        (Shape::cuboid(0.5, 0.25, 0.5), Quat::IDENTITY, 0.25, 4),
        (Shape::cuboid(0.5, 0.25, 0.5), lying, 0.5, 4),
        (box_hull(0.5, 0.25, 0.5), Quat::IDENTITY, 0.25, 4),
    ];
    for turn in [
        Quat::IDENTITY,
        turned(Vec3::ZERO, vec3(1.0, 2.0, 3.0), 1.1).rotation,
    ] {
        let normal = turn * Vec3::Y;
        for (shape, rotation, height, points) in &shapes {
            for separation in [0.0, -0.01, 0.015] {
                let center = turn * vec3(3.0, height + separation, -2.0);
                let pose = Pose::new(center, turn * *rotation);
                let plane = Pose::new(turn * vec3(100.0, 0.0, 50.0), turn);
                let m = contact((&Shape::half_space(Vec3::Y), plane), (shape, pose), 0.02);
                assert_eq!(m.points().len(), *points, "{shape:?}");
                assert!((m.normal() - normal).length() < 1e-15);
                for p in m.points() {
                    assert!((p.separation - separation).abs() < 1e-13);
                    assert!(p.point_a.dot(normal).abs() < 1e-13);
                    assert!((p.point_b.dot(normal) - separation).abs() < 1e-13);
                }
            }
        }
    }
}

/// A solid that lies on a half-space touches it with its lower face, however far contacts are looked for:
/// the prediction distance of a fast or a small body is larger than the body.
#[test]
fn what_lies_on_a_half_space_touches_with_its_lower_face_at_any_prediction() {
    // Wider above than below, so that the widest corners are not those that touch.
    let frustum = |below: f64, above: f64, height: f64| {
        let ring = |half: f64, y: f64| {
            [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)]
                .map(|(x, z)| vec3(half * x, y, half * z))
        };
        let points = [ring(below, -height), ring(above, height)].concat();
        Shape::hull(&points).unwrap()
    };
    let solids = [
        (Shape::cuboid(0.5, 0.05, 0.3), 0.05),
        (Shape::cuboid(0.005, 0.005, 0.005), 0.005),
        (box_hull(0.5, 0.05, 0.3), 0.05),
        (frustum(0.3, 0.3, 0.02), 0.02),
        (frustum(0.2, 0.6, 0.05), 0.05),
        (frustum(0.6, 0.2, 0.05), 0.05),
    ];
    for seed in 0..200 {
        let mut random = scenes::Random(seed);
        let turn = turned(Vec3::ZERO, random.direction(), random.range(0.0, 3.0)).rotation;
        let about = turned(Vec3::ZERO, Vec3::Y, random.range(0.0, 6.0)).rotation;
        let plane = Pose::new(turn * vec3(7.0, 0.0, -3.0), turn);
        for (shape, height) in &solids {
            for prediction in [1e-3, 0.02, 0.25, 2.0] {
                let pose = Pose::new(turn * vec3(1.0, *height, 2.0), turn * about);
                let m = contact(
                    (&Shape::half_space(Vec3::Y), plane),
                    (shape, pose),
                    prediction,
                );
                assert_eq!(m.points().len(), 4, "seed {seed}, {shape:?}, {prediction}");
                for p in m.points() {
                    let gap = p.separation.abs();
                    assert!(gap < 1e-13, "seed {seed}, {shape:?}, {prediction}: {gap}");
                }
            }
        }
    }
}

#[test]
fn what_cannot_touch_is_empty() {
    let floor = Shape::half_space(Vec3::Y);
    let cube = Shape::cuboid(0.5, 0.5, 0.5);
    let origin = at(0.0, 0.0, 0.0);
    assert!(contact((&floor, origin), (&floor, origin), 1.0).is_empty());
    assert!(contact((&cube, origin), (&cube, at(1e300, -1e300, 0.0)), 1.0).is_empty());
    assert!(
        contact(
            (&cube, at(-1e308, 0.0, 0.0)),
            (&cube, at(1e308, 1e308, 0.0)),
            1.0
        )
        .is_empty()
    );
    assert!(contact((&cube, origin), (&cube, at(f64::NAN, 0.0, 0.0)), 1.0).is_empty());
    assert!(contact((&floor, origin), (&cube, at(0.0, f64::INFINITY, 0.0)), 1.0).is_empty());
}

/// A cube that rocks on its equal: whether a face or a pair of edges is the least axis, the normal
/// stays within the tilt, and all corners of the overlap are reported.
#[test]
fn a_rocking_stack_keeps_its_patch() {
    let cube = Shape::cuboid(0.5, 0.5, 0.5);
    for seed in 0..2000 {
        let mut random = scenes::Random(seed);
        let tilt = random.range(0.0, 1e-3);
        let mut pose = turned(vec3(0.0, 1.0, 0.0), Vec3::Y, random.range(0.0, 0.7));
        pose.translation += random.direction() * 1e-3;
        let axis = random.direction() * vec3(1.0, 0.0, 1.0);
        pose.rotation = turned(Vec3::ZERO, axis, tilt).rotation * pose.rotation;
        let m = contact((&cube, at(0.0, 0.0, 0.0)), (&cube, pose), 0.02);
        assert_eq!(m.points().len(), 4, "seed {seed}");
        assert!(
            (m.normal() - Vec3::Y).length() < 1.01 * tilt + 1e-12,
            "seed {seed}"
        );
        for (i, p) in m.points().iter().enumerate() {
            let apart = |q: &moreau_collision::ManifoldPoint| (p.point_a - q.point_a).length();
            assert!(
                m.points()[..i].iter().all(|q| apart(q) > 0.3),
                "seed {seed}: {m:?}"
            );
        }
    }
}
