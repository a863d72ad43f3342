//! Contact forces of bodies at rest and of bodies that are held or pulled.

use crate::harness::{G, Placement, STEPS, Scene, degrees, everywhere, heading, near, tilt};
use moreau::math::libm;
use moreau::{Body, CombineRule, Material, Quat, Shape, Vec3, vec3};

#[test]
fn b10_static_forces_on_an_incline() {
    let angle = degrees(20.0);
    let turn = tilt(-angle);
    let mut scene = Scene::new();
    scene.add(
        Body::fixed(Shape::half_space(Vec3::Y))
            .rotated(turn)
            .friction(0.8),
    );
    let cube = Body::dynamic(Shape::cuboid(0.1, 0.1, 0.1))
        .mass(1.0)
        .friction(0.8);
    scene.add(cube.at(turn * vec3(0.0, 0.1, 0.0)).rotated(turn));
    everywhere(&STEPS, |dt, placement| {
        let mut placed = scene.place(placement);
        placed.run(&scene, dt, 0.5, |placed, _| {
            let force = placed.impulse(0, 1) / dt;
            // The solver's tolerance of 1e-9 m/s over a step, at four points.
            let error = 4e-9 / dt;
            near("sum", (force - vec3(0.0, G, 0.0)).length(), 0.0, error);
            let along = turn.conjugate() * force;
            near("normal", along.y, 9.2183846, error + 1e-7);
            near("friction", -along.x, 3.3552176, error + 1e-7);
            let mut torque = Vec3::ZERO;
            for c in placed.world.contacts() {
                let (on_b, lever) = (c.world_impulse() / dt, (c.lever_a, c.lever_b));
                let cube_is_b = c.b == placed.ids[1];
                torque += if cube_is_b {
                    lever.1.cross(on_b)
                } else {
                    lever.0.cross(-on_b)
                };
            }
            near("torque", torque.length(), 0.0, error);
        });
    });
}

#[test]
fn b12_impulse_at_equilibrium() {
    let mut scene = Scene::new();
    let plate = Body::dynamic(Shape::cuboid(2.5, 0.5, 0.5))
        .mass(5.0)
        .friction(0.5);
    scene.add(plate.pushed(vec3(0.0, 6.0 * G, 0.0), Vec3::ZERO));
    scene.add(
        Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5))
            .mass(1.0)
            .at(vec3(0.0, 1.0, 0.0)),
    );
    everywhere(&STEPS, |dt, placement| {
        let mut placed = scene.place(placement);
        placed.run(&scene, dt, 3.0, |placed, _| {
            let impulse = placed.impulse(0, 1);
            near(
                "impulse",
                (impulse - vec3(0.0, G * dt, 0.0)).length(),
                0.0,
                1e-8,
            );
            for body in 0..2 {
                near("velocity", placed.linear(body).length(), 0.0, 1e-7);
            }
        });
    });
    near("the listed impulse", G / 60.0, 0.1635, 1e-12);
}

/// A capsule of 45 g between two pads that are pushed together; the pads stand on frictionless
/// shelves.
fn pinch(load: f64) -> Scene {
    let mut scene = Scene::new();
    scene.floor(0.0, 0.0);
    let along_z = Quat::from_xyzw(0.5_f64.sqrt(), 0.0, 0.0, 0.5_f64.sqrt());
    let capsule = Body::dynamic(Shape::capsule(0.02, 0.004))
        .mass(0.045)
        .friction(0.7);
    scene.add(capsule.at(vec3(0.0, 0.05, 0.0)).rotated(along_z));
    for side in [-1.0, 1.0] {
        let pad = Body::dynamic(Shape::cuboid(0.01, 0.05, 0.05))
            .mass(0.1)
            .friction(0.7);
        let pad = pad.at(vec3(side * 0.014, 0.05, 0.0)).without_rotation();
        scene.add(pad.pushed(vec3(-side * load, 0.0, 0.0), Vec3::ZERO));
    }
    scene
}

#[test]
fn b06_pinched_capsule_hangs() {
    for load in [12.0, 60.0] {
        let scene = pinch(load);
        everywhere(&STEPS[..2], |dt, placement| {
            let mut placed = scene.place(placement);
            let start = placed.position(1);
            placed.run(&scene, dt, 10.0, |placed, _| {
                let slip = (placed.position(1) - start).length();
                near(&format!("slip at {load} N, dt {dt}"), slip, 0.0, 1e-8);
            });
        });
    }
}

#[test]
fn cube_pressed_to_a_wall_holds() {
    let mut scene = Scene::new();
    let wall = Shape::half_space(Vec3::X);
    scene.add(Body::fixed(wall).friction(1.0));
    let cube = Body::dynamic(Shape::cuboid(0.1, 0.1, 0.1))
        .mass(1.0)
        .friction(1.0);
    let push = vec3(-20.0, 0.0, 0.0);
    scene.add(cube.at(vec3(0.1, 0.0, 0.0)).pushed(push, Vec3::ZERO));
    everywhere(&STEPS[..2], |dt, placement| {
        let mut placed = scene.place(placement);
        let start = placed.position(1);
        placed.run(&scene, dt, 10.0, |placed, _| {
            let slip = (placed.position(1) - start).length();
            near(&format!("slip, dt {dt}"), slip, 0.0, 1e-8);
        });
    });
}

