//! A convex shape against one triangle of a surface.
//!
//! The triangle lies on the boundary of a solid, so not every direction can be the normal of a contact
//! there. With S the vertices of the triangle that lie furthest along n, n is *possible* where the
//! surface about S does not rise above S along n:
//!
//! ```text
//! S = the triangle   n is its normal
//! S = an edge        n·(w - v) <= 0 for the third corners w of both triangles at the edge
//! S = a vertex v     n·(w - v) <= 0 for all vertices w joined to v
//! ```
//!
//! So a convex edge or vertex has the normals between those of its faces, a flat or hollow one has none
//! but theirs. At the boundary of an open surface the normals end where they lie in the plane of the
//! triangle.
//!
//! The contact's normal is that of the shortest distance where it is possible, else the possible one,
//! out of the normals that separate polyhedra, of greatest separation
//!
//! ```text
//! s(n) = least n·(shape) - greatest n·(triangle)
//! ```
//!
//! The corners of the patch along it (`patch`) are those that lie over the triangle: none, where the
//! shape touches the neighbours only.

use super::context::{Context, unit};
use super::core::Kind;
use super::curved;
use super::expand;
use super::feature::FACE;
use super::gjk;
use super::patch::{self, Code, Corner, Corners, Projection, intersect};
use super::polyhedron::Polyhedron;
use super::polytope::Polytope;
use super::rim_normals;
use super::round::inflate;
use super::solid::{self, Solid};
use crate::hull::{HullEdge, HullFace};
use crate::surface::{NONE, Surface};
use moreau_math::{Mat3, Vec3};

/// Sine of an angle within which directions along the surface are level, and normals possible.
const LEVEL: f64 = 1e-10;

/// Sine of an angle from the triangle's own normal within which normals are that one.
const OWN: f64 = 10.0 * LEVEL;

/// Square of the sine between edges below which they have no common perpendicular.
const PARALLEL: f64 = 1e-14;

/// A triangle of a surface in the working frame.
pub(super) struct Facet<'a> {
    surface: &'a Surface,
    pub(super) index: u32,
    /// Corners, m.
    pub(super) corners: [Vec3; 3],
    pub(super) normal: Vec3,
    faces: [HullFace; 1],
}

const LOOP: [u32; 3] = [0, 1, 2];

/// Sorted by their vertices, as those of a hull.
const EDGES: [HullEdge; 3] = [edge(0, 1), edge(0, 2), edge(1, 2)];

/// The edge that starts at each corner; and so the corner at which each edge starts.
const SIDES: [u32; 3] = [0, 2, 1];

const fn edge(from: u32, to: u32) -> HullEdge {
    HullEdge {
        vertices: [from, to],
        faces: [0, 0],
    }
}

/// How far beyond a triangle's sides what touches it may lie, m: where flat neighbours are bent by less
/// than counts as another normal, their own leave no gap between them.
pub(super) fn overhang(context: &Context<'_>) -> f64 {
    context.touch.max(OWN * context.size)
}

/// What a shape has to do with a triangle.
pub(super) struct Meeting {
    pub(super) normal: Vec3,
    /// Whether that is the triangle's own.
    pub(super) of_face: bool,
    /// Whether the shape does not meet the triangle itself: counts where it meets no other.
    pub(super) is_aside: bool,
    /// s(n), less the shape's radius.
    pub(super) separation: f64,
    /// How far the surface reaches along the normal.
    pub(super) height: f64,
    pub(super) corners: Corners,
}

/// The plane of a surface that faces along a normal.
#[derive(Default)]
pub(super) struct Facing {
    /// Patch of coplanar triangles.
    pub(super) patch: Option<u32>,
    cosine: f64,
}

impl Facing {
    /// Takes the triangle's where it reaches up to `height` along `n` and faces along it most.
    pub(super) fn offer(&mut self, facet: &Facet<'_>, n: Vec3, height: f64) {
        let cosine = facet.normal.dot(n);
        if cosine >= FACE && cosine > self.cosine && facet.reach(n) >= height {
            self.patch = Some(facet.patch_index());
            self.cosine = cosine;
        }
    }
}

