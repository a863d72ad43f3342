//! Instructions of a step, counted by Valgrind: the same on every run, whatever else the machine does.
//!
//! A run of FIRST steps is taken off one of LAST, so that the start of the program and the reading of
//! the scene do not count. Valgrind has no AVX-512, so what is counted of sweeps in lanes is their AVX2 code.

use super::run::Program;
use std::path::{Path, PathBuf};

const FIRST: u64 = 4;
const LAST: u64 = 12;

/// Scenes that are counted: one for each kind of step, and none that takes minutes. Sweeps in lanes come from
/// the pile.
const SCENES: [&str; 5] = ["ramp_stick", "tower_30", "pyramid_20", "columns", "hills"];

/// Scene, and instructions of a mean step between those two.
pub(crate) type Count = (String, f64);

/// Counts, of the scenes and of a pile file; nothing where there is no Valgrind.
pub(crate) fn count(program: &Program, root: &Path, pile: &Path) -> Result<Vec<Count>, String> {
    if program.under_valgrind(&["--help"]).is_err() {
        eprintln!("no valgrind: instructions are not counted");
        return Ok(Vec::new());
    }
    let mut counts = Vec::new();
    let scenes = SCENES.map(|name| root.join(format!("fixtures/scenes/{name}.json")));
    for path in scenes.iter().map(PathBuf::as_path).chain([pile]) {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        eprintln!("instructions of {name}");
        let path = path.to_string_lossy();
        let run = |steps: u64| {
            let words = program.under_valgrind(&["run", &path, "--steps", &steps.to_string()])?;
            collected(&words).ok_or(format!("{name}: valgrind told no count"))
        };
        let (first, last) = (run(FIRST)?, run(LAST)?);
        counts.push((
            name.clone().into_owned(),
            (last - first) as f64 / (LAST - FIRST) as f64,
        ));
    }
    Ok(counts)
}

/// The count in what Callgrind says at the end.
fn collected(words: &str) -> Option<i64> {
    let line = words.lines().find(|line| line.contains("Collected"))?;
    line.rsplit(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read() {
        let words = "==1== Events    : Ir\n==1== Collected : 123456\n==1==\n";
        assert_eq!(collected(words), Some(123_456));
        assert_eq!(collected("==1== killed\n"), None);
    }
}
