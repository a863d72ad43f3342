//! Twice the area vector of a triangle, (b - a) x (c - a), in twice the working precision.
//!
//! A triangle of length 1 and height h has a normal uncertain by 1e-16/h when differences and
//! products are rounded; here the error stays at a few 1e-16 down to the least h that the hull
//! builder keeps. Error-free sums and products after Dekker (1971) and Knuth.

use moreau_math::{Vec3, vec3};

pub(crate) fn area_vector(a: Vec3, b: Vec3, c: Vec3) -> Vec3 {
    let edge = |p: Vec3| {
        [
            difference(p.x, a.x),
            difference(p.y, a.y),
            difference(p.z, a.z),
        ]
    };
    let (u, v) = (edge(b), edge(c));
    let minor = |i: usize, k: usize| {
        let (plus, plus_low) = product(u[i], v[k]);
        let (minus, minus_low) = product(u[k], v[i]);
        let (high, low) = difference(plus, minus);
        high + (low + (plus_low - minus_low))
    };
    vec3(minor(1, 2), minor(2, 0), minor(0, 1))
}

/// a - b as rounded value and rest.
fn difference(a: f64, b: f64) -> (f64, f64) {
    let high = a - b;
    let b_part = a - high;
    let a_part = high + b_part;
    (high, (a - a_part) + (b_part - b))
}

/// The product of two sums of value and rest, as value and rest.
fn product((a, a_low): (f64, f64), (b, b_low): (f64, f64)) -> (f64, f64) {
    let high = a * b;
    let ((a1, a2), (b1, b2)) = (halves(a), halves(b));
    let rest = a2 * b2 - (((high - a1 * b1) - a2 * b1) - a1 * b2);
    (high, rest + (a * b_low + a_low * b))
}

/// Two parts of at most 26 bits each.
fn halves(a: f64) -> (f64, f64) {
    let scaled = 134_217_729.0 * a;
    let high = scaled - (scaled - a);
    (high, a - high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_needle_has_an_accurate_normal() {
        // a + s (b - a) + height n with numbers that round; the exact answer by integers.
        let unit = 1.0 / f64::from(1 << 20) / f64::from(1 << 30);
        let int = |v: [i128; 3]| vec3(v[0] as f64, v[1] as f64, v[2] as f64) * unit;
        let a = [
            123_456_789_012_345_i128,
            987_654_321_012_345,
            -555_555_555_555_555,
        ];
        let b = [
            876_543_210_987_655,
            -123_456_789_012_346,
            444_444_444_444_445,
        ];
        // Halfway, off by a few units: a height of about 1e-15.
        let c = [
            500_000_000_000_002,
            432_098_766_000_001,
            -55_555_555_555_554,
        ];
        let d = |p: [i128; 3], q: [i128; 3]| [p[0] - q[0], p[1] - q[1], p[2] - q[2]];
        let (u, v) = (d(b, a), d(c, a));
        let exact = [
            u[1] * v[2] - u[2] * v[1],
            u[2] * v[0] - u[0] * v[2],
            u[0] * v[1] - u[1] * v[0],
        ];
        let exact = vec3(exact[0] as f64, exact[1] as f64, exact[2] as f64) * (unit * unit);
        let found = area_vector(int(a), int(b), int(c));
        assert!((found - exact).length() < 1e-14 * exact.length());
        let plain = (int(b) - int(a)).cross(int(c) - int(a));
        assert!(
            (plain - exact).length() > 1e-4 * exact.length(),
            "no test of precision"
        );
    }
}
