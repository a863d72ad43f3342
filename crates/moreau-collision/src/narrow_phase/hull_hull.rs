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
//!
//! Most faces and edges look away from the other solid. A ball (c, r) inside of it bounds what they
//! can separate: s(n) <= n·(c - p) - r for a point p of the face or edge, so only those whose bound is
//! above the best s are looked at.

use super::context::{Context, unit};
use super::polyhedron::Polyhedron;
use super::polytope::Axis;
use crate::hull::HullEdge;
use moreau_math::{Mat3, Vec3};
use smallvec::SmallVec;

/// Square of the sine between edges below which their cross product is not used.
const PARALLEL: f64 = 1e-14;

/// Rounding of an edge axis' separation, relative to the sizes over the sine.
const CROSS_ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Two polyhedra, all in the frame of the first.
struct Pair<'p> {
    a: &'p Polyhedron<'p>,
    b: &'p Polyhedron<'p>,
    /// Axes and origin of B.
    rotation: Mat3,
    origin: Vec3,
    /// Centre and radius of a ball inside of A, and of B.
    ball_a: (Vec3, f64),
    ball_b: (Vec3, f64),
}

/// An edge with the outward normals of its faces, in the frame of A.
struct PlacedEdge {
    ends: [Vec3; 2],
    along: Vec3,
    normals: [Vec3; 2],
}

impl PlacedEdge {
    /// Bound on the separation along any normal between those of the faces.
    fn bound(&self, ball_of_other: (Vec3, f64)) -> f64 {
        let to_center = ball_of_other.0 - self.ends[0];
        let [n0, n1] = self.normals;
        let most = n0.dot(to_center).max(n1.dot(to_center));
        // A unit vector between is x n0 + y n1 with x + y <= 1 / cos(half the angle between).
        let cosine = 0.5 * (n0 + n1).length();
        let most = if most > 0.0 { most / cosine } else { most };
        most - ball_of_other.1
    }
}

