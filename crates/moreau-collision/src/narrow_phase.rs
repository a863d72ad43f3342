//! The contact of two convex shapes.
//!
//! Every shape is a *core* (point, segment, polytope, cylinder or cone) rounded by a radius. A pair is solved in two
//! steps:
//!
//! 1. the unit normal n of the least translation that separates overlapping cores, or of the shortest
//!    distance between separated ones (`box_box`, `hull_hull`, `gjk`, `round`; `expand` for cylinders and
//!    cones);
//! 2. the contact patch along that n (`patch`): the flat pieces of both surfaces that face along n
//!    (`feature`) are projected along n and intersected, and each corner of the intersection, lifted
//!    back on both surfaces, is a contact point.
//!
//! Both cores lie on their own sides of the supporting planes of n, so no point of step 2 is deeper
//! than the separation of step 1, and the points follow n continuously. Step 2 does not know which
//! shape made the normal, so nothing changes where the choice between two equal normals flips.
//!
//! **Frame.** World axes, with the origin at the centre of the smaller shape: far from the world's
//! origin only the rounding of the inputs is felt.
//!
//! **Order.** The two shapes are brought into an order that does not depend on which came first, and
//! the result is turned back: exchanging A and B exchanges the result to the last bit.

mod all;
mod balls;
mod box_box;
mod capsule_polytope;
mod context;
mod core;
mod curved;
mod disc;
mod expand;
mod feature;
mod gjk;
mod half_space;
mod hull_bound;
mod hull_hull;
mod nearest;
mod on_surface;
mod on_triangle;
mod patch;
mod placed;
mod polyhedron;
mod polytope;
mod reduce;
mod refine;
mod revolved;
mod rim_normals;
mod room;
mod round;
mod solid;
mod sphere_polytope;
mod sphere_revolved;
mod surface_pair;

pub use all::{collide_all, collide_parts};
pub(crate) use on_surface::NOT_OF_FACE;

use crate::{Manifold, ManifoldPoint, Shape};
use context::{ALONGSIDE, Context, Operand};
use core::Core;
use half_space::HalfSpace;
use moreau_math::{Pose, Vec3};
use placed::PlacedBox;
use polyhedron::Polyhedron;
use polytope::Polytope;
use revolved::Revolved;
use round::Round;
use serde::{Deserialize, Serialize};

/// Knobs of [`collide`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CollideSettings {
    /// Points are reported up to this separation, m. Default 0.02. Zero reports only touching and
    /// overlapping shapes; too small makes contacts appear after the overlap, too big costs time.
    ///
    /// Rounding must not lose a contact that touches exactly: points up to 1e-12 of the shapes' sizes
    /// (plus the rounding of the poses' coordinates) further apart are reported as well.
    pub prediction: f64,
}

impl Default for CollideSettings {
    fn default() -> Self {
        Self { prediction: 0.02 }
    }
}

/// Fills `manifold` with the contact of two convex shapes at two poses; leaves it empty where they are
/// further apart than `settings.prediction`, and for two half-spaces.
///
/// There are no contacts either of what is nowhere: where a pose is not finite, a dimension is negative
/// or not finite, or a length lies beyond 1e-50 to 1e50 m, so that products of lengths would overflow
/// or vanish.
///
/// Where the shapes overlap the normal is that of the least translation that separates them, and no
/// point is deeper than that translation; where they do not, it is the direction of their shortest
/// distance. Where several normals are equal to rounding (equal balls at one point, a cube in the
/// centre of another) one of them is chosen by the shapes' own axes.
///
/// Convex means sphere, box, capsule, cylinder, cone, half-space and hull ([`Shape::is_convex`]). Meshes,
/// heightfields and compounds give no points here, wherever they are, and no error: take [`crate::collide_all`], which
/// gives a manifold for each pair of parts.
///
/// Exchanging the shapes exchanges the points, to the last bit, unless the two are indistinguishable.
pub fn collide(
    shape_a: &Shape,
    pose_a: &Pose,
    shape_b: &Shape,
    pose_b: &Pose,
    settings: &CollideSettings,
    manifold: &mut Manifold,
) {
    collide_holding(
        (shape_a, pose_a),
        (shape_b, pose_b),
        settings,
        &[],
        manifold,
    );
}

