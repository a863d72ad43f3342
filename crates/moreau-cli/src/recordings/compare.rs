//! `moreau compare`: two runs side by side.

use super::args::{CompareArgs, Panel};
use super::chart::Picture;
use super::plot::{Series, panel};
use super::{chart, fault, pick, place, record, table};
use crate::fault::Fault;
use crate::output::{self, short};
use crate::progress::Progress;
use crate::{interrupt, places, scenes, solvers};
use comfy_table::Cell;
use moreau::scene::Scene;
use moreau_record::{Comparison, RecordedRun, RecorderSettings, Recording};
use serde_json::{Map, Value};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A run, by its file and number.
struct Side {
    file: PathBuf,
    run: Option<i64>,
    /// What it is called in the table.
    name: String,
}

pub(crate) fn run(args: &CompareArgs, quiet: bool) -> Result<ExitCode, Fault> {
    let (sides, pictures) = match &args.second {
        Some(second) => {
            let sides = [side(&args.first), side(second)];
            let inputs = [&*sides[0].file, &*sides[1].file];
            places::apart(&inputs, &plots(args))?;
            (sides, Picture::all(&args.plot)?)
        }
        None => {
            let (scene, file) = to_record(args)?;
            let pictures = Picture::all(&args.plot)?;
            match record_both(args, &scene, &file, quiet)? {
                Some(sides) => (sides, pictures),
                None => return Ok(ExitCode::from(interrupt::EXIT)),
            }
        }
    };
    let open = |side: &Side| Recording::open(&side.file).map_err(|error| fault(&error));
    let recordings = [open(&sides[0])?, open(&sides[1])?];
    let first = pick(&recordings[0], sides[0].run)?;
    let second = pick(&recordings[1], sides[1].run)?;
    let names = [sides[0].name.as_str(), sides[1].name.as_str()];
    let mut text = figures(&first, &second, names)?;
    text.push_str(&differences(&first, &second, names, quiet)?);
    if !args.plot.is_empty() {
        let runs = {
            let _waiting = Progress::waiting("reading reports", quiet);
            [
                Series::of(&first, names[0])?,
                Series::of(&second, names[1])?,
            ]
        };
        let panels = [
            Panel::Energy,
            Panel::Penetration,
            Panel::Residual,
            Panel::Iterations,
            Panel::Times,
        ];
        let panels = panels.map(|p| panel(p, &[&runs[0], &runs[1]]));
        let title = format!("{}: {} and {}", first.info().scene, names[0], names[1]);
        for picture in &pictures {
            let file = picture.file().display();
            let _waiting = Progress::waiting(&format!("drawing {file}"), quiet);
            chart::draw(picture, &title, &panels)?;
            let _ = writeln!(text, "plot: {file}");
        }
    }
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// FILE or FILE#N.
fn side(text: &str) -> Side {
    let (file, run) = place(Path::new(text));
    Side {
        file,
        run,
        name: text.into(),
    }
}

fn plots(args: &CompareArgs) -> Vec<(&str, &Path)> {
    let plots = args.plot.iter();
    plots.map(|file| ("--plot", file.as_path())).collect()
}

fn two_solvers(args: &CompareArgs) -> Result<[&String; 2], Fault> {
    match args.solvers.as_slice() {
        [a, b] => Ok([a, b]),
        other => Err(Fault::input(
            format!("--solvers takes two solvers, not {}", other.len()),
            "such as --solvers newton,pgs",
        )),
    }
}

/// The scene that `--solvers` solves, and the file that it is recorded to.
fn to_record(args: &CompareArgs) -> Result<(Scene, PathBuf), Fault> {
    let [a, b] = two_solvers(args)?;
    let scene = scenes::load(&args.first)?;
    let default = || places::default(&scene.name, &format!("-{a}-{b}.sqlite"));
    let file = args.output.clone().unwrap_or_else(default);
    let mut outputs = plots(args);
    outputs.push(("-o", &file));
    let input = scenes::file(&args.first);
    places::apart(input.as_deref().as_slice(), &outputs)?;
    Ok((scene, file))
}

/// Records a scene with two solvers; `None` where it was interrupted.
fn record_both(
    args: &CompareArgs,
    scene: &Scene,
    file: &Path,
    quiet: bool,
) -> Result<Option<[Side; 2]>, Fault> {
    let [a, b] = two_solvers(args)?;
    if args.output.is_none() {
        // The command's own file, made anew each time.
        remove(file)?;
    }
    let run_with = |name: &String| -> Result<Option<Side>, Fault> {
        let mut scene = scene.clone();
        solvers::choose(name, &mut scene);
        let settings = RecorderSettings::default();
        let recorded = record::record(&scene, &args.how, file, settings, quiet)?;
        Ok((!recorded.interrupted).then(|| Side {
            file: file.into(),
            run: Some(recorded.run),
            name: name.clone(),
        }))
    };
    let Some(first) = run_with(a)? else {
        return Ok(None);
    };
    Ok(run_with(b)?.map(|second| [first, second]))
}

fn remove(file: &Path) -> Result<(), Fault> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Fault::write(file, &error))
        }
        _ => Ok(()),
    }
}

