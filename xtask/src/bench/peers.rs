//! The other engines, by `benches/peers`.

use super::run::Program;
use serde::Deserialize;
use std::path::Path;
use std::process::Stdio;

const MANIFEST: &str = "benches/peers/Cargo.toml";

/// What an engine made of a scene.
#[derive(Debug, Deserialize)]
pub(crate) struct Row {
    pub(crate) scene: String,
    pub(crate) engine: String,
    /// That were made.
    pub(crate) steps: u64,
    pub(crate) ms_median: f64,
    pub(crate) ms_min: f64,
    pub(crate) ms_mean: f64,
    pub(crate) penetration_m: f64,
    pub(crate) drift_m: Option<f64>,
    pub(crate) speed_m_s: f64,
    pub(crate) spin_drift: Option<f64>,
    pub(crate) residual_m_s: Option<f64>,
    pub(crate) bytes: Option<u64>,
}

/// Builds the comparison; without the engine in C where that does not build.
pub(crate) fn build(root: &Path) -> Result<Program, String> {
    let all = Program::build(root, &["--manifest-path", MANIFEST, "--features", "box3d"]);
    all.or_else(|error| {
        eprintln!("{error}: going on without Box3D, which needs CMake, a C compiler and libclang");
        Program::build(root, &["--manifest-path", MANIFEST])
    })
}

/// Runs it.
pub(crate) fn compare(program: &Program, root: &Path, quick: bool) -> Result<Vec<Row>, String> {
    let file = root.join("target/bench/peers.json");
    let mut command = program.command(&["--json", &file.to_string_lossy()]);
    if quick {
        command.arg("--quick");
    }
    let status = command
        .stdout(Stdio::null())
        .status()
        .map_err(|e| e.to_string())?;
    if !status.success() {
        return Err("the comparison with other engines failed".into());
    }
    read(&file)
}

/// Figures that the comparison wrote.
pub(crate) fn read(file: &Path) -> Result<Vec<Row>, String> {
    let fail = |e: &dyn std::fmt::Display| format!("{}: {e}", file.display());
    let text = std::fs::read_to_string(file).map_err(|e| fail(&e))?;
    serde_json::from_str(&text).map_err(|e| fail(&e))
}

/// Names and versions of the engines, as locked.
pub(crate) fn versions(root: &Path) -> Vec<(String, String)> {
    let lock = std::fs::read_to_string(root.join("benches/peers/Cargo.lock")).unwrap_or_default();
    let mut lines = lock.lines();
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        let text =
            |line: &str, key: &str| Some(line.strip_prefix(key)?.trim_matches('"').to_owned());
        let Some(name) = text(line, "name = ") else {
            continue;
        };
        if ["rapier3d", "rapier3d-f64", "box3d-sys"].contains(&&*name)
            && let Some(version) = lines.next().and_then(|l| text(l, "version = "))
        {
            found.push((name, version));
        }
    }
    found
}
