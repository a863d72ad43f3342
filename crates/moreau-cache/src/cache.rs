//! The store: two sorted lists, the last step's and the one that is being written.
//!
//! A look-up starts where the last one ended, because contacts are looked up in the order in which
//! they were stored; where that guess is wrong it is a binary search. Neither list gives memory
//! back, so a steady scene allocates nothing.

use crate::new_entries::{Filled, NewEntries};
use crate::{CacheEntry, CachedImpulse, PairKey};
use moreau_math::{Vec3, libm};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// What is in a place before it is filled.
const UNFILLED: CacheEntry = CacheEntry {
    pair: PairKey { a: 0, b: 0 },
    feature: 0,
    impulse: CachedImpulse {
        normal: Vec3::ZERO,
        normal_impulse: 0.0,
        tangential: Vec3::ZERO,
    },
};

/// Settings of a [`ContactCache`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CacheSettings {
    /// Largest turn of a contact's normal from one step to the next with which its impulse is still
    /// used, rad (default 15 degrees, 0.2618). Too small: fast rolling bodies start cold every step.
    /// Too big: an edge that tips over a corner starts with an impulse of another face.
    pub max_turn: f64,
}

impl Default for CacheSettings {
    fn default() -> Self {
        Self {
            max_turn: 15.0 * std::f64::consts::PI / 180.0,
        }
    }
}

/// What the look-ups since the last [`ContactCache::begin`] found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheCounters {
    /// Impulses handed out.
    pub hits: u64,
    /// Contacts that were not there in the last step.
    pub misses: u64,
    /// Contacts that were there but turned too far.
    pub dropped: u64,
}

impl std::ops::Add for CacheCounters {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            hits: self.hits + other.hits,
            misses: self.misses + other.misses,
            dropped: self.dropped + other.dropped,
        }
    }
}

impl std::ops::AddAssign for CacheCounters {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Impulses of the last step by pair and feature.
///
/// A step looks its contacts up, solves, and then writes the new impulses between
/// [`begin`](Self::begin) and [`finish`](Self::finish); what is not pushed is forgotten.
#[derive(Debug, Serialize, Deserialize)]
#[serde(from = "Stored")]
pub struct ContactCache {
    settings: CacheSettings,
    entries: Vec<CacheEntry>,
    /// Between the steps it may still hold what was there before the last, to be written over.
    #[serde(skip)]
    next: Vec<CacheEntry>,
    #[serde(skip)]
    is_begun: bool,
    #[serde(skip)]
    counters: CacheCounters,
    #[serde(skip)]
    cursor: usize,
    #[serde(skip)]
    least_cosine: f64,
}

/// The serialized fields; what comes from outside is brought into order again.
#[derive(Deserialize)]
struct Stored {
    settings: CacheSettings,
    entries: Vec<CacheEntry>,
}

impl From<Stored> for ContactCache {
    fn from(stored: Stored) -> Self {
        let mut cache = Self::new(stored.settings);
        cache.entries = stored.entries;
        order(&mut cache.entries);
        cache
    }
}

impl Default for ContactCache {
    fn default() -> Self {
        Self::new(CacheSettings::default())
    }
}

impl ContactCache {
    /// An empty cache.
    pub fn new(settings: CacheSettings) -> Self {
        Self {
            settings,
            entries: Vec::new(),
            next: Vec::new(),
            is_begun: false,
            counters: CacheCounters::default(),
            cursor: 0,
            least_cosine: libm::cos(settings.max_turn.clamp(0.0, std::f64::consts::PI)),
        }
    }

    /// Its settings.
    pub fn settings(&self) -> CacheSettings {
        self.settings
    }

    /// Everything remembered, in the order of (pair, feature).
    pub fn entries(&self) -> &[CacheEntry] {
        &self.entries
    }

    /// How many contact points are remembered.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Bytes of its lists, with what they keep free.
    pub fn bytes(&self) -> usize {
        (self.entries.capacity() + self.next.capacity()) * size_of::<CacheEntry>()
    }

    /// What the look-ups since the last [`begin`](Self::begin) found.
    pub fn counters(&self) -> CacheCounters {
        self.counters
    }

