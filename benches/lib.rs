//! Shared set-up of the benchmarks.

use moreau_math::{Quat, Vec3, vec3};

/// SplitMix64: the same scenes in every run.
pub struct Random(u64);

impl Random {
    /// A stream of its own for each seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Uniform in [-1, 1).
    pub fn signed(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// Uniform in the cube of half edge `half`.
    pub fn vec(&mut self, half: f64) -> Vec3 {
        vec3(self.signed(), self.signed(), self.signed()) * half
    }

    /// Some rotation.
    pub fn rotation(&mut self) -> Quat {
        let v = self.vec(1.0);
        Quat::from_xyzw(v.x, v.y, v.z, self.signed()).normalize()
    }
}
