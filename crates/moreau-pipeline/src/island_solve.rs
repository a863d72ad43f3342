//! One island: assembly, velocity solve, energy guard, position correction.

mod guard;

pub(crate) use guard::{Bounce, normal_bias};

use crate::activity::Marks;
use crate::assembly::{self, Names, Seen};
use crate::calm::{Effort, is_calm};
use crate::contact::Contact;
use crate::corrector::{self, Corrector};
use crate::integrate::Start;
use crate::island::{IslandRange, Islands};
use crate::joint::JointState;
use crate::problems::IslandProblem;
use crate::profile::{Clock, IslandProfile, held};
use crate::solver_choice::{Chosen, WorldSolver};
use crate::trial::{CHEAP, Cost, Outcome, Pause, Trial};
use crate::warm_start::warm_scale;
use crate::ways::{Solved, Way, Ways};
use crate::world::WorldState;
use crate::{IslandSolver, JointKind, WorldError, WorldSettings};
use moreau_constraint::{
    BodyInput, ContactPoint, ContactProblem, Impulses, ProblemError, Row, ball_joint_rows,
    distance_joint_row,
};
use moreau_math::{Vec3, Velocity, vec3};
use moreau_solver::SolveReport;
use moreau_solver_simd::SimdStats;

/// What all islands of a step share.
pub(crate) struct StepInput<'a> {
    pub(crate) state: &'a WorldState,
    /// Of each slot.
    pub(crate) marks: &'a [Marks],
    pub(crate) islands: &'a Islands,
    pub(crate) points: &'a [Contact],
    /// Warm start of each point, (n, t1, t2), N s.
    pub(crate) warm: &'a [Vec3],
    /// Free velocity of each slot.
    pub(crate) free: &'a [Velocity],
    /// Of each slot whose body takes part.
    pub(crate) starts: &'a [Start],
    pub(crate) dt: f64,
    pub(crate) profiling: bool,
}

/// Speed (m/s) up to which bodies count as at rest. A box that slides went 1e-6 m off its way where gaps stayed.
const AT_REST: f64 = 1e-6;

/// Work of a contact's force over a gap (J) up to which the gap may stay: what lies on it has gained that
/// energy by rising.
const GAP_ENERGY: f64 = 1e-6;

/// Whether a gap (m) is only rounding in an island at rest that is solved exactly, on a contact whose normal impulse
/// was `impulse` (N s).
pub(crate) fn is_slight(settings: &WorldSettings, gap: f64, impulse: f64, dt: f64) -> bool {
    gap <= settings.closed_gap && gap * (impulse / dt) <= GAP_ENERGY
}

/// Memory and solvers of one worker.
pub(crate) struct Worker {
    pub(crate) solver: WorldSolver,
    corrector: Corrector,
    /// Whether the threads of the pool work on an island together.
    together: bool,
    problem: ContactProblem,
    /// The largest of the island's bodies and contacts before forces, m/s.
    speed: f64,
    /// What solves the island.
    chosen: Chosen,
    /// What it does because the exact solver did not get done with it of late.
    pause: Pause,
    /// Slots of the bodies that no impulse moves, ascending; they follow the island's own.
    others: Vec<u32>,
    impulses: Impulses,
    soft: Impulses,
    soft_velocities: Vec<Velocity>,
    /// Separation of each contact, m.
    gaps: Vec<f64>,
    ways: Ways,
    soft_ways: Vec<Way>,
}

/// What an island's solve says. The lists run along those of the island.
#[derive(Default)]
pub(crate) struct IslandResult {
    pub(crate) velocities: Vec<Velocity>,
    /// Empty where there was nothing to correct.
    pub(crate) corrections: Vec<Velocity>,
    /// Of its bodies, where something may bounce; empty elsewhere.
    pub(crate) ways: Vec<Way>,
    pub(crate) impulses: Vec<Vec3>,
    pub(crate) joint_impulses: Vec<[f64; 3]>,
    pub(crate) solver: IslandSolver,
    pub(crate) report: Option<SolveReport>,
    pub(crate) guarded: bool,
    pub(crate) error: Option<WorldError>,
    /// What [`Worker::is_exact`] said before the solve.
    pub(crate) exact: Option<bool>,
    /// What comes of the attempt at the exact answer, where that is something new.
    pub(crate) trial: Option<Trial>,
    /// What it did because of such attempts before.
    pub(crate) pause: Pause,
    /// All zero where the world does not profile.
    pub(crate) profile: IslandProfile,
}

