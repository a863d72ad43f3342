//! What moves: the state of bodies in a frame, and its bytes.
//!
//! Thirteen reals a body (centre of mass, rotation, linear and angular velocity), each predicted by
//! the same number of the frame before; a key frame, one in [`KEY_EVERY`], predicts zeros. So a frame is
//! read from its key frame on, and a body that rests takes 7 bytes.

use crate::bits::{Packer, Torn, Unpacker};
use moreau_math::{Quat, Vec3, Velocity};
use moreau_pipeline::BodyView;

/// Frames from one key frame to the next, unless bodies come or go.
pub(crate) const KEY_EVERY: u64 = 32;

/// Where a body that is not static is after a step, and how it moves: the integrated state, to the bit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyState {
    /// Centre of mass in the world, m.
    pub center_of_mass: Vec3,
    /// Body axes to world axes.
    pub rotation: Quat,
    /// Of the centre of mass, and angular velocity; world frame.
    pub velocity: Velocity,
}

impl BodyState {
    pub(crate) const ZERO: Self = Self {
        center_of_mass: Vec3::ZERO,
        rotation: Quat::from_xyzw(0.0, 0.0, 0.0, 0.0),
        velocity: Velocity::ZERO,
    };

    pub(crate) fn of(body: &BodyView<'_>) -> Self {
        Self {
            center_of_mass: body.center_of_mass(),
            rotation: body.rotation(),
            velocity: body.velocity(),
        }
    }

    /// The thirteen numbers: centre of mass x y z (m), rotation x y z w, linear velocity (m/s),
    /// angular velocity (rad/s).
    pub fn to_array(&self) -> [f64; 13] {
        let (p, q) = (self.center_of_mass, self.rotation);
        let (v, w) = (self.velocity.linear, self.velocity.angular);
        [
            p.x, p.y, p.z, q.x, q.y, q.z, q.w, v.x, v.y, v.z, w.x, w.y, w.z,
        ]
    }

    pub(crate) fn from_array(a: [f64; 13]) -> Self {
        Self {
            center_of_mass: Vec3::new(a[0], a[1], a[2]),
            rotation: Quat::from_xyzw(a[3], a[4], a[5], a[6]),
            velocity: Velocity::new(Vec3::new(a[7], a[8], a[9]), Vec3::new(a[10], a[11], a[12])),
        }
    }
}

/// Packs `states`, predicted by `before`, which holds as many.
pub(crate) fn pack(states: &[BodyState], before: &[BodyState], packer: &mut Packer) {
    for (state, before) in states.iter().zip(before) {
        packer.reals(state.to_array(), before.to_array());
    }
}

/// Brings `states` from the frame before to that of `block`.
pub(crate) fn unpack(block: &[u8], states: &mut [BodyState]) -> Result<(), Torn> {
    let mut reader = Unpacker::new(block)?;
    for state in states {
        *state = BodyState::from_array(reader.reals(state.to_array())?);
    }
    reader.finish()
}

/// Sets a bit in bytes that grow as needed; the lowest of each byte comes first.
pub(crate) fn set_bit(bytes: &mut Vec<u8>, bit: usize) {
    bytes.resize(bytes.len().max(bit / 8 + 1), 0);
    bytes[bit / 8] |= 1 << (bit % 8);
}

/// Whether a bit is set.
pub(crate) fn bit(bytes: &[u8], bit: usize) -> bool {
    bytes.get(bit / 8).is_some_and(|b| b >> (bit % 8) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resting_body_takes_seven_bytes() {
        let state = BodyState::from_array(std::array::from_fn(|i| 1.0 / (i as f64 + 1.7)));
        let (mut packer, mut block) = (Packer::default(), Vec::new());
        pack(&[state; 10], &[state; 10], &mut packer);
        packer.take(&mut block);
        assert_eq!(block.len(), 8 + 65);
        let mut back = [state; 10];
        unpack(&block, &mut back).unwrap();
        assert_eq!(back, [state; 10]);
        // From nothing: at most 8 bytes and a half a number.
        pack(&[state; 2], &[BodyState::ZERO; 2], &mut packer);
        packer.take(&mut block);
        assert!(block.len() <= 8 + 2 * 111, "{}", block.len());
        let mut back = [BodyState::ZERO; 2];
        unpack(&block, &mut back).unwrap();
        assert_eq!(back, [state; 2]);
        assert!(unpack(&block, &mut [BodyState::ZERO; 3]).is_err());
    }
}
