//! From the corners of a patch to at most four contact points.
//!
//! The four widest are kept: the one furthest along a direction fixed to the pair, the one furthest
//! from it, the one that spans the largest triangle with them, and the one that adds the most to the
//! triangle. What a corner is worth falls with its distance from the deepest one,
//!
//! ```text
//! worth = width or area · 1/(1 + (separation - deepest)/(0.0005 width of the patch))
//! ```
//!
//! and not below a quarter. For where two faces are tilted against each other a few corners carry the load,
//! and must not come and go with the choice; of those that are clear of the load one comes down within a step as
//! well as another where the body turns, and the widest must be there. Where the deepest is not among the four
//! it takes the place of the one without which the four span the most, so that a body stands on them as firmly
//! as it can. A body that rests with all corners equally deep keeps its points.
//!
//! **Held corners.** The caller may name points that shall stay ([`collide_holding`](super::collide_holding)):
//! the corners at those are kept before all others, and the deepest takes the place of none of them while
//! there is another. A body that stands on the edge of its four points begins to tip over it, until the
//! corner that was left out is the deepest; if that took the place of one that carries the body, it would tip
//! back over the new edge, and so on without an end.
//!
//! **Ids.** A point near a vertex (within 5 % of the smaller feature) is named by the vertices it is
//! near to on A and on B, else by the crossing edges. So a stack of equal boxes keeps its ids while
//! the boxes slide by more than rounding, although the exact corners change between vertices and
//! crossings. Where two points would get one name the second keeps its exact one, marked.

use super::context::Context;
use super::feature::{Feature, INLINE};
use super::patch::{Code, Corner, Corners, NONE, Projection, square_distance};
use super::room::Room;
use crate::manifold::FeatureId;
use crate::{Manifold, ManifoldPoint};
use smallvec::SmallVec;

/// Part of the smaller feature's width within which a point is named after a vertex.
const NEAR_VERTEX: f64 = 0.05;

/// Difference of depth, relative to the width of the patch, that halves what a corner is worth.
const HALF_WORTH: f64 = 5e-4;

/// What a corner is worth at least, however high above the deepest it is.
const HIGH_WORTH: f64 = 0.25;

/// How far a corner may be from where it was held, relative to the width of the patch.
const HELD_WITHIN: f64 = 0.01;

/// Lengths across n that differ by less, relative to the patch, are equal.
const SAME_WIDTH: f64 = 1e-9;

/// Writes the `corners` into the manifold, reduced, named, and sorted.
///
/// They are named after the vertices of the `features` of A and B that they are near to; after their
/// exact codes where there are none.
pub(super) fn emit(
    context: &mut Context<'_>,
    projection: &Projection,
    corners: &mut Corners,
    features: Option<(&Feature, &Feature)>,
) {
    if corners.iter().any(|c| !(c.separation <= context.limit)) {
        corners.retain(|c| c.separation <= context.limit);
    }
    reduce(context, projection, corners);
    let mut ids = [FeatureId(0); Manifold::CAPACITY];
    let ids = &mut ids[..corners.len()];
    match features {
        Some((a, b)) => name(projection, corners, (a, b), ids),
        None => {
            for (id, c) in ids.iter_mut().zip(corners.iter()) {
                *id = pack(u32::from(c.code.crossing), c.code);
            }
        }
    }
    let mut order = [0, 1, 2, 3];
    let order = &mut order[..corners.len()];
    order.sort_unstable_by_key(|&i| ids[i]);
    context.manifold.reset(projection.normal);
    for &i in &*order {
        let corner = &corners[i];
        context.manifold.push(ManifoldPoint {
            point_a: corner.point_a + context.origin,
            point_b: corner.point_b + context.origin,
            separation: corner.separation,
            feature: ids[i],
        });
    }
}

/// Index of the greatest value; of those within `tolerance` of it the one furthest along `along`.
fn greatest(values: &[f64], along: &[f64], tolerance: f64) -> usize {
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut best = None;
    for (i, &v) in values.iter().enumerate() {
        if v >= top - tolerance && best.is_none_or(|b: usize| along[i] > along[b]) {
            best = Some(i);
        }
    }
    best.unwrap_or(0)
}

