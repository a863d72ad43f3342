//! A contact solver of one's own: block Jacobi with split masses.
//!
//! All contacts are solved at once from the same velocities. So that their answers add up, a body
//! with k contacts and rows is taken as k parts of a k-th of its mass each: W' is the Delassus block
//! with inverse masses times k. In a sweep each contact finds the impulse l with
//!
//! ```text
//! s = W' l + q,   q = s(v) - W' l_old,   s and l under Coulomb's law
//! ```
//!
//! At a fixed point l = l_old, so that s = s(v): the law holds for the bodies as they are. The order
//! of contacts does not matter, which is what one wants on many cores; convergence is slow.

use moreau_constraint::{BodyInput, ContactProblem, Impulses, solve_single_contact};
use moreau_math::Velocity;
use moreau_solver::{Certificate, ContactSolver, SolveError, SolveReport, StopReason};

/// See the crate's documentation.
#[derive(Clone, Copy, Debug)]
pub struct JacobiSolver {
    /// Budget of sweeps.
    pub max_sweeps: u32,
    /// The natural map (m/s) at which an answer counts as solved.
    pub tolerance: f64,
}

impl Default for JacobiSolver {
    fn default() -> Self {
        Self {
            max_sweeps: 5_000,
            tolerance: 1e-9,
        }
    }
}

impl ContactSolver for JacobiSolver {
    fn name(&self) -> &'static str {
        "jacobi"
    }

    fn solve(
        &mut self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        velocities: &mut Vec<Velocity>,
    ) -> Result<SolveReport, SolveError> {
        let parts = split(problem)?;
        impulses.sanitize(problem.contacts().len(), problem.rows().len());
        let (mut best, mut least) = (problem.cold_start(), f64::INFINITY);
        let mut sweeps = 0;
        loop {
            problem.velocities_into(impulses, velocities);
            let residual = Certificate::of(problem, impulses, velocities)?.natural_map;
            if residual < least {
                (least, best) = (residual, impulses.clone());
            }
            if !(residual > self.tolerance && residual.is_finite()) || sweeps == self.max_sweeps {
                break;
            }
            sweep(problem, &parts, impulses, velocities);
            sweeps += 1;
        }
        // The best iterate, and what the certificate says of it, is what is returned.
        *impulses = best;
        problem.velocities_into(impulses, velocities);
        if let Some(body) = velocities.iter().position(|v| !v.is_finite()) {
            return Err(SolveError::Overflow { body });
        }
        let certificate = Certificate::of(problem, impulses, velocities)?;
        let converged = certificate.natural_map <= self.tolerance;
        Ok(SolveReport {
            sweeps,
            factorizations: 0,
            stop: if converged {
                StopReason::Converged
            } else {
                StopReason::Budget
            },
            residual: certificate.natural_map,
            worst_contact: certificate.worst_contact,
        })
    }

    fn fork(&self) -> Box<dyn ContactSolver> {
        Box::new(*self)
    }
}

/// One impulse for each contact and row, all from the same velocities.
fn sweep(problem: &ContactProblem, parts: &ContactProblem, l: &mut Impulses, v: &[Velocity]) {
    for (c, l) in problem.contacts().iter().zip(&mut l.contacts) {
        let w = parts.delassus_block(c);
        let q = problem.contact_velocity(c, v) + c.bias - w * *l;
        let next = solve_single_contact(&w, q, c.friction).impulse;
        if next.is_finite() {
            *l = next;
        }
    }
    for (r, l) in problem.rows().iter().zip(&mut l.rows) {
        let w = r.velocity(&v[r.a], &v[r.b]) + r.bias + r.regularization * *l;
        let next = *l - w / parts.row_diagonal(r);
        if next.is_finite() {
            *l = next.clamp(r.lower, r.upper);
        }
    }
}

/// The bodies with inverse masses times the number of their contacts and rows.
fn split(problem: &ContactProblem) -> Result<ContactProblem, SolveError> {
    let mut counts = vec![0.0_f64; problem.bodies().len()];
    let contacts = problem.contacts().iter().map(|c| (c.a, c.b));
    for (a, b) in contacts.chain(problem.rows().iter().map(|r| (r.a, r.b))) {
        counts[a] += 1.0;
        counts[b] += 1.0;
    }
    let overflow = |body| move |_| SolveError::Overflow { body };
    let mut parts = ContactProblem::new(problem.dt()).map_err(overflow(0))?;
    for (i, (body, count)) in problem.bodies().iter().zip(counts).enumerate() {
        let part = BodyInput {
            inverse_mass: body.inverse_mass * count,
            inverse_inertia: body.inverse_inertia.scaled(count),
            velocity: body.velocity,
        };
        parts.add_body(part).map_err(overflow(i))?;
    }
    Ok(parts)
}
