//! The committed scenes: well-formed, in the printed form, and right where an answer is known.

use moreau_scene::{Cell, Run, RunOptions, Scene, import_text};
use std::io::Write;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/scenes")
}

/// All fixtures by name, sorted.
fn fixtures() -> Vec<(String, String)> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder()).expect("fixtures/scenes is there") {
        let path = entry.expect("a file").path();
        let name = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        assert_eq!(
            path.extension().and_then(|e| e.to_str()),
            Some("json"),
            "{name}"
        );
        out.push((name, std::fs::read_to_string(&path).expect("text")));
    }
    out.sort();
    assert!(out.len() >= 30, "only {} fixtures", out.len());
    out
}

fn fixture(name: &str) -> Scene {
    Scene::load(folder().join(format!("{name}.json"))).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn fixtures_are_well_formed_and_in_the_printed_form() {
    for (name, text) in fixtures() {
        let scene = fixture(&name);
        assert_eq!(scene.name, name);
        assert!(!scene.description.is_empty(), "{name} has no description");
        assert!(!scene.expect.is_empty(), "{name} has no gate");
        assert!(text.len() < 1_000_000, "{name} has {} bytes", text.len());
        let printed = scene.to_json();
        if std::env::var_os("MOREAU_UPDATE").is_some() {
            std::fs::write(folder().join(format!("{name}.json")), &printed).unwrap();
        } else {
            assert!(
                text == printed,
                "{name}.json is not in the printed form; rewrite it with\n    \
                 MOREAU_UPDATE=1 cargo test -p moreau-scene --test fixtures"
            );
        }
    }
}

/// Scenes that take minutes: `cargo xtask snapshot` holds their gates.
const LONG: [&str; 4] = [
    "pile_boxes_2000",
    "pile_hulls_1000",
    "pile_spheres_4000",
    "showcase",
];

#[test]
fn every_gate_passes() {
    let mut failures = Vec::new();
    let mut gates = 0;
    for (name, _) in fixtures() {
        if LONG.contains(&name.as_str()) {
            continue;
        }
        let mut run = Run::new(&fixture(&name), RunOptions::default()).unwrap();
        run.run_to_end()
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        for gate in moreau_scene::evaluate(&run) {
            gates += 1;
            if !gate.passed() {
                failures.push(format!("{name}: {gate}"));
            }
        }
    }
    assert!(gates > 100, "only {gates} gates");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The scenes that are handed between engines, and a hash of all their numbers.
const COMPARED: [(&str, u64); 12] = [
    ("billiards_2", 0x02fc95207a4445ba),
    ("billiards_5", 0x401aa1ca6616450c),
    ("columns", 0xcd135c5725311a5c),
    ("mass_ratio", 0x6ffea15e58c7d77b),
    ("pile_boxes_2000", 0x207a2d01357a0343),
    ("pile_hulls_1000", 0x5b45b25108270ff6),
    ("pile_spheres_4000", 0xa027507d7143f1a7),
    ("pyramid_20", 0x9cb386edd4b27a08),
    ("ramp_slide", 0x0e273f1b409dd101),
    ("ramp_stick", 0x6b3260b79a65bad1),
    ("spinning_top", 0xf25325a0c974785f),
    ("tower_30", 0x8c63b6c2f20aa912),
];

/// FNV-1a.
struct Hash(u64);

impl Hash {
    fn numbers(&mut self, numbers: &[f64]) {
        for byte in numbers.iter().flat_map(|x| x.to_bits().to_le_bytes()) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn text(&mut self, text: &str) {
        text.bytes()
            .for_each(|byte| self.numbers(&[f64::from(byte)]));
    }
}

/// Hash of what the world is made of: settings, then shape, mass, pose, velocity and surface of all
/// bodies in order.
fn numbers_hash(scene: &Scene) -> u64 {
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    hash.numbers(&scene.gravity().to_array());
    hash.numbers(&[scene.dt, scene.steps as f64, scene.measure_from as f64]);
    // What the file says, not what the world makes of it: masses are the collision crate's.
    for (_, shape) in scene.shapes.iter() {
        hash.text(&serde_json::to_string(shape).unwrap());
    }
    let built = scene.build().unwrap();
    for id in &built.bodies {
        let body = built.world.body(*id).unwrap();
        let (pose, velocity, material) = (body.pose(), body.velocity(), body.material());
        hash.numbers(&pose.rotation.to_array());
        hash.numbers(&velocity.linear.to_array());
        hash.numbers(&velocity.angular.to_array());
        hash.numbers(&[material.friction, material.restitution]);
    }
    for body in &scene.bodies {
        hash.numbers(&body.position);
        hash.numbers(&[body.density.unwrap_or(-1.0)]);
    }
    for table in &scene.instances {
        hash.numbers(&[table.body.density.unwrap_or(-1.0)]);
        for cell in table.rows.iter().flatten() {
            match cell {
                Cell::Number(x) => hash.numbers(&[*x]),
                Cell::Name(name) => hash.text(name),
            }
        }
    }
    hash.0
}

#[test]
fn the_numbers_of_the_compared_scenes_never_change() {
    let found: Vec<(&str, u64)> = COMPARED
        .iter()
        .map(|(name, _)| (*name, numbers_hash(&fixture(name))))
        .collect();
    for ((name, hash), (_, wanted)) in found.iter().zip(COMPARED) {
        assert_eq!(*hash, wanted, "{name}: {hash:#018x}; all: {found:#x?}");
    }
}

#[test]
fn the_compared_scenes_are_those_of_the_text_files() {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/scenes");
    let texts = std::env::var_os("MOREAU_SCENES").map_or(default, PathBuf::from);
    if !texts.is_dir() {
        // Past the capture of test output: a comparison that did not happen must be seen.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: there is no folder {} with the text files; MOREAU_SCENES names another",
            texts.display()
        );
        return;
    }
    for (name, _) in COMPARED {
        let path = texts.join(format!("{name}.txt"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut wanted = import_text(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let found = fixture(name);
        // These two are not in the text files.
        (wanted.description, wanted.expect) = (found.description.clone(), found.expect.clone());
        // By text, so that -0 and 0 differ.
        assert!(
            wanted.to_json() == found.to_json(),
            "{name} differs from {}",
            path.display()
        );
        compare_line_by_line(name, &text, &found);
    }
}

/// The same comparison without the importer: each `body` line against the built world.
fn compare_line_by_line(name: &str, text: &str, scene: &Scene) {
    let built = scene.build().unwrap();
    let lines: Vec<Vec<f64>> = text
        .lines()
        .filter_map(|line| line.strip_prefix("body "))
        .map(|line| {
            line.split_whitespace()
                .map(|word| word.parse().unwrap())
                .collect()
        })
        .collect();
    assert_eq!(lines.len(), built.bodies.len(), "{name}");
    for (i, (line, id)) in lines.iter().zip(&built.bodies).enumerate() {
        let body = built.world.body(*id).unwrap();
        let (q, v) = (body.rotation(), body.velocity());
        let mass = body.mass_properties();
        assert_eq!(line[1] == 1.0, mass.mass > 0.0, "{name} body {i}");
        let mut found = vec![q.x, q.y, q.z, q.w];
        found.extend(v.linear.to_array());
        found.extend(v.angular.to_array());
        assert_eq!(found, line[5..15], "{name} body {i}");
        assert_eq!(body.material().friction, line[16], "{name} body {i}");
        assert_eq!(body.material().restitution, line[17], "{name} body {i}");
        // The world keeps the centre of mass; a hull's frame comes back to rounding.
        let position = body.position().to_array();
        let off = (0..3)
            .map(|k| (position[k] - line[2 + k]).abs())
            .fold(0.0, f64::max);
        assert!(off < 1e-14, "{name} body {i}: {position:?} is off by {off}");
        if mass.mass > 0.0 {
            let unit = body.shape().mass_properties(line[15]).unwrap();
            assert_eq!(mass.mass, unit.mass, "{name} body {i}");
        }
    }
}
