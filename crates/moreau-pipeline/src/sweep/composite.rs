//! Fast bodies against shapes of many parts.
//!
//! A part that is out of the body's way at the start of the step can be in it later, behind others that
//! hide it: no contact of the start tells of it. So a pair that moves by more than a part of the body's
//! thickness is looked at in between, at times so close that nothing is passed unseen, and where it is
//! found inside, the time at which it came there is halved out.
//!
//! The contacts that are known hold the body back on that way. Where gravity takes the free path below the
//! ground on which the body slides, it would cross the edges of that ground, which it never meets.

use super::{Found, MEETING_GAP, Path, points, poses};
use moreau_collision::{CollideSettings, Manifold, ManifoldPoint, Shape, collide_all};
use moreau_math::{Pose, Vec3};

/// Way (m) between two looks, as a part of the thickness of the thinner body.
const LOOK: f64 = 0.25;

/// The most looks in a step.
const MOST_LOOKS: f64 = 64.0;

const HALVINGS: u32 = 24;

/// Replaces the content of `manifolds` by the contacts at the time `t`.
pub(super) fn at(
    a: &Path<'_>,
    b: &Path<'_>,
    t: f64,
    settings: &CollideSettings,
    manifolds: &mut Vec<Manifold>,
) {
    let (near, far) = poses(a, b, t);
    let (shape_a, shape_b) = (&a.body.shape, &b.body.shape);
    collide_all(shape_a, &near, shape_b, &far, settings, manifolds);
}

/// Adds the contacts of parts that the pair first meets on its way.
pub(super) fn find_on_the_way(
    a: &Path<'_>,
    b: &Path<'_>,
    (prediction, dt): (f64, f64),
    found: &mut Vec<Found>,
) {
    let turn = |path: &Path<'_>| turn(path, dt);
    let way = (b.velocity.linear - a.velocity.linear).length() * dt + turn(a) + turn(b);
    let looks = looks(&a.body.shape, &b.body.shape, way);
    if looks == 0.0 {
        return;
    }
    let known: Vec<(u32, u32)> = found.iter().map(|f| f.manifold.parts()).collect();
    let settings = CollideSettings { prediction };
    let mut manifolds = Vec::new();
    let inside = |t: f64, manifolds: &mut Vec<Manifold>| {
        let back = held_back(a, b, t, found);
        let (near, far) = poses(a, b, t);
        let far = Pose::new(far.translation + back, far.rotation);
        let (shape_a, shape_b) = (&a.body.shape, &b.body.shape);
        collide_all(shape_a, &near, shape_b, &far, &settings, manifolds);
        manifolds.retain(|m| !known.contains(&m.parts()));
        let overlaps = |m: &Manifold| m.min_separation().is_some_and(|gap| gap < -MEETING_GAP);
        manifolds.iter().any(overlaps)
    };
    let mut apart = 0.0;
    for look in 1..=looks as u32 {
        let mut late = dt * (f64::from(look) / looks);
        if !inside(late, &mut manifolds) {
            apart = late;
            continue;
        }
        for _ in 0..HALVINGS {
            let middle = 0.5 * (apart + late);
            if inside(middle, &mut manifolds) {
                late = middle;
            } else {
                apart = middle;
            }
        }
        inside(late, &mut manifolds);
        // What is deep at once lies behind a part that is known: a body that this one stops never comes
        // there, and the plane would stop it too early.
        let deepest = if known.is_empty() {
            f64::NEG_INFINITY
        } else {
            -10.0 * MEETING_GAP
        };
        let met = |m: &Manifold| {
            let gap = m.min_separation();
            gap.is_some_and(|gap| (deepest..=MEETING_GAP).contains(&gap))
        };
        let back = held_back(a, b, late, found);
        found.extend((manifolds.drain(..).filter(met)).map(|manifold| Found {
            manifold: moved(&manifold, -back),
            time: late,
        }));
        found.sort_by_key(|f| f.manifold.parts());
        return;
    }
}

/// The way (m) by which the free path to the time `t` takes B further into the known contacts than it was.
fn held_back(a: &Path<'_>, b: &Path<'_>, t: f64, known: &[Found]) -> Vec3 {
    let mut back = Vec3::ZERO;
    for found in known {
        let normal = found.manifold.normal();
        let separations = points(a, b, found).map(|(lever_a, lever_b, separation)| {
            let speed = normal.dot(b.velocity.at(lever_b) - a.velocity.at(lever_a));
            separation + (t - found.time) * speed
        });
        let deepest = separations.fold(f64::INFINITY, f64::min) + normal.dot(back);
        let allowed = found.manifold.min_separation().unwrap_or(0.0).min(0.0);
        if deepest < allowed {
            back += normal * (allowed - deepest);
        }
    }
    back
}

/// The manifold with B's points moved by `shift` (m).
fn moved(manifold: &Manifold, shift: Vec3) -> Manifold {
    if shift == Vec3::ZERO {
        return *manifold;
    }
    let mut moved = *manifold;
    moved.reset(manifold.normal());
    for point in manifold.points() {
        moved.push(ManifoldPoint {
            point_b: point.point_b + shift,
            separation: point.separation + manifold.normal().dot(shift),
            ..*point
        });
    }
    moved
}

/// How far turning alone can bring a point of the body in `dt`, m.
fn turn(path: &Path<'_>, dt: f64) -> f64 {
    let radius = match &path.body.shape {
        Shape::Sphere { .. } => 0.0,
        Shape::Capsule { half_height, .. } => *half_height,
        shape => shape.bounding_radius(),
    };
    let arm = radius + path.body.mass.center_of_mass.length();
    let turn = (path.velocity.angular.length() * dt).min(2.0) * arm;
    // Of a half-space there is none.
    if turn.is_finite() { turn } else { 0.0 }
}

/// The least extent of a shape's box, m; of a surface, which bounds solid, without limit.
fn thickness(shape: &Shape) -> f64 {
    match shape {
        Shape::Mesh(mesh) if !mesh.is_closed() => f64::INFINITY,
        Shape::HalfSpace { .. } | Shape::Heightfield(_) => f64::INFINITY,
        Shape::Compound(compound) => {
            let each = compound.children().iter().map(|c| thickness(&c.shape));
            each.fold(f64::INFINITY, f64::min)
        }
        _ => shape.aabb(&Pose::IDENTITY).extents().min_element(),
    }
}

/// How often to look at two shapes on a way (m); zero where none is needed.
pub(super) fn looks(a: &Shape, b: &Shape, way: f64) -> f64 {
    let thin = thickness(a).min(thickness(b));
    let looks = (way / (LOOK * thin)).ceil().min(MOST_LOOKS);
    // Also where a number is not one.
    if looks > 1.0 { looks } else { 0.0 }
}
