//! Whole steps of the scenes of `fixtures/scenes` that stand or have come to rest, and of a pile that
//! falls: from a state that is reached once and kept as a snapshot, so that each sample steps the same.

use criterion::{Criterion, criterion_group, criterion_main};
use moreau::World;
use moreau::scene::Scene;
use std::path::Path;
use std::time::Duration;

/// Scene, and the step from which it is measured.
const SCENES: [(&str, u64); 8] = [
    ("ramp_stick", 60),
    ("tower_30", 60),
    ("pyramid_20", 30),
    ("columns", 30),
    ("showcase", 60),
    ("hills", 60),
    ("pile_spheres_4000", 40),
    ("pile_hulls_1000", 90),
];

/// Steps of a sample, from the same state each.
const STEPS: u64 = 4;

fn scenes(c: &mut Criterion) {
    let mut group = c.benchmark_group("four steps of a scene");
    group
        .sample_size(10)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3));
    for (name, from) in SCENES {
        // Criterion calls the closure more than once; the way to the state is long.
        let mut reached: Option<(World, Vec<u8>, f64)> = None;
        group.bench_function(name, |b| {
            let (world, state, dt) = reached.get_or_insert_with(|| reach(name, from));
            b.iter_custom(|samples| {
                let mut time = Duration::ZERO;
                for _ in 0..samples {
                    world.restore(state).unwrap();
                    // The first step after a restore rebuilds what is only kept to save time.
                    world.step(*dt).unwrap();
                    for _ in 0..STEPS {
                        let report = world.step(*dt).unwrap();
                        time += Duration::from_secs_f64(report.seconds);
                    }
                }
                time
            });
        });
    }
    group.finish();
}

fn reach(name: &str, from: u64) -> (World, Vec<u8>, f64) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/scenes");
    let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
    let scene = Scene::from_json(&text).unwrap();
    let mut world = scene.build().unwrap().world;
    for _ in 0..from {
        world.step(scene.dt).unwrap();
    }
    let state = world.snapshot();
    (world, state, scene.dt)
}

criterion_group!(benches, scenes);
criterion_main!(benches);
