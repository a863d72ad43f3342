//! Runs the built command in a directory of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A floor, a box that rests on it, and a ball that drops next to it.
pub(crate) const SCENE: &str = r#"{
  "format": "moreau-scene", "version": 1, "name": "pair", "steps": 20,
  "bodies": [
    {"name": "floor", "shape": {"half_space": {"normal": [0, 1, 0]}}, "kind": "static"},
    {"name": "box, small", "shape": {"box": {"half_extents": [0.5, 0.5, 0.5]}}, "position": [0, 0.5, 0]},
    {"name": "ball", "shape": {"sphere": {"radius": 0.25}}, "position": [3, 0.3, 0]}
  ]
}
"#;

/// Arguments that record for so long that something else must end it.
pub(crate) fn record_without_end(file: &str) -> [&str; 6] {
    ["record", "pair.json", "--steps", "100000000", "-o", file]
}

/// A temporary directory that is removed at the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("pair.json"), SCENE).unwrap();
        Self(path)
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        std::fs::write(self.0.join(file), text).unwrap();
    }

    pub(crate) fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.0.join(file)).unwrap()
    }

    pub(crate) fn bytes(&self, file: &str) -> Vec<u8> {
        std::fs::read(self.0.join(file)).unwrap()
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_moreau"));
        command.args(args).current_dir(&self.0).env("NO_COLOR", "1");
        command
    }

    /// Runs `moreau` to its end.
    pub(crate) fn moreau(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().unwrap())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a command said.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
