//! Threads that share the blocks of a job.
//!
//! A job is a row of *phases*, each a range of blocks that may be done in any order, or at once; a phase begins when
//! all blocks of the one before are done. Each thread has a queue: its share of the blocks of a phase, the same ones
//! whenever the job comes again, so that what they read stays in its cache. Who is done with its own queue takes
//! blocks of the others'. When a phase is done each thread goes on to the next one by itself, without being told: a
//! sweep has a phase for each colour, some microseconds long.
//!
//! The thread that solves publishes jobs and takes part. It never waits for a thread to begin: where none comes it
//! does all blocks itself. So a solve ends whatever else the pool has to do, and which thread takes which block
//! decides nothing but the time.
//!
//! ```text
//! ticket   job (20 bits) | phase (20 bits) | blocks not yet taken (24 bits)   of each queue; changed by compare and exchange
//! done     blocks that the queue's thread has ever finished
//! slot     words of a job, and the blocks of all jobs before it; jobs use two slots in turn
//! ```
//!
//! A ticket goes on to a phase only when those before are done, and so has no block left then; it stays behind where
//! its thread does not come, until another one takes it along. A slot is written for job j+2 when all of job j+1 is
//! done, whose tickets have replaced those of job j. What was read from it for a ticket of job j is used
//! only if the ticket is still the same afterwards, and then is that of job j: who reads (acquire) a later word from a
//! slot (release) sees the tickets that replaced his own before it was written.

use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a team does. Called with words of another job at times; the answers are then thrown away.
pub(crate) trait Work: Sync {
    /// The blocks of a phase of a job; `None` behind the last one. Each phase starts where the one before ends.
    fn phase(&self, words: [u64; 2], phase: usize) -> Option<Range<usize>>;

    /// Does a block.
    fn block(&self, words: [u64; 2], index: usize);
}

/// Fewer blocks are done sooner than shared.
const FEWEST_SHARED: u64 = 3;

/// Cache lines of its own; two, for they are fetched in pairs.
#[derive(Default)]
#[repr(align(128))]
struct Line<T>(T);

/// What is shared.
pub(crate) struct Team {
    queues: Vec<Queue>,
    slots: [Line<Slot>; 2],
}

struct Queue {
    ticket: Line<AtomicU64>,
    done: Line<AtomicU64>,
}

impl Queue {
    /// Behind the last phase of a job that is over.
    fn new() -> Self {
        let place = Place {
            job: 0,
            phase: MOST_PHASES as u64 - 1,
        };
        Self {
            ticket: Line(AtomicU64::new(place.ticket(0))),
            done: Line::default(),
        }
    }
}

#[derive(Default)]
struct Slot {
    words: [AtomicU64; 2],
    before: AtomicU64,
}

/// The ticket when all is over.
const OVER: u64 = u64::MAX;

/// Looks before a thread lets others run.
const PATIENCE: u32 = 4000;

/// Blocks that a queue must have left for others to take some: the last ones are done before another thread knows
/// of them.
const WORTH_TAKING: u64 = 4;

/// Looks after which who waits takes what others have not begun.
const LOOKS: u32 = 100;

/// A place in the row of phases.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    job: u64,
    phase: u64,
}

const JOB_BITS: u32 = 20;
const PHASE_BITS: u32 = 20;
const LEFT_BITS: u32 = 24;

/// A ticket cannot tell so many phases, or blocks of a phase.
pub(crate) const MOST_PHASES: usize = 1 << PHASE_BITS;
pub(crate) const MOST_BLOCKS: usize = 1 << LEFT_BITS;

impl Place {
    /// Its ticket, and what a ticket says.
    fn ticket(self, left: u64) -> u64 {
        self.job << (PHASE_BITS + LEFT_BITS) | self.phase << LEFT_BITS | left
    }

    fn of(ticket: u64) -> (Self, u64) {
        let part = |bits: u32, shift: u32| ticket >> shift & ((1 << bits) - 1);
        let place = Self {
            job: part(JOB_BITS, PHASE_BITS + LEFT_BITS),
            phase: part(PHASE_BITS, LEFT_BITS),
        };
        (place, part(LEFT_BITS, 0))
    }
}

