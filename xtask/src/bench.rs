//! `cargo xtask bench`: measures, and writes docs/benchmarks.md.
//!
//! Everything is stepped by the command `moreau` in the release profile, a process a run, and read from
//! the JSON that it prints; the other engines by `benches/peers`. What the page says of losses follows
//! from the figures: nobody picks them.

mod instructions;
mod machine;
mod page;
mod peers;
mod run;

use clap::Args;
use machine::Machine;
use page::Page;
use run::Program;
use std::path::{Path, PathBuf};

/// What to measure.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Compares with other engines, too; needs the registry, CMake and libclang the first time
    #[arg(long)]
    peers: bool,
    /// Takes the figures of the other engines from what `moreau-peers --json FILE` wrote
    #[arg(long, value_name = "FILE", conflicts_with = "peers")]
    peers_from: Option<PathBuf>,
    /// Leaves out all but the comparison with other engines
    #[arg(long)]
    only_peers: bool,
    /// A tenth of the steps, and no pile of 100 000 bodies: to see whether it works
    #[arg(long)]
    quick: bool,
    /// The page to write
    #[arg(long, value_name = "FILE", default_value = "docs/benchmarks.md")]
    out: PathBuf,
}

/// Scenes that are stepped on two threads, too.
const THREADED: [&str; 4] = [
    "columns",
    "pile_boxes_2000",
    "pile_hulls_1000",
    "pile_spheres_4000",
];

/// Scenes that end otherwise where anything is off by a hair, and how often they are stepped.
const CHAOTIC: [&str; 3] = ["pile_boxes_2000", "pile_hulls_1000", "pile_spheres_4000"];
const RUNS: usize = 8;

/// Bodies across, deep and up, and steps, of the piles that show how cost grows.
const PILES: [([u32; 3], u64); 3] = [([10, 10, 10], 80), ([25, 25, 16], 60), ([50, 50, 40], 40)];

/// Measures and writes.
pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<bool, String> {
    std::fs::create_dir_all(root.join("target/bench")).map_err(|e| format!("target/bench: {e}"))?;
    let peers = if arguments.peers {
        Some(peers::build(root)?)
    } else {
        None
    };
    let mut page = Page {
        machine: Machine::look(),
        quick: arguments.quick,
        versions: peers::versions(root),
        ..Page::default()
    };
    if !arguments.only_peers {
        ours(root, arguments.quick, &mut page)?;
    }
    page.peers = match (peers, &arguments.peers_from) {
        (Some(program), _) => Some(peers::compare(&program, root, arguments.quick)?),
        (None, Some(file)) => Some(peers::read(file)?),
        (None, None) => None,
    };
    page.machine.finish();
    let out = root.join(&arguments.out);
    std::fs::write(&out, page.text()).map_err(|e| format!("{}: {e}", out.display()))?;
    println!("{}", arguments.out.display());
    Ok(true)
}

/// All of the page but the comparison with other engines.
fn ours(root: &Path, quick: bool, page: &mut Page) -> Result<(), String> {
    let program = Program::build(root, &["-p", "moreau-cli"])?;
    let part = |steps: u64| if quick { (steps / 10).max(1) } else { steps };
    for path in run::scene_files(root)? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        eprintln!("scene {name}");
        let steps = part(run::steps_of(&path)?);
        page.scenes.push(program.sample(&path, steps, 1)?);
    }
    for name in THREADED {
        let path = root.join(format!("fixtures/scenes/{name}.json"));
        let steps = part(run::steps_of(&path)?);
        eprintln!("scene {name}, 1 and 2 threads");
        // Side by side in time, so that what else runs meets both alike.
        let one = program.sample(&path, steps, 1)?;
        page.threaded.push((one, program.sample(&path, steps, 2)?));
    }
    for name in CHAOTIC {
        let mut runs = Vec::new();
        for run in 0..if quick { 2 } else { RUNS } {
            eprintln!("scene {name}, run {run}");
            let path = run::write_leaning(root, name, run)?;
            runs.push(program.sample(&path, part(run::steps_of(&path)?), 1)?);
        }
        page.chaotic.push(runs);
    }
    let sizes = if quick { &PILES[..2] } else { &PILES };
    for (counts, steps) in sizes {
        let path = run::write_pile(root, *counts, *steps)?;
        eprintln!(
            "pile of {} balls, 1 and 2 threads",
            counts.iter().product::<u32>()
        );
        let one = program.sample(&path, *steps, 1)?;
        page.piles.push([one, program.sample(&path, *steps, 2)?]);
    }
    let (counts, steps) = PILES[0];
    let pile = run::write_pile(root, counts, steps)?;
    page.instructions = instructions::count(&program, root, &pile)?;
    Ok(())
}
