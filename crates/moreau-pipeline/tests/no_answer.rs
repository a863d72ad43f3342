//! Contacts that cannot all be obeyed: what is reported is finite, whoever solves.

#[path = "support/random.rs"]
mod random;

use moreau_collision::Shape;
use moreau_math::{Quat, Vec3, vec3};
use moreau_pipeline::{Body, SolverChoice, World, WorldSettings};
use random::Random;

/// Its normal, distance from the middle (m), and the speed (m/s) with which it closes in.
type Wall = (Vec3, f64, f64);

fn rooms() -> [(&'static str, Vec<Wall>); 6] {
    let lean = |x: f64| vec3(x, 0.01, 0.0).normalize();
    let axes = [Vec3::X, Vec3::Y, Vec3::Z];
    let both = |half: f64| {
        let sides = axes.iter().flat_map(|n| [*n, -*n]);
        sides.map(|n| (n, half, 0.0)).collect()
    };
    let star = (0..3).map(|k| Quat::from_rotation_y(2.1 * f64::from(k)) * Vec3::X);
    [
        ("room", both(0.6)),
        ("overlapping room", both(0.49)),
        (
            "wedge",
            vec![(lean(1.0), 0.51, 0.0), (lean(-1.0), 0.51, 0.0)],
        ),
        (
            "press",
            vec![(Vec3::X, 0.505, 1.0), (Vec3::NEG_X, 0.505, 1.0)],
        ),
        ("star", star.map(|n| (n, 0.505, 1.0)).collect()),
        (
            "closing wedge",
            vec![(lean(1.0), 0.505, 1.0), (lean(-1.0), 0.505, 1.0)],
        ),
    ]
}

/// A ball of 1 kg at up to 35 m/s in a room in which it strikes several walls in one step, or which is pressed together:
/// no impulse is beyond 1e4 times its momentum (once 1e12 N s, and 1e107 by blocks), and only walls that move give energy.
#[test]
fn impulses_stay_finite_where_contacts_have_no_answer() {
    let mut random = Random(5);
    let (mut uncertified, mut most) = (0, 0.0f64);
    for (name, walls) in rooms() {
        for (restitution, friction) in [(0.0, 0.0), (0.9, 0.0), (0.9, 0.5)] {
            for choice in [
                SolverChoice::Auto,
                SolverChoice::Pgs,
                SolverChoice::Simd,
                SolverChoice::Newton,
                SolverChoice::Block,
            ] {
                for _ in 0..5 {
                    let mut settings = WorldSettings {
                        gravity: Vec3::ZERO,
                        ordered_impacts: 0,
                        ..WorldSettings::default()
                    };
                    settings.solver.choice = choice;
                    let mut world = World::new(settings).unwrap();
                    for &(normal, distance, speed) in &walls {
                        let plane = Shape::half_space(Vec3::Y);
                        let wall = if speed > 0.0 {
                            Body::kinematic(plane).moving(normal * speed, Vec3::ZERO)
                        } else {
                            Body::fixed(plane)
                        };
                        let turn = Quat::from_rotation_arc(Vec3::Y, normal);
                        let wall = wall.rotated(turn).at(normal * -distance);
                        world
                            .add(wall.restitution(restitution).friction(friction))
                            .unwrap();
                    }
                    let ball = Body::dynamic(Shape::sphere(0.5)).mass(1.0);
                    let ball = ball.restitution(restitution).friction(friction);
                    let ball = ball.moving(random.vec(20.0), random.vec(3.0));
                    world.add(ball).unwrap();
                    let energy = world.kinetic_energy();
                    for step in 0..10 {
                        let report = world.step(1.0 / 60.0).unwrap();
                        let what = format!("{name}, e {restitution}, {choice:?}, step {step}");
                        uncertified += usize::from(!report.certified);
                        for contact in world.contacts() {
                            let size = contact.impulse.length();
                            assert!(size < 1e6, "{what}: {size} N s");
                            most = most.max(size);
                        }
                        let moves = walls.iter().any(|w| w.2 > 0.0);
                        let now = world.kinetic_energy();
                        assert!(
                            moves && now < 1e5 || now <= energy * (1.0 + 1e-9),
                            "{what}: {energy} to {now} J"
                        );
                    }
                }
            }
        }
    }
    assert!(uncertified > 100 && most > 1e3, "{uncertified}, {most}");
}
