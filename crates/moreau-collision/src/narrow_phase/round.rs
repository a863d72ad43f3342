//! Balls and capsules against each other: distances of points and segments.
//!
//! With core points c_a, c_b closest to each other, n = (c_b - c_a)/|c_b - c_a|, radii r:
//! separation = |c_b - c_a| - r_a - r_b. Where the cores meet, n is the direction across both of them
//! and the depth is r_a + r_b.

use super::context::{Context, lost, unit};
use super::feature::Feature;
use super::nearest::{PARALLEL, across, nearest_of_segments, nearest_on_segment};
use super::patch::{Code, Corner, Corners, NONE, Projection, intersect};
use super::reduce::emit;
use crate::{FeatureId, ManifoldPoint, Shape};
use moreau_math::{Pose, Vec3, tangent_basis, vec3};

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

/// The unit direction of `d`; `fallback` where `d` is nothing but rounding.
pub(super) fn direction(context: &Context<'_>, d: Vec3, fallback: Vec3) -> Vec3 {
    direction_beyond(lost(context.touch), d, fallback)
}

/// The unit direction of `d`; `fallback` where `d` is not longer than `lost`, m.
pub(super) fn direction_beyond(lost: f64, d: Vec3, fallback: Vec3) -> Vec3 {
    let scale = d.abs().max_element();
    if scale <= lost {
        return fallback;
    }
    // Scaled, so that squares of very small lengths do not vanish.
    unit(d / scale)
}

/// Writes a single contact between points of the `surfaces` of A and B.
pub(super) fn emit_single(
    context: &mut Context<'_>,
    normal: Vec3,
    surfaces: [Vec3; 2],
    separation: f64,
) {
    if separation > context.limit {
        return;
    }
    context.manifold.reset(normal);
    context.manifold.push(ManifoldPoint {
        point_a: surfaces[0] + context.origin,
        point_b: surfaces[1] + context.origin,
        separation,
        feature: FeatureId::new(0, NONE, NONE),
    });
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
    let d = center - on_core;
    let toward = if a.axis == Vec3::ZERO {
        d
    } else {
        across(a.ends, on_core, d)
    };
    let normal = direction(context, toward, fallback);
    let distance = normal.dot(d);
    let surfaces = [on_core + normal * a.radius, center - normal * b.radius];
    let separation = distance - a.radius - b.radius;
    emit_single(context, normal, surfaces, separation);
}

pub(super) fn collide_capsules(context: &mut Context<'_>, a: &Round, b: &Round) {
    let near = nearest_of_segments(a.ends, b.ends);
    let normal = (near.direction(a.ends, b.ends, lost(context.touch)))
        .unwrap_or_else(|| across_both(context, a.axis, b.axis));
    let distance = normal.dot(near.on_b - near.on_a);
    if distance - a.radius - b.radius > context.limit {
        return;
    }
    let (feature_a, feature_b) = (a.feature(normal), b.feature(-normal));
    let projection = Projection::new(normal);
    let tolerance = context.touch.max(context.alongside * (a.radius + b.radius));
    let mut corners = Corners::new();
    intersect(&feature_a, &feature_b, &projection, tolerance, &mut corners);
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

/// A direction perpendicular to two axes that meet, or to the first where they are parallel.
fn across_both(context: &Context<'_>, a: Vec3, b: Vec3) -> Vec3 {
    let cross = a.cross(b);
    if cross.length_squared() <= PARALLEL {
        return unit(tangent_basis(a).0);
    }
    let line = unit(cross);
    if line.dot(context.generic) < 0.0 {
        -line
    } else {
        line
    }
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
