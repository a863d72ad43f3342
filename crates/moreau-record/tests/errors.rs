//! What can go wrong with a file is said, and harms neither the world nor the frames before.

mod common;

use common::Folder;
use moreau_record::{
    ContactQuery, Ending, RecordError, Recorder, RecorderSettings, Recording, RunDescription,
};
use moreau_scene::{Gate, Quantity, Run, RunOptions, scenes};
use rusqlite::Connection;
use std::path::Path;
use std::time::Duration;

fn run() -> Run {
    let options = RunOptions {
        steps: Some(60),
        ..RunOptions::default()
    };
    let mut scene = scenes::pyramid(6);
    let gate = Gate::at_most(Quantity::MaxPenetration, 1e-2, "little overlaps");
    scene.expect = vec![gate];
    Run::new(&scene, options).unwrap()
}

fn create(file: &Path, run: &Run, settings: RecorderSettings) -> Result<Recorder, RecordError> {
    Recorder::create(file, run.world(), &RunDescription::of(run), settings)
}

/// A finished recording of ten steps.
fn good(file: &Path) {
    let mut run = run();
    let mut recorder = create(file, &run, RecorderSettings::default()).unwrap();
    for _ in 0..10 {
        let report = run.step().unwrap();
        recorder.record(run.world(), &report).unwrap();
    }
    recorder.finish(Ending::Interrupted, None).unwrap();
}

#[test]
fn no_room_is_left() {
    let folder = Folder::new("full");
    let file = folder.file("full.sqlite");
    let (mut recorded, mut alone) = (run(), run());
    let settings = RecorderSettings {
        max_bytes: Some(500_000),
        ..RecorderSettings::default()
    };
    let mut recorder = create(&file, &recorded, settings).unwrap();
    let mut failed = None;
    while !recorded.finished() {
        let report = recorded.step().unwrap();
        let result = recorder.record(recorded.world(), &report);
        match (&failed, result) {
            (None, Ok(())) => {}
            (None, Err(error)) => {
                assert_eq!(error, RecordError::Full { file: file.clone() });
                assert!(error.to_string().contains("no room is left"));
                failed = Some(report.step);
            }
            (Some(_), result) => {
                assert!(matches!(result, Err(RecordError::Ended(_))), "{result:?}");
            }
        }
    }
    // It is said at the next frame.
    let failed = failed.expect("60 frames do not fit into 500 kB") - 1;
    assert!(failed > 5, "{failed}");
    assert_eq!(recorder.frames(), failed);
    // The run is the one that was never recorded.
    alone.run_to_end().unwrap();
    assert_eq!(recorded.world().hash(), alone.world().hash());
    drop(recorder);
    let recording = Recording::open(&file).unwrap();
    recording.check().unwrap();
    assert_eq!(recording.last_run().unwrap().last_frame(), failed - 1);
    let size = std::fs::metadata(&file).unwrap().len();
    assert!(size <= 500_000, "{size} bytes");
}

#[test]
fn a_limit_below_what_a_file_takes_is_refused() {
    let folder = Folder::new("too-small");
    let file = folder.file("small.sqlite");
    let run = run();
    let limited = |bytes: u64| RecorderSettings {
        max_bytes: Some(bytes),
        ..RecorderSettings::default()
    };
    let least_of = |error: RecordError| match error {
        RecordError::TooSmall {
            field: "max_bytes",
            value: 1,
            least,
            ..
        } => least,
        other => panic!("{other:?}"),
    };
    let least = least_of(create(&file, &run, limited(1)).unwrap_err());
    assert!((200_000..400_000).contains(&least), "{least}");
    let error = create(&file, &run, limited(least - 1)).unwrap_err();
    let words = format!("max_bytes is {}; ", least - 1);
    assert!(error.to_string().starts_with(&words), "{error}");
    assert!(!file.exists(), "a file is made");
    // What lies in the file counts.
    good(&file);
    let size = std::fs::metadata(&file).unwrap().len();
    let more = least_of(create(&file, &run, limited(1)).unwrap_err());
    assert!(more > size && more > least, "{more}");
    assert_eq!(Recording::open(&file).unwrap().runs().unwrap().len(), 1);
}

