//! Nearest points of points and segments.

use super::context::unit;
use moreau_math::Vec3;
use smallvec::SmallVec;

/// Square of the sine between segments below which their crossing is not computed.
pub(super) const PARALLEL: f64 = 1e-12;

/// The point of a segment closest to `point`.
pub(super) fn nearest_on_segment(ends: [Vec3; 2], point: Vec3) -> Vec3 {
    let along = ends[1] - ends[0];
    // Measured from the nearer end, so that the result is exact at both ends.
    let t = along.dot(point - ends[0]) / along.length_squared();
    // Negated, so that the core of a capsule without a cylinder, a point, is its own end.
    if !(t > 0.0) {
        ends[0]
    } else if t >= 1.0 {
        ends[1]
    } else {
        ends[0] + along * t
    }
}

/// The closest points of two segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nearest {
    pub(super) on_a: Vec3,
    pub(super) on_b: Vec3,
    pub(super) square: f64,
    /// Whether both lie between the ends, so that the distance is along the common perpendicular.
    pub(super) interior: bool,
}

impl Nearest {
    /// Unit direction from the point on `a` to the point on `b`; None where they are closer than
    /// `lost` (m), so that their difference is rounding.
    ///
    /// A small difference knows the direction badly. What a shortest distance must be perpendicular
    /// to is known well: where both points lie between the ends, both segments; where one does, that.
    pub(super) fn direction(&self, a: [Vec3; 2], b: [Vec3; 2], lost: f64) -> Option<Vec3> {
        let d = self.on_b - self.on_a;
        let scale = d.abs().max_element();
        if scale <= lost {
            return None;
        }
        let (u, v) = (a[1] - a[0], b[1] - b[0]);
        let cross = u.cross(v);
        let (length_u, length_v) = (u.length(), v.length());
        if self.interior && scale * length_u * length_v < cross.length() * (length_u + length_v) {
            let line = unit(cross);
            return Some(if line.dot(d) < 0.0 { -line } else { line });
        }
        // Scaled, so that squares of very small lengths do not vanish.
        let toward = d / scale;
        let toward = across(a, self.on_a, toward);
        Some(unit(across(b, self.on_b, toward)))
    }
}

/// `toward` made perpendicular to a segment where `point` lies between its ends.
pub(super) fn across(ends: [Vec3; 2], point: Vec3, toward: Vec3) -> Vec3 {
    if ends.contains(&point) {
        return toward;
    }
    let along = ends[1] - ends[0];
    toward - along * (along.dot(toward) / along.length_squared())
}

/// The common perpendicular where it falls within both segments, else the least of the four distances
/// of an end from the other segment: no division by what vanishes for parallel segments.
pub(super) fn nearest_of_segments(a: [Vec3; 2], b: [Vec3; 2]) -> Nearest {
    let pair = |on_a: Vec3, on_b: Vec3, interior: bool| Nearest {
        on_a,
        on_b,
        square: (on_b - on_a).length_squared(),
        interior,
    };
    let (u, v, w) = (a[1] - a[0], b[1] - b[0], b[0] - a[0]);
    let cross = u.cross(v);
    let square = cross.length_squared();
    // Below, an end is as near as the crossing, to rounding.
    if square > PARALLEL * u.length_squared() * v.length_squared() {
        let s = w.cross(v).dot(cross) / square;
        // By projection rather than by the formula for it: the rounding of s for small angles then
        // moves both points alike, and their difference stays perpendicular.
        let t = (u * s - w).dot(v) / v.length_squared();
        if s > 0.0 && s < 1.0 && t > 0.0 && t < 1.0 {
            return pair(a[0] + u * s, b[0] + v * t, true);
        }
    }
    let ends = [
        pair(a[0], nearest_on_segment(b, a[0]), false),
        pair(a[1], nearest_on_segment(b, a[1]), false),
        pair(nearest_on_segment(a, b[0]), b[0], false),
        pair(nearest_on_segment(a, b[1]), b[1], false),
    ];
    let mut nearest = Shortlist::new();
    for end in ends {
        nearest.offer(end.square, end);
    }
    let separated = |near: &Nearest| {
        let d = near.on_b - near.on_a;
        let low = d.dot(b[0]).min(d.dot(b[1]));
        (low - d.dot(a[0]).max(d.dot(a[1]))) / d.length()
    };
    nearest.best(separated).unwrap_or(ends[0])
}

/// The candidates for the nearest features whose square distances are equal to rounding.
///
/// A square distance has a minimum, so near it the rounding of 1e-16 hides displacements, and tilts
/// of the direction, of 1e-8. Among those that seem equal the caller tells by other means.
pub(super) struct Shortlist<T> {
    items: SmallVec<[(f64, T); 4]>,
    least: f64,
}

impl<T: Copy> Shortlist<T> {
    /// Relative difference of squares within which they are equal.
    const SAME: f64 = 16.0 * f64::EPSILON;

    pub(super) fn new() -> Self {
        Self {
            items: SmallVec::new(),
            least: f64::INFINITY,
        }
    }

    pub(super) fn offer(&mut self, square: f64, item: T) {
        if square > self.least * (1.0 + Self::SAME) {
            return;
        }
        if square < self.least {
            self.least = square;
            let bar = square * (1.0 + Self::SAME);
            self.items.retain(|held| held.0 <= bar);
        }
        self.items.push((square, item));
    }

    /// The only item, or the one of greatest `merit`.
    pub(super) fn best(&self, merit: impl Fn(&T) -> f64) -> Option<T> {
        let (first, rest) = self.items.split_first()?;
        if rest.is_empty() {
            return Some(first.1);
        }
        let mut best = (merit(&first.1), first.1);
        for (_, item) in rest {
            let value = merit(item);
            if value > best.0 {
                best = (value, *item);
            }
        }
        Some(best.1)
    }
}
