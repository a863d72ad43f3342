//! Who takes part in a step: lists that are made anew only when bodies come, go, fall asleep or wake.

use crate::BodyKind;
use crate::profile::held;
use crate::world::WorldState;
use moreau_collision::Groups;

/// Follows from the state.
#[derive(Default)]
pub(crate) struct Activity {
    is_fresh: bool,
    /// Slots of the bodies that are neither static nor asleep, ascending.
    pub(crate) bodies: Vec<u32>,
    /// Slots of the joints that do not belong to a sleeping island, ascending.
    pub(crate) joints: Vec<u32>,
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
        held(&self.bodies) + held(&self.bullets) + held(&self.joints)
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
        for (index, slot) in state.bodies.iter().enumerate() {
            let Some(body) = &slot.value else {
                continue;
            };
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
