//! Manifolds that are kept while a pair hardly moves.
//!
//! The points of a pair of boxes, hulls or half-spaces are remembered on their bodies, p_a in A's axes and
//! p_b in B's. While the pose of B in A's frame differs from that at which they were
//! found by less than a tolerance, they are placed anew from the bodies' poses,
//!
//! ```text
//! p_a' = R_a p_a,   p_b' = x_b - x_a + R_b p_b,   separation = n·(p_b' - p_a')
//! ```
//!
//! which is exact for the points that they are, and skips the narrow phase. The normal follows what made
//! it:
//!
//! - a face turns it with its body. Where two faces lie on each other it is that of the one along which
//!   the points are further apart, as the narrow phase would choose: a block that begins to tip turns its
//!   normal from the one to the other at once;
//! - of two crossing edges it is the common perpendicular, n = e_a x e_b / |e_a x e_b|;
//! - of bodies that are apart, and nearest in vertices, it turns with both alike, and is kept only while
//!   they move by a thousandth of their distance: it could turn by as much.
//!
//! That is cheaper, and a still pair keeps its points: where more than four corners touch, the deepest four
//! change with the last digits of the poses, and impulses remembered for the others are lost.
//!
//! Where the narrow phase runs again, the points that carried the pair in the last step stay among the four
//! ([`Kept::loaded`]): a body that tips over the edge of its points comes down on a corner that was left out, and
//! rests on that and on those that carry it. Chosen without them the four would let it tip back, over and over.
//!
//! The tolerance is a fraction of the smaller body, in shift and in angle (rad). A pair is not
//! kept where its motion in the step could bring points that were not found: the kept manifold knows
//! all that are nearer than the prediction distance, and the pair must move by less than half of that.

use crate::BodyId;
use crate::sweep::{Found, Path, poses};
use moreau_cache::{ContactCache, PairKey};
use moreau_collision::{FeatureId, Manifold, ManifoldPoint, Shape};
use moreau_math::{Quat, Vec3};
use serde::{Deserialize, Serialize};

/// What the normal of a kept manifold follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
enum Follows {
    /// The normals of faces of A, of B or of both.
    #[default]
    Faces,
    /// An edge of A and an edge of B.
    Edges,
    /// Both bodies.
    Bodies,
}

/// A pair's manifold as the two bodies know it. Part of a world's state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub(crate) a: BodyId,
    pub(crate) b: BodyId,
    /// Of B's frame in A's, where the manifold was found.
    translation: Vec3,
    rotation: Quat,
    follows: Follows,
    /// Of A, A's axes: the normal of its face, zero where it touches with none; the unit direction of its
    /// edge; the manifold's normal.
    axis_a: Vec3,
    /// The same of B in B's axes; the normal of its face from A to B, its edge such that the manifold's
    /// normal is along the product of both.
    axis_b: Vec3,
    points: [KeptPoint; Manifold::CAPACITY],
    count: u8,
    /// Least separation where the manifold was found, m.
    gap: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct KeptPoint {
    /// A's axes, from A's origin, m.
    on_a: Vec3,
    /// B's axes, from B's origin, m.
    on_b: Vec3,
    feature: FeatureId,
}

// One for each pair of flat bodies, copied once a step.
const _: () = assert!(size_of::<Kept>() <= 432);

/// Overlap of shapes that were apart, and more of it of others, up to which the normal holds, as
/// fractions of the allowed shift.
const ROUNDING: f64 = 1e-6;
const DEEPER: f64 = 1e-2;

/// Part of a pair's largest normal impulse above which a point carries it.
const LOADED: f64 = 1e-3;

/// Whether all of the surface is flat. On a round one the contact point moves through the body as it
/// rolls: kept on the body it would push the roll on.
pub(crate) fn is_flat(shape: &Shape) -> bool {
    matches!(
        shape,
        Shape::Cuboid { .. } | Shape::Hull(_) | Shape::HalfSpace { .. }
    )
}

