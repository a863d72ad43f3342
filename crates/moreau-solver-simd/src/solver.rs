//! The loop of sweeps.
//!
//! Sweeps alone converge slowly where many bodies lie on each other: the error of the slowest motions
//! falls by a hair each time. With G a sweep and y_k the impulses that it starts from, the next one
//! starts ahead of where the last one ended (Nesterov's method, with G in the place of a gradient
//! step):
//!
//! ```text
//! y_(k+1) = G(y_k) + beta_k (G(y_k) - G(y_(k-1))),    beta_k = min(k/(k+3), limit)
//! k = 0 again where (G(y_k) - y_k)·D (G(y_k) - G(y_(k-1))) < 0: it went too far
//! ```
//!
//! D = trace(W)/3 of each contact. Velocities are affine in the impulses and take the same
//! combination. What is looked at and returned are the G(y_k), which lie in their cones. The limit is
//! 0.9, and is halved at each look where the change of a sweep did not fall: without one, momentum
//! keeps sliding contacts from coming to rest. In a pile of 2000 boxes 40 sweeps are worth 250 plain
//! ones.
//!
//! Nesterov, "A method for solving the convex programming problem with convergence rate O(1/k²)"
//! (1983); O'Donoghue and Candès, "Adaptive restart for accelerated gradient schemes", Found. Comput.
//! Math. 15 (2015); for contacts by projected gradients: Mazhar, Heyn, Negrut, Tasora, ACM Trans. Graph.
//! 34 (2015).

use crate::kernel::Arithmetic;
use crate::lanes::Quad;
use crate::packed::{NONE, Packed};
use crate::rows::Rows;
use crate::settings::{Instructions, SimdSettings};
use moreau_constraint::{ContactProblem, Impulses, project_disc};
use moreau_math::{Vec3, Velocity};
use moreau_solver::{ContactSolver, SolveError, SolveReport, StopReason, WorstResidual};
use serde::{Deserialize, Serialize};

const NAME: &str = "simd";

/// Coloured sweeps, four contacts at a time.
///
/// The report holds for what is returned: it is made at velocities recomputed from the impulses. A
/// warm start within the tolerance comes back bit for bit, after 0 sweeps. Where the budget runs out
/// the best iterate that was looked at is returned, or the last one where
/// [`SimdSettings::keep_best`] is off.
#[derive(Clone, Debug, Default)]
pub struct SimdSolver {
    settings: SimdSettings,
    scratch: Scratch,
}

/// How the contacts of the last solve were laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SimdStats {
    /// Colours in use.
    pub colours: usize,
    /// Pairs of bodies (of at most four contacts each) that found no colour and were visited alone.
    pub serial: usize,
    /// Contacts.
    pub contacts: usize,
    /// Places for contacts in the packs; contacts/places is how full they are.
    pub places: usize,
}

#[derive(Clone, Debug, Default)]
struct Scratch {
    packed: Packed,
    rows: Rows,
    maps: Vec<Quad>,
    best: Vec<[Quad; 3]>,
    best_rows: Vec<f64>,
    acceleration: Acceleration,
}

impl SimdSolver {
    /// A solver with the given settings. They are checked by each solve.
    pub fn new(settings: SimdSettings) -> Self {
        Self {
            settings,
            scratch: Scratch::default(),
        }
    }

    /// The settings.
    pub fn settings(&self) -> &SimdSettings {
        &self.settings
    }

    /// Of the last solve.
    pub fn stats(&self) -> SimdStats {
        let packed = &self.scratch.packed;
        let contacts = packed.contacts.iter().flatten();
        SimdStats {
            colours: packed.colouring.colours,
            serial: packed.colouring.serial,
            contacts: contacts.filter(|c| **c != NONE).count(),
            places: 4 * packed.contacts.len(),
        }
    }
}

impl ContactSolver for SimdSolver {
    fn name(&self) -> &'static str {
        NAME
    }

    fn solve(
        &mut self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        velocities: &mut Vec<Velocity>,
    ) -> Result<SolveReport, SolveError> {
        self.settings.validate(NAME)?;
        impulses.sanitize(problem.contacts().len(), problem.rows().len());
        let report = self.scratch.solve(&self.settings, problem, impulses);
        self.scratch.packed.get_velocities(velocities);
        let Some(body) = velocities.iter().position(|v| !v.is_finite()) else {
            return Ok(report);
        };
        // Nothing that is not finite leaves a solve.
        impulses.contacts.fill(Vec3::ZERO);
        impulses.rows.fill(0.0);
        problem.velocities_into(impulses, velocities);
        Err(SolveError::Overflow { body })
    }

    fn fork(&self) -> Box<dyn ContactSolver> {
        Box::new(Self::new(self.settings))
    }
}

