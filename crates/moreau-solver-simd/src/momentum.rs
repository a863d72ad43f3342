//! How far ahead of the last sweep the next one starts.

use crate::progress::Sweep;

/// Largest factor on the last change.
const LARGEST_BETA: f64 = 0.9;

/// How far ahead the next sweep starts.
#[derive(Clone, Debug)]
pub(crate) struct Momentum {
    /// Sweeps since the last restart.
    k: f64,
    /// Largest beta.
    limit: f64,
    /// |g|²_D of the last sweep but one, and its least value at a look.
    square: f64,
    least: f64,
}

impl Momentum {
    pub(crate) fn new() -> Self {
        Self {
            k: 0.0,
            limit: LARGEST_BETA,
            square: f64::INFINITY,
            least: f64::INFINITY,
        }
    }

    /// Less momentum where the changes of a sweep do not fall from look to look: contacts that slide
    /// and stick in turn cycle under it.
    pub(crate) fn adapt(&mut self) {
        self.limit = if self.square < self.least {
            (self.limit + 0.1).min(LARGEST_BETA)
        } else {
            self.limit * 0.5
        };
        self.least = self.least.min(self.square);
    }

    pub(crate) fn beta(&mut self, square: f64, along: f64) -> f64 {
        self.square = square;
        if along < 0.0 {
            self.k = 0.0;
        }
        self.next()
    }

    /// Of a sweep that starts before the changes of the one before it are known.
    pub(crate) fn next(&mut self) -> f64 {
        let beta = (self.k / (self.k + 3.0)).min(self.limit);
        self.k += 1.0;
        beta
    }

    /// After several sweeps, in their order: what a sweep but the last one changed.
    pub(crate) fn see(&mut self, sweeps: &[Sweep]) {
        for sweep in sweeps {
            self.square = sweep.square;
        }
        if sweeps.iter().any(|sweep| sweep.along < 0.0) {
            self.k = 0.0;
        }
    }
}