/// Rows of the table: a figure's name in the recording, in words, and its unit.
const ROWS: [(&str, &str, &str); 17] = [
    ("solver", "solver", ""),
    ("steps", "steps", ""),
    ("dt_s", "length of a step", "s"),
    ("bodies", "bodies", ""),
    ("ms_per_step_median", "time of a step, median", "ms"),
    ("ms_per_step_p95", "time of a step, 95 %", "ms"),
    ("max_sweeps", "most sweeps of an island", ""),
    ("max_penetration_m", "deepest overlap", "m"),
    ("end_max_penetration_m", "deepest overlap, last step", "m"),
    ("kinetic_energy_j", "kinetic energy, last step", "J"),
    ("energy_gain_j", "largest gain of energy", "J"),
    ("max_horizontal_drift_m", "largest horizontal drift", "m"),
    ("residual_max_m_s", "worst residual", "m/s"),
    ("uncertified_steps", "steps not certified", ""),
    ("momentum_drift", "drift of momentum, relative", ""),
    ("cone_excess", "friction beyond its cone, relative", ""),
    ("state_hash", "hash of the state", ""),
];

fn figures(
    first: &RecordedRun<'_>,
    second: &RecordedRun<'_>,
    names: [&str; 2],
) -> Result<String, Fault> {
    let read = |run: &RecordedRun<'_>| run.figures().map_err(|error| fault(&error));
    let (x, y) = (read(first)?, read(second)?);
    let mut table = table::new(&["figure", names[0], names[1], "ratio", "unit"]);
    let shown = |figures: &Map<String, Value>, name: &str| match figures.get(name) {
        None | Some(Value::Null) => "-".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.as_f64().map_or_else(|| value.to_string(), short),
    };
    for (name, words, unit) in ROWS {
        let real = |figures: &Map<String, Value>| figures.get(name).and_then(Value::as_f64);
        let ratio = match (real(&x), real(&y)) {
            (Some(x), Some(y)) if x > 0.0 && y > 0.0 => short(y / x),
            _ => String::new(),
        };
        table.add_row([
            Cell::new(words),
            table::right(shown(&x, name)),
            table::right(shown(&y, name)),
            table::right(ratio),
            Cell::new(unit),
        ]);
    }
    let mut text = format!("{table}\n");
    for (figures, run, name) in [(&x, first, names[0]), (&y, second, names[1])] {
        if figures.is_empty() {
            let last = run.last_frame();
            let _ = writeln!(
                text,
                "{name} has no figures: it did not end; its last frame is {last}"
            );
        }
    }
    Ok(text)
}

fn differences(
    first: &RecordedRun<'_>,
    second: &RecordedRun<'_>,
    names: [&str; 2],
    quiet: bool,
) -> Result<String, Fault> {
    let total = first.last_frame().min(second.last_frame()) + 1;
    let mut progress = Progress::new(total, "frame", quiet);
    let comparison = Comparison::watched(first, second, || progress.step());
    drop(progress);
    let comparison = comparison.map_err(|error| fault(&error))?;
    let count = comparison.distances.len();
    let mut text = String::new();
    match &comparison.first_difference {
        None if count == 0 => text.push_str("they have no frame in common\n"),
        None => {
            let _ = writeln!(text, "the same bits in all {count} frames that both have");
        }
        Some(d) => {
            let at = if d.at.is_empty() {
                String::new()
            } else {
                format!(", {}", d.at)
            };
            let _ = writeln!(
                text,
                "first difference: frame {}{at}, {}: {} {:?}, {} {:?}",
                d.frame, d.field, names[0], d.recorded, names[1], d.replayed
            );
        }
    }
    let largest = comparison
        .distances
        .iter()
        .max_by(|x, y| x.largest.total_cmp(&y.largest));
    let last = comparison.distances.last();
    for (words, distance) in [("farthest apart", largest), ("apart at the end", last)] {
        if let Some((d, body)) = distance.and_then(|d| Some((d, d.body?))) {
            let _ = writeln!(
                text,
                "{words}: {} m, body {} in frame {}",
                short(d.largest),
                first.title(body),
                d.frame
            );
        }
    }
    if first.info().scene != second.info().scene {
        let scenes = [first, second].map(|run| run.info().scene.as_str());
        let _ = writeln!(
            text,
            "they are of two scenes, {} and {}: their bodies are not the same ones",
            scenes[0], scenes[1]
        );
    }
    if first.info().dt != second.info().dt {
        text.push_str("their steps have different lengths: frames are not at the same time\n");
    }
    Ok(text)
}