/// The normal of the face that looks along the unit vector `direction` (both in the shape's axes) but
/// for `angle` (rad); zero where there is none.
fn face(shape: &Shape, direction: Vec3, angle: f64) -> Vec3 {
    let normal = match shape {
        Shape::Cuboid { .. } => {
            let size = direction.abs();
            let axis = [Vec3::X, Vec3::Y, Vec3::Z][size.max_position()];
            axis * axis.dot(direction).signum()
        }
        Shape::Hull(hull) => {
            let faces = hull.faces().iter().map(|face| face.normal);
            faces.fold(Vec3::ZERO, |best, normal| {
                if normal.dot(direction) > best.dot(direction) {
                    normal
                } else {
                    best
                }
            })
        }
        Shape::HalfSpace { normal } => normal.normalize(),
        _ => Vec3::ZERO,
    };
    if (normal - direction).length_squared() <= angle * angle {
        normal
    } else {
        Vec3::ZERO
    }
}

/// Sine between two edges below which a manifold is not kept: their common perpendicular turns faster
/// than the bodies, by one over the sine.
const CROSSING: f64 = 0.05;

/// Square of the angle (rad) by which the perpendicular of two edges may differ from the normal that they
/// made.
const SAME_NORMAL: f64 = 1e-16;

/// Angle (rad) by which the normal of bodies that are apart may have turned while it is kept.
const TILT: f64 = 1e-3;

/// How far (of the bounding radius) an edge's ends may lie below the vertex that is furthest along the
/// normal of the edge.
const LEVEL: f64 = 1e-9;

/// The unit direction of an edge that lies furthest along the unit vector `direction` (both in the
/// shape's axes) with all of its length; the longest of several.
fn edge(shape: &Shape, direction: Vec3) -> Option<Vec3> {
    match shape {
        Shape::Cuboid { .. } => {
            let axes = [Vec3::X, Vec3::Y, Vec3::Z];
            (axes.into_iter()).find(|axis| axis.dot(direction).abs() <= LEVEL)
        }
        Shape::Hull(hull) => {
            let top = hull.vertices()[hull.support_vertex(direction)].dot(direction);
            let least = top - LEVEL * hull.bounding_radius();
            let ends =
                (hull.edges().iter()).map(|e| e.vertices.map(|v| hull.vertices()[v as usize]));
            let level = ends
                .filter(|ends| ends.iter().all(|end| end.dot(direction) >= least))
                .map(|[from, to]| to - from);
            let longer = |e: &Vec3, f: &Vec3| e.length_squared() < f.length_squared();
            let along = level.reduce(|e, f| if longer(&e, &f) { f } else { e })?;
            Some(along.normalize())
        }
        _ => None,
    }
}

/// What decides about keeping in a step.
#[derive(Clone, Copy)]
pub(crate) struct Recycling {
    /// Shift (of the smaller body's bounding radius) and angle (rad) up to which a manifold is kept.
    pub(crate) tolerance: f64,
    pub(crate) prediction: f64,
}

impl Recycling {
    /// Whether two that can come towards each other by `reach` (m) meet only where points are known.
    pub(crate) fn is_near(&self, reach: f64) -> bool {
        reach <= 0.5 * self.prediction
    }

    /// Whether the pair may be kept at all; `reach` is how far the two can come towards each other, m.
    fn suits(&self, a: &Path<'_>, b: &Path<'_>, reach: f64) -> bool {
        self.tolerance > 0.0
            && is_flat(&a.body.shape)
            && is_flat(&b.body.shape)
            && self.is_near(reach)
    }

    /// The shift (m) up to which a manifold is kept.
    fn length(&self, a: &Path<'_>, b: &Path<'_>) -> f64 {
        let radius = |path: &Path<'_>| path.body.shape.bounding_radius();
        self.tolerance * radius(a).min(radius(b))
    }

