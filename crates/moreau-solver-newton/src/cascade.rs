//! The cascade S1 to S5 that gives the exact answer.

use crate::NewtonStats;
use crate::augmented::Augmented;
use crate::convex_steps::ConvexSteps;
use crate::form::{BodyForm, Dual, Six};
use crate::haslinger::Haslinger;
use crate::interior::Interior;
use crate::primal_dual::PrimalDual;
use crate::settings::NewtonSettings;
use crate::sweeps::sweeps;
use crate::system::{CONTACT_SWEEP, System};
use moreau_math::Vec3;
use moreau_solver::{SolveReport, StopReason};

/// Where the residual is more than this part of the island's speed, that many more sweeps come
/// before the convex steps of a large island.
const FAR: f64 = 1e-3;
const FAR_SWEEPS: u32 = 70;

/// A warm start with a natural map (m/s) of at most this is nearly the answer: as a rule the same
/// contacts stick and slide.
const NEARLY: f64 = 1e-7;

/// The part of the aim that a polish has to reach to count: that it comes just within the aim says
/// that its contacts are not those of the answer.
const POLISHED: f64 = 1e-2;

/// Factorisations of the primal-dual method after which interior points take over. Of 364 solves that got there
/// within 15, in islands of more than 64 contacts and most of them in heaps, 341 did within 6, and 605 others did not get
/// there. In smaller ones a few more cost nothing to speak of; from a cold start there are more contacts to find: a
/// pyramid of 12 rows gets there in 7 to 15.
const FIRST_STEPS: u32 = 6;
const MORE_FIRST_STEPS: u32 = 15;
const SMALL: usize = 64;

/// Factorisations that a solve with interior points takes at least: where there is not work for as many, the
/// primal-dual method goes on instead.
const PATH: u32 = 40;

/// Contacts up to which an island goes without interior points: the other stages cost as little there, and where
/// the law has several answers, interior points may end at another one, for their path begins far from the start.
const FEW_CONTACTS: usize = 20;

/// Factorisations of the associated model, and the part of the work that they may take.
const STICK_STEPS: u32 = 15;
const STICK_WORK: u64 = 4;

/// The best answer so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Best {
    pub(crate) impulses: Dual,
    pub(crate) residual: f64,
    pub(crate) worst: Option<usize>,
    /// In large islands the root mean square of the natural maps of all contacts, m/s, must be better
    /// too, short of the tolerance: one bad contact less is not worth a little motion of thousands
    /// of bodies, which the next step has to take up.
    pub(crate) calm: Option<Calm>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Calm {
    pub(crate) tolerance: f64,
    /// Root mean square so far.
    pub(crate) mean: f64,
}

impl Best {
    /// Takes (l, v) where it is better.
    pub(crate) fn offer(&mut self, form: &BodyForm, l: &Dual, v: &[Six]) -> bool {
        let Some((residual, worst)) = form.residual_below(l, v, self.residual) else {
            return false;
        };
        let mut better = true;
        if let Some(calm) = &mut self.calm {
            let mean = form.mean_residual(l, v);
            better = mean < calm.mean || residual <= calm.tolerance;
            if better {
                calm.mean = mean;
            }
        }
        if better {
            (self.residual, self.worst) = (residual, worst);
            self.impulses.clone_from(l);
        }
        better
    }
}

/// What a stage may spend.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) tolerance: f64,
    /// Good enough: from there on only a few more factorisations go towards the tolerance.
    pub(crate) enough: f64,
    pub(crate) factorizations: u32,
    pub(crate) sweeps: u32,
}

impl Budget {
    /// Whether it allows no more of the work that began when `system` had made `start`
    /// factorisations.
    pub(crate) fn is_used_up(&self, system: &System, start: u32) -> bool {
        system.factorizations - start >= self.factorizations || system.exhausted()
    }
}

/// What was spent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    pub(crate) sweeps: u32,
}

/// Memory of the cascade.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cascade {
    pub(crate) form: BodyForm,
    pub(crate) system: System,
    best: Best,
    /// That of the associated model.
    stuck: Best,
    convex_steps: ConvexSteps,
    primal_dual: PrimalDual,
    interior: Interior,
    augmented: Augmented,
    haslinger: Haslinger,
    l: Dual,
    pub(crate) v: Vec<Six>,
    pub(crate) stats: NewtonStats,
    /// Factorisations of interior points in this solve.
    interior_steps: u32,
    /// Those of the associated model.
    stick_steps: u32,
}

/// Speed (m/s) up to which an island is at rest.
const AT_REST: f64 = 1e-6;

