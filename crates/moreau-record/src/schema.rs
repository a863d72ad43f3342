//! The tables of a recording, and how an older file is brought up to date.
//!
//! `docs/recording.md` describes them for who reads them with other programs.

use crate::RecordError;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::path::Path;
use std::time::Duration;

/// "mrec" in SQLite's header: what the file is.
pub(crate) const APPLICATION_ID: i64 = 0x6d72_6563;

/// One step from each version to the next; the first makes version 1 of an empty file. A published
/// one never changes: a change of the tables is a step more.
pub(crate) const MIGRATIONS: &[&str] = &[
    TABLES,
    SLEEP_AND_NAMES,
    ISLANDS,
    ONE_INDEX_AND_GATES,
    COUNTERS,
];

/// Version 1.
const TABLES: &str = "
CREATE TABLE runs (
    run INTEGER PRIMARY KEY,
    started TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    scene TEXT NOT NULL,
    scene_json TEXT,
    solver TEXT NOT NULL,
    settings TEXT NOT NULL,
    threads INTEGER NOT NULL,
    steps INTEGER NOT NULL,
    dt REAL NOT NULL,
    build TEXT NOT NULL,
    machine TEXT NOT NULL,
    contacts_every INTEGER NOT NULL,
    start BLOB NOT NULL,
    ended TEXT
) STRICT;
CREATE TABLE shapes (
    run INTEGER NOT NULL, shape INTEGER NOT NULL, kind TEXT NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (run, shape)
) STRICT;
CREATE TABLE bodies (
    run INTEGER NOT NULL, body INTEGER NOT NULL,
    first_frame INTEGER NOT NULL, last_frame INTEGER,
    slot INTEGER NOT NULL, generation INTEGER NOT NULL,
    name TEXT NOT NULL, kind TEXT NOT NULL, shape INTEGER NOT NULL,
    mass REAL NOT NULL, friction REAL NOT NULL, restitution REAL NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (run, body)
) STRICT, WITHOUT ROWID;
CREATE TABLE joints (
    run INTEGER NOT NULL, joint INTEGER NOT NULL,
    first_frame INTEGER NOT NULL, last_frame INTEGER,
    data TEXT NOT NULL,
    PRIMARY KEY (run, joint)
) STRICT, WITHOUT ROWID;
CREATE TABLE frames (
    run INTEGER NOT NULL, frame INTEGER NOT NULL,
    time REAL NOT NULL, dt REAL NOT NULL,
    key_frame INTEGER NOT NULL, moving INTEGER NOT NULL, state BLOB NOT NULL,
    hash_poses INTEGER, hash_contacts INTEGER, hash_cache INTEGER,
    PRIMARY KEY (run, frame)
) STRICT;
CREATE TABLE contact_chunks (
    run INTEGER NOT NULL, frame INTEGER NOT NULL, chunk INTEGER NOT NULL,
    first_ordinal INTEGER NOT NULL, points INTEGER NOT NULL,
    first_pair INTEGER NOT NULL, last_pair INTEGER NOT NULL,
    max_normal_impulse REAL NOT NULL, max_penetration REAL NOT NULL,
    max_approach_speed REAL NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (run, frame, chunk)
) STRICT;
CREATE INDEX chunks_by_impulse ON contact_chunks (run, max_normal_impulse);
CREATE INDEX chunks_by_penetration ON contact_chunks (run, max_penetration);
CREATE INDEX chunks_by_pair ON contact_chunks (run, frame, last_pair, first_pair);
CREATE TABLE touches (
    run INTEGER NOT NULL, pair INTEGER NOT NULL, first_frame INTEGER NOT NULL, last_frame INTEGER,
    a INTEGER NOT NULL, b INTEGER NOT NULL,
    PRIMARY KEY (run, pair, first_frame)
) STRICT, WITHOUT ROWID;
CREATE INDEX touches_by_a ON touches (run, a);
CREATE INDEX touches_by_b ON touches (run, b);
CREATE TABLE reports (
    run INTEGER NOT NULL, frame INTEGER NOT NULL,
    bodies INTEGER NOT NULL, pairs INTEGER NOT NULL, manifolds INTEGER NOT NULL,
    recycled INTEGER NOT NULL, contact_points INTEGER NOT NULL, seam_points INTEGER NOT NULL,
    stopped_bodies INTEGER NOT NULL, joints INTEGER NOT NULL,
    islands INTEGER NOT NULL, largest_island INTEGER NOT NULL, warm_started INTEGER NOT NULL,
    sweeps INTEGER NOT NULL, total_sweeps INTEGER NOT NULL, factorizations INTEGER NOT NULL,
    residual REAL, worst_contact INTEGER, uncertified_islands INTEGER NOT NULL,
    guarded_islands INTEGER NOT NULL, max_penetration REAL,
    kinetic_energy REAL, potential_energy REAL,
    time_broad_phase REAL, time_narrow_phase REAL, time_islands REAL,
    time_assembly REAL, time_solve REAL, time_correction REAL,
    time_integration REAL, time_continuous REAL, time_commit REAL, time_total REAL,
    PRIMARY KEY (run, frame)
) STRICT, WITHOUT ROWID;
CREATE TABLE solver_reports (
    run INTEGER NOT NULL, frame INTEGER NOT NULL, solver TEXT NOT NULL,
    islands INTEGER NOT NULL, uncertified_islands INTEGER NOT NULL,
    contact_points INTEGER NOT NULL, sweeps INTEGER NOT NULL, factorizations INTEGER NOT NULL,
    residual REAL,
    PRIMARY KEY (run, frame, solver)
) STRICT, WITHOUT ROWID;
CREATE TABLE figures (
    run INTEGER NOT NULL, name TEXT NOT NULL, value ANY,
    PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;
";

/// Version 2: which bodies sleep, and `touches` with what people call the bodies.
const SLEEP_AND_NAMES: &str = "
ALTER TABLE reports ADD COLUMN sleeping_bodies INTEGER NOT NULL DEFAULT 0;
ALTER TABLE frames ADD COLUMN asleep BLOB;
CREATE VIEW named_touches AS
    SELECT t.run, t.first_frame, t.last_frame, t.a, a.name AS name_a, t.b, b.name AS name_b
    FROM touches t
    JOIN bodies a ON a.run = t.run AND a.body = t.a
    JOIN bodies b ON b.run = t.run AND b.body = t.b;
";

/// Version 3: how each island was solved.
const ISLANDS: &str = "
CREATE TABLE island_reports (
    run INTEGER NOT NULL, frame INTEGER NOT NULL,
    islands INTEGER NOT NULL, uncertified_islands INTEGER NOT NULL,
    largest_island INTEGER NOT NULL, max_residual REAL,
    data BLOB NOT NULL,
    PRIMARY KEY (run, frame)
) STRICT;
";

/// Version 4: one index of chunks, in the order in which they are written, in place of one by frame and
/// two that changed a page almost every chunk; none of touches by their first body, which their key tells;
/// how the scene's gates came out.
const ONE_INDEX_AND_GATES: &str = "
CREATE TABLE gates (
    run INTEGER NOT NULL, gate INTEGER NOT NULL,
    quantity TEXT NOT NULL, body TEXT, step INTEGER NOT NULL,
    found REAL, at_least REAL, at_most REAL,
    verdict TEXT NOT NULL, reason TEXT NOT NULL,
    PRIMARY KEY (run, gate)
) STRICT, WITHOUT ROWID;
DROP INDEX touches_by_a;
DROP INDEX chunks_by_impulse;
DROP INDEX chunks_by_penetration;
DROP INDEX chunks_by_pair;
CREATE INDEX chunks ON contact_chunks
    (run, frame, last_pair, first_pair, max_normal_impulse, max_penetration, max_approach_speed);
";

/// Version 5: all counters of a step; of runs that were recorded before they are NULL.
const COUNTERS: &str = "
ALTER TABLE reports ADD COLUMN awake_bodies INTEGER;
ALTER TABLE reports ADD COLUMN sleeping_islands INTEGER;
ALTER TABLE reports ADD COLUMN woken_islands INTEGER;
ALTER TABLE reports ADD COLUMN ordered_impacts INTEGER;
ALTER TABLE reports ADD COLUMN ordered_work INTEGER;
ALTER TABLE reports ADD COLUMN hurried_groups INTEGER;
";

/// The version that this build writes.
pub(crate) const VERSION: i64 = MIGRATIONS.len() as i64;

/// Bytes of a page of a new file.
pub(crate) const PAGE_BYTES: u64 = 8192;

/// Bytes of a file whose tables are empty.
pub(crate) fn empty_bytes() -> rusqlite::Result<u64> {
    let mut connection = Connection::open_in_memory()?;
    connection.pragma_update(None, "page_size", PAGE_BYTES as i64)?;
    migrate(&mut connection, 0)?;
    bytes(&connection)
}

/// Bytes of a file, without its journal.
pub(crate) fn bytes(connection: &Connection) -> rusqlite::Result<u64> {
    let ask = |sql| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    Ok(ask("PRAGMA page_count")?.unsigned_abs() * ask("PRAGMA page_size")?.unsigned_abs())
}

/// Opens a file to write to it; makes it where there is none, and brings an older one up to date.
pub(crate) fn open_to_write(file: &Path, wait: Duration) -> Result<Connection, RecordError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let failed = |error: rusqlite::Error| RecordError::from_sqlite(file, &error);
    let mut connection = Connection::open_with_flags(file, flags).map_err(failed)?;
    connection.busy_timeout(wait).map_err(failed)?;
    match look(&connection, file)? {
        Found::Recording(version) if version == VERSION => {}
        Found::Recording(version) => migrate(&mut connection, version).map_err(failed)?,
        Found::Empty => {
            connection
                .pragma_update(None, "page_size", PAGE_BYTES as i64)
                .map_err(failed)?;
            // The mark comes with the tables, in one transaction.
            migrate(&mut connection, 0).map_err(failed)?;
        }
    }
    Ok(connection)
}