impl Scratch {
    fn solve(
        &mut self,
        settings: &SimdSettings,
        problem: &ContactProblem,
        impulses: &mut Impulses,
    ) -> SolveReport {
        let arithmetic = match settings.instructions {
            Instructions::Fastest => Arithmetic::fastest(),
            Instructions::Baseline => Arithmetic::Plain,
        };
        self.packed.load(problem);
        self.rows.load(problem);
        if problem.contacts().is_empty() && problem.rows().is_empty() {
            return SolveReport::empty();
        }
        self.start(arithmetic, problem, impulses);
        let mut residual = self.residual(arithmetic);
        if residual.value <= settings.tolerance {
            return residual.report(0, StopReason::Converged);
        }
        if make_feasible(problem, impulses) {
            self.start(arithmetic, problem, impulses);
            residual = self.residual(arithmetic);
        }
        let (sweeps, stop) = self.iterate(settings, arithmetic, problem, residual.value);
        residual = self.residual(arithmetic);
        self.packed.get_impulses(&mut impulses.contacts);
        impulses.rows.copy_from_slice(&self.rows.impulses);
        let stop = if residual.value <= settings.tolerance {
            StopReason::Converged
        } else {
            stop
        };
        residual.report(sweeps, stop)
    }

    /// Sweeps; ends at the last state or at the best of those that were looked at, with its own
    /// velocities.
    fn iterate(
        &mut self,
        settings: &SimdSettings,
        arithmetic: Arithmetic,
        problem: &ContactProblem,
        start: f64,
    ) -> (u32, StopReason) {
        let (mut best, mut last) = (start, start);
        self.keep();
        let mut stop = StopReason::Budget;
        let mut sweeps = 0;
        if settings.accelerate {
            self.acceleration.begin(&self.packed, &self.rows);
        }
        while sweeps < settings.max_sweeps {
            self.rows.sweep(&mut self.packed.velocities);
            arithmetic.sweep(&mut self.packed);
            sweeps += 1;
            let early = sweeps < settings.check_every && sweeps.is_power_of_two();
            if early || sweeps % settings.check_every == 0 || sweeps == settings.max_sweeps {
                last = self.look(arithmetic, &mut best);
                self.acceleration.adapt();
                if sweeps == settings.max_sweeps || last <= settings.tolerance || !last.is_finite()
                {
                    break;
                }
            }
            if settings.accelerate && !self.acceleration.combine(&mut self.packed, &mut self.rows) {
                // The sweep changed nothing.
                last = self.look(arithmetic, &mut best);
                stop = StopReason::Stalled;
                break;
            }
        }
        if settings.keep_best || !last.is_finite() {
            self.packed.impulses.copy_from_slice(&self.best);
            self.rows.impulses.copy_from_slice(&self.best_rows);
        }
        self.refresh(arithmetic, problem);
        (sweeps, stop)
    }

    /// The residual; keeps the state where it is the smallest yet.
    fn look(&mut self, arithmetic: Arithmetic, best: &mut f64) -> f64 {
        let residual = self.residual(arithmetic).value;
        if residual < *best {
            *best = residual;
            self.keep();
        }
        residual
    }

    fn keep(&mut self) {
        self.best.clone_from(&self.packed.impulses);
        self.best_rows.clone_from(&self.rows.impulses);
    }

    fn start(&mut self, arithmetic: Arithmetic, problem: &ContactProblem, impulses: &Impulses) {
        self.packed.set_impulses(&impulses.contacts);
        self.rows.impulses.clone_from(&impulses.rows);
        self.refresh(arithmetic, problem);
    }

    /// Velocities from impulses.
    fn refresh(&mut self, arithmetic: Arithmetic, problem: &ContactProblem) {
        self.packed.reset_velocities(problem);
        self.rows.apply(&mut self.packed.velocities);
        arithmetic.apply(&mut self.packed);
    }

    fn residual(&mut self, arithmetic: Arithmetic) -> WorstResidual {
        self.maps.resize(self.packed.points.len(), Quad::default());
        arithmetic.natural_maps(&self.packed, &mut self.maps);
        let mut worst = WorstResidual::default();
        for (contacts, maps) in self.packed.contacts.iter().zip(&self.maps) {
            for (contact, map) in contacts.iter().zip(maps.0) {
                if *contact != NONE && !(map < worst.value) {
                    worst.include(map, Some(*contact as usize));
                }
            }
        }
        self.rows.residual(&self.packed.velocities, &mut worst);
        worst
    }
}

/// Largest factor on the last change.
const LARGEST_BETA: f64 = 0.9;