    /// Places the kept manifold anew; false where it no longer holds.
    pub(crate) fn reuse(
        &self,
        kept: &Kept,
        (a, b): (&Path<'_>, &Path<'_>),
        reach: f64,
        found: &mut Vec<Found>,
    ) -> bool {
        if !self.suits(a, b, reach) {
            return false;
        }
        let (near, far) = poses(a, b, 0.0);
        let back = near.rotation.inverse();
        let shift = back * far.translation - kept.translation;
        // |q - q'| is half of the angle between them; q and -q are the same rotation.
        let (q, r) = (back * far.rotation, kept.rotation);
        let turn = (q - r).length_squared().min((q + r).length_squared());
        let length = self.length(a, b);
        let angle = 0.5 * self.tolerance;
        if !(shift.length_squared() <= length * length && turn <= angle * angle) {
            return false;
        }
        if kept.follows == Follows::Bodies {
            let arm = b.body.shape.bounding_radius();
            let moved = shift.length() + 2.0 * turn.sqrt() * arm;
            if !(moved <= TILT * kept.gap) {
                return false;
            }
        }
        if kept.count == 0 {
            Found::only(found);
            return true;
        }
        let points = &kept.points[..usize::from(kept.count)];
        let mut placed = [(Vec3::ZERO, Vec3::ZERO); Manifold::CAPACITY];
        for (to, point) in placed.iter_mut().zip(points) {
            let on_b = far.translation + far.rotation * point.on_b;
            *to = (near.rotation * point.on_a, on_b);
        }
        let least = |normal: Vec3| {
            let gaps = placed[..points.len()]
                .iter()
                .map(|&(a, b)| normal.dot(b - a));
            gaps.fold(f64::INFINITY, f64::min)
        };
        let (axis_a, axis_b) = (near.rotation * kept.axis_a, far.rotation * kept.axis_b);
        let (normal, gap) = match kept.follows {
            Follows::Faces => {
                let of_a = (axis_a, least(axis_a));
                let of_b = (axis_b, least(axis_b));
                let has_a = kept.axis_a != Vec3::ZERO;
                if kept.axis_b != Vec3::ZERO && (!has_a || of_b.1 > of_a.1) {
                    of_b
                } else {
                    of_a
                }
            }
            Follows::Edges => {
                let cross = axis_a.cross(axis_b);
                let sine = cross.length();
                if sine < 0.5 * CROSSING {
                    return false;
                }
                let normal = cross / sine;
                (normal, least(normal))
            }
            Follows::Bodies => {
                let sum = axis_a + axis_b;
                let normal = sum / sum.length();
                (normal, least(normal))
            }
        };
        // Shapes that overlap, or overlap more, may do so least along another axis.
        let deeper = if kept.gap > 0.0 { ROUNDING } else { DEEPER };
        if gap < kept.gap.min(0.0) - deeper * length {
            return false;
        }
        let manifold = &mut Found::only(found).manifold;
        manifold.reset(normal);
        for (point, &(point_a, point_b)) in points.iter().zip(&placed) {
            manifold.push(ManifoldPoint {
                point_a,
                point_b,
                separation: normal.dot(point_b - point_a),
                feature: point.feature,
            });
        }
        true
    }

    /// What to keep of what was found; `None` where it may not be.
    pub(crate) fn keep(
        &self,
        (id_a, id_b): (BodyId, BodyId),
        (a, b): (&Path<'_>, &Path<'_>),
        reach: f64,
        found: &[Found],
    ) -> Option<Kept> {
        if !self.suits(a, b, reach) || found.len() > 1 || found.iter().any(|f| f.time != 0.0) {
            return None;
        }
        let (near, far) = poses(a, b, 0.0);
        let back = near.rotation.inverse();
        let mut kept = Kept {
            a: id_a,
            b: id_b,
            translation: back * far.translation,
            rotation: back * far.rotation,
            ..Kept::default()
        };
        if let Some(one) = found.iter().find(|f| !f.manifold.is_empty()) {
            let to_b = far.rotation.inverse();
            let normal = one.manifold.normal();
            let (on_a, on_b) = (back * normal, to_b * normal);
            kept.gap = one.manifold.min_separation().unwrap_or(0.0);
            // Faces that the normal could be turned to while the manifold is kept.
            let angle = 4.0 * self.tolerance;
            kept.axis_a = face(&a.body.shape, on_a, angle);
            kept.axis_b = -face(&b.body.shape, -on_b, angle);
            if kept.axis_a == Vec3::ZERO && kept.axis_b == Vec3::ZERO {
                let between = |q: Quat, r: Quat| {
                    let edges = (edge(&a.body.shape, on_a)?, edge(&b.body.shape, -on_b)?);
                    let least = CROSSING.max(4.0 * self.tolerance);
                    crossing((q, r), edges, (normal, least))
                };
                (kept.follows, kept.axis_a, kept.axis_b) =
                    match between(near.rotation, far.rotation) {
                        Some((edge_a, edge_b)) => (Follows::Edges, edge_a, edge_b),
                        None if kept.gap > 0.0 => (Follows::Bodies, on_a, on_b),
                        None => return None,
                    };
            }
            for (to, point) in kept.points.iter_mut().zip(one.manifold.points()) {
                *to = KeptPoint {
                    on_a: back * point.point_a,
                    on_b: to_b * (point.point_b - far.translation),
                    feature: point.feature,
                };
                kept.count += 1;
            }
        }
        Some(kept)
    }
}

