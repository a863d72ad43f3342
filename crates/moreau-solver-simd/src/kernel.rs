//! Blocks of contacts, visited by one thread or by several.
//!
//! All that threads write lies in [`Field`]s, and one rule keeps them apart. A field is touched only
//!
//! * by the thread that runs a block, and there only what the block owns: its points, its sums, and
//!   the bodies that its pairs move; other bodies are read by all and written by none;
//! * by [`Conductor`], between two tasks, while no block runs.
//!
//! Blocks that run at once belong to one group, and [`crate::colour`] gives no two pairs of a group
//! the same moving body (a pair without a colour is a group of its own); or to groups in layers that have no body in
//! common, see [`crate::layers`]. Bodies that are moved ahead at once are different ones. So no two threads touch the
//! same memory, unless all of them read it. A task ends before [`Conductor::run`] returns, and each
//! thread sees what those before it wrote, for [`Team`] orders them.

mod passes;

use crate::arithmetic::Arithmetic;
#[cfg(target_arch = "x86_64")]
use crate::arithmetic::x86::{advance_avx2, run_avx2, run_avx512};
use crate::colour::Kind;
use crate::field::Field;
use crate::job::{Job, Task};
use crate::lanes::{Oct, Plain};
use crate::packed::{
    Ball, Block, BodyRecord, Impulse, Pack, Packed, Point, Rest, Sums, body_record, set_velocity,
};
use crate::team::{Help, MOST_BLOCKS, MOST_PHASES, Team, Work};
use crate::wave::{LayerVisit, Plan, Schedule, Step, What};
use moreau_constraint::BodyInput;
use moreau_math::Velocity;
pub(crate) use passes::{advance, load_mass, run};
use std::ops::Range;

/// Bodies of one share of [`Task::Advance`].
const BODIES: usize = 512;

/// What blocks work on.
pub(crate) struct View<'a> {
    arithmetic: Arithmetic,
    friction: bool,
    groups: &'a [Range<usize>],
    blocks: &'a [Block],
    waiting: Range<usize>,
    waiting_packs: usize,
    packs: &'a [Pack],
    points: &'a [Point],
    balls: &'a [Ball],
    bodies: &'a [Kind],
    masses: &'a [BodyRecord],
    impulses: [Field<'a, Impulse>; 2],
    maps: Field<'a, Oct>,
    rests: Field<'a, Rest>,
    sums: Field<'a, Sums>,
    velocities: Field<'a, BodyRecord>,
    ends: Field<'a, BodyRecord>,
    schedule: &'a Schedule,
    plan: Field<'a, Plan>,
}

impl<'a> View<'a> {
    pub(crate) fn new(packed: &'a mut Packed, arithmetic: Arithmetic) -> Self {
        let [first, second] = &mut packed.impulses;
        Self {
            arithmetic,
            friction: packed.friction,
            groups: &packed.groups,
            blocks: &packed.blocks,
            waiting: packed.waiting.clone(),
            waiting_packs: packed.waiting_packs,
            packs: &packed.packs,
            points: &packed.points,
            balls: &packed.balls,
            bodies: &packed.bodies,
            masses: &packed.masses,
            impulses: [Field::new(first), Field::new(second)],
            maps: Field::new(&mut packed.maps),
            rests: Field::new(&mut packed.rests),
            sums: Field::new(&mut packed.sums),
            velocities: Field::new(&mut packed.velocities),
            ends: Field::new(&mut packed.ends),
            schedule: &packed.schedule,
            plan: Field::new(&mut packed.plan),
        }
    }

    /// Runs `work` with the conductor of this view, and with `threads` threads of the caller's pool.
    pub(crate) fn conduct<R>(
        &self,
        threads: usize,
        work: impl FnOnce(&mut Conductor<'_, '_>) -> R,
    ) -> R {
        let schedule = self.schedule;
        let phases = schedule.phases.len().max(schedule.waves.len());
        let phases = self.groups.len().max(phases);
        let blocks = schedule.steps.len().max(schedule.visits.len());
        let blocks = self.blocks.len().max(blocks);
        let countable = phases < MOST_PHASES && blocks < MOST_BLOCKS;
        let threads = if countable { threads } else { 1 };
        Team::with_help(threads, &Shared(self), |team| {
            work(&mut Conductor { view: self, team })
        })
    }

