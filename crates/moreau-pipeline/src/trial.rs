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
//! Each body keeps that, so that it stays with them when islands part and unite: an island waits where more than
//! half of its bodies do. [`crate::SolverSettings::exact_wait`] switches it off.

use serde::{Deserialize, Serialize};

/// Contacts and rows up to which an attempt costs nothing to speak of.
pub(crate) const CHEAP: usize = 64;

/// What came of the last attempt at the exact answer of a body's island.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trial {
    /// Step of the world from which on it is tried again.
    due: u64,
    /// In a row.
    failures: u8,
}

/// An island that the exact solver tried, and to what end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    pub(crate) step: u64,
    /// Contacts and rows.
    pub(crate) size: usize,
    /// Whether it was tried only because it is calm.
    pub(crate) large: bool,
    /// Whether the exact solver's answer is within the tolerance.
    pub(crate) solved: bool,
}

/// How long islands wait.
struct Patience {
    /// Failures in a row after which they do.
    free: u8,
    /// Steps of the first wait.
    first: u64,
    /// How often it doubles.
    doublings: u8,
}

impl Attempt {
    /// Nothing where it need not wait.
    fn patience(&self) -> Option<Patience> {
        let (free, first, doublings) = if self.solved {
            return None;
        } else if self.large {
            (0, 8, 3)
        } else if self.size <= CHEAP {
            return None;
        } else {
            (4, 1, 3)
        };
        Some(Patience {
            free,
            first,
            doublings,
        })
    }
}

/// Steps after which an attempt in vain is forgotten.
const MEMORY: u64 = 128;

impl Trial {
    /// That of an island whose bodies have these.
    pub(crate) fn of_all(bodies: impl Iterator<Item = Self> + Clone, step: u64) -> Self {
        let waiting = bodies.clone().filter(|trial| !trial.is_due(step)).count();
        let waits = 2 * waiting > bodies.clone().count();
        bodies
            .filter(|trial| trial.forgotten() > step && trial.is_due(step) != waits)
            .max_by_key(|trial| (trial.due, trial.failures))
            .unwrap_or_default()
    }

    pub(crate) fn is_due(&self, step: u64) -> bool {
        self.due <= step
    }

    pub(crate) fn after(&self, attempt: &Attempt) -> Self {
        let Some(patience) = attempt.patience() else {
            return Self::default();
        };
        let wait = match self.failures.checked_sub(patience.free) {
            Some(before) => patience.first << before.min(patience.doublings),
            None => 0,
        };
        Self {
            due: (attempt.step + 1).saturating_add(wait),
            failures: self.failures.saturating_add(1),
        }
    }

    /// Step from which on it plays no part any more.
    pub(crate) fn forgotten(&self) -> u64 {
        match self.failures {
            0 => 0,
            _ => self.due.saturating_add(MEMORY),
        }
    }

    /// The same in a world that begins with this step.
    pub(crate) fn from(&self, step: u64) -> Self {
        Self {
            due: self.due.saturating_sub(step),
            ..*self
        }
    }

    /// Step from which on it is tried again, and failures in a row, where that plays a part.
    pub(crate) fn parts(&self, step: u64) -> Option<(u64, u64)> {
        (self.forgotten() > step).then_some((self.due, u64::from(self.failures)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Attempt, CHEAP, MEMORY, Trial};

    const VAIN: Attempt = Attempt {
        step: 0,
        size: CHEAP + 1,
        large: false,
        solved: false,
    };

    const LARGE: Attempt = Attempt {
        large: true,
        ..VAIN
    };

    /// The steps before `end` in which an island is tried that is always as in `attempt`.
    fn tried(attempt: Attempt, end: u64) -> Vec<u64> {
        let mut trial = Trial::default();
        let mut steps = Vec::new();
        for step in 0..end {
            if trial.is_due(step) {
                steps.push(step);
                trial = trial.after(&Attempt { step, ..attempt });
            }
        }
        steps
    }

    #[test]
    fn what_is_not_solved_waits_longer_and_longer() {
        let steps = [0, 1, 2, 3, 4, 6, 9, 14, 23, 32, 41];
        assert_eq!(tried(VAIN, 50), steps);
        assert_eq!(tried(LARGE, 260), [0, 9, 26, 59, 124, 189, 254]);
    }

    #[test]
    fn what_is_solved_or_small_does_not_wait() {
        let all: Vec<u64> = (0..40).collect();
        let solved = Attempt {
            solved: true,
            ..LARGE
        };
        let small = Attempt {
            size: CHEAP,
            ..VAIN
        };
        assert_eq!(tried(solved, 40), all);
        assert_eq!(tried(small, 40), all);
        let failed = Trial::default().after(&LARGE);
        assert_eq!(failed.after(&solved), Trial::default());
    }

    #[test]
    fn most_bodies_say_whether_an_island_waits() {
        let waits = Trial::default().after(&LARGE);
        let (rested, step) = (Trial::default(), 1);
        assert!(!waits.is_due(step));
        let of = |some: usize, others: usize| {
            let all = [waits].repeat(some);
            Trial::of_all(all.into_iter().chain([rested].repeat(others)), step)
        };
        assert_eq!(of(3, 2), waits);
        assert_eq!(of(2, 2), rested);
        assert_eq!(of(1, 9), rested);
        assert_eq!(of(0, 0), rested);
    }

    #[test]
    fn an_attempt_in_vain_is_forgotten() {
        let failed = Trial::default().after(&LARGE);
        assert_eq!(failed.forgotten(), 9 + MEMORY);
        assert_eq!(failed.parts(8 + MEMORY), Some((9, 1)));
        assert_eq!(failed.parts(9 + MEMORY), None);
        let of_one = |step| Trial::of_all([failed].into_iter(), step);
        assert_eq!(of_one(8 + MEMORY), failed);
        assert_eq!(of_one(9 + MEMORY), Trial::default());
        assert_eq!(Trial::default().parts(0), None);
    }

    #[test]
    fn a_world_that_begins_later_waits_as_long() {
        let step = 1000;
        let failed = Trial::default().after(&Attempt { step, ..LARGE });
        let there = failed.from(step + 1);
        for later in 0..12 {
            assert_eq!(there.is_due(later), failed.is_due(step + 1 + later));
        }
    }
}
