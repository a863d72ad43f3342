//! Islands of more contacts than are always solved exactly, whose contacts stay as they are: what they do is known.

use crate::harness::{G, Placement, Scene, degrees, near, tilt};
use moreau::{Body, Shape, Vec3, vec3};

const DT: f64 = 1.0 / 60.0;

/// A row of cubes, each 1 kg, that is pushed at one end goes as one: a = F/m - mu g.
#[test]
fn a_long_row_that_is_pushed_goes_as_one() {
    let (count, mu, a) = (400, 0.05, 0.5);
    let mut scene = Scene::new();
    scene.floor(mu, 0.0);
    for i in 0..count {
        let cube = Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5)).mass(1.0);
        let force = if i == 0 {
            f64::from(count) * (a + mu * G)
        } else {
            0.0
        };
        let mut cube = cube.friction(mu).at(vec3(f64::from(i), 0.5, 0.0));
        cube.force = vec3(force, 0.0, 0.0);
        scene.add(cube);
    }
    let mut placed = scene.place(&Placement::HOME);
    let steps = 4;
    placed.run(&scene, DT, f64::from(steps) * DT, |_, report| {
        assert_eq!(report.contact_points, 3196);
        assert!(report.certified, "{} m/s", report.residual);
    });
    for i in 1..=count as usize {
        near("speed", placed.linear(i).x, a * f64::from(steps) * DT, 1e-7);
    }
}

/// A slab on balls that roll: each takes part with 7/20 of its mass.
#[test]
fn a_slab_rolls_on_many_balls() {
    let (side, r, spacing, a) = (36, 0.1, 0.25, 0.5);
    let (mass, count) = (1000.0, f64::from(side * side));
    let mut scene = Scene::new();
    scene.floor(0.8, 0.0);
    let half = spacing * f64::from(side) / 2.0;
    let slab = Body::dynamic(Shape::cuboid(half + 1.0, 0.1, half + 1.0)).mass(mass);
    let mut slab = slab.friction(0.8).at(vec3(0.0, 2.0 * r + 0.1, 0.0));
    slab.force = vec3(a * (mass + 7.0 / 20.0 * count), 0.0, 0.0);
    scene.add(slab);
    for i in 0..side * side {
        let at = |k: i32| spacing * (f64::from(k) + 0.5) - half;
        let ball = Body::dynamic(Shape::sphere(r)).mass(1.0).friction(0.8);
        scene.add(ball.at(vec3(at(i % side), r, at(i / side))));
    }
    let mut placed = scene.place(&Placement::HOME);
    let steps = 4;
    placed.run(&scene, DT, f64::from(steps) * DT, |_, report| {
        assert!(report.contact_points >= 2592);
        assert!(report.certified, "{} m/s", report.residual);
    });
    let speed = a * f64::from(steps) * DT;
    near("speed of the slab", placed.linear(1).x, speed, 1e-6);
    for i in 2..(side * side) as usize + 2 {
        near("speed of a ball", placed.linear(i).x, speed / 2.0, 1e-6);
    }
}

/// Cubes side by side and on top of each other, on a slope on which they stick. They take more work than islands of as
/// few contacts get, but while they are calm.
#[test]
fn a_block_of_cubes_sticks_to_a_slope() {
    for placement in [Placement::HOME, Placement::random(5, 3.0)] {
        let mut scene = Scene::new();
        scene.settings.gravity = tilt(degrees(25.6)) * (-G * Vec3::Y);
        scene.floor(0.5, 0.0);
        for i in 0..75 {
            let cube = Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5)).mass(1.0);
            let at = [i % 5, i / 25, i / 5 % 5].map(f64::from);
            scene.add(cube.friction(0.5).at(Vec3::from(at) + 0.5 * Vec3::Y));
        }
        let mut placed = scene.place(&placement);
        placed.run(&scene, DT, 10.0 * DT, |_, report| {
            assert!(report.contact_points >= 1000);
            assert!(report.certified, "{} m/s", report.residual);
        });
        for i in 1..=75 {
            near("speed", placed.linear(i).length(), 0.0, 1e-9);
        }
    }
}
