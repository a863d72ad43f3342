//! The hot records of a sweep.
//!
//! ```text
//! Pack   704 bytes of lanes and indices, one for eight pairs of bodies
//! Point  896 bytes, one for eight contacts, read once a sweep
//! Ball   896 bytes, both for eight pairs of balls
//! impulses 192 bytes a point, velocities and inverse masses 64 bytes a body
//! ```
//!
//! Records lie in the order of a sweep. A *block* is some packs of one colour with n contacts a pair, and their
//! points, n to a pack, up to eight in all. Pairs with fewer contacts fill up the last pack of a kind. A *group* is all blocks of one colour: no two of them move the
//! same body, so they may be visited in any order, or at once by several threads. Each pair without a
//! colour is a group of its own. The layout follows from the problem alone.
//!
//! Contacts that wait (see [`crate::first_look`]) lie in blocks that belong to no group: they are looked at, and
//! not visited. One that wakes leaves its lane there and gets a place in groups behind all others.
//!
//! In a large problem groups lie in [`crate::layers`], and a schedule says which of them several sweeps visit side
//! by side.
//!
//! Each block is filled by itself, so the threads of a pool can take parts of them.
//!
//! Lanes without a pair point at a body that does not exist; lanes without a contact have one that is
//! too far open to close. Bodies that no impulse moves are read, and never written.

use crate::arithmetic::Arithmetic;
use crate::colour::{Colouring, Kind, UnitShape};
use crate::fill::{Part, Source};
use crate::first_look::{FirstLook, Glance};
use crate::lanes::{Oct, WIDTH};
use crate::layers::Layers;
use crate::wave::{self, Plan, Schedule};
use moreau_constraint::{BodyInput, ContactProblem};
use moreau_math::{Vec3, Velocity};
use rayon::prelude::*;
use std::ops::Range;

/// Eight pairs of bodies.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Pack {
    pub(crate) normal: [Oct; 3],
    pub(crate) tangent1: [Oct; 3],
    pub(crate) tangent2: [Oct; 3],
    pub(crate) friction: Oct,
    pub(crate) a: [BodyIndex; WIDTH],
    pub(crate) b: [BodyIndex; WIDTH],
}
const _: () = assert!(size_of::<Pack>() == 704);

/// A body, and in the highest bit whether it is only read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BodyIndex(u32);

const READ_ONLY: u32 = 1 << 31;

impl BodyIndex {
    pub(crate) fn of(body: &Kind) -> Self {
        Self(if body.moves {
            body.place
        } else {
            body.place | READ_ONLY
        })
    }

    /// The body of lanes without a pair.
    pub(crate) fn nobody(bodies: usize) -> Self {
        Self(bodies as u32 | READ_ONLY)
    }

    pub(crate) fn get(self) -> usize {
        (self.0 & !READ_ONLY) as usize
    }

    pub(crate) fn moves(self) -> bool {
        self.0 & READ_ONLY == 0
    }
}

/// One contact of each of eight pairs. W is the contact's Delassus block, 1/kg.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Point {
    /// m, world axes.
    pub(crate) lever_a: [Oct; 3],
    pub(crate) lever_b: [Oct; 3],
    /// m/s, contact frame.
    pub(crate) bias: [Oct; 3],
    /// 1/W_nn.
    pub(crate) inverse_normal: Oct,
    /// W_t1n, W_t2n.
    pub(crate) coupling: [Oct; 2],
    /// 1/(largest eigenvalue of W_tt).
    pub(crate) step: Oct,
    /// trace(W)/3.
    pub(crate) scale: Oct,
}
const _: () = assert!(size_of::<Point>() == 896);

/// Eight pairs of balls with their contacts, of which no lever has a part across the normal.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Ball {
    // First what a glance at a contact that waits needs.
    pub(crate) a: [BodyIndex; WIDTH],
    pub(crate) b: [BodyIndex; WIDTH],
    pub(crate) normal: [Oct; 3],
    /// m/s, along the normal; none across it.
    pub(crate) bias: Oct,
    /// The other tangent is normal x tangent1.
    pub(crate) tangent1: [Oct; 3],
    pub(crate) friction: Oct,
    /// Along the normal, m; 0 for what does not move.
    pub(crate) arms: [Oct; 2],
    /// As of [`Point`].
    pub(crate) inverse_normal: Oct,
    pub(crate) step: Oct,
    pub(crate) scale: Oct,
}
const _: () = assert!(size_of::<Ball>() == 896);

