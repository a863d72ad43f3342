//! Manifolds of single pairs, and what a world makes of them.

use crate::harness::{Placement, Random, Scene, heading, near};
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

/// An upright cylinder that overlaps a vertical edge of a box: seen from above a disc and a corner.
#[test]
fn b47_upright_cylinder_at_the_edge_of_a_box() {
    let check = |(r, h): (f64, f64), half: Vec3, at: [Vec3; 2], frame: &Pose| {
        let (cylinder, cuboid) = (Shape::cylinder(h, r), Shape::cuboid(half.x, half.y, half.z));
        let [at_c, at_b] = at.map(|p| frame.mul_pose(&Pose::from_translation(p)));
        let between = at[1] - at[0];
        // From the axis to the nearest point of the box, seen from above.
        let nearest = |d: f64, h: f64| d.clamp(-h, h) - d;
        let to_corner = vec3(
            nearest(-between.x, half.x),
            0.0,
            nearest(-between.z, half.z),
        );
        let (depth, normal) = (r - to_corner.length(), to_corner.normalize());
        for swapped in [false, true] {
            let m = if swapped {
                manifold((&cuboid, at_b), (&cylinder, at_c))
            } else {
                manifold((&cylinder, at_c), (&cuboid, at_b))
            };
            let sign = if swapped { -1.0 } else { 1.0 };
            let rounding = 1e-12 + 1e-14 * frame.translation.length();
            let least = m.min_separation().expect("they overlap");
            near("depth", -least, depth, rounding);
            let n = frame.rotation.conjugate() * m.normal() * sign;
            near("normal", (n - normal).length(), 0.0, 1e-9 + 1e2 * rounding);
            for p in m.points() {
                assert!(
                    p.separation >= -depth - rounding,
                    "{} of {depth}",
                    p.separation
                );
            }
        }
        (depth, normal)
    };
    let at = [vec3(10.97, 0.925, 61.02), vec3(11.5, 0.75, 60.5)];
    let (size, half) = ((0.5, 0.925), vec3(0.05, 0.75, 0.5));
    for shift in [
        Vec3::ZERO,
        vec3(0.0, 0.0, -60.0),
        vec3(-11.0, 0.0, -61.0),
        vec3(3e3, 0.0, 1e3),
    ] {
        let frame = Pose::from_translation(shift);
        let (depth, normal) = check(size, half, at, &frame);
        near("depth", depth, 0.01958351, 1e-8);
        near(
            "normal",
            (normal - vec3(0.9991331, 0.0, -0.0416305)).length(),
            0.0,
            1e-7,
        );
    }
    let mut random = Random(47);
    for _ in 0..500 {
        let r = random.between(0.05, 2.0);
        let half = vec3(
            random.between(0.02, 1.0),
            random.between(0.5, 2.0),
            random.between(0.02, 1.0),
        );
        let h = random.between(0.5, 2.0);
        // Less deep to the side than along the axis.
        let depth = random.between(1e-6, 0.3) * r;
        let up = random.between(-0.5, 0.5) * (h + half.y - depth);
        let turn = random.between(0.02, 1.55);
        let corner = heading(turn) * Vec3::X * (r - depth);
        let sides = vec3(corner.x.signum(), 0.0, corner.z.signum());
        let center = corner + vec3(sides.x * half.x, up, sides.z * half.z);
        let placement = Placement::random(random.bits(), 100.0);
        check((r, h), half, [Vec3::ZERO, center], &placement.frame);
    }
}
