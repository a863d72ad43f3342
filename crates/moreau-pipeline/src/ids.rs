use serde::{Deserialize, Serialize};
use std::fmt;

/// Names a body of a world. Never reused: a slot that is filled again has a new generation.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct BodyId {
    /// The slot; small and dense, good for a table of one's own.
    pub index: u32,
    /// How often the slot had been emptied before.
    pub generation: u32,
}

impl BodyId {
    /// As one number that orders like the id: slot first.
    pub fn to_bits(self) -> u64 {
        (u64::from(self.index) << 32) | u64::from(self.generation)
    }
}

impl fmt::Display for BodyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}v{}", self.index, self.generation)
    }
}

/// Names a joint of a world. Never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JointId {
    /// The slot.
    pub index: u32,
    /// How often the slot had been emptied before.
    pub generation: u32,
}

impl fmt::Display for JointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}v{}", self.index, self.generation)
    }
}
