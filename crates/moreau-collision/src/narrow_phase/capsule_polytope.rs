//! Box or hull against a capsule: the capsule's core segment against the solid, less the radius.
//!
//! - The core is outside: the nearest of its ends over the faces they lie over, and of the solid's
//!   edges to the core. That covers every pair of nearest features.
//! - The core meets the solid: the least separating translation, by the axes f (a face's normal) and
//!   e x s (an edge's and the core's direction): s(n) = least n·core - greatest n·solid.

use super::context::{Context, unit};
use super::feature::Feature;
use super::patch::{Code, NONE, Projection, intersect};
use super::polyhedron::Polyhedron;
use super::polytope::{Axis, Polytope};
use super::reduce::emit;
use super::round::{ALONGSIDE, Round, inflate, keep_nearest, nearest_of_segments};
use moreau_math::Vec3;

/// Distance of the core below which its direction is left to the separating axes, relative to
/// `touch`.
const DIRECTION_LOST: f64 = 1e3;

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

/// `solid` and `tables` are the same shape: what faces along a direction, and all its features.
pub(super) fn collide(
    context: &mut Context<'_>,
    solid: &Polytope<'_>,
    tables: &Polyhedron<'_>,
    capsule: &Round,
) {
    let core = capsule.ends.map(|p| tables.local_point(p));
    let limit = context.limit + capsule.radius;
    let Some(near) = nearest(context, tables, core, limit) else {
        return;
    };
    let normal = unit(tables.rotation * near.axis.normal);
    let projection = Projection::new(normal);
    let facing_solid = solid.feature(normal, context);
    let facing_core = capsule.feature(-normal);
    let tolerance = if facing_solid.is_face() {
        context.touch
    } else {
        context.touch.max(ALONGSIDE * capsule.radius)
    };
    let mut corners = intersect(&facing_solid, &facing_core, &projection, tolerance);
    if let Some([on_solid, on_core]) = near.points {
        keep_nearest(context, &mut corners, || {
            let code = Code {
                crossing: true,
                a: NONE,
                b: NONE,
            };
            projection.corner(tables.placed(on_solid), tables.placed(on_core), code)
        });
    }
    inflate(&projection, &mut corners, None, Some(capsule));
    let features: (&Feature, &Feature) = (&facing_solid, &facing_core);
    emit(context, &projection, &mut corners, Some(features));
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
        if apart.axis.separation > DIRECTION_LOST * context.touch {
            return Some(apart);
        }
    }
    let axis = separating_axis(context, solid, core)?;
    Some(Near { axis, points: None })
}

/// The nearest features of a core that does not meet the solid.
fn nearest_outside(context: &Context<'_>, solid: &Polyhedron<'_>, core: [Vec3; 2]) -> Option<Near> {
    let mut best: Option<Near> = None;
    let mut offer = |normal: Vec3, separation: f64, points: [Vec3; 2], margin: f64| {
        if (best.as_ref()).is_none_or(|b| separation < b.axis.separation - margin) {
            best = Some(Near {
                axis: Axis { normal, separation },
                points: Some(points),
            });
        }
    };
    for face in solid.faces {
        for end in core {
            let distance = face.distance(end);
            if distance > 0.0 && solid.face_holds(face, end) {
                offer(
                    face.normal,
                    distance,
                    [end - face.normal * distance, end],
                    0.0,
                );
            }
        }
    }
    let along = core[1] - core[0];
    let mut least = f64::INFINITY;
    let mut nearest_edge = None;
    for edge in solid.edges {
        let hidden = edge.faces.iter().all(|&f| {
            let face = &solid.faces[f as usize];
            core.iter().all(|&p| face.distance(p) <= 0.0)
        });
        if hidden {
            continue;
        }
        let ends = solid.ends(edge);
        let near = nearest_of_segments(ends, core);
        if near.square < least {
            least = near.square;
            nearest_edge = Some((near, ends[1] - ends[0]));
        }
    }
    if let Some((near, edge)) = nearest_edge {
        let d = near.on_b - near.on_a;
        let distance = d.length();
        if distance > 0.0 {
            let mut normal = unit(d);
            let cross = edge.cross(along);
            let reach = edge.length() + along.length();
            // Where the cores cross, the common perpendicular is better known than the difference.
            if near.interior && distance * edge.length() * along.length() < cross.length() * reach {
                let line = unit(cross);
                normal = if line.dot(d) < 0.0 { -line } else { line };
            }
            offer(normal, normal.dot(d), [near.on_a, near.on_b], context.tie);
        } else {
            offer(Vec3::Y, 0.0, [near.on_a, near.on_b], context.tie);
        }
    }
    best
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
