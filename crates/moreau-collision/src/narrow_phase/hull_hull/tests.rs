use super::super::gjk;
use super::super::polytope::Polytope;
use super::*;
use crate::{Manifold, Shape};
use moreau_math::{Pose, Quat, vec3};

struct Random(u64);

impl Random {
    fn number(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn vec(&mut self) -> Vec3 {
        vec3(self.number(), self.number(), self.number())
    }

    fn rotation(&mut self) -> Quat {
        let v = self.vec();
        Quat::from_xyzw(v.x, v.y, v.z, self.number()).normalize()
    }

    /// A box, a hull of points of a ball, a needle or a plate.
    fn shape(&mut self) -> Shape {
        let (kind, stretch) = (self.number(), self.vec().abs() + Vec3::splat(0.05));
        if kind > 0.6 {
            return Shape::cuboid(stretch.x, stretch.y, stretch.z);
        }
        let count = 5 + (15.0 * (1.0 + self.number())) as usize;
        let stretch = if kind > 0.0 { Vec3::ONE } else { stretch };
        let points: Vec<Vec3> = (0..count)
            .map(|_| 0.5 * (self.vec() + Vec3::splat(1e-3)).normalize() * stretch)
            .collect();
        Shape::hull(&points).unwrap_or(Shape::cuboid(0.3, 0.2, 0.1))
    }
}

/// Leaving out changes no bit of the answer, at any distance and depth, and leaves out most.
#[test]
fn what_is_left_out_is_never_the_answer() {
    let mut random = Random(0x9e37_79b9);
    let (mut all, mut some) = (Looks::default(), Looks::default());
    let (mut answers, mut edges) = (0, 0);
    for case in 0..4000 {
        let (shape_a, shape_b) = (random.shape(), random.shape());
        let away = random.vec().normalize();
        let (pose_a, turn) = (
            Pose::new(random.vec(), random.rotation()),
            random.rotation(),
        );
        // To a depth or gap from the touching place along some direction, or onto each other.
        let at = |shift: f64| Pose::new(pose_a.translation + away * shift, turn);
        let near = crate::closest_points(&shape_a, &pose_a, &shape_b, &at(4.0)).unwrap();
        let touch = 4.0 - near.separation / away.dot(near.normal).max(0.3);
        let shift = match case % 4 {
            0 => touch - 1e-4 * random.number().abs(),
            1 => touch + 0.03 * random.number(),
            2 => touch * random.number(),
            _ => touch,
        };
        let pose_b = at(shift);
        let [a, b] = [(&shape_a, &pose_a), (&shape_b, &pose_b)]
            .map(|(shape, pose)| Polytope::new(shape, pose, Vec3::ZERO).unwrap());
        let mut manifold = Manifold::default();
        let context = Context::in_own_frame(2.0, 4.0, 0.02, &mut manifold);
        let look = |prune: bool| {
            a.with_polyhedron(|a| b.with_polyhedron(|b| search(&context, a, b, prune)))
        };
        let ((exact, looks_all), (axis, looks)) = (look(false), look(true));
        all.faces += looks_all.faces;
        all.edge_pairs += looks_all.edge_pairs;
        some.faces += looks.faces;
        some.edge_pairs += looks.edge_pairs;
        let bits = |axis: Axis| (axis.normal.to_array(), axis.separation).to_owned();
        match (exact, axis) {
            (Some(exact), Some(axis)) => {
                assert_eq!(bits(exact), bits(axis), "case {case}");
                answers += 1;
                let tilt = |n: &Vec3| n.dot(axis.normal).abs() < 1.0 - 1e-12;
                let of = |p: &Polytope<'_>| {
                    p.with_polyhedron(|p| p.faces.iter().all(|f| tilt(&(p.rotation * f.normal))))
                };
                edges += usize::from(of(&a) && of(&b));
            }
            // Another axis than those of the list separates them.
            (Some(exact), None) => {
                let near = gjk::nearest(&context, exact.normal, &a, &b);
                assert!(near.distance > context.limit, "case {case}: {exact:?}");
            }
            (None, None) => {}
            (None, Some(axis)) => panic!("case {case}: {axis:?} although they are apart"),
        }
    }
    assert!(
        answers > 1500 && edges > 500,
        "{answers} answers, {edges} of edges"
    );
    assert!(4 * some.faces < all.faces, "{some:?} of {all:?}");
    assert!(20 * some.edge_pairs < all.edge_pairs, "{some:?} of {all:?}");
}
