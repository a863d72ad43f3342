//! Contacts in the order of a sweep: grouped by pair of bodies, and coloured.
//!
//! A *unit* is up to four consecutive contacts of one pair with one normal. No two units of a colour
//! share a body that moves, so a colour can be solved in any order, many units side by side, with the
//! same result. Units get the lowest free colour in the order of the contacts; contacts with bodies
//! that do not move have colours of their own, which come last, so that a sweep ends where nothing
//! gives way. A unit that finds no free colour becomes one of its own, in the order of the contacts.

use moreau_constraint::ContactPoint;
use std::ops::Range;

/// Contacts that share bodies and axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) a: u32,
    pub(crate) b: u32,
    /// Index of its first contact.
    pub(crate) first: u32,
    /// 1 to 4.
    pub(crate) count: u8,
    colour: u8,
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
    /// `moves` says of each body whether impulses move it.
    pub(crate) fn build(&mut self, contacts: &[ContactPoint], moves: &[bool]) {
        self.taken.clear();
        self.taken.resize(moves.len(), [0; 2]);
        self.units.clear();
        let mut first = 0;
        while first < contacts.len() {
            let count = unit_length(&contacts[first..]);
            let (a, b) = (contacts[first].a, contacts[first].b);
            let colour = self.colour(moves, a, b);
            self.units.push(Unit {
                a: a as u32,
                b: b as u32,
                first: first as u32,
                count: count as u8,
                colour,
            });
            first += count;
        }
        self.sort();
        self.list_groups();
    }

    fn colour(&mut self, moves: &[bool], a: usize, b: usize) -> u8 {
        let (kind, taken) = match (moves[a], moves[b]) {
            (true, true) => (0, self.taken[a][0] | self.taken[b][0]),
            (true, false) => (1, self.taken[a][1]),
            _ => (1, self.taken[b][1]),
        };
        let colour = taken.trailing_ones() as u8;
        if colour >= COLOURS {
            return SERIAL;
        }
        for body in [a, b].into_iter().filter(|body| moves[*body]) {
            self.taken[body][kind] |= 1 << colour;
        }
        colour + COLOURS * kind as u8
    }

    /// Stable counting sort by colour, and by falling count in a colour.
    fn sort(&mut self) {
        // The overflow keeps the order of the contacts, whatever the counts.
        let key = |u: &Unit| match u.colour {
            SERIAL => usize::from(SERIAL) * 4,
            colour => usize::from(colour) * 4 + 4 - usize::from(u.count),
        };
        self.buckets.clear();
        self.buckets.resize(1025, 0);
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

/// How many of the first contacts share bodies and axes, at most 4.
fn unit_length(contacts: &[ContactPoint]) -> usize {
    let c = &contacts[0];
    let same =
        |d: &&ContactPoint| (d.a, d.b, d.frame, d.friction) == (c.a, c.b, c.frame, c.friction);
    contacts.iter().take(4).take_while(same).count()
}
