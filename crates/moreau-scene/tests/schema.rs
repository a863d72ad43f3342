//! The published schema is the one that the types give.

use serde_json::Value;
use std::path::Path;

#[test]
fn the_committed_schema_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scene.schema.json");
    let fresh = moreau_scene::schema_json();
    if std::env::var_os("MOREAU_UPDATE").is_some() {
        std::fs::write(&path, &fresh).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    // Not by text: the order of keys is the business of a feature of serde_json.
    let parse = |text: &str| serde_json::from_str::<Value>(text).ok();
    assert!(
        parse(&committed) == parse(&fresh) && parse(&fresh).is_some(),
        "docs/scene.schema.json is stale; refresh it with\n    \
         MOREAU_UPDATE=1 cargo test -p moreau-scene --test schema"
    );
}

/// Calls `look` with every schema object inside `value`.
fn walk(value: &Value, path: &str, look: &mut impl FnMut(&str, &Value)) {
    look(path, value);
    match value {
        Value::Object(map) => map
            .iter()
            .for_each(|(k, v)| walk(v, &format!("{path}/{k}"), look)),
        Value::Array(list) => {
            list.iter()
                .enumerate()
                .for_each(|(i, v)| walk(v, &format!("{path}/{i}"), look));
        }
        _ => {}
    }
}

#[test]
fn every_field_is_described_and_nothing_else_is_allowed() {
    let schema: Value = serde_json::from_str(&moreau_scene::schema_json()).unwrap();
    let mut fields = 0;
    walk(&schema, "", &mut |path, value| {
        let Some(Value::Object(properties)) = value.get("properties") else {
            return;
        };
        assert_eq!(value["additionalProperties"], Value::Bool(false), "{path}");
        for (name, field) in properties {
            // The variants of an enumeration are described at the variant.
            let described = field.get("description").or(value.get("description"));
            assert!(described.is_some(), "{path}/{name} has no description");
            fields += 1;
        }
    });
    assert!(fields > 100, "only {fields} fields were looked at");
}

#[test]
fn optional_fields_say_their_default() {
    let schema: Value = serde_json::from_str(&moreau_scene::schema_json()).unwrap();
    walk(&schema, "", &mut |path, value| {
        let (Some(Value::Object(properties)), Some(text)) = (
            value.get("properties"),
            value.get("type").and_then(Value::as_str),
        ) else {
            return;
        };
        let required: Vec<&str> = match value.get("required") {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        assert_eq!(text, "object");
        for (name, field) in properties {
            let words = field
                .get("description")
                .and_then(Value::as_str)
                .unwrap_or("");
            let says = words.contains("Default") || words.contains("ust be given");
            let paired = ["value", "tolerance"].contains(&name.as_str());
            assert!(
                required.contains(&name.as_str()) || says || paired,
                "{path}/{name} is optional, but does not say its default: {words}"
            );
        }
    });
}

/// The defaults that the descriptions of settings name are those of a scene's world.
#[test]
fn settings_name_the_defaults_of_the_world() {
    let schema: Value = serde_json::from_str(&moreau_scene::schema_json()).unwrap();
    let settings = moreau_scene::SettingsSpec::default().world_settings();
    let defaults = serde_json::to_value(settings).unwrap();
    let rule = serde_json::to_value(moreau_pipeline::Sleeping::default()).unwrap();
    let mut looked_at = 0;
    for (spec, part) in [
        ("SettingsSpec", ""),
        ("SleepingSpec", "/sleeping"),
        ("PositionCorrectionSpec", "/position_correction"),
        ("SolverSpec", "/solver"),
        ("PgsSpec", "/solver/pgs"),
        ("NewtonSpec", "/solver/newton"),
    ] {
        let fields = schema["$defs"][spec]["properties"].as_object().unwrap();
        for (name, field) in fields {
            let world = match spec {
                "SleepingSpec" => &rule[name],
                _ => defaults.pointer(&format!("{part}/{name}")).expect(name),
            };
            if world.is_object() {
                continue;
            }
            let words = field["description"].as_str().unwrap();
            let said = words
                .rsplit("Default ")
                .next()
                .unwrap()
                .trim_end_matches('.');
            let same = match world {
                Value::Number(x) => said.parse::<f64>().ok() == x.as_f64(),
                Value::String(text) => said == text,
                Value::Bool(on) => said == if *on { "true" } else { "false" },
                Value::Null => said == "none",
                _ => false,
            };
            assert!(
                same,
                "{spec}.{name}: the description says {said}, the world {world}"
            );
            looked_at += 1;
        }
    }
    assert!(looked_at > 12, "only {looked_at} fields were looked at");
}
