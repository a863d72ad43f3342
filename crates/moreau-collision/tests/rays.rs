//! Rays against single shapes: closed forms, and marching by the distance from the surface.

mod common;

use common::{Random, shapes};
use moreau_collision::{Inside, QueryError, Ray, Shape, project_point};
use moreau_math::{Pose, Quat, Vec3, vec3};

fn ray(origin: Vec3, direction: Vec3) -> Ray {
    Ray::new(origin, direction).unwrap()
}

#[test]
fn closed_forms() {
    let far = f64::INFINITY;
    let octahedron: Vec<Vec3> = [Vec3::X, Vec3::Y, Vec3::Z]
        .into_iter()
        .flat_map(|v| [v, -v])
        .collect();
    // Shape, origin, direction; distance from outside and its normal, distance to the far side.
    let third = 1.0 / 3.0_f64.sqrt();
    let rows = [
        (
            Shape::sphere(0.5),
            vec3(-3.0, 0.3, 0.0),
            Vec3::X,
            2.6,
            vec3(-0.8, 0.6, 0.0),
            3.4,
        ),
        (
            Shape::cuboid(0.5, 1.0, 2.0),
            vec3(0.1, 5.0, -1.9),
            -Vec3::Y * 7.0,
            4.0,
            Vec3::Y,
            6.0,
        ),
        (
            Shape::capsule(1.0, 0.5),
            vec3(4.0, 0.9, 0.0),
            -Vec3::X,
            3.5,
            Vec3::X,
            4.5,
        ),
        (
            Shape::capsule(1.0, 0.5),
            vec3(4.0, 1.3, 0.0),
            -Vec3::X,
            3.6,
            vec3(0.8, 0.6, 0.0),
            4.4,
        ),
        (
            Shape::capsule(1.0, 0.5),
            vec3(0.0, 7.0, 0.0),
            -Vec3::Y,
            5.5,
            Vec3::Y,
            8.5,
        ),
        (
            Shape::cylinder(1.0, 0.5),
            vec3(0.3, 7.0, 0.0),
            -Vec3::Y,
            6.0,
            Vec3::Y,
            8.0,
        ),
        (
            Shape::cylinder(1.0, 0.5),
            vec3(-2.0, 0.9, 0.3),
            Vec3::X,
            1.6,
            vec3(-0.8, 0.0, 0.6),
            2.4,
        ),
        // Half as wide as high: the radius is 0.5 at y = 0.
        (
            Shape::cone(1.0, 1.0),
            vec3(-2.0, 0.0, 0.0),
            Vec3::X,
            1.5,
            vec3(-2.0, 1.0, 0.0) / 5.0_f64.sqrt(),
            2.5,
        ),
        (
            Shape::cone(1.0, 1.0),
            vec3(0.0, 3.0, 0.25),
            -Vec3::Y,
            2.5,
            vec3(0.0, 1.0, 2.0) / 5.0_f64.sqrt(),
            4.0,
        ),
        (
            Shape::cone(1.0, 1.0),
            vec3(0.0, -5.0, 0.5),
            Vec3::Y,
            4.0,
            -Vec3::Y,
            5.0,
        ),
        (
            Shape::hull(&octahedron).unwrap(),
            vec3(3.0, 0.25, 0.25),
            -Vec3::X,
            2.5,
            Vec3::splat(third),
            3.5,
        ),
    ];
    for (shape, origin, direction, near, normal, leave) in rows {
        for (pose, turned) in [
            (Pose::IDENTITY, Quat::IDENTITY),
            (
                Pose::new(vec3(3.0, -2.0, 1e3), Quat::from_xyzw(0.6, 0.0, 0.8, 0.0)),
                Quat::from_xyzw(0.6, 0.0, 0.8, 0.0),
            ),
        ] {
            let at = |p: Vec3| pose.transform_point(p);
            let r = ray(at(origin), turned * direction);
            for inside in [Inside::Solid, Inside::Hollow] {
                let hit = r.cast(&shape, &pose, far, inside).unwrap();
                assert!((hit.distance - near).abs() < 1e-12, "{shape:?}: {hit:?}");
                assert!((hit.normal - turned * normal).length() < 1e-12, "{hit:?}");
                assert!((hit.point - at(origin + direction.normalize() * near)).length() < 1e-12);
                assert!(r.cast(&shape, &pose, near - 1e-9, inside).is_none());
                assert!(r.cast(&shape, &pose, near + 1e-9, inside).is_some());
            }
            // From the middle of its way through.
            let middle = r.at(0.5 * (near + leave));
            let r = ray(middle, turned * direction);
            let solid = r.cast(&shape, &pose, far, Inside::Solid).unwrap();
            assert_eq!((solid.distance, solid.point), (0.0, middle));
            assert_eq!(solid.normal, -r.direction());
            let hollow = r.cast(&shape, &pose, far, Inside::Hollow).unwrap();
            assert!((hollow.distance - 0.5 * (leave - near)).abs() < 1e-12);
            assert!(hollow.normal.dot(r.direction()) > 0.0);
            // And from beyond it.
            let r = ray(r.at(leave), turned * direction);
            assert!(r.cast(&shape, &pose, far, Inside::Solid).is_none());
        }
    }
}

