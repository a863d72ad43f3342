//! Where scenes come from: files, `fixtures/scenes` here or further up, and the built-in showcase.

use crate::fault::Fault;
use crate::progress::Progress;
use crate::{output, recordings, table};
use comfy_table::presets::NOTHING;
use moreau::scene::{Run, RunOptions, Scene, SceneError, import_text};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The scene that runs where none is named.
pub(crate) const SHOWCASE: &str = "showcase";
const SHOWCASE_TEXT: &str = include_str!("../scenes/showcase.json");
const FOLDER: &str = "fixtures/scenes";

/// The file that a path or name stands for; none where it is built in, or there is none.
pub(crate) fn file(wanted: &str) -> Option<PathBuf> {
    let path = Path::new(wanted);
    let is_path = path.extension().is_some() || wanted.contains(['/', '\\']) || path.is_file();
    if is_path {
        return Some(path.into());
    }
    let named = folder()?.join(format!("{wanted}.json"));
    named.is_file().then_some(named)
}

/// Reads the scene that a path or name stands for.
pub(crate) fn load(wanted: &str) -> Result<Scene, Fault> {
    match file(wanted) {
        Some(path) => load_file(&path),
        None if wanted == SHOWCASE => parse("showcase.json", SHOWCASE_TEXT),
        None => Err(unknown(wanted)),
    }
}

fn load_file(path: &Path) -> Result<Scene, Fault> {
    let file = path.display().to_string();
    if path.is_file() && recordings::is_recording(path) {
        return Err(Fault::input(
            format!("{file}: is a recording, not a scene"),
            format!("`moreau view {file}` shows it, `moreau replay {file}` makes its run again"),
        ));
    }
    let text = std::fs::read_to_string(path).map_err(|error| {
        let help = "give the path of a scene file, or a name that `moreau scenes` lists";
        Fault::input(format!("cannot read {file}: {error}"), help)
    })?;
    parse(&file, &text)
}

fn parse(file: &str, text: &str) -> Result<Scene, Fault> {
    let read = if file.ends_with(".txt") {
        import_text(text)
    } else {
        Scene::from_json(text)
    };
    read.map_err(|error: SceneError| Fault::scene(&error, file, text))
}

/// Builds a scene's run as a command's options say. The scene itself was checked when it was read.
pub(crate) fn start(scene: &Scene, options: RunOptions, command: &str) -> Result<Run, Fault> {
    Run::new(scene, options).map_err(|error| {
        let message = match &error {
            SceneError::Invalid {
                place,
                value,
                allowed,
            } if place.path == "dt" => format!("--dt is {value}, must be {allowed}"),
            error => error.to_string(),
        };
        Fault::input(message, format!("see `moreau {command} --help`"))
    })
}

fn unknown(wanted: &str) -> Fault {
    let names: Vec<_> = list().into_keys().collect();
    let help = match folder() {
        Some(_) => format!(
            "known are: {}; or give the path of a scene file",
            names.join(", ")
        ),
        // Only the showcase is built in.
        None => format!(
            "give the path of a scene file, or {SHOWCASE}, which is built in; the other scenes are \
             looked for in {FOLDER} here and in the folders above, as in a clone of the repository, \
             and there is none"
        ),
    };
    let looked = format!("{FOLDER}/{wanted}.json, ./{wanted}");
    Fault::input(
        format!("there is no scene `{wanted}` (looked for {looked})"),
        help,
    )
}

/// The nearest `fixtures/scenes`, from the current directory upwards.
fn folder() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors()
        .map(|folder| folder.join(FOLDER))
        .find(|folder| folder.is_dir())
}

/// Names of all scenes, with their files; `None` for the built-in one.
fn list() -> BTreeMap<String, Option<PathBuf>> {
    let mut scenes = BTreeMap::from([(SHOWCASE.to_owned(), None)]);
    let entries = folder().and_then(|folder| std::fs::read_dir(folder).ok());
    for path in entries
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
    {
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
            && let Some(name) = path.file_stem().and_then(|name| name.to_str())
        {
            scenes.insert(name.to_owned(), Some(path));
        }
    }
    scenes
}

/// `moreau scenes`.
pub(crate) fn print_list(quiet: bool) -> Result<(), Fault> {
    let mut table = table::new(NOTHING);
    table.set_header(["scene", "bodies", "steps", "what it shows"]);
    let scenes = list();
    // All are built, to count their bodies.
    let mut progress = Progress::new(scenes.len() as u64, "scene", quiet);
    for (name, path) in scenes {
        progress.step();
        let read = match &path {
            Some(path) => load_file(path),
            None => parse("showcase.json", SHOWCASE_TEXT),
        };
        let built = read.and_then(|scene| match scene.build() {
            Ok(built) => Ok((built.world.body_count(), scene)),
            Err(error) => Err(Fault::scene(&error, &name, "")),
        });
        match built {
            Ok((bodies, scene)) => table.add_row([
                name,
                bodies.to_string(),
                scene.steps.to_string(),
                scene.description,
            ]),
            Err(fault) => {
                let trouble = format!(
                    "cannot be read: {} (see `moreau check {name}`)",
                    fault.report
                );
                table.add_row([name, "-".into(), "-".into(), trouble])
            }
        };
    }
    drop(progress);
    output::print(&format!("{table}\n"))
}

/// `moreau check`.
pub(crate) fn check(wanted: &str) -> Result<(), Fault> {
    let scene = load(wanted)?;
    let built = scene
        .build()
        .map_err(|error| Fault::scene(&error, wanted, ""))?;
    output::print(&format!(
        "{}: a valid scene of {} bodies, {} joints and {} gates; {} steps of {:?} s\n",
        scene.name,
        built.world.body_count(),
        built.joints.len(),
        scene.expect.len(),
        scene.steps,
        scene.dt,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_showcase_is_that_of_the_fixtures() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .join(FOLDER);
        // A packaged crate has no fixtures next to it.
        if let Ok(fixture) = std::fs::read_to_string(root.join("showcase.json")) {
            assert!(
                fixture == SHOWCASE_TEXT,
                "copy fixtures/scenes/showcase.json to scenes/"
            );
        }
        let scene = parse("showcase.json", SHOWCASE_TEXT).unwrap();
        assert_eq!(scene.name, SHOWCASE);
    }
}
