//! Broad and narrow phase over the bodies of a world, and the contact points that follow.

use crate::activity::Activity;
use crate::body::BodyState;
use crate::contact::Contact;
use crate::profile::held;
use crate::recycle::{Kept, Recycling};
use crate::share::{SHARE, each_slot};
use crate::sweep::{self, Found, Path, Reach};
use crate::wake::is_mover;
use crate::world::WorldState;
use crate::{BodyId, BodyKind};
use moreau_collision::{Aabb, BroadPhase, Shape};
use moreau_constraint::ContactFrame;
use moreau_math::{Vec3, Velocity};
use rayon::prelude::*;

/// Boxes and manifolds. Follows from the world's state and carries none of its own: what it keeps
/// between steps only saves time.
#[derive(Default)]
pub(crate) struct Detection {
    broad_phase: BroadPhase,
    /// Slots whose box must be set again although their bodies do not move by themselves.
    touched: Vec<u32>,
    /// Pairs that a joint holds together or that were told apart, sorted.
    joined: Vec<(u32, u32)>,
    is_joined_fresh: bool,
    pairs: Vec<(u32, u32)>,
    /// Pairs of a sensor and a body that may meet in the step, sorted.
    pub(crate) sensor_pairs: Vec<(u32, u32)>,
    /// Of each pair, in their order, and more.
    found: Vec<PairFound>,
    /// Of each chunk of pairs, in their order, and more.
    chunks: Vec<ChunkFound>,
    /// Where the points of each chunk start, and where all end.
    starts: Vec<usize>,
    /// The next list of kept manifolds.
    next_kept: Vec<Kept>,
    /// By slot; zero for bodies that do not move by themselves.
    reaches: Vec<Reach>,
    /// By slot; of the bodies that took part in the last search.
    swept: Vec<Swept>,
    /// Slots whose reach is not zero.
    movers: Vec<u32>,
}

/// Where a body can get in the step.
#[derive(Clone, Copy)]
struct Swept {
    reach: Reach,
    aabb: Aabb,
}

impl Default for Swept {
    fn default() -> Self {
        Self {
            reach: Reach::default(),
            aabb: Aabb::new(Vec3::ZERO, Vec3::ZERO),
        }
    }
}

impl Swept {
    /// Two boxes that stay never meet, so growing the moving ones by the prediction distance is enough.
    fn new(body: &BodyState, free: &Velocity, dt: f64, prediction: f64) -> Self {
        let path = Path::new(body, free);
        let shift = path.velocity.linear * dt;
        let reach = Reach::new(&path, dt);
        let aabb = aabb_of(body);
        let aabb = aabb.union(&Aabb::new(aabb.min + shift, aabb.max + shift));
        Self {
            reach,
            aabb: aabb.enlarged(prediction + reach.turn),
        }
    }
}

/// What the narrow phase found of a pair.
#[derive(Default)]
struct PairFound {
    /// Index in the world's list of kept manifolds.
    kept_before: Option<u32>,
    manifolds: Vec<Found>,
    /// Whether the manifold is a kept one.
    recycled: bool,
    keep: Keep,
}

/// What was found of a chunk of pairs.
#[derive(Default)]
struct ChunkFound {
    /// The manifolds to keep from this step on.
    anew: Vec<Kept>,
    recycled: usize,
    manifolds: usize,
    points: usize,
}

/// What to keep of a pair for the next step.
#[derive(Clone, Copy, Default)]
enum Keep {
    #[default]
    Nothing,
    /// What was kept before.
    Same,
    /// What its chunk holds at this index.
    Anew(u32),
}

impl PairFound {
    /// With room for the manifold of two convex bodies.
    fn new() -> Self {
        Self {
            manifolds: Vec::with_capacity(1),
            ..Self::default()
        }
    }
}

/// Pairs, what is found of them, and what of that is to be kept.
type Chunk<'c> = ((&'c [(u32, u32)], &'c mut [PairFound]), &'c mut ChunkFound);

/// Pairs of a chunk of narrow-phase work; the same for any number of threads.
const CHUNK: usize = 64;

impl Detection {
    pub(crate) fn rebuild(&mut self, state: &WorldState) {
        *self = Self::default();
        for (index, slot) in state.bodies.iter().enumerate() {
            if slot.value.is_some() {
                self.touched.push(index as u32);
            }
        }
    }