impl Cascade {
    /// Solves the loaded form from the warm start `l`; `l` and `self.v` hold the answer. A warm start within
    /// `keep` (m/s) is kept.
    pub(crate) fn solve(
        &mut self,
        l: &mut Dual,
        settings: &NewtonSettings,
        (keep, speed): (f64, f64),
    ) -> SolveReport {
        let aim = settings.first_aim();
        let form = &self.form;
        let first = self.system.factorizations;
        let first_iterations = self.system.krylov_iterations();
        let mut count = Count::default();

        // The warm start may be the answer already; then it is kept to the bit.
        form.velocities(l, &mut self.v);
        let (residual, worst) = form.residual(l, &self.v);
        self.best.impulses.clone_from(l);
        (self.best.residual, self.best.worst, self.best.calm) = (residual, worst, None);
        if !residual.is_finite() {
            // A warm start that overflows is none.
            self.best.impulses = form.zero();
            form.velocities(&self.best.impulses, &mut self.v);
            (self.best.residual, self.best.worst) = form.residual(&self.best.impulses, &self.v);
        }
        let mut polish = 0;
        (self.interior_steps, self.stick_steps) = (0, 0);
        let cold = is_cold(form, l);
        let mut stuck = false;
        if self.best.residual > keep && self.best.residual <= NEARLY && settings.polish > 0.0 {
            self.polish(settings, POLISHED * aim);
            polish = self.system.factorizations - first;
        }
        let form = &self.form;
        if self.best.residual > aim {
            self.l.clone_from(&self.best.impulses);
            form.project(&mut self.l);
            form.velocities(&self.l, &mut self.v);
            self.best.offer(form, &self.l, &self.v);
            self.first_sweeps(settings, aim, &mut count);
        }
        if self.best.residual > aim && cold && settings.stick_first {
            stuck = self.stick(settings, aim);
        }
        if self.best.residual > aim && !stuck {
            self.newton(settings, cold, &mut count);
        }
        // What is off at each contact adds up over a stack, and its top would go by the square of their number.
        let residual = self.best.residual;
        if residual <= aim
            && residual > POLISHED * aim
            && speed <= AT_REST
            && settings.polish > 0.0
            && self.system.factorizations > first
        {
            let before = self.system.factorizations;
            self.polish(settings, aim);
            polish += self.system.factorizations - before;
        }
        l.clone_from(&self.best.impulses);
        self.form.velocities(l, &mut self.v);
        let factorizations = self.system.factorizations - first;
        let krylov = if self.system.is_incomplete() {
            factorizations
        } else {
            0
        };
        self.stats = NewtonStats {
            direct: factorizations - krylov,
            krylov,
            krylov_iterations: self.system.krylov_iterations() - first_iterations,
            polish,
            interior: self.interior_steps,
            stick: self.stick_steps,
            stuck,
        };
        let converged = self.best.residual <= settings.tolerance;
        SolveReport {
            sweeps: count.sweeps,
            factorizations,
            stop: if converged {
                StopReason::Converged
            } else {
                StopReason::Budget
            },
            residual: self.best.residual,
            worst_contact: self.best.worst,
        }
    }

    /// Newton steps from a warm start that is nearly the answer, as long as they pay. The map is
    /// regularised as little as it can be: the step is short and its contacts are as they were.
    /// What does not get to `enough` (m/s) is left as it was.
    fn polish(&mut self, settings: &NewtonSettings, enough: f64) {
        self.system.analyse(&self.form, &settings.krylov());
        if self.system.is_incomplete() || self.system.multiply_adds() > settings.max_work {
            return;
        }
        let (form, system, best) = (&self.form, &mut self.system, &mut self.best);
        self.l.clone_from(&best.impulses);
        let start = (best.residual, best.worst);
        self.primal_dual.polish(form, system, best, settings.polish);
        if !(best.residual <= enough.max(settings.polish)) {
            std::mem::swap(&mut best.impulses, &mut self.l);
            (best.residual, best.worst) = start;
        }
    }

    /// S1.
    fn first_sweeps(&mut self, settings: &NewtonSettings, aim: f64, count: &mut Count) {
        let mut left = settings.first_sweeps;
        while left > 0 && self.best.residual > aim {
            let some = left.min(10);
            sweeps(&self.form, &mut self.l, &mut self.v, some);
            count.sweeps += some;
            left -= some;
            self.best.offer(&self.form, &self.l, &self.v);
        }
    }

    /// The answer of the associated model where it is one of Coulomb's law, for no contact that pushes slips;
    /// returns whether it is. Elsewhere nothing but `stick_steps` changes.
    fn stick(&mut self, settings: &NewtonSettings, aim: f64) -> bool {
        self.system.analyse(&self.form, &settings.krylov());
        if self.system.is_incomplete() {
            return false;
        }
        let most = settings.max_work / STICK_WORK / self.system.step_work(&self.form);
        let budget = Budget {
            tolerance: aim,
            enough: settings.tolerance,
            factorizations: STICK_STEPS.min(u32::try_from(most).unwrap_or(u32::MAX)),
            sweeps: 0,
        };
        let (form, system) = (&self.form, &mut self.system);
        self.stuck.residual = f64::INFINITY;
        let first = system.factorizations;
        self.convex_steps
            .stick(form, system, &mut self.stuck, &budget);
        self.stick_steps = system.factorizations - first;
        if !(self.stuck.residual <= settings.tolerance) {
            return false;
        }
        std::mem::swap(&mut self.best, &mut self.stuck);
        true
    }

