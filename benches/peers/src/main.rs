//! The same scenes in this engine and in others, side by side.
//!
//! ```text
//! cargo run --release --manifest-path benches/peers/Cargo.toml --features box3d -- --help
//! ```
//!
//! Each engine steps a scene in a process of its own, so that none gains or suffers from the memory of
//! another. The processes step in turns of a few steps ([`turns`]), so that what else the machine does
//! meets all of them alike. Geometry, mass, friction, restitution and length of the step are those of
//! the scene file ([`layout`]); no body sleeps; everything else is each engine's default. How deep bodies
//! overlap at the end is measured on the final poses by this workspace's `closest_points` for all
//! ([`measure`]), whatever the engine itself thinks.

mod engines;
mod layout;
mod measure;
mod turns;
mod worker;

use std::process::ExitCode;

const HELP: &str = "Steps scenes in several engines and compares them.

Usage: moreau-peers [--quick] [--json FILE] [SCENE...]

  SCENE        names of fixtures/scenes; default: the nine of docs/benchmarks.md
  --quick      a tenth of the steps
  --json FILE  also write the figures as JSON
";

/// The scenes of docs/benchmarks.md.
const SCENES: [&str; 9] = [
    "pyramid_20",
    "columns",
    "tower_30",
    "mass_ratio",
    "pile_boxes_2000",
    "pile_spheres_4000",
    "pile_hulls_1000",
    "ramp_stick",
    "spinning_top",
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.first().map(String::as_str) {
        Some("worker") => worker::run(&arguments[1..]),
        _ => compare(arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn compare(arguments: Vec<String>) -> Result<(), String> {
    let (mut quick, mut json, mut scenes) = (false, None, Vec::new());
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => quick = true,
            "--json" => json = Some(arguments.next().ok_or("--json needs a file")?),
            "--help" | "-h" => {
                print!("{HELP}");
                return Ok(());
            }
            flag if flag.starts_with('-') => return Err(format!("unknown {flag}\n\n{HELP}")),
            scene => scenes.push(scene.to_owned()),
        }
    }
    if scenes.is_empty() {
        scenes = SCENES.map(str::to_owned).into();
    }
    let mut rows = Vec::new();
    for scene in &scenes {
        rows.extend(turns::scene(scene, quick)?);
    }
    print!("{}", turns::table(&rows));
    if let Some(file) = json {
        let text = serde_json::to_string_pretty(&rows).map_err(|e| e.to_string())?;
        std::fs::write(&file, text + "\n").map_err(|e| format!("{file}: {e}"))?;
    }
    Ok(())
}
