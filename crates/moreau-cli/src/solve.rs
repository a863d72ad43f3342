//! `moreau solve`: solves contact problems from files, and tells how right the answers are.

use crate::args::SolveArgs;
use crate::fault::{self, Fault};
use crate::progress::Progress;
use crate::target::Target;
use crate::{output, places, table};
use clap::builder::{PossibleValue, PossibleValuesParser};
use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, ContentArrangement};
use moreau::solve::{FileAnswer, SOLVERS, SolveFileError, SolveLimits, solve_file};
use moreau::solver::files::{ProblemFile, load};
use moreau::{StopReason, Vec3};
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// The object that `--json` prints.
#[derive(Serialize)]
struct Summary<'a> {
    solver: &'a str,
    /// Whether all are.
    certified: bool,
    problems: &'a [Solved],
    /// Files without an answer.
    refused: &'a [Refused],
}

/// A file that could not be read or solved.
#[derive(Debug, Serialize)]
struct Refused {
    file: String,
    error: String,
    #[serde(skip)]
    fault: Fault,
}

/// One solved file.
#[derive(Serialize)]
struct Solved {
    file: String,
    contacts: usize,
    rows: usize,
    certified: bool,
    stop: StopReason,
    sweeps: u32,
    factorizations: u32,
    ms: f64,
    tolerance_m_s: f64,
    residual_m_s: f64,
    natural_map: f64,
    scaled_natural_map: f64,
    energy_merit_j: f64,
}

/// Takes the names of the solvers.
pub(crate) fn parser() -> PossibleValuesParser {
    SOLVERS
        .iter()
        .map(|solver| PossibleValue::new(solver.name).help(solver.about))
        .collect::<Vec<_>>()
        .into()
}

/// Solves all files.
pub(crate) fn run(args: &SolveArgs, quiet: bool) -> Result<ExitCode, Fault> {
    if args.impulses.is_some() && args.files.len() != 1 {
        let help = "solve the files one by one";
        return Err(Fault::input(
            "--impulses takes the answer of one file",
            help,
        ));
    }
    let inputs: Vec<_> = args.files.iter().map(PathBuf::as_path).collect();
    let output = args.impulses.as_deref();
    places::apart(&inputs, output.map(|path| ("--impulses", path)).as_slice())?;
    let output = output.map(Target::new).transpose()?;
    let mut solved = Vec::with_capacity(args.files.len());
    let mut refused = Vec::new();
    let mut progress = Progress::new(args.files.len() as u64, "file", quiet);
    for path in &args.files {
        let file = load(path).map_err(|error| unreadable(path, &error.to_string()));
        match file.and_then(|file| solve(path, &file, args)) {
            Ok((row, answer)) => {
                if let Some(target) = &output {
                    target.write(impulses(&answer.impulses.contacts).as_bytes())?;
                }
                solved.push(row);
            }
            Err(fault) => refused.push(Refused {
                file: path.display().to_string(),
                error: fault.report.to_string(),
                fault,
            }),
        }
        progress.step();
    }
    drop(progress);
    if solved.is_empty()
        && refused.len() == 1
        && let Some(only) = refused.pop()
    {
        return Err(only.fault);
    }
    let certified = refused.is_empty() && solved.iter().all(|row| row.certified);
    if args.json {
        let summary = Summary {
            solver: &args.solver,
            certified,
            problems: &solved,
            refused: &refused,
        };
        let json = serde_json::to_string(&summary)
            .map_err(|error| Fault::run(error.to_string(), "a figure cannot be printed as JSON"))?;
        output::print_rows(&(json + "\n"))?;
    } else {
        output::print(&words(args, &solved, refused.len()))?;
    }
    for row in solved.iter().filter(|row| !row.certified) {
        fault::say(&format!(
            "{}: NOT certified: residual {} m/s, tolerance {} m/s, {}",
            row.file,
            output::short(row.residual_m_s),
            output::short(row.tolerance_m_s),
            row.stop
        ));
    }
    for file in &refused {
        fault::print(&format!("{:?}", file.fault.report));
    }
    let code = match (certified, refused.is_empty()) {
        (true, _) => 0,
        (false, true) => fault::RUN,
        (false, false) => fault::INPUT,
    };
    Ok(ExitCode::from(code))
}

