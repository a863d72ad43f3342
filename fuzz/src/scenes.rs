//! Scene files and world snapshots from anywhere: an error, or a world that steps.
//!
//! The input is a scene file. After a zero byte may follow changes (place, byte) to the snapshot of the
//! scene's world after a step: five bytes each. Input that starts like a snapshot is taken as one.

use moreau::scene::{Generator, Scene};
use moreau::{SolverSettings, World, WorldError, WorldSettings};

/// How snapshots begin.
const MARK: &[u8] = b"moreauW\0";

/// Bodies up to which a world is stepped.
const SMALL: usize = 60;

/// Panics where something does not hold.
pub fn check(data: &[u8]) {
    if data.starts_with(MARK) {
        check_snapshot(data);
        return;
    }
    let end = data.iter().position(|b| *b == 0).unwrap_or(data.len());
    let (text, changes) = data.split_at(end);
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let Some(mut world) = check_scene(text) else {
        return;
    };
    if changes.len() < 2 || world.step(1.0 / 60.0).is_err() {
        return;
    }
    let mut bytes = world.snapshot();
    for change in changes[1..].chunks_exact(5) {
        let place = u32::from_le_bytes([change[0], change[1], change[2], 0]) as usize;
        match change[3] % 4 {
            // Behind the mark and the version, or nothing else would ever be read.
            0 | 1 => {
                let place = 10 + place % (bytes.len() - 10).max(1);
                if let Some(byte) = bytes.get_mut(place) {
                    *byte = change[4];
                }
            }
            2 => bytes.insert(10 + place % (bytes.len() - 9), change[4]),
            _ => bytes.truncate(10.max(bytes.len() - place % bytes.len())),
        }
    }
    check_snapshot(&bytes);
}

/// The world of a scene that is right and small.
fn check_scene(text: &str) -> Option<World> {
    // A generator of a million bodies is right, and takes its time.
    let parsed: Result<Scene, _> = serde_json::from_str(text);
    if let Ok(scene) = &parsed
        && scene.generate.iter().map(count).sum::<u64>() > SMALL as u64
    {
        return None;
    }
    let scene = match Scene::from_json(text) {
        Ok(scene) => scene,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return None;
        }
    };
    let again = Scene::from_json(&scene.to_json());
    assert_eq!(
        again.as_ref().ok(),
        Some(&scene),
        "printed and read: {again:?}"
    );
    let built = scene.build().expect("what was read was checked");
    let mut world = built.world;
    check_finite(&world);
    if world.body_count() > SMALL {
        return None;
    }
    shorten(&mut world);
    step(&mut world, scene.dt);
    Some(world)
}

fn count(generator: &Generator) -> u64 {
    let product = |n: &[u32]| n.iter().fold(1u64, |p, n| p.saturating_mul(u64::from(*n)));
    match generator {
        Generator::Stack(g) => u64::from(g.count),
        Generator::Pyramid(g) => product(&[g.rows, g.rows]),
        Generator::GridOfColumns(g) => product(&[g.columns[0], g.columns[1], g.height]),
        Generator::Pile(g) => product(&g.counts),
    }
}

fn check_snapshot(bytes: &[u8]) {
    let Ok(mut world) = World::from_snapshot(bytes) else {
        return;
    };
    check_finite(&world);
    // What was taken can be given and taken again.
    let own = world.snapshot();
    let twin = World::from_snapshot(&own).expect("a snapshot of its own");
    assert!(
        twin.snapshot() == own,
        "the snapshot of a snapshot is another"
    );
    if world.body_count() > SMALL {
        return;
    }
    shorten(&mut world);
    step(&mut world, 1.0 / 60.0);
}

/// Budgets of work that a fuzzer can wait for.
fn shorten(world: &mut World) {
    let mut settings: WorldSettings = *world.settings();
    let SolverSettings {
        simd,
        pgs,
        block,
        active_set,
        newton,
        ..
    } = &mut settings.solver;
    let sweeps = [
        &mut settings.position_correction.max_sweeps,
        &mut simd.max_sweeps,
        &mut pgs.max_sweeps,
        &mut block.max_sweeps,
        &mut newton.first_sweeps,
        &mut newton.primal_dual_steps,
        &mut newton.interior_steps,
        &mut newton.augmented_steps,
        &mut newton.krylov_iterations,
    ];
    for sweeps in sweeps {
        *sweeps = (*sweeps).min(50);
    }
    block.anderson_window = block.anderson_window.min(20);
    newton.rounds = newton.rounds.min(2);
    newton.max_work = newton.max_work.min(1_000_000);
    active_set.max_rows = active_set.max_rows.min(30);
    world
        .set_settings(settings)
        .expect("smaller budgets are as good");
}

/// A step works and leaves numbers, or says that it would not and leaves the world alone.
fn step(world: &mut World, dt: f64) {
    for _ in 0..3 {
        let before = world.snapshot();
        match world.step(dt) {
            Ok(report) => {
                assert!(!report.residual.is_nan(), "residual");
                check_finite(world);
            }
            Err(error) => {
                let told = matches!(
                    error,
                    WorldError::Diverged { .. } | WorldError::Solve(_) | WorldError::Problem(_)
                );
                assert!(told, "{error:?}");
                assert!(world.snapshot() == before, "the world has changed: {error}");
                return;
            }
        }
    }
}

fn check_finite(world: &World) {
    for body in world.bodies() {
        let v = body.velocity();
        let finite = body.pose().is_finite() && v.linear.is_finite() && v.angular.is_finite();
        assert!(finite, "body {}: {:?} {v:?}", body.id(), body.pose());
        let length = body.rotation().length();
        assert!(
            (length - 1.0).abs() <= 1e-6,
            "body {}: rotation {length}",
            body.id()
        );
    }
    for contact in world.contacts() {
        let finite = contact.impulse.is_finite() && contact.separation.is_finite();
        assert!(finite, "{contact:?}");
    }
}
