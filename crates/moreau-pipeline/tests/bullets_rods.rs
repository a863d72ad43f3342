//! Energy of elastic rods that spin, all of them bullets.

#[path = "support/random.rs"]
mod random;

use moreau_collision::Shape;
use moreau_math::{Vec3, vec3};
use moreau_pipeline::{Body, BodyKind, World, WorldSettings};
use random::Random;

/// Without weight it never grows. With weight no more than what a centre is displaced that goes a step with the velocity
/// of its end, or is stopped on its way: m g h (|v+ - v| + |v|), the second where the step stops anybody.
#[test]
fn rods_between_floors_gain_no_more_than_their_bounces_displace() {
    let mut random = Random(5);
    let (mut ordered, mut grown) = (0, 0);
    for (gravity, dt) in [(0.0, 1.0 / 60.0), (9.81, 1.0 / 60.0), (9.81, 1.0 / 240.0)] {
        for seed in 0..20 {
            let mut world = World::new(WorldSettings {
                gravity: Vec3::NEG_Y * gravity,
                ..WorldSettings::default()
            })
            .unwrap();
            let friction = if seed % 2 == 0 { 0.0 } else { 0.5 };
            for (normal, height) in [(Vec3::Y, 0.0), (Vec3::NEG_Y, 4.0)] {
                let floor = Body::fixed(Shape::half_space(normal)).at(Vec3::Y * height);
                world
                    .add(floor.restitution(1.0).friction(friction))
                    .unwrap();
            }
            for i in 0..6 {
                let shape = match (seed + i) % 3 {
                    0 => Shape::capsule(0.4, 0.05),
                    1 => Shape::cuboid(0.5, 0.04, 0.06),
                    _ => Shape::cylinder(0.5, 0.05),
                };
                let at = vec3(f64::from(i % 3) * 1.3, 0.8 + 1.5 * f64::from(i / 3), 0.0);
                let rod = Body::dynamic(shape)
                    .bullet()
                    .restitution(1.0)
                    .friction(friction);
                let rod = rod.at(at).rotated(random.rotation());
                world
                    .add(rod.moving(random.vec(20.0), random.vec(60.0)))
                    .unwrap();
            }
            let velocities = |world: &World| -> Vec<(f64, Vec3)> {
                let rods = world.bodies().filter(|b| b.kind() == BodyKind::Dynamic);
                rods.map(|b| (b.mass_properties().mass, b.velocity().linear))
                    .collect()
            };
            let mut before = world.kinetic_energy() + world.potential_energy();
            for step in 0..60 {
                let from = velocities(&world);
                let report = world.step(dt).unwrap();
                ordered += report.ordered_impacts;
                let energy = report.kinetic_energy + report.potential_energy;
                let stops = f64::from(u8::from(report.stopped_bodies > 0));
                let displaced = from.iter().zip(velocities(&world)).map(|(from, to)| {
                    from.0 * gravity * dt * ((to.1 - from.1).length() + stops * from.1.length())
                });
                let most = before * (1.0 + 1e-9) + displaced.sum::<f64>();
                assert!(
                    energy <= most,
                    "seed {seed}, step {step}: {before} to {energy} J, {most} allowed"
                );
                grown += usize::from(energy > before * (1.0 + 1e-6));
                before = energy;
            }
        }
    }
    assert!(ordered > 100 && grown > 0, "{ordered}, {grown}");
}
