//! Manifolds of single pairs, and what a world makes of them.
//!
//! Not yet: the overlap of an upright cylinder and a box (b47) needs a cylinder.

use crate::harness::{Placement, Scene, heading, near};
use moreau::math::libm;
use moreau::{Body, CollideSettings, Manifold, Pose, Quat, Shape, Vec3, collide, vec3};

fn manifold(a: (&Shape, Pose), b: (&Shape, Pose)) -> Manifold {
    let mut manifold = Manifold::default();
    let settings = CollideSettings { prediction: 0.02 };
    collide(a.0, &a.1, b.0, &b.1, &settings, &mut manifold);
    manifold
}

#[test]
fn b49_touching_capsule_and_box() {
    let (capsule, cuboid) = (Shape::capsule(0.25, 0.5), Shape::cuboid(4.0, 0.5, 1.0));
    for (y, depth) in [(-1.25, 0.0), (-1.2391, 0.0109)] {
        let at = Pose::from_translation(vec3(-2.0373735, y, 0.0));
        let m = manifold((&capsule, Pose::IDENTITY), (&cuboid, at));
        let deepest = m
            .points()
            .iter()
            .min_by(|p, q| p.separation.total_cmp(&q.separation));
        let point = deepest.expect("they touch");
        near("depth", -point.separation, depth, 1e-12);
        let local = at.inverse_transform_point(point.point_b);
        near(
            "point on the box",
            (local - vec3(2.0373735, 0.5, 0.0)).length(),
            0.0,
            1e-9,
        );
        near("normal", (m.normal() + Vec3::Y).length(), 0.0, 1e-12);
    }
}

#[test]
fn b51_sphere_inside_a_box() {
    let sphere = Shape::sphere(0.005);
    let cuboid = Shape::cuboid(0.5, 0.5, 0.25);
    let plane = Shape::half_space(Vec3::Z);
    for z in [
        -0.01, -0.0075, -0.005, -0.0049999, -0.003, -0.001, -1e-4, -1e-6,
    ] {
        let at = Pose::from_translation(vec3(0.0, 0.0, z));
        let below = Pose::from_translation(vec3(0.0, 0.0, -0.255));
        let surface = Pose::from_translation(vec3(0.0, 0.0, -0.005));
        for (name, shape, pose) in [("box", &cuboid, below), ("plane", &plane, surface)] {
            let m = manifold((shape, pose), (&sphere, at));
            let separation = m.min_separation().unwrap();
            near(&format!("{name}, z {z}"), separation, z, 1e-15);
            near("normal", (m.normal() - Vec3::Z).length(), 0.0, 1e-12);
        }
    }
}

#[test]
fn b19_face_to_face_boxes_have_no_phantom_depth() {
    let half = 0.0355;
    let overlap = 0.056e-3;
    let shape = Shape::cuboid(half, half, half);
    for k in -10..=10 {
        let yaw = 1e-3 * f64::from(k) / 5.0;
        let reach = half * (libm::cos(yaw) + libm::sin(yaw.abs()));
        let mut scene = Scene::weightless();
        let cube = Body::dynamic(shape.clone()).mass(0.1);
        scene.add(cube.clone());
        let at = vec3(half + reach - overlap, 0.0, 0.0);
        scene.add(cube.at(at).rotated(heading(yaw)));
        for placement in [Placement::HOME, Placement::random(8, 1.0)] {
            let mut placed = scene.place(&placement);
            placed.run(&scene, 0.5e-3, 0.1, |placed, report| {
                assert!(
                    report.max_penetration <= overlap + 1e-9,
                    "yaw {yaw}: overlap {}",
                    report.max_penetration
                );
                near("energy", placed.world.kinetic_energy(), 0.0, 1e-15);
            });
        }
    }
}

#[test]
fn a_still_pair_has_a_still_manifold() {
    // A tiny change of the pose changes the points by about as much.
    let shape = Shape::cuboid(0.5, 0.3, 0.4);
    let turn = Quat::from_xyzw(0.02, 0.01, -0.03, 1.0).normalize();
    let below = Pose::from_translation(vec3(0.0, -0.3, 0.0));
    let floor = Shape::cuboid(3.0, 0.3, 3.0);
    let at = |shift: f64| Pose::new(vec3(shift, 0.31, 0.3 * shift), turn);
    let first = manifold((&floor, below), (&shape, at(0.0)));
    let moved = manifold((&floor, below), (&shape, at(1e-6)));
    assert_eq!(first.points().len(), moved.points().len());
    assert!(!first.is_empty());
    for (p, q) in first.points().iter().zip(moved.points()) {
        assert_eq!(p.feature, q.feature);
        near("point", (p.point_b - q.point_b).length(), 0.0, 2e-6);
    }
}
