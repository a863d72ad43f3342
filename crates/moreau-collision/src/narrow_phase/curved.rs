//! Cylinders and cones against everything but balls and half-spaces: the normal from `expand`, then
//! the patch of what faces along it.
//!
//! A rim touches at points that no list of vertices holds. Where no corner of the patch is as near as
//! the normal promises, the common point of what lies furthest along it, seen along the normal, is
//! added.

use super::context::Context;
use super::core::Core;
use super::expand::{FINENESS, separating_axis};
use super::feature::Feature;
use super::nearest::{nearest_of_segments, nearest_on_segment};
use super::patch::{Code, Corner, Corners, NONE, Projection, intersect};
use super::polytope::Axis;
use super::reduce::emit;
use super::round::inflate;
use moreau_math::Vec3;

/// How far points may miss each other across the normal, relative to the sizes.
const OVER_EACH_OTHER: f64 = 1e-7;

/// The direction that separates two cores best, and a point at which they are that near; `None` where
/// they are further apart than `limit` (m).
pub(super) fn nearest(
    context: &Context<'_>,
    [a, b]: [&Core<'_>; 2],
    limit: f64,
) -> Option<(Axis, Corner)> {
    let mut found = None;
    for fine in FINENESS {
        let axis = separating_axis(context, [a, b], limit, fine)?;
        let n = axis.normal;
        let furthest = [a.furthest(n, context), b.furthest(-n, context)];
        let (common, tolerance) = common_point(context, &Projection::new(n), &furthest);
        // What is furthest along the normal of a maximum lies over each other.
        let aside = common.point_b - common.point_a - n * common.separation;
        found = Some((axis, common));
        if aside.length().max(tolerance) <= OVER_EACH_OTHER * context.size + context.touch {
            break;
        }
    }
    found
}

/// The point in which what lies furthest along `n` in `a` and against it in `b` lies over each other,
/// if it does.
pub(super) fn common(context: &Context<'_>, n: Vec3, [a, b]: [&Core<'_>; 2]) -> Option<Corner> {
    let furthest = [a.furthest(n, context), b.furthest(-n, context)];
    let (common, tolerance) = common_point(context, &Projection::new(n), &furthest);
    let aside = common.point_b - common.point_a - n * common.separation;
    // Of what turns about, a maximum is known to the square root of its rounding.
    let allowed = 100.0 * OVER_EACH_OTHER * context.size + context.touch;
    (aside.length().max(tolerance) <= allowed).then_some(common)
}

pub(super) fn collide(context: &mut Context<'_>, a: &Core<'_>, b: &Core<'_>) {
    let limit = context.limit + a.radius + b.radius;
    let Some((axis, common)) = nearest(context, [a, b], limit) else {
        return;
    };
    let n = axis.normal;
    let projection = Projection::new(n);
    let (facing_a, facing_b) = (a.feature(n, context), b.feature(-n, context));
    let tolerance = if facing_a.is_face() || facing_b.is_face() {
        context.touch
    } else {
        (context.touch).max(context.alongside * (a.roundness() + b.roundness()))
    };
    let mut corners = Corners::new();
    intersect(&facing_a, &facing_b, &projection, tolerance, &mut corners);
    let promised = axis.separation + context.tie;
    if corners.iter().all(|c| c.separation > promised) {
        corners.push(common);
    }
    inflate(&projection, &mut corners, a.as_round(), b.as_round());
    let facing = Some((&facing_a, &facing_b));
    emit(context, &projection, &mut corners, facing);
}

/// A point of the two features, which are level across the normal, at which they lie over each other;
/// and the tolerance (m) that this took.
fn common_point(
    context: &Context<'_>,
    projection: &Projection,
    [a, b]: &[Feature; 2],
) -> (Corner, f64) {
    let code = Code {
        crossing: false,
        a: if a.points.len() == 1 {
            a.vertices[0]
        } else {
            NONE
        },
        b: if b.points.len() == 1 {
            b.vertices[0]
        } else {
            NONE
        },
    };
    let n = projection.normal;
    // Seen along the normal.
    let shadow = |p: Vec3| p - n * n.dot(p);
    match (a.points.as_slice(), b.points.as_slice()) {
        (&[p], &[q]) => return (projection.corner(p, q, code), 0.0),
        (&[p], &[_, _]) => return (projection.corner(p, b.lift(p, n), code), 0.0),
        (&[_, _], &[q]) => return (projection.corner(a.lift(q, n), q, code), 0.0),
        (&[p0, p1], &[q0, q1]) => {
            let near = nearest_of_segments([p0, p1].map(shadow), [q0, q1].map(shadow));
            let on_a = a.lift(near.on_a, n);
            let on_b = b.lift(near.on_b, n);
            let code = Code {
                crossing: true,
                ..code
            };
            return (projection.corner(on_a, on_b, code), 0.0);
        }
        _ => {}
    }
    // With a face: the tolerance grows until they meet, as the normal is exact to rounding only.
    let mut corners = Corners::new();
    for scale in [1.0, 1e2, 1e4, 1e6] {
        let tolerance = scale * context.touch;
        intersect(a, b, projection, tolerance, &mut corners);
        let deepest = (corners.iter()).min_by(|c, d| c.separation.total_cmp(&d.separation));
        if let Some(corner) = deepest {
            return (*corner, tolerance);
        }
    }
    // Beyond that, the points that are nearest to each other as seen along the normal.
    let mut best = (f64::INFINITY, a.points[0], b.points[0]);
    for &p in &a.points {
        for (i, &q) in b.points.iter().enumerate() {
            let next = b.points[(i + 1) % b.points.len()];
            let near = nearest_on_segment([shadow(q), shadow(next)], shadow(p));
            let square = (shadow(p) - near).length_squared();
            if square < best.0 {
                best = (square, p, b.lift(near, n));
            }
        }
    }
    (projection.corner(best.1, best.2, code), best.0.sqrt())
}