/// Fills `manifold` as [`collide`] does; where more corners touch than it has points, those at the points
/// `held` (world frame, m) are kept before others.
///
/// For bodies that hardly move from one call to the next: held where they carried a body the last time, the
/// corners that it stands on stay. Points at which there is no corner (within 1 % of the width over
/// which the shapes touch) count as not given. Of a shape and its pose each.
pub fn collide_holding(
    (shape_a, pose_a): (&Shape, &Pose),
    (shape_b, pose_b): (&Shape, &Pose),
    settings: &CollideSettings,
    held: &[Vec3],
    manifold: &mut Manifold,
) {
    manifold.clear();
    let sides = ((shape_a, pose_a), (shape_b, pose_b));
    if !balls::collide(sides.0, sides.1, settings.prediction, manifold) {
        collide_shapes(sides.0, sides.1, settings, held, manifold);
    }
}

/// Apart from the way of balls, which needs none of what stands here.
#[inline(never)]
fn collide_shapes(
    (shape_a, pose_a): (&Shape, &Pose),
    (shape_b, pose_b): (&Shape, &Pose),
    settings: &CollideSettings,
    held: &[Vec3],
    manifold: &mut Manifold,
) {
    let operands = (Operand::new(shape_a, pose_a), Operand::new(shape_b, pose_b));
    let held = &held[..held.len().min(Manifold::CAPACITY)];
    run(operands, settings.prediction, held, ALONGSIDE, manifold);
}

/// The points of two shapes that [`closest_points`] finds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosestPoints {
    /// On the surface of A, world frame, m.
    pub point_a: Vec3,
    /// On the surface of B, world frame, m.
    pub point_b: Vec3,
    /// Unit vector from A to B, world frame, along which they are nearest or overlap least.
    pub normal: Vec3,
    /// normal·(point_b - point_a), m: the shortest distance, or minus the least translation that
    /// separates shapes that overlap.
    pub separation: f64,
}

/// The closest points of two shapes at any distance; of overlapping shapes the two points that the
/// least separating translation brings together.
///
/// point_b = point_a + separation normal, to rounding. Where whole lines or faces are equally close,
/// a point of them. `None` for two half-spaces, and for what has no contacts with [`collide`].
///
/// ```
/// use moreau_collision::{Shape, closest_points};
/// use moreau_math::{Pose, vec3};
///
/// let (ball, cube) = (Shape::sphere(0.5), Shape::cuboid(1.0, 1.0, 1.0));
/// let away = Pose::from_translation(vec3(4.0, 0.0, 0.0));
/// let near = closest_points(&ball, &Pose::IDENTITY, &cube, &away).unwrap();
/// assert_eq!((near.separation, near.point_a.x, near.point_b.x), (2.5, 0.5, 3.0));
/// ```
pub fn closest_points(
    shape_a: &Shape,
    pose_a: &Pose,
    shape_b: &Shape,
    pose_b: &Pose,
) -> Option<ClosestPoints> {
    let mut manifold = Manifold::default();
    let operands = (Operand::new(shape_a, pose_a), Operand::new(shape_b, pose_b));
    run(operands, f64::INFINITY, &[], 0.0, &mut manifold);
    let deeper = |p: &ManifoldPoint, q: &ManifoldPoint| p.separation < q.separation;
    let deepest = (manifold.points().iter()).reduce(|p, q| if deeper(q, p) { q } else { p })?;
    Some(ClosestPoints {
        point_a: deepest.point_a,
        point_b: deepest.point_b,
        normal: manifold.normal(),
        separation: deepest.separation,
    })
}

/// Fills the manifold; see [`Context`] for `held` and `alongside`.
fn run(
    (a, b): (Operand<'_>, Operand<'_>),
    prediction: f64,
    held: &[Vec3],
    alongside: f64,
    manifold: &mut Manifold,
) {
    let flat = |operand: &Operand<'_>| matches!(operand.shape, Shape::HalfSpace { .. });
    let fits = |operand: &Operand<'_>, other: &Operand<'_>| {
        operand.shape.is_convex() || (flat(other) && operand.shape.surface().is_some())
    };
    if !(fits(&a, &b) && fits(&b, &a)) {
        return;
    }
    let swapped = context::is_reversed(&a, &b);
    let (first, second) = if swapped { (&b, &a) } else { (&a, &b) };
    let Some(mut context) = Context::new(first, second, prediction, manifold) else {
        return;
    };
    (context.held, context.alongside) = (held, alongside);
    dispatch(&mut context, first, second);
    if swapped {
        manifold.exchange();
    }
}

