//! `moreau query --islands`: how each island of a recorded step was solved.

use super::args::{Format, QueryArgs};
use super::{fault, query, table};
use crate::fault::Fault;
use crate::interrupt;
use crate::output::{self, short};
use crate::poses::quoted;
use crate::progress::Progress;
use comfy_table::Cell;
use moreau_record::{IslandRecord, RecordedRun};
use serde_json::json;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

const HEADER: &str = "frame,first_body,name,bodies,contact_points,joints,solver,stop,sweeps,factorizations,\
    residual,worst_contact,guarded\n";

pub(crate) fn run(
    file: &Path,
    run: &RecordedRun<'_>,
    args: &QueryArgs,
    quiet: bool,
) -> Result<ExitCode, Fault> {
    if let Some(frame) = args.frame {
        run.frame(frame).map_err(|error| fault(&error))?;
    }
    let (first, last) = query::asked(run, args);
    let mut progress = Progress::new((last + 1).saturating_sub(first), "frame", quiet);
    let mut found = Vec::new();
    let mut any = false;
    let _gently = interrupt::gently();
    for frame in first..=last {
        if interrupt::asked() {
            return Ok(ExitCode::from(interrupt::EXIT));
        }
        let islands = run.islands(frame).map_err(|error| fault(&error))?;
        any |= !islands.is_empty();
        let wanted = |island: &IslandRecord| !args.uncertified || !island.certified();
        found.extend(islands.into_iter().filter(wanted));
        if let Some(most) = args.worst {
            found.sort_by(|a, b| {
                let order = b.residual.total_cmp(&a.residual);
                order.then((a.frame, a.first_body).cmp(&(b.frame, b.first_body)))
            });
            found.truncate(most);
        }
        progress.step();
    }
    drop(progress);
    if !any {
        let reports = run.reports().map_err(|error| fault(&error))?;
        let asked = reports.iter().filter(|r| (first..=last).contains(&r.frame));
        if asked.map(|r| r.islands).sum::<u64>() > 0 {
            return Err(Fault::input(
                format!(
                    "{}: run {} was recorded without its islands",
                    file.display(),
                    run.number()
                ),
                "recordings have them from schema version 3 on; record it again",
            ));
        }
    }
    match args.format {
        Format::Table => output::print(&words(run, &found)),
        Format::Csv => output::print_rows(&csv(run, &found)),
        Format::Json => output::print_rows(&objects(run, &found)),
    }?;
    Ok(ExitCode::SUCCESS)
}

fn words(run: &RecordedRun<'_>, islands: &[IslandRecord]) -> String {
    if islands.is_empty() {
        return "no islands\n".into();
    }
    let header = [
        "frame",
        "first\nbody",
        "bodies",
        "contacts",
        "solver",
        "answer",
        "residual\nm/s",
        "sweeps",
        "factored",
        "joints",
    ];
    let (mut rows, columns) = table::fitting(&header, 7);
    for r in islands.iter().take(table::MOST_ROWS) {
        let name = table::name(run, r.first_body);
        let counts = |count: u64| table::right(count.to_string());
        let row = [
            counts(r.frame),
            Cell::new(name.unwrap_or_else(|| r.first_body.to_string())),
            counts(r.bodies),
            counts(r.contact_points),
            Cell::new(r.solver),
            Cell::new(if r.certified() { "certified" } else { r.stop }),
            table::right(short(r.residual)),
            counts(r.sweeps),
            counts(r.factorizations),
            counts(r.joints),
        ];
        rows.add_row(row.into_iter().take(columns));
    }
    let count = islands.len();
    let word = if count == 1 { "island" } else { "islands" };
    let mut text = format!("{rows}\n{count} {word}");
    if count > table::MOST_ROWS {
        let most = table::MOST_ROWS;
        let _ = write!(text, ", the first {most} shown; --format csv prints all");
    }
    text + "\n"
}

/// A line an island; numbers read back to the bit.
fn csv(run: &RecordedRun<'_>, islands: &[IslandRecord]) -> String {
    let mut text = HEADER.to_owned();
    for r in islands {
        let worst = r.worst_contact.map_or(String::new(), |at| at.to_string());
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{},{},{},{:?},{worst},{}",
            r.frame,
            r.first_body,
            quoted(&table::name(run, r.first_body).unwrap_or_default()),
            r.bodies,
            r.contact_points,
            r.joints,
            r.solver,
            r.stop,
            r.sweeps,
            r.factorizations,
            r.residual,
            r.guarded
        );
    }
    text
}

/// The same as a list of objects.
fn objects(run: &RecordedRun<'_>, islands: &[IslandRecord]) -> String {
    let object = |r: &IslandRecord| {
        let value = json!({
            "frame": r.frame,
            "first_body": r.first_body.to_string(),
            "name": table::name(run, r.first_body),
            "bodies": r.bodies,
            "contact_points": r.contact_points,
            "joints": r.joints,
            "solver": r.solver,
            "stop": r.stop,
            "sweeps": r.sweeps,
            "factorizations": r.factorizations,
            "residual": r.residual,
            "worst_contact": r.worst_contact,
            "guarded": r.guarded,
        });
        value.to_string()
    };
    let all: Vec<_> = islands.iter().map(object).collect();
    format!("[{}]\n", all.join(",\n"))
}