/// What a sweep takes from memory for a contact, at most.
const CONTACT_BYTES: usize =
    (size_of::<Pack>() + size_of::<Point>() + 2 * size_of::<Impulse>()) / WIDTH;

/// Velocity (linear, angular) with 1/m and the inverse inertia about the first axis; or inverse mass properties (1/m,
/// xx yy zz, xy xz yz, spare).
pub(crate) type BodyRecord = Oct;

/// Impulses of one contact of each of eight pairs, (n, t1, t2).
pub(crate) type Impulse = [Oct; 3];

/// Some packs of one colour; the unit of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) packs: Range<usize>,
    pub(crate) points: Range<usize>,
    /// Contacts of each pair.
    pub(crate) count: usize,
    pub(crate) shape: UnitShape,
    /// Packs of balls before it, each with a point. They lie in a list of their own.
    pub(crate) balls: usize,
}

impl Block {
    fn holds_balls(&self) -> bool {
        self.shape == UnitShape::Balls
    }

    /// Where its packs and points lie in their lists; nowhere for balls.
    pub(crate) fn places(&self) -> (Range<usize>, Range<usize>) {
        let place = |range: &Range<usize>| {
            let start = range.start - self.balls;
            let count = if self.holds_balls() { 0 } else { range.len() };
            start..start + count
        };
        (place(&self.packs), place(&self.points))
    }

    /// The same for balls.
    pub(crate) fn ball_places(&self) -> Range<usize> {
        let count = if self.holds_balls() {
            self.packs.len()
        } else {
            0
        };
        self.balls..self.balls + count
    }
}

/// Points of a block, or one pack: half a microsecond of work. Larger ones divide the colours of small piles badly.
const BLOCK_POINTS: usize = 8;

/// What one block adds to the figures of a sweep or of a look.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    /// |g|²_D, and g·D (change of the end).
    pub(crate) square: f64,
    pub(crate) along: f64,
    /// The largest |g| D of a contact squared, with D its scale: m²/s².
    pub(crate) change_squared: f64,
    /// The largest natural map; what is not finite where there is such a one.
    pub(crate) map: f64,
}

/// Ends of what is laid out.
#[derive(Clone, Copy, Debug, Default)]
struct End {
    packs: usize,
    points: usize,
    /// Packs of balls among these, each with a point.
    balls: usize,
}

/// How a problem is packed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    pub(crate) arithmetic: Arithmetic,
    /// On the threads of the pool.
    pub(crate) parallel: bool,
    /// Contacts from which bodies are laid into layers.
    pub(crate) layers_from: usize,
}

/// Pairs of bodies in a layer: this part of the contacts from which there are layers, so that its colours fill their packs.
const LAYER_PART: usize = 32;

/// Whether a pack is visited by sweeps that are not whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RestState {
    #[default]
    Awake,
    /// The next sweep takes back what momentum did to it.
    LiesDown,
    /// Not visited; its impulses are the same in both lists.
    Rests,
}

/// Of a pack.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rest {
    /// As of [`Sums`], in the last whole sweep.
    pub(crate) change_squared: f64,
    pub(crate) state: RestState,
}

/// Everything that a sweep reads or writes; keeps its memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packed {
    pub(crate) groups: Vec<Range<usize>>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) packs: Vec<Pack>,
    pub(crate) points: Vec<Point>,
    pub(crate) balls: Vec<Ball>,
    /// Where the last sweep ended, and the one before; in turn.
    pub(crate) impulses: [Vec<Impulse>; 2],
    /// Natural map of each contact, m/s.
    pub(crate) maps: Vec<Oct>,
    /// Of each block; of all blocks for each of the sweeps that are made side by side, where there are such ones.
    pub(crate) sums: Vec<Sums>,
    pub(crate) rests: Vec<Rest>,
    /// Contact in each lane, `NONE` where there is none.
    pub(crate) contacts: Vec<[u32; WIDTH]>,
    pub(crate) velocities: Vec<BodyRecord>,
    /// Where the last sweep ended.
    pub(crate) ends: Vec<BodyRecord>,
    pub(crate) masses: Vec<BodyRecord>,
    /// Whether any contact has friction.
    pub(crate) friction: bool,
    /// Blocks of contacts that wait.
    pub(crate) waiting: Range<usize>,
    /// Packs of these blocks: the first ones of all.
    pub(crate) waiting_packs: usize,
    /// Contacts that waited at first and no more.
    pub(crate) woken: usize,
    /// What is laid out.
    end: End,
    list: Vec<u32>,
    layers: Layers,
    /// The layer of each group.
    group_layers: Vec<u32>,
    pub(crate) schedule: Schedule,
    /// One, for the schedule's sweeps.
    pub(crate) plan: [Plan; 1],
    /// The first unit of each pack that was laid out last.
    first_units: Vec<u32>,
    pub(crate) bodies: Vec<Kind>,
    /// Of contacts that are visited, and of those that wait.
    pub(crate) colouring: Colouring,
    readers: Colouring,
}

