//! What of a frame goes into which table, and what must be remembered of the frame before.

use crate::bits::Packer;
use crate::body::{BodyRecord, Shapes};
use crate::contact::{self, Chunk};
use crate::island;
use crate::state::{self, BodyState, KEY_EVERY};
use moreau_pipeline::{BodyId, BodyView, Contact, Joint, JointId, World};
use rusqlite::{Connection, params};

/// What the recorder remembers of the frame before.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Sorted.
    names: Vec<(BodyId, String)>,
    shapes: Shapes,
    /// The bodies of the frame in id order.
    bodies: Vec<BodyRecord>,
    /// How many body records the run has.
    body_count: usize,
    /// The joints of the frame, with the numbers of their records.
    joints: Vec<(usize, JointId, Joint)>,
    joint_count: usize,
    /// Whether the states of the frame before belong to the same bodies.
    same_bodies: bool,
    /// Of the bodies that move.
    states: Vec<BodyState>,
    before: Vec<BodyState>,
    key_frame: u64,
    /// Pairs in contact, sorted.
    touches: Vec<Touch>,
    packer: Packer,
    block: Vec<u8>,
}

/// Two bodies that touch, since when.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Touch {
    pair: i64,
    /// Numbers of the bodies' records.
    a: usize,
    b: usize,
    first_frame: u64,
}

impl Memory {
    pub(crate) fn new(names: &[(BodyId, String)]) -> Self {
        let mut names = names.to_vec();
        names.sort();
        Self {
            names,
            ..Self::default()
        }
    }

    fn name(&self, id: BodyId) -> &str {
        let found = self.names.binary_search_by_key(&id, |(id, _)| *id);
        found.map_or("", |i| &self.names[i].1)
    }

    /// The number of a body's record.
    fn number(&self, id: BodyId) -> Option<usize> {
        // Where no body was ever removed its place is its slot.
        let guess = self.bodies.get(id.index as usize).filter(|b| b.id == id);
        let found = guess.or_else(|| {
            let at = self.bodies.binary_search_by_key(&id, |b| b.id).ok()?;
            self.bodies.get(at)
        });
        found.map(|body| body.body)
    }
}

/// Writes one frame inside a transaction.
pub(crate) struct FrameWriter<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) run: i64,
    pub(crate) frame: u64,
    pub(crate) world: &'a World,
}

