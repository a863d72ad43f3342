//! Scenes in which nothing is in general position: shapes on a grid, turned by eighths of a turn,
//! touching, coincident, nearly parallel. Here ties and zero lengths are the rule.

mod scenes;

use moreau_collision::{Manifold, Shape};
use moreau_math::{Pose, Quat, Vec3, vec3};
use scenes::brute::{Solid, separation, separation_along};
use scenes::{Random, box_hull, contact};

const PREDICTION: f64 = 0.3;

fn on_grid(random: &mut Random) -> Vec3 {
    let mut step = || random.range(-4.0, 5.0).floor() * 0.25;
    vec3(step(), step(), step())
}

fn eighth_turn(random: &mut Random) -> Quat {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let quarter = Quat::from_xyzw(0.0, half, 0.0, half);
    let (s, c) = (0.382_683_432_365_089_8, 0.923_879_532_511_286_7);
    match random.below(6) {
        0 | 1 => Quat::IDENTITY,
        2 => quarter,
        3 => Quat::from_xyzw(half, 0.0, 0.0, half),
        4 => Quat::from_xyzw(0.0, 0.0, s, c),
        _ => quarter * Quat::from_xyzw(s, 0.0, 0.0, c),
    }
}

fn simple_shape(random: &mut Random) -> Shape {
    let mut size = || [0.25, 0.5, 0.5, 1.0][random.below(4) as usize];
    let (x, y, z) = (size(), size(), size());
    match random.below(6) {
        0 => Shape::sphere(x),
        1 => Shape::capsule(x, y),
        2 => box_hull(x, y, z),
        3 => Shape::hull(&[
            vec3(x, 0.0, 0.0),
            vec3(-x, 0.0, 0.0),
            vec3(0.0, y, 0.0),
            vec3(0.0, -y, 0.0),
            vec3(0.0, 0.0, z),
            vec3(0.0, 0.0, -z),
        ])
        .unwrap(),
        _ => Shape::cuboid(x, y, z),
    }
}

/// On the grid, or off it by about `noise`.
fn pose(random: &mut Random, noise: f64) -> Pose {
    let noise = if random.below(3) == 0 { 0.0 } else { noise };
    let p = on_grid(random) + random.direction() * noise;
    let turn = random.direction() * (0.5 * noise);
    let small = Quat::from_xyzw(turn.x, turn.y, turn.z, 1.0);
    Pose::new(p, (small * eighth_turn(random)).normalize())
}

fn check_finite(m: &Manifold) {
    assert!((m.normal().length() - 1.0).abs() <= 1e-15, "{m:?}");
    for p in m.points() {
        assert!(p.point_a.is_finite() && p.point_b.is_finite() && p.separation.is_finite());
        let measured = m.normal().dot(p.point_b - p.point_a);
        assert!((p.separation - measured).abs() < 1e-12, "{m:?}");
    }
    for pair in m.points().windows(2) {
        assert!(pair[0].feature < pair[1].feature, "{m:?}");
    }
}

#[test]
fn shapes_on_a_grid_have_exact_separations() {
    check_grid(0.0, 1e-9);
    check_grid(1e-13, 1e-9);
    // The common perpendicular of edges that are parallel to 1e-8 is known to 1e-8, the root of the
    // rounding: f64 cannot promise more for the direction, nor for the distance along it.
    check_grid(1e-8, 3e-8);
}

fn check_grid(noise: f64, tolerance: f64) {
    let mut overlapping = 0;
    for seed in 0..20_000 {
        let mut random = Random(seed);
        let (a, b) = (simple_shape(&mut random), simple_shape(&mut random));
        let (pose_a, pose_b) = (pose(&mut random, noise), pose(&mut random, noise));
        let (solid_a, solid_b) = (Solid::new(&a, &pose_a), Solid::new(&b, &pose_b));
        let exact = separation(&solid_a, &solid_b);
        let m = contact((&a, pose_a), (&b, pose_b), PREDICTION);
        let names = format!("seed {seed}: {a:?} at {pose_a:?}\n{b:?} at {pose_b:?}\n{m:?}");
        let Some(least) = m.min_separation() else {
            assert!(exact > PREDICTION - tolerance, "lost at {exact}: {names}");
            continue;
        };
        overlapping += usize::from(exact < 0.0);
        check_finite(&m);
        assert!(
            (least - exact).abs() < tolerance,
            "{least}, not {exact}: {names}"
        );
        let along = separation_along(&solid_a, &solid_b, m.normal());
        assert!(
            (along - exact).abs() < tolerance,
            "along {along}, not {exact}: {names}"
        );
        for p in m.points() {
            assert!(
                solid_a.surface_distance(p.point_a).abs() < tolerance,
                "{names}"
            );
            assert!(
                solid_b.surface_distance(p.point_b).abs() < tolerance,
                "{names}"
            );
        }
        if pose_a != pose_b || a != b {
            let back = contact((&b, pose_b), (&a, pose_a), PREDICTION);
            assert_eq!(m, back.swapped(), "{names}");
        }
    }
    assert!(overlapping > 3000);
}
