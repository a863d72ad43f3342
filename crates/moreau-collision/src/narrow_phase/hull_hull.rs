//! Hull against hull or box: separating axes of two polyhedra, in the frame of A.
//!
//! ```text
//! s(n) = least n·b - greatest n·a
//! ```
//!
//! for n = each face normal of A, minus each face normal of B, and e_a x e_b for the pairs of edges
//! whose arcs cross on the Gauss map: the normals of both faces of edge a, and minus those of edge b,
//! are the ends of two arcs on the unit sphere, and where the arcs cross, the point of crossing is the
//! normal of a face of B - A. Other pairs of edges cannot hold the greatest s. (Gregorius, The
//! Separating Axis Test between Convex Polyhedra, 2013.)

use super::context::{Context, unit};
use super::polyhedron::Polyhedron;
use super::polytope::Axis;
use moreau_math::{Mat3, Vec3};
use smallvec::SmallVec;

/// Square of the sine between edges below which their cross product is not used.
const PARALLEL: f64 = 1e-14;

/// Rounding of an edge axis' separation, relative to the sizes over the sine.
const CROSS_ROUNDING: f64 = 4.0 * f64::EPSILON;

/// The frame of B as seen from A.
struct Relative {
    rotation: Mat3,
    origin: Vec3,
}

impl Relative {
    fn point(&self, p: Vec3) -> Vec3 {
        self.rotation * p + self.origin
    }
}

/// The axis of greatest separation, in the working frame; None where one separates beyond the limit.
pub(super) fn separating_axis(
    context: &Context<'_>,
    a: &Polyhedron<'_>,
    b: &Polyhedron<'_>,
) -> Option<Axis> {
    let relative = Relative {
        rotation: a.rotation.transpose() * b.rotation,
        origin: a.local_vector(b.origin - a.origin),
    };
    let faces = face_separations(context, &relative, a, b)?;
    let top = faces.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let edge = edge_axis(context, &relative, [a, b], top);
    if let Some(axis) = edge {
        if axis.separation > context.limit {
            return None;
        }
        let normal = unit(a.rotation * axis.normal);
        return Some(Axis { normal, ..axis });
    }
    let mut best: Option<Axis> = None;
    for (i, &separation) in faces.iter().enumerate() {
        if separation < top - context.tie {
            continue;
        }
        let normal = match a.faces.get(i) {
            Some(face) => a.rotation * face.normal,
            None => -(b.rotation * b.faces[i - a.faces.len()].normal),
        };
        if best.is_none_or(|held| context.prefers(normal, held.normal)) {
            best = Some(Axis { normal, separation });
        }
    }
    best.map(|axis| Axis {
        normal: unit(axis.normal),
        ..axis
    })
}

/// Separations along all faces of A, then of B; None where one exceeds the limit.
fn face_separations(
    context: &Context<'_>,
    relative: &Relative,
    a: &Polyhedron<'_>,
    b: &Polyhedron<'_>,
) -> Option<SmallVec<[f64; 64]>> {
    let mut out = SmallVec::new();
    let back = relative.rotation.transpose();
    for face in a.faces {
        let reach = b.support(-(back * face.normal)).1;
        let separation = face.normal.dot(relative.origin) - reach - face.offset;
        if separation > context.limit {
            return None;
        }
        out.push(separation);
    }
    for face in b.faces {
        let normal = relative.rotation * face.normal;
        let reach = a.support(-normal).1;
        let separation = -normal.dot(relative.origin) - reach - face.offset;
        if separation > context.limit {
            return None;
        }
        out.push(separation);
    }
    Some(out)
}

/// The edge axis (frame of A) that separates by clearly more than the faces' `top`, if any.
fn edge_axis(
    context: &Context<'_>,
    relative: &Relative,
    [a, b]: [&Polyhedron<'_>; 2],
    top: f64,
) -> Option<Axis> {
    let mut best: Option<Axis> = None;
    for edge_b in b.edges {
        let ends = b.ends(edge_b).map(|p| relative.point(p));
        let along_b = ends[1] - ends[0];
        let [m0, m1] = edge_b
            .faces
            .map(|f| relative.rotation * b.faces[f as usize].normal);
        for edge_a in a.edges {
            let [start, end] = a.ends(edge_a);
            let along_a = end - start;
            let (s0, s1) = (m0.dot(along_a), m1.dot(along_a));
            if s0 * s1 >= 0.0 {
                continue;
            }
            let [n0, n1] = edge_a.faces.map(|f| a.faces[f as usize].normal);
            let (t0, t1) = (n0.dot(along_b), n1.dot(along_b));
            if t0 * t1 >= 0.0 || s0 * t1 >= 0.0 {
                continue;
            }
            let cross = along_a.cross(along_b);
            let square = cross.length_squared();
            let scale = along_a.length_squared() * along_b.length_squared();
            if square <= PARALLEL * scale {
                continue;
            }
            let length = square.sqrt();
            let outward = if cross.dot(n0 + n1) < 0.0 { -1.0 } else { 1.0 };
            let normal = cross * (outward / length);
            let separation = normal.dot(ends[0] - start);
            let held = best.map_or(top, |axis| axis.separation);
            if separation < held - context.tie {
                continue;
            }
            let reach = along_a.length() + along_b.length() + relative.origin.length();
            let doubt = context.tie + CROSS_ROUNDING * reach * scale.sqrt() / length;
            if separation <= top + doubt {
                continue;
            }
            // A pair of arcs that cross by rounding alone would promise too much.
            let separation = support_separation(relative, [a, b], normal);
            if separation <= top + doubt {
                continue;
            }
            let world = |n: Vec3| a.rotation * n;
            let better = best.is_none_or(|held| {
                separation > held.separation + context.tie
                    || (separation >= held.separation - context.tie
                        && context.prefers(world(normal), world(held.normal)))
            });
            if better {
                best = Some(Axis { normal, separation });
            }
        }
    }
    best
}

/// s(n) by its definition, for a unit vector n of the frame of A.
fn support_separation(relative: &Relative, [a, b]: [&Polyhedron<'_>; 2], normal: Vec3) -> f64 {
    let against = relative.rotation.transpose() * -normal;
    normal.dot(relative.origin) - b.support(against).1 - a.support(normal).1
}