/// A number for each corner.
type Values = Room<f64, { 2 * INLINE }>;

/// Drops all but the at most four corners that the manifold keeps.
pub(super) fn reduce(context: &Context<'_>, projection: &Projection, corners: &mut Corners) {
    if corners.len() <= Manifold::CAPACITY {
        return;
    }
    let count = corners.len();
    let (mut room, mut more_room) = (Values::new(0.0), Values::new(0.0));
    let direction = projection.flat(context.generic);
    let along = room.list(count, 0.0);
    for (along, c) in along.iter_mut().zip(corners.iter()) {
        *along = c.flat[0] * direction[0] + c.flat[1] * direction[1];
    }
    let along = &*along;
    let outermost = corners[greatest(along, along, 0.0)].flat;
    let least_along = along.iter().copied().fold(f64::MAX, f64::min);
    let squares = corners.iter().map(|c| square_distance(c.flat, outermost));
    let width = squares.fold(0.0, f64::max);
    let significant = SAME_WIDTH * width;
    let deepest = corners
        .iter()
        .map(|c| c.separation)
        .fold(f64::MAX, f64::min);
    let half = (HALF_WORTH * width.sqrt()).max(context.touch);
    let weights = more_room.list(count, 0.0);
    for (weight, c) in weights.iter_mut().zip(corners.iter()) {
        *weight = (half / (half + (c.separation - deepest))).max(HIGH_WORTH);
    }
    let weights = &*weights;
    // The corner that is worth the most by `size`, unless that is nothing.
    let best = |least: f64, size: &dyn Fn(usize) -> f64| {
        let mut room = Values::new(0.0);
        let worths = room.list(count, 0.0);
        for (i, (worth, weight)) in worths.iter_mut().zip(weights).enumerate() {
            *worth = size(i) * weight;
        }
        let best = greatest(worths, along, least);
        (size(best) > least).then_some(best)
    };
    // Twice the signed area of the triangle (u, v, w).
    let area = |u: [f64; 2], v: [f64; 2], w: [f64; 2]| {
        (v[0] - u[0]) * (w[1] - u[1]) - (v[1] - u[1]) * (w[0] - u[0])
    };
    let flat = |i: usize| corners[i].flat;

    let mut kept = held_corners(context, projection, corners, width);
    let held = kept.len();
    while kept.len() < Manifold::CAPACITY {
        let next = match kept[..] {
            [] => best(0.0, &|i| along[i] - least_along).or(Some(0)),
            [p] => best(significant, &|i| square_distance(flat(i), flat(p))),
            [p, q] => best(significant, &|i| area(flat(p), flat(q), flat(i)).abs()),
            [p, q, r, ..] => {
                let [p, q, r] = [p, q, r].map(flat);
                let turn = if area(p, q, r) < 0.0 { -1.0 } else { 1.0 };
                // Twice the area that a corner adds outside of an edge of the triangle; negative inside.
                best(significant, &|i| {
                    let w = flat(i);
                    let inner = [area(p, q, w), area(q, r, w), area(r, p, w)];
                    -inner.iter().fold(f64::MAX, |m, &x| m.min(turn * x))
                })
            }
        };
        let Some(next) = next else {
            break;
        };
        kept.push(next);
    }
    keep_deepest(context, corners, &mut kept, held);
    let chosen: SmallVec<[Corner; Manifold::CAPACITY]> = kept.iter().map(|&i| corners[i]).collect();
    corners.clear();
    corners.extend(chosen);
}

/// The corners at the points that the context holds.
fn held_corners(
    context: &Context<'_>,
    projection: &Projection,
    corners: &[Corner],
    square_width: f64,
) -> SmallVec<[usize; 4]> {
    let mut kept = SmallVec::new();
    for &point in context.held {
        let at = projection.flat(point - context.origin);
        let from = |i: usize| square_distance(corners[i].flat, at);
        let nearest = (1..corners.len()).fold(0, |n, i| if from(i) < from(n) { i } else { n });
        let is_there = from(nearest) <= HELD_WITHIN * HELD_WITHIN * square_width;
        if is_there && !kept.contains(&nearest) {
            kept.push(nearest);
        }
    }
    kept
}