/// The conductor's end of a team.
pub(crate) struct Help<'a> {
    crew: Crew<'a>,
    /// Blocks of all jobs so far.
    all: Cell<u64>,
    /// Number of the last job.
    number: Cell<u64>,
}

impl Team {
    /// Runs `work` while the threads of the caller's rayon pool help, `threads` with the caller;
    /// alone where that is 1.
    pub(crate) fn with_help<R>(
        threads: usize,
        work: &dyn Work,
        conduct: impl FnOnce(Option<Help<'_>>) -> R,
    ) -> R {
        if threads <= 1 {
            return conduct(None);
        }
        let team = &Self {
            queues: (0..threads).map(|_| Queue::new()).collect(),
            slots: Default::default(),
        };
        let crew = Crew { team, work };
        rayon::in_place_scope(|scope| {
            for me in 1..threads {
                scope.spawn(move |_| crew.help(me));
            }
            // Helpers end also where `conduct` panics.
            let _end = End(team);
            conduct(Some(Help {
                crew,
                all: Cell::new(0),
                number: Cell::new(0),
            }))
        })
    }

    /// The part of a phase that is a queue's. Wraps where the range is none.
    fn share(&self, range: &Range<usize>, queue: usize) -> Range<u64> {
        let (start, end) = (range.start as u64, range.end as u64);
        let (count, threads) = (end.wrapping_sub(start), self.queues.len() as u64);
        if count < FEWEST_SHARED {
            return if queue == 0 { start..end } else { end..end };
        }
        let at = |k: u64| start.wrapping_add(count.wrapping_mul(k) / threads);
        at(queue as u64)..at(queue as u64 + 1)
    }

    /// Blocks that are done, of all jobs.
    fn done(&self) -> u64 {
        let each = self.queues.iter().map(|q| q.done.0.load(Ordering::Acquire));
        each.sum()
    }
}

/// A team with what it does.
#[derive(Clone, Copy)]
struct Crew<'a> {
    team: &'a Team,
    work: &'a dyn Work,
}

