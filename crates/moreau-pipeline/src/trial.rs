//! Islands that the exact solver did not get done with, and how long they wait before it tries again.
//!
//! An island in collapse may have no exact answer within the budget in hundreds of steps, one after the other, and
//! would cost it in each. What was not solved is put off for some steps before it is tried again, and for twice as many
//! after the next attempt in vain:
//!
//! | island | put off for, in steps |
//! |---|---|
//! | of at most 64 contacts and rows | never |
//! | of at most `exact_contact_limit` contacts | 0 four times in a row, 1, 2, 4, and always 8 |
//! | large and calm | 8, 16, 32, and always 64 |
//!
//! Meanwhile it is swept, but where the last attempt came near ([`NEAR`]): sweeps alone would be farther off, so it
//! gets a budget that is enough for what needs few factorisations, and sweeps from where that ends. Heaps of hundreds of
//! bodies come near in nearly all steps; of them as many are solved so as with the whole budget in each, in half of the
//! time. Large islands are swept.
//!
//! Each body keeps that, so that it stays with them when islands part and unite: an island waits where more than
//! half of its bodies do, as long as one of its size does. [`crate::SolverSettings::exact_wait`] switches it off.

use serde::{Deserialize, Serialize};

/// Contacts and rows up to which an attempt costs nothing to speak of.
pub(crate) const CHEAP: usize = 64;

/// What an attempt at an island's exact answer may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cost {
    Cheap,
    Usual,
    /// Of an island that is tried only because it is calm.
    Large,
}

/// What comes of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Solved,
    /// What is left is at most [`NEAR`] times the exact solver's tolerance.
    Near,
    Far,
}

/// See [`Outcome`]; by default 0.1 mm/s.
pub(crate) const NEAR: f64 = 1e4;

/// What came of the last attempts at the exact answer of a body's island.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trial {
    /// Step of the world after the last attempt in vain.
    since: u64,
    /// Attempts in vain in a row.
    failures: u8,
    /// Whether the last of them came near.
    near: bool,
}

/// What attempts in vain mean for an island in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Pause {
    /// It is tried.
    #[default]
    None,
    /// It is tried with a short budget. What comes of that does not count.
    Hurries,
    /// It is swept.
    Waits,
}

/// Steps after which an attempt in vain is forgotten.
pub(crate) const MEMORY: u64 = 192;

impl Trial {
    /// That of an island whose bodies have these.
    pub(crate) fn of_all(
        bodies: impl Iterator<Item = Self> + Clone,
        cost: Cost,
        step: u64,
    ) -> Self {
        let waits = |trial: &Self| trial.is_put_off(cost, step);
        let waiting = bodies.clone().filter(waits).count();
        let most = 2 * waiting > bodies.clone().count();
        bodies
            .filter(|trial| trial.forgotten() > step && waits(trial) == most)
            .max_by_key(|trial| (trial.since, trial.failures, trial.near))
            .unwrap_or_default()
    }

    /// What an island does in that step.
    pub(crate) fn pause(&self, cost: Cost, step: u64) -> Pause {
        if !self.is_put_off(cost, step) {
            Pause::None
        } else if self.near && cost == Cost::Usual {
            Pause::Hurries
        } else {
            Pause::Waits
        }
    }

    fn is_put_off(&self, cost: Cost, step: u64) -> bool {
        let (free, first, doublings) = match cost {
            Cost::Cheap => return false,
            Cost::Usual => (4, 1, 3),
            Cost::Large => (0, 8, 3),
        };
        let Some(before) = self.failures.checked_sub(free + 1) else {
            return false;
        };
        let wait: u64 = first << before.min(doublings);
        step < self.since.saturating_add(wait)
    }

    /// After an attempt in that step.
    pub(crate) fn after(&self, step: u64, cost: Cost, outcome: Outcome) -> Self {
        match outcome {
            Outcome::Solved => return Self::default(),
            Outcome::Near if cost == Cost::Cheap => return Self::default(),
            Outcome::Near | Outcome::Far => {}
        }
        Self {
            since: step.saturating_add(1),
            failures: self.failures.saturating_add(1),
            near: outcome == Outcome::Near,
        }
    }

    /// Step from which on it plays no part any more.
    pub(crate) fn forgotten(&self) -> u64 {
        match self.failures {
            0 => 0,
            _ => self.since.saturating_add(MEMORY),
        }
    }

    /// The same in a world that begins with this step.
    pub(crate) fn from(&self, step: u64) -> Self {
        if self.forgotten() <= step {
            return Self::default();
        }
        Self {
            since: self.since.saturating_sub(step),
            ..*self
        }
    }

