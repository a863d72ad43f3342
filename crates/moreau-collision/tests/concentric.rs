//! Cylinders, cones and capsules one in the other, axis next to axis: every direction across the axes
//! separates about equally well, and the best of them is the way between the axes.

mod scenes;

use moreau_collision::{Shape, closest_points};
use moreau_math::{Pose, Vec3, libm, vec3};
use scenes::{Random, Scene, at, turned};

fn separation(scene: &Scene) -> f64 {
    let ((a, pose_a), (b, pose_b)) = (&scene.a, &scene.b);
    closest_points(a, pose_a, b, pose_b).unwrap().separation
}

/// Least translation of a cylinder or capsule out of another, all axes along y: sideways by the radii
/// less the way between the axes, or lengthwise.
#[test]
fn parallel_axes_have_a_closed_form() {
    let cases = [
        (
            Shape::cylinder(8.375, 7.5),
            Shape::cylinder(0.002_5, 0.001),
            7.501,
        ),
        (
            Shape::cylinder(6.75, 6.75),
            Shape::capsule(5.375, 0.001),
            6.751,
        ),
        (
            Shape::cylinder(6.625, 0.001),
            Shape::cylinder(3.0, 2.625),
            2.626,
        ),
        (Shape::cylinder(2.0, 0.5), Shape::cylinder(1.0, 0.25), 0.75),
        (
            Shape::capsule(9.875, 5.125),
            Shape::cylinder(5.0, 1.125),
            6.25,
        ),
    ];
    for (a, b, radii) in cases {
        for apart in [0.0, 1e-12, 1e-9, 1e-6, 1e-4, 7e-4, 0.01, 0.2] {
            for turn in 0..16 {
                let angle = 0.39 * f64::from(turn);
                let way = vec3(libm::cos(angle), 0.0, libm::sin(angle)) * apart;
                let scene = Scene {
                    a: (a.clone(), Pose::IDENTITY),
                    b: (b.clone(), Pose::from_translation(way)),
                };
                let (found, exact) = (separation(&scene), apart - radii);
                let wrong = (found - exact).abs();
                assert!(
                    wrong < 1e-9 * radii,
                    "{found}, not {exact}: {a:?} {b:?} {way}"
                );
            }
        }
    }
}

/// Nothing separates better than what is found, whatever the sizes and however the axes lean.
#[test]
fn no_direction_beats_the_one_found() {
    let shape = |random: &mut Random| {
        let size = |random: &mut Random| libm::exp(random.range(-6.0, 2.0));
        let (height, radius) = (size(random), size(random));
        match random.below(3) {
            0 => Shape::cylinder(height, radius),
            1 => Shape::cone(height, radius),
            _ => Shape::capsule(height, radius),
        }
    };
    let mut checked = 0;
    for seed in 0..4000 {
        let mut random = Random(seed);
        let (a, b) = (shape(&mut random), shape(&mut random));
        let smaller = a.bounding_radius().min(b.bounding_radius());
        let scale = libm::exp(random.range(-16.0, -1.0));
        let lean = [0.0, 1e-8, 1e-3, 0.1][random.below(4) as usize];
        let pose = turned(
            random.direction() * smaller * scale,
            random.direction(),
            lean,
        );
        let scene = Scene {
            a: (a, at(0.0, 0.0, 0.0)),
            b: (b, pose),
        };
        let found = separation(&scene);
        if found >= 0.0 {
            continue;
        }
        checked += 1;
        let size = scene.a.0.bounding_radius() + scene.b.0.bounding_radius();
        let across = (0..64).map(|i| {
            let angle = std::f64::consts::TAU / 64.0 * f64::from(i);
            vec3(libm::cos(angle), 0.0, libm::sin(angle))
        });
        let elsewhere: Vec<Vec3> = (0..64).map(|_| random.direction()).collect();
        let between = vec3(pose.translation.x, 0.0, pose.translation.z).normalize_or(Vec3::X);
        for n in across.chain(elsewhere).chain([between, -between]) {
            let along = scene.separation(n);
            assert!(
                along <= found + 1e-9 * size,
                "seed {seed}: {along} along {n}, found {found}: {:?} {:?}",
                scene.a,
                scene.b
            );
        }
    }
    assert!(checked > 3500, "{checked}");
}