impl IslandResult {
    pub(crate) fn bytes(&self) -> usize {
        held(&self.velocities)
            + held(&self.corrections)
            + held(&self.ways)
            + held(&self.impulses)
            + held(&self.joint_impulses)
    }
}

impl Worker {
    pub(crate) fn new(solver: WorldSolver) -> Self {
        Self {
            solver,
            corrector: Corrector::default(),
            together: false,
            problem: ContactProblem::new(1.0).expect("1 s is a time step"),
            speed: 0.0,
            chosen: Chosen::default(),
            pause: Pause::None,
            others: Vec::new(),
            impulses: Impulses::default(),
            soft: Impulses::default(),
            soft_velocities: Vec::new(),
            gaps: Vec::new(),
            ways: Ways::default(),
            soft_ways: Vec::new(),
        }
    }

    /// What is held here but for the solvers.
    pub(crate) fn bytes(&self) -> usize {
        let impulses = |i: &Impulses| held(&i.contacts) + held(&i.rows);
        self.problem.bytes()
            + held(&self.others)
            + impulses(&self.impulses)
            + impulses(&self.soft)
            + held(&self.soft_velocities)
            + held(&self.gaps)
            + self.ways.bytes()
            + held(&self.soft_ways)
    }

    /// Whether the other threads of the pool help with large islands.
    pub(crate) fn use_pool(&mut self, yes: bool) {
        self.together = yes;
        self.solver.use_pool(yes);
    }

    /// Solves one island into `out`; an error lands there too.
    pub(crate) fn solve(
        &mut self,
        input: &StepInput<'_>,
        range: &IslandRange,
        out: &mut IslandResult,
    ) {
        out.error = self.try_solve(input, range, out).err();
    }

    /// The problem and warm start of an island, unsolved.
    pub(crate) fn problem(
        &mut self,
        input: &StepInput<'_>,
        range: &IslandRange,
    ) -> Result<IslandProblem, WorldError> {
        self.assemble(input, (&Island::new(input, range), range), None)?;
        Ok(IslandProblem {
            problem: self.problem.clone(),
            warm_start: self.impulses.clone(),
        })
    }

    fn try_solve(
        &mut self,
        input: &StepInput<'_>,
        range: &IslandRange,
        out: &mut IslandResult,
    ) -> Result<(), WorldError> {
        let island = Island::new(input, range);
        let mut clock = Clock::new(input.profiling);
        out.trial = None;
        let seen = self.assemble(input, (&island, range), out.exact)?;
        out.profile.assembly = clock.lap();
        let (solver, mut report) = self.solver.solve(
            self.chosen,
            &self.problem,
            &mut self.impulses,
            &mut out.velocities,
            self.speed,
        )?;
        let mut bounces = seen.bounces;
        if seen.perhaps && self.let_bounce(input, &island)? {
            bounces = true;
            let (sweeps, factorizations) = (report.sweeps, report.factorizations);
            (_, report) = self.solver.solve(
                self.chosen,
                &self.problem,
                &mut self.impulses,
                &mut out.velocities,
                f64::INFINITY,
            )?;
            report.sweeps += sweeps;
            report.factorizations += factorizations;
        }
        (out.solver, out.report) = (solver, Some(report));
        out.pause = self.pause;
        let cost = self.cost(&island);
        let outcome = self.solver.outcome(solver, &report);
        if self.solver.is_attempt(self.chosen)
            && self.pause == Pause::None
            && (outcome != Outcome::Far || cost != Cost::Cheap)
        {
            let before = island.trial(input.state, cost);
            let after = before.after(input.state.steps, cost, outcome);
            out.trial = island.differs(input.state, after).then_some(after);
        }
        out.guarded = false;
        out.ways.clear();
        if bounces {
            let solved = island.solved(input, true, &self.impulses, &out.velocities);
            self.ways.find(solved, &mut out.ways);
        }
        if input.state.settings.energy_guard {
            if bounces {
                self.guard_energy(input, &island, out)?;
            } else if !report.converged() {
                self.guard_unfinished(out)?;
            }
        }
        out.impulses.clear();
        out.impulses.extend_from_slice(&self.impulses.contacts);
        out.joint_impulses.clear();
        let mut row = 0;
        for slot in island.joints {
            let joint = joint_state(input.state, *slot);
            let rows = row_count(joint);
            let mut impulses = [0.0; 3];
            impulses[..rows].copy_from_slice(&self.impulses.rows[row..row + rows]);
            out.joint_impulses.push(impulses);
            row += rows;
        }
        out.profile.solve = clock.lap();
        out.profile.lanes = match solver {
            IslandSolver::Simd if input.profiling => self.solver.lanes(),
            _ => SimdStats::default(),
        };
        self.correct_positions(input, &island, out)?;
        out.profile.correction = clock.lap();
        out.velocities.truncate(island.bodies.len());
        Ok(())
    }

