use serde::{Deserialize, Serialize};

/// Who meets whom: the groups that something belongs to, and those that it meets, one bit each.
///
/// Two things meet where each belongs to a group that the other meets:
/// `a.member & b.meets != 0 && b.member & a.meets != 0`. By default everything belongs to all groups
/// and meets all.
///
/// ```
/// use moreau_collision::Groups;
///
/// let (wall, ghost) = (Groups::default(), Groups::new(0b10, 0b10));
/// let player = Groups::new(0b01, 0b01);
/// assert!(wall.meets(player) && wall.meets(ghost) && !ghost.meets(player));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Groups {
    /// The groups it belongs to.
    pub member: u32,
    /// The groups it meets.
    pub meets: u32,
}

impl Groups {
    /// In all groups, meets all.
    pub const ALL: Self = Self::new(u32::MAX, u32::MAX);

    /// In no group, meets none.
    pub const NONE: Self = Self::new(0, 0);

    /// From the bits of the groups it belongs to and of those it meets.
    pub const fn new(member: u32, meets: u32) -> Self {
        Self { member, meets }
    }

    /// Whether the two meet; the same from both sides.
    pub const fn meets(self, other: Self) -> bool {
        self.member & other.meets != 0 && other.member & self.meets != 0
    }
}

impl Default for Groups {
    fn default() -> Self {
        Self::ALL
    }
}
