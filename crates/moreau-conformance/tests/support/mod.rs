//! A small sound solver, block Gauss-Seidel, that can be given bad habits.
#![allow(unreachable_pub)]

use moreau_constraint::{ContactProblem, Impulses, project_cone, solve_single_contact};
use moreau_math::{Mat3, Vec3, Velocity};
use moreau_solver::{ContactSolver, SolveError, SolveReport, StopReason, certify};

/// The law that is solved at each contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// Coulomb's.
    Exact,
    /// No impulses at all.
    Idle,
    /// Normal impulses only.
    Frictionless,
    /// |l_t1| <= mu l_n and |l_t2| <= mu l_n.
    Pyramid,
    /// The associated model: the projection of l - rho u on the cone.
    Associated,
}

/// What is wrong beside the law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Habit {
    /// Nothing.
    None,
    /// Says that it converged, with residual zero.
    Lies,
    /// Stops after one sweep, says that it converged, and gives the true residual.
    Hopes,
    /// Reports half of the residual.
    Flatters,
    /// Names the first contact as the worst.
    NamesAny,
    /// Adds a rounding error that depends on how often it was called.
    Drifts,
    /// Its fork does fewer sweeps.
    ForksPoorly,
    /// Throws the warm start away.
    Forgets,
    /// Takes the warm start as it is.
    Trusts,
    /// Panics on a warm start that is too short.
    Indexes,
    /// Returns the free velocities.
    LeavesVelocities,
    /// Turns the ground.
    MovesGround,
    /// Appends to the velocities' buffer.
    Appends,
    /// Does not look at rows.
    SkipsRows,
    /// Says that it takes no rows.
    RefusesRows,
    /// Does not look at the bias.
    SkipsBias,
    /// Ends with its start made worse.
    Worsens,
    /// Says that nothing solves a problem that it does not solve.
    GivesUp,
    /// Allows friction of the normal impulse in units of its own: wrong for other masses.
    HasUnits,
}

pub struct Probe {
    pub law: Law,
    pub habit: Habit,
    calls: u64,
    budget: u32,
}

pub fn probe(law: Law, habit: Habit) -> Probe {
    Probe {
        law,
        habit,
        calls: 0,
        budget: 400,
    }
}

const TOLERANCE: f64 = 1e-9;

impl ContactSolver for Probe {
    fn name(&self) -> &'static str {
        "probe"
    }

    fn solve(
        &mut self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        velocities: &mut Vec<Velocity>,
    ) -> Result<SolveReport, SolveError> {
        self.calls += 1;
        if self.habit == Habit::RefusesRows && !problem.rows().is_empty() {
            return Err(SolveError::Unsupported {
                solver: "probe",
                what: "rows",
            });
        }
        if self.habit == Habit::Indexes {
            for i in 0..problem.contacts().len() {
                impulses.contacts[i].x += 0.0;
            }
        }
        match self.habit {
            Habit::Forgets => *impulses = problem.cold_start(),
            Habit::Trusts => {}
            _ => impulses.sanitize(problem.contacts().len(), problem.rows().len()),
        }
        let (sweeps, own) = self.iterate(problem, impulses);
        if self.habit == Habit::Drifts
            && let Some(l) = impulses.contacts.first_mut()
        {
            l.x *= 1.0 + self.calls as f64 * f64::EPSILON;
        }
        if self.habit == Habit::Worsens {
            impulses.contacts.iter_mut().for_each(|l| l.x += 1.0);
        }
        if self.habit == Habit::Appends {
            velocities.extend(problem.velocities(impulses));
        } else {
            problem.velocities_into(impulses, velocities);
        }
        if let Some(body) = velocities.iter().position(|v| !v.is_finite()) {
            return Err(SolveError::Overflow { body });
        }
        match self.habit {
            Habit::LeavesVelocities => {
                for (v, body) in velocities.iter_mut().zip(problem.bodies()) {
                    *v = body.velocity;
                }
            }
            Habit::MovesGround => velocities
                .iter_mut()
                .take(1)
                .for_each(|v| v.angular.z += 1e-3),
            _ => {}
        }
        Ok(self.report(problem, impulses, sweeps, own))
    }

    fn fork(&self) -> Box<dyn ContactSolver> {
        let fewer = self.habit == Habit::ForksPoorly;
        Box::new(Probe {
            calls: 0,
            budget: if fewer { 3 } else { self.budget },
            ..*self
        })
    }
}

