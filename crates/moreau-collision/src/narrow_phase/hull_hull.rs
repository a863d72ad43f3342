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
//! Most faces and edges look away from the other solid, and are left out by points of it. With x any
//! point of B, p one of a face or edge of A, and h_f(x) the height of x above the plane of a face f,
//!
//! ```text
//! s(n_f) <= h_f(x)
//! s(n) <= n·(x - p) <= max(h_f(x), h_g(x)) / cos(half the angle between n_f and n_g)
//! ```
//!
//! for all n between the normals of the faces f and g of an edge; without the cosine where both heights
//! are negative. The points are the centre of a ball inside of B (its radius is taken off as well), the
//! vertices of B that are furthest against the faces looked at before, the most promising first, and the
//! point of B below the vertex that lies deepest under a face of B. Only what all of them leave a chance
//! to beat the best s is looked at: a face or three of each solid and a handful of edges. What is left
//! out could not have been the answer, so the answer does not depend on it.

#[cfg(test)]
mod tests;

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

/// How far the ends of an edge may lie below the planes of its faces, relative to the sizes.
const PLANAR: f64 = 4e-9;

/// Points of the other solid that edges are measured against, at most: as many as a byte has bits.
const ROWS: usize = 8;

/// How much was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Looks {
    pub(super) faces: usize,
    pub(super) edge_pairs: usize,
}

/// Heights above the faces of a polyhedron, a row for each point.
type Heights = SmallVec<[f64; 256]>;

/// A number for each face.
type Bounds = SmallVec<[f64; 64]>;

/// One of two polyhedra, in its own frame, and what is known of the other's place above its faces.
struct Side<'p> {
    solid: &'p Polyhedron<'p>,
    /// Radius of the ball inside of the other solid.
    radius: f64,
    /// First of the centre of that ball. (Elsewhere, as the bounds are: both are large to move.)
    heights: &'p mut Heights,
    /// What the separation along each face cannot exceed; minus infinity where it is known.
    bounds: &'p mut Bounds,
}

/// A face that was looked at.
#[derive(Clone, Copy)]
struct FaceAxis {
    /// 0 for A, 1 for B.
    side: usize,
    face: usize,
    separation: f64,
    /// The vertex of the other solid that lies deepest, in the frame of the face's.
    deepest: Vec3,
}

/// Indices of edges.
type Edges = SmallVec<[u32; 32]>;

type FaceAxes = SmallVec<[FaceAxis; 8]>;

/// Two polyhedra, all in the frame of the first.
struct Pair<'p> {
    a: &'p Polyhedron<'p>,
    b: &'p Polyhedron<'p>,
    /// Axes and origin of B.
    rotation: Mat3,
    origin: Vec3,
    /// Whether what cannot be the answer is left out.
    prune: bool,
}

/// An edge with the outward normals of its faces, in the frame of A.
struct PlacedEdge {
    ends: [Vec3; 2],
    along: Vec3,
    normals: [Vec3; 2],
}

impl<'p> Side<'p> {
    /// Starts with the ball inside of the other solid. Both lists are empty.
    fn new(
        solid: &'p Polyhedron<'p>,
        (center, radius): (Vec3, f64),
        heights: &'p mut Heights,
        bounds: &'p mut Bounds,
    ) -> Self {
        heights.resize(solid.faces.len(), 0.0);
        bounds.resize(solid.faces.len(), 0.0);
        let places = heights.iter_mut().zip(bounds.iter_mut());
        for (face, (height, bound)) in solid.faces.iter().zip(places) {
            *height = face.distance(center);
            *bound = *height - radius;
        }
        Self {
            solid,
            radius,
            heights,
            bounds,
        }
    }

    /// A point of the other solid, own frame; it is a row if there are no more than `rows` with it.
    fn add(&mut self, point: Vec3, rows: usize) {
        let start = self.heights.len();
        self.heights.resize(start + self.bounds.len(), 0.0);
        let places = self.heights[start..].iter_mut().zip(self.bounds.iter_mut());
        for (face, (height, bound)) in self.solid.faces.iter().zip(places) {
            *height = face.distance(point);
            if *height < *bound {
                *bound = *height;
            }
        }
        if start >= rows * self.bounds.len() {
            self.heights.truncate(start);
        }
    }

    /// The face that promises most.
    fn most(&self) -> (usize, f64) {
        let mut most = (0, f64::NEG_INFINITY);
        for (face, &bound) in self.bounds.iter().enumerate() {
            if bound > most.1 {
                most = (face, bound);
            }
        }
        most
    }

