//! Numbers from bytes, so that small changes of the bytes make near and far neighbours alike.

use moreau::{Pose, Quat, Vec3, vec3};

/// Reads numbers off the front of the input; zeros follow its end.
pub(crate) struct Bytes<'a> {
    rest: &'a [u8],
    /// Whether numbers may be of any size, infinite or no numbers.
    wild: bool,
}

impl<'a> Bytes<'a> {
    /// The first byte says whether the numbers are wild.
    pub(crate) fn new(data: &'a [u8]) -> Self {
        let (first, rest) = data.split_first().unwrap_or((&0, &[]));
        Self {
            rest,
            wild: first % 2 == 1,
        }
    }

    pub(crate) fn is_wild(&self) -> bool {
        self.wild
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let [byte] = self.take();
        byte
    }

    /// Below `end`, which is at least 1.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end
    }

    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut out = [0; N];
        let given = N.min(self.rest.len());
        out[..given].copy_from_slice(&self.rest[..given]);
        self.rest = &self.rest[given..];
        out
    }

    /// On a grid, where ties are the rule; close to it; anywhere; or, where wild, anything.
    pub(crate) fn number(&mut self) -> f64 {
        let kind = self.byte();
        match kind {
            0..=99 => self.on_grid(),
            100..=139 => {
                let noise = [1e-15, 1e-13, 1e-10, 1e-8, 1e-6][usize::from(kind % 5)];
                self.on_grid() + noise * self.fraction()
            }
            _ if kind < 200 || !self.wild => 8.0 * self.fraction(),
            200..=224 => {
                let [exponent] = self.take();
                let exponent = i32::from(i8::from_le_bytes([exponent])) * 323 / 128;
                let power: f64 = format!("1e{exponent}").parse().expect("a power of ten");
                power * if kind % 2 == 0 { self.fraction() } else { 1.0 }
            }
            225..=249 => f64::from_bits(u64::from_le_bytes(self.take())),
            250 => f64::INFINITY,
            251 => f64::NEG_INFINITY,
            252 => f64::NAN,
            253 => -0.0,
            254 => f64::MAX,
            _ => f64::MIN_POSITIVE,
        }
    }

    fn on_grid(&mut self) -> f64 {
        f64::from(i8::from_le_bytes(self.take())) * 0.125
    }

    /// -1 to 1.
    fn fraction(&mut self) -> f64 {
        f64::from(i16::from_le_bytes(self.take())) / 32767.0
    }

    pub(crate) fn vector(&mut self) -> Vec3 {
        let (x, y) = (self.number(), self.number());
        vec3(x, y, self.number())
    }

    /// Of length 1; y where nothing else comes out.
    pub(crate) fn direction(&mut self) -> Vec3 {
        match self.byte() % 8 {
            0 => Vec3::X,
            1 => Vec3::Y,
            2 => Vec3::NEG_Z,
            _ => {
                let v = vec3(self.fraction(), self.fraction(), self.fraction());
                v.normalize_or(Vec3::Y)
            }
        }
    }

    /// A unit quaternion, unless the numbers are wild.
    pub(crate) fn rotation(&mut self) -> Quat {
        const HALF: f64 = std::f64::consts::FRAC_1_SQRT_2;
        match self.byte() % 8 {
            0 | 1 => Quat::IDENTITY,
            2 => Quat::from_xyzw(HALF, 0.0, 0.0, HALF),
            3 => Quat::from_xyzw(0.0, 0.0, 0.382_683_432_365_089_8, 0.923_879_532_511_286_7),
            // Almost none.
            4 => {
                let v = 1e-8 * vec3(self.fraction(), self.fraction(), self.fraction());
                Quat::from_xyzw(v.x, v.y, v.z, 1.0).normalize()
            }
            5 if self.wild => {
                let v = self.vector();
                Quat::from_xyzw(v.x, v.y, v.z, self.number())
            }
            _ => {
                let v = vec3(self.fraction(), self.fraction(), self.fraction());
                let q = Quat::from_xyzw(v.x, v.y, v.z, self.fraction());
                if q.length() > 1e-3 {
                    q.normalize()
                } else {
                    Quat::IDENTITY
                }
            }
        }
    }

    pub(crate) fn pose(&mut self) -> Pose {
        let translation = self.vector();
        Pose::new(translation, self.rotation())
    }
}
