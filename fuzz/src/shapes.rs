//! Shapes from bytes, of all kinds.

use crate::bytes::Bytes;
use moreau::{Pose, Shape, Vec3, vec3};

/// A shape of any kind, valid or not; None where its builder refuses it.
pub(crate) fn shape(bytes: &mut Bytes<'_>) -> Option<Shape> {
    match bytes.byte() % 16 {
        0..=12 => simple(bytes),
        _ => {
            let count = 1 + bytes.below(4);
            let mut children = Vec::new();
            for _ in 0..count {
                let child = simple(bytes)?;
                children.push((child, bytes.pose()));
            }
            Shape::compound(&children).ok()
        }
    }
}

fn simple(bytes: &mut Bytes<'_>) -> Option<Shape> {
    Some(match bytes.byte() % 10 {
        0 => Shape::sphere(size(bytes)),
        1 | 2 => Shape::cuboid(size(bytes), size(bytes), size(bytes)),
        3 => {
            let half_height = bytes.number().abs();
            Shape::capsule(half_height, size(bytes))
        }
        4 => Shape::cylinder(size(bytes), size(bytes)),
        5 => Shape::cone(size(bytes), size(bytes)),
        6 => {
            let normal = bytes.direction();
            let stretch = if bytes.is_wild() { size(bytes) } else { 1.0 };
            Shape::half_space(normal * stretch)
        }
        7 => Shape::hull(&points(bytes)).ok()?,
        8 => mesh(bytes)?,
        _ => heightfield(bytes)?,
    })
}

/// Positive, unless the numbers are wild: then as it comes.
fn size(bytes: &mut Bytes<'_>) -> f64 {
    let number = bytes.number();
    if bytes.is_wild() {
        number
    } else {
        number.abs().max(1e-3)
    }
}

/// 4 to 19.
pub(crate) fn points(bytes: &mut Bytes<'_>) -> Vec<Vec3> {
    let count = 4 + bytes.below(16);
    (0..count).map(|_| bytes.vector()).collect()
}

/// The triangles of a hull, some of them left out; or any triangles.
fn mesh(bytes: &mut Bytes<'_>) -> Option<Shape> {
    let points = points(bytes);
    if bytes.byte() % 4 == 0 {
        return Shape::mesh(&points, &triangles(bytes, points.len())).ok();
    }
    let hull = moreau::ConvexHull::new(&points).ok()?;
    let mut triangles: Vec<[u32; 3]> = hull.triangles().collect();
    let gap = bytes.below(24);
    if gap < triangles.len() {
        triangles.remove(gap);
    }
    Shape::mesh(hull.vertices(), &triangles).ok()
}

/// Of vertices that mostly exist.
pub(crate) fn triangles(bytes: &mut Bytes<'_>, vertices: usize) -> Vec<[u32; 3]> {
    let count = bytes.below(12);
    let mut corner = || bytes.below(vertices + usize::from(bytes.is_wild())) as u32;
    (0..count).map(|_| [corner(), corner(), corner()]).collect()
}

fn heightfield(bytes: &mut Bytes<'_>) -> Option<Shape> {
    let (rows, columns, heights, spacing) = samples(bytes);
    Shape::heightfield(rows, columns, heights, spacing).ok()
}

/// Rows, columns, heights and spacing of a heightfield.
pub(crate) fn samples(bytes: &mut Bytes<'_>) -> (usize, usize, Vec<f64>, [f64; 2]) {
    let (rows, columns) = (2 + bytes.below(4), 2 + bytes.below(4));
    let heights = (0..rows * columns).map(|_| bytes.number()).collect();
    let spacing = [size(bytes), size(bytes)];
    (rows, columns, heights, spacing)
}

/// Whether every number is one that a simulation may hold: sizes from 1 µm to 1000 km, places
/// within as much, rotations of length 1. What must hold to rounding is asked of these only.
pub(crate) fn is_usual(shape: &Shape, pose: &Pose) -> bool {
    const LEAST: f64 = 1e-6;
    const MOST: f64 = 1e6;
    let within = |x: f64| (LEAST..=MOST).contains(&x);
    let dimensions = match shape {
        Shape::Sphere { radius } => vec3(*radius, *radius, *radius),
        Shape::Cuboid { half_extents } => *half_extents,
        Shape::Capsule {
            half_height,
            radius,
        } => {
            // A capsule may be a ball; with less than a length it touches nothing.
            let is_length = *half_height == 0.0 || *half_height >= 1e-50;
            let height = if is_length { half_height.max(LEAST) } else { 0.0 };
            vec3(height, *radius, *radius)
        }
        Shape::Cylinder {
            half_height,
            radius,
        }
        | Shape::Cone {
            half_height,
            radius,
        } => vec3(*half_height, *radius, *radius),
        Shape::HalfSpace { .. } => Vec3::ONE,
        Shape::Hull(hull) => {
            let deepest = hull.faces().iter().map(|f| -f.distance(hull.center()));
            vec3(
                deepest.fold(f64::INFINITY, f64::min),
                hull.bounding_radius(),
                1.0,
            )
        }
        Shape::Mesh(_) | Shape::Heightfield(_) => Vec3::splat(shape.bounding_radius()),
        Shape::Compound(compound) => {
            if !compound
                .children()
                .iter()
                .all(|c| is_usual(&c.shape, &c.pose))
            {
                return false;
            }
            Vec3::ONE
        }
    };
    shape.validate().is_ok()
        && dimensions.to_array().into_iter().all(within)
        // No longer than ten thousand times its width.
        && dimensions.max_element() <= 1e4 * dimensions.min_element()
        && pose.translation.is_finite()
        && pose.translation.abs().max_element() <= MOST
        && is_rotation(pose)
}

pub(crate) fn is_rotation(pose: &Pose) -> bool {
    (pose.rotation.length() - 1.0).abs() <= 1e-12
}
