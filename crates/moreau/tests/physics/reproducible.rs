//! The same bits: on repeat, on any number of threads, in other processes, from snapshots.

use crate::harness::{Placement, Scene};
use crate::pushed_piles::{grid_of_balls, pile};
use crate::stacking::{pyramid, tower};
use moreau::pipeline::SolverChoice;
use moreau::{Body, Shape, StateHash, Vec3, World, vec3};
use std::process::Command;

fn hashes(world: &mut World, dt: f64, steps: u32) -> Vec<StateHash> {
    (0..steps)
        .map(|_| {
            world.step(dt).unwrap();
            world.hash()
        })
        .collect()
}

/// Crates shoved by a moving block.
fn pushed_crates() -> Scene {
    let mut scene = Scene::new();
    scene.floor(0.5, 0.0);
    for i in 0..10 {
        let (row, column) = (f64::from(i / 5), f64::from(i % 5));
        let at = vec3(1.01 * column, 0.5 + row, 0.1 * row);
        scene.add(
            Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5))
                .mass(20.0)
                .at(at),
        );
    }
    let pusher = Body::kinematic(Shape::cuboid(0.5, 0.9, 2.0)).at(vec3(-4.0, 0.95, 0.0));
    scene.add(pusher.moving(vec3(2.0, 0.0, 0.0), Vec3::ZERO));
    scene
}

fn by_sweeps(mut scene: Scene) -> Scene {
    scene.settings.solver.choice = SolverChoice::Pgs;
    scene
}

fn scenes() -> Vec<(&'static str, Scene, u32)> {
    vec![
        ("pile by sweeps", by_sweeps(pile(45, 3)), 180),
        ("pile", pile(12, 3), 90),
        ("balls", by_sweeps(grid_of_balls(4)), 120),
        ("pyramid", pyramid(6), 60),
        ("tower", tower(&[1.0, 3.0, 0.5, 2.0]), 60),
        ("pushed crates", pushed_crates(), 200),
    ]
}

#[test]
fn same_bits_on_repeat_and_on_any_number_of_threads() {
    for (name, scene, steps) in scenes() {
        let dt = 1.0 / 60.0;
        let first = hashes(&mut scene.place(&Placement::HOME).world, dt, steps);
        for threads in [1, 2, 4] {
            let mut world = scene.place(&Placement::HOME).world;
            world.set_threads(threads).unwrap();
            assert!(
                hashes(&mut world, dt, steps) == first,
                "{name} on {threads} threads"
            );
        }
    }
}

#[test]
fn a_restored_world_goes_on_alike() {
    for (name, scene, steps) in scenes() {
        let dt = 1.0 / 60.0;
        let mut world = scene.place(&Placement::HOME).world;
        let (mut most, mut dense) = (0, (0, Vec::new()));
        let mut every_30 = Vec::new();
        let mut end = Vec::new();
        for step in 1..=steps {
            let report = world.step(dt).unwrap();
            end.push(world.hash());
            if report.contact_points > most {
                most = report.contact_points;
                dense = (step, world.snapshot());
            }
            if step % 30 == 0 {
                every_30.push((step, world.snapshot()));
            }
        }
        assert!(most > 0, "{name} has contacts");
        for (step, bytes) in every_30.iter().chain([&dense]) {
            let mut restored = World::from_snapshot(bytes).unwrap();
            assert_eq!(
                restored.snapshot(),
                *bytes,
                "{name}: a snapshot of the restored world"
            );
            let rest = hashes(&mut restored, dt, steps - step);
            assert!(rest == end[*step as usize..], "{name} restored at {step}");
            // Restored again, into a world that has lived.
            restored.restore(bytes).unwrap();
            restored.set_threads(2).unwrap();
            let rest = hashes(&mut restored, dt, steps - step);
            assert!(
                rest == end[*step as usize..],
                "{name} restored twice at {step}"
            );
        }
    }
}

const CHILD: &str = "MOREAU_TEST_CHILD";

/// What a child process is asked to print.
fn child_answer(job: &str) -> String {
    let run = |mut world: World, steps| hashes(&mut world, 1.0 / 60.0, steps).pop().unwrap();
    if let Some(path) = job.strip_prefix("restore:") {
        let world = World::from_snapshot(&std::fs::read(path).unwrap()).unwrap();
        return format!("hash {}", run(world, 60));
    }
    let large = run(by_sweeps(pile(50, 4)).place(&Placement::HOME).world, 120);
    let small = run(pile(5, 4).place(&Placement::HOME).world, 60);
    format!("hash {large} {small}")
}

#[test]
fn child_process() {
    // Does nothing unless another test of this file started it.
    if let Ok(job) = std::env::var(CHILD) {
        println!("{}", child_answer(&job));
    }
}

fn launch(job: &str) -> String {
    let exe = std::env::current_exe().unwrap();
    let output = Command::new(exe)
        .args([
            "--exact",
            "reproducible::child_process",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(CHILD, job)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    // The harness may print its own words on the same line.
    let at = text
        .find("hash ")
        .unwrap_or_else(|| panic!("no answer in {text:?}"));
    text[at..].lines().next().unwrap().trim_end().to_owned()
}

#[test]
fn b25_same_bits_in_twenty_launches() {
    let here = child_answer("start");
    for launch_number in 0..20 {
        assert_eq!(launch("start"), here, "launch {launch_number}");
    }
}

#[test]
fn b23_same_bits_from_a_snapshot_in_another_process() {
    let mut world = pushed_crates().place(&Placement::HOME).world;
    let mut snapshots = Vec::new();
    let mut end = Vec::new();
    for step in 1..=180 {
        world.step(1.0 / 60.0).unwrap();
        end.push(world.hash());
        if [90, 120].contains(&step) {
            snapshots.push((step, world.snapshot()));
        }
    }
    for (step, bytes) in snapshots {
        let name = format!("moreau-test-{}-{step}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, &bytes).unwrap();
        let answer = launch(&format!("restore:{}", path.display()));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(
            answer,
            format!("hash {}", end[step + 59]),
            "restored at {step}"
        );
    }
}

#[test]
fn order_of_insertion_changes_no_physics() {
    // Different ids and so different sums, but the same answer.
    let scene = tower(&[1.0; 4]);
    for seed in 0..4 {
        let mut placed = scene.place(&Placement::random(seed, 0.0));
        placed.run(&scene, 1.0 / 60.0, 2.0, |_, _| {});
        for i in 1..5 {
            let y = placed.position(i).y;
            assert!(
                (y - (i as f64 - 0.5)).abs() < 1e-9,
                "seed {seed}: body {i} at {y}"
            );
        }
    }
}
