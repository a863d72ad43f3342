//! Who takes part in a step: lists that are made anew only when bodies come, go, fall asleep or wake.

use crate::BodyKind;
use crate::body::BodyState;
use crate::common_point::is_faceted;
use crate::profile::held;
use crate::world::WorldState;
use moreau_collision::Groups;
use moreau_math::Vec3;

/// Follows from the state.
#[derive(Default)]
pub(crate) struct Activity {
    is_fresh: bool,
    /// Slots of the bodies that are neither static nor asleep, ascending.
    pub(crate) bodies: Vec<u32>,
    /// Slots of the joints that do not belong to a sleeping island, ascending.
    pub(crate) joints: Vec<u32>,
    /// Of each slot.
    pub(crate) marks: Vec<Marks>,
    /// Dynamic bodies among `bodies`.
    pub(crate) awake: usize,
    /// Slots of the bullets among `bodies`, ascending.
    pub(crate) bullets: Vec<u32>,
    /// Whether any body is a sensor.
    pub(crate) sensors: bool,
    /// Whether any body is a sensor or collides with some bodies only.
    pub(crate) selective: bool,
    pub(crate) sleeping: Totals,
}

/// What is asked of a body for each of its contacts, and so is kept in a byte: the body itself is large, and mostly
/// not in the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Marks(u8);

impl Marks {
    const DYNAMIC: u8 = 1;
    const MOVES: u8 = 2;
    const FACETED: u8 = 4;
    const SURFACE_MOVES: u8 = 8;

    fn of(body: &BodyState) -> Self {
        let mark = |yes: bool, mark: u8| if yes { mark } else { 0 };
        Self(
            mark(body.is_dynamic(), Self::DYNAMIC)
                | mark(body.moves(), Self::MOVES)
                | mark(is_faceted(&body.shape), Self::FACETED)
                | mark(body.surface_velocity != Vec3::ZERO, Self::SURFACE_MOVES),
        )
    }

    pub(crate) fn is_dynamic(self) -> bool {
        self.0 & Self::DYNAMIC != 0
    }

    /// As [`BodyState::moves`].
    pub(crate) fn moves(self) -> bool {
        self.0 & Self::MOVES != 0
    }

    /// As [`is_faceted`].
    pub(crate) fn is_faceted(self) -> bool {
        self.0 & Self::FACETED != 0
    }

    /// Whether its surface moves relative to it.
    pub(crate) fn has_moving_surface(self) -> bool {
        self.0 & Self::SURFACE_MOVES != 0
    }
}

/// Of all sleeping islands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Totals {
    pub(crate) islands: usize,
    pub(crate) bodies: usize,
    pub(crate) contacts: usize,
    /// J.
    pub(crate) potential: f64,
    /// Deepest overlap, m.
    pub(crate) deepest: f64,
}

impl Activity {
    pub(crate) fn bytes(&self) -> usize {
        held(&self.bodies) + held(&self.bullets) + held(&self.joints) + held(&self.marks)
    }

    /// What a step needs to know about some body has changed.
    pub(crate) fn forget(&mut self) {
        self.is_fresh = false;
    }

    /// Brings the lists up to date; returns whether they had to be.
    pub(crate) fn refresh(&mut self, state: &WorldState) -> bool {
        if self.is_fresh {
            return false;
        }
        self.is_fresh = true;
        self.bodies.clear();
        self.bullets.clear();
        (self.awake, self.sensors, self.selective) = (0, false, false);
        self.marks.clear();
        self.marks.resize(state.bodies.len(), Marks::default());
        for (index, slot) in state.bodies.iter().enumerate() {
            let Some(body) = &slot.value else {
                continue;
            };
            self.marks[index] = Marks::of(body);
            self.sensors |= body.sensor;
            self.selective |= body.sensor || body.groups != Groups::ALL;
            if body.kind != BodyKind::Static && !body.rest.is_asleep() {
                self.bodies.push(index as u32);
                self.awake += usize::from(body.is_dynamic());
                if body.bullet && body.is_dynamic() && !body.sensor {
                    self.bullets.push(index as u32);
                }
            }
        }
        self.sleeping = Totals::default();
        self.joints.clear();
        let all = state.joints.iter().enumerate();
        let there = all.filter(|(_, slot)| slot.value.is_some());
        self.joints.extend(there.map(|(index, _)| index as u32));
        let mut resting = Vec::new();
        for island in state.sleepers.iter() {
            let totals = &mut self.sleeping;
            totals.islands += 1;
            totals.bodies += island.bodies.len();
            totals.contacts += island.contacts.len();
            totals.potential += island.potential;
            totals.deepest = totals.deepest.max(island.deepest);
            resting.extend_from_slice(&island.joints);
        }
        if !resting.is_empty() {
            resting.sort_unstable();
            self.joints
                .retain(|joint| resting.binary_search(joint).is_err());
        }
        true
    }
}
