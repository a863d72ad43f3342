//! The command line.

use crate::recordings::args::{CompareArgs, PlotArgs, QueryArgs, RecordArgs, ReplayArgs};
use crate::{solve, solvers};
use clap::{Args, Parser, Subcommand};
use moreau::scene::MOST_STEPS;
use std::path::PathBuf;

/// Rigid-body contact dynamics with exact Coulomb friction.
///
/// With no command it runs the showcase and writes out/showcase.html, a page that plays the run.
#[derive(Debug, Parser)]
#[command(name = "moreau", version, after_help = AFTER, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// Show no progress.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

const AFTER: &str = "Examples:
  moreau run tower_30                         run a scene and print its figures
  moreau view pyramid_20                      run it and watch it in the browser, offline
  moreau run tower_30 --threads 2 --json      figures as one JSON object
  moreau run pyramid_20 --profile             see where the time of its steps goes
  moreau record tower_30                      keep every pose, contact and report in one file
  moreau view out/tower_30.sqlite             watch what was recorded
  moreau query out/tower_30.sqlite --heaviest 10
  moreau compare tower_30 --solvers newton,pgs
  moreau check my.json                        find the first mistake in a scene file
  moreau run seams --dump-step 40 step.json   write the contact problem of step 40
  moreau solve step.json --solver pgs         solve it by another solver

Exit codes: 0 done, 1 the run or one of its scene's gates failed, a replay has other bits, an answer
is not certified or a file cannot be written, 2 wrong usage or input, 130 interrupted by Ctrl-C.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Step a scene and print what it came to.
    Run(RunArgs),
    /// Step a scene, or take a recording, and open a page that plays it in the browser, offline.
    View(ViewArgs),
    /// Step a scene and record every pose, contact and report.
    Record(RecordArgs),
    /// Make a recorded run again and compare every bit.
    Replay(ReplayArgs),
    /// Look for contacts or islands in a recording; with no filter, list its runs.
    Query(QueryArgs),
    /// Draw a recorded run's energy, penetration, residual, iterations, solvers and stage times.
    Plot(PlotArgs),
    /// Hold two recordings, or a scene by two solvers, against each other.
    Compare(CompareArgs),
    /// Solve contact problems from files and certify the answers.
    Solve(SolveArgs),
    /// List the scenes that can be run by name.
    Scenes,
    /// Check a scene file; print its first mistake and where it is.
    Check {
        /// Path of a scene file, or name of a scene.
        scene: String,
    },
}

/// Step a scene and print what it came to.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RunArgs {
    /// Path of a scene file, or name of a scene (see `moreau scenes`).
    #[arg(default_value = crate::scenes::SHOWCASE)]
    pub(crate) scene: String,

    /// Solve with this solver instead of the scene's.
    #[arg(long, value_name = "NAME", value_parser = solvers::parser())]
    pub(crate) solver: Option<String>,

    /// Length of a step in seconds, such as 0.01 or 1/240. The run then covers the scene's time.
    #[arg(long, value_name = "S", value_parser = seconds, allow_hyphen_values = true)]
    pub(crate) dt: Option<f64>,

    /// Number of steps.
    #[arg(long, value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub(crate) steps: Option<u64>,

    /// Threads. The results have the same bits for any number.
    #[arg(long, value_name = "N", default_value = "1", value_parser = threads)]
    #[arg(allow_hyphen_values = true)]
    pub(crate) threads: usize,

    /// Print the figures as one JSON object, and nothing else, to standard output.
    #[arg(long)]
    pub(crate) json: bool,

    /// Measure where the time of the steps goes. The results have the same bits.
    #[arg(long)]
    pub(crate) profile: bool,

    /// Write poses and velocities of all bodies and steps as CSV.
    #[arg(long, value_name = "FILE")]
    pub(crate) poses: Option<PathBuf>,

    /// Write a page that plays the run in 3D in any browser, without a network.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// Write the contact problem of step K (its largest island) as a file for `moreau solve`.
    #[arg(long, num_args = 2, value_names = ["K", "FILE"])]
    pub(crate) dump_step: Option<Vec<String>>,

    /// Whether the page is opened when it is written, so that nobody has to be told to.
    #[arg(skip)]
    pub(crate) opens: bool,

    /// Whether it is `moreau view` that runs the scene.
    #[arg(skip)]
    pub(crate) is_view: bool,
}