    /// Lists the edges that could separate by more than `least`.
    fn edges_beyond(&self, least: f64, out: &mut Edges) {
        let (count, solid) = (self.bounds.len(), self.solid);
        // Bit by bit for each row: whether the height leaves the edges of the face a chance.
        let mut chances: SmallVec<[u8; 64]> = SmallVec::from_elem(0, count);
        let mut all = 0;
        for (row, heights) in self.heights.chunks_exact(count).enumerate() {
            let bar = least + self.radius_of(row);
            let bar = if bar > 0.0 {
                bar / solid.greatest_secant
            } else {
                bar
            };
            all |= 1 << row;
            for (chance, &height) in chances.iter_mut().zip(heights) {
                *chance |= u8::from(height > bar) << row;
            }
        }
        for (index, edge) in solid.edges.iter().enumerate() {
            let [f, g] = edge.faces;
            if chances[f as usize] | chances[g as usize] == all && self.could_exceed(index, least) {
                out.push(index as u32);
            }
        }
    }

    /// What is to be taken off the heights of a row: the first is that of the centre of a ball.
    fn radius_of(&self, row: usize) -> f64 {
        if row == 0 { self.radius } else { 0.0 }
    }

    /// Whether an edge could separate by more than `least`.
    fn could_exceed(&self, index: usize, least: f64) -> bool {
        let [f, g] = self.solid.edges[index].faces.map(|f| f as usize);
        let secant = self.solid.edge_secants[index];
        let mut rows = self.heights.chunks_exact(self.bounds.len()).enumerate();
        rows.all(|(row, heights)| {
            let most = heights[f].max(heights[g]);
            let bound = if most > 0.0 { most * secant } else { most };
            bound - self.radius_of(row) > least
        })
    }
}

/// The axis of greatest separation, in the working frame; None where one separates beyond the limit.
pub(super) fn separating_axis(
    context: &Context<'_>,
    a: &Polyhedron<'_>,
    b: &Polyhedron<'_>,
) -> Option<Axis> {
    search(context, a, b, true).0
}

/// With everything looked at unless `prune`.
fn search(
    context: &Context<'_>,
    a: &Polyhedron<'_>,
    b: &Polyhedron<'_>,
    prune: bool,
) -> (Option<Axis>, Looks) {
    let mut looks = Looks::default();
    let pair = Pair::new(a, b, prune);
    let axis = pair.axis(context, &mut looks);
    (axis, looks)
}

impl<'p> Pair<'p> {
    fn new(a: &'p Polyhedron<'p>, b: &'p Polyhedron<'p>, prune: bool) -> Self {
        Self {
            a,
            b,
            rotation: a.rotation.transpose() * b.rotation,
            origin: a.local_vector(b.origin - a.origin),
            prune,
        }
    }

    /// A point of A's frame in B's.
    fn to_b(&self, point: Vec3) -> Vec3 {
        self.rotation.transpose() * (point - self.origin)
    }

    /// A point of B's frame in A's.
    fn to_a(&self, point: Vec3) -> Vec3 {
        self.rotation * point + self.origin
    }

    fn axis(&self, context: &Context<'_>, looks: &mut Looks) -> Option<Axis> {
        let ball_a = self.a.inner_ball;
        let ball_b = (self.to_a(self.b.inner_ball.0), self.b.inner_ball.1);
        if self.prune && self.is_apart(context, ball_b.0 - ball_a.0, ball_a.1 + ball_b.1) {
            return None;
        }
        let (mut heights_a, mut heights_b) = (Heights::new(), Heights::new());
        let (mut bounds_a, mut bounds_b) = (Bounds::new(), Bounds::new());
        let ball_a = (self.to_b(ball_a.0), ball_a.1);
        let mut side_a = Side::new(self.a, ball_b, &mut heights_a, &mut bounds_a);
        let mut side_b = Side::new(self.b, ball_a, &mut heights_b, &mut bounds_b);
        let mut sides = [&mut side_a, &mut side_b];
        let mut faces: FaceAxes = SmallVec::new();
        if self.face_axes(context, &mut sides, &mut faces) {
            return None;
        }
        looks.faces = faces.len();
        let best = (faces.iter()).reduce(|p, q| if q.separation > p.separation { q } else { p })?;
        let top = best.separation;
        if let Some(axis) = self.edge_axis(context, &mut sides, *best, looks) {
            let normal = unit(self.a.rotation * axis.normal);
            return (axis.separation <= context.limit).then_some(Axis { normal, ..axis });
        }
        faces.retain(|face| face.separation >= top - context.tie);
        faces.sort_unstable_by_key(|face| (face.side, face.face));
        let mut best: Option<Axis> = None;
        for face in faces {
            let normal = match face.side {
                0 => self.a.rotation * self.a.faces[face.face].normal,
                _ => -(self.b.rotation * self.b.faces[face.face].normal),
            };
            let separation = face.separation;
            if best.is_none_or(|held| context.prefers(normal, held.normal)) {
                best = Some(Axis { normal, separation });
            }
        }
        best.map(|axis| Axis {
            normal: unit(axis.normal),
            ..axis
        })
    }

