//! `cargo xtask snapshot`: what each scene gave, and whether it still does.
//!
//! Three tiers, from what must never move to what may: gates (closed-form answers, in the scene's
//! file), figures within tolerance, and hashes of the state. `docs/snapshots.md` tells more.

mod accept;
mod check;
mod compare;
mod diff;
mod figure;
mod fixtures;
mod golden;
mod page;
mod run;
#[cfg(test)]
mod tests;
mod trace;

use clap::{Args, Subcommand};
use fixtures::Fixtures;
use std::path::{Path, PathBuf};

/// What to do with snapshots.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compares scenes with their snapshots; writes nothing
    Check {
        /// Scenes; all where none is named
        scenes: Vec<String>,
        /// Gates and figures only, for another compiler or target
        #[arg(long)]
        portable: bool,
        /// Scenes at a time; as many as there are cores if not given
        #[arg(long)]
        jobs: Option<usize>,
    },
    /// Runs scenes to their last gate, large piles too; minutes
    Gates {
        /// Scenes; all where none is named
        scenes: Vec<String>,
        /// Scenes at a time; as many as there are cores if not given
        #[arg(long)]
        jobs: Option<usize>,
    },
    /// Names the first step, stage, body or contact, field and bit that differ
    Diff {
        /// The scene
        scene: String,
        /// Revision to compare with; the one that wrote the snapshot if not given
        #[arg(long, value_name = "REV")]
        against: Option<String>,
        /// Do not write a page that plays both runs
        #[arg(long)]
        no_page: bool,
    },
    /// Shows old and new figures of each scene that changed; asks on a terminal
    Review {
        /// Scenes; all where none is named
        scenes: Vec<String>,
        /// Do not build the older revision for a page that plays both runs
        #[arg(long)]
        no_page: bool,
    },
    /// Writes changed snapshots again; refused while a gate fails
    Accept(Write),
    /// Makes snapshots of scenes that have none
    New(Write),
    /// Prints a table of all snapshots
    List,
    /// Removes the snapshots whose scene is gone
    Prune,
    /// Writes down all numbers of some steps
    #[command(hide = true)]
    Trace {
        /// The scene
        scene: String,
        /// First and last step, as 17..32
        #[arg(long)]
        steps: String,
        /// File to write
        #[arg(long)]
        out: PathBuf,
    },
}

/// What to write, and why.
#[derive(Debug, Args)]
pub(crate) struct Write {
    /// Scenes
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    scenes: Vec<String>,
    /// Every scene
    #[arg(long)]
    all: bool,
    /// Why; kept in the file
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// How many steps
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    steps: Option<u64>,
}

/// Runs a command; whether all is well.
pub(crate) fn run(root: &Path, command: Command) -> Result<bool, String> {
    let fixtures = Fixtures::new(root);
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    match command {
        Command::Check {
            scenes,
            portable,
            jobs,
        } => {
            let jobs = jobs.unwrap_or_else(cores);
            check::check(&fixtures, &scenes, check::Options { portable, jobs })
        }
        Command::Gates { scenes, jobs } => {
            check::check_gates(&fixtures, &scenes, jobs.unwrap_or_else(cores))
        }
        Command::Diff {
            scene,
            against,
            no_page,
        } => {
            let goldens = fixtures.goldens_of(&[scene])?;
            let mut same = true;
            for golden in &goldens {
                same &= diff::diff(&fixtures, golden, against.as_deref(), !no_page)?;
            }
            Ok(same)
        }
        Command::Review { scenes, no_page } => accept::review(&fixtures, &scenes, !no_page),
        Command::Accept(w) => accept::accept(&fixtures, &w.scenes, w.steps, &w.reason),
        Command::New(w) => accept::new(&fixtures, &w.scenes, w.all, w.steps, &w.reason),
        Command::List => accept::list(&fixtures),
        Command::Prune => accept::prune(&fixtures),
        Command::Trace { scene, steps, out } => {
            let wrong = || format!("`{steps}` is no range of steps such as 17..32");
            let (first, last) = steps.split_once("..").ok_or_else(wrong)?;
            let first: u64 = first.parse().map_err(|_| wrong())?;
            let last: u64 = last.parse().map_err(|_| wrong())?;
            let trace = diff::trace(&fixtures.scene(&scene)?, first..=last)?;
            std::fs::write(&out, trace.to_bytes()?)
                .map_err(|e| format!("{}: {e}", out.display()))?;
            Ok(true)
        }
    }
}