    /// Whether a large island is solved exactly, for it is calm, was not tried in vain of late, and a factorisation
    /// is within what it may cost.
    pub(crate) fn is_exact(&mut self, input: &StepInput<'_>, range: &IslandRange) -> bool {
        let island = Island::new(input, range);
        let count = island.contacts.len();
        if !self.solver.asks_for_calm(count)
            || !is_calm(input.points, island.contacts)
            || island.pause(input.state, Cost::Large) != Pause::None
        {
            return false;
        }
        let name = |slot: u32| {
            if input.marks[slot as usize].moves() {
                input.islands.places[slot as usize]
            } else {
                u32::MAX
            }
        };
        let contacts = island.contacts.iter();
        let contacts = contacts.map(|i| input.islands.ends[*i as usize]);
        let joints = island.joints.iter().map(|slot| {
            let joint = joint_state(input.state, *slot).joint;
            (joint.a.index, joint.b.index)
        });
        let pairs = contacts.chain(joints).map(|(a, b)| (name(a), name(b)));
        self.solver.is_within(island.bodies.len(), pairs)
    }

    /// Of an attempt at the exact answer of the assembled island.
    fn cost(&self, island: &Island<'_>) -> Cost {
        let count = island.contacts.len();
        if self.solver.is_large(count) {
            Cost::Large
        } else if count + self.problem.rows().len() > CHEAP {
            Cost::Usual
        } else {
            Cost::Cheap
        }
    }

