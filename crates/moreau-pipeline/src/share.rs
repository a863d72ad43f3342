//! Lists whose items are worked on one by one, in parts on the threads of the pool.
//!
//! No item sees what is made of another, so the result does not depend on who does which part. Nothing here
//! takes memory.

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
