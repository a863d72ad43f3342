//! How far a command has come, for people: a bar on standard error, where that is a terminal, for what
//! takes longer than a second.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
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
            bar: if quiet || !std::io::stderr().is_terminal() {
                Bar::Never
            } else {
                Bar::Later
            },
        }
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
