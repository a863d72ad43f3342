//! Balls and capsules against each other: distances of points and segments.
//!
//! With core points c_a, c_b closest to each other, n = (c_b - c_a)/|c_b - c_a|, radii r:
//! separation = |c_b - c_a| - r_a - r_b. Where the cores meet, n is the direction across both of them
//! and the depth is r_a + r_b.

use super::context::{Context, unit};
use super::feature::Feature;
use super::patch::{Code, Corner, Corners, NONE, Projection, intersect};
use super::reduce::emit;
use crate::Shape;
use moreau_math::{Pose, Vec3, tangent_basis, vec3};

/// Part of the sum of radii by which segments may miss each other across the normal and still count
/// as lying along each other: capsules that lie side by side touch at two points, although they are
/// never quite parallel.
pub(super) const ALONGSIDE: f64 = 0.02;

/// A ball or a capsule in the working frame: its core is a segment, for a ball a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    /// Ends of the core; equal for a ball.
    pub(super) ends: [Vec3; 2],
    /// Unit direction of the core; zero for a ball.
    pub(super) axis: Vec3,
    pub(super) radius: f64,
}

impl Round {
    pub(super) fn ball(center: Vec3, radius: f64) -> Self {
        Self {
            ends: [center, center],
            axis: Vec3::ZERO,
            radius,
        }
    }

    /// None for shapes that are neither.
    pub(super) fn new(shape: &Shape, pose: &Pose, origin: Vec3) -> Option<Self> {
        let center = pose.translation - origin;
        match shape {
            Shape::Sphere { radius } => Some(Self::ball(center, *radius)),
            Shape::Capsule {
                half_height,
                radius,
            } => {
                let reach = pose.rotation * vec3(0.0, *half_height, 0.0);
                Some(Self {
                    ends: [center - reach, center + reach],
                    axis: unit(pose.rotation * Vec3::Y),
                    radius: *radius,
                })
            }
            _ => None,
        }
    }

    /// Where the line from the point `core` of the core along the unit vector `n` leaves the surface.
    pub(super) fn surface(&self, core: Vec3, n: Vec3) -> Vec3 {
        let along = self.axis.dot(n);
        let end = self.ends[usize::from(along > 0.0)];
        let slope = along.abs();
        let square_across = 1.0 - slope * slope;
        // How far the end that faces along n is away.
        let ahead = self.axis.dot(end - core).abs();
        // Through the cylinder, else through the half ball about that end.
        let reach = if self.radius * slope <= ahead * square_across.sqrt() {
            self.radius / square_across.sqrt()
        } else {
            let sagitta = self.radius * self.radius - ahead * ahead * square_across;
            ahead * slope + sagitta.max(0.0).sqrt()
        };
        core + n * reach
    }

    /// What of the core faces along `n`.
    pub(super) fn feature(&self, n: Vec3) -> Feature {
        Feature::of_segment(self.ends, self.axis, n)
    }
}

/// The direction of `d` (from A to B) and its length; `fallback` where `d` is nothing but rounding.
pub(super) fn direction(context: &Context<'_>, d: Vec3, fallback: Vec3) -> (Vec3, f64) {
    const ROUNDING: f64 = 1e-3;
    let scale = d.abs().max_element();
    if scale <= ROUNDING * context.touch {
        return (fallback, fallback.dot(d));
    }
    // Scaled, so that squares of very small lengths do not vanish.
    let normal = unit(d / scale);
    (normal, normal.dot(d))
}

/// Writes a single contact between points of the `surfaces` of A and B.
pub(super) fn emit_single(
    context: &mut Context<'_>,
    projection: &Projection,
    surfaces: [Vec3; 2],
    separation: f64,
) {
    let code = Code {
        crossing: false,
        a: NONE,
        b: NONE,
    };
    let mut corner = projection.corner(surfaces[0], surfaces[1], code);
    corner.separation = separation;
    let mut corners = Corners::new();
    corners.push(corner);
    emit(context, projection, &mut corners, None);
}

/// `b` is a ball.
pub(super) fn collide_with_ball(context: &mut Context<'_>, a: &Round, b: &Round) {
    let center = b.ends[0];
    let (on_core, fallback) = if a.axis == Vec3::ZERO {
        (a.ends[0], Vec3::Y)
    } else {
        let across = unit(tangent_basis(a.axis).0);
        (nearest_on_segment(a.ends, center), across)
    };
    let (normal, distance) = direction(context, center - on_core, fallback);
    let surfaces = [on_core + normal * a.radius, center - normal * b.radius];
    let separation = distance - a.radius - b.radius;
    emit_single(context, &Projection::new(normal), surfaces, separation);
}

