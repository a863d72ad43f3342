//! What iterative solvers keep track of: how bad an answer is, and the best one so far.

use crate::{SolveReport, StopReason};
use moreau_constraint::Impulses;
use moreau_math::Vec3;

/// The largest natural map of an answer, m/s, and the contact where it is.
///
/// ```
/// # use moreau_solver::WorstResidual;
/// let mut worst = WorstResidual::default();
/// worst.include(1e-3, Some(0));
/// worst.include(2e-3, None); // a row
/// worst.include(5e-4, Some(1));
/// assert_eq!((worst.value, worst.contact), (2e-3, None));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorstResidual {
    /// m/s; 0 where nothing was included.
    pub value: f64,
    /// `None` where a row is worse, or there is no contact.
    pub contact: Option<usize>,
}

impl WorstResidual {
    /// Takes in the natural map (m/s) of a contact, or of a row (`None`). A NaN counts as infinite,
    /// so that it never passes for a small residual; the first contact is named even at 0.
    pub fn include(&mut self, map: f64, contact: Option<usize>) {
        let map = if map.is_nan() { f64::INFINITY } else { map };
        let first = self.contact.is_none() && contact.is_some() && map >= self.value;
        if map > self.value || first {
            (self.value, self.contact) = (map, contact);
        }
    }

    /// The report of a solve that ends here, without factorisations.
    pub fn report(self, sweeps: u32, stop: StopReason) -> SolveReport {
        SolveReport {
            sweeps,
            factorizations: 0,
            stop,
            residual: self.value,
            worst_contact: self.contact,
        }
    }
}

/// The best impulses that a solve has come by. Keeps its memory from solve to solve.
#[derive(Clone, Debug)]
pub struct BestIterate {
    impulses: Impulses,
    residual: f64,
}

impl Default for BestIterate {
    fn default() -> Self {
        Self {
            impulses: Impulses::default(),
            residual: f64::INFINITY,
        }
    }
}

impl BestIterate {
    /// Forgets the last solve. Until something finite is offered the best are zero impulses, of the
    /// lengths of what is offered first: a warm start that overflows is none.
    pub fn begin(&mut self) {
        self.residual = f64::INFINITY;
    }

    /// Keeps `impulses` where their residual (m/s) is smaller than any before.
    pub fn offer(&mut self, impulses: &Impulses, residual: f64) {
        if residual < self.residual {
            self.residual = residual;
            self.impulses.contacts.clone_from(&impulses.contacts);
            self.impulses.rows.clone_from(&impulses.rows);
        } else if self.residual == f64::INFINITY {
            self.impulses.contacts.clear();
            let contacts = impulses.contacts.len();
            self.impulses.contacts.resize(contacts, Vec3::ZERO);
            self.impulses.rows.clear();
            self.impulses.rows.resize(impulses.rows.len(), 0.0);
        }
    }

    /// Whether the kept impulses are better than an answer with that residual (m/s).
    pub fn beats(&self, residual: f64) -> bool {
        self.residual < residual || residual.is_nan()
    }

    /// Puts the kept impulses into `impulses`.
    pub fn restore(&self, impulses: &mut Impulses) {
        impulses.clone_from(&self.impulses);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nan_is_the_worst() {
        let mut worst = WorstResidual::default();
        worst.include(0.0, Some(3));
        assert_eq!(worst.contact, Some(3));
        worst.include(f64::NAN, Some(4));
        worst.include(1e300, Some(5));
        assert_eq!((worst.value, worst.contact), (f64::INFINITY, Some(4)));
    }

    #[test]
    fn the_best_is_kept_and_an_overflow_is_not() {
        let mut best = BestIterate::default();
        let of = |x: f64| Impulses {
            contacts: vec![Vec3::splat(x)],
            rows: vec![x],
        };
        let mut out = of(7.0);
        best.begin();
        best.offer(&of(f64::INFINITY), f64::INFINITY);
        best.restore(&mut out);
        assert_eq!(out, of(0.0));
        best.offer(&of(1.0), 0.5);
        best.offer(&of(2.0), 0.75);
        best.offer(&of(3.0), f64::NAN);
        assert!(best.beats(0.6) && best.beats(f64::NAN) && !best.beats(0.5));
        best.restore(&mut out);
        assert_eq!(out, of(1.0));
    }
}