impl Crew<'_> {
    /// What another thread than the conductor does.
    fn help(self, me: usize) {
        let own = &self.team.queues[me].ticket.0;
        loop {
            let ticket = own.load(Ordering::Acquire);
            if ticket == OVER {
                return;
            }
            let (place, _) = Place::of(ticket);
            self.take_part(me, place);
            // The ticket is taken on by this thread, when all is done here, or by another one.
            let next = Place {
                phase: place.phase + 1,
                ..place
            };
            let end = self.end(place);
            let mut waited = 0;
            while Place::of(own.load(Ordering::Acquire)).0 == place {
                if end.is_some_and(|end| self.team.done() >= end) && self.bring(me, next) {
                    break;
                }
                self.pause(me, place, &mut waited);
            }
        }
    }

    fn words(self, job: u64) -> [u64; 2] {
        let [first, second] = &self.team.slots[job as usize & 1].0.words;
        [
            first.load(Ordering::Acquire),
            second.load(Ordering::Acquire),
        ]
    }

    fn range(self, place: Place) -> Option<Range<usize>> {
        self.work.phase(self.words(place.job), place.phase as usize)
    }

    /// How many blocks of all jobs are done when a phase is.
    fn end(self, place: Place) -> Option<u64> {
        let first = self.range(Place { phase: 0, ..place })?;
        let range = self.range(place)?;
        let slot = &self.team.slots[place.job as usize & 1].0;
        let before = slot.before.load(Ordering::Acquire);
        Some(before.wrapping_add(range.end.wrapping_sub(first.start) as u64))
    }

    /// Takes a queue's ticket on to a phase of the same job, whose phases before are done; false where that is not
    /// so, or it needs none.
    fn bring(self, queue: usize, to: Place) -> bool {
        let ticket_of = &self.team.queues[queue].ticket.0;
        let ticket = ticket_of.load(Ordering::Acquire);
        let (place, _) = Place::of(ticket);
        if ticket == OVER || place.job != to.job || place.phase >= to.phase {
            return false;
        }
        let Some(range) = self.range(to) else {
            return false;
        };
        let share = self.team.share(&range, queue);
        let next = to.ticket(share.end.wrapping_sub(share.start) & (MOST_BLOCKS as u64 - 1));
        let taken = ticket_of.compare_exchange(ticket, next, Ordering::AcqRel, Ordering::Acquire);
        taken.is_ok()
    }

    /// Does the blocks of the thread's own queue at a place, then some of the others'.
    fn take_part(self, me: usize, place: Place) {
        let queues = self.team.queues.len();
        for k in 0..queues {
            let least = if k == 0 { 1 } else { WORTH_TAKING };
            self.work(me, (me + k) % queues, place, least);
        }
    }

    /// Does blocks of a queue at a place while it has `least` left.
    fn work(self, me: usize, queue: usize, place: Place, least: u64) {
        // Counts also where a block panics, or others would wait for ever. At once for all: who waits looks
        // at the counter.
        let mut done = Done {
            queue: &self.team.queues[me],
            blocks: 0,
        };
        while let Some((words, index)) = self.take(queue, place, least) {
            done.blocks += 1;
            self.work.block(words, index);
        }
    }

    /// A block of a queue that is at a place and has `least` left; nobody else gets it.
    fn take(self, queue: usize, at: Place, least: u64) -> Option<([u64; 2], usize)> {
        let ticket_of = &self.team.queues[queue].ticket.0;
        let mut ticket = ticket_of.load(Ordering::Acquire);
        loop {
            let (place, left) = Place::of(ticket);
            if ticket == OVER || place != at || left < least {
                return None;
            }
            let words = self.words(at.job);
            let range = self.work.phase(words, at.phase as usize);
            match ticket_of.compare_exchange_weak(
                ticket,
                ticket - 1,
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => {
                    let end = self.team.share(&range?, queue).end;
                    return Some((words, (end - left) as usize));
                }
                Err(other) => ticket = other,
            }
        }
    }

    /// Waits a moment at a place; takes what others have not begun after some.
    fn pause(self, me: usize, place: Place, waited: &mut u32) {
        *waited += 1;
        if waited.is_multiple_of(LOOKS) {
            for queue in 0..self.team.queues.len() {
                self.take_along(queue, place);
                self.work(me, queue, place, 1);
            }
        }
        if *waited < PATIENCE {
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }

    /// Brings a queue that stayed behind; says whether it had.
    fn take_along(self, queue: usize, place: Place) -> bool {
        place.phase > 0 && self.bring(queue, place)
    }
}

impl Help<'_> {
    /// With the conductor's own.
    pub(crate) fn threads(&self) -> usize {
        self.crew.team.queues.len()
    }

    /// Does a job: all of its phases, one after the other; returns when all is done.
    pub(crate) fn run(&self, words: [u64; 2]) {
        let crew = self.crew;
        let Some(first) = crew.work.phase(words, 0) else {
            return;
        };
        let job = (self.number.get() + 1) & ((1 << JOB_BITS) - 1);
        self.number.set(job);
        let slot = &crew.team.slots[job as usize & 1].0;
        for (to, word) in slot.words.iter().zip(words) {
            to.store(word, Ordering::Release);
        }
        let before = self.all.get();
        slot.before.store(before, Ordering::Release);
        for (index, queue) in crew.team.queues.iter().enumerate() {
            let share = crew.team.share(&first, index);
            let place = Place { job, phase: 0 };
            let ticket = place.ticket(share.end - share.start);
            queue.ticket.0.store(ticket, Ordering::Release);
        }
        let mut range = first.clone();
        for phase in 0.. {
            let place = Place { job, phase };
            let all = before + (range.end - first.start) as u64;
            self.all.set(all);
            crew.take_along(0, place);
            crew.work(0, 0, place, 1);
            for queue in 1..crew.team.queues.len() {
                // Who has not come yet, or not begun, may never.
                let ticket = crew.team.queues[queue].ticket.0.load(Ordering::Relaxed);
                let share = crew.team.share(&range, queue);
                let untouched = Place::of(ticket) == (place, share.end - share.start);
                let least = if crew.take_along(queue, place) || untouched {
                    1
                } else {
                    WORTH_TAKING
                };
                crew.work(0, queue, place, least);
            }
            let mut waited = 0;
            while crew.team.done() < all {
                crew.pause(0, place, &mut waited);
            }
            match crew.work.phase(words, phase as usize + 1) {
                Some(next) => range = next,
                None => return,
            }
        }
    }
}

