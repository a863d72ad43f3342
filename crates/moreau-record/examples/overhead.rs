//! What recording costs: time against that of the steps, and bytes.
//!
//! ```sh
//! cargo run --release -p moreau-record --example overhead -- fixtures/scenes/pile_boxes_2000.json 300 out/overhead.sqlite
//! ```

use moreau_record::{Ending, Recorder, RecorderSettings, RunDescription};
use moreau_scene::{Run, RunOptions, Scene};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [scene, steps, file] = &arguments[..] else {
        return Err("usage: overhead SCENE STEPS FILE".into());
    };
    let options = RunOptions {
        steps: Some(steps.parse()?),
        ..RunOptions::default()
    };
    let mut run = Run::new(&Scene::load(scene)?, options)?;
    let about = RunDescription::of(&run);
    let mut recorder = Recorder::create(file, run.world(), &about, RecorderSettings::default())?;
    let moving = run
        .world()
        .bodies()
        .filter(|b| b.mass_properties().mass > 0.0)
        .count();
    let (mut stepped, mut recorded, mut contacts) = (0.0, 0.0, 0);
    while !run.finished() {
        let report = run.step()?;
        let start = Instant::now();
        recorder.record(run.world(), &report)?;
        recorded += start.elapsed().as_secs_f64();
        stepped += report.seconds;
        contacts += report.contact_points;
    }
    recorder.finish(Ending::Finished, Some(&run.figures()))?;
    let bytes = std::fs::metadata(file)?.len() as f64;
    let frames = run.steps() as f64;
    println!("step      {:.3} ms", 1e3 * stepped / frames);
    println!(
        "recording {:.3} ms, {:.1} % of the step",
        1e3 * recorded / frames,
        100.0 * recorded / stepped
    );
    println!(
        "file      {:.1} MB: {:.0} bytes a body and frame",
        bytes / 1e6,
        bytes / frames / moving as f64
    );
    println!(
        "          with {:.1} contact points a body",
        contacts as f64 / frames / moving as f64
    );
    Ok(())
}
