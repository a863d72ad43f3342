//! One engine in a process of its own. It reads orders, a line each, and answers each with a line:
//!
//! ```text
//! step N  ->  the times of N steps, s, as a JSON list
//! end     ->  an End as JSON; the process is done
//! ```

use crate::engines;
use crate::layout::Layout;
use crate::measure::Measures;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Write};
use std::time::Instant;

/// What is told at the end.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct End {
    #[serde(flatten)]
    pub(crate) measures: Measures,
    /// Largest natural map of a step, m/s, where the engine tells it.
    pub(crate) residual_m_s: Option<f64>,
    /// How much more memory is resident than before the engine's world was built; where the system
    /// tells it.
    pub(crate) bytes: Option<u64>,
}

pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let [engine, scene] = arguments else {
        return Err("worker ENGINE SCENE".into());
    };
    let layout = Layout::load(scene)?;
    let before = resident();
    let mut engine = engines::build(engine, &layout)?;
    let mut out = std::io::stdout();
    let mut answer = |text: String| {
        let written = writeln!(out, "{text}").and_then(|()| out.flush());
        written.map_err(|e| e.to_string())
    };
    for order in std::io::stdin().lock().lines() {
        let order = order.map_err(|e| e.to_string())?;
        if let Some(count) = order.strip_prefix("step ") {
            let count: u32 = count.parse().map_err(|_| format!("{order:?}"))?;
            let times: Vec<f64> = (0..count)
                .map(|_| {
                    let start = Instant::now();
                    engine.step();
                    start.elapsed().as_secs_f64()
                })
                .collect();
            answer(serde_json::to_string(&times).map_err(|e| e.to_string())?)?;
        } else {
            let bytes = resident()
                .zip(before)
                .map(|(now, then)| now.saturating_sub(then));
            let end = End {
                measures: Measures::of(&layout, &engine.state()),
                residual_m_s: engine.residual(),
                bytes,
            };
            answer(serde_json::to_string(&end).map_err(|e| e.to_string())?)?;
            break;
        }
    }
    Ok(())
}

/// Bytes of this process that are in memory.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(1024 * kilobytes)
}
