//! A replay of an untouched run has the same bits; one of a run that was changed names the first
//! difference.

mod common;

use common::Folder;
use moreau_math::{Vec3, Velocity, vec3};
use moreau_pipeline::World;
use moreau_record::{
    Difference, Ending, Recorder, RecorderSettings, Recording, Replay, ReplayError, RunDescription,
};
use moreau_scene::{Run, RunOptions, scenes};
use moreau_solver::ContactSolver;
use std::path::Path;

fn new_run(solver: Option<Box<dyn ContactSolver>>) -> Run {
    let options = RunOptions {
        steps: Some(60),
        solver,
        ..RunOptions::default()
    };
    Run::new(&scenes::pyramid(5), options).unwrap()
}

/// Records 60 steps; `change` may do something to the world before each.
fn record(file: &Path, mut run: Run, mut change: impl FnMut(&mut World)) {
    let about = RunDescription::of(&run);
    let mut recorder =
        Recorder::create(file, run.world(), &about, RecorderSettings::default()).unwrap();
    while !run.finished() {
        change(run.world_mut());
        let report = run.step().unwrap();
        recorder.record(run.world(), &report).unwrap();
    }
    recorder.finish(Ending::Finished, None).unwrap();
}

/// The first difference, and how many frames were compared.
fn replay(file: &Path, threads: usize) -> (Option<Difference>, u64) {
    let recording = Recording::open(file).unwrap();
    let run = recording.last_run().unwrap();
    let mut replay = Replay::new(&run, threads).unwrap();
    let mut compared = 0;
    while !replay.finished() {
        compared += 1;
        if let Some(difference) = replay.step().unwrap() {
            return (Some(difference), compared);
        }
    }
    (None, compared)
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let folder = Folder::new("same");
    let file = folder.file("same.sqlite");
    record(&file, new_run(None), |_| {});
    for threads in [1, 2] {
        assert_eq!(replay(&file, threads), (None, 61));
    }
}

#[test]
fn the_first_difference_is_named() {
    let folder = Folder::new("nudge");
    let file = folder.file("nudge.sqlite");
    let top = new_run(None).world().bodies().last().unwrap().id();
    record(&file, new_run(None), |world| {
        if world.steps() == 23 {
            let v = world.body(top).unwrap().velocity();
            let spin = v.angular + vec3(0.0, 2e-3, 0.0);
            world
                .set_velocity(top, Velocity::new(v.linear, spin))
                .unwrap();
        }
    });
    let (difference, compared) = replay(&file, 1);
    let difference = difference.expect("it was nudged");
    assert_eq!((difference.frame, compared), (24, 25));
    let text = difference.to_string();
    assert!(text.starts_with("frame 24, body "), "{text}");
    assert!(
        text.contains("recorded") && text.contains("ulp apart"),
        "{text}"
    );
}

#[test]
fn another_body_or_an_own_solver() {
    let folder = Folder::new("another");
    let file = folder.file("another.sqlite");
    record(&file, new_run(None), |world| {
        if world.steps() == 30 {
            let ball = moreau_pipeline::Body::dynamic(moreau_collision::Shape::sphere(0.1));
            world.add(ball.at(vec3(50.0, 9.0, 0.0))).unwrap();
        }
    });
    let (difference, _) = replay(&file, 1);
    let text = difference.unwrap().to_string();
    assert_eq!(
        text,
        "frame 31, number of bodies that move: recorded 16.0, replayed 15.0"
    );

    let own = folder.file("own.sqlite");
    let solver = moreau_solver_pgs::PgsSolver::new(moreau_solver_pgs::PgsSettings::default());
    record(&own, new_run(Some(Box::new(solver))), |_| {});
    let recording = Recording::open(&own).unwrap();
    let run = recording.last_run().unwrap();
    let error = Replay::new(&run, 1).unwrap_err();
    assert!(matches!(error, ReplayError::Solver { .. }), "{error}");
    assert!(error.to_string().contains("`pgs`"), "{error}");
}

#[test]
fn a_world_without_a_scene_replays_from_its_state() {
    let folder = Folder::new("state");
    let file = folder.file("state.sqlite");
    let mut run = new_run(None);
    for _ in 0..20 {
        run.step().unwrap();
    }
    let pushed = run.world().bodies().last().unwrap().id();
    let v = Velocity::new(vec3(1.0, 0.0, 0.0), Vec3::ZERO);
    run.world_mut().set_velocity(pushed, v).unwrap();
    record(&file, run, |_| {});
    assert_eq!(replay(&file, 1), (None, 41));
}

#[test]
fn distances_in_ulps() {
    let apart = |recorded, replayed| Difference {
        frame: 0,
        at: String::new(),
        field: "x",
        recorded,
        replayed,
    };
    let tiny = f64::from_bits(1);
    let cases = [
        (1.0, 1.0 + f64::EPSILON, Some(1)),
        (0.0, -0.0, Some(0)),
        (-tiny, tiny, Some(2)),
        (f64::MAX, f64::INFINITY, Some(1)),
        (f64::NAN, 1.0, None),
    ];
    for (x, y, ulps) in cases {
        assert_eq!(apart(x, y).ulps(), ulps, "{x:?} and {y:?}");
    }
}
