//! `moreau run`: steps a scene, and tells what it came to.

use crate::args::RunArgs;
use crate::dump::Dump;
use crate::fault::{self, Fault};
use crate::poses::PoseFile;
use crate::progress::Progress;
use crate::target::Target;
use crate::{interrupt, output, places, profile, scenes, solvers, table};
use moreau::WorldError;
use moreau::scene::{Figures, GateResult, ProfileFigures, Run, RunOptions, Verdict, evaluate};
use moreau::solver::SolveError;
use moreau_page::{About, Gate, Recording, html};
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The object that `--json` prints.
#[derive(Serialize)]
struct Summary<'a> {
    #[serde(flatten)]
    figures: &'a Figures,
    /// Whether the run was stopped before its end.
    interrupted: bool,
    gates: &'a [GateResult],
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<ProfileFigures>,
}

/// Runs a scene.
pub(crate) fn run(args: &RunArgs, quiet: bool) -> Result<ExitCode, Fault> {
    check_places(args)?;
    let mut scene = scenes::load(&args.scene)?;
    if let Some(name) = &args.solver {
        solvers::choose(name, &mut scene);
    }
    let options = RunOptions {
        dt: args.dt,
        steps: args.steps,
        threads: args.threads,
        // The page plots the stages.
        profile: args.profile || args.html.is_some(),
        ..RunOptions::default()
    };
    let mut run = scenes::start(&scene, options, "run")?;
    let names: Vec<_> = run
        .built()
        .names
        .iter()
        .map(|name| name.clone().unwrap_or_default())
        .collect();
    let target = |path: &Option<PathBuf>| path.as_deref().map(Target::new).transpose();
    let (poses, page) = (target(&args.poses)?, target(&args.html)?);
    let mut dump = match &args.dump_step {
        Some(values) => Some(Dump::new(values, run.steps())?),
        None => None,
    };
    let mut poses = match &poses {
        Some(target) => Some(PoseFile::create(target, run.world(), &names)?),
        None => None,
    };
    let mut recording = page
        .as_ref()
        .map(|_| Recording::start(run.world(), &names, run.steps()));

    let mut progress = Progress::new(run.steps(), "step", quiet);
    let gently = interrupt::gently();
    while !run.finished() && !interrupt::asked() {
        if let Some(dump) = &mut dump {
            dump.before_step(&mut run)?;
        }
        let report = match run.step() {
            Ok(report) => report,
            Err(error) => {
                // The poses before show how it came to this; the step's error is the one to tell.
                let _ = poses.map(PoseFile::finish);
                return Err(step_fault(&error, run.world().steps() + 1));
            }
        };
        if let Some(poses) = &mut poses {
            poses.write(run.world())?;
        }
        if let Some(recording) = &mut recording {
            recording.step(run.world(), &report);
        }
        progress.step();
    }
    drop(progress);
    drop(gently);

    if let Some(poses) = poses {
        poses.finish()?;
    }
    let figures = run.figures();
    if let (Some(page), Some(mut recording)) = (page, recording) {
        recording.finish();
        let _waiting = Progress::waiting("writing the page", quiet);
        let about = about(&run, &figures, &evaluate(&run));
        page.write(html(&recording, &about).as_bytes())?;
    }
    let gates = evaluate(&run);
    let interrupted = !run.finished();
    if args.json {
        let summary = Summary {
            figures: &figures,
            interrupted,
            gates: &gates,
            profile: run.profile().filter(|_| args.profile),
        };
        let json = serde_json::to_string(&summary)
            .map_err(|error| Fault::run(error.to_string(), "a figure cannot be printed as JSON"))?;
        output::print_rows(&(json + "\n"))?;
    } else {
        let mut text = words(args, &run, &figures, &gates);
        if let Some(line) = dump.and_then(|dump| dump.done) {
            let _ = writeln!(text, "{line}");
        }
        output::print(&text)?;
    }
    Ok(exit_code(&gates, interrupted))
}

