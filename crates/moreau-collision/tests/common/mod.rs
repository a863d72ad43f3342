//! What several tests share.
#![allow(dead_code)]

use moreau_collision::Shape;
use moreau_math::{Pose, Quat, Vec3, vec3};

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// In [low, high).
    pub(crate) fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// In the cube of half edge `half`.
    pub(crate) fn vec(&mut self, half: f64) -> Vec3 {
        vec3(
            self.range(-half, half),
            self.range(-half, half),
            self.range(-half, half),
        )
    }

    /// Uniform on the unit sphere.
    pub(crate) fn direction(&mut self) -> Vec3 {
        loop {
            let v = self.vec(1.0);
            if v.length_squared() > 0.01 && v.length_squared() < 1.0 {
                return v.normalize();
            }
        }
    }

    pub(crate) fn rotation(&mut self) -> Quat {
        loop {
            let q = Quat::from_xyzw(
                self.range(-1.0, 1.0),
                self.range(-1.0, 1.0),
                self.range(-1.0, 1.0),
                self.range(-1.0, 1.0),
            );
            if q.length_squared() > 0.01 && q.length_squared() < 1.0 {
                return q.normalize();
            }
        }
    }

    /// Turned at random, its origin in the cube of half edge `half`.
    pub(crate) fn pose(&mut self, half: f64) -> Pose {
        Pose::new(self.vec(half), self.rotation())
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// One of every kind, of sizes from 0.1 to 1.
pub(crate) fn shapes(random: &mut Random) -> Vec<Shape> {
    let mut size = || random.range(0.1, 1.0);
    let mut shapes = vec![
        Shape::sphere(size()),
        Shape::cuboid(size(), size(), size()),
        Shape::capsule(size(), size()),
        Shape::cylinder(size(), size()),
        Shape::cone(size(), size()),
    ];
    let points: Vec<Vec3> = (0..12).map(|_| random.direction() * 0.8).collect();
    shapes.push(Shape::hull(&points).unwrap());
    shapes.push(Shape::half_space(random.direction()));
    shapes
}