/// A triangle and a shape where they are nearest.
struct Near {
    normal: Vec3,
    distance: f64,
    /// How far a direction was found to separate them, m: the distance but for its rounding, which may
    /// be more than that of the inputs where the triangle is large.
    gap: f64,
    points: [Vec3; 2],
    code: Code,
}

impl<'a> Facet<'a> {
    /// `origin` is that of the working frame in the surface's, whose axes it has.
    pub(super) fn new(surface: &'a Surface, index: u32, origin: Vec3) -> Self {
        let corners = surface.corners(index).map(|p| p - origin);
        let normal = surface.triangles[index as usize].normal;
        let faces = [HullFace {
            normal,
            offset: normal.dot(corners[0]),
            first: 0,
            len: 3,
        }];
        Self {
            surface,
            index,
            corners,
            normal,
            faces,
        }
    }

    pub(super) fn polyhedron(&self) -> Polyhedron<'_> {
        self.placed(Mat3::IDENTITY, Vec3::ZERO)
    }

    /// As one that is turned and moved from the frame of its corners.
    pub(super) fn placed(&self, rotation: Mat3, origin: Vec3) -> Polyhedron<'_> {
        let tables = (&self.faces[..], &EDGES[..]);
        Polyhedron::of_tables(&self.corners, tables, (&LOOP, &SIDES), rotation, origin)
    }

    /// The sides whose edges have normals of their own, flat ones have none, and their directions.
    pub(super) fn sharp_sides(&self) -> impl Iterator<Item = (usize, Vec3)> + '_ {
        let flat = self.surface.triangles[self.index as usize].flat;
        (0..3)
            .filter(move |&side| !flat[side])
            .map(|side| (side, self.corners[(side + 1) % 3] - self.corners[side]))
    }

    /// The ends of the arc of normals that belong to the edge of a side, as far as it is within a right
    /// angle of the triangle's normal, at which it starts; none about a hollow edge.
    pub(super) fn arc(&self, side: usize) -> Option<[Vec3; 2]> {
        let along = self.corners[(side + 1) % 3] - self.corners[side];
        let out = unit(along).cross(self.normal);
        let Some(arm) = self.beyond(side) else {
            return Some([self.normal, out]);
        };
        // n·arm = 0 at the end.
        let (down, ahead) = (-self.normal.dot(arm), out.dot(arm));
        (down > 0.0).then(|| {
            let end = self.normal * ahead.max(0.0) + out * down;
            [self.normal, unit(end)]
        })
    }

    /// The coplanar triangles that it belongs to.
    pub(super) fn patch_index(&self) -> u32 {
        self.surface.triangles[self.index as usize].patch
    }

    pub(super) fn reach(&self, n: Vec3) -> f64 {
        let [a, b, c] = self.corners.map(|p| p.dot(n));
        a.max(b).max(c)
    }

    /// Whether the unit vector `n` can be the normal of a contact here.
    pub(super) fn is_possible(&self, n: Vec3) -> bool {
        if n.dot(self.normal) < -LEVEL {
            return false;
        }
        let heights = self.corners.map(|p| p.dot(n));
        let top = (0..3).fold(0, |t, i| if heights[i] > heights[t] { i } else { t });
        let level = |i: usize| {
            let across = (self.corners[i] - self.corners[top]).length();
            heights[top] - heights[i] <= LEVEL * across
        };
        let (next, last) = ((top + 1) % 3, (top + 2) % 3);
        match (level(next), level(last)) {
            // Of a thin triangle all corners are level along more than its own normal.
            (true, true) => {
                (n - self.normal).length() <= OWN || (0..3).all(|side| self.is_ridge(side, n))
            }
            (true, false) => self.is_ridge(top, n),
            (false, true) => self.is_ridge(last, n),
            (false, false) => self.is_peak(top, n),
        }
    }

    /// Whether the triangle beyond the edge that starts at the corner `side` stays below it.
    fn is_ridge(&self, side: usize, n: Vec3) -> bool {
        let arm = self.beyond(side);
        arm.is_none_or(|arm| {
            // The edge itself is level to rounding only, and may be long.
            let along = unit(self.corners[(side + 1) % 3] - self.corners[side]);
            let across = arm - along * along.dot(arm);
            n.dot(across) <= LEVEL * across.length()
        })
    }

    /// Whether the unit vector `n` can be the normal of a contact with an edge or a corner. About flat
    /// ones it cannot, however little rounding turns it away from the triangle's own normal.
    fn is_of_edge(&self, n: Vec3) -> bool {
        (n - self.normal).length() > OWN && self.is_possible(n)
    }

    /// From the edge that starts at the corner `side` to the third corner of the triangle beyond.
    fn beyond(&self, side: usize) -> Option<Vec3> {
        let triangle = &self.surface.triangles[self.index as usize];
        let beyond = triangle.neighbours[side];
        if beyond == NONE {
            return None;
        }
        let edge = [triangle.vertices[side], triangle.vertices[(side + 1) % 3]];
        let start = self.surface.vertices[edge[0] as usize];
        Some(self.surface.opposite(beyond, edge)? - start)
    }

    /// Whether everything joined to a corner stays below it.
    fn is_peak(&self, corner: usize, n: Vec3) -> bool {
        let vertex = self.surface.triangles[self.index as usize].vertices[corner];
        let peak = self.surface.vertices[vertex as usize];
        self.surface.around(vertex).iter().all(|&w| {
            let arm = self.surface.vertices[w as usize] - peak;
            n.dot(arm) <= LEVEL * arm.length()
        })
    }

    /// The contact with `shape`; none where it has none here.
    pub(super) fn meet(&self, context: &Context<'_>, shape: &Solid<'_>) -> Option<Meeting> {
        let behind = shape.reach(self.normal) + shape.radius - self.faces[0].offset;
        if behind <= context.touch {
            return None;
        }
        let limit = context.limit + shape.radius;
        let upright = -shape.reach(-self.normal) - self.faces[0].offset;
        if upright > limit {
            return None;
        }
        if shape.is_revolved()
            && upright >= -limit
            && let Some(meeting) = self.rest(context, shape, upright)
        {
            return Some(meeting);
        }
        let near = self.nearest(context, shape, limit)?;
        let apart = near.gap > context.touch;
        let (mut normal, mut separation) = self.separating(context, shape);
        let mut corners = Corners::new();
        let mut facing = self.patch(context, normal, shape, &mut corners);
        let reached = |corners: &Corners, s: f64| {
            let reaches = |c: &Corner| c.separation <= s + context.tie;
            corners.iter().any(reaches)
        };
        let exact = separation < near.distance - context.tie;
        if apart && (exact || !reached(&corners, near.distance)) && self.is_of_edge(near.normal) {
            (normal, separation) = (near.normal, near.distance);
            corners.clear();
            facing = self.patch(context, normal, shape, &mut corners);
            if !reached(&corners, separation) {
                corners.push(facing.corner(near.points[0], near.points[1], near.code));
            }
        }
        if shape.is_revolved() && !reached(&corners, separation) {
            let own = solid::hard(Kind::Polytope(Polytope::Hull(self.polyhedron())));
            let common = curved::common(context, normal, [&own, &shape.core]);
            let over = |c: &Corner| normal != self.normal || self.is_over(context, c.point_b);
            corners.extend(common.filter(over));
            // A face that lies almost flush may be the nearest of all and yet touch nowhere as deep.
            let lies = !apart && normal != self.normal && !reached(&corners, separation);
            if lies
                && let Some((upright_facing, upright_corners)) = self.lying(context, shape, upright)
            {
                (normal, separation) = (self.normal, upright);
                (facing, corners) = (upright_facing, upright_corners);
            }
        }
        if separation > limit {
            return None;
        }
        // A shape that does not meet the triangle and yet lies behind it there touches other triangles,
        // or is a thin wedge.
        let mut is_aside = false;
        if near.gap > shape.radius + context.touch {
            let before = |c: &Corner| c.separation - shape.radius >= -context.touch;
            is_aside = !corners.iter().any(before);
            if !is_aside {
                corners.retain(|c| before(c));
            }
        }
        let of_face = normal == self.normal;
        self.rename(of_face, &mut corners);
        if let Some(round) = &shape.round {
            inflate(&facing, &mut corners, None, Some(round));
        }
        corners.retain(|c| c.separation <= context.limit);
        (!corners.is_empty()).then(|| Meeting {
            normal,
            of_face,
            is_aside,
            separation: separation - shape.radius,
            height: self.reach(normal),
            corners,
        })
    }

    /// Whether a point in the plane lies beyond no flat side, where it is the neighbour's.
    fn is_over(&self, context: &Context<'_>, point: Vec3) -> bool {
        let flat = self.surface.triangles[self.index as usize].flat;
        (0..3).filter(|&side| flat[side]).all(|side| {
            let along = self.corners[(side + 1) % 3] - self.corners[side];
            let out = unit(along).cross(self.normal);
            out.dot(point - self.corners[side]) <= overhang(context)
        })
    }

    /// s(n) of the triangle's own normal, less the shape's radius, where the shape meets the triangle.
    pub(super) fn crossing(&self, context: &Context<'_>, shape: &Solid<'_>) -> Option<f64> {
        let upright = -shape.reach(-self.normal) - self.faces[0].offset - shape.radius;
        let behind = shape.reach(self.normal) + shape.radius - self.faces[0].offset;
        let reach = shape.radius + context.touch;
        if behind <= context.touch || upright > context.touch {
            return None;
        }
        let near = self.nearest(context, shape, reach)?;
        // What lies flush touches without being crossed.
        let flush = match shape.core.kind {
            Kind::Polytope(_) if near.distance > context.touch => near.distance,
            Kind::Polytope(_) => self.widest_gap(shape).1,
            _ => f64::NEG_INFINITY,
        };
        (flush < shape.radius - context.touch && near.distance <= reach).then_some(upright)
    }

    /// Whether a triangle of another surface, with these corners and this normal, passes through this one by
    /// more than `touch` (m).
    pub(super) fn is_crossed(&self, other: [Vec3; 3], normal: Vec3, touch: f64) -> bool {
        let range = |c: [Vec3; 3], n: Vec3| {
            let [a, b, c] = c.map(|p| p.dot(n));
            (a.min(b).min(c), a.max(b).max(c))
        };
        let separates = |n: Vec3| {
            let ((low, high), (from, to)) = (range(self.corners, n), range(other, n));
            high - from <= touch || to - low <= touch
        };
        if separates(self.normal) || separates(normal) {
            return false;
        }
        let side = |c: [Vec3; 3], i: usize| c[(i + 1) % 3] - c[i];
        !(0..9).any(|i| {
            let (along, edge) = (side(self.corners, i / 3), side(other, i % 3));
            let cross = along.cross(edge);
            let scale = along.length_squared() * edge.length_squared();
            cross.length_squared() > PARALLEL * scale && separates(unit(cross))
        })
    }

    /// The contact along the triangle's own normal with the separation `upright`, where what of the
    /// shape lies furthest against it lies over the triangle, and no other normal separates better: then
    /// there is no need to look for the nearest points.
    fn rest(&self, context: &Context<'_>, shape: &Solid<'_>, upright: f64) -> Option<Meeting> {
        let mut corners = Corners::new();
        self.patch(context, self.normal, shape, &mut corners);
        let reached = |c: &Corner| c.separation <= upright + context.tie;
        if !corners.iter().any(reached) {
            return None;
        }
        if upright < -context.tie && self.separating(context, shape).0 != self.normal {
            return None;
        }
        self.rename(true, &mut corners);
        corners.retain(|c| c.separation <= context.limit);
        (!corners.is_empty()).then(|| Meeting {
            normal: self.normal,
            of_face: true,
            is_aside: false,
            separation: upright,
            height: self.reach(self.normal),
            corners,
        })
    }

    /// The nearest points of the triangle and the shape's core, any where they meet. None where they are
    /// further apart than `limit`.
    fn nearest(&self, context: &Context<'_>, shape: &Solid<'_>, limit: f64) -> Option<Near> {
        let own = Polytope::Hull(self.polyhedron());
        if let Kind::Polytope(other) = &shape.core.kind {
            let near = gjk::nearest(context, self.normal, &own, other);
            let code = Code {
                crossing: false,
                a: near.vertices[0],
                b: near.vertices[1],
            };
            let mut found = Near {
                normal: near.normal,
                distance: near.distance,
                gap: near.bound,
                points: near.points,
                code,
            };
            if near.distance > context.touch && near.bound <= context.touch {
                // So near that rounding decides: what is apart has an axis that tells.
                let (normal, gap) = self.widest_gap(shape);
                if gap > near.bound {
                    (found.normal, found.gap) = (normal, gap);
                }
            }
            return (near.distance <= limit).then_some(found);
        }
        let own = solid::hard(Kind::Polytope(own));
        if expand::meet(context, self.normal, [&own, &shape.core]) {
            return Some(Near {
                normal: self.normal,
                distance: 0.0,
                gap: 0.0,
                points: [Vec3::ZERO; 2],
                code: Code {
                    crossing: false,
                    a: patch::NONE,
                    b: patch::NONE,
                },
            });
        }
        let (axis, common) = curved::nearest(context, [&own, &shape.core], limit)?;
        Some(Near {
            normal: axis.normal,
            distance: axis.separation,
            gap: axis.separation,
            points: [common.point_a, common.point_b],
            code: common.code,
        })
    }

    /// The direction that separates the triangle from a polyhedral core best, and by how much, m.
    fn widest_gap(&self, shape: &Solid<'_>) -> (Vec3, f64) {
        let mut best = (self.normal, f64::NEG_INFINITY);
        let mut offer = |n: Vec3| {
            let gap = -shape.reach(-n) - self.reach(n);
            if gap > best.1 {
                best = (n, gap);
            }
        };
        offer(self.normal);
        offer(-self.normal);
        for &face in &shape.faces {
            offer(-face);
        }
        for side in 0..3 {
            let along = self.corners[(side + 1) % 3] - self.corners[side];
            for &edge in &shape.edges {
                let cross = along.cross(edge);
                let scale = along.length_squared() * edge.length_squared();
                if cross.length_squared() > PARALLEL * scale {
                    let n = unit(cross);
                    offer(n);
                    offer(-n);
                }
            }
        }
        best
    }

    /// The patch along the triangle's own normal where it reaches the separation `upright`.
    fn lying(
        &self,
        context: &Context<'_>,
        shape: &Solid<'_>,
        upright: f64,
    ) -> Option<(Projection, Corners)> {
        let mut corners = Corners::new();
        let facing = self.patch(context, self.normal, shape, &mut corners);
        let reached = |c: &Corner| c.separation <= upright + context.tie;
        if !corners.iter().any(reached) {
            let own = solid::hard(Kind::Polytope(Polytope::Hull(self.polyhedron())));
            let common = curved::common(context, self.normal, [&own, &shape.core]);
            corners.extend(common.filter(|c| self.is_over(context, c.point_b)));
        }
        corners.iter().any(reached).then_some((facing, corners))
    }

    /// The possible normal of greatest separation, and that. The triangle's own is one.
    fn separating(&self, context: &Context<'_>, shape: &Solid<'_>) -> (Vec3, f64) {
        let separation = |n: Vec3| -shape.reach(-n) - self.reach(n);
        let mut best = (self.normal, separation(self.normal));
        let mut offer = |n: Vec3| {
            // Cheap first: it must separate clearly better than what is held.
            let s = separation(n);
            if s > best.1 + context.tie && self.is_of_edge(n) {
                best = (n, s);
            }
        };
        for &face in &shape.faces {
            offer(-face);
        }
        for (_, along) in self.sharp_sides() {
            for &edge in &shape.edges {
                let cross = along.cross(edge);
                let scale = along.length_squared() * edge.length_squared();
                if cross.length_squared() > PARALLEL * scale {
                    let n = unit(cross);
                    offer(n);
                    offer(-n);
                }
            }
        }
        if let Kind::Revolved(solid) = &shape.core.kind {
            rim_normals::each(self, solid, offer);
        }
        best
    }

    /// The corners of the patch along the normal of another triangle of the plane.
    pub(super) fn beside(&self, context: &Context<'_>, normal: Vec3, shape: &Solid<'_>) -> Corners {
        let mut corners = Corners::new();
        let facing = self.patch(context, normal, shape, &mut corners);
        self.rename(true, &mut corners);
        if let Some(round) = &shape.round {
            inflate(&facing, &mut corners, None, Some(round));
        }
        corners
    }

    /// Adds the corners of the patch along `normal`; their codes name the triangle's own corners and
    /// sides.
    fn patch(
        &self,
        context: &Context<'_>,
        normal: Vec3,
        shape: &Solid<'_>,
        corners: &mut Corners,
    ) -> Projection {
        let own = Polytope::Hull(self.polyhedron()).feature(normal, context);
        let other = shape.feature(-normal, context);
        let projection = Projection::new(normal);
        let tolerance = if own.is_face() {
            overhang(context)
        } else {
            context.touch.max(context.alongside * shape.radius)
        };
        intersect(&own, &other, &projection, tolerance, corners);
        projection
    }

    /// Names corners after the surface's vertices and edges. Those of a face that lie inside of the
    /// patch of coplanar triangles are none of the patch's and go.
    fn rename(&self, of_face: bool, corners: &mut Corners) {
        corners.retain(|c| {
            if of_face && self.is_inner(c.code.crossing, c.code.a) {
                // A corner of the shape that lies on it remains.
                c.code.a = patch::NONE;
                return !c.code.crossing && c.code.b != patch::NONE;
            }
            c.code.a = self.name(c.code.crossing, c.code.a);
            true
        });
    }

    /// Whether a corner or, of what crosses, an edge lies inside of the patch of coplanar triangles.
    /// `own` is its name among those of the triangle.
    pub(super) fn is_inner(&self, crossing: bool, own: u16) -> bool {
        let triangle = &self.surface.triangles[self.index as usize];
        if own == patch::NONE {
            false
        } else if crossing {
            triangle.flat[side(own)]
        } else {
            let vertex = triangle.vertices[usize::from(own)];
            self.surface.is_flat_vertex(vertex)
        }
    }

    /// The name of that corner or edge among those of the surface.
    pub(super) fn name(&self, crossing: bool, own: u16) -> u16 {
        if own == patch::NONE {
            return own;
        }
        let number = if crossing {
            self.edge_number(side(own))
        } else {
            self.surface.triangles[self.index as usize].vertices[usize::from(own)]
        };
        (number % u32::from(patch::NONE)) as u16
    }

    /// A number of the edge that starts at the corner `side`, the same for both triangles at it.
    fn edge_number(&self, side: usize) -> u32 {
        let number = |t: u32, s: usize| t.wrapping_mul(3).wrapping_add(s as u32);
        let here = number(self.index, side);
        let beyond = self.surface.triangles[self.index as usize].neighbours[side];
        let Some(other) = self.surface.triangles.get(beyond as usize) else {
            return here;
        };
        let back = other.neighbours.iter().position(|&t| t == self.index);
        here.min(number(beyond, back.unwrap_or(0)))
    }
}

/// The corner at which the edge of that name starts.
fn side(edge: u16) -> usize {
    SIDES[usize::from(edge)] as usize
}