#[test]
fn a_full_file_of_any_size_tells_how_its_run_ended() {
    let folder = Folder::new("full-sizes");
    let mut frames = Vec::new();
    let limits = (0..30).map(|k| 300_000 + 13_000 * k);
    for (k, limit) in limits.enumerate() {
        let file = folder.file(&format!("{k}.sqlite"));
        let settings = RecorderSettings {
            max_bytes: Some(limit),
            ..RecorderSettings::default()
        };
        let mut run = run();
        let mut recorder = match create(&file, &run, settings) {
            Ok(recorder) => recorder,
            Err(RecordError::TooSmall { least, .. }) => {
                assert!(least > limit);
                continue;
            }
            // The first frame does not fit.
            Err(RecordError::Full { .. }) if frames.is_empty() => continue,
            Err(error) => panic!("{limit}: {error}"),
        };
        while !run.finished() {
            let report = run.step().unwrap();
            if recorder.record(run.world(), &report).is_err() {
                break;
            }
        }
        let ending = if run.finished() {
            Ending::Finished
        } else {
            Ending::Interrupted
        };
        assert_eq!(recorder.finish(ending, Some(&run)), Ok(()), "{limit}");
        let size = std::fs::metadata(&file).unwrap().len();
        assert!(size <= limit, "{size} of {limit}");
        let recording = Recording::open(&file).unwrap();
        recording.check().unwrap();
        let last = recording.last_run().unwrap();
        assert_eq!(last.info().ending, Some(ending));
        assert_eq!(last.figures().unwrap()["scene"], "pyramid_6");
        assert!(!last.gates().unwrap().is_empty());
        frames.push(last.last_frame());
    }
    assert!(frames.len() > 15 && frames.is_sorted(), "{frames:?}");
    assert!(frames[0] < 5 && frames.last() > Some(&20), "{frames:?}");
}

#[test]
fn a_folder_that_cannot_be_written() {
    let run = run();
    // Not even root may write there.
    let file = Path::new("/proc/moreau/recording.sqlite");
    let error = create(file, &run, RecorderSettings::default()).unwrap_err();
    assert!(matches!(error, RecordError::Open { .. }), "{error:?}");
    assert!(
        error
            .to_string()
            .contains("/proc/moreau/recording.sqlite: cannot be opened")
    );
    let folder = Folder::new("folder");
    let error = create(&folder.file("a/b"), &run, RecorderSettings::default()).unwrap_err();
    assert!(matches!(error, RecordError::Open { .. }), "{error:?}");
    let error = Recording::open(folder.file("none")).unwrap_err();
    assert!(matches!(error, RecordError::Open { .. }), "{error:?}");
}

#[cfg(unix)]
#[test]
fn a_file_that_may_only_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("read-only");
    let file = folder.file("done.sqlite");
    good(&file);
    let only_read = std::fs::Permissions::from_mode(0o444);
    std::fs::set_permissions(&file, only_read).unwrap();
    // It can be read, all the same.
    let recording = Recording::open(&file).unwrap();
    assert_eq!(recording.last_run().unwrap().last_frame(), 10);
    drop(recording);
    if std::fs::OpenOptions::new().append(true).open(&file).is_ok() {
        // For root nothing is read-only.
        return;
    }
    let error = create(&file, &run(), RecorderSettings::default()).unwrap_err();
    assert_eq!(error, RecordError::ReadOnly { file });
}

#[test]
fn another_program_holds_the_file() {
    let folder = Folder::new("locked");
    let file = folder.file("locked.sqlite");
    good(&file);
    let other = Connection::open(&file).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let settings = RecorderSettings {
        wait: Duration::from_millis(20),
        ..RecorderSettings::default()
    };
    let mut run = run();
    let locked = RecordError::Locked { file: file.clone() };
    assert_eq!(create(&file, &run, settings).unwrap_err(), locked);
    other.execute_batch("ROLLBACK").unwrap();
    // In the middle of a run, too.
    let mut recorder = create(&file, &run, settings).unwrap();
    let report = run.step().unwrap();
    recorder.record(run.world(), &report).unwrap();
    recorder.flush().unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let report = run.step().unwrap();
    // The frame is on its way; what becomes of it is said once, and that it was said from then on.
    recorder.record(run.world(), &report).unwrap();
    assert_eq!(recorder.flush(), Err(locked.clone()));
    let report = run.step().unwrap();
    let ended = RecordError::Ended(Box::new(locked.clone()));
    assert_eq!(recorder.record(run.world(), &report), Err(ended.clone()));
    assert_eq!(recorder.flush(), Err(ended));
    assert_eq!(recorder.frames(), 2);
    other.execute_batch("ROLLBACK").unwrap();
    // How the run ended can be noted all the same.
    recorder.finish(Ending::Failed, None).unwrap();
    let recording = Recording::open(&file).unwrap();
    let last = recording.last_run().unwrap();
    assert_eq!(
        (last.last_frame(), last.info().ending),
        (1, Some(Ending::Failed))
    );
}

#[test]
fn an_error_of_the_last_frame_is_said_at_the_end() {
    let folder = Folder::new("last");
    let file = folder.file("last.sqlite");
    let settings = RecorderSettings {
        wait: Duration::from_millis(20),
        ..RecorderSettings::default()
    };
    let mut run = run();
    let mut recorder = create(&file, &run, settings).unwrap();
    let other = Connection::open(&file).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let report = run.step().unwrap();
    recorder.record(run.world(), &report).unwrap();
    let locked = RecordError::Locked { file: file.clone() };
    assert_eq!(recorder.finish(Ending::Finished, None), Err(locked));
    other.execute_batch("ROLLBACK").unwrap();
    let recording = Recording::open(&file).unwrap();
    let last = recording.last_run().unwrap();
    assert_eq!((last.last_frame(), last.info().ending), (0, None));
}

