//! Problems of which only W and q are known, solved exactly.
//!
//! Sweeps of exact single contacts, then the proximal point method:
//!
//! ```text
//! center = r;   r = answer of the problem with W + alpha I and q - alpha center   (proximal.rs)
//! ```
//!
//! until the natural map of the problem itself is within the tolerance. alpha shrinks where a step
//! succeeds and grows where it fails. Where W is singular the center may have a long way to go
//! along impulses that change almost nothing, at a residual that stays the same for many steps: a
//! failed step goes back to its center, and not to the best answer, which may lie far behind.
//!
//! A round that ends without an answer is followed by a longer one with other parameters: where the
//! law has traps, no start is best for all problems.

use crate::proximal::{Proximal, Step};
use crate::settings::NewtonSettings;
use moreau_constraint::{project_cone, solve_single_contact};
use moreau_math::{Mat3, Vec3};
use moreau_solver::{DelassusProblem, SolveReport, StopReason};

/// Parameters of a round.
struct Round {
    /// First alpha, in means of W's diagonal. Too small: steps fail; too big: each goes not far.
    alpha: f64,
    /// First delta of each proximal step.
    delta: f64,
    /// Whether it starts from zero impulses, not from the best ones.
    cold: bool,
}

/// The rounds, again and again.
const SCHEDULE: [Round; 3] = [
    Round {
        alpha: 1e-6,
        delta: 1e-5,
        cold: false,
    },
    Round {
        alpha: 1e-6,
        delta: 1e-8,
        cold: true,
    },
    Round {
        alpha: 1e-4,
        delta: 1e-4,
        cold: true,
    },
];
/// Factorisations of the first round; each round doubles them.
const FIRST_ROUND: u32 = 150;
const ROUNDS: usize = 8;
const ALPHA_LEAST: f64 = 1e-12;
const ALPHA_MOST: f64 = 1.0;
/// How many steps succeed before alpha goes below where it failed last.
const PATIENCE: u32 = 6;
/// Factorisations of one proximal step.
const INNER: u32 = 25;
/// How exact a proximal step has to be, as a part of the residual before it.
const INNER_TARGET: f64 = 0.1;
/// Sweeps before a cold round.
const COLD_SWEEPS: u32 = 30;

/// Memory of the method.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactSpace {
    proximal: Proximal,
    /// Symmetric parts of W's diagonal blocks.
    own: Vec<Mat3>,
    traces: Vec<f64>,
    /// Mean of W's diagonal, 1/kg.
    mean: f64,
    r: Vec<Vec3>,
    center: Vec<Vec3>,
    projected: Vec<Vec3>,
    best: Vec<Vec3>,
    best_residual: f64,
    sweeps: u32,
}

impl ContactSpace {
    fn load(&mut self, problem: &DelassusProblem) {
        self.own.clear();
        self.traces.clear();
        for i in 0..problem.contacts() {
            let w = problem.diagonal(i);
            self.own.push((*w + w.transpose()) * 0.5);
            self.traces.push(w.x_axis.x + w.y_axis.y + w.z_axis.z);
        }
        let sum = self.traces.iter().fold(0.0, |sum, x| sum + x);
        self.mean = sum / (3.0 * problem.contacts() as f64);
        if !(self.mean > 0.0) {
            self.mean = 1.0;
        }
        // A contact that its own impulse does not move takes part by its neighbours.
        for trace in &mut self.traces {
            if !(*trace > 0.0) {
                *trace = 3.0 * self.mean;
            }
        }
        self.proximal.analyse(problem);
    }

    /// Solves `problem` from the warm start `r`, which holds the answer after it.
    pub(crate) fn solve(
        &mut self,
        problem: &DelassusProblem,
        r: &mut Vec<Vec3>,
        settings: &NewtonSettings,
    ) -> SolveReport {
        r.resize(problem.contacts(), Vec3::ZERO);
        for r in r.iter_mut().filter(|r| !r.is_finite()) {
            *r = Vec3::ZERO;
        }
        let tolerance = settings.tolerance * velocity_scale(problem).min(1.0);
        let first = self.proximal.factorizations;
        self.sweeps = 0;
        // The warm start may be the answer already; then it is kept to the bit.
        self.best.clone_from(r);
        self.best_residual = problem.residual(r).0;
        if !self.best_residual.is_finite() {
            // A warm start that overflows is none.
            self.best.fill(Vec3::ZERO);
            self.best_residual = problem.residual(&self.best).0;
        }
        if self.best_residual > tolerance {
            self.load(problem);
            self.r.clone_from(&self.best);
            self.offer(problem);
            self.first_sweeps(problem, settings.first_sweeps, tolerance);
        }
        let stop = self.rounds(problem, tolerance, settings);
        r.clone_from(&self.best);
        let (residual, worst_contact) = problem.residual(r);
        SolveReport {
            sweeps: self.sweeps,
            factorizations: self.proximal.factorizations - first,
            stop,
            residual,
            worst_contact,
        }
    }

