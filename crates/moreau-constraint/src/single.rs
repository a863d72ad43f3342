//! The exact law of one contact, all others held.
//!
//! Given the contact's own Delassus block W (3x3, 1/kg), the shifted velocity q without its own
//! impulse (m/s) and mu, find l with s = W l + q and
//!
//! ```text
//! 0 <= l_n _|_ s_n >= 0,   |l_t| <= mu l_n,   l_t = -mu l_n s_t/|s_t| where |s_t| > 0.
//!
//! open    q_n >= 0:  l = 0
//! S = W_tt - W_tn W_nt/W_nn,  p = q_t - W_tn q_n/W_nn          (the normal row eliminated)
//! S = Q diag(s1, s2) Q',  a = Q'p,  w = Q'W_tn                 (s1 >= s2 >= 0)
//! l_t,i = -a_i/(s_i + alpha),   l_n = -(q_n + w·l_t)/W_nn      for alpha = |s_t|/|l_t| >= 0
//! stick   alpha = 0, accepted where |l_t| <= mu l_n
//! slip    the alpha with |l_t| = mu l_n (see `single/slip.rs`)
//! ```
//!
//! At large mu more than one l can satisfy the law (Painlevé); any one is returned. Where W is
//! singular, none may: an impulse that only jams the contact harder the larger it is.

mod pushed;
mod slip;

use moreau_math::{Mat3, Vec3, vec3};
use pushed::Pushed;

/// What a contact does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactState {
    /// No impulse, or the least that was asked for.
    Open,
    /// Inside its cone, no tangential velocity.
    Stick,
    /// On its cone.
    Slip,
    /// No impulse satisfies the law, which takes a singular block; the impulse is the one without
    /// friction in the direction that jams.
    Jammed,
}

/// The answer of [`solve_single_contact`] and [`ContactBlock`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SingleContact {
    /// (normal, tangent 1, tangent 2), N s.
    pub impulse: Vec3,
    /// Which case it is.
    pub state: ContactState,
    /// |s_t|/|l_t| of a slipping contact, 1/kg: a guess for the next solve of almost the same
    /// contact. 0 otherwise.
    pub slip_rate: f64,
    /// Steps of the root search; 0 where there was none.
    pub iterations: u32,
}

impl SingleContact {
    fn without_search(impulse: Vec3, state: ContactState) -> Self {
        Self {
            impulse,
            state,
            slip_rate: 0.0,
            iterations: 0,
        }
    }
}

const OPEN: SingleContact = SingleContact {
    impulse: Vec3::ZERO,
    state: ContactState::Open,
    slip_rate: 0.0,
    iterations: 0,
};

/// Below this part of the tangential block an eigenvalue of S is only rounding.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Solves one contact exactly (error about 1e-15 of |W||l| + |q|); see the module's formulas.
///
/// `w`: symmetric positive semi-definite block (n, t1, t2), 1/kg; of its two triangles the lower
/// counts. `q`: m/s. `mu` >= 0.
pub fn solve_single_contact(w: &Mat3, q: Vec3, mu: f64) -> SingleContact {
    ContactBlock::new(w, mu).solve(q, 0.0)
}

/// A contact's Delassus block and friction, made ready for many solves.
#[derive(Clone, Copy, Debug)]
pub struct ContactBlock {
    mu: f64,
    nn: f64,
    /// 0 where nothing can move along the normal.
    inverse_nn: f64,
    /// The first eigenvector of S is (cos, sin), the second (-sin, cos).
    cos: f64,
    sin: f64,
    s1: f64,
    s2: f64,
    w1: f64,
    w2: f64,
}

impl ContactBlock {
    /// From the block `w` (as for [`solve_single_contact`]) and the coefficient `mu` >= 0.
    pub fn new(w: &Mat3, mu: f64) -> Self {
        let (nn, n1, n2) = (w.x_axis.x, w.x_axis.y, w.x_axis.z);
        let inverse = 1.0 / nn;
        let inverse_nn = if nn > 0.0 && inverse.is_finite() {
            inverse
        } else {
            0.0
        };
        let s11 = w.y_axis.y - n1 * n1 * inverse_nn;
        let s12 = w.y_axis.z - n1 * n2 * inverse_nn;
        let s22 = w.z_axis.z - n2 * n2 * inverse_nn;
        let (mean, half) = (0.5 * (s11 + s22), 0.5 * (s11 - s22));
        let spread = (half * half + s12 * s12).sqrt();
        let (x, y) = if half >= 0.0 {
            (half + spread, s12)
        } else {
            (s12, spread - half)
        };
        let length = (x * x + y * y).sqrt();
        let (cos, sin) = if length > 0.0 {
            (x / length, y / length)
        } else {
            (1.0, 0.0)
        };
        // S comes from a difference: below that rounding its eigenvalues mean nothing.
        let least = ROUNDING * (w.y_axis.y + w.z_axis.z);
        let significant = |s: f64| if s > least { s } else { 0.0 };
        let s1 = significant(mean + spread);
        // det/s1 keeps the digits of the small eigenvalue.
        let s2 = if s1 > 0.0 {
            significant((s11 * s22 - s12 * s12) / s1).min(s1)
        } else {
            0.0
        };
        Self {
            mu,
            nn,
            inverse_nn,
            cos,
            sin,
            s1,
            s2,
            w1: cos * n1 + sin * n2,
            w2: cos * n2 - sin * n1,
        }
    }

