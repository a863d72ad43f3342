//! Random shapes of both libraries.

use moreau_collision::Shape;
use moreau_math::{Pose, Quat, Vec3, vec3};
use parry3d_f64::math as parry;
use parry3d_f64::shape as theirs;

/// Numbers in [0, 1), the same on every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.number()
    }

    pub(crate) fn direction(&mut self) -> Vec3 {
        loop {
            let v = vec3(self.number(), self.number(), self.number()) * 2.0 - Vec3::ONE;
            if v.length() > 0.1 && v.length() < 1.0 {
                return v.normalize();
            }
        }
    }

    pub(crate) fn rotation(&mut self) -> Quat {
        loop {
            let [x, y, z, w] = [0; 4].map(|_| self.range(-1.0, 1.0));
            let q = Quat::from_xyzw(x, y, z, w);
            if q.length() > 0.1 && q.length() < 1.0 {
                return q.normalize();
            }
        }
    }
}

pub(crate) const KINDS: [&str; 6] = ["sphere", "box", "capsule", "hull", "cylinder", "cone"];

/// A shape of both libraries.
pub(crate) struct Both {
    pub(crate) ours: Shape,
    pub(crate) theirs: Box<dyn theirs::Shape>,
}

pub(crate) fn vector(v: Vec3) -> parry::Vector {
    parry::Vector::new(v.x, v.y, v.z)
}

pub(crate) fn back(v: parry::Vector) -> Vec3 {
    vec3(v.x, v.y, v.z)
}

pub(crate) fn pose(p: &Pose) -> parry::Pose {
    let q = p.rotation;
    let rotation = parry::Rotation::from_xyzw(q.x, q.y, q.z, q.w);
    parry::Pose::from_parts(vector(p.translation), rotation)
}

pub(crate) fn shape(random: &mut Random, kind: usize) -> Both {
    let mut size = |low: f64, high: f64| random.range(low, high);
    match kind {
        0 => {
            let r = size(0.1, 0.8);
            Both {
                ours: Shape::sphere(r),
                theirs: Box::new(theirs::Ball::new(r)),
            }
        }
        1 => {
            let h = vec3(size(0.1, 0.8), size(0.1, 0.8), size(0.1, 0.8));
            Both {
                ours: Shape::cuboid(h.x, h.y, h.z),
                theirs: Box::new(theirs::Cuboid::new(vector(h))),
            }
        }
        2 => {
            let (h, r) = (size(0.1, 0.8), size(0.05, 0.4));
            Both {
                ours: Shape::capsule(h, r),
                theirs: Box::new(theirs::Capsule::new_y(h, r)),
            }
        }
        3 => loop {
            let count = 4 + (random.number() * 16.0) as usize;
            let wide = random.range(0.3, 1.0);
            let points: Vec<Vec3> = (0..count)
                .map(|_| random.direction() * random.range(0.7, 1.0) * wide)
                .collect();
            let ours = Shape::hull(&points);
            let points: Vec<_> = points.into_iter().map(vector).collect();
            let theirs = theirs::ConvexPolyhedron::from_convex_hull(&points);
            if let (Ok(ours), Some(theirs)) = (ours, theirs) {
                // Of a sliver Parry leaves out corners that stand out by 1e-4, and it is another solid.
                let Shape::Hull(hull) = &ours else { continue };
                if hull.vertices().len() != theirs.points().len() {
                    continue;
                }
                return Both {
                    ours,
                    theirs: Box::new(theirs),
                };
            }
        },
        kind => {
            let (h, r) = (size(0.05, 0.8), size(0.05, 0.8));
            if kind == 4 {
                Both {
                    ours: Shape::cylinder(h, r),
                    theirs: Box::new(theirs::Cylinder::new(h, r)),
                }
            } else {
                Both {
                    ours: Shape::cone(h, r),
                    theirs: Box::new(theirs::Cone::new(h, r)),
                }
            }
        }
    }
}

/// How far their shape reaches along `n`.
pub(crate) fn reach(shape: &dyn theirs::Shape, pose: &Pose, n: Vec3) -> f64 {
    let map = shape.as_support_map().expect("convex");
    let local = back(map.local_support_point(vector(pose.inverse_transform_vector(n))));
    n.dot(pose.transform_point(local))
}

/// The value below which the given share of `values` lies.
pub(crate) fn share(values: &mut [f64], part: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    values
        .get((part * last as f64).floor() as usize)
        .copied()
        .unwrap_or(0.0)
}
