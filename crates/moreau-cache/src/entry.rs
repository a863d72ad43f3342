use moreau_math::Vec3;
use serde::{Deserialize, Serialize};

/// Two body ids in ascending order, so that a pair has one key whichever body is named first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PairKey {
    /// The smaller id.
    pub a: u64,
    /// The larger id.
    pub b: u64,
}

impl PairKey {
    /// The key of the pair, and whether its bodies had to change places for it.
    pub fn new((a, b): (u64, u64)) -> (Self, bool) {
        if a <= b {
            (Self { a, b }, false)
        } else {
            (Self { a: b, b: a }, true)
        }
    }

    /// Whether `body` is one of the two.
    pub fn contains(&self, body: u64) -> bool {
        self.a == body || self.b == body
    }
}

/// The impulse of one contact point and the normal it belongs to.
///
/// The tangential part is a world vector, because a tangent basis is a convention and friction is
/// not.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CachedImpulse {
    /// Contact normal, unit, from the first body to the second, world frame.
    pub normal: Vec3,
    /// N s, along the normal on the second body.
    pub normal_impulse: f64,
    /// N s, on the second body, world frame, orthogonal to the normal.
    pub tangential: Vec3,
}

impl CachedImpulse {
    /// The same impulse with the two bodies named the other way round.
    pub fn swapped(self) -> Self {
        Self {
            normal: -self.normal,
            normal_impulse: self.normal_impulse,
            tangential: -self.tangential,
        }
    }

    /// The impulse as it acts at a contact that turned to `normal` (unit).
    ///
    /// The tangential part follows by the smallest rotation that takes the old normal to the new
    /// one, t' = t - (t·n')/(1 + n·n') (n + n'): it lies in the new plane and keeps its length, so
    /// an impulse on the friction cone stays on it. An unchanged normal changes no bit.
    pub fn carried_to(self, normal: Vec3) -> Self {
        if normal == self.normal {
            return self;
        }
        let along = self.tangential.dot(normal) / (1.0 + self.normal.dot(normal));
        Self {
            normal,
            normal_impulse: self.normal_impulse,
            tangential: self.tangential - (self.normal + normal) * along,
        }
    }
}

/// One remembered contact point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CacheEntry {
    /// The bodies.
    pub pair: PairKey,
    /// Which point of the pair's manifold.
    pub feature: u128,
    /// From `pair.a` to `pair.b`.
    pub impulse: CachedImpulse,
}

impl CacheEntry {
    /// Of an impulse that acts from the first of `bodies` to the second one.
    #[inline]
    pub(crate) fn new(bodies: (u64, u64), feature: u128, impulse: CachedImpulse) -> Self {
        let (pair, swapped) = PairKey::new(bodies);
        Self {
            pair,
            feature,
            impulse: if swapped { impulse.swapped() } else { impulse },
        }
    }

    pub(crate) fn key(&self) -> (PairKey, u128) {
        (self.pair, self.feature)
    }
}
