//! Scenes in which nothing is in general position: shapes on a grid, turned by eighths of a turn,
//! touching, coincident, nearly parallel. Here ties and zero lengths are the rule.

mod scenes;

use moreau_collision::{Manifold, Shape, closest_points};
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

/// A capsule without a cylinder, or with one that no coordinate can hold, is a ball.
#[test]
fn a_capsule_without_a_cylinder_is_a_ball() {
    let mut random = Random(5);
    for half_height in [0.0, 1e-40, 1e-17] {
        let rim = vec3(-3.0, 6.0, 0.0);
        let base = (Shape::cone(0.125, 3.0), Pose::from_translation(rim));
        for k in 0..2000 {
            let (capsule, ball) = (Shape::capsule(half_height, 0.2), Shape::sphere(0.2));
            let other = match random.below(4) {
                0 => Shape::cone(0.125, 3.0 * random.range(0.0, 1.0) + 0.1),
                1 => Shape::cylinder(0.3, random.range(0.0, 1.0) + 0.1),
                2 => Shape::capsule(0.3, 0.1),
                _ => simple_shape(&mut random),
            };
            let place = Pose::new(
                random.direction() * (4.0 * random.range(0.0, 1.0)),
                random.rotation(),
            );
            let at = Pose::new(on_grid(&mut random), random.rotation());
            // First, exactly under the rim of a base.
            let (other, place, at) = match k {
                0 => (base.0.clone(), base.1, Pose::IDENTITY),
                _ => (other, place, at),
            };
            let near = closest_points(&capsule, &at, &other, &place).unwrap();
            let expected = closest_points(&ball, &at, &other, &place).unwrap();
            let off = (near.separation - expected.separation).abs();
            assert!(
                off < 1e-12,
                "{near:?}, of the ball {expected:?}\n{other:?} at {place:?}"
            );
            let swapped = closest_points(&other, &place, &capsule, &at).unwrap();
            assert_eq!(near.separation, swapped.separation);
        }
    }
}

/// The core of a capsule lies along an edge of a hull, to almost nothing: a contact as deep as the
/// radius.
#[test]
fn a_core_along_an_edge_has_a_contact() {
    let mut random = Random(6);
    for hull in [box_hull(1.0, 2.0, 0.5), Shape::cuboid(1.0, 2.0, 0.5)] {
        for noise in [0.0, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7] {
            for _ in 0..500 {
                let capsule = Shape::capsule(0.7, 0.3);
                let turn = random.direction() * (0.5 * noise);
                let turn = Quat::from_xyzw(turn.x, turn.y, turn.z, 1.0).normalize();
                let edge = vec3(1.0, random.range(-1.0, 1.0), 0.5);
                let at = Pose::new(edge + random.direction() * noise, turn);
                let home = Pose::new(random.direction(), random.rotation());
                let at = home.mul_pose(&at);
                let near = closest_points(&hull, &home, &capsule, &at).unwrap();
                let off = (near.separation + 0.3).abs();
                assert!(off < 2.0 * noise + 1e-12, "{near:?}");
            }
        }
    }
    let corners = [
        vec3(-14.375, 4.625, 0.097),
        vec3(-12.375, 4.625, 4.625),
        vec3(-2.929_776_909_695_730_6e-9, 0.0, -4.5),
        vec3(0.0, 0.0, 10.625),
        vec3(0.125, -0.000_244_148_075_807_977_54, 0.0),
        vec3(0.375, 6.0, 13.375),
        vec3(5.25, 15.875, 0.0),
        vec3(11.5, 0.0, 0.25),
        vec3(15.875, 4.125, 0.375),
    ];
    let hull = Shape::hull(&corners).unwrap();
    let half = 0.5_f64.sqrt();
    let at = Pose::new(vec3(0.0, 0.0, 8.875), Quat::from_xyzw(half, 0.0, 0.0, half));
    let capsule = Shape::capsule(0.875, 15.5);
    let near = closest_points(&hull, &Pose::IDENTITY, &capsule, &at).unwrap();
    assert!((near.separation + 15.5).abs() < 1e-8, "{near:?}");
}

/// The core of a capsule passes through a vertex of a hull, to rounding: moved along the face that the
/// core only touches there, they part after the radius.
#[test]
fn a_core_through_a_vertex_has_the_depth_of_the_radius() {
    let corners = [
        Vec3::ZERO,
        vec3(0.0, 2.562_334_055_604_724_3, 4.0),
        vec3(0.01, 0.0, -4.875),
        vec3(4.5, 11.625, -0.625),
        vec3(7.25, 0.0, 0.0),
        vec3(8.375, 7.0, 4.5),
    ];
    let hull = Shape::hull(&corners).unwrap();
    let mut random = Random(7);
    for _ in 0..200 {
        let home = Pose::new(random.direction(), random.rotation());
        for home in [Pose::IDENTITY, home] {
            let at = home.mul_pose(&Pose::from_translation(vec3(0.0, 5.0, 4.0)));
            let capsule = Shape::capsule(6.375, 4.5);
            let near = closest_points(&hull, &home, &capsule, &at).unwrap();
            assert!((near.separation + 4.5).abs() < 1e-9, "{near:?}");
        }
    }
}
