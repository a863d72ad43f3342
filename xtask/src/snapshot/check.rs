//! `check`: every snapshot against this build. Never writes.

use super::figure;
use super::fixtures::{Fixtures, SceneFile};
use super::golden::{Golden, first_difference};
use super::run::{self, Outcome};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// How to check.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// Gates and figures only: another compiler or target may round elsewhere.
    pub(crate) portable: bool,
    /// Scenes at a time.
    pub(crate) jobs: usize,
}

/// What a snapshot's check came to.
pub(crate) struct Verdict {
    /// What holds.
    held: String,
    /// What moved first; empty where all is well.
    wrong: String,
}

/// Compares an outcome with a snapshot: what moved first, if anything did.
///
/// The order is that of weight: a missed gate is a wrong answer, a moved figure another answer,
/// another hash another bit.
pub(crate) fn first_change(
    golden: &Golden,
    file: &SceneFile,
    outcome: &Outcome,
    portable: bool,
) -> Option<String> {
    if let Some(gate) = outcome.missed().next() {
        return Some(format!("gate missed: {gate}"));
    }
    if golden.file_hash != file.hash || golden.dt != file.scene.dt {
        return Some("the scene's file changed since".into());
    }
    if golden.solver != outcome.solver {
        return Some(format!(
            "solved by {}, was {}",
            outcome.solver, golden.solver
        ));
    }
    let effect = moved_figure(golden, outcome).or_else(|| {
        if portable {
            None
        } else {
            moved_state(golden, outcome)
        }
    });
    match (changed_setting(golden, outcome), effect) {
        // The cause, and what came of it.
        (Some((name, old, new)), effect) => {
            let effect = effect.unwrap_or("nothing else moved".into());
            Some(format!("setting {name} {old} -> {new}; {effect}"))
        }
        (None, effect) => effect,
    }
}

/// The first figure that moved too far, and how many others did.
fn moved_figure(golden: &Golden, outcome: &Outcome) -> Option<String> {
    let moved = figure::moved(&golden.figures, &outcome.figures);
    let first = moved.first()?;
    Some(match moved.len() {
        1 => first.to_string(),
        n => format!("{first}, and {} more", n - 1),
    })
}

/// The first rung that differs.
fn moved_state(golden: &Golden, outcome: &Outcome) -> Option<String> {
    let (common, step, lanes) = first_difference(&golden.ladder, &outcome.ladder)?;
    let lanes = if lanes.is_empty() {
        "no such rung".to_owned()
    } else {
        lanes.join(", ")
    };
    Some(format!(
        "state differs at step {step}, not at step {common} ({lanes})"
    ))
}

/// The first setting that differs: name, old and new value.
fn changed_setting(golden: &Golden, outcome: &Outcome) -> Option<(String, String, String)> {
    let find = |rows: &[(String, String)], name: &str| {
        let row = rows.iter().find(|(key, _)| key == name);
        row.map_or("none".to_owned(), |(_, value)| value.clone())
    };
    let rows = golden.settings.iter().chain(&outcome.settings);
    rows.map(|(name, _)| {
        (
            find(&golden.settings, name),
            find(&outcome.settings, name),
            name,
        )
    })
    .find(|(old, new, _)| old != new)
    .map(|(old, new, name)| (name.clone(), old, new))
}

fn check_one(fixtures: &Fixtures, golden: &Golden, portable: bool) -> Verdict {
    let start = Instant::now();
    let mut compared = String::new();
    let result = fixtures.scene(&golden.scene).and_then(|file| {
        let outcome = run::measure(&file, golden.steps)?;
        compared = format!(
            "{} of {} gates, {} figures",
            outcome.passed(),
            outcome.gates.len(),
            outcome.figures.len()
        );
        if let Some(wrong) = first_change(golden, &file, &outcome, portable) {
            return Err(wrong);
        }
        if !portable {
            run::check_bits(&file, &outcome, golden.steps)?;
            compared += &format!(
                ", {} hashes, 2 threads, restored at step {}",
                outcome.ladder.len(),
                outcome.dense
            );
        }
        Ok(())
    });
    let seconds = start.elapsed().as_secs_f64();
    Verdict {
        held: format!("{:>4} steps {seconds:>5.1} s  {compared}", golden.steps),
        wrong: result.err().unwrap_or_default(),
    }
}

