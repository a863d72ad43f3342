//! `cargo xtask manifolds`: the pictures of contact manifolds in `docs/collision.md`.

mod draw;
mod scenes;
mod wires;

use clap::Args;
use std::path::{Path, PathBuf};

/// Where to.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Where the pictures go
    #[arg(long, value_name = "DIR", default_value = "docs/manifolds")]
    out: PathBuf,
}

/// Draws all and writes them.
pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<bool, String> {
    let out = root.join(&arguments.out);
    std::fs::create_dir_all(&out).map_err(|e| format!("{}: {e}", out.display()))?;
    for scene in scenes::all()? {
        let path = out.join(format!("{}.svg", scene.name));
        let svg = draw::picture(&scene);
        std::fs::write(&path, svg).map_err(|e| format!("{}: {e}", path.display()))?;
        println!("{}", path.display());
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pictures_show_what_collides() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
        let text = std::fs::read_to_string(docs.join("collision.md")).unwrap();
        let scenes = scenes::all().unwrap();
        // Four corners of the octagon; four and two; the line that lies on the face; rim and tip; four
        // corners of the hexagon; the edge.
        let expected = [4, 6, 2, 2, 4, 1];
        assert_eq!(scenes.len(), expected.len());
        for (scene, count) in scenes.iter().zip(expected) {
            let svg = draw::picture(scene);
            let points: usize = scene.contacts().iter().map(|m| m.points().len()).sum();
            assert_eq!(points, count, "{}", scene.name);
            assert_eq!(svg.matches("<circle").count(), count, "{}", scene.name);
            let file = format!("manifolds/{}.svg", scene.name);
            assert!(text.contains(&file), "docs/collision.md lacks {file}");
            let held = std::fs::read_to_string(docs.join(&file)).unwrap();
            assert!(held == svg, "{file} is old: cargo xtask manifolds");
        }
    }
}