fn solve(path: &Path, file: &ProblemFile, args: &SolveArgs) -> Result<(Solved, FileAnswer), Fault> {
    let own = file.reference().map(|reference| reference.tolerance());
    let defaults = SolveLimits::default();
    let limits = SolveLimits {
        tolerance: args.tol.or(own).unwrap_or(defaults.tolerance),
        ..defaults
    };
    let start = Instant::now();
    let answer = solve_file(file, &args.solver, &limits).map_err(|error| {
        let help = match error {
            SolveFileError::Solve(_) => "`moreau solve --help` says what each solver is for",
            _ => "choose another with --solver",
        };
        Fault::input(format!("{}: {error}", path.display()), help)
    })?;
    let ms = start.elapsed().as_secs_f64() * 1e3;
    let row = Solved {
        file: path.display().to_string(),
        contacts: answer.impulses.contacts.len(),
        rows: answer.impulses.rows.len(),
        certified: answer.certified(),
        stop: answer.report.stop,
        sweeps: answer.report.sweeps,
        factorizations: answer.report.factorizations,
        ms,
        tolerance_m_s: answer.tolerance,
        residual_m_s: answer.residual,
        natural_map: answer.measures.natural_map,
        scaled_natural_map: answer.measures.scaled_natural_map,
        energy_merit_j: answer.measures.energy,
    };
    Ok((row, answer))
}

fn unreadable(path: &Path, message: &str) -> Fault {
    let path = path.display().to_string();
    // Some messages begin with the path.
    let message = message
        .strip_prefix(&format!("{path}: "))
        .unwrap_or(message);
    let help = "a problem file is a public text file, a reference problem or a file that \
                `moreau run --dump-step` wrote";
    Fault::input(format!("{path}: {message}"), help)
}

/// One contact a line: normal, tangent 1, tangent 2, N s, with all digits.
fn impulses(impulses: &[Vec3]) -> String {
    let mut text = String::new();
    for l in impulses {
        let _ = writeln!(text, "{:?} {:?} {:?}", l.x, l.y, l.z);
    }
    text
}

fn words(args: &SolveArgs, solved: &[Solved], refused: usize) -> String {
    let mut table = table::new(NOTHING);
    // A number that is broken into lines cannot be read.
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header([
        "problem",
        "contacts",
        "certified",
        "sweeps",
        "factored",
        "ms",
        "residual m/s",
        "natural map",
        "scaled",
        "merit J",
    ]);
    for row in solved {
        let name = Path::new(&row.file).file_name();
        let name = name.map_or_else(|| row.file.clone(), |n| n.to_string_lossy().into_owned());
        let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
        let short = |x: f64| right(output::digits(x, 3));
        table.add_row([
            Cell::new(name),
            right(row.contacts.to_string()),
            right(if row.certified { "yes" } else { "NO" }.into()),
            right(row.sweeps.to_string()),
            right(row.factorizations.to_string()),
            short(row.ms),
            short(row.residual_m_s),
            short(row.natural_map),
            short(row.scaled_natural_map),
            right(output::digits(row.energy_merit_j, 6)),
        ]);
    }
    let mut text = if solved.is_empty() {
        String::new()
    } else {
        format!("{table}\n")
    };
    let count = solved.iter().filter(|row| row.certified).count();
    let _ = writeln!(
        text,
        "{count} of {} certified, solver {}",
        solved.len() + refused,
        args.solver
    );
    if refused > 0 {
        let _ = writeln!(text, "{refused} could not be read or solved");
    }
    if let Some(path) = &args.impulses {
        let _ = writeln!(text, "impulses: {}", path.display());
    }
    text
}
