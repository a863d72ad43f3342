//! Round solids and polytopes of extreme shape: plates, needles, grains; also far from the origin.
//!
//! With the supports h of the shapes, s(n) = -h_B(-n) - h_A(n) is a proof for any unit n (see `sweep.rs`).

mod scenes;

use moreau_collision::{Shape, closest_points};
use moreau_math::{Pose, Vec3, libm, tangent_basis, vec3};
use scenes::{Random, Scene, scaled};

/// Dimensions from 1e-4 m to 1 m.
fn length(random: &mut Random) -> f64 {
    libm::exp(random.range(-9.21, 0.0))
}

fn shape(random: &mut Random, kind: u64) -> Shape {
    let (x, y, z) = (length(random), length(random), length(random));
    match kind {
        0 => Shape::cylinder(x, y),
        1 => Shape::cone(x, y),
        2 => Shape::cuboid(x, y, z),
        3 => Shape::capsule(x, y),
        _ => {
            let points: Vec<Vec3> = (0..10)
                .map(|_| random.direction() * vec3(x, y, z))
                .collect();
            Shape::hull(&points).unwrap_or_else(|_| Shape::cuboid(x, y, z))
        }
    }
}

/// The best of directions at random, of the shapes' axes, and about them and `start`, from there uphill.
fn best(scene: &Scene, random: &mut Random, start: Vec3) -> f64 {
    let mut starts = vec![start];
    for pose in [scene.a.1, scene.b.1] {
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            let n = pose.rotation * axis;
            starts.extend([n, -n]);
        }
    }
    starts.extend((0..60).map(|_| random.direction()));
    starts.sort_by(|p, q| scene.separation(*q).total_cmp(&scene.separation(*p)));
    let mut top = f64::NEG_INFINITY;
    for n in starts.into_iter().take(6) {
        let mut held = (scene.separation(n), n);
        let mut stride = 0.3;
        while stride > 1e-10 {
            let (u, v) = tangent_basis(held.1);
            let mut improved = false;
            for _ in 0..6 {
                let aside = u * random.range(-1.0, 1.0) + v * random.range(-1.0, 1.0);
                let n = (held.1 + aside * stride).normalize();
                let s = scene.separation(n);
                if s > held.0 {
                    held = (s, n);
                    improved = true;
                }
            }
            stride *= if improved { 1.2 } else { 0.6 };
            stride = stride.min(0.3);
        }
        top = top.max(held.0);
    }
    top
}

#[test]
fn thin_solids_have_exact_separations() {
    let count = (std::env::var("MOREAU_SWEEP").ok()).map_or(2000, |n| n.parse().unwrap());
    let (mut apart, mut beaten) = (0, 0);
    for i in 0..count {
        let mut random = Random(1000 + i);
        let kinds = (random.below(2), random.below(5));
        let a = shape(&mut random, kinds.0);
        let small = if i % 3 == 0 { length(&mut random) } else { 1.0 };
        let b = scaled(&shape(&mut random, kinds.1), small);
        let pose = Pose::new(Vec3::ZERO, random.rotation());
        let mut scene = Scene {
            a: (a, pose),
            b: (b, Pose::new(Vec3::ZERO, random.rotation())),
        };
        // Moved out along a direction until they are apart, or overlap, by a part of the way.
        let away = random.direction();
        let gap = scene.separation(away);
        let wanted = match i % 4 {
            0 => random.range(-0.05, 0.02),
            1 => random.range(-1e-3, 1e-3),
            _ => random.range(-0.9, 0.0),
        };
        scene.b.1.translation += away * (-gap * (1.0 + wanted));
        let size = scene.a.0.bounding_radius() + scene.b.0.bounding_radius();
        let names = || format!("{i}: {:?} {:?}", scene.a, scene.b);
        let near = closest_points(&scene.a.0, &scene.a.1, &scene.b.0, &scene.b.1).unwrap();
        let error = |e: f64| e.abs() / size;
        let exact = scene.separation(near.normal);
        assert!(
            error(near.separation - exact) < 1e-9,
            "{near:?} not {exact}, {}",
            names()
        );
        if near.separation > 0.0 {
            apart += 1;
            let gap = (near.point_b - near.point_a).length() - near.separation;
            assert!(error(gap) < 1e-9, "gap {gap}: {near:?} {}", names());
        } else {
            let better = best(&scene, &mut random, near.normal) - near.separation;
            if better >= 1e-9 * size {
                beaten += 1;
                println!("beaten by {better} of {}: {}", near.separation, names());
            }
        }
        let place = random.direction() * 1e6;
        let moved = [scene.a.1, scene.b.1].map(|p| Pose::new(p.translation + place, p.rotation));
        let far = closest_points(&scene.a.0, &moved[0], &scene.b.0, &moved[1]).unwrap();
        let rounding = 3e-14 * 1e6;
        assert!(
            (far.separation - near.separation).abs() < 1e-9 * size + rounding,
            "{far:?} {near:?} {}",
            names()
        );
    }
    assert!(apart > count as usize / 20, "{apart}");
    assert_eq!(beaten, 0);
}