    /// What is held here: boxes and pairs, manifolds.
    pub(crate) fn bytes(&self) -> (usize, usize) {
        let manifolds = self.found.iter().map(|found| held(&found.manifolds));
        let anew = self.chunks.iter().map(|chunk| held(&chunk.anew));
        (
            self.broad_phase.bytes()
                + held(&self.touched)
                + held(&self.joined)
                + held(&self.pairs)
                + held(&self.sensor_pairs)
                + held(&self.reaches)
                + held(&self.swept)
                + held(&self.movers),
            held(&self.found)
                + manifolds.sum::<usize>()
                + anew.sum::<usize>()
                + held(&self.starts)
                + held(&self.next_kept),
        )
    }

    /// A body was added or changed between steps.
    pub(crate) fn touch(&mut self, index: u32) {
        self.touched.push(index);
    }

    /// A body was removed.
    pub(crate) fn remove(&mut self, index: u32) {
        self.broad_phase.remove(index);
        self.touched.retain(|t| *t != index);
    }

    /// Sets the boxes of the bodies that were touched and do not move: those of sleeping ones grown by
    /// the prediction distance.
    pub(crate) fn set_touched(&mut self, state: &WorldState) {
        for index in self.touched.drain(..) {
            let Some(body) = &state.bodies[index as usize].value else {
                continue;
            };
            let asleep = body.rest.is_asleep();
            if body.kind == BodyKind::Static || asleep {
                let mut aabb = aabb_of(body);
                if asleep {
                    aabb = aabb.enlarged(state.settings.prediction_distance);
                }
                // Two fixed bodies need no contact, but a sensor that is fixed sees moving ones.
                self.broad_phase.set(index, aabb, !body.sensor);
            }
        }
    }

    /// Joints or ignored pairs have changed.
    pub(crate) fn forget_joined(&mut self) {
        self.is_joined_fresh = false;
    }

    /// Brings the list of pairs that do not collide up to date.
    pub(crate) fn join(&mut self, state: &WorldState) {
        if self.is_joined_fresh {
            return;
        }
        self.is_joined_fresh = true;
        self.joined.clear();
        for joint in state.joints.iter().filter_map(|slot| slot.value.as_ref()) {
            if !joint.joint.collide {
                let (a, b) = (joint.joint.a.index, joint.joint.b.index);
                self.joined.push((a.min(b), a.max(b)));
            }
        }
        for (a, b) in &state.ignored {
            self.joined.push((a.index, b.index));
        }
        self.joined.sort_unstable();
    }

    /// Finds the pairs whose boxes, grown by the prediction distance and along the motion of the
    /// step, overlap; returns how many.
    pub(crate) fn find_pairs(
        &mut self,
        (state, activity): (&WorldState, &Activity),
        free: &[Velocity],
        dt: f64,
        parallel: bool,
    ) -> usize {
        self.set_touched(state);
        let prediction = state.settings.prediction_distance;
        let sleepers = activity.sleeping.bodies > 0;
        let mut movers = false;
        for index in self.movers.drain(..) {
            self.reaches[index as usize] = Reach::default();
        }
        self.reaches.resize(state.bodies.len(), Reach::default());
        self.swept.resize(state.bodies.len(), Swept::default());
        self.movers.extend_from_slice(&activity.bodies);
        let parallel_boxes = parallel && self.movers.len() >= 2 * SHARE;
        each_slot(
            parallel_boxes,
            &self.movers,
            &mut self.swept,
            |_, slot, swept| {
                if let Some(body) = &state.bodies[slot].value {
                    *swept = Swept::new(body, &free[slot], dt, prediction);
                }
            },
        );
        for &index in &self.movers {
            let Some(body) = &state.bodies[index as usize].value else {
                continue;
            };
            // Two fixed bodies need no contact, but a sensor that is fixed sees kinematic ones, and
            // a kinematic one wakes what it meets.
            let moves = sleepers && is_mover(body.kind, &body.velocity);
            movers |= moves;
            let fixed = !body.is_dynamic() && !body.sensor && !moves;
            let Swept { reach, aabb } = self.swept[index as usize];
            self.reaches[index as usize] = reach;
            self.broad_phase.set(index, aabb, fixed);
        }
        self.broad_phase.pairs_by(&mut self.pairs, |work, shares| {
            if parallel && shares.len() > 1 {
                shares.par_iter_mut().for_each(|share| work.run(share));
            } else {
                shares.iter_mut().for_each(|share| work.run(share));
            }
        });
        self.sensor_pairs.clear();
        if movers {
            let matters = |index: u32| {
                let body = state.bodies[index as usize].value.as_ref();
                body.is_some_and(|b| b.is_dynamic() || b.sensor)
            };
            self.pairs.retain(|(a, b)| matters(*a) || matters(*b));
        }
        if activity.selective {
            self.filter_pairs(state);
        }

        // Bodies that a joint holds together need no contact.
        self.join(state);
        if !self.joined.is_empty() {
            let joined = &self.joined;
            self.pairs
                .retain(|pair| joined.binary_search(pair).is_err());
        }
        self.pairs.len()
    }

