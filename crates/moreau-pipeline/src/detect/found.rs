//! What the narrow phase finds of the pairs, and the contact points that follow.
//!
//! Pairs are worked on in chunks. What is found of a chunk stands in lists of its own, one after the other and
//! only the points that there are, so that no pair needs memory of its own and who lists the points reads little.
//!
//! Where both bodies of a pair are where they were when its kept manifold was placed last, it is placed: what was found is
//! used again, with new velocities of approach.

use super::Bound;
use crate::BodyId;
use crate::contact::Contact;
use crate::profile::held;
use crate::recycle::{Kept, Recycling};
use crate::sweep::{self, Found, Path, Reach};
use crate::world::WorldState;
use moreau_collision::{FeatureId, Manifold};
use moreau_constraint::ContactFrame;
use moreau_math::{Vec3, Velocity};
use rayon::prelude::*;
use std::ops::Range;

/// Pairs of a chunk; the same for any number of threads.
const CHUNK: usize = 64;

/// Chunks that threads work on before their points are listed: some MB.
const AT_ONCE: usize = 512;

/// What was found of all pairs.
#[derive(Default)]
pub(super) struct AllFound {
    /// Of each pair, in their order, and more.
    pairs: Vec<PairFound>,
    /// Of each chunk of pairs, in their order, and more.
    chunks: Vec<Chunk>,
    /// Where the points of each of some chunks start, and where all of them end.
    starts: Vec<usize>,
    /// The points of each pair of which one body alone is dynamic.
    mixed: Vec<Range<usize>>,
    /// Pairs of which something is kept.
    keeps: usize,
    /// The pairs that `pairs` and `chunks` are of, where anything is kept.
    filled: Vec<(u32, u32)>,
    /// The pairs of the world's list of kept manifolds, which are too large to walk through for that alone.
    kept: Vec<(u32, u32)>,
    /// Whether those are known.
    knows_kept: bool,
}

/// What was found of a pair.
#[derive(Clone, Copy, Default)]
pub(super) struct PairFound {
    /// Index in the world's list of kept manifolds.
    pub(super) kept_before: Option<u32>,
    pub(super) manifolds: u32,
    pub(super) keep: Keep,
    /// Where its chunk has room for what was placed.
    room: Option<u32>,
    /// Whether that holds while both bodies stay where they are.
    is_placed: bool,
}

/// What to keep of a pair for the next step.
#[derive(Clone, Copy, Default)]
pub(super) enum Keep {
    #[default]
    Nothing,
    /// What was kept before.
    Same,
    /// What its chunk holds at this index.
    Anew(u32),
}

/// What was found of a chunk of pairs.
#[derive(Default)]
struct Chunk {
    /// The manifolds to keep from this step on.
    anew: Vec<Kept>,
    placed: Vec<Placed>,
    listed: Listed,
    counts: Counts,
}

/// A kept manifold where the bodies are.
struct Placed {
    plane: Plane,
    points: [Point; Manifold::CAPACITY],
    /// Whether one body alone is dynamic.
    mixed: bool,
}

/// Of how many pairs the manifold is a kept one, and how many manifolds were found of all.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) recycled: usize,
    /// Of those, how many were used again as they are.
    pub(crate) placed: usize,
    pub(crate) manifolds: usize,
}

/// Manifolds and their points, as contacts need them.
#[derive(Default)]
struct Listed {
    manifolds: Vec<Plane>,
    /// Of those that are not placed.
    points: Vec<Point>,
    /// Points of all.
    count: usize,
    /// Those among the points of each pair of which one body alone is dynamic.
    mixed: Vec<Range<usize>>,
    /// Memory for what is found of one pair.
    several: Vec<Found>,
}

/// What the points of a manifold have in common.
#[derive(Clone, Copy)]
struct Plane {
    a: BodyId,
    b: BodyId,
    parts: (u32, u32),
    normal: Vec3,
    friction: f64,
    restitution: f64,
    points: u32,
    /// Where its chunk has the points, if the list does not.
    placed: Option<u32>,
}

