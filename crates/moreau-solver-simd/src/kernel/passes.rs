//! What is done to a block, or to a share of the bodies, written once over [`Lanes`].

use super::View;
use crate::balls::Balls;
use crate::colour::UnitShape;
use crate::field::Field;
use crate::job::{Job, Task};
use crate::lanes::{Lanes, Oct, WIDTH, each};
use crate::packed::{Ball, Block, BodyIndex, BodyRecord, Impulse, Pack, Point, RestState};
use crate::visit::{Mass, Pairs, Visited, add, dot, greatest, load3, scale, store3, sub, turned};
use std::ops::Range;

/// Calls a function for the shape of a block, by name, with these arguments.
macro_rules! by_shape {
    ($block:ident, $L:ident, $function:ident $(<$friction:tt>)? ($($argument:expr),*)) => {
        match $block.shape {
            UnitShape::General => $function::<$L, $($friction,)? Pairs<$L, false>>($($argument),*),
            UnitShape::Round => $function::<$L, $($friction,)? Pairs<$L, true>>($($argument),*),
            UnitShape::Balls => $function::<$L, $($friction,)? Balls<$L>>($($argument),*),
        }
    };
}

/// # Safety
/// As [`View::run`]; the processor has what `L` needs.
#[inline(always)]
#[allow(unsafe_code)]
pub(crate) unsafe fn run<L: Lanes>(view: &View<'_>, job: Job, (index, sums): (usize, usize)) {
    let block = &view.blocks[index];
    // SAFETY: the caller's promise.
    unsafe {
        match (job.task, view.friction) {
            (Task::Sweep, true) => sweep::<L, true>(view, job, (block, sums)),
            (Task::Sweep, false) => sweep::<L, false>(view, job, (block, sums)),
            (Task::Apply, _) => by_shape!(block, L, apply(view, job, block)),
            (Task::WaitingMaps, _) => by_shape!(block, L, open_maps(view, (block, sums))),
            (Task::Maps, true) => {
                by_shape!(block, L, natural_maps<true>(view, job, (block, sums)));
            }
            (Task::Maps, false) => {
                by_shape!(block, L, natural_maps<false>(view, job, (block, sums)));
            }
            // Not of blocks.
            (Task::Advance | Task::Sweeps | Task::Layers, _) => {}
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

/// What blocks of a shape hold.
trait Shape<L: Lanes>: Visited<L> {
    fn of_block<'v>(view: &'v View<'_>, block: &Block) -> (&'v [Self::Record], &'v [Self::Point]);
}

impl<L: Lanes, const ROUND: bool> Shape<L> for Pairs<L, ROUND> {
    #[inline(always)]
    fn of_block<'v>(view: &'v View<'_>, block: &Block) -> (&'v [Pack], &'v [Point]) {
        let (packs, points) = block.places();
        (&view.packs[packs], &view.points[points])
    }
}

impl<L: Lanes> Shape<L> for Balls<L> {
    #[inline(always)]
    fn of_block<'v>(view: &'v View<'_>, block: &Block) -> (&'v [Ball], &'v [Ball]) {
        let balls = &view.balls[block.ball_places()];
        (balls, balls)
    }
}

/// # Safety
/// Nobody writes the bodies.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn load<L: Lanes, P: Visited<L>>(view: &View<'_>, record: &P::Record) -> P {
    let [a, b] = P::indices(record);
    // SAFETY: the caller's promise.
    let bodies = unsafe {
        [
            turned(each!(|i| view.velocities.get(a[i].get()))),
            turned(each!(|i| view.velocities.get(b[i].get()))),
        ]
    };
    P::new(record, bodies, view.masses)
}

/// # Safety
/// Nobody else touches those that move.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn store<L: Lanes, P: Visited<L>>(view: &View<'_>, record: &P::Record, pairs: &P) {
    for (columns, bodies) in pairs.columns().into_iter().zip(P::indices(record)) {
        let rows = L::transpose(columns);
        for (row, index) in rows.into_iter().zip(bodies) {
            if index.moves() {
                // SAFETY: the caller's promise.
                row.store(unsafe { view.velocities.get_mut(index.get()) });
            }
        }
    }
}