#[test]
fn a_recorder_that_is_let_go_writes_what_it_was_given() {
    let folder = Folder::new("dropped");
    let file = folder.file("dropped.sqlite");
    for frames in [1, 7] {
        let mut run = run();
        let mut recorder = create(&file, &run, RecorderSettings::default()).unwrap();
        for _ in 0..frames {
            let report = run.step().unwrap();
            recorder.record(run.world(), &report).unwrap();
        }
        drop(recorder);
        let recording = Recording::open(&file).unwrap();
        assert_eq!(recording.last_run().unwrap().last_frame(), frames);
    }
}

#[test]
fn files_that_are_something_else() {
    let folder = Folder::new("foreign");
    let text = folder.file("letter.txt");
    std::fs::write(&text, "Dear recorder, this is a letter. ".repeat(100)).unwrap();
    let database = folder.file("other.sqlite");
    Connection::open(&database)
        .unwrap()
        .execute_batch("CREATE TABLE letters (text TEXT)")
        .unwrap();
    for file in [text, database] {
        let before = std::fs::read(&file).unwrap();
        let foreign = RecordError::Foreign { file: file.clone() };
        assert_eq!(Recording::open(&file).unwrap_err(), foreign);
        let error = create(&file, &run(), RecorderSettings::default()).unwrap_err();
        assert_eq!(error, foreign);
        assert_eq!(std::fs::read(&file).unwrap(), before, "untouched");
    }
    let empty = folder.file("empty.sqlite");
    std::fs::write(&empty, "").unwrap();
    let error = Recording::open(&empty).unwrap_err();
    assert!(error.to_string().contains("it is empty"), "{error}");
}

#[test]
fn a_file_of_a_later_version() {
    let folder = Folder::new("newer");
    let file = folder.file("newer.sqlite");
    good(&file);
    let connection = Connection::open(&file).unwrap();
    let known: i64 = connection
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .unwrap();
    connection
        .pragma_update(None, "user_version", known + 1)
        .unwrap();
    drop(connection);
    let newer = RecordError::Newer {
        file: file.clone(),
        found: known + 1,
        known,
    };
    assert_eq!(Recording::open(&file).unwrap_err(), newer);
    let error = create(&file, &run(), RecorderSettings::default()).unwrap_err();
    assert_eq!(error, newer);
}

/// Undoes what versions 4 and 5 did.
const VERSION_3: &str = "ALTER TABLE reports DROP COLUMN awake_bodies;
    ALTER TABLE reports DROP COLUMN sleeping_islands;
    ALTER TABLE reports DROP COLUMN woken_islands;
    ALTER TABLE reports DROP COLUMN ordered_impacts;
    ALTER TABLE reports DROP COLUMN ordered_work;
    ALTER TABLE reports DROP COLUMN hurried_groups;
    DROP INDEX chunks; DROP TABLE gates;
    CREATE INDEX touches_by_a ON touches (run, a);
    CREATE INDEX chunks_by_impulse ON contact_chunks (run, max_normal_impulse);
    CREATE INDEX chunks_by_penetration ON contact_chunks (run, max_penetration);
    CREATE INDEX chunks_by_pair ON contact_chunks (run, frame, last_pair, first_pair);
    PRAGMA user_version = 3;";

/// A file as version 3 wrote it: what it is asked is answered by another index.
#[test]
fn a_file_with_other_indices_is_read_and_added_to() {
    let folder = Folder::new("indices");
    let file = folder.file("older.sqlite");
    good(&file);
    let older = Connection::open(&file).unwrap();
    older.execute_batch(VERSION_3).unwrap();
    drop(older);
    good(&file);
    let recording = Recording::open(&file).unwrap();
    recording.check().unwrap();
    let query = ContactQuery {
        heaviest: Some(5),
        ..ContactQuery::default()
    };
    let found = [1, 2].map(|run| recording.run(run).unwrap().contacts_where(&query).unwrap());
    assert_eq!(found[0].len(), 5);
    assert_eq!(found[0], found[1]);
    let plan: String = Connection::open(&file)
        .unwrap()
        .query_row(
            "EXPLAIN QUERY PLAN SELECT rowid, max_normal_impulse FROM contact_chunks \
             WHERE run = 1 AND frame BETWEEN 2 AND 9 AND max_normal_impulse >= 0.5 \
             AND max_penetration >= 0.1 AND max_approach_speed >= 0.1",
            [],
            |row| row.get(3),
        )
        .unwrap();
    assert!(plan.contains("USING COVERING INDEX chunks"), "{plan}");
}