pub(crate) const NONE: u32 = u32::MAX;

/// Bias of no contact, m/s.
pub(crate) const OPEN: f64 = 1e100;

impl Packed {
    /// Lists what matters of the bodies.
    pub(crate) fn list_bodies(&mut self, problem: &ContactProblem) -> &[Kind] {
        self.bodies.clear();
        let bodies = problem.bodies().iter().enumerate();
        self.bodies.extend(bodies.map(Kind::of));
        &self.bodies
    }

    /// Packs `problem`, whose bodies are listed, with zero impulses and free velocities. Contacts that wait have no
    /// coefficients that follow from the Delassus blocks.
    pub(crate) fn load(&mut self, problem: &ContactProblem, first_look: &FirstLook, how: How) {
        let sweeps = self.order(problem, first_look, how);
        self.friction = first_look.friction;
        self.woken = 0;
        self.groups.clear();
        self.group_layers.clear();
        self.schedule.clear();
        self.blocks.clear();
        self.end = End::default();
        self.sums.clear();
        self.rests.clear();
        self.maps.clear();
        for impulses in &mut self.impulses {
            impulses.clear();
        }
        let readers = std::mem::take(&mut self.readers);
        self.waiting = self.append(problem, &readers, None, how.parallel);
        self.readers = readers;
        self.waiting_packs = self.end.packs;
        self.groups.clear();
        self.group_layers.clear();
        self.append_visited(problem, how);
        self.plan_sweeps(sweeps, how.parallel);
        // What is there of the last problem was written over. Packs that are more keep their memory: what follows may
        // need them again.
        self.contacts.truncate(self.end.points);
    }

    /// Loads bodies; says which contacts are visited when, those that wait by themselves, and how many sweeps are worth making
    /// side by side; there are layers only where these are some.
    fn order(&mut self, problem: &ContactProblem, first_look: &FirstLook, how: How) -> usize {
        let contacts = (problem.contacts(), &first_look.glances[..]);
        let (colouring, readers) = (&mut self.colouring, &mut self.readers);
        let (layers, bodies) = (&mut self.layers, &self.bodies);
        let which = |wait: bool| {
            let all = first_look.waits.iter().enumerate();
            all.filter_map(move |(i, waits)| (*waits == wait).then_some(i))
        };
        let mut list = || {
            readers.build_readers(contacts, which(true));
            colouring.list_units(contacts, which(false));
        };
        let mut lay = || lay_into_layers(layers, bodies, (problem, first_look), how);
        let sweeps = if how.parallel {
            rayon::join(lay, list).0
        } else {
            list();
            lay()
        };
        if self.layers.count() > 0 {
            self.layers.place(&mut self.bodies);
        }
        let (colouring, layers, bodies) = (&mut self.colouring, &self.layers, &self.bodies);
        let records = [&mut self.masses, &mut self.velocities, &mut self.ends];
        let mut colour = || colouring.colour_units(bodies, layers);
        let load = || load_bodies((problem.bodies(), bodies), records);
        if how.parallel {
            rayon::join(colour, load);
        } else {
            colour();
            load();
        }
        sweeps
    }

    /// Visits contacts that waited from now on: those whose map in the last look was larger than
    /// `tolerance`, m/s.
    pub(crate) fn wake(
        &mut self,
        (problem, glances): (&ContactProblem, &[Glance]),
        tolerance: f64,
        how: How,
    ) {
        let mut woken = std::mem::take(&mut self.list);
        woken.clear();
        let waiting = self.waiting.clone();
        for (block, sums) in self.blocks[waiting.clone()].iter().zip(&self.sums[waiting]) {
            if !(sums.map > tolerance) {
                continue;
            }
            let (places, balls) = (block.places().1.start, block.ball_places().start);
            for (k, index) in block.points.clone().enumerate() {
                let lanes = self.contacts[index].iter_mut().zip(self.maps[index].0);
                for (lane, (contact, map)) in lanes.enumerate() {
                    if *contact != NONE && map > tolerance {
                        woken.push(*contact);
                        *contact = NONE;
                        let bias = match block.shape {
                            UnitShape::Balls => &mut self.balls[balls + k].bias,
                            _ => &mut self.points[places + k].bias[0],
                        };
                        bias.0[lane] = OPEN;
                    }
                }
            }
        }
        woken.sort_unstable();
        let colouring = &mut self.colouring;
        let (colours, serial) = (colouring.colours, colouring.serial);
        let indices = woken.iter().map(|i| *i as usize);
        colouring.list_units((problem.contacts(), glances), indices);
        colouring.colour_units(&self.bodies, &self.layers);
        colouring.colours += colours;
        colouring.serial += serial;
        self.woken += woken.len();
        self.list = woken;
        self.append_visited(problem, how);
        self.plan_sweeps(self.schedule.sweeps, how.parallel);
    }

