//! Friction of known normal impulse: the exact law of a disc.
//!
//! ```text
//! s = T l + p,   |l| <= r,   l = -r s/|s| where |s| > 0
//! T = Q diag(t1, t2) Q',  a = Q'p;   l_i = -a_i/(t_i + alpha),  alpha = |s|/|l| >= 0
//! inside  alpha = 0, accepted where |l| <= r
//! edge    the alpha with |l| = r: Newton's method on 1/|l| - 1/r, concave and rising, from the left
//! ```
//!
//! It is the minimum of l'T l/2 + p·l on the disc: there is always an answer.

/// Solves it for `block` = (T11, T12, T22), positive semi-definite (1/kg), `p` (m/s) and the radius
/// r >= 0 (N s).
pub(crate) fn solve_disc(
    (t11, t12, t22): (f64, f64, f64),
    p: (f64, f64),
    radius: f64,
) -> (f64, f64) {
    if !(radius > 0.0) {
        return (0.0, 0.0);
    }
    let (mean, half) = (0.5 * (t11 + t22), 0.5 * (t11 - t22));
    let spread = (half * half + t12 * t12).sqrt();
    let (x, y) = if half >= 0.0 {
        (half + spread, t12)
    } else {
        (t12, spread - half)
    };
    let length = (x * x + y * y).sqrt();
    let (cos, sin) = if length > 0.0 {
        (x / length, y / length)
    } else {
        (1.0, 0.0)
    };
    let e1 = mean + spread;
    let least = 4.0 * f64::EPSILON * e1;
    let e2 = if e1 > 0.0 {
        (t11 * t22 - t12 * t12) / e1
    } else {
        0.0
    };
    let e2 = if e2 > least { e2 } else { 0.0 };
    let (a1, a2) = (cos * p.0 + sin * p.1, cos * p.1 - sin * p.0);
    let pull = (a1 * a1 + a2 * a2).sqrt();
    let back = |x1: f64, x2: f64| (cos * x1 - sin * x2, sin * x1 + cos * x2);
    if pull == 0.0 {
        return (0.0, 0.0);
    }
    // |l| is at least pull/(e1 + alpha) and at most pull/(e2 + alpha).
    let mut alpha = (pull / radius - e1).max(0.0);
    if e2 > 0.0 && alpha == 0.0 {
        let (x1, x2) = (-a1 / e1, -a2 / e2);
        if x1 * x1 + x2 * x2 <= radius * radius {
            return back(x1, x2);
        }
    } else if e2 == 0.0 {
        // Along the null direction only sliding stops the growth, unless nothing pulls there.
        if a2.abs() <= 4.0 * f64::EPSILON * pull && (a1 / radius).abs() <= e1 {
            return back(-a1 / e1, 0.0);
        }
        alpha = alpha.max(a2.abs() / radius);
    }
    let (mut x1, mut x2) = (0.0, 0.0);
    for _ in 0..60 {
        let (i1, i2) = (1.0 / (e1 + alpha), 1.0 / (e2 + alpha));
        (x1, x2) = (-a1 * i1, -a2 * i2);
        let squared = x1 * x1 + x2 * x2;
        let length = squared.sqrt();
        let step = (length / radius - 1.0) * squared / (x1 * x1 * i1 + x2 * x2 * i2);
        let next = alpha + step;
        // From the left the steps go up until rounding stops them.
        if !(next > alpha) {
            break;
        }
        alpha = next;
    }
    let scale = radius / (x1 * x1 + x2 * x2).sqrt();
    back(x1 * scale, x2 * scale)
}
