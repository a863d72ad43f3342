//! The page: template, program and data in one file.

use crate::base64;
use crate::contacts::{DIRECTION_UNITS, NORMAL_UNITS, ROOT_UNITS, UNITS};
use crate::exact::{BODY_COLUMNS, CONTACT_COLUMNS, CONTACT_WORDS, ISLAND_COLUMNS, ISLAND_WORDS};
use crate::frame::{BodyRecord, JointRecord, SERIES_COLUMNS};
use crate::pack::{Packed, pack};
use crate::recording::Recording;
use crate::solids::Solid;
use moreau::Shape;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What `web/build.mjs` makes of `web/src`.
const TEMPLATE: &str = include_str!("../assets/page.html");

/// What a page says about its run besides the recording.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Name of the scene.
    pub scene: String,
    /// A sentence on it.
    pub description: String,
    /// Length of a step, s.
    pub dt: f64,
    /// Whether every step was certified, in words; may be empty.
    pub verdict: String,
    /// Whether it was.
    pub certified: bool,
    /// The scene's gates.
    pub gates: Vec<Gate>,
    /// Solver, threads, hash.
    pub note: String,
}

impl About {
    /// Says only what the scene is called and how long a step is, s.
    pub fn named(scene: &str, dt: f64) -> Self {
        Self {
            scene: scene.to_owned(),
            dt,
            ..Self::default()
        }
    }
}

/// One of the scene's gates, and how it came out.
#[derive(Clone, Debug, Serialize)]
pub struct Gate {
    /// How.
    pub verdict: moreau::scene::Verdict,
    /// What came out, in short.
    pub text: String,
    /// What came out, what is allowed and why.
    pub full: String,
}

/// A figure of a run over the versions of the code, for the table of an overlaid page.
#[derive(Clone, Debug, Serialize)]
pub struct History {
    /// Name of the figure.
    pub name: String,
    /// Its unit; may be empty.
    pub unit: String,
    /// Whether the last value is further from the one before than is allowed.
    pub moved: bool,
    /// What is allowed, in words.
    pub tolerance: String,
    /// Version and value, the oldest first.
    pub values: Vec<(String, f64)>,
}

