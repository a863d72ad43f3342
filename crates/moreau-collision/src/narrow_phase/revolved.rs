//! Cylinders and cones in the working frame: what of them faces along a direction.
//!
//! Both are the hull of a disc (the base, at y = -h) and of another disc or a point (at y = h). With
//! n' the part of n across the axis and u = n'/|n'|, along n reach furthest:
//!
//! - of a disc of radius r about c the point c + r u, as far as c·n + r |n'|;
//! - of the side of a cylinder, where n·y = 0, the line between the rims at u;
//! - of the side of a cone, where n is its normal, the line from the apex to the rim at u.

use super::feature::{EDGE, FACE, Feature, Rim};
use crate::Shape;
use moreau_math::{Mat3, Pose, Vec3};

/// Names of the points of a shape: four on the rim of the base, four on that of the top (from here),
/// and the two ends of a line down the side.
const TOP: u16 = 4;
const LOW_END: u16 = 8;
const HIGH_END: u16 = 9;

/// A cylinder or a cone in the working frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Revolved {
    pub(super) center: Vec3,
    /// Unit axes; the second is the axis of revolution.
    pub(super) axes: [Vec3; 3],
    pub(super) half_height: f64,
    /// Of the base, m.
    pub(super) radius: f64,
    /// Of the top, m: that of the base or zero.
    pub(super) top_radius: f64,
}

impl Revolved {
    /// None for other shapes.
    pub(super) fn new(shape: &Shape, pose: &Pose, origin: Vec3) -> Option<Self> {
        let (half_height, radius, top_radius) = match *shape {
            Shape::Cylinder {
                half_height,
                radius,
            } => (half_height, radius, radius),
            Shape::Cone {
                half_height,
                radius,
            } => (half_height, radius, 0.0),
            _ => return None,
        };
        let m = Mat3::from_quat(pose.rotation);
        Some(Self {
            center: pose.translation - origin,
            axes: [m.x_axis, m.y_axis, m.z_axis],
            half_height,
            radius,
            top_radius,
        })
    }

    pub(super) fn is_cone(&self) -> bool {
        self.top_radius == 0.0
    }

    /// The part of `v` across the axis.
    pub(super) fn across(&self, v: Vec3) -> Vec3 {
        self.axes[0] * self.axes[0].dot(v) + self.axes[2] * self.axes[2].dot(v)
    }

    /// Unit direction of the part of `v` across the axis; the first axis where there is none.
    pub(super) fn outward(&self, v: Vec3) -> Vec3 {
        let across = self.across(v);
        let scale = across.abs().max_element();
        if scale > 0.0 {
            super::context::unit(across / scale)
        } else {
            self.axes[0]
        }
    }

    /// Centre of the base (`side` -1) or of the top (1).
    pub(super) fn end(&self, side: f64) -> Vec3 {
        self.center + self.axes[1] * (side * self.half_height)
    }

    /// What faces along the unit vector `n`; depths closer than `tie` (m) are equal.
    pub(super) fn feature(&self, n: Vec3, tie: f64) -> Feature {
        let along = self.axes[1].dot(n);
        let is_flat = |_| along.abs() >= FACE;
        self.piece(n, tie, is_flat, |slope, _| slope <= EDGE)
    }

    /// All points furthest along the unit vector `n`, to `tie` (m).
    pub(super) fn furthest(&self, n: Vec3, tie: f64) -> Feature {
        let across = self.across(n).length();
        let is_flat = |radius: f64| 2.0 * radius * across <= tie;
        self.piece(n, tie, is_flat, |slope, length| slope * length <= tie)
    }

    /// The end that faces along `n` where it is flat enough, given its radius; else the line down the
    /// side where that is, given the sine of its slope and its length; else a point.
    fn piece(
        &self,
        n: Vec3,
        tie: f64,
        is_flat: impl Fn(f64) -> bool,
        is_level: impl Fn(f64, f64) -> bool,
    ) -> Feature {
        let up = self.axes[1].dot(n) > 0.0;
        let radius = if up { self.top_radius } else { self.radius };
        if radius > 0.0 && is_flat(radius) {
            return self.disc(n, tie, if up { 1.0 } else { -1.0 });
        }
        let outward = self.outward(n);
        let low = self.end(-1.0) + outward * self.radius;
        let high = self.end(1.0) + outward * self.top_radius;
        let line = high - low;
        let length = line.length();
        let slope = line.dot(n) / length;
        if is_level(slope.abs(), length) {
            Feature::segment([low, high], [LOW_END, HIGH_END], 0)
        } else if slope > 0.0 {
            Feature::point(high, HIGH_END)
        } else {
            Feature::point(low, LOW_END)
        }
    }

    /// An end as a face: four points of its rim, one of them the furthest along `n` where that is
    /// deeper than all four that are fixed to the body.
    fn disc(&self, n: Vec3, tie: f64, side: f64) -> Feature {
        let center = self.end(side);
        let [x, _, z] = self.axes;
        // Counter-clockwise seen from outside.
        let around = if side > 0.0 {
            [z, x, -z, -x]
        } else {
            [x, z, -x, -z]
        };
        let mut out = Feature::default();
        let first = if side > 0.0 { TOP } else { 0 };
        for (i, direction) in around.into_iter().enumerate() {
            out.points.push(center + direction * self.radius);
            out.vertices.push(first + i as u16);
            out.edges.push(first + i as u16);
        }
        let lowest = self.outward(n);
        let nearest = (0..4).fold(0, |best, i| {
            let better = around[i].dot(lowest) > around[best].dot(lowest);
            if better { i } else { best }
        });
        let gain = self.radius * self.across(n).dot(lowest - around[nearest]);
        if gain > tie {
            out.points[nearest] = center + lowest * self.radius;
        }
        out.normal = self.axes[1] * side;
        out.anchor = center;
        out.rim = Some(Rim {
            center,
            radius: self.radius,
        });
        out
    }
}
