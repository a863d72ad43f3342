//! Scales, distances and seams.

use crate::harness::{Placement, Scene, everywhere, near};
use moreau::{Body, Shape, Vec3, vec3};

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

/// A box of 0.5 m on a row of flush tiles of 1 m, moving along it.
fn on_tiles(speed: f64, start: f64, sunk: f64) -> Scene {
    let mut scene = Scene::new();
    for i in 0..20 {
        let tile = Body::fixed(Shape::cuboid(0.5, 0.25, 1.0)).friction(0.0);
        scene.add(tile.at(vec3(f64::from(i), -0.25, 0.0)));
    }
    let slider = Body::dynamic(Shape::cuboid(0.25, 0.25, 0.25))
        .mass(1.0)
        .friction(0.0);
    let at = vec3(start, 0.25 - sunk, 0.1);
    scene.add(slider.at(at).moving(vec3(speed, 0.0, 0.0), Vec3::ZERO));
    scene
}

#[test]
fn b61_box_slides_over_seams() {
    // Where in the step it meets the seam, and how deep it has sunk within the slop, must not matter.
    for (speed, seconds) in [(5.0, 3.6), (0.5, 3.0), (0.01, 3.0)] {
        for (k, sunk) in [0.0, 1e-12, 1e-9, 1e-6, 5e-5].into_iter().enumerate() {
            let phase = speed / 60.0 * 0.19 * k as f64;
            // The slow ones begin just before a seam.
            let start = if speed < 1.0 { 0.24 - 0.3 * speed } else { 0.0 } + phase;
            let scene = on_tiles(speed, start, sunk);
            everywhere(&[1.0 / 60.0, 1.0 / 240.0], |dt, placement| {
                let mut placed = scene.place(placement);
                let mut left_out = 0;
                placed.run(&scene, dt, seconds, |placed, report| {
                    left_out += report.seam_points;
                    let v = placed.linear(20) - vec3(speed, 0.0, 0.0);
                    near(
                        &format!("speed {speed}, sunk {sunk}"),
                        v.length(),
                        0.0,
                        1e-8,
                    );
                    near("height", placed.position(20).y, 0.25 - sunk, 1e-8);
                    near("spin", placed.angular(20).length(), 0.0, 1e-7);
                });
                assert!(left_out > 0, "speed {speed}: some edges were met");
            });
        }
    }
}

#[test]
fn b61_a_step_above_the_slop_is_an_obstacle() {
    let mut scene = on_tiles(5.0, 0.0, 0.0);
    for i in 5..20 {
        scene.bodies[i].pose.translation.y += 1e-3;
    }
    let mut placed = scene.place(&Placement::HOME);
    placed.run(&scene, 1.0 / 240.0, 2.0, |_, _| {});
    assert!(
        placed.linear(20).x < 4.0,
        "it runs into the step: {}",
        placed.linear(20)
    );
}

#[test]
fn b61_a_wall_at_the_edge_of_the_floor_is_no_seam() {
    // A prism with its lowest edge, which is also its foremost, in the corner: floor and wall hold it.
    let mut scene = Scene::new();
    let slab = Body::fixed(Shape::cuboid(2.0, 0.5, 2.0)).friction(0.0);
    scene.add(slab.clone().at(vec3(-1.5, -0.5, 0.0)));
    scene.add(slab.at(vec3(2.0, 0.1, 0.0)));
    let corners = [(0.0, 0.0), (-0.3, 0.1), (-0.1, 0.4)];
    let ends = |(x, y): (f64, f64)| [vec3(x, y, -0.1), vec3(x, y, 0.1)];
    let points: Vec<Vec3> = corners.into_iter().flat_map(ends).collect();
    let prism = Body::dynamic(Shape::hull(&points).unwrap())
        .mass(1.0)
        .friction(0.0);
    scene.add(
        prism
            .without_rotation()
            .pushed(vec3(5.0, 0.0, 0.0), Vec3::ZERO),
    );
    let mut placed = scene.place(&Placement::HOME);
    placed.run(&scene, 1.0 / 60.0, 1.0, |placed, _| {
        near("way", placed.position(2).length(), 0.0, 1e-8);
        near("wall", placed.impulse(1, 2).x, -5.0 / 60.0, 1e-8);
    });
}

#[test]
fn b61_box_and_ball_cross_seams_in_every_direction() {
    // Tiles in both directions, a box that slides askew and a ball.
    let mut scene = Scene::new();
    for i in 0..36 {
        let (x, z) = (f64::from(i % 6), f64::from(i / 6));
        let tile = Body::fixed(Shape::cuboid(0.5, 0.25, 0.5)).friction(0.0);
        scene.add(tile.at(vec3(x, -0.25, z)));
    }
    let velocity = vec3(2.0, 0.0, 1.5);
    let slider = Body::dynamic(Shape::cuboid(0.25, 0.25, 0.25))
        .mass(1.0)
        .friction(0.0);
    let turn = crate::harness::heading(0.4);
    scene.add(
        slider
            .at(vec3(0.0, 0.25, 0.0))
            .rotated(turn)
            .moving(velocity, Vec3::ZERO),
    );
    let ball = Body::dynamic(Shape::sphere(0.2)).mass(1.0).friction(0.0);
    scene.add(ball.at(vec3(0.0, 0.2, 1.0)).moving(velocity, Vec3::ZERO));
    everywhere(&[1.0 / 60.0], |dt, placement| {
        let mut placed = scene.place(placement);
        placed.run(&scene, dt, 2.0, |placed, _| {
            for (body, height) in [(36, 0.25), (37, 0.2)] {
                let v = placed.linear(body) - velocity;
                near(&format!("speed of {body}"), v.length(), 0.0, 1e-9);
                near("height", placed.position(body).y, height, 1e-9);
            }
        });
    });
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

#[test]
fn b63_a_spinning_rod_does_not_pass_through_a_ball() {
    // A rod of 2 m that turns by a radian a step; the ball rests in its way.
    for k in 0..24 {
        let ahead = 0.25 + 0.1 * f64::from(k);
        for distance in [0.3, 0.6, 0.9] {
            let mut scene = Scene::weightless();
            let along_x = crate::harness::tilt(std::f64::consts::FRAC_PI_2);
            let rod = Body::dynamic(Shape::capsule(0.95, 0.05))
                .mass(10.0)
                .rotated(along_x);
            scene.add(rod.friction(0.0).moving(Vec3::ZERO, vec3(0.0, 60.0, 0.0)));
            // A positive turn about y takes x towards -z.
            let at = crate::harness::heading(ahead) * (Vec3::X * distance);
            scene.add(
                Body::dynamic(Shape::sphere(0.1))
                    .mass(0.1)
                    .friction(0.0)
                    .at(at),
            );
            // Rotation is exact, its contact first order.
            scene.energy_slack = f64::INFINITY;
            let mut placed = scene.place(&Placement::HOME);
            let side = |placed: &crate::harness::Placed| {
                let axis = placed.rotation(0) * Vec3::Y;
                axis.cross(placed.position(1) - placed.position(0)).y
            };
            let what = format!("{ahead} rad ahead, at {distance} m");
            let mut before = side(&placed);
            let mut touched = false;
            placed.run(&scene, 1.0 / 60.0, 0.2, |placed, _| {
                touched |= placed.impulse(0, 1) != Vec3::ZERO;
                let after = side(placed);
                assert!(
                    touched || before * after > 0.0,
                    "{what}: passed from {before} to {after}"
                );
                before = after;
            });
            assert!(touched, "{what}: the rod meets the ball");
        }
    }
}
