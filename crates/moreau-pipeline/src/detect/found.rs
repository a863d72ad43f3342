//! What the narrow phase finds of the pairs, and the contact points that follow.
//!
//! Pairs are worked on in chunks. What is found of a chunk stands in lists of its own, one after the other and
//! only the points that there are, so that no pair needs memory of its own and who lists the points reads little.

use super::Bound;
use crate::BodyId;
use crate::contact::Contact;
use crate::profile::held;
use crate::recycle::{Kept, Recycling};
use crate::sweep::{self, Found, Path, Reach};
use crate::world::WorldState;
use moreau_collision::FeatureId;
use moreau_constraint::ContactFrame;
use moreau_math::{Vec3, Velocity};
use rayon::prelude::*;
use std::ops::Range;

/// Pairs of a chunk; the same for any number of threads.
const CHUNK: usize = 64;

/// What was found of all pairs.
#[derive(Default)]
pub(super) struct AllFound {
    /// Of each pair, in their order, and more.
    pairs: Vec<PairFound>,
    /// Of each chunk of pairs, in their order, and more.
    chunks: Vec<Chunk>,
    /// Where the points of each chunk start, and where all end.
    starts: Vec<usize>,
    /// The points of each pair of which one body alone is dynamic.
    mixed: Vec<Range<usize>>,
    /// Pairs of which something is kept.
    keeps: usize,
}

/// What was found of a pair.
#[derive(Clone, Copy, Default)]
pub(super) struct PairFound {
    /// Index in the world's list of kept manifolds.
    pub(super) kept_before: Option<u32>,
    pub(super) manifolds: u32,
    pub(super) keep: Keep,
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
    listed: Listed,
    counts: Counts,
}

/// Of how many pairs the manifold is a kept one, and how many manifolds were found of all.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) recycled: usize,
    pub(crate) manifolds: usize,
}

/// Manifolds and their points, as contacts need them.
#[derive(Default)]
struct Listed {
    manifolds: Vec<Plane>,
    points: Vec<Point>,
    /// Those among the points of each pair of which one body alone is dynamic.
    mixed: Vec<Range<usize>>,
    /// Memory for what is found of one pair.
    several: Vec<Found>,
}

/// What the points of a manifold have in common.
struct Plane {
    a: BodyId,
    b: BodyId,
    parts: (u32, u32),
    normal: Vec3,
    friction: f64,
    restitution: f64,
    points: u32,
}

/// What is a point's own; see [`Contact`].
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
    pub(super) dt: f64,
}

impl AllFound {
    pub(super) fn bytes(&self) -> usize {
        let chunks = self.chunks.iter().map(Chunk::bytes);
        let lists = held(&self.pairs) + held(&self.chunks) + chunks.sum::<usize>();
        lists + held(&self.starts) + held(&self.mixed)
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
        self.mixed.clear();
        if parallel && chunks.len() > 1 {
            let found = self.pairs.par_chunks_mut(CHUNK);
            let work = pairs.par_chunks(CHUNK).zip(found).zip(&mut *chunks);
            work.for_each(|((pairs, found), chunk)| chunk.fill(given, pairs, found));
            self.starts.clear();
            let mut count = 0;
            for chunk in chunks.iter() {
                self.starts.push(count);
                self.mixed.extend(chunk.listed.mixed_from(count));
                count += chunk.listed.points.len();
            }
            self.starts.push(count);
            // What is there is written over.
            points.resize(count, Contact::NONE);
            list(chunks, &self.starts, points);
        } else {
            // One after the other, in the same memory.
            let first = chunks.first_mut();
            let mut listed = first.map_or_else(Listed::default, |c| std::mem::take(&mut c.listed));
            let mut count = 0;
            let found = self.pairs.chunks_mut(CHUNK);
            for ((pairs, found), chunk) in pairs.chunks(CHUNK).zip(found).zip(&mut *chunks) {
                std::mem::swap(&mut chunk.listed, &mut listed);
                chunk.fill(given, pairs, found);
                std::mem::swap(&mut chunk.listed, &mut listed);
                let start = count;
                count += listed.points.len();
                if points.len() < count {
                    points.resize(count, Contact::NONE);
                }
                listed.write(&mut points[start..count]);
                self.mixed.extend(listed.mixed_from(start));
            }
            points.truncate(count);
            if let Some(chunk) = chunks.first_mut() {
                chunk.listed = listed;
            }
        }
        let keeps = chunks.iter().map(|c| c.anew.len() + c.counts.recycled);
        self.keeps = keeps.sum();
        let counts = chunks.iter().map(|chunk| chunk.counts);
        counts.fold(Counts::default(), |all, chunk| Counts {
            recycled: all.recycled + chunk.recycled,
            manifolds: all.manifolds + chunk.manifolds,
        })
    }
}

/// Writes the points of chunks, which start at `starts` (one more than chunks) of all.
fn list(chunks: &[Chunk], starts: &[usize], points: &mut [Contact]) {
    if let [chunk] = chunks {
        chunk.listed.write(points);
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
            mixed,
            several,
        } = &self.listed;
        held(&self.anew) + held(manifolds) + held(points) + held(mixed) + held(several)
    }

    /// Replaces what was found of a chunk of pairs.
    fn fill(&mut self, given: &Given<'_>, pairs: &[(u32, u32)], found: &mut [PairFound]) {
        self.anew.clear();
        self.listed.clear();
        self.counts = Counts::default();
        // Both lists are sorted by pair.
        let kept = &given.state.kept;
        let mut next = match pairs.first() {
            Some(first) => kept.partition_point(|k| k.pair() < *first),
            None => 0,
        };
        let mut several = std::mem::take(&mut self.listed.several);
        for (pair, found) in pairs.iter().zip(found) {
            while kept.get(next).is_some_and(|k| k.pair() < *pair) {
                next += 1;
            }
            let is_kept = kept.get(next).is_some_and(|k| k.pair() == *pair);
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
        let prediction = state.settings.prediction_distance;
        let recycling = Recycling {
            tolerance: state.settings.recycling,
            prediction,
        };
        let ids = (given.id(index_a), given.id(index_b));
        let kept = found.kept_before.map(|i| &state.kept[i as usize]);
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
    }
}

impl Listed {
    fn clear(&mut self) {
        self.manifolds.clear();
        self.points.clear();
        self.mixed.clear();
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
        let start = self.points.len();
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
            manifolds += 1;
        }
        let end = self.points.len();
        if end > start && a.body.is_dynamic() != b.body.is_dynamic() {
            self.mixed.push(start..end);
        }
        manifolds
    }

    /// Writes all points in the order (a, b, parts, feature), one at each place.
    fn write(&self, mut places: &mut [Contact]) {
        let mut points = self.points.iter();
        for pair in self.manifolds.chunk_by(|m, n| (m.a, m.b) == (n.a, n.b)) {
            let count = pair.iter().map(|plane| plane.points as usize).sum();
            let (of_pair, rest) = std::mem::take(&mut places).split_at_mut(count);
            places = rest;
            let mut next = of_pair.iter_mut();
            for plane in pair {
                let frame = ContactFrame::new(plane.normal);
                let points = points.by_ref().take(plane.points as usize);
                for (point, place) in points.zip(&mut next) {
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
