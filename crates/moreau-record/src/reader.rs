use crate::bits::Torn;
use crate::body::{BodyRecord, JointRecord};
use crate::recorder::Ending;
use crate::state::{self, BodyState};
use crate::{
    ContactRecord, FrameReport, IslandRecord, RecordError, ShareReport, contact, island, schema,
};
use moreau_collision::Shape;
use moreau_pipeline::{BodyId, StateHash, WorldSettings};
use moreau_scene::GateResult;
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// A file of runs, open to read.
#[derive(Debug)]
pub struct Recording {
    pub(crate) file: PathBuf,
    pub(crate) connection: Connection,
}

/// What a recording says of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunInfo {
    /// Its number in the file, from 1.
    pub run: i64,
    /// When it was started: date and time of day, UTC.
    pub started: String,
    /// Name of the scene.
    pub scene: String,
    /// The scene as JSON; `None` where the world was not made from one.
    pub scene_json: Option<String>,
    /// Name of the solver.
    pub solver: String,
    /// Settings of the world.
    pub settings: WorldSettings,
    /// Threads that it stepped on.
    pub threads: u64,
    /// How many steps it was to have; 0 where that was open.
    pub steps: u64,
    /// Length of a step, s; 0 where it varies (frames say).
    pub dt: f64,
    /// Version, commit and features of the program.
    pub build: String,
    /// What it ran on.
    pub machine: String,
    /// Contacts are kept of every how many frames.
    pub contacts_every: u64,
    /// How it ended; `None` where it still goes on, or its program was killed.
    pub ending: Option<Ending>,
    /// Its first frame: the steps that the world had made before.
    pub first_frame: u64,
    /// Its last frame.
    pub last_frame: u64,
}

impl Recording {
    /// Opens a recording.
    ///
    /// # Errors
    /// Where the file is not there, cannot be read, or is no recording that this build reads.
    pub fn open(file: impl AsRef<Path>) -> Result<Self, RecordError> {
        let file = file.as_ref();
        let connection = schema::open_to_read(file)?;
        Ok(Self {
            file: file.into(),
            connection,
        })
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// All runs, the oldest first.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn runs(&self) -> Result<Vec<RunInfo>, RecordError> {
        let mut statement = self.sql(self.connection.prepare(
            "SELECT runs.*, min(frame), max(frame) FROM runs JOIN frames USING (run) \
             GROUP BY run ORDER BY run",
        ))?;
        let rows = self.sql(statement.query_map([], info))?;
        rows.map(|row| self.sql(row)).collect()
    }

    /// A run by its number.
    ///
    /// # Errors
    /// Where there is none, or it cannot be read.
    pub fn run(&self, run: i64) -> Result<RecordedRun<'_>, RecordError> {
        let runs = self.runs()?;
        let count = runs.len();
        let info = runs.into_iter().find(|info| info.run == run);
        let file = self.file.clone();
        let info = info.ok_or(RecordError::NoRun { file, run, count })?;
        RecordedRun::load(self, info)
    }

    /// The latest run.
    ///
    /// # Errors
    /// Where there is none, or it cannot be read.
    pub fn last_run(&self) -> Result<RecordedRun<'_>, RecordError> {
        let last = self.runs()?.pop();
        let none = || self.damaged("it holds no run");
        RecordedRun::load(self, last.ok_or_else(none)?)
    }

    /// Looks at every page of the file.
    ///
    /// # Errors
    /// Where the file is damaged.
    pub fn check(&self) -> Result<(), RecordError> {
        let check = |row: &Row<'_>| row.get::<_, String>(0);
        let answer = self
            .connection
            .query_row("PRAGMA integrity_check(1)", [], check);
        match self.sql(answer)? {
            fine if fine == "ok" => Ok(()),
            what => Err(self.damaged(what)),
        }
    }

    pub(crate) fn sql<T>(&self, result: rusqlite::Result<T>) -> Result<T, RecordError> {
        result.map_err(|error| RecordError::from_sqlite(&self.file, &error))
    }

    pub(crate) fn damaged(&self, what: impl Into<String>) -> RecordError {
        RecordError::Damaged {
            file: self.file.clone(),
            what: what.into(),
        }
    }
}