/// What is a point's own; see [`Contact`].
#[derive(Clone, Copy, Default)]
struct Point {
    lever_a: Vec3,
    lever_b: Vec3,
    separation: f64,
    approach_velocity: f64,
    feature: FeatureId,
}

/// What the narrow phase works on.
pub(super) struct Given<'a> {
    pub(super) state: &'a WorldState,
    pub(super) free: &'a [Velocity],
    /// By slot.
    pub(super) reaches: &'a [Reach],
    pub(super) bounds: &'a [Bound],
    /// Whether the body is where it was, and as it was, in the last search.
    pub(super) stood: &'a [bool],
    /// Of the kept manifolds.
    pub(super) kept: &'a [(u32, u32)],
    pub(super) dt: f64,
}

impl AllFound {
    pub(super) fn bytes(&self) -> usize {
        let chunks = self.chunks.iter().map(Chunk::bytes);
        let lists = held(&self.pairs) + held(&self.chunks) + chunks.sum::<usize>();
        lists + held(&self.starts) + held(&self.mixed) + held(&self.filled) + held(&self.kept)
    }

    /// The points of each pair of which one body alone is dynamic, in the list of all.
    pub(super) fn mixed(&self) -> &[Range<usize>] {
        &self.mixed
    }

    /// What was found of each of the pairs.
    pub(super) fn of(&self, pairs: &[(u32, u32)]) -> &[PairFound] {
        &self.pairs[..pairs.len()]
    }

    /// Pairs of which something is to be kept.
    pub(super) fn keeps(&self) -> usize {
        self.keeps
    }

    /// What is to be kept of a pair: [`Keep::Anew`].
    pub(super) fn anew(&self, pair: usize, index: u32) -> &Kept {
        &self.chunks[pair / CHUNK].anew[index as usize]
    }

    /// The world's list of kept manifolds has changed.
    pub(super) fn forget_kept(&mut self) {
        self.knows_kept = false;
    }

    /// The pairs of the world's list of kept manifolds.
    pub(super) fn kept_pairs(&mut self, kept: &[Kept]) -> Vec<(u32, u32)> {
        if !self.knows_kept {
            self.knows_kept = true;
            self.kept.clear();
            self.kept.extend(kept.iter().map(Kept::pair));
        }
        debug_assert!(kept.iter().map(Kept::pair).eq(self.kept.iter().copied()));
        std::mem::take(&mut self.kept)
    }

    /// Takes their memory back.
    pub(super) fn give_back(&mut self, kept: Vec<(u32, u32)>) {
        self.kept = kept;
    }

