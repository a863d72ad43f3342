use crate::memory::{FrameWriter, Memory};
use crate::{FrameReport, RecordError, schema};
use moreau_pipeline::{BodyId, Contact, StepReport, World};
use moreau_scene::{Figures, Run};
use rusqlite::{Connection, TransactionBehavior, params};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How to record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecorderSettings {
    /// Contacts are kept of every how many frames, 1 or more. Default 1: all. They take most of the
    /// room; bigger leaves out contacts, never poses.
    pub contacts_every: u64,
    /// The hashes of the world's state are kept of every how many frames, 1 or more. Default 16.
    /// Smaller costs time.
    pub hash_every: u64,
    /// The file grows up to this many bytes, then recording ends with [`RecordError::Full`]. Default
    /// none.
    pub max_bytes: Option<u64>,
    /// The journal beside the file goes into the file when it has this many bytes. Default 32 MB. Smaller
    /// waits for the disk more often.
    pub journal_bytes: u64,
    /// How long to wait for a file that another program holds locked. Default 2 s.
    pub wait: Duration,
}

impl Default for RecorderSettings {
    fn default() -> Self {
        Self {
            contacts_every: 1,
            hash_every: 16,
            max_bytes: None,
            journal_bytes: 1 << 25,
            wait: Duration::from_secs(2),
        }
    }
}

/// What a recording says of a run besides what the world knows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunDescription {
    /// Name of the scene.
    pub scene: String,
    /// The scene as JSON, from which the run can be made again.
    pub scene_json: Option<String>,
    /// Names of the bodies.
    pub names: Vec<(BodyId, String)>,
    /// How many steps the run is to have; 0 where that is open.
    pub steps: u64,
    /// Length of a step, s; 0 where it varies.
    pub dt: f64,
    /// Threads that it steps on.
    pub threads: usize,
    /// Version, commit and features of the program; empty where unknown.
    pub build: String,
    /// What it runs on; empty where unknown.
    pub machine: String,
}

impl RunDescription {
    /// That of a scene's run before its first step.
    pub fn of(run: &Run) -> Self {
        let built = run.built();
        let named = built.bodies.iter().zip(&built.names);
        let names = named.filter_map(|(id, name)| Some((*id, name.clone()?)));
        Self {
            scene: run.scene().name.clone(),
            scene_json: Some(run.scene().to_json()),
            names: names.collect(),
            steps: run.steps(),
            dt: run.dt(),
            threads: run.figures().threads,
            build: format!("moreau {}", env!("CARGO_PKG_VERSION")),
            machine: format!("{} {}", std::env::consts::ARCH, std::env::consts::OS),
        }
    }
}

/// How a run came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All steps were made.
    Finished,
    /// Someone stopped it.
    Interrupted,
    /// A step failed.
    Failed,
}

impl Ending {
    const ALL: [Self; 3] = [Self::Finished, Self::Interrupted, Self::Failed];

    /// The word in the file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|e| e.name() == name)
    }
}

/// Takes a world after each step, and writes what it sees: a transaction a frame, so that whatever ends
/// the program loses the frame in flight at most.
///
/// It only reads the world. An error ends the recording and nothing else: the frames before are kept.
#[derive(Debug)]
pub struct Recorder {
    file: PathBuf,
    connection: Connection,
    run: i64,
    settings: RecorderSettings,
    first_frame: u64,
    next_frame: u64,
    memory: Memory,
    failed: Option<RecordError>,
}