/// The axis of greatest separation, in the working frame; None where one separates beyond the limit.
pub(super) fn separating_axis(
    context: &Context<'_>,
    a: &Polyhedron<'_>,
    b: &Polyhedron<'_>,
) -> Option<Axis> {
    let pair = Pair::new(a, b);
    let faces = pair.face_separations(context)?;
    let top = faces.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if let Some(axis) = pair.edge_axis(context, top) {
        let normal = unit(a.rotation * axis.normal);
        return (axis.separation <= context.limit).then_some(Axis { normal, ..axis });
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

impl<'p> Pair<'p> {
    fn new(a: &'p Polyhedron<'p>, b: &'p Polyhedron<'p>) -> Self {
        let rotation = a.rotation.transpose() * b.rotation;
        let origin = a.local_vector(b.origin - a.origin);
        let ball_b = inner_ball(b);
        Self {
            a,
            b,
            rotation,
            origin,
            ball_a: inner_ball(a),
            ball_b: (rotation * ball_b.0 + origin, ball_b.1),
        }
    }

    /// Separations along all faces of A, then of B; minus infinity where it is not the greatest. None
    /// where one exceeds the limit.
    fn face_separations(&self, context: &Context<'_>) -> Option<SmallVec<[f64; 64]>> {
        let count = self.a.faces.len() + self.b.faces.len();
        let bounds: SmallVec<[f64; 64]> = (0..count).map(|i| self.face_bound(i)).collect();
        let first = (0..count).fold(0, |f, i| if bounds[i] > bounds[f] { i } else { f });
        let mut top = self.face_separation(first);
        if top > context.limit {
            return None;
        }
        let mut out: SmallVec<[f64; 64]> = SmallVec::from_elem(f64::NEG_INFINITY, count);
        for i in 0..count {
            if bounds[i] < top - context.tie {
                continue;
            }
            out[i] = self.face_separation(i);
            top = top.max(out[i]);
            if out[i] > context.limit {
                return None;
            }
        }
        Some(out)
    }

    /// Outward normal and offset of a face of A or, after those, of B.
    fn plane(&self, index: usize) -> (Vec3, f64) {
        match self.a.faces.get(index) {
            Some(face) => (face.normal, face.offset),
            None => {
                let face = &self.b.faces[index - self.a.faces.len()];
                let normal = self.rotation * face.normal;
                (normal, face.offset + normal.dot(self.origin))
            }
        }
    }

    fn face_bound(&self, index: usize) -> f64 {
        let (normal, offset) = self.plane(index);
        let (center, radius) = if index < self.a.faces.len() {
            self.ball_b
        } else {
            self.ball_a
        };
        normal.dot(center) - offset - radius
    }

    fn face_separation(&self, index: usize) -> f64 {
        let (normal, offset) = self.plane(index);
        if index < self.a.faces.len() {
            -self.reach_of_b(-normal) - offset
        } else {
            -self.a.support(-normal).1 - offset
        }
    }

    /// Greatest n·b over B.
    fn reach_of_b(&self, normal: Vec3) -> f64 {
        normal.dot(self.origin) + self.b.support(self.rotation.transpose() * normal).1
    }

    fn edge_of_a(&self, edge: &HullEdge) -> PlacedEdge {
        let ends = self.a.ends(edge);
        PlacedEdge {
            ends,
            along: ends[1] - ends[0],
            normals: edge.faces.map(|f| self.a.faces[f as usize].normal),
        }
    }

    fn edge_of_b(&self, edge: &HullEdge) -> PlacedEdge {
        let ends = self.b.ends(edge).map(|p| self.rotation * p + self.origin);
        PlacedEdge {
            ends,
            along: ends[1] - ends[0],
            normals: (edge.faces).map(|f| self.rotation * self.b.faces[f as usize].normal),
        }
    }

    /// The edge axis (frame of A) that separates by clearly more than the faces' `top`, if any.
    fn edge_axis(&self, context: &Context<'_>, top: f64) -> Option<Axis> {
        let edges_a: SmallVec<[PlacedEdge; 16]> = (self.a.edges.iter())
            .map(|e| self.edge_of_a(e))
            .filter(|e| e.bound(self.ball_b) > top)
            .collect();
        let mut best: Option<Axis> = None;
        for edge in self.b.edges {
            let edge_b = self.edge_of_b(edge);
            if edge_b.bound(self.ball_a) <= top {
                continue;
            }
            for edge_a in &edges_a {
                if arcs_cross(edge_a, &edge_b) {
                    self.offer(context, top, [edge_a, &edge_b], &mut best);
                }
            }
        }
        best
    }

    /// Puts the common perpendicular of two edges into `best` where it is better.
    fn offer(
        &self,
        context: &Context<'_>,
        top: f64,
        [edge_a, edge_b]: [&PlacedEdge; 2],
        best: &mut Option<Axis>,
    ) {
        let cross = edge_a.along.cross(edge_b.along);
        let square = cross.length_squared();
        let scale = edge_a.along.length_squared() * edge_b.along.length_squared();
        if square <= PARALLEL * scale {
            return;
        }
        let length = square.sqrt();
        let outward = cross.dot(edge_a.normals[0] + edge_a.normals[1]);
        let sign = if outward < 0.0 { -1.0 } else { 1.0 };
        let normal = cross * (sign / length);
        let separation = normal.dot(edge_b.ends[0] - edge_a.ends[0]);
        let reach = edge_a.along.length() + edge_b.along.length() + self.origin.length();
        let doubt = context.tie + CROSS_ROUNDING * reach * scale.sqrt() / length;
        let held = best.map_or(top + doubt, |axis| axis.separation - context.tie);
        if separation <= held.max(top + doubt) {
            return;
        }
        // A pair of arcs that cross by rounding alone would promise too much.
        let separation = -self.reach_of_b(-normal) - self.a.support(normal).1;
        if separation <= held.max(top + doubt) {
            return;
        }
        let prefers =
            |over: Vec3| context.prefers(self.a.rotation * normal, self.a.rotation * over);
        let better = best
            .is_none_or(|held| separation > held.separation + context.tie || prefers(held.normal));
        if better {
            *best = Some(Axis { normal, separation });
        }
    }
}

/// Whether the arc of A's edge and that of B's, turned about, cross on the unit sphere.
fn arcs_cross(a: &PlacedEdge, b: &PlacedEdge) -> bool {
    // The edges are normal to the planes of their own arcs: sides of the one plane, of the other, and
    // whether both lie in the same hemisphere.
    let (s0, s1) = (b.normals[0].dot(a.along), b.normals[1].dot(a.along));
    if s0 * s1 >= 0.0 {
        return false;
    }
    let (t0, t1) = (a.normals[0].dot(b.along), a.normals[1].dot(b.along));
    t0 * t1 < 0.0 && s0 * t1 < 0.0
}

/// Centre and radius of a ball inside of a solid, own frame.
fn inner_ball(solid: &Polyhedron<'_>) -> (Vec3, f64) {
    let sum = solid.vertices.iter().fold(Vec3::ZERO, |s, &v| s + v);
    let center = sum / solid.vertices.len() as f64;
    let radius = (solid.faces.iter()).fold(f64::INFINITY, |r, f| r.min(-f.distance(center)));
    (center, radius.max(0.0))
}
