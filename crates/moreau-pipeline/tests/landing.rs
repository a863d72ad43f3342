//! How deep bodies come into each other that land and turn, where contacts of the start of a step know nothing of the
//! corners that come next.

#[path = "support/random.rs"]
mod random;

use moreau_collision::Shape;
use moreau_math::{Vec3, vec3};
use moreau_pipeline::{Body, BodyKind, World, WorldSettings};
use random::Random;

/// Size of the bodies, m.
const SIZE: f64 = 0.05;

fn shapes(random: &mut Random) -> [Shape; 6] {
    let e = SIZE;
    let mut side = || e * random.range(0.3, 0.6);
    let cuboid = Shape::cuboid(side(), side(), side());
    let corners: Vec<Vec3> = (0..12)
        .map(|_| random.vec(1.0).normalize() * (0.8 * e))
        .collect();
    [
        cuboid,
        Shape::hull(&corners).unwrap(),
        Shape::cylinder(0.4 * e, 0.6 * e),
        Shape::cone(0.6 * e, 0.6 * e),
        Shape::capsule(0.4 * e, 0.4 * e),
        Shape::cuboid(e, 0.1 * e, 0.2 * e),
    ]
}

/// The deepest overlap, in sizes, of `steps` steps. Energy grows by no more than it takes to lift overlaps out, and to go
/// straight where the way is an arc: m g R theta²/2.
fn deepest(world: &mut World, dt: f64, steps: usize, again: &mut usize) -> f64 {
    let (mut deepest, mut before) = (0.0f64, f64::INFINITY);
    let gravity = world.settings().gravity.length();
    for _ in 0..steps {
        let report = world.step(dt).unwrap();
        deepest = deepest.max(report.max_penetration / SIZE);
        *again += report.islands_again;
        let energy = report.kinetic_energy + report.potential_energy;
        let dynamic = world.bodies().filter(|b| b.kind() == BodyKind::Dynamic);
        let lifted = dynamic.map(|body| {
            let turn = body.velocity().angular.length() * dt;
            let arc = 0.5 * body.shape().bounding_radius() * turn * turn;
            body.mass_properties().mass * gravity * (0.2 * report.max_penetration + arc)
        });
        let most = before + lifted.sum::<f64>() + 1e-9;
        assert!(energy <= most, "{before} to {energy} J, {most} allowed");
        before = energy;
    }
    deepest
}

/// Ground, or what comes from the other side where there is none.
#[test]
fn what_lands_on_a_corner_does_not_sink_in_with_the_next() {
    let (mut again, mut random) = (0, Random(11));
    let cases = [
        (1.0 / 60.0, 0.0, 0.06),
        (1.0 / 60.0, 40.0, 0.07),
        (1.0 / 240.0, 0.0, 0.04),
        (1.0 / 240.0, 67.0, 0.06),
    ];
    for (dt, spin, most) in cases {
        for seed in 0..30 {
            for (k, shape) in shapes(&mut random).into_iter().enumerate() {
                let mut world = World::new(WorldSettings::default()).unwrap();
                let ground = if seed % 2 == 0 {
                    Body::fixed(Shape::half_space(Vec3::Y))
                } else {
                    Body::fixed(Shape::cuboid(1.0, 0.5, 1.0)).at(Vec3::NEG_Y * 0.5)
                };
                world.add(ground.friction(0.5)).unwrap();
                let body = Body::dynamic(shape)
                    .friction(0.5)
                    .rotated(random.rotation());
                let spin = random.vec(1.0).normalize() * spin;
                let body = body.at(Vec3::Y * 0.15).moving(vec3(0.3, -1.0, 0.2), spin);
                world.add(body).unwrap();
                let depth = deepest(&mut world, dt, (0.5 / dt) as usize, &mut again);
                assert!(depth <= most, "shape {k}, {spin} rad/s, {dt} s: {depth}");
            }
        }
    }
    assert!(again > 100, "{again}");
}

/// Of boxes 25 mm in size, tumbling at 67 rad/s, two came 4 mm into each other in one step.
#[test]
fn a_heap_of_tumbling_boxes_stays_a_heap() {
    let (mut again, mut random) = (0, Random(3));
    for (dt, spin, most) in [(1.0 / 60.0, 10.0, 0.05), (1.0 / 240.0, 67.0, 0.015)] {
        let mut mean = 0.0;
        for _ in 0..12 {
            let mut world = World::new(WorldSettings::default()).unwrap();
            let ground = Body::fixed(Shape::half_space(Vec3::Y));
            world.add(ground.friction(0.5)).unwrap();
            for i in 0..24 {
                let [shape, ..] = shapes(&mut random);
                let at = vec3(f64::from(i % 2), f64::from(i / 4), f64::from(i / 2 % 2));
                let at = vec3(0.1, 0.12, 0.1) * at + Vec3::Y * 0.1 + random.vec(0.01);
                let spin = random.vec(1.0).normalize() * spin;
                let body = Body::dynamic(shape).friction(0.5).at(at);
                let body = body.rotated(random.rotation());
                world.add(body.moving(random.vec(1.0), spin)).unwrap();
            }
            let depth = deepest(&mut world, dt, (0.6 / dt) as usize, &mut again);
            mean += depth / 12.0;
        }
        assert!(mean <= most, "{dt} s: {mean}");
    }
    assert!(again > 50, "{again}");
}

/// A world at rest is not looked at again.
#[test]
fn what_lies_still_is_solved_once() {
    let mut world = World::new(WorldSettings::default()).unwrap();
    world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
    for i in 0..10 {
        let body = Body::dynamic(Shape::cuboid(0.1, 0.1, 0.1));
        let at = Vec3::Y * (0.1 + 0.2 * f64::from(i));
        world.add(body.friction(0.5).at(at)).unwrap();
    }
    for _ in 0..60 {
        assert_eq!(world.step(1.0 / 60.0).unwrap().islands_again, 0);
    }
}
