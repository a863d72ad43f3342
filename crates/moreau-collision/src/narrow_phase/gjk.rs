//! Nearest points of two separated polytopes: the Gilbert-Johnson-Keerthi iteration.
//!
//! The vector v from A to B of least length is the point nearest to the origin of the set B - A of
//! differences of points. A simplex of differences of vertices is kept; each step replaces it by the
//! part of it that holds its point nearest to the origin, and adds the vertex difference w furthest
//! against v. |v| >= distance >= v·w/|v| at every step, and the iteration ends where they meet.
//! (Gilbert, Johnson, Keerthi 1988; regions of the simplex as in Ericson, Real-Time Collision
//! Detection, 5.1.)

use super::context::{Context, unit};
use super::polytope::Polytope;
use moreau_math::Vec3;
use smallvec::SmallVec;

/// Steps after which the best so far is returned; a handful suffices in practice.
const MAX_STEPS: usize = 64;

/// Steps without progress after which the best so far is returned.
const MAX_STALLED: usize = 4;

/// The nearest points of two solids.
pub(super) struct NearestPair {
    /// Unit, from A to B; the guess at distance zero.
    pub(super) normal: Vec3,
    pub(super) distance: f64,
    /// How far they are apart along the normal, m: no more than the distance, which is that far from
    /// exact. Of solids that overlap, or by less than rounding do not, the normal may be anything.
    pub(super) bound: f64,
    pub(super) points: [Vec3; 2],
    /// The vertices of A and B with the greatest weight in them.
    pub(super) vertices: [u16; 2],
    /// What they are made of.
    pub(super) simplex: Simplex,
}

/// A difference of two vertices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Difference {
    w: Vec3,
    points: [Vec3; 2],
    pub(super) vertices: [u16; 2],
    weight: f64,
}

impl Difference {
    /// Of the named points of A and B.
    pub(super) fn new((va, pa): (u16, Vec3), (vb, pb): (u16, Vec3)) -> Self {
        Self {
            w: pb - pa,
            points: [pa, pb],
            vertices: [va, vb],
            weight: 1.0,
        }
    }
}

pub(super) type Simplex = SmallVec<[Difference; 4]>;

/// The nearest points of `a` and `b`, starting from the unit direction `guess` from A to B.
pub(super) fn nearest(
    context: &Context<'_>,
    guess: Vec3,
    a: &Polytope<'_>,
    b: &Polytope<'_>,
) -> NearestPair {
    // Far below what the caller calls touching: then the points are as good as they can be.
    let precision = |_| 1e-3 * context.touch;
    let difference = |direction: Vec3| Difference::new(a.support(direction), b.support(-direction));
    let mut near = nearest_by(guess, difference, precision);
    if near.distance > context.touch && near.bound < near.distance - context.touch {
        near.sharpen(difference);
    }
    near
}

impl NearestPair {
    /// Looks for a normal that separates better.
    ///
    /// A small difference of points knows its direction badly: rounding turns it, and far along an edge
    /// that is much longer than the distance a small turn is more than that. What the shortest way is
    /// perpendicular to is known well: whatever runs between the vertices that its ends are made of.
    fn sharpen(&mut self, difference: impl Fn(Vec3) -> Difference) {
        let toward = self.points[1] - self.points[0];
        let mut edges: SmallVec<[Vec3; 12]> = SmallVec::new();
        for (i, from) in self.simplex.iter().enumerate() {
            for to in &self.simplex[..i] {
                edges.extend([0, 1].map(|side| to.points[side] - from.points[side]));
            }
        }
        let greatest = |of: &dyn Fn(Vec3) -> Vec3| {
            let all = edges.iter().map(|&edge| of(edge));
            all.fold(Vec3::ZERO, |held, v| {
                let is_greater = v.length_squared() > held.length_squared();
                if is_greater { v } else { held }
            })
        };
        let along = greatest(&|edge| edge);
        if along == Vec3::ZERO {
            return;
        }
        let across = toward - along * (along.dot(toward) / along.length_squared());
        let both = greatest(&|edge| along.cross(edge));
        let both = if both.dot(toward) < 0.0 { -both } else { both };
        for direction in [across, both] {
            if direction == Vec3::ZERO {
                continue;
            }
            let direction = unit(direction);
            let bound = direction.dot(difference(direction).w);
            if bound > self.bound {
                (self.bound, self.normal) = (bound, direction);
            }
        }
    }
}