    /// Lets the box of a body grow over where it is about to go, until the next step sets it.
    pub(crate) fn stretch(&mut self, index: u32, over: &Aabb) {
        if let Some(aabb) = self.broad_phase.aabb(index) {
            self.broad_phase.set(index, aabb.union(over), false);
        }
    }

    /// The bodies whose boxes overlap that of a body, itself among them.
    pub(crate) fn near(&mut self, index: u32, near: &mut Vec<u32>) {
        near.clear();
        if let Some(aabb) = self.broad_phase.aabb(index) {
            self.broad_phase.query_aabb(&aabb, near);
        }
    }

    /// Pairs of the last search, sorted.
    pub(crate) fn pairs(&self) -> &[(u32, u32)] {
        &self.pairs
    }

    /// The bodies whose boxes overlap `aabb`.
    pub(crate) fn within(&mut self, aabb: &Aabb, near: &mut Vec<u32>) {
        self.broad_phase.query_aabb(aabb, near);
    }

    /// Whether two bodies collide at all.
    pub(crate) fn may_touch(&self, state: &WorldState, pair: (u32, u32)) -> bool {
        let body = |index: u32| state.bodies[index as usize].value.as_ref();
        let (Some(a), Some(b)) = (body(pair.0), body(pair.1)) else {
            return false;
        };
        !(a.sensor || b.sensor)
            && a.groups.meets(b.groups)
            && self.joined.binary_search(&pair).is_err()
    }

    /// Takes out pairs whose groups do not meet, and puts those of sensors apart.
    fn filter_pairs(&mut self, state: &WorldState) {
        let sensor_pairs = &mut self.sensor_pairs;
        self.pairs.retain(|&(a, b)| {
            let bodies = [a, b].map(|i| state.bodies[i as usize].value.as_ref());
            let [Some(first), Some(second)] = bodies else {
                return false;
            };
            if !first.groups.meets(second.groups) {
                return false;
            }
            match (first.sensor, second.sensor) {
                (false, false) => return true,
                (true, false) => sensor_pairs.push((a, b)),
                (false, true) => sensor_pairs.push((b, a)),
                (true, true) => {}
            }
            false
        });
        sensor_pairs.sort_unstable();
    }

