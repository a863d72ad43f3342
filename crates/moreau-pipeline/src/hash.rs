use crate::World;
use moreau_math::{Quat, Vec3};
use serde::{Deserialize, Serialize};
use std::fmt;
use xxhash_rust::xxh3::Xxh3;

/// Hashes (XXH3, 64 bits) of a world's state, in three lanes so that a difference says where it is.
///
/// -0.0 counts as 0.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StateHash {
    /// Ids, poses and velocities of all bodies; where bodies may sleep, which do, and how near to it
    /// the others are; which are bullets; which remember attempts in vain at the exact answer of their island.
    pub poses: u64,
    /// Contact points and impulses of the last step.
    pub contacts: u64,
    /// Remembered impulses, joints and sleeping bodies included.
    pub cache: u64,
}

/// Marks a bullet; of other bodies nothing is said.
const BULLET: u64 = 0x6275_6c6c_6574;

impl StateHash {
    /// All lanes in one number.
    pub fn combined(&self) -> u64 {
        let mut hasher = Xxh3::new();
        for lane in [self.poses, self.contacts, self.cache] {
            hasher.update(&lane.to_le_bytes());
        }
        hasher.digest()
    }
}

impl fmt::Display for StateHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.combined())
    }
}

#[derive(Default)]
struct Lane(Xxh3);

impl Lane {
    fn int(&mut self, x: u64) {
        self.0.update(&x.to_le_bytes());
    }

    /// The name of a contact point: its feature, and its parts where it has any.
    fn point(&mut self, key: u128) {
        self.int(key as u64 & u64::from(u32::MAX));
        if key >> 32 != 0 {
            self.int((key >> 32) as u64);
        }
    }

    fn real(&mut self, x: f64) {
        // x + 0.0 is +0.0 for both zeros and x for every other number.
        self.0.update(&(x + 0.0).to_bits().to_le_bytes());
    }

    fn vector(&mut self, v: Vec3) {
        v.to_array().into_iter().for_each(|x| self.real(x));
    }

    fn rotation(&mut self, q: Quat) {
        q.to_array().into_iter().for_each(|x| self.real(x));
    }
}

impl World {
    /// Hashes of the state: equal for equal bits of state, whatever the machine.
    pub fn hash(&self) -> StateHash {
        let sleepers = &self.state.sleepers;
        let sleeps = self.state.settings.sleeping.is_some() || !sleepers.is_empty();
        let mut poses = Lane::default();
        for body in self.bodies() {
            poses.int(body.id.to_bits());
            poses.vector(body.state.center);
            poses.rotation(body.state.rotation);
            poses.vector(body.state.velocity.linear);
            poses.vector(body.state.velocity.angular);
            if body.state.bullet {
                poses.int(BULLET);
            }
            for part in body
                .state
                .trial
                .parts(self.state.steps)
                .into_iter()
                .flatten()
            {
                poses.int(part);
            }
            if sleeps && body.state.is_dynamic() {
                let (still, least) = body.state.rest.stillness();
                poses.int(u64::from(body.state.rest.is_asleep()));
                poses.real(still);
                poses.real(least);
            }
        }
        let mut contacts = Lane::default();
        for c in self.contacts() {
            contacts.int(c.a.to_bits());
            contacts.int(c.b.to_bits());
            contacts.point(c.key());
            for v in [c.normal, c.lever_a, c.lever_b, c.impulse] {
                contacts.vector(v);
            }
            contacts.real(c.separation);
        }
        let mut cache = Lane::default();
        for entry in self.state.cache.entries() {
            cache.int(entry.pair.a);
            cache.int(entry.pair.b);
            cache.point(entry.feature);
            cache.real(entry.impulse.normal_impulse);
            cache.vector(entry.impulse.tangential);
            cache.vector(entry.impulse.normal);
        }
        for contact in sleepers.iter().flat_map(|island| &island.contacts) {
            let ((a, b), feature, impulse) = contact.remembered();
            cache.int(a);
            cache.int(b);
            cache.point(feature);
            cache.real(impulse.normal_impulse);
            cache.vector(impulse.tangential);
            cache.vector(impulse.normal);
        }
        for slot in &self.state.joints {
            if let Some(joint) = &slot.value {
                cache.int(u64::from(joint.id.index));
                joint.impulses.into_iter().for_each(|x| cache.real(x));
            }
        }
        StateHash {
            poses: poses.0.digest(),
            contacts: contacts.0.digest(),
            cache: cache.0.digest(),
        }
    }
}
