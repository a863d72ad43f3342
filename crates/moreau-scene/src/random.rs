//! The random numbers of the format: SplitMix64, so that a seed means the same scene for ever.
//!
//! ```text
//! state += 9E3779B97F4A7C15
//! z = state
//! z = (z xor z >> 30) * BF58476D1CE4E5B9
//! z = (z xor z >> 27) * 94D049BB133111EB
//! next = z xor z >> 31                       (all modulo 2^64; hexadecimal constants)
//! unit  = (next >> 11) / 2^53                (in [0, 1))
//! ```
//!
//! Source: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.

use moreau_math::Quat;

/// A stream of random numbers. Part of the file format: it never changes.
///
/// ```
/// use moreau_scene::SplitMix64;
///
/// let mut random = SplitMix64::new(1234567);
/// assert_eq!(random.next_u64(), 6457827717110365317);
/// assert!((0.0..1.0).contains(&random.unit()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The stream of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In [0, 1), 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// In [-1, 1).
    pub fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    /// Evenly distributed rotation: four draws in [-1, 1) as (x, y, z, w), repeated until their
    /// length squared is in [0.01, 1], then divided by their length.
    pub fn rotation(&mut self) -> Quat {
        loop {
            let (x, y, z, w) = (self.signed(), self.signed(), self.signed(), self.signed());
            let square = x * x + y * y + z * z + w * w;
            if (0.01..=1.0).contains(&square) {
                let length = square.sqrt();
                return Quat::from_xyzw(x / length, y / length, z / length, w / length);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_the_published_one() {
        // The reference implementation's first numbers for this seed.
        let mut random = SplitMix64::new(1234567);
        let first: Vec<u64> = (0..5).map(|_| random.next_u64()).collect();
        assert_eq!(
            first,
            [
                6457827717110365317,
                3203168211198807973,
                9817491932198370423,
                4593380528125082431,
                16408922859458223821
            ]
        );
    }

    #[test]
    fn rotations_are_even() {
        // The mean of R_ij² over all rotations is 1/3, the mean of R_ij is 0.
        let mut random = SplitMix64::new(7);
        let count = 20_000;
        let (mut mean, mut square) = ([0.0; 3], [0.0; 3]);
        for _ in 0..count {
            let q = random.rotation();
            assert!((q.length() - 1.0).abs() < 1e-15);
            let x = (q * moreau_math::Vec3::X).to_array();
            for k in 0..3 {
                mean[k] += x[k] / f64::from(count);
                square[k] += x[k] * x[k] / f64::from(count);
            }
        }
        for k in 0..3 {
            // Six standard deviations.
            assert!(
                mean[k].abs() < 6.0 * (1.0_f64 / 3.0 / 20_000.0).sqrt(),
                "{mean:?}"
            );
            assert!((square[k] - 1.0 / 3.0).abs() < 6.0 * (0.089_f64 / 20_000.0).sqrt());
        }
    }
}
