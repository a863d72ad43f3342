//! Bounces.
//!
//! Free flight is exact and a bounce takes its energy at the height at which it touches, so an apex
//! k reaches e^(2k) of the drop; seen at the ends of steps it is lower by at most g h²/8.

use crate::harness::{G, Placed, Placement, STEPS, Scene, energy, everywhere, near};
use moreau::{Body, CombineRule, Material, Quat, Shape, Vec3, vec3};

/// A sphere whose lowest point is `drop` above a floor without restitution; the larger of the two
/// coefficients counts.
fn drop_scene(radius: f64, drop: f64, e: f64) -> Scene {
    let mut scene = Scene::new();
    let material = Material {
        friction: 0.0,
        restitution: e,
        restitution_rule: CombineRule::Max,
        ..Material::default()
    };
    scene.floor(0.0, 0.0);
    let ball = Body::dynamic(Shape::sphere(radius))
        .mass(1.0)
        .material(material);
    scene.add(ball.at(vec3(0.0, radius + drop, 0.0)));
    scene
}

/// The highest points (of the lowest point of the sphere) between bounces.
fn apexes(placed: &mut Placed, scene: &Scene, dt: f64, seconds: f64, radius: f64) -> Vec<f64> {
    let mut out = Vec::new();
    let (mut highest, mut rising) = (0.0_f64, false);
    placed.run(scene, dt, seconds, |placed, _| {
        let (y, v) = (placed.position(1).y - radius, placed.linear(1).y);
        if v > 0.0 {
            (highest, rising) = (if rising { highest.max(y) } else { y }, true);
        } else if rising {
            out.push(highest.max(y));
            rising = false;
        }
    });
    out
}

#[test]
fn b01_restitution_fractions() {
    let drop = 2.0;
    for e in [0.3, 0.5, 0.8, 0.95] {
        for prediction in [0.0, 0.02, 0.1, 0.5] {
            let mut scene = drop_scene(0.1, drop, e);
            scene.settings.prediction_distance = prediction;
            everywhere(&STEPS, |dt, placement| {
                let what = format!("e {e}, prediction {prediction}, dt {dt}");
                let mut placed = scene.place(placement);
                let found = apexes(&mut placed, &scene, dt, 3.0, 0.1);
                let mut right = drop;
                for (k, apex) in found.iter().enumerate().take(3) {
                    let before = right;
                    right *= e * e;
                    // An apex lower than the way of one step at the impact is not resolved.
                    if right < (2.0 * G * before).sqrt() * dt {
                        break;
                    }
                    let low = right - G * dt * dt / 8.0;
                    assert!(
                        (low - 1e-9..=right + 1e-9).contains(apex),
                        "{what}: apex {k} is {apex}, should be {right}"
                    );
                }
                assert!(!found.is_empty(), "{what}: it bounces");
            });
        }
    }
}

#[test]
fn b14_elastic_ball_keeps_its_energy() {
    let mut scene = drop_scene(0.5, 2.0, 1.0);
    scene.bodies[0].shape = Shape::cuboid(5.0, 0.5, 5.0);
    scene.bodies[0].pose.translation = vec3(0.0, -0.5, 0.0);
    everywhere(&STEPS[..2], |dt, placement| {
        let mut placed = scene.place(placement);
        let total = 2.0 * G;
        let mut bounces = 0;
        let mut before = f64::NAN;
        placed.run(&scene, dt, 132.0, |placed, _| {
            let now = placed.linear(1).y;
            if before < 0.0 && now > 0.0 {
                bounces += 1;
            }
            before = now;
            let height = placed.position(1).y - 0.5;
            let energy = 0.5 * now * now + G * height;
            near(
                &format!("energy after {bounces} bounces"),
                energy,
                total,
                1e-9 * total,
            );
        });
        assert!(bounces >= 100, "{bounces} bounces");
    });
}

#[test]
fn b15_elastic_ball_returns_from_a_wall() {
    let mut scene = Scene::weightless();
    scene.add(
        Body::fixed(Shape::cuboid(0.1, 1.0, 1.0))
            .at(vec3(1.1, 0.0, 0.0))
            .restitution(1.0),
    );
    let ball = Body::dynamic(Shape::sphere(0.2))
        .mass(1.0)
        .restitution(1.0)
        .friction(0.0);
    scene.add(ball.moving(vec3(1.0, 0.0, 0.0), Vec3::ZERO));
    everywhere(&STEPS, |dt, placement| {
        let mut placed = scene.place(placement);
        let mut impact = f64::INFINITY;
        placed.run(&scene, dt, 1.6, |placed, report| {
            if placed.linear(1).x < 0.0 {
                impact = impact.min(report.step as f64 * dt);
            }
        });
        near("impact", impact, 0.8, dt);
        near(
            "velocity",
            (placed.linear(1) + Vec3::X).length(),
            0.0,
            1e-12,
        );
    });
}

