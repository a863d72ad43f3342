//! What bodies that collide keep.

use moreau_collision::{Shape, TriangleMesh};
use moreau_math::{Quat, Vec3, Velocity, vec3};
use moreau_pipeline::{Body, BodyId, PositionCorrection, World, WorldSettings};
use std::sync::Arc;

const DT: f64 = 1.0 / 60.0;

/// No gravity, and nothing that moves bodies but their velocities.
fn space() -> World {
    let mut world = World::new(WorldSettings {
        gravity: Vec3::ZERO,
        ..WorldSettings::default()
    })
    .unwrap();
    let settings = WorldSettings {
        position_correction: PositionCorrection {
            rate: 0.0,
            ..world.settings().position_correction
        },
        ..*world.settings()
    };
    world.set_settings(settings).unwrap();
    world
}

/// Linear and angular momentum about the origin, of bodies with their centres of mass at `centers`.
fn momenta(world: &World, ids: &[BodyId], centers: &[Vec3]) -> (Vec3, Vec3) {
    let mut sum = (Vec3::ZERO, Vec3::ZERO);
    for (id, center) in ids.iter().zip(centers) {
        let body = world.body(*id).unwrap();
        sum.0 += body.momentum();
        sum.1 += center.cross(body.momentum()) + body.angular_momentum();
    }
    sum
}

fn tetrahedron() -> Shape {
    let points = [
        vec3(0.0, 0.6, 0.0),
        vec3(0.5, -0.4, 0.3),
        vec3(-0.5, -0.4, 0.3),
        vec3(0.0, -0.4, -0.5),
    ];
    let triangles = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    Shape::Mesh(Arc::new(TriangleMesh::new(&points, &triangles).unwrap()))
}

/// Small numbers in [-1, 1] that look random.
fn noise(seed: u32) -> impl FnMut() -> f64 {
    let mut state = u64::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as f64 / f64::from(1_u32 << 30) - 1.0
    }
}

/// Bodies with faces, 1 to 3 cm into each other, that spin, rub and part.
#[test]
fn friction_keeps_angular_momentum_where_faceted_bodies_overlap() {
    let hull = |s: f64| {
        let corners = (0..8).map(|i| {
            let sign = |bit: u32| if i >> bit & 1 == 0 { -s } else { s };
            vec3(sign(0), 0.8 * sign(1), 0.6 * sign(2))
        });
        Shape::hull(&corners.collect::<Vec<_>>()).unwrap()
    };
    let compound = || {
        let part = |x: f64| {
            (
                Shape::cuboid(0.3, 0.5, 0.4),
                moreau_math::Pose::from_translation(vec3(x, 0.0, 0.0)),
            )
        };
        Shape::compound(&[part(-0.3), part(0.3)]).unwrap()
    };
    let shapes: [fn() -> Shape; 2] = [
        || Shape::cuboid(0.5, 0.5, 0.5),
        || Shape::cuboid(0.7, 0.4, 0.3),
    ];
    let (mut rubbed, mut worst) = (0, 0.0_f64);
    for seed in 0..40 {
        let mut next = noise(seed);
        let mut vector = |size: f64| vec3(next(), next(), next()) * size;
        let turn = Quat::from_scaled_axis(vector(3.0));
        let first = shapes[seed as usize % 2]();
        let second = match seed % 4 {
            0 => hull(0.5),
            1 => shapes[0](),
            2 => compound(),
            _ => tetrahedron(),
        };
        let mut world = space();
        let slop = world.settings().position_correction.slop;
        let place = vector(5.0);
        let a = Body::dynamic(first)
            .at(place)
            .rotated(turn)
            .density(900.0)
            .friction(0.4);
        let b = Body::dynamic(second).density(300.0).friction(0.9);
        let along = turn * Vec3::Y;
        let b = b
            .at(place + along * 0.85)
            .rotated(turn * Quat::from_scaled_axis(vector(0.05)));
        let ids = [
            world
                .add(a.moving(along * 2.0 + vector(2.0), vector(3.0)))
                .unwrap(),
            world
                .add(b.moving(-along * 2.0 + vector(2.0), vector(3.0)))
                .unwrap(),
        ];
        for _ in 0..6 {
            // Impulses act where the step starts.
            let centers = ids.map(|id| world.body(id).unwrap().center_of_mass());
            let before = momenta(&world, &ids, &centers);
            world.step(DT).unwrap();
            let after = momenta(&world, &ids, &centers);
            let pushing = world.contacts().iter().filter(|c| c.impulse.x > 0.0);
            if pushing.clone().any(|c| c.separation > slop) {
                // The points at which it acts are apart until it closes.
                continue;
            }
            rubbed += usize::from(pushing.clone().any(|c| {
                c.separation < -1e-3 && moreau_math::libm::hypot(c.impulse.y, c.impulse.z) > 1.0
            }));
            let size = 1000.0 * (1.0 + place.length());
            worst = worst.max((after.0 - before.0).length() / size);
            worst = worst.max((after.1 - before.1).length() / size);
        }
    }
    assert!(rubbed >= 30, "{rubbed}");
    assert!(worst < 1e-13, "{worst:e}");
}