    /// Finds the manifolds of all pairs, and lists their points in `points`.
    pub(super) fn fill(
        &mut self,
        given: &Given<'_>,
        pairs: &[(u32, u32)],
        points: &mut Vec<Contact>,
        parallel: bool,
    ) -> Counts {
        // Those beyond the pairs keep their memory.
        if self.pairs.len() < pairs.len() {
            self.pairs.resize_with(pairs.len(), PairFound::default);
        }
        let chunks = pairs.len().div_ceil(CHUNK);
        if self.chunks.len() < chunks {
            self.chunks.resize_with(chunks, Chunk::default);
        }
        let chunks = &mut self.chunks[..chunks];
        let same = self.keeps > 0 && self.filled == pairs;
        self.mixed.clear();
        if parallel && chunks.len() > 1 {
            let mut count = 0;
            // Some at a time, so that what is found of them is near when it is listed.
            let found = self.pairs.chunks_mut(CHUNK * AT_ONCE);
            let some = pairs.chunks(CHUNK * AT_ONCE).zip(found);
            for ((pairs, found), chunks) in some.zip(chunks.chunks_mut(AT_ONCE)) {
                let found = found.par_chunks_mut(CHUNK);
                let work = pairs.par_chunks(CHUNK).zip(found).zip(&mut *chunks);
                work.for_each(|((pairs, found), chunk)| chunk.fill(given, same, pairs, found));
                self.starts.clear();
                for chunk in chunks.iter() {
                    self.starts.push(count);
                    self.mixed.extend(chunk.listed.mixed_from(count));
                    count += chunk.listed.count;
                }
                self.starts.push(count);
                // What is there is written over.
                if points.len() < count {
                    points.resize(count, Contact::NONE);
                }
                list(chunks, &self.starts, &mut points[self.starts[0]..count]);
            }
            points.truncate(count);
        } else {
            // One after the other, in the same memory.
            let first = chunks.first_mut();
            let mut listed = first.map_or_else(Listed::default, |c| std::mem::take(&mut c.listed));
            let mut count = 0;
            let found = self.pairs.chunks_mut(CHUNK);
            for ((pairs, found), chunk) in pairs.chunks(CHUNK).zip(found).zip(&mut *chunks) {
                std::mem::swap(&mut chunk.listed, &mut listed);
                chunk.fill(given, same, pairs, found);
                std::mem::swap(&mut chunk.listed, &mut listed);
                let start = count;
                count += listed.count;
                if points.len() < count {
                    points.resize(count, Contact::NONE);
                }
                listed.write(&chunk.placed, &mut points[start..count]);
                self.mixed.extend(listed.mixed_from(start));
            }
            points.truncate(count);
            if let Some(chunk) = chunks.first_mut() {
                chunk.listed = listed;
            }
        }
        let keeps = chunks.iter().map(|c| c.anew.len() + c.counts.recycled);
        self.keeps = keeps.sum();
        if self.keeps > 0 && !same {
            self.filled.clear();
            self.filled.extend_from_slice(pairs);
        }
        let counts = chunks.iter().map(|chunk| chunk.counts);
        counts.fold(Counts::default(), |all, chunk| Counts {
            recycled: all.recycled + chunk.recycled,
            placed: all.placed + chunk.placed,
            manifolds: all.manifolds + chunk.manifolds,
        })
    }
}

/// Writes the points of chunks, which start at `starts` (one more than chunks) of all.
fn list(chunks: &[Chunk], starts: &[usize], points: &mut [Contact]) {
    if let [chunk] = chunks {
        chunk.listed.write(&chunk.placed, points);
        return;
    }
    let middle = chunks.len() / 2;
    let (chunks, more_chunks) = chunks.split_at(middle);
    let (points, more_points) = points.split_at_mut(starts[middle] - starts[0]);
    rayon::join(
        || list(chunks, &starts[..=middle], points),
        || list(more_chunks, &starts[middle..], more_points),
    );
}

impl Chunk {
    fn bytes(&self) -> usize {
        let Listed {
            manifolds,
            points,
            count: _,
            mixed,
            several,
        } = &self.listed;
        held(&self.anew)
            + held(&self.placed)
            + held(manifolds)
            + held(points)
            + held(mixed)
            + held(several)
    }

    /// Replaces what was found of a chunk of pairs, `same` or others than those before.
    fn fill(
        &mut self,
        given: &Given<'_>,
        same: bool,
        pairs: &[(u32, u32)],
        found: &mut [PairFound],
    ) {
        if !same {
            found.fill(PairFound::default());
            self.placed.clear();
        }
        self.anew.clear();
        self.listed.clear();
        self.counts = Counts::default();
        // Both lists are sorted by pair.
        let kept = given.kept;
        let mut next = match pairs.first() {
            Some(first) => kept.partition_point(|k| k < first),
            None => 0,
        };
        let mut several = std::mem::take(&mut self.listed.several);
        for (pair, found) in pairs.iter().zip(found) {
            while kept.get(next).is_some_and(|k| k < pair) {
                next += 1;
            }
            let is_kept = kept.get(next) == Some(pair);
            found.kept_before = is_kept.then_some(next as u32);
            self.fill_pair(given, *pair, found, &mut several);
        }
        self.listed.several = several;
    }

