//! The commands, on fixtures of their own.

use super::accept::{accept, new, prune};
use super::check::{Options, check, check_gates, first_change};
use super::compare::first_divergence;
use super::diff::trace;
use super::fixtures::Fixtures;
use super::golden::Golden;
use super::run::measure;
use super::trace::Stage;
use std::fs;
use std::path::PathBuf;

const CHECK: Options = Options {
    portable: false,
    jobs: 2,
};

/// A root with the scene `cube`: a cube that drops by 10 cm and rests.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let name = format!("moreau-snapshot-{test}-{}", std::process::id());
        let folder = Self(std::env::temp_dir().join(name));
        folder.write_scene("cube", "0.6", "1e-3");
        folder
    }

    fn write_scene(&self, name: &str, height: &str, bound: &str) {
        let text = format!(
            r#"{{"format": "moreau-scene", "version": 1, "name": "{name}", "steps": 40,
            "expect": [{{"quantity": "penetration", "at_most": {bound}, "reason": "it rests"}}],
            "bodies": [
                {{"shape": {{"half_space": {{"normal": [0, 1, 0]}}}}, "kind": "static"}},
                {{"shape": {{"box": {{"half_extents": [0.5, 0.5, 0.5]}}}},
                  "position": [0, {height}, 0]}}
            ]}}"#
        );
        let folder = self.0.join("fixtures/scenes");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{name}.json")), text).unwrap();
    }

    fn fixtures(&self) -> Fixtures {
        Fixtures::new(&self.0)
    }

    fn mint(&self) -> Golden {
        assert_eq!(new(&self.fixtures(), &[], true, None, "a test"), Ok(true));
        self.golden()
    }

    fn golden(&self) -> Golden {
        let mut all = self.fixtures().goldens().unwrap();
        assert_eq!(all.len(), 1);
        all.remove(0)
    }

    /// Every file below the root and its bytes.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![self.0.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let bytes = fs::read(&path).unwrap();
                    found.push((path, bytes));
                }
            }
        }
        found.sort();
        found
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Best effort: the folder is in the system's own for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What `check` would say first.
fn change(folder: &Folder, golden: &Golden) -> String {
    let file = folder.fixtures().scene(&golden.scene).unwrap();
    let outcome = measure(&file, golden.steps).unwrap();
    first_change(golden, &file, &outcome, false).unwrap_or_default()
}

#[test]
fn a_fresh_snapshot_holds_and_check_writes_nothing() {
    let folder = Folder::new("fresh");
    let golden = folder.mint();
    assert_eq!((golden.steps, golden.reason.as_str()), (40, "a test"));
    let steps: Vec<u64> = golden.ladder.iter().map(|rung| rung.step).collect();
    assert_eq!(steps, [16, 32, 40]);
    let before = folder.files();
    assert_eq!(check(&folder.fixtures(), &[], CHECK), Ok(true));
    let mut broken = golden;
    broken.ladder[1].hash.cache ^= 1;
    folder.fixtures().write(&broken).unwrap();
    let broken_files = folder.files();
    assert_ne!(before, broken_files);
    assert_eq!(check(&folder.fixtures(), &[], CHECK), Ok(false));
    assert_eq!(folder.files(), broken_files);
}

#[test]
fn what_moved_first_is_named_by_its_weight() {
    let folder = Folder::new("moved");
    let golden = folder.mint();
    assert_eq!(change(&folder, &golden), "");
    let mut other = golden.clone();
    other.ladder[1].hash.cache ^= 1;
    let wanted = "state differs at step 32, not at step 16 (cache)";
    assert_eq!(change(&folder, &other), wanted);
    other.figures[1].value += 1.0;
    let said = change(&folder, &other);
    assert!(said.starts_with("contact_points 5.0 -> 4.0"), "{said}");
    other.settings[0].1 = "0.5".into();
    let said = change(&folder, &other);
    let wanted = "setting bounce_threshold 0.5 -> 0.01; contact_points 5.0 -> 4.0";
    assert!(said.starts_with(wanted), "{said}");
    let mut knob = golden.clone();
    knob.settings[0].1 = "0.5".into();
    let wanted = "setting bounce_threshold 0.5 -> 0.01; nothing else moved";
    assert_eq!(change(&folder, &knob), wanted);
    folder.write_scene("cube", "0.61", "1e-3");
    assert_eq!(change(&folder, &other), "the scene's file changed since");
    folder.write_scene("cube", "0.61", "-1");
    let said = change(&folder, &other);
    assert!(
        said.starts_with("gate missed: penetration at step 40"),
        "{said}"
    );
}

