//! The contact patch: two features projected along n, intersected, and lifted back.
//!
//! Corners of the intersection of two convex polygons (or segments, or points) in the plane across n:
//!
//! - vertices of A inside B's feature, and of B inside A's;
//! - proper crossings of an edge of A with an edge of B.
//!
//! "Inside" has a tolerance, and a crossing counts only where both edges reach beyond it, so each
//! corner is found once, whichever way rounding falls. Where a vertex of A lies on one of B they make
//! one corner. A point of A is p_a, of B p_b, and the separation n·(p_b - p_a).

use super::context::Context;
use super::disc;
use super::feature::{Feature, INLINE};
use super::room::Room;
use moreau_math::{Vec3, tangent_basis};
use smallvec::SmallVec;

/// No feature on this side.
pub(super) const NONE: u16 = 0x7fff;

/// What makes a corner: vertices (either may be `NONE`), or two crossing edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) crossing: bool,
    pub(super) a: u16,
    pub(super) b: u16,
}

/// A candidate for a contact point, in the working frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    pub(super) point_a: Vec3,
    pub(super) point_b: Vec3,
    pub(super) separation: f64,
    /// Coordinates across n.
    pub(super) flat: [f64; 2],
    pub(super) code: Code,
}

/// The corners of a patch: at most the vertices of both features.
pub(super) type Corners = SmallVec<[Corner; 2 * INLINE]>;

/// A unit normal with the tangents that span the plane across it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Projection {
    pub(super) normal: Vec3,
    tangents: (Vec3, Vec3),
}

impl Projection {
    pub(super) fn new(normal: Vec3) -> Self {
        Self {
            normal,
            tangents: tangent_basis(normal),
        }
    }

    /// Coordinates across the normal.
    pub(super) fn flat(&self, v: Vec3) -> [f64; 2] {
        [self.tangents.0.dot(v), self.tangents.1.dot(v)]
    }

    pub(super) fn corner(&self, point_a: Vec3, point_b: Vec3, code: Code) -> Corner {
        Corner {
            point_a,
            point_b,
            separation: self.normal.dot(point_b - point_a),
            flat: self.flat(point_a),
            code,
        }
    }
}

/// A projected feature.
struct Outline<'a> {
    points: &'a [[f64; 2]],
    /// Per edge: inward unit normal and its distance from the origin.
    lines: &'a [[f64; 3]],
}

/// Memory for an outline.
struct OutlineRoom {
    points: Room<[f64; 2], INLINE>,
    lines: Room<[f64; 3], INLINE>,
}

impl OutlineRoom {
    #[inline(always)]
    fn new() -> Self {
        Self {
            points: Room::new([0.0; 2]),
            lines: Room::new([0.0; 3]),
        }
    }

    /// `turn` is 1 where the loop runs counter-clockwise across n, else -1.
    #[inline(always)]
    fn outline(&mut self, feature: &Feature, projection: &Projection, turn: f64) -> Outline<'_> {
        let points = self.points.list(feature.points.len(), [0.0; 2]);
        for (flat, &point) in points.iter_mut().zip(&feature.points) {
            *flat = projection.flat(point);
        }
        let lines = self.lines.list(feature.edge_count(), [0.0; 3]);
        for (i, line) in lines.iter_mut().enumerate() {
            let p = points[i];
            let q = points[if i + 1 == points.len() { 0 } else { i + 1 }];
            let (dx, dy) = (q[0] - p[0], q[1] - p[1]);
            let scale = turn / (dx * dx + dy * dy).sqrt();
            let (nx, ny) = (-dy * scale, dx * scale);
            *line = [nx, ny, nx * p[0] + ny * p[1]];
        }
        Outline { points, lines }
    }
}

/// Memory for the distances of an outline's points from another's lines.
type Distances = Room<f64, { 4 * INLINE }>;

impl Outline<'_> {
    /// Distances of all `points` from all lines, positive inside: row per point.
    #[inline(always)]
    fn distances<'r>(&self, points: &[[f64; 2]], room: &'r mut Distances) -> &'r [f64] {
        let count = self.lines.len();
        let out = room.list(points.len() * count, 0.0);
        if count > 0 {
            for (p, row) in points.iter().zip(out.chunks_exact_mut(count)) {
                for (l, distance) in self.lines.iter().zip(row) {
                    *distance = l[0] * p[0] + l[1] * p[1] - l[2];
                }
            }
        }
        out
    }

    /// Whether `point` with its `row` of distances lies inside, or no further out than `tolerance`.
    fn holds(&self, point: [f64; 2], row: &[f64], tolerance: f64) -> bool {
        match *self.points {
            [p] => square_distance(p, point) <= tolerance * tolerance,
            [p, q] => {
                let (dx, dy) = (q[0] - p[0], q[1] - p[1]);
                let length = (dx * dx + dy * dy).sqrt();
                let along = (dx * (point[0] - p[0]) + dy * (point[1] - p[1])) / length;
                row[0].abs() <= tolerance && along >= -tolerance && along <= length + tolerance
            }
            _ => row.iter().all(|&d| d >= -tolerance),
        }
    }
}