    /// Builds the island's problem and warm start; returns what is to be known of its contacts. `exact`: what
    /// [`Self::is_exact`] says, where that is known.
    fn assemble(
        &mut self,
        input: &StepInput<'_>,
        (island, range): (&Island<'_>, &IslandRange),
        exact: Option<bool>,
    ) -> Result<Seen, WorldError> {
        if self.problem.dt() != input.dt {
            self.problem = ContactProblem::new(input.dt)?;
        }
        self.problem.clear();
        self.impulses.contacts.clear();
        self.impulses.rows.clear();
        self.speed = 0.0;
        self.problem.add_bodies_by(island.bodies.len(), |places| {
            self.speed = assembly::fill_bodies(input, island.bodies, places, self.together)?;
            Ok::<_, ProblemError>(())
        })?;
        self.add_other_bodies(input, island)?;
        let names = names(&self.others, input, island);
        let count = island.contacts.len();
        let warm = &mut self.impulses.contacts;
        warm.resize(count, Vec3::ZERO);
        self.gaps.resize(count, 0.0);
        let mut seen = Seen::default();
        self.problem.add_contacts_by(count, |places| {
            let at = (places, &mut warm[..], &mut self.gaps[..]);
            seen = assembly::fill((input, names), island.contacts, at, self.together)?;
            Ok::<_, ProblemError>(())
        })?;
        self.speed = self.speed.max(seen.speed);
        for slot in island.joints {
            let joint = joint_state(input.state, *slot);
            let bodies = joint_bodies(names, joint);
            let geometry = JointGeometry::new(input.state, joint);
            for row in geometry.rows(joint, bodies, Vec3::ZERO) {
                self.problem.add_row(row)?;
            }
            let scale = warm_scale(input.state, input.dt);
            for impulse in &joint.impulses[..row_count(joint)] {
                self.impulses.rows.push(impulse * scale);
            }
        }
        let cost = self.cost(island);
        self.pause = if self.solver.is_auto() {
            island.pause(input.state, cost)
        } else {
            Pause::None
        };
        let effort = match cost {
            Cost::Large if exact.unwrap_or_else(|| self.is_exact(input, range)) => Effort::Calm,
            Cost::Large => Effort::None,
            _ if self.pause == Pause::Waits => Effort::None,
            Cost::Usual
                if self.solver.asks_for_calm(count) && is_calm(input.points, island.contacts) =>
            {
                Effort::Calm
            }
            _ => Effort::Usual,
        };
        self.chosen = self
            .solver
            .choose(&self.problem, effort, self.pause == Pause::Hurries);
        self.close_gaps(input, island)?;
        Ok(seen)
    }

    /// Takes gaps that are only rounding for none, in islands at rest that are solved exactly: sweeps make
    /// gaps larger than that themselves, and have to close them.
    fn close_gaps(&mut self, input: &StepInput<'_>, island: &Island<'_>) -> Result<(), WorldError> {
        if self.chosen.solver != IslandSolver::Newton || self.speed > AT_REST {
            return Ok(());
        }
        for (i, index) in island.contacts.iter().enumerate() {
            let gap = input.points[*index as usize].separation;
            let mut bias = self.problem.contacts()[i].bias;
            // A negative bias is that of a bounce.
            let impulse = self.impulses.contacts[i].x;
            let slight = is_slight(&input.state.settings, gap, impulse, input.dt);
            if gap > 0.0 && slight && bias.x > 0.0 {
                bias.x = 0.0;
                self.problem.set_bias(i, bias)?;
            }
        }
        Ok(())
    }

    /// Bodies that the island touches and that no impulse moves.
    fn add_other_bodies(
        &mut self,
        input: &StepInput<'_>,
        island: &Island<'_>,
    ) -> Result<(), WorldError> {
        self.others.clear();
        let contacts = island.contacts.iter().map(|i| {
            let (a, b) = input.islands.ends[*i as usize];
            [a, b]
        });
        let joints = island.joints.iter().flat_map(|slot| {
            let joint = joint_state(input.state, *slot).joint;
            [joint.a.index, joint.b.index]
        });
        for index in contacts.flatten().chain(joints) {
            if !input.marks[index as usize].moves() && self.others.last() != Some(&index) {
                self.others.push(index);
            }
        }
        self.others.sort_unstable();
        self.others.dedup();
        for index in &self.others {
            self.problem
                .add_body(BodyInput::moving(input.free[*index as usize]))?;
        }
        Ok(())
    }

    /// Split impulse: frictionless pseudo-velocities that take out part of the overlap beyond the
    /// slop and of the joints' gaps, without opening or closing other contacts; where velocities are not certified, with what
    /// [`corrector::bias`] lets these give.
    fn correct_positions(
        &mut self,
        input: &StepInput<'_>,
        island: &Island<'_>,
        out: &mut IslandResult,
    ) -> Result<(), WorldError> {
        let knobs = &input.state.settings.position_correction;
        out.corrections.clear();
        let tolerance = corrector::tolerance(knobs, island.contacts.len(), input.dt);
        let gap = |slot: &u32| {
            let joint = joint_state(input.state, *slot);
            JointGeometry::new(input.state, joint).gap(joint).length() > 1e-10
        };
        if knobs.rate == 0.0 {
            return Ok(());
        }
        let (v, gaps) = (&out.velocities[..], &self.gaps[..]);
        let certified = out.report.as_ref().is_some_and(SolveReport::converged);
        // Where velocities are right nothing overlaps but what asks to be corrected.
        let give = if certified { 0.0 } else { knobs.slop };
        let bias = |i: usize, c: &ContactPoint| {
            let u = v[c.b].at(c.lever_b) - v[c.a].at(c.lever_a);
            corrector::bias(knobs, give, input.dt, (gaps[i], c.frame.normal.dot(u)))
        };
        // Where there is nothing to correct, nobody needs the problem any more.
        let take_up = corrector::TAKE_UP * tolerance;
        let asked = self.problem.make_frictionless_by(|contacts| {
            assembly::ask_for(&bias, take_up, (0, contacts), self.together)
        });
        if !asked.any && !island.joints.iter().any(gap) {
            return Ok(());
        }
        if !asked.finite {
            for i in 0..island.contacts.len() {
                let bias = bias(i, &self.problem.contacts()[i]);
                self.problem.make_frictionless(i, bias)?;
            }
        }
        self.problem.stop_bodies();
        self.problem.clear_rows();
        for slot in island.joints {
            let joint = joint_state(input.state, *slot);
            let bodies = joint_bodies(names(&self.others, input, island), joint);
            let geometry = JointGeometry::new(input.state, joint);
            let speed = geometry.gap(joint) * (knobs.rate / input.dt);
            let speed = speed.clamp_length_max(knobs.max_speed);
            for row in geometry.rows(joint, bodies, speed) {
                self.problem.add_row(row)?;
            }
        }
        let instructions = input.state.settings.solver.simd.instructions;
        self.corrector.solve(
            (knobs, certified),
            (self.solver.simd(), instructions),
            &self.problem,
            &mut self.soft,
            &mut out.corrections,
        )?;
        out.corrections.truncate(island.bodies.len());
        Ok(())
    }
}

struct Island<'a> {
    bodies: &'a [u32],
    contacts: &'a [u32],
    joints: &'a [u32],
}

