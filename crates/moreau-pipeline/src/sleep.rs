//! Islands that lie still, and cost nothing.
//!
//! The speed of a body in a step of length h is that of its fastest point, overlaps that are taken out
//! counted in,
//!
//! ```text
//! s = max(|v|, |x+ - x|/h) + (|w| + |w_c|) R     R: bounding radius about the centre of mass,
//!                                                w_c: pseudo-velocity of the correction
//! ```
//!
//! and it is still while s <= `speed`, unless s grows: where s comes to more than twice its least
//! value in that time (and a hundredth of `speed`), the time starts again. A pendulum that turns, a
//! ball at its apex and a block that begins to tip gather speed; what lies still does not.
//!
//! An island falls asleep when each of its bodies has been still for `time`, its impulses are within
//! `speed` of exact ones, nothing kinematic that it touches moves, and something holds it: a contact
//! that pushes, or a joint, with a body that is not dynamic. Where nothing holds it, and for bodies
//! that touch nothing, all velocities must be exactly zero.
//!
//! A sleeping island keeps its poses, contact points, impulses and kept manifolds; its velocities are
//! zero. When it wakes it starts from these impulses, and so goes on to stand as it stood.

use crate::body::BodyState;
use crate::contact::Contact;
use crate::integrate::Motion;
use crate::profile::held;
use crate::recycle::Kept;
use crate::step::Scratch;
use crate::world::WorldState;
use crate::{BodyId, BodyKind, World, WorldBytes, WorldError};
use moreau_math::Velocity;
use serde::{Deserialize, Serialize};

/// When islands fall asleep. See [`crate::WorldSettings::sleeping`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sleeping {
    /// Largest speed of any point of a body that counts as still, m/s. Default 1e-5. Too small: large
    /// islands never sleep; too big: what rolls, slides or creeps more slowly is stopped.
    pub speed: f64,
    /// For how long all bodies of an island must be still, s. Default 0.5. Too small: islands sleep
    /// and wake by turns.
    pub time: f64,
}

impl Default for Sleeping {
    fn default() -> Self {
        Self {
            speed: 1e-5,
            time: 0.5,
        }
    }
}

/// No island.
const NONE: u32 = u32::MAX;

/// Part of the speed that is noise: slower than this, growth does not count.
const NOISE: f64 = 0.01;

/// Part of its least value by which a speed may grow.
const GROWTH: f64 = 2.0;

/// What a body has come to on its way to sleep.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rest {
    /// For how long it has been still, s.
    still: f64,
    /// Least speed in that time, m/s.
    least: f64,
    /// Its sleeping island.
    island: u32,
}

impl Rest {
    pub(crate) const AWAKE: Self = Self {
        still: 0.0,
        least: f64::INFINITY,
        island: NONE,
    };

    pub(crate) fn asleep(island: u32) -> Self {
        Self {
            island,
            ..Self::AWAKE
        }
    }

    pub(crate) fn is_asleep(&self) -> bool {
        self.island != NONE
    }

    /// Index of its sleeping island.
    pub(crate) fn island(&self) -> Option<u32> {
        self.is_asleep().then_some(self.island)
    }

    /// For how long it has been still (s), and its least speed (m/s).
    pub(crate) fn stillness(&self) -> (f64, f64) {
        (self.still, self.least)
    }

    /// Counts a step of `dt` at this speed.
    fn observe(&mut self, speed: f64, sleeping: &Sleeping, dt: f64) {
        if !(speed <= sleeping.speed) {
            *self = Self::AWAKE;
        } else if speed > GROWTH * self.least && speed > NOISE * sleeping.speed {
            (self.still, self.least) = (0.0, speed);
        } else {
            self.still += dt;
            self.least = self.least.min(speed);
        }
    }

    /// Whether it comes from a step.
    pub(crate) fn is_sound(&self) -> bool {
        (0.0..f64::INFINITY).contains(&self.still) && self.least >= 0.0
    }
}

/// Counts the step that a body is about to make.
pub(crate) fn observe(body: &mut BodyState, motion: &Motion, sleeping: &Sleeping, dt: f64) {
    let pushed = body.force != Default::default() || body.torque != Default::default();
    if pushed {
        body.rest = Rest::AWAKE;
        return;
    }
    let way = motion.mean + motion.correction.linear;
    let linear = motion.velocity.linear.length().max(way.length());
    let turn = motion.velocity.angular.length() + motion.correction.angular.length();
    let mut speed = linear;
    if turn > 0.0 {
        let radius = body.shape.bounding_radius() + body.mass.center_of_mass.length();
        speed += turn * radius;
    }
    body.rest.observe(speed, sleeping, dt);
}