/// The pair in the order of [`context::is_reversed`]: half-space, box, hull, cylinder, cone,
/// capsule, ball.
fn dispatch(context: &mut Context<'_>, first: &Operand<'_>, second: &Operand<'_>) {
    let origin = context.origin;
    match (first.shape, second.shape) {
        (Shape::HalfSpace { normal }, other) => {
            let plane = HalfSpace {
                normal: context::unit(first.pose.rotation * *normal),
                point: first.pose.translation - origin,
            };
            half_space::collide(context, plane, other, second.pose);
        }
        (a, Shape::Sphere { radius }) => {
            let ball = Round::ball(second.pose.translation - origin, *radius);
            collide_with_ball(context, a, first.pose, &ball);
        }
        // A capsule whose cylinder is lost in the rounding is a ball: its line has no direction.
        (
            a,
            Shape::Capsule {
                half_height,
                radius,
            },
        ) if *half_height <= context.touch => {
            let ball = Round::ball(second.pose.translation - origin, *radius);
            collide_with_ball(context, a, first.pose, &ball);
        }
        (Shape::Capsule { .. }, Shape::Capsule { .. }) => {
            let rounds = (
                Round::new(first.shape, first.pose, origin),
                Round::new(second.shape, second.pose, origin),
            );
            if let (Some(a), Some(b)) = rounds {
                round::collide_capsules(context, &a, &b);
            }
        }
        (Shape::Cylinder { .. } | Shape::Cone { .. }, _)
        | (_, Shape::Cylinder { .. } | Shape::Cone { .. }) => {
            let cores = (
                Core::new(first.shape, first.pose, origin),
                Core::new(second.shape, second.pose, origin),
            );
            if let (Some(a), Some(b)) = cores {
                curved::collide(context, &a, &b);
            }
        }
        (a, b) => {
            let solids = (
                Polytope::new(a, first.pose, origin),
                Polytope::new(b, second.pose, origin),
            );
            match solids {
                (Some(a), Some(b)) => collide_polytopes(context, &a, &b),
                (Some(a), None) => {
                    if let Some(capsule) = Round::new(b, second.pose, origin) {
                        a.with_polyhedron(|features| {
                            capsule_polytope::collide(context, &a, features, &capsule);
                        });
                    }
                }
                _ => {}
            }
        }
    }
}

fn collide_polytopes(context: &mut Context<'_>, a: &Polytope<'_>, b: &Polytope<'_>) {
    let axis = if let (Polytope::Box(a), Polytope::Box(b)) = (a, b) {
        box_box::separating_axis(context, a, b)
    } else {
        a.with_polyhedron(|a| b.with_polyhedron(|b| hull_hull::separating_axis(context, a, b)))
    };
    if let Some(axis) = axis {
        polytope::collide(context, axis, a, b);
    }
}

fn collide_with_ball(context: &mut Context<'_>, shape: &Shape, pose: &Pose, ball: &Round) {
    let center = ball.ends[0];
    match shape {
        Shape::Cuboid { half_extents } => {
            let a = PlacedBox::new(*half_extents, pose, context.origin);
            sphere_polytope::collide_box(context, &a, center, ball.radius);
        }
        Shape::Hull(hull) => {
            let a = Polyhedron::of_hull(hull, pose, context.origin);
            sphere_polytope::collide_hull(context, &a, center, ball.radius);
        }
        Shape::Capsule { .. } | Shape::Sphere { .. } => {
            if let Some(a) = Round::new(shape, pose, context.origin) {
                round::collide_with_ball(context, &a, ball);
            }
        }
        Shape::Cylinder { .. } | Shape::Cone { .. } => {
            if let Some(a) = Revolved::new(shape, pose, context.origin) {
                sphere_revolved::collide(context, &a, center, ball.radius);
            }
        }
        Shape::HalfSpace { .. } | Shape::Mesh(_) | Shape::Heightfield(_) | Shape::Compound(_) => {}
    }
}
