//! Runs and contacts as tables, CSV and JSON.

use crate::output::short;
use crate::poses::quoted;
use crate::table;
use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{Cell, CellAlignment, Table};
use moreau::{BodyId, Vec3};
use moreau_record::{ContactRecord, RecordedRun, RunInfo};
use serde_json::json;
use std::fmt::Write;
use std::path::Path;

/// Rows of a table for people.
pub(crate) const MOST_ROWS: usize = 50;

/// Columns of [`contacts_csv`].
pub(crate) const HEADER_LINE: &str = "frame,contact,a,b,name_a,name_b,part_a,part_b,feature,nx,ny,nz,\
    t1x,t1y,t1z,t2x,t2y,t2z,lever_ax,lever_ay,lever_az,lever_bx,lever_by,lever_bz,separation,penetration,\
    friction,restitution,approach_velocity,normal_impulse,tangent1_impulse,tangent2_impulse\n";

/// The runs of a recording.
pub(crate) fn runs(runs: &[RunInfo], file: &Path) -> String {
    let mut table = new(&[
        "run",
        "started (UTC)",
        "scene",
        "solver",
        "frames",
        "step",
        "ended",
    ]);
    for run in runs {
        let ended = run.ending.map_or("no", |ending| ending.name());
        let step = if run.dt > 0.0 {
            format!("{} s", short(run.dt))
        } else {
            "varies".into()
        };
        table.add_row([
            right(run.run.to_string()),
            Cell::new(&run.started),
            Cell::new(&run.scene),
            Cell::new(&run.solver),
            right(format!("{} to {}", run.first_frame, run.last_frame)),
            right(step),
            Cell::new(ended),
        ]);
    }
    let file = file.display();
    format!(
        "{table}\nheaviest contacts of the last run: moreau query {file} --heaviest 10\n\
         those of a frame:                  moreau query {file} --frame 100 --heaviest 1\n"
    )
}

/// The first of `count` contacts, for people.
pub(crate) fn contacts(run: &RecordedRun<'_>, contacts: &[ContactRecord], count: usize) -> String {
    if contacts.is_empty() {
        return "no contacts\n".into();
    }
    let header = [
        "frame",
        "contact",
        "a",
        "b",
        "normal\nN s",
        "friction\nN s",
        "overlap\nm",
        "approach\nm/s",
        "mu",
        "direction",
    ];
    let (mut table, columns) = fitting(&header, 8);
    let label = |id| name(run, id).unwrap_or_else(|| id.to_string());
    for c in contacts {
        let n = c.contact.normal;
        let row = [
            right(c.frame.to_string()),
            right(c.ordinal.to_string()),
            Cell::new(label(c.contact.a)),
            Cell::new(label(c.contact.b)),
            right(short(c.contact.impulse.x)),
            right(short(c.tangential_impulse())),
            right(short(c.penetration())),
            right(short(c.approach_speed())),
            right(short(c.contact.friction)),
            Cell::new(format!("{:.2} {:.2} {:.2}", n.x, n.y, n.z)),
        ];
        table.add_row(row.into_iter().take(columns));
    }
    let word = if count == 1 { "contact" } else { "contacts" };
    let mut text = format!("{table}\n{count} {word}");
    if count > MOST_ROWS {
        let _ = write!(
            text,
            ", the first {MOST_ROWS} shown; --format csv prints all"
        );
    }
    text + "\n"
}

/// All columns, a line a contact; numbers read back to the bit.
pub(crate) fn contacts_csv(run: &RecordedRun<'_>, contacts: &[ContactRecord]) -> String {
    let mut text = String::new();
    let label = |id| quoted(&name(run, id).unwrap_or_default());
    for record in contacts {
        let c = &record.contact;
        let _ = write!(
            text,
            "{},{},{},{},{},{},{},{},{}",
            record.frame,
            record.ordinal,
            c.a,
            c.b,
            label(c.a),
            label(c.b),
            c.part_a,
            c.part_b,
            c.feature.0
        );
        for v in [c.normal, c.tangent1, c.tangent2, c.lever_a, c.lever_b] {
            let _ = write!(text, ",{:?},{:?},{:?}", v.x, v.y, v.z);
        }
        let i = c.impulse;
        let rest = [
            c.separation,
            record.penetration(),
            c.friction,
            c.restitution,
            c.approach_velocity,
            i.x,
            i.y,
            i.z,
        ];
        for x in rest {
            let _ = write!(text, ",{x:?}");
        }
        text.push('\n');
    }
    text
}

/// The same as objects with commas between them.
pub(crate) fn contacts_json(run: &RecordedRun<'_>, contacts: &[ContactRecord]) -> String {
    let vector = |v: Vec3| v.to_array();
    let objects: Vec<_> = contacts
        .iter()
        .map(|record| {
            let c = &record.contact;
            json!({
                "frame": record.frame,
                "contact": record.ordinal,
                "a": c.a.to_string(),
                "b": c.b.to_string(),
                "name_a": name(run, c.a),
                "name_b": name(run, c.b),
                "part_a": c.part_a,
                "part_b": c.part_b,
                "feature": c.feature.0,
                "normal": vector(c.normal),
                "tangent1": vector(c.tangent1),
                "tangent2": vector(c.tangent2),
                "lever_a": vector(c.lever_a),
                "lever_b": vector(c.lever_b),
                "separation": c.separation,
                "penetration": record.penetration(),
                "friction": c.friction,
                "restitution": c.restitution,
                "approach_velocity": c.approach_velocity,
                "impulse": vector(c.impulse),
            })
            .to_string()
        })
        .collect();
    objects.join(",\n")
}

/// A body's name, where it has one.
pub(crate) fn name(run: &RecordedRun<'_>, id: BodyId) -> Option<String> {
    let bodies = run.bodies();
    // Most bodies are where their slot says.
    let guess = bodies.get(id.index as usize).filter(|b| b.id == id);
    let body = guess.or_else(|| bodies.iter().find(|b| b.id == id))?;
    (!body.name.is_empty()).then(|| body.name.clone())
}

pub(crate) fn right(text: String) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

/// A table, and how many of its columns have room: all, or the first `least` in a narrow terminal.
pub(crate) fn fitting(header: &[&str], least: usize) -> (Table, usize) {
    let width = table::new(UTF8_FULL_CONDENSED).width();
    let columns = if width.is_none_or(|width| width >= WIDE) {
        header.len()
    } else {
        least
    };
    (new(&header[..columns]), columns)
}

/// Columns of a terminal that is not narrow.
const WIDE: u16 = 104;

pub(crate) fn new(header: &[&str]) -> Table {
    let mut table = table::new(UTF8_FULL_CONDENSED);
    table.set_header(header.to_vec());
    table
}