/// Bodies that sleep and wake together, and what they keep until they do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SleepingIsland {
    /// Slots, ascending.
    pub(crate) bodies: Vec<u32>,
    /// Slots, ascending.
    pub(crate) joints: Vec<u32>,
    /// In order.
    pub(crate) contacts: Vec<Contact>,
    /// Sorted by pair.
    pub(crate) kept: Vec<Kept>,
    /// Length of the step that made the impulses, s.
    pub(crate) dt: f64,
    /// Potential energy, J.
    pub(crate) potential: f64,
    /// Deepest overlap, m.
    pub(crate) deepest: f64,
}

/// All sleeping islands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sleepers {
    islands: Vec<Option<SleepingIsland>>,
    /// Empty places; the last is filled first.
    free: Vec<u32>,
}

impl Sleepers {
    pub(crate) fn is_empty(&self) -> bool {
        self.islands.len() == self.free.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &SleepingIsland> {
        self.islands.iter().flatten()
    }

    /// All islands and their indices.
    pub(crate) fn enumerate(&self) -> impl Iterator<Item = (u32, &SleepingIsland)> {
        let places = (0..).zip(&self.islands);
        places.filter_map(|(index, island)| Some((index, island.as_ref()?)))
    }

    /// Adds what is held here.
    pub(crate) fn add_bytes(&self, bytes: &mut WorldBytes) {
        bytes.islands += held(&self.islands) + held(&self.free);
        for island in self.iter() {
            bytes.islands += held(&island.bodies) + held(&island.joints);
            bytes.contacts += held(&island.contacts);
            bytes.manifolds += held(&island.kept);
        }
    }

    fn get_mut(&mut self, index: u32) -> Option<&mut SleepingIsland> {
        self.islands.get_mut(index as usize)?.as_mut()
    }

    fn add(&mut self, island: SleepingIsland) -> u32 {
        match self.free.pop() {
            Some(index) => {
                self.islands[index as usize] = Some(island);
                index
            }
            None => {
                self.islands.push(Some(island));
                self.islands.len() as u32 - 1
            }
        }
    }

    pub(crate) fn take(&mut self, index: u32) -> Option<SleepingIsland> {
        let island = self.islands.get_mut(index as usize)?.take()?;
        self.free.push(index);
        Some(island)
    }

    /// Undoes the last [`take`](Self::take); returns the index.
    pub(crate) fn put_back(&mut self, island: SleepingIsland) -> Option<u32> {
        let index = self.free.pop()?;
        self.islands[index as usize] = Some(island);
        Some(index)
    }

    /// Whether bytes from anywhere describe islands that a step can rely on.
    pub(crate) fn check(&self, state: &WorldState) -> Result<(), String> {
        let empty = (0..).zip(&self.islands).filter(|(_, i)| i.is_none());
        let empty: Vec<u32> = empty.map(|(index, _)| index).collect();
        let mut free = self.free.clone();
        free.sort_unstable();
        if free != empty {
            return Err("its list of free islands does not fit its islands".into());
        }
        let mut asleep = 0;
        let body = |index: u32| {
            let slot = state.bodies.get(index as usize);
            slot.and_then(|slot| slot.value.as_ref())
        };
        let alive = |id: BodyId| {
            let slot = state.bodies.get(id.index as usize);
            slot.is_some_and(|s| s.generation == id.generation && s.value.is_some())
        };
        for (index, island) in self.enumerate() {
            asleep += island.bodies.len();
            let bad = |what: &str| Err(format!("sleeping island {index}: {what}"));
            let member = |b: &u32| {
                body(*b).is_some_and(|body| {
                    body.is_dynamic()
                        && body.rest.island == index
                        && body.velocity == Velocity::ZERO
                })
            };
            if island.bodies.is_empty()
                || !island.bodies.is_sorted_by(|a, b| a < b)
                || !island.bodies.iter().all(member)
            {
                return bad("its bodies are not its own");
            }
            let joint = |j: &u32| {
                let slot = state.joints.get(*j as usize);
                slot.is_some_and(|slot| slot.value.is_some())
            };
            if !island.joints.is_sorted_by(|a, b| a < b) || !island.joints.iter().all(joint) {
                return bad("a joint is not there");
            }
            if !island.contacts.iter().all(|c| alive(c.a) && alive(c.b)) {
                return bad("a contact names a body that is not there");
            }
            let sound = |k: &Kept| alive(k.a) && alive(k.b) && k.is_sound();
            let numbers = [island.dt, island.potential, island.deepest];
            if !island.kept.iter().all(sound)
                || !numbers.iter().all(|x| x.is_finite())
                || island.dt < 0.0
            {
                return bad("a kept manifold or a number is not usable");
            }
        }
        let all = state.bodies.iter().filter_map(|slot| slot.value.as_ref());
        if all.filter(|body| body.rest.is_asleep()).count() != asleep {
            return Err("a body sleeps in no island".into());
        }
        Ok(())
    }
}

/// Slots of the bodies and joints of an island that is about to sleep.
struct Resting {
    bodies: Vec<u32>,
    joints: Vec<u32>,
}

impl World {
    /// Whether a body is asleep: part of an island that has been still for long enough and costs
    /// nothing until something wakes it.
    ///
    /// # Errors
    /// Where there is no such body.
    pub fn is_sleeping(&self, id: BodyId) -> Result<bool, WorldError> {
        Ok(self.get(id)?.rest.is_asleep())
    }

