//! The problem files that the tests share.
#![allow(dead_code, unreachable_pub)]

use moreau_solver::files::{ProblemFile, load};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(folder: &Path) -> Option<Vec<(String, ProblemFile)>> {
    let entries = std::fs::read_dir(folder).ok()?;
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "dat" || e == "json"));
    paths.sort();
    let read = |path: PathBuf| {
        let file = load(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        (
            path.file_name().unwrap().to_string_lossy().into_owned(),
            file,
        )
    };
    Some(paths.into_iter().map(read).collect())
}

/// The reference problems of the workspace, in the order of their names.
pub fn fixtures() -> Vec<(String, ProblemFile)> {
    read(&root().join("fixtures/problems")).expect("fixtures/problems")
}

/// A folder of the large problem sets; `None`, with a message, where it is not at hand.
pub fn folder(name: &str) -> Option<Vec<(String, ProblemFile)>> {
    let sets = std::env::var_os("MOREAU_PROBLEMS")
        .map_or_else(|| root().join("../shared/problems"), PathBuf::from);
    let folder = sets.join(name);
    let files = read(&folder);
    if files.is_none() {
        eprintln!("SKIPPED: no {} (set MOREAU_PROBLEMS)", folder.display());
    }
    files
}
