//! How far a solve is.

use crate::momentum::Momentum;
use crate::packed::Sums;
use crate::settings::SimdSettings;

/// What a sweep changed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sweep {
    /// |g|²_D, and g·D (change of the end).
    pub(crate) square: f64,
    pub(crate) along: f64,
    /// The largest |g| D of a contact or row, m/s: about its natural map.
    pub(crate) change: f64,
    /// Of a contact.
    pub(crate) contact_change: f64,
}

/// With what blocks add to the changes of rows.
pub(crate) fn sum(blocks: &[Sums], of_rows: Sweep) -> Sweep {
    let Sweep {
        mut square,
        mut along,
        ..
    } = of_rows;
    let mut change_squared = 0.0_f64;
    for sums in blocks {
        square += sums.square;
        along += sums.along;
        change_squared = change_squared.max(sums.change_squared);
    }
    let contact_change = change_squared.sqrt();
    Sweep {
        square,
        along,
        change: contact_change.max(of_rows.change),
        contact_change,
    }
}

/// How far a solve is.
#[derive(Debug)]
pub(crate) struct Progress {
    pub(crate) sweeps: u32,
    pub(crate) momentum: Momentum,
    pub(crate) beta: f64,
    /// Which list of impulses is the last one.
    pub(crate) current: usize,
    /// Whether the next sweep visits all packs.
    pub(crate) whole: bool,
    /// Packs that it does not visit otherwise.
    pub(crate) resting: usize,
    /// Residuals: the best and the last one that were looked at, m/s.
    pub(crate) best: f64,
    pub(crate) last: f64,
    /// |g|²_D at the last looks, the older first; infinite before the first ones.
    pub(crate) squares: [f64; 2],
    /// The residual that was left where the one that was looked at was last wrong; infinite where it never was.
    pub(crate) mistaken: f64,
}

/// A solve is slow whose sweeps change more than this part (of |g|²_D) of what they changed two looks ago.
const SLOW: f64 = 0.5;

/// Looks that are foreseen. What needs more is not given up while it comes nearer at all.
const MOST_LOOKS_AHEAD: u32 = 10_000;

impl Progress {
    /// To be asked at each look, with the largest change of the last sweep: whether the solve is slow, and will not
    /// reach its tolerance at this pace.
    pub(crate) fn is_hopeless(&mut self, sweep: &Sweep, settings: &SimdSettings) -> bool {
        let [before, last] = self.squares;
        self.squares = [last, sweep.square];
        if !(sweep.square > SLOW * before && sweep.change <= settings.slow_tolerance) {
            return false;
        }
        let pace = (sweep.square / before).sqrt();
        let mut change = sweep.change;
        let left = (settings.max_sweeps - self.sweeps) / (2 * settings.check_every);
        // A large budget is no reason to count to it at each look.
        for _ in 0..left.min(MOST_LOOKS_AHEAD) {
            change *= pace;
            if change <= settings.tolerance {
                return false;
            }
        }
        pace >= 1.0 || left <= MOST_LOOKS_AHEAD
    }
}

/// What several sweeps came to: the last one's changes, or those of the first that are no finite number, which the next
/// sweeps may hide.
pub(crate) fn last_of(sweeps: &[Sweep]) -> Sweep {
    let lost = sweeps.iter().find(|sweep| !sweep.square.is_finite());
    lost.or(sweeps.last()).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Sweep, last_of};

    #[test]
    fn what_is_lost_between_looks_is_seen() {
        let of = |square: f64| Sweep {
            square,
            ..Sweep::default()
        };
        let several = |squares: &[f64]| {
            let sweeps: Vec<_> = squares.iter().map(|square| of(*square)).collect();
            last_of(&sweeps).square
        };
        assert_eq!(several(&[3.0, 2.0, 1.0]), 1.0);
        assert_eq!(several(&[3.0, f64::INFINITY, 1.0]), f64::INFINITY);
        assert!(several(&[f64::NAN, 2.0, 1.0]).is_nan());
    }
}
