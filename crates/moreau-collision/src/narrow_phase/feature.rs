//! The flat piece of a core that faces along a direction n: what can touch there.
//!
//! - the face that holds all support points and whose normal m satisfies m·n >= FACE;
//! - else the edge with direction e (unit) that holds them and satisfies |e·n| <= EDGE;
//! - else the support vertex.
//!
//! FACE and EDGE are wide enough that a tilted face still reports the points that it is about to land
//! on, and such that for a box never two faces or two edges qualify: by 0.9² + 0.9² > 1, and by
//! 0.9² + 0.3² + 0.3² < 1, which leaves no room for two edges without a face.

use super::context::GENERIC;
use super::placed::PlacedBox;
use super::polyhedron::Polyhedron;
use super::room::Room;
use crate::ConvexHull;
use crate::hull::HullFace;
use moreau_math::Vec3;
use smallvec::SmallVec;

/// Cosine of the greatest angle between n and the normal of a face that still counts: 26 degrees.
pub(super) const FACE: f64 = 0.9;
/// Sine of the greatest slope of an edge that still counts: 17 degrees.
pub(super) const EDGE: f64 = 0.3;

/// Up to this many corners a face needs no allocation.
pub(super) const INLINE: usize = 8;

/// The rim of a round face.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rim {
    pub(super) center: Vec3,
    pub(super) radius: f64,
}

/// A vertex, edge or face of a core, in the working frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Feature {
    /// One point, the two ends of an edge, or the corners of a face, counter-clockwise from outside;
    /// of a round face four points of its rim.
    pub(super) points: SmallVec<[Vec3; INLINE]>,
    /// Indices of the points in the shape.
    pub(super) vertices: SmallVec<[u16; INLINE]>,
    /// Index in the shape of the edge that starts at each point.
    pub(super) edges: SmallVec<[u16; INLINE]>,
    /// Outward unit normal of a face.
    pub(super) normal: Vec3,
    /// A point in the plane of a face, near the centre of the shape for the sake of rounding.
    pub(super) anchor: Vec3,
    /// Of a round face.
    pub(super) rim: Option<Rim>,
}

impl Feature {
    /// A single point.
    pub(super) fn point(point: Vec3, vertex: u16) -> Self {
        let mut out = Self::default();
        out.set_point(point, vertex);
        out
    }

    /// A segment, its ends and its own index.
    pub(super) fn segment(ends: [Vec3; 2], vertices: [u16; 2], edge: u16) -> Self {
        let mut out = Self::default();
        out.set_segment(ends, vertices, edge);
        out
    }

    /// Has no points from here on.
    fn clear(&mut self) {
        self.points.clear();
        self.vertices.clear();
        self.edges.clear();
        self.rim = None;
    }

    fn set_point(&mut self, point: Vec3, vertex: u16) {
        self.clear();
        self.points.push(point);
        self.vertices.push(vertex);
    }

    fn set_segment(&mut self, ends: [Vec3; 2], vertices: [u16; 2], edge: u16) {
        self.clear();
        for i in 0..2 {
            self.points.push(ends[i]);
            self.vertices.push(vertices[i]);
        }
        self.edges.push(edge);
    }

    /// What of a segment with the unit direction `axis` faces along the unit vector `n`.
    pub(super) fn of_segment(ends: [Vec3; 2], axis: Vec3, n: Vec3) -> Self {
        let along = axis.dot(n);
        if along.abs() <= EDGE {
            return Self::segment(ends, [0, 1], 0);
        }
        let end = usize::from(along > 0.0);
        Self::point(ends[end], end as u16)
    }

