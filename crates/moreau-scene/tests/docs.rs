//! The examples of the format's description are scenes, or parts of scenes, that are read.

use moreau_scene::{Generator, Instances, JointSpec, Scene, SettingsSpec};
use serde::de::DeserializeOwned;

const DOCS: &str = include_str!("../../../docs/scene-format.md");

/// The JSON blocks in order.
fn blocks() -> Vec<&'static str> {
    let json = |block: &'static str| block.strip_prefix("json\n");
    DOCS.split("```")
        .skip(1)
        .step_by(2)
        .filter_map(json)
        .collect()
}

fn read<T: DeserializeOwned>(block: &str) -> T {
    serde_json::from_str(block).unwrap_or_else(|error| panic!("{error} in\n{block}"))
}

#[test]
fn the_examples_are_read() {
    let [drop, body, instances, pile, joints, settings] = blocks()[..] else {
        panic!("{} blocks of JSON", blocks().len());
    };
    let scene = Scene::from_json(drop).unwrap_or_else(|error| panic!("{error}"));
    let mut run = moreau_scene::Run::new(&scene, Default::default()).unwrap();
    run.run_to_end().unwrap();
    for gate in moreau_scene::evaluate(&run) {
        assert!(gate.passed(), "{gate}");
    }
    // The error that is quoted is the one that comes.
    let place = DOCS
        .lines()
        .find_map(|line| line.trim().strip_prefix("`drop.json:"));
    let place = place.unwrap().trim_end_matches(['`', '.']);
    let at = drop.rfind("0.8").unwrap();
    let wrong = format!("{}8{}", &drop[..at], &drop[at + 3..]);
    let error = Scene::from_json(&wrong).unwrap_err().to_string();
    assert_eq!(error, format!("scene:{place}"));

    let body: moreau_scene::BodySpec = read(body);
    assert_eq!(body.name.as_deref(), Some("crate"));
    let instances: Instances = read(instances);
    assert_eq!(
        instances.rows[1].len(),
        instances.columns.iter().map(|c| c.width()).sum::<usize>()
    );
    assert!(matches!(read(pile), Generator::Pile(_)));
    for line in joints.lines() {
        read::<JointSpec>(line);
    }
    let settings: SettingsSpec = read(settings);
    // What it shows are the defaults.
    assert_eq!(
        settings.world_settings(),
        SettingsSpec::default().world_settings()
    );
}

/// Every field of the top level and of a body is in the tables.
#[test]
fn no_field_is_missing() {
    let schema: serde_json::Value = serde_json::from_str(&moreau_scene::schema_json()).unwrap();
    for fields in [
        &schema["properties"],
        &schema["$defs"]["BodySpec"]["properties"],
    ] {
        for name in fields.as_object().unwrap().keys() {
            assert!(
                DOCS.contains(&format!("`{name}`")) || name == "$schema",
                "{name}"
            );
        }
    }
    let quantities = schema["$defs"]["Quantity"]["oneOf"].as_array().unwrap();
    assert!(quantities.len() > 30);
    for quantity in quantities {
        let name = quantity["const"].as_str().unwrap();
        // Components are listed by their first.
        let stem = name
            .trim_end_matches(".y")
            .trim_end_matches(".z")
            .trim_end_matches(".x");
        assert!(DOCS.contains(&format!("`{stem}")), "{name}");
    }
}
