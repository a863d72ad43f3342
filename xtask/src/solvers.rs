//! `cargo xtask solvers`: every solver on every problem file, compared.
//!
//! The problems are the large sets where they are at hand (`MOREAU_PROBLEMS`, or `../shared/problems`
//! beside the workspace), else the ones in `fixtures/problems`. An answer counts where its own
//! certificate is within the tolerance, whatever the solver says.

mod curves;
mod plot;
mod profile;
mod trial;

use clap::Args;
use moreau::solver::files::{ProblemFile, load};
use profile::Profile;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use trial::Trial;

/// What to compare on.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Folders of problem files
    #[arg(value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Natural map (m/s) within which an answer counts, in typical velocities of the problem where
    /// the file says what is typical
    #[arg(long, value_name = "M/S", default_value = "1e-8")]
    tol: f64,
    /// Where the plots go
    #[arg(long, value_name = "DIR", default_value = "target/solvers")]
    out: PathBuf,
    /// Prints what each solver did on each problem
    #[arg(long)]
    each: bool,
    /// Problems whose residual is plotted against the work: parts of file names
    #[arg(long, value_name = "NAME", default_values = curves::PROBLEMS)]
    curve: Vec<String>,
}

/// A problem and where it is from.
pub(crate) struct Problem {
    pub(crate) name: String,
    pub(crate) file: ProblemFile,
}

/// Runs all, prints the tables, writes the plots.
pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<bool, String> {
    if !(arguments.tol > 0.0 && arguments.tol.is_finite()) {
        return Err(format!("--tol is {}, must be positive", arguments.tol));
    }
    let problems = read(&folders(root, &arguments.folders))?;
    let trials = trial::run(&problems, arguments.tol);
    if arguments.each {
        print!("{}", each(&problems, &trials));
    }
    let profile = Profile::new(&trials);
    print!("{}", profile.table());

    let out = root.join(&arguments.out);
    std::fs::create_dir_all(&out).map_err(|e| format!("{}: {e}", out.display()))?;
    let mut plots = vec![("solver-profile.svg", profile.plot(arguments.tol))];
    if let Some(curves) = curves::plot(&problems, &arguments.curve) {
        plots.push(("solver-curves.svg", curves));
    }
    for (name, svg) in plots {
        let path = out.join(name);
        std::fs::write(&path, svg).map_err(|e| format!("{}: {e}", path.display()))?;
        println!("{}", path.display());
    }
    Ok(true)
}

/// The folders that were named, or those at hand.
fn folders(root: &Path, named: &[PathBuf]) -> Vec<PathBuf> {
    if !named.is_empty() {
        return named.to_vec();
    }
    let sets = std::env::var_os("MOREAU_PROBLEMS")
        .map_or_else(|| root.join("../shared/problems"), PathBuf::from);
    let made = sets.join("made");
    if made.is_dir() {
        return vec![made];
    }
    eprintln!(
        "no {} (set MOREAU_PROBLEMS): only fixtures/problems",
        made.display()
    );
    vec![root.join("fixtures/problems")]
}

/// All problem files of the folders, in the order of their names.
fn read(folders: &[PathBuf]) -> Result<Vec<Problem>, String> {
    let mut problems = Vec::new();
    for folder in folders {
        let entries =
            std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|e| e == "dat" || e == "json"));
        paths.sort();
        for path in paths {
            let file = load(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            problems.push(Problem {
                name: name.into_owned(),
                file,
            });
        }
    }
    if problems.is_empty() {
        return Err("the folders hold no problem files (.dat, .json)".into());
    }
    Ok(problems)
}

/// Milliseconds of each solver on each problem; the residual in brackets where it does not count.
fn each(problems: &[Problem], trials: &[Vec<Trial>]) -> String {
    let mut text = format!("{:<38} {:>8}", "problem", "contacts");
    for trial in &trials[0] {
        let _ = write!(text, " {:>12}", trial.solver);
    }
    text.push('\n');
    for (problem, row) in problems.iter().zip(trials) {
        let contacts = problem.file.contacts();
        let _ = write!(text, "{:<38.38} {contacts:>8}", problem.name);
        for trial in row {
            let cell = match (trial.ms(), trial.residual) {
                (Some(ms), _) => format!("{ms:.3}"),
                (None, Some(residual)) => format!("({residual:.1e})"),
                (None, None) => "-".into(),
            };
            let _ = write!(text, " {cell:>12}");
        }
        text.push('\n');
    }
    text.push('\n');
    text
}
