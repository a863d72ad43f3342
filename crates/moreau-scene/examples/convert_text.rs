//! Converts a scene in the plain text comparison format into a scene file:
//! `cargo run -p moreau-scene --example convert_text -- IN.txt OUT.json`
//!
//! Where OUT.json is a scene already, its description, settings and gates are kept.

use moreau_scene::{Scene, import_text};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(input), Some(output), None) = (arguments.next(), arguments.next(), arguments.next())
    else {
        return Err("two arguments are needed: IN.txt OUT.json".into());
    };
    let text = std::fs::read_to_string(&input).map_err(|e| format!("{input}: {e}"))?;
    let mut scene = import_text(&text).map_err(|e| format!("{input}: {e}"))?;
    if std::path::Path::new(&output).exists() {
        let old = Scene::load(&output)?;
        (scene.description, scene.settings, scene.expect) =
            (old.description, old.settings, old.expect);
    }
    std::fs::write(&output, scene.to_json())?;
    Ok(())
}
