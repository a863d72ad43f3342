//! Lists whose items are worked on one by one, in parts on the threads of the pool.
//!
//! No item sees what is made of another, so the result does not depend on who does which part. Nothing here
//! takes memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Items that one thread does at least: less is done sooner than handed over.
pub(crate) const SHARE: usize = 256;

/// Calls `work(i, slots[i], item)` for the item of each slot. `slots` ascend; `items` are those of all slots.
pub(crate) fn each_slot<T: Send>(
    parallel: bool,
    slots: &[u32],
    items: &mut [T],
    work: impl Fn(usize, usize, &mut T) + Sync,
) {
    // Takes no memory.
    let mut nothing = vec![(); items.len()];
    let work = |i: usize, slot: usize, (item, ()): (&mut T, &mut ())| work(i, slot, item);
    each_slot_of_two(parallel, slots, (items, &mut nothing), work);
}

/// As [`each_slot`], for the items of two lists.
pub(crate) fn each_slot_of_two<T: Send, U: Send>(
    parallel: bool,
    slots: &[u32],
    items: (&mut [T], &mut [U]),
    work: impl Fn(usize, usize, (&mut T, &mut U)) + Sync,
) {
    divide(parallel, (0, slots), (0, items), &work);
}

/// `first`: the place of the first of these slots, and the slot of the first of these items.
fn divide<T: Send, U: Send>(
    parallel: bool,
    (first, slots): (usize, &[u32]),
    (first_slot, (items, others)): (usize, (&mut [T], &mut [U])),
    work: &(impl Fn(usize, usize, (&mut T, &mut U)) + Sync),
) {
    if !parallel || slots.len() < 2 * SHARE {
        for (i, slot) in slots.iter().enumerate() {
            let (slot, index) = (*slot as usize, *slot as usize - first_slot);
            work(first + i, slot, (&mut items[index], &mut others[index]));
        }
        return;
    }
    let middle = slots.len() / 2;
    let (slots, more_slots) = slots.split_at(middle);
    let boundary = more_slots[0] as usize;
    let (items, more_items) = items.split_at_mut(boundary - first_slot);
    let (others, more_others) = others.split_at_mut(boundary - first_slot);
    let lists = (first_slot, (items, others));
    let more_lists = (boundary, (more_items, more_others));
    rayon::join(
        || divide(true, (first, slots), lists, work),
        || divide(true, (first + middle, more_slots), more_lists, work),
    );
}

/// Calls `work(first, items)` for runs of the items of all slots, each on a thread of its own; `first` is the slot of the first
/// of these items. `slots` ascend, and say which items count: each run has as many of them.
pub(crate) fn each_run<T: Send>(
    parallel: bool,
    slots: &[u32],
    items: &mut [T],
    work: impl Fn(usize, &mut [T]) + Sync,
) {
    let runs = if parallel {
        rayon::current_num_threads().min(slots.len() / SHARE).max(1)
    } else {
        1
    };
    cut(runs, slots, (0, items), &work);
}

fn cut<T: Send>(
    runs: usize,
    slots: &[u32],
    (first, items): (usize, &mut [T]),
    work: &(impl Fn(usize, &mut [T]) + Sync),
) {
    if runs <= 1 {
        return work(first, items);
    }
    let (slots, more_slots) = slots.split_at(slots.len() * (runs / 2) / runs);
    let boundary = more_slots[0] as usize;
    let (items, more_items) = items.split_at_mut(boundary - first);
    rayon::join(
        || cut(runs / 2, slots, (first, items), work),
        || cut(runs - runs / 2, more_slots, (boundary, more_items), work),
    );
}

/// Looks for work without finding any after which a thread goes to sleep: some tenths of a millisecond.
const PATIENCE: u32 = 2000;

/// Runs `work` while the other threads of the pool stay awake, if there is enough of it to share.
///
/// The parts of a step are shorter than it takes to wake a thread (some 50 us), and there are twenty of them. A
/// thread that found nothing to do for a while sleeps all the same, so that none is held up: one that waits for
/// something else may have been the one to stay awake. The end does not wait for what such a thread took up
/// meanwhile, the caller's own work in the pool. One that waits within `work` may take some up all the same, as
/// all threads of rayon's that wait do.
pub(crate) fn awake<R>(worth_it: bool, work: impl FnOnce() -> R) -> R {
    let threads = rayon::current_num_threads();
    if !worth_it || threads == 1 || rayon::current_thread_index().is_none() {
        return work();
    }
    let watch = Arc::new(Watch {
        conductor: rayon::current_thread_index(),
        ..Watch::default()
    });
    for _ in 1..threads {
        let watch = watch.clone();
        rayon::spawn(move || watch.stay_awake());
    }
    // Also where `work` panics.
    let _end = End(&watch, threads - 1);
    work()
}

