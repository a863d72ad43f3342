//! Contacts of any two shapes: taken apart into pairs of convex parts, one manifold or more each.
//!
//! ```text
//! compound      each child whose box comes near the other shape
//! surface       each triangle near a convex shape (`on_surface`), or near one of another surface
//!               (`surface_pair`); its vertices against a half-space
//! convex        `collide`
//! ```
//!
//! **Parts** are numbered through: a convex shape has part 0, a surface one for each triangle, a
//! compound those of its first child, then those of its second, and so on.

use super::context::{Operand, is_reversed, is_usable};
use super::on_surface::{self, Ground, NOT_OF_FACE};
use super::{CollideSettings, collide, hull_bound, surface_pair};
use crate::surface::Surface;
use crate::{Manifold, Shape};
use moreau_math::Pose;

/// Replaces the content of `manifolds` by all contacts of two shapes of any kind at two poses.
///
/// Each manifold has a plane of its own and says which [parts](Manifold::parts) of the shapes it
/// belongs to; they are sorted by these, and no two have the same. A still pair keeps its parts and its
/// features. Coplanar triangles of a surface make one manifold, of at most four points.
///
/// Exchanging the shapes exchanges the contacts, as [`collide`] does.
///
/// A surface (mesh, heightfield) meets a half-space with its vertices, any convex shape and any other
/// surface with its triangles. What lies beyond the far side of a plate, or in the next room, is not
/// touched.
///
/// **No contacts** are found between two half-spaces, and of closed meshes of which one lies within the
/// solid of the other without touching its surface.
///
/// ```
/// use moreau_collision::{CollideSettings, Shape, collide_all};
/// use moreau_math::{Pose, vec3};
///
/// let ground = Shape::heightfield(2, 3, vec![0.0; 6], [1.0, 2.0])?;
/// let cube = Shape::cuboid(0.5, 0.5, 0.5);
/// let above = Pose::from_translation(vec3(1.0, 0.5, 1.0));
/// let mut manifolds = Vec::new();
/// let settings = CollideSettings::default();
/// collide_all(&ground, &Pose::IDENTITY, &cube, &above, &settings, &mut manifolds);
/// assert_eq!(manifolds.len(), 1);
/// assert_eq!(manifolds[0].points().len(), 4);
/// # Ok::<(), moreau_collision::ShapeError>(())
/// ```
pub fn collide_all(
    shape_a: &Shape,
    pose_a: &Pose,
    shape_b: &Shape,
    pose_b: &Pose,
    settings: &CollideSettings,
    manifolds: &mut Vec<Manifold>,
) {
    manifolds.clear();
    let side = |shape, pose| Side {
        shape,
        pose,
        first: 0,
        only: None,
    };
    pair(
        side(shape_a, pose_a),
        side(shape_b, pose_b),
        settings,
        manifolds,
    );
    manifolds.sort_by_key(|m| m.parts());
}

/// As [`collide_all`], of nothing but the two `parts` that a manifold of the pair named: where they
/// touch at other poses. Parts alone may be deeper than the whole, of which others would touch there.
pub fn collide_parts(
    (shape_a, pose_a): (&Shape, &Pose),
    (shape_b, pose_b): (&Shape, &Pose),
    parts: (u32, u32),
    settings: &CollideSettings,
    manifolds: &mut Vec<Manifold>,
) {
    manifolds.clear();
    let side = |shape, pose, part| Side {
        shape,
        pose,
        first: 0,
        only: Some(part),
    };
    let a = side(shape_a, pose_a, parts.0);
    let b = side(shape_b, pose_b, parts.1);
    pair(a, b, settings, manifolds);
    manifolds.sort_by_key(|m| m.parts());
}

/// One of the two shapes, or a part of it.
#[derive(Clone, Copy)]
struct Side<'a> {
    shape: &'a Shape,
    pose: &'a Pose,
    /// Number of its first part in the whole.
    first: u32,
    /// Only this part of it, counted from its first.
    only: Option<u32>,
}

/// Appends the manifolds of `a` and `b`.
fn pair(a: Side<'_>, b: Side<'_>, settings: &CollideSettings, manifolds: &mut Vec<Manifold>) {
    let start = manifolds.len();
    match (a.shape, b.shape) {
        (Shape::Compound(_), _) => children(a, b, settings, manifolds),
        (_, Shape::Compound(_)) => {
            children(b, a, settings, manifolds);
            exchange(&mut manifolds[start..]);
        }
        (Shape::HalfSpace { .. }, _) | (_, Shape::HalfSpace { .. }) => {
            whole(a, b, settings, manifolds);
        }
        _ => match (a.shape.surface(), b.shape.surface()) {
            (None, None) => whole(a, b, settings, manifolds),
            (Some(_), None) => on_surface(a, b, settings, manifolds),
            (None, Some(_)) => {
                on_surface(b, a, settings, manifolds);
                exchange(&mut manifolds[start..]);
            }
            (Some(_), Some(_)) => surfaces(a, b, settings, manifolds),
        },
    }
}

