//! What wakes sleeping islands.
//!
//! | what | when it wakes |
//! |---|---|
//! | a body that moves meets a sleeping one | in the step in which it would push it |
//! | a sleeping body is changed, pushed, moved, joined or removed | at once |
//! | a body that is not dynamic is changed, moved or removed | at once, what rests on it or is joined to it |
//! | the same comes to lie where something sleeps | in the next step |
//! | the settings change | at once, everything |
//!
//! A step looks for contacts that close on the free path, or overlap by more than the slop, before it
//! solves, and for such that pushed all the same after it. It then wakes the islands and starts again,
//! so that what is met is as it would be, had it never slept.

use crate::contact::Contact;
use crate::ids::BodyId;
use crate::recycle::Kept;
use crate::sleep::{Rest, SleepingIsland};
use crate::step::Scratch;
use crate::world::{World, WorldState};
use crate::{BodyKind, WorldError};
use moreau_cache::ContactCache;
use moreau_math::Velocity;

/// What a step needs to put islands back to sleep that it woke, should it fail.
pub(crate) struct Undo {
    cache: ContactCache,
    contacts: Vec<Contact>,
    kept: Vec<Kept>,
    edited: Vec<u32>,
    /// Impulses of their joints.
    joints: Vec<(u32, [f64; 3])>,
    /// In the order in which they woke.
    islands: Vec<SleepingIsland>,
}

impl Undo {
    pub(crate) fn new(state: &WorldState) -> Self {
        Self {
            cache: state.cache.clone(),
            contacts: state.contacts.clone(),
            kept: state.kept.clone(),
            edited: state.edited.clone(),
            joints: Vec::new(),
            islands: Vec::new(),
        }
    }

    /// How many islands woke.
    pub(crate) fn woken(&self) -> usize {
        self.islands.len()
    }
}

impl World {
    /// Wakes the island of a body; nothing happens where it is awake.
    ///
    /// # Errors
    /// Where there is no such body.
    pub fn wake(&mut self, id: BodyId) -> Result<(), WorldError> {
        if let Some(island) = self.get(id)?.rest.island() {
            self.wake_islands(vec![island], None);
        }
        Ok(())
    }

    /// Wakes all islands.
    pub fn wake_all(&mut self) {
        let all: Vec<u32> = self.state.sleepers.enumerate().map(|(i, _)| i).collect();
        self.wake_islands(all, None);
    }

    /// A body is about to be changed: wakes its island, and what rests on it where it is not dynamic.
    pub(crate) fn disturb(&mut self, id: BodyId) -> Result<(), WorldError> {
        let body = self.get(id)?;
        if body.is_dynamic() {
            return self.wake(id);
        }
        let state = &self.state;
        if state.sleepers.is_empty() {
            return Ok(());
        }
        let joins = |slot: &u32| {
            let joint = state.joints[*slot as usize].value;
            joint.is_some_and(|j| j.joint.a == id || j.joint.b == id)
        };
        let touched = state.sleepers.enumerate().filter(|(_, island)| {
            island.contacts.iter().any(|c| c.a == id || c.b == id)
                || island.joints.iter().any(joins)
        });
        let touched = touched.map(|(index, _)| index).collect();
        self.wake_islands(touched, None);
        Ok(())
    }

    /// A body came to lie where it was not: one that does not move by itself, and so does not meet
    /// what sleeps there.
    pub(crate) fn settle(&mut self, id: BodyId) {
        let fixed = self.get(id).is_ok_and(|b| !b.is_dynamic() && !b.sensor);
        let edited = &mut self.state.edited;
        if fixed && !self.state.sleepers.is_empty() && !edited.contains(&id.index) {
            edited.push(id.index);
        }
    }

    /// Wakes islands, with their impulses and manifolds as warm start.
    fn wake_islands(&mut self, islands: Vec<u32>, mut undo: Option<&mut Undo>) {
        if islands.is_empty() {
            return;
        }
        let state = &mut self.state;
        let (contacts, kept) = (state.contacts.len(), state.kept.len());
        for index in islands {
            let Some(mut island) = state.sleepers.take(index) else {
                continue;
            };
            if let Some(undo) = &mut undo {
                let impulses = |slot: &u32| {
                    let joint = state.joints[*slot as usize].value?;
                    Some((*slot, joint.impulses))
                };
                undo.joints
                    .extend(island.joints.iter().filter_map(impulses));
                undo.islands.push(island.clone());
            }
            for slot in &island.bodies {
                if let Some(body) = &mut state.bodies[*slot as usize].value {
                    body.rest = Rest::AWAKE;
                }
                self.detection.touch(*slot);
            }
            // Impulses are those of a step as long as the last one.
            if island.dt != state.last_dt && island.dt > 0.0 {
                let scale = state.last_dt / island.dt;
                island.contacts.iter_mut().for_each(|c| c.impulse *= scale);
                for slot in &island.joints {
                    if let Some(joint) = &mut state.joints[*slot as usize].value {
                        joint.impulses = joint.impulses.map(|x| x * scale);
                    }
                }
            }
            state.contacts.append(&mut island.contacts);
            state.kept.append(&mut island.kept);
        }
        let woken = &state.contacts[contacts..];
        state.cache.remember(woken.iter().map(Contact::remembered));
        if state.contacts.len() > contacts {
            state.contacts.sort_unstable_by_key(|c| (c.a, c.b, c.key()));
        }
        if state.kept.len() > kept {
            state.kept.sort_unstable_by_key(Kept::pair);
            self.detection.forget_kept();
        }
        self.activity.forget();
        self.all_contacts.take();
    }

