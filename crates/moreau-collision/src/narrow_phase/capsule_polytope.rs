//! Box or hull against a capsule: the capsule's core segment against the solid, less the radius.
//!
//! - The core is outside: the nearest of its ends over the faces they lie over, and of the solid's
//!   edges to the core. That covers every pair of nearest features.
//! - The core meets the solid: the least separating translation, by the axes f (a face's normal) and
//!   e x s (an edge's and the core's direction): s(n) = least n·core - greatest n·solid.

use super::context::{Context, unit};
use super::nearest::{Nearest, Shortlist, nearest_of_segments};
use super::patch::{Code, Corners, NONE, Projection, intersect};
use super::polyhedron::Polyhedron;
use super::polytope::{Axis, Polytope};
use super::reduce::emit;
use super::round::{Round, inflate, keep_nearest};
use moreau_math::Vec3;

/// Distance of the core below which its direction may be rounding, relative to `touch`: then it has
/// to separate better than the separating axes do.
const DIRECTION_IN_DOUBT: f64 = 1e9;

/// Sine below which an edge and the core have no common perpendicular.
const PARALLEL: f64 = 1e-7;

/// Rounding of the separation along a common perpendicular, relative to the sizes over the sine.
const CROSS_ROUNDING: f64 = 4.0 * f64::EPSILON;

/// The core and the solid at their nearest, in the solid's frame.
struct Near {
    /// From the solid to the core.
    axis: Axis,
    /// On the solid and on the core; none where they overlap.
    points: Option<[Vec3; 2]>,
}

/// `solid` and `features` are the same shape: what faces along a direction, and all there is.
pub(super) fn collide(
    context: &mut Context<'_>,
    solid: &Polytope<'_>,
    features: &Polyhedron<'_>,
    capsule: &Round,
) {
    let core = capsule.ends.map(|p| features.local_point(p));
    let limit = context.limit + capsule.radius;
    let Some(near) = nearest(context, features, core, limit) else {
        return;
    };
    let normal = unit(features.rotation * near.axis.normal);
    let projection = Projection::new(normal);
    let facing_solid = solid.feature(normal, context);
    let facing_core = capsule.feature(-normal);
    let tolerance = if facing_solid.is_face() {
        context.touch
    } else {
        context.touch.max(context.alongside * capsule.radius)
    };
    let mut corners = Corners::new();
    intersect(
        &facing_solid,
        &facing_core,
        &projection,
        tolerance,
        &mut corners,
    );
    if let Some([on_solid, on_core]) = near.points {
        keep_nearest(context, &mut corners, || {
            let code = Code {
                crossing: true,
                a: NONE,
                b: NONE,
            };
            projection.corner(features.placed(on_solid), features.placed(on_core), code)
        });
    } else if corners.is_empty() {
        // A core along an edge that is not quite parallel: nothing lies over each other, to rounding.
        let [low, high] = capsule.ends.map(|p| normal.dot(p));
        let end = capsule.ends[usize::from(high < low)];
        let on_solid = end - normal * near.axis.separation;
        let code = Code {
            crossing: true,
            a: NONE,
            b: NONE,
        };
        corners.push(projection.corner(on_solid, end, code));
    }
    inflate(&projection, &mut corners, None, Some(capsule));
    let facing = Some((&facing_solid, &facing_core));
    emit(context, &projection, &mut corners, facing);
}

/// None where the core is further away than `limit`.
fn nearest(
    context: &Context<'_>,
    solid: &Polyhedron<'_>,
    core: [Vec3; 2],
    limit: f64,
) -> Option<Near> {
    // The part of the core behind all faces, as an interval of its parameter.
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for face in solid.faces {
        let [d0, d1] = core.map(|p| face.distance(p));
        if d0.min(d1) > limit {
            return None;
        }
        if d0 > 0.0 && d1 > 0.0 {
            leave = -1.0;
        } else if d0 > 0.0 {
            enter = enter.max(d0 / (d0 - d1));
        } else if d1 > 0.0 {
            leave = leave.min(d0 / (d0 - d1));
        }
    }
    if enter > leave {
        let apart = nearest_outside(context, solid, core)?;
        if apart.axis.separation > limit {
            return None;
        }
        if apart.axis.separation > DIRECTION_IN_DOUBT * context.touch {
            return Some(apart);
        }
        let axis = separating_axis(context, solid, core)?;
        let along = separation_along(solid, core, apart.axis.normal);
        return Some(if along > axis.separation + context.tie {
            apart
        } else {
            Near { axis, ..apart }
        });
    }
    let axis = separating_axis(context, solid, core)?;
    Some(Near { axis, points: None })
}

