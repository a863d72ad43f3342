//! What the tests of the narrow phase share: random scenes, and answers by brute force.
#![allow(dead_code, unreachable_pub)]

pub mod brute;

use moreau_collision::{CollideSettings, Manifold, Shape, collide};
use moreau_math::{Pose, Quat, Vec3, libm, vec3};

pub fn contact(a: (&Shape, Pose), b: (&Shape, Pose), prediction: f64) -> Manifold {
    let mut manifold = Manifold::default();
    let settings = CollideSettings { prediction };
    collide(a.0, &a.1, b.0, &b.1, &settings, &mut manifold);
    manifold
}

pub fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_translation(vec3(x, y, z))
}

/// At `position`, turned by `angle` (rad) about `axis`.
pub fn turned(position: Vec3, axis: Vec3, angle: f64) -> Pose {
    let (s, c) = (libm::sin(0.5 * angle), libm::cos(0.5 * angle));
    let v = axis.normalize() * s;
    Pose::new(position, Quat::from_xyzw(v.x, v.y, v.z, c))
}

/// The box as a hull of its corners.
pub fn box_hull(hx: f64, hy: f64, hz: f64) -> Shape {
    let side = |bit: i32, h: f64| if bit == 1 { h } else { -h };
    let corners: Vec<Vec3> = (0..8)
        .map(|i| vec3(side(i & 1, hx), side(i >> 1 & 1, hy), side(i >> 2, hz)))
        .collect();
    Shape::hull(&corners).unwrap()
}

/// How far the shape reaches along `n`, m.
pub fn reach(shape: &Shape, pose: &Pose, n: Vec3) -> f64 {
    match shape {
        Shape::HalfSpace { normal } => {
            let up = pose.transform_vector(*normal);
            if n.dot(up) > 1.0 - 1e-14 {
                n.dot(pose.translation)
            } else {
                f64::INFINITY
            }
        }
        _ => {
            let local = shape.support(pose.inverse_transform_vector(n)).unwrap();
            n.dot(pose.transform_point(local))
        }
    }
}

/// Two shapes at their poses.
pub struct Scene {
    pub a: (Shape, Pose),
    pub b: (Shape, Pose),
}

impl Scene {
    /// s(n) by the supports of the shapes.
    pub fn separation(&self, n: Vec3) -> f64 {
        -reach(&self.b.0, &self.b.1, -n) - reach(&self.a.0, &self.a.1, n)
    }
}

/// The same shape, all lengths times `factor`.
pub fn scaled(shape: &Shape, factor: f64) -> Shape {
    match shape {
        Shape::Sphere { radius } => Shape::sphere(radius * factor),
        Shape::Capsule {
            half_height,
            radius,
        } => Shape::capsule(half_height * factor, radius * factor),
        Shape::Cuboid { half_extents: h } => {
            Shape::cuboid(h.x * factor, h.y * factor, h.z * factor)
        }
        Shape::Cylinder {
            half_height,
            radius,
        } => Shape::cylinder(half_height * factor, radius * factor),
        Shape::Cone {
            half_height,
            radius,
        } => Shape::cone(half_height * factor, radius * factor),
        Shape::Hull(hull) => {
            let points: Vec<Vec3> = hull.vertices().iter().map(|&v| v * factor).collect();
            Shape::hull(&points).unwrap()
        }
        other => panic!("no sizes of a {}", other.kind()),
    }
}

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In [low, high).
    pub fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub fn direction(&mut self) -> Vec3 {
        loop {
            let v = vec3(
                self.range(-1.0, 1.0),
                self.range(-1.0, 1.0),
                self.range(-1.0, 1.0),
            );
            if v.length() > 0.1 && v.length() <= 1.0 {
                return v.normalize();
            }
        }
    }

    pub fn rotation(&mut self) -> Quat {
        loop {
            let q = Quat::from_xyzw(
                self.range(-1.0, 1.0),
                self.range(-1.0, 1.0),
                self.range(-1.0, 1.0),
                self.range(-1.0, 1.0),
            );
            if q.length() > 0.1 && q.length() <= 1.0 {
                return q.normalize();
            }
        }
    }

    /// A sphere, box, capsule, hull, cylinder or cone about 1 m wide.
    pub fn shape(&mut self, kind: u64) -> Shape {
        match kind {
            0 => Shape::sphere(self.range(0.1, 0.8)),
            1 => Shape::cuboid(
                self.range(0.1, 0.8),
                self.range(0.1, 0.8),
                self.range(0.1, 0.8),
            ),
            2 => Shape::capsule(self.range(0.1, 0.8), self.range(0.05, 0.4)),
            4 => Shape::cylinder(self.range(0.05, 0.8), self.range(0.05, 0.8)),
            5 => Shape::cone(self.range(0.05, 0.8), self.range(0.05, 0.8)),
            3 => {
                let count = 4 + self.below(16);
                let (shift, wide) = (self.direction() * 0.2, self.range(0.3, 1.0));
                let points: Vec<Vec3> = (0..count)
                    .map(|_| self.direction() * self.range(0.7, 1.0) * wide + shift)
                    .collect();
                Shape::hull(&points).unwrap_or_else(|_| Shape::cuboid(0.3, 0.4, 0.5))
            }
            other => panic!("no kind {other}"),
        }
    }
}
