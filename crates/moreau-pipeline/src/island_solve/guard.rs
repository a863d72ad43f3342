//! What bounces in an island, and what energy its impulses may give it.

use super::{Island, IslandResult, StepInput, Worker};
use crate::WorldError;
use crate::contact::Contact;
use crate::energy::{ROUNDING, adds_energy, blend, energy_input, quadratic_root, take_part};
use crate::ways;
use moreau_solver::certify;

/// Whether a contact bounces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bounce {
    No,
    /// It would, but only the forces of this step bring it together: it bounces if nothing else holds its bodies
    /// apart, which the solve without any such bounce tells; then with this b_n, m/s.
    Perhaps(f64),
    Yes,
}

/// b_n (m/s) of a contact, of one that bounces perhaps as if it did not, and whether it does. `free` is its normal
/// velocity after forces, m/s.
pub(crate) fn normal_bias(input: &StepInput<'_>, p: &Contact, free: f64) -> (f64, Bounce) {
    let threshold = input.state.settings.bounce_threshold;
    match p.rebound(free, input.dt, threshold) {
        Some(end) if p.separation > 0.0 && p.approach_velocity >= -threshold => {
            (open_bias(input, p, free), Bounce::Perhaps(-end.speed))
        }
        Some(end) => (-end.speed, Bounce::Yes),
        None => (open_bias(input, p, free), Bounce::No),
    }
}

/// b_n of a contact that does not bounce.
fn open_bias(input: &StepInput<'_>, p: &Contact, free: f64) -> f64 {
    if p.separation <= 0.0 {
        return 0.0;
    }
    let closing = p.separation / input.dt;
    // In free flight the mean velocity moves the bodies: a gap that it leaves open must not brake
    // them, though the end velocity alone would close it.
    if p.separation + 0.5 * input.dt * (p.approach_velocity + free) >= 0.0 {
        closing.max(-free)
    } else {
        closing
    }
}

impl Worker {
    /// Asks for the bounce of those that bounce perhaps, and push without; returns whether there are any.
    pub(super) fn let_bounce(
        &mut self,
        input: &StepInput<'_>,
        island: &Island<'_>,
    ) -> Result<bool, WorldError> {
        let mut any = false;
        for (i, index) in island.contacts.iter().enumerate() {
            if self.impulses.contacts[i].x <= 0.0 {
                continue;
            }
            let p = &input.points[*index as usize];
            let contact = &self.problem.contacts()[i];
            let (free, mut bias) = (self.problem.free_velocity(contact).x, contact.bias);
            if let (_, Bounce::Perhaps(asked)) = normal_bias(input, p, free) {
                bias.x = asked;
                self.problem.set_bias(i, bias)?;
                any = true;
            }
        }
        Ok(any)
    }

    /// An unfinished answer can hold energy that no contact gives; then the part of it counts that adds none.
    pub(super) fn guard_unfinished(&mut self, out: &mut IslandResult) -> Result<(), WorldError> {
        if !adds_energy(
            &self.problem,
            &self.impulses,
            &out.velocities,
            self.together,
        ) {
            return Ok(());
        }
        take_part(&self.problem, &mut self.impulses, &mut out.velocities);
        out.guarded = true;
        let is = certify(&self.problem, &self.impulses)?;
        if let Some(report) = &mut out.report {
            (report.residual, report.worst_contact) = (is.natural_map, is.worst_contact);
        }
        Ok(())
    }

    /// Newton's law at several contacts can create energy. With the ways x+ - x of the bodies (see [`crate::ways`])
    /// they have, after a step of length h,
    ///
    /// ```text
    /// E = 1/2 sum l·(u_free + u+) + sum f·(h (v + v_free)/2 - (x+ - x))
    /// ```
    ///
    /// more than before, with relative velocities u, so that what a moving kinematic body does is not counted. Where
    /// E > 0 the island is solved without bounce to (v0, l0, x0), of energy E0, and v = v0 + theta (v1 - v0), l and x
    /// likewise, with the theta in [0, 1] for which E = (1 - e²) min(E0, 0), e the largest restitution. A single
    /// impact loses at least that; with E = 0 bodies would hover on ever new bounces. This keeps the cone,
    /// non-penetration and momentum, for all of them are convex. An unfinished l0 can hold energy by its velocities
    /// alone, and bodies that still approach; then the part of it counts for which it holds none.
    pub(super) fn guard_energy(
        &mut self,
        input: &StepInput<'_>,
        island: &Island<'_>,
        out: &mut IslandResult,
    ) -> Result<(), WorldError> {
        let (energy, scale) = energy_input(&self.problem, &self.impulses, &out.velocities);
        let solved = island.solved(input, true, &self.impulses, &out.velocities);
        let (risen, more) = solved.risen(&out.ways);
        if energy + risen <= ROUNDING * (scale + more) {
            return Ok(());
        }
        for (i, index) in island.contacts.iter().enumerate() {
            let p = &input.points[*index as usize];
            let mut bias = self.problem.contacts()[i].bias;
            let free = self.problem.free_velocity(&self.problem.contacts()[i]).x;
            bias.x = open_bias(input, p, free);
            self.problem.set_bias(i, bias)?;
        }
        self.close_gaps(input, island)?;
        self.soft.clone_from(&self.impulses);
        let (_, report) = self.solver.solve(
            self.chosen,
            &self.problem,
            &mut self.soft,
            &mut self.soft_velocities,
            f64::INFINITY,
        )?;
        // E(theta) is a quadratic through three of its values.
        let solved = island.solved(input, false, &self.soft, &self.soft_velocities);
        self.ways.find(solved, &mut self.soft_ways);
        let (at_zero, _) = energy_input(&self.problem, &self.soft, &self.soft_velocities);
        let (risen_zero, _) = solved.risen(&self.soft_ways);
        if at_zero > ROUNDING * scale {
            take_part(&self.problem, &mut self.soft, &mut self.soft_velocities);
            self.impulses.clone_from(&self.soft);
            out.ways.clone_from(&self.soft_ways);
        } else {
            let middle = blend(&self.soft, &self.impulses, 0.5);
            let velocities = self.problem.velocities(&middle);
            let (at_half, _) = energy_input(&self.problem, &middle, &velocities);
            let zero = at_zero + risen_zero;
            let e = |i: &u32| input.points[*i as usize].restitution;
            let e = island.contacts.iter().map(e).fold(0.0, f64::max);
            let goal = (1.0 - e * e) * zero.min(0.0);
            // The work of the forces is linear.
            let theta = quadratic_root(
                zero - goal,
                at_half + 0.5 * (risen_zero + risen) - goal,
                energy + risen - goal,
            );
            self.impulses = blend(&self.soft, &self.impulses, theta);
            ways::blend(&self.soft_ways, &mut out.ways, theta);
        }
        self.problem
            .velocities_into(&self.impulses, &mut out.velocities);
        out.guarded = true;
        if let Some(first) = &mut out.report {
            let worse = report.residual > first.residual || !report.converged();
            let (sweeps, factorizations) = (first.sweeps, first.factorizations);
            if worse && first.converged() {
                *first = report;
            }
            first.sweeps = sweeps + report.sweeps;
            first.factorizations = factorizations + report.factorizations;
        }
        Ok(())
    }
}
