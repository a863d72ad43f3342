//! Two balls: what the way of all shapes makes of them, to the last bit, without what only others need.

use super::context::{Bounds, is_usable, order_of_spheres};
use super::patch::NONE;
use super::round::direction_beyond;
use crate::{FeatureId, Manifold, ManifoldPoint, Shape};
use moreau_math::{Pose, Vec3};
use std::cmp::Ordering;

/// Fills the empty `manifold` with the contact of two balls. False where other shapes are given, or nothing but
/// the rotations tells which of the two comes first: the way of all shapes has to do it.
#[inline]
pub(super) fn collide(
    (shape_a, pose_a): (&Shape, &Pose),
    (shape_b, pose_b): (&Shape, &Pose),
    prediction: f64,
    manifold: &mut Manifold,
) -> bool {
    let (Shape::Sphere { radius: radius_a }, Shape::Sphere { radius: radius_b }) =
        (shape_a, shape_b)
    else {
        return false;
    };
    let (a, b) = (
        (pose_a.translation, *radius_a),
        (pose_b.translation, *radius_b),
    );
    let bounds = Bounds::new(a, b, prediction);
    if !bounds.meet || !is_usable(shape_a, pose_a) || !is_usable(shape_b, pose_b) {
        return true;
    }
    let swapped = match order_of_spheres(a, b) {
        Ordering::Less => false,
        Ordering::Greater => true,
        Ordering::Equal => return false,
    };
    let (first, second) = if swapped { (b, a) } else { (a, b) };
    // In the working frame: the second, which is not the larger one, lies at the origin.
    let (origin, center) = (second.0, Vec3::ZERO);
    let core = first.0 - origin;
    let d = center - core;
    let normal = direction_beyond(bounds.lost(), d, Vec3::Y);
    let separation = normal.dot(d) - first.1 - second.1;
    if separation > bounds.limit {
        return true;
    }
    let on_first = core + normal * first.1 + origin;
    let on_second = center - normal * second.1 + origin;
    let (normal, point_a, point_b) = if swapped {
        (-normal, on_second, on_first)
    } else {
        (normal, on_first, on_second)
    };
    manifold.reset(normal);
    manifold.push(ManifoldPoint {
        point_a,
        point_b,
        separation,
        feature: FeatureId::new(0, NONE, NONE),
    });
    true
}

#[cfg(test)]
mod tests {
    use super::super::context::{ALONGSIDE, Operand};
    use super::*;
    use moreau_math::{Quat, vec3};

    #[test]
    fn the_way_of_all_shapes_gives_the_same_bits() {
        let mut seed = 1_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        let (mut touching, mut apart, mut left) = (0, 0, 0);
        for i in 0..4000 {
            let mut vector = |size: f64| vec3(random(), random(), random()) * size;
            let far = [0.0, 1.0, 1e3, 1e12][i % 4];
            let center = vector(far);
            // Some at one place, some of a size, some too far.
            let offset = vector([0.0, 1e-13, 1.5, 4.0, 9.0][i % 5]);
            let turn = vector(3.0);
            let radius = 0.5 + turn.x.abs();
            let radii = (radius, if i % 3 == 0 { radius } else { 0.4 });
            let rotation = Quat::from_rotation_x(turn.y);
            let shapes = [radii.0, radii.1].map(|radius| Shape::Sphere { radius });
            let poses = [(center, rotation), (center + offset, Quat::IDENTITY)];
            let poses = poses.map(|(center, rotation)| Pose::new(center, rotation));
            for (a, b) in [(0, 1), (1, 0)] {
                let (mut short, mut long) = (Manifold::default(), Manifold::default());
                let sides = ((&shapes[a], &poses[a]), (&shapes[b], &poses[b]));
                if !collide(sides.0, sides.1, 0.02, &mut short) {
                    left += 1;
                    continue;
                }
                let operands = [sides.0, sides.1].map(|(shape, pose)| Operand::new(shape, pose));
                let [operand_a, operand_b] = operands;
                super::super::run((operand_a, operand_b), 0.02, &[], ALONGSIDE, &mut long);
                let bits = |m: &Manifold| format!("{:?} {:?}", m.normal(), m.points());
                assert_eq!(bits(&short), bits(&long), "{sides:?}");
                if short.is_empty() {
                    apart += 1;
                } else {
                    touching += 1;
                }
            }
        }
        assert!(
            touching > 2000 && apart > 1000 && left > 500,
            "{touching} {apart} {left}"
        );
    }
}
