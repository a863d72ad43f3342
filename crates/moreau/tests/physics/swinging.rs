//! Bodies that swing about their contacts: what pushes them depends on where they are.

use crate::harness::{G, STEPS, Scene, everywhere, near};
use moreau::math::libm;
use moreau::{Body, Shape, vec3};

/// A cube between two balls that press on it above its centre is a pendulum about the line through both contacts:
/// omega² = m g d/(m a²/6 + m d²), and its swings neither grow nor fade. One ball stands, one is so heavy that it stays,
/// and is pressed on.
#[test]
fn a_pinched_cube_is_a_pendulum() {
    let (edge, mass, d, radius) = (0.5, 125.0, 0.1, 0.3);
    let inertia = mass * (edge * edge / 6.0 + d * d);
    let omega = libm::sqrt(mass * G * d / inertia);
    // Of small swings; this one has an angle of at most 0.014 rad, which is half as much as what friction holds.
    let fastest = 0.06;
    let across = 0.5 * edge + radius;
    let mut scene = Scene::new();
    let ball = || Shape::sphere(radius);
    scene.add(Body::fixed(ball()).at(vec3(-across, d, 0.0)).friction(0.5));
    let mut press = Body::dynamic(ball())
        .mass(1e8)
        .at(vec3(across, d, 0.0))
        .friction(0.5);
    press.force = vec3(-5700.0, 0.0, 0.0);
    (press.gravity_scale, press.lock_rotation) = (0.0, true);
    scene.add(press);
    let cube = Body::dynamic(Shape::cuboid(0.5 * edge, 0.5 * edge, 0.5 * edge))
        .mass(mass)
        .friction(0.5);
    let cube = scene.add(cube.moving(vec3(0.0, 0.0, -d * fastest), vec3(fastest, 0.0, 0.0)));
    let seconds = 20.0;
    for dt in STEPS {
        // A scheme of first order: the energy of a swing is as much ahead or behind by turns.
        scene.energy_slack = dt * omega * 0.5 * inertia * fastest * fastest;
        everywhere(&[dt], |dt, placement| {
            let mut placed = scene.place(placement);
            let (mut last, mut crossings, mut largest) = (fastest, Vec::new(), [0.0_f64; 2]);
            placed.run(&scene, dt, seconds, |placed, report| {
                let time = report.step as f64 * dt;
                let w = placed.angular(cube).x;
                if last * w < 0.0 {
                    crossings.push(time - dt * w / (w - last));
                }
                last = w;
                let half = usize::from(time > 0.5 * seconds);
                largest[half] = largest[half].max(w.abs());
            });
            let swings = crossings.len() as f64 - 1.0;
            let period = 2.0 * (crossings.last().unwrap() - crossings[0]) / swings;
            let expected = 2.0 * std::f64::consts::PI / omega;
            near("period", period / expected, 1.0, 1e-3);
            // It begins at the bottom, half a step ahead or behind.
            near("swings", largest[0] / fastest, 1.0, 0.01 + dt * omega);
            near("later swings", largest[1] / largest[0], 1.0, 0.005);
        });
    }
}