/// Opens a file to read it. One that cannot be written is read as it lies there.
pub(crate) fn open_to_read(file: &Path) -> Result<Connection, RecordError> {
    let failed = |error: rusqlite::Error| RecordError::from_sqlite(file, &error);
    if let Err(error) = std::fs::metadata(file) {
        return Err(RecordError::Open {
            file: file.into(),
            reason: error.to_string(),
        });
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = |flags| -> Result<(Connection, Found), RecordError> {
        let connection = Connection::open_with_flags(file, flags).map_err(failed)?;
        connection
            .busy_timeout(Duration::from_secs(2))
            .map_err(failed)?;
        let found = look(&connection, file)?;
        Ok((connection, found))
    };
    let opened = match open(flags) {
        Err(RecordError::ReadOnly { .. } | RecordError::Open { .. }) => {
            open(OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        }
        opened => opened,
    };
    let (mut connection, found) = opened?;
    match found {
        Found::Empty => {
            return Err(RecordError::Damaged {
                file: file.into(),
                what: "it is empty".into(),
            });
        }
        Found::Recording(version) if version == VERSION => {}
        Found::Recording(version) => match migrate(&mut connection, version) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ReadOnly) => {
                return Err(RecordError::Older {
                    file: file.into(),
                    found: version,
                });
            }
            done => done.map_err(failed)?,
        },
    }
    Ok(connection)
}

