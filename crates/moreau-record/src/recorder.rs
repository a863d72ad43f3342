use crate::link::Link;
use crate::taken::{Taken, Wanted, Watch};
use crate::writer::{End, Start, Writer};
use crate::{RecordError, schema};
use moreau_pipeline::{BodyId, StepReport, World};
use moreau_scene::Run;
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
    /// none. Of these, some are kept for how the run ends: 64 kB, the state at the start, and thrice the scene.
    /// Smaller than what a file takes before its first frame (about 300 kB) is refused.
    pub max_bytes: Option<u64>,
    /// The journal beside the file goes into the file when it has about this many bytes. Default 8 MB.
    /// Smaller waits for the disk more often, larger for longer.
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
            journal_bytes: 1 << 23,
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
/// A thread of its own writes a frame while the world makes the next step; no more than one waits for it.
/// The recorder only reads the world. An error ends the recording and nothing else: the frames before are
/// kept.
#[derive(Debug)]
pub struct Recorder {
    file: PathBuf,
    run: i64,
    settings: RecorderSettings,
    first_frame: u64,
    /// The frame that comes next.
    next_frame: u64,
    watch: Watch,
    link: Link,
    failed: Option<RecordError>,
}

impl Recorder {
    /// Adds a run to `file`, which is made where it is not there, and records the state of `world` as
    /// its first frame. When this returns, that is in the file.
    ///
    /// # Errors
    /// Where the file cannot be written, is locked, is no recording, or has no room; where
    /// [`RecorderSettings::max_bytes`] is too small; where no thread can be started. A file that was not there
    /// is not left then.
    pub fn create(
        file: impl AsRef<Path>,
        world: &World,
        about: &RunDescription,
        settings: RecorderSettings,
    ) -> Result<Self, RecordError> {
        let file = file.as_ref();
        let start = Start::of(world, about);
        if std::fs::metadata(file).map_or(0, |data| data.len()) == 0 {
            // Before it is made.
            start.room.in_new(file, &settings)?;
        }
        let is_new = !file.exists();
        Self::begin(file, world, &start, settings).inspect_err(|_| {
            if is_new {
                schema::remove_unused(file);
            }
        })
    }

    fn begin(
        file: &Path,
        world: &World,
        start: &Start<'_>,
        settings: RecorderSettings,
    ) -> Result<Self, RecordError> {
        let connection = schema::open_to_write(file, settings.wait)?;
        start.room.in_old(&connection, file, &settings)?;
        let mut watch = Watch::new(&start.about.names);
        let mut taken = Box::<Taken>::default();
        let wanted = Wanted {
            contacts: true,
            hash: true,
        };
        watch.take(world, None, wanted, &mut taken);
        let writer = Writer::start(connection, &settings, start, &mut taken)
            .map_err(|error| RecordError::from_sqlite(file, &error))?;
        Ok(Self {
            file: file.into(),
            run: writer.run(),
            settings,
            first_frame: world.steps(),
            next_frame: world.steps() + 1,
            watch,
            link: Link::start(file, writer, taken)?,
            failed: None,
        })
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The number of its run in the file.
    pub fn run(&self) -> i64 {
        self.run
    }

    /// How many frames it was given and has not failed to write, the first state included.
    pub fn frames(&self) -> u64 {
        self.next_frame - self.first_frame
    }

    /// Records the step that `world` has just made. When this returns, the frame before is in the file,
    /// and this one is on its way there; [`Self::flush`] waits for it.
    ///
    /// # Errors
    /// Where the frame before could not be written, or this one is not the next. The recording ends with
    /// the last one that was written; every later call says so again.
    pub fn record(&mut self, world: &World, report: &StepReport) -> Result<(), RecordError> {
        let mut taken = self.settle()?;
        let (frame, expected) = (world.steps(), self.next_frame);
        if frame != expected {
            let error = RecordError::Order { frame, expected };
            self.failed = Some(error.clone());
            return Err(error);
        }
        let every = |n: u64| frame.is_multiple_of(n.max(1));
        let wanted = Wanted {
            contacts: every(self.settings.contacts_every),
            hash: every(self.settings.hash_every),
        };
        self.watch.take(world, Some(report), wanted, &mut taken);
        self.next_frame += 1;
        self.link.give(taken);
        Ok(())
    }

    /// Waits until all frames that it was given are in the file.
    ///
    /// # Errors
    /// Where one could not be written. The recording ends with the frame before; every later call says
    /// so again.
    pub fn flush(&mut self) -> Result<(), RecordError> {
        let taken = self.settle()?;
        self.link.keep(taken);
        Ok(())
    }

    /// Waits for the frame on its way; what comes back is empty, for the next one.
    fn settle(&mut self) -> Result<Box<Taken>, RecordError> {
        if let Some(error) = &self.failed {
            return Err(RecordError::Ended(Box::new(error.clone())));
        }
        let settled = self.link.settle();
        if let Err(error) = &settled {
            self.next_frame -= 1;
            self.failed = Some(error.clone());
        }
        settled
    }

    /// Ends the recording, with the figures and gates of the scene's `run` where it is one, and leaves one
    /// file without a journal beside it.
    ///
    /// # Errors
    /// Where that, or the last frame, cannot be written. The frames before are kept all the same.
    pub fn finish(mut self, ending: Ending, run: Option<&Run>) -> Result<(), RecordError> {
        // Of a recording that has failed the caller knows; its end is noted all the same.
        let settled = match self.failed {
            Some(_) => Ok(()),
            None => self.flush(),
        };
        let ended = self.link.end(End {
            ending,
            figures: run.map(Run::figures),
            gates: run.map(Run::gates).unwrap_or_default(),
        });
        settled.and(ended)
    }
}
