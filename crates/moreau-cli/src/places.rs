//! What files are called where nobody says so.

use std::path::PathBuf;

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

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

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
}
