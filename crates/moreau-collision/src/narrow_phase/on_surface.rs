//! A convex shape against the triangles of a mesh or heightfield.
//!
//! Each triangle near the shape says what it has to do with it (`on_triangle`). Those that agree on a
//! plane, the same normal at the same height, make one manifold:
//!
//! - corners that several triangles found count once;
//! - the corners are reduced to four as those of two convex shapes are (`reduce`);
//! - a plane is *reached* where one of its corners is as deep as the shape is beyond the plane. The
//!   shape that is moved out along a reached plane lies above it altogether, and touches nothing below.
//!   So a plane whose points of the surface all lie below a reached one is dropped where that one is
//!   less deep, or where itself is not reached. What remains of a convex mesh is the least
//!   translation.
//! - a triangle that the shape does not meet, although it lies behind it there, counts where its plane
//!   covers another one so, as about a thin wedge.
//!
//! Where the normal is that of no triangle, the plane that faces most along it is part of the manifold with all
//! its triangles (`widen`).
//!
//! A shape that is all below a heightfield, as after a fast flight through a hill, is brought up along
//! the normal of the triangle above its centre. One that crosses triangles none of which has a contact,
//! as a thin wedge that has run through a hill, is brought out along the normal of the one beyond which
//! it is least deep.
//!
//! **Frame.** The axes of the surface, with the origin at the shape's centre.

use super::context::{Context, Operand, is_usable};
use super::on_triangle::{Facet, Facing, Meeting, overhang};
use super::patch::{Code, Corner, Corners, NONE, Projection, unite};
use super::reduce;
use super::solid::Solid;
use crate::surface::Surface;
use crate::{Aabb, FeatureId, Manifold, ManifoldPoint, Shape};
use moreau_math::{Pose, Vec3};
use smallvec::SmallVec;

/// Marks the part of a manifold whose normal is not that of a face.
pub(crate) const NOT_OF_FACE: u32 = 1 << 31;

/// Sine of the angle between normals that count as one.
const SAME_NORMAL: f64 = 1e-6;

/// Difference of heights that count as one, as a part of the shape's size.
const SAME_HEIGHT: f64 = 1e-9;

/// A surface at its pose in the world, and which of its triangles count.
#[derive(Clone, Copy)]
pub(super) struct Ground<'a> {
    pub(super) surface: &'a Surface,
    pub(super) pose: &'a Pose,
    /// Whether all below along y is solid, however deep.
    pub(super) is_bottomless: bool,
    /// Only this part: a patch, or where it is marked, a triangle.
    pub(super) only: Option<u32>,
}

/// Triangles that agree on a plane.
struct Group {
    normal: Vec3,
    height: f64,
    of_face: bool,
    /// Least s(n) of its members.
    separation: f64,
    part: u32,
    /// One of its triangles.
    triangle: u32,
    corners: Corners,
}