    /// The impulse where the shifted velocity without it is `q` (m/s). `guess`: the
    /// [`SingleContact::slip_rate`] of an earlier answer, or 0; it changes the number of steps only,
    /// but for rounding (and for which of several answers is found).
    #[inline]
    pub fn solve(&self, q: Vec3, guess: f64) -> SingleContact {
        let p = vec3(0.0, q.y, q.z);
        self.solve_eliminated(q.x, self.eliminate(p, q.x), guess)
    }

    /// The impulse that takes the place of `impulse`, at which the shifted velocity is `s` (m/s):
    /// [`Self::solve`] of q = s - W `impulse` without the cancellation in that difference.
    #[inline]
    pub fn update(&self, s: Vec3, impulse: Vec3, guess: f64) -> SingleContact {
        let (l1, l2) = self.split(impulse.y, impulse.z);
        let q_n = s.x - (self.nn * impulse.x + self.w1 * l1 + self.w2 * l2);
        let (p1, p2) = self.eliminate(s, s.x);
        self.solve_eliminated(q_n, (p1 - self.s1 * l1, p2 - self.s2 * l2), guess)
    }

    /// Like [`Self::update`], for a contact whose normal impulse is at least `floor` >= 0 (N s):
    ///
    /// ```text
    /// 0 <= l_n - floor _|_ s_n >= 0, the cone and the direction of sliding as always.
    /// ```
    ///
    /// The expansion phase of an impact by Poisson's law is of this kind.
    pub fn update_above(&self, s: Vec3, impulse: Vec3, floor: f64, guess: f64) -> SingleContact {
        if !(floor > 0.0) {
            return self.update(s, impulse, guess);
        }
        let axes = self.split(impulse.y, impulse.z);
        let t = self.split(s.y, s.z);
        let pushed = Pushed {
            block: self,
            s: (s.x, t.0, t.1),
            l: (impulse.x, axes.0, axes.1),
        };
        let (s_n, x1, x2) = pushed.at(floor);
        if s_n >= 0.0 {
            let impulse = self.join(floor, x1, x2);
            return SingleContact::without_search(impulse, ContactState::Open);
        }
        let free = self.update(s, impulse, guess);
        if free.impulse.x >= floor {
            return free;
        }
        // The answer found lies below the floor: at large mu there is another one.
        pushed.search(floor)
    }

    /// Tangential pair to the eigenvectors of S.
    #[inline(always)]
    fn split(&self, t1: f64, t2: f64) -> (f64, f64) {
        (self.cos * t1 + self.sin * t2, self.cos * t2 - self.sin * t1)
    }

    #[inline(always)]
    fn join(&self, normal: f64, x1: f64, x2: f64) -> Vec3 {
        vec3(
            normal,
            self.cos * x1 - self.sin * x2,
            self.sin * x1 + self.cos * x2,
        )
    }

    /// Q'(t - W_tn n/W_nn), without what is only rounding where S is singular.
    #[inline(always)]
    fn eliminate(&self, t: Vec3, n: f64) -> (f64, f64) {
        let (a1, a2) = self.split(t.y, t.z);
        let scaled = n * self.inverse_nn;
        (a1 - self.w1 * scaled, a2 - self.w2 * scaled)
    }

    #[inline(always)]
    fn solve_eliminated(&self, q_n: f64, (a1, a2): (f64, f64), guess: f64) -> SingleContact {
        if !(q_n < 0.0) || self.inverse_nn == 0.0 {
            return OPEN;
        }
        let Self { s1, s2, w1, w2, .. } = *self;
        let frictionless = -q_n * self.inverse_nn;
        // Friction too small for its square to be a number counts as none.
        if !(self.mu * frictionless > 1e-150) {
            let impulse = vec3(frictionless, 0.0, 0.0);
            return SingleContact::without_search(impulse, ContactState::Slip);
        }
        if s2 > 0.0 {
            let (x1, x2) = (-a1 / s1, -a2 / s2);
            let normal = -(q_n + w1 * x1 + w2 * x2) * self.inverse_nn;
            let bound = self.mu * normal;
            if normal >= 0.0 && x1 * x1 + x2 * x2 <= bound * bound {
                let impulse = self.join(normal, x1, x2);
                return SingleContact::without_search(impulse, ContactState::Stick);
            }
            return self.slip(q_n, (a1, a2), guess);
        }
        self.solve_singular(q_n, (a1, a2))
    }
}
