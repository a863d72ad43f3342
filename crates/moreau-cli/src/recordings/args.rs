//! What the commands on recordings take.

use crate::args::{count, seconds, threads};
use crate::solvers;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Step a scene and record every pose, contact and report.
///
/// The recording is one SQLite file; a run is added where the file is there already. Ctrl-C ends the run
/// after the current step and keeps what was recorded.
#[derive(Clone, Debug, Args)]
pub(crate) struct RecordArgs {
    /// Path of a scene file, or name of a scene (see `moreau scenes`).
    #[arg(default_value = crate::scenes::SHOWCASE)]
    pub(crate) scene: String,

    /// The recording [default: out/SCENE.sqlite].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) how: HowArgs,

    /// Solve with this solver instead of the scene's.
    #[arg(long, value_name = "NAME", value_parser = solvers::parser())]
    pub(crate) solver: Option<String>,

    /// Keep the contacts of every Nth frame only; they take most of the room.
    #[arg(
        long,
        value_name = "N",
        default_value = "1",
        allow_hyphen_values = true
    )]
    #[arg(value_parser = some)]
    pub(crate) contacts_every: u64,

    /// Stop when the file has so many megabytes.
    #[arg(long, value_name = "MB", value_parser = some, allow_hyphen_values = true)]
    pub(crate) max_size: Option<u64>,

    /// Add the run's metrics as a row to a CSV file.
    #[arg(long, value_name = "FILE")]
    pub(crate) metrics: Option<PathBuf>,
}

/// How a scene is stepped.
#[derive(Clone, Debug, Args)]
pub(crate) struct HowArgs {
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
}

/// A run of a recording.
#[derive(Clone, Debug, Args)]
pub(crate) struct RunOfArgs {
    /// The recording; FILE#N means its run N.
    #[arg(value_name = "FILE[#N]")]
    pub(crate) file: PathBuf,

    /// The run's number [default: the last]. The same as FILE#N.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) run: Option<i64>,
}

/// Make a recorded run again and compare every bit.
///
/// Exit code 0 where all frames are equal, 1 at the first difference, which is named.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    pub(crate) of: RunOfArgs,

    /// Threads. The results have the same bits for any number.
    #[arg(long, value_name = "N", default_value = "1", value_parser = threads)]
    #[arg(allow_hyphen_values = true)]
    pub(crate) threads: usize,
}

/// Look for contacts or islands in a recording; with no filter, list its runs.
///
/// A body without a name is called by its id, slot and generation: 3v0 is the first body in slot 3, 3v1 the one
/// that took its place when it was removed. Where bodies never are, 3 is enough.
///
/// Where a stack or a face has more contacts than it needs, the force on it can be shared among them in many ways,
/// all of which are right: compare sums, not single impulses.
#[derive(Clone, Debug, Args)]
pub(crate) struct QueryArgs {
    #[command(flatten)]
    pub(crate) of: RunOfArgs,

    /// Contacts of this frame.
    #[arg(long, value_name = "K", conflicts_with = "frames")]
    #[arg(value_parser = whole, allow_hyphen_values = true)]
    pub(crate) frame: Option<u64>,

    /// Contacts of these frames, such as 100..200 (both included), 100.. or ..200.
    #[arg(long, value_name = "A..B", value_parser = frames, allow_hyphen_values = true)]
    pub(crate) frames: Option<(u64, u64)>,

    /// Contacts between two bodies, by name or id (3 or 3v0).
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with = "body")]
    pub(crate) pair: Option<Vec<String>>,

    /// Contacts of a body, by name or id (3 or 3v0).
    #[arg(long, value_name = "NAME")]
    pub(crate) body: Option<String>,

    /// Contacts with at least this normal impulse, N s.
    #[arg(long, value_name = "NS", value_parser = least, allow_hyphen_values = true)]
    pub(crate) min_impulse: Option<f64>,

    /// Contacts that overlap by at least this, m.
    #[arg(long, value_name = "M", value_parser = least, allow_hyphen_values = true)]
    pub(crate) min_penetration: Option<f64>,

    /// Contacts that came together at least this fast, m/s.
    #[arg(long, value_name = "M/S", value_parser = least, allow_hyphen_values = true)]
    pub(crate) min_approach: Option<f64>,

    /// Only the N with the largest normal impulses, the heaviest first.
    #[arg(long, value_name = "N", value_parser = rows, allow_hyphen_values = true)]
    pub(crate) heaviest: Option<usize>,

    /// Islands in place of contacts: which solver took each, and how right its answer is.
    #[arg(long, conflicts_with_all = ["pair", "body", "min_impulse", "min_penetration", "min_approach", "heaviest"])]
    pub(crate) islands: bool,

    /// Only the N islands with the largest residuals, the worst first.
    #[arg(long, value_name = "N", requires = "islands")]
    #[arg(value_parser = rows, allow_hyphen_values = true)]
    pub(crate) worst: Option<usize>,

    /// Only islands whose answer is not certified.
    #[arg(long, requires = "islands")]
    pub(crate) uncertified: bool,

    /// How to print them.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// How to print rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people: rounded, and the first 50 rows.
    Table,
    /// All columns and rows; numbers read back to the bit.
    Csv,
    /// The same as a list of objects.
    Json,
}

