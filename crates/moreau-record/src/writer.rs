//! What of a frame goes into which table, and what must be remembered of the frame before.

use crate::bits::Packer;
use crate::body::BodyRecord;
use crate::contact::{self, Chunk};
use crate::island;
use crate::recorder::{Ending, RecorderSettings, RunDescription};
use crate::room::Room;
use crate::state::{self, BodyState, KEY_EVERY};
use crate::taken::{Change, Taken};
use moreau_pipeline::{BodyId, Contact, World};
use moreau_scene::{Figures, GateResult};
use rusqlite::{Connection, TransactionBehavior, params};

/// Pages that a frame changes besides those that it adds, about.
const CHANGED_PAGES: u64 = 16;

/// Writes the frames of a run: a transaction each.
#[derive(Debug)]
pub(crate) struct Writer {
    connection: Connection,
    run: i64,
    memory: Memory,
    limits: Limits,
    /// Pages that the journal has, about, and that the file had after the last frame.
    pending: u64,
    pages: u64,
}

/// In pages.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Of the journal, that go into the file at once.
    journal: u64,
    /// Of the file, with the notes of how the run ended.
    most: Option<u64>,
}

/// What the run's row says.
#[derive(Debug)]
pub(crate) struct Start<'a> {
    pub(crate) about: &'a RunDescription,
    solver: &'static str,
    settings: String,
    state: Vec<u8>,
    pub(crate) room: Room,
}

impl<'a> Start<'a> {
    pub(crate) fn of(world: &World, about: &'a RunDescription) -> Self {
        let state = world.snapshot();
        let settings = serde_json::to_string(world.settings()).unwrap_or_default();
        Self {
            about,
            solver: world.solver_name(),
            room: Room::new(&state, &settings, about),
            settings,
            state,
        }
    }
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) ending: Ending,
    pub(crate) figures: Option<Figures>,
    pub(crate) gates: Vec<GateResult>,
}

/// What is remembered of the frame before.
#[derive(Debug, Default)]
struct Memory {
    /// In id order, with the numbers of their records.
    bodies: Vec<(BodyId, usize)>,
    /// Of the bodies that move.
    states: Vec<BodyState>,
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

impl Writer {
    /// Adds a run to a file, with its first frame.
    pub(crate) fn start(
        mut connection: Connection,
        settings: &RecorderSettings,
        start: &Start<'_>,
        first: &mut Taken,
    ) -> rusqlite::Result<Self> {
        let limits = prepare(&connection, settings, start.room)?;
        let mut memory = Memory::default();
        let transaction = begin(&mut connection)?;
        let run = insert_run(&transaction, settings, start)?;
        FrameWriter::new(&transaction, run, first).write(&mut memory)?;
        transaction.commit()?;
        Ok(Self {
            connection,
            run,
            memory,
            limits,
            pending: 0,
            pages: 0,
        })
    }

    /// The number of its run in the file.
    pub(crate) fn run(&self) -> i64 {
        self.run
    }

    /// Writes a frame. When this returns it is in the file.
    pub(crate) fn write(&mut self, taken: &mut Taken) -> rusqlite::Result<()> {
        let transaction = begin(&mut self.connection)?;
        FrameWriter::new(&transaction, self.run, taken).write(&mut self.memory)?;
        transaction.commit()
    }

    /// Brings the journal into the file where it is long enough. What goes wrong there is left to the
    /// next frame: all of it is in the journal.
    pub(crate) fn tidy_up(&mut self) {
        let pages = self.connection.query_row("PRAGMA page_count", [], count);
        let Ok(pages) = pages else { return };
        self.pending += CHANGED_PAGES + pages.saturating_sub(self.pages);
        self.pages = pages;
        if self.pending >= self.limits.journal {
            self.pending = 0;
            let _ = self
                .connection
                .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], count);
        }
    }

    /// Ends the run.
    pub(crate) fn end(mut self, end: &End) -> rusqlite::Result<()> {
        if let Some(most) = self.limits.most {
            // What was kept for this.
            self.connection
                .pragma_update(None, "max_page_count", most as i64)?;
        }
        let noted = self.note(end, true).or_else(|error| {
            // Where there is no room for all of it, the end alone is not lost.
            self.note(end, false)?;
            Err(error)
        });
        // Fails where somebody else reads the file; the last one to close it then tidies up.
        let _ = self
            .connection
            .pragma_update(None, "journal_mode", "DELETE");
        noted
    }

    /// Notes how the run ended, and with `all` its figures and gates.
    fn note(&mut self, end: &End, all: bool) -> rusqlite::Result<()> {
        let transaction = begin(&mut self.connection)?;
        transaction.execute(
            "UPDATE runs SET ended = ? WHERE run = ?",
            params![end.ending.name(), self.run],
        )?;
        if all {
            if let Some(figures) = &end.figures {
                write_figures(&transaction, self.run, figures)?;
            }
            write_gates(&transaction, self.run, &end.gates)?;
        }
        transaction.commit()
    }
}

