//! Exact Coulomb friction by a cascade of Newton methods in body space.
//!
//! **Owns**: [`NewtonSolver`] and its stages, the sparse block factorisation under them, and
//! [`ConvexSolver`] for the associated model of friction, which is not Coulomb's law.
//!
//! **Must not know**: shapes, the pipeline, other solver crates.
//!
//! ```
//! use moreau_constraint::{BodyInput, ContactInput, ContactProblem};
//! use moreau_math::{SymMat3, Vec3, Velocity, vec3};
//! use moreau_solver::ContactSolver;
//! use moreau_solver_newton::NewtonSolver;
//!
//! // A cube of 1 kg that slides at 5 m/s on its four corners, mu = 0.3, for 0.01 s.
//! let mut problem = ContactProblem::new(0.01)?;
//! let ground = problem.add_body(BodyInput::fixed())?;
//! let cube = problem.add_body(BodyInput {
//!     inverse_mass: 1.0,
//!     inverse_inertia: SymMat3::from_diagonal(Vec3::splat(6.0)),
//!     velocity: Velocity::new(vec3(5.0, -0.0981, 0.0), Vec3::ZERO),
//! })?;
//! for (x, z) in [(-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)] {
//!     problem.add_contact(ContactInput {
//!         a: ground, b: cube, normal: Vec3::Y, lever_a: vec3(x, 0.0, z), lever_b: vec3(x, -0.5, z),
//!         separation: 0.0, friction: 0.3, restitution: 0.0,
//!     })?;
//! }
//! let (mut impulses, mut velocities) = (problem.cold_start(), Vec::new());
//! let report = NewtonSolver::default().solve(&problem, &mut impulses, &mut velocities)?;
//! assert!(report.converged());
//! let v = velocities[cube].linear;
//! assert!((v - vec3(5.0 - 0.3 * 0.0981, 0.0, 0.0)).length() < 1e-9); // it does not lift off
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | stage | method | file |
//! |---|---|---|
//! | warm start | kept as it is where it is the answer already; Newton at once where it nearly is | `warm.rs` |
//! | S1 | sweeps of exact single contacts | `sweeps.rs` |
//! | cold starts only | the associated model, whose answer counts where nothing slips | `convex_steps.rs` |
//! | large islands only | convex steps: the associated model with De Saxcé's shift | `convex_steps.rs` |
//! | S2 | primal-dual semismooth Newton | `primal_dual.rs` |
//! | where that does not get there | interior points, and S2 again from their end | `interior.rs` |
//! | S3 | augmented Lagrangian, Newton inside | `augmented.rs` |
//! | S4 | damped Haslinger iteration | `haslinger.rs` |
//! | S5 | S3 and S4 with growing budgets | `cascade.rs` |
//!
//! The linear systems of all stages are factored (`block_lu.rs`, `ordering.rs`), or, in islands where
//! that takes more than [`NewtonSettings::krylov_work`], solved by a Krylov method with an incomplete
//! factorisation (`krylov.rs`). [`NewtonSolver::stats`] says which.
//!
//! Where nothing but W and q of u = W r + q is known, [`NewtonSolver::solve_delassus`] works in contact
//! space: a proximal point method (`contact_space.rs`) around the same Newton method
//! (`proximal.rs`).
//!
//! An answer that no stage brings within the tolerance is the best of all, and is not called
//! converged.

mod arithmetic;
mod assembly;
mod augmented;
mod block;
mod block_lu;
mod cascade;
mod contact_space;
mod convex;
mod convex_steps;
mod form;
mod haslinger;
mod interior;
mod krylov;
mod lorentz;
mod maps;
mod ordering;
mod primal_dual;
mod proximal;
mod settings;
mod sweeps;
mod system;
mod warm;
mod width;

#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod support;

pub use convex::{ConvexSettings, ConvexSolver};
pub use settings::NewtonSettings;

use cascade::Cascade;
use contact_space::ContactSpace;
use form::Dual;
use moreau_constraint::{ContactProblem, Impulses};
use moreau_math::{Vec3, Velocity};
use moreau_solver::{ContactSolver, DelassusProblem, SolveError, SolveReport, StopReason};

/// The exact solver; see the crate's documentation.
#[derive(Clone, Debug, Default)]
pub struct NewtonSolver {
    settings: NewtonSettings,
    cascade: Cascade,
    contact_space: ContactSpace,
}

impl NewtonSolver {
    /// A solver with the given settings.
    pub fn new(settings: NewtonSettings) -> Self {
        Self {
            settings,
            cascade: Cascade::default(),
            contact_space: ContactSpace::default(),
        }
    }

    /// Its settings.
    pub fn settings(&self) -> &NewtonSettings {
        &self.settings
    }

    /// Changes what one solve may cost, [`NewtonSettings::max_work`].
    pub fn set_max_work(&mut self, max_work: u64) {
        self.settings.max_work = max_work;
    }

    /// Changes the natural map (m/s) at which an answer counts as solved, [`NewtonSettings::tolerance`].
    pub fn set_tolerance(&mut self, tolerance: f64) {
        self.settings.tolerance = tolerance;
    }

