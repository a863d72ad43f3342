//! All engines on one scene, in turns, and the table of what came out.

use crate::engines;
use crate::layout::Layout;
use crate::worker::End;
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Steps of a turn.
const TURN: u64 = 10;

/// What an engine made of a scene.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    scene: String,
    engine: String,
    steps: u64,
    /// Median and least time of a step from the scene's `measure_from` on, ms.
    ms_median: f64,
    ms_min: f64,
    /// Mean time of all steps, ms.
    ms_mean: f64,
    #[serde(flatten)]
    end: End,
}

struct Worker {
    name: &'static str,
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    times: Vec<f64>,
}

impl Worker {
    fn start(name: &'static str, scene: &str) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|e| e.to_string())?;
        let mut child = Command::new(program)
            .args(["worker", name, scene])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| e.to_string())?;
        let (Some(orders), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("a worker without pipes".into());
        };
        Ok(Self {
            name,
            child,
            orders,
            answers: BufReader::new(answers),
            times: Vec::new(),
        })
    }

    fn ask(&mut self, order: &str) -> Result<String, String> {
        let fail = |e: std::io::Error| format!("{}: {e}", self.name);
        writeln!(self.orders, "{order}").map_err(fail)?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer).map_err(fail)?;
        if answer.is_empty() {
            return Err(format!("{} broke down at {order:?}", self.name));
        }
        Ok(answer)
    }

    fn steps(&mut self, count: u64) -> Result<(), String> {
        let answer = self.ask(&format!("step {count}"))?;
        let times: Vec<f64> = serde_json::from_str(&answer).map_err(|e| e.to_string())?;
        self.times.extend(times);
        Ok(())
    }
}

/// Steps the scene in all engines.
pub(crate) fn scene(name: &str, quick: bool) -> Result<Vec<Row>, String> {
    let scene = Layout::load(name)?.scene;
    let (steps, from) = if quick {
        ((scene.steps / 10).max(1), scene.measure_from / 10)
    } else {
        (scene.steps, scene.measure_from)
    };
    let start = |engine: &&'static str| Worker::start(engine, name);
    let mut workers = engines::NAMES
        .iter()
        .map(start)
        .collect::<Result<Vec<_>, _>>()?;
    let terminal = std::io::stderr().is_terminal();
    let mut done = 0;
    while done < steps {
        let count = TURN.min(steps - done);
        for worker in &mut workers {
            worker.steps(count)?;
        }
        done += count;
        if terminal {
            eprint!("\r{name}: step {done} of {steps}");
        }
    }
    eprintln!("{}{name}: {steps} steps", if terminal { "\r" } else { "" });
    let mut rows = Vec::new();
    for mut worker in workers {
        let end = worker.ask("end")?;
        let end: End = serde_json::from_str(&end).map_err(|e| e.to_string())?;
        let _ = worker.child.wait();
        let mut measured = worker.times[from as usize..].to_vec();
        measured.sort_by(f64::total_cmp);
        rows.push(Row {
            scene: name.into(),
            engine: worker.name.into(),
            steps,
            ms_median: 1e3 * measured[measured.len() / 2],
            ms_min: 1e3 * measured[0],
            ms_mean: 1e3 * worker.times.iter().sum::<f64>() / steps as f64,
            end,
        });
    }
    Ok(rows)
}

/// The rows for people.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text = format!(
        "{:<18} {:<13} {:>9} {:>9} {:>9} {:>11} {:>9} {:>9} {:>9} {:>8}\n",
        "scene",
        "engine",
        "ms median",
        "ms min",
        "ms mean",
        "overlap um",
        "drift m",
        "speed m/s",
        "residual",
        "MB"
    );
    for (index, row) in rows.iter().enumerate() {
        if index > 0 && row.scene != rows[index - 1].scene {
            text.push('\n');
        }
        let m = &row.end.measures;
        let drift = match (m.drift_m, m.spin_drift) {
            (Some(drift), _) => format!("{drift:.1e}"),
            (None, Some(spin)) => format!("L {spin:.0e}"),
            (None, None) => "-".into(),
        };
        let residual = row.end.residual_m_s;
        let bytes = row.end.bytes;
        let _ = writeln!(
            text,
            "{:<18} {:<13} {:>9.4} {:>9.4} {:>9.4} {:>11.2} {:>9} {:>9.1e} {:>9} {:>8}",
            row.scene,
            row.engine,
            row.ms_median,
            row.ms_min,
            row.ms_mean,
            1e6 * m.penetration_m,
            drift,
            m.speed_m_s,
            residual.map_or("-".into(), |r| format!("{r:.0e}")),
            bytes.map_or("-".into(), |b| format!("{:.1}", b as f64 / 1e6)),
        );
    }
    text
}
