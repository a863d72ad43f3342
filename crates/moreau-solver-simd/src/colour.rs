//! Contacts in the order of a sweep: grouped by pair of bodies, and coloured.
//!
//! A *unit* is up to four contacts of one pair with one normal. No two units of a colour
//! share a body that moves, so a colour can be solved in any order, many units side by side, with the
//! same result. Units get the lowest free colour in the order of the contacts; contacts with bodies
//! that do not move have colours of their own, which come last, so that a sweep ends where nothing
//! gives way. A unit that finds no free colour becomes one of its own, in the order of the contacts.
//!
//! Where bodies lie in [`Layers`] each layer has colours of its own, and layers follow each other.

use crate::first_look::Glance;
use crate::layers::Layers;
use moreau_constraint::{BodyInput, ContactPoint};
use moreau_math::{Vec3, Velocity};
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
    pub(crate) shape: UnitShape,
    colour: u8,
    layer: u32,
}

/// What a visit has to know of a pair of bodies; each may be visited as the ones before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum UnitShape {
    #[default]
    General,
    /// Both turn as easily about all axes.
    Round,
    /// Round, and one contact that pushes through both centres.
    Balls,
}

/// The most that a push across its arm may turn a ball by, to what it moves it by: arm²/I to 1/m. Solid balls have
/// 2.5. What is rounded away of a lever beside the normal turns a body by so much more.
const TURNS: f64 = 100.0;

/// m. The squares of longer arms might be no numbers.
const LONGEST_ARM: f64 = 1e30;

/// How far, in parts of its length, the end of a lever may lie beside the normal that it lies along: what is
/// rounded away where a contact point is worked out.
const ASIDE: f64 = 1e-15;

impl UnitShape {
    const COUNT: usize = 3;

    pub(crate) fn of(c: &ContactPoint, bodies: &[Kind]) -> Self {
        let both = [(&bodies[c.a], c.lever_a), (&bodies[c.b], c.lever_b)];
        if !both.iter().all(|(body, _)| body.round) {
            return Self::General;
        }
        let (n, t1, t2) = (c.frame.normal, c.frame.tangent1, c.frame.tangent2);
        // Not by squares, which may be too large or too small for a number.
        let close = |difference: Vec3, of: Vec3| {
            difference.abs().max_element() <= ASIDE * of.abs().max_element()
        };
        let through = |(body, lever): &(&Kind, Vec3)| {
            let arm = n.dot(*lever);
            let within = arm.abs() as f32 <= body.reach;
            body.still || within && close(*lever - n * arm, *lever)
        };
        let pushed = [c.bias.y, c.bias.z] != [0.0; 2];
        if !pushed && close(t2 - n.cross(t1), t2) && both.iter().all(through) {
            Self::Balls
        } else {
            Self::Round
        }
    }
}

/// What matters of a body here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    /// Whether impulses move it.
    pub(crate) moves: bool,
    /// Whether it turns as easily about all axes.
    round: bool,
    /// Whether it neither moves nor is moved.
    pub(crate) still: bool,
    /// The longest arm of a ball, m.
    reach: f32,
    /// Where its records lie.
    pub(crate) place: u32,
}

impl Kind {
    pub(crate) fn of((index, body): (usize, &BodyInput)) -> Self {
        let i = &body.inverse_inertia;
        let reach = if i.xx == 0.0 {
            LONGEST_ARM
        } else {
            (TURNS * body.inverse_mass / i.xx).sqrt().min(LONGEST_ARM)
        };
        Self {
            moves: !body.is_immovable(),
            round: [i.xy, i.xz, i.yz] == [0.0; 3] && i.xx == i.yy && i.yy == i.zz,
            still: body.is_immovable() && body.velocity == Velocity::ZERO,
            reach: reach as f32,
            place: index as u32,
        }
    }
}

/// Contacts of a unit.
const MOST: usize = 4;