#[test]
fn a_portable_check_does_not_look_at_bits() {
    let folder = Folder::new("portable");
    let mut golden = folder.mint();
    golden.ladder[0].hash.poses ^= 1;
    folder.fixtures().write(&golden).unwrap();
    assert_eq!(check(&folder.fixtures(), &[], CHECK), Ok(false));
    let portable = Options {
        portable: true,
        ..CHECK
    };
    assert_eq!(check(&folder.fixtures(), &[], portable), Ok(true));
    golden.figures[1].value += 1.0;
    folder.fixtures().write(&golden).unwrap();
    assert_eq!(check(&folder.fixtures(), &[], portable), Ok(false));
}

#[test]
fn a_missed_gate_or_an_empty_reason_refuses() {
    let folder = Folder::new("refused");
    let golden = folder.mint();
    let cube = ["cube".to_owned()];
    folder.write_scene("cube", "0.6", "-1");
    let before = folder.files();
    assert_eq!(
        accept(&folder.fixtures(), &cube, None, "because"),
        Ok(false)
    );
    assert_eq!(folder.files(), before);
    folder.write_scene("cube", "0.7", "1e-3");
    assert!(accept(&folder.fixtures(), &cube, None, " \n").is_err());
    assert_eq!(folder.golden(), golden);
    assert_eq!(
        accept(&folder.fixtures(), &cube, None, "dropped\nfrom higher"),
        Ok(true)
    );
    assert_eq!(folder.golden().reason, "dropped from higher");
    assert_eq!(check(&folder.fixtures(), &[], CHECK), Ok(true));
}

#[test]
fn accepting_what_did_not_change_keeps_the_old_reason() {
    let folder = Folder::new("unchanged");
    let golden = folder.mint();
    assert_eq!(
        accept(&folder.fixtures(), &[], None, "for nothing"),
        Ok(true)
    );
    assert_eq!(folder.golden(), golden);
}

#[test]
fn new_refuses_what_there_is_and_what_misses_its_gates() {
    let folder = Folder::new("new");
    folder.mint();
    let cube = ["cube".to_owned()];
    assert!(new(&folder.fixtures(), &cube, false, None, "again").is_err());
    folder.write_scene("sunk", "0.6", "-1");
    assert_eq!(
        new(&folder.fixtures(), &["sunk".into()], false, None, "a test"),
        Ok(false)
    );
    assert_eq!(folder.golden().scene, "cube");
    // A scene without a snapshot fails the check.
    assert_eq!(check(&folder.fixtures(), &[], CHECK), Ok(false));
}

#[test]
fn prune_removes_only_what_lost_its_scene() {
    let folder = Folder::new("prune");
    folder.mint();
    assert_eq!(prune(&folder.fixtures()), Ok(true));
    assert_eq!(folder.golden().scene, "cube");
    fs::remove_file(folder.0.join("fixtures/scenes/cube.json")).unwrap();
    assert_eq!(check(&folder.fixtures(), &[], CHECK), Ok(false));
    assert_eq!(prune(&folder.fixtures()), Ok(true));
    assert!(folder.fixtures().goldens().unwrap().is_empty());
}

#[test]
fn traces_of_two_scenes_part_where_the_physics_says() {
    let folder = Folder::new("trace");
    let cube = folder.fixtures().scene("cube").unwrap();
    let old = trace(&cube, 1..=40).unwrap();
    assert_eq!(old.steps.len(), 40);
    assert_eq!(first_divergence(&old, &trace(&cube, 1..=40).unwrap()), None);
    // Falling 1 mm from higher up, it is elsewhere from the first step on.
    folder.write_scene("cube", "0.601", "1e-3");
    let higher = folder.fixtures().scene("cube").unwrap();
    let found = first_divergence(&old, &trace(&higher, 1..=40).unwrap()).unwrap();
    assert_eq!((found.step, found.stage), (1, Stage::Integrate));
    assert!(found.to_string().contains("center.y"), "{found}");
}

#[test]
fn gates_are_looked_at_beyond_the_end_of_a_snapshot() {
    let folder = Folder::new("gates");
    let fixtures = folder.fixtures();
    // At step 8 the cube still falls, and the gate is at step 40.
    folder.write_scene("cube", "0.6", "-1");
    assert_eq!(new(&fixtures, &[], true, Some(8), "a test"), Ok(false));
    assert_eq!(check_gates(&fixtures, &[], 2), Ok(false));
    folder.write_scene("cube", "0.6", "1e-3");
    assert_eq!(new(&fixtures, &[], true, Some(8), "a test"), Ok(true));
    let golden = folder.golden();
    assert_eq!((golden.steps, golden.ladder.len()), (8, 1));
    assert_eq!(check(&fixtures, &[], CHECK), Ok(true));
    assert_eq!(check_gates(&fixtures, &[], 2), Ok(true));
}