/// Puts the deepest corner among the kept ones where it is deeper than all of them. The first `held` stay
/// where there are others.
fn keep_deepest(
    context: &Context<'_>,
    corners: &[Corner],
    kept: &mut SmallVec<[usize; 4]>,
    held: usize,
) {
    let depth = |i: usize| corners[i].separation;
    let deepest = (0..corners.len()).fold(0, |d, i| if depth(i) < depth(d) { i } else { d });
    let shown = kept.iter().map(|&i| depth(i)).fold(f64::MAX, f64::min);
    if shown <= depth(deepest) + context.touch {
        return;
    }
    if kept.len() < Manifold::CAPACITY {
        kept.push(deepest);
        return;
    }
    let spanned = |place: usize| {
        let mut four = [0, 1, 2, 3].map(|k| corners[kept[k]].flat);
        four[place] = corners[deepest].flat;
        span(four)
    };
    let from = |k: usize| square_distance(corners[kept[k]].flat, corners[deepest].flat);
    // Of equals that nearest to it.
    let is_better = |k: usize, than: usize| {
        let (new, old) = (spanned(k), spanned(than));
        let same = SAME_WIDTH * new.max(old);
        new > old + same || (new >= old - same && from(k) < from(than))
    };
    let first = if held < kept.len() { held } else { 0 };
    let place =
        (first + 1..kept.len()).fold(first, |best, k| if is_better(k, best) { k } else { best });
    kept[place] = deepest;
}

/// Twice the area that four points span, in whatever order they go around: the greatest product of what
/// may be its diagonals.
fn span([p, q, r, s]: [[f64; 2]; 4]) -> f64 {
    let product = |[u, v]: [[f64; 2]; 2], [w, x]: [[f64; 2]; 2]| {
        ((v[0] - u[0]) * (x[1] - w[1]) - (v[1] - u[1]) * (x[0] - w[0])).abs()
    };
    let pairs = [
        product([p, q], [r, s]),
        product([p, r], [q, s]),
        product([p, s], [q, r]),
    ];
    pairs.into_iter().fold(0.0, f64::max)
}

fn pack(kind: u32, code: Code) -> FeatureId {
    FeatureId::new(kind, code.a, code.b)
}

/// Names the kept corners, each otherwise.
fn name(
    projection: &Projection,
    corners: &[Corner],
    (a, b): (&Feature, &Feature),
    ids: &mut [FeatureId],
) {
    let radius = NEAR_VERTEX * NEAR_VERTEX * square_width(a).min(square_width(b));
    let (mut room_a, mut room_b) = (Room::new([0.0; 2]), Room::new([0.0; 2]));
    let flat_a = flatten(a, projection, &mut room_a);
    let flat_b = flatten(b, projection, &mut room_b);
    let nearest = |flat: &[[f64; 2]], vertices: &[u16], p: [f64; 2]| {
        let mut best = (radius, NONE);
        for (&v, &index) in flat.iter().zip(vertices) {
            let d = square_distance(v, p);
            if d < best.0 {
                best = (d, index);
            }
        }
        best.1
    };
    for (i, corner) in corners.iter().enumerate() {
        let exact = corner.code;
        let near = Code {
            crossing: false,
            a: nearest(flat_a, &a.vertices, corner.flat),
            b: nearest(flat_b, &b.vertices, corner.flat),
        };
        let coarse = if near.a != NONE || near.b != NONE {
            near
        } else {
            exact
        };
        let mut id = pack(u32::from(coarse.crossing), coarse);
        if ids[..i].contains(&id) {
            id = pack(2 + u32::from(exact.crossing), exact);
        }
        ids[i] = id;
    }
}

/// The points of a feature across the normal.
#[inline(always)]
fn flatten<'r>(
    feature: &Feature,
    projection: &Projection,
    room: &'r mut Room<[f64; 2], INLINE>,
) -> &'r [[f64; 2]] {
    let out = room.list(feature.points.len(), [0.0; 2]);
    for (flat, &point) in out.iter_mut().zip(&feature.points) {
        *flat = projection.flat(point);
    }
    out
}

/// Square of the greatest distance from the first point to another.
fn square_width(feature: &Feature) -> f64 {
    let first = feature.points[0];
    (feature.points.iter()).fold(0.0, |w, &p| w.max((p - first).length_squared()))
}