fn info(row: &Row<'_>) -> rusqlite::Result<RunInfo> {
    let count = |name: &str| row.get::<_, i64>(name).map(|x| x as u64);
    let settings: String = row.get("settings")?;
    let ended: Option<String> = row.get("ended")?;
    Ok(RunInfo {
        run: row.get("run")?,
        started: row.get("started")?,
        scene: row.get("scene")?,
        scene_json: row.get("scene_json")?,
        solver: row.get("solver")?,
        settings: from_json(&settings)?,
        threads: count("threads")?,
        steps: count("steps")?,
        dt: row.get("dt")?,
        build: row.get("build")?,
        machine: row.get("machine")?,
        contacts_every: count("contacts_every")?.max(1),
        ending: ended.and_then(|name| Ending::named(&name)),
        first_frame: count("min(frame)")?,
        last_frame: count("max(frame)")?,
    })
}

fn from_json<T: serde::de::DeserializeOwned>(text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|error| {
        let kind = rusqlite::types::Type::Text;
        rusqlite::Error::FromSqlConversionFailure(0, kind, error.into())
    })
}

/// A state of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// How many steps the world had made.
    pub frame: u64,
    /// Simulated time, s.
    pub time: f64,
    /// Length of the step that led here, s; 0 for the first frame.
    pub dt: f64,
    /// The bodies that are not static, in id order: index in [`RecordedRun::bodies`], and state.
    pub states: Vec<(usize, BodyState)>,
    /// Which of them sleep: indices in [`RecordedRun::bodies`], in the same order.
    pub asleep: Vec<usize>,
    /// Of the world, where it was kept.
    pub hash: Option<StateHash>,
}

/// A run of a recording.
#[derive(Debug)]
pub struct RecordedRun<'a> {
    recording: &'a Recording,
    info: RunInfo,
    bodies: Vec<BodyRecord>,
    shapes: Vec<Shape>,
    joints: Vec<JointRecord>,
    /// The frame read last: frames are mostly read in order.
    last: RefCell<Option<Decoded>>,
}

#[derive(Debug)]
struct Decoded {
    frame: u64,
    key_frame: u64,
    /// Index of each body that moves.
    bodies: Vec<usize>,
    states: Vec<BodyState>,
}

struct FrameRow {
    frame: u64,
    time: f64,
    dt: f64,
    key_frame: u64,
    moving: usize,
    state: Vec<u8>,
    asleep: Vec<u8>,
    hash: Option<StateHash>,
}

impl<'a> RecordedRun<'a> {
    fn load(recording: &'a Recording, info: RunInfo) -> Result<Self, RecordError> {
        let mut run = Self {
            recording,
            info,
            bodies: Vec::new(),
            shapes: Vec::new(),
            joints: Vec::new(),
            last: RefCell::new(None),
        };
        run.shapes = run.rows("SELECT * FROM shapes WHERE run = ? ORDER BY shape", |row| {
            from_json(&row.get::<_, String>("data")?)
        })?;
        run.bodies = run.rows("SELECT * FROM bodies WHERE run = ? ORDER BY body", body)?;
        run.joints = run.rows("SELECT * FROM joints WHERE run = ? ORDER BY joint", joint)?;
        if run.bodies.iter().any(|b| b.shape >= run.shapes.len()) {
            return Err(recording.damaged("a body has a shape that is not there"));
        }
        Ok(run)
    }

    fn rows<T>(
        &self,
        sql: &str,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, RecordError> {
        let recording = self.recording;
        let mut statement = recording.sql(recording.connection.prepare_cached(sql))?;
        let rows = recording.sql(statement.query_map([self.info.run], read))?;
        rows.map(|row| recording.sql(row)).collect()
    }

    pub(crate) fn recording(&self) -> &'a Recording {
        self.recording
    }

