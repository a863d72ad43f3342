//! What the parts of a step may cost.
//!
//! Work is counted in looks, so that it is the same on every machine: one for each pair of boxes that overlap,
//! eight for each pair that is followed to its time of impact, or more where that took more, eight for each manifold
//! of a pair but its first (of the triangles that a fast body may come to) and for each time at which a pair is looked
//! at on its way, and for the
//! solve of an island of n points
//!
//! ```text
//! n (1 + sweeps/100 + factorisations/8)
//! ```
//!
//! To it come the legs of bodies that turn far in a part (`crossings`): one for each but the first of a way, eight for
//! each look at a pair on them. There are as many as the bodies turn, in however many parts; so what all bodies of the
//! group will need at least is taken off what is left, before a part is begun.
//!
//! A look takes about 0.8 us. A group of bodies may spend
//!
//! ```text
//! ordered_base_work + ordered_work_factor W      W: work of the step that has taken the group in one
//! ```
//!
//! in all of its attempts. Before each part, the first impacts in sight of all that is live are counted: where two
//! parts for each would cost more than what is left, they are not begun.

use super::meetings::Meeting;
use crate::step::Scratch;
use crate::world::World;
use moreau_solver::SolveReport;

/// Sweeps and factorisations that cost as much as a look at each point.
const SWEEPS: u64 = 100;
const FACTORIZATIONS: u64 = 8;

/// Looks that it takes at least to follow a pair, or a part of one.
pub(super) const FOLLOWED: u64 = 8;

/// What a group may spend, in looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    pub(super) most: u64,
    /// What a part costs at least, as far as the step in one tells: its solve may have been hard just because it
    /// was one.
    pub(super) part: u64,
}

impl Allowance {
    /// Whether what is in sight can be paid for: the first impact of each `live` body, of which those within `strike`
    /// (s) of the one before belong to it, where a part costs at most `each` looks.
    pub(super) fn covers(
        &self,
        meetings: &[Meeting],
        live: impl Fn(u32) -> bool,
        strike: f64,
        (spent, each): (u64, u64),
    ) -> bool {
        let sides = meetings.iter().flat_map(|m| [(m.a, m.time), (m.b, m.time)]);
        let mut sides: Vec<(u32, f64)> = sides.filter(|(slot, _)| live(*slot)).collect();
        sides.sort_unstable_by(|m, n| m.0.cmp(&n.0).then(m.1.total_cmp(&n.1)));
        sides.dedup_by_key(|(slot, _)| *slot);
        let mut times: Vec<f64> = sides.into_iter().map(|(_, time)| time).collect();
        times.sort_unstable_by(f64::total_cmp);
        let later = times.windows(2).filter(|t| t[1] - t[0] > strike).count();
        // A flight and a strike for each.
        let parts = 2 * (1 + later as u64);
        spent.saturating_add(parts.saturating_mul(each)) <= self.most
    }
}

/// Work of a look at `pairs`, where some, or some of their parts, are followed.
pub(super) fn look_work(pairs: usize, followed: usize) -> u64 {
    pairs as u64 + FOLLOWED * followed as u64
}

/// Work of a solve.
pub(super) fn solve_work(points: usize, solve: &SolveReport) -> u64 {
    let points = points as u64;
    let sweeps = points * u64::from(solve.sweeps) / SWEEPS;
    points + sweeps + points * u64::from(solve.factorizations) / FACTORIZATIONS
}

impl World {
    /// What the bodies in the slots `members` (ascending), which are whole islands, may spend.
    pub(super) fn allowance(&self, scratch: &Scratch, members: &[u32]) -> Allowance {
        let ends = (members.first(), members.last());
        // Most bodies of a large world are beyond the ends of a small group.
        let is_member = |slot: &u32| {
            ends.0 <= Some(slot) && Some(slot) <= ends.1 && members.binary_search(slot).is_ok()
        };
        let (pairs, parts) = self.detection.counts(&self.state, |slot| is_member(&slot));
        let (mut part, mut solves) = (look_work(pairs, parts), 0);
        let islands = &scratch.islands;
        for (range, result) in islands.ranges.iter().zip(&scratch.results) {
            let first = &islands.bodies[range.bodies.start];
            if let Some(solve) = result.report.as_ref().filter(|_| is_member(first)) {
                part += range.contacts.len() as u64;
                solves += solve_work(range.contacts.len(), solve) - range.contacts.len() as u64;
            }
        }
        let settings = &self.state.settings;
        let more = u64::from(settings.ordered_work_factor).saturating_mul(part + solves);
        Allowance {
            most: settings.ordered_base_work.saturating_add(more),
            part,
        }
    }
}
