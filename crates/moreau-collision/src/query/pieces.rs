//! Shapes that are not convex: surfaces by their triangles, compounds by their children.
//!
//! A line o + t d meets a triangle (a, b, c), seen from o, where the three volumes d·(a x b), d·(b x c),
//! d·(c x a) have one sign. Two triangles compute the volume of a common edge from the same numbers, so
//! no line slips through between them.

use super::ray::{Inside, Ray, RayHit};
use crate::broad_phase::BoxPath;
use crate::surface::Surface;
use crate::{ClosestPoints, CollideSettings, CompoundChild, Shape, closest_points, collide_all};
use moreau_math::{Pose, Vec3};

/// How far apart parts are looked for first, as a part of the sizes.
const FIRST_LOOK: f64 = 0.01;

/// A triangle that a line meets.
#[derive(Clone, Copy)]
struct Pierced {
    distance: f64,
    triangle: u32,
    normal: Vec3,
    from_behind: bool,
}

/// Where a ray meets a surface; own frame of the surface.
///
/// A surface has a front and a back. Behind it is solid where it is closed or has no bottom: a ray
/// that first meets a back starts inside.
pub(super) fn pierce(
    surface: &Surface,
    (origin, way): (Vec3, Vec3),
    max_distance: f64,
    inside: Option<Inside>,
) -> Option<(f64, Vec3)> {
    let path = BoxPath {
        start: origin,
        way,
        half: Vec3::ZERO,
    };
    // What lies at the far end decides whether the near end is inside.
    let most = match inside {
        Some(Inside::Solid) => f64::INFINITY,
        _ => max_distance,
    };
    let mut first: Option<Pierced> = None;
    let near = |b: &crate::Aabb| path.meets(b).is_some_and(|t| t <= most);
    surface.tree.visit(near, |triangle| {
        let corners = surface.corners(triangle).map(|c| c - origin);
        let normal = surface.triangles[triangle as usize].normal;
        let Some((distance, from_behind)) = meet(corners, normal, way) else {
            return;
        };
        let earlier = |f: &Pierced| (distance, triangle) < (f.distance, f.triangle);
        if distance <= most && first.as_ref().is_none_or(earlier) {
            first = Some(Pierced {
                distance,
                triangle,
                normal,
                from_behind,
            });
        }
    });
    let first = first?;
    match inside {
        Some(Inside::Solid) if first.from_behind => Some((0.0, -way)),
        Some(_) => (first.distance <= max_distance).then_some((first.distance, first.normal)),
        None => {
            let side = if first.from_behind { -1.0 } else { 1.0 };
            Some((first.distance, first.normal * side))
        }
    }
}

/// Distance along the line, and whether it comes from behind.
fn meet([a, b, c]: [Vec3; 3], normal: Vec3, way: Vec3) -> Option<(f64, bool)> {
    let slope = normal.dot(way);
    let volumes = [
        way.dot(a.cross(b)),
        way.dot(b.cross(c)),
        way.dot(c.cross(a)),
    ];
    let all = |sign: f64| volumes.iter().all(|v| v * sign >= 0.0);
    if slope == 0.0 || !(all(1.0) || all(-1.0)) {
        return None;
    }
    let distance = normal.dot(a) / slope;
    (distance >= 0.0).then_some((distance, slope > 0.0))
}

/// The first hit on a child.
pub(super) fn cast_on_children(
    ray: &Ray,
    children: &[CompoundChild],
    pose: &Pose,
    max_distance: f64,
    inside: Inside,
) -> Option<RayHit> {
    let hits = children.iter().filter_map(|child| {
        let pose = pose.mul_pose(&child.pose);
        ray.cast(&child.shape, &pose, max_distance, inside)
    });
    hits.reduce(|a, b| if b.distance < a.distance { b } else { a })
}

/// [`closest_points`] of any two shapes: of overlapping ones that are not convex, those of their
/// deepest pieces. None for pairs that never touch, as [`collide_all`] lists them.
pub(super) fn distance(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
) -> Option<ClosestPoints> {
    if a.is_convex() && b.is_convex() {
        return closest_points(a, pose_a, b, pose_b);
    }
    // No two shapes are further apart than their origins and radii; a half-space is not than its.
    let reach = |s: &Shape| Some(s.bounding_radius()).filter(|r| r.is_finite());
    let radii = reach(a).unwrap_or(0.0) + reach(b).unwrap_or(0.0);
    let between = (pose_b.translation - pose_a.translation).length();
    let everything = (between + radii) * (1.0 + 1e-12);
    // Of many parts only the near ones are looked at, as far away as it takes; nearer than this there are
    // none.
    let many = a.part_count().min(b.part_count()) > 1;
    let nearest = (between - radii).max(0.0);
    let mut prediction = if many {
        nearest + FIRST_LOOK * radii
    } else {
        everything
    };
    let mut manifolds = Vec::new();
    loop {
        let settings = CollideSettings { prediction };
        collide_all(a, pose_a, b, pose_b, &settings, &mut manifolds);
        if !manifolds.is_empty() || !(prediction < everything) {
            break;
        }
        // Sizes of which a part is rounded to zero do not grow.
        let further = 4.0 * prediction;
        prediction = if further > prediction {
            further
        } else {
            everything
        };
    }
    let points = manifolds.iter().flat_map(|m| {
        m.points().iter().map(|p| ClosestPoints {
            point_a: p.point_a,
            point_b: p.point_b,
            normal: m.normal(),
            separation: p.separation,
        })
    });
    points.reduce(|p, q| if q.separation < p.separation { q } else { p })
}