/// Draw a recorded run's energy, penetration, residual, iterations, solvers and stage times over time.
#[derive(Clone, Debug, Args)]
pub(crate) struct PlotArgs {
    #[command(flatten)]
    pub(crate) of: RunOfArgs,

    /// The picture, .svg or .png; may be given several times [default: out/SCENE.svg].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,

    /// Which panels, in this order.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PANELS")]
    #[arg(default_value = "energy,penetration,residual,iterations,solvers,times")]
    pub(crate) panels: Vec<Panel>,
}

/// A panel of a plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Panel {
    /// Kinetic, potential and total energy, J.
    Energy,
    /// Deepest overlap, m.
    Penetration,
    /// Natural map of the worst contact, m/s.
    Residual,
    /// Sweeps and factorisations.
    Iterations,
    /// Contact points of the islands that each solver took, and of the largest island.
    Solvers,
    /// Time of each stage of a step, ms.
    Times,
}

/// Hold two runs against each other: figures, the first bit that differs, how far bodies are apart.
///
/// FIRST and SECOND are recordings, FILE or FILE#N for its run N. With --solvers FIRST is a scene, which is recorded
/// once with each.
#[derive(Clone, Debug, Args)]
pub(crate) struct CompareArgs {
    /// A recording (FILE or FILE#N), or a scene.
    pub(crate) first: String,

    /// The other recording.
    #[arg(required_unless_present = "solvers", conflicts_with = "solvers")]
    pub(crate) second: Option<String>,

    /// Two solvers, such as newton,pgs.
    #[arg(long, value_name = "A,B", value_delimiter = ',', num_args = 1)]
    #[arg(value_parser = solvers::parser())]
    pub(crate) solvers: Vec<String>,

    #[command(flatten)]
    pub(crate) how: HowArgs,

    /// Draw both into one picture, .svg or .png; may be given several times.
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Vec<PathBuf>,

    /// Where --solvers records to [default: out/SCENE-A-B.sqlite, made anew].
    #[arg(short, long, value_name = "FILE", requires = "solvers")]
    pub(crate) output: Option<PathBuf>,
}

fn frames(text: &str) -> Result<(u64, u64), String> {
    let help = "write two frames, such as 100..200, or one of them, such as 100..";
    let (first, last) = text.split_once("..").ok_or(help)?;
    let number = |text: &str, open: u64| match text.trim() {
        "" => Ok(open),
        text => text.parse::<u64>().map_err(|_| help.to_owned()),
    };
    Ok((number(first, 0)?, number(last, u64::MAX)?))
}

fn some(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err("must be a whole number, 1 or more".into()),
    }
}

fn whole(text: &str) -> Result<u64, String> {
    let wrong = |_| "must be a whole number, 0 or more".into();
    text.parse().map_err(wrong)
}

fn rows(text: &str) -> Result<usize, String> {
    let wrong = |_| "must be a whole number of rows, 0 or more".into();
    text.parse().map_err(wrong)
}

fn least(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x >= 0.0 && x.is_finite() => Ok(x),
        _ => Err("must be a number, 0 or more".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_frames() {
        assert_eq!(frames("10..20"), Ok((10, 20)));
        assert_eq!(frames("10.."), Ok((10, u64::MAX)));
        assert_eq!(frames("..20"), Ok((0, 20)));
        for text in ["10", "a..b", "-1..3", "1...3", "1.5..2"] {
            assert!(frames(text).is_err(), "{text:?} passed");
        }
    }
}
