//! Sliding and sticking.
//!
//! A body that slides changes its speed by exactly a h in a step of length h and moves with the mean
//! of the speeds before and after, so that its way is exact but for the step in which it stops: there
//! it stands for a part of the step, which makes at most a h²/8.

use crate::harness::{Case, G, Placement, STEPS, Scene, degrees, everywhere, heading, near, tilt};
use moreau::math::libm;
use moreau::{Body, Quat, Shape, Vec3, vec3};

/// A cube of 0.2 m and 1 kg at rest on a plane that is tilted by `angle`; the first body is the
/// plane, +x is downhill.
pub(crate) fn ramp(friction: f64, angle: f64) -> Scene {
    let mut scene = Scene::new();
    let turn = tilt(-angle);
    let plane = Body::fixed(Shape::half_space(Vec3::Y))
        .rotated(turn)
        .friction(friction);
    scene.add(plane);
    let cube = Body::dynamic(Shape::cuboid(0.1, 0.1, 0.1))
        .mass(1.0)
        .friction(friction);
    scene.add(cube.at(turn * vec3(0.0, 0.1, 0.0)).rotated(turn));
    scene
}

pub(crate) fn downhill(angle: f64) -> Vec3 {
    tilt(-angle) * Vec3::X
}

/// A body on the floor with the velocity `speed` along x, turned by `turn` about the vertical with
/// all that moves.
pub(crate) fn slide(shape: Shape, height: f64, friction: f64, speed: f64) -> Scene {
    let mut scene = Scene::new();
    scene.floor(friction, 0.0);
    let body = Body::dynamic(shape)
        .mass(1.0)
        .friction(friction)
        .at(vec3(0.0, height, 0.0));
    scene.add(body.moving(vec3(speed, 0.0, 0.0), Vec3::ZERO));
    scene
}

fn turned(mut scene: Scene, turn: Quat) -> Scene {
    for body in &mut scene.bodies {
        body.pose.translation = turn * body.pose.translation;
        body.pose.rotation = turn * body.pose.rotation;
        body.velocity.linear = turn * body.velocity.linear;
    }
    scene
}

#[test]
fn ramp_below_the_friction_angle_does_not_creep() {
    for mu in [0.1, 0.3, 0.5, 0.7, 1.0] {
        let angle = 0.98 * libm::atan(mu);
        let scene = ramp(mu, angle);
        everywhere(&STEPS[..2], |dt, placement| {
            let mut placed = scene.place(placement);
            let start = placed.position(1);
            let mut farthest: f64 = 0.0;
            placed.run(&scene, dt, 10.0, |placed, _| {
                farthest = farthest.max((placed.position(1) - start).length());
            });
            near(&format!("creep, mu {mu}, dt {dt}"), farthest, 0.0, 1e-9);
        });
    }
}

#[test]
fn ramp_sticks_up_to_the_friction_angle() {
    let limits = [
        (0.1, 5.7106),
        (0.3, 16.6992),
        (0.5, 26.5651),
        (0.7, 34.9920),
        (1.0, 45.0),
    ];
    for (mu, limit) in limits {
        near("angle", libm::atan(mu), degrees(limit), 1e-6);
        // A cube would tip at 45 degrees: its friction acts 0.1 m below its centre.
        for (offset, slides) in [(-0.002, false), (0.002, true)] {
            let angle = degrees(limit + offset);
            let mut scene = ramp(mu, angle);
            scene.bodies[1].shape = Shape::cuboid(0.2, 0.1, 0.2);
            let mut placed = scene.place(&Placement::HOME);
            placed.run(&scene, 1.0 / 60.0, 2.0, |_, _| {});
            let a = if slides {
                G * (libm::sin(angle) - mu * libm::cos(angle))
            } else {
                0.0
            };
            let speed = placed.linear(1).dot(downhill(angle));
            near(&format!("speed, mu {mu}, {offset}"), speed, 2.0 * a, 1e-7);
        }
    }
}

