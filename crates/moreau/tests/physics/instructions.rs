//! AVX2, chosen at run time, gives the bits of plain code: all scenes of `fixtures/scenes`, with
//! every island solved in SIMD lanes, and with the large ones.

use moreau::scene::{Run, RunOptions, Scene};
use moreau::solver_simd::Instructions;
use moreau::{SolverChoice, StateHash};
use std::io::Write;
use std::path::Path;

/// Contact points in lanes, over all steps, after which a scene has shown enough; and steps.
const ENOUGH: (usize, u64) = (15_000, 600);

/// How islands are shared out.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// All of them to the lanes.
    Lanes,
    /// By the rule, with small islands solved exactly, and those of more than 20 contacts in lanes.
    Mixed,
}

fn has_avx2() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// The hashes of all steps, and how many contact points the lanes held in all of them.
fn run(scene: &Scene, way: Way, instructions: Instructions) -> (Vec<StateHash>, usize) {
    let mut run = Run::new(scene, RunOptions::default()).unwrap();
    let world = run.world_mut();
    let mut settings = *world.settings();
    settings.solver.choice = match way {
        Way::Lanes => SolverChoice::Simd,
        Way::Mixed => SolverChoice::Auto,
    };
    settings.solver.exact_contact_limit = 20;
    settings.solver.calm.contact_limit = 0;
    settings.solver.simd.instructions = instructions;
    world.set_settings(settings).unwrap();
    world.set_profiling(true);
    let (mut hashes, mut contacts) = (Vec::new(), 0);
    while !run.finished() && contacts < ENOUGH.0 && run.world().steps() < ENOUGH.1 {
        let report = run.step().unwrap();
        contacts += report.profile.unwrap().lanes.contacts;
        hashes.push(run.world().hash());
    }
    (hashes, contacts)
}

#[test]
fn all_scenes_have_the_same_bits_with_avx2_and_without() {
    if !has_avx2() {
        // Not by a macro, whose words a test that passes keeps to itself.
        let words = b"\nNOTHING WAS COMPARED: this processor has no AVX2, so that the fastest \
            instructions are the plain ones\n";
        std::io::stderr().write_all(words).unwrap();
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/scenes");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let (mut all, mut some) = (0, 0);
    for file in &files {
        let scene = Scene::from_json(&std::fs::read_to_string(file).unwrap()).unwrap();
        for way in [Way::Lanes, Way::Mixed] {
            let (plain, _) = run(&scene, way, Instructions::Baseline);
            let (fast, contacts) = run(&scene, way, Instructions::Fastest);
            let first = plain.iter().zip(&fast).position(|(p, f)| p != f);
            assert_eq!(
                first, None,
                "{}, {way:?}: steps before it differs",
                scene.name
            );
            assert!(!plain.is_empty() && plain.len() == fast.len());
            match way {
                Way::Lanes => all += usize::from(contacts > 0),
                Way::Mixed => some += usize::from(contacts > 0),
            }
        }
    }
    // A body that flies free touches nothing, but in most scenes something does.
    assert!(all > 25, "only {all} scenes filled lanes");
    assert!(some > 5, "only {some} scenes had a large island");
}
