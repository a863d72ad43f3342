//! A box and the hull of its corners are the same solid: they give the same manifold.

mod scenes;

use moreau_collision::{Manifold, Shape};
use moreau_math::{Pose, Vec3, vec3};
use scenes::{Random, at, box_hull, contact, turned};

/// The points of `m` have their equals in `n`, in any order, as ids differ between the two.
fn assert_same(m: &Manifold, n: &Manifold, names: &str) {
    assert_eq!(m.points().len(), n.points().len(), "{names}\n{m:?}\n{n:?}");
    if m.is_empty() {
        return;
    }
    assert!((m.normal() - n.normal()).length() <= 1e-12, "{names}");
    for p in m.points() {
        let equal = n.points().iter().any(|q| {
            (p.separation - q.separation).abs() <= 1e-12
                && (p.point_a - q.point_a).length() <= 1e-12
                && (p.point_b - q.point_b).length() <= 1e-12
        });
        assert!(equal, "{names}\n{p:?} of\n{m:?}\nnot in\n{n:?}");
    }
}

/// How many points there were.
fn check(half_a: Vec3, pose_a: Pose, b: &Shape, pose_b: Pose) -> usize {
    let cuboid = Shape::cuboid(half_a.x, half_a.y, half_a.z);
    let hull = box_hull(half_a.x, half_a.y, half_a.z);
    let names = format!("{half_a} at {pose_a:?}, {b:?} at {pose_b:?}");
    let of_box = contact((&cuboid, pose_a), (b, pose_b), 0.05);
    assert_same(
        &of_box,
        &contact((&hull, pose_a), (b, pose_b), 0.05),
        &names,
    );
    if let Shape::Cuboid { half_extents: h } = b {
        let b = box_hull(h.x, h.y, h.z);
        let names = format!("{names}, both as hulls");
        assert_same(
            &of_box,
            &contact((&cuboid, pose_a), (&b, pose_b), 0.05),
            &names,
        );
        assert_same(
            &of_box,
            &contact((&hull, pose_a), (&b, pose_b), 0.05),
            &names,
        );
    }
    of_box.points().len()
}

#[test]
fn in_random_scenes() {
    let mut points = 0;
    for seed in 0..20_000 {
        let mut random = Random(seed);
        let mut size = || random.range(0.2, 0.8);
        let half = vec3(size(), size(), size());
        let b = random.shape(seed % 4);
        let pose_a = Pose::new(random.direction(), random.rotation());
        let away = random.direction() * random.range(0.3, 1.6);
        let pose_b = Pose::new(pose_a.translation + away, random.rotation());
        points += check(half, pose_a, &b, pose_b);
    }
    assert!(points > 20_000, "{points}");
}

#[test]
fn in_stacks() {
    let half = vec3(0.5, 0.5, 0.5);
    let cube = Shape::cuboid(0.5, 0.5, 0.5);
    let floor = Shape::cuboid(5.0, 0.5, 5.0);
    for yaw in [0.0, 1e-9, 1e-4, 0.3, std::f64::consts::FRAC_PI_4] {
        for (x, z) in [
            (0.0, 0.0),
            (0.25, 0.0),
            (0.5, 0.5),
            (1e-7, -1e-7),
            (0.9, 0.3),
        ] {
            for y in [1.0, 0.999, 1.02] {
                let above = turned(vec3(x, y, z), Vec3::Y, yaw);
                assert!(check(half, at(0.0, 0.0, 0.0), &cube, above) >= 3);
                assert_eq!(check(half, above, &floor, at(0.0, 0.0, 0.0)), 4);
            }
        }
    }
}
