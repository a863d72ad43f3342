//! `new`, `accept`, `review`, `list` and `prune`: everything about the files themselves.

use super::check::first_change;
use super::diff::{self, git};
use super::figure;
use super::fixtures::{Fixtures, SceneFile};
use super::golden::{Golden, first_difference};
use super::page;
use super::run::{self, Outcome, RUNG};
use std::fmt::Display;
use std::io::{self, BufRead, IsTerminal, Write};
use std::time::Instant;

/// Longest that a run of a snapshot should take, s, unless told otherwise: each is run about three
/// times by every check.
const BUDGET: f64 = 3.0;

/// Steps that every snapshot makes if its scene does, whatever they take.
const LEAST: u64 = 48;

/// Runs a scene and makes its snapshot; says why not.
///
/// Refused: a missed gate, a run that is not the same on two threads or after a restore.
fn mint(file: &SceneFile, steps: u64, reason: &str) -> Result<Golden, String> {
    let mut outcome = run::measure(file, steps)?;
    refuse(file, &outcome)?;
    run::check_bits(file, &outcome, steps).map_err(|e| format!("{}: refused: {e}", file.name))?;
    run::widen_tolerances(file, steps, &mut outcome)?;
    Ok(outcome.golden(file, steps, reason))
}

fn refuse(file: &SceneFile, outcome: &Outcome) -> Result<(), String> {
    match outcome.missed().next() {
        Some(gate) => Err(format!(
            "{}: refused: gate missed: {gate}\n  a gate is a closed-form answer; mend the code, \
             not the snapshot",
            file.name
        )),
        None => Ok(()),
    }
}

/// The reason on one line, or why it is none.
fn checked_reason(reason: &str) -> Result<String, String> {
    let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    if reason.is_empty() {
        return Err("say why with --reason: the next reader of the file will ask".into());
    }
    Ok(reason)
}

/// How many steps a snapshot of the scene should make: all up to its last gate, or of the scene if
/// it has none, and less where that would take too long.
fn default_steps(file: &SceneFile) -> Result<u64, String> {
    let fail = |e: &dyn Display| format!("{}: {e}", file.name);
    let wanted = file.last_gate();
    let mut world = file.scene.build().map_err(|e| fail(&e))?.world;
    let clock = Instant::now();
    while world.steps() < wanted {
        world.step(file.scene.dt).map_err(|e| fail(&e))?;
        let steps = world.steps();
        if clock.elapsed().as_secs_f64() > BUDGET && steps >= LEAST && steps.is_multiple_of(RUNG) {
            return Ok(steps);
        }
    }
    Ok(wanted)
}

/// Makes snapshots of scenes that have none; of all those where `all` says so.
pub(crate) fn new(
    fixtures: &Fixtures,
    scenes: &[String],
    all: bool,
    steps: Option<u64>,
    reason: &str,
) -> Result<bool, String> {
    let reason = checked_reason(reason)?;
    let known = fixtures.goldens()?;
    let has = |name: &String| known.iter().any(|golden| golden.scene == *name);
    let scenes = if all {
        fixtures
            .scene_names()?
            .into_iter()
            .filter(|name| !has(name))
            .collect()
    } else {
        scenes.to_vec()
    };
    if let Some(name) = scenes.iter().find(|name| has(name)) {
        return Err(format!(
            "there is a snapshot of `{name}`; change it with: cargo xtask snapshot accept {name} \
             --reason TEXT"
        ));
    }
    each(&scenes, |name| {
        let file = fixtures.scene(name)?;
        let steps = match steps {
            Some(steps) => steps,
            None => default_steps(&file)?,
        };
        let golden = mint(&file, steps, &reason)?;
        println!("wrote {} ({steps} steps)", fixtures.write(&golden)?);
        Ok(())
    })
}

/// Writes snapshots again.
pub(crate) fn accept(
    fixtures: &Fixtures,
    scenes: &[String],
    steps: Option<u64>,
    reason: &str,
) -> Result<bool, String> {
    let reason = checked_reason(reason)?;
    let goldens = fixtures.goldens_of(scenes)?;
    each(&goldens, |golden| {
        accept_one(fixtures, golden, steps, &reason)
    })
}

fn accept_one(
    fixtures: &Fixtures,
    golden: &Golden,
    steps: Option<u64>,
    reason: &str,
) -> Result<(), String> {
    let file = fixtures.scene(&golden.scene)?;
    let fresh = mint(&file, steps.unwrap_or(golden.steps), reason)?;
    if (Golden {
        reason: golden.reason.clone(),
        ..fresh.clone()
    }) == *golden
    {
        println!("{} is as it was; nothing to accept", golden.scene);
        return Ok(());
    }
    println!("wrote {}", fixtures.write(&fresh)?);
    // Another solver has another file.
    if fresh.solver != golden.solver {
        println!("removed {}", fixtures.remove(golden)?);
    }
    Ok(())
}

/// Does all, and says what failed; whether nothing did.
fn each<T>(items: &[T], mut act: impl FnMut(&T) -> Result<(), String>) -> Result<bool, String> {
    let mut fine = true;
    for item in items {
        if let Err(message) = act(item) {
            println!("{message}");
            fine = false;
        }
    }
    Ok(fine)
}