    /// The impulse remembered for a contact of the pair (first body, second body), carried to the
    /// contact's `normal` (unit, from the first to the second, world frame). The pair may be named
    /// in the other order than it was stored.
    ///
    /// `None` where there is none, or where the normal turned by more than
    /// [`CacheSettings::max_turn`]: then the whole point is dropped.
    pub fn look_up(
        &mut self,
        bodies: (u64, u64),
        feature: u128,
        normal: Vec3,
    ) -> Option<CachedImpulse> {
        let mut reader = CacheReader {
            cache: self,
            cursor: self.cursor,
            counters: self.counters,
        };
        let found = reader.look_up(bodies, feature, normal);
        (self.cursor, self.counters) = (reader.cursor, reader.counters);
        found
    }

    /// Looks impulses up without changing the cache, so that several threads can, each with a reader of
    /// its own.
    pub fn reader(&self) -> CacheReader<'_> {
        CacheReader {
            cache: self,
            cursor: 0,
            counters: CacheCounters::default(),
        }
    }

    /// Counts what readers found, as if it had been looked up here.
    pub fn count(&mut self, found: CacheCounters) {
        self.counters += found;
    }

    /// The remembered points of one pair, from its smaller to its larger id.
    pub fn pair(&self, pair: PairKey) -> &[CacheEntry] {
        let start = self.entries.partition_point(|e| e.pair < pair);
        // They are few.
        let rest = self.entries[start..].iter();
        let count = rest.take_while(|e| e.pair == pair).count();
        &self.entries[start..start + count]
    }

    /// Starts the list of this step and the counters of its look-ups. What is remembered stays
    /// readable until [`finish`](Self::finish).
    pub fn begin(&mut self) {
        self.next.clear();
        self.is_begun = true;
        self.counters = CacheCounters::default();
        self.cursor = 0;
    }

    /// Adds the impulse of a contact of the pair (first body, second body) to this step's list.
    /// Ascending (pair, feature) is fastest; any order gives the same cache.
    pub fn push(&mut self, bodies: (u64, u64), feature: u128, impulse: CachedImpulse) {
        if !self.is_begun {
            self.next.clear();
            self.is_begun = true;
        }
        self.next.push(CacheEntry::new(bodies, feature, impulse));
    }

    /// Ends the step: this step's list replaces the last one. Of two points with the same pair and
    /// feature the one with the larger normal impulse is kept.
    pub fn finish(&mut self) {
        if !self.is_begun {
            self.next.clear();
        }
        order(&mut self.next);
        self.turn();
    }

    /// The whole list of this step, of `count` contacts, at once, in place of [`begin`](Self::begin),
    /// [`push`](Self::push) and [`finish`](Self::finish): `fill` may fill it in parts, on several threads.
    /// Returns what it says. Where it leaves places out nothing is remembered.
    ///
    /// ```
    /// use moreau_cache::{CachedImpulse, ContactCache};
    /// use moreau_math::Vec3;
    ///
    /// let impulse = |i: usize| CachedImpulse {
    ///     normal: Vec3::Y, normal_impulse: i as f64, tangential: Vec3::ZERO,
    /// };
    /// let mut cache = ContactCache::default();
    /// cache.replace_by(100, |places| {
    ///     let (first, second) = places.split_at(50);
    ///     std::thread::scope(|scope| {
    ///         for part in [first, second] {
    ///             scope.spawn(|| part.fill(|i| ((1, 2), i as u128, impulse(i))));
    ///         }
    ///     });
    /// });
    /// assert_eq!(cache.look_up((1, 2), 70, Vec3::Y), Some(impulse(70)));
    /// ```
    pub fn replace_by<T>(&mut self, count: usize, fill: impl FnOnce(NewEntries<'_>) -> T) -> T {
        self.counters = CacheCounters::default();
        self.is_begun = false;
        // What is there is written over.
        self.next.resize(count, UNFILLED);
        let mut filled = Filled::default();
        let result = fill(NewEntries::new(&mut self.next, &filled));
        if *filled.count.get_mut() < count {
            self.next.clear();
        }
        if *filled.disordered.get_mut() > 0 {
            order(&mut self.next);
        }
        self.turn();
        result
    }

    /// What was written is what is read from here on.
    fn turn(&mut self) {
        std::mem::swap(&mut self.entries, &mut self.next);
        self.is_begun = false;
        self.cursor = 0;
    }

    /// Forgets every contact of a body, in the last step's list and in the one being written.
    pub fn remove_body(&mut self, body: u64) {
        self.entries.retain(|e| !e.pair.contains(body));
        if self.is_begun {
            self.next.retain(|e| !e.pair.contains(body));
        }
        self.cursor = 0;
    }

    /// Forgets the pairs for which `keep` is false, in the last step's list.
    pub fn retain(&mut self, mut keep: impl FnMut(PairKey) -> bool) {
        self.entries.retain(|e| keep(e.pair));
        self.cursor = 0;
    }

    /// Adds impulses, (first body, second body), feature and impulse of each, to the last step's
    /// list: for bodies whose contacts rested elsewhere. Of two points with the same pair and feature
    /// the one with the larger normal impulse is kept.
    pub fn remember(&mut self, impulses: impl Iterator<Item = ((u64, u64), u128, CachedImpulse)>) {
        let entries =
            impulses.map(|(bodies, feature, impulse)| CacheEntry::new(bodies, feature, impulse));
        self.entries.extend(entries);
        order(&mut self.entries);
        self.cursor = 0;
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.next.clear();
        self.cursor = 0;
    }
}

/// One reader of a [`ContactCache`], see [`ContactCache::reader`].
#[derive(Clone, Debug)]
pub struct CacheReader<'a> {
    cache: &'a ContactCache,
    cursor: usize,
    counters: CacheCounters,
}

