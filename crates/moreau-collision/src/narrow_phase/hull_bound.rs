//! How deep closed surfaces overlap others, and convex shapes.
//!
//! What separates their hulls separates them, so the least translation of the hulls bounds theirs from
//! above: of convex surfaces it is the same. A deepest vertex that has run through a thin wedge of the other
//! is measured across a far side of it, and may be said to be deeper than that; such contacts go, and where
//! no other is left, that of the hulls takes their place. So it does where it is deeper than what convex
//! surfaces found: a vertex on the far side of a wedge has no way through the solids of both, and is left out.
//! Where that was all there was, or the one lies within the other, the supports of convex ones tell whether they
//! touch.
//!
//! Hulls are made for overlaps of more than 0.2 % of the smaller one's radius only, which last for some
//! steps at most, and of surfaces of no more than [`MOST_CONVEX`] vertices.

use super::gjk::{self, Difference};
use super::{CollideSettings, collide};
use crate::surface::MOST_CONVEX;
use crate::{Manifold, Shape};
use moreau_math::{Pose, Vec3};
use std::borrow::Cow;

/// Depth, relative to the smaller radius, below which no hull is made.
const DEEP: f64 = 2e-3;

/// Rounding of a depth, relative to the smaller radius.
const SAME: f64 = 1e-9;

/// Takes out of the manifolds from `start` on what is deeper than the hulls.
pub(super) fn hold(
    [(a, pose_a), (b, pose_b)]: [(&Shape, &Pose); 2],
    settings: &CollideSettings,
    start: usize,
    manifolds: &mut Vec<Manifold>,
) {
    let radius = a.bounding_radius().min(b.bounding_radius());
    let sides = [(a, pose_a), (b, pose_b)];
    let convex = is_convex(a) && is_convex(b);
    let depths = manifolds[start..].iter().filter_map(|m| {
        let separation = m.min_separation()?;
        Some((separation, m.normal(), m.parts()))
    });
    let deepest = depths.reduce(|held, m| if m.0 < held.0 { m } else { held });
    let parts = match deepest {
        // What separates convex ones by so much keeps their supports apart by as much.
        Some((separation, normal, parts))
            if separation < -DEEP * radius
                || (convex && is_closer(sides, normal, separation - DEEP * radius)) =>
        {
            parts
        }
        None if convex && is_near(sides, settings.prediction.max(0.0), SAME * radius) => (0, 0),
        _ => return,
    };
    let (Some(hull_a), Some(hull_b)) = (hull(a), hull(b)) else {
        return;
    };
    let mut of_hulls = Manifold::default();
    collide(&hull_a, pose_a, &hull_b, pose_b, settings, &mut of_hulls);
    // Hulls of which nothing is found are further apart than was asked for.
    let bound = of_hulls.min_separation().unwrap_or(settings.prediction);
    let mut index = 0;
    let mut least = f64::INFINITY;
    manifolds.retain(|m| {
        index += 1;
        let separation = m.min_separation().filter(|_| index > start);
        let is_deeper = separation.is_some_and(|s| s < bound - SAME * radius);
        if !is_deeper {
            least = least.min(separation.unwrap_or(f64::INFINITY));
        }
        !is_deeper
    });
    let is_less_deep = || least > bound + SAME * radius && is_convex(a) && is_convex(b);
    if !of_hulls.is_empty() && (manifolds.len() == start || is_less_deep()) {
        manifolds.truncate(start);
        of_hulls.set_parts(parts);
        manifolds.push(of_hulls);
    }
}

type Placed<'a> = (&'a Shape, &'a Pose);

/// The point (m, world axes, from the shape's origin) furthest along a direction.
fn support((shape, pose): Placed<'_>, direction: Vec3) -> Option<Vec3> {
    let local = shape.support(pose.inverse_transform_vector(direction))?;
    Some(pose.transform_vector(local))
}

/// The points of A and B (from A's origin) that are nearest along a direction from A to B.
fn nearest_along([a, b]: [Placed<'_>; 2], direction: Vec3) -> Option<[Vec3; 2]> {
    let way = b.1.translation - a.1.translation;
    Some([support(a, direction)?, support(b, -direction)? + way])
}

/// Whether the hulls are less than `separation` (m) apart along a normal.
fn is_closer(sides: [Placed<'_>; 2], normal: Vec3, separation: f64) -> bool {
    nearest_along(sides, normal).is_some_and(|[p, q]| normal.dot(q - p) < separation)
}

/// Whether the hulls overlap, or are at most `near` (m) apart, which is known to `precision` (m).
fn is_near(sides: [Placed<'_>; 2], near: f64, precision: f64) -> bool {
    let way = sides[1].1.translation - sides[0].1.translation;
    if nearest_along(sides, way).is_none() {
        return false;
    }
    let difference = |direction: Vec3| {
        let [p, q] = nearest_along(sides, direction).unwrap_or_default();
        Difference::new((0, p), (0, q))
    };
    gjk::nearest_by(way, difference, |_| precision).distance <= near
}

/// Whether the shape is its own hull.
fn is_convex(shape: &Shape) -> bool {
    shape.is_convex() || shape.surface().is_some_and(|s| s.is_convex)
}

/// What is convex itself, or the hull of a closed mesh.
fn hull(shape: &Shape) -> Option<Cow<'_, Shape>> {
    if shape.is_convex() {
        return Some(Cow::Borrowed(shape));
    }
    let surface = shape.surface()?;
    let is_small = surface.is_closed && surface.vertices.len() <= MOST_CONVEX;
    let hull = is_small.then(|| Shape::hull(&surface.vertices))?;
    hull.ok().map(Cow::Owned)
}
