//! Numbers that look random and are the same everywhere.
#![allow(dead_code)] // Each test takes what it needs.

use moreau_math::{Pose, Quat, Vec3, rotation_from_vector, vec3};

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// In [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn range(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * self.unit()
    }

    /// In [-1, 1).
    pub(crate) fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    /// In a cube of half the width `half`.
    pub(crate) fn vec(&mut self, half: f64) -> Vec3 {
        let mut signed = || half * self.signed();
        vec3(signed(), signed(), signed())
    }

    pub(crate) fn rotation(&mut self) -> Quat {
        rotation_from_vector(self.vec(3.0))
    }

    pub(crate) fn pose(&mut self) -> Pose {
        Pose::new(self.vec(5.0), rotation_from_vector(self.vec(2.0)))
    }

    /// 0 to `count` - 1 in any order.
    pub(crate) fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for i in (1..count).rev() {
            order.swap(i, (self.unit() * (i + 1) as f64) as usize);
        }
        order
    }
}
