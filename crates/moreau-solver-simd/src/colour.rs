//! Contacts in the order of a sweep: grouped by pair of bodies, and coloured.
//!
//! A *unit* is up to four contacts of one pair with one normal. No two units of a colour
//! share a body that moves, so a colour can be solved in any order, many units side by side, with the
//! same result. Units get the lowest free colour in the order of the contacts; contacts with bodies
//! that do not move have colours of their own, which come last, so that a sweep ends where nothing
//! gives way. A unit that finds no free colour becomes one of its own, in the order of the contacts.
//!
//! Where bodies lie in [`Layers`] each layer has colours of its own, and layers follow each other.

use crate::layers::Layers;
use moreau_constraint::{BodyInput, ContactPoint};
use std::ops::Range;

/// Contacts that share bodies and axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) a: u32,
    pub(crate) b: u32,
    /// Indices of its contacts, ascending; the first `count` count.
    contacts: [u32; MOST],
    /// 1 to 4.
    pub(crate) count: u8,
    /// Whether both bodies are.
    pub(crate) round: bool,
    colour: u8,
    layer: u32,
}

/// What matters of a body here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    /// Whether impulses move it.
    pub(crate) moves: bool,
    /// Whether it turns as easily about all axes.
    round: bool,
    /// Where its records lie.
    pub(crate) place: u32,
}

impl Kind {
    pub(crate) fn of((index, body): (usize, &BodyInput)) -> Self {
        let i = &body.inverse_inertia;
        Self {
            moves: !body.is_immovable(),
            round: [i.xy, i.xz, i.yz] == [0.0; 3] && i.xx == i.yy && i.yy == i.zz,
            place: index as u32,
        }
    }
}

/// Contacts of a unit.
const MOST: usize = 4;

impl Unit {
    pub(crate) fn contacts(&self) -> &[u32] {
        &self.contacts[..usize::from(self.count)]
    }
}

/// Colours between two moving bodies; as many again for the others.
const COLOURS: u8 = 60;
const SERIAL: u8 = u8::MAX;

/// The order of a sweep; keeps its memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Colouring {
    /// In the order of a sweep.
    pub(crate) units: Vec<Unit>,
    /// Units that may be solved in any order, with falling counts: those of a colour, or one alone.
    pub(crate) groups: Vec<Range<usize>>,
    /// Of each group.
    pub(crate) layers: Vec<u32>,
    /// Colours in use.
    pub(crate) colours: usize,
    /// Units that found no colour.
    pub(crate) serial: usize,
    /// Bits of the colours at each body: with moving bodies, with others; both in its own layer, then in the one below.
    taken: Vec<[u64; 4]>,
    buckets: Vec<usize>,
    sorted: Vec<Unit>,
}

impl Colouring {
    /// Orders the contacts of `indices`, which ascend.
    pub(crate) fn build(
        &mut self,
        contacts: &[ContactPoint],
        bodies: &[Kind],
        layers: &Layers,
        indices: impl Iterator<Item = usize>,
    ) {
        self.taken.clear();
        self.taken.resize(bodies.len(), [0; 4]);
        self.list_units(contacts, bodies, indices);
        let mut units = std::mem::take(&mut self.units);
        for unit in &mut units {
            unit.layer = layers.of_pair(unit.a, unit.b);
            unit.colour = self.colour(bodies, layers, unit);
        }
        self.units = units;
        self.sort();
        if layers.count() > 1 {
            self.sort_by_layer(layers.count());
        }
        self.list_groups();
    }

    /// The same for contacts that are only looked at: all of them are of one group.
    pub(crate) fn build_readers(
        &mut self,
        contacts: &[ContactPoint],
        bodies: &[Kind],
        indices: impl Iterator<Item = usize>,
    ) {
        self.list_units(contacts, bodies, indices);
        self.sort();
        self.list_groups();
    }