/// The nearest features of a core that does not meet the solid.
fn nearest_outside(context: &Context<'_>, solid: &Polyhedron<'_>, core: [Vec3; 2]) -> Option<Near> {
    let mut best: Option<Near> = None;
    let mut along_face = f64::NEG_INFINITY;
    for face in solid.faces {
        for end in core {
            let separation = face.distance(end);
            let nearer = best.as_ref().is_none_or(|b| separation < b.axis.separation);
            if separation > 0.0 && nearer && solid.face_holds(face, end) {
                best = Some(Near {
                    axis: Axis {
                        normal: face.normal,
                        separation,
                    },
                    points: Some([end - face.normal * separation, end]),
                });
                // What the face really separates: the other end may be lower.
                along_face = core
                    .map(|p| face.distance(p))
                    .into_iter()
                    .fold(separation, f64::min);
            }
        }
    }
    let mut nearest = Shortlist::new();
    for edge in solid.edges {
        let visible = |&f: &u32| {
            let face = &solid.faces[f as usize];
            core.iter().any(|&p| face.distance(p) > 0.0)
        };
        if edge.faces.iter().any(visible) {
            let ends = solid.ends(edge);
            let near = nearest_of_segments(ends, core);
            nearest.offer(near.square, (near, ends));
        }
    }
    let along = |normal: Vec3| separation_along(solid, core, normal);
    if let Some((near, ends)) = nearest.best(|&(n, ends)| along(direction(n, ends, core))) {
        let normal = direction(near, ends, core);
        let separation = normal.dot(near.on_b - near.on_a);
        let better = (best.as_ref()).is_none_or(|b| {
            let gain = b.axis.separation - separation;
            // Of equal distances, the direction along which they are apart.
            gain > context.tie || (gain >= -context.tie && along(normal) > along_face + context.tie)
        });
        if better {
            best = Some(Near {
                axis: Axis { normal, separation },
                points: Some([near.on_a, near.on_b]),
            });
        }
    }
    best
}

/// s(n) by its definition.
fn separation_along(solid: &Polyhedron<'_>, core: [Vec3; 2], normal: Vec3) -> f64 {
    let low = normal.dot(core[0]).min(normal.dot(core[1]));
    low - solid.support(normal).1
}

/// Unit direction from an edge to the core.
fn direction(near: Nearest, edge: [Vec3; 2], core: [Vec3; 2]) -> Vec3 {
    // Where they meet the caller takes another way, and any direction will do.
    let direction = near.direction(edge, core, 0.0);
    direction.filter(|n| n.is_finite()).unwrap_or(Vec3::Y)
}

/// The axis of greatest separation between the solid and a core that touches or meets it.
fn separating_axis(context: &Context<'_>, solid: &Polyhedron<'_>, core: [Vec3; 2]) -> Option<Axis> {
    let along = core[1] - core[0];
    let mut best: Option<Axis> = None;
    let mut offer = |normal: Vec3, separation: f64, doubt: f64| {
        let better = best.as_ref().is_none_or(|held| {
            let gain = separation - held.separation;
            let prefers = || {
                let world = |n: Vec3| solid.rotation * n;
                doubt == 0.0 && context.prefers(world(normal), world(held.normal))
            };
            gain > context.tie + doubt || (gain >= -context.tie && prefers())
        });
        if better {
            best = Some(Axis { normal, separation });
        }
    };
    for face in solid.faces {
        let separation = core.map(|p| face.distance(p));
        offer(face.normal, separation[0].min(separation[1]), 0.0);
    }
    for edge in solid.edges {
        let ends = solid.ends(edge);
        let direction = ends[1] - ends[0];
        let cross = direction.cross(along);
        let scale = direction.length() * along.length();
        let sine = cross.length() / scale;
        if sine.is_nan() || sine < PARALLEL {
            continue;
        }
        let line = unit(cross);
        let rounding = CROSS_ROUNDING * (direction.length() + along.length()) / sine;
        for normal in [line, -line] {
            let separation = normal.dot(core[0]) - solid.support(normal).1;
            offer(normal, separation, rounding.max(f64::MIN_POSITIVE));
        }
    }
    best
}