    /// Whether it comes from a world that has made so many steps.
    pub(crate) fn is_sound(&self, steps: u64) -> bool {
        self.since <= steps
    }

    /// Step after the last attempt in vain, how many there were, and 1 where it came near; where that plays a part.
    pub(crate) fn parts(&self, step: u64) -> Option<[u64; 3]> {
        let parts = [self.since, u64::from(self.failures), u64::from(self.near)];
        (self.forgotten() > step).then_some(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::{Cost, MEMORY, Outcome, Pause, Trial};

    /// One large island, in vain.
    fn failed() -> Trial {
        Trial::default().after(0, Cost::Large, Outcome::Far)
    }

    /// The steps before `end` in which an island is tried that is never solved.
    fn tried(cost: Cost, end: u64) -> Vec<u64> {
        let mut trial = Trial::default();
        let mut steps = Vec::new();
        for step in 0..end {
            if !trial.is_put_off(cost, step) {
                steps.push(step);
                trial = trial.after(step, cost, Outcome::Far);
            }
        }
        steps
    }

    #[test]
    fn what_is_not_solved_waits_longer_and_longer() {
        let usual = [0, 1, 2, 3, 4, 6, 9, 14, 23, 32, 41];
        assert_eq!(tried(Cost::Usual, 50), usual);
        let large = [0, 9, 26, 59, 124, 189, 254];
        assert_eq!(tried(Cost::Large, 260), large);
        let all: Vec<u64> = (0..300).collect();
        assert_eq!(tried(Cost::Cheap, 300), all);
    }

    #[test]
    fn what_is_solved_does_not_wait() {
        let failed = failed();
        assert!(failed.is_put_off(Cost::Large, 1));
        let solved = failed.after(9, Cost::Large, Outcome::Solved);
        assert_eq!(solved, Trial::default());
        assert!(!Trial::default().is_put_off(Cost::Large, 0));
    }

    #[test]
    fn what_comes_near_is_put_off_but_not_swept_unless_it_is_large() {
        let often = |cost, last| {
            let far = (0..9).fold(Trial::default(), |t, i| t.after(i, cost, Outcome::Far));
            far.after(9, cost, last).pause(cost, 17)
        };
        assert_eq!(often(Cost::Large, Outcome::Near), Pause::Waits);
        assert_eq!(often(Cost::Usual, Outcome::Near), Pause::Hurries);
        assert_eq!(often(Cost::Usual, Outcome::Far), Pause::Waits);
        assert_eq!(often(Cost::Usual, Outcome::Solved), Pause::None);
        assert_eq!(often(Cost::Cheap, Outcome::Near), Pause::None);
    }

    #[test]
    fn most_bodies_say_whether_an_island_waits() {
        let (failed, rested) = (failed(), Trial::default());
        let of = |some: usize, others: usize| {
            let all = [failed].repeat(some);
            let all = all.into_iter().chain([rested].repeat(others));
            Trial::of_all(all, Cost::Large, 1).is_put_off(Cost::Large, 1)
        };
        assert!(of(3, 2) && of(1, 0));
        assert!(!of(2, 2) && !of(1, 9) && !of(0, 0));
    }

    #[test]
    fn what_parts_from_a_large_island_waits_as_small_ones_do() {
        let failed = failed();
        assert!(failed.is_put_off(Cost::Large, 8) && !failed.is_put_off(Cost::Usual, 1));
        let fail = |trial: Trial, step| trial.after(step, Cost::Large, Outcome::Far);
        let often = (0..5).fold(failed, fail);
        assert!(often.is_put_off(Cost::Usual, 5) && !often.is_put_off(Cost::Usual, 9));
        assert!(!often.is_put_off(Cost::Cheap, 5));
    }

    #[test]
    fn an_attempt_in_vain_is_forgotten() {
        let failed = failed();
        assert_eq!(failed.forgotten(), 1 + MEMORY);
        assert_eq!(failed.parts(MEMORY), Some([1, 1, 0]));
        assert_eq!(failed.parts(1 + MEMORY), None);
        let of_one = |step| Trial::of_all([failed].into_iter(), Cost::Usual, step);
        assert_eq!(of_one(MEMORY), failed);
        assert_eq!(of_one(1 + MEMORY), Trial::default());
        assert_eq!(Trial::default().parts(0), None);
    }

    #[test]
    fn a_world_that_begins_later_waits_as_long() {
        let failed = Trial::default().after(1000, Cost::Large, Outcome::Far);
        let there = failed.from(1001);
        for later in 0..12 {
            let here = failed.is_put_off(Cost::Large, 1001 + later);
            assert_eq!(there.is_put_off(Cost::Large, later), here);
        }
        assert_eq!(failed.from(1001 + MEMORY), Trial::default());
    }
}
