//! Bodies that pivot on their contacts.

use crate::harness::{G, Placement, Scene, degrees, near, tilt};
use moreau::math::libm;
use moreau::{Body, MassProperties, Shape, SymMat3, Vec3, vec3};

/// A uniform thin rod of length 1 whose round ends slide on floor and wall without friction.
fn ladder(angle: f64) -> Scene {
    let radius = 0.01;
    let mut scene = Scene::new();
    scene.floor(0.0, 0.0);
    scene.add(Body::fixed(Shape::half_space(Vec3::X)).friction(0.0));
    let mass = MassProperties {
        mass: 1.0,
        center_of_mass: Vec3::ZERO,
        inertia: SymMat3::from_diagonal(vec3(1.0 / 12.0, 1e-4, 1.0 / 12.0)),
    };
    let rod = Body::dynamic(Shape::capsule(0.5, radius))
        .mass_properties(mass)
        .friction(0.0);
    let center = vec3(
        0.5 * libm::cos(angle) + radius,
        0.5 * libm::sin(angle) + radius,
        0.0,
    );
    // The top leans on the wall at x = 0.
    let turn = tilt(degrees(90.0) - angle);
    scene.add(rod.at(center).rotated(turn));
    scene.energy_slack = 1e-3;
    scene
}

#[test]
fn ladder_leaves_the_wall() {
    // At sin = 2/3 sin0, seen one step late at most.
    for degrees_up in [80.0, 60.0, 45.0] {
        let angle = degrees(degrees_up);
        let right = 2.0 / 3.0 * libm::sin(angle);
        let scene = ladder(angle);
        let mut errors = Vec::new();
        for dt in [1.0 / 240.0, 1.0 / 1000.0, 1.0 / 4000.0] {
            let mut placed = scene.place(&Placement::HOME);
            let mut left_at = f64::NAN;
            placed.run(&scene, dt, 1.5, |placed, _| {
                if placed.impulse(1, 2).length() > 0.0 {
                    left_at = (placed.rotation(2) * Vec3::Y).y;
                }
            });
            near(
                &format!("from {degrees_up}, dt {dt}"),
                left_at,
                right,
                4.0 * dt,
            );
            errors.push((left_at - right).abs());
        }
        assert!(
            errors[2] < 0.6 * errors[0],
            "{errors:?} shrinks with the step"
        );
    }
}

/// A row of dominoes, `size` times as big, the first one pushed.
fn dominoes(size: f64) -> Scene {
    let time = size.sqrt();
    let speed = size / time;
    let mut scene = Scene::new();
    scene.scale_settings(size);
    scene.residual = 1e-6 * speed;
    scene.floor(0.5, 0.0);
    for i in 0..12 {
        let shape = Shape::cuboid(0.04 * size, 0.25 * size, 0.1 * size);
        let domino = Body::dynamic(shape).density(1000.0).friction(0.5);
        let mut domino = domino.at(vec3(0.25 * f64::from(i), 0.25, 0.0) * size);
        if i == 0 {
            // About its lower edge.
            let w = vec3(0.0, 0.0, -2.0);
            let lever = vec3(-0.04, 0.25, 0.0);
            domino = domino.moving(w.cross(lever) * speed, w / time);
        }
        scene.add(domino);
    }
    scene.energy_slack = f64::INFINITY;
    scene
}

/// Times (in steps) at which each domino has begun to fall.
fn fall_times(size: f64, dt: f64, steps: u32) -> Vec<f64> {
    let scene = dominoes(size);
    let mut placed = scene.place(&Placement::HOME);
    let mut times = vec![f64::INFINITY; 12];
    placed.run(&scene, dt, f64::from(steps) * dt, |placed, report| {
        for (i, time) in times.iter_mut().enumerate() {
            if (placed.rotation(i + 1) * Vec3::Y).y < 0.995 {
                *time = time.min(report.step as f64);
            }
        }
    });
    times
}

#[test]
fn dominoes_four_times_as_big_fall_twice_as_fast() {
    // Four times the way in twice the time: with twice the step, step by step the same picture.
    let small = fall_times(1.0, 1.0 / 240.0, 600);
    let large = fall_times(4.0, 2.0 / 240.0, 600);
    assert!(small.iter().all(|t| t.is_finite()), "all fall: {small:?}");
    assert_eq!(small, large, "step in which each falls");
    assert!(
        small.windows(2).all(|w| w[0] < w[1]),
        "one after the other: {small:?}"
    );
}

#[test]
fn box_tips_over_its_edge_at_the_right_push() {
    // A box of 0.2 x 0.8 m pushed at its centre tips above m g 0.2/0.8 = 2.4525 N.
    for (force, tips) in [(2.4, false), (2.5, true)] {
        let mut scene = Scene::new();
        scene.floor(1.0, 0.0);
        let body = Body::dynamic(Shape::cuboid(0.1, 0.4, 0.1))
            .mass(1.0)
            .friction(1.0);
        let body = body
            .at(vec3(0.0, 0.4, 0.0))
            .pushed(vec3(force, 0.0, 0.0), Vec3::ZERO);
        scene.add(body);
        scene.energy_slack = 0.05;
        let mut placed = scene.place(&Placement::HOME);
        placed.run(&scene, 1.0 / 240.0, 2.0, |_, _| {});
        let up = (placed.rotation(1) * Vec3::Y).y;
        if tips {
            assert!(up < 0.5, "{force} N: {up}");
        } else {
            near("upright", up, 1.0, 1e-12);
            near("still", placed.position(1).x, 0.0, 1e-8);
        }
    }
    near("limit", G * 0.1 / 0.4, 2.4525, 1e-12);
}
