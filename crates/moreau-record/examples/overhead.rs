//! What recording costs: time against that of the steps, and bytes.
//!
//! Two runs of the scene, one recorded and one not, take turns of some steps each, so that whatever else
//! the machine does slows both. A turn ends when its last frame is in the file.
//!
//! ```sh
//! cargo run --release -p moreau-record --example overhead -- fixtures/scenes/pile_boxes_2000.json 600 out/overhead.sqlite
//! ```

use moreau_record::{Ending, Recorder, RecorderSettings, RunDescription};
use moreau_scene::{Run, RunOptions, Scene};
use std::time::Instant;

/// Steps of a turn.
const TURN: u64 = 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [scene, steps, file] = &arguments[..] else {
        return Err("usage: overhead SCENE STEPS FILE".into());
    };
    let steps = Some(steps.parse()?);
    let scene = Scene::load(scene)?;
    let start = || {
        let defaults = RunOptions::default();
        Run::new(&scene, RunOptions { steps, ..defaults })
    };
    let (mut run, mut alone) = (start()?, start()?);
    let about = RunDescription::of(&run);
    if let Some(folder) = std::path::Path::new(file).parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut recorder = Recorder::create(file, run.world(), &about, RecorderSettings::default())?;
    let bodies = run.world().bodies();
    let moving = bodies.filter(|b| b.mass_properties().mass > 0.0).count();
    let (mut with, mut without, mut recording, mut contacts) = (0.0, 0.0, 0.0, 0);
    while !run.finished() {
        let start = Instant::now();
        for _ in 0..TURN.min(alone.steps() - alone.world().steps()) {
            alone.step()?;
        }
        without += start.elapsed().as_secs_f64();
        let start = Instant::now();
        for _ in 0..TURN.min(run.steps() - run.world().steps()) {
            let report = run.step()?;
            let start = Instant::now();
            recorder.record(run.world(), &report)?;
            recording += start.elapsed().as_secs_f64();
            contacts += report.contact_points;
        }
        recorder.flush()?;
        with += start.elapsed().as_secs_f64();
    }
    let start = Instant::now();
    recorder.finish(Ending::Finished, Some(&run))?;
    let end = start.elapsed().as_secs_f64();
    let bytes = std::fs::metadata(file)?.len() as f64;
    let frames = run.steps() as f64;
    let ms = |seconds: f64| 1e3 * seconds / frames;
    println!("step      {:.3} ms alone", ms(without));
    println!(
        "recorded  {:.3} ms, {:.1} % more",
        ms(with + end),
        100.0 * ((with + end) / without - 1.0)
    );
    println!(
        "          {:.3} ms of it, {:.1} %, in `record`; {end:.2} s at the end",
        ms(recording),
        100.0 * recording / without
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
