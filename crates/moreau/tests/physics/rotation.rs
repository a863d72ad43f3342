//! Spin without forces.

use crate::harness::{Placement, Random, Scene, near};
use moreau::{Body, MassProperties, Pose, Quat, Shape, SymMat3, Vec3, vec3};

fn spinning(inertia: Vec3, angular: Vec3, turn: Quat) -> Scene {
    let mut scene = Scene::weightless();
    let mass = MassProperties {
        mass: 1.0,
        center_of_mass: Vec3::ZERO,
        inertia: SymMat3::from_diagonal(inertia),
    };
    let body = Body::dynamic(Shape::cuboid(0.5, 0.4, 0.3))
        .mass_properties(mass)
        .rotated(turn);
    scene.add(body.moving(vec3(1.0, 2.0, 3.0), turn * angular));
    scene.energy_slack = 1e-6;
    scene
}

#[test]
fn b59_torque_free_spin() {
    // |L| = 5.00013, energy of the spin 12.50025 J for a spin about the axis of the least moment.
    let inertia = vec3(1.0, 2.0, 3.0);
    let rows = [
        (vec3(5.0, 0.01, 0.01), false),
        (vec3(0.01, 5.0, 0.01), true),
        (vec3(0.01, 0.01, 5.0), false),
    ];
    let mut random = Random(9);
    for (w, flips) in rows {
        let axis = w.abs().max_position();
        for turn in [Quat::IDENTITY, random.rotation()] {
            let scene = spinning(inertia, w, turn);
            let mut placed = scene.place(&Placement::HOME);
            let start = turn * (inertia * w);
            let energy = 0.5 * (inertia * w).dot(w);
            let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
            placed.run(&scene, 1.0 / 60.0, 60.0, |placed, _| {
                let body = placed.world.body(placed.ids[0]).unwrap();
                let momentum = body.angular_momentum();
                let off = (momentum - start).length() / start.length();
                near("angular momentum, size and direction", off, 0.0, 1e-6);
                let spin = body.kinetic_energy() - 0.5 * 14.0;
                near("energy", spin, energy, 1e-6 * energy);
                let local = (body.rotation().conjugate() * body.velocity().angular)[axis];
                least = least.min(local);
                most = most.max(local);
            });
            assert_eq!(
                least < -4.9,
                flips,
                "about axis {axis}: spin from {least} to {most}"
            );
            assert!(
                most > 4.9 && (flips || least > 4.9),
                "axis {axis}: {least} to {most}"
            );
        }
    }
    let w = vec3(5.0, 0.01, 0.01);
    near("the listed |L|", (inertia * w).length(), 5.00013, 1e-6);
    near(
        "the listed energy",
        0.5 * (inertia * w).dot(w),
        12.50025,
        1e-9,
    );
}

#[test]
fn b17_compound_of_cubes_turns_like_one_box() {
    let cube = MassProperties::cuboid(Vec3::splat(0.5), 1.0).unwrap();
    let at = |y: f64| cube.transformed(&Pose::from_translation(vec3(0.0, y, 0.0)));
    let compound = MassProperties::compound(&[at(-1.0), at(0.0), at(1.0)]).unwrap();
    let whole = Shape::cuboid(0.5, 1.5, 0.5).mass_properties(1.0).unwrap();
    for m in [compound, whole] {
        near("mass", m.mass, 3.0, 1e-14);
        near("centre", m.center_of_mass.length(), 0.0, 1e-15);
        let off = m.inertia - SymMat3::from_diagonal(vec3(2.5, 0.5, 2.5));
        near(
            "inertia",
            off.entries().into_iter().fold(0.0, |a, x| x.abs().max(a)),
            0.0,
            1e-14,
        );
    }
    let spin = |properties: MassProperties| {
        let mut scene = Scene::weightless();
        let body = Body::dynamic(Shape::cuboid(0.5, 1.5, 0.5)).mass_properties(properties);
        scene.add(body.moving(vec3(0.3, 0.0, 0.1), vec3(1.0, 2.0, -0.5)));
        scene.energy_slack = 1e-9;
        let mut placed = scene.place(&Placement::HOME);
        placed.run(&scene, 1.0 / 60.0, 10.0, |_, _| {});
        (placed.position(0), placed.rotation(0))
    };
    let ((p, q), (p0, q0)) = (spin(compound), spin(whole));
    near("position", (p - p0).length(), 0.0, 1e-12);
    near("rotation", (q - q0).length(), 0.0, 1e-12);
}

#[test]
fn free_flight_is_exact() {
    // x = x0 + v0 t + a t²/2 whatever the step.
    for dt in [1.0 / 60.0, 1.0 / 7.0, 0.01] {
        let mut scene = Scene::new();
        let ball = Body::dynamic(Shape::sphere(0.1))
            .mass(2.0)
            .pushed(vec3(3.0, 0.0, 0.0), Vec3::ZERO);
        scene.add(ball.moving(vec3(1.0, 5.0, -2.0), vec3(0.0, 7.0, 0.0)));
        for placement in [Placement::HOME, Placement::random(4, 100.0)] {
            let mut placed = scene.place(&placement);
            let mut time = 0.0;
            placed.run(&scene, dt, 2.0, |placed, _| {
                time += dt;
                let a = vec3(1.5, -9.81, 0.0);
                let right = vec3(1.0, 5.0, -2.0) * time + a * (0.5 * time * time);
                near(
                    "position",
                    (placed.position(0) - right).length(),
                    0.0,
                    1e-11,
                );
            });
        }
    }
}
