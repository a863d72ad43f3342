//! How deep two closed surfaces overlap at most.
//!
//! What separates their hulls separates them, so the least translation of the hulls bounds theirs from
//! above: of convex surfaces it is the same. A deepest vertex that has run through a thin wedge of the other
//! is measured across a far side of it, and may be said to be deeper than that; such contacts give way to
//! that of the hulls.
//!
//! Hulls are made for overlaps of more than 0.2 % of the smaller surface's radius only, which last for
//! some steps at most, and of surfaces of no more than [`MOST_VERTICES`].

use super::{CollideSettings, collide};
use crate::surface::Surface;
use crate::{Manifold, Shape};
use moreau_math::Pose;

/// Depth, relative to the smaller radius, below which no hull is made.
const DEEP: f64 = 2e-3;

/// Vertices of a surface beyond which no hull is made.
const MOST_VERTICES: usize = 512;

/// Rounding of a depth, relative to the smaller radius.
const SAME: f64 = 1e-9;

/// Replaces the manifolds from `start` on by that of the hulls where one is deeper.
pub(super) fn hold(
    [(a, pose_a), (b, pose_b)]: [(&Surface, &Pose); 2],
    settings: &CollideSettings,
    start: usize,
    manifolds: &mut Vec<Manifold>,
) {
    let radius = a.bounding_radius.min(b.bounding_radius);
    let has_hull = |s: &Surface| s.is_closed && s.vertices.len() <= MOST_VERTICES;
    let depths = manifolds[start..].iter().filter_map(|m| {
        let separation = m.min_separation()?;
        Some((separation, m.parts()))
    });
    let deepest = depths.reduce(|held, m| if m.0 < held.0 { m } else { held });
    let Some((separation, parts)) = deepest else {
        return;
    };
    if separation >= -DEEP * radius || !has_hull(a) || !has_hull(b) {
        return;
    }
    let (Ok(hull_a), Ok(hull_b)) = (Shape::hull(&a.vertices), Shape::hull(&b.vertices)) else {
        return;
    };
    let mut of_hulls = Manifold::default();
    collide(&hull_a, pose_a, &hull_b, pose_b, settings, &mut of_hulls);
    let bound = of_hulls.min_separation();
    if bound.is_some_and(|bound| separation < bound - SAME * radius) {
        of_hulls.set_parts(parts);
        manifolds.truncate(start);
        manifolds.push(of_hulls);
    }
}