/// Appends the manifolds of the surface (A) and the convex `shape` (B), and their parts of A.
pub(super) fn collide(
    ground: Ground<'_>,
    shape: &Shape,
    pose: &Pose,
    prediction: f64,
    manifolds: &mut Vec<Manifold>,
) {
    let Ground { surface, .. } = ground;
    let operand = Operand::new(shape, pose);
    if !is_usable(shape, pose) {
        return;
    }
    let origin = ground.pose.inverse_transform_point(operand.center);
    let turn = ground.pose.rotation.conjugate() * pose.rotation;
    let shift = ground.pose.rotation.conjugate() * (pose.translation - operand.center);
    let local = Pose::new(shift, turn);
    let coordinates = [
        operand.center.abs().max_element(),
        ground.pose.translation.abs().max_element(),
        surface.bounding_radius,
    ];
    let largest = coordinates.into_iter().fold(0.0, f64::max);
    let mut unused = Manifold::default();
    let mut context = Context::in_own_frame(operand.radius, largest, prediction, &mut unused);
    // Fixed to the shape, as on a half-space.
    context.generic = turn * super::context::GENERIC;
    let aabb = shape.aabb(&local).enlarged(context.limit);
    let aabb = Aabb::new(aabb.min + origin, aabb.max + origin).enlarged(context.touch);
    let mut near = Vec::new();
    surface.tree.overlapping(&aabb, &mut near);
    let all_near = near.clone();
    near.retain(|&t| ground.wants(t));
    if near.is_empty() && !ground.is_bottomless {
        return;
    }
    let same_height = context.tie.max(SAME_HEIGHT * operand.radius);
    let groups = Solid::with(shape, &local, |solid| {
        let (mut groups, mut aside): (Vec<Group>, Vec<Group>) = (Vec::new(), Vec::new());
        for &index in &near {
            let facet = Facet::new(surface, index, origin);
            if let Some(meeting) = facet.meet(&context, solid) {
                let names = (index, surface.triangles[index as usize].patch);
                let place = if meeting.is_aside {
                    &mut aside
                } else {
                    &mut groups
                };
                join(&context, same_height, place, meeting, names);
            }
        }
        if groups.is_empty() {
            groups = aside;
        } else {
            let helps = |a: &Group| groups.iter().any(|g| a.covers(g, same_height));
            aside.retain(helps);
            groups.extend(aside);
        }
        if groups.is_empty() && ground.is_bottomless {
            let group = sunk(ground, origin, solid);
            groups.extend(group.filter(|g| g.separation <= context.limit));
        }
        drop_covered(&context, same_height, &mut groups);
        if groups.is_empty() {
            groups.extend(least_crossing(&context, ground, (origin, &near), solid));
        } else {
            let facets = all_near.iter().map(|&t| Facet::new(surface, t, origin));
            let widen = |g: &mut Group| widen(&context, same_height, g, facets.clone(), solid);
            let planes: Vec<_> = groups.iter_mut().map(widen).collect();
            keep_best(&mut groups, &planes, |g| (g.separation, &g.corners));
        }
        groups
    });
    let mut groups = groups.unwrap_or_default();
    if let (Some(part), [only]) = (ground.only, &mut groups[..]) {
        only.part = part;
    }
    // A patch that is not quite flat may have made several planes: they need names of their own. No
    // triangle is in two of them.
    for i in 1..groups.len() {
        if groups[..i].iter().any(|g| g.part == groups[i].part) {
            groups[i].part = groups[i].triangle | NOT_OF_FACE;
        }
    }
    for group in &mut groups {
        let frame = (ground.pose, operand.center);
        let mut manifold = finish(&context, group.normal, &mut group.corners, frame);
        manifold.set_parts((group.part, 0));
        manifolds.push(manifold);
    }
}

/// The plane, out of those of the triangles that cross the shape, beyond which it is least deep.
fn least_crossing(
    context: &Context<'_>,
    ground: Ground<'_>,
    (origin, near): (Vec3, &[u32]),
    shape: &Solid<'_>,
) -> Option<Group> {
    let mut best: Option<(f64, u32)> = None;
    for &index in near {
        let facet = Facet::new(ground.surface, index, origin);
        if let Some(separation) = facet.crossing(context, shape)
            && best.is_none_or(|held| separation > held.0)
        {
            best = Some((separation, index));
        }
    }
    let (separation, index) = best?;
    (separation <= context.limit).then(|| plane_of(ground, index, origin, shape))
}

/// The plane of the triangle above a shape that is all below bottomless ground.
fn sunk(ground: Ground<'_>, origin: Vec3, shape: &Solid<'_>) -> Option<Group> {
    if ground.only.is_some_and(|part| part & NOT_OF_FACE != 0) {
        return None;
    }
    let (index, above) = ground.triangle_over(origin)?;
    // Bodies whose centre is above touch other triangles, or nothing.
    if above <= 0.0 {
        return None;
    }
    Some(plane_of(ground, index, origin, shape))
}

/// The plane of a triangle, touched by the point of the shape that is deepest below it.
fn plane_of(ground: Ground<'_>, index: u32, origin: Vec3, shape: &Solid<'_>) -> Group {
    let triangle = &ground.surface.triangles[index as usize];
    let normal = triangle.normal;
    let (vertex, deepest) = shape.support(-normal);
    let point_b = deepest - normal * shape.radius;
    let height = normal.dot(ground.surface.corners(index)[0] - origin);
    let corner = sunk_corner(normal, height, (vertex, point_b));
    Group {
        normal,
        height,
        of_face: true,
        separation: corner.separation,
        part: triangle.patch,
        triangle: index,
        corners: std::iter::once(corner).collect(),
    }
}