/// Kinds of units in a colour: by counts and shapes.
const PLACES: usize = MOST * UnitShape::COUNT;

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
    /// Orders the units that are listed.
    pub(crate) fn colour_units(&mut self, bodies: &[Kind], layers: &Layers) {
        let mut units = std::mem::take(&mut self.units);
        self.taken.resize(bodies.len(), [0; 4]);
        if units.len() < bodies.len() / 8 {
            for body in units.iter().flat_map(|unit| [unit.a, unit.b]) {
                self.taken[body as usize] = [0; 4];
            }
        } else {
            self.taken.fill([0; 4]);
        }
        for unit in &mut units {
            unit.layer = layers.of_pair(unit.a, unit.b);
            unit.colour = self.colour(bodies, layers, unit);
        }
        self.units = units;
        self.sort();
        if layers.count() > 1 {
            self.sort_by_layer(layers);
        }
        self.list_groups();
    }

    /// Orders the contacts of `indices`, which are only looked at: all of them are of one group.
    pub(crate) fn build_readers(
        &mut self,
        contacts: (&[ContactPoint], &[Glance]),
        indices: impl Iterator<Item = usize>,
    ) {
        self.list_units(contacts, indices);
        self.sort();
        self.list_groups();
    }

    /// Units of the contacts of `indices`, which ascend, in the order of their first contacts, all of one colour.
    pub(crate) fn list_units(
        &mut self,
        (contacts, glances): (&[ContactPoint], &[Glance]),
        indices: impl Iterator<Item = usize>,
    ) {
        self.units.clear();
        let same = |i: usize, k: usize| {
            let (c, d) = (&contacts[i], &contacts[k]);
            (c.frame, c.friction) == (d.frame, d.friction)
        };
        for index in indices {
            let Glance { pair, shape, .. } = glances[index];
            if let Some(unit) = self.units.last_mut()
                && [unit.a, unit.b] == pair
                && usize::from(unit.count) < MOST
            {
                // Only now the contacts are fetched.
                if same(unit.contacts[0] as usize, index) {
                    unit.contacts[usize::from(unit.count)] = index as u32;
                    unit.count += 1;
                    unit.shape = unit.shape.min(UnitShape::Round);
                    continue;
                }
            }
            self.units.push(Unit {
                a: pair[0],
                b: pair[1],
                contacts: [index as u32; MOST],
                count: 1,
                shape,
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

    /// Stable counting sort by colour; in a colour by falling count, and the simplest shapes first.
    fn sort(&mut self) {
        // The overflow keeps the order of the contacts, whatever the counts.
        let key = |u: &Unit| match u.colour {
            SERIAL => usize::from(SERIAL) * PLACES,
            colour => {
                let shape = UnitShape::Balls as usize - u.shape as usize;
                let place = (MOST - usize::from(u.count)) * UnitShape::COUNT + shape;
                usize::from(colour) * PLACES + place
            }
        };
        // Most that are only looked at are of one kind.
        if self.units.iter().map(key).is_sorted() {
            return;
        }
        self.buckets.clear();
        self.buckets.resize(PLACES * 256 + 1, 0);
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
    fn sort_by_layer(&mut self, layers: &Layers) {
        self.buckets.clear();
        self.buckets.resize(layers.turns() + 1, 0);
        for unit in &self.units {
            self.buckets[layers.turn(unit.layer) + 1] += 1;
        }
        for i in 1..=layers.turns() {
            self.buckets[i] += self.buckets[i - 1];
        }
        self.sorted.clone_from(&self.units);
        for unit in &self.units {
            let place = &mut self.buckets[layers.turn(unit.layer)];
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

#[cfg(test)]
mod tests {
    use super::*;
    use moreau_constraint::{ContactInput, ContactProblem};
    use moreau_math::{SymMat3, vec3};

    fn shape(
        inertias: [Vec3; 2],
        levers: [Vec3; 2],
        change: impl FnOnce(&mut ContactPoint),
    ) -> UnitShape {
        let mut problem = ContactProblem::new(0.01).unwrap();
        for inertia in inertias {
            let body = BodyInput {
                inverse_mass: if inertia == Vec3::ZERO { 0.0 } else { 1.0 },
                inverse_inertia: SymMat3::from_diagonal(inertia),
                velocity: Velocity::ZERO,
            };
            problem.add_body(body).unwrap();
        }
        let contact = ContactInput {
            a: 0,
            b: 1,
            normal: vec3(2.0, -3.0, 6.0) / 7.0,
            lever_a: levers[0],
            lever_b: levers[1],
            separation: 0.0,
            friction: 0.5,
            restitution: 0.0,
        };
        problem.add_contact(contact).unwrap();
        let mut contact = problem.contacts()[0];
        change(&mut contact);
        let kinds: Vec<Kind> = problem.bodies().iter().enumerate().map(Kind::of).collect();
        UnitShape::of(&contact, &kinds)
    }

    #[test]
    fn balls_are_pushed_through_their_centres() {
        let n = vec3(2.0, -3.0, 6.0) / 7.0;
        let (ball, cuboid) = (Vec3::splat(3.0), vec3(3.0, 3.0, 4.0));
        let levers = [0.3 * n, -0.7 * n];
        let same = |_: &mut ContactPoint| {};
        assert_eq!(shape([ball; 2], levers, same), UnitShape::Balls);
        assert_eq!(shape([ball, cuboid], levers, same), UnitShape::General);
        for (aside, expected) in [(1e-17, UnitShape::Balls), (1e-14, UnitShape::Round)] {
            let lever = levers[1] + aside * Vec3::X;
            assert_eq!(shape([ball; 2], [levers[0], lever], same), expected);
        }
        // Where the ground is touched does not matter, unless it moves.
        let ground = [Vec3::ZERO, ball];
        let far = [vec3(40.0, 2.0, 7.0), levers[1]];
        assert_eq!(shape(ground, far, same), UnitShape::Balls);
        assert_eq!(shape([ball; 2], far, same), UnitShape::Round);
        for size in [1e-150, 1e-3, 1e3, 1e25] {
            // A ball of that size.
            let shape_of = |lever: Vec3| {
                let levers = [size * levers[0], size * lever];
                shape([ball / (size * size); 2], levers, same)
            };
            assert_eq!(shape_of(levers[1]), UnitShape::Balls);
            assert_eq!(shape_of(Vec3::Y), UnitShape::Round);
        }
        // Squares that are no numbers, and balls that turn far too easily for their size.
        let far_out = [1e160 * n, -1e160 * n];
        assert_eq!(shape([ball * 1e-320; 2], far_out, same), UnitShape::Round);
        assert_eq!(shape([Vec3::splat(1e4); 2], levers, same), UnitShape::Round);
        let pushed = |c: &mut ContactPoint| c.bias.z = 1e-300;
        assert_eq!(shape([ball; 2], levers, pushed), UnitShape::Round);
        let turned = |c: &mut ContactPoint| c.frame.tangent2 *= 1.0 + 1e-9;
        assert_eq!(shape([ball; 2], levers, turned), UnitShape::Round);
        // A lever that is none has no part across.
        assert_eq!(shape([ball; 2], [Vec3::ZERO; 2], same), UnitShape::Balls);
    }
}