/// Shows what moved in each scene that changed; asks what to do about it on a terminal. With `pages` it
/// writes a page for each.
pub(crate) fn review(fixtures: &Fixtures, scenes: &[String], pages: bool) -> Result<bool, String> {
    let goldens = fixtures.goldens_of(scenes)?;
    let asks = io::stdin().is_terminal() && io::stdout().is_terminal();
    let mut changed = 0;
    let mut accepted = 0;
    for golden in &goldens {
        let file = fixtures.scene(&golden.scene)?;
        let outcome = run::measure(&file, golden.steps)?;
        let Some(change) = first_change(golden, &file, &outcome, false) else {
            continue;
        };
        changed += 1;
        println!(
            "{} ({}), {} steps: {change}",
            golden.scene, golden.solver, golden.steps
        );
        print!("{}", table(golden, &outcome));
        if pages {
            match review_page(fixtures, golden, &outcome) {
                Ok(name) => println!("    both runs, one over the other: {name}"),
                Err(message) => println!("    no page: {message}"),
            }
        }
        if !asks {
            continue;
        }
        match ask("accept, skip or quit [a/s/q]? ")?.as_str() {
            "a" | "accept" => {
                let done = checked_reason(&ask("reason: ")?)
                    .and_then(|reason| accept_one(fixtures, golden, None, &reason));
                match done {
                    Ok(()) => accepted += 1,
                    Err(message) => println!("{message}"),
                }
            }
            "q" | "quit" => break,
            _ => {}
        }
    }
    println!(
        "{changed} of {} snapshots changed, {accepted} accepted",
        goldens.len()
    );
    Ok(changed == accepted)
}

fn review_page(fixtures: &Fixtures, golden: &Golden, outcome: &Outcome) -> Result<String, String> {
    let revision = diff::snapshot_revision(&fixtures.root, golden)?;
    let other = diff::Other::check_out(&fixtures.root, &revision)?;
    page::write(fixtures, golden, &outcome.figures, &other)
}

/// Old and new figures; `!` marks those that moved too far, `~` those that moved within tolerance.
fn table(golden: &Golden, outcome: &Outcome) -> String {
    let mut text = String::new();
    let too_far = figure::moved(&golden.figures, &outcome.figures);
    for new in &outcome.figures {
        let old = golden.figures.iter().find(|f| f.name == new.name);
        let mark = match old {
            _ if too_far.iter().any(|m| m.name == new.name) => '!',
            Some(old) if old.value == new.value => ' ',
            _ => '~',
        };
        let value = |f: &figure::Figure| format!("{:?}", f.value);
        text += &format!(
            "  {mark} {:22} {:>24} {:>24} {:4} {}\n",
            new.name,
            old.map_or("-".into(), value),
            value(new),
            new.unit,
            old.map_or(new.tolerance, |old| old.tolerance)
        );
    }
    for gone in too_far.iter().filter(|m| m.new.is_none()) {
        text += &format!("  ! {gone}\n");
    }
    for gate in &outcome.gates {
        let mark = if outcome.missed().any(|missed| missed == gate) {
            '!'
        } else {
            ' '
        };
        text += &format!("  {mark} gate {gate}\n");
    }
    match first_difference(&golden.ladder, &outcome.ladder) {
        Some((common, step, lanes)) => {
            let lanes = lanes.join(", ");
            text += &format!("  ! state: same at step {common}, not at step {step}: {lanes}\n");
        }
        None => text += "    state: the same\n",
    }
    text
}

fn ask(question: &str) -> Result<String, String> {
    print!("{question}");
    io::stdout().flush().map_err(|e| e.to_string())?;
    let mut answer = String::new();
    io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|e| e.to_string())?;
    Ok(answer.trim().to_owned())
}

/// Prints a table of all snapshots.
pub(crate) fn list(fixtures: &Fixtures) -> Result<bool, String> {
    let goldens = fixtures.goldens()?;
    let width = goldens
        .iter()
        .map(|g| g.scene.len())
        .max()
        .unwrap_or(0)
        .max("scene".len());
    println!(
        "{:width$}  solver  steps  written     state             reason",
        "scene"
    );
    for golden in &goldens {
        let file = Fixtures::snapshot_file(golden);
        let date = git(&fixtures.root, &["log", "-1", "--format=%as", "--", &file]);
        let date = date
            .ok()
            .filter(|date| !date.is_empty())
            .unwrap_or("not yet".into());
        let state = golden
            .ladder
            .last()
            .map_or("-".into(), |rung| rung.hash.to_string());
        let Golden {
            scene,
            solver,
            steps,
            reason,
            ..
        } = golden;
        println!("{scene:width$}  {solver:6}  {steps:>5}  {date:10}  {state:16}  {reason}");
    }
    Ok(true)
}

/// Removes the snapshots whose scene is gone.
pub(crate) fn prune(fixtures: &Fixtures) -> Result<bool, String> {
    let goldens = fixtures.goldens()?;
    let gone: Vec<&Golden> = goldens
        .iter()
        .filter(|g| !fixtures.has_scene(&g.scene))
        .collect();
    for golden in &gone {
        println!("removed {}", fixtures.remove(golden)?);
    }
    println!(
        "{} of {} snapshots had lost their scene",
        gone.len(),
        goldens.len()
    );
    Ok(true)
}
