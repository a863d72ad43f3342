//! `diff`: the first bit in which two builds part.
//!
//! The ladder says between which steps. The older build is made again from git, in a work tree
//! under the target folder, and both write down all numbers of those steps.

use super::check::first_change;
use super::compare::first_divergence;
use super::fixtures::{Fixtures, SceneFile};
use super::golden::{Golden, first_difference};
use super::trace::{StepTrace, Trace};
use super::{page, run};
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// Steps a scene and writes down the steps in `range`.
pub(crate) fn trace(file: &SceneFile, range: RangeInclusive<u64>) -> Result<Trace, String> {
    let fail = |e: String| format!("{}: {e}", file.name);
    let mut world = file.scene.build().map_err(|e| fail(e.to_string()))?.world;
    let mut trace = Trace::default();
    while world.steps() < *range.end() {
        let report = world.step(file.scene.dt).map_err(|e| fail(e.to_string()))?;
        if range.contains(&report.step) {
            trace.steps.push(StepTrace::of(&world, &report));
        }
    }
    Ok(trace)
}

/// Prints how this build differs from a snapshot, or from an older build, and where `page` says so writes
/// a page that shows both.
pub(crate) fn diff(
    fixtures: &Fixtures,
    golden: &Golden,
    against: Option<&str>,
    page: bool,
) -> Result<bool, String> {
    let file = fixtures.scene(&golden.scene)?;
    let outcome = run::measure(&file, golden.steps)?;
    println!(
        "{} ({}), {} steps",
        golden.scene, golden.solver, golden.steps
    );
    match first_change(golden, &file, &outcome, false) {
        Some(change) => println!("against the snapshot: {change}"),
        None => println!("against the snapshot: the same"),
    }
    let ladder = first_difference(&golden.ladder, &outcome.ladder);
    let range = match (&ladder, against) {
        (Some((common, step, _)), None) => common + 1..=*step,
        (None, None) => return Ok(true),
        (_, Some(_)) => 1..=golden.steps,
    };
    let revision = match against {
        Some(revision) => revision.to_owned(),
        None => snapshot_revision(&fixtures.root, golden)?,
    };
    let other = Other::check_out(&fixtures.root, &revision)?;
    println!("against {}: building", other.name);
    let same = match against {
        None => compare(&file, &other, range)?,
        Some(_) => compare_all(&file, &other, range)?,
    };
    if page && !same {
        let name = page::write(fixtures, golden, &outcome.figures, &other)?;
        println!("both runs, one over the other: {name}");
    }
    Ok(same)
}

/// Compares many steps of both builds; whether they are the same.
fn compare_all(
    file: &SceneFile,
    other: &Other,
    range: RangeInclusive<u64>,
) -> Result<bool, String> {
    // Window by window: a whole run of a large scene would not fit into memory.
    let mut start = *range.start();
    while start <= *range.end() {
        let end = (start + 15).min(*range.end());
        if !compare(file, other, start..=end)? {
            return Ok(false);
        }
        start = end + 1;
    }
    println!(
        "against {}: all {} steps are the same",
        other.name,
        range.end()
    );
    Ok(true)
}

/// Compares some steps of both builds; whether they are the same.
fn compare(file: &SceneFile, other: &Other, range: RangeInclusive<u64>) -> Result<bool, String> {
    let old = other.trace(&file.name, &range)?;
    let new = trace(file, range.clone())?;
    if let Some(divergence) = first_divergence(&old, &new) {
        println!("first difference from {}:\n{divergence}", other.name);
        return Ok(false);
    }
    if old.steps.len() != new.steps.len() {
        println!(
            "{} made {} of the steps {range:?}",
            other.name,
            old.steps.len()
        );
        return Ok(false);
    }
    Ok(true)
}