impl CacheReader<'_> {
    /// As [`ContactCache::look_up`].
    pub fn look_up(
        &mut self,
        bodies: (u64, u64),
        feature: u128,
        normal: Vec3,
    ) -> Option<CachedImpulse> {
        let (pair, swapped) = PairKey::new(bodies);
        let Some(index) = self.position(pair, feature) else {
            self.counters.misses += 1;
            return None;
        };
        self.cursor = index + 1;
        let stored = self.cache.entries[index].impulse;
        let stored = if swapped { stored.swapped() } else { stored };
        // A NaN normal fits nothing, hence the form of the test.
        if stored.normal.dot(normal) >= self.cache.least_cosine {
            self.counters.hits += 1;
            Some(stored.carried_to(normal))
        } else {
            self.counters.dropped += 1;
            None
        }
    }

    /// What this reader found.
    pub fn counters(&self) -> CacheCounters {
        self.counters
    }

    fn position(&self, pair: PairKey, feature: u128) -> Option<usize> {
        let key = (pair, feature);
        let entries = &self.cache.entries;
        if entries.get(self.cursor).is_some_and(|e| e.key() == key) {
            return Some(self.cursor);
        }
        entries.binary_search_by(|e| e.key().cmp(&key)).ok()
    }
}

impl Clone for ContactCache {
    fn clone(&self) -> Self {
        let next: &[CacheEntry] = if self.is_begun { &self.next } else { &[] };
        Self {
            entries: self.entries.clone(),
            next: next.to_vec(),
            ..*self
        }
    }
}

impl PartialEq for ContactCache {
    /// The same settings and the same entries; counters and unfinished lists do not count.
    fn eq(&self, other: &Self) -> bool {
        self.settings == other.settings && self.entries == other.entries
    }
}

/// Sorts by key and keeps one entry a key. The order is total over the content too, so that the
/// result does not depend on the order of the input.
fn order(entries: &mut Vec<CacheEntry>) {
    if !entries.is_sorted_by(|x, y| x.key() < y.key()) {
        entries.sort_unstable_by(compare);
        entries.dedup_by(|later, first| later.key() == first.key());
    }
}

fn compare(x: &CacheEntry, y: &CacheEntry) -> Ordering {
    let content = |e: &CacheEntry| {
        let (n, t) = (e.impulse.normal, e.impulse.tangential);
        [n.x, n.y, n.z, t.x, t.y, t.z]
    };
    x.key()
        .cmp(&y.key())
        .then_with(|| {
            let (l, r) = (x.impulse.normal_impulse, y.impulse.normal_impulse);
            r.total_cmp(&l)
        })
        .then_with(|| {
            let pairs = content(x).into_iter().zip(content(y));
            pairs.fold(Ordering::Equal, |o, (l, r)| o.then(l.total_cmp(&r)))
        })
}