struct Done<'a> {
    queue: &'a Queue,
    blocks: u64,
}

impl Drop for Done<'_> {
    fn drop(&mut self) {
        if self.blocks > 0 {
            self.queue.done.0.fetch_add(self.blocks, Ordering::Release);
        }
    }
}

struct End<'a>(&'a Team);

impl Drop for End<'_> {
    fn drop(&mut self) {
        for queue in &self.0.queues {
            queue.ticket.0.store(OVER, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FEWEST_SHARED, Team, Work};
    use std::ops::Range;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Each block of a phase adds up what all blocks of the phase before have written.
    struct Sums {
        phases: Vec<Range<usize>>,
        values: Vec<AtomicU64>,
        runs: Vec<AtomicU64>,
    }

    impl Sums {
        fn new(sizes: &[usize]) -> Self {
            let mut end = 0;
            let phases = sizes.iter().map(|size| {
                end += size;
                end - size..end
            });
            let phases: Vec<_> = phases.collect();
            let zeros = || (0..end).map(|_| AtomicU64::new(0)).collect();
            Self {
                phases,
                values: zeros(),
                runs: zeros(),
            }
        }

        /// What a job with `word` leaves.
        fn expected(&self, word: u64) -> Vec<u64> {
            let mut values: Vec<u64> = Vec::new();
            let mut sum = 0_u64;
            for phase in &self.phases {
                let start = values.len();
                values.extend(phase.clone().map(|i| (sum ^ word).wrapping_add(i as u64)));
                sum = values[start..].iter().fold(0, |x, y| x.wrapping_add(*y));
            }
            values
        }
    }

    impl Work for Sums {
        fn phase(&self, _: [u64; 2], phase: usize) -> Option<Range<usize>> {
            self.phases.get(phase).cloned()
        }

        fn block(&self, words: [u64; 2], index: usize) {
            assert_eq!(words[1], !words[0]);
            let phase = self.phases.iter().position(|p| p.contains(&index));
            let before = match phase {
                Some(phase) if phase > 0 => self.phases[phase - 1].clone(),
                _ => 0..0,
            };
            let values = self.values[before].iter();
            let sum = values.fold(0_u64, |x, y| x.wrapping_add(y.load(Ordering::Relaxed)));
            let value = (sum ^ words[0]).wrapping_add(index as u64);
            self.values[index].store(value, Ordering::Relaxed);
            self.runs[index].fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn every_block_runs_once_a_job_and_after_those_of_the_phase_before() {
        let sizes = [1, 7, 0, 40, FEWEST_SHARED as usize - 1, 13, 3, 0, 0, 200, 5];
        let jobs = 2000;
        for threads in [1, 2, 3, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let work = Sums::new(&sizes);
            pool.expect("threads").install(|| {
                // One that cannot come: all must end without it.
                for team in [threads, threads + 1] {
                    Team::with_help(team, &work, |help| {
                        for job in 0..jobs {
                            // Words of two jobs would not fit each other.
                            let word = job * 0x9e37_79b9;
                            let Some(help) = &help else { return };
                            help.run([word, !word]);
                            let values = work.values.iter();
                            let values: Vec<_> =
                                values.map(|v| v.load(Ordering::Relaxed)).collect();
                            assert_eq!(values, work.expected(word), "{threads} {team} {job}");
                        }
                    });
                }
            });
            let teams = if threads == 1 { 1 } else { 2 };
            let runs = work.runs.iter().map(|n| n.load(Ordering::Relaxed));
            assert!(runs.into_iter().all(|n| n == teams * jobs), "{threads}");
        }
    }
}