fn begin(connection: &mut Connection) -> rusqlite::Result<rusqlite::Transaction<'_>> {
    connection.transaction_with_behavior(TransactionBehavior::Immediate)
}

fn count(row: &rusqlite::Row<'_>) -> rusqlite::Result<u64> {
    Ok(row.get::<_, i64>(0)?.unsigned_abs())
}

/// Settings of the connection: see `docs/recording.md` for what they mean for a crash.
fn prepare(
    connection: &Connection,
    settings: &RecorderSettings,
    room: Room,
) -> rusqlite::Result<Limits> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    let page = connection.query_row("PRAGMA page_size", [], count)?;
    let pages = |bytes: u64| (bytes / page.max(1)).clamp(1, u64::from(u32::MAX - 1));
    let journal = pages(settings.journal_bytes);
    // The writer does it itself, where nobody waits for it; this is the bound where that is not possible.
    let most = journal.saturating_mul(4).min(1 << 30) as i64;
    connection.pragma_update(None, "wal_autocheckpoint", most)?;
    if let Some(bytes) = settings.max_bytes {
        let frames = bytes.saturating_sub(room.notes);
        connection.pragma_update(None, "max_page_count", pages(frames) as i64)?;
    }
    Ok(Limits {
        journal,
        most: settings.max_bytes.map(pages),
    })
}

fn insert_run(
    connection: &Connection,
    settings: &RecorderSettings,
    start: &Start<'_>,
) -> rusqlite::Result<i64> {
    let about = start.about;
    connection.execute(
        "INSERT INTO runs (scene, scene_json, solver, settings, threads, steps, dt, build, \
         machine, contacts_every, start) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        params![
            about.scene,
            about.scene_json,
            start.solver,
            start.settings,
            about.threads as i64,
            about.steps as i64,
            about.dt,
            about.build,
            about.machine,
            settings.contacts_every.max(1) as i64,
            start.state,
        ],
    )?;
    Ok(connection.last_insert_rowid())
}

/// Writes one frame inside a transaction.
struct FrameWriter<'a> {
    connection: &'a Connection,
    run: i64,
    taken: &'a mut Taken,
}

impl<'a> FrameWriter<'a> {
    fn new(connection: &'a Connection, run: i64, taken: &'a mut Taken) -> Self {
        Self {
            connection,
            run,
            taken,
        }
    }

    fn write(&mut self, memory: &mut Memory) -> rusqlite::Result<()> {
        for change in &self.taken.changes {
            self.change(change)?;
        }
        let changed = self.taken.bodies.take();
        let same_bodies = changed.is_none();
        if let Some(bodies) = changed {
            memory.bodies = bodies;
        }
        self.state(memory, same_bodies)?;
        if self.taken.keeps_contacts {
            self.contacts(memory)?;
        }
        self.touches(memory)?;
        self.islands(memory)?;
        match &self.taken.report {
            Some(report) => report.insert(self.connection, self.run),
            None => Ok(()),
        }
    }

    fn frame(&self) -> i64 {
        self.taken.frame as i64
    }

