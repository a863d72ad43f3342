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

use crate::arithmetic::Arithmetic;
#[cfg(target_arch = "x86_64")]
use crate::arithmetic::x86::{run_avx2, run_avx512};
use crate::colour::Kind;
use crate::field::Field;
use crate::job::{Job, Task};
use crate::lanes::{Lanes, Oct, Plain, WIDTH, each};
use crate::packed::{
    Block, BodyIndex, BodyRecord, Impulse, Pack, Packed, Point, Rest, RestState, Sums, record,
};
use crate::team::{Help, MOST_BLOCKS, MOST_PHASES, Team, Work};
use crate::visit::{Body, Mass, Pairs, add, dot, greatest, load3, scale, store3, sub};
use crate::wave::{Plan, Schedule, Step, What};
use moreau_constraint::BodyInput;
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
        let phases = self.groups.len().max(self.schedule.phases.len());
        let blocks = self.blocks.len().max(self.schedule.steps.len());
        let countable = phases < MOST_PHASES && blocks < MOST_BLOCKS;
        let threads = if countable { threads } else { 1 };
        // tidy: allow(lanes-closure): it runs no lanes itself
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
            Task::Maps => 0..self.blocks.len(),
            Task::WaitingMaps => self.waiting.clone(),
            Task::Advance => 0..self.velocities.len().div_ceil(BODIES),
        };
        (phase == 0).then_some(all)
    }

    /// Whether all of it is moving bodies ahead.
    pub(crate) fn only_advances(&self, job: Job, index: usize) -> bool {
        match job.task {
            Task::Advance => true,
            Task::Sweeps => matches!(self.schedule.steps[index].what, What::Advance(_)),
            _ => false,
        }
    }

    /// # Safety
    /// What runs at the same time is of the same job, and of the same phase where the job changes
    /// velocities, and has another index.
    #[allow(unsafe_code)]
    unsafe fn run(&self, job: Job, index: usize) {
        match self.arithmetic {
            // SAFETY: the caller's promise; a processor with AVX2 or AVX-512F, see `Arithmetic`.
            Arithmetic::Plain => unsafe { run::<Plain>(self, job, index) },
            #[cfg(target_arch = "x86_64")]
            Arithmetic::Avx2 => unsafe { run_avx2(self, job, index) },
            #[cfg(target_arch = "x86_64")]
            Arithmetic::Avx512 => unsafe { run_avx512(self, job, index) },
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
            velocities[kind.place as usize] = record(&body.velocity);
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

    pub(crate) fn maps(&mut self) -> &[Oct] {
        unsafe { self.view.maps.all() }
    }

    /// Sweeps that can be made side by side; less than 2: none.
    pub(crate) fn sweeps_at_once(&self) -> usize {
        self.view.schedule.sweeps
    }

    /// Makes the sweeps of a plan, at most [`Self::sweeps_at_once`].
    pub(crate) fn run_sweeps(&mut self, plan: Plan, current: usize) {
        unsafe { *self.view.plan.get_mut(0) = plan };
        self.run(Job {
            task: Task::Sweeps,
            current,
            beta: 0.0,
            whole: true,
        });
    }

    /// Packs that whole sweeps visit.
    pub(crate) fn visited_packs(&self) -> usize {
        self.view.packs.len() - self.view.waiting_packs
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

/// # Safety
/// As [`View::run`]; the processor has what `L` needs.
#[inline(always)]
#[allow(unsafe_code)]
pub(crate) unsafe fn run<L: Lanes>(view: &View<'_>, job: Job, index: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        match (job.task, view.friction) {
            (Task::Sweep, true) => sweep::<L, true>(view, job, (index, index)),
            (Task::Sweep, false) => sweep::<L, false>(view, job, (index, index)),
            (Task::Sweeps, true) => step::<L, true>(view, job, index),
            (Task::Sweeps, false) => step::<L, false>(view, job, index),
            (Task::Apply, _) => apply::<L>(view, job, index),
            (Task::WaitingMaps, _) => open_maps::<L>(view, index),
            (Task::Maps, true) => natural_maps::<L, true>(view, job, index),
            (Task::Maps, false) => natural_maps::<L, false>(view, job, index),
            (Task::Advance, _) => {
                let start = index * BODIES;
                for body in start..(start + BODIES).min(view.velocities.len()) {
                    advance(view, job.beta, body);
                }
            }
        }
    }
}

#[inline(always)]
pub(crate) fn load_mass<L: Lanes>(
    masses: &[BodyRecord],
    bodies: &[BodyIndex; WIDTH],
) -> Mass<L, false> {
    Mass::load(each!(|i| &masses[bodies[i].get()]))
}

/// # Safety
/// Nobody writes the bodies.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn load_body<L: Lanes>(view: &View<'_>, bodies: &[BodyIndex; WIDTH]) -> Body<L> {
    // SAFETY: the caller's promise.
    Body::load(unsafe { each!(|i| view.velocities.get(bodies[i].get())) })
}

