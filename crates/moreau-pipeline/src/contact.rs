use crate::BodyId;
use moreau_cache::CachedImpulse;
use moreau_collision::FeatureId;
use moreau_constraint::{Approach, Rebound, rebound};
use moreau_math::Vec3;
use serde::{Deserialize, Serialize};

/// One contact point of the last step: geometry at its start, impulses that the step applied.
///
/// Sorted by `(a, b, part_a, part_b, feature)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contact {
    /// The body with the smaller id.
    pub a: BodyId,
    /// The other.
    pub b: BodyId,
    /// Which part of A's shape touches, as [`moreau_collision::collide_all`] numbers them; 0 for convex
    /// shapes, 1 for points of these that the motion of the step has brought together by turning.
    pub part_a: u32,
    /// Which part of B's.
    pub part_b: u32,
    /// Which features touch.
    pub feature: FeatureId,
    /// Unit, from A to B.
    pub normal: Vec3,
    /// Unit tangents: normal = tangent1 x tangent2.
    pub tangent1: Vec3,
    /// See `tangent1`.
    pub tangent2: Vec3,
    /// From A's centre of mass to the contact point on A, m, world axes.
    pub lever_a: Vec3,
    /// From B's centre of mass to the contact point on B, m, world axes.
    pub lever_b: Vec3,
    /// Signed distance along the normal, m; negative where the bodies overlap.
    pub separation: f64,
    /// Combined coefficient of Coulomb friction.
    pub friction: f64,
    /// Combined coefficient of restitution.
    pub restitution: f64,
    /// Normal velocity before the step's forces and impulses, m/s; negative approaches.
    pub approach_velocity: f64,
    /// Impulse on B along (normal, tangent1, tangent2), N s.
    pub impulse: Vec3,
}

// A step reads and writes all of them several times.
const _: () = assert!(size_of::<Contact>() <= 256);

impl Contact {
    /// A record of nothing, all zero, to be written over.
    pub const NONE: Self = Self {
        a: BodyId {
            index: 0,
            generation: 0,
        },
        b: BodyId {
            index: 0,
            generation: 0,
        },
        part_a: 0,
        part_b: 0,
        feature: FeatureId(0),
        normal: Vec3::ZERO,
        tangent1: Vec3::ZERO,
        tangent2: Vec3::ZERO,
        lever_a: Vec3::ZERO,
        lever_b: Vec3::ZERO,
        separation: 0.0,
        friction: 0.0,
        restitution: 0.0,
        approach_velocity: 0.0,
        impulse: Vec3::ZERO,
    };

    /// Names the point among those of its pair: `part_a`, `part_b` and `feature`, 32 bits each.
    pub fn key(&self) -> u128 {
        let parts = u128::from(self.part_a) << 64 | u128::from(self.part_b) << 32;
        parts | u128::from(self.feature.0)
    }

    /// The impulse on B in world axes, N s.
    pub fn world_impulse(&self) -> Vec3 {
        self.in_world(self.impulse)
    }

    /// What lies along (normal, tangent1, tangent2), in world axes.
    pub(crate) fn in_world(&self, v: Vec3) -> Vec3 {
        self.normal * v.x + self.tangent1 * v.y + self.tangent2 * v.z
    }

    /// What the next step starts from: pair, feature and impulse.
    pub(crate) fn remembered(&self) -> ((u64, u64), u128, CachedImpulse) {
        let impulse = CachedImpulse {
            normal: self.normal,
            normal_impulse: self.impulse.x,
            tangential: self.tangent1 * self.impulse.y + self.tangent2 * self.impulse.z,
        };
        ((self.a.to_bits(), self.b.to_bits()), self.key(), impulse)
    }

    /// Whether two points of a world belong to one manifold.
    pub(crate) fn same_manifold(&self, other: &Self) -> bool {
        let manifold = |c: &Self| (c.a, c.b, c.part_a, c.part_b);
        manifold(self) == manifold(other)
    }

    /// Where Newton's law leaves the contact at the end of a step of `dt` (s), if it bounces in it. What comes to rest
    /// across a gap does not: it closes the gap, and rests in the next step. `free` is the contact's normal velocity
    /// after the step's forces, m/s.
    pub(crate) fn rebound(&self, free: f64, dt: f64, threshold: f64) -> Option<Rebound> {
        let approach = Approach {
            separation: self.separation,
            speed: self.approach_velocity,
            acceleration: (free - self.approach_velocity) / dt,
        };
        let end = rebound(&approach, dt, self.restitution, threshold)?;
        (end.speed != 0.0 || self.separation <= 0.0).then_some(end)
    }
}