/// Where the last sweep started and where the one before ended.
#[derive(Clone, Debug, Default)]
struct Acceleration {
    start: State,
    end: State,
    /// Sweeps since the last restart.
    k: f64,
    /// Largest beta.
    limit: f64,
    /// |g|²_D of the last sweep, and its least value at a look.
    square: f64,
    least: f64,
}

/// Impulses and the velocities that follow from them.
#[derive(Clone, Debug, Default)]
struct State {
    impulses: Vec<[Quad; 3]>,
    rows: Vec<f64>,
    velocities: Vec<[Quad; 2]>,
}

impl State {
    fn set(&mut self, packed: &Packed, rows: &Rows) {
        self.impulses.clone_from(&packed.impulses);
        self.rows.clone_from(&rows.impulses);
        self.velocities.clone_from(&packed.velocities);
    }
}

impl Acceleration {
    fn begin(&mut self, packed: &Packed, rows: &Rows) {
        self.start.set(packed, rows);
        self.end.set(packed, rows);
        (self.k, self.limit) = (0.0, LARGEST_BETA);
        (self.square, self.least) = (f64::INFINITY, f64::INFINITY);
    }

    /// Less momentum where the changes of a sweep do not fall from look to look: contacts that slide
    /// and stick in turn cycle under it.
    fn adapt(&mut self) {
        self.limit = if self.square < self.least {
            (self.limit + 0.1).min(LARGEST_BETA)
        } else {
            self.limit * 0.5
        };
        self.least = self.least.min(self.square);
    }

    /// Takes in the state after a sweep and changes it to where the next one starts; false where the
    /// sweep changed nothing.
    fn combine(&mut self, packed: &mut Packed, rows: &mut Rows) -> bool {
        let (mut square, mut along) = (0.0, 0.0);
        let states = packed.impulses.iter().zip(&self.start.impulses);
        for (((new, start), end), size) in states.zip(&self.end.impulses).zip(&packed.scales) {
            for ((new, start), end) in new.iter().zip(start).zip(end) {
                let (mut squares, mut products) = ([0.0; 4], [0.0; 4]);
                for lane in 0..4 {
                    let g = new.0[lane] - start.0[lane];
                    squares[lane] = g * g * size.0[lane];
                    products[lane] = g * (new.0[lane] - end.0[lane]) * size.0[lane];
                }
                square += (squares[0] + squares[1]) + (squares[2] + squares[3]);
                along += (products[0] + products[1]) + (products[2] + products[3]);
            }
        }
        let states = rows.impulses.iter().zip(&self.start.rows);
        for ((new, start), end) in states.zip(&self.end.rows) {
            square += (new - start) * (new - start);
            along += (new - start) * (new - end);
        }
        self.square = square;
        if square == 0.0 {
            return false;
        }
        if along < 0.0 {
            self.k = 0.0;
        }
        let beta = (self.k / (self.k + 3.0)).min(self.limit);
        self.k += 1.0;
        let ahead = |new: &mut f64, start: &mut f64, end: &mut f64| {
            *start = *new + beta * (*new - *end);
            *end = *new;
            *new = *start;
        };
        let quads = |new: &mut [Quad], start: &mut [Quad], end: &mut [Quad]| {
            for ((new, start), end) in new.iter_mut().zip(start).zip(end) {
                for lane in 0..4 {
                    ahead(&mut new.0[lane], &mut start.0[lane], &mut end.0[lane]);
                }
            }
        };
        quads(
            packed.impulses.as_flattened_mut(),
            self.start.impulses.as_flattened_mut(),
            self.end.impulses.as_flattened_mut(),
        );
        quads(
            packed.velocities.as_flattened_mut(),
            self.start.velocities.as_flattened_mut(),
            self.end.velocities.as_flattened_mut(),
        );
        let states = rows.impulses.iter_mut().zip(&mut self.start.rows);
        for ((new, start), end) in states.zip(&mut self.end.rows) {
            ahead(new, start, end);
        }
        true
    }
}

/// Puts a warm start into its cones and bounds; says whether that changed anything.
fn make_feasible(problem: &ContactProblem, impulses: &mut Impulses) -> bool {
    let mut changed = false;
    for (c, l) in problem.contacts().iter().zip(&mut impulses.contacts) {
        let normal = l.x.max(0.0);
        let (t1, t2) = project_disc(l.y, l.z, c.friction * normal);
        let inside = Vec3::new(normal, t1, t2);
        changed |= inside != *l;
        *l = inside;
    }
    for (r, l) in problem.rows().iter().zip(&mut impulses.rows) {
        let inside = l.clamp(r.lower, r.upper);
        changed |= inside != *l;
        *l = inside;
    }
    changed
}
