//! Recordings of rigid-body runs: every pose, contact and report in one SQLite file.
//!
//! **Owns**: the file ([`Recorder`] writes it, [`Recording`] reads it; `docs/recording.md` describes its
//! tables), and what can be asked of it: states, contacts, islands, reports and figures of a run.
//!
//! **Must not know**: how a step is made; rendering; the command line.
//!
//! ```
//! use moreau_record::{Recorder, RecorderSettings, Recording, RunDescription};
//! use moreau_scene::{Run, RunOptions, scenes};
//!
//! # let folder = std::env::temp_dir().join(format!("moreau-record-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # let file = folder.join("tower.sqlite");
//! let mut run = Run::new(&scenes::tower(3), RunOptions { steps: Some(10), ..Default::default() })?;
//! let about = RunDescription::of(&run);
//! let mut recorder = Recorder::create(&file, run.world(), &about, RecorderSettings::default())?;
//! while !run.finished() {
//!     let report = run.step()?;
//!     recorder.record(run.world(), &report)?;
//! }
//! recorder.finish(moreau_record::Ending::Finished, Some(&run))?;
//!
//! let recording = Recording::open(&file)?;
//! let recorded = recording.last_run()?;
//! assert_eq!(recorded.last_frame(), 10);
//! let heaviest = recorded.contacts(10)?.into_iter().max_by(|a, b| {
//!     a.contact.impulse.x.total_cmp(&b.contact.impulse.x)
//! });
//! // The lowest cube stands on the ground, body 0.
//! assert_eq!(heaviest.unwrap().contact.a.index, 0);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bits;
mod body;
mod compare;
mod contact;
mod error;
mod island;
mod link;
mod metrics;
mod query;
mod reader;
mod recorder;
mod replay;
mod report;
mod room;
mod schema;
mod state;
mod taken;
mod writer;

pub use body::{BodyRecord, JointRecord};
pub use compare::{Comparison, Distance};
pub use contact::ContactRecord;
pub use error::RecordError;
pub use island::IslandRecord;
pub use metrics::{METRICS_HEADER, Metrics};
pub use query::{ContactQuery, Touch};
pub use reader::{Frame, RecordedRun, Recording, RunInfo};
pub use recorder::{Ending, Recorder, RecorderSettings, RunDescription};
pub use replay::{Difference, Replay, ReplayError};
pub use report::{FrameReport, ShareReport};
pub use state::BodyState;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
