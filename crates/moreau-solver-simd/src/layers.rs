//! Bodies in layers, so that several sweeps can go through a large problem side by side.
//!
//! The contacts of a large problem do not fit into a cache, and a sweep over all of them takes them from
//! memory again. But a sweep needs little of the one before it. Let the bodies lie in layers such that a contact
//! joins bodies of one layer or of two that follow each other, let each contact belong to the lower of its bodies' layers, and let
//! a sweep begin with a layer in the middle and go on to both sides. Then sweep k may visit a layer as soon as sweep k - 1 has left
//! the next one:
//!
//! ```text
//! wave        0    1    2    3    4   ..
//! sweep k     0   -1   -2   -3   -4   ..        layers that are visited, from the middle
//!                 +1   +2   +3   +4   ..
//! sweep k+1             0   -1   -2   ..
//!                           +1   +2   ..
//! sweep k+2                       0   ..
//! ```
//!
//! Visits of a wave have no body in common, so they can be made at once, or in any order, with the bits of one sweep
//! after the other; and what one sweep has read is still near when the next one comes. It is what numerical codes on
//! grids call time skewing. It takes the momentum of all these sweeps to be known when the first one starts. Of two threads each
//! keeps to its side, and they share no more than the bodies in the middle.
//!
//! Layers are distances in the graph of contacts between moving bodies, from a body at its rim; several distances
//! make a layer where it would be small.
//!
//! Wonnacott, "Using time skewing to eliminate idle time due to memory bandwidth and network limitations", IPDPS 2000.

use crate::colour::Kind;
use crate::first_look::Glance;
use std::ops::Range;

/// The layer of each body; keeps its memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layers {
    /// Of each body; `NOWHERE` for those that do not move. Empty where there are no layers.
    of: Vec<u32>,
    /// Places of the moving bodies of each layer.
    pub(crate) ranges: Vec<Range<usize>>,
    /// The layer that a sweep begins with: half of the contacts lie on either side.
    pub(crate) middle: usize,
    /// Pairs of bodies that touch, of which at least one moves.
    pairs: Vec<[u32; 2]>,
    /// What distances follow from, and they.
    known_pairs: Vec<[u32; 2]>,
    known_moving: Vec<bool>,
    distances: Vec<u32>,
    starts: Vec<usize>,
    neighbours: Vec<u32>,
    queue: Vec<u32>,
    sizes: Vec<usize>,
}

const NOWHERE: u32 = u32::MAX;

impl Layers {
    pub(crate) fn clear(&mut self) {
        self.of.clear();
        self.ranges.clear();
        self.middle = 0;
    }

    /// When a sweep visits a layer: before those of larger numbers.
    pub(crate) fn turn(&self, layer: u32) -> usize {
        let layer = layer as usize;
        match layer.checked_sub(self.middle) {
            Some(above) => 2 * above,
            None => 2 * (self.middle - layer) - 1,
        }
    }

    /// More than any turn.
    pub(crate) fn turns(&self) -> usize {
        2 * self.count().max(1)
    }

    pub(crate) fn count(&self) -> usize {
        self.ranges.len()
    }

    /// Where a contact is visited: 0 where there are no layers.
    pub(crate) fn of_pair(&self, a: u32, b: u32) -> u32 {
        let of = |body: u32| self.of.get(body as usize).copied().unwrap_or(0);
        let lower = of(a).min(of(b));
        if lower == NOWHERE { 0 } else { lower }
    }

    /// Whether the body belongs to the layer above the one in which the pair is visited.
    pub(crate) fn is_above(&self, body: u32, layer: u32) -> bool {
        self.of.get(body as usize).is_some_and(|of| *of > layer)
    }

    /// Lays bodies into layers with contacts of at least `fewest` pairs each.
    pub(crate) fn build(&mut self, contacts: &[Glance], bodies: &[Kind], fewest: usize) {
        self.clear();
        self.list_pairs(contacts, bodies);
        // The problem of a correction has the pairs of that before it.
        let moving = bodies.iter().map(|body| body.moves);
        if self.pairs != self.known_pairs || !self.known_moving.iter().copied().eq(moving.clone()) {
            self.list_neighbours(bodies);
            self.measure(bodies);
            self.distances.clone_from(&self.of);
            self.known_pairs.clone_from(&self.pairs);
            self.known_moving.clear();
            self.known_moving.extend(moving);
        }
        self.of.clone_from(&self.distances);
        self.join(fewest);
        self.measure_layers();
    }