/// # Safety
/// Nobody writes the bodies of the pack.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn load_pairs<L: Lanes>(view: &View<'_>, pack: &Pack) -> Pairs<L, false> {
    // SAFETY: the caller's promise.
    let bodies = unsafe { [load_body(view, &pack.a), load_body(view, &pack.b)] };
    let masses = [
        load_mass(view.masses, &pack.a),
        load_mass(view.masses, &pack.b),
    ];
    Pairs::new(pack, bodies, masses)
}

/// Of a pack of round bodies.
///
/// # Safety
/// Nobody writes the bodies of the pack.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn load_round_pairs<L: Lanes>(view: &View<'_>, pack: &Pack) -> Pairs<L, true> {
    // SAFETY: the caller's promise.
    let bodies = unsafe { [load_body(view, &pack.a), load_body(view, &pack.b)] };
    let [a, b] = &pack.round_masses;
    let masses = [
        Mass::load_round([&a[0], &a[1]]),
        Mass::load_round([&b[0], &b[1]]),
    ];
    Pairs::new(pack, bodies, masses)
}

/// # Safety
/// Nobody else touches those that move.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn store_bodies<L: Lanes>(view: &View<'_>, bodies: &[BodyIndex; WIDTH], body: Body<L>) {
    let rows = body.rows();
    for (row, index) in rows.into_iter().zip(bodies) {
        if index.moves() {
            // SAFETY: the caller's promise.
            row.store(unsafe { view.velocities.get_mut(index.get()) });
        }
    }
}

/// # Safety
/// Nobody else touches the bodies that move.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn store_pairs<L: Lanes, const ROUND: bool>(
    view: &View<'_>,
    pack: &Pack,
    pairs: &Pairs<L, ROUND>,
) {
    // SAFETY: the caller's promise.
    unsafe {
        store_bodies(view, &pack.a, pairs.a);
        store_bodies(view, &pack.b, pairs.b);
    }
}

/// A step of several sweeps.
///
/// # Safety
/// As [`View::run`].
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn step<L: Lanes, const FRICTION: bool>(view: &View<'_>, job: Job, index: usize) {
    let Step { what, sweep: which } = view.schedule.steps[index];
    let which = usize::from(which);
    // SAFETY: nobody writes it during a job; the caller's promise.
    unsafe {
        let plan = view.plan.get(0);
        if which >= plan.sweeps {
            return;
        }
        let beta = plan.betas[which];
        match what {
            What::Visit(block) => {
                let job = Job {
                    task: Task::Sweep,
                    current: (job.current + which) & 1,
                    beta,
                    whole: plan.whole[which],
                };
                let index = block as usize;
                let sums = which * view.blocks.len() + index;
                sweep::<L, FRICTION>(view, job, (index, sums));
            }
            What::Advance(share) => {
                let share = view.schedule.shares[share as usize].clone();
                for body in share {
                    advance(view, beta, body);
                }
            }
        }
    }
}

