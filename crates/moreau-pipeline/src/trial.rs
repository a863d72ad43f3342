//! Islands that the exact solver did not get done with, and how long they wait before it tries again.
//!
//! An island in collapse may have no exact answer within the budget in hundreds of steps, one after the other, and
//! would cost it in each. What was not solved is swept for some steps before it is tried again, and for twice as many
//! after the next attempt in vain:
//!
//! | island | swept for, in steps |
//! |---|---|
//! | of at most 64 contacts and rows | never |
//! | of at most `exact_contact_limit` contacts | 0 four times in a row, 1, 2, 4, and always 8 |
//! | large and calm | 8, 16, 32, and always 64 |
//!
//! An attempt that comes near ([`NEAR`]) is in vain for large calm islands only: others are mostly solved again within
//! a few steps, and sweeps would be farther off.
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
        let waits = |trial: &Self| trial.waits(cost, step);
        let waiting = bodies.clone().filter(waits).count();
        let most = 2 * waiting > bodies.clone().count();
        bodies
            .filter(|trial| trial.forgotten() > step && waits(trial) == most)
            .max_by_key(|trial| (trial.since, trial.failures))
            .unwrap_or_default()
    }

    /// Whether an island is swept in that step.
    pub(crate) fn waits(&self, cost: Cost, step: u64) -> bool {
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
            Outcome::Near if cost != Cost::Large => return Self::default(),
            Outcome::Near | Outcome::Far => {}
        }
        Self {
            since: step.saturating_add(1),
            failures: self.failures.saturating_add(1),
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

    /// Step after the last attempt in vain, and how many there were, where that plays a part.
    pub(crate) fn parts(&self, step: u64) -> Option<(u64, u64)> {
        (self.forgotten() > step).then_some((self.since, u64::from(self.failures)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Cost, MEMORY, Outcome, Trial};

    /// One large island, in vain.
    fn failed() -> Trial {
        Trial::default().after(0, Cost::Large, Outcome::Far)
    }

    /// The steps before `end` in which an island is tried that is never solved.
    fn tried(cost: Cost, end: u64) -> Vec<u64> {
        let mut trial = Trial::default();
        let mut steps = Vec::new();
        for step in 0..end {
            if !trial.waits(cost, step) {
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
        assert!(failed.waits(Cost::Large, 1));
        let solved = failed.after(9, Cost::Large, Outcome::Solved);
        assert_eq!(solved, Trial::default());
        assert!(!Trial::default().waits(Cost::Large, 0));
    }

    #[test]
    fn what_comes_near_waits_where_it_is_large_only() {
        let near = |cost| failed().after(1, cost, Outcome::Near);
        assert!(near(Cost::Large).waits(Cost::Large, 17));
        assert_eq!(near(Cost::Usual), Trial::default());
    }

    #[test]
    fn most_bodies_say_whether_an_island_waits() {
        let (failed, rested) = (failed(), Trial::default());
        let of = |some: usize, others: usize| {
            let all = [failed].repeat(some);
            let all = all.into_iter().chain([rested].repeat(others));
            Trial::of_all(all, Cost::Large, 1).waits(Cost::Large, 1)
        };
        assert!(of(3, 2) && of(1, 0));
        assert!(!of(2, 2) && !of(1, 9) && !of(0, 0));
    }

    #[test]
    fn what_parts_from_a_large_island_waits_as_small_ones_do() {
        let failed = failed();
        assert!(failed.waits(Cost::Large, 8) && !failed.waits(Cost::Usual, 1));
        let fail = |trial: Trial, step| trial.after(step, Cost::Large, Outcome::Far);
        let often = (0..5).fold(failed, fail);
        assert!(often.waits(Cost::Usual, 5) && !often.waits(Cost::Usual, 9));
        assert!(!often.waits(Cost::Cheap, 5));
    }

    #[test]
    fn an_attempt_in_vain_is_forgotten() {
        let failed = failed();
        assert_eq!(failed.forgotten(), 1 + MEMORY);
        assert_eq!(failed.parts(MEMORY), Some((1, 1)));
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
            let here = failed.waits(Cost::Large, 1001 + later);
            assert_eq!(there.waits(Cost::Large, later), here);
        }
        assert_eq!(failed.from(1001 + MEMORY), Trial::default());
    }
}