impl Probe {
    /// Sweeps until the certificate, or where the law is a wrong one the change in a sweep, is small;
    /// keeps the best or, where the law is wrong, the last; says how many sweeps and what the change
    /// was.
    fn iterate(&self, problem: &ContactProblem, l: &mut Impulses) -> (u32, f64) {
        let exact = self.law == Law::Exact;
        let hopes = self.habit == Habit::Hopes;
        let budget = if hopes { 1 } else { self.budget };
        let mut v = problem.velocities(l);
        let mut change = f64::INFINITY;
        let (mut best, mut least) = (l.clone(), f64::INFINITY);
        for sweep in 0..=budget {
            let right = certify(problem, l).map_or(f64::NAN, |c| c.natural_map);
            if right < least {
                (best, least) = (l.clone(), right);
            }
            if exact && right <= TOLERANCE || !exact && change <= TOLERANCE {
                return (sweep, change);
            }
            if sweep < budget {
                change = self.sweep(problem, l, &mut v);
            }
            if sweep % 16 == 0 {
                v = problem.velocities(l);
            }
        }
        if exact && !hopes {
            *l = best;
        }
        (budget, change)
    }

    /// The largest change of an impulse, as a velocity.
    fn sweep(&self, problem: &ContactProblem, l: &mut Impulses, v: &mut [Velocity]) -> f64 {
        let mut change = 0.0_f64;
        for (r, l) in problem.rows().iter().zip(&mut l.rows) {
            let d = problem.row_diagonal(r);
            if d > 0.0 && self.habit != Habit::SkipsRows {
                let w = r.velocity(&v[r.a], &v[r.b]) + r.bias + r.regularization * *l;
                let next = (*l - w / d).clamp(r.lower, r.upper);
                problem.apply_row(r, next - *l, v);
                change = change.max((next - *l).abs() * d);
                *l = next;
            }
        }
        for (c, l) in problem.contacts().iter().zip(&mut l.contacts) {
            let w = problem.delassus_block(c);
            let mut s = problem.contact_velocity(c, v);
            if self.habit != Habit::SkipsBias {
                s += c.bias;
            }
            let next = self.local(&w, s - w * *l, c.friction, *l);
            problem.apply_contact(c, next - *l, v);
            change = change.max((w * (next - *l)).length());
            *l = next;
        }
        change
    }

    fn local(&self, w: &Mat3, q: Vec3, mu: f64, l: Vec3) -> Vec3 {
        let (nn, t1, t2) = (w.x_axis.x, w.y_axis.y, w.z_axis.z);
        match self.law {
            Law::Exact if self.habit == Habit::HasUnits => {
                let normal = solve_single_contact(w, q, 0.0).impulse.x;
                let friction = if normal > 0.0 {
                    mu * (1.0 - 0.01 / (1.0 + normal))
                } else {
                    mu
                };
                solve_single_contact(w, q, friction).impulse
            }
            Law::Exact => {
                let l = solve_single_contact(w, q, mu).impulse;
                // Where nothing moves along the tangents friction does not matter.
                if l.is_finite() {
                    l
                } else {
                    solve_single_contact(w, q, 0.0).impulse
                }
            }
            Law::Idle => Vec3::ZERO,
            Law::Frictionless => solve_single_contact(w, q, 0.0).impulse,
            Law::Pyramid => {
                let mut l = l;
                l.x = (l.x - (*w * l + q).x / nn).max(0.0);
                let bound = mu * l.x;
                l.y = (l.y - (*w * l + q).y / t1).clamp(-bound, bound);
                l.z = (l.z - (*w * l + q).z / t2).clamp(-bound, bound);
                if l.is_finite() { l } else { Vec3::ZERO }
            }
            Law::Associated => {
                let rho = 1.0 / (nn + t1 + t2);
                let project = |l: Vec3| project_cone(l - (*w * l + q) * rho, mu);
                let l = (0..50).fold(l, |l, _| project(l));
                if l.is_finite() { l } else { Vec3::ZERO }
            }
        }
    }

    fn report(&self, problem: &ContactProblem, l: &Impulses, sweeps: u32, own: f64) -> SolveReport {
        let right = certify(problem, l);
        let (residual, worst_contact) =
            right.map_or((f64::NAN, None), |c| (c.natural_map, c.worst_contact));
        let stop = if residual <= TOLERANCE {
            StopReason::Converged
        } else {
            StopReason::Budget
        };
        let mut report = SolveReport {
            sweeps,
            factorizations: 0,
            stop,
            residual,
            worst_contact,
        };
        match self.habit {
            Habit::Lies => (report.stop, report.residual) = (StopReason::Converged, 0.0),
            Habit::Hopes => report.stop = StopReason::Converged,
            Habit::Flatters => report.residual *= 0.5,
            Habit::NamesAny => report.worst_contact = Some(0),
            Habit::GivesUp if residual > TOLERANCE => report.stop = StopReason::NoSolution,
            // By its own law it is done.
            Habit::None
                if self.law != Law::Exact && stop != StopReason::Converged && own <= TOLERANCE =>
            {
                (report.stop, report.residual) = (StopReason::Converged, own);
            }
            _ => {}
        }
        report
    }
}
