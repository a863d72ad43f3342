//! Balls, boxes and rods that fly fast over bumpy ground: nothing passes, and nobody gains energy.

#[path = "support/random.rs"]
mod random;

use moreau_collision::{Inside, Ray, Shape};
use moreau_math::{Vec3, vec3};
use moreau_pipeline::{Body, BodyId, World, WorldSettings};
use random::Random;

/// Bumps of up to 0.4 m on a field of 40 m, as a heightfield or a mesh, its middle at the origin.
fn ground(random: &mut Random, as_mesh: bool) -> Body {
    let (count, spacing) = (33, 1.25);
    let heights = (0..count * count).map(|_| random.range(0.0, 0.4)).collect();
    let field = Shape::heightfield(count, count, heights, [spacing; 2]).unwrap();
    let Shape::Heightfield(tables) = &field else {
        unreachable!()
    };
    let triangles: Vec<[u32; 3]> = tables.triangles().collect();
    let shape = if as_mesh {
        Shape::mesh(tables.vertices(), &triangles).unwrap()
    } else {
        field.clone()
    };
    let half = 0.5 * spacing * (count - 1) as f64;
    Body::fixed(shape).at(vec3(-half, 0.0, -half))
}

/// A shape, and the points of it that must stay over the ground.
fn shape(kind: usize) -> (Shape, Vec<Vec3>) {
    match kind % 4 {
        0 => (Shape::sphere(0.05), vec![Vec3::ZERO]),
        1 => (Shape::cuboid(0.1, 0.06, 0.08), vec![Vec3::ZERO]),
        2 => {
            let ends = [-1.0, 0.0, 1.0].map(|y| Vec3::Y * (0.3 * y));
            (Shape::capsule(0.3, 0.03), ends.to_vec())
        }
        _ => {
            let ends = [-1.0, 0.0, 1.0].map(|y| Vec3::Y * (0.25 * y));
            (Shape::cuboid(0.03, 0.3, 0.04), ends.to_vec())
        }
    }
}

/// Height (m) of a point over the ground; `None` beyond its edge.
fn over(world: &World, ground: BodyId, p: Vec3) -> Option<f64> {
    let body = world.body(ground).unwrap();
    let ray = Ray::new(vec3(p.x, 50.0, p.z), Vec3::NEG_Y).unwrap();
    let hit = ray.cast(body.shape(), &body.pose(), 100.0, Inside::Solid)?;
    Some(p.y - hit.point.y)
}

/// Every combination of step, restitution, friction, bullets or not, shape and kind of ground.
#[test]
fn nothing_passes_and_nobody_gains_energy() {
    let mut random = Random(31);
    let (mut impacts, mut struck) = (0, 0);
    for case in 0..192 {
        let dt = [1.0 / 60.0, 1.0 / 240.0][case % 2];
        let restitution = [0.0, 0.5, 1.0][case / 2 % 3];
        let friction = [0.0, 0.5][case / 6 % 2];
        let bullet = case / 12 % 2 == 0;
        let as_mesh = case / 24 % 2 == 0;
        let kind = case / 48;
        let speed = [30.0, 100.0, 300.0][(random.unit() * 3.0) as usize];
        let gravity = if random.unit() < 0.5 { 9.81 } else { 0.0 };
        let settings = WorldSettings {
            gravity: Vec3::Y * -gravity,
            ..WorldSettings::default()
        };
        let mut world = World::new(settings).unwrap();
        let ground = ground(&mut random, as_mesh);
        let ground = ground.restitution(restitution).friction(friction);
        let ground = world.add(ground).unwrap();
        let mut bodies = Vec::new();
        for _ in 0..1 + case % 3 {
            let (shape, points) = shape(kind);
            let mut body = Body::dynamic(shape).friction(friction);
            body.bullet = bullet;
            let at = vec3(3.0 * random.signed(), 0.0, 3.0 * random.signed());
            let body = body.at(at + Vec3::Y * random.range(0.8, 2.0));
            let body = body.restitution(restitution).rotated(random.rotation());
            let way = vec3(random.signed(), random.range(-1.0, 0.1), random.signed());
            let spin = random.vec([0.0, 10.0, 60.0][case % 3]);
            let body = body.moving(way.normalize() * speed, spin);
            bodies.push((world.add(body).unwrap(), points));
        }
        let about = format!(
            "case {case}: kind {kind}, {speed} m/s, dt {dt}, e {restitution}, mu {friction}, bullet \
             {bullet}, mesh {as_mesh}"
        );
        let energy = |world: &World| world.kinetic_energy() + world.potential_energy();
        let mut least = energy(&world);
        for step in 0..(0.4 / dt) as usize {
            let report = world.step(dt).unwrap();
            impacts += report.ordered_impacts;
            struck += usize::from(report.contact_points > 0);
            assert!(
                report.ordered_work < 30_000,
                "{about}, step {step}: {} looks",
                report.ordered_work
            );
            let (mut fall, mut size) = (0.0, 0.0);
            for (id, points) in &bodies {
                let body = world.body(*id).unwrap();
                let (mass, v) = (body.mass_properties().mass, body.velocity().linear.length());
                // What a body has not fallen whose way was cut.
                fall += mass * gravity * v * dt;
                size += 0.5 * mass * v * v;
                for p in points {
                    let height = over(&world, ground, body.pose().transform_point(*p));
                    assert!(
                        height.is_none_or(|h| h > 0.0),
                        "{about}, step {step}: {height:?} m over the ground"
                    );
                }
            }
            let gain = energy(&world) - least;
            assert!(
                gain <= fall + 1e-9 * (size + energy(&world).abs()),
                "{about}, step {step}: {gain} J more"
            );
            least = least.min(energy(&world));
        }
    }
    assert!(
        impacts > 200 && struck > 1000,
        "{impacts} impacts, {struck} steps"
    );
}