    /// What is done at once in a job's phases, one after the other: colours follow each other where the order
    /// matters.
    fn phase(&self, job: Job, phase: usize) -> Option<Range<usize>> {
        let all = match job.task {
            Task::Sweep | Task::Apply => return self.groups.get(phase).cloned(),
            Task::Sweeps => return self.schedule.phases.get(phase).cloned(),
            Task::Layers => return self.schedule.waves.get(phase).cloned(),
            Task::Maps => 0..self.blocks.len(),
            Task::WaitingMaps => self.waiting.clone(),
            Task::Advance => 0..self.velocities.len().div_ceil(BODIES),
        };
        (phase == 0).then_some(all)
    }

    /// # Safety
    /// What runs at the same time is of the same job, and of the same phase where the job changes
    /// velocities, and has another index.
    #[allow(unsafe_code)]
    unsafe fn run(&self, job: Job, index: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            match job.task {
                Task::Sweeps => self.step(job, self.schedule.steps[index]),
                Task::Layers => {
                    let LayerVisit { sweep, layer } = self.schedule.visits[index];
                    let parts = self.schedule.layer_parts[layer as usize].clone();
                    for what in &self.schedule.parts[parts] {
                        self.step(job, Step { what: *what, sweep });
                    }
                }
                Task::Advance => {
                    let start = index * BODIES;
                    let end = (start + BODIES).min(self.velocities.len());
                    self.advance(job.beta, start..end);
                }
                _ => self.work(job, index, index),
            }
        }
    }

    /// A step of several sweeps.
    ///
    /// # Safety
    /// As [`Self::run`].
    #[allow(unsafe_code)]
    unsafe fn step(&self, job: Job, Step { what, sweep }: Step) {
        let which = usize::from(sweep);
        // SAFETY: nobody writes it during a job.
        let plan = unsafe { self.plan.get(0) };
        if which >= plan.sweeps {
            return;
        }
        let beta = plan.betas[which];
        // SAFETY: the caller's promise.
        unsafe {
            match what {
                What::Visit(block) => {
                    let index = block as usize;
                    let job = Job {
                        task: Task::Sweep,
                        current: (job.current + which) & 1,
                        beta,
                        whole: plan.whole[which],
                    };
                    self.work(job, index, which * self.blocks.len() + index);
                }
                What::Advance(share) => {
                    let share = &self.schedule.shares[share as usize];
                    self.advance(beta, share.clone());
                }
            }
        }
    }

    /// A block, which writes to sums of another index at times.
    ///
    /// # Safety
    /// As [`Self::run`].
    #[allow(unsafe_code)]
    unsafe fn work(&self, job: Job, index: usize, sums: usize) {
        // SAFETY: the caller's promise; a processor with AVX2 or AVX-512F, see `Arithmetic`.
        unsafe {
            match self.arithmetic {
                Arithmetic::Plain => run::<Plain>(self, job, (index, sums)),
                #[cfg(target_arch = "x86_64")]
                Arithmetic::Avx2 => run_avx2(self, job, (index, sums)),
                #[cfg(target_arch = "x86_64")]
                Arithmetic::Avx512 => run_avx512(self, job, (index, sums)),
            }
        }
    }

    /// Moves bodies ahead.
    ///
    /// # Safety
    /// Nobody else touches them.
    #[allow(unsafe_code)]
    unsafe fn advance(&self, beta: f64, bodies: Range<usize>) {
        // SAFETY: the caller's promise; a processor with AVX2, see `Arithmetic`: who has AVX-512F has it too, and
        // gathers of 512 bits, which the compiler would make of it, take five times the time.
        unsafe {
            match self.arithmetic {
                Arithmetic::Plain => advance(self, beta, bodies),
                #[cfg(target_arch = "x86_64")]
                _ => advance_avx2(self, beta, bodies),
            }
        }
    }
}

/// What a team does for a conductor.
struct Shared<'v, 'a>(&'v View<'a>);

impl Work for Shared<'_, '_> {
    fn phase(&self, words: [u64; 2], phase: usize) -> Option<Range<usize>> {
        self.0.phase(Job::from_words(words), phase)
    }

    fn block(&self, words: [u64; 2], index: usize) {
        // SAFETY: a team runs blocks of one phase of one job of its conductor at a time, each once.
        #[allow(unsafe_code)]
        unsafe {
            self.0.run(Job::from_words(words), index);
        }
    }
}

