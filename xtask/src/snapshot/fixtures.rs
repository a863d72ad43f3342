//! Where scenes and snapshots lie.

use super::golden::Golden;
use moreau::scene::Scene;
use std::fs;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// A scene of `fixtures/scenes`.
#[derive(Clone, Debug)]
pub(crate) struct SceneFile {
    /// The file's name without its end.
    pub(crate) name: String,
    pub(crate) scene: Scene,
    /// XXH3 of the text, with line ends of one char.
    pub(crate) hash: u64,
}

impl SceneFile {
    /// The step of the last gate; the last step where there is no gate.
    pub(crate) fn last_gate(&self) -> u64 {
        let all = self.scene.steps;
        let gates = self
            .scene
            .expect
            .iter()
            .map(|gate| gate.at_step.unwrap_or(all));
        gates.max().unwrap_or(all).max(1)
    }
}

/// The fixtures of a workspace.
#[derive(Clone, Debug)]
pub(crate) struct Fixtures {
    pub(crate) root: PathBuf,
}

impl Fixtures {
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    fn scenes(&self) -> PathBuf {
        self.root.join("fixtures/scenes")
    }

    fn snapshots(&self) -> PathBuf {
        self.root.join("fixtures/snapshots")
    }

    /// The file of a snapshot, from the root.
    pub(crate) fn snapshot_file(golden: &Golden) -> String {
        format!(
            "fixtures/snapshots/{}",
            Golden::file_name(&golden.scene, &golden.solver)
        )
    }

    /// Names of all scenes, sorted.
    pub(crate) fn scene_names(&self) -> Result<Vec<String>, String> {
        names(&self.scenes(), "json")
    }

    /// Whether there is a scene of that name.
    pub(crate) fn has_scene(&self, name: &str) -> bool {
        self.scenes().join(format!("{name}.json")).is_file()
    }

    /// Reads a scene.
    pub(crate) fn scene(&self, name: &str) -> Result<SceneFile, String> {
        let path = self.scenes().join(format!("{name}.json"));
        if !path.is_file() {
            let known = self.scene_names()?.join(", ");
            return Err(format!(
                "there is no scene `{name}` in fixtures/scenes; there are: {known}"
            ));
        }
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let text = text.replace("\r\n", "\n");
        let scene = Scene::from_json(&text).map_err(|e| format!("{name}.json: {e}"))?;
        Ok(SceneFile {
            name: name.to_owned(),
            scene,
            hash: xxh3_64(text.as_bytes()),
        })
    }

    /// All snapshots, sorted by file name.
    pub(crate) fn goldens(&self) -> Result<Vec<Golden>, String> {
        let folder = self.snapshots();
        if !folder.is_dir() {
            return Ok(Vec::new());
        }
        names(&folder, "snap")?
            .iter()
            .map(|name| read(&folder.join(format!("{name}.snap"))))
            .collect()
    }

    /// The snapshots of these scenes; of all where none is named.
    pub(crate) fn goldens_of(&self, scenes: &[String]) -> Result<Vec<Golden>, String> {
        let mut all = self.goldens()?;
        if let Some(name) = scenes
            .iter()
            .find(|name| !all.iter().any(|g| g.scene == **name))
        {
            let advice = if self.has_scene(name) {
                format!("make one: cargo xtask snapshot new {name} --reason TEXT")
            } else {
                "nor is there such a scene; see `cargo xtask snapshot list`".to_owned()
            };
            return Err(format!("there is no snapshot of `{name}`; {advice}"));
        }
        if !scenes.is_empty() {
            all.retain(|golden| scenes.contains(&golden.scene));
        }
        Ok(all)
    }

    /// Writes a snapshot; returns its file from the root.
    pub(crate) fn write(&self, golden: &Golden) -> Result<String, String> {
        let folder = self.snapshots();
        let file = Self::snapshot_file(golden);
        fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        fs::write(self.root.join(&file), golden.to_text()).map_err(|e| format!("{file}: {e}"))?;
        Ok(file)
    }

    /// Removes a snapshot; returns its file from the root.
    pub(crate) fn remove(&self, golden: &Golden) -> Result<String, String> {
        let file = Self::snapshot_file(golden);
        fs::remove_file(self.root.join(&file)).map_err(|e| format!("{file}: {e}"))?;
        Ok(file)
    }
}

fn read(path: &Path) -> Result<Golden, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let golden = Golden::parse(&text).map_err(|e| format!("{}: {e}", path.display()))?;
    let name = Golden::file_name(&golden.scene, &golden.solver);
    if !path.ends_with(&name) {
        return Err(format!(
            "{} holds the snapshot {name}; rename it",
            path.display()
        ));
    }
    Ok(golden)
}

/// Names without their end of the files in a folder, sorted.
fn names(folder: &Path, end: &str) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let path = entry
            .map_err(|e| format!("{}: {e}", folder.display()))?
            .path();
        if path.extension().is_some_and(|e| e == end) {
            names.extend(
                path.file_stem()
                    .map(|stem| stem.to_string_lossy().into_owned()),
            );
        }
    }
    names.sort();
    Ok(names)
}
