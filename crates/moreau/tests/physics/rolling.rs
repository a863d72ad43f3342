//! Rolling, and what friction at one point does to spin.
//!
//! Friction acts with the lever arm R exactly, so that the angular momentum about the contact line,
//! m R v + I w, is constant to rounding whatever the step; velocities of rolling are exact.

use crate::harness::{G, Placement, STEPS, Scene, degrees, everywhere, near, tilt};
use moreau::math::libm;
use moreau::{Body, MassProperties, Quat, Shape, SymMat3, Vec3, vec3};

fn ball(radius: f64, friction: f64) -> Body {
    Body::dynamic(Shape::sphere(radius))
        .mass(1.0)
        .friction(friction)
}

#[test]
fn sliding_sphere_ends_up_rolling() {
    // v0 = 2 m/s, mu = 0.1: rolls after 2 v0/(7 mu g) with 5/7 v0.
    let (v0, mu, r) = (2.0, 0.1, 0.1);
    let mut scene = Scene::new();
    scene.floor(mu, 0.0);
    scene.add(
        ball(r, mu)
            .at(vec3(0.0, r, 0.0))
            .moving(vec3(v0, 0.0, 0.0), Vec3::ZERO),
    );
    let rolls_after = 2.0 * v0 / (7.0 * mu * G);
    near("the listed time", rolls_after, 0.582496, 1e-6);
    everywhere(&STEPS, |dt, placement| {
        let mut placed = scene.place(placement);
        let mut rolled = f64::INFINITY;
        let mut way = f64::NAN;
        placed.run(&scene, dt, 1.0, |placed, report| {
            let (v, w) = (placed.linear(1).x, -placed.angular(1).z);
            near("angular momentum", r * v + 0.4 * r * r * w, r * v0, 1e-12);
            if (w * r - v).abs() < 1e-9 && rolled.is_infinite() {
                rolled = report.step as f64 * dt;
                // Back from the end of the step to the moment in which it began to roll.
                way = placed.position(1).x - v * (rolled - rolls_after);
            }
        });
        near("speed", placed.linear(1).x, 1.428571, 1e-6);
        near(
            "rolling",
            placed.linear(1).x + placed.angular(1).z * r,
            0.0,
            1e-9,
        );
        near("time", rolled, rolls_after, dt);
        near("way", way, 0.998565, mu * G * dt * dt / 8.0 + 1e-6);
    });
}

#[test]
fn sphere_down_a_slope() {
    let (angle, r) = (degrees(15.0), 0.1);
    let turn = tilt(-angle);
    let least = 2.0 / 7.0 * libm::tan(angle);
    // Above 2/7 tan it rolls; below, it slides with mu g cos of friction.
    for mu in [0.5, 1.001 * least, 0.9 * least] {
        let mut scene = Scene::new();
        scene.add(
            Body::fixed(Shape::half_space(Vec3::Y))
                .rotated(turn)
                .friction(mu),
        );
        scene.add(ball(r, mu).at(turn * vec3(0.0, r, 0.0)));
        let friction = (mu * G * libm::cos(angle)).min(2.0 / 7.0 * G * libm::sin(angle));
        let a = G * libm::sin(angle) - friction;
        if mu > least {
            near("the listed acceleration", a, 1.813582, 1e-6);
            near("the listed friction", friction, 0.725433, 1e-6);
        }
        everywhere(&STEPS, |dt, placement| {
            let mut placed = scene.place(placement);
            placed.run(&scene, dt, 2.0, |placed, _| {
                let force = (turn.conjugate() * placed.impulse(0, 1)) / dt;
                near("friction", -force.x, friction, 1e-8);
            });
            let v = placed.linear(1).length();
            near("speed", v, 2.0 * a, 1e-8);
            let spin = 2.5 * friction / r * 2.0;
            near("spin", placed.angular(1).length(), spin, 1e-7);
        });
    }
}

#[test]
fn b02_sphere_keeps_its_angular_momentum_while_landing() {
    for (mu, e) in [(0.5, 0.5), (0.2, 0.0), (1.0, 0.8), (0.05, 0.3)] {
        let mut scene = Scene::new();
        scene.floor(mu, e);
        let start = ball(0.1, mu).restitution(e).at(vec3(0.0, 1.35, 0.0));
        scene.add(start.moving(vec3(2.0, 0.0, 0.0), Vec3::ZERO));
        everywhere(&STEPS, |dt, placement| {
            let mut placed = scene.place(placement);
            placed.run(&scene, dt, 6.0, |placed, _| {
                let (v, w) = (placed.linear(1).x, -placed.angular(1).z);
                near("angular momentum", 0.1 * v + 0.004 * w, 0.2, 1e-12);
            });
            near(
                &format!("speed, mu {mu}"),
                placed.linear(1).x,
                1.4285714,
                1e-7,
            );
            near(
                &format!("spin, mu {mu}"),
                -placed.angular(1).z,
                14.285714,
                1e-6,
            );
        });
    }
}