/// The contact of the deepest point of what is below a plane.
pub(super) fn sunk_corner(normal: Vec3, height: f64, (vertex, point_b): (u16, Vec3)) -> Corner {
    let separation = normal.dot(point_b) - height;
    let code = Code {
        crossing: false,
        a: NONE,
        b: vertex,
    };
    Projection::new(normal).corner(point_b - normal * separation, point_b, code)
}

impl Ground<'_> {
    /// Whether the triangle counts.
    pub(super) fn wants(&self, triangle: u32) -> bool {
        self.only.is_none_or(|part| match part & NOT_OF_FACE {
            0 => self.surface.triangles[triangle as usize].patch == part,
            _ => triangle == part & !NOT_OF_FACE,
        })
    }

    /// Of a heightfield, the triangle over or under a point, and how far the point is below the plane
    /// of it, m.
    pub(super) fn triangle_over(&self, point: Vec3) -> Option<(u32, f64)> {
        let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
        let column = Aabb::new(
            Vec3::new(point.x, low, point.z),
            Vec3::new(point.x, high, point.z),
        );
        let mut near = Vec::new();
        self.surface.tree.overlapping(&column, &mut near);
        let over = |t: &u32| {
            let c = self.surface.corners(*t).map(|p| p - point);
            (0..3).all(|i| {
                let (from, to) = (c[i], c[(i + 1) % 3]);
                // The triangle's projection along y, counter-clockwise from above.
                from.z * to.x - from.x * to.z >= 0.0
            })
        };
        let index = near.into_iter().find(|t| self.wants(*t) && over(t))?;
        let normal = self.surface.triangles[index as usize].normal;
        Some((index, normal.dot(self.surface.corners(index)[0] - point)))
    }
}

/// Puts what a triangle found into the group that it agrees with.
fn join(
    context: &Context<'_>,
    same_height: f64,
    groups: &mut Vec<Group>,
    meeting: Meeting,
    (index, patch): (u32, u32),
) {
    let group = groups.iter_mut().find(|g| {
        (g.normal - meeting.normal).length() <= SAME_NORMAL
            && (g.height - meeting.height).abs() <= same_height
    });
    let Some(group) = group else {
        let part = if meeting.of_face {
            patch
        } else {
            index | NOT_OF_FACE
        };
        groups.push(Group {
            normal: meeting.normal,
            height: meeting.height,
            of_face: meeting.of_face,
            separation: meeting.separation,
            part,
            triangle: index,
            corners: meeting.corners,
        });
        return;
    };
    if meeting.of_face && !group.of_face {
        (group.of_face, group.part) = (true, patch);
        group.normal = meeting.normal;
    } else if meeting.of_face {
        group.part = group.part.min(patch);
    }
    group.separation = group.separation.min(meeting.separation);
    group.add(context, same_height, meeting.corners);
}

/// Adds the other triangles of the plane that faces most along a group's normal, which is that of none.
///
/// Of a face that is a little tilted only the triangles at the lowest vertex have that normal. The others
/// are about to be landed on, as those of convex shapes are (`feature`). Returns that plane, and the face of
/// the shape, where there are both.
fn widen<'a>(
    context: &Context<'_>,
    same_height: f64,
    group: &mut Group,
    facets: impl Iterator<Item = Facet<'a>> + Clone,
    shape: &Solid<'_>,
) -> Option<(u32, SmallVec<[u16; 8]>)> {
    let mut facing = Facing::default();
    for facet in facets.clone() {
        facing.offer(&facet, group.normal, group.height - same_height);
    }
    let patch = facing.patch?;
    if !group.of_face {
        for facet in facets.filter(|f| f.patch_index() == patch) {
            let mut corners = facet.beside(context, group.normal, shape);
            let least = group.separation - context.tie;
            corners.retain(|c| c.separation >= least && c.separation <= context.limit);
            group.add(context, same_height, corners);
        }
    }
    let other = shape.feature(-group.normal, context);
    other.is_face().then_some((patch, other.vertices))
}

