//! The triangles of two surfaces against each other.
//!
//! Triangle a of A and triangle b of B can touch along the unit vector n, from A to B, where n is
//! possible about a and -n about b (`on_triangle`). Of those normals that of greatest separation
//!
//! ```text
//! s(n) = least n·b - greatest n·a
//! ```
//!
//! makes the patch. A corner of it that overlaps does not count where no part of the way from one of its
//! points to the other lies in the solids of both surfaces: what lies beyond the far side of a plate, or
//! in the next room, is not touched. Neither is a surface behind whose plane the other lies altogether.
//!
//! Triangles that agree on a plane, of A or of B, make one manifold. With the highest point of A and the
//! lowest of B along the normal of a manifold, t = max n·p_a and l = min n·p_b, B is clear of A there
//! once it is moved out by t - l. That is all where the manifold is *reached*: where one of its points
//! is as deep as s(n). A reached manifold *covers* one that is deeper or not reached where that is
//! clear, too, all n·p_a <= t and n·p_b >= l; what is covered goes. What remains of two convex meshes is
//! the least translation.
//!
//! Triangles of two planes that face each other along the normal of a manifold belong to it (`Pair::widen`).
//! Of manifolds of the same two planes and corners that of greatest separation stays.
//!
//! Where surfaces cross and no normal is possible, the pair of triangles that cross least is pushed
//! apart along one of their own; what is all below a heightfield is brought up by the triangle over it.
//!
//! **Frame.** The axes of A, with the origin at that of B.

use super::context::{Context, GENERIC, unit};
use super::gjk;
use super::on_surface::{Ground, NOT_OF_FACE, finish, keep_best, sunk_corner};
use super::on_triangle::{Facet, Facing};
use super::patch::{Code, Corner, Corners, NONE, Projection, intersect, unite};
use super::polytope::Polytope;
use crate::surface::Surface;
use crate::{Aabb, Manifold};
use moreau_math::{Mat3, Vec3};
use smallvec::SmallVec;

/// Square of the sine between edges below which they have no common perpendicular.
const PARALLEL: f64 = 1e-14;

/// Sine of the angle between normals that count as one.
const SAME_NORMAL: f64 = 1e-6;

/// Difference of heights that count as one, as a part of the smaller surface's size.
const SAME_HEIGHT: f64 = 1e-9;

