//! The seeds of every target, among them the inputs that once broke something.

use moreau_fuzz::{hulls, pairs, scenes};
use std::fs;
use std::path::Path;

fn run(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("seeds")
        .join(target);
    let mut files: Vec<_> = fs::read_dir(&folder)
        .expect("a folder of seeds")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    assert!(
        files.len() >= 3,
        "only {} seeds in {}",
        files.len(),
        folder.display()
    );
    for file in files {
        let bytes = fs::read(&file).expect("a readable seed");
        let held = std::panic::catch_unwind(|| check(&bytes));
        assert!(held.is_ok(), "{}", file.display());
    }
}

#[test]
fn pairs_hold() {
    run("pairs", pairs::check);
}

#[test]
fn hulls_hold() {
    run("hulls", hulls::check);
}

#[test]
fn scenes_hold() {
    run("scenes", scenes::check);
}

#[test]
fn seeds_of_scenes_are_scenes() {
    for name in ["shapes.json", "generated.json"] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("seeds/scenes")
            .join(name);
        let scene = moreau::scene::Scene::load(&file).unwrap_or_else(|error| panic!("{error}"));
        assert!(
            scene.build().is_ok_and(|built| built.bodies.len() > 4),
            "{name}"
        );
    }
}