/// Of a block, which has the index, and writes to sums of another one.
///
/// # Safety
/// As [`View::run`].
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn sweep<L: Lanes, const FRICTION: bool>(
    view: &View<'_>,
    job: Job,
    (index, sums): (usize, usize),
) {
    let block = &view.blocks[index];
    let mut visit = Visit::<L> {
        view,
        from: &view.impulses[job.current],
        to: &view.impulses[1 - job.current],
        beta: L::splat(job.beta),
        square: L::splat(0.0),
        along: L::splat(0.0),
        most: L::splat(0.0),
    };
    let mut most = 0.0_f64;
    let mut next = block.points.start;
    for index in block.packs.clone() {
        let pack = &view.packs[index];
        let points = next..next + block.count;
        next = points.end;
        // SAFETY: the pack, its bodies and points are this block's.
        unsafe {
            let rest = view.rests.get_mut(index);
            if !job.whole && rest.state != RestState::Awake {
                if rest.state == RestState::LiesDown {
                    let mut pairs = load_pairs::<L>(view, pack);
                    for i in points {
                        visit.lay_down(&mut pairs, i);
                    }
                    store_pairs(view, pack, &pairs);
                    rest.state = RestState::Rests;
                }
                continue;
            }
            if job.whole {
                visit.most = L::splat(0.0);
                if rest.state == RestState::Rests {
                    rest.state = RestState::LiesDown;
                }
            }
            if block.round {
                let mut pairs = load_round_pairs::<L>(view, pack);
                for i in points {
                    visit.contact::<FRICTION, true>(&mut pairs, i);
                }
                store_pairs(view, pack, &pairs);
            } else {
                let mut pairs = load_pairs::<L>(view, pack);
                for i in points {
                    visit.contact::<FRICTION, false>(&mut pairs, i);
                }
                store_pairs(view, pack, &pairs);
            }
            if job.whole {
                rest.change_squared = greatest(visit.most);
                most = most.max(rest.change_squared);
            }
        }
    }
    let most = if job.whole {
        most
    } else {
        greatest(visit.most)
    };
    let mut lanes = [Oct::default(); 2];
    visit.square.store(&mut lanes[0]);
    visit.along.store(&mut lanes[1]);
    // In memory, so that the stack is aligned like it: spilled registers that straddle cache lines cost
    // a tenth of the time.
    std::hint::black_box(&mut lanes);
    // SAFETY: this block's, or its in this sweep.
    let sums = unsafe { view.sums.get_mut(sums) };
    sums.square = lanes[0].sum();
    sums.along = lanes[1].sum();
    sums.change_squared = most;
}

/// A sweep through a block.
struct Visit<'v, 'a, L> {
    view: &'v View<'a>,
    from: &'v Field<'a, Impulse>,
    to: &'v Field<'a, Impulse>,
    beta: L,
    square: L,
    along: L,
    most: L,
}

impl<L: Lanes> Visit<'_, '_, L> {
    /// # Safety
    /// The point is the caller's block's.
    #[inline(always)]
    #[allow(unsafe_code)]
    unsafe fn contact<const FRICTION: bool, const ROUND: bool>(
        &mut self,
        pairs: &mut Pairs<L, ROUND>,
        index: usize,
    ) {
        let point = &self.view.points[index];
        // SAFETY: the caller's promise.
        let (x, slot) = unsafe { (self.from.get(index), self.to.get_mut(index)) };
        if let Some(next) = self.view.points.get(index + 1) {
            L::prefetch(next);
        }
        let size = L::load(&point.scale);
        if FRICTION {
            let (x, before) = (load3::<L>(x), load3(slot));
            let l = add(x, scale(sub(x, before), self.beta));
            let answer = pairs.answer::<FRICTION>(point, l);
            store3(answer, slot);
            let change = sub(answer, l);
            pairs.apply::<FRICTION>(point, change);
            self.add(size, dot(change, change));
            self.along = self.along + size * dot(change, sub(answer, x));
        } else {
            let zero = L::splat(0.0);
            let (x, before) = (L::load(&x[0]), L::load(&slot[0]));
            let l = x + (x - before) * self.beta;
            let [answer, ..] = pairs.answer::<FRICTION>(point, [l, zero, zero]);
            answer.store(&mut slot[0]);
            let change = answer - l;
            pairs.apply::<FRICTION>(point, [change, zero, zero]);
            self.add(size, change * change);
            self.along = self.along + size * (change * (answer - x));
        }
    }
}