/// Appends the manifolds of two surfaces, the larger first, and their parts.
pub(super) fn collide([a, b]: [Ground<'_>; 2], prediction: f64, manifolds: &mut Vec<Manifold>) {
    let mut unused = Manifold::default();
    let pair = Pair::new(a, b, prediction, &mut unused);
    let near = pair.near();
    let mut groups: Vec<Group> = Vec::new();
    for &(index_b, index_a) in &near {
        if let Some(meeting) = pair.meet(index_a, index_b) {
            pair.join(&mut groups, meeting);
        }
    }
    if groups.is_empty() {
        groups.extend(pair.least_crossing(&near));
    }
    if groups.is_empty() {
        let within = |m: &Manifold| m.min_separation().is_some_and(|s| s <= pair.context.limit);
        manifolds.extend(pair.sunk().filter(within));
        return;
    }
    pair.drop_covered(&mut groups);
    let planes: Vec<_> = (groups.iter_mut().map(|g| pair.widen(g, &near))).collect();
    keep_best(&mut groups, &planes, |g| (g.separation, &g.corners));
    rename_doubles(&mut groups);
    for group in &mut groups {
        // What is too far, and all that a negative prediction rules out.
        group.corners.retain(|c| c.separation <= pair.context.limit);
        if group.corners.is_empty() {
            continue;
        }
        let frame = (a.pose, b.pose.translation);
        let mut manifold = finish(&pair.context, group.normal, &mut group.corners, frame);
        manifold.set_parts((group.parts[0], group.parts[1]));
        manifolds.push(manifold);
    }
}

/// Two surfaces in the frame of the first, and what is asked of them.
struct Pair<'a, 'm> {
    a: Ground<'a>,
    b: Ground<'a>,
    /// Origin of the working frame in that of A.
    origin: Vec3,
    /// Axes of B to those of A.
    turn: Mat3,
    context: Context<'m>,
    same_height: f64,
}

/// What two triangles have to do with each other.
struct Meeting {
    /// Triangles of A and B.
    pair: [u32; 2],
    normal: Vec3,
    /// Whether that is the normal of the one, of the other.
    of_face: [bool; 2],
    /// s(n).
    separation: f64,
    /// How far A reaches along the normal, and B against it.
    heights: [f64; 2],
    /// Patch of a face, else a marked triangle.
    parts: [u32; 2],
    corners: Corners,
}

/// Triangles that agree on a plane.
struct Group {
    normal: Vec3,
    /// Of the plane of A, of B, where their faces make it.
    planes: [Option<f64>; 2],
    /// Where neither does.
    heights: [f64; 2],
    /// Those of faces, or of the first pair of triangles.
    parts: [u32; 2],
    first: [u32; 2],
    /// Least s(n) of its members.
    separation: f64,
    /// Triangles of A and B.
    members: SmallVec<[[u32; 2]; 8]>,
    corners: Corners,
}

impl Group {
    /// The highest of A and the lowest of B along the normal.
    fn extent(&self) -> (f64, f64) {
        let n = self.normal;
        let top = self.corners.iter().map(|c| n.dot(c.point_a));
        let low = self.corners.iter().map(|c| n.dot(c.point_b));
        (
            top.fold(f64::NEG_INFINITY, f64::max),
            low.fold(f64::INFINITY, f64::min),
        )
    }
}

impl<'a, 'm> Pair<'a, 'm> {
    fn new(a: Ground<'a>, b: Ground<'a>, prediction: f64, unused: &'m mut Manifold) -> Self {
        let coordinates = [
            a.pose.translation.abs().max_element(),
            b.pose.translation.abs().max_element(),
            a.surface.bounding_radius,
        ];
        let largest = coordinates.into_iter().fold(0.0, f64::max);
        let radius = b.surface.bounding_radius;
        let mut context = Context::in_own_frame(radius, largest, prediction, unused);
        let turn = a.pose.rotation.conjugate() * b.pose.rotation;
        context.generic = GENERIC + turn * GENERIC;
        Self {
            a,
            b,
            origin: a.pose.inverse_transform_point(b.pose.translation),
            turn: Mat3::from_quat(turn),
            same_height: context.tie.max(SAME_HEIGHT * radius),
            context,
        }
    }

    /// Triangles of B and A whose boxes come near.
    fn near(&self) -> Vec<(u32, u32)> {
        let margin = self.context.limit + self.context.touch;
        let back = self.turn.transpose();
        let of_a = self.a.surface.tree.bounds().enlarged(margin);
        let mut local = Aabb::EMPTY;
        for i in 0..8 {
            let side = |axis: usize| if i >> axis & 1 == 1 { of_a.max } else { of_a.min }[axis];
            local.include(back * (Vec3::new(side(0), side(1), side(2)) - self.origin));
        }
        let (mut of_b, mut found, mut near) = (Vec::new(), Vec::new(), Vec::new());
        self.b.surface.tree.overlapping(&local, &mut of_b);
        for index_b in of_b.into_iter().filter(|&t| self.wants(1, t)) {
            let corners = self.b.surface.corners(index_b);
            let corners = corners.map(|p| self.turn * p + self.origin);
            let aabb = Aabb::of_points(&corners).enlarged(margin);
            self.a.surface.tree.overlapping(&aabb, &mut found);
            let wanted = found.iter().filter(|&&t| self.wants(0, t));
            near.extend(wanted.map(|&index_a| (index_b, index_a)));
        }
        near
    }

    /// Whether the triangle is looked at where only one manifold is wanted: a face has all of its
    /// partners, an edge those about it.
    fn wants(&self, side: usize, triangle: u32) -> bool {
        let [this, other] = if side == 0 {
            [self.a, self.b]
        } else {
            [self.b, self.a]
        };
        let is_face = |part: Option<u32>| part.is_some_and(|p| p & NOT_OF_FACE == 0);
        // A's face goes before B's.
        let is_partner = is_face(other.only) && (side == 1 || !is_face(this.only));
        let is_beside = || {
            let vertices = |t: u32| this.surface.triangles[t as usize].vertices;
            let edge = this.only.map(|part| part & !NOT_OF_FACE);
            edge.is_some_and(|edge| {
                vertices(edge)
                    .iter()
                    .any(|v| vertices(triangle).contains(v))
            })
        };
        is_partner || this.wants(triangle) || (!is_face(this.only) && is_beside())
    }

    /// The contact of two triangles; none where they have none.
    fn meet(&self, index_a: u32, index_b: u32) -> Option<Meeting> {
        let context = &self.context;
        let a = Facet::new(self.a.surface, index_a, self.origin);
        let b = Facet::new(self.b.surface, index_b, Vec3::ZERO);
        let own = Polytope::Hull(a.polyhedron());
        let other = Polytope::Hull(b.placed(self.turn, Vec3::ZERO));
        let separation = |n: Vec3| other.support(-n).1.dot(n) - a.reach(n);
        let faces = [a.normal, -(self.turn * b.normal)];
        let along = faces.map(separation);
        if along[0] > context.limit || along[1] > context.limit {
            return None;
        }
        let back = self.turn.transpose();
        let is_possible = |n: Vec3| a.is_possible(n) && b.is_possible(-(back * n));
        let mut best: Option<(Vec3, f64)> = None;
        let mut offer = |n: Vec3, s: f64| {
            // Cheap first: it must separate clearly better than what is held.
            if best.is_none_or(|held| s > held.1 + context.tie) && is_possible(n) {
                best = Some((n, s));
            }
        };
        offer(faces[0], along[0]);
        offer(faces[1], along[1]);
        for (_, edge_a) in a.sharp_sides() {
            for (_, edge_b) in b.sharp_sides() {
                let edge_b = self.turn * edge_b;
                let cross = edge_a.cross(edge_b);
                let scale = edge_a.length_squared() * edge_b.length_squared();
                if cross.length_squared() > PARALLEL * scale {
                    let n = unit(cross);
                    offer(n, separation(n));
                    offer(-n, separation(-n));
                }
            }
        }
        if best.is_some_and(|(n, s)| s > context.limit || self.is_behind(n, &a, &b)) {
            return None;
        }
        let mut corners = Corners::new();
        let mut features = [false; 2];
        let reached = |corners: &Corners, s: f64| {
            let reaches = |c: &Corner| c.separation <= s + context.tie;
            corners.iter().any(reaches)
        };
        if let Some((n, _)) = best {
            features = self.patch(n, [&own, &other], &mut corners);
        }
        // The bound is not reached: the nearest may be vertices.
        if !best.is_some_and(|(_, s)| reached(&corners, s)) {
            let near = gjk::nearest(context, best.map_or(faces[0], |b| b.0), &own, &other);
            if near.distance > context.limit {
                return None;
            }
            let exact = best.is_none_or(|(_, s)| s < near.distance - context.tie);
            let apart = near.distance > context.touch;
            if apart && (exact || !reached(&corners, near.distance)) && is_possible(near.normal) {
                // The direction of a very small distance is rounding: it has to separate better.
                if best.is_none_or(|(_, s)| near.bound > s) {
                    best = Some((near.normal, near.distance));
                    corners.clear();
                    features = self.patch(near.normal, [&own, &other], &mut corners);
                }
                if !reached(&corners, near.distance) {
                    let code = Code {
                        crossing: false,
                        a: near.vertices[0],
                        b: near.vertices[1],
                    };
                    let normal = best.map_or(near.normal, |(n, _)| n);
                    let projection = Projection::new(normal);
                    corners.push(projection.corner(near.points[0], near.points[1], code));
                }
            }
        }
        let best = best?;
        corners.retain(|c| c.separation <= context.limit && self.is_through_solid(c));
        self.meeting(best, [&a, &b], features, corners)
    }

    /// Whether a closed surface lies all behind the plane of the other's triangle across `n`.
    fn is_behind(&self, n: Vec3, a: &Facet<'_>, b: &Facet<'_>) -> bool {
        let touch = self.context.touch;
        let local = self.turn.transpose() * n;
        let (top, low) = (a.reach(n), -b.reach(-local));
        let (of_a, of_b) = (self.a.surface, self.b.surface);
        let b_is = || of_b.support(local).dot(local) <= top + touch;
        let a_is = || n.dot(of_a.support(-n) - self.origin) >= low - touch;
        low < top - touch && ((of_b.is_closed && b_is()) || (of_a.is_closed && a_is()))
    }

    /// Adds the corners of the patch along `n`, and tells whose feature there is all of the triangle.
    fn patch(&self, n: Vec3, [a, b]: [&Polytope<'_>; 2], corners: &mut Corners) -> [bool; 2] {
        let features = [a.feature(n, &self.context), b.feature(-n, &self.context)];
        let projection = Projection::new(n);
        intersect(
            &features[0],
            &features[1],
            &projection,
            self.context.touch,
            corners,
        );
        features.map(|f| f.is_face())
    }

    /// With the corners named; none where no corner is left.
    fn meeting(
        &self,
        (normal, separation): (Vec3, f64),
        [a, b]: [&Facet<'_>; 2],
        faces: [bool; 2],
        mut corners: Corners,
    ) -> Option<Meeting> {
        rename([a, b], faces, &mut corners);
        let local = -(self.turn.transpose() * normal);
        let of_face = [
            (normal - a.normal).length() <= SAME_NORMAL,
            (local - b.normal).length() <= SAME_NORMAL,
        ];
        let part = |surface: &Surface, index: u32, of_face: bool| match of_face {
            true => surface.triangles[index as usize].patch,
            false => index | NOT_OF_FACE,
        };
        (!corners.is_empty()).then(|| Meeting {
            pair: [a.index, b.index],
            normal,
            of_face,
            separation,
            heights: [a.reach(normal), -b.reach(local)],
            parts: [
                part(self.a.surface, a.index, of_face[0]),
                part(self.b.surface, b.index, of_face[1]),
            ],
            corners,
        })
    }

    /// Whether a corner is apart, or a part of the way between its points is in the solids of both: from
    /// B's point it does not leave B before the last time that it enters A.
    fn is_through_solid(&self, corner: &Corner) -> bool {
        if corner.separation >= -self.context.tie {
            return true;
        }
        let ends = [corner.point_b, corner.point_a];
        let back = self.turn.transpose();
        let tolerance = self.context.tie;
        let entry = crossings(self.a.surface, ends.map(|p| p + self.origin), tolerance);
        let Some(entry) = entry.into_iter().reduce(f64::max) else {
            return true;
        };
        let exit = crossings(self.b.surface, ends.map(|p| back * p), tolerance);
        exit.into_iter().all(|exit| exit > entry)
    }

    /// Puts what two triangles found into the group that it agrees with.
    fn join(&self, groups: &mut Vec<Group>, meeting: Meeting) {
        let same = |h: f64, k: f64| (h - k).abs() <= self.same_height;
        let group = groups.iter_mut().find(|g| {
            let on_plane = |i: usize| g.planes[i].is_some_and(|h| same(h, meeting.heights[i]));
            let is_edge = g.planes == [None, None];
            let on_edge = (0..2).all(|i| same(g.heights[i], meeting.heights[i]));
            (g.normal - meeting.normal).length() <= SAME_NORMAL
                && (on_plane(0) || on_plane(1) || (is_edge && on_edge))
        });
        let planes = [0, 1].map(|i| meeting.of_face[i].then_some(meeting.heights[i]));
        let Some(group) = group else {
            groups.push(Group {
                normal: meeting.normal,
                planes,
                heights: meeting.heights,
                parts: meeting.parts,
                first: meeting.parts,
                separation: meeting.separation,
                members: std::iter::once(meeting.pair).collect(),
                corners: meeting.corners,
            });
            return;
        };
        group.members.push(meeting.pair);
        group.separation = group.separation.min(meeting.separation);
        for i in 0..2 {
            group.planes[i] = group.planes[i].or(planes[i]);
            let was_face = group.parts[i] & NOT_OF_FACE == 0;
            if meeting.of_face[i] {
                group.parts[i] = if was_face {
                    group.parts[i].min(meeting.parts[i])
                } else {
                    meeting.parts[i]
                };
            }
        }
        self.add(group, meeting.corners);
    }

    /// Adds the corners that the group has not.
    fn add(&self, group: &mut Group, corners: Corners) {
        let projection = Projection::new(group.normal);
        let widths = (self.context.touch, self.same_height);
        let held = &mut group.corners;
        unite(&self.context, &projection, held, corners, widths);
    }

    /// Adds the other triangles of the planes that face each other along the normal of a group.
    ///
    /// About faces that are a little tilted only those at the lowest vertex have a normal in common. The
    /// others are about to be landed on, as those of convex shapes are (`feature`). Returns these planes where
    /// there are two.
    fn widen(&self, group: &mut Group, near: &[(u32, u32)]) -> Option<[u32; 2]> {
        let n = group.normal;
        let local = -(self.turn.transpose() * n);
        let (top, low) = group.extent();
        let (mut of_a, mut of_b) = (Facing::default(), Facing::default());
        for &(index_b, index_a) in near {
            let a = Facet::new(self.a.surface, index_a, self.origin);
            let b = Facet::new(self.b.surface, index_b, Vec3::ZERO);
            of_a.offer(&a, n, top - self.same_height);
            of_b.offer(&b, local, -low - self.same_height);
        }
        let planes = [of_a.patch?, of_b.patch?];
        for &(index_b, index_a) in near {
            let a = Facet::new(self.a.surface, index_a, self.origin);
            let b = Facet::new(self.b.surface, index_b, Vec3::ZERO);
            if [a.patch_index(), b.patch_index()] != planes
                || group.members.contains(&[index_a, index_b])
            {
                continue;
            }
            let own = Polytope::Hull(a.polyhedron());
            let other = Polytope::Hull(b.placed(self.turn, Vec3::ZERO));
            let mut corners = Corners::new();
            let features = self.patch(n, [&own, &other], &mut corners);
            let least = group.separation - self.context.tie;
            corners.retain(|c| c.separation >= least && self.is_through_solid(c));
            rename([&a, &b], features, &mut corners);
            self.add(group, corners);
        }
        Some(planes)
    }

    /// Drops the groups that others cover.
    fn drop_covered(&self, groups: &mut Vec<Group>) {
        let extents: Vec<(f64, f64)> = groups.iter().map(Group::extent).collect();
        let reached: Vec<bool> = (groups.iter())
            .map(|g| {
                let reaches = |c: &Corner| c.separation <= g.separation + self.same_height;
                g.corners.iter().any(reaches)
            })
            .collect();
        let covered = |i: usize| {
            (0..groups.len()).any(|k| {
                let (top, low) = extents[k];
                let n = groups[k].normal;
                let clear = |c: &Corner| {
                    n.dot(c.point_a) <= top + self.same_height
                        && n.dot(c.point_b) >= low - self.same_height
                };
                let deeper = groups[i].separation < groups[k].separation - self.same_height;
                k != i
                    && reached[k]
                    && (deeper || !reached[i])
                    && groups[i].corners.iter().all(clear)
            })
        };
        let dropped: Vec<bool> = (0..groups.len()).map(covered).collect();
        let mut dropped = dropped.into_iter();
        groups.retain(|_| !dropped.next().unwrap_or(false));
    }

    /// Of the triangles that cross, the pair that its own normals separate best.
    fn least_crossing(&self, near: &[(u32, u32)]) -> Option<Group> {
        let context = &self.context;
        let mut best: Option<(f64, Vec3, u32, u32)> = None;
        for &(index_b, index_a) in near {
            let a = Facet::new(self.a.surface, index_a, self.origin);
            let b = Facet::new(self.b.surface, index_b, Vec3::ZERO);
            let own = Polytope::Hull(a.polyhedron());
            let other = Polytope::Hull(b.placed(self.turn, Vec3::ZERO));
            let normal = self.turn * b.normal;
            if gjk::nearest(context, a.normal, &own, &other).distance > context.touch
                || !a.is_crossed(b.corners.map(|p| self.turn * p), normal, context.touch)
            {
                continue;
            }
            for n in [a.normal, -normal] {
                let s = other.support(-n).1.dot(n) - a.reach(n);
                if best.is_none_or(|held| s > held.0 + context.tie) {
                    best = Some((s, n, index_a, index_b));
                }
            }
        }
        let (s, n, index_a, index_b) = best?;
        let a = Facet::new(self.a.surface, index_a, self.origin);
        let b = Facet::new(self.b.surface, index_b, Vec3::ZERO);
        let own = Polytope::Hull(a.polyhedron());
        let other = Polytope::Hull(b.placed(self.turn, Vec3::ZERO));
        let (va, pa) = own.support(n);
        let (vb, pb) = other.support(-n);
        let code = Code {
            crossing: false,
            a: va,
            b: vb,
        };
        // Of the point that is deepest, at the height of the other.
        let shift = n * n.dot(pb - pa);
        let deepest = if (n - a.normal).length() <= SAME_NORMAL {
            [pb - shift, pb]
        } else {
            [pa, pa + shift]
        };
        let mut corners = Corners::new();
        corners.push(Projection::new(n).corner(deepest[0], deepest[1], code));
        let meeting = self.meeting((n, s), [&a, &b], [false; 2], corners)?;
        let mut groups = Vec::new();
        self.join(&mut groups, meeting);
        groups.pop()
    }

    /// The contact of one surface that is all below the other, a heightfield.
    fn sunk(&self) -> Option<Manifold> {
        if self.a.is_bottomless {
            return self.below(self.a, self.b);
        }
        let mut manifold = self.below(self.b, self.a)?;
        manifold.exchange();
        Some(manifold)
    }

    /// The contact of what is all below a heightfield; surfaces that do not cross are below altogether
    /// where one vertex is.
    fn below(&self, ground: Ground<'_>, other: Ground<'_>) -> Option<Manifold> {
        let is_patch = |part: u32| part & NOT_OF_FACE == 0;
        if !ground.is_bottomless || !ground.only.is_none_or(is_patch) {
            return None;
        }
        let pose = ground.pose.relative(other.pose);
        let over = (other.surface.vertices.iter())
            .find_map(|&v| ground.triangle_over(pose.transform_point(v)));
        let (index, depth) = over?;
        if depth <= self.context.limit {
            return None;
        }
        let triangle = &ground.surface.triangles[index as usize];
        let normal = triangle.normal;
        let turn = ground.pose.rotation.conjugate() * other.pose.rotation;
        let local = -(turn.conjugate() * normal);
        let vertices = &other.surface.vertices;
        let deepest = (0..vertices.len()).fold(0, |best, i| {
            let further = vertices[i].dot(local) > vertices[best].dot(local);
            if further { i } else { best }
        });
        let name = (deepest % usize::from(NONE)) as u16;
        let origin = pose.translation;
        let height = normal.dot(ground.surface.corners(index)[0] - origin);
        let point = turn * vertices[deepest];
        let mut corners = Corners::new();
        corners.push(sunk_corner(normal, height, (name, point)));
        let frame = (ground.pose, other.pose.translation);
        let mut manifold = finish(&self.context, normal, &mut corners, frame);
        let at_vertex = |t: &crate::surface::Triangle| t.vertices.contains(&(deepest as u32));
        let part = other.surface.triangles.iter().position(at_vertex)?;
        manifold.set_parts((triangle.patch, part as u32 | NOT_OF_FACE));
        Some(manifold)
    }
}

/// Names corners after the surfaces' vertices and edges, of which `faces` says whose feature is all of the
/// triangle.
fn rename([a, b]: [&Facet<'_>; 2], faces: [bool; 2], corners: &mut Corners) {
    corners.retain(|c| {
        let crossing = c.code.crossing;
        // What lies inside of a patch of coplanar triangles is no corner of it.
        !(faces[0] && a.is_inner(crossing, c.code.a) || faces[1] && b.is_inner(crossing, c.code.b))
    });
    for c in corners.iter_mut() {
        c.code.a = a.name(c.code.crossing, c.code.a);
        c.code.b = b.name(c.code.crossing, c.code.b);
    }
}

/// No two manifolds of a pair have the same parts: a patch that is not quite flat may have made several
/// planes.
fn rename_doubles(groups: &mut [Group]) {
    for i in 1..groups.len() {
        let taken = |parts: [u32; 2]| groups[..i].iter().any(|g| g.parts == parts);
        let marked = groups[i].first.map(|part| part | NOT_OF_FACE);
        if taken(groups[i].parts) && !taken(marked) {
            groups[i].parts = marked;
        }
    }
}

/// Where, as a part of the way, triangles are crossed that have the two points clearly on both of their
/// sides.
fn crossings(surface: &Surface, [from, to]: [Vec3; 2], tolerance: f64) -> SmallVec<[f64; 4]> {
    let mut near = Vec::new();
    let aabb = Aabb::of_points(&[from, to]).enlarged(tolerance);
    surface.tree.overlapping(&aabb, &mut near);
    let way = to - from;
    let crossing = |index: u32| {
        let [a, b, c] = surface.corners(index).map(|p| p - from);
        let normal = surface.triangles[index as usize].normal;
        let (start, end) = (-normal.dot(a), normal.dot(way - a));
        let is_between =
            (start > tolerance && end < -tolerance) || (start < -tolerance && end > tolerance);
        let volumes = [
            way.dot(a.cross(b)),
            way.dot(b.cross(c)),
            way.dot(c.cross(a)),
        ];
        let all = |sign: f64| volumes.iter().all(|v| v * sign >= 0.0);
        (is_between && (all(1.0) || all(-1.0))).then(|| start / (start - end))
    };
    near.into_iter().filter_map(crossing).collect()
}
