//! Ways of shapes that are not convex: surfaces and compounds, by the contacts of their parts.
//!
//! The pair is looked at, and no contact that is there can be too deep before
//!
//! ```text
//! tau = (separation + kappa) / c         c = -n·(v_b - v_a) + |n x w_a| R_a + |n x w_b| R_b
//! ```
//!
//! with R the greatest distance of a point from the centre that turns. What is further away than the
//! prediction p of the look comes no nearer than that before (p + kappa) / (greatest speed of a point).
//! The least of these times is that of the next look.
//!
//! Contacts tell which side of a surface is its front; so a body that comes from behind, where it has
//! no contact either, is not stopped.

use super::{LEG_LOOKS, SHARE, Side, depth_limit, times};
use moreau_collision::{CollideSettings, Manifold, Motion, Shape, collide_all};
use moreau_math::{Pose, Vec3};

/// The most looks in a step.
const MOST_LOOKS: u64 = 96;

/// Prediction of a look, as a part of the rest of the way, and in kappa at least.
const AHEAD: f64 = 1.0 / 16.0;
const LEAST_AHEAD: f64 = 4.0;

/// What may be missing to kappa, as a part of it.
const CLOSE: f64 = 1e-2;

/// Radius (m) of a ball that fits into the thinnest solid part of a shape; infinite for what bounds
/// solid without a limit.
pub(crate) fn inner_radius(shape: &Shape) -> f64 {
    match shape {
        Shape::Mesh(mesh) if mesh.is_closed() => {
            0.5 * shape.aabb(&Pose::IDENTITY).extents().min_element()
        }
        Shape::Mesh(_) | Shape::Heightfield(_) => f64::INFINITY,
        Shape::Compound(compound) => {
            let each = compound.children().iter().map(|c| inner_radius(&c.shape));
            each.fold(f64::INFINITY, f64::min)
        }
        convex => convex.inner_radius(),
    }
}

/// When one of the two is deeper than kappa in the other, None where that does not happen; and the looks that legs
/// after the first have cost.
pub(super) fn meet(a: &Side<'_>, b: &Side<'_>, kappa: f64) -> (Option<f64>, u64) {
    let mut limit = Limit {
        kappa,
        off: (a.legs.off + b.legs.off).min(kappa),
        depth: kappa,
    };
    limit.depth += limit.off;
    let mut looks = 0;
    for span in times(a, b).windows(2) {
        let (start, end) = (span[0], span[1]);
        let ways = [&a.from(start), &b.from(start)];
        let (found, more) = follow(ways, [a, b], (start, end), &mut limit);
        looks += if start > 0.0 { LEG_LOOKS * more } else { 0 };
        if let Some(t) = found {
            return (Some(start + t), looks);
        }
    }
    (None, looks)
}

/// How deep the two may be in each other, m.
struct Limit {
    kappa: f64,
    /// How far their legs may be off their ways.
    off: f64,
    /// Kappa and that, or where the step starts with more, that and a little: what is there already stops nobody, or
    /// bodies that a contact lets go would stand still for ever and gather speed.
    depth: f64,
}

/// When they are too deep, s from `start`, and how often they were looked at.
fn follow(
    [way_a, way_b]: [&Motion; 2],
    [a, b]: [&Side<'_>; 2],
    (start, end): (f64, f64),
    limit: &mut Limit,
) -> (Option<f64>, u64) {
    let (duration, close) = (end - start, CLOSE * limit.kappa);
    let speed = way_b.velocity.linear - way_a.velocity.linear;
    let turns = [(way_a, a), (way_b, b)].map(|(way, side)| {
        let radius = core_radius(&side.body.shape) + way.center.length();
        let turn = way.velocity.angular * radius;
        // Of a half-space that turns there is none.
        if turn.is_finite() { turn } else { Vec3::ZERO }
    });
    let fastest = speed.length() + turns[0].length() + turns[1].length();
    if !(fastest * duration > close) {
        return (None, 0);
    }
    let mut manifolds = Vec::new();
    let mut t = 0.0;
    for looks in 1..=MOST_LOOKS {
        let ahead = (AHEAD * fastest * (duration - t)).max(LEAST_AHEAD * limit.depth);
        let poses = (way_a.at(t), way_b.at(t));
        collide(a, b, (&poses.0, &poses.1), ahead, &mut manifolds);
        if start + t == 0.0 {
            let there = -deepest(&manifolds);
            if there + close >= limit.kappa {
                limit.depth = depth_limit(limit.kappa, limit.off, there.max(limit.kappa));
            }
        }
        let depth = limit.depth;
        let mut wait = (ahead + depth) / fastest;
        for manifold in &manifolds {
            let Some(separation) = manifold.min_separation() else {
                continue;
            };
            let n = manifold.normal();
            let turn = n.cross(turns[0]).length() + n.cross(turns[1]).length();
            let closing = turn - n.dot(speed);
            let gap = separation + depth;
            if closing <= 0.0 {
                continue;
            }
            if gap <= close {
                return (Some(t), looks);
            }
            wait = wait.min(gap / closing);
        }
        t += wait;
        if t >= duration {
            return (None, looks);
        }
    }
    // As far as it was seen to be free: what spins so fast that this is short can wait.
    (Some(t), MOST_LOOKS)
}

/// The least separation, m; infinite where there is none.
fn deepest(manifolds: &[Manifold]) -> f64 {
    let each = manifolds.iter().filter_map(Manifold::min_separation);
    each.fold(f64::INFINITY, f64::min)
}

/// Contacts in coordinates relative to A's origin, so that nothing is lost far from the world's.
fn collide(
    a: &Side<'_>,
    b: &Side<'_>,
    (pose_a, pose_b): (&Pose, &Pose),
    prediction: f64,
    manifolds: &mut Vec<Manifold>,
) {
    let near = Pose::new(Vec3::ZERO, pose_a.rotation);
    let far = Pose::new(pose_b.translation - pose_a.translation, pose_b.rotation);
    let settings = CollideSettings { prediction };
    let (shape_a, shape_b) = (&a.body.shape, &b.body.shape);
    collide_all(shape_a, &near, shape_b, &far, &settings, manifolds);
}

/// Greatest distance (m) from the origin of what a turn moves.
fn core_radius(shape: &Shape) -> f64 {
    match shape {
        Shape::Sphere { .. } => 0.0,
        Shape::Capsule { half_height, .. } => *half_height,
        _ => shape.bounding_radius(),
    }
}

/// How deep (m) two bodies may be in each other unwatched.
pub(super) fn kappa(a: &Shape, b: &Shape, slop: f64) -> f64 {
    (SHARE * inner_radius(a).min(inner_radius(b))).max(2.0 * slop)
}
