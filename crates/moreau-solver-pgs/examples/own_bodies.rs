//! Your own bodies and your own contacts into the solver: a crate slides down a 30 degree ramp.
//!
//! Everything else (shapes, poses, time) stays yours: give the free velocities of a step and the
//! contact points, take the velocities after.

use moreau_constraint::{BodyInput, ContactInput, ContactProblem};
use moreau_math::{SymMat3, Vec3, Velocity, vec3};
use moreau_solver::ContactSolver;
use moreau_solver_pgs::PgsSolver;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (dt, mass, friction) = (1.0 / 60.0, 20.0, 0.3);
    let (sin, cos) = (0.5, 0.75_f64.sqrt());
    let gravity = vec3(0.0, -9.81, 0.0);
    // The ramp falls towards +x; the crate stands flat on it.
    let (normal, downhill) = (vec3(sin, cos, 0.0), vec3(cos, -sin, 0.0));

    let mut problem = ContactProblem::new(dt)?;
    let mut impulses = problem.cold_start();
    let mut velocities = Vec::new();
    let mut solver = PgsSolver::default();
    let mut velocity = Velocity::ZERO;
    for _ in 0..60 {
        problem.clear();
        let ramp = problem.add_body(BodyInput::fixed())?;
        let load = problem.add_body(BodyInput {
            inverse_mass: 1.0 / mass,
            inverse_inertia: SymMat3::from_diagonal(Vec3::splat(6.0 / mass)),
            velocity: Velocity::new(velocity.linear + gravity * dt, velocity.angular),
        })?;
        for (along, across) in [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)] {
            problem.add_contact(ContactInput {
                a: ramp,
                b: load,
                normal,
                lever_a: Vec3::ZERO,
                lever_b: downhill * along + Vec3::Z * across - normal * 0.5,
                separation: 0.0,
                friction,
                restitution: 0.0,
            })?;
        }
        // The impulses of the last step are the warm start of this one.
        let report = solver.solve(&problem, &mut impulses, &mut velocities)?;
        assert!(report.converged());
        velocity = velocities[load];
    }
    let speed = velocity.linear.dot(downhill);
    let exact = 9.81 * (sin - friction * cos);
    println!("after 1 s: {speed:.9} m/s, exactly {exact:.9}");
    assert!((speed - exact).abs() < 1e-6);
    Ok(())
}