#[test]
fn b37_ramp_grid() {
    let steepest = |mu: f64| libm::atan(mu) + degrees(1.0);
    let grid = (1..=9)
        .map(|i| 0.1 * f64::from(i))
        .map(|mu| (mu, steepest(mu)));
    for (mu, angle) in grid.chain([(0.3, degrees(20.0))]) {
        let a = G * (libm::sin(angle) - mu * libm::cos(angle));
        let scene = ramp(mu, angle);
        everywhere(&STEPS, |dt, placement| {
            let what = format!("mu {mu}, {angle} rad, dt {dt}");
            let mut placed = scene.place(placement);
            placed.run(&scene, dt, 2.0, |_, _| {});
            let along = placed.position(1).dot(downhill(angle));
            near(
                &format!("{what}: speed"),
                placed.linear(1).length(),
                a * 2.0,
                1e-8,
            );
            near(&format!("{what}: distance"), along, 2.0 * a, 1e-8);
        });
        let below = ramp(mu, libm::atan(mu) - degrees(1.0));
        let mut placed = below.place(&Placement::HOME);
        let start = placed.position(1);
        placed.run(&below, 1.0 / 240.0, 2.0, |_, _| {});
        near(
            &format!("mu {mu} holds"),
            (placed.position(1) - start).length(),
            0.0,
            1e-9,
        );
    }
    let a = G * (libm::sin(degrees(20.0)) - 0.3 * libm::cos(degrees(20.0)));
    near("the listed value", a, 0.5897022, 1e-7);
}

#[test]
fn stopping_distances() {
    for (mu, distance) in [(0.2, 1.019368), (0.4, 0.509684), (0.7, 0.291248)] {
        Case {
            name: format!("stop from 2 m/s, mu {mu}"),
            scene: slide(Shape::cuboid(0.1, 0.1, 0.1), 0.1, mu, 2.0),
            seconds: 1.2,
            measure: |placed| placed.position(1).x,
            expect: distance,
            tolerance: |dt| 0.7 * G * dt * dt / 8.0 + 1e-6,
        }
        .check();
    }
}

#[test]
fn stopping_distance_within_a_thousandth() {
    for (mu, v0) in [(0.2, 2.0), (0.4, 2.0), (0.7, 2.0), (0.5, 5.0), (0.3, 0.5)] {
        let right = v0 * v0 / (2.0 * mu * G);
        let scene = slide(Shape::cuboid(0.1, 0.1, 0.1), 0.1, mu, v0);
        let mut placed = scene.place(&Placement::HOME);
        placed.run(&scene, 1.0 / 240.0, 1.2, |_, _| {});
        let way = placed.position(1).x;
        near(&format!("mu {mu}, {v0} m/s"), way, right, 1e-3 * right);
    }
}

/// From 6 m/s at mu = 0.5: 6²/(2 mu g) = 3.6697 m. While the cube slides the scheme, which moves bodies by
/// their mean velocity, is exact; in the step in which it stops the cube has v left, and takes v h/2
/// instead of v²/(2 mu g): too far by v (h - v/(mu g))/2, at most mu g h²/8.
#[test]
fn stopping_distance_to_the_scheme_s_own_error() {
    let (mu, v0) = (0.5, 6.0);
    let a = mu * G;
    let right = v0 * v0 / (2.0 * a);
    near("the listed value", right, 3.6697, 5e-5);
    let mut errors = Vec::new();
    for dt in STEPS {
        let scene = slide(Shape::cuboid(0.5, 0.5, 0.5), 0.5, mu, v0);
        let mut placed = scene.place(&Placement::HOME);
        placed.run(&scene, dt, 1.5, |_, _| {});
        let error = placed.position(1).x - right;
        let left = v0 - a * dt * libm::floor(v0 / (a * dt));
        let expect = 0.5 * left * (dt - left / a);
        near(&format!("error, dt {dt}"), error, expect, 1e-8);
        errors.push(error);
        assert!(
            error <= a * dt * dt / 8.0 + 1e-8,
            "error {error} of dt {dt}"
        );
    }
    assert!(
        errors[2] < 0.1 * errors[0],
        "it shrinks with the step: {errors:?}"
    );
}

