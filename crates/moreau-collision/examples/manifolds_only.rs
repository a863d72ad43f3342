//! Contact manifolds and nothing else: no world, no solver.
//!
//! ```text
//! cargo run -p moreau-collision --example manifolds_only
//! ```

use moreau_collision::{
    BroadPhase, CollideSettings, ConvexHull, Manifold, Shape, ShapeError, collide,
};
use moreau_math::{Pose, Quat, Vec3, vec3};
use std::sync::Arc;

fn main() -> Result<(), ShapeError> {
    let corners = [
        vec3(-0.5, -0.5, -0.5),
        vec3(0.5, -0.5, -0.5),
        vec3(0.5, -0.5, 0.5),
        vec3(-0.5, -0.5, 0.5),
        vec3(0.0, 0.5, 0.0),
    ];
    let pyramid = Shape::Hull(Arc::new(ConvexHull::new(&corners)?));
    let turned = Quat::from_rotation_y(0.3);
    // Shapes and poses stay the caller's: any arrays will do.
    let bodies = [
        (Shape::half_space(Vec3::Y), Pose::IDENTITY),
        (
            Shape::cuboid(0.5, 0.5, 0.5),
            Pose::from_translation(vec3(0.0, 0.499, 0.0)),
        ),
        (
            Shape::cuboid(0.4, 0.4, 0.4),
            Pose::new(vec3(0.1, 1.399, 0.0), turned),
        ),
        (
            Shape::sphere(0.3),
            Pose::from_translation(vec3(0.0, 2.1, 0.0)),
        ),
        (
            Shape::capsule(0.4, 0.2),
            Pose::from_translation(vec3(3.0, 0.59, 0.0)),
        ),
        (pyramid, Pose::from_translation(vec3(-2.0, 0.5, 0.0))),
    ];
    let settings = CollideSettings::default();

    let mut broad_phase = BroadPhase::new();
    for (id, (shape, pose)) in bodies.iter().enumerate() {
        shape.validate()?;
        // Boxes grown by the prediction distance find the pairs that are about to touch, too.
        let aabb = shape.aabb(pose).enlarged(settings.prediction);
        broad_phase.set(id as u32, aabb, !shape.is_bounded());
    }
    let mut pairs = Vec::new();
    broad_phase.pairs(&mut pairs);

    let mut manifold = Manifold::default();
    for (a, b) in pairs {
        let ((shape_a, pose_a), (shape_b, pose_b)) = (&bodies[a as usize], &bodies[b as usize]);
        collide(shape_a, pose_a, shape_b, pose_b, &settings, &mut manifold);
        println!(
            "{} {a} and {} {b}: {} points, normal {:.3}",
            shape_a.kind(),
            shape_b.kind(),
            manifold.points().len(),
            manifold.normal()
        );
        for p in manifold.points() {
            println!(
                "    {:.4} on {a}, {:.4} on {b}, separation {:.6} m, feature {}",
                p.point_a, p.point_b, p.separation, p.feature.0
            );
        }
    }
    Ok(())
}