#[test]
fn central_elastic_impacts() {
    // Velocities after an impact along the line of centres: v1' = ((m1 - m2) v1 + 2 m2 v2)/(m1 + m2).
    for (m1, m2, v1, v2) in [
        (1.0, 1.0, 1.0, 0.0),
        (1.0, 1.0, 3.0, -2.0),
        (2.0, 0.5, 1.0, -1.0),
    ] {
        let mut scene = Scene::weightless();
        let ball = |mass: f64, x: f64, v: f64| {
            let ball = Body::dynamic(Shape::sphere(0.5))
                .mass(mass)
                .restitution(1.0)
                .friction(0.3);
            ball.at(vec3(x, 0.0, 0.0))
                .moving(vec3(v, 0.0, 0.0), Vec3::ZERO)
        };
        scene.add(ball(m1, -1.1, v1));
        scene.add(ball(m2, 1.1, v2));
        let right = [
            ((m1 - m2) * v1 + 2.0 * m2 * v2) / (m1 + m2),
            ((m2 - m1) * v2 + 2.0 * m1 * v1) / (m1 + m2),
        ];
        everywhere(&STEPS, |dt, placement| {
            let mut placed = scene.place(placement);
            placed.run(&scene, dt, 2.0, |_, _| {});
            for (body, right) in right.into_iter().enumerate() {
                let error = placed.linear(body) - Vec3::X * right;
                near(&format!("velocity of {body}"), error.x, 0.0, 1e-12);
                // 100 m away positions are rounded to 1.4e-14 m, which turns the normal a little.
                near("velocity to the side", error.length(), 0.0, 5e-12);
                near("spin", placed.angular(body).length(), 0.0, 1e-11);
            }
        });
    }
}

fn row_of_balls(count: usize, gap: f64) -> Scene {
    let mut scene = Scene::weightless();
    for i in 0..count {
        let ball = Body::dynamic(Shape::sphere(0.5))
            .mass(1.0)
            .restitution(1.0)
            .friction(0.0);
        let speed = if i == 0 { 1.0 } else { 0.0 };
        let at = vec3(i as f64 * (1.0 + gap), 0.0, 0.0);
        scene.add(ball.at(at).moving(vec3(speed, 0.0, 0.0), Vec3::ZERO));
    }
    scene
}

#[test]
fn three_touching_balls() {
    // Simultaneous Newton impacts, e = 1, the first ball moving with v: relative velocities (-1, 0)
    // turn into (1, 0), so the last two leave together: (-1/3, 2/3, 2/3) v.
    let scene = row_of_balls(3, 0.0);
    let placed_home = |dt: f64| {
        let mut placed = scene.place(&Placement::HOME);
        placed.run(&scene, dt, dt, |_, _| {});
        [0, 1, 2].map(|i| placed.linear(i).x)
    };
    for dt in STEPS {
        for (v, right) in placed_home(dt)
            .into_iter()
            .zip([-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0])
        {
            near("velocity", v, right, 1e-8);
        }
    }
    // With a gap the impacts come one after the other.
    let scene = row_of_balls(3, 1e-3);
    everywhere(&STEPS, |dt, placement| {
        let mut placed = scene.place(placement);
        placed.run(&scene, dt, 0.5, |_, _| {});
        for (i, right) in [0.0, 0.0, 1.0].into_iter().enumerate() {
            let error = (placed.linear(i) - Vec3::X * right).length();
            near(&format!("ball {i}, dt {dt}"), error, 0.0, 1e-9);
        }
    });
}

#[test]
fn b56_five_balls_in_a_row() {
    let scene = row_of_balls(5, 1e-3);
    everywhere(&STEPS, |dt, placement| {
        let mut placed = scene.place(placement);
        placed.run(&scene, dt, 0.5, |placed, _| {
            let momentum = (0..5).map(|i| placed.linear(i)).sum::<Vec3>();
            near("momentum", (momentum - Vec3::X).length(), 0.0, 1e-12);
        });
        for i in 0..5 {
            let right = if i == 4 { 1.0 } else { 0.0 };
            near(
                &format!("ball {i}, dt {dt}"),
                placed.linear(i).x,
                right,
                1e-9,
            );
        }
    });
}

#[test]
fn a_bounce_takes_friction() {
    // 1 kg at 2 m/s onto the floor, spinning fast enough to slide throughout: mu (1 + e) m v.
    let (mu, r) = (0.4, 0.1);
    for (e, right) in [(0.2, 0.96), (0.5, 1.2), (0.9, 1.52), (1.0, 1.6)] {
        let mut scene = Scene::weightless();
        scene.floor(mu, e);
        let ball = Body::dynamic(Shape::sphere(r))
            .mass(1.0)
            .friction(mu)
            .restitution(e);
        let ball = ball.at(vec3(0.0, 0.5, 0.0));
        scene.add(ball.moving(vec3(0.0, -2.0, 0.0), vec3(0.0, 0.0, -80.0)));
        everywhere(&STEPS, |dt, placement| {
            let mut placed = scene.place(placement);
            let mut sum = Vec3::ZERO;
            placed.run(&scene, dt, 0.4, |placed, _| sum += placed.impulse(0, 1));
            near(&format!("friction, e {e}"), sum.x, right, 1e-9);
            near("normal", sum.y, 2.0 * (1.0 + e), 1e-9);
            near("leaves", placed.linear(1).y, 2.0 * e, 1e-9);
            let spin = 80.0 - right * r / (0.4 * r * r);
            near("spin", -placed.angular(1).z, spin, 1e-7);
        });
    }
}

