//! The page: template, style, program and data in one file.

use super::base64;
use super::pack::pack;
use super::recording::{BodyRecord, JointRecord, Recording, SERIES_COLUMNS};
use super::solids::Solid;
use moreau::Shape;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const TEMPLATE: &str = include_str!("assets/page.html");
const STYLE: &str = include_str!("assets/style.css");
/// One scope: the order is that of the text, no file needs another one before it runs.
const SCRIPTS: [&str; 9] = [
    include_str!("assets/math.js"),
    include_str!("assets/data.js"),
    include_str!("assets/meshes.js"),
    include_str!("assets/shaders.js"),
    include_str!("assets/renderer.js"),
    include_str!("assets/camera.js"),
    include_str!("assets/plots.js"),
    include_str!("assets/scene.js"),
    include_str!("assets/app.js"),
];

/// What a page says about its run besides the recording.
#[derive(Clone, Debug)]
pub(crate) struct About {
    /// Name of the scene.
    pub(crate) scene: String,
    /// A sentence on it.
    pub(crate) description: String,
    /// Length of a step, s.
    pub(crate) dt: f64,
    /// Whether every step was certified, in words.
    pub(crate) verdict: String,
    /// Whether it was.
    pub(crate) certified: bool,
    /// The scene's gates.
    pub(crate) gates: Vec<Gate>,
    /// Solver, threads, hash.
    pub(crate) note: String,
}

/// One of the scene's gates, and how it came out.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Gate {
    /// How.
    pub(crate) verdict: moreau::scene::Verdict,
    /// What came out, in short.
    pub(crate) text: String,
    /// What came out, what is allowed and why.
    pub(crate) full: String,
}

#[derive(Serialize)]
struct Meta<'a> {
    scene: &'a str,
    description: &'a str,
    dt: f64,
    verdict: Verdict<'a>,
    gates: &'a [Gate],
    notes: Vec<String>,
    up: [f64; 3],
    bodies: &'a [BodyRecord],
    shapes: Vec<Value>,
    joints: &'a [JointRecord],
    frame_steps: &'a [u64],
    contact_steps: Vec<u64>,
    /// Smallest x, y, z of all contact points, then their ranges, m.
    contact_box: [f32; 6],
    impulse_max: f32,
    impulse_typical: f32,
    speed_typical: f64,
    series_columns: [&'static str; SERIES_COLUMNS.len()],
    sections: BTreeMap<&'static str, (usize, usize)>,
}

#[derive(Serialize)]
struct Verdict<'a> {
    good: bool,
    text: &'a str,
}

/// The page of a recording.
pub(crate) fn html(recording: &Recording, about: &About) -> String {
    let packed = pack(recording);
    let (low, high) = recording.contacts.bounds();
    let (impulse_max, impulse_typical) = recording.contacts.impulses();
    let meta = Meta {
        scene: &about.scene,
        description: &about.description,
        dt: about.dt,
        verdict: Verdict {
            good: about.certified,
            text: &about.verdict,
        },
        gates: &about.gates,
        notes: notes(recording, about, packed.position_rounding),
        up: recording.up,
        bodies: &recording.bodies,
        shapes: recording.shapes.iter().map(shape).collect(),
        joints: &recording.joints,
        frame_steps: &recording.frame_steps,
        contact_steps: recording
            .contacts
            .steps
            .iter()
            .map(|(step, _)| *step)
            .collect(),
        contact_box: std::array::from_fn(|i| {
            if i < 3 {
                low[i]
            } else {
                high[i - 3] - low[i - 3]
            }
        }),
        impulse_max,
        impulse_typical,
        speed_typical: recording.max_speed,
        series_columns: SERIES_COLUMNS,
        sections: packed.sections,
    };
    // A "<" could end the element that holds the text.
    let meta = json!(meta).to_string().replace('<', "\\u003c");
    let deflated = miniz_oxide::deflate::compress_to_vec(&packed.bytes, 6);
    let mut data = String::new();
    base64::encode(&deflated, &mut data);
    fill(&[
        ("/*STYLE*/", STYLE),
        ("/*META*/", &meta),
        ("/*DATA*/", &data),
        ("/*SCRIPT*/", &SCRIPTS.join("\n")),
    ])
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

fn notes(recording: &Recording, about: &About, rounding: f32) -> Vec<String> {
    let mut notes = vec![about.note.clone()];
    let every = |stride: u64| match stride {
        1 => "every step".to_owned(),
        n => format!("one step in {n}"),
    };
    notes.push(format!(
        "The numbers and plots are those of every step's report, unrounded. The picture shows {}, \
         contacts of {}, positions rounded to {:.1e} m.",
        every(recording.stride),
        every(recording.contacts.stride()),
        rounding,
    ));
    notes
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
            json!({ "kind": "hull", "vertices": vertices, "faces": solid.faces })
        }
    }
}
