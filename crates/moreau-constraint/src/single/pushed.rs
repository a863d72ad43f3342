//! A contact pushed with a given normal impulse n: friction answers in the disc of radius mu n.
//!
//! ```text
//! s_n(n) = q_n + W_nn n + W_nt l_t(n),   l_t(n) the disc's answer for q_t + W_tn n (see `disc.rs`)
//! ```
//!
//! l_t(n) is unique and continuous. Where W is positive definite s_n grows without bound, so that
//! above any n with s_n < 0 there is an n with s_n = 0.

use super::{ContactBlock, ContactState, SingleContact};
use crate::disc::solve_disc;
use moreau_math::vec3;

/// A contact with the shifted velocity `s` at the impulse `l`, both (n, axes of S).
pub(super) struct Pushed<'a> {
    pub(super) block: &'a ContactBlock,
    pub(super) s: (f64, f64, f64),
    pub(super) l: (f64, f64, f64),
}

impl Pushed<'_> {
    /// (s_n, l_t) at the normal impulse `n`.
    pub(super) fn at(&self, n: f64) -> (f64, f64, f64) {
        let b = self.block;
        let (s_n, s_1, s_2) = self.s;
        let (l_n, l_1, l_2) = self.l;
        let (k1, k2) = (b.w1 * b.inverse_nn, b.w2 * b.inverse_nn);
        let rise = n - l_n - (k1 * l_1 + k2 * l_2);
        let p = (
            s_1 - b.s1 * l_1 + b.w1 * rise,
            s_2 - b.s2 * l_2 + b.w2 * rise,
        );
        // W_tt in the axes of S.
        let block = (b.s1 + b.w1 * k1, b.w1 * k2, b.s2 + b.w2 * k2);
        let (x1, x2) = solve_disc(block, p, b.mu * n);
        let s_n = s_n + b.nn * (n - l_n) + b.w1 * (x1 - l_1) + b.w2 * (x2 - l_2);
        (s_n, x1, x2)
    }

    /// The answer with s_n = 0 above `low`, where s_n < 0.
    pub(super) fn search(&self, mut low: f64) -> SingleContact {
        let mut high = 2.0 * low;
        let mut iterations = 1;
        while !(self.at(high).0 >= 0.0) {
            (low, high) = (high, 4.0 * high);
            iterations += 1;
            if iterations > 100 {
                let impulse = vec3(low, 0.0, 0.0);
                return SingleContact::without_search(impulse, ContactState::Jammed);
            }
        }
        while high - low > 2.0 * f64::EPSILON * high {
            let middle = 0.5 * (low + high);
            if self.at(middle).0 >= 0.0 {
                high = middle;
            } else {
                low = middle;
            }
            iterations += 1;
        }
        let (_, x1, x2) = self.at(high);
        SingleContact {
            impulse: self.block.join(high, x1, x2),
            state: ContactState::Slip,
            slip_rate: 0.0,
            iterations,
        }
    }
}