/// The commit that last wrote a snapshot: its code made that ladder.
pub(crate) fn snapshot_revision(root: &Path, golden: &Golden) -> Result<String, String> {
    let file = Fixtures::snapshot_file(golden);
    let found = git(root, &["log", "-1", "--format=%H", "--", &file])?;
    Ok(if found.is_empty() {
        "HEAD".to_owned()
    } else {
        found
    })
}

/// Runs git and gives what it prints.
pub(crate) fn git(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(arguments)
        .output();
    let output = output.map_err(|e| format!("cannot run git: {e}"))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(format!("git {}: {}", arguments.join(" "), why.trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Another revision, checked out under the target folder.
pub(crate) struct Other {
    /// Its short hash and subject.
    pub(crate) name: String,
    /// Holds `tree`, `target` and traces.
    folder: PathBuf,
}

impl Other {
    pub(crate) fn check_out(root: &Path, revision: &str) -> Result<Self, String> {
        let commit = git(
            root,
            &["rev-parse", "--verify", &format!("{revision}^{{commit}}")],
        )
        .map_err(|_| format!("there is no revision `{revision}`"))?;
        let name = git(root, &["log", "-1", "--format=%h (%s)", &commit])?;
        let folder = target_folder(root).join("snapshot-diff");
        let tree = folder.join("tree");
        fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        git(root, &["worktree", "prune"])?;
        if tree.join("Cargo.toml").is_file() {
            git(
                &tree,
                &["checkout", "--quiet", "--force", "--detach", &commit],
            )?;
        } else {
            let tree = tree.to_string_lossy();
            git(
                root,
                &[
                    "worktree", "add", "--quiet", "--force", "--detach", &tree, &commit,
                ],
            )?;
        }
        Ok(Self { name, folder })
    }

    /// Lets that revision trace a scene, its own file of it.
    fn trace(&self, scene: &str, range: &RangeInclusive<u64>) -> Result<Trace, String> {
        let out = self.folder.join("trace.bin");
        let steps = format!("{}..{}", range.start(), range.end());
        let file = out.to_string_lossy();
        let arguments = [
            "snapshot", "trace", scene, "--steps", &steps, "--out", &file,
        ];
        if !self.cargo("xtask", &arguments)?.success() {
            return Err(format!(
                "{} cannot trace `{scene}`: it does not build, or is older than the scene",
                self.name
            ));
        }
        let bytes = fs::read(&out).map_err(|e| format!("{}: {e}", out.display()))?;
        Trace::from_bytes(&bytes).map_err(|e| format!("{}: {e}", out.display()))
    }

    /// Lets that revision write the states of a scene, its own file of it, as CSV; returns where.
    pub(crate) fn poses(&self, scene: &str, steps: u64) -> Result<PathBuf, String> {
        let out = self.folder.join("poses.csv");
        let (file, steps) = (out.to_string_lossy(), steps.to_string());
        let arguments = ["run", scene, "--steps", &steps, "--json", "--poses", &file];
        let _ = fs::remove_file(&out);
        // A missed gate fails the run; its states are there all the same.
        self.cargo("moreau-cli", &arguments)?;
        if !out.is_file() {
            return Err(format!("{} cannot run `{scene}`", self.name));
        }
        Ok(out)
    }

    /// Runs a program of that revision.
    fn cargo(&self, package: &str, arguments: &[&str]) -> Result<ExitStatus, String> {
        Command::new("cargo")
            .current_dir(self.folder.join("tree"))
            .env("CARGO_TARGET_DIR", self.folder.join("target"))
            // The tree's own toolchain file counts.
            .env_remove("RUSTUP_TOOLCHAIN")
            .args(["run", "--quiet", "--package", package, "--"])
            .args(arguments)
            .stdout(Stdio::null())
            .status()
            .map_err(|e| format!("cannot run cargo: {e}"))
    }
}

/// Where this program was built to.
fn target_folder(root: &Path) -> PathBuf {
    let own = std::env::current_exe().ok();
    let folder = own.as_deref().and_then(|own| own.ancestors().nth(2));
    folder.map_or_else(|| root.join("target"), Path::to_owned)
}
