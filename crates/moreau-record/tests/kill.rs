//! A process that records is killed 100 times, each time at another moment. The file must open, hold
//! every frame whose recording was acknowledged, and replay to the bit. A frame is acknowledged when the
//! next one was taken, or where the process waits for it: so one frame is lost at most.
//!
//! This is a program of its own and not a list of tests, so that it can start itself as the process that
//! is killed.

mod common;

use common::Folder;
use moreau_record::{RecordError, Recorder, RecorderSettings, Recording, Replay, RunDescription};
use moreau_scene::{MOST_STEPS, Run, RunOptions, SplitMix64, scenes};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const KILLS: u64 = 100;

/// Most frames that are awaited before a kill.
const MOST_FRAMES: u64 = 40;

/// Longest time from the last frame awaited to the kill, microseconds: a few frames.
const LONGEST: u64 = 4000;

/// Longest time from the start of the process to a kill that waits for no frame.
const LONGEST_START: u64 = 40_000;

fn main() {
    let arguments: Vec<_> = std::env::args().collect();
    if let [_, word, file] = &arguments[..]
        && (word == "record" || word == "wait")
    {
        return record(Path::new(file), word == "wait");
    }
    let folder = Folder::new("kill");
    let (mut frames, mut early) = (0, 0);
    let mut random = SplitMix64::new(7);
    for round in 0..KILLS {
        let file = folder.file(&format!("{round}.sqlite"));
        // Every tenth is killed while it starts.
        let (await_frames, longest) = match round % 10 {
            9 => (0, LONGEST_START),
            _ => (1 + random.next_u64() % MOST_FRAMES, LONGEST),
        };
        let wait = Duration::from_micros(random.next_u64() % longest);
        let word = if round % 3 == 0 { "wait" } else { "record" };
        let acknowledged = kill(word, &file, await_frames, wait);
        match check(&file, acknowledged) {
            Some(count) => frames += count,
            None => early += 1,
        }
        let _ = std::fs::remove_file(&file);
    }
    println!("{KILLS} kills: {frames} frames kept, {early} before the first frame");
    assert!(frames > KILLS, "the kills come too early to show anything");
}

/// Records for ever, and says which frame is in the file; `wait`s for each or not.
fn record(file: &Path, wait: bool) {
    let mut out = std::io::stdout().lock();
    let mut say = |frame: u64| {
        let _ = writeln!(out, "{frame}").and_then(|()| out.flush());
    };
    let options = RunOptions {
        steps: Some(MOST_STEPS),
        ..RunOptions::default()
    };
    let mut run = Run::new(&scenes::pyramid(4), options).unwrap();
    let about = RunDescription::of(&run);
    // A short journal, so that kills also hit while it goes into the file.
    let settings = RecorderSettings {
        journal_bytes: 200_000,
        ..RecorderSettings::default()
    };
    let mut recorder = Recorder::create(file, run.world(), &about, settings).unwrap();
    say(0);
    loop {
        let report = run.step().unwrap();
        recorder.record(run.world(), &report).unwrap();
        if wait {
            recorder.flush().unwrap();
            say(report.step);
        } else {
            say(report.step - 1);
        }
    }
}

/// Starts the recording process, waits until it has acknowledged so many frames and then for `wait`, kills
/// it and returns the last frame that it acknowledged.
fn kill(word: &str, file: &Path, await_frames: u64, wait: Duration) -> Option<u64> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .arg(word)
        .arg(file)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut last = None;
    for _ in 0..await_frames {
        last = Some(lines.next().unwrap().unwrap());
    }
    std::thread::sleep(wait);
    // SIGKILL: nothing of the process runs after it.
    child.kill().unwrap();
    child.wait().unwrap();
    // A last line may be torn.
    let rest = lines.map_while(Result::ok);
    let frames = last.into_iter().chain(rest).filter_map(|l| l.parse().ok());
    frames.last()
}

/// How many frames the file has; `None` where the process did not come so far.
fn check(file: &Path, acknowledged: Option<u64>) -> Option<u64> {
    let recording = match Recording::open(file) {
        Ok(recording) => recording,
        // There is no file, or nothing in it, only where no frame was promised.
        Err(RecordError::Open { .. } | RecordError::Damaged { .. }) if acknowledged.is_none() => {
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    recording.check().unwrap();
    if recording.runs().unwrap().is_empty() && acknowledged.is_none() {
        return None;
    }
    let run = recording.last_run().unwrap();
    assert_eq!(run.info().ending, None);
    let last = run.last_frame();
    assert!(
        acknowledged.is_none_or(|frame| frame <= last),
        "frame {acknowledged:?} was acknowledged, the last one kept is {last}"
    );
    assert_eq!(run.reports().unwrap().len() as u64, last);
    let mut replay = Replay::new(&run, 1).unwrap();
    while !replay.finished() {
        let difference = replay.step().unwrap();
        assert!(difference.is_none(), "{}", difference.unwrap());
    }
    // Another run can be added.
    let run = Run::new(&scenes::tower(1), RunOptions::default()).unwrap();
    let about = RunDescription::of(&run);
    let settings = RecorderSettings::default();
    let recorder = Recorder::create(file, run.world(), &about, settings).unwrap();
    assert_eq!(recorder.run(), 2);
    Some(last + 1)
}
