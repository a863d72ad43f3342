//! Half-space against anything: every vertex, or every end of a core, on its own.
//!
//! With the unit outward normal n and a point o of the plane: separation of a point p with radius r
//! is n·(p - o) - r. The size of a floor does not exist, so nothing depends on it.
//!
//! Where more vertices of a box or a hull are within the prediction distance than a manifold holds, such
//! as those of its far side when it is thin or fast, those of what faces the plane count, as on a large
//! box.

use super::context::Context;
use super::patch::{Code, Corners, NONE, Projection};
use super::placed::PlacedBox;
use super::polytope::Polytope;
use super::reduce::emit;
use super::revolved::Revolved;
use crate::{Manifold, Shape};
use moreau_math::{Pose, Vec3, vec3};

/// `plane` is the pose's translation of the half-space in the working frame.
pub(super) fn collide(
    context: &mut Context<'_>,
    half_space: HalfSpace,
    other: &Shape,
    pose: &Pose,
) {
    let center = pose.translation - context.origin;
    let mut points = Points {
        plane: half_space,
        projection: Projection::new(half_space.normal),
        limit: context.limit,
        corners: Corners::new(),
    };
    match other {
        Shape::Mesh(mesh) => points.add_all(mesh.vertices(), center, pose),
        Shape::Heightfield(field) => points.add_all(field.vertices(), center, pose),
        Shape::HalfSpace { .. } | Shape::Compound(_) => return,
        Shape::Sphere { radius } => points.add(center, *radius, 0),
        Shape::Capsule {
            half_height,
            radius,
        } => {
            let reach = pose.rotation * vec3(0.0, *half_height, 0.0);
            points.add(center - reach, *radius, 0);
            points.add(center + reach, *radius, 1);
        }
        Shape::Cuboid { half_extents } => {
            let b = PlacedBox::new(*half_extents, pose, context.origin);
            for i in 0..8 {
                points.add(b.vertex(i), 0.0, i as u16);
            }
        }
        Shape::Cylinder { .. } | Shape::Cone { .. } => {
            // A rim has no vertices: the points of what faces the plane.
            if let Some(b) = Revolved::new(other, pose, context.origin) {
                let facing = b.feature(-half_space.normal, context.tie);
                for (&point, &vertex) in facing.points.iter().zip(&facing.vertices) {
                    points.add(point, 0.0, vertex);
                }
            }
        }
        Shape::Hull(hull) => {
            for (i, &v) in hull.vertices().iter().enumerate() {
                points.add(center + pose.rotation * v, 0.0, i as u16);
            }
        }
    }
    if points.corners.len() > Manifold::CAPACITY
        && let Some(solid) = Polytope::new(other, pose, context.origin)
    {
        let facing = solid.feature(-half_space.normal, context);
        (points.corners).retain(|corner| facing.vertices.contains(&corner.code.b));
    }
    emit(context, &points.projection, &mut points.corners, None);
}

/// A half-space in the working frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct HalfSpace {
    /// Unit, outward.
    pub(super) normal: Vec3,
    /// A point of the plane.
    pub(super) point: Vec3,
}

struct Points {
    plane: HalfSpace,
    projection: Projection,
    limit: f64,
    corners: Corners,
}

impl Points {
    /// The vertices of a surface.
    fn add_all(&mut self, vertices: &[Vec3], center: Vec3, pose: &Pose) {
        for (i, &v) in vertices.iter().enumerate() {
            let name = (i % usize::from(NONE)) as u16;
            self.add(center + pose.rotation * v, 0.0, name);
        }
    }

    fn add(&mut self, point: Vec3, radius: f64, vertex: u16) {
        let n = self.plane.normal;
        let separation = n.dot(point - self.plane.point) - radius;
        if separation > self.limit {
            return;
        }
        let point_b = point - n * radius;
        let code = Code {
            crossing: false,
            a: NONE,
            b: vertex,
        };
        let mut corner = (self.projection).corner(point_b - n * separation, point_b, code);
        corner.separation = separation;
        self.corners.push(corner);
    }
}