#[test]
fn no_heading_is_special() {
    for dt in STEPS {
        let mut first = None;
        for degree in [0.0, 7.0, 30.0, 45.0, 60.0, 90.0, 135.0, 211.0] {
            let turn = heading(degrees(degree));
            // The cube keeps its own axes along the world's: only its velocity turns.
            let mut scene = slide(Shape::cuboid(0.1, 0.1, 0.1), 0.1, 0.3, 2.0);
            scene.bodies[1].velocity.linear = turn * scene.bodies[1].velocity.linear;
            let mut placed = scene.place(&Placement::HOME);
            let what = format!("{degree} degrees, dt {dt}");
            placed.run(&scene, dt, 0.8, |placed, _| {
                let v = turn.conjugate() * placed.linear(1);
                near(&format!("{what}: to the side"), v.z, 0.0, 1e-9);
                near(&format!("{what}: up"), v.y, 0.0, 1e-9);
                near(&format!("{what}: yaw"), placed.angular(1).y, 0.0, 1e-9);
            });
            near(
                &format!("{what}: rest"),
                placed.linear(1).length(),
                0.0,
                1e-9,
            );
            let way = (turn.conjugate() * placed.position(1)).x;
            let first = *first.get_or_insert(way);
            near(&format!("{what}: way"), way, first, 1e-9);
        }
    }
}

#[test]
fn b04_limit_of_static_friction() {
    // Force, acceleration of a 1 kg cube with mu = 0.5.
    let rows = [
        (4.85, 0.0),
        (4.90, 0.0),
        (4.9049, 0.0),
        (4.9051, 0.0001),
        (4.95, 0.045),
    ];
    for (force, a) in rows {
        let mut scene = slide(Shape::cuboid(0.1, 0.1, 0.1), 0.1, 0.5, 0.0);
        scene.bodies[1].force = vec3(force, 0.0, 0.0);
        everywhere(&STEPS, |dt, placement| {
            let mut placed = scene.place(placement);
            placed.run(&scene, dt, 2.0, |_, _| {});
            let what = format!("{force} N, dt {dt}");
            near(&format!("{what}: speed"), placed.linear(1).x, 2.0 * a, 1e-9);
            near(&format!("{what}: way"), placed.position(1).x, 2.0 * a, 1e-8);
        });
    }
}

#[test]
fn b07_straight_at_any_heading() {
    for angle in [0.0, 10.0, 22.5, 45.0, 80.0] {
        let turn = heading(degrees(angle));
        let mut scene = turned(slide(Shape::cuboid(0.5, 0.1, 0.1), 0.1, 0.5, 5.0), turn);
        scene.bodies[0].shape = Shape::cuboid(10.0, 0.5, 10.0);
        scene.bodies[0].pose.translation = vec3(0.0, -0.5, 0.0);
        everywhere(&STEPS[..2], |dt, placement| {
            let what = format!("{angle} degrees, dt {dt}");
            let mut placed = scene.place(placement);
            let mut stopped = f64::INFINITY;
            placed.run(&scene, dt, 1.2, |placed, report| {
                let (x, v) = (turn.conjugate() * placed.position(1), placed.linear(1));
                near(&format!("{what}: to the side"), x.z, 0.0, 1e-9);
                near(&format!("{what}: height"), x.y, 0.1, 1e-9);
                near(
                    &format!("{what}: turn"),
                    placed.angular(1).length(),
                    0.0,
                    2e-8,
                );
                if v.length() < 1e-9 {
                    stopped = stopped.min(report.step as f64 * dt);
                }
            });
            let way = (turn.conjugate() * placed.position(1)).x;
            near(
                &format!("{what}: way"),
                way,
                2.54842,
                4.905 * dt * dt / 8.0 + 1e-5,
            );
            near(&format!("{what}: time"), stopped, 1.019368, dt + 1e-6);
        });
    }
}

