//! Microseconds a solve of a tower of cubes on four corners each, cold and from the last step's contacts.

use moreau_constraint::{BodyInput, ContactInput, ContactProblem};
use moreau_math::{SymMat3, Vec3, Velocity, vec3};
use moreau_solver::ContactSolver;
use moreau_solver_active_set::ActiveSetSolver;
use std::time::Instant;

fn tower(count: usize) -> Result<ContactProblem, Box<dyn std::error::Error>> {
    let mut problem = ContactProblem::new(1.0 / 60.0)?;
    problem.add_body(BodyInput::fixed())?;
    for k in 0..count {
        problem.add_body(BodyInput {
            inverse_mass: 1.0,
            inverse_inertia: SymMat3::from_diagonal(Vec3::splat(6.0)),
            velocity: Velocity::new(vec3(0.0, 0.0, -9.81 / 60.0), Vec3::ZERO),
        })?;
        for (x, y) in [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)] {
            let top = if k == 0 { 0.0 } else { 0.5 };
            problem.add_contact(ContactInput {
                a: k,
                b: k + 1,
                normal: Vec3::Z,
                lever_a: vec3(x, y, top),
                lever_b: vec3(x, y, -0.5),
                separation: 0.0,
                friction: 0.0,
                restitution: 0.0,
            })?;
        }
    }
    Ok(problem)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "{:>8} {:>8} {:>10} {:>10}",
        "contacts", "pivots", "cold", "warm"
    );
    let mut solver = ActiveSetSolver::default();
    let mut velocities = Vec::new();
    for count in 1..=5 {
        let problem = tower(count)?;
        let mut solved = problem.cold_start();
        solver.solve(&problem, &mut solved, &mut velocities)?;
        let pivots = solver.pivots();
        // A little off, so that the answer is not taken as it is.
        solved.contacts.iter_mut().for_each(|l| l.x *= 1.01);
        let mut times = [0.0; 2];
        for (start, time) in [problem.cold_start(), solved].iter().zip(&mut times) {
            let mut impulses = start.clone();
            let clock = Instant::now();
            for _ in 0..1000 {
                impulses.contacts.clone_from(&start.contacts);
                solver.solve(&problem, &mut impulses, &mut velocities)?;
            }
            *time = clock.elapsed().as_secs_f64() * 1e3;
        }
        let contacts = problem.contacts().len();
        println!(
            "{contacts:>8} {pivots:>8} {:>8.1}us {:>8.1}us",
            times[0], times[1]
        );
    }
    Ok(())
}