    /// Sweeps are made side by side, up to so many; one after the other if that is less than 2.
    fn plan_sweeps(&mut self, sweeps: usize, parallel: bool) {
        if sweeps < 2 {
            self.schedule.clear();
            return;
        }
        let groups = (&self.groups[..], &self.group_layers[..]);
        self.schedule.build(&self.layers, groups, sweeps, parallel);
        self.sums
            .resize(self.blocks.len() * sweeps, Sums::default());
    }

    fn append_visited(&mut self, problem: &ContactProblem, how: How) {
        let colouring = std::mem::take(&mut self.colouring);
        self.append(problem, &colouring, Some(how.arithmetic), how.parallel);
        self.colouring = colouring;
    }

    /// Lays out and fills what is in the colouring, behind all others.
    fn append(
        &mut self,
        problem: &ContactProblem,
        colouring: &Colouring,
        prepare: Option<Arithmetic>,
        parallel: bool,
    ) -> Range<usize> {
        let first = self.end;
        let (first_block, first_group) = (self.blocks.len(), self.groups.len());
        self.lay_out(colouring);
        let end = self.end;
        let source = Source {
            problem,
            units: &colouring.units,
            first_units: &self.first_units,
            first_pack: first.packs,
            bodies: &self.bodies,
            masses: &self.masses,
            prepare,
        };
        let part = Part {
            packs: &mut self.packs[first.packs - first.balls..end.packs - end.balls],
            points: &mut self.points[first.points - first.balls..end.points - end.balls],
            balls: &mut self.balls[first.balls..end.balls],
            contacts: &mut self.contacts[first.points..end.points],
        };
        source.fill(&self.blocks[first_block..], part, parallel);
        // The shares of threads follow the order of the bodies, so each finds most of its own where it left them.
        for group in &self.groups[first_group..] {
            let first_contact = |block: &Block| self.contacts[block.points.start][0];
            self.blocks[group.clone()].sort_unstable_by_key(first_contact);
        }
        for impulses in &mut self.impulses {
            impulses.resize(end.points, Impulse::default());
        }
        self.maps.resize(end.points, Oct::default());
        self.sums.clear();
        self.sums.resize(self.blocks.len(), Sums::default());
        self.rests.resize(end.packs, Rest::default());
        first_block..self.blocks.len()
    }

    fn lay_out(&mut self, colouring: &Colouring) {
        let mut end = self.end;
        self.first_units.clear();
        for group in &colouring.groups {
            let first = self.blocks.len();
            let starts = group.clone().step_by(WIDTH);
            for (start, units) in starts.zip(colouring.units[group.clone()].chunks(WIDTH)) {
                self.first_units.push(start as u32);
                // Counts fall within a group.
                let count = usize::from(units[0].count);
                let shapes = units.iter().map(|unit| unit.shape);
                let shape = shapes.min().unwrap_or_default();
                match self.blocks[first..].last_mut() {
                    Some(block)
                        if (block.count, block.shape) == (count, shape)
                            && block.points.len() + count <= BLOCK_POINTS =>
                    {
                        block.packs.end += 1;
                        block.points.end += count;
                    }
                    _ => self.blocks.push(Block {
                        packs: end.packs..end.packs + 1,
                        points: end.points..end.points + count,
                        count,
                        shape,
                        balls: end.balls,
                    }),
                }
                end.packs += 1;
                end.points += count;
                end.balls += usize::from(shape == UnitShape::Balls);
            }
            self.groups.push(first..self.blocks.len());
        }
        self.group_layers.extend_from_slice(&colouring.layers);
        self.end = end;
        grow(&mut self.packs, end.packs - end.balls);
        grow(&mut self.points, end.points - end.balls);
        grow(&mut self.balls, end.balls);
        if self.contacts.len() < end.points {
            self.contacts.resize(end.points, [NONE; WIDTH]);
        }
    }

