use std::path::{Path, PathBuf};

/// Why a recording cannot be written or read. The world that is recorded is never touched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// The file or its folder cannot be opened or made.
    #[error("{file}: cannot be opened: {reason}")]
    Open {
        /// The file.
        file: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// The file may not be written.
    #[error("{file}: the file or its folder is read-only")]
    ReadOnly {
        /// The file.
        file: PathBuf,
    },
    /// Another program holds the file.
    #[error("{file}: another program holds the file locked")]
    Locked {
        /// The file.
        file: PathBuf,
    },
    /// No room is left; what was recorded before can be read.
    #[error(
        "{file}: no room is left on the disk, or within the limit given; the frames before are kept"
    )]
    Full {
        /// The file.
        file: PathBuf,
    },
    /// A limit within which not even the notes of a run fit.
    #[error("{field} is {value}; {file} takes at least {least} bytes before the first frame")]
    TooSmall {
        /// The file.
        file: PathBuf,
        /// Which setting.
        field: &'static str,
        /// Its value, bytes.
        value: u64,
        /// The least that it may be, bytes.
        least: u64,
    },
    /// The file is something else.
    #[error("{file}: is not a recording")]
    Foreign {
        /// The file.
        file: PathBuf,
    },
    /// The file was written by a later version.
    #[error("{file}: has schema version {found}; this program reads versions up to {known}")]
    Newer {
        /// The file.
        file: PathBuf,
        /// Its version.
        found: i64,
        /// The latest that this build knows.
        known: i64,
    },
    /// The file was written by an earlier version and cannot be brought up to date where it is.
    #[error(
        "{file}: has the older schema version {found} and cannot be written; copy it to where it can"
    )]
    Older {
        /// The file.
        file: PathBuf,
        /// Its version.
        found: i64,
    },
    /// The system cannot read or write the file, where it could be opened.
    #[error("{file}: cannot be {done}: {reason}")]
    Failed {
        /// The file.
        file: PathBuf,
        /// `read` or `written`.
        done: &'static str,
        /// What the system says.
        reason: String,
    },
    /// The file holds something that no recorder writes.
    #[error("{file}: is damaged: {what}")]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// There is no such run.
    #[error("{file}: there is no run {run}; its last is {count}")]
    NoRun {
        /// The file.
        file: PathBuf,
        /// The run asked for.
        run: i64,
        /// How many runs the file has.
        count: usize,
    },
    /// The run has no such frame.
    #[error("{file}: run {run} has no frame {frame}; it has {first} to {last}")]
    NoFrame {
        /// The file.
        file: PathBuf,
        /// The run.
        run: i64,
        /// The frame asked for.
        frame: u64,
        /// Its first frame.
        first: u64,
        /// Its last frame.
        last: u64,
    },
    /// A step was recorded twice, or one was left out.
    #[error("frame {frame} was given where frame {expected} is next")]
    Order {
        /// The frame given.
        frame: u64,
        /// The one that comes next.
        expected: u64,
    },
    /// The thread that writes the file cannot be started, or has died.
    #[error("{file}: the thread that writes it {what}")]
    Thread {
        /// The file.
        file: PathBuf,
        /// What happened to it.
        what: String,
    },
    /// The recorder has failed before.
    #[error("recording ended with an earlier error: {0}")]
    Ended(Box<RecordError>),
}

impl RecordError {
    /// What SQLite says about `file`, as one of ours.
    pub(crate) fn from_sqlite(file: &Path, error: &rusqlite::Error) -> Self {
        use rusqlite::{ErrorCode, ffi};
        let file = file.to_path_buf();
        let reason = error.to_string();
        let extended = error.sqlite_error().map(|error| error.extended_code);
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked { file },
            Some(ErrorCode::DiskFull) => Self::Full { file },
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { file },
            Some(ErrorCode::NotADatabase) => Self::Foreign { file },
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Self::Open { file, reason }
            }
            // A file that ends within a page is not the system's fault.
            Some(ErrorCode::SystemIoFailure) if extended != Some(ffi::SQLITE_IOERR_SHORT_READ) => {
                let done = match extended {
                    Some(ffi::SQLITE_IOERR_READ) => "read",
                    _ => "written",
                };
                Self::Failed { file, done, reason }
            }
            _ => Self::Damaged { file, what: reason },
        }
    }
}
