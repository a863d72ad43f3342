//! The sliding contact: one root of a function of one variable.
//!
//! ```text
//! x_i(alpha) = -a_i/(s_i + alpha),   n(alpha) = -(q_n + w·x)/W_nn
//! f(alpha) = |x| - mu n = 0,   0 < alpha <= high = |a| (W_nn + mu |w|)/(mu (-q_n))
//! ```
//!
//! f(high) <= 0. Where S is regular and the contact does not stick, f(0) > 0, so there is a root.
//! Newton's method runs on g = 1 - mu n/|x|, which is nearly linear in alpha:
//!
//! ```text
//! -g/g' = f |x|² / (mu (n' |x|² + n (x1²/(s1 + alpha) + x2²/(s2 + alpha))))
//! n' = (w1 x1/(s1 + alpha) + w2 x2/(s2 + alpha))/W_nn
//! ```
//!
//! and is kept in a bracket. A step that leaves the bracket, or that comes after one that did not
//! halve |f|, gives way to the geometric mean of the bracket's ends, measured from -s2.
//!
//! Singular S (s2 = 0): l_t along its null direction is unbounded as alpha -> 0. With
//! d = W_nn - mu w2 sign(a2), f -> +inf for d > 0 and there is a root; else f may be negative
//! everywhere, and then the contact is jammed.

use super::{ContactBlock, ContactState, ROUNDING, SingleContact};
use moreau_math::{libm, vec3};

/// More than the bisection of any bracket of f64 numbers needs.
const MAX_ITERATIONS: u32 = 80;

impl ContactBlock {
    /// The sliding answer for regular S.
    pub(super) fn slip(&self, q_n: f64, (a1, a2): (f64, f64), guess: f64) -> SingleContact {
        let pull = (a1 * a1 + a2 * a2).sqrt();
        let bound = self.mu * -q_n;
        let high = self.bracket_end(pull, bound);
        let start = if guess > 0.0 && guess < high {
            guess
        } else {
            // Exact where S is a multiple of 1 and the tangents are not coupled to the normal.
            (pull * self.nn / bound - 0.5 * (self.s1 + self.s2)).max(0.0)
        };
        self.search(q_n, (a1, a2), (0.0, high), start)
    }

    fn bracket_end(&self, pull: f64, bound: f64) -> f64 {
        let coupling = (self.w1 * self.w1 + self.w2 * self.w2).sqrt();
        pull * (self.nn + self.mu * coupling) / bound
    }

    /// The root between `low`, where f > 0, and `high`, where f <= 0.
    fn search(
        &self,
        q_n: f64,
        (a1, a2): (f64, f64),
        (mut low, mut high): (f64, f64),
        start: f64,
    ) -> SingleContact {
        let Self {
            mu, s1, s2, w1, w2, ..
        } = *self;
        let inverse = self.inverse_nn;
        if !high.is_finite() {
            // mu (-q_n) is nothing beside |a|.
            let impulse = vec3(-q_n * inverse, 0.0, 0.0);
            return SingleContact::without_search(impulse, ContactState::Slip);
        }
        let mut alpha = start.clamp(low, high);
        let (mut x1, mut x2, mut tangent);
        let mut previous = f64::INFINITY;
        let mut iterations = 0;
        loop {
            iterations += 1;
            let (e1, e2) = (1.0 / (s1 + alpha), 1.0 / (s2 + alpha));
            (x1, x2) = (-a1 * e1, -a2 * e2);
            let (y1, y2) = (x1 * x1, x2 * x2);
            let squared = y1 + y2;
            tangent = squared.sqrt();
            let (along1, along2) = (w1 * x1, w2 * x2);
            let normal = -(q_n + along1 + along2) * inverse;
            let excess = tangent - mu * normal;
            if excess > 0.0 {
                low = alpha;
            } else {
                high = alpha;
            }
            let size = tangent + mu * (along1.abs() + along2.abs() - q_n) * inverse;
            let error = excess.abs();
            if error <= 1e-15 * size
                || high - low <= ROUNDING * (high + s2)
                || iterations >= MAX_ITERATIONS
            {
                break;
            }
            let slope =
                (along1 * e1 + along2 * e2) * inverse * squared + normal * (y1 * e1 + y2 * e2);
            let next = alpha + excess * squared / (mu * slope);
            let inside = next > low && next < high;
            alpha = if inside && error <= 0.5 * previous {
                next
            } else {
                let middle = ((low + s2) * (high + s2)).sqrt() - s2;
                if middle > low && middle < high {
                    middle
                } else {
                    0.5 * (low + high)
                }
            };
            previous = error;
        }
        SingleContact {
            impulse: self.join(tangent / mu, x1, x2),
            state: ContactState::Slip,
            slip_rate: alpha,
            iterations,
        }
    }

