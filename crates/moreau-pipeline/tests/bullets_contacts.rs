//! What the list of contacts says of a step that was taken in parts.

#[path = "support/random.rs"]
mod random;

use moreau_collision::Shape;
use moreau_math::{Vec3, rotation_from_vector, vec3};
use moreau_pipeline::{Body, World, WorldSettings};
use random::Random;

const STEPS: [f64; 2] = [1.0 / 60.0, 1.0 / 240.0];

/// The impulses in the list of contacts are those that changed the momenta, over all parts of a step.
#[test]
fn contacts_list_what_all_parts_did() {
    let mut random = Random(8);
    for dt in STEPS {
        let mut world = World::new(WorldSettings::default()).unwrap();
        let floor = Body::fixed(Shape::half_space(Vec3::Y)).restitution(0.5);
        world.add(floor).unwrap();
        for _ in 0..12 {
            let at = vec3(
                random.range(-1.0, 1.0),
                random.range(0.2, 2.0),
                random.range(-1.0, 1.0),
            );
            let body = Body::dynamic(Shape::cuboid(0.1, 0.15, 0.08))
                .restitution(0.5)
                .bullet();
            let body = body.at(at).rotated(rotation_from_vector(random.vec(2.0)));
            world
                .add(body.moving(random.vec(60.0), random.vec(20.0)))
                .unwrap();
        }
        let mut parts = 0;
        for _ in 0..40 {
            let before: Vec<_> = world
                .bodies()
                .map(|b| (b.id(), b.velocity().linear))
                .collect();
            parts += world.step(dt).unwrap().ordered_impacts;
            for (id, v) in before.into_iter().skip(1) {
                let body = world.body(id).unwrap();
                let mut impulse = vec3(0.0, -9.81 * dt, 0.0) * body.mass_properties().mass;
                for c in world.contacts() {
                    if c.b == id {
                        impulse += c.world_impulse();
                    } else if c.a == id {
                        impulse -= c.world_impulse();
                    }
                }
                let change = (body.velocity().linear - v) * body.mass_properties().mass;
                assert!(
                    (change - impulse).length() < 1e-8,
                    "{id}: {change}, {impulse}"
                );
            }
        }
        assert!(parts > 0);
    }
}

/// A random bullet of any kind.
fn any_bullet(random: &mut Random, only_balls: bool) -> Body {
    let kind = if only_balls { 0.0 } else { 5.0 };
    let shape = match (random.unit() * kind) as u32 {
        0 => Shape::sphere(0.1),
        1 => Shape::cuboid(0.1, 0.15, 0.08),
        2 => Shape::capsule(0.15, 0.05),
        3 => Shape::cylinder(0.1, 0.08),
        _ => Shape::cone(0.1, 0.1),
    };
    let body = Body::dynamic(shape).restitution(random.range(0.0, 1.0));
    let body = body.friction([0.0, 0.3, 1.0][(random.unit() * 3.0) as usize]);
    body.rotated(random.rotation()).bullet()
}

/// Whatever the parts of a step did at a point, their sum lies in its cone of friction, and the sums are what
/// changed the momenta.
#[test]
fn sums_over_parts_are_in_the_cone_and_change_the_momenta() {
    let mut random = Random(21);
    let (mut parts, mut points) = (0, 0);
    for case in 0..24 {
        let dt = STEPS[case % 2];
        let mut world = World::new(WorldSettings::default()).unwrap();
        let turn = random.rotation();
        // Over bumps, or in a room so small that two balls strike each other from several sides in a step.
        let in_room = case % 3 != 0;
        if !in_room {
            let heights = (0..81).map(|_| random.range(0.0, 0.4)).collect();
            let ground = Shape::heightfield(9, 9, heights, [0.5, 0.5]).unwrap();
            let ground = Body::fixed(ground).at(vec3(-2.0, -0.4, -2.0));
            world.add(ground.restitution(0.8)).unwrap();
        } else {
            for axis in Vec3::AXES.into_iter().flat_map(|axis| [axis, -axis]) {
                let plane = Body::fixed(Shape::half_space(turn * axis)).at(turn * axis * -0.4);
                world.add(plane.restitution(0.8)).unwrap();
            }
        }
        for _ in 0..2 + case % 5 {
            let body = any_bullet(&mut random, case % 3 == 1);
            let body = body.at(turn * random.vec(if in_room { 0.25 } else { 0.9 }));
            let speed = random.range(1.0, 200.0);
            let velocity = random.vec(1.0) * speed;
            world.add(body.moving(velocity, random.vec(speed))).unwrap();
        }
        for step in 0..30 {
            let before: Vec<_> = world
                .bodies()
                .map(|b| (b.id(), b.velocity().linear))
                .collect();
            parts += world.step(dt).unwrap().ordered_impacts;
            for c in world.contacts() {
                let slip = c.impulse.y * c.impulse.y + c.impulse.z * c.impulse.z;
                let over = slip.sqrt() - c.friction * c.impulse.x;
                assert!(
                    c.impulse.x >= 0.0 && over <= 1e-9 * c.impulse.length(),
                    "case {case}, step {step}: {} of {}",
                    c.impulse,
                    c.friction
                );
                points += usize::from(c.impulse.x > 0.0);
            }
            for (id, v) in before {
                let body = world.body(id).unwrap();
                let mass = body.mass_properties().mass;
                if mass == 0.0 {
                    continue;
                }
                let mut sum = vec3(0.0, -9.81 * dt, 0.0) * mass;
                let mut size = mass * 200.0;
                for c in world.contacts() {
                    if c.a == id || c.b == id {
                        size += c.impulse.length();
                    }
                    if c.b == id {
                        sum += c.world_impulse();
                    } else if c.a == id {
                        sum -= c.world_impulse();
                    }
                }
                let change = (body.velocity().linear - v) * mass;
                let off = (change - sum).length();
                assert!(
                    off < 1e-10 * size,
                    "case {case}, step {step}: {off} of {change}"
                );
            }
        }
    }
    assert!(
        parts > 150 && points > 150,
        "{parts} parts, {points} points"
    );
}
