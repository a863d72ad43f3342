//! Which boxes overlap.
//!
//! ```text
//! set(id, box) --> proxy: the box given (tight) and an enlarged (fat) one that is kept while it
//!                         still contains the tight box
//!                  |
//!     two trees    | fat boxes of static and of moving proxies; a proxy whose fat box changed is
//!                  | put in again (or, where many are, the tree is built anew)
//!                  v
//!     fat pairs    | sorted list of pairs of overlapping fat boxes, kept from call to call; only
//!                  | proxies whose fat box changed look for partners
//!                  v
//!     pairs()        the fat pairs whose tight boxes overlap, and those of unbounded boxes
//! ```
//!
//! In steady state a call costs one look at each fat pair. Trees, fat boxes and kept pairs change
//! what a call costs and never what it returns, as the tight boxes have the last word.

mod bytes;
mod id_map;
mod order;
mod rebuild;
mod settings;
mod shares;
#[cfg(test)]
mod tests;
mod tree;
mod update;
mod visit;

pub use settings::{BroadPhaseCounters, BroadPhaseSettings};
pub use shares::{PairShare, PairWork};

use crate::Aabb;
use id_map::{IdMap, NONE};
use moreau_math::Vec3;
use order::Order;
use rebuild::Task;
use tree::Tree;
pub(crate) use visit::BoxPath;

/// Boxes that reach beyond this (m) are kept out of the trees and compared one by one.
const UNBOUNDED: f64 = 1e100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A free slot.
    Vacant,
    Static,
    Moving,
    UnboundedStatic,
    UnboundedMoving,
    /// A box without points (or with bounds that are not numbers): overlaps nothing.
    Empty,
}

impl Kind {
    fn of(aabb: &Aabb, is_static: bool) -> Self {
        if aabb.is_empty() {
            return Self::Empty;
        }
        let reach = aabb.min.abs().max(aabb.max.abs()).max_element();
        match (reach < UNBOUNDED, is_static) {
            (true, true) => Self::Static,
            (true, false) => Self::Moving,
            (false, true) => Self::UnboundedStatic,
            (false, false) => Self::UnboundedMoving,
        }
    }

    fn is_unbounded(self) -> bool {
        matches!(self, Self::UnboundedStatic | Self::UnboundedMoving)
    }

    fn is_static(self) -> bool {
        matches!(self, Self::Static | Self::UnboundedStatic)
    }

    /// Whether proxies of these kinds are compared at all.
    fn pairs_with(self, other: Self) -> bool {
        let absent = |k| matches!(k, Self::Vacant | Self::Empty);
        !(absent(self) || absent(other) || self.is_static() && other.is_static())
    }
}

#[derive(Clone, Copy, Debug)]
struct Proxy {
    id: u32,
    /// Node in the tree of its kind, or `NONE`.
    leaf: u32,
    /// Listed as to be put into a tree; its leaf, if it has one, holds an earlier box.
    unplaced: bool,
    fat: Aabb,
}

/// Two proxies by id and slot, the smaller id first.
#[derive(Clone, Copy, Debug)]
struct FatPair {
    ids: (u32, u32),
    slots: (u32, u32),
}