pub(super) fn collide_capsules(context: &mut Context<'_>, a: &Round, b: &Round) {
    let near = nearest_of_segments(a.ends, b.ends);
    let d = near.on_b - near.on_a;
    let cross = a.axis.cross(b.axis);
    let sine = cross.length();
    // The common perpendicular: exact where the cores cross, garbage where they are parallel.
    let fallback = if sine > 1e-6 {
        let line = unit(cross);
        if line.dot(context.generic) < 0.0 {
            -line
        } else {
            line
        }
    } else {
        unit(tangent_basis(a.axis).0)
    };
    let (mut normal, mut distance) = direction(context, d, fallback);
    let reach = (a.ends[1] - a.ends[0]).length() + (b.ends[1] - b.ends[0]).length();
    if near.interior && distance < sine * reach {
        let line = unit(cross);
        normal = if line.dot(normal) < 0.0 { -line } else { line };
        distance = normal.dot(d);
    }
    if distance - a.radius - b.radius > context.limit {
        return;
    }
    let (feature_a, feature_b) = (a.feature(normal), b.feature(-normal));
    let projection = Projection::new(normal);
    let tolerance = context.touch.max(ALONGSIDE * (a.radius + b.radius));
    let mut corners = intersect(&feature_a, &feature_b, &projection, tolerance);
    keep_nearest(context, &mut corners, || {
        let code = Code {
            crossing: true,
            a: 0,
            b: 0,
        };
        projection.corner(near.on_a, near.on_b, code)
    });
    inflate(&projection, &mut corners, Some(a), Some(b));
    emit(
        context,
        &projection,
        &mut corners,
        Some((&feature_a, &feature_b)),
    );
}

/// Adds the `nearest` pair of points of two cores where no corner is as near.
pub(super) fn keep_nearest(
    context: &Context<'_>,
    corners: &mut Corners,
    nearest: impl FnOnce() -> Corner,
) {
    let nearest = nearest();
    if corners
        .iter()
        .all(|c| c.separation > nearest.separation + context.tie)
    {
        corners.push(nearest);
    }
}

/// Moves the points of corners from the cores to the surfaces.
pub(super) fn inflate(
    projection: &Projection,
    corners: &mut Corners,
    a: Option<&Round>,
    b: Option<&Round>,
) {
    let normal = projection.normal;
    for corner in corners {
        if let Some(a) = a {
            corner.point_a = a.surface(corner.point_a, normal);
        }
        if let Some(b) = b {
            corner.point_b = b.surface(corner.point_b, -normal);
        }
        corner.separation = normal.dot(corner.point_b - corner.point_a);
    }
}

/// The point of a segment closest to `point`.
pub(super) fn nearest_on_segment(ends: [Vec3; 2], point: Vec3) -> Vec3 {
    let along = ends[1] - ends[0];
    // Measured from the nearer end, so that the result is exact at both ends.
    let t = along.dot(point - ends[0]) / along.length_squared();
    if t <= 0.0 {
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

/// The least of the four distances of an end from the other segment and, where it falls within both,
/// the common perpendicular: no division by what vanishes for parallel segments.
pub(super) fn nearest_of_segments(a: [Vec3; 2], b: [Vec3; 2]) -> Nearest {
    let pair = |on_a: Vec3, on_b: Vec3, interior: bool| Nearest {
        on_a,
        on_b,
        square: (on_b - on_a).length_squared(),
        interior,
    };
    let mut best = pair(a[0], nearest_on_segment(b, a[0]), false);
    let mut offer = |candidate: Nearest| {
        if candidate.square < best.square {
            best = candidate;
        }
    };
    offer(pair(a[1], nearest_on_segment(b, a[1]), false));
    offer(pair(nearest_on_segment(a, b[0]), b[0], false));
    offer(pair(nearest_on_segment(a, b[1]), b[1], false));
    let (u, v, w) = (a[1] - a[0], b[1] - b[0], b[0] - a[0]);
    let cross = u.cross(v);
    let square = cross.length_squared();
    if square > 0.0 {
        let s = w.cross(v).dot(cross) / square;
        let t = w.cross(u).dot(cross) / square;
        if s > 0.0 && s < 1.0 && t > 0.0 && t < 1.0 {
            offer(pair(a[0] + u * s, b[0] + v * t, true));
        }
    }
    best
}
