//! How much of a solve keeps the energy that it may have: arithmetic of the energy guard.

use moreau_constraint::Impulses;

/// a + theta (b - a).
pub(crate) fn blend(a: &Impulses, b: &Impulses, theta: f64) -> Impulses {
    Impulses {
        contacts: a
            .contacts
            .iter()
            .zip(&b.contacts)
            .map(|(a, b)| *a + (*b - *a) * theta)
            .collect(),
        rows: a
            .rows
            .iter()
            .zip(&b.rows)
            .map(|(a, b)| a + (b - a) * theta)
            .collect(),
    }
}

/// The largest root in [0, 1] of the quadratic through (0, e0), (1/2, eh), (1, e1), for e0 <= 0 < e1;
/// 0 where e0 > 0.
pub(crate) fn quadratic_root(e0: f64, eh: f64, e1: f64) -> f64 {
    let square = 2.0 * (e0 - 2.0 * eh + e1);
    let linear = e1 - e0 - square;
    let discriminant = linear * linear - 4.0 * square * e0;
    if e0 >= 0.0 || discriminant < 0.0 {
        return 0.0;
    }
    // The numerically stable form of the root with a growing value.
    let root = discriminant.sqrt();
    let theta = if linear >= 0.0 {
        -2.0 * e0 / (linear + root)
    } else {
        (root - linear) / (2.0 * square)
    };
    theta.clamp(0.0, 1.0)
}

/// The root beside 0, in [0, 1], of the quadratic through (0, 0), (1/2, eh), (1, e1), for e1 > 0; 0 where
/// it has none there.
pub(crate) fn free_part(eh: f64, e1: f64) -> f64 {
    let square = 2.0 * (e1 - 2.0 * eh);
    let linear = e1 - square;
    if linear < 0.0 { -linear / square } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::{free_part, quadratic_root};

    #[test]
    fn root_of_a_quadratic_through_three_values() {
        for (square, root) in [
            (1.0, 0.3),
            (0.5, 0.9),
            (-0.2, 0.5),
            (0.0, 0.25),
            (3.0, 0.01),
        ] {
            // E = (x - root)(square x + 1), positive beyond the root.
            let e = |x: f64| (x - root) * (square * x + 1.0);
            let theta = quadratic_root(e(0.0), e(0.5), e(1.0));
            assert!((theta - root).abs() < 1e-14, "{square} {root} {theta}");
        }
        assert_eq!(quadratic_root(0.1, 0.2, 0.3), 0.0);
        for part in [0.01, 0.4, 0.9] {
            let e = |x: f64| 3.0 * x * (x - part);
            assert!((free_part(e(0.5), e(1.0)) - part).abs() < 1e-14, "{part}");
        }
        assert_eq!(free_part(0.3, 0.7), 0.0);
    }
}