/// Removes a file that was made for a run which could not be begun, unless somebody else put one into it.
pub(crate) fn remove_unused(file: &Path) {
    let is_empty = std::fs::metadata(file).is_ok_and(|data| data.len() == 0);
    let has_no_run = || {
        let count = |connection: Connection| {
            let sql = "SELECT count(*) FROM runs";
            connection.query_row(sql, [], |row| row.get::<_, i64>(0))
        };
        open_to_read(file).is_ok_and(|connection| count(connection).is_ok_and(|runs| runs == 0))
    };
    if is_empty || has_no_run() {
        for rest in ["", "-wal", "-shm", "-journal"] {
            let mut name = file.as_os_str().to_owned();
            name.push(rest);
            // What cannot be removed is empty.
            let _ = std::fs::remove_file(name);
        }
    }
}

enum Found {
    /// No tables at all.
    Empty,
    /// A recording of this version, known to this build.
    Recording(i64),
}

fn look(connection: &Connection, file: &Path) -> Result<Found, RecordError> {
    let failed = |error: rusqlite::Error| RecordError::from_sqlite(file, &error);
    let ask = |sql| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let tables = ask("SELECT count(*) FROM sqlite_schema").map_err(failed)?;
    let id = ask("PRAGMA application_id").map_err(failed)?;
    let version = ask("PRAGMA user_version").map_err(failed)?;
    let file = file.to_path_buf();
    match (id, tables) {
        (0, 0) if version == 0 => Ok(Found::Empty),
        (APPLICATION_ID, _) if version > VERSION => Err(RecordError::Newer {
            file,
            found: version,
            known: VERSION,
        }),
        (APPLICATION_ID, 1..) if version >= 1 => Ok(Found::Recording(version)),
        _ => Err(RecordError::Foreign { file }),
    }
}

/// Brings the tables from `version` to [`VERSION`], or leaves them as they are.
fn migrate(connection: &mut Connection, version: i64) -> rusqlite::Result<()> {
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    // Another program may have been faster.
    let now: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let done = usize::try_from(now.max(version)).unwrap_or(MIGRATIONS.len());
    for step in MIGRATIONS.iter().skip(done) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_without_a_run_are_removed() {
        let name = format!("moreau-unused-{}.sqlite", std::process::id());
        let file = std::env::temp_dir().join(name);
        let open = || open_to_write(&file, Duration::from_secs(2)).unwrap();
        drop(open());
        remove_unused(&file);
        assert!(!file.exists());
        std::fs::write(&file, "").unwrap();
        remove_unused(&file);
        assert!(!file.exists());
        let run = "INSERT INTO runs (scene, solver, settings, threads, steps, dt, build, machine, contacts_every, \
                   start) VALUES ('', '', '', 1, 1, 1, '', '', 1, x'00')";
        assert_eq!(open().execute(run, []), Ok(1));
        remove_unused(&file);
        assert!(file.exists());
        std::fs::remove_file(&file).unwrap();
    }
}
