//! Whatever is wrong with a scene, the error says where and what is allowed, and nothing panics.

use moreau_scene::{Scene, SceneError};

const GOOD: &str = r#"{
  "format": "moreau-scene",
  "version": 1,
  "name": "good",
  "gravity": [0, -9.81, 0],
  "dt": 0.01,
  "steps": 10,
  "measure_from": 2,
  "settings": {"position_correction": {"rate": 0.3}, "solver": {"pgs": {"max_sweeps": 50}}},
  "expect": [
    {"quantity": "position.y", "body": "bob", "value": 1, "tolerance": 9, "reason": "r"},
    {"quantity": "max_speed", "at_most": 90, "reason": "r"}
  ],
  "shapes": {
    "ball": {"sphere": {"radius": 0.5}},
    "brick": {"box": {"half_extents": [1, 2, 3]}},
    "pill": {"capsule": {"half_height": 1, "radius": 0.5}},
    "drum": {"cylinder": {"half_height": 2, "radius": 0.25}},
    "hat": {"cone": {"half_height": 3, "radius": 0.75}},
    "ground": {"half_space": {"normal": [0, 1, 0]}},
    "tetra": {"hull": {"points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}},
    "roof": {"mesh": {"vertices": [[0, 0, 0], [0, 0, 2], [2, 0, 0]], "triangles": [[0, 1, 2]]}},
    "land": {"heightfield": {"spacing": [1, 2], "heights": [[0, 1], [0, 3]]}},
    "dumbbell": {"compound": {"children": [{"shape": {"sphere": {"radius": 0.125}}, "position": [0, 7, 0]}]}}
  },
  "materials": {"ice": {"friction": 0.01, "density": 917, "friction_rule": "min"}},
  "bodies": [
    {"name": "floor", "kind": "static", "shape": "ground", "position": [0, -5, 0]},
    {"name": "bob", "shape": "ball", "material": "ice", "rotation": [0, 0, 0, 1]},
    {"shape": "pill", "rotation": {"axis": [0, 0, 1], "degrees": 30}, "position": [9, 0, 0], "mass": 2}
  ],
  "instances": [
    {
      "name": "row",
      "body": {"density": 500},
      "columns": ["shape", "position", "rotation"],
      "rows": [
        ["ball", 20, 0, 0, 0, 0, 0, 1],
        ["tetra", 25, 0, 0, 0, 0, 0, 1]
      ]
    }
  ],
  "generate": [
    {"stack": {"name": "s", "body": {"shape": "brick"}, "count": 3, "at": [40, 0, 0]}},
    {"pile": {
      "body": {"shape": "ball"}, "counts": [2, 2, 2], "spacing": [2, 2, 2], "jitter": 0.1, "seed": 3,
      "at": [80, 0, 0], "container": {"inside": [5, 5], "height": 4}
    }}
  ],
  "joints": [
    {"ball": {"a": "floor", "b": "bob", "at": [0, 2, 0]}},
    {"distance": {"a": 0, "b": 2, "anchor_a": [9, 3, 0]}}
  ]
}"#;

/// GOOD with `from` replaced, which must be in it.
fn broken(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    GOOD.replacen(from, to, 1)
}

fn error_of(text: &str) -> SceneError {
    match Scene::from_json(text) {
        Ok(_) => panic!("no error in:\n{text}"),
        Err(error) => error,
    }
}

#[test]
fn the_good_scene_is_good() {
    let scene = Scene::from_json(GOOD).unwrap();
    let built = scene.build().unwrap();
    assert_eq!(built.bodies.len(), 3 + 2 + 3 + 5 + 8);
    assert_eq!(built.joints.len(), 2);
    assert_eq!(Scene::from_json(&scene.to_json()).unwrap(), scene);
}

/// Mistakes and what must be said about them; its head describes the columns.
const MISTAKES: &str = include_str!("mistakes.tsv");

#[test]
fn mistakes_are_reported_with_place_and_remedy() {
    let mistakes = MISTAKES.lines().filter(|line| !line.starts_with('#'));
    for line in mistakes {
        let cells: Vec<&str> = line.split('\t').collect();
        let [from, to, path, message, pointed] = cells[..] else {
            panic!("{} cells: {line}", cells.len());
        };
        let text = broken(from, to);
        let error = error_of(&text);
        let place = error.place().expect("a place");
        let shown = error.to_string();
        assert!(shown.contains(message), "{to}: {shown}");
        if !path.is_empty() {
            assert_eq!(place.path, path, "{to}: {shown}");
            assert!(shown.contains(path), "{shown}");
        }
        let (line, column) = (place.line.expect("a line"), place.column.expect("a column"));
        assert!(shown.contains(&format!(":{line}:{column}")), "{shown}");
        let line = text.lines().nth(line - 1).expect("a line of the text");
        assert!(column <= line.len() + 1, "{shown}");
        if !pointed.is_empty() {
            assert!(
                line[column - 1..].starts_with(pointed),
                "{shown}: `{}`",
                &line[column - 1..]
            );
        }
    }
}

#[test]
fn a_truncated_file_is_an_error_at_any_length() {
    for end in 0..GOOD.len() {
        let error = error_of(&GOOD[..end]);
        assert!(
            error.place().is_some_and(|place| place.line.is_some()),
            "{end}: {error}"
        );
    }
}

#[test]
fn any_byte_may_be_wrong() {
    // Replaces each byte in turn; what is still a scene must also print and build.
    for (at, _) in GOOD.char_indices() {
        for junk in ["", "\"", "}", "]", ",", "-", "9", "e", "\u{0}", "ü"] {
            let mut text = GOOD.to_owned();
            text.replace_range(at..at + 1, junk);
            match Scene::from_json(&text) {
                Ok(scene) => assert_eq!(Scene::from_json(&scene.to_json()).unwrap(), scene),
                Err(error) => assert!(error.place().is_some_and(|p| p.line.is_some()), "{error}"),
            }
        }
    }
}

#[test]
fn what_is_no_scene_at_all_is_refused() {
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for text in [
        "",
        " ",
        "\n\n",
        "null",
        "3",
        "\"scene\"",
        "[]",
        "{}",
        "{",
        "\u{feff}{}",
        "{}{}",
        &nested,
        &format!("{{\"format\": {nested}}}"),
        &broken("[0, -9.81, 0]", &nested),
        &broken(r#""dt""#, &format!(r#""x": {nested}, "dt""#)),
        &"{\"bodies\":".repeat(100_000),
    ] {
        let error = error_of(text);
        assert!(
            error.place().is_some_and(|place| place.line.is_some()),
            "{error}"
        );
    }
    assert!(
        error_of(&format!("{GOOD}x"))
            .to_string()
            .contains("trailing characters")
    );
}

#[test]
fn files_are_named() {
    let missing = Scene::load("no/such/scene.json").unwrap_err();
    assert!(
        missing.to_string().starts_with("no/such/scene.json: "),
        "{missing}"
    );
    let path = std::env::temp_dir().join(format!("moreau-scene-{}.json", std::process::id()));
    std::fs::write(&path, broken("0.01", "0")).unwrap();
    let error = Scene::load(&path).unwrap_err();
    let want = format!(
        "{}:6:9: dt: is 0, must be positive and finite",
        path.display()
    );
    std::fs::remove_file(&path).unwrap();
    assert_eq!(error.to_string(), want);
}

#[test]
fn scenes_made_in_memory_are_checked_as_well() {
    let mut scene = Scene::from_json(GOOD).unwrap();
    scene.bodies[1].position[2] = f64::NAN;
    let error = scene.build().unwrap_err();
    assert!(error.to_string().contains("bodies[1].position"), "{error}");
    scene.bodies[1].position[2] = f64::INFINITY;
    assert!(scene.validate().is_err());
    scene.bodies[1].position[2] = 0.0;
    scene.validate().unwrap();
    scene.version = 7;
    assert!(
        scene
            .validate()
            .unwrap_err()
            .to_string()
            .contains("version: is 7, must be 1")
    );
}
