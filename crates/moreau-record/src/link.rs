//! The thread that writes, and the one frame that is on its way to it.

use crate::RecordError;
use crate::taken::Taken;
use crate::writer::{End, Writer};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

/// What the thread is to do next.
#[derive(Debug)]
enum Job {
    Frame(Box<Taken>),
    End(Box<End>),
}

/// A frame's memory, and whether it was written.
type Done = (Box<Taken>, Result<(), RecordError>);

/// A writer on a thread of its own. It ends with what it was given.
#[derive(Debug)]
pub(crate) struct Link {
    file: PathBuf,
    /// None once the writer is to end.
    jobs: Option<Sender<Job>>,
    done: Receiver<Done>,
    thread: Option<JoinHandle<Result<(), RecordError>>>,
    /// For the next frame; `None` while one is on its way.
    spare: Option<Box<Taken>>,
}

impl Link {
    /// Starts the thread.
    pub(crate) fn start(
        file: &Path,
        writer: Writer,
        spare: Box<Taken>,
    ) -> Result<Self, RecordError> {
        let (jobs, to_do) = channel();
        let (finished, done) = channel();
        let path = file.to_path_buf();
        let thread = Builder::new()
            .name("moreau-record".into())
            .spawn(move || work(&path, writer, &to_do, &finished))
            .map_err(|error| RecordError::Thread {
                file: file.into(),
                what: format!("cannot be started: {error}"),
            })?;
        Ok(Self {
            file: file.into(),
            jobs: Some(jobs),
            done,
            thread: Some(thread),
            spare: Some(spare),
        })
    }

    /// Waits for the frame on its way, and gives its memory back.
    pub(crate) fn settle(&mut self) -> Result<Box<Taken>, RecordError> {
        if let Some(spare) = self.spare.take() {
            return Ok(spare);
        }
        match self.done.recv() {
            Ok((taken, Ok(()))) => Ok(taken),
            Ok((_, Err(error))) => Err(error),
            Err(_) => Err(died(&self.file)),
        }
    }

    /// Hands a frame over. That the thread is gone is found when it is waited for.
    pub(crate) fn give(&mut self, taken: Box<Taken>) {
        if let Some(jobs) = &self.jobs {
            let _ = jobs.send(Job::Frame(taken));
        }
    }

    /// Keeps memory for the next frame.
    pub(crate) fn keep(&mut self, spare: Box<Taken>) {
        self.spare = Some(spare);
    }

    /// Ends the run, and the thread.
    pub(crate) fn end(&mut self, end: End) -> Result<(), RecordError> {
        if let Some(jobs) = self.jobs.take() {
            let _ = jobs.send(Job::End(Box::new(end)));
        }
        self.join()
    }

    fn join(&mut self) -> Result<(), RecordError> {
        self.jobs = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(ended)) => ended,
            Some(Err(_)) => Err(died(&self.file)),
            None => Ok(()),
        }
    }
}

impl Drop for Link {
    /// What was handed over is written, whoever lets the recorder go.
    fn drop(&mut self) {
        let _ = self.join();
    }
}

fn died(file: &Path) -> RecordError {
    RecordError::Thread {
        file: file.into(),
        what: "has died".into(),
    }
}

fn work(
    file: &Path,
    mut writer: Writer,
    jobs: &Receiver<Job>,
    done: &Sender<Done>,
) -> Result<(), RecordError> {
    let failed = |error: rusqlite::Error| RecordError::from_sqlite(file, &error);
    for job in jobs {
        match job {
            Job::Frame(mut taken) => {
                let written = writer.write(&mut taken).map_err(failed);
                // Nobody waits for it where the recorder is gone.
                let _ = done.send((taken, written));
                writer.tidy_up();
            }
            Job::End(end) => return writer.end(&end).map_err(failed),
        }
    }
    Ok(())
}