/// The thread that says what is done next. While it lives nobody else touches the view, but for what
/// runs inside of its own methods.
pub(crate) struct Conductor<'v, 'a> {
    view: &'v View<'a>,
    team: Option<Help<'v>>,
}

// SAFETY, of all methods: they take the conductor by exclusive reference, there is one for a view, and
// when they start no block runs.
#[allow(unsafe_code)]
impl Conductor<'_, '_> {
    /// Does `task` to everything.
    pub(crate) fn run(&mut self, job: Job) {
        if let Some(team) = &self.team {
            return team.run(job.to_words());
        }
        for phase in 0.. {
            let Some(range) = self.view.phase(job, phase) else {
                return;
            };
            for index in range {
                // SAFETY: one after the other.
                unsafe { self.view.run(job, index) }
            }
        }
    }

    /// Without impulses.
    pub(crate) fn free_velocities(&mut self, bodies: &[BodyInput]) {
        let velocities = unsafe { self.view.velocities.all() };
        for (kind, body) in self.view.bodies.iter().zip(bodies) {
            velocities[kind.place as usize] = body_record(body);
        }
    }

    /// Of all bodies, in the order of the problem.
    pub(crate) fn set_velocities(&mut self, of: &[Velocity]) {
        let velocities = unsafe { self.view.velocities.all() };
        for (kind, velocity) in self.view.bodies.iter().zip(of) {
            set_velocity(&mut velocities[kind.place as usize], velocity);
        }
    }

    /// Where bodies lie in their own order: in problems with rows.
    pub(crate) fn velocities(&mut self) -> &mut [BodyRecord] {
        unsafe { self.view.velocities.all() }
    }

    /// From one list to the other.
    pub(crate) fn copy_impulses(&mut self, from: usize) {
        let [first, second] = &self.view.impulses;
        let (first, second) = unsafe { (first.all(), second.all()) };
        if from == 0 {
            second.copy_from_slice(first);
        } else {
            first.copy_from_slice(second);
        }
    }

    pub(crate) fn impulses(&mut self, which: usize) -> &mut [Impulse] {
        unsafe { self.view.impulses[which].all() }
    }

    /// Natural maps of the last look, of the places of those blocks whose largest is not less than `least`.
    pub(crate) fn maps_from(&mut self, least: f64) -> impl Iterator<Item = (usize, Oct)> {
        let (maps, sums): (&[Oct], &[Sums]) =
            unsafe { (self.view.maps.all(), self.view.sums.all()) };
        let blocks = self.view.blocks.iter().zip(sums);
        let blocks = blocks.filter(move |(_, sums)| !(sums.map < least));
        let places = blocks.flat_map(|(block, _)| block.points.clone());
        places.map(|place| (place, maps[place]))
    }

    /// Sweeps that can be made side by side; less than 2: none.
    pub(crate) fn sweeps_at_once(&self) -> usize {
        self.view.schedule.sweeps
    }

    /// Makes the sweeps of a plan, at most [`Self::sweeps_at_once`].
    pub(crate) fn run_sweeps(&mut self, plan: Plan, current: usize) {
        let threads = self.team.as_ref().map_or(1, Help::threads);
        let task = if plan.sweeps < threads {
            Task::Sweeps
        } else {
            Task::Layers
        };
        unsafe { *self.view.plan.get_mut(0) = plan };
        self.run(Job {
            task,
            current,
            beta: 0.0,
            whole: true,
        });
    }

    /// Packs that whole sweeps visit.
    pub(crate) fn visited_packs(&self) -> usize {
        self.view.rests.len() - self.view.waiting_packs
    }

    /// Of these packs.
    pub(crate) fn rests(&mut self) -> &mut [Rest] {
        let rests = unsafe { self.view.rests.all() };
        &mut rests[self.view.waiting_packs..]
    }

    /// Of the last job.
    pub(crate) fn sums(&mut self) -> &[Sums] {
        self.sums_of(0)
    }

    /// Of one of several sweeps.
    pub(crate) fn sums_of(&mut self, sweep: usize) -> &[Sums] {
        let blocks = self.view.blocks.len();
        let sums: &[Sums] = unsafe { self.view.sums.all() };
        &sums[sweep * blocks..][..blocks]
    }

    /// Of the blocks of contacts that wait.
    pub(crate) fn waiting_sums(&mut self) -> &[Sums] {
        let sums: &[Sums] = unsafe { self.view.sums.all() };
        &sums[self.view.waiting.clone()]
    }
}