    fn rounds(
        &mut self,
        problem: &DelassusProblem,
        tolerance: f64,
        settings: &NewtonSettings,
    ) -> StopReason {
        let mut steps = FIRST_ROUND;
        let mut work_left = settings.max_work / self.proximal.multiply_adds().max(1);
        for round in 0..ROUNDS {
            let most = steps.min(u32::try_from(work_left).unwrap_or(u32::MAX));
            if self.best_residual <= tolerance || most == 0 {
                break;
            }
            let first = self.proximal.factorizations;
            self.round(problem, &SCHEDULE[round % SCHEDULE.len()], tolerance, most);
            work_left -= u64::from(self.proximal.factorizations - first);
            if self.best_residual > tolerance && self.best_residual <= rounding(problem, &self.best)
            {
                return StopReason::Stalled;
            }
            steps = steps.saturating_mul(2);
        }
        if self.best_residual <= tolerance {
            StopReason::Converged
        } else {
            StopReason::Budget
        }
    }

    /// Takes r, projected on the cones, where it is better than the best; its residual, m/s.
    fn offer(&mut self, problem: &DelassusProblem) -> f64 {
        self.projected.clear();
        let pairs = self.r.iter().zip(problem.friction());
        self.projected
            .extend(pairs.map(|(r, mu)| project_cone(*r, *mu)));
        let (residual, _) = problem.residual(&self.projected);
        if residual < self.best_residual {
            self.best_residual = residual;
            std::mem::swap(&mut self.best, &mut self.projected);
        }
        residual
    }

    fn first_sweeps(&mut self, problem: &DelassusProblem, count: u32, tolerance: f64) {
        let mut left = count;
        while left > 0 && self.best_residual > tolerance {
            let some = left.min(10);
            self.sweep(problem, some);
            left -= some;
            self.offer(problem);
        }
    }

    /// Gauss-Seidel sweeps with the exact answer of each contact, in alternating directions.
    fn sweep(&mut self, problem: &DelassusProblem, count: u32) {
        let contacts = problem.contacts();
        for k in 0..count {
            for i in 0..contacts {
                let i = if k % 2 == 1 { contacts - 1 - i } else { i };
                let q = problem.velocity(i, &self.r) - self.own[i] * self.r[i];
                let next = solve_single_contact(&self.own[i], q, problem.friction()[i]).impulse;
                if next.is_finite() {
                    self.r[i] = next;
                }
            }
        }
        self.sweeps += count;
    }

    /// Proximal steps until the tolerance or the end of the budget.
    fn round(
        &mut self,
        problem: &DelassusProblem,
        parameters: &Round,
        tolerance: f64,
        factorizations: u32,
    ) {
        let last = self.proximal.factorizations + factorizations;
        let mut previous = self.best_residual;
        self.r.clone_from(&self.best);
        if parameters.cold {
            self.r.fill(Vec3::ZERO);
            self.sweep(problem, COLD_SWEEPS);
            previous = self.offer(problem);
        }
        let (mut alpha, mut failed_alpha, mut patience) = (parameters.alpha, 0.0, 0);
        let (mut failures, mut sweeps, mut steps) = (0, 30, 0);
        // A step that is solved before its first factorisation counts as well.
        while self.best_residual > tolerance
            && self.proximal.factorizations < last
            && steps < factorizations
        {
            steps += 1;
            self.center.clone_from(&self.r);
            let step = Step {
                problem,
                traces: &self.traces,
                center: &self.center,
                alpha: alpha * self.mean,
            };
            let target = (INNER_TARGET * previous).max(0.1 * tolerance);
            let most = INNER.min(last - self.proximal.factorizations);
            let budget = (target, most);
            let solved = self
                .proximal
                .solve(&step, &mut self.r, budget, parameters.delta);
            let residual = self.offer(problem);
            if solved && residual.is_finite() {
                failures = 0;
                let next = alpha * if residual < 0.5 * previous { 0.1 } else { 0.3 };
                patience += 1;
                if next > 2.0 * failed_alpha || patience > PATIENCE {
                    (failed_alpha, patience) = (0.0, 0);
                    alpha = next.max(ALPHA_LEAST);
                }
                previous = residual;
                continue;
            }
            failures += 1;
            failed_alpha = alpha;
            alpha = (alpha * 10.0).min(ALPHA_MOST);
            if !(residual <= previous) {
                self.r.clone_from(&self.center);
            }
            if failures >= 2 {
                failures = 0;
                self.sweep(problem, sweeps);
                sweeps = (sweeps + sweeps / 2).min(300);
                self.offer(problem);
            }
        }
    }
}

/// The largest |q_c|, m/s.
fn velocity_scale(problem: &DelassusProblem) -> f64 {
    problem.q().iter().fold(0.0, |m, q| m.max(q.length()))
}

/// What rounding alone may leave of u, m/s.
fn rounding(problem: &DelassusProblem, r: &[Vec3]) -> f64 {
    let size = |contact: usize| {
        let row = problem.row(contact);
        row.fold(problem.q()[contact].length(), |sum, (j, w)| {
            let squares = w.x_axis.length_squared() + w.y_axis.length_squared();
            sum + (squares + w.z_axis.length_squared()).sqrt() * r[j].length()
        })
    };
    let largest = (0..problem.contacts()).map(size).fold(0.0, f64::max);
    4.0 * f64::EPSILON * largest
}