    /// S2 to S5, with interior points where the first steps of S2 do not get there, but not in small islands; in
    /// large ones the convex steps come first.
    fn newton(&mut self, settings: &NewtonSettings, cold: bool, count: &mut Count) {
        self.system.analyse(&self.form, &settings.krylov());
        self.system.allow(settings.max_work);
        let tolerance = settings.tolerance;
        let last = if self.system.is_incomplete() {
            u32::MAX
        } else {
            self.system.factorizations.saturating_add(
                u32::try_from(settings.max_work / self.system.step_work(&self.form))
                    .unwrap_or(u32::MAX),
            )
        };
        let budget = |system: &System, factorizations: u32| Budget {
            tolerance,
            enough: tolerance,
            factorizations: factorizations.min(last.saturating_sub(system.factorizations)),
            sweeps: 5000,
        };
        let (form, system, best) = (&self.form, &mut self.system, &mut self.best);
        let first = budget(system, settings.primal_dual_steps);
        let first = Budget {
            tolerance: settings.aim.min(tolerance),
            ..first
        };
        if system.is_incomplete() {
            form.velocities(&best.impulses, &mut self.v);
            best.calm = Some(Calm {
                tolerance,
                mean: form.mean_residual(&best.impulses, &self.v),
            });
            // Far from the answer sweeps calm thousands of bodies at the least cost.
            if best.residual > FAR * form.speed() {
                let (mut l, mut left) = (best.impulses.clone(), FAR_SWEEPS);
                while left > 0 && !system.exhausted() {
                    sweeps(form, &mut l, &mut self.v, 10);
                    best.offer(form, &l, &self.v);
                    system.charge(form, CONTACT_SWEEP * 10);
                    count.sweeps += 10;
                    left -= 10;
                }
            }
            let steps = budget(system, settings.augmented_steps);
            self.convex_steps.run(form, system, best, &steps);
            if best.residual <= tolerance || system.exhausted() {
                return;
            }
        }
        let many = form.contacts.len() > FEW_CONTACTS;
        let path = last.saturating_sub(system.factorizations) >= PATH;
        if settings.interior_steps > 0 && many && path && !system.is_incomplete() {
            let steps = if cold || form.contacts.len() <= SMALL {
                MORE_FIRST_STEPS
            } else {
                FIRST_STEPS
            };
            let few = Budget {
                factorizations: first.factorizations.min(steps),
                ..first
            };
            self.primal_dual.run(form, system, best, &few, count);
            if best.residual <= tolerance {
                return;
            }
            let before = system.factorizations;
            let steps = budget(system, settings.interior_steps);
            self.interior.run(form, system, best, &steps);
            self.interior_steps = system.factorizations - before;
        }
        let steps = Budget {
            factorizations: budget(system, settings.primal_dual_steps).factorizations,
            ..first
        };
        self.primal_dual.run(form, system, best, &steps, count);
        let (mut steps, mut damping) = (settings.augmented_steps, 0.5);
        for round in 0..settings.rounds {
            if best.residual <= tolerance || system.factorizations >= last || system.exhausted() {
                return;
            }
            sweeps(form, &mut best.impulses, &mut self.v, 20);
            count.sweeps += 20;
            (best.residual, best.worst) = form.residual(&best.impulses, &self.v);
            let scale = [1.0, 0.1, 0.01][round as usize % 3];
            self.augmented
                .run(form, system, best, &budget(system, steps), scale);
            if best.residual <= tolerance {
                return;
            }
            let start = if round == 0 {
                best.impulses.clone()
            } else {
                form.zero()
            };
            self.haslinger.run(
                form,
                system,
                (best, start),
                &budget(system, 2 * steps),
                damping,
            );
            if best.residual <= tolerance {
                return;
            }
            // Full Newton again, from where the slow iteration got to.
            let mut from_haslinger = Best {
                impulses: self.haslinger.l.clone(),
                ..Best::default()
            };
            form.project(&mut from_haslinger.impulses);
            sweeps(form, &mut from_haslinger.impulses, &mut self.v, 2);
            count.sweeps += 2;
            (from_haslinger.residual, from_haslinger.worst) =
                form.residual(&from_haslinger.impulses, &self.v);
            self.augmented.run(
                form,
                system,
                &mut from_haslinger,
                &budget(system, steps),
                1.0,
            );
            if from_haslinger.residual < best.residual {
                std::mem::swap(best, &mut from_haslinger);
            }
            steps *= 2;
            damping *= 0.6;
        }
    }
}

/// Whether nothing is known yet of contacts with friction, of which there are some.
fn is_cold(form: &BodyForm, l: &Dual) -> bool {
    let pairs = form.contacts.iter().zip(&l.contacts);
    let mut rough = pairs.filter(|(c, _)| c.mu > 0.0).peekable();
    rough.peek().is_some() && rough.all(|(_, l)| *l == Vec3::ZERO)
}