/// Finds the pairs of boxes that overlap.
///
/// Proxies carry a caller's id; pairs come out as (smaller id, larger id), sorted, and depend only
/// on the boxes and ids given, never on the order or history of calls. Boxes are closed: touching
/// ones overlap. Bounds may be infinite. A box that is empty or holds a NaN overlaps nothing, until
/// it is set again.
///
/// Ids are best small: the memory for looking them up grows with the largest (2 kB a million).
///
/// ```
/// use moreau_collision::{Aabb, BroadPhase};
/// use moreau_math::{Vec3, vec3};
///
/// let mut broad_phase = BroadPhase::new();
/// broad_phase.set(0, Aabb::new(Vec3::NEG_INFINITY, vec3(f64::INFINITY, 0.0, f64::INFINITY)), true);
/// broad_phase.set(1, Aabb::around(vec3(0.0, 0.4, 0.0), Vec3::splat(0.5)), false);
/// broad_phase.set(2, Aabb::around(vec3(0.0, 1.3, 0.0), Vec3::splat(0.5)), false);
/// let mut pairs = Vec::new();
/// broad_phase.pairs(&mut pairs);
/// assert_eq!(pairs, [(0, 1), (1, 2)]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct BroadPhase {
    settings: BroadPhaseSettings,
    slots: IdMap,
    proxies: Vec<Proxy>,
    // What the loops over pairs look at lies apart, by slot.
    /// The boxes given.
    tight: Vec<Aabb>,
    kinds: Vec<Kind>,
    /// The fat box changed, or the slot its owner, since the fat pairs were last put in order.
    is_changed: Vec<bool>,
    vacant: Vec<u32>,
    static_tree: Tree,
    moving_tree: Tree,
    unbounded: Vec<u32>,
    /// Slots with `is_changed` set.
    changed: Vec<u32>,
    /// Slots that must go into a tree.
    unplaced: Vec<u32>,
    fat_pairs: Vec<FatPair>,
    counters: BroadPhaseCounters,
    scratch: Scratch,
}

/// Buffers that keep their memory between calls.
#[derive(Clone, Debug, Default)]
struct Scratch {
    stack: Vec<u32>,
    tasks: Vec<Task>,
    leaves: Vec<(u32, Aabb)>,
    order: Order,
    starts: Vec<u32>,
    shares: Vec<PairShare>,
    new_pairs: Vec<FatPair>,
    merged: Vec<FatPair>,
    unbounded_pairs: Vec<(u32, u32)>,
}