/// Step a scene, or take a recording, and open a page that plays it in the browser, offline.
///
/// Every body and contact tells its numbers when it is clicked; H goes to the heaviest contact. A recording
/// shows what was recorded and is not stepped again; one that is still written to, or was cut short, is
/// shown as far as it goes.
#[derive(Clone, Debug, Args)]
pub(crate) struct ViewArgs {
    /// Path of a scene file, name of a scene (see `moreau scenes`), or a recording: FILE, or FILE#N for its run N.
    #[arg(default_value = crate::scenes::SHOWCASE)]
    pub(crate) scene: String,

    /// The run of a recording [default: the last]. The same as FILE#N.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) run: Option<i64>,

    /// Solve with this solver instead of the scene's.
    #[arg(long, value_name = "NAME", value_parser = solvers::parser())]
    pub(crate) solver: Option<String>,

    /// Length of a step in seconds, such as 0.01 or 1/240.
    #[arg(long, value_name = "S", value_parser = seconds, allow_hyphen_values = true)]
    pub(crate) dt: Option<f64>,

    /// Number of steps.
    #[arg(long, value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub(crate) steps: Option<u64>,

    /// Threads [default: 1]. The results have the same bits for any number.
    #[arg(long, value_name = "N", value_parser = threads, allow_hyphen_values = true)]
    pub(crate) threads: Option<usize>,

    /// Where to write the page [default: out/SCENE.html; that of a recording beside it].
    #[arg(short, long, value_name = "FILE", visible_alias = "output")]
    pub(crate) out: Option<PathBuf>,

    /// Only write the page and print its path.
    #[arg(long)]
    pub(crate) no_open: bool,
}

/// Solve contact problems from files and certify the answers.
///
/// Files may be in the public text format of friction-contact problems (only W, q and mu),
/// reference problems, or what `moreau run --dump-step` writes.
#[derive(Clone, Debug, Args)]
pub(crate) struct SolveArgs {
    /// Problem files.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Solve with this solver.
    #[arg(long, value_name = "NAME", default_value = "newton", value_parser = solve::parser())]
    pub(crate) solver: String,

    /// Certify answers whose worst contact is off by at most this, in m/s [default: the file's own,
    /// or 1e-10].
    #[arg(long, value_name = "M/S", value_parser = tolerance, allow_hyphen_values = true)]
    pub(crate) tol: Option<f64>,

    /// Print the figures as one JSON object, and nothing else, to standard output.
    #[arg(long)]
    pub(crate) json: bool,

    /// Write the impulses of the answer: a contact a line, normal, tangent 1, tangent 2, in N s.
    #[arg(long, value_name = "FILE")]
    pub(crate) impulses: Option<PathBuf>,
}

const MOST_THREADS: usize = 1024;

/// Seconds as a number or as a fraction.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let value = match text.split_once('/') {
        None => number(text),
        Some((over, under)) => number(over).zip(number(under)).map(|(a, b)| a / b),
    };
    match value {
        None => {
            Err("not a number; write seconds, such as 0.01, or a fraction, such as 1/240".into())
        }
        Some(x) if x > 0.0 && x.is_finite() => Ok(x),
        Some(x) => Err(format!(
            "is {x:?}; a step must be positive and finite, such as 1/60"
        )),
    }
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x.is_finite() => Ok(x),
        _ => Err("must be a positive number of m/s, such as 1e-8".into()),
    }
}

pub(crate) fn count(text: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(n) if n <= MOST_STEPS => Ok(n),
        _ => Err(format!("must be a whole number from 0 to {MOST_STEPS}")),
    }
}

pub(crate) fn threads(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(n) if (1..=MOST_THREADS).contains(&n) => Ok(n),
        _ => Err(format!("must be a whole number from 1 to {MOST_THREADS}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_declaration_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn lengths_of_a_step() {
        let cases = [
            ("0.01", 0.01),
            ("1/60", 1.0 / 60.0),
            (" 1 / 4 ", 0.25),
            ("1e-3", 1e-3),
        ];
        for (text, expect) in cases {
            assert_eq!(seconds(text), Ok(expect), "of {text:?}");
        }
        for text in [
            "", "fast", "0", "-0.1", "nan", "inf", "1/0", "0/0", "1/2/3", "1/",
        ] {
            assert!(seconds(text).is_err(), "{text:?} passed");
        }
    }

    #[test]
    fn counts() {
        assert_eq!((count("0"), count("600")), (Ok(0), Ok(600)));
        assert_eq!((threads("1"), threads("2")), (Ok(1), Ok(2)));
        for text in ["-1", "1.5", "", "x", "99999999999999999999"] {
            assert!(
                count(text).is_err() && threads(text).is_err(),
                "{text:?} passed"
            );
        }
        assert!(threads("0").is_err());
    }
}