    /// Gives bodies places in the order of their layers, those that do not move behind all others.
    pub(crate) fn place(&mut self, bodies: &mut [Kind]) {
        let ends = &mut self.sizes;
        ends.clear();
        ends.extend(self.ranges.iter().map(|range| range.start));
        ends.push(self.ranges.last().map_or(0, |range| range.end));
        for (body, of) in bodies.iter_mut().zip(&self.of) {
            let end = &mut ends[(*of as usize).min(self.ranges.len())];
            body.place = *end as u32;
            *end += 1;
        }
    }

    /// Twice and more often where bodies touch in several points that do not follow each other.
    fn list_pairs(&mut self, contacts: &[Glance], bodies: &[Kind]) {
        self.pairs.clear();
        let mut last = [u32::MAX; 2];
        for Glance { pair, .. } in contacts {
            if *pair != last && pair.iter().any(|body| bodies[*body as usize].moves) {
                self.pairs.push(*pair);
            }
            last = *pair;
        }
    }

    /// Of moving bodies.
    fn list_neighbours(&mut self, bodies: &[Kind]) {
        self.starts.clear();
        self.starts.resize(bodies.len() + 1, 0);
        let moving = |pair: &&[u32; 2]| pair.iter().all(|body| bodies[*body as usize].moves);
        for body in self.pairs.iter().filter(moving).flatten() {
            self.starts[*body as usize] += 1;
        }
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        self.neighbours.clear();
        self.neighbours.resize(end, 0);
        for [a, b] in self.pairs.iter().filter(moving) {
            for (body, other) in [(*a, *b), (*b, *a)] {
                let start = &mut self.starts[body as usize];
                *start -= 1;
                self.neighbours[*start] = other;
            }
        }
    }

    /// Distances from a rim, of each connected part by itself.
    fn measure(&mut self, bodies: &[Kind]) {
        self.of.resize(bodies.len(), NOWHERE);
        for body in 0..bodies.len() {
            if !bodies[body].moves || self.of[body] != NOWHERE {
                continue;
            }
            // What is farthest from anywhere lies at a rim.
            self.walk(body as u32);
            let farthest = self.queue.last().copied().unwrap_or(body as u32);
            for reached in &self.queue {
                self.of[*reached as usize] = NOWHERE;
            }
            self.walk(farthest);
        }
    }

    /// Distances of all bodies that can be reached from `first`; lists them in `queue`.
    fn walk(&mut self, first: u32) {
        self.queue.clear();
        self.queue.push(first);
        self.of[first as usize] = 0;
        let mut next = 0;
        while let Some(body) = self.queue.get(next).copied() {
            let body = body as usize;
            next += 1;
            let distance = self.of[body] + 1;
            for other in &self.neighbours[self.starts[body]..self.starts[body + 1]] {
                let of = &mut self.of[*other as usize];
                if *of == NOWHERE {
                    *of = distance;
                    self.queue.push(*other);
                }
            }
        }
    }

    /// From distances to layers.
    fn join(&mut self, fewest: usize) {
        let moving = self.of.iter().filter(|of| **of != NOWHERE);
        let distances = moving.max().map_or(0, |most| *most as usize + 1);
        let mut sizes = std::mem::take(&mut self.sizes);
        sizes.clear();
        sizes.resize(distances, 0);
        for [a, b] in &self.pairs {
            sizes[self.of_pair(*a, *b) as usize] += 1;
        }
        // In place: the layer of each distance.
        let (mut layer, mut size) = (0, 0);
        let all: usize = sizes.iter().sum();
        let mut left = all;
        for entry in &mut sizes {
            if 2 * left >= all {
                self.middle = layer;
            }
            if size >= fewest && left >= fewest {
                (layer, size) = (layer + 1, 0);
            }
            size += *entry;
            left -= *entry;
            *entry = layer;
        }
        for of in &mut self.of {
            if *of != NOWHERE {
                *of = sizes[*of as usize] as u32;
            }
        }
        self.sizes = sizes;
    }

    fn measure_layers(&mut self) {
        let placed = |of: &&u32| **of != NOWHERE;
        let count = self.of.iter().filter(placed).max();
        let count = count.map_or(0, |most| *most as usize + 1);
        self.ranges.resize(count, 0..0);
        for of in self.of.iter().filter(placed) {
            self.ranges[*of as usize].end += 1;
        }
        let mut end = 0;
        for range in &mut self.ranges {
            *range = end..end + range.end;
            end = range.end;
        }
    }
}