    /// Becomes what of a box faces along the unit vector `n`.
    pub(super) fn set_box(&mut self, b: &PlacedBox, n: Vec3) {
        let m = b.axes.map(|axis| axis.dot(n));
        let size = m.map(f64::abs);
        // Bit i: the side of axis i that faces along n.
        let sides = m
            .iter()
            .enumerate()
            .fold(0, |bits, (i, &c)| bits | (usize::from(c >= 0.0) << i));
        let vertex = |index: usize| b.vertex(index);
        if let Some(i) = (0..3).find(|&i| size[i] >= FACE) {
            return self.set_box_face(b, i, sides >> i & 1 == 1);
        }
        if let Some(k) = (0..3).find(|&k| size[k] <= EDGE) {
            let (low, high) = (sides & !(1 << k), sides | 1 << k);
            let ends = [vertex(low), vertex(high)];
            return self.set_segment(ends, [low as u16, high as u16], box_edge(low, high));
        }
        self.set_point(vertex(sides), sides as u16);
    }

    /// Becomes what of a hull faces along the unit vector `n`; heights closer than `tolerance` (m) are equal.
    pub(super) fn set_hull(&mut self, hull: &Polyhedron<'_>, n: Vec3, tolerance: f64) {
        let m = hull.local_vector(n);
        let mut room = Room::<f64, 32>::new(0.0);
        let heights = room.list(hull.vertices.len(), 0.0);
        for (height, v) in heights.iter_mut().zip(hull.vertices) {
            *height = v.dot(m);
        }
        let heights = &*heights;
        let top = heights.iter().copied().fold(f64::MIN, f64::max);
        let touches = |&v: &u32| heights[v as usize] >= top - tolerance;
        let all = heights.iter().filter(|&&h| h >= top - tolerance).count();
        let holds_support =
            |vertices: &[u32]| vertices.iter().filter(|v| touches(v)).count() == all;

        // The best by a first measure; of equal ones the furthest along the generic direction. What holds
        // all support points holds the highest.
        let highest = heights.iter().position(|&h| h == top).unwrap_or(0);
        let mut best = Best::default();
        for i in about(hull, highest, hull.faces.len(), ConvexHull::vertex_faces) {
            let face = &hull.faces[i];
            let cosine = face.normal.dot(m);
            if cosine >= FACE && best.might_be(cosine) && holds_support(hull.face_vertices(face)) {
                best.offer(i, cosine, face.normal);
            }
        }
        if let Some(i) = best.index {
            return self.set_hull_face(hull, &hull.faces[i]);
        }
        for i in about(hull, highest, hull.edges.len(), ConvexHull::vertex_edges) {
            let edge = &hull.edges[i];
            let [from, to] = hull.ends(edge);
            let slope = (to - from).dot(m).abs() / (to - from).length();
            if slope <= EDGE && best.might_be(-slope) && holds_support(&edge.vertices) {
                best.offer(i, -slope, from + to);
            }
        }
        if let Some(i) = best.index {
            let edge = &hull.edges[i];
            let ends = hull.ends(edge).map(|p| hull.placed(p));
            return self.set_segment(ends, edge.vertices.map(|v| v as u16), i as u16);
        }
        for (i, &v) in hull.vertices.iter().enumerate() {
            if touches(&(i as u32)) {
                best.offer(i, 0.0, v);
            }
        }
        let index = best.index.unwrap_or(0);
        self.set_point(hull.placed(hull.vertices[index]), index as u16);
    }

    fn set_hull_face(&mut self, hull: &Polyhedron<'_>, face: &HullFace) {
        self.clear();
        for (&v, &e) in hull.face_vertices(face).iter().zip(hull.face_edges(face)) {
            self.points.push(hull.placed(hull.vertices[v as usize]));
            self.vertices.push(v as u16);
            self.edges.push(e as u16);
        }
        self.normal = hull.rotation * face.normal;
        self.anchor = hull.placed(face.normal * face.offset);
    }