impl Recorder {
    /// Adds a run to `file`, which is made where it is not there, and records the state of `world` as
    /// its first frame.
    ///
    /// # Errors
    /// Where the file cannot be written, is locked, is no recording, or has no room.
    pub fn create(
        file: impl AsRef<Path>,
        world: &World,
        about: &RunDescription,
        settings: RecorderSettings,
    ) -> Result<Self, RecordError> {
        let file = file.as_ref();
        let connection = schema::open_to_write(file, settings.wait)?;
        let failed = |error: rusqlite::Error| RecordError::from_sqlite(file, &error);
        prepare(&connection, &settings).map_err(failed)?;
        let mut recorder = Self {
            file: file.into(),
            connection,
            run: 0,
            settings,
            first_frame: world.steps(),
            next_frame: world.steps(),
            memory: Memory::new(&about.names),
            failed: None,
        };
        recorder.write_start(world, about).map_err(failed)?;
        Ok(recorder)
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The number of its run in the file.
    pub fn run(&self) -> i64 {
        self.run
    }

    /// How many frames were kept, the first state included.
    pub fn frames(&self) -> u64 {
        self.next_frame - self.first_frame
    }

    /// Records the step that `world` has just made. When this returns, the frame is in the file.
    ///
    /// # Errors
    /// Where the frame cannot be written, or is not the next one. The recording ends with the frame
    /// before; every later call says so again.
    pub fn record(&mut self, world: &World, report: &StepReport) -> Result<(), RecordError> {
        if let Some(error) = &self.failed {
            return Err(RecordError::Ended(Box::new(error.clone())));
        }
        let (frame, expected) = (world.steps(), self.next_frame);
        let written = if frame == expected {
            self.write(world, report)
                .map_err(|error| RecordError::from_sqlite(&self.file, &error))
        } else {
            Err(RecordError::Order { frame, expected })
        };
        if let Err(error) = &written {
            self.failed = Some(error.clone());
        }
        written
    }

    /// Ends the run, with its figures where there are any, and leaves one file without a journal
    /// beside it.
    ///
    /// # Errors
    /// Where it cannot be written. The frames are kept all the same.
    pub fn finish(mut self, ending: Ending, figures: Option<&Figures>) -> Result<(), RecordError> {
        let written = self.write_end(ending, figures);
        written.map_err(|error| RecordError::from_sqlite(&self.file, &error))
    }

    /// The run, and its first frame.
    fn write_start(&mut self, world: &World, about: &RunDescription) -> rusqlite::Result<()> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let settings = serde_json::to_string(world.settings()).unwrap_or_default();
        transaction.execute(
            "INSERT INTO runs (scene, scene_json, solver, settings, threads, steps, dt, build, \
             machine, contacts_every, start) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                about.scene,
                about.scene_json,
                world.solver_name(),
                settings,
                about.threads as i64,
                about.steps as i64,
                about.dt,
                about.build,
                about.machine,
                self.settings.contacts_every.max(1) as i64,
                world.snapshot(),
            ],
        )?;
        self.run = transaction.last_insert_rowid();
        let mut frame = FrameWriter {
            connection: &transaction,
            run: self.run,
            frame: world.steps(),
            world,
        };
        frame.bodies(&mut self.memory)?;
        frame.joints(&mut self.memory)?;
        frame.state(&mut self.memory, 0.0, true)?;
        frame.contacts(&mut self.memory)?;
        frame.touches(&mut self.memory)?;
        transaction.commit()?;
        self.next_frame += 1;
        Ok(())
    }

    fn write(&mut self, world: &World, report: &StepReport) -> rusqlite::Result<()> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let frame = world.steps();
        let every = |n: u64| frame.is_multiple_of(n.max(1));
        let mut writer = FrameWriter {
            connection: &transaction,
            run: self.run,
            frame,
            world,
        };
        writer.bodies(&mut self.memory)?;
        writer.joints(&mut self.memory)?;
        writer.state(&mut self.memory, report.dt, every(self.settings.hash_every))?;
        if every(self.settings.contacts_every) {
            writer.contacts(&mut self.memory)?;
        }
        writer.touches(&mut self.memory)?;
        writer.islands(&mut self.memory)?;
        let report = FrameReport {
            worst_contact: worst_contact(world, report),
            ..FrameReport::of(report)
        };
        report.insert(&transaction, self.run)?;
        transaction.commit()?;
        self.next_frame += 1;
        Ok(())
    }

    fn write_end(&mut self, ending: Ending, figures: Option<&Figures>) -> rusqlite::Result<()> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute(
            "UPDATE runs SET ended = ? WHERE run = ?",
            params![ending.name(), self.run],
        )?;
        if let Some(figures) = figures {
            write_figures(&transaction, self.run, figures)?;
        }
        transaction.commit()?;
        // Fails where somebody else reads the file; the last one to close it then tidies up.
        let _ = self
            .connection
            .pragma_update(None, "journal_mode", "DELETE");
        Ok(())
    }
}

/// The index of the worst contact among all contacts; a report has it among those of awake bodies.
fn worst_contact(world: &World, report: &StepReport) -> Option<u64> {
    let key = |c: &Contact| (c.a, c.b, c.key());
    let worst = world.awake_contacts().get(report.worst_contact?)?;
    let found = world.contacts().binary_search_by_key(&key(worst), key);
    found.ok().map(|index| index as u64)
}

/// Settings of the connection: see `docs/recording.md` for what they mean for a crash.
fn prepare(connection: &Connection, settings: &RecorderSettings) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    let page: i64 = connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    let pages = |bytes: u64| (bytes / page.max(1) as u64).clamp(1, u64::from(u32::MAX - 1)) as i64;
    connection.pragma_update(None, "wal_autocheckpoint", pages(settings.journal_bytes))?;
    if let Some(bytes) = settings.max_bytes {
        connection.pragma_update(None, "max_page_count", pages(bytes))?;
    }
    Ok(())
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
