//! How large a file may become, and what of that is kept for how its run ends.
//!
//! ```text
//! max_bytes >= what is there + the run's row + notes
//! notes      = the run's row again + the gates' texts + figures
//! ```
//!
//! SQLite writes a row anew, with all that is long in it, before it lets go of the old one; how the run ended
//! is noted in the row that holds the scene and the state at the start.

use crate::schema::{self, PAGE_BYTES};
use crate::{RecordError, RecorderSettings, RunDescription};
use rusqlite::Connection;
use std::path::Path;

/// Pages of the tables of figures and gates, and of those that a note splits.
const NOTE_PAGES: u64 = 8;

/// What the run's row takes, and what the notes of its end do, bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    row: u64,
    pub(crate) notes: u64,
}

impl Room {
    /// For a run with this state at its start and these settings of its world.
    pub(crate) fn new(start: &[u8], settings: &str, about: &RunDescription) -> Self {
        let scene = about.scene_json.as_deref().unwrap_or_default().len();
        let texts = [&about.scene, &about.build, &about.machine].map(|text| text.len());
        let row = start.len() + scene + settings.len() + texts.iter().sum::<usize>();
        let row = pages(row as u64);
        // A gate's words are those of the scene.
        let notes = row + pages(2 * scene as u64) + NOTE_PAGES * PAGE_BYTES;
        Self { row, notes }
    }

    /// Refuses a limit within which nothing could be recorded in a new file.
    pub(crate) fn in_new(
        self,
        file: &Path,
        settings: &RecorderSettings,
    ) -> Result<(), RecordError> {
        let failed = |error: rusqlite::Error| RecordError::from_sqlite(file, &error);
        self.beside(schema::empty_bytes().map_err(failed)?, file, settings)
    }

    /// The same for a file that is there.
    pub(crate) fn in_old(
        self,
        connection: &Connection,
        file: &Path,
        settings: &RecorderSettings,
    ) -> Result<(), RecordError> {
        let failed = |error: rusqlite::Error| RecordError::from_sqlite(file, &error);
        self.beside(schema::bytes(connection).map_err(failed)?, file, settings)
    }

    fn beside(
        self,
        there: u64,
        file: &Path,
        settings: &RecorderSettings,
    ) -> Result<(), RecordError> {
        let least = there + self.row + self.notes;
        match settings.max_bytes {
            Some(value) if value < least => Err(RecordError::TooSmall {
                file: file.into(),
                field: "max_bytes",
                value,
                least,
            }),
            _ => Ok(()),
        }
    }
}

/// So many bytes in a chain of pages, each of which names the next.
fn pages(bytes: u64) -> u64 {
    (bytes / (PAGE_BYTES - 4) + 1) * PAGE_BYTES
}