/// Of a block, which writes to the sums of that index.
///
/// # Safety
/// As [`View::run`].
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn sweep<L: Lanes, const FRICTION: bool>(
    view: &View<'_>,
    job: Job,
    (block, sums): (&Block, usize),
) {
    let mut visit = Visit::<L> {
        view,
        from: &view.impulses[job.current],
        to: &view.impulses[1 - job.current],
        beta: L::splat(job.beta),
        square: L::splat(0.0),
        along: L::splat(0.0),
        most: L::splat(0.0),
    };
    // SAFETY: the caller's promise.
    let most = unsafe { by_shape!(block, L, sweep_packs<FRICTION>(&mut visit, block, job)) };
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

/// Returns the largest change of those that were visited, as of [`Sums`], in a whole sweep.
///
/// # Safety
/// As [`View::run`].
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn sweep_packs<L: Lanes, const FRICTION: bool, P: Shape<L>>(
    visit: &mut Visit<'_, '_, L>,
    block: &Block,
    job: Job,
) -> f64 {
    let view = visit.view;
    let (records, points) = P::of_block(view, block);
    let mut most = 0.0_f64;
    let mut next = block.points.start;
    for (k, record) in records.iter().enumerate() {
        let first = k * block.count;
        // SAFETY: the pack, its bodies and points are this block's.
        unsafe {
            let rest = view.rests.get_mut(block.packs.start + k);
            if !job.whole && rest.state != RestState::Awake {
                if rest.state == RestState::LiesDown {
                    let mut pairs = load::<L, P>(view, record);
                    for i in 0..block.count {
                        visit.lay_down(&mut pairs, &points[first + i], next + i);
                    }
                    store(view, record, &pairs);
                    rest.state = RestState::Rests;
                }
                next += block.count;
                continue;
            }
            if job.whole {
                visit.most = L::splat(0.0);
                if rest.state == RestState::Rests {
                    rest.state = RestState::LiesDown;
                }
            }
            let mut pairs = load::<L, P>(view, record);
            for i in 0..block.count {
                if let Some(next) = points.get(first + i + 1) {
                    L::prefetch(next);
                }
                visit.contact::<FRICTION, P>(&mut pairs, &points[first + i], next + i);
            }
            store(view, record, &pairs);
            if job.whole {
                rest.change_squared = greatest(visit.most);
                most = most.max(rest.change_squared);
            }
        }
        next += block.count;
    }
    most
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
    unsafe fn contact<const FRICTION: bool, P: Visited<L>>(
        &mut self,
        pairs: &mut P,
        point: &P::Point,
        index: usize,
    ) {
        // SAFETY: the caller's promise.
        let (x, slot) = unsafe { (self.from.get(index), self.to.get_mut(index)) };
        let size = L::load(P::law(point).scale);
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
    unsafe fn lay_down<P: Visited<L>>(&mut self, pairs: &mut P, point: &P::Point, index: usize) {
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
unsafe fn apply<L: Lanes, P: Shape<L>>(view: &View<'_>, job: Job, block: &Block) {
    let (records, points) = P::of_block(view, block);
    let mut indices = block.points.clone();
    for (record, points) in records.iter().zip(points.chunks(block.count)) {
        // SAFETY: the pack's bodies and points are this block's.
        unsafe {
            let mut pairs = load::<L, P>(view, record);
            for (point, i) in points.iter().zip(&mut indices) {
                let impulse = load3(view.impulses[job.current].get(i));
                pairs.apply::<true>(point, impulse);
            }
            store(view, record, &pairs);
        }
    }
}

/// # Safety
/// As [`View::run`].
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn natural_maps<L: Lanes, const FRICTION: bool, P: Shape<L>>(
    view: &View<'_>,
    job: Job,
    (block, index): (&Block, usize),
) {
    let (records, points) = P::of_block(view, block);
    let mut indices = block.points.clone();
    let (mut most, mut sum) = (L::splat(0.0), L::splat(0.0));
    for (record, points) in records.iter().zip(points.chunks(block.count)) {
        // SAFETY: the task reads velocities, and the points are this block's.
        unsafe {
            let pairs = load::<L, P>(view, record);
            for (point, i) in points.iter().zip(&mut indices) {
                let impulse = load3(view.impulses[job.current].get(i));
                let map = pairs.natural_map::<FRICTION>(point, impulse);
                map.store(view.maps.get_mut(i));
                most = map.max(most);
                sum = sum + map;
            }
        }
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
unsafe fn open_maps<L: Lanes, P: Shape<L>>(view: &View<'_>, (block, index): (&Block, usize)) {
    let (records, points) = P::of_block(view, block);
    let mut indices = block.points.clone();
    let zero = L::splat(0.0);
    let mut most = zero;
    for (record, points) in records.iter().zip(points.chunks(block.count)) {
        // SAFETY: the task reads velocities, and the points are this block's.
        unsafe {
            let pairs = load::<L, P>(view, record);
            for (point, i) in points.iter().zip(&mut indices) {
                let map = (zero - pairs.shifted_normal_velocity(point)).max(zero);
                map.store(view.maps.get_mut(i));
                most = map.max(most);
            }
        }
    }
    let mut lanes = Oct::default();
    most.store(&mut lanes);
    // SAFETY: this block's.
    let sums = unsafe { view.sums.get_mut(index) };
    sums.map = lanes.0.into_iter().fold(0.0, f64::max);
}

/// # Safety
/// Nobody else touches the bodies.
#[inline(always)]
#[allow(unsafe_code)]
pub(crate) unsafe fn advance(view: &View<'_>, beta: f64, bodies: Range<usize>) {
    for body in bodies {
        // SAFETY: the caller's promise.
        let (v, end) = unsafe { (view.velocities.get_mut(body), view.ends.get_mut(body)) };
        let new = *v;
        v.0 = each!(|k| new.0[k] + (new.0[k] - end.0[k]) * beta);
        *end = new;
    }
}