#[test]
fn a_flat_cube_leaves_flat() {
    let mut scene = Scene::weightless();
    scene.floor(0.5, 0.5);
    let cube = Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5))
        .mass(1.0)
        .restitution(0.5);
    scene.add(
        cube.at(vec3(0.0, 0.8, 0.0))
            .moving(vec3(0.0, -3.0, 0.0), Vec3::ZERO),
    );
    everywhere(&STEPS, |dt, placement| {
        let mut placed = scene.place(placement);
        placed.run(&scene, dt, 0.3, |_, _| {});
        near(
            "velocity",
            (placed.linear(1) - vec3(0.0, 1.5, 0.0)).length(),
            0.0,
            1e-8,
        );
        near("spin", placed.angular(1).length(), 0.0, 1e-8);
    });
}

#[test]
fn b29_dense_cube_on_a_light_one() {
    // Edge down onto a cube a thousand times lighter, from 20 m, no bounce.
    let mut scene = Scene::new();
    scene.floor(0.5, 0.0);
    let cube = Body::dynamic(Shape::cuboid(1.5, 1.5, 1.5)).friction(0.5);
    scene.add(cube.clone().density(1.0).at(vec3(0.0, 1.5, 0.0)));
    let half = 1.5 * 2.0_f64.sqrt();
    let turn = Quat::from_xyzw(0.0, 0.0, 0.38268343236508984, 0.9238795325112867);
    scene.add(
        cube.density(1000.0)
            .at(vec3(0.0, 3.0 + half + 20.0, 0.0))
            .rotated(turn),
    );
    // The corrections of what the impact leaves may lift the heavy cube by the slop a step.
    scene.energy_slack = 27_000.0 * G * 1e-3;
    // As far as it falls in a step, so that the contact is not seen late.
    scene.settings.prediction_distance = 0.5;
    for dt in [1.0 / 60.0, 1.0 / 240.0] {
        let mut placed = scene.place(&Placement::HOME);
        let impact = (40.0_f64 / G).sqrt();
        placed.run(&scene, dt, impact + 20.0 * dt, |placed, report| {
            let time = report.step as f64 * dt;
            if time > impact + dt {
                let apart = placed.linear(2).y - placed.linear(1).y;
                assert!(apart <= 1e-3, "dt {dt}: they part with {apart} m/s");
                let total = 27_000.0 * G * 23.7;
                assert!(energy(&placed.world) <= total * 1.001);
            }
            if time > impact + 11.0 * dt {
                assert!(
                    report.max_penetration <= 1e-3,
                    "overlap {}",
                    report.max_penetration
                );
            }
        });
    }
}

/// The last bounces are shorter than a step; they count all the same.
#[test]
fn b57_bounces_end_when_they_should() {
    for (e, drop, listed) in [(0.2_f64, 1.0_f64, 0.6772855), (0.5, 1.0, 1.3545709)] {
        let right = (2.0 * drop / G).sqrt() * (1.0 + e) / (1.0 - e);
        near("the listed time", right, listed, 1e-6);
        for dt in STEPS {
            let mut scene = Scene::new();
            scene.floor(0.0, e);
            let ball = Body::dynamic(Shape::sphere(0.1))
                .mass(1.0)
                .friction(0.0)
                .restitution(e);
            scene.add(ball.at(vec3(0.0, 0.1 + drop, 0.0)));
            let mut placed = scene.place(&Placement::HOME);
            let mut moved = 0.0;
            placed.run(&scene, dt, 3.0, |placed, report| {
                if placed.linear(1).y.abs() > 1e-9 {
                    moved = report.step as f64 * dt;
                }
            });
            let early = (right - moved) / dt;
            assert!(early.abs() < 4.0, "e {e}, dt {dt}: {early} steps early");
            near("height", placed.position(1).y, 0.1, 1e-4);
        }
    }
}

/// An elastic ball is back where it started after the way to the wall and back.
#[test]
fn b15_an_elastic_ball_comes_back_in_time() {
    let mut scene = Scene::weightless();
    scene.add(
        Body::fixed(Shape::cuboid(0.1, 1.0, 1.0))
            .at(vec3(1.1, 0.0, 0.0))
            .restitution(1.0),
    );
    let ball = Body::dynamic(Shape::sphere(0.2))
        .mass(1.0)
        .restitution(1.0)
        .friction(0.0);
    scene.add(ball.moving(vec3(1.0, 0.0, 0.0), Vec3::ZERO));
    for dt in STEPS {
        let mut placed = scene.place(&Placement::HOME);
        placed.run(&scene, dt, 1.6, |_, _| {});
        near(&format!("back, dt {dt}"), placed.position(1).x, 0.0, 1e-9);
    }
}
