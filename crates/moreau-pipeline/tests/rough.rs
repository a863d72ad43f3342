//! Friction that is as good as infinite: nothing slides, and nothing is let through the ground and called right.

use moreau_collision::Shape;
use moreau_math::{Vec3, rotation_from_vector, vec3};
use moreau_pipeline::{Body, SolverChoice, World, WorldSettings};

const CHOICES: [SolverChoice; 3] = [SolverChoice::Auto, SolverChoice::Simd, SolverChoice::Newton];

fn world(friction: f64, choice: SolverChoice, bodies: impl IntoIterator<Item = Body>) -> World {
    let mut settings = WorldSettings::default();
    settings.solver.choice = choice;
    let mut world = World::new(settings).unwrap();
    let ground = Body::fixed(Shape::half_space(Vec3::Y));
    for body in [ground].into_iter().chain(bodies) {
        world.add(body.friction(friction)).unwrap();
    }
    world
}

/// Boxes that slide, fall askew, and lie on each other.
fn boxes(speed: f64) -> [Vec<Body>; 3] {
    let cube = || Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5));
    let push = speed * Vec3::X;
    let slides = cube().at(0.5 * Vec3::Y).moving(push, Vec3::ZERO);
    let falls = cube().at(1.2 * Vec3::Y).moving(push, vec3(1.0, 2.0, 3.0));
    let askew = falls.rotated(rotation_from_vector(vec3(0.3, -0.2, 0.4)));
    let piled = (0..3).map(|i| {
        let at = vec3(0.05 * f64::from(i), 0.5 + f64::from(i), 0.0);
        cube().at(at)
    });
    [vec![slides], vec![askew], piled.collect()]
}

#[test]
fn nothing_falls_through_the_ground_however_rough_it_is() {
    for friction in [1e2, 1e3, 1e5, 1e7, 1e9, 1e12, 1e16] {
        // With the last Newton alone gets nowhere, and says so.
        for choice in &CHOICES[..if friction < 1e13 { 3 } else { 2 }] {
            for (speed, dt, steps) in [(3.0, 1.0 / 60.0, 60), (100.0, 1e-4, 200)] {
                for (kind, bodies) in boxes(speed).into_iter().enumerate() {
                    let mut world = world(friction, *choice, bodies);
                    for step in 0..steps {
                        world.step(dt).unwrap();
                        let deepest = world.awake_contacts().iter();
                        let deepest = deepest.fold(0.0_f64, |d, c| d.max(-c.separation));
                        assert!(
                            deepest < 2e-3,
                            "friction {friction}, {choice:?}, {speed} m/s, kind {kind}, step {step}: {deepest} m deep"
                        );
                    }
                }
            }
        }
    }
}

/// What the bodies do in a certified step keeps each contact from closing: at most ten times the tolerance.
#[test]
fn a_certified_step_closes_no_contact() {
    let mut certified = 0;
    for friction in [1e3, 1e5, 1e7, 1e9, 1e12] {
        for choice in CHOICES {
            for bodies in boxes(3.0) {
                let mut world = world(friction, choice, bodies);
                for step in 0..60 {
                    let report = world.step(1.0 / 60.0).unwrap();
                    if !report.certified {
                        continue;
                    }
                    for c in world.awake_contacts() {
                        let at = |id, lever| world.body(id).unwrap().velocity().at(lever);
                        let u = at(c.b, c.lever_b) - at(c.a, c.lever_a);
                        let closes = -(c.normal.dot(u) + c.separation.max(0.0) * 60.0);
                        certified += 1;
                        assert!(
                            closes <= 1e-7,
                            "friction {friction}, {choice:?}, step {step}: {closes} m/s"
                        );
                    }
                }
            }
        }
    }
    assert!(certified > 1000, "only {certified}");
}
