//! Scales, distances and seams.

use crate::harness::{Placement, Scene, near};
use moreau::{Body, Shape, vec3};

/// A ball that rolls into a cube.
fn ball_into_cube() -> Scene {
    let mut scene = Scene::new();
    scene.floor(0.5, 0.0);
    let cube = Body::dynamic(Shape::cuboid(0.2, 0.2, 0.2))
        .mass(1.0)
        .friction(0.5);
    scene.add(cube.at(vec3(1.0, 0.2, 0.03)));
    let ball = Body::dynamic(Shape::sphere(0.1)).mass(0.5).friction(0.5);
    scene.add(
        ball.at(vec3(0.0, 0.1, 0.0))
            .moving(vec3(1.0, 0.0, 0.0), vec3(0.0, 0.0, -10.0)),
    );
    scene
}

#[test]
fn b54_far_from_the_origin_like_near_it() {
    let mut scene = ball_into_cube();
    scene.energy_slack = 1e-6;
    let dt = 1.0 / 60.0;
    let mut near_origin = scene.place(&Placement::HOME);
    let mut far = scene.place(&Placement::moved(vec3(0.0, 6.377e6, 0.0)));
    for _ in 0..180 {
        near_origin.run(&scene, dt, dt, |_, _| {});
        far.run(&scene, dt, dt, |_, _| {});
        for i in 1..3 {
            let off = (near_origin.position(i) - far.position(i)).length();
            near(&format!("body {i}"), off, 0.0, 1e-6);
        }
    }
    assert!(near_origin.linear(2).x < 0.9, "the ball has met the cube");
}

/// A tower of three cubes of `size` (m) that is let down by a tenth of it.
fn scaled_tower(size: f64) -> Scene {
    let mut scene = Scene::new();
    scene.scale_settings(size);
    scene.floor(0.5, 0.0);
    for i in 0..3 {
        let cube = Body::dynamic(Shape::cuboid(0.5 * size, 0.5 * size, 0.5 * size));
        scene.add(
            cube.density(1000.0)
                .at(vec3(0.0, (0.6 + 1.1 * f64::from(i)) * size, 0.0)),
        );
    }
    scene.energy_slack = f64::INFINITY;
    scene
}

#[test]
fn worlds_of_any_size() {
    for size in [1e-6, 1e-3, 1.0, 1e3, 1e6] {
        let scene = scaled_tower(size);
        let dt = size.sqrt() / 60.0;
        let mut placed = scene.place(&Placement::HOME);
        placed.run(&scene, dt, 240.0 * dt, |_, _| {});
        for i in 0..3 {
            let at = placed.position(i + 1) / size;
            let off = (at - vec3(0.0, 0.5 + i as f64, 0.0)).length();
            near(&format!("cube {i} of {size} m"), off, 0.0, 1e-3);
        }
    }
}