/// Of what the same two planes made, at the same corners, keeps that of greatest separation: faces that are a
/// little tilted may touch along the normal of either.
pub(super) fn keep_best<G, P: PartialEq>(
    groups: &mut Vec<G>,
    planes: &[Option<P>],
    content: impl Fn(&G) -> (f64, &Corners),
) {
    let is_worse = |i: usize| {
        let (this, corners) = content(&groups[i]);
        (0..groups.len()).any(|k| {
            let (that, others) = content(&groups[k]);
            let better = that > this || (that == this && k < i);
            let has = |c: &Corner| others.iter().any(|o| o.code == c.code);
            planes[i].is_some() && planes[i] == planes[k] && better && corners.iter().all(has)
        })
    };
    let dropped: Vec<bool> = (0..groups.len()).map(is_worse).collect();
    let mut dropped = dropped.into_iter();
    groups.retain(|_| !dropped.next().unwrap_or(false));
}

impl Group {
    /// Adds the corners that it has not.
    fn add(&mut self, context: &Context<'_>, same_height: f64, corners: Corners) {
        let projection = Projection::new(self.normal);
        let widths = (overhang(context), same_height);
        unite(context, &projection, &mut self.corners, corners, widths);
    }

    /// Least separation of its corners.
    fn least(&self) -> f64 {
        let separations = self.corners.iter().map(|c| c.separation);
        separations.fold(f64::INFINITY, f64::min)
    }

    fn is_reached(&self, same_height: f64) -> bool {
        self.least() <= self.separation + same_height
    }

    /// Whether the shape that is moved out along this plane is clear of `other`, too, and not further
    /// than it takes there.
    fn covers(&self, other: &Self, same_height: f64) -> bool {
        let below = |c: &Corner| self.normal.dot(c.point_a) <= self.height + same_height;
        let deeper = other.separation < self.separation - same_height;
        self.is_reached(same_height)
            && (deeper || !other.is_reached(same_height))
            && other.corners.iter().all(below)
    }
}

/// Drops the groups that others cover.
fn drop_covered(context: &Context<'_>, same_height: f64, groups: &mut Vec<Group>) {
    let covered = |i: usize| {
        let others = (0..groups.len()).filter(|&k| k != i);
        others
            .into_iter()
            .any(|k| groups[k].covers(&groups[i], same_height))
    };
    let lost = |i: usize| {
        let group = &groups[i];
        !group.is_reached(same_height) && group.least() > group.separation + context.limit
    };
    let mut dropped: Vec<bool> = (0..groups.len()).map(|i| covered(i) || lost(i)).collect();
    if dropped.iter().all(|&d| d) {
        // Deep in the ground, and deepest where there is no triangle: what overlaps is touched.
        let overlaps = |i: usize| !covered(i) && groups[i].least() < -context.touch;
        dropped = (0..groups.len()).map(|i| !overlaps(i)).collect();
    }
    let mut dropped = dropped.into_iter();
    groups.retain(|_| !dropped.next().unwrap_or(false));
}

/// Reduces and names the corners, and takes them to the world from the axes of `pose` and the origin
/// `center` (world frame).
pub(super) fn finish(
    context: &Context<'_>,
    normal: Vec3,
    corners: &mut Corners,
    (pose, center): (&Pose, Vec3),
) -> Manifold {
    let projection = Projection::new(normal);
    for corner in corners.iter_mut() {
        corner.flat = projection.flat(corner.point_a);
    }
    reduce::reduce(context, &projection, corners);
    let mut points: SmallVec<[ManifoldPoint; Manifold::CAPACITY]> = SmallVec::new();
    for corner in corners.iter() {
        let kind = u32::from(corner.code.crossing);
        let mut feature = FeatureId::new(kind, corner.code.a, corner.code.b);
        // Large surfaces have more features than names.
        for other in [kind + 2, 3 - kind, 1 - kind] {
            if points.iter().any(|p| p.feature == feature) {
                feature = FeatureId::new(other, corner.code.a, corner.code.b);
            }
        }
        points.push(ManifoldPoint {
            point_a: pose.rotation * corner.point_a + center,
            point_b: pose.rotation * corner.point_b + center,
            separation: corner.separation,
            feature,
        });
    }
    points.sort_unstable_by_key(|p| p.feature);
    let mut manifold = Manifold::default();
    manifold.reset(super::context::unit(pose.rotation * normal));
    for point in points {
        manifold.push(point);
    }
    manifold
}