    /// The state of the world at the first frame, as [`moreau_pipeline::World::from_snapshot`] takes it.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn start(&self) -> Result<Vec<u8>, RecordError> {
        let mut start = self.rows("SELECT start FROM runs WHERE run = ?", |row| row.get(0))?;
        let none = || self.recording.damaged("the run has no start");
        start.pop().ok_or_else(none)
    }

    /// What the recording says of it.
    pub fn info(&self) -> &RunInfo {
        &self.info
    }

    /// Its number in the file.
    pub fn number(&self) -> i64 {
        self.info.run
    }

    /// All its bodies; which are there in a frame [`BodyRecord::is_in`] says.
    pub fn bodies(&self) -> &[BodyRecord] {
        &self.bodies
    }

    /// Their shapes.
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// All its joints.
    pub fn joints(&self) -> &[JointRecord] {
        &self.joints
    }

    /// Whether the contacts of a frame were kept.
    pub fn keeps_contacts(&self, frame: u64) -> bool {
        frame == self.info.first_frame || frame.is_multiple_of(self.info.contacts_every)
    }

    /// What to call a body in a message: its name and id, or its id.
    pub fn title(&self, id: BodyId) -> String {
        let record = self.bodies.iter().find(|b| b.id == id);
        match record {
            Some(record) if !record.name.is_empty() => format!("`{}` ({id})", record.name),
            _ => id.to_string(),
        }
    }

    /// The first frame: the state before the first step.
    pub fn first_frame(&self) -> u64 {
        self.info.first_frame
    }

    /// The last frame.
    pub fn last_frame(&self) -> u64 {
        self.info.last_frame
    }

    /// The frames from the first to the last.
    pub fn frames(&self) -> impl Iterator<Item = Result<Frame, RecordError>> + '_ {
        (self.first_frame()..=self.last_frame()).map(|frame| self.frame(frame))
    }

    /// The state of all bodies in a frame. Frames are read fastest in order.
    ///
    /// # Errors
    /// Where there is no such frame, or the file cannot be read.
    pub fn frame(&self, frame: u64) -> Result<Frame, RecordError> {
        let row = self.frame_row(frame)?.ok_or_else(|| self.no_frame(frame))?;
        let kept = self.last.take().filter(|last| {
            last.key_frame == row.key_frame && last.frame <= frame && row.key_frame <= last.frame
        });
        let mut decoded = match kept {
            Some(last) => last,
            None => {
                let bodies = self.moving(row.key_frame);
                let states = vec![BodyState::ZERO; bodies.len()];
                let key_frame = row.key_frame;
                let mut decoded = Decoded {
                    frame: key_frame,
                    key_frame,
                    bodies,
                    states,
                };
                if key_frame == frame {
                    self.decode(&row, &mut decoded)?;
                } else {
                    let key = self.frame_row(key_frame)?;
                    let key = key.ok_or_else(|| self.no_frame(key_frame))?;
                    self.decode(&key, &mut decoded)?;
                }
                decoded
            }
        };
        while decoded.frame + 1 < frame {
            let next = decoded.frame + 1;
            let between = self.frame_row(next)?.ok_or_else(|| self.no_frame(next))?;
            self.decode(&between, &mut decoded)?;
        }
        if decoded.frame < frame {
            self.decode(&row, &mut decoded)?;
        }
        let states = decoded.bodies.iter().copied();
        let places = decoded.bodies.iter().enumerate();
        let asleep = places.filter(|(i, _)| state::bit(&row.asleep, *i));
        let out = Frame {
            frame,
            time: row.time,
            dt: row.dt,
            asleep: asleep.map(|(_, body)| *body).collect(),
            states: states.zip(decoded.states.iter().copied()).collect(),
            hash: row.hash,
        };
        self.last.replace(Some(decoded));
        Ok(out)
    }

    /// Brings the states from the frame before to that of `row`.
    fn decode(&self, row: &FrameRow, decoded: &mut Decoded) -> Result<(), RecordError> {
        if row.moving != decoded.bodies.len() || row.key_frame != decoded.key_frame {
            let what = format!(
                "the states of frame {} are those of other bodies",
                row.frame
            );
            return Err(self.recording.damaged(what));
        }
        state::unpack(&row.state, &mut decoded.states)
            .map_err(|Torn| self.torn("states", row.frame))?;
        decoded.frame = row.frame;
        Ok(())
    }

    /// Indices of the bodies of a frame that move, in id order.
    fn moving(&self, frame: u64) -> Vec<usize> {
        let bodies = self.bodies.iter();
        let mut moving: Vec<_> = bodies.filter(|b| b.moves() && b.is_in(frame)).collect();
        moving.sort_by_key(|b| b.id);
        moving.into_iter().map(|b| b.body).collect()
    }

    fn frame_row(&self, frame: u64) -> Result<Option<FrameRow>, RecordError> {
        let recording = self.recording;
        let mut statement = recording.sql(
            recording
                .connection
                .prepare_cached("SELECT * FROM frames WHERE run = ? AND frame = ?"),
        )?;
        let row = statement.query_row(params![self.info.run, frame as i64], |row| {
            let lane = |name: &str| Ok(row.get::<_, Option<i64>>(name)?.map(|x| x as u64));
            let lane: &dyn Fn(&str) -> rusqlite::Result<Option<u64>> = &lane;
            let lanes = (
                lane("hash_poses")?,
                lane("hash_contacts")?,
                lane("hash_cache")?,
            );
            Ok(FrameRow {
                frame,
                time: row.get("time")?,
                dt: row.get("dt")?,
                key_frame: row.get::<_, i64>("key_frame")? as u64,
                moving: row.get::<_, i64>("moving")? as usize,
                state: row.get("state")?,
                asleep: row.get::<_, Option<_>>("asleep")?.unwrap_or_default(),
                hash: match lanes {
                    (Some(poses), Some(contacts), Some(cache)) => Some(StateHash {
                        poses,
                        contacts,
                        cache,
                    }),
                    _ => None,
                },
            })
        });
        recording.sql(row.optional())
    }

    /// All frames with their times, s.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn times(&self) -> Result<Vec<(u64, f64)>, RecordError> {
        self.rows(
            "SELECT frame, time FROM frames WHERE run = ? ORDER BY frame",
            |row| Ok((row.get::<_, i64>(0)? as u64, row.get(1)?)),
        )
    }

    /// The contacts of a frame, in id order; none where they were not kept (see
    /// [`RunInfo::contacts_every`]).
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn contacts(&self, frame: u64) -> Result<Vec<ContactRecord>, RecordError> {
        let recording = self.recording;
        let mut statement = recording.sql(recording.connection.prepare_cached(
            "SELECT first_ordinal, data FROM contact_chunks WHERE run = ? AND frame = ? \
             ORDER BY chunk",
        ))?;
        let mut rows = recording.sql(statement.query(params![self.info.run, frame as i64]))?;
        let mut contacts = Vec::new();
        while let Some(row) = recording.sql(rows.next())? {
            self.chunk(frame, row, |contact| contacts.push(contact))?;
        }
        Ok(contacts)
    }

    /// The contacts of a row with `first_ordinal` and `data`.
    pub(crate) fn chunk(
        &self,
        frame: u64,
        row: &Row<'_>,
        mut each: impl FnMut(ContactRecord),
    ) -> Result<(), RecordError> {
        let first = self.recording.sql(row.get::<_, i64>("first_ordinal"))? as usize;
        let data = self.recording.sql(row.get_ref("data"))?;
        let data = data.as_blob().unwrap_or_default();
        let contacts = contact::unpack(data).map_err(|Torn| self.torn("contacts", frame))?;
        for (i, contact) in contacts.into_iter().enumerate() {
            each(ContactRecord {
                frame,
                ordinal: first + i,
                contact,
            });
        }
        Ok(())
    }

    /// The islands of a frame in the order of their first body, and how each was solved; none in the first
    /// frame, and in files of schema version 2 or less.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn islands(&self, frame: u64) -> Result<Vec<IslandRecord>, RecordError> {
        let recording = self.recording;
        let mut statement = recording.sql(
            recording
                .connection
                .prepare_cached("SELECT data FROM island_reports WHERE run = ? AND frame = ?"),
        )?;
        let read = |row: &Row<'_>| row.get::<_, Vec<u8>>(0);
        let row = statement.query_row(params![self.info.run, frame as i64], read);
        match recording.sql(row.optional())? {
            Some(data) => island::unpack(&data, frame).map_err(|Torn| self.torn("islands", frame)),
            None => Ok(Vec::new()),
        }
    }

    /// What each step did, in order; the first frame has none.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn reports(&self) -> Result<Vec<FrameReport>, RecordError> {
        let mut reports = self.rows(
            "SELECT * FROM reports WHERE run = ? ORDER BY frame",
            FrameReport::from_row,
        )?;
        let shares = self.rows(
            "SELECT * FROM solver_reports WHERE run = ? ORDER BY frame",
            ShareReport::from_row,
        )?;
        let mut reports_left = reports.iter_mut().peekable();
        for (frame, share) in shares {
            while reports_left.next_if(|r| r.frame < frame).is_some() {}
            if let Some(report) = reports_left.peek_mut()
                && report.frame == frame
            {
                report.solvers.push(share);
            }
        }
        Ok(reports)
    }

    /// What the run came to, by the names of [`moreau_scene::Figures`]; empty where it was not finished.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn figures(&self) -> Result<serde_json::Map<String, serde_json::Value>, RecordError> {
        use rusqlite::types::ValueRef;
        use serde_json::Value;
        let figures = self.rows("SELECT * FROM figures WHERE run = ?", |row| {
            let value = match row.get_ref("value")? {
                ValueRef::Integer(x) => Value::from(x),
                ValueRef::Real(x) => Value::from(x),
                ValueRef::Text(x) => Value::from(String::from_utf8_lossy(x)),
                ValueRef::Null | ValueRef::Blob(_) => Value::Null,
            };
            Ok((row.get::<_, String>("name")?, value))
        })?;
        Ok(figures.into_iter().collect())
    }

    /// How the scene's gates came out, in the order of its `expect`; none where the run has not ended, in
    /// files of schema version 3 or less, and where there is no scene.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn gates(&self) -> Result<Vec<GateResult>, RecordError> {
        self.rows("SELECT * FROM gates WHERE run = ? ORDER BY gate", |row| {
            let word = |name: &str| Ok(format!("\"{}\"", row.get::<_, String>(name)?));
            let word: &dyn Fn(&str) -> rusqlite::Result<String> = &word;
            Ok(GateResult {
                gate: row.get::<_, i64>("gate")? as usize,
                quantity: from_json(&word("quantity")?)?,
                body: row.get("body")?,
                step: row.get::<_, i64>("step")? as u64,
                found: row.get("found")?,
                at_least: row.get("at_least")?,
                at_most: row.get("at_most")?,
                verdict: from_json(&word("verdict")?)?,
                reason: row.get("reason")?,
            })
        })
    }

    fn no_frame(&self, frame: u64) -> RecordError {
        RecordError::NoFrame {
            file: self.recording.file.clone(),
            run: self.info.run,
            frame,
            first: self.info.first_frame,
            last: self.info.last_frame,
        }
    }

    fn torn(&self, what: &str, frame: u64) -> RecordError {
        let what = format!("the {what} of frame {frame} cannot be unpacked");
        self.recording.damaged(what)
    }
}

fn body(row: &Row<'_>) -> rusqlite::Result<BodyRecord> {
    let mut body: BodyRecord = from_json(&row.get::<_, String>("data")?)?;
    let count = |name: &str| row.get::<_, i64>(name).map(|x| x as u64);
    body.body = count("body")? as usize;
    body.first_frame = count("first_frame")?;
    body.last_frame = row.get::<_, Option<i64>>("last_frame")?.map(|x| x as u64);
    body.name = row.get("name")?;
    body.shape = count("shape")? as usize;
    Ok(body)
}

fn joint(row: &Row<'_>) -> rusqlite::Result<JointRecord> {
    let (id, joint) = from_json(&row.get::<_, String>("data")?)?;
    Ok(JointRecord {
        first_frame: row.get::<_, i64>("first_frame")? as u64,
        last_frame: row.get::<_, Option<i64>>("last_frame")?.map(|x| x as u64),
        id,
        joint,
    })
}