#[test]
fn b09_locked_capsule_slows_uniformly() {
    let mut scene = slide(Shape::capsule(0.5, 0.5), 1.0, 1.0, 50.0);
    scene.bodies[1].lock_rotation = true;
    let turn = heading(degrees(80.0));
    scene.bodies[1].velocity.linear = turn * vec3(50.0, 0.0, 0.0);
    everywhere(&STEPS[..2], |dt, placement| {
        let mut placed = scene.place(placement);
        let mut stopped = f64::INFINITY;
        placed.run(&scene, dt, 5.3, |placed, report| {
            let v = turn.conjugate() * placed.linear(1);
            near(
                "velocity off its line",
                (v - Vec3::X * v.x).length(),
                0.0,
                1e-9,
            );
            if v.length() < 1e-9 {
                stopped = stopped.min(report.step as f64 * dt);
            }
        });
        let way = (turn.conjugate() * (placed.position(1) - vec3(0.0, 1.0, 0.0))).x;
        near("time", stopped, 5.09684, dt + 1e-5);
        near("way", way, 127.420999, G * dt * dt / 8.0 + 1e-5);
    });
}

/// A prism with `sides` side faces about the y axis, corners at `radius`.
pub(crate) fn prism(sides: u32, radius: f64, half_height: f64) -> Shape {
    let mut points = Vec::new();
    for k in 0..sides {
        let angle = 2.0 * std::f64::consts::PI * f64::from(k) / f64::from(sides);
        let (x, z) = (radius * libm::cos(angle), radius * libm::sin(angle));
        points.push(vec3(x, half_height, z));
        points.push(vec3(x, -half_height, z));
    }
    Shape::hull(&points).unwrap()
}

#[test]
fn b31_friction_does_not_depend_on_the_number_of_points() {
    let lying = tilt(degrees(90.0));
    let rows: [(&str, Shape, f64, Quat); 4] = [
        ("sphere", Shape::sphere(0.2), 0.2, Quat::IDENTITY),
        ("capsule", Shape::capsule(0.5, 0.2), 0.2, lying),
        ("cube", Shape::cuboid(0.2, 0.2, 0.2), 0.2, Quat::IDENTITY),
        ("octagon", prism(8, 0.3, 0.2), 0.2, Quat::IDENTITY),
    ];
    for (name, shape, height, turn) in rows {
        let mut scene = slide(shape, height, 0.5, 5.0);
        scene.bodies[1].lock_rotation = name == "sphere";
        scene.bodies[1].pose.rotation = turn;
        everywhere(&STEPS[..2], |dt, placement| {
            let mut placed = scene.place(placement);
            let mut after_half = f64::NAN;
            placed.run(&scene, dt, 1.2, |placed, report| {
                if report.step == libm::round(0.5 / dt) as u64 {
                    after_half = placed.linear(1).x;
                }
            });
            near(
                &format!("{name}: deceleration"),
                (5.0 - after_half) / 0.5,
                4.905,
                1e-8,
            );
            let error = 4.905 * dt * dt / 8.0 + 1e-5;
            near(
                &format!("{name}: way"),
                placed.position(1).x,
                2.54842,
                error,
            );
        });
    }
}

#[test]
fn b32_sliding_cube_does_not_yaw() {
    let scene = slide(Shape::cuboid(0.5, 0.5, 0.5), 0.5, 0.5, 10.0);
    everywhere(&STEPS[..2], |dt, placement| {
        let mut placed = scene.place(placement);
        placed.run(&scene, dt, 2.5, |placed, _| {
            near("turn", placed.angular(1).length(), 0.0, 2e-8);
            near("side", placed.position(1).z, 0.0, 1e-9);
        });
    });
}

#[test]
fn b38_sliding_body_does_not_hover() {
    let scene = slide(Shape::cuboid(0.1, 0.1, 0.1), 0.1, 0.5, 5.0);
    everywhere(&[0.01, 0.001], |dt, placement| {
        let mut placed = scene.place(placement);
        placed.run(&scene, dt, 1.1, |placed, _| {
            near(&format!("height, dt {dt}"), placed.position(1).y, 0.1, 1e-9);
        });
    });
}

