//! How far a command has come, for people: a bar on standard error, where that is a terminal, for what
//! takes longer than a second.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Commands that end before show no bar.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Progress {
    total: u64,
    done: u64,
    /// What is counted.
    unit: &'static str,
    start: Instant,
    bar: Bar,
}

#[derive(Debug)]
enum Bar {
    /// There never is one.
    Never,
    /// It is not yet time.
    Later,
    Shown(ProgressBar),
}

impl Progress {
    /// Of `total` steps or frames (`unit`); never shown where `quiet`.
    pub(crate) fn new(total: u64, unit: &'static str, quiet: bool) -> Self {
        Self {
            total,
            done: 0,
            unit,
            start: Instant::now(),
            bar: if is_seen(quiet) {
                Bar::Later
            } else {
                Bar::Never
            },
        }
    }

    /// For work of which nobody knows how much is left: what it is, until the answer is dropped.
    pub(crate) fn waiting(what: &str, quiet: bool) -> Waiting {
        Waiting::start(what, is_seen(quiet), PATIENCE)
    }

    /// One more is done.
    pub(crate) fn step(&mut self) {
        self.done += 1;
        match &self.bar {
            Bar::Shown(bar) => bar.inc(1),
            Bar::Later if self.start.elapsed() > PATIENCE => {
                let template = format!(
                    "{{bar:40}} {} {{pos}} of {{len}}, {{per_sec}}, {{eta}} left",
                    self.unit
                );
                let style = ProgressStyle::with_template(&template);
                let bar = ProgressBar::new(self.total)
                    .with_position(self.done)
                    .with_elapsed(self.start.elapsed())
                    .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
                // The rate counts from here.
                bar.reset_eta();
                bar.tick();
                self.bar = Bar::Shown(bar);
            }
            Bar::Later | Bar::Never => {}
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Bar::Shown(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Whether there is somebody who would see a bar.
fn is_seen(quiet: bool) -> bool {
    !quiet && std::io::stderr().is_terminal()
}

/// Says what goes on, once it takes longer than one is patient.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// Whether it did.
    #[cfg_attr(not(test), allow(dead_code, reason = "tests look at it"))]
    shown: Arc<AtomicBool>,
    /// Dropped to end the thread.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Waiting {
    fn start(what: &str, seen: bool, patience: Duration) -> Self {
        let shown = Arc::new(AtomicBool::new(false));
        if !seen {
            return Self {
                shown,
                end: None,
                thread: None,
            };
        }
        let (end, ended) = channel::<()>();
        let (what, flag) = (what.to_owned(), shown.clone());
        let thread = std::thread::spawn(move || {
            if ended.recv_timeout(patience) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::new_spinner().with_message(what);
            bar.enable_steady_tick(Duration::from_millis(100));
            flag.store(true, Ordering::Relaxed);
            let _ = ended.recv();
            bar.finish_and_clear();
        });
        Self {
            shown,
            end: Some(end),
            thread: Some(thread),
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // It prints nothing after this.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_takes_long_is_shown_and_only_where_somebody_looks() {
        let short = Duration::from_millis(10);
        for (seen, patience, expect) in [
            (true, short, true),
            (true, Duration::from_secs(3600), false),
            (false, short, false),
        ] {
            let waiting = Waiting::start("reading", seen, patience);
            let shown = waiting.shown.clone();
            let start = Instant::now();
            while !shown.load(Ordering::Relaxed) && start.elapsed() < 20 * short {
                std::thread::sleep(short / 2);
            }
            // Ends at once, whatever it waits for.
            drop(waiting);
            assert_eq!(shown.load(Ordering::Relaxed), expect, "{seen} {patience:?}");
            assert!(start.elapsed() < Duration::from_secs(60));
        }
    }
}