/// As [`nearest`], from what is furthest along a direction; `precision` (m) is that wanted of a
/// distance.
pub(super) fn nearest_by(
    guess: Vec3,
    difference: impl Fn(Vec3) -> Difference,
    precision: impl Fn(f64) -> f64,
) -> NearestPair {
    let mut simplex: Simplex = SmallVec::new();
    simplex.push(difference(guess));
    let mut length = simplex[0].w.length();
    // The greatest lower bound with its direction, and the least length with its simplex.
    let mut bound = (f64::NEG_INFINITY, guess);
    let mut shortest = simplex.clone();
    let mut stalled = 0;
    for _ in 0..MAX_STEPS {
        if length <= precision(length) {
            break;
        }
        let direction = unit(nearest_point(&simplex));
        let next = difference(direction);
        let along = direction.dot(next.w);
        if along > bound.0 {
            bound = (along, direction);
        }
        // A vertex is a point, but a rim has many.
        let known = (simplex.iter()).any(|d| d.vertices == next.vertices && d.w == next.w);
        if known || length - along <= precision(length) {
            break;
        }
        let mut grown = simplex.clone();
        grown.push(next);
        simplex = reduce(&grown);
        // Lengths near their least differ by less than their rounding while the direction still
        // improves: some steps without progress are allowed, and the bound tells which was best.
        let reduced = nearest_point(&simplex).length();
        if reduced < length {
            length = reduced;
            shortest = simplex.clone();
            stalled = 0;
        } else {
            stalled += 1;
            if stalled > MAX_STALLED {
                break;
            }
        }
    }
    let simplex = shortest;
    let point =
        |side: usize| (simplex.iter()).fold(Vec3::ZERO, |sum, d| sum + d.points[side] * d.weight);
    let heaviest =
        (simplex.iter()).fold(simplex[0], |h, &d| if d.weight > h.weight { d } else { h });
    NearestPair {
        normal: bound.1,
        distance: length,
        bound: bound.0,
        points: [point(0), point(1)],
        vertices: heaviest.vertices,
        simplex,
    }
}

fn nearest_point(simplex: &Simplex) -> Vec3 {
    (simplex.iter()).fold(Vec3::ZERO, |sum, d| sum + d.w * d.weight)
}

/// The least part of a simplex that holds its point nearest to the origin, with the weights of that
/// point.
fn reduce(simplex: &Simplex) -> Simplex {
    match *simplex.as_slice() {
        [a, b] => on_segment(a, b),
        [a, b, c] => on_triangle(a, b, c),
        [a, b, c, d] => {
            // Of the faces that the origin lies outside of, the nearest; none: the origin is inside.
            let faces = [(a, b, c, d), (a, c, d, b), (a, d, b, c), (b, d, c, a)];
            let mut best: Option<(f64, Simplex)> = None;
            for (p, q, r, opposite) in faces {
                let n = (q.w - p.w).cross(r.w - p.w);
                let inward = n.dot(opposite.w - p.w);
                if inward * n.dot(p.w) < 0.0 {
                    continue;
                }
                let part = on_triangle(p, q, r);
                let distance = nearest_point(&part).length();
                if best.as_ref().is_none_or(|(least, _)| distance < *least) {
                    best = Some((distance, part));
                }
            }
            best.map_or_else(|| inside(simplex), |(_, part)| part)
        }
        _ => simplex.clone(),
    }
}

/// The origin lies inside the tetrahedron: weights by volumes.
fn inside(simplex: &Simplex) -> Simplex {
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| simplex[i].w);
    let volumes = [
        b.dot(c.cross(d)),
        -c.dot(d.cross(a)),
        d.dot(a.cross(b)),
        -a.dot(b.cross(c)),
    ];
    let total: f64 = volumes.iter().sum();
    let mut out = simplex.clone();
    for (difference, volume) in out.iter_mut().zip(volumes) {
        difference.weight = if total == 0.0 { 0.25 } else { volume / total };
    }
    out
}

fn weighted(parts: &[(Difference, f64)]) -> Simplex {
    let total: f64 = parts.iter().map(|p| p.1).sum();
    (parts.iter())
        .map(|&(d, weight)| Difference {
            weight: weight / total,
            ..d
        })
        .collect()
}

fn on_segment(a: Difference, b: Difference) -> Simplex {
    let along = b.w - a.w;
    let (to_a, to_b) = (-a.w.dot(along), b.w.dot(along));
    if to_a <= 0.0 {
        weighted(&[(a, 1.0)])
    } else if to_b <= 0.0 {
        weighted(&[(b, 1.0)])
    } else {
        weighted(&[(a, to_b), (b, to_a)])
    }
}

fn on_triangle(a: Difference, b: Difference, c: Difference) -> Simplex {
    let n = (b.w - a.w).cross(c.w - a.w);
    // Twice the areas of the triangles that the origin's projection makes with the sides.
    let areas = [
        n.dot(b.w.cross(c.w)),
        n.dot(c.w.cross(a.w)),
        n.dot(a.w.cross(b.w)),
    ];
    if areas.iter().all(|&s| s > 0.0) {
        return weighted(&[(a, areas[0]), (b, areas[1]), (c, areas[2])]);
    }
    // On the boundary, then: the nearest of the sides.
    let sides = [on_segment(a, b), on_segment(b, c), on_segment(c, a)];
    let lengths = [0, 1, 2].map(|i| nearest_point(&sides[i]).length_squared());
    let least = (0..3).fold(0, |l, i| if lengths[i] < lengths[l] { i } else { l });
    sides[least].clone()
}