    /// Units in the order of their first contacts, all of one colour.
    fn list_units(
        &mut self,
        contacts: &[ContactPoint],
        bodies: &[Kind],
        indices: impl Iterator<Item = usize>,
    ) {
        self.units.clear();
        for index in indices {
            let c = &contacts[index];
            if let Some(unit) = self.units.last_mut() {
                let d = &contacts[unit.contacts[0] as usize];
                let same = (d.a, d.b, d.frame, d.friction) == (c.a, c.b, c.frame, c.friction);
                if same && usize::from(unit.count) < MOST {
                    unit.contacts[usize::from(unit.count)] = index as u32;
                    unit.count += 1;
                    continue;
                }
            }
            self.units.push(Unit {
                a: c.a as u32,
                b: c.b as u32,
                contacts: [index as u32; MOST],
                count: 1,
                round: bodies[c.a].round && bodies[c.b].round,
                colour: 0,
                layer: 0,
            });
        }
    }

    fn colour(&mut self, bodies: &[Kind], layers: &Layers, unit: &Unit) -> u8 {
        let (a, b) = (unit.a as usize, unit.b as usize);
        let below = |body: u32| 2 * usize::from(layers.is_above(body, unit.layer));
        let (of_a, of_b) = (below(unit.a), below(unit.b));
        let (kind, taken) = match (bodies[a].moves, bodies[b].moves) {
            (true, true) => (0, self.taken[a][of_a] | self.taken[b][of_b]),
            (true, false) => (1, self.taken[a][of_a + 1]),
            _ => (1, self.taken[b][of_b + 1]),
        };
        let colour = taken.trailing_ones() as u8;
        if colour >= COLOURS {
            return SERIAL;
        }
        for (body, of) in [(a, of_a), (b, of_b)] {
            if bodies[body].moves {
                self.taken[body][of + kind] |= 1 << colour;
            }
        }
        colour + COLOURS * kind as u8
    }

    /// Stable counting sort by colour; in a colour by falling count, and the round ones first.
    fn sort(&mut self) {
        // The overflow keeps the order of the contacts, whatever the counts.
        let key = |u: &Unit| match u.colour {
            SERIAL => usize::from(SERIAL) * 8,
            colour => {
                let place = (MOST - usize::from(u.count)) * 2 + usize::from(!u.round);
                usize::from(colour) * 8 + place
            }
        };
        self.buckets.clear();
        self.buckets.resize(8 * 256 + 1, 0);
        for unit in &self.units {
            self.buckets[key(unit) + 1] += 1;
        }
        for i in 1..self.buckets.len() {
            self.buckets[i] += self.buckets[i - 1];
        }
        self.sorted.clear();
        self.sorted.extend_from_slice(&self.units);
        for unit in &self.units {
            let place = &mut self.buckets[key(unit)];
            self.sorted[*place] = *unit;
            *place += 1;
        }
        std::mem::swap(&mut self.units, &mut self.sorted);
    }

    /// Stable.
    fn sort_by_layer(&mut self, layers: usize) {
        self.buckets.clear();
        self.buckets.resize(layers + 1, 0);
        for unit in &self.units {
            self.buckets[unit.layer as usize + 1] += 1;
        }
        for i in 1..=layers {
            self.buckets[i] += self.buckets[i - 1];
        }
        self.sorted.clone_from(&self.units);
        for unit in &self.units {
            let place = &mut self.buckets[unit.layer as usize];
            self.sorted[*place] = *unit;
            *place += 1;
        }
        std::mem::swap(&mut self.units, &mut self.sorted);
    }

    fn list_groups(&mut self) {
        self.groups.clear();
        self.layers.clear();
        (self.colours, self.serial) = (0, 0);
        let mut seen = [false; 256];
        let mut last = (0, SERIAL);
        for (i, unit) in self.units.iter().enumerate() {
            self.serial += usize::from(unit.colour == SERIAL);
            let place = (unit.layer, unit.colour);
            if unit.colour == SERIAL || place != last {
                let new = !std::mem::replace(&mut seen[usize::from(unit.colour)], true);
                self.colours += usize::from(new && unit.colour != SERIAL);
                self.groups.push(i..i);
                self.layers.push(unit.layer);
                last = place;
            }
            if let Some(group) = self.groups.last_mut() {
                group.end = i + 1;
            }
        }
    }
}