#[test]
fn half_spaces() {
    let plane = Shape::half_space(vec3(0.6, 0.8, 0.0));
    let pose = Pose::from_translation(vec3(0.0, 1.0, 0.0));
    let down = ray(vec3(0.0, 3.0, 0.0), -Vec3::Y);
    let hit = down.cast(&plane, &pose, 10.0, Inside::Solid).unwrap();
    assert!((hit.distance - 2.0).abs() < 1e-12);
    assert_eq!(hit.normal, vec3(0.6, 0.8, 0.0));
    let up = ray(vec3(0.0, -3.0, 0.0), Vec3::Y);
    assert_eq!(
        up.cast(&plane, &pose, 10.0, Inside::Solid)
            .unwrap()
            .distance,
        0.0
    );
    let hit = up.cast(&plane, &pose, 10.0, Inside::Hollow).unwrap();
    assert!((hit.distance - 4.0).abs() < 1e-12);
    // Away, along above, along below and without end.
    assert!(down.cast(&plane, &pose, 1.0, Inside::Solid).is_none());
    let along = |y: f64| ray(vec3(0.0, y, 0.0), vec3(0.0, 0.0, 1.0));
    assert!(along(1.5).cast(&plane, &pose, 1e9, Inside::Solid).is_none());
    let below = along(0.5);
    assert!(below.cast(&plane, &pose, 1e9, Inside::Solid).is_some());
    assert!(
        below
            .cast(&plane, &pose, f64::INFINITY, Inside::Hollow)
            .is_none()
    );
}

/// Walks along the ray by the distance from the surface, which never steps over it.
fn march(r: &Ray, shape: &Shape, pose: &Pose, most: f64) -> Option<f64> {
    let mut t = 0.0;
    for _ in 0..20_000 {
        let apart = project_point(shape, pose, r.at(t)).unwrap().distance;
        if apart < 1e-11 {
            return Some(t);
        }
        t += apart;
        if t > most {
            return None;
        }
    }
    panic!("a graze: {t}");
}

#[test]
fn rays_meet_what_marching_meets() {
    let mut random = Random(3);
    let mut hits = 0;
    for round in 0..400 {
        for shape in shapes(&mut random) {
            let pose = random.pose(1.0);
            let origin = random.vec(3.0);
            // Two in three aim at it.
            let aim = if round % 3 == 0 {
                random.vec(1.0)
            } else {
                pose.translation + random.vec(0.4) - origin
            };
            let r = ray(origin, aim);
            let hit = r.cast(&shape, &pose, 10.0, Inside::Solid);
            let expected = march(&r, &shape, &pose, 10.0);
            hits += usize::from(hit.is_some());
            match (hit, expected) {
                (Some(hit), Some(t)) => {
                    // The slanted last steps of the march end a little early.
                    let slope = hit.normal.dot(-r.direction()).max(1e-3);
                    let off = (hit.distance - t).abs();
                    assert!(off < 1e-10 / slope, "{shape:?} {pose:?} {r:?}: {hit:?} {t}");
                    if t > 0.0 {
                        let there = project_point(&shape, &pose, hit.point).unwrap();
                        assert!(there.distance.abs() < 1e-12, "{there:?}");
                        assert!(hit.normal.dot(r.direction()) <= 0.0);
                        assert!((hit.normal.length() - 1.0).abs() < 1e-14);
                    }
                }
                (None, None) => {}
                other => panic!("{shape:?} {pose:?} {r:?}: {other:?}"),
            }
        }
    }
    assert!(hits > 500, "{hits}");
}

#[test]
fn hollow_shapes_are_left_where_they_end() {
    let mut random = Random(4);
    for _ in 0..300 {
        for shape in shapes(&mut random) {
            if !shape.is_bounded() {
                continue;
            }
            let pose = random.pose(1.0);
            let from = pose.transform_point(match &shape {
                Shape::Hull(hull) => hull.center(),
                _ => Vec3::ZERO,
            });
            let r = ray(from, random.vec(1.0));
            let out = r
                .cast(&shape, &pose, f64::INFINITY, Inside::Hollow)
                .unwrap();
            let back = ray(r.at(100.0), -r.direction());
            let in_again = back
                .cast(&shape, &pose, f64::INFINITY, Inside::Hollow)
                .unwrap();
            assert!((out.distance + in_again.distance - 100.0).abs() < 1e-11);
            assert!((out.normal - in_again.normal).length() < 1e-9);
        }
    }
}

