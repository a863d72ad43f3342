//! Piles: many bodies, no closed form, but bounds that hold.

use crate::friction::prism;
use crate::harness::{Placement, Random, Scene, near};
use moreau::{Body, Shape, Vec3, vec3};

/// n x n x n touching balls above a floor.
pub(crate) fn grid_of_balls(n: usize) -> Scene {
    let mut scene = Scene::new();
    scene.floor(0.5, 0.0);
    let r = 0.1;
    for i in 0..n * n * n {
        let (x, y, z) = ((i % n) as f64, (i / n % n) as f64, (i / n / n) as f64);
        let ball = Body::dynamic(Shape::sphere(r)).mass(1.0).friction(0.5);
        scene.add(ball.at(vec3(2.0 * r * x, r + 2.0 * r * y, 2.0 * r * z)));
    }
    scene
}

/// Mixed bodies dropped onto each other.
pub(crate) fn pile(count: usize, seed: u64) -> Scene {
    let mut random = Random(seed);
    let mut scene = Scene::new();
    scene.floor(0.6, 0.2);
    for i in 0..count {
        let shape = match i % 4 {
            0 => Shape::sphere(0.15),
            1 => Shape::cuboid(0.15, 0.1, 0.2),
            2 => Shape::capsule(0.15, 0.1),
            _ => prism(6, 0.15, 0.12),
        };
        let body = Body::dynamic(shape)
            .density(1000.0)
            .friction(0.6)
            .restitution(0.2);
        let (x, z) = (0.6 * (i % 3) as f64, 0.6 * (i / 3 % 3) as f64);
        let at = vec3(x, 0.4 + 0.6 * (i / 9) as f64, z) + random.vector(0.03);
        scene.add(body.at(at).rotated(random.rotation()));
    }
    scene
}

#[test]
fn b68_grid_of_balls_settles() {
    for dt in [0.001, 0.01, 1.0 / 60.0, 0.1] {
        let mut scene = grid_of_balls(6);
        // Contacts are found before a ball that falls with 5 m/s reaches them.
        scene.settings.prediction_distance = f64::max(5.0 * dt, 0.02);
        scene.residual = 1e-3;
        // First order: m g h v at some hundred contacts.
        scene.energy_slack = 216.0 * dt;
        let mut placed = scene.place(&Placement::HOME);
        let seconds = if dt < 0.01 { 0.3 } else { 3.0 };
        let mut deepest: f64 = 0.0;
        placed.run(&scene, dt, seconds, |_, report| {
            deepest = deepest.max(report.max_penetration);
        });
        assert!(deepest <= 2e-4, "dt {dt}: overlap {deepest} m");
    }
}

#[test]
fn b69_ball_settles_on_sharp_hulls() {
    // Gravity of 20, four hulls with corners up, 25 variants.
    let mut runs = 0;
    for density in [0.8, 0.9, 1.0, 1.1, 1.2] {
        for drop in [-0.4, -0.2, 0.0, 0.13, 0.4] {
            let mut scene = Scene::new();
            scene.settings.gravity = vec3(0.0, -20.0, 0.0);
            scene.floor(0.5, 0.0);
            for i in 0..4 {
                let x = f64::from(i) - 1.5;
                let tent = [
                    vec3(-0.5, -0.5, -0.5),
                    vec3(0.5, -0.5, -0.5),
                    vec3(0.5, -0.5, 0.5),
                    vec3(-0.5, -0.5, 0.5),
                    vec3(0.1, 0.5, 0.0),
                ];
                let hull = Body::dynamic(Shape::hull(&tent).unwrap()).density(density);
                scene.add(hull.at(vec3(x, 0.5, 0.0)));
            }
            let ball = Body::dynamic(Shape::sphere(0.4)).density(1.0);
            scene.add(ball.at(vec3(drop, 2.0, 0.05)));
            scene.energy_slack = 0.05;
            scene.residual = 1e-6;
            let mut placed = scene.place(&Placement::HOME);
            placed.run(&scene, 1.0 / 60.0, 10.0, |_, _| {});
            assert_eq!(placed.world.steps(), 600);
            runs += 1;
        }
    }
    assert_eq!(runs, 25);
}

#[test]
fn a_mixed_pile_comes_to_rest_without_gaining_energy() {
    for seed in 1..=2 {
        let mut scene = pile(27, seed);
        scene.energy_slack = 0.5;
        scene.residual = 1e-3;
        let mut placed = scene.place(&Placement::HOME);
        let mut deepest: f64 = 0.0;
        placed.run(&scene, 1.0 / 120.0, 4.0, |_, report| {
            deepest = deepest.max(report.max_penetration);
        });
        assert!(deepest < 0.02, "overlap {deepest} m");
        let fastest = (1..28)
            .map(|i| placed.linear(i).length())
            .fold(0.0, f64::max);
        assert!(fastest < 3.0, "fastest body {fastest} m/s");
        for i in 1..28 {
            assert!(
                placed.center_of_mass(i).y > 0.05,
                "body {i} is above the floor"
            );
        }
    }
}

#[test]
fn b52_coincident_balls_part() {
    let mut scene = Scene::weightless();
    for _ in 0..2 {
        scene.add(Body::dynamic(Shape::sphere(0.5)).mass(1.0));
    }
    let cap = scene.settings.position_correction.max_speed;
    for placement in [Placement::HOME, Placement::random(6, 10.0)] {
        let mut placed = scene.place(&placement);
        let mut before = [Vec3::ZERO; 2];
        for (i, p) in before.iter_mut().enumerate() {
            *p = placed.position(i);
        }
        placed.run(&scene, 1.0 / 60.0, 3.0, |placed, _| {
            near(
                "momentum",
                (placed.linear(0) + placed.linear(1)).length(),
                0.0,
                1e-12,
            );
            for i in 0..2 {
                let moved = (placed.position(i) - before[i]).length() * 60.0;
                assert!(moved <= cap * (1.0 + 1e-9), "moves with {moved} m/s");
                before[i] = placed.position(i);
            }
        });
        let apart = (placed.position(0) - placed.position(1)).length();
        near("apart", apart, 1.0, 2e-4);
    }
}