#[test]
fn b35_rolling_body_spins_as_fast_as_it_travels() {
    // Capsules along z with the moments of a sphere and of a cylinder about their axes.
    let (r, v0, mu) = (0.5, 1.0, 0.5);
    let along_z = Quat::from_xyzw(0.5_f64.sqrt(), 0.0, 0.0, 0.5_f64.sqrt());
    for (k, right) in [(0.5, 2.0 / 3.0), (0.4, 5.0 / 7.0)] {
        let inertia = SymMat3::from_diagonal(vec3(1.0, k * r * r, 1.0));
        let mass = MassProperties {
            mass: 1.0,
            center_of_mass: Vec3::ZERO,
            inertia,
        };
        let mut scene = Scene::new();
        scene.floor(mu, 0.0);
        let body = Body::dynamic(Shape::capsule(0.5, r))
            .mass_properties(mass)
            .friction(mu);
        let body = body.at(vec3(0.0, r, 0.0)).rotated(along_z);
        scene.add(body.moving(vec3(v0, 0.0, 0.0), Vec3::ZERO));
        let slips = (v0 - right) / (mu * G);
        everywhere(&STEPS, |dt, placement| {
            let mut placed = scene.place(placement);
            let mut rolled = f64::INFINITY;
            placed.run(&scene, dt, 1.0, |placed, report| {
                let slip = placed.linear(1).x + placed.angular(1).z * r;
                if slip.abs() < 1e-9 {
                    rolled = rolled.min(report.step as f64 * dt);
                }
            });
            near("speed", placed.linear(1).x, right, 1e-8);
            near("spin", -placed.angular(1).z * r, right, 1e-8);
            near("slips for", rolled, slips, dt);
        });
    }
}

#[test]
fn b34_offset_mass_rolls_alike_on_the_diagonal() {
    let run = |angle: f64, placement: &Placement| {
        let turn = crate::harness::heading(degrees(angle));
        let inertia = SymMat3::from_diagonal(Vec3::splat(0.1));
        let mut scene = Scene::new();
        scene.floor(1.0, 0.0);
        // The offset is in the body's frame, which is not turned.
        let center_of_mass = turn * vec3(0.1, 0.0, 0.0);
        let mass = MassProperties {
            mass: 1.0,
            center_of_mass,
            inertia,
        };
        let body = Body::dynamic(Shape::sphere(0.5))
            .mass_properties(mass)
            .friction(1.0);
        scene.add(body.at(vec3(0.0, 0.6, 0.0)));
        // First order, m g v h.
        scene.energy_slack = G * 0.5 / 240.0;
        let mut placed = scene.place(placement);
        let mut path = Vec::new();
        placed.run(&scene, 1.0 / 240.0, 2.0, |placed, _| {
            path.push(turn.conjugate() * placed.center_of_mass(1));
        });
        path
    };
    let along_x = run(0.0, &Placement::HOME);
    assert!((along_x[479] - along_x[0]).length() > 0.02, "it moves");
    for angle in [45.0, 90.0, 30.0] {
        for placement in [Placement::HOME, Placement::random(3, 100.0)] {
            for (a, b) in along_x.iter().zip(run(angle, &placement)) {
                near("out of its plane", b.z, 0.0, 1e-9);
                near(
                    &format!("like the one along x, {angle}"),
                    (*a - b).length(),
                    0.0,
                    1e-7,
                );
            }
        }
    }
}

#[test]
fn b64_spinning_top_stays() {
    let shapes = [
        ("sphere", Shape::sphere(0.5), 0.5),
        ("square plate", Shape::cuboid(0.5, 0.1, 0.5), 0.1),
    ];
    for (name, shape, height) in shapes {
        let mut scene = Scene::new();
        scene.floor(0.5, 0.0);
        let body = Body::dynamic(shape)
            .mass(1.0)
            .friction(0.5)
            .at(vec3(0.0, height, 0.0));
        scene.add(body.moving(Vec3::ZERO, vec3(0.0, 50.0, 0.0)));
        everywhere(&STEPS[1..], |dt, placement| {
            let mut placed = scene.place(placement);
            placed.run(&scene, dt, 5.0, |placed, _| {
                let off = placed.position(1) - vec3(0.0, height, 0.0);
                near(&format!("{name}: way"), off.length(), 0.0, 1e-8);
            });
        });
    }
}

#[test]
fn ball_rolls_off_a_ball() {
    // From rest at the angle a0 from the top it leaves at cos = c cos a0: c = 2/3 frictionless,
    // 10/17 rolling. A step opens a gap of about v² h²/(2 R), which the ball closes in free flight:
    // where the force that is left has shrunk to k t, t seconds before the end, that takes longer
    // than t once t³ = v² h²/(k R). So the last touch is too early by the order of h^(2/3).
    let (big, small) = (1.0, 0.25);
    let reach: f64 = big + small;
    for (mu, c) in [(0.0, 2.0 / 3.0), (100.0, 10.0 / 17.0)] {
        let a0: f64 = 0.2;
        let start = vec3(libm::sin(a0), libm::cos(a0), 0.0) * reach;
        let mut scene = Scene::new();
        scene.add(Body::fixed(Shape::sphere(big)).friction(mu));
        scene.add(ball(small, mu).at(start));
        scene.energy_slack = 1e-3;
        let right = c * libm::cos(a0);
        for dt in [1.0 / 240.0, 1.0 / 1000.0, 1.0 / 4000.0] {
            let mut placed = scene.place(&Placement::HOME);
            let mut left_at = f64::NAN;
            placed.run(&scene, dt, 2.5, |placed, _| {
                if placed.impulse(0, 1).length() > 1e-9 * dt {
                    left_at = placed.position(1).normalize().y;
                }
            });
            near(
                &format!("leaves, mu {mu}, dt {dt}"),
                left_at,
                right,
                3.0 * libm::cbrt(dt * dt),
            );
        }
    }
}
