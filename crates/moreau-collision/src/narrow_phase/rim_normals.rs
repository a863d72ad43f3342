//! Normals along which a cylinder or cone can overlap a triangle least.
//!
//! The solid is the hull of two discs (that of a cone's tip has no radius), with common axis y, centres
//! c and radii r. Along the unit vector n from the triangle a disc is apart from a point p of it by
//!
//! ```text
//! s(n) = n·(c - p) - r |n - y (y·n)|
//! ```
//!
//! and the solid by the less of the two. Where that is greatest, and negative, n is one of
//!
//! - the normals of the triangle and of the flat ends of the solid;
//! - against a corner, the normal of the solid's side that is nearest to it: that of a disc by itself has
//!   no maximum that overlaps;
//! - against an edge with the direction e, a normal of the side across e, for which both discs reach as
//!   far: e·m = 0 with m = outward + y (r_0 - r_1)/(2 h) are two, or none;
//! - against an edge, a maximum of one disc on the arc of normals about the edge, ds/dt = 0 with
//!   n = u cos t + v sin t.

use super::context::unit;
use super::on_triangle::Facet;
use super::revolved::Revolved;
use moreau_math::Vec3;

/// Pieces of an arc in which there is one maximum at most.
const PIECES: u32 = 12;

/// Newton's steps, or bisections, to a maximum.
const MAX_STEPS: u32 = 48;

/// A step this short (rad) is the last.
const CONVERGED: f64 = 1e-15;

/// Calls `offer` with those of corners and edges.
pub(super) fn each(facet: &Facet<'_>, solid: &Revolved, mut offer: impl FnMut(Vec3)) {
    let axis = solid.axes[1];
    let rise = (solid.radius - solid.top_radius) / (2.0 * solid.half_height);
    for corner in facet.corners {
        offer(-unit(solid.outward(corner - solid.center) + axis * rise));
    }
    for (side, along) in facet.sharp_sides() {
        let across = solid.across(along);
        let length = across.length();
        let cosine = -rise * axis.dot(along) / length;
        // Also where an edge along the axis makes it no number.
        if cosine.abs() <= 1.0 {
            let toward = across / length;
            let sine = (1.0 - cosine * cosine).sqrt();
            let aside = axis.cross(toward) * sine;
            for outward in [toward * cosine + aside, toward * cosine - aside] {
                offer(-unit(outward + axis * rise));
            }
        }
        let Some([from, to]) = facet.arc(side) else {
            continue;
        };
        let out = unit(along).cross(from);
        for (end, radius) in [(-1.0, solid.radius), (1.0, solid.top_radius)] {
            let arm = solid.end(end) - facet.corners[side];
            let arc = Arc {
                from,
                out,
                arm: [from.dot(arm), out.dot(arm)],
                axis: [from.dot(axis), out.dot(axis)],
                radius,
            };
            arc.maxima(to, &mut offer);
        }
    }
}

/// s(n) of a disc on the circle of normals across an edge, with coordinates along `from` and `out`.
struct Arc {
    from: Vec3,
    out: Vec3,
    /// From the edge to the centre of the disc.
    arm: [f64; 2],
    /// Of the disc.
    axis: [f64; 2],
    radius: f64,
}

type Flat = [f64; 2];

fn dot(p: Flat, q: Flat) -> f64 {
    p[0] * q[0] + p[1] * q[1]
}

/// Positive where `q` lies ahead of `p`.
fn turn(p: Flat, q: Flat) -> f64 {
    p[0] * q[1] - p[1] * q[0]
}

fn flat_unit(p: Flat) -> Flat {
    let length = dot(p, p).sqrt();
    [p[0] / length, p[1] / length]
}

impl Arc {
    /// ds/dt and the second derivative.
    fn slope(&self, n: Flat) -> (f64, f64) {
        let ahead = [-n[1], n[0]];
        let (q, dq) = (dot(self.axis, n), dot(self.axis, ahead));
        // Next to the axis the disc turns at once; it is one of the flat ends there.
        let root = (1.0 - q * q).max(f64::MIN_POSITIVE).sqrt();
        let bend = (dq * dq - q * q) / root + q * q * dq * dq / (root * root * root);
        (
            dot(self.arm, ahead) + self.radius * q * dq / root,
            -dot(self.arm, n) + self.radius * bend,
        )
    }

    /// Offers the maxima between `from` and `to`.
    fn maxima(&self, to: Vec3, offer: &mut impl FnMut(Vec3)) {
        let end = [self.from.dot(to), self.out.dot(to)];
        let place = |i: u32| {
            let t = f64::from(i) / f64::from(PIECES);
            flat_unit([1.0 - t + t * end[0], t * end[1]])
        };
        let mut low = place(0);
        let mut rises = self.slope(low).0 > 0.0;
        for i in 1..=PIECES {
            let high = place(i);
            let goes_on = self.slope(high).0 > 0.0;
            if rises && !goes_on {
                let n = self.maximum(low, high);
                offer(unit(self.from * n[0] + self.out * n[1]));
            }
            (low, rises) = (high, goes_on);
        }
    }

    /// The maximum between two normals: the slope rises at the first and falls at the second.
    fn maximum(&self, mut low: Flat, mut high: Flat) -> Flat {
        let mut n = flat_unit([low[0] + high[0], low[1] + high[1]]);
        for _ in 0..MAX_STEPS {
            let (slope, bend) = self.slope(n);
            if slope > 0.0 {
                low = n;
            } else {
                high = n;
            }
            let step = -slope / bend;
            let next = flat_unit([n[0] - step * n[1], n[1] + step * n[0]]);
            let is_between = turn(low, next) > 0.0 && turn(next, high) > 0.0;
            let last = n;
            // Written so that a step that is no number is none.
            n = if bend < 0.0 && is_between {
                next
            } else {
                flat_unit([low[0] + high[0], low[1] + high[1]])
            };
            if turn(last, n).abs() <= CONVERGED {
                break;
            }
        }
        n
    }
}