/// Two edges, each in its own body's axes, such that their product lies along the normal; `None` where
/// they did not make it, or the sine between them is not above `least`.
fn crossing(
    (q, r): (Quat, Quat),
    (edge_a, edge_b): (Vec3, Vec3),
    (normal, least): (Vec3, f64),
) -> Option<(Vec3, Vec3)> {
    let cross = (q * edge_a).cross(r * edge_b);
    let sine = cross.length();
    if !(sine > least) {
        return None;
    }
    let turned = cross.dot(normal) < 0.0;
    let edge_b = if turned { -edge_b } else { edge_b };
    let along = if turned { -cross } else { cross } / sine;
    ((along - normal).length_squared() <= SAME_NORMAL).then_some((edge_a, edge_b))
}

impl Kept {
    /// The same of two bodies that have other ids, in the same order.
    pub(crate) fn of(&self, a: BodyId, b: BodyId) -> Self {
        Self { a, b, ..*self }
    }

    pub(crate) fn pair(&self) -> (u32, u32) {
        (self.a.index, self.b.index)
    }

    /// The points that pushed in the last step, and how many they are, where the bodies are now: between both
    /// surfaces, m, as [`poses`] places them.
    pub(crate) fn loaded(
        &self,
        cache: &ContactCache,
        (a, b): (&Path<'_>, &Path<'_>),
    ) -> ([Vec3; Manifold::CAPACITY], usize) {
        if self.count == 0 {
            return Default::default();
        }
        let (near, far) = poses(a, b, 0.0);
        let (pair, _) = PairKey::new((self.a.to_bits(), self.b.to_bits()));
        let pushed = cache.pair(pair);
        let push = |point: &KeptPoint| {
            let key = u128::from(point.feature.0);
            let of_point = pushed.iter().filter(|entry| entry.feature == key);
            of_point.fold(0.0, |most: f64, e| most.max(e.impulse.normal_impulse))
        };
        let points = &self.points[..usize::from(self.count)];
        let least = LOADED * points.iter().map(push).fold(0.0, f64::max);
        let (mut loaded, mut count) = <([Vec3; Manifold::CAPACITY], usize)>::default();
        for point in points.iter().filter(|point| push(point) > least) {
            let on_a = near.rotation * point.on_a;
            let on_b = far.translation + far.rotation * point.on_b;
            loaded[count] = 0.5 * (on_a + on_b);
            count += 1;
        }
        (loaded, count)
    }

    /// Whether a step can use it, wherever it comes from.
    pub(crate) fn is_sound(&self) -> bool {
        let points = self.points.iter();
        let is_unit = |n: Vec3| (n.length() - 1.0).abs() < 1e-6;
        let (a, b) = (self.axis_a, self.axis_b);
        let has_normal = match self.follows {
            Follows::Faces => {
                (self.count == 0 || is_unit(a) || is_unit(b))
                    && [a, b].iter().all(|n| *n == Vec3::ZERO || is_unit(*n))
            }
            Follows::Edges | Follows::Bodies => is_unit(a) && is_unit(b),
        };
        usize::from(self.count) <= Manifold::CAPACITY
            && self.translation.is_finite()
            && self.rotation.is_finite()
            && self.gap.is_finite()
            && has_normal
            && points
                .clone()
                .all(|p| p.on_a.is_finite() && p.on_b.is_finite())
    }
}