impl<L: Lanes> Visit<'_, '_, L> {
    /// Takes back what momentum did to the contact, which ends where it is in both lists.
    ///
    /// # Safety
    /// The point is the caller's block's.
    #[inline(always)]
    #[allow(unsafe_code)]
    unsafe fn lay_down(&mut self, pairs: &mut Pairs<L, false>, index: usize) {
        let point = &self.view.points[index];
        // SAFETY: the caller's promise.
        let (end, slot) = unsafe { (self.from.get(index), self.to.get_mut(index)) };
        let (x, before) = (load3::<L>(end), load3(slot));
        *slot = *end;
        pairs.apply::<true>(point, scale(sub(before, x), self.beta));
    }

    #[inline(always)]
    fn add(&mut self, size: L, squared: L) {
        let square = size * squared;
        self.square = self.square + square;
        self.most = (size * square).max(self.most);
    }
}

/// # Safety
/// As [`View::run`].
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn apply<L: Lanes>(view: &View<'_>, job: Job, index: usize) {
    let block = &view.blocks[index];
    let mut next = block.points.start;
    for pack in &view.packs[block.packs.clone()] {
        // SAFETY: the pack's bodies and points are this block's.
        unsafe {
            let mut pairs = load_pairs::<L>(view, pack);
            for i in next..next + block.count {
                let impulse = load3(view.impulses[job.current].get(i));
                pairs.apply::<true>(&view.points[i], impulse);
            }
            store_pairs(view, pack, &pairs);
        }
        next += block.count;
    }
}

/// # Safety
/// As [`View::run`].
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn natural_maps<L: Lanes, const FRICTION: bool>(view: &View<'_>, job: Job, index: usize) {
    let block = &view.blocks[index];
    let mut next = block.points.start;
    let (mut most, mut sum) = (L::splat(0.0), L::splat(0.0));
    for pack in &view.packs[block.packs.clone()] {
        // SAFETY: the task reads velocities, and the points are this block's.
        unsafe {
            let pairs = load_pairs::<L>(view, pack);
            for i in next..next + block.count {
                let impulse = load3(view.impulses[job.current].get(i));
                let map = pairs.natural_map::<FRICTION>(&view.points[i], impulse);
                map.store(view.maps.get_mut(i));
                most = map.max(most);
                sum = sum + map;
            }
        }
        next += block.count;
    }
    let mut lanes = [Oct::default(); 2];
    most.store(&mut lanes[0]);
    sum.store(&mut lanes[1]);
    let most = lanes[0].0.into_iter().fold(0.0, f64::max);
    // What is no number is lost in the largest, not in the sum.
    let sum = lanes[1].sum();
    // SAFETY: this block's.
    let sums = unsafe { view.sums.get_mut(index) };
    sums.map = if sum.is_finite() { most } else { sum };
}

/// Of contacts without impulse: max(0, -s_n). Smaller than the natural map of one that closes, and zero with it.
///
/// # Safety
/// As [`View::run`].
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn open_maps<L: Lanes>(view: &View<'_>, index: usize) {
    let block = &view.blocks[index];
    let mut next = block.points.start;
    let zero = L::splat(0.0);
    let mut most = zero;
    for pack in &view.packs[block.packs.clone()] {
        // SAFETY: the task reads velocities, and the points are this block's.
        unsafe {
            let pairs = load_pairs::<L>(view, pack);
            for i in next..next + block.count {
                let map = (zero - pairs.shifted_normal_velocity(&view.points[i])).max(zero);
                map.store(view.maps.get_mut(i));
                most = map.max(most);
            }
        }
        next += block.count;
    }
    let mut lanes = Oct::default();
    most.store(&mut lanes);
    // SAFETY: this block's.
    let sums = unsafe { view.sums.get_mut(index) };
    sums.map = lanes.0.into_iter().fold(0.0, f64::max);
}

/// # Safety
/// Nobody else touches the body.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn advance(view: &View<'_>, beta: f64, body: usize) {
    // SAFETY: the caller's promise.
    let (v, end) = unsafe { (view.velocities.get_mut(body), view.ends.get_mut(body)) };
    let new = *v;
    v.0 = each!(|k| new.0[k] + (new.0[k] - end.0[k]) * beta);
    *end = new;
}
