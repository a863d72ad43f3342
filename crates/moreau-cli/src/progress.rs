//! How far a command has come, for people: a bar on standard error, where that is a terminal, for what
//! takes longer than a second.

use crate::output::digits;
use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle, TermLike};
use std::fmt::Write;
use std::io::{IsTerminal, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Commands that end before show no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// The bar that is on the screen.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

fn show(bar: Option<&ProgressBar>) {
    *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = bar.cloned();
}

/// Takes the bar off the screen, for good: whoever moves it on draws nothing any more.
pub(crate) fn clear() {
    let shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(bar) = shown {
        bar.finish_and_clear();
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
}

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
                    "{{bar:40}} {} {{pos}} of {{len}}, {{rate}}/s, {{eta}} left",
                    self.unit
                );
                let rate = |state: &ProgressState, out: &mut dyn Write| {
                    let _ = out.write_str(&digits(state.per_sec(), 3));
                };
                let style = ProgressStyle::with_template(&template)
                    .unwrap_or_else(|_| ProgressStyle::default_bar())
                    .with_key("rate", rate);
                let bar = ProgressBar::with_draw_target(Some(self.total), screen())
                    .with_position(self.done)
                    .with_elapsed(self.start.elapsed())
                    .with_style(style);
                // The rate counts from here.
                bar.reset_eta();
                show(Some(&bar));
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
            show(None);
            bar.finish_and_clear();
        }
    }
}

/// Standard error, with room at its right edge. A bar is filled up with blanks to its width, and Ctrl-C's own `^C`
/// is written behind them: on the next line, if there were no room for it, and the bar would stay.
fn screen() -> ProgressDrawTarget {
    ProgressDrawTarget::term_like_with_hz(Box::new(Screen(Term::stderr())), 20)
}

#[derive(Debug)]
struct Screen(Term);

/// Columns of two times `^C`.
const ROOM: u16 = 4;

impl TermLike for Screen {
    fn width(&self) -> u16 {
        self.0.width().saturating_sub(ROOM)
    }

    fn height(&self) -> u16 {
        self.0.height()
    }

    fn move_cursor_up(&self, n: usize) -> Result<()> {
        self.0.move_cursor_up(n)
    }

    fn move_cursor_down(&self, n: usize) -> Result<()> {
        self.0.move_cursor_down(n)
    }

    fn move_cursor_right(&self, n: usize) -> Result<()> {
        self.0.move_cursor_right(n)
    }

    fn move_cursor_left(&self, n: usize) -> Result<()> {
        self.0.move_cursor_left(n)
    }

    fn write_line(&self, text: &str) -> Result<()> {
        self.0.write_line(text)
    }

    fn write_str(&self, text: &str) -> Result<()> {
        self.0.write_str(text)
    }

    fn clear_line(&self) -> Result<()> {
        self.0.clear_line()
    }

    fn flush(&self) -> Result<()> {
        self.0.flush()
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
            let bar = ProgressBar::with_draw_target(None, screen())
                .with_style(ProgressStyle::default_spinner())
                .with_message(what);
            show(Some(&bar));
            bar.enable_steady_tick(Duration::from_millis(100));
            flag.store(true, Ordering::Relaxed);
            let _ = ended.recv();
            show(None);
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
