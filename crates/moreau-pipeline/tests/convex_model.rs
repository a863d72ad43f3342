//! What a world does under the associated (convex) model, which is not Coulomb's law: sliding bodies
//! hover.

use moreau_collision::Shape;
use moreau_math::{Vec3, vec3};
use moreau_pipeline::{Body, World, WorldSettings};
use moreau_solver_newton::ConvexSolver;

const G: f64 = 9.81;

/// The gap (m) and speed (m/s) of a ball that does not turn, pushed as hard as friction holds it back,
/// after two seconds.
fn sliding(convex: bool, friction: f64, speed: f64, dt: f64) -> (f64, f64) {
    let mut world = World::new(WorldSettings::default()).unwrap();
    if convex {
        world.set_solver(Box::new(ConvexSolver::default()));
    }
    let floor = Body::fixed(Shape::half_space(Vec3::Y)).friction(friction);
    world.add(floor).unwrap();
    let ball = Body::dynamic(Shape::sphere(0.5))
        .mass(2.0)
        .friction(friction)
        .at(vec3(0.0, 0.5, 0.0))
        .moving(vec3(speed, 0.0, 0.0), Vec3::ZERO)
        .pushed(vec3(2.0 * G * friction, 0.0, 0.0), Vec3::ZERO)
        .without_rotation();
    let ball = world.add(ball).unwrap();
    for _ in 0..(2.0 / dt).round() as u32 {
        world.step(dt).unwrap();
    }
    let body = world.body(ball).unwrap();
    (body.position().y - 0.5, body.velocity().linear.x)
}

#[test]
fn a_sliding_body_hovers_at_a_gap_of_step_times_friction_times_speed() {
    // s_n = u_n + gap/h = mu |u_t|, and u_n = 0 in steady sliding.
    for (friction, speed, dt) in [(0.2, 1.0, 1.0 / 60.0), (0.5, 2.0, 1.0 / 240.0)] {
        let (gap, v) = sliding(true, friction, speed, dt);
        assert!(v > 0.8 * speed, "{v}");
        let want = dt * friction * v;
        assert!((gap - want).abs() < 1e-9, "{gap} is not {want}");
        // Under Coulomb's law it stays on the ground.
        let (gap, v) = sliding(false, friction, speed, dt);
        assert!(gap.abs() < 1e-9 && (v - speed).abs() < 1e-6, "{gap} {v}");
    }
}