    /// Puts the island of a body to sleep as it is, whatever its speed, until something wakes it: the
    /// bodies that touched it, directly or through others, in the last step, or are joined to it.
    /// Nothing happens where it sleeps already. Works with sleeping switched off, too.
    ///
    /// # Errors
    /// Where there is no such body, or it is not dynamic, or a sensor.
    pub fn put_to_sleep(&mut self, id: BodyId) -> Result<(), WorldError> {
        let body = self.get(id)?;
        if !body.is_dynamic() || body.sensor {
            let kind = format!("{:?}", body.kind);
            let allowed = "dynamic, and no sensor, for a body that is put to sleep";
            return Err(crate::body::bad(id, "kind", kind, allowed));
        }
        if body.rest.is_asleep() {
            return Ok(());
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        self.activity.refresh(&self.state);
        self.activity.forget();
        let islands = &mut scratch.islands;
        islands.list_ends(&self.state.contacts, false);
        islands.build(&self.state, &self.activity);
        let slot = id.index;
        let mut resting = Resting {
            bodies: vec![slot],
            joints: Vec::new(),
        };
        let own = islands
            .ranges
            .iter()
            .find(|range| islands.bodies[range.bodies.clone()].contains(&slot));
        if let Some(range) = own {
            resting.bodies = islands.bodies[range.bodies.clone()].to_vec();
            resting.joints = islands.joints[range.joints.clone()].to_vec();
        }
        self.scratch = scratch;
        self.rest(vec![resting], self.state.last_dt);
        Ok(())
    }

    /// After a step of `dt` (s): puts the islands to sleep that have been still for long enough.
    pub(crate) fn fall_asleep(&mut self, scratch: &Scratch, dt: f64) {
        let Some(sleeping) = self.state.settings.sleeping else {
            return;
        };
        let state = &self.state;
        let body = |index: u32| state.bodies[index as usize].value.as_ref();
        let ready =
            |index: &u32| body(*index).is_some_and(|b| b.rest.still >= sleeping.time && !b.sensor);
        let stopped = |index: &u32| body(*index).is_some_and(|b| b.velocity == Velocity::ZERO);
        let islands = &scratch.islands;
        let mut all = Vec::new();
        for (range, result) in islands.ranges.iter().zip(&scratch.results) {
            let bodies = &islands.bodies[range.bodies.clone()];
            let exact = |r: &moreau_solver::SolveReport| r.residual <= sleeping.speed;
            if !bodies.iter().all(ready) || !result.report.as_ref().is_some_and(exact) {
                continue;
            }
            let joints = &islands.joints[range.joints.clone()];
            let contacts = islands.contacts[range.contacts.clone()].iter();
            let contacts = contacts.map(|i| &state.contacts[*i as usize]);
            let pairs = contacts.map(|p| (p.a.index, p.b.index, p.impulse.x > 0.0));
            let joined = joints.iter().filter_map(|slot| {
                let joint = state.joints[*slot as usize].value?.joint;
                Some((joint.a.index, joint.b.index, true))
            });
            let mut held = false;
            let mut carried = false;
            for (a, b, pushes) in pairs.chain(joined) {
                for other in [a, b].into_iter().filter_map(body) {
                    held |= pushes && !other.is_dynamic();
                    carried |=
                        other.kind == BodyKind::Kinematic && other.velocity != Velocity::ZERO;
                }
            }
            if !carried && (held || bodies.iter().all(stopped)) {
                all.push(Resting {
                    bodies: bodies.to_vec(),
                    joints: joints.to_vec(),
                });
            }
        }
        for index in &self.activity.bodies {
            let alone = body(*index).is_some_and(|b| b.is_dynamic()) && !islands.holds(*index);
            if alone && ready(index) && stopped(index) {
                all.push(Resting {
                    bodies: vec![*index],
                    joints: Vec::new(),
                });
            }
        }
        if !all.is_empty() {
            self.rest(all, dt);
        }
    }

    /// Moves bodies, contacts and kept manifolds of these islands out of what steps look at.
    fn rest(&mut self, all: Vec<Resting>, dt: f64) {
        let state = &mut self.state;
        let gravity = state.settings.gravity;
        let mut made = Vec::with_capacity(all.len());
        for Resting { bodies, joints } in all {
            let index = state.sleepers.add(SleepingIsland {
                bodies: Vec::new(),
                joints,
                contacts: Vec::new(),
                kept: Vec::new(),
                dt,
                potential: 0.0,
                deepest: 0.0,
            });
            let mut potential = 0.0;
            for slot in &bodies {
                if let Some(body) = &mut state.bodies[*slot as usize].value {
                    body.velocity = Velocity::ZERO;
                    body.rest = Rest::asleep(index);
                    potential += body.potential_energy(gravity);
                }
                self.detection.touch(*slot);
            }
            if let Some(island) = state.sleepers.get_mut(index) {
                (island.bodies, island.potential) = (bodies, potential);
            }
            made.push(index);
        }
        made.sort_unstable();

        // What a pair keeps goes with its body that has just fallen asleep, unless the other moves; what
        // it shares with another sleeping island pushes nothing, and is dropped.
        let bodies = &state.bodies;
        let place = |slot: u32| {
            let body = bodies.get(slot as usize).and_then(|s| s.value.as_ref());
            let island = body.and_then(|b| b.rest.island());
            let fresh = island.filter(|i| made.binary_search(i).is_ok());
            (fresh, body.is_some_and(|b| b.moves()), island)
        };
        let fate = |a: u32, b: u32| {
            let ((new_a, moves_a, in_a), (new_b, moves_b, in_b)) = (place(a), place(b));
            match new_a.or(new_b) {
                Some(island) if !moves_a && !moves_b => {
                    let shared = in_a.is_some() && in_b.is_some() && in_a != in_b;
                    if shared {
                        Fate::Drop
                    } else {
                        Fate::Rest(island)
                    }
                }
                _ => Fate::Stay,
            }
        };
        let sleepers = &mut state.sleepers;
        state.contacts.retain(|c| match fate(c.a.index, c.b.index) {
            Fate::Stay => true,
            Fate::Drop => false,
            Fate::Rest(island) => {
                if let Some(island) = sleepers.get_mut(island) {
                    island.deepest = island.deepest.max(-c.separation);
                    island.contacts.push(*c);
                }
                false
            }
        });
        state.kept.retain(|k| match fate(k.a.index, k.b.index) {
            Fate::Stay => true,
            Fate::Drop => false,
            Fate::Rest(island) => {
                if let Some(island) = sleepers.get_mut(island) {
                    island.kept.push(*k);
                }
                false
            }
        });
        self.detection.forget_kept();
        let slot = |bits: u64| (bits >> 32) as u32;
        let stays = |a, b| matches!(fate(slot(a), slot(b)), Fate::Stay);
        state.cache.retain(|pair| stays(pair.a, pair.b));
        self.activity.forget();
        self.all_contacts.take();
    }
}

/// What becomes of what a pair keeps.
enum Fate {
    Stay,
    Drop,
    Rest(u32),
}

#[cfg(test)]
mod tests {
    use super::{Rest, Sleeping};

    /// Seconds of stillness after the given speeds, in parts of the limit, a tenth of a second each.
    fn stillness(speeds: &[f64]) -> f64 {
        let sleeping = Sleeping::default();
        let mut rest = Rest::AWAKE;
        for speed in speeds {
            rest.observe(speed * sleeping.speed, &sleeping, 0.1);
        }
        rest.stillness().0
    }

    #[test]
    fn growing_speeds_start_the_time_again() {
        let close = |x: f64, y: f64| assert!((x - y).abs() < 1e-12, "{x}, not {y}");
        close(stillness(&[0.5, 0.5, 0.5]), 0.3);
        close(stillness(&[0.9, 0.5, 0.1, 0.15]), 0.4);
        close(stillness(&[0.5, 1.1]), 0.0);
        close(stillness(&[0.5, f64::NAN]), 0.0);
        close(stillness(&[0.1, 0.05, 0.11, 0.12]), 0.1);
        // Noise is not growth.
        close(stillness(&[0.0, 0.009, 1e-9, 0.009]), 0.4);
        close(stillness(&[0.0, 0.02]), 0.0);
    }
}