/// Up along the side of a cone of slope 2 with its apex at y = 1 and its base at y = -1: x² + z² <= (1 - y)²/4 is linear
/// along the ray, so it is met at its base, or not at all; the cone that is upside down above the apex is not there.
#[test]
fn a_ray_along_the_side_of_a_cone_meets_its_base_or_nothing() {
    let cone = Shape::cone(1.0, 1.0);
    let mut random = Random(31);
    let (mut met, mut missed) = (0, 0);
    for _ in 0..20_000 {
        let (x, y, z) = (
            random.range(-5.0, 3.0),
            random.range(-4.0, -1.0),
            random.range(-1.5, 1.5),
        );
        // x + s, y + 2 s, z; w the radius at the height of the origin.
        let w = 0.5 * (1.0 - y);
        let base = 0.5 * (-1.0 - y);
        let room = w * w - x * x - z * z - 2.0 * (x + w) * base;
        if room.abs() < 1e-9 {
            continue;
        }
        let r = ray(vec3(x, y, z), vec3(1.0, 2.0, 0.0));
        let hit = r.cast(&cone, &Pose::IDENTITY, f64::INFINITY, Inside::Solid);
        if room > 0.0 && x + w > 0.0 {
            let hit = hit.unwrap();
            assert!((hit.distance - base * 5.0_f64.sqrt()).abs() < 1e-12);
            assert_eq!(hit.normal, -Vec3::Y);
            met += 1;
        } else {
            assert_eq!(hit, None, "from {x} {y} {z}");
            missed += 1;
        }
    }
    assert!(met > 1000 && missed > 1000, "{met} {missed}");
}

/// Out of a block as long as numbers go, to an end that is one and to one that is beyond them.
#[test]
fn a_hit_beyond_the_largest_number_is_none() {
    let most = f64::MAX;
    let block = Shape::cuboid(0.5 * most, 1.0, 1.0);
    let cast = |x: f64| {
        let pose = Pose::from_translation(Vec3::X * x);
        ray(Vec3::X * x, Vec3::X).cast(&block, &pose, f64::INFINITY, Inside::Hollow)
    };
    let hit = cast(0.25 * most).unwrap();
    assert!((hit.point.x / most - 0.75).abs() < 1e-12, "{hit:?}");
    assert_eq!(cast(0.75 * most), None);
}

#[test]
fn rays_that_are_none() {
    let bad = |o: Vec3, d: Vec3| Ray::new(o, d).unwrap_err();
    assert_eq!(bad(Vec3::ZERO, Vec3::ZERO), QueryError::ZeroDirection);
    let nan = vec3(0.0, f64::NAN, 0.0);
    for (o, d, name) in [
        (nan, Vec3::X, "origin"),
        (Vec3::INFINITY, Vec3::X, "origin"),
        (Vec3::ZERO, nan, "direction"),
        (Vec3::ZERO, Vec3::NEG_INFINITY, "direction"),
    ] {
        assert!(
            matches!(bad(o, d), QueryError::NotFinite { field, .. } if field == name),
            "{o} {d}"
        );
    }
    // Directions of any size.
    for size in [1e-320, 1e-200, 1e200, f64::MAX] {
        let r = ray(Vec3::ZERO, vec3(size, -size, 0.0));
        assert!((r.direction().length() - 1.0).abs() < 1e-9, "{size}");
    }
    let r = ray(Vec3::ZERO, Vec3::X);
    let lost = Pose::from_translation(nan);
    let ball = Shape::sphere(1.0);
    assert!(r.cast(&ball, &lost, 10.0, Inside::Solid).is_none());
    let here = Pose::from_translation(vec3(3.0, 0.0, 0.0));
    assert!(r.cast(&ball, &here, f64::NAN, Inside::Solid).is_none());
    assert!(r.cast(&ball, &here, -1.0, Inside::Solid).is_none());
    // Coordinates that overflow.
    let huge = ray(vec3(f64::MAX, 0.0, 0.0), -Vec3::X);
    let other_end = Pose::from_translation(vec3(-f64::MAX, 0.0, 0.0));
    assert!(
        huge.cast(&ball, &other_end, f64::INFINITY, Inside::Solid)
            .is_none()
    );
}
