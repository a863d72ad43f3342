//! Manifolds that are kept while a pair hardly moves.
//!
//! The points of a pair of boxes, hulls or half-spaces are remembered on their bodies, p_a in A's axes and p_b in
//! B's. While the pose of B in A's frame differs from that at which they were
//! found by less than a tolerance, they are placed anew from the bodies' poses,
//!
//! ```text
//! p_a' = R_a p_a,   p_b' = x_b - x_a + R_b p_b,   separation = n·(p_b' - p_a')
//! ```
//!
//! which is exact for the points that they are, and skips the narrow phase. The normal is that of the
//! face that made it. Where two faces lie on each other it is that of the one along which the points are
//! further apart, as the narrow phase would choose: a block that begins to tip turns its normal from
//! the one to the other at once. That is cheaper, and a
//! still pair keeps its points: where more than four corners touch, the deepest four change with the
//! last digits of the poses, and impulses remembered for the others are lost.
//!
//! The tolerance is a fraction of the smaller body, in shift and in angle (rad). A pair is not
//! kept where its motion in the step could bring points that were not found: the kept manifold knows
//! all that are nearer than the prediction distance, and the pair must move by less than half of that.

use crate::BodyId;
use crate::sweep::{Found, Path, poses, reach};
use moreau_collision::{FeatureId, Manifold, ManifoldPoint, Shape};
use moreau_math::{Quat, Vec3};
use serde::{Deserialize, Serialize};

/// A pair's manifold as the two bodies know it. Part of a world's state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub(crate) a: BodyId,
    pub(crate) b: BodyId,
    /// Of B's frame in A's, where the manifold was found.
    translation: Vec3,
    rotation: Quat,
    /// Normal of A's face, A's axes; zero where A touches with none.
    face_a: Vec3,
    /// Normal of B's face, from A to B, B's axes; zero where B touches with none.
    face_b: Vec3,
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
const _: () = assert!(size_of::<Kept>() <= 424);

/// Overlap of shapes that were apart, and more of it of others, up to which the normal holds, as
/// fractions of the allowed shift.
const ROUNDING: f64 = 1e-6;
const DEEPER: f64 = 1e-2;

/// Whether all of the surface is flat. On a round one the contact point moves through the body as it
/// rolls: kept on the body it would push the roll on.
fn is_flat(shape: &Shape) -> bool {
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

/// What decides about keeping in a step.
#[derive(Clone, Copy)]
pub(crate) struct Recycling {
    /// Shift (of the smaller body's bounding radius) and angle (rad) up to which a manifold is kept.
    pub(crate) tolerance: f64,
    pub(crate) prediction: f64,
    pub(crate) dt: f64,
}

impl Recycling {
    /// Whether the pair may be kept at all.
    fn suits(&self, a: &Path<'_>, b: &Path<'_>) -> bool {
        self.tolerance > 0.0
            && is_flat(&a.body.shape)
            && is_flat(&b.body.shape)
            && reach(a, b, self.dt) <= 0.5 * self.prediction
    }

    /// Places the kept manifold anew; false where it no longer holds.
    pub(crate) fn reuse(
        &self,
        kept: &Kept,
        a: &Path<'_>,
        b: &Path<'_>,
        found: &mut Vec<Found>,
    ) -> bool {
        if !self.suits(a, b) {
            return false;
        }
        let (near, far) = poses(a, b, 0.0);
        let back = near.rotation.inverse();
        let shift = back * far.translation - kept.translation;
        // |q - q'| is half of the angle between them; q and -q are the same rotation.
        let (q, r) = (back * far.rotation, kept.rotation);
        let turn = (q - r).length_squared().min((q + r).length_squared());
        let radius = |path: &Path<'_>| path.body.shape.bounding_radius();
        let length = self.tolerance * radius(a).min(radius(b));
        let angle = 0.5 * self.tolerance;
        if !(shift.length_squared() <= length * length && turn <= angle * angle) {
            return false;
        }
        found.clear();
        if kept.count == 0 {
            return true;
        }
        let mut one = Found::default();
        let place = |point: &KeptPoint| {
            (
                near.rotation * point.on_a,
                far.translation + far.rotation * point.on_b,
            )
        };
        let points = &kept.points[..usize::from(kept.count)];
        let gap = |normal: Vec3| {
            let gaps = points.iter().map(|point| {
                let (a, b) = place(point);
                normal.dot(b - a)
            });
            gaps.fold(f64::INFINITY, f64::min)
        };
        let mut normal = near.rotation * kept.face_a;
        if kept.face_b != Vec3::ZERO {
            let other = far.rotation * kept.face_b;
            if kept.face_a == Vec3::ZERO || gap(other) > gap(normal) {
                normal = other;
            }
        }
        // Shapes that overlap, or overlap more, may do so least along another axis.
        let deeper = if kept.gap > 0.0 { ROUNDING } else { DEEPER };
        if gap(normal) < kept.gap.min(0.0) - deeper * length {
            return false;
        }
        one.manifold.reset(normal);
        for point in points {
            let (point_a, point_b) = place(point);
            one.manifold.push(ManifoldPoint {
                point_a,
                point_b,
                separation: normal.dot(point_b - point_a),
                feature: point.feature,
            });
        }
        found.push(one);
        true
    }

    /// What to keep of what was found; `None` where it may not be.
    pub(crate) fn keep(
        &self,
        (id_a, id_b): (BodyId, BodyId),
        a: &Path<'_>,
        b: &Path<'_>,
        found: &[Found],
    ) -> Option<Kept> {
        let at_start = found.iter().all(|f| f.time == 0.0);
        if found.len() > 1 || !at_start || !self.suits(a, b) {
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
        if let Some(one) = found.first() {
            let to_b = far.rotation.inverse();
            let normal = one.manifold.normal();
            // Faces that the normal could be turned to while the manifold is kept.
            let angle = 4.0 * self.tolerance;
            kept.gap = one.manifold.min_separation().unwrap_or(0.0);
            kept.face_a = face(&a.body.shape, back * normal, angle);
            kept.face_b = -face(&b.body.shape, to_b * -normal, angle);
            if kept.face_a == Vec3::ZERO && kept.face_b == Vec3::ZERO {
                return None;
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

impl Kept {
    pub(crate) fn pair(&self) -> (u32, u32) {
        (self.a.index, self.b.index)
    }

    /// Whether a step can use it, wherever it comes from.
    pub(crate) fn is_sound(&self) -> bool {
        let points = self.points.iter();
        let unit = |n: Vec3| (n.length() - 1.0).abs() < 1e-6;
        usize::from(self.count) <= Manifold::CAPACITY
            && self.translation.is_finite()
            && self.rotation.is_finite()
            && self.gap.is_finite()
            && (self.count == 0 || unit(self.face_a) || unit(self.face_b))
            && [self.face_a, self.face_b]
                .iter()
                .all(|n| *n == Vec3::ZERO || unit(*n))
            && points
                .clone()
                .all(|p| p.on_a.is_finite() && p.on_b.is_finite())
    }
}