/// The number in the whole of a part counted from `first`.
fn numbered(first: u32, part: u32) -> u32 {
    (part & NOT_OF_FACE) | (first + (part & !NOT_OF_FACE))
}

fn exchange(manifolds: &mut [Manifold]) {
    manifolds.iter_mut().for_each(Manifold::exchange);
}

fn whole(a: Side<'_>, b: Side<'_>, settings: &CollideSettings, manifolds: &mut Vec<Manifold>) {
    let mut manifold = Manifold::default();
    collide(a.shape, a.pose, b.shape, b.pose, settings, &mut manifold);
    if !manifold.is_empty() {
        manifold.set_parts((a.first, b.first));
        manifolds.push(manifold);
    }
}

fn on_surface(a: Side<'_>, b: Side<'_>, settings: &CollideSettings, manifolds: &mut Vec<Manifold>) {
    let Some(surface) = a.shape.surface().filter(|_| is_usable(a.shape, a.pose)) else {
        return;
    };
    let start = manifolds.len();
    let ground = ground(a, surface);
    on_surface::collide(ground, b.shape, b.pose, settings.prediction, manifolds);
    if a.only.is_none() {
        let sides = [(a.shape, a.pose), (b.shape, b.pose)];
        hull_bound::hold(sides, settings, start, manifolds);
    }
    for manifold in &mut manifolds[start..] {
        manifold.set_parts((numbered(a.first, manifold.parts().0), b.first));
    }
}

fn ground<'a>(side: Side<'a>, surface: &'a Surface) -> Ground<'a> {
    Ground {
        surface,
        pose: side.pose,
        is_bottomless: matches!(side.shape, Shape::Heightfield(_)),
        only: side.only,
    }
}

fn surfaces(a: Side<'_>, b: Side<'_>, settings: &CollideSettings, manifolds: &mut Vec<Manifold>) {
    let (Some(on_a), Some(on_b)) = (a.shape.surface(), b.shape.surface()) else {
        return;
    };
    if !(is_usable(a.shape, a.pose) && is_usable(b.shape, b.pose)) {
        return;
    }
    let start = manifolds.len();
    let operands = (Operand::new(a.shape, a.pose), Operand::new(b.shape, b.pose));
    let grounds = (ground(a, on_a), ground(b, on_b));
    if is_reversed(&operands.0, &operands.1) {
        let grounds = [grounds.1, grounds.0];
        surface_pair::collide(grounds, settings.prediction, manifolds);
        exchange(&mut manifolds[start..]);
    } else {
        let grounds = [grounds.0, grounds.1];
        surface_pair::collide(grounds, settings.prediction, manifolds);
    }
    if a.only.is_none() && b.only.is_none() {
        let sides = [(a.shape, a.pose), (b.shape, b.pose)];
        hull_bound::hold(sides, settings, start, manifolds);
    }
    for manifold in &mut manifolds[start..] {
        let (part_a, part_b) = manifold.parts();
        manifold.set_parts((numbered(a.first, part_a), numbered(b.first, part_b)));
    }
}

/// Each child of the compound `a` near to `b`.
fn children(a: Side<'_>, b: Side<'_>, settings: &CollideSettings, manifolds: &mut Vec<Manifold>) {
    let Shape::Compound(compound) = a.shape else {
        return;
    };
    if !(is_usable(a.shape, a.pose) && is_usable(b.shape, b.pose)) {
        return;
    }
    let mut near: Vec<u32> = Vec::new();
    let is_bottomless = match b.shape {
        Shape::Heightfield(_) => true,
        Shape::Compound(other) => !other.heightfields().is_empty(),
        _ => false,
    };
    if is_bottomless {
        near.extend(0..compound.children().len() as u32);
    } else {
        // Rounding is far below half the prediction distance, or the shapes' sizes.
        let size = b.shape.bounding_radius().min(a.shape.bounding_radius());
        let far = (b.pose.translation - a.pose.translation)
            .abs()
            .max_element();
        let margin = settings.prediction.max(0.0) * 1.5 + 1e-9 * (size + far);
        let local = b.shape.aabb(&a.pose.relative(b.pose)).enlarged(margin);
        compound.tree().overlapping(&local, &mut near);
        for &index in compound.heightfields() {
            if !near.contains(&index) {
                near.push(index);
            }
        }
    }
    for index in near {
        let child = &compound.children()[index as usize];
        let first = compound.first_part(index as usize);
        let count = child.shape.part_count() as u32;
        let only = match a.only {
            None => None,
            Some(part) => {
                let plain = part & !NOT_OF_FACE;
                if plain < first || plain >= first + count {
                    continue;
                }
                Some((part & NOT_OF_FACE) | (plain - first))
            }
        };
        let pose = a.pose.mul_pose(&child.pose);
        let side = Side {
            shape: &child.shape,
            pose: &pose,
            first: a.first + first,
            only,
        };
        pair(side, b, settings, manifolds);
    }
}
