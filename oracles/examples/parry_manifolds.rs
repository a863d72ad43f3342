//! Another library's manifolds into one of the solvers here: ten boxes in a stack, for five seconds.
//!
//! Bodies, time and poses are the example's own, contacts Parry's, impulses those of
//! [`NewtonSolver`]; the certificate of the worst step says how right they are.
//! `cargo run -p moreau-oracles --example parry_manifolds` prints it.

use moreau_constraint::{BodyInput, ContactInput, ContactProblem};
use moreau_math::{SymMat3, Vec3, Velocity, integrate_rotation, vec3};
use moreau_solver::{Certificate, ContactSolver, certify};
use moreau_solver_newton::NewtonSolver;
use parry3d_f64::math as parry;
use parry3d_f64::query::{ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher};
use parry3d_f64::shape::Cuboid;

const COUNT: usize = 10;
const STEPS: usize = 300;
const DT: f64 = 1.0 / 60.0;
const MASS: f64 = 5.0;
const HALF: f64 = 0.5;
const PREDICTION: f64 = 0.01;

/// A box; body 0 is the ground.
struct Body {
    shape: Cuboid,
    pose: moreau_math::Pose,
    velocity: Velocity,
    movable: bool,
}

fn vector(v: Vec3) -> parry::Vector {
    parry::Vector::new(v.x, v.y, v.z)
}

fn back(v: parry::Vector) -> Vec3 {
    vec3(v.x, v.y, v.z)
}

fn pose(p: &moreau_math::Pose) -> parry::Pose {
    let q = p.rotation;
    let rotation = parry::Rotation::from_xyzw(q.x, q.y, q.z, q.w);
    parry::Pose::from_parts(vector(p.translation), rotation)
}

/// The ground and a stack on it.
fn bodies() -> Vec<Body> {
    let body = |half: Vec3, y: f64, movable: bool| Body {
        shape: Cuboid::new(vector(half)),
        pose: moreau_math::Pose::from_translation(Vec3::Y * y),
        velocity: Velocity::ZERO,
        movable,
    };
    let mut bodies = vec![body(vec3(5.0, 1.0, 5.0), -1.0, false)];
    bodies.extend((0..COUNT).map(|i| body(Vec3::splat(HALF), HALF * (1 + 2 * i) as f64, true)));
    bodies
}

/// Bodies and contacts of a step.
fn fill(problem: &mut ContactProblem, bodies: &[Body]) -> Result<(), Box<dyn std::error::Error>> {
    problem.clear();
    for body in bodies {
        problem.add_body(if body.movable {
            let free = body.velocity.linear - Vec3::Y * 9.81 * DT;
            BodyInput {
                inverse_mass: 1.0 / MASS,
                // m a²/6 of a cube, about every axis.
                inverse_inertia: SymMat3::from_diagonal(Vec3::splat(1.5 / (MASS * HALF * HALF))),
                velocity: Velocity::new(free, body.velocity.angular),
            }
        } else {
            BodyInput::fixed()
        })?;
    }
    for a in 0..bodies.len() - 1 {
        let b = a + 1;
        let (place_a, place_b) = (pose(&bodies[a].pose), pose(&bodies[b].pose));
        let mut manifolds: Vec<ContactManifold<(), ()>> = Vec::new();
        DefaultQueryDispatcher.contact_manifolds(
            &place_a.inv_mul(&place_b),
            &bodies[a].shape,
            &bodies[b].shape,
            PREDICTION,
            &mut manifolds,
            &mut None,
        )?;
        for manifold in &manifolds {
            for point in &manifold.points {
                problem.add_contact(ContactInput {
                    a,
                    b,
                    normal: back(place_a.rotation * manifold.local_n1).normalize(),
                    lever_a: back(place_a.rotation * point.local_p1),
                    lever_b: back(place_b.rotation * point.local_p2),
                    separation: point.dist,
                    friction: 0.5,
                    restitution: 0.0,
                })?;
            }
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut bodies = bodies();
    let start: Vec<Vec3> = bodies.iter().map(|b| b.pose.translation).collect();
    let mut problem = ContactProblem::new(DT)?;
    let mut impulses = problem.cold_start();
    let mut velocities = Vec::new();
    let mut solver = NewtonSolver::default();
    let mut worst: Option<Certificate> = None;
    for _ in 0..STEPS {
        fill(&mut problem, &bodies)?;
        let report = solver.solve(&problem, &mut impulses, &mut velocities)?;
        assert!(report.converged(), "{report:?}");
        let certificate = certify(&problem, &impulses)?;
        if worst
            .as_ref()
            .is_none_or(|w| certificate.natural_map > w.natural_map)
        {
            worst = Some(certificate);
        }
        for (body, v) in bodies.iter_mut().zip(&velocities) {
            body.velocity = *v;
            body.pose.translation += v.linear * DT;
            body.pose.rotation = integrate_rotation(body.pose.rotation, v.angular, DT);
        }
    }
    let moved = bodies.iter().zip(&start);
    let drift = moved.map(|(body, at)| (body.pose.translation - *at).length());
    let drift = drift.fold(0.0, f64::max);
    println!("{COUNT} boxes, {STEPS} steps: drift {drift:.1e} m");
    println!("worst step: {:#?}", worst.ok_or("no step")?);
    assert!(drift < 1e-6, "{drift}");
    Ok(())
}