/// Nothing that is written is the scene, or written twice.
fn check_places(args: &RunArgs) -> Result<(), Fault> {
    let dump = args.dump_step.as_ref().and_then(|values| values.get(1));
    let outputs = [
        ("--poses", args.poses.as_deref()),
        (
            if args.is_view { "-o" } else { "--html" },
            args.html.as_deref(),
        ),
        ("--dump-step", dump.map(Path::new)),
    ];
    let outputs: Vec<_> = outputs
        .into_iter()
        .filter_map(|(option, path)| Some((option, path?)))
        .collect();
    let scene = scenes::file(&args.scene);
    places::apart(scene.as_deref().as_slice(), &outputs)
}

/// What a step says that cannot be made.
fn step_fault(error: &WorldError, step: u64) -> Fault {
    let help = match error {
        WorldError::Solve(SolveError::Unsupported { .. }) => {
            "--solver auto solves each island by a solver that takes it"
        }
        _ => "a smaller --dt or a scene without such large velocities may help",
    };
    Fault::run(format!("step {step}: {error}"), help)
}

fn exit_code(gates: &[GateResult], interrupted: bool) -> ExitCode {
    if interrupted {
        return ExitCode::from(interrupt::EXIT);
    }
    let failed: Vec<_> = gates
        .iter()
        .filter(|gate| gate.verdict == Verdict::Failed)
        .collect();
    for gate in &failed {
        fault::say(&format!("gate failed: {gate}"));
    }
    ExitCode::from(if failed.is_empty() { 0 } else { fault::RUN })
}

fn about(run: &Run, figures: &Figures, gates: &[GateResult]) -> About {
    let verdict = table::verdict(figures);
    let mut letters = verdict.chars();
    let first = letters
        .next()
        .map(|c| c.to_uppercase().to_string())
        .unwrap_or_default();
    About {
        scene: figures.scene.clone(),
        description: run.scene().description.clone(),
        dt: run.dt(),
        verdict: first + letters.as_str(),
        certified: figures.certified,
        gates: gates.iter().map(page_gate).collect(),
        note: format!(
            "moreau {}, solver {}, {}, steps of {} s, state {}",
            env!("CARGO_PKG_VERSION"),
            figures.solver,
            if figures.threads == 1 {
                "1 thread".into()
            } else {
                format!("{} threads", figures.threads)
            },
            output::short(run.dt()),
            figures.state_hash,
        ),
    }
}

/// As the page lists it.
pub(crate) fn page_gate(gate: &GateResult) -> Gate {
    let found = gate
        .found
        .map_or("not reached".into(), |x| output::digits(x, 7));
    Gate {
        verdict: gate.verdict,
        text: format!("{} at step {}: {found}", table::subject(gate), gate.step),
        full: gate.to_string(),
    }
}

fn words(args: &RunArgs, run: &Run, figures: &Figures, gates: &[GateResult]) -> String {
    let mut text = figures.scene.clone();
    if !run.scene().description.is_empty() {
        let _ = write!(text, ": {}", run.scene().description);
    }
    let _ = write!(text, "\n{}\n", table::figures(figures));
    if !figures.solvers.is_empty() {
        let _ = writeln!(text, "{}", table::solvers(figures));
    }
    if let Some(profile) = run.profile().filter(|_| args.profile) {
        let _ = writeln!(text, "{}", profile::table(&profile));
        let _ = writeln!(text, "{}", profile::words(&profile));
    }
    if !gates.is_empty() {
        let _ = writeln!(text, "{}", table::gates(gates));
    }
    let verdict = table::verdict(figures);
    let mark = if figures.certified { "" } else { "WARNING: " };
    let _ = writeln!(text, "{mark}{verdict}");
    if !figures.certified {
        let _ = writeln!(text, "{}", table::UNCERTIFIED);
    }
    if !run.finished() {
        let _ = writeln!(
            text,
            "interrupted after {} of {} steps",
            figures.steps,
            run.steps()
        );
    }
    if let Some(path) = &args.poses {
        let _ = writeln!(text, "poses: {}", path.display());
    }
    if let Some(path) = &args.html {
        let _ = writeln!(text, "page:  {}", output::page(path, args.opens));
    }
    text
}
