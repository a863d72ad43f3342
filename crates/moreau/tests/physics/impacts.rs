//! Impacts with friction.

use crate::harness::{G, Placement, Random, Scene, degrees, near, tilt};
use moreau::math::libm;
use moreau::{Body, CombineRule, MassProperties, Material, Shape, SymMat3, Vec3, vec3};

/// `count` bodies far from each other, each with its lowest point on the floor, moving at random.
fn shower(seed: u64, count: usize) -> Scene {
    let mut random = Random(seed);
    let mut scene = Scene::weightless();
    scene.floor(1.0, 1.0);
    scene.bodies[0].material.friction = 0.0;
    for i in 0..count {
        let rotation = random.rotation();
        let half = vec3(
            random.between(0.02, 0.5),
            random.between(0.05, 0.5),
            random.between(0.02, 0.5),
        );
        // Distance of the lowest point below the centre.
        let down = rotation.conjugate() * Vec3::Y;
        let (shape, low) = match i % 3 {
            0 => (Shape::cuboid(half.x, half.y, half.z), down.abs().dot(half)),
            1 => (
                Shape::cuboid(0.02, half.y, 0.02),
                down.abs().dot(vec3(0.02, half.y, 0.02)),
            ),
            _ => (Shape::capsule(half.y, 0.03), down.y.abs() * half.y + 0.03),
        };
        let material = Material {
            friction: random.between(0.0, 1.5),
            restitution: random.between(0.0, 1.0),
            friction_rule: CombineRule::Max,
            restitution_rule: CombineRule::Min,
        };
        let at = vec3(4.0 * (i % 40) as f64, low, 4.0 * (i / 40) as f64);
        let mut linear = random.vector(3.0);
        linear.y = -linear.y.abs();
        let body = Body::dynamic(shape).density(1000.0).material(material);
        scene.add(
            body.at(at)
                .rotated(rotation)
                .moving(linear, random.vector(10.0)),
        );
    }
    // A few of the thin rods with much friction do not converge; the energy holds all the same. It is
    // checked body by body.
    scene.residual = f64::INFINITY;
    scene.energy_slack = f64::INFINITY;
    scene
}

#[test]
fn random_impacts_never_gain_energy() {
    let mut guarded = 0;
    for seed in 0..3 {
        let scene = shower(seed, 1200);
        let mut placed = scene.place(&Placement::HOME);
        let energies = |placed: &crate::harness::Placed| -> Vec<f64> {
            placed.world.bodies().map(|b| b.kinetic_energy()).collect()
        };
        let mut before = energies(&placed);
        let mut impacts = 0;
        placed.run(&scene, 1.0 / 240.0, 8.0 / 240.0, |placed, report| {
            guarded += report.guarded_islands;
            impacts += report.manifolds;
            let after = energies(placed);
            for (i, (e1, e0)) in after.iter().zip(&before).enumerate() {
                let gain = (e1 - e0) / e0;
                // Written so that NaN fails; the fixed body has no energy.
                let fine = i == 0 || gain <= 1e-12;
                assert!(
                    fine,
                    "seed {seed}, step {}: body {i} gains {gain}",
                    report.step
                );
            }
            before = after;
        });
        assert!(impacts > 2000, "{impacts} impacts");
    }
    assert!(
        guarded > 0,
        "some would have gained energy without the guard"
    );
}

/// `count` pairs of balls that touch, each pair far from all others and closing at random: mass from 0.01 to
/// 100 kg, centre of mass away from the ball's, any inertia that a body can have.
fn pairs(seed: u64, count: usize) -> Scene {
    let mut random = Random(seed);
    let mut scene = Scene::weightless();
    for i in 0..count {
        let material = Material {
            friction: random.between(0.0, 2.0),
            restitution: random.between(0.0, 1.0),
            friction_rule: CombineRule::Max,
            restitution_rule: CombineRule::Min,
        };
        let normal = random.rotation() * Vec3::Y;
        let radii = [random.between(0.05, 0.5), random.between(0.05, 0.5)];
        let mut at = vec3(4.0 * (i % 80) as f64, 0.0, 4.0 * (i / 80) as f64);
        for (side, radius) in [1.0, -1.0].into_iter().zip(radii) {
            let mass = libm::exp(random.between(-4.6, 4.6));
            // Three point masses on each axis: their squares of extension add up to the moments.
            let square = vec3(
                random.between(0.01, 1.0),
                random.between(0.01, 1.0),
                random.between(0.01, 1.0),
            ) * (0.3 * radius * radius);
            let moments = vec3(
                square.y + square.z,
                square.x + square.z,
                square.x + square.y,
            );
            let inertia = SymMat3::from_diagonal(moments * mass);
            let center = random.vector(0.4 * radius);
            let properties = MassProperties::new(mass, center, inertia).unwrap();
            let closing = normal * (side * random.between(0.5, 3.0));
            let body = Body::dynamic(Shape::sphere(radius))
                .mass_properties(properties)
                .material(material);
            scene.add(
                body.at(at)
                    .rotated(random.rotation())
                    .moving(closing + random.vector(0.4), random.vector(5.0)),
            );
            at += normal * (radii[0] + radii[1]);
        }
    }
    scene.energy_slack = f64::INFINITY;
    scene
}