    fn change(&self, change: &Change) -> rusqlite::Result<()> {
        let (run, frame) = (self.run, self.frame());
        let sql = |sql| self.connection.prepare_cached(sql);
        match change {
            Change::Shape(index, shape) => sql("INSERT INTO shapes VALUES (?, ?, ?, ?)")?
                .execute(params![run, *index as i64, shape.kind(), json(shape)?])?,
            Change::BodyStarts(body) => return self.body_starts(body),
            Change::BodyEnds(body) => {
                sql("UPDATE bodies SET last_frame = ? WHERE run = ? AND body = ?")?
                    .execute(params![frame - 1, run, *body as i64])?
            }
            Change::JointStarts(joint, id, data) => {
                sql("INSERT INTO joints VALUES (?, ?, ?, NULL, ?)")?.execute(params![
                    run,
                    *joint as i64,
                    frame,
                    json(&(id, data))?
                ])?
            }
            Change::JointEnds(joint) => {
                sql("UPDATE joints SET last_frame = ? WHERE run = ? AND joint = ?")?
                    .execute(params![frame - 1, run, *joint as i64])?
            }
        };
        Ok(())
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

    /// Writes the states of all bodies that move.
    fn state(&mut self, memory: &mut Memory, same_bodies: bool) -> rusqlite::Result<()> {
        let count = self.taken.states.len();
        let first = memory.states.is_empty() || !same_bodies;
        if first || self.taken.frame >= memory.key_frame + KEY_EVERY {
            memory.key_frame = self.taken.frame;
            memory.states.clear();
            memory.states.resize(count, BodyState::ZERO);
        }
        state::pack(&self.taken.states, &memory.states, &mut memory.packer);
        std::mem::swap(&mut self.taken.states, &mut memory.states);
        memory.packer.take(&mut memory.block);
        let taken = &*self.taken;
        self.connection
            .prepare_cached("INSERT INTO frames VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?
            .execute(params![
                self.run,
                self.frame(),
                taken.time,
                taken.dt,
                memory.key_frame as i64,
                count as i64,
                memory.block,
                taken.hash.map(|h| h.poses as i64),
                taken.hash.map(|h| h.contacts as i64),
                taken.hash.map(|h| h.cache as i64),
                (!taken.asleep.is_empty()).then_some(&taken.asleep),
            ])?;
        Ok(())
    }

    /// Writes the contacts.
    fn contacts(&self, memory: &mut Memory) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare_cached(
            "INSERT INTO contact_chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?;
        for (number, chunk) in contact::chunks(&self.taken.contacts).enumerate() {
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
    fn islands(&self, memory: &mut Memory) -> rusqlite::Result<()> {
        let islands = &self.taken.islands;
        if islands.is_empty() {
            return Ok(());
        }
        island::pack(islands, &mut memory.packer);
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
    fn touches(&self, memory: &mut Memory) -> rusqlite::Result<()> {
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
        for contact in &self.taken.contacts {
            let pair = contact::pair_key(contact);
            if touches.last().is_some_and(|t: &Touch| t.pair == pair) {
                continue;
            }
            let Some((a, b)) = memory.numbers(contact) else {
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
                    let first_frame = self.taken.frame;
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
}

impl Memory {
    /// The number of a body's record.
    fn number(&self, id: BodyId) -> Option<usize> {
        // Where no body was ever removed its place is its slot.
        let guess = self.bodies.get(id.index as usize).filter(|b| b.0 == id);
        let found = guess.or_else(|| {
            let at = self.bodies.binary_search_by_key(&id, |b| b.0).ok()?;
            self.bodies.get(at)
        });
        found.map(|body| body.1)
    }

    fn numbers(&self, contact: &Contact) -> Option<(usize, usize)> {
        Some((self.number(contact.a)?, self.number(contact.b)?))
    }
}

/// Each figure under its name; what is no single value as JSON.
fn write_figures(connection: &Connection, run: i64, figures: &Figures) -> rusqlite::Result<()> {
    use serde_json::Value;
    let failed = |error: serde_json::Error| rusqlite::Error::ToSqlConversionFailure(error.into());
    let value = serde_json::to_value(figures).map_err(failed)?;
    let mut statement = connection.prepare("INSERT INTO figures VALUES (?, ?, ?)")?;
    for (name, value) in value.as_object().into_iter().flatten() {
        let stored: Box<dyn rusqlite::ToSql> = match value {
            Value::Bool(b) => Box::new(*b),
            Value::Number(n) if n.is_i64() => Box::new(n.as_i64()),
            Value::Number(n) => Box::new(n.as_f64()),
            Value::String(s) => Box::new(s.clone()),
            Value::Null => Box::new(rusqlite::types::Null),
            other => Box::new(other.to_string()),
        };
        statement.execute(params![run, name, stored])?;
    }
    Ok(())
}

fn write_gates(connection: &Connection, run: i64, gates: &[GateResult]) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare("INSERT INTO gates VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    for gate in gates {
        statement.execute(params![
            run,
            gate.gate as i64,
            gate.quantity.to_string(),
            gate.body,
            gate.step as i64,
            gate.found,
            gate.at_least,
            gate.at_most,
            json(&gate.verdict)?.trim_matches('"'),
            gate.reason,
        ])?;
    }
    Ok(())
}

fn json(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}