pub(super) fn square_distance(p: [f64; 2], q: [f64; 2]) -> f64 {
    let (dx, dy) = (p[0] - q[0], p[1] - q[1]);
    dx * dx + dy * dy
}

/// Adds to `held` the corners that it has not, with their coordinates across n. Those within four times `width` (m, across
/// n) are one, and those of one name within `same_height`.
pub(super) fn unite(
    context: &Context<'_>,
    projection: &Projection,
    held: &mut Corners,
    corners: Corners,
    (width, same_height): (f64, f64),
) {
    let near = 16.0 * width * width;
    for mut corner in corners {
        corner.flat = projection.flat(corner.point_a);
        let known = |c: &&mut Corner| {
            let square = square_distance(c.flat, corner.flat);
            square <= near || (c.code == corner.code && square <= same_height * same_height)
        };
        // Of two at one place the deeper: the other is the far end of an upright edge.
        match held.iter_mut().find(known) {
            Some(other) if corner.separation < other.separation - context.tie => *other = corner,
            Some(_) => {}
            None => held.push(corner),
        }
    }
}

/// Adds the corners where `a` and `b` face each other along the projection's normal, from a to b.
/// `tolerance` is the width across n (m) within which points and lines coincide.
pub(super) fn intersect(
    a: &Feature,
    b: &Feature,
    projection: &Projection,
    tolerance: f64,
    corners: &mut Corners,
) {
    if a.rim.is_some() || b.rim.is_some() {
        disc::intersect(a, b, projection, tolerance, corners);
        return;
    }
    let normal = projection.normal;
    let (mut room_a, mut room_b) = (OutlineRoom::new(), OutlineRoom::new());
    let outline_a = room_a.outline(a, projection, 1.0);
    let outline_b = room_b.outline(b, projection, -1.0);
    let (lines_a, lines_b) = (outline_a.lines.len(), outline_b.lines.len());
    let (mut from_b, mut from_a) = (Distances::new(0.0), Distances::new(0.0));
    let a_from_b = outline_b.distances(outline_a.points, &mut from_b);
    let b_from_a = outline_a.distances(outline_b.points, &mut from_a);

    let mut room = Room::<bool, INLINE>::new(false);
    let paired = room.list(b.points.len(), false);
    for (i, &p) in outline_a.points.iter().enumerate() {
        let row = &a_from_b[i * lines_b..(i + 1) * lines_b];
        if !outline_b.holds(p, row, tolerance) {
            continue;
        }
        let near = 16.0 * tolerance * tolerance;
        let twin = (0..b.points.len())
            .find(|&j| !paired[j] && square_distance(outline_b.points[j], p) <= near);
        let mut code = Code {
            crossing: false,
            a: a.vertices[i],
            b: NONE,
        };
        if let Some(j) = twin {
            paired[j] = true;
            code.b = b.vertices[j];
        }
        corners.push(projection.corner(a.points[i], b.lift(a.points[i], normal), code));
    }
    for (j, &p) in outline_b.points.iter().enumerate() {
        let row = &b_from_a[j * lines_a..(j + 1) * lines_a];
        if paired[j] || !outline_a.holds(p, row, tolerance) {
            continue;
        }
        let code = Code {
            crossing: false,
            a: NONE,
            b: b.vertices[j],
        };
        corners.push(projection.corner(a.lift(b.points[j], normal), b.points[j], code));
    }

    let straddles = |d0: f64, d1: f64| {
        (d0 > tolerance && d1 < -tolerance) || (d0 < -tolerance && d1 > tolerance)
    };
    for i in 0..lines_a {
        let i_next = if i + 1 == a.points.len() { 0 } else { i + 1 };
        for j in 0..lines_b {
            let (a0, a1) = (a_from_b[i * lines_b + j], a_from_b[i_next * lines_b + j]);
            if !straddles(a0, a1) {
                continue;
            }
            let j_next = if j + 1 == b.points.len() { 0 } else { j + 1 };
            let (b0, b1) = (b_from_a[j * lines_a + i], b_from_a[j_next * lines_a + i]);
            if !straddles(b0, b1) {
                continue;
            }
            let on_a = a.points[i].lerp(a.points[i_next], a0 / (a0 - a1));
            let on_b = b.points[j].lerp(b.points[j_next], b0 / (b0 - b1));
            let code = Code {
                crossing: true,
                a: a.edges[i],
                b: b.edges[j],
            };
            corners.push(projection.corner(on_a, on_b, code));
        }
    }
}