    /// Puts the world back to before the step.
    pub(crate) fn undo(&mut self, undo: Undo) {
        let state = &mut self.state;
        for island in undo.islands.into_iter().rev() {
            let bodies = island.bodies.clone();
            let Some(index) = state.sleepers.put_back(island) else {
                continue;
            };
            for slot in bodies {
                if let Some(body) = &mut state.bodies[slot as usize].value {
                    body.rest = Rest::asleep(index);
                }
                self.detection.touch(slot);
            }
        }
        for (slot, impulses) in undo.joints {
            if let Some(joint) = &mut state.joints[slot as usize].value {
                joint.impulses = impulses;
            }
        }
        state.cache = undo.cache;
        state.contacts = undo.contacts;
        state.kept = undo.kept;
        self.detection.forget_kept();
        state.edited = undo.edited;
        self.activity.forget();
        self.all_contacts.take();
    }

    /// Before a step: wakes what sleeps where fixed bodies came to lie. The boxes are those of the
    /// sleeping bodies, grown by the prediction distance.
    pub(crate) fn wake_edited(&mut self, undo: &mut Option<Undo>) {
        if self.state.edited.is_empty() {
            return;
        }
        self.detection.set_touched(&self.state);
        self.detection.join(&self.state);
        let (mut near, mut islands) = (Vec::new(), Vec::new());
        for slot in &self.state.edited {
            let body = self.state.bodies[*slot as usize].value.as_ref();
            if body.is_none_or(|b| b.is_dynamic()) {
                continue;
            }
            self.detection.near(*slot, &mut near);
            for other in &near {
                let pair = ((*slot).min(*other), (*slot).max(*other));
                let island = island_of(&self.state, *other);
                if self.detection.may_touch(&self.state, pair) {
                    islands.extend(island);
                }
            }
        }
        let undo = undo.get_or_insert_with(|| Undo::new(&self.state));
        self.state.edited.clear();
        self.wake_sorted(islands, undo);
    }

    /// Wakes what a moving body is about to push; returns whether there was any. Takes contacts of
    /// sleeping bodies with such that no impulse moves out of the points.
    pub(crate) fn wake_met(
        &mut self,
        scratch: &mut Scratch,
        dt: f64,
        undo: &mut Option<Undo>,
    ) -> bool {
        scratch.sleeping_points = 0;
        if self.state.sleepers.is_empty() {
            return false;
        }
        let state = &self.state;
        let slop = state.settings.position_correction.slop;
        let mut islands = Vec::new();
        let mut strays = false;
        for p in &scratch.points {
            let (a, b) = (p.a.index, p.b.index);
            let Some(island) = island_of(state, a).or_else(|| island_of(state, b)) else {
                continue;
            };
            let at = |slot: u32, lever| scratch.free_velocity(slot).at(lever);
            let speed = p.normal.dot(at(b, p.lever_b) - at(a, p.lever_a));
            if p.separation + dt * speed < 0.0 || p.separation < -slop {
                islands.push(island);
            }
            scratch.sleeping_points += 1;
            strays |= !moves(state, a) && !moves(state, b);
        }
        if !islands.is_empty() {
            let undo = undo.get_or_insert_with(|| Undo::new(&self.state));
            self.wake_sorted(islands, undo);
            return true;
        }
        if strays {
            scratch
                .points
                .retain(|p| moves(state, p.a.index) || moves(state, p.b.index));
            scratch.islands.list_ends(&scratch.points, false);
        }
        false
    }

    /// Wakes what was pushed in the solve all the same; returns whether there was any.
    pub(crate) fn wake_pushed(&mut self, scratch: &Scratch, undo: &mut Option<Undo>) -> bool {
        if scratch.sleeping_points == 0 {
            return false;
        }
        let mut islands = Vec::new();
        for (point, impulse) in scratch.impulses() {
            if impulse.x > 0.0 {
                let (a, b) = (point.a.index, point.b.index);
                let island = island_of(&self.state, a).or_else(|| island_of(&self.state, b));
                islands.extend(island);
            }
        }
        if islands.is_empty() {
            return false;
        }
        let undo = undo.get_or_insert_with(|| Undo::new(&self.state));
        self.wake_sorted(islands, undo);
        true
    }

    /// Wakes what bullets struck in the solve.
    pub(crate) fn wake_struck(&mut self, islands: Vec<u32>, undo: &mut Option<Undo>) {
        let undo = undo.get_or_insert_with(|| Undo::new(&self.state));
        self.wake_sorted(islands, undo);
    }

    fn wake_sorted(&mut self, mut islands: Vec<u32>, undo: &mut Undo) {
        islands.sort_unstable();
        islands.dedup();
        self.wake_islands(islands, Some(undo));
    }
}

/// The sleeping island of a slot.
fn island_of(state: &WorldState, slot: u32) -> Option<u32> {
    state.bodies[slot as usize].value.as_ref()?.rest.island()
}

fn moves(state: &WorldState, slot: u32) -> bool {
    let body = state.bodies[slot as usize].value.as_ref();
    body.is_some_and(|b| b.moves())
}

/// Whether the body must be watched for sleeping ones on its way.
pub(crate) fn is_mover(kind: BodyKind, velocity: &Velocity) -> bool {
    kind == BodyKind::Kinematic && *velocity != Velocity::ZERO
}