/// Bodies that are thinner than their way in a step, or than the prediction distance: what of them is near
/// the floor is more than what touches it.
#[test]
fn b32_thin_and_small_bodies_slide_flat_and_rest() {
    let bodies = [
        (vec3(0.5, 0.05, 0.3), 10.0),
        (vec3(0.02, 0.002, 0.03), 1.0),
        (vec3(0.008, 0.008, 0.008), 1.0),
        (vec3(0.008, 0.008, 0.008), 0.0),
    ];
    for (half, speed) in bodies {
        let scene = slide(Shape::cuboid(half.x, half.y, half.z), half.y, 0.5, speed);
        everywhere(&STEPS, |dt, placement| {
            let mut placed = scene.place(placement);
            placed.run(&scene, dt, 0.5, |placed, _| {
                let what = format!("{half} at {speed} m/s, dt {dt}");
                near(&what, placed.position(1).y, half.y, 1e-9);
                near(&what, placed.position(1).z, 0.0, 1e-9);
                // The solver's tolerance over the shortest lever arm.
                near(&what, placed.angular(1).length(), 0.0, 5e-8);
            });
        });
    }
}

#[test]
fn tipping_cube_at_any_heading_stays_straight() {
    // mu = 0.8: the resultant of the contact stays inside the base, so the cube slides flat.
    for angle in [0.0, 17.0, 45.0, 71.0] {
        let turn = heading(degrees(angle));
        let mut scene = slide(Shape::cuboid(0.1, 0.1, 0.1), 0.1, 0.8, 3.0);
        scene.bodies[1].velocity.linear = turn * vec3(3.0, 0.0, 0.0);
        everywhere(&STEPS[..2], |dt, placement| {
            let mut placed = scene.place(placement);
            placed.run(&scene, dt, 0.6, |placed, _| {
                let x = turn.conjugate() * placed.position(1);
                near("side", x.z, 0.0, 1e-9);
                near("height", x.y, 0.1, 1e-9);
                near("turn", placed.angular(1).length(), 0.0, 2e-8);
            });
            let way = (turn.conjugate() * placed.position(1)).x;
            let right = 9.0 / (2.0 * 0.8 * G);
            near("way", way, right, 0.8 * G * dt * dt / 8.0 + 1e-6);
        });
    }
}

#[test]
fn b65_stopped_belt_is_a_ramp() {
    let angle = degrees(45.0);
    let mut scene = ramp(1.1, angle);
    scene.bodies[1].shape = Shape::cuboid(0.2, 0.1, 0.2);
    for dt in STEPS {
        let mut on_ramp = scene.place(&Placement::HOME);
        let mut on_belt = scene.place(&Placement::HOME);
        let id = on_belt.ids[0];
        on_belt.world.set_surface_velocity(id, Vec3::ZERO).unwrap();
        let start = on_ramp.position(1);
        on_ramp.run(&scene, dt, 2.0, |_, _| {});
        on_belt.run(&scene, dt, 2.0, |_, _| {});
        near("holds", (on_ramp.position(1) - start).length(), 0.0, 1e-9);
        assert_eq!(on_ramp.world.hash(), on_belt.world.hash());
    }
}

#[test]
fn b65_belt_takes_a_box_along() {
    // Slides for u/(mu g) = 0.407747 s, then moves with the belt.
    let (mu, u) = (0.5, 2.0);
    let mut scene = Scene::new();
    let belt = Body::fixed(Shape::half_space(Vec3::Y)).friction(mu);
    scene.add(belt.surface_velocity(vec3(u, 0.0, 0.0)));
    let cube = Body::dynamic(Shape::cuboid(0.1, 0.1, 0.1))
        .mass(1.0)
        .friction(mu);
    scene.add(cube.at(vec3(0.0, 0.1, 0.0)));
    everywhere(&STEPS, |dt, placement| {
        let mut placed = scene.place(placement);
        let mut reached = f64::INFINITY;
        placed.run(&scene, dt, 1.0, |placed, report| {
            let (v, time) = (placed.linear(1).x, report.step as f64 * dt);
            near("speed", v, (mu * G * time).min(u), 1e-9);
            if (v - u).abs() < 1e-9 {
                reached = reached.min(time);
            }
        });
        near("time", reached, u / (mu * G), dt);
    });
}