    /// `several` is memory for the pair's manifolds.
    fn fill_pair(
        &mut self,
        given: &Given<'_>,
        (index_a, index_b): (u32, u32),
        found: &mut PairFound,
        several: &mut Vec<Found>,
    ) {
        let state = given.state;
        if given.is_apart(index_a, index_b) {
            (found.keep, found.manifolds) = (Keep::Nothing, 0);
            return;
        }
        let (a, b) = (given.path(index_a), given.path(index_b));
        let reach = |index: u32| &given.reaches[index as usize];
        let reaches = (reach(index_a), reach(index_b));
        let reach = reaches.0.towards(reaches.1);
        let stood = given.stood[index_a as usize] && given.stood[index_b as usize];
        let prediction = state.settings.prediction_distance;
        let recycling = Recycling {
            tolerance: state.settings.recycling,
            prediction,
        };
        let ids = (given.id(index_a), given.id(index_b));
        let kept = found.kept_before.map(|i| &state.kept[i as usize]);
        if stood && found.is_placed && kept.is_some() && recycling.is_near(reach) {
            self.counts.recycled += 1;
            self.counts.placed += 1;
            self.counts.manifolds += found.manifolds as usize;
            if let Some(room) = found.room.filter(|_| found.manifolds > 0) {
                let placed = &mut self.placed[room as usize];
                placed.approach(&a.body.velocity, &b.body.velocity);
                self.listed.add_placed(placed, room);
            }
            return;
        }
        let points = self.listed.points.len();
        found.keep = if kept.is_some_and(|kept| recycling.reuse(kept, (&a, &b), reach, several)) {
            self.counts.recycled += 1;
            Keep::Same
        } else {
            let (held, count) =
                kept.map_or_else(Default::default, |kept| kept.loaded(&state.cache, (&a, &b)));
            let held = &held[..count];
            sweep::find((&a, &b), reaches, (prediction, given.dt), held, several);
            match recycling.keep(ids, (&a, &b), reach, several) {
                Some(kept) => {
                    self.anew.push(kept);
                    Keep::Anew(self.anew.len() as u32 - 1)
                }
                None => Keep::Nothing,
            }
        };
        found.manifolds = self.listed.add(ids, (&a, &b), several);
        self.counts.manifolds += found.manifolds as usize;
        found.is_placed = stood && matches!(found.keep, Keep::Same);
        if found.is_placed && found.manifolds > 0 {
            self.place(points, a.body.is_dynamic() != b.body.is_dynamic(), found);
        }
    }

    /// Notes the last manifold of the list, whose points begin at `start`, as one that was placed.
    fn place(&mut self, start: usize, mixed: bool, found: &mut PairFound) {
        let plane = *self.listed.manifolds.last().expect("one was added");
        let mut points = [Point::default(); Manifold::CAPACITY];
        for (to, point) in points.iter_mut().zip(&self.listed.points[start..]) {
            *to = *point;
        }
        let placed = Placed {
            plane,
            points,
            mixed,
        };
        match found.room {
            Some(room) => self.placed[room as usize] = placed,
            None => {
                found.room = Some(self.placed.len() as u32);
                self.placed.push(placed);
            }
        }
    }
}

impl Placed {
    /// Sets the normal velocities of the points with which the two bodies approach each other.
    fn approach(&mut self, a: &Velocity, b: &Velocity) {
        let normal = self.plane.normal;
        for point in &mut self.points[..self.plane.points as usize] {
            point.approach_velocity = normal.dot(b.at(point.lever_b) - a.at(point.lever_a));
        }
    }
}

impl Listed {
    fn clear(&mut self) {
        self.manifolds.clear();
        self.points.clear();
        self.mixed.clear();
        self.count = 0;
    }

    /// The mixed pairs' points in a list in which the first is at `start`.
    fn mixed_from(&self, start: usize) -> impl Iterator<Item = Range<usize>> {
        (self.mixed.iter()).map(move |range| start + range.start..start + range.end)
    }