    /// The answer for singular S.
    pub(super) fn solve_singular(&self, q_n: f64, (a1, a2): (f64, f64)) -> SingleContact {
        let Self {
            mu, nn, s1, w1, w2, ..
        } = *self;
        let inverse = self.inverse_nn;
        // What the elimination leaves of a consistent q is rounding of this size; the axes of S are as
        // uncertain as the difference that S is.
        let tilt = (s1 + (w1 * w1 + w2 * w2) * inverse) / s1;
        let tilted = if s1 > 0.0 { a1.abs() * tilt } else { a1.abs() };
        let noise = ROUNDING * (tilted + a2.abs() + (w1.abs() + w2.abs()) * (-q_n * inverse));
        let pull = (a1 * a1 + a2 * a2).sqrt();
        if s1 > 0.0 && a2.abs() <= noise {
            return self.ignore_null_direction(q_n, a1);
        }
        if s1 == 0.0 {
            let frictionless = vec3(-q_n * inverse, 0.0, 0.0);
            if pull <= noise {
                return SingleContact::without_search(frictionless, ContactState::Stick);
            }
            // x = -a/alpha: the direction is known.
            let (d1, d2) = (-a1 / pull, -a2 / pull);
            let give = nn + mu * (w1 * d1 + w2 * d2);
            if !(give > 0.0) {
                return SingleContact::without_search(frictionless, ContactState::Jammed);
            }
            let normal = -q_n / give;
            let impulse = self.join(normal, mu * normal * d1, mu * normal * d2);
            return SingleContact {
                slip_rate: pull / (mu * normal),
                ..SingleContact::without_search(impulse, ContactState::Slip)
            };
        }
        let high = self.bracket_end(pull, mu * -q_n);
        let give = nn - mu * w2 * a2.signum();
        let low = if give > 0.0 {
            // |x2| (1 - mu w2 sign(a2)/W_nn) outweighs all else below this alpha.
            let rest = mu * (w1 * a1).abs() / s1 - mu * q_n;
            Some(a2.abs() * give / rest)
        } else {
            self.positive_place(q_n, (a1, a2), high)
        };
        match low {
            // `low` is exact but for rounding; the search starts in the middle.
            Some(low) if low < high => self.search(
                q_n,
                (a1, a2),
                (low * (1.0 - 1e-12), high),
                (low * high).sqrt(),
            ),
            Some(low) => self.search(q_n, (a1, a2), (0.0, high), low),
            None => SingleContact {
                state: ContactState::Jammed,
                ..self.ignore_null_direction(q_n, a1)
            },
        }
    }

    /// Sticks without an impulse along the null direction, else slides along the other.
    fn ignore_null_direction(&self, q_n: f64, a1: f64) -> SingleContact {
        let x1 = -a1 / self.s1;
        let normal = -(q_n + self.w1 * x1) * self.inverse_nn;
        if x1.abs() <= self.mu * normal {
            let impulse = self.join(normal, x1, 0.0);
            return SingleContact::without_search(impulse, ContactState::Stick);
        }
        let high = self.bracket_end(a1.abs(), self.mu * -q_n);
        // With s2 = s1 and a2 = 0 the second axis takes no part; f(0) > 0.
        let plane = Self {
            s2: self.s1,
            ..*self
        };
        plane.search(q_n, (a1, 0.0), (0.0, high), 0.0)
    }

    /// An alpha in (0, high) where f > 0, for s2 = 0 and f(0+) < 0; none where there is none.
    ///
    /// ```text
    /// F(alpha) = f W_nn alpha (s1 + alpha) = W_nn sqrt(Q) + mu N
    /// Q = a1² alpha² + a2² (s1 + alpha)²,  N = q_n alpha (s1 + alpha) - w1 a1 alpha - w2 a2 (s1 + alpha)
    /// F'' = W_nn (a1 a2 s1)²/Q^(3/2) + 2 mu q_n
    /// ```
    ///
    /// Q is a parabola, so F is concave outside of the interval where Q is below
    /// (W_nn (a1 a2 s1)²/(2 mu (-q_n)))^(2/3), and its local maxima lie there, at most one on each side.
    fn positive_place(&self, q_n: f64, (a1, a2): (f64, f64), high: f64) -> Option<f64> {
        let Self {
            mu, nn, s1, w1, w2, ..
        } = *self;
        let square = |alpha: f64| {
            let (b1, b2) = (a1 * alpha, a2 * (s1 + alpha));
            b1 * b1 + b2 * b2
        };
        let value = |alpha: f64| {
            let n = q_n * alpha * (s1 + alpha) - w1 * a1 * alpha - w2 * a2 * (s1 + alpha);
            nn * square(alpha).sqrt() + mu * n
        };
        let slope = |alpha: f64| {
            let q = a1 * a1 * alpha + a2 * a2 * (s1 + alpha);
            let n = q_n * (s1 + 2.0 * alpha) - w1 * a1 - w2 * a2;
            nn * q / square(alpha).sqrt() + mu * n
        };
        let product = a1 * a2 * s1;
        let root = libm::cbrt(nn * product * product / (-2.0 * mu * q_n));
        // Q = (a1² + a2²) alpha² + 2 a2² s1 alpha + a2² s1² = level.
        let (lead, middle) = (a1 * a1 + a2 * a2, a2 * a2 * s1);
        let rest = middle * s1 - root * root;
        let discriminant = middle * middle - lead * rest;
        let (mut left, mut right) = (0.0, 0.0);
        if discriminant > 0.0 {
            let reach = discriminant.sqrt();
            left = ((-middle - reach) / lead).clamp(0.0, high);
            right = ((-middle + reach) / lead).clamp(0.0, high);
        }
        for (mut from, mut to) in [(right, high), (0.0, left)] {
            if !(slope(from) > 0.0 && slope(to) < 0.0) {
                continue;
            }
            for _ in 0..MAX_ITERATIONS {
                let middle = 0.5 * (from + to);
                if value(middle) > 0.0 {
                    return Some(middle);
                }
                if slope(middle) > 0.0 {
                    from = middle;
                } else {
                    to = middle;
                }
            }
        }
        None
    }
}
