//! Recordings on the command line: made ([`record`]), made again ([`replay`]), watched ([`page`]), asked
//! ([`query`]), drawn ([`plot`]) and held against each other ([`compare`]).

pub(crate) mod args;
mod chart;
pub(crate) mod compare;
mod islands;
mod metrics;
pub(crate) mod page;
pub(crate) mod plot;
mod png;
pub(crate) mod query;
pub(crate) mod record;
pub(crate) mod replay;
mod table;

use crate::fault::Fault;
use args::RunOfArgs;
use moreau_record::{RecordError, RecordedRun, Recording};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The commit that this command was built from.
pub(crate) const COMMIT: &str = env!("MOREAU_COMMIT");

/// The recording that a word stands for, FILE or FILE#RUN; `None` where it must be a scene.
pub(crate) fn named(word: &str) -> Option<(PathBuf, Option<i64>)> {
    let (file, run) = place(Path::new(word));
    is_recording(&file).then_some((file, run))
}

/// FILE or FILE#RUN. A file whose name ends like that is meant itself.
fn place(word: &Path) -> (PathBuf, Option<i64>) {
    let numbered = || {
        let (file, run) = word.to_str()?.rsplit_once('#')?;
        let run = run.parse().ok()?;
        (!file.is_empty()).then(|| (file.into(), Some(run)))
    };
    let whole = (word.to_path_buf(), None);
    if word.exists() {
        return whole;
    }
    numbered().unwrap_or(whole)
}

/// The run that FILE#RUN or `--run` names, where one does.
pub(crate) fn one_run(of_file: Option<i64>, given: Option<i64>) -> Result<Option<i64>, Fault> {
    match (of_file, given) {
        (Some(a), Some(b)) if a != b => Err(Fault::input(
            format!("#{a} names one run, and --run {b} another"),
            "leave out one of them",
        )),
        (a, b) => Ok(a.or(b)),
    }
}

/// Opens a recording; the number of its run, where one is named.
fn open(of: &RunOfArgs) -> Result<(Recording, Option<i64>), Fault> {
    let (file, run) = place(&of.file);
    let run = one_run(run, of.run)?;
    let recording = Recording::open(file).map_err(|error| fault(&error))?;
    Ok((recording, run))
}

/// Whether a file says, or its name does, that it is one of SQLite's.
pub(crate) fn is_recording(file: &Path) -> bool {
    const MARK: &[u8] = b"SQLite format 3\0";
    let mut start = [0; MARK.len()];
    let read = std::fs::File::open(file).and_then(|mut file| file.read_exact(&mut start));
    let named = file.extension().is_some_and(|extension| {
        let names = ["sqlite", "sqlite3", "db"];
        names
            .iter()
            .any(|name| extension.eq_ignore_ascii_case(name))
    });
    named || (read.is_ok() && start == MARK)
}

/// The run that is meant: that of the number, or the last.
fn pick(recording: &Recording, run: Option<i64>) -> Result<RecordedRun<'_>, Fault> {
    let picked = match run {
        Some(run) => recording.run(run),
        None => recording.last_run(),
    };
    picked.map_err(|error| fault(&error))
}

/// A recording's error, with advice.
fn fault(error: &RecordError) -> Fault {
    let message = error.to_string();
    let innermost = match error {
        RecordError::Ended(inner) => inner,
        other => other,
    };
    match innermost {
        RecordError::Open { .. } => {
            Fault::input(message, "check the path, and the folder's rights")
        }
        RecordError::Foreign { .. } => Fault::input(
            message,
            "`moreau record SCENE -o FILE` makes a recording, of a FILE that is none yet or is one",
        ),
        RecordError::Newer { .. } => Fault::input(message, "use a later moreau"),
        RecordError::Older { .. } => Fault::input(message, "copy it to a folder of yours"),
        RecordError::NoRun { .. } | RecordError::NoFrame { .. } => Fault::input(
            message,
            "`moreau query FILE` lists the runs and their frames",
        ),
        RecordError::TooSmall { .. } => {
            Fault::input(message, "--max-size takes megabytes; give more of them")
        }
        RecordError::ReadOnly { .. } => Fault::run(message, "give another file with -o"),
        RecordError::Thread { .. } => Fault::run(
            message,
            "the system may allow no more threads; `ulimit -u` tells",
        ),
        RecordError::Locked { .. } => Fault::run(
            message,
            "wait until it is done, or record to another file with -o",
        ),
        RecordError::Full { .. } => Fault::run(
            message,
            "--contacts-every 10 takes about a tenth of the room; --steps makes the run shorter",
        ),
        RecordError::Failed { .. } => Fault::run(
            message,
            "frames that were recorded before are kept; the disk may be full or broken, or its files limited in size \
             (`df` and `ulimit -f` tell)",
        ),
        RecordError::Damaged { .. } => Fault::input(
            message,
            "`moreau query FILE` lists its runs where it can still be read",
        ),
        RecordError::Order { .. } | RecordError::Ended(_) => Fault::run(
            message,
            "the runs before it in the file may still be readable",
        ),
    }
}