    /// Whether the direction between the centres separates the solids beyond the limit and all rounding.
    fn is_apart(&self, context: &Context<'_>, between: Vec3, radii: f64) -> bool {
        let distance = between.length();
        if !(distance > radii + context.limit) {
            return false;
        }
        let normal = between / distance;
        -self.reach_of_b(-normal) - self.a.support(normal).1 > context.limit + context.tie
    }

    /// Lists the faces of both that may hold the greatest separation, as they were looked at. Whether one
    /// separates beyond the limit; the list then ends.
    fn face_axes(
        &self,
        context: &Context<'_>,
        sides: &mut [&mut Side<'_>; 2],
        out: &mut FaceAxes,
    ) -> bool {
        if !self.prune {
            for side in &mut *sides {
                side.bounds.fill(f64::INFINITY);
            }
        }
        let mut top = f64::NEG_INFINITY;
        let mut most = [sides[0].most(), sides[1].most()];
        loop {
            let side = usize::from(most[1].1 > most[0].1);
            let (face, bound) = most[side];
            if bound == f64::NEG_INFINITY || bound < top - context.tie {
                return false;
            }
            let looked = self.face_axis(side, face);
            if looked.separation > context.limit {
                return true;
            }
            top = top.max(looked.separation);
            // Many faces have the same vertex before them.
            let known = |held: &FaceAxis| held.side == side && held.deepest == looked.deepest;
            if self.prune && !out.iter().any(known) {
                sides[side].add(looked.deepest, ROWS - 1);
            }
            out.push(looked);
            sides[side].bounds[face] = f64::NEG_INFINITY;
            most[side] = sides[side].most();
        }
    }

    fn face_axis(&self, side: usize, face: usize) -> FaceAxis {
        let (separation, deepest) = if side == 0 {
            let plane = &self.a.faces[face];
            let local = self.rotation.transpose() * -plane.normal;
            let (vertex, reach) = self.b.support(local);
            let reach = (-plane.normal).dot(self.origin) + reach;
            (-reach - plane.offset, self.to_a(self.b.vertices[vertex]))
        } else {
            let plane = &self.b.faces[face];
            let normal = self.rotation * plane.normal;
            let (vertex, reach) = self.a.support(-normal);
            let offset = plane.offset + normal.dot(self.origin);
            (-reach - offset, self.to_b(self.a.vertices[vertex]))
        };
        FaceAxis {
            side,
            face,
            separation,
            deepest,
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
        let ends = self.b.ends(edge).map(|p| self.to_a(p));
        PlacedEdge {
            ends,
            along: ends[1] - ends[0],
            normals: (edge.faces).map(|f| self.rotation * self.b.faces[f as usize].normal),
        }
    }

    /// The edge axis (frame of A) that separates by clearly more than the `face` that does so most, if
    /// any.
    fn edge_axis(
        &self,
        context: &Context<'_>,
        sides: &mut [&mut Side<'_>; 2],
        face: FaceAxis,
        looks: &mut Looks,
    ) -> Option<Axis> {
        let top = face.separation;
        if self.prune {
            // The point of the face's solid below the deepest vertex of the other.
            let solid = sides[face.side].solid;
            let plane = &solid.faces[face.face];
            if solid.face_holds(plane, face.deepest) {
                let below = face.deepest - plane.normal * plane.distance(face.deepest);
                let point = if face.side == 0 {
                    self.to_b(below)
                } else {
                    self.to_a(below)
                };
                sides[1 - face.side].add(point, ROWS);
            }
        }
        let least = top - PLANAR * context.size;
        let list = |side: &Side<'_>, out: &mut Edges| {
            if self.prune {
                side.edges_beyond(least, out);
            } else {
                out.extend(0..side.solid.edges.len() as u32);
            }
        };
        let (mut edges_a, mut edges_b) = (Edges::new(), Edges::new());
        list(sides[0], &mut edges_a);
        if edges_a.is_empty() {
            return None;
        }
        list(sides[1], &mut edges_b);
        looks.edge_pairs = edges_a.len() * edges_b.len();
        let edges_a: SmallVec<[PlacedEdge; 8]> = (edges_a.iter())
            .map(|&edge| self.edge_of_a(&self.a.edges[edge as usize]))
            .collect();
        let mut best: Option<Axis> = None;
        for edge in edges_b {
            let edge_b = self.edge_of_b(&self.b.edges[edge as usize]);
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
