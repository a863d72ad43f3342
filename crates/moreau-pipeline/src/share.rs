//! Lists whose items are worked on one by one, in parts on the threads of the pool.
//!
//! No item sees what is made of another, so the result does not depend on who does which part. Nothing here
//! takes memory.

use std::sync::atomic::{AtomicBool, Ordering};

/// Items that one thread does at least: less is done sooner than handed over.
pub(crate) const SHARE: usize = 256;

/// Calls `work(i, slots[i], item)` for the item of each slot. `slots` ascend; `items` are those of all slots.
pub(crate) fn each_slot<T: Send>(
    parallel: bool,
    slots: &[u32],
    items: &mut [T],
    work: impl Fn(usize, usize, &mut T) + Sync,
) {
    if parallel {
        divide((0, slots), (0, items), &work);
    } else {
        for (i, slot) in slots.iter().enumerate() {
            let slot = *slot as usize;
            work(i, slot, &mut items[slot]);
        }
    }
}

/// `first`: the place of the first of these slots, and the slot of the first of these items.
fn divide<T: Send>(
    (first, slots): (usize, &[u32]),
    (first_slot, items): (usize, &mut [T]),
    work: &(impl Fn(usize, usize, &mut T) + Sync),
) {
    if slots.len() < 2 * SHARE {
        for (i, slot) in slots.iter().enumerate() {
            let slot = *slot as usize;
            work(first + i, slot, &mut items[slot - first_slot]);
        }
        return;
    }
    let middle = slots.len() / 2;
    let (slots, more_slots) = slots.split_at(middle);
    let boundary = more_slots[0] as usize;
    let (items, more_items) = items.split_at_mut(boundary - first_slot);
    rayon::join(
        || divide((first, slots), (first_slot, items), work),
        || divide((first + middle, more_slots), (boundary, more_items), work),
    );
}

/// Looks for work without finding any after which a thread goes to sleep: some tenths of a millisecond.
const PATIENCE: u32 = 2000;

/// Runs `work` while the other threads of the pool stay awake, if there is enough of it to share.
///
/// The parts of a step are shorter than it takes to wake a thread (some 50 us), and there are twenty of them. A
/// thread that found nothing to do for a while sleeps all the same, so that none is held up: one that waits for
/// something else may have been the one to stay awake.
pub(crate) fn awake<R>(worth_it: bool, work: impl FnOnce() -> R) -> R {
    let threads = rayon::current_num_threads();
    if !worth_it || threads == 1 || rayon::current_thread_index().is_none() {
        return work();
    }
    let over = &AtomicBool::new(false);
    rayon::in_place_scope(|scope| {
        for _ in 1..threads {
            scope.spawn(move |_| stay_awake(over));
        }
        // Also where `work` panics.
        let _end = End(over);
        work()
    })
}

fn stay_awake(over: &AtomicBool) {
    let mut looks = 0;
    while looks < PATIENCE && !over.load(Ordering::Relaxed) {
        if rayon::yield_now() == Some(rayon::Yield::Executed) {
            looks = 0;
        } else {
            looks += 1;
            std::hint::spin_loop();
        }
    }
}

struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::each_slot;

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
        }
    }
}
