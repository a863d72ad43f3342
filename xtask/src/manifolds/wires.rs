//! The lines of a convex shape that are drawn besides its outline: edges and rims.

use moreau::collision::{ConvexHull, Shape};
use moreau::math::{Pose, Vec3, libm, vec3};
use std::f64::consts::TAU;

/// A line, and whether it is on the side that is seen.
pub(crate) struct Wire {
    pub(crate) points: Vec<Vec3>,
    pub(crate) seen: bool,
}

/// Those of a shape, world frame; `eye` is the unit vector to the camera.
pub(crate) fn wires(shape: &Shape, pose: &Pose, eye: Vec3) -> Vec<Wire> {
    let eye = pose.inverse_transform_vector(eye);
    let mut wires = match shape {
        Shape::Cuboid { half_extents } => {
            let corners: Vec<Vec3> = (0..8)
                .map(|k| {
                    let side = |bit: i32| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
                    vec3(side(0), side(1), side(2)) * *half_extents
                })
                .collect();
            ConvexHull::new(&corners).map_or(Vec::new(), |hull| edges(&hull, eye))
        }
        Shape::Hull(hull) => edges(hull, eye),
        Shape::Cylinder {
            half_height,
            radius,
        } => [1.0, -1.0]
            .into_iter()
            .flat_map(|up| rim(up * half_height, *radius, (up * Vec3::Y, 0.0), eye))
            .collect(),
        Shape::Cone {
            half_height,
            radius,
        } => {
            let slope = radius / (2.0 * half_height);
            rim(-half_height, *radius, (Vec3::NEG_Y, slope), eye)
        }
        Shape::Capsule {
            half_height,
            radius,
        } => [1.0, -1.0]
            .into_iter()
            .flat_map(|up| rim(up * half_height, *radius, (Vec3::ZERO, 0.0), eye))
            .collect(),
        Shape::Sphere { radius } => rim(0.0, *radius, (Vec3::ZERO, 0.0), eye),
        _ => Vec::new(),
    };
    for point in wires.iter_mut().flat_map(|wire| &mut wire.points) {
        *point = pose.transform_point(*point);
    }
    wires
}

/// An edge is seen where one of its faces is.
fn edges(hull: &ConvexHull, eye: Vec3) -> Vec<Wire> {
    let mut wires = Vec::new();
    let faces = hull.faces().len();
    let mut of_edge = vec![false; hull.edges().len()];
    for face in 0..faces {
        if hull.faces()[face].normal.dot(eye) > 0.0 {
            for edge in hull.face_edges(face) {
                of_edge[*edge as usize] = true;
            }
        }
    }
    for (edge, seen) in hull.edges().iter().zip(of_edge) {
        let points = edge.vertices.map(|v| hull.vertices()[v as usize]);
        wires.push(Wire {
            points: points.into(),
            seen,
        });
    }
    wires
}

/// The circle about y at a height, cut where it goes out of sight. Its points are seen where the `cap`
/// is, or the flank, whose normal rises by `slope` for each unit outwards.
fn rim(height: f64, radius: f64, (cap, slope): (Vec3, f64), eye: Vec3) -> Vec<Wire> {
    const PARTS: u32 = 48;
    let mut wires: Vec<Wire> = Vec::new();
    let out = |k: u32| {
        let angle = TAU * f64::from(k) / f64::from(PARTS);
        vec3(libm::cos(angle), 0.0, libm::sin(angle))
    };
    let at = |k: u32| out(k) * radius + Vec3::Y * height;
    let middle = |k: u32| (out(k) + out(k + 1)) * 0.5 + Vec3::Y * slope;
    for k in 0..PARTS {
        let seen = cap.dot(eye) > 0.0 || middle(k).dot(eye) > 0.0;
        match wires.last_mut() {
            Some(wire) if wire.seen == seen => wire.points.push(at(k + 1)),
            _ => wires.push(Wire {
                points: vec![at(k), at(k + 1)],
                seen,
            }),
        }
    }
    wires
}