impl<'a> Island<'a> {
    fn solved(
        &self,
        input: &'a StepInput<'a>,
        bounces: bool,
        impulses: &'a Impulses,
        velocities: &'a [Velocity],
    ) -> Solved<'a> {
        Solved {
            bounces,
            input,
            bodies: self.bodies,
            contacts: self.contacts,
            joints: self.joints,
            impulses: &impulses.contacts,
            velocities,
        }
    }

    fn new(input: &StepInput<'a>, range: &IslandRange) -> Self {
        Self {
            bodies: &input.islands.bodies[range.bodies.clone()],
            contacts: &input.islands.contacts[range.contacts.clone()],
            joints: &input.islands.joints[range.joints.clone()],
        }
    }

    /// What it does because the exact solver did not get done with it of late.
    fn pause(&self, state: &WorldState, cost: Cost) -> Pause {
        if state.settings.solver.exact_wait {
            self.trial(state, cost).pause(cost, state.steps)
        } else {
            Pause::None
        }
    }

    /// Whether some body has another one.
    fn differs(&self, state: &WorldState, trial: Trial) -> bool {
        if state.trials_until <= state.steps {
            return trial != Trial::default();
        }
        let bodies = self.bodies.iter();
        let mut bodies = bodies.filter_map(|slot| state.bodies[*slot as usize].value.as_ref());
        bodies.any(|body| body.trial != trial)
    }

    /// What came of the last attempt at its exact answer.
    fn trial(&self, state: &WorldState, cost: Cost) -> Trial {
        if state.trials_until <= state.steps {
            return Trial::default();
        }
        let bodies = self.bodies.iter();
        let bodies = bodies.filter_map(|slot| state.bodies[*slot as usize].value.as_ref());
        Trial::of_all(bodies.map(|body| body.trial), cost, state.steps)
    }
}

/// Which body of the island's problem is in which slot; `others` are those that follow its own.
fn names<'a>(others: &'a [u32], input: &StepInput<'a>, island: &Island<'_>) -> Names<'a> {
    Names {
        marks: input.marks,
        places: &input.islands.places,
        bodies: island.bodies.len(),
        others,
    }
}

/// The bodies of a joint in the island's problem.
fn joint_bodies(names: Names<'_>, joint: &JointState) -> (usize, usize) {
    let (a, b) = (joint.joint.a.index, joint.joint.b.index);
    (names.local(a), names.local(b))
}

fn joint_state(state: &WorldState, slot: u32) -> &JointState {
    let slot = &state.joints[slot as usize];
    slot.value
        .as_ref()
        .expect("an island lists only joints that are there")
}

fn row_count(joint: &JointState) -> usize {
    match joint.joint.kind {
        JointKind::Ball => 3,
        JointKind::Distance { .. } => 1,
    }
}

struct JointGeometry {
    lever_a: Vec3,
    lever_b: Vec3,
    /// From the anchor on A to the anchor on B, m.
    span: Vec3,
}

impl JointGeometry {
    fn new(state: &WorldState, joint: &JointState) -> Self {
        let arm = |index: u32, anchor: Vec3| {
            let body = state.bodies[index as usize].value.as_ref();
            body.map_or((Vec3::ZERO, Vec3::ZERO), |b| {
                (b.rotation * (anchor - b.mass.center_of_mass), b.center)
            })
        };
        let (lever_a, center_a) = arm(joint.joint.a.index, joint.joint.anchor_a);
        let (lever_b, center_b) = arm(joint.joint.b.index, joint.joint.anchor_b);
        let span = (center_b - center_a) + (lever_b - lever_a);
        Self {
            lever_a,
            lever_b,
            span,
        }
    }

    /// Unit vector from anchor to anchor; up where they coincide.
    fn axis(&self) -> Vec3 {
        self.span.try_normalize().unwrap_or(Vec3::Y)
    }

    /// By how much the joint is open, m: along the world axes, or along the rod in x.
    fn gap(&self, joint: &JointState) -> Vec3 {
        match joint.joint.kind {
            JointKind::Ball => self.span,
            JointKind::Distance { length } => vec3(self.span.length() - length, 0.0, 0.0),
        }
    }

    fn rows(
        &self,
        joint: &JointState,
        bodies: (usize, usize),
        bias: Vec3,
    ) -> impl Iterator<Item = Row> {
        let levers = (self.lever_a, self.lever_b);
        let (first, more) = match joint.joint.kind {
            JointKind::Ball => {
                let [x, y, z] = ball_joint_rows(bodies, levers, bias);
                (x, Some([y, z]))
            }
            JointKind::Distance { .. } => (
                distance_joint_row(bodies, self.axis(), levers, bias.x),
                None,
            ),
        };
        std::iter::once(first).chain(more.into_iter().flatten())
    }
}