/// A file as version 2 wrote it: it has no islands, and a run that is added has.
#[test]
fn a_file_without_islands_is_read_and_added_to() {
    let folder = Folder::new("no-islands");
    let file = folder.file("older.sqlite");
    good(&file);
    Connection::open(&file)
        .unwrap()
        .execute_batch(&format!(
            "{VERSION_3} DROP TABLE island_reports; PRAGMA user_version = 2"
        ))
        .unwrap();
    {
        let recording = Recording::open(&file).unwrap();
        let run = recording.last_run().unwrap();
        let report = &run.reports().unwrap()[9];
        assert_eq!((report.islands, report.ordered_work), (1, None));
        assert!(run.islands(10).unwrap().is_empty());
    }
    good(&file);
    let recording = Recording::open(&file).unwrap();
    assert!(recording.run(1).unwrap().islands(10).unwrap().is_empty());
    let run = recording.run(2).unwrap();
    assert!(run.islands(0).unwrap().is_empty());
    assert_eq!(run.islands(10).unwrap().len(), 1);
    let report = &run.reports().unwrap()[9];
    assert_eq!(
        (report.awake_bodies, report.ordered_work),
        (Some(21), Some(0))
    );
    // A block that is cut short is damage, not a panic.
    Connection::open(&file)
        .unwrap()
        .execute_batch("UPDATE island_reports SET data = substr(data, 1, 12) WHERE frame = 4")
        .unwrap();
    let error = run.islands(4).unwrap_err().to_string();
    assert!(error.contains("the islands of frame 4"), "{error}");
}

/// A file as version 1 wrote it: the tables of today without what later versions added.
#[test]
fn a_file_of_an_earlier_version_is_brought_up_to_date() {
    let folder = Folder::new("older");
    let file = folder.file("older.sqlite");
    for append in [false, true] {
        good(&file);
        let ask = |sql: &str| -> i64 {
            let connection = Connection::open(&file).unwrap();
            connection.query_row(sql, [], |row| row.get(0)).unwrap()
        };
        Connection::open(&file)
            .unwrap()
            .execute_batch(&format!(
                "{VERSION_3} DROP VIEW named_touches; \
                 ALTER TABLE reports DROP COLUMN sleeping_bodies; \
                 ALTER TABLE frames DROP COLUMN asleep; DROP TABLE island_reports; \
                 PRAGMA user_version = 1",
            ))
            .unwrap();
        assert_eq!(ask("PRAGMA user_version"), 1);
        let touches = ask("SELECT count(*) FROM touches");
        if append {
            create(&file, &run(), RecorderSettings::default()).unwrap();
        } else {
            let recording = Recording::open(&file).unwrap();
            let run = recording.last_run().unwrap();
            assert_eq!(run.last_frame(), 10);
            assert!(!run.contacts(10).unwrap().is_empty());
        }
        assert_eq!(ask("PRAGMA user_version"), 5);
        assert_eq!(ask("SELECT count(*) FROM named_touches"), touches);
        assert!(touches > 10);
        std::fs::remove_file(&file).unwrap();
    }
}

#[test]
fn damage_is_found() {
    let folder = Folder::new("damaged");
    let file = folder.file("damaged.sqlite");
    good(&file);
    let connection = Connection::open(&file).unwrap();
    for (table, wanted) in [("frames", "states"), ("contact_chunks", "contacts")] {
        let column = if table == "frames" { "state" } else { "data" };
        connection
            .execute_batch(&format!(
                "UPDATE {table} SET {column} = substr({column}, 1, 40) WHERE frame = 7"
            ))
            .unwrap();
        let recording = Recording::open(&file).unwrap();
        let run = recording.last_run().unwrap();
        let error = match table {
            "frames" => run.frame(7).map(drop),
            _ => run.contacts(7).map(drop),
        };
        let message = error.unwrap_err().to_string();
        assert!(
            message.contains(&format!("the {wanted} of frame 7 cannot be unpacked")),
            "{message}"
        );
    }
    // A cut file.
    drop(connection);
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let damaged = Recording::open(&file).and_then(|recording| recording.check());
    assert!(
        matches!(damaged, Err(RecordError::Damaged { .. })),
        "{damaged:?}"
    );
}

#[test]
fn frames_come_in_order() {
    let folder = Folder::new("order");
    let mut run = run();
    let file = folder.file("order.sqlite");
    let mut recorder = create(&file, &run, RecorderSettings::default()).unwrap();
    run.step().unwrap();
    let report = run.step().unwrap();
    let error = recorder.record(run.world(), &report).unwrap_err();
    assert_eq!(
        error,
        RecordError::Order {
            frame: 2,
            expected: 1
        }
    );
}