#[derive(Serialize)]
struct Meta<'a> {
    scene: &'a str,
    description: &'a str,
    dt: f64,
    verdict: Verdict<'a>,
    gates: &'a [Gate],
    notes: Vec<String>,
    runs: Vec<RunMeta<'a>>,
    history: &'a [History],
    series_columns: [&'static str; SERIES_COLUMNS.len()],
    body_columns: [&'static str; BODY_COLUMNS.len()],
    contact_words: [&'static str; CONTACT_WORDS.len()],
    contact_columns: [&'static str; CONTACT_COLUMNS.len()],
    island_words: [&'static str; ISLAND_WORDS.len()],
    island_columns: [&'static str; ISLAND_COLUMNS.len()],
}

#[derive(Serialize)]
struct RunMeta<'a> {
    label: &'a str,
    up: [f64; 3],
    bodies: &'a [BodyRecord],
    shapes: Vec<Value>,
    joints: &'a [JointRecord],
    first_step: u64,
    unknown_contacts: Vec<u64>,
    frame_steps: &'a [u64],
    body_steps: &'a [u64],
    /// Of the contacts in the picture.
    contact_steps: &'a [u64],
    /// Of the contacts with all their bits.
    row_steps: &'a [u64],
    island_steps: &'a [u64],
    /// Words that islands refer to.
    island_names: &'a [&'static str],
    most_contacts: usize,
    /// How far each shape reaches from its origin, m; null where it has no end.
    reach: Vec<Option<f64>>,
    reach_units: f64,
    root_units: f32,
    normal_units: f64,
    direction_units: f64,
    impulse_max: f32,
    impulse_typical: f32,
    speed_typical: f64,
    sections: BTreeMap<&'static str, (usize, usize)>,
}

#[derive(Serialize)]
struct Verdict<'a> {
    good: bool,
    text: &'a str,
}

/// Letters of a page, but for a run so long that the figures of its steps alone take them.
const MOST_LETTERS: usize = 25_000_000;

/// Of these, what the places of sections may take, and what deflating all of them together may differ by.
const SPARE_LETTERS: usize = 100_000;

/// The page of a recording.
pub fn html(recording: &Recording, about: &About) -> String {
    page(&[("", recording)], about, &[])
}

/// The page of two recordings of one scene, each with a label: the first is played, the second is
/// drawn over it in outlines. `history` becomes a table.
pub fn html_overlaid(runs: [(&str, &Recording); 2], about: &About, history: &[History]) -> String {
    page(&runs, about, history)
}

fn page(runs: &[(&str, &Recording)], about: &About, history: &[History]) -> String {
    let whole: Vec<_> = runs.iter().map(|(_, r)| Packed::whole(r)).collect();
    let others = TEMPLATE.len() + text(runs, &whole, about, history).len() + SPARE_LETTERS;
    // Three bytes become four letters.
    let room = MOST_LETTERS.saturating_sub(others) / 4 * 3;
    let mut bytes = Vec::new();
    let mut all = Vec::new();
    for (_, recording) in runs {
        let mut packed = pack(recording, bytes, room / runs.len());
        bytes = std::mem::take(&mut packed.bytes);
        all.push(packed);
    }
    let meta = text(runs, &all, about, history);
    let deflated = miniz_oxide::deflate::compress_to_vec(&bytes, 7);
    let mut data = String::new();
    base64::encode(&deflated, &mut data);
    fill(&[("/*META*/", &meta), ("/*DATA*/", &data)])
}

/// All that a page knows in words.
fn text(
    runs: &[(&str, &Recording)],
    packed: &[Packed],
    about: &About,
    history: &[History],
) -> String {
    let metas = runs.iter().zip(packed);
    let metas = metas.map(|((label, recording), packed)| run_meta(label, recording, packed));
    let meta = Meta {
        scene: &about.scene,
        description: &about.description,
        dt: about.dt,
        verdict: Verdict {
            good: about.certified,
            text: &about.verdict,
        },
        gates: &about.gates,
        notes: notes(runs[0].1, about, &packed[0]),
        runs: metas.collect(),
        history,
        series_columns: SERIES_COLUMNS,
        body_columns: BODY_COLUMNS,
        contact_words: CONTACT_WORDS,
        contact_columns: CONTACT_COLUMNS,
        island_words: ISLAND_WORDS,
        island_columns: ISLAND_COLUMNS,
    };
    // A "<" could end the element that holds the text.
    json!(meta).to_string().replace('<', "\\u003c")
}

/// The template with its marks, in the order in which they stand there, replaced.
fn fill(parts: &[(&str, &str)]) -> String {
    let size: usize = parts.iter().map(|(_, text)| text.len()).sum();
    let mut out = String::with_capacity(TEMPLATE.len() + size);
    let mut rest = TEMPLATE;
    for (mark, text) in parts {
        let (before, after) = rest.split_once(mark).unwrap_or((rest, ""));
        out.push_str(before);
        out.push_str(text);
        rest = after;
    }
    out.push_str(rest);
    out
}

fn notes(recording: &Recording, about: &About, packed: &Packed) -> Vec<String> {
    let every = |stride: u64| match stride {
        1 => "every step".to_owned(),
        n => format!("one step in {n}"),
    };
    let known = packed.frames.steps.len() - unknown_contacts(recording, packed).len();
    let shown = match packed.contact_steps.len() {
        all if all == known => "all of them".to_owned(),
        some => format!("{some} of {known} of them"),
    };
    let policy = format!(
        "Printed numbers are those of the step that they name, unrounded (D shows all digits). They \
         are kept of every step for the figures and the heaviest contacts, of {} for bodies, of {} \
         for all contacts, of {} for islands. The picture shows {}, contacts of {}, positions rounded to {:.1e} m, \
         contact points to a 256th of a body's half.",
        every(packed.bodies.stride),
        every(packed.rows.stride),
        every(packed.islands.stride),
        every(packed.frames.stride),
        shown,
        packed.position_rounding,
    );
    let notes = [about.note.clone(), policy];
    notes.into_iter().filter(|note| !note.is_empty()).collect()
}

/// The shown steps of which it is not known where bodies touch.
fn unknown_contacts(recording: &Recording, packed: &Packed) -> Vec<u64> {
    let shown = |step: &u64| packed.frames.steps.binary_search(step).is_ok();
    let unknown = recording.unknown_contacts.iter().copied();
    unknown.filter(shown).collect()
}

fn run_meta<'a>(label: &'a str, recording: &'a Recording, packed: &'a Packed) -> RunMeta<'a> {
    let (impulse_max, impulse_typical) = recording.contacts.impulses();
    let stage = &recording.stage;
    RunMeta {
        label,
        up: stage.up.to_array(),
        bodies: &stage.bodies,
        shapes: stage.shapes.iter().map(shape).collect(),
        joints: &stage.joints,
        first_step: recording.first_step,
        unknown_contacts: unknown_contacts(recording, packed),
        frame_steps: &packed.frames.steps,
        body_steps: &packed.bodies.steps,
        contact_steps: &packed.contact_steps,
        row_steps: &packed.rows.steps,
        island_steps: &packed.islands.steps,
        island_names: &recording.exact.names,
        most_contacts: packed.most_contacts,
        reach: stage.shapes.iter().map(reach).collect(),
        reach_units: UNITS,
        root_units: ROOT_UNITS,
        normal_units: NORMAL_UNITS,
        direction_units: DIRECTION_UNITS,
        impulse_max,
        impulse_typical,
        speed_typical: recording.max_speed,
        sections: packed.sections.clone(),
    }
}

fn reach(shape: &Shape) -> Option<f64> {
    Some(shape.bounding_radius()).filter(|reach| reach.is_finite())
}

fn shape(shape: &Shape) -> Value {
    let kind = shape.kind();
    match shape {
        Shape::Sphere { radius } => json!({ "kind": kind, "radius": radius }),
        Shape::Cuboid { half_extents } => {
            json!({ "kind": kind, "half_extents": half_extents.to_array() })
        }
        Shape::Capsule {
            half_height,
            radius,
        }
        | Shape::Cylinder {
            half_height,
            radius,
        }
        | Shape::Cone {
            half_height,
            radius,
        } => {
            json!({ "kind": kind, "half_height": half_height, "radius": radius })
        }
        Shape::HalfSpace { normal } => json!({ "kind": kind, "normal": normal.to_array() }),
        Shape::Hull(hull) => {
            let vertices: Vec<_> = hull.vertices().iter().map(|v| v.to_array()).collect();
            let faces: Vec<_> = (0..hull.faces().len())
                .map(|f| hull.face_vertices(f))
                .collect();
            json!({ "kind": kind, "vertices": vertices, "faces": faces })
        }
        // Drawn as a hull is: by its faces.
        Shape::Mesh(_) | Shape::Heightfield(_) | Shape::Compound(_) => {
            let solid = Solid::new(shape);
            let vertices: Vec<_> = solid.vertices.iter().map(|v| v.to_array()).collect();
            let faces = solid.faces;
            json!({ "kind": "hull", "name": kind, "vertices": vertices, "faces": faces })
        }
    }
}
