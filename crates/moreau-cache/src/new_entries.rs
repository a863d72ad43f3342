use crate::{CacheEntry, CachedImpulse};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Places for the impulses of a step, see [`ContactCache::replace_by`](crate::ContactCache::replace_by).
///
/// They can be split, and the parts filled on different threads.
#[derive(Debug)]
pub struct NewEntries<'a> {
    /// Index of the first of these among all.
    first: usize,
    /// How many there are of all.
    total: usize,
    places: &'a mut [CacheEntry],
    filled: &'a Filled,
}

/// How many places are filled, and how many of them with what does not come before the next.
#[derive(Debug, Default)]
pub(crate) struct Filled {
    pub(crate) count: AtomicUsize,
    pub(crate) disordered: AtomicUsize,
}

impl<'a> NewEntries<'a> {
    pub(crate) fn new(places: &'a mut [CacheEntry], filled: &'a Filled) -> Self {
        Self {
            first: 0,
            total: places.len(),
            places,
            filled,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The first `middle` places, and the others.
    ///
    /// # Panics
    /// Where there are fewer than `middle`, as the method of slices does.
    pub fn split_at(self, middle: usize) -> (Self, Self) {
        let (first, second) = self.places.split_at_mut(middle);
        let part = |first, places| Self {
            first,
            places,
            ..self
        };
        (part(self.first, first), part(self.first + middle, second))
    }

    /// Puts `entry(i)`, the (first body, second body), feature and impulse of contact `i` of all, at its place, for
    /// all of these. It is also asked for the contact after these.
    #[inline]
    pub fn fill(self, mut entry: impl FnMut(usize) -> ((u64, u64), u128, CachedImpulse)) {
        let mut entry = |i: usize| {
            let (bodies, feature, impulse) = entry(i);
            CacheEntry::new(bodies, feature, impulse)
        };
        let count = self.places.len();
        let end = self.first + count;
        let mut disordered = 0;
        let mut last = None;
        for (i, place) in (self.first..).zip(self.places) {
            *place = entry(i);
            let key = Some(place.key());
            disordered += usize::from(last >= key);
            last = key;
        }
        if end < self.total && count > 0 {
            disordered += usize::from(last >= Some(entry(end).key()));
        }
        self.filled.count.fetch_add(count, Ordering::Relaxed);
        self.filled
            .disordered
            .fetch_add(disordered, Ordering::Relaxed);
    }
}
