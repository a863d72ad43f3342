//! How deep closed surfaces overlap others, and convex shapes.
//!
//! What separates their hulls separates them, so the least translation of the hulls bounds theirs from
//! above: of convex surfaces it is the same. A deepest vertex that has run through a thin wedge of the other
//! is measured across a far side of it, and may be said to be deeper than that; such contacts go, and where
//! no other is left, that of the hulls takes their place. So it does where it is deeper than what convex
//! surfaces found: a vertex on the far side of a wedge has no way through the solids of both, and is left out.
//!
//! Hulls are made for overlaps of more than 0.2 % of the smaller one's radius only, which last for some
//! steps at most, and of surfaces of no more than [`MOST_CONVEX`] vertices.

use super::{CollideSettings, collide};
use crate::surface::MOST_CONVEX;
use crate::{Manifold, Shape};
use moreau_math::Pose;
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
    let depths = manifolds[start..].iter().filter_map(|m| {
        let separation = m.min_separation()?;
        Some((separation, m.parts()))
    });
    let deepest = depths.reduce(|held, m| if m.0 < held.0 { m } else { held });
    let Some((separation, parts)) = deepest else {
        return;
    };
    if separation >= -DEEP * radius {
        return;
    }
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