    /// `parallel`: on the threads of the pool.
    pub(crate) fn get_velocities(&self, velocities: &mut Vec<Velocity>, parallel: bool) {
        let of = |kind: &Kind| velocity(&self.velocities[kind.place as usize]);
        if parallel {
            let kinds = self.bodies.par_iter().with_min_len(BODIES);
            return kinds.map(of).collect_into_vec(velocities);
        }
        velocities.clear();
        velocities.extend(self.bodies.iter().map(of));
    }
}

/// Masses, velocities and, from these, the ends of the last sweep.
fn load_bodies((bodies, kinds): (&[BodyInput], &[Kind]), records: [&mut Vec<BodyRecord>; 3]) {
    let [masses, velocities, ends] = records;
    // All are written over but for one more, the body of lanes without a pair.
    for records in [&mut *masses, &mut *velocities] {
        records.resize(bodies.len() + 1, BodyRecord::default());
        records[bodies.len()] = BodyRecord::default();
    }
    for (body, kind) in bodies.iter().zip(kinds) {
        let place = kind.place as usize;
        masses[place] = mass_record(body);
        velocities[place] = body_record(body);
    }
    ends.clone_from(velocities);
}

/// Says how many sweeps are worth making side by side; there are layers only where these are some.
fn lay_into_layers(
    layers: &mut Layers,
    bodies: &[Kind],
    (problem, first_look): (&ContactProblem, &FirstLook),
    how: How,
) -> usize {
    layers.clear();
    let from = how.layers_from;
    let visited = first_look.waits.iter().filter(|waits| !**waits).count();
    // Rows join bodies of any layers.
    if !problem.rows().is_empty() || visited < from {
        return 0;
    }
    // With contacts that wait, for they may be visited later.
    layers.build(&first_look.glances, bodies, from / LAYER_PART);
    let (count, bytes) = (layers.count(), visited * CONTACT_BYTES);
    // The bits depend on whether there are layers, and must not on the threads.
    if wave::worth(count, bytes, true) < 2 {
        layers.clear();
        return 0;
    }
    wave::worth(count, bytes, how.parallel)
}

/// Bodies that a thread reads at least.
const BODIES: usize = 1024;

/// To at least so many.
fn grow<T: Clone + Default>(list: &mut Vec<T>, count: usize) {
    if list.len() < count {
        list.resize(count, T::default());
    }
}

/// Into lanes; `contacts` says which contact goes where.
pub(crate) fn set_impulses(contacts: &[[u32; WIDTH]], from: &[Vec3], to: &mut [Impulse]) {
    for (contacts, lanes) in contacts.iter().zip(to) {
        for (lane, contact) in contacts.iter().enumerate() {
            if *contact != NONE {
                put(lanes, lane, from[*contact as usize]);
            }
        }
    }
}

/// Out of lanes.
pub(crate) fn get_impulses(contacts: &[[u32; WIDTH]], from: &[Impulse], to: &mut [Vec3]) {
    for (contacts, [n, t1, t2]) in contacts.iter().zip(from) {
        for (lane, contact) in contacts.iter().enumerate() {
            if *contact != NONE {
                to[*contact as usize] = Vec3::new(n.0[lane], t1.0[lane], t2.0[lane]);
            }
        }
    }
}

pub(crate) fn body_record(body: &BodyInput) -> BodyRecord {
    let mut record = Oct::default();
    set_velocity(&mut record, &body.velocity);
    [record.0[6], record.0[7]] = [body.inverse_mass, body.inverse_inertia.xx];
    record
}

pub(crate) fn set_velocity(record: &mut BodyRecord, v: &Velocity) {
    let [x, y, z, wx, wy, wz, ..] = &mut record.0;
    [*x, *y, *z] = v.linear.to_array();
    [*wx, *wy, *wz] = v.angular.to_array();
}

pub(crate) fn velocity(record: &BodyRecord) -> Velocity {
    let [x, y, z, wx, wy, wz, ..] = record.0;
    Velocity::new(Vec3::new(x, y, z), Vec3::new(wx, wy, wz))
}

fn mass_record(body: &BodyInput) -> BodyRecord {
    let i = &body.inverse_inertia;
    Oct([body.inverse_mass, i.xx, i.yy, i.zz, i.xy, i.xz, i.yz, 0.0])
}

pub(crate) fn put(to: &mut [Oct; 3], lane: usize, v: Vec3) {
    to[0].0[lane] = v.x;
    to[1].0[lane] = v.y;
    to[2].0[lane] = v.z;
}
