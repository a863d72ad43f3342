//! `moreau record`: steps a scene and writes what happens to a file.

use super::args::{HowArgs, RecordArgs};
use super::metrics::MetricsFile;
use super::{COMMIT, fault};
use crate::fault::{self, Fault};
use crate::progress::Progress;
use crate::{interrupt, output, places, scenes, solvers, table};
use moreau::WorldError;
use moreau::scene::{Figures, GateResult, RunOptions, Scene, Verdict, evaluate};
use moreau::solver::SolveError;
use moreau_record::{Ending, Recorder, RecorderSettings, RunDescription};
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// What was recorded.
pub(crate) struct Recorded {
    /// Number of the run in the file.
    pub(crate) run: i64,
    pub(crate) frames: u64,
    pub(crate) figures: Figures,
    pub(crate) gates: Vec<GateResult>,
    pub(crate) interrupted: bool,
}

/// Records a scene.
pub(crate) fn run(args: &RecordArgs, quiet: bool) -> Result<ExitCode, Fault> {
    let mut scene = scenes::load(&args.scene)?;
    if let Some(name) = &args.solver {
        solvers::choose(name, &mut scene);
    }
    let default = || places::default(&scene.name, ".sqlite");
    let file = args.output.clone().unwrap_or_else(default);
    let mut outputs = vec![("-o", file.as_path())];
    outputs.extend(args.metrics.as_deref().map(|path| ("--metrics", path)));
    places::apart(scenes::file(&args.scene).as_deref().as_slice(), &outputs)?;
    let metrics = args.metrics.as_deref().map(MetricsFile::new).transpose()?;
    let settings = RecorderSettings {
        contacts_every: args.contacts_every,
        max_bytes: args.max_size.map(|mb| mb.saturating_mul(1_000_000)),
        ..RecorderSettings::default()
    };
    let recorded = record(&scene, &args.how, &file, settings, quiet)?;
    if let Some(metrics) = &metrics {
        metrics.add(&recorded.figures)?;
    }
    output::print(&words(&recorded, &file, args))?;
    if recorded.interrupted {
        return Ok(ExitCode::from(interrupt::EXIT));
    }
    let mut failed = false;
    for gate in recorded
        .gates
        .iter()
        .filter(|g| g.verdict == Verdict::Failed)
    {
        fault::say(&format!("gate failed: {gate}"));
        failed = true;
    }
    Ok(ExitCode::from(if failed { fault::RUN } else { 0 }))
}

/// Steps a scene to its end, or until Ctrl-C, and records it.
pub(crate) fn record(
    scene: &Scene,
    how: &HowArgs,
    file: &Path,
    settings: RecorderSettings,
    quiet: bool,
) -> Result<Recorded, Fault> {
    let options = RunOptions {
        dt: how.dt,
        steps: how.steps,
        threads: how.threads,
        profile: true,
        ..RunOptions::default()
    };
    let mut run = scenes::start(scene, options, "record")?;
    output::make_room(file)?;
    let about = RunDescription {
        build: format!("moreau {}, commit {COMMIT}", env!("CARGO_PKG_VERSION")),
        machine: machine(),
        ..RunDescription::of(&run)
    };
    let mut recorder =
        Recorder::create(file, run.world(), &about, settings).map_err(|error| fault(&error))?;
    // Until its end is noted, too.
    let _gently = interrupt::gently();
    let mut progress = Progress::new(run.steps(), "step", quiet);
    while !run.finished() && !interrupt::asked() {
        let report = match run.step() {
            Ok(report) => report,
            Err(error) => {
                drop(progress);
                let step = run.world().steps() + 1;
                // Whether the last frame could be written decides how many there are.
                let _ = recorder.flush();
                let frames = recorder.frames();
                // What was recorded shows how it came to this; the step's error is the one to tell.
                let _ = recorder.finish(Ending::Failed, Some(&run));
                return Err(step_fault(&error, step, frames, file));
            }
        };
        if let Err(error) = recorder.record(run.world(), &report) {
            drop(progress);
            // What is in the file is kept, and says that there is no more.
            let _ = recorder.finish(Ending::Interrupted, None);
            return Err(fault(&error));
        }
        progress.step();
    }
    drop(progress);
    let figures = run.figures();
    let interrupted = !run.finished();
    let ending = if interrupted {
        Ending::Interrupted
    } else {
        Ending::Finished
    };
    let (number, frames) = (recorder.run(), recorder.frames());
    recorder
        .finish(ending, Some(&run))
        .map_err(|error| fault(&error))?;
    Ok(Recorded {
        run: number,
        frames,
        gates: evaluate(&run),
        figures,
        interrupted,
    })
}

fn step_fault(error: &WorldError, step: u64, frames: u64, file: &Path) -> Fault {
    let help = match error {
        WorldError::Solve(SolveError::Unsupported { .. }) => {
            "--solver auto solves each island by a solver that takes it"
        }
        _ => "a smaller --dt or a scene without such large velocities may help",
    };
    let kept = format!("the {frames} frames before are kept in {}", file.display());
    Fault::run(format!("step {step}: {error}; {kept}"), help)
}

/// The processor's name where it can be had, and its kind.
fn machine() -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "model name").then(|| value.trim().to_owned())
    });
    let (arch, os) = (std::env::consts::ARCH, std::env::consts::OS);
    match model {
        Some(model) => format!("{model}, {arch} {os}"),
        None => format!("{arch} {os}"),
    }
}

fn words(recorded: &Recorded, file: &Path, args: &RecordArgs) -> String {
    let figures = &recorded.figures;
    let mut text = format!("{}\n", table::figures(figures));
    if !recorded.gates.is_empty() {
        let _ = writeln!(text, "{}", table::gates(&recorded.gates));
    }
    let mark = if figures.certified { "" } else { "WARNING: " };
    let _ = writeln!(text, "{mark}{}", table::verdict(figures));
    if recorded.interrupted {
        let _ = writeln!(
            text,
            "interrupted after {} steps; they are kept",
            figures.steps
        );
    }
    let size = std::fs::metadata(file).map_or(0.0, |data| data.len() as f64);
    let path = file.display();
    let _ = writeln!(
        text,
        "recording: {path}, run {}, {} frames; {} MB",
        recorded.run,
        recorded.frames,
        output::short(size / 1e6)
    );
    if let Some(metrics) = &args.metrics {
        let _ = writeln!(text, "metrics:   {}", metrics.display());
    }
    let _ = writeln!(
        text,
        "next:      moreau view {path} | moreau query {path} --heaviest 10 | moreau plot {path} | \
         moreau replay {path}"
    );
    text
}