    /// Adds the manifolds of a pair that have points; returns how many do.
    fn add(
        &mut self,
        ids: (BodyId, BodyId),
        (a, b): (&Path<'_>, &Path<'_>),
        found: &[Found],
    ) -> u32 {
        let mut manifolds = 0;
        let start = self.count;
        for found in found.iter().filter(|found| !found.manifold.is_empty()) {
            let (friction, restitution) = a.body.material.combine(&b.body.material);
            let normal = found.manifold.normal();
            self.manifolds.push(Plane {
                a: ids.0,
                b: ids.1,
                parts: found.manifold.parts(),
                normal,
                friction,
                restitution,
                points: found.manifold.points().len() as u32,
                placed: None,
            });
            let points = sweep::points(a, b, found).zip(found.manifold.points());
            self.points
                .extend(points.map(|((lever_a, lever_b, separation), point)| {
                    let speed =
                        |va: &Velocity, vb: &Velocity| normal.dot(vb.at(lever_b) - va.at(lever_a));
                    Point {
                        lever_a,
                        lever_b,
                        separation: separation - found.time * speed(&a.velocity, &b.velocity),
                        approach_velocity: speed(&a.body.velocity, &b.body.velocity),
                        feature: point.feature,
                    }
                }));
            self.count += found.manifold.points().len();
            manifolds += 1;
        }
        let end = self.count;
        if end > start && a.body.is_dynamic() != b.body.is_dynamic() {
            self.mixed.push(start..end);
        }
        manifolds
    }

    /// Adds the manifold that is placed at `room`.
    fn add_placed(&mut self, placed: &Placed, room: u32) {
        let plane = Plane {
            placed: Some(room),
            ..placed.plane
        };
        if placed.mixed {
            self.mixed
                .push(self.count..self.count + plane.points as usize);
        }
        self.count += plane.points as usize;
        self.manifolds.push(plane);
    }

    /// Writes all points in the order (a, b, parts, feature), one at each place.
    fn write(&self, placed: &[Placed], mut places: &mut [Contact]) {
        let mut points = &self.points[..];
        for pair in self.manifolds.chunk_by(|m, n| (m.a, m.b) == (n.a, n.b)) {
            let count = pair.iter().map(|plane| plane.points as usize).sum();
            let (of_pair, rest) = std::mem::take(&mut places).split_at_mut(count);
            places = rest;
            let mut next = of_pair.iter_mut();
            for plane in pair {
                let frame = ContactFrame::new(plane.normal);
                let count = plane.points as usize;
                let points = match plane.placed {
                    Some(room) => &placed[room as usize].points[..count],
                    None => {
                        let (of_plane, rest) = points.split_at(count);
                        points = rest;
                        of_plane
                    }
                };
                for (point, place) in points.iter().zip(&mut next) {
                    *place = plane.contact(&frame, point);
                }
            }
            of_pair.sort_unstable_by_key(Contact::key);
        }
    }
}

impl Plane {
    fn contact(&self, frame: &ContactFrame, point: &Point) -> Contact {
        Contact {
            a: self.a,
            b: self.b,
            part_a: self.parts.0,
            part_b: self.parts.1,
            feature: point.feature,
            normal: frame.normal,
            tangent1: frame.tangent1,
            tangent2: frame.tangent2,
            lever_a: point.lever_a,
            lever_b: point.lever_b,
            separation: point.separation,
            friction: self.friction,
            restitution: self.restitution,
            approach_velocity: point.approach_velocity,
            impulse: Vec3::ZERO,
        }
    }
}

impl Given<'_> {
    /// Whether two are too far from each other for anything that the step may do.
    fn is_apart(&self, a: u32, b: u32) -> bool {
        let (a, b) = (a as usize, b as usize);
        let reach = self.reaches[a].all() + self.reaches[b].all();
        let room = self.state.settings.prediction_distance + reach;
        self.bounds[a].is_apart(&self.bounds[b], room)
    }

    fn path(&self, index: u32) -> Path<'_> {
        let body = self.state.bodies[index as usize].value.as_ref();
        let body = body.expect("the broad phase holds only bodies that are there");
        Path::new(body, &self.free[index as usize])
    }

    fn id(&self, index: u32) -> BodyId {
        BodyId {
            index,
            generation: self.state.bodies[index as usize].generation,
        }
    }
}