    /// Fills the manifolds of all pairs; returns how many are kept ones.
    pub(crate) fn find_manifolds(
        &mut self,
        state: &WorldState,
        free: &[Velocity],
        dt: f64,
        parallel: bool,
    ) -> usize {
        // Those beyond the pairs keep their memory.
        if self.found.len() < self.pairs.len() {
            self.found.resize_with(self.pairs.len(), PairFound::new);
        }
        let chunks = self.pairs.len().div_ceil(CHUNK);
        if self.chunks.len() < chunks {
            self.chunks.resize_with(chunks, ChunkFound::default);
        }
        self.look_up_kept(state);
        let prediction = state.settings.prediction_distance;
        let recycling = Recycling {
            tolerance: state.settings.recycling,
            prediction,
        };
        let reaches = &self.reaches;
        let fill = |((pairs, founds), chunk): Chunk<'_>| {
            let ChunkFound { anew, .. } = std::mem::take(chunk);
            chunk.anew = anew;
            chunk.anew.clear();
            for (&(index_a, index_b), found) in pairs.iter().zip(founds) {
                let (a, b) = (path(state, free, index_a), path(state, free, index_b));
                let reach = |index: u32| &reaches[index as usize];
                let reach = reach(index_a).towards(reach(index_b));
                let kept = found.kept_before.map(|i| &state.kept[i as usize]);
                found.recycled = kept.is_some_and(|kept| {
                    recycling.reuse(kept, (&a, &b), reach, &mut found.manifolds)
                });
                found.keep = if found.recycled {
                    chunk.recycled += 1;
                    Keep::Same
                } else {
                    let (held, count) = kept
                        .map_or_else(Default::default, |kept| kept.loaded(&state.cache, (&a, &b)));
                    let held = &held[..count];
                    sweep::find(
                        (&a, &b),
                        reach,
                        (prediction, dt),
                        held,
                        &mut found.manifolds,
                    );
                    let ids = (id(state, index_a), id(state, index_b));
                    match recycling.keep(ids, (&a, &b), reach, &found.manifolds) {
                        Some(kept) => {
                            chunk.anew.push(kept);
                            Keep::Anew(chunk.anew.len() as u32 - 1)
                        }
                        None => Keep::Nothing,
                    }
                };
                // Here they are still near.
                for one in &found.manifolds {
                    chunk.manifolds += 1;
                    chunk.points += one.manifold.points().len();
                }
            }
        };
        if parallel && self.pairs.len() > CHUNK {
            let pairs = self.pairs.par_chunks(CHUNK);
            let found = self.found.par_chunks_mut(CHUNK);
            pairs.zip(found).zip(&mut self.chunks).for_each(fill);
        } else {
            let pairs = self.pairs.chunks(CHUNK);
            let found = self.found.chunks_mut(CHUNK);
            pairs.zip(found).zip(&mut self.chunks).for_each(fill);
        }
        let chunks = self.chunks[..chunks].iter();
        chunks.map(|chunk| chunk.recycled).sum()
    }

    /// Both lists are sorted by pair.
    fn look_up_kept(&mut self, state: &WorldState) {
        let mut kept = (0..).zip(&state.kept).peekable();
        for (pair, found) in self.pairs.iter().zip(&mut self.found) {
            while kept.next_if(|(_, k)| k.pair() < *pair).is_some() {}
            found.kept_before = kept.next_if(|(_, k)| k.pair() == *pair).map(|(i, _)| i);
        }
    }

    /// Lists what to keep for the next step, sorted by pair. `kept` is the list that the manifolds were
    /// found with.
    pub(crate) fn list_kept(&mut self, kept: &mut Vec<Kept>) {
        let found = &self.found[..self.pairs.len()];
        let anew = |pair: usize, index: u32| self.chunks[pair / CHUNK].anew[index as usize];
        let mut keeps =
            (found.iter().enumerate()).filter(|(_, f)| !matches!(f.keep, Keep::Nothing));
        // While a pile lies still its pairs stay the same, and most of what is kept of them.
        let stays = keeps.clone().count() == kept.len()
            && keeps.all(|(_, found)| found.kept_before.is_some());
        if !stays {
            self.next_kept.clear();
        }
        for (pair, found) in found.iter().enumerate() {
            match (found.keep, found.kept_before) {
                (Keep::Anew(index), Some(before)) if stays => {
                    kept[before as usize] = anew(pair, index);
                }
                (Keep::Anew(index), _) => self.next_kept.push(anew(pair, index)),
                (Keep::Same, Some(before)) if !stays => self.next_kept.push(kept[before as usize]),
                _ => {}
            }
        }
        if !stays {
            std::mem::swap(kept, &mut self.next_kept);
        }
    }

    /// How many pairs of the last search have a body that `is_one`, and how often they were looked at beyond once
    /// each: for their other manifolds, and on the way of surfaces.
    pub(crate) fn counts(
        &self,
        state: &WorldState,
        is_one: impl Fn(u32) -> bool,
    ) -> (usize, usize) {
        let (mut pairs, mut more) = (0, 0);
        for (&(a, b), found) in self.pairs.iter().zip(&self.found) {
            if !is_one(a) && !is_one(b) {
                continue;
            }
            pairs += 1;
            more += found.manifolds.len().saturating_sub(1);
            let body = |slot: u32| state.bodies[slot as usize].value.as_ref();
            if let (Some(body_a), Some(body_b)) = (body(a), body(b)) {
                let reach = |index: u32| &self.reaches[index as usize];
                let reach = reach(a).towards(reach(b));
                more += sweep::looks(&body_a.shape, &body_b.shape, reach);
            }
        }
        (pairs, more)
    }

    /// What the next step will keep of the pairs that were found last, sorted by pair; `state` is that which they
    /// were found with.
    pub(crate) fn kept<'a>(&'a self, state: &'a WorldState) -> impl Iterator<Item = &'a Kept> {
        let found = self.found[..self.pairs.len()].iter().enumerate();
        found.filter_map(|(pair, found)| match found.keep {
            Keep::Nothing => None,
            Keep::Anew(index) => Some(&self.chunks[pair / CHUNK].anew[index as usize]),
            Keep::Same => Some(&state.kept[found.kept_before? as usize]),
        })
    }

    /// Lists the contact points of all manifolds in the order (a, b, parts, feature); returns how many
    /// manifolds had any.
    pub(crate) fn list_points(
        &mut self,
        state: &WorldState,
        free: &[Velocity],
        points: &mut Vec<Contact>,
        parallel: bool,
    ) -> usize {
        let found = &self.found[..self.pairs.len()];
        let (mut manifolds, mut count) = (0, 0);
        self.starts.clear();
        for chunk in &self.chunks[..found.len().div_ceil(CHUNK)] {
            self.starts.push(count);
            manifolds += chunk.manifolds;
            count += chunk.points;
        }
        self.starts.push(count);
        // What is there is written over.
        points.resize(count, Contact::NONE);
        let chunks = Chunks {
            pairs: &self.pairs,
            found,
            starts: &self.starts,
        };
        chunks.list((state, free), points, parallel);
        manifolds
    }
}

