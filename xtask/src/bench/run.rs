//! Runs of the command `moreau`, each in a process of its own.

use serde_json::{Value, json};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A program that was built for this.
pub(crate) struct Program(PathBuf);

/// What a run printed, and the most memory that its process had.
pub(crate) struct Sample {
    pub(crate) figures: Value,
    /// Bytes; `None` where the system does not tell.
    pub(crate) peak: Option<u64>,
}

impl Program {
    /// Builds a program in the release profile.
    pub(crate) fn build(root: &Path, arguments: &[&str]) -> Result<Self, String> {
        let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
        let output = Command::new(cargo)
            .current_dir(root)
            .args(["build", "--release", "--message-format=json"])
            .args(arguments)
            .stderr(Stdio::inherit())
            .output()
            .map_err(|e| format!("cargo: {e}"))?;
        if !output.status.success() {
            return Err(format!("cargo build {} failed", arguments.join(" ")));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let messages = text.lines().filter_map(|l| serde_json::from_str(l).ok());
        let path = messages
            .filter_map(|m: Value| m["executable"].as_str().map(PathBuf::from))
            .next_back();
        path.map(Self)
            .ok_or_else(|| format!("cargo build {} made no program", arguments.join(" ")))
    }

    /// The program, with arguments.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.0);
        command.args(arguments);
        command
    }

    /// What Callgrind says of a run of the program. An error where it cannot be started.
    pub(crate) fn under_valgrind(&self, arguments: &[&str]) -> Result<String, String> {
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(&self.0)
            .args(arguments)
            .output()
            .map_err(|e| format!("valgrind: {e}"))?;
        Ok(String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// Steps a scene file.
    pub(crate) fn sample(&self, scene: &Path, steps: u64, threads: u64) -> Result<Sample, String> {
        let (steps, threads) = (steps.to_string(), threads.to_string());
        let path = scene.to_string_lossy();
        let mut child = self
            .command(&["run", &path, "--json", "--profile"])
            .args(["--steps", &steps, "--threads", &threads])
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| e.to_string())?;
        let Some(mut out) = child.stdout.take() else {
            return Err("a run without output".into());
        };
        let reader = std::thread::spawn(move || {
            let mut text = String::new();
            out.read_to_string(&mut text).map(|_| text)
        });
        let peak = watch(&mut child)?;
        let text = reader.join().map_err(|_| "the reader broke down")?;
        let text = text.map_err(|e| e.to_string())?;
        // A missed gate is no reason to measure nothing: the snapshots are there for that.
        let figures = serde_json::from_str(&text).map_err(|e| format!("{path}: {e}"))?;
        Ok(Sample { figures, peak })
    }
}

/// Waits for the end of a process; the most memory that it had.
fn watch(child: &mut Child) -> Result<Option<u64>, String> {
    let status = format!("/proc/{}/status", child.id());
    let mut peak = None;
    while child.try_wait().map_err(|e| e.to_string())?.is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|l| l.strip_prefix("VmHWM:"));
        let word = line.and_then(|l| l.split_whitespace().next());
        peak = word
            .and_then(|w| w.parse::<u64>().ok())
            .map(|kb| 1024 * kb)
            .or(peak);
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(peak)
}

impl Sample {
    /// A number of the figures, by the names that lead to it.
    pub(crate) fn number(&self, path: &[&str]) -> f64 {
        let value = path.iter().fold(&self.figures, |value, key| &value[*key]);
        value.as_f64().unwrap_or(f64::NAN)
    }

    /// Median of a measured step, ms; NaN where the run ended before the first of them.
    pub(crate) fn ms(&self) -> f64 {
        let ms = self.number(&["ms_per_step_median"]);
        if ms > 0.0 { ms } else { f64::NAN }
    }

    /// The scene's name.
    pub(crate) fn scene(&self) -> &str {
        self.figures["scene"].as_str().unwrap_or_default()
    }

    /// Names and shares of the stages of a step, largest first.
    pub(crate) fn stages(&self) -> Vec<(&str, f64)> {
        let stages = self.figures["profile"]["stages"].as_array();
        let stages = stages.into_iter().flatten().filter_map(|stage| {
            let share = stage["share"].as_f64()?;
            Some((stage["stage"].as_str()?, share))
        });
        let mut stages: Vec<_> = stages.collect();
        stages.sort_by(|a, b| b.1.total_cmp(&a.1));
        stages
    }
}

/// The scenes of the fixtures, in the order of their names.
pub(crate) fn scene_files(root: &Path) -> Result<Vec<PathBuf>, String> {
    let folder = root.join("fixtures/scenes");
    let entries = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "json"));
    paths.sort();
    Ok(paths)
}

/// How many steps a scene file has.
pub(crate) fn steps_of(path: &Path) -> Result<u64, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let scene = moreau::scene::Scene::from_json(&text);
    scene
        .map(|s| s.steps)
        .map_err(|e| format!("{}: {e}", path.display()))
}

/// Writes a scene of the fixtures with gravity that leans to the side by so many 1e-7 m/s².
pub(crate) fn write_leaning(root: &Path, name: &str, run: usize) -> Result<PathBuf, String> {
    let from = root.join(format!("fixtures/scenes/{name}.json"));
    let text = fs::read_to_string(&from).map_err(|e| format!("{}: {e}", from.display()))?;
    let scene = serde_json::from_str(&text);
    let mut scene: Value = scene.map_err(|e| format!("{}: {e}", from.display()))?;
    let gravity = scene["gravity"][0].as_f64().unwrap_or(0.0);
    scene["gravity"][0] = json!(gravity + 1e-7 * run as f64);
    write_scene(root, &format!("{name}_{run}"), &scene)
}

/// Writes the scene of a pile of balls that fill a container from wall to wall and settle by a hair.
pub(crate) fn write_pile(root: &Path, counts: [u32; 3], steps: u64) -> Result<PathBuf, String> {
    const SPACING: f64 = 0.505;
    let count: u32 = counts.iter().product();
    let inside = |n: u32| f64::from(n) * SPACING + 0.02;
    let scene = json!({
        "format": "moreau-scene",
        "version": 1,
        "name": format!("pile_{count}"),
        "steps": steps,
        "measure_from": steps / 2,
        "generate": [{"pile": {
            "body": {"shape": {"sphere": {"radius": 0.25}}, "friction": 0.5},
            "counts": counts,
            "spacing": [SPACING, SPACING, SPACING],
            "jitter": 0.002,
            "random_rotation": false,
            "at": [0, 0.26, 0],
            "seed": 1,
            "container": {
                "inside": [inside(counts[0]), inside(counts[1])],
                "height": f64::from(counts[2]) * SPACING + 1.0
            }
        }}]
    });
    write_scene(root, &format!("pile_{count}"), &scene)
}

/// Into the folder of what benches need.
fn write_scene(root: &Path, name: &str, scene: &Value) -> Result<PathBuf, String> {
    let folder = root.join("target/bench");
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let path = folder.join(format!("{name}.json"));
    let text = serde_json::to_string(scene).map_err(|e| e.to_string())?;
    fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(path)
}
