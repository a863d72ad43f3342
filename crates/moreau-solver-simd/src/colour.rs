//! Contacts in the order of a sweep: grouped by pair of bodies, and coloured.
//!
//! A *unit* is up to four contacts of one pair with one normal. No two units of a colour
//! share a body that moves, so a colour can be solved in any order, many units side by side, with the
//! same result. Units get the lowest free colour in the order of the contacts; contacts with bodies
//! that do not move have colours of their own, which come last, so that a sweep ends where nothing
//! gives way. A unit that finds no free colour becomes one of its own, in the order of the contacts.

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
}

/// What matters of a body here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    /// Whether impulses move it.
    pub(crate) moves: bool,
    /// Whether it turns as easily about all axes.
    round: bool,
}

impl Kind {
    pub(crate) fn of(body: &BodyInput) -> Self {
        let i = &body.inverse_inertia;
        Self {
            moves: !body.is_immovable(),
            round: [i.xy, i.xz, i.yz] == [0.0; 3] && i.xx == i.yy && i.yy == i.zz,
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
    /// Colours in use.
    pub(crate) colours: usize,
    /// Units that found no colour.
    pub(crate) serial: usize,
    /// Bits of the colours at each body: with moving bodies, with others.
    taken: Vec<[u64; 2]>,
    buckets: Vec<usize>,
    sorted: Vec<Unit>,
}

impl Colouring {
    /// Orders the contacts of `indices`, which ascend.
    pub(crate) fn build(
        &mut self,
        contacts: &[ContactPoint],
        bodies: &[Kind],
        indices: impl Iterator<Item = usize>,
    ) {
        self.taken.clear();
        self.taken.resize(bodies.len(), [0; 2]);
        self.list_units(contacts, bodies, indices);
        let mut units = std::mem::take(&mut self.units);
        for unit in &mut units {
            unit.colour = self.colour(bodies, unit.a as usize, unit.b as usize);
        }
        self.units = units;
        self.sort();
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
            });
        }
    }

    fn colour(&mut self, bodies: &[Kind], a: usize, b: usize) -> u8 {
        let (kind, taken) = match (bodies[a].moves, bodies[b].moves) {
            (true, true) => (0, self.taken[a][0] | self.taken[b][0]),
            (true, false) => (1, self.taken[a][1]),
            _ => (1, self.taken[b][1]),
        };
        let colour = taken.trailing_ones() as u8;
        if colour >= COLOURS {
            return SERIAL;
        }
        for body in [a, b].into_iter().filter(|body| bodies[*body].moves) {
            self.taken[body][kind] |= 1 << colour;
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

    fn list_groups(&mut self) {
        self.groups.clear();
        (self.colours, self.serial) = (0, 0);
        let mut last = SERIAL;
        for (i, unit) in self.units.iter().enumerate() {
            self.serial += usize::from(unit.colour == SERIAL);
            if unit.colour == SERIAL || unit.colour != last {
                self.colours += usize::from(unit.colour != SERIAL);
                self.groups.push(i..i);
                last = unit.colour;
            }
            if let Some(group) = self.groups.last_mut() {
                group.end = i + 1;
            }
        }
    }
}