/// Checks snapshots and prints a line for each; whether all is well.
pub(crate) fn check(
    fixtures: &Fixtures,
    scenes: &[String],
    options: Options,
) -> Result<bool, String> {
    let start = Instant::now();
    let mut goldens = fixtures.goldens_of(scenes)?;
    let width = goldens.iter().map(|g| g.scene.len()).max().unwrap_or(0);
    // The longest first, so that the last one to end is short.
    let cost = |g: &Golden| {
        let bodies = g.figures.iter().find(|f| f.name == "max_contact_points");
        g.steps as f64 * bodies.map_or(1.0, |f| 1.0 + f.value)
    };
    goldens.sort_by(|a, b| {
        cost(b)
            .total_cmp(&cost(a))
            .then_with(|| a.scene.cmp(&b.scene))
    });
    let mut failed = side_by_side(&goldens, options.jobs, |golden| {
        let verdict = check_one(fixtures, golden, options.portable);
        let line = format!(
            "{:width$}  {}  {}",
            golden.scene, golden.solver, verdict.held
        );
        (line, verdict.wrong)
    });
    if scenes.is_empty() {
        for name in fixtures.scene_names()? {
            if !goldens.iter().any(|golden| golden.scene == name) {
                failed += 1;
                println!(
                    "FAIL  {name}: no snapshot; cargo xtask snapshot new {name} --reason TEXT"
                );
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{} of {} snapshots hold ({seconds:.1} s)",
        goldens.len() - failed.min(goldens.len()),
        goldens.len()
    );
    if failed > 0 {
        println!(
            "see what moved with `cargo xtask snapshot review`, where it started with \
             `cargo xtask snapshot diff SCENE`"
        );
    }
    Ok(failed == 0)
}

/// Works through `items`, `jobs` at a time, and prints a line for each as it ends: what holds, and
/// what is wrong if anything. How many were wrong.
pub(crate) fn side_by_side<T: Sync>(
    items: &[T],
    jobs: usize,
    work: impl Fn(&T) -> (String, String) + Sync,
) -> usize {
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(0_usize);
    let run = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (line, wrong) = work(item);
            // The lock also keeps lines whole.
            let mut failed = failed.lock().unwrap_or_else(|e| e.into_inner());
            if wrong.is_empty() {
                println!("ok    {line}");
            } else {
                *failed += 1;
                println!("FAIL  {line}: {wrong}");
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..jobs.max(1) {
            scope.spawn(run);
        }
        run();
    });
    failed.into_inner().unwrap_or_else(|e| e.into_inner())
}

/// Runs scenes to their last gate, however long that takes; whether none is missed.
pub(crate) fn check_gates(
    fixtures: &Fixtures,
    scenes: &[String],
    jobs: usize,
) -> Result<bool, String> {
    let scenes = if scenes.is_empty() {
        fixtures.scene_names()?
    } else {
        scenes.to_vec()
    };
    let files: Vec<SceneFile> = scenes
        .iter()
        .map(|name| fixtures.scene(name))
        .collect::<Result<_, _>>()?;
    let width = scenes.iter().map(String::len).max().unwrap_or(0);
    let failed = side_by_side(&files, jobs, |file| {
        let start = Instant::now();
        let steps = file.last_gate();
        match run::measure(file, steps) {
            Err(wrong) => (file.name.clone(), wrong),
            Ok(outcome) => {
                let (passed, all) = (outcome.passed(), outcome.gates.len());
                let seconds = start.elapsed().as_secs_f64();
                let missed: Vec<String> = outcome.missed().map(|gate| gate.to_string()).collect();
                let line = format!(
                    "{:width$}  {steps:>5} steps {seconds:>5.1} s  {passed} of {all} gates",
                    file.name
                );
                (line, missed.join("; "))
            }
        }
    });
    println!(
        "{} of {} scenes give what they must",
        files.len() - failed,
        files.len()
    );
    Ok(failed == 0)
}