#[derive(Default)]
struct Watch {
    /// The thread that runs the work. It may come to a watch that was left to it while it waits for a part.
    conductor: Option<usize>,
    over: AtomicBool,
    /// Threads that have come to it.
    begun: AtomicUsize,
}

impl Watch {
    fn stay_awake(&self) {
        self.begun.fetch_add(1, Ordering::Relaxed);
        if rayon::current_thread_index() == self.conductor {
            return;
        }
        let mut looks = 0;
        while looks < PATIENCE && !self.over.load(Ordering::Relaxed) {
            if rayon::yield_now() == Some(rayon::Yield::Executed) {
                looks = 0;
            } else {
                looks += 1;
                std::hint::spin_loop();
            }
        }
    }
}

/// The watch, and how many threads it was meant for.
struct End<'a>(&'a Watch, usize);

impl Drop for End<'_> {
    fn drop(&mut self) {
        let Self(watch, threads) = *self;
        watch.over.store(true, Ordering::Relaxed);
        // What no thread has come to is still here, and would gather in a thread that makes many steps.
        while watch.begun.load(Ordering::Relaxed) < threads
            && rayon::yield_local() == Some(rayon::Yield::Executed)
        {}
    }
}

#[cfg(test)]
mod tests {
    use super::{SHARE, awake, each_run, each_slot, each_slot_of_two};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::{Duration, Instant};

    #[test]
    fn each_item_is_visited_once_with_its_place() {
        // Every third slot and some more, of more than one share.
        let slots: Vec<u32> = (0..4000).filter(|i| i % 3 == 0 || i % 7 == 2).collect();
        for parallel in [false, true] {
            let mut items = vec![None; 4000];
            each_slot(parallel, &slots, &mut items, |i, slot, item| {
                assert_eq!(*item, None);
                *item = Some((i, slot));
            });
            let visited: Vec<_> = items.iter().flatten().copied().collect();
            let expected = slots.iter().enumerate();
            let expected: Vec<_> = expected.map(|(i, slot)| (i, *slot as usize)).collect();
            assert_eq!(visited, expected, "parallel: {parallel}");
            assert!((0..4000).all(|s| items[s].is_none_or(|(_, slot)| slot == s)));
            let mut places = vec![0; 4000];
            let lists = (&mut items[..], &mut places[..]);
            each_slot_of_two(parallel, &slots, lists, |i, slot, (item, place)| {
                assert_eq!(*item, Some((i, slot)));
                *place += i + 1;
            });
            let visited: Vec<_> = places.into_iter().filter(|i| *i > 0).collect();
            assert!(visited.into_iter().eq(1..=slots.len()));
        }
    }

    #[test]
    fn runs_hold_each_item_once() {
        for threads in [1, 2, 3, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let pool = pool.build().unwrap();
            for (count, parallel) in [(0, true), (5, true), (3 * SHARE + 7, true), (5000, false)] {
                let slots: Vec<u32> = (0..count as u32).map(|i| 3 + 2 * i).collect();
                let mut items = vec![0; 2 * count + 10];
                let runs = AtomicU32::new(0);
                pool.install(|| {
                    each_run(parallel, &slots, &mut items, |first, items| {
                        runs.fetch_add(1, Ordering::Relaxed);
                        for (i, item) in items.iter_mut().enumerate() {
                            *item += first + i;
                        }
                    });
                });
                assert!(items.iter().enumerate().all(|(i, item)| *item == i));
                let most = if parallel { count / SHARE } else { 1 };
                assert_eq!(runs.into_inner() as usize, threads.min(most).max(1));
            }
        }
    }

    #[test]
    fn what_else_the_pool_does_holds_no_work_up() {
        const BEGUN: u32 = 1;
        const RELEASED: u32 = 2;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2);
        let pool = pool.build().unwrap();
        let wait = |stage: &AtomicU32, least: u32| {
            let start = Instant::now();
            while stage.load(Ordering::Acquire) < least {
                if start.elapsed() > Duration::from_secs(5) {
                    return false;
                }
                std::thread::yield_now();
            }
            true
        };
        for _ in 0..20 {
            let stage = Arc::new(AtomicU32::new(0));
            let (ended, released) = std::sync::mpsc::channel();
            pool.install(|| {
                awake(true, || {
                    let seen = stage.clone();
                    rayon::spawn(move || {
                        seen.store(BEGUN, Ordering::Release);
                        ended.send(wait(&seen, RELEASED)).unwrap();
                    });
                    assert!(wait(&stage, BEGUN));
                });
            });
            stage.store(RELEASED, Ordering::Release);
            assert!(released.recv().unwrap());
        }
    }
}
