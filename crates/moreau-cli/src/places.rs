//! Which files a command may write: what they are called where nobody says so, and that they are none of
//! those that it reads.

use crate::fault::Fault;
use std::path::{Component, Path, PathBuf};

/// Most bytes of a scene's name in that of a file; file systems take about 255 of the whole.
const MOST_BYTES: usize = 100;

/// The file in `out` that is named after a scene, with what follows its name.
pub(crate) fn default(scene: &str, rest: &str) -> PathBuf {
    PathBuf::from(format!("out/{}{rest}", file_name(scene)))
}

/// A scene's name as that of a file: it comes from a file of somebody else, and must not lead elsewhere.
fn file_name(scene: &str) -> String {
    let mut name = String::new();
    for letter in scene.chars() {
        let fits = letter.is_alphanumeric() || "-_.".contains(letter);
        let hidden = letter == '.' && name.is_empty();
        let letter = if fits && !hidden { letter } else { '_' };
        if name.len() + letter.len_utf8() > MOST_BYTES {
            break;
        }
        name.push(letter);
    }
    if name.is_empty() {
        name.push('_');
    }
    name
}

/// Refuses an output that is an input or another output, before anything is lost. Outputs have the options that
/// name them.
pub(crate) fn apart(inputs: &[&Path], outputs: &[(&str, &Path)]) -> Result<(), Fault> {
    for (i, (option, file)) in outputs.iter().enumerate() {
        let name = file.display();
        if inputs.iter().any(|input| same(input, file)) {
            let message = format!("{option} {name}: is what is read, and would be overwritten");
            return Err(Fault::input(message, "give another file"));
        }
        if let Some((other, _)) = outputs[..i].iter().find(|(_, other)| same(other, file)) {
            let message = format!("{option} {name}: {other} writes to the same file");
            return Err(Fault::input(message, "give each a file of its own"));
        }
    }
    Ok(())
}

/// Whether two paths are those of one file, or would be. What is no file (a terminal, `/dev/null`) takes
/// all that is written.
fn same(a: &Path, b: &Path) -> bool {
    match (std::fs::metadata(a), std::fs::metadata(b)) {
        (Ok(x), Ok(y)) if x.is_file() && y.is_file() => {
            one_file(&x, &y) || resolved(a) == resolved(b)
        }
        (Err(_), Err(_)) => resolved(a) == resolved(b),
        _ => false,
    }
}

#[cfg(unix)]
fn one_file(a: &std::fs::Metadata, b: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Only names tell there.
#[cfg(not(unix))]
fn one_file(_: &std::fs::Metadata, _: &std::fs::Metadata) -> bool {
    false
}

/// A path without links and detours; those of what is not there yet end where that begins.
fn resolved(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.into());
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            part => out.push(part),
        }
        if let Ok(whole) = out.canonicalize() {
            out = whole;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_scenes_stay_in_their_folder() {
        let cases = [
            ("tower_30", "tower_30"),
            ("../up", "_._up"),
            ("..", "_."),
            (".hidden", "_hidden"),
            ("/etc/passwd", "_etc_passwd"),
            ("a\\b:c\0\x1b[31m", "a_b_c___31m"),
            ("Türme-2.1 hoch", "Türme-2.1_hoch"),
            ("", "_"),
        ];
        for (name, expect) in cases {
            assert_eq!(file_name(name), expect, "of {name:?}");
        }
        assert_eq!(default("../up", ".svg"), Path::new("out/_._up.svg"));
        let long = file_name(&"ä".repeat(1000));
        assert_eq!((long.len(), long.chars().count()), (100, 50));
    }

    #[test]
    fn paths_that_are_not_there_yet_are_compared_too() {
        let same = |a: &str, b: &str| super::same(Path::new(a), Path::new(b));
        assert!(same("none/a.html", "./none/x/../a.html"));
        assert!(!same("none/a.html", "none/b.html"));
        // Whatever takes all that is written takes it twice.
        #[cfg(unix)]
        assert!(!same("/dev/null", "/dev/null"));
    }
}