#[test]
fn random_oblique_impacts_of_two_bodies_never_gain_energy() {
    let (mut impacts, mut guarded) = (0, 0);
    for seed in 0..7 {
        let count = 7500;
        let scene = pairs(100 + seed, count);
        let mut placed = scene.place(&Placement::HOME);
        let energies = |placed: &crate::harness::Placed| -> Vec<f64> {
            let energies: Vec<f64> = placed.world.bodies().map(|b| b.kinetic_energy()).collect();
            energies.chunks(2).map(|pair| pair[0] + pair[1]).collect()
        };
        let before = energies(&placed);
        placed.run(&scene, 1.0 / 240.0, 1.0 / 240.0, |placed, report| {
            guarded += report.guarded_islands;
            let pushed = placed.world.contacts().iter().filter(|c| c.impulse.x > 0.0);
            impacts += pushed.count();
            for (i, (e1, e0)) in energies(placed).iter().zip(&before).enumerate() {
                let gain = (e1 - e0) / e0;
                // Written so that NaN fails.
                let fine = gain <= 1e-12;
                assert!(fine, "seed {seed}, pair {i} gains {gain}");
            }
        });
    }
    // Some points close too slowly, for the spin takes them apart.
    assert!(impacts >= 49_000, "{impacts} impacts");
    assert!(guarded > 0, "some would have gained energy");
}

/// A uniform rod of 1 kg and 1 m with its lower end on the floor, its upper end towards +x, moving
/// with `speed` towards -x. Its end is a small ball, so that the contact point is exactly the end.
fn painleve(angle: f64, friction: f64, speed: f64) -> Scene {
    let radius = 0.01;
    let mut scene = Scene::new();
    scene.floor(friction, 0.0);
    let end = vec3(0.0, -radius, 0.0);
    let center = end + vec3(libm::cos(angle), libm::sin(angle), 0.0) * 0.5;
    let mass = MassProperties {
        mass: 1.0,
        center_of_mass: center,
        inertia: SymMat3::from_diagonal(Vec3::splat(1.0 / 12.0)),
    };
    let rod = Body::dynamic(Shape::sphere(radius))
        .mass_properties(mass)
        .friction(friction);
    scene.add(rod.at(-end).moving(vec3(-speed, 0.0, 0.0), Vec3::ZERO));
    scene
}

/// Least friction of the paradox.
fn paradox_limit(angle: f64) -> f64 {
    let (s, c) = (libm::sin(angle), libm::cos(angle));
    (1.0 + 3.0 * c * c) / (3.0 * s * c)
}

#[test]
fn painleve_rod_takes_a_finite_impulse() {
    near(
        "least limit",
        paradox_limit(degrees(63.4349)),
        4.0 / 3.0,
        1e-9,
    );
    for angle_degrees in [45.0, 63.4349, 75.0] {
        let angle = degrees(angle_degrees);
        let (s, c) = (libm::sin(angle), libm::cos(angle));
        let limit = paradox_limit(angle);
        let speed = 2.0;
        // Above the limit sliding cannot go on: the end stops at once, u = 0. With
        // W = (1 + 3 s², -3 s c; -3 s c, 1 + 3 c²)/m in (x, y): W l = (v, 0).
        let (xx, xy, yy) = (1.0 + 3.0 * s * s, -3.0 * s * c, 1.0 + 3.0 * c * c);
        let jam = vec3(yy, -xy, 0.0) * (speed / (xx * yy - xy * xy));
        for dt in [1e-3, 1e-4, 1e-5] {
            let scene = painleve(angle, 1.2 * limit, speed);
            let mut placed = scene.place(&Placement::HOME);
            placed.run(&scene, dt, dt, |_, _| {});
            let impulse = placed.impulse(0, 1);
            // Gravity adds its part, W^-1 (0, g h).
            let weight = vec3(-xy, xx, 0.0) * (G * dt / (xx * yy - xy * xy));
            let what = format!("{angle_degrees} degrees, dt {dt}");
            near(
                &format!("{what}: impulse"),
                (impulse - jam - weight).length(),
                0.0,
                1e-6,
            );

            // Below it the force stays finite: l_n (W_yy - mu |W_xy|) = g h.
            let scene = painleve(angle, 0.8 * limit, speed);
            let mut placed = scene.place(&Placement::HOME);
            placed.run(&scene, dt, dt, |_, _| {});
            let impulse = placed.impulse(0, 1);
            let right = G * dt / (yy + 0.8 * limit * xy);
            near(
                &format!("{what}: regular"),
                impulse.y,
                right,
                1e-6 * right + 1e-8,
            );
            near(
                "friction",
                impulse.x,
                0.8 * limit * right,
                1e-6 * right + 1e-8,
            );
        }
    }
}

#[test]
fn tipping_cube_with_much_friction() {
    // A unit cube of 1 kg that slides with 5 m/s over its front edge, mu = 2: sliding cannot go on,
    // the edge stops and the cube turns about it: w = m v (1/2)/(2/3 m) = 3/4 v.
    let mut scene = Scene::new();
    scene.floor(2.0, 0.0);
    let cube = Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5))
        .mass(1.0)
        .friction(2.0);
    // Tilted a little, so that only the front edge touches.
    let tilted = tilt(-1e-3);
    let edge = tilted * vec3(0.5, -0.5, 0.0);
    scene.add(
        cube.at(vec3(0.0, -edge.y, 0.0))
            .rotated(tilted)
            .moving(vec3(5.0, 0.0, 0.0), Vec3::ZERO),
    );
    let mut placed = scene.place(&Placement::HOME);
    placed.run(&scene, 1e-5, 1e-5, |_, _| {});
    // About the edge: L = m (r x v), moment 1/6 + |r|².
    let spin = 5.0 * (-edge.y) / (1.0 / 6.0 + edge.length_squared());
    let right = vec3(0.0, 0.0, -spin);
    // Gravity adds up to g h.
    near(
        "spin",
        (placed.angular(1) - right).length(),
        0.0,
        2.0 * G * 1e-5,
    );
    near(
        "edge",
        (placed.linear(1) + placed.angular(1).cross(edge)).length(),
        0.0,
        1e-6,
    );
}