impl BroadPhase {
    /// An empty broad phase.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty broad phase with other settings than the default ones.
    pub fn with_settings(settings: BroadPhaseSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    /// Number of proxies.
    pub fn len(&self) -> usize {
        self.proxies.len() - self.vacant.len()
    }

    /// Whether there is no proxy.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The box of the proxy `id` as it was last set.
    pub fn aabb(&self, id: u32) -> Option<Aabb> {
        let slot = self.slots.get(id);
        (slot != NONE).then(|| self.tight[slot as usize])
    }

    /// What the latest call of [`pairs`](Self::pairs) did.
    pub fn counters(&self) -> BroadPhaseCounters {
        self.counters
    }

    /// Adds the proxy `id` or moves it. `is_static` proxies are never paired with each other.
    pub fn set(&mut self, id: u32, aabb: Aabb, is_static: bool) {
        let kind = Kind::of(&aabb, is_static);
        let slot = self.slots.get(id);
        if slot == NONE {
            self.add(id, aabb, kind);
            return;
        }
        let index = slot as usize;
        let before = std::mem::replace(&mut self.tight[index], aabb);
        let same_kind = self.kinds[index] == kind;
        let kept = match kind {
            Kind::Static => before == aabb,
            Kind::Moving => self.still_fits(&self.proxies[index].fat, &aabb),
            _ => true,
        };
        if same_kind && kept {
            return;
        }
        let motion = if same_kind {
            aabb.center() - before.center()
        } else {
            Vec3::ZERO
        };
        if !same_kind {
            self.take_out(slot);
            self.kinds[index] = kind;
        }
        self.put_in(slot, motion);
    }

    /// Removes the proxy `id`; nothing happens where there is none.
    pub fn remove(&mut self, id: u32) {
        let slot = self.slots.get(id);
        if slot != NONE {
            self.take_out(slot);
            self.mark_changed(slot);
            self.kinds[slot as usize] = Kind::Vacant;
            self.slots.set(id, NONE);
            self.vacant.push(slot);
        }
    }

    /// Removes all proxies and keeps the memory and the settings.
    pub fn clear(&mut self) {
        for slot in 0..self.proxies.len() {
            if self.kinds[slot] != Kind::Vacant {
                self.remove(self.proxies[slot].id);
            }
        }
    }

    /// Replaces the content of `pairs` by all pairs of overlapping boxes, sorted.
    pub fn pairs(&mut self, pairs: &mut Vec<(u32, u32)>) {
        self.pairs_by(pairs, |work, shares| {
            shares.iter_mut().for_each(|share| work.run(share));
        });
    }

    /// As [`pairs`](Self::pairs), with most of the work done by the caller: `runner` is called with
    /// shares of it, which may be done in any order, on any threads. The result has the same bits
    /// however they are done.
    ///
    /// ```
    /// use moreau_collision::{Aabb, BroadPhase, PairWork, PairShare};
    /// use moreau_math::{Vec3, vec3};
    ///
    /// let mut broad_phase = BroadPhase::new();
    /// for i in 0..1000 {
    ///     let place = vec3(0.9 * f64::from(i), 0.0, 0.0);
    ///     broad_phase.set(i, Aabb::around(place, Vec3::splat(0.5)), false);
    /// }
    /// let mut pairs = Vec::new();
    /// broad_phase.pairs_by(&mut pairs, |work: &PairWork<'_>, shares: &mut [PairShare]| {
    ///     std::thread::scope(|scope| {
    ///         for half in shares.chunks_mut(shares.len().div_ceil(2)) {
    ///             scope.spawn(|| half.iter_mut().for_each(|share| work.run(share)));
    ///         }
    ///     });
    /// });
    /// assert_eq!(pairs.len(), 999);
    /// ```
    pub fn pairs_by(
        &mut self,
        pairs: &mut Vec<(u32, u32)>,
        mut runner: impl FnMut(&PairWork<'_>, &mut [PairShare]),
    ) {
        self.counters = BroadPhaseCounters {
            proxies: self.len(),
            changed: self.changed.len(),
            unbounded: self.unbounded.len(),
            ..BroadPhaseCounters::default()
        };
        self.update_trees();
        self.update_fat_pairs(&mut runner);
        self.find_unbounded_pairs();
        self.counters.candidates = self.fat_pairs.len();
        self.counters.height = self.moving_tree.height() as usize;

        let mut shares = std::mem::take(&mut self.scratch.shares);
        let count = self.run_narrow(&mut shares, &mut runner);
        pairs.clear();
        for share in &shares[..count] {
            pairs.extend_from_slice(share.overlapping());
        }
        self.scratch.shares = shares;
        merge_into(pairs, &self.scratch.unbounded_pairs);
    }

    /// Replaces the content of `ids` by the proxies whose boxes overlap `aabb`, sorted.
    pub fn query_aabb(&mut self, aabb: &Aabb, ids: &mut Vec<u32>) {
        ids.clear();
        if !aabb.is_empty() {
            self.query(|b| b.overlaps(aabb), ids);
        }
    }

    /// Replaces the content of `ids` by the proxies whose boxes the segment from `start` to `end` (m)
    /// meets, sorted. Empty where a coordinate is not finite.
    pub fn query_segment(&mut self, start: Vec3, end: Vec3, ids: &mut Vec<u32>) {
        ids.clear();
        if start.is_finite() && end.is_finite() {
            let direction = end - start;
            self.query(|b| meets_segment(b, start, direction), ids);
        }
    }

    fn query(&mut self, wanted: impl Fn(&Aabb) -> bool, ids: &mut Vec<u32>) {
        self.update_trees();
        let (tight, proxies) = (&self.tight, &self.proxies);
        let mut visit = |slot: u32| {
            if wanted(&tight[slot as usize]) {
                ids.push(proxies[slot as usize].id);
            }
        };
        self.unbounded.iter().for_each(|&slot| visit(slot));
        for tree in [&self.static_tree, &self.moving_tree] {
            tree.query(&mut self.scratch.stack, &wanted, |slot, _| visit(slot));
        }
        ids.sort_unstable();
    }

    fn add(&mut self, id: u32, aabb: Aabb, kind: Kind) {
        let proxy = Proxy {
            id,
            leaf: NONE,
            unplaced: false,
            fat: aabb,
        };
        let slot = match self.vacant.pop() {
            Some(slot) => {
                let index = slot as usize;
                // The slot may still be listed from its last owner.
                let unplaced = self.proxies[index].unplaced;
                self.proxies[index] = Proxy { unplaced, ..proxy };
                self.tight[index] = aabb;
                self.kinds[index] = kind;
                slot
            }
            None => {
                self.proxies.push(proxy);
                self.tight.push(aabb);
                self.kinds.push(kind);
                self.is_changed.push(false);
                (self.proxies.len() - 1) as u32
            }
        };
        self.slots.set(id, slot);
        self.put_in(slot, Vec3::ZERO);
    }

    /// Whether a moving proxy may keep its fat box: it contains the tight one and is not far larger
    /// than a fresh one would be.
    fn still_fits(&self, fat: &Aabb, tight: &Aabb) -> bool {
        let room = 2.0 * self.settings.margin.max(0.0) + 1.0;
        let excess = (fat.extents() - tight.extents()).max_element();
        fat.contains(tight) && excess <= 2.0 * room * tight.extents().max_element()
    }

    /// The box to keep for a proxy that moved by `motion` since it was last set.
    fn fatten(&self, aabb: &Aabb, motion: Vec3) -> Aabb {
        let edge = aabb.extents().max_element();
        // A jump says nothing about the next step.
        let motion = if motion.abs().max_element() <= edge {
            motion
        } else {
            Vec3::ZERO
        };
        let most = Vec3::splat(0.5 * edge);
        let ahead = (motion * self.settings.lookahead.max(0.0)).clamp(-most, most);
        let fat = aabb.enlarged(edge * self.settings.margin.max(0.0));
        Aabb::new(
            fat.min + ahead.min(Vec3::ZERO),
            fat.max + ahead.max(Vec3::ZERO),
        )
    }

    fn take_out(&mut self, slot: u32) {
        let leaf = std::mem::replace(&mut self.proxies[slot as usize].leaf, NONE);
        match self.kinds[slot as usize] {
            Kind::Static if leaf != NONE => self.static_tree.remove(leaf),
            Kind::Moving if leaf != NONE => self.moving_tree.remove(leaf),
            kind if kind.is_unbounded() => self.unbounded.retain(|s| *s != slot),
            _ => {}
        }
    }

    fn put_in(&mut self, slot: u32, motion: Vec3) {
        let index = slot as usize;
        let kind = self.kinds[index];
        self.proxies[index].fat = match kind {
            Kind::Moving => self.fatten(&self.tight[index], motion),
            _ => self.tight[index],
        };
        if kind.is_unbounded() {
            self.unbounded.push(slot);
        }
        self.mark_changed(slot);
        if !std::mem::replace(&mut self.proxies[index].unplaced, true) {
            self.unplaced.push(slot);
        }
    }

    fn mark_changed(&mut self, slot: u32) {
        if !std::mem::replace(&mut self.is_changed[slot as usize], true) {
            self.changed.push(slot);
        }
    }
}

/// Adds sorted pairs to sorted pairs.
fn merge_into(pairs: &mut Vec<(u32, u32)>, others: &[(u32, u32)]) {
    let mut left = pairs.len();
    pairs.extend_from_slice(others);
    let mut end = pairs.len();
    // From behind, so that nothing is overwritten before it is moved.
    for &other in others.iter().rev() {
        while left > 0 && pairs[left - 1] > other {
            (left, end) = (left - 1, end - 1);
            pairs[end] = pairs[left];
        }
        end -= 1;
        pairs[end] = other;
    }
}

/// Whether the box holds a point start + t direction with t in [0, 1]. Monotone: accepts what holds
/// an accepted box, rounding included.
fn meets_segment(aabb: &Aabb, start: Vec3, direction: Vec3) -> bool {
    let (mut near, mut far) = (0.0f64, 1.0f64);
    for axis in 0..3 {
        let (min, max) = (aabb.min[axis] - start[axis], aabb.max[axis] - start[axis]);
        if direction[axis] == 0.0 {
            if min > 0.0 || max < 0.0 {
                return false;
            }
        } else {
            let (t0, t1) = (min / direction[axis], max / direction[axis]);
            near = near.max(t0.min(t1));
            far = far.min(t0.max(t1));
        }
    }
    near <= far
}