impl FrameWriter<'_> {
    fn frame(&self) -> i64 {
        self.frame as i64
    }

    /// Notes which bodies came, went or were changed.
    pub(crate) fn bodies(&mut self, memory: &mut Memory) -> rusqlite::Result<()> {
        let same = memory.bodies.len() == self.world.body_count()
            && self.world.bodies().zip(&memory.bodies).all(|(view, body)| {
                body.describes(&view) && memory.shapes.is_surely(body.shape, view.shape())
            });
        memory.same_bodies = same;
        if same {
            return Ok(());
        }
        let mut old = std::mem::take(&mut memory.bodies).into_iter().peekable();
        let mut bodies = Vec::with_capacity(self.world.body_count());
        for view in self.world.bodies() {
            while let Some(gone) = old.next_if(|body| body.id < view.id()) {
                self.body_ends(&gone)?;
            }
            let kept = old.next_if(|body| body.id == view.id());
            let guess = bodies.last().map_or(0, |body: &BodyRecord| body.shape);
            let guess = kept.as_ref().map_or(guess, |body| body.shape);
            let shape = self.shape(memory, &view, guess)?;
            let body = match kept {
                Some(body) if body.describes(&view) && body.shape == shape => body,
                changed => {
                    if let Some(body) = changed {
                        self.body_ends(&body)?;
                    }
                    let name = memory.name(view.id());
                    let body = BodyRecord {
                        first_frame: self.frame,
                        ..BodyRecord::of(&view, memory.body_count, shape, name)
                    };
                    memory.body_count += 1;
                    self.body_starts(&body)?;
                    body
                }
            };
            bodies.push(body);
        }
        for gone in old {
            self.body_ends(&gone)?;
        }
        memory.bodies = bodies;
        Ok(())
    }

    fn shape(
        &self,
        memory: &mut Memory,
        view: &BodyView<'_>,
        guess: usize,
    ) -> rusqlite::Result<usize> {
        let (index, added) = memory.shapes.index(view.shape(), guess);
        if added {
            let data = json(view.shape())?;
            self.connection
                .prepare_cached("INSERT INTO shapes VALUES (?, ?, ?, ?)")?
                .execute(params![self.run, index as i64, view.shape().kind(), data])?;
        }
        Ok(index)
    }

    fn body_starts(&self, body: &BodyRecord) -> rusqlite::Result<()> {
        let kind = json(&body.kind)?;
        self.connection
            .prepare_cached("INSERT INTO bodies VALUES (?, ?, ?, NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?
            .execute(params![
                self.run,
                body.body as i64,
                self.frame(),
                body.id.index,
                body.id.generation,
                body.name,
                kind.trim_matches('"'),
                body.shape as i64,
                body.mass.mass,
                body.material.friction,
                body.material.restitution,
                json(body)?,
            ])?;
        Ok(())
    }

    fn body_ends(&self, body: &BodyRecord) -> rusqlite::Result<()> {
        self.connection
            .prepare_cached("UPDATE bodies SET last_frame = ? WHERE run = ? AND body = ?")?
            .execute(params![self.frame() - 1, self.run, body.body as i64])?;
        Ok(())
    }

    /// Notes which joints came, went or were changed.
    pub(crate) fn joints(&mut self, memory: &mut Memory) -> rusqlite::Result<()> {
        let kept = memory.joints.iter().map(|(_, id, joint)| (*id, *joint));
        if self.world.joints().eq(kept) {
            return Ok(());
        }
        let joints: Vec<_> = self.world.joints().collect();
        let is_there = |id, joint| joints.contains(&(id, joint));
        for (number, id, joint) in &memory.joints {
            if !is_there(*id, *joint) {
                self.connection
                    .prepare_cached("UPDATE joints SET last_frame = ? WHERE run = ? AND joint = ?")?
                    .execute(params![self.frame() - 1, self.run, *number as i64])?;
            }
        }
        let mut numbered = Vec::with_capacity(joints.len());
        for (id, joint) in joints {
            let old = memory.joints.iter().find(|j| (j.1, j.2) == (id, joint));
            let number = match old {
                Some((number, ..)) => *number,
                None => {
                    let number = memory.joint_count;
                    memory.joint_count += 1;
                    self.connection
                        .prepare_cached("INSERT INTO joints VALUES (?, ?, ?, NULL, ?)")?
                        .execute(params![
                            self.run,
                            number as i64,
                            self.frame(),
                            json(&(id, joint))?
                        ])?;
                    number
                }
            };
            numbered.push((number, id, joint));
        }
        memory.joints = numbered;
        Ok(())
    }

    /// Writes the states of all bodies that move. `dt` (s) is that of the step.
    pub(crate) fn state(
        &mut self,
        memory: &mut Memory,
        dt: f64,
        hash: bool,
    ) -> rusqlite::Result<()> {
        std::mem::swap(&mut memory.states, &mut memory.before);
        memory.states.clear();
        let mut asleep = Vec::new();
        for (view, body) in self.world.bodies().zip(&memory.bodies) {
            if body.moves() {
                if view.is_sleeping() {
                    state::set_bit(&mut asleep, memory.states.len());
                }
                memory.states.push(BodyState::of(&view));
            }
        }
        let first = memory.before.is_empty() || !memory.same_bodies;
        if first || self.frame >= memory.key_frame + KEY_EVERY {
            memory.key_frame = self.frame;
            memory.before.clear();
            memory.before.resize(memory.states.len(), BodyState::ZERO);
        }
        state::pack(&memory.states, &memory.before, &mut memory.packer);
        memory.packer.take(&mut memory.block);
        let hash = hash.then(|| self.world.hash());
        self.connection
            .prepare_cached("INSERT INTO frames VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?
            .execute(params![
                self.run,
                self.frame(),
                self.world.time(),
                dt,
                memory.key_frame as i64,
                memory.states.len() as i64,
                memory.block,
                hash.map(|h| h.poses as i64),
                hash.map(|h| h.contacts as i64),
                hash.map(|h| h.cache as i64),
                (!asleep.is_empty()).then_some(asleep),
            ])?;
        Ok(())
    }

    /// Writes the contacts.
    pub(crate) fn contacts(&mut self, memory: &mut Memory) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare_cached(
            "INSERT INTO contact_chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?;
        for (number, chunk) in contact::chunks(self.world.contacts()).enumerate() {
            contact::pack(chunk.contacts, &mut memory.packer);
            memory.packer.take(&mut memory.block);
            let Chunk { first, contacts } = chunk;
            let (first_pair, last_pair) = chunk.pairs();
            statement.execute(params![
                self.run,
                self.frame(),
                number as i64,
                first as i64,
                contacts.len() as i64,
                first_pair,
                last_pair,
                chunk.max(|c| c.impulse.x),
                chunk.max(contact::penetration),
                chunk.max(contact::approach_speed),
                memory.block,
            ])?;
        }
        Ok(())
    }

    /// Writes how the islands were solved; nothing where there are none.
    pub(crate) fn islands(&mut self, memory: &mut Memory) -> rusqlite::Result<()> {
        let islands = island::islands(self.world, self.frame);
        if islands.is_empty() {
            return Ok(());
        }
        island::pack(&islands, &mut memory.packer);
        memory.packer.take(&mut memory.block);
        let uncertified = islands.iter().filter(|island| !island.certified());
        let largest = islands.iter().map(|island| island.contact_points).max();
        let worst = islands.iter().map(|island| island.residual);
        self.connection
            .prepare_cached("INSERT INTO island_reports VALUES (?, ?, ?, ?, ?, ?, ?)")?
            .execute(params![
                self.run,
                self.frame(),
                islands.len() as i64,
                uncertified.count() as i64,
                largest.unwrap_or(0) as i64,
                worst.fold(0.0, f64::max),
                memory.block,
            ])?;
        Ok(())
    }

    /// Notes which pairs came into touch, and which parted.
    pub(crate) fn touches(&mut self, memory: &mut Memory) -> rusqlite::Result<()> {
        let old = std::mem::take(&mut memory.touches);
        let mut old = old.into_iter().peekable();
        let mut touches = Vec::new();
        let mut ends = self.connection.prepare_cached(
            "UPDATE touches SET last_frame = ? WHERE run = ? AND pair = ? AND first_frame = ?",
        )?;
        let mut end = |touch: Touch| {
            let first = touch.first_frame as i64;
            ends.execute(params![self.frame() - 1, self.run, touch.pair, first])
        };
        let mut starts = self
            .connection
            .prepare_cached("INSERT INTO touches VALUES (?, ?, ?, NULL, ?, ?)")?;
        for contact in self.world.contacts() {
            let pair = contact::pair_key(contact);
            if touches.last().is_some_and(|t: &Touch| t.pair == pair) {
                continue;
            }
            let Some((a, b)) = self.numbers(memory, contact) else {
                continue;
            };
            while let Some(touch) = old.next_if(|touch| touch.pair < pair) {
                end(touch)?;
            }
            let kept = old.next_if(|touch| touch.pair == pair);
            let touch = match kept {
                Some(touch) if (touch.a, touch.b) == (a, b) => touch,
                changed => {
                    if let Some(touch) = changed {
                        end(touch)?;
                    }
                    let frame = self.frame();
                    starts.execute(params![self.run, pair, frame, a as i64, b as i64])?;
                    let first_frame = self.frame;
                    Touch {
                        pair,
                        a,
                        b,
                        first_frame,
                    }
                }
            };
            touches.push(touch);
        }
        for touch in old {
            end(touch)?;
        }
        memory.touches = touches;
        Ok(())
    }

    fn numbers(&self, memory: &Memory, contact: &Contact) -> Option<(usize, usize)> {
        Some((memory.number(contact.a)?, memory.number(contact.b)?))
    }
}

fn json(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}