#[test]
fn slab_carries_balls() {
    // Pulled with 150 N over mu = 0.4; the balls roll on its top: a_ball = 2/7 a_box.
    let min = |friction: f64| Material {
        friction,
        friction_rule: CombineRule::Min,
        ..Material::default()
    };
    let a_box = (150.0 - 0.4 * 35.0 * G) / (10.0 + 25.0 * 2.0 / 7.0);
    near("the listed acceleration", a_box, 0.7385, 5e-5);
    for angle in [0.0, 10.0, 22.5, 45.0, 80.0] {
        let turn = heading(degrees(angle));
        let mut scene = Scene::new();
        scene.floor(0.0, 0.0);
        scene.bodies[0].material = min(0.4);
        let slab = Body::dynamic(Shape::cuboid(1.0, 0.1, 1.0))
            .mass(10.0)
            .material(min(0.8));
        let pull = turn * vec3(150.0, 0.0, 0.0);
        scene.add(slab.at(vec3(0.0, 0.1, 0.0)).pushed(pull, Vec3::ZERO));
        for i in 0..25 {
            let (x, z) = (f64::from(i % 5) - 2.0, f64::from(i / 5) - 2.0);
            let ball = Body::dynamic(Shape::sphere(0.1))
                .mass(1.0)
                .material(min(0.8));
            scene.add(ball.at(vec3(0.3 * x, 0.3, 0.3 * z)));
        }
        for (dt, placement) in [
            (1.0 / 60.0, Placement::HOME),
            (1.0 / 240.0, Placement::HOME),
            (1.0 / 60.0, Placement::random(5, 100.0)),
        ] {
            let mut placed = scene.place(&placement);
            let seconds = 0.5;
            placed.run(&scene, dt, seconds, |_, _| {});
            let speed = |body: usize| (turn.conjugate() * placed.linear(body)) / seconds;
            let what = format!("{angle} degrees, dt {dt}");
            near(
                &format!("{what}: slab"),
                (speed(1) - Vec3::X * a_box).length(),
                0.0,
                1e-6,
            );
            for ball in 2..27 {
                let right = Vec3::X * (2.0 / 7.0 * a_box);
                near(
                    &format!("{what}: ball"),
                    (speed(ball) - right).length(),
                    0.0,
                    1e-6,
                );
            }
        }
    }
    near(
        "a ball's listed acceleration",
        2.0 / 7.0 * a_box,
        0.2110,
        5e-5,
    );
}

#[test]
fn friction_of_a_pulled_row_adds_up() {
    // A train of three cubes joined by rods, pulled: each takes mu m g.
    let mu = 0.3;
    let mut scene = Scene::new();
    scene.floor(mu, 0.0);
    for i in 0..3 {
        let cube = Body::dynamic(Shape::cuboid(0.1, 0.1, 0.1))
            .mass(1.0)
            .friction(mu);
        scene.add(cube.at(vec3(-0.5 * f64::from(i), 0.1, 0.0)));
    }
    let rod = moreau::JointKind::Distance { length: 0.5 };
    scene.join(rod, (1, Vec3::ZERO), (2, Vec3::ZERO));
    scene.join(rod, (2, Vec3::ZERO), (3, Vec3::ZERO));
    scene.bodies[1].force = vec3(12.0, 0.0, 0.0);
    let a = (12.0 - 3.0 * mu * G) / 3.0;
    everywhere(&STEPS[..2], |dt, placement| {
        let mut placed = scene.place(placement);
        placed.run(&scene, dt, 1.0, |_, _| {});
        for body in 1..4 {
            let right = Vec3::X * a;
            near("speed", (placed.linear(body) - right).length(), 0.0, 1e-6);
        }
        let last = placed.world.joint_impulse(placed.joints[1]).unwrap()[0] / dt;
        near("pull on the last", last.abs(), mu * G + a, 1e-6);
    });
}

#[test]
fn pendulum_on_a_rod() {
    // Small swings of a ball on a distance joint: T = 2 pi sqrt(l/g) (1 + a²/16).
    let (l, a) = (1.0, 0.05);
    let mut scene = Scene::new();
    scene.add(Body::fixed(Shape::sphere(0.05)));
    let at = vec3(libm::sin(a), -libm::cos(a), 0.0) * l;
    scene.add(Body::dynamic(Shape::sphere(0.05)).mass(1.0).at(at));
    scene.join(
        moreau::JointKind::Distance { length: l },
        (0, Vec3::ZERO),
        (1, Vec3::ZERO),
    );
    // Semi-implicit steps wobble about the energy m g l a²/2 by a part of the order h sqrt(g/l).
    let period = 2.0 * std::f64::consts::PI * (l / G).sqrt() * (1.0 + a * a / 16.0);
    for dt in STEPS {
        scene.energy_slack = 0.5 * G * l * a * a * 4.0 * dt;
        let mut placed = scene.place(&Placement::HOME);
        let mut crossings = Vec::new();
        let mut before = placed.position(1).x;
        placed.run(&scene, dt, 10.0 * period, |placed, report| {
            let x = placed.position(1).x;
            if before > 0.0 && x <= 0.0 {
                let part = before / (before - x);
                crossings.push((report.step as f64 - 1.0 + part) * dt);
            }
            before = x;
            near(
                "length",
                placed.position(1).length(),
                l,
                4.0 * a * a * G * dt * dt + 1e-9,
            );
        });
        let mean = (crossings[9] - crossings[0]) / 9.0;
        near(&format!("period, dt {dt}"), mean, period, 0.5 * dt);
    }
}
