//! Threads that share the blocks of a task.
//!
//! The thread that solves publishes a task, takes blocks of it like all others, and goes on when those
//! that were taken are done. It never waits for a thread to begin: where none comes it does all blocks
//! itself. So a solve ends whatever else the pool has to do, and which thread takes which block decides
//! nothing but the time.
//!
//! ```text
//! ticket   task number | blocks not yet taken     u64, taken by compare and exchange
//! done     blocks of the task that helpers finished
//! ```
//!
//! A task's words are written while no block of the one before is left, so who has taken a block has
//! read the words of its task.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// A cache line of its own.
#[derive(Default)]
#[repr(align(64))]
struct Line<T>(T);

/// What is shared.
#[derive(Default)]
pub(crate) struct Team {
    ticket: Line<AtomicU64>,
    done: Line<AtomicU64>,
    /// Of the task, then the end of its range.
    words: Line<[AtomicU64; 3]>,
}

/// The ticket when all is over.
const OVER: u64 = u64::MAX;

/// Looks before a thread lets others run.
const PATIENCE: u32 = 4000;

/// A task with its words, and one of its blocks.
type Work<'a> = &'a (dyn Fn([u64; 2], usize) + Sync);

/// The conductor's end of a team.
pub(crate) struct Help<'a> {
    team: &'a Team,
    block: Work<'a>,
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
        let team = &Self::default();
        rayon::in_place_scope(|scope| {
            for _ in 1..threads {
                scope.spawn(move |_| team.help(block));
            }
            // Helpers end also where `work` panics.
            let _end = End(team);
            work(Some(Help { team, block }))
        })
    }

    fn help(&self, block: Work<'_>) {
        let mut waited = 0;
        loop {
            match self.take() {
                Some((words, index)) => {
                    // Counts also where the block panics, or the conductor would wait for ever.
                    let _done = Done(self);
                    block(words, index);
                    waited = 0;
                }
                None if self.ticket.0.load(Ordering::Relaxed) == OVER => return,
                None => pause(&mut waited),
            }
        }
    }

    /// A block that nobody else gets.
    fn take(&self) -> Option<([u64; 2], usize)> {
        let mut ticket = self.ticket.0.load(Ordering::Acquire);
        loop {
            let left = ticket & u64::from(u32::MAX);
            if left == 0 || ticket == OVER {
                return None;
            }
            let [first, second, end] = &self.words.0;
            let words = [
                first.load(Ordering::Relaxed),
                second.load(Ordering::Relaxed),
            ];
            let end = end.load(Ordering::Relaxed);
            match self.ticket.0.compare_exchange_weak(
                ticket,
                ticket - 1,
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => return Some((words, (end - left) as usize)),
                Err(other) => ticket = other,
            }
        }
    }
}

impl Help<'_> {
    /// Does the blocks in `range` in any order; returns when all are done.
    pub(crate) fn run(&self, words: [u64; 2], range: Range<usize>) {
        let team = self.team;
        let count = range.len() as u64;
        for (to, word) in team
            .words
            .0
            .iter()
            .zip([words[0], words[1], range.end as u64])
        {
            to.store(word, Ordering::Relaxed);
        }
        team.done.0.store(0, Ordering::Relaxed);
        let number = ((team.ticket.0.load(Ordering::Relaxed) >> 32) + 1) & 0x7fff_ffff;
        team.ticket.0.store(number << 32 | count, Ordering::Release);
        let mut own = 0;
        while let Some((words, index)) = team.take() {
            (self.block)(words, index);
            own += 1;
        }
        let mut waited = 0;
        while own + team.done.0.load(Ordering::Acquire) < count {
            pause(&mut waited);
        }
    }
}

fn pause(waited: &mut u32) {
    if *waited < PATIENCE {
        *waited += 1;
        std::hint::spin_loop();
    } else {
        std::thread::yield_now();
    }
}

struct Done<'a>(&'a Team);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.done.0.fetch_add(1, Ordering::Release);
    }
}

struct End<'a>(&'a Team);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.ticket.0.store(OVER, Ordering::Release);
    }
}