/// Pairs of whole chunks, what was found of them, and where the points of each chunk start.
struct Chunks<'a> {
    pairs: &'a [(u32, u32)],
    found: &'a [PairFound],
    /// One more than chunks.
    starts: &'a [usize],
}

impl Chunks<'_> {
    fn list(
        self,
        (state, free): (&WorldState, &[Velocity]),
        points: &mut [Contact],
        parallel: bool,
    ) {
        let chunks = self.starts.len() - 1;
        if parallel && chunks > 1 {
            let middle = chunks / 2;
            let (pairs, more_pairs) = self.pairs.split_at(middle * CHUNK);
            let (found, more_found) = self.found.split_at(middle * CHUNK);
            let (points, more_points) = points.split_at_mut(self.starts[middle] - self.starts[0]);
            let first = Self {
                pairs,
                found,
                starts: &self.starts[..=middle],
            };
            let second = Self {
                pairs: more_pairs,
                found: more_found,
                starts: &self.starts[middle..],
            };
            rayon::join(
                || first.list((state, free), points, true),
                || second.list((state, free), more_points, true),
            );
            return;
        }
        let mut rest = points;
        for (pair, found) in self.pairs.iter().zip(self.found) {
            let found = &found.manifolds[..];
            let count = found.iter().map(|one| one.manifold.points().len()).sum();
            if count > 0 {
                let (points, more) = std::mem::take(&mut rest).split_at_mut(count);
                rest = more;
                list_pair(state, free, *pair, found, points);
                points.sort_unstable_by_key(Contact::key);
            }
        }
    }
}

/// The box of a body where it is.
fn aabb_of(body: &BodyState) -> Aabb {
    let aabb = body.shape.aabb(&body.pose());
    if let Shape::Heightfield(_) = body.shape {
        // What a fast flight has taken below the ground is still found.
        let down = body.rotation * Vec3::NEG_Y * body.shape.bounding_radius();
        return aabb.union(&Aabb::new(aabb.min + down, aabb.max + down));
    }
    aabb
}

/// Writes the contact points of a pair.
fn list_pair(
    state: &WorldState,
    free: &[Velocity],
    (index_a, index_b): (u32, u32),
    founds: &[Found],
    points: &mut [Contact],
) {
    let mut places = points.iter_mut();
    let (a, b) = (path(state, free, index_a), path(state, free, index_b));
    let (friction, restitution) = a.body.material.combine(&b.body.material);
    for found in founds {
        let frame = ContactFrame::new(found.manifold.normal());
        let (part_a, part_b) = found.manifold.parts();
        let geometry = sweep::points(&a, &b, found).zip(found.manifold.points());
        for (((lever_a, lever_b, separation), point), place) in geometry.zip(&mut places) {
            let speed =
                |va: &Velocity, vb: &Velocity| frame.normal.dot(vb.at(lever_b) - va.at(lever_a));
            *place = Contact {
                a: id(state, index_a),
                b: id(state, index_b),
                part_a,
                part_b,
                feature: point.feature,
                normal: frame.normal,
                tangent1: frame.tangent1,
                tangent2: frame.tangent2,
                lever_a,
                lever_b,
                separation: separation - found.time * speed(&a.velocity, &b.velocity),
                friction,
                restitution,
                approach_velocity: speed(&a.body.velocity, &b.body.velocity),
                impulse: Vec3::ZERO,
            };
        }
    }
}

fn path<'a>(state: &'a WorldState, free: &[Velocity], index: u32) -> Path<'a> {
    let slot = &state.bodies[index as usize];
    let body = slot
        .value
        .as_ref()
        .expect("the broad phase holds only bodies that are there");
    Path::new(body, &free[index as usize])
}

fn id(state: &WorldState, index: u32) -> BodyId {
    BodyId {
        index,
        generation: state.bodies[index as usize].generation,
    }
}