    /// Solves a problem of which only W and q are known.
    ///
    /// `impulses`: the warm start on the way in (any length; what is missing or not finite counts
    /// as zero), the answer on the way out, (n, t1, t2), N s. Where W is singular they are one
    /// answer of many; u is what can be compared.
    ///
    /// Of the settings the first sweeps, the work and the tolerance count; the latter is taken times
    /// the largest |q| where that is below 1 m/s.
    pub fn solve_delassus(
        &mut self,
        problem: &DelassusProblem,
        impulses: &mut Vec<Vec3>,
    ) -> SolveReport {
        self.contact_space.solve(problem, impulses, &self.settings)
    }

    /// [`ContactSolver::solve`] where the warm start is that of the last step and bodies at rest are to stay so.
    ///
    /// `speed`: the largest at which the bodies moved before forces, m/s. Where it is less than what the warm
    /// start leaves at contacts, the impulses of the last step have just stopped the bodies, and would set
    /// them off again in the other direction: they are polished, although they are within the aim. Up to 1e-6 m/s the answer is
    /// polished as well: what is off at each contact adds up over a stack.
    ///
    /// # Errors
    /// As [`ContactSolver::solve`].
    pub fn solve_from(
        &mut self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        velocities: &mut Vec<Velocity>,
        speed: f64,
    ) -> Result<SolveReport, SolveError> {
        impulses.sanitize(problem.contacts().len(), problem.rows().len());
        let keep = self.settings.keep(speed);
        if let Some((residual, worst_contact)) =
            warm::residual_within(keep, problem, impulses, velocities)
        {
            self.cascade.stats = NewtonStats::default();
            return Ok(SolveReport {
                sweeps: 0,
                factorizations: 0,
                stop: StopReason::Converged,
                residual,
                worst_contact,
            });
        }
        self.cascade.form.load(problem);
        let mut l = Dual::from_impulses(impulses);
        let report = self.cascade.solve(&mut l, &self.settings, (keep, speed));
        impulses.contacts.clone_from(&l.contacts);
        impulses.rows.clone_from(&l.rows);
        self.cascade
            .form
            .export(problem, &self.cascade.v, velocities);
        match velocities.iter().position(|v| !v.is_finite()) {
            Some(body) => Err(SolveError::Overflow { body }),
            None => Ok(report),
        }
    }

    /// Whether one factorisation takes at most `work` multiply-adds, for a problem of `bodies` bodies that impulses move,
    /// which come first, with contacts and rows between the `pairs`. Numbers from `bodies` on are bodies that nothing
    /// moves.
    ///
    /// As [`NewtonSolver::work_estimate`] says, but at less cost where it is no: large heaps are refused as far too wide
    /// without a search for their order of elimination, and that search ends where the answer is sure.
    pub fn is_within(
        &mut self,
        bodies: usize,
        pairs: impl Iterator<Item = (u32, u32)>,
        work: u64,
    ) -> bool {
        let name = |body: u32| {
            if (body as usize) < bodies {
                body
            } else {
                form::NONE
            }
        };
        let pairs = pairs.map(|(a, b)| (name(a), name(b)));
        self.cascade.system.is_within(bodies, pairs, work)
    }

    /// What the last [`ContactSolver::solve`] took beside what its report says.
    pub fn stats(&self) -> NewtonStats {
        self.cascade.stats
    }

    /// Multiply-adds of one factorisation for `problem`, roughly: what decides
    /// whether exact solving is affordable. More than [`NewtonSettings::krylov_work`], but not how
    /// much more, where it is above that.
    pub fn work_estimate(&mut self, problem: &ContactProblem) -> u64 {
        let limits = self.settings.krylov();
        let bodies = self.cascade.form.load_index(problem);
        let index = &self.cascade.form.index;
        let contacts = problem.contacts().iter().map(|c| (c.a, c.b));
        let rows = problem.rows().iter().map(|r| (r.a, r.b));
        let pairs = contacts.chain(rows).map(|(a, b)| (index[a], index[b]));
        self.cascade.system.analyse_graph(bodies, pairs, &limits);
        self.cascade.system.multiply_adds()
    }

    /// Multiply-adds of one Newton step for `problem`, roughly: [`NewtonSolver::work_estimate`], assembly and line search.
    /// With [`NewtonSettings::max_work`] it says how many steps a solve may take.
    pub fn step_estimate(&mut self, problem: &ContactProblem) -> u64 {
        let size = problem.contacts().len() + problem.rows().len();
        self.work_estimate(problem)
            .saturating_add(system::beside_factors(size))
    }
}

/// How a solve solved its linear systems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewtonStats {
    /// Systems that were factored completely.
    pub direct: u32,
    /// Systems that were left to a Krylov method, with an incomplete factorisation each.
    pub krylov: u32,
    /// Steps of the Krylov method, all systems together: products with the matrix.
    pub krylov_iterations: u64,
    /// Systems among these that went into the polish of a warm start that was nearly the answer, or of an answer at rest.
    pub polish: u32,
    /// Systems among these of interior points.
    pub interior: u32,
    /// Systems among these of the associated model, with which a cold start begins.
    pub stick: u32,
    /// Whether its answer was taken.
    pub stuck: bool,
}

impl ContactSolver for NewtonSolver {
    fn name(&self) -> &'static str {
        "newton"
    }

    fn solve(
        &mut self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        velocities: &mut Vec<Velocity>,
    ) -> Result<SolveReport, SolveError> {
        self.solve_from(problem, impulses, velocities, f64::INFINITY)
    }

    fn fork(&self) -> Box<dyn ContactSolver> {
        Box::new(Self::new(self.settings))
    }
}
