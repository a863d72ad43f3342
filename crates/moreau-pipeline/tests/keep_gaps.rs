//! Bodies in flight move with their mean velocity, those that a gap holds back with their end velocity: that must
//! not close the gaps between them.

use moreau_collision::Shape;
use moreau_math::{Vec3, Velocity, vec3};
use moreau_pipeline::{Body, BodyKind, World, WorldSettings};

/// Balls thrown upwards, one over the other, gap (m) apart; the uppermost would touch the ceiling with its mean
/// velocity over the step, and does not with its end velocity.
fn deepest(order: &[usize], gap: f64, dt: f64) -> f64 {
    let (radius, speed, gravity) = (0.1, 2.0, 9.81);
    let balls = order.len() - 1;
    let mut world = World::new(WorldSettings::default()).unwrap();
    let end = speed - gravity * dt;
    let ceiling = end * dt + 0.2 * gravity * dt * dt;
    for what in order {
        if *what == balls {
            let top = balls as f64 * (2.0 * radius + gap) - gap + ceiling;
            let ceiling = Body::fixed(Shape::half_space(-Vec3::Y));
            world.add(ceiling.at(vec3(0.0, top, 0.0))).unwrap();
        } else {
            let ball = Body::dynamic(Shape::sphere(radius)).mass(1.0);
            let height = radius + *what as f64 * (2.0 * radius + gap);
            let ball = world.add(ball.at(vec3(0.0, height, 0.0))).unwrap();
            let velocity = Velocity::new(vec3(0.0, speed, 0.0), Vec3::ZERO);
            world.set_velocity(ball, velocity).unwrap();
        }
    }
    let report = world.step(dt).unwrap();
    assert!(report.certified);
    for body in world.bodies().filter(|b| b.kind() == BodyKind::Dynamic) {
        let v = body.velocity().linear.y;
        assert!((v - end).abs() < 1e-9, "pushed: {v}");
    }
    // Where the step ended is what the next one begins with.
    world.step(1e-9).unwrap().max_penetration
}

#[test]
fn what_a_ceiling_holds_back_is_not_run_into() {
    for dt in [1.0 / 240.0, 0.01, 1.0 / 60.0] {
        for gap in [0.0, 1e-6, 1e-4] {
            for order in [
                [0, 1, 2],
                [0, 2, 1],
                [1, 0, 2],
                [1, 2, 0],
                [2, 0, 1],
                [2, 1, 0],
            ] {
                let depth = deepest(&order, gap, dt);
                assert!(depth < 1e-9, "dt {dt}, gap {gap}, {order:?}: {depth} m");
            }
            let column: Vec<usize> = (0..=40).collect();
            let reversed: Vec<usize> = column.iter().rev().copied().collect();
            // 16 and 41 have no common factor: who holds back whom is found in no order.
            let mixed: Vec<usize> = column.iter().map(|k| 16 * k % 41).collect();
            for order in [column, reversed, mixed] {
                let depth = deepest(&order, gap, dt);
                assert!(depth < 1e-9, "dt {dt}, gap {gap}, {order:?}: {depth} m");
            }
        }
    }
}
