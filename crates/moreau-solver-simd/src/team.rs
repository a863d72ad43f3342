//! Threads that share the blocks of a task.
//!
//! Each thread has a queue: its share of the blocks of a task, the same ones whenever the task comes again, so that
//! what they read stays in its cache. Who is done with its own queue takes blocks of the others'. The thread that
//! solves publishes a task, takes part, and goes on when all blocks are done. It never waits for a thread to begin:
//! where none comes it does all blocks itself. So a solve ends whatever else the pool has to do, and which thread
//! takes which block decides nothing but the time.
//!
//! ```text
//! ticket   task number | blocks not yet taken     u64 of each queue, taken by compare and exchange
//! done     blocks that the queue's thread has ever finished
//! ```
//!
//! A task's words are written while no block of the one before is left, so who has taken a block has
//! read the words of its task.

use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Cache lines of its own; two, for they are fetched in pairs.
#[derive(Default)]
#[repr(align(128))]
struct Line<T>(T);

/// What is shared.
pub(crate) struct Team {
    queues: Vec<Queue>,
    /// Of the task, then its range.
    words: Line<[AtomicU64; 4]>,
}

#[derive(Default)]
struct Queue {
    ticket: Line<AtomicU64>,
    done: Line<AtomicU64>,
}

/// The ticket when all is over.
const OVER: u64 = u64::MAX;

/// Looks before a thread lets others run.
const PATIENCE: u32 = 4000;

/// Blocks that a queue must have left for others to take some: the last ones are done before another thread knows
/// of them.
const WORTH_TAKING: u64 = 4;

/// Looks after which the conductor takes what others have not begun.
const LOOKS: u32 = 100;

/// A task with its words, and one of its blocks.
type Work<'a> = &'a (dyn Fn([u64; 2], usize) + Sync);

/// The conductor's end of a team.
pub(crate) struct Help<'a> {
    team: &'a Team,
    block: Work<'a>,
    /// Blocks of all tasks so far.
    all: Cell<u64>,
    /// Number of the last task.
    number: Cell<u64>,
}

impl Team {
    /// Runs `work` while the threads of the caller's rayon pool help, `threads` with the caller;
    /// alone where that is 1.
    pub(crate) fn with_help<R>(
        threads: usize,
        block: Work<'_>,
        work: impl FnOnce(Option<Help<'_>>) -> R,
    ) -> R {
        if threads <= 1 {
            return work(None);
        }
        let team = &Self {
            queues: (0..threads).map(|_| Queue::default()).collect(),
            words: Line::default(),
        };
        rayon::in_place_scope(|scope| {
            for me in 1..threads {
                scope.spawn(move |_| team.help(me, block));
            }
            // Helpers end also where `work` panics.
            let _end = End(team);
            work(Some(Help {
                team,
                block,
                all: Cell::new(0),
                number: Cell::new(0),
            }))
        })
    }

    fn help(&self, me: usize, block: Work<'_>) {
        let own = &self.queues[me].ticket.0;
        loop {
            let ticket = own.load(Ordering::Acquire);
            if ticket == OVER {
                return;
            }
            for k in 0..self.queues.len() {
                let least = if k == 0 { 1 } else { WORTH_TAKING };
                self.work(me, (me + k) % self.queues.len(), least, block);
            }
            // The next task changes the ticket.
            let mut waited = 0;
            while own.load(Ordering::Relaxed) >> 32 == ticket >> 32 {
                pause(&mut waited);
            }
        }
    }

    /// Does blocks of a queue while it has `least` left.
    fn work(&self, me: usize, queue: usize, least: u64, block: Work<'_>) {
        // Counts also where a block panics, or the conductor would wait for ever. At once for all: who waits looks
        // at the counter.
        let mut done = Done {
            queue: &self.queues[me],
            blocks: 0,
        };
        while let Some((words, index)) = self.take(queue, least) {
            done.blocks += 1;
            block(words, index);
        }
    }

    /// A block of a queue that has `least` left; nobody else gets it.
    fn take(&self, queue: usize, least: u64) -> Option<([u64; 2], usize)> {
        let ticket_of = &self.queues[queue].ticket.0;
        let mut ticket = ticket_of.load(Ordering::Acquire);
        loop {
            let left = ticket & u64::from(u32::MAX);
            if left < least || ticket == OVER {
                return None;
            }
            let [first, second, start, end] = &self.words.0;
            let words = [
                first.load(Ordering::Relaxed),
                second.load(Ordering::Relaxed),
            ];
            let range = start.load(Ordering::Relaxed)..end.load(Ordering::Relaxed);
            match ticket_of.compare_exchange_weak(
                ticket,
                ticket - 1,
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => {
                    let end = self.share(&range, queue).end;
                    return Some((words, (end - left) as usize));
                }
                Err(other) => ticket = other,
            }
        }
    }

    /// The part of a range that is a queue's.
    fn share(&self, range: &Range<u64>, queue: usize) -> Range<u64> {
        let (count, threads) = (range.end - range.start, self.queues.len() as u64);
        let at = |k: u64| range.start + count * k / threads;
        at(queue as u64)..at(queue as u64 + 1)
    }
}

impl Help<'_> {
    /// Does the blocks in `range` in any order; returns when all are done.
    pub(crate) fn run(&self, words: [u64; 2], range: Range<usize>) {
        let team = self.team;
        let range = range.start as u64..range.end as u64;
        let all = [words[0], words[1], range.start, range.end];
        for (to, word) in team.words.0.iter().zip(all) {
            to.store(word, Ordering::Relaxed);
        }
        self.all.set(self.all.get() + (range.end - range.start));
        self.number.set((self.number.get() + 1) & 0x7fff_ffff);
        for (index, queue) in team.queues.iter().enumerate() {
            let share = team.share(&range, index);
            let ticket = self.number.get() << 32 | (share.end - share.start);
            queue.ticket.0.store(ticket, Ordering::Release);
        }
        team.work(0, 0, 1, self.block);
        for queue in 1..team.queues.len() {
            let share = team.share(&range, queue);
            let left = team.queues[queue].ticket.0.load(Ordering::Relaxed) & u64::from(u32::MAX);
            let untouched = left == share.end - share.start;
            let least = if untouched { 1 } else { WORTH_TAKING };
            team.work(0, queue, least, self.block);
        }
        let done = || -> u64 {
            let each = team.queues.iter().map(|q| q.done.0.load(Ordering::Acquire));
            each.sum()
        };
        let mut waited = 0;
        while done() < self.all.get() {
            pause(&mut waited);
            // Who has not come may never come.
            if waited.is_multiple_of(LOOKS) {
                for queue in 1..team.queues.len() {
                    team.work(0, queue, 1, self.block);
                }
            }
        }
    }
}

fn pause(waited: &mut u32) {
    *waited += 1;
    if *waited < PATIENCE {
        std::hint::spin_loop();
    } else {
        std::thread::yield_now();
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
