//! Sweeps over SIMD lanes forced on every island: the same closed forms, and the same bits with all
//! instructions and on any number of threads.

use crate::friction::{downhill, ramp, slide};
use crate::harness::{G, Placement, STEPS, Scene, near};
use crate::pushed_piles::pile;
use crate::stacking::{columns, drift, pyramid, tower};
use moreau::math::libm;
use moreau::pipeline::{FastPath, SolverChoice};
use moreau::solver_simd::Instructions;
use moreau::{Shape, StateHash};

/// With a budget that lets stacks converge from a cold start.
fn by_lanes(mut scene: Scene) -> Scene {
    scene.settings.solver.choice = SolverChoice::Simd;
    scene.settings.solver.simd.max_sweeps = 3000;
    scene.settings.solver.simd.tolerance = 1e-9;
    scene
}

#[test]
fn stacks_stand() {
    for (name, scene) in [
        ("tower of 5", tower(&[1.0; 5])),
        ("pyramid of 6", pyramid(6)),
        ("columns", columns(3, 3, 4)),
    ] {
        let scene = by_lanes(scene);
        for placement in [Placement::HOME, Placement::random(3, 10.0)] {
            let mut placed = scene.place(&placement);
            let moved = drift(&mut placed, &scene, 1.0 / 60.0, 5.0);
            near(&format!("{name}: drift"), moved, 0.0, 1e-6);
        }
    }
}

#[test]
fn ramp_sticks_below_the_friction_angle_and_slides_above() {
    for mu in [0.3, 0.7] {
        for (part, slides) in [(0.98, false), (1.1, true)] {
            let angle = part * libm::atan(mu);
            let scene = by_lanes(ramp(mu, angle));
            let mut placed = scene.place(&Placement::HOME);
            placed.run(&scene, 1.0 / 60.0, 2.0, |_, _| {});
            let a = if slides {
                G * (libm::sin(angle) - mu * libm::cos(angle))
            } else {
                0.0
            };
            let speed = placed.linear(1).dot(downhill(angle));
            near(&format!("speed, mu {mu}, {part}"), speed, 2.0 * a, 1e-7);
        }
    }
}

/// v²/(2 mu g), and what the step in which the cube stops adds: at most mu g h²/8.
#[test]
fn stopping_distance() {
    let (mu, v0) = (0.5, 6.0);
    let right = v0 * v0 / (2.0 * mu * G);
    for dt in STEPS {
        let scene = by_lanes(slide(Shape::cuboid(0.5, 0.5, 0.5), 0.5, mu, v0));
        let mut placed = scene.place(&Placement::HOME);
        placed.run(&scene, dt, 1.5, |_, _| {});
        let error = placed.position(1).x - right;
        let most = mu * G * dt * dt / 8.0 + 1e-7;
        assert!((-1e-7..=most).contains(&error), "error {error} of dt {dt}");
    }
}

/// The settings say which instructions, the hashes do not hold the settings.
#[test]
fn same_bits_with_all_instructions_and_threads() {
    let forced = |mut scene: Scene| {
        scene.settings.solver.choice = SolverChoice::Simd;
        scene
    };
    // By the rule: islands of more than some contacts go the fast way.
    let mixed = |mut scene: Scene| {
        scene.settings.solver.exact_contact_limit = 20;
        scene.settings.solver.calm.contact_limit = 0;
        scene.settings.solver.fast = FastPath::Simd;
        scene
    };
    for (name, scene, steps) in [
        ("pile", forced(pile(45, 3)), 150),
        ("mixed pile", mixed(pile(60, 5)), 150),
        ("pyramid", forced(pyramid(8)), 60),
        // Some 2600 contacts, which threads solve together.
        ("large pyramid", forced(pyramid(25)), 4),
        ("columns", mixed(columns(2, 3, 8)), 60),
    ] {
        let run = |instructions: Instructions, threads: usize| -> Vec<StateHash> {
            let mut world = scene.place(&Placement::HOME).world;
            let mut settings = *world.settings();
            settings.solver.simd.instructions = instructions;
            world.set_settings(settings).unwrap();
            world.set_threads(threads).unwrap();
            let step = |_| {
                world.step(1.0 / 60.0).unwrap();
                world.hash()
            };
            (0..steps).map(step).collect()
        };
        let first = run(Instructions::Fastest, 1);
        for threads in [1, 2, 4] {
            for instructions in [
                Instructions::Baseline,
                Instructions::Avx2,
                Instructions::Fastest,
            ] {
                assert!(
                    run(instructions, threads) == first,
                    "{name}: {instructions:?} on {threads} threads"
                );
            }
        }
    }
}
