//! What was measured on, and when.

use std::fs;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// The machine, the day, the tools.
#[derive(Default)]
pub(crate) struct Machine {
    pub(crate) processor: String,
    pub(crate) cores: usize,
    pub(crate) date: String,
    pub(crate) compiler: String,
    /// The last one that changed the crates.
    pub(crate) commit: String,
    /// Running processes before and after, one minute's mean; `None` where the system does not tell.
    pub(crate) load: (Option<f64>, Option<f64>),
}

impl Machine {
    /// Looks around, before anything is measured.
    pub(crate) fn look() -> Self {
        let days = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |t| t.as_secs() / 86_400);
        Self {
            processor: processor().unwrap_or_else(|| std::env::consts::ARCH.into()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            date: date(days),
            compiler: said("rustc", &["--version"]),
            commit: said("git", &["log", "-1", "--format=%h", "--", "crates"]),
            load: (load(), None),
        }
    }

    /// Looks again, after everything was.
    pub(crate) fn finish(&mut self) {
        self.load.1 = load();
    }
}

fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("model name"))?;
    Some(line.trim_start_matches([' ', '\t', ':']).to_owned())
}

fn load() -> Option<f64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let text = output.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned());
    text.ok()
        .filter(|t| !t.is_empty())
        .unwrap_or("unknown".into())
}

/// Year-month-day of the day so many days after 1970-01-01.
///
/// The year is taken to begin in March, so that the leap day is its last: in an era of 400 years, day d
/// has year (d - d/1460 + d/36524 - d/146096)/365.
fn date(days: u64) -> String {
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month < 3);
    format!("{year}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        for (days, text) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (19_722, "2023-12-31"),
            (20_785, "2026-11-28"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(date(days), text);
        }
    }
}