/// Round bodies, up to a tenth of their size in each other or in a box, that spin, rub and part.
#[test]
fn friction_keeps_angular_momentum_where_round_bodies_overlap() {
    let shapes = [
        Shape::sphere(0.5),
        Shape::capsule(0.4, 0.3),
        Shape::cylinder(0.5, 0.4),
        Shape::cone(0.5, 0.5),
        Shape::cuboid(0.5, 0.4, 0.6),
    ];
    let (mut rubbed, mut worst) = (0, 0.0_f64);
    for seed in 0..200 {
        let mut next = noise(seed);
        let mut vector = |size: f64| vec3(next(), next(), next()) * size;
        let (first, second) = (&shapes[seed as usize % 4], &shapes[(seed / 4) as usize % 5]);
        let mut world = space();
        let place = vector(5.0);
        let along = vector(1.0).normalize();
        let (turn_a, turn_b) = (vector(3.0), vector(3.0));
        let body = |shape: &Shape, turn: Vec3| {
            let body = Body::dynamic(shape.clone()).density(600.0).friction(0.7);
            body.rotated(Quat::from_scaled_axis(turn))
        };
        let a = body(first, turn_a).at(place);
        let b = body(second, turn_b);
        // As far apart along a line as leaves them some centimetres deep.
        let pose = |at: Vec3, turn: Vec3| moreau_math::Pose::new(at, Quat::from_scaled_axis(turn));
        let far = pose(place + along * 4.0, turn_b);
        let gap =
            moreau_collision::cast_shape(second, &far, -along, first, &pose(place, turn_a), 4.0);
        let Some(gap) = gap.unwrap() else {
            continue;
        };
        let b = b.at(far.translation - along * (gap.time + 0.03));
        let ids = [
            world
                .add(a.moving(along * 2.0 + vector(2.0), vector(3.0)))
                .unwrap(),
            world
                .add(b.moving(-along * 2.0 + vector(2.0), vector(3.0)))
                .unwrap(),
        ];
        for _ in 0..4 {
            // Impulses act where the step starts.
            let centers = ids.map(|id| world.body(id).unwrap().center_of_mass());
            let before = momenta(&world, &ids, &centers);
            world.step(DT).unwrap();
            let after = momenta(&world, &ids, &centers);
            let pushing = world.contacts().iter().filter(|c| c.impulse.x > 0.0);
            if pushing.clone().any(|c| c.separation > 0.0) {
                // The points at which it acts are apart until it closes.
                continue;
            }
            rubbed += usize::from(pushing.clone().any(|c| {
                c.separation < -1e-3 && moreau_math::libm::hypot(c.impulse.y, c.impulse.z) > 1.0
            }));
            let size = 1000.0 * (1.0 + place.length());
            worst = worst.max((after.0 - before.0).length() / size);
            worst = worst.max((after.1 - before.1).length() / size);
        }
    }
    assert!(rubbed >= 100, "{rubbed}");
    assert!(worst < 1e-13, "{worst:e}");
}

/// Two slabs that stick to each other, deep in one another, turn as one.
#[test]
fn bodies_that_stick_turn_as_one_however_deep_they_overlap() {
    for overlap in [1e-4, 1e-3, 1e-2] {
        let mut world = space();
        let spin = vec3(4.0, 0.0, 0.0);
        // The lower is much heavier, so that both turn about its centre and the upper is thrown off; a push holds
        // it.
        let lower = Body::dynamic(Shape::cuboid(2.0, 2.0, 2.0))
            .density(1e6)
            .moving(Vec3::ZERO, spin);
        let height = 2.1 - overlap;
        let upper = Body::dynamic(Shape::cuboid(0.5, 0.1, 0.5)).at(vec3(0.0, height, 0.0));
        let upper = upper
            .moving(spin.cross(vec3(0.0, height, 0.0)), spin)
            .friction(0.5);
        world.add(lower.friction(0.5)).unwrap();
        let upper = world.add(upper).unwrap();
        // Much more than the centripetal force.
        let mass = world.body(upper).unwrap().mass_properties().mass;
        let before = world.body(upper).unwrap().velocity();
        let push = vec3(0.0, -200.0 * height * mass * DT, 0.0);
        let pushed = Velocity::new(before.linear + push / mass, before.angular);
        world.set_velocity(upper, pushed).unwrap();
        world.step(DT).unwrap();
        let after = world.body(upper).unwrap().velocity();
        let contacts = world.contacts();
        assert_eq!(contacts.len(), 4);
        assert!(contacts.iter().all(|c| c.impulse.x > 0.0));
        // All of the push went into the heavy slab: what it moves by is the ratio of the masses.
        let slip =
            (after.linear - before.linear).length() + (after.angular - before.angular).length();
        assert!(slip < 1e-3, "{overlap}: {slip:e}");
        let force = contacts
            .iter()
            .fold(Vec3::ZERO, |sum, c| sum + c.world_impulse());
        assert!(
            moreau_math::libm::hypot(force.x, force.z) < 1e-3 * force.y,
            "{overlap}: {force:?}"
        );
    }
}