    fn set_box_face(&mut self, b: &PlacedBox, axis: usize, positive: bool) {
        // Corners in the plane of the two other axes, counter-clockwise about the positive axis.
        const AROUND: [(usize, usize); 4] = [(1, 1), (0, 1), (0, 0), (1, 0)];
        let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
        let side = usize::from(positive) << axis;
        self.clear();
        let mut corner = [0; 4];
        for (slot, index) in corner.iter_mut().enumerate() {
            let (sj, sk) = AROUND[if positive { slot } else { 3 - slot }];
            *index = side | sj << j | sk << k;
        }
        for slot in 0..4 {
            let index = corner[slot];
            self.points.push(b.vertex(index));
            self.vertices.push(index as u16);
            self.edges.push(box_edge(index, corner[(slot + 1) % 4]));
        }
        let outward = if positive { 1.0 } else { -1.0 };
        self.normal = b.axes[axis] * outward;
        self.anchor = b.center + self.normal * b.half[axis];
    }

    /// Whether it has a plane.
    pub(super) fn is_face(&self) -> bool {
        self.points.len() > 2
    }

    /// How far inside of a face's border a point lies, seen along the face's normal, m; negative outside.
    pub(super) fn inset(&self, point: Vec3) -> f64 {
        if let Some(rim) = self.rim {
            let arm = point - rim.center;
            return rim.radius - (arm - self.normal * self.normal.dot(arm)).length();
        }
        let count = self.points.len();
        let insets = (0..count).map(|i| {
            let (from, to) = (self.points[i], self.points[(i + 1) % count]);
            let inward = self.normal.cross(to - from);
            inward.dot(point - from) / inward.length()
        });
        insets.fold(f64::INFINITY, f64::min)
    }

    /// How many edges it has.
    pub(super) fn edge_count(&self) -> usize {
        match self.points.len() {
            0 | 1 => 0,
            2 => 1,
            n => n,
        }
    }

    /// Where the line along the unit vector `n` through `point` meets the plane of a face, the
    /// segment (its nearest point in projection) or the vertex.
    pub(super) fn lift(&self, point: Vec3, n: Vec3) -> Vec3 {
        if self.is_face() {
            let distance = self.normal.dot(self.anchor - point) / self.normal.dot(n);
            return point + n * distance;
        }
        let start = self.points[0];
        let Some(&end) = self.points.get(1) else {
            return start;
        };
        let along = (end - start) - n * n.dot(end - start);
        let t = along.dot(point - start) / along.length_squared();
        start + (end - start) * t.clamp(0.0, 1.0)
    }
}

/// Index of the edge of a box between two of its corners: below 24, unique.
fn box_edge(a: usize, b: usize) -> u16 {
    // The differing bit is the edge's axis, the common bits its place.
    let axis = (a ^ b).trailing_zeros() as usize;
    (axis * 8 + (a & b)) as u16
}

/// The faces or edges about a vertex, in order; all `count` of them of what has no such list.
fn about<'h>(
    solid: &Polyhedron<'h>,
    vertex: usize,
    count: usize,
    list: fn(&'h ConvexHull, usize) -> &'h [u32],
) -> SmallVec<[usize; 12]> {
    let Some(hull) = solid.hull else {
        return (0..count).collect();
    };
    let mut around: SmallVec<[usize; 12]> = (list(hull, vertex).iter())
        .map(|&index| index as usize)
        .collect();
    around.sort_unstable();
    around
}

/// Keeps the candidate of greatest measure, and of equal ones the furthest along the generic direction.
#[derive(Default)]
struct Best {
    index: Option<usize>,
    measure: f64,
    along: f64,
}

impl Best {
    /// Measures (cosines) closer than this are equal.
    const SAME: f64 = 1e-12;

    fn might_be(&self, measure: f64) -> bool {
        self.index.is_none() || measure >= self.measure - Self::SAME
    }

    fn offer(&mut self, index: usize, measure: f64, place: Vec3) {
        let along = place.dot(GENERIC);
        let better = self.index.is_none()
            || measure > self.measure + Self::SAME
            || (measure >= self.measure - Self::SAME && along > self.along);
        if better {
            *self = Self {
                index: Some(index),
                measure,
                along,
            };
        }
    }
}
