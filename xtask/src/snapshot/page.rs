//! The page of a scene that changed: both trajectories, one over the other, and its figures' history.
//!
//! The older trajectory is what `moreau run --poses` of that revision writes: every state, to the bit.

use super::diff::{Other, git};
use super::figure::{Figure, moved};
use super::fixtures::{Fixtures, SceneFile};
use super::golden::Golden;
use moreau::scene::{Run, RunOptions};
use moreau::{Pose, Quat, StepReport, Velocity, World, vec3};
use moreau_page::{About, BodyState, Contacts, Frame, History, Recording, Stage, html_overlaid};
use std::fmt::Display;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// Writes `out/snapshot/SCENE.html`; returns its path from the root.
pub(crate) fn write(
    fixtures: &Fixtures,
    golden: &Golden,
    figures: &[Figure],
    other: &Other,
) -> Result<String, String> {
    let file = fixtures.scene(&golden.scene)?;
    let history = history(fixtures, golden, figures)?;
    let csv = other.poses(&golden.scene, golden.steps)?;
    let page = overlaid(&file, golden.steps, (&other.name, &csv), &history)?;
    let name = format!("out/snapshot/{}.html", golden.scene);
    let path = fixtures.root.join(&name);
    let fail = |e: std::io::Error| format!("{name}: {e}");
    std::fs::create_dir_all(path.parent().unwrap_or(&fixtures.root)).map_err(fail)?;
    std::fs::write(&path, page).map_err(fail)?;
    Ok(name)
}

/// The page of this build's run and an older one: its name, and its states as CSV.
fn overlaid(
    file: &SceneFile,
    steps: u64,
    (older, csv): (&str, &Path),
    history: &[History],
) -> Result<String, String> {
    let new = record(file, steps)?;
    let old = replay(file, csv)?;
    let about = About {
        description: file.scene.description.clone(),
        note: format!("{steps} steps of this build, and of {older}"),
        ..About::named(&file.name, file.scene.dt)
    };
    Ok(html_overlaid(
        [("this build", &new), (older, &old)],
        &about,
        history,
    ))
}

/// What this build does.
fn record(file: &SceneFile, steps: u64) -> Result<Recording, String> {
    let fail = |e: &dyn Display| format!("{}: {e}", file.name);
    let options = RunOptions {
        steps: Some(steps),
        profile: true,
        ..RunOptions::default()
    };
    let mut run = Run::new(&file.scene, options).map_err(|e| fail(&e))?;
    let mut recording = Recording::start(run.world(), &names(&run.built().names), steps);
    while !run.finished() {
        let report: StepReport = run.step().map_err(|e| fail(&e))?;
        recording.step(run.world(), &report);
    }
    recording.finish();
    Ok(recording)
}

fn names(names: &[Option<String>]) -> Vec<String> {
    let named = names.iter().cloned();
    named.map(Option::unwrap_or_default).collect()
}

/// What a CSV of poses and velocities tells, with the energies of the world put into those states.
fn replay(file: &SceneFile, csv: &Path) -> Result<Recording, String> {
    let built = file
        .scene
        .build()
        .map_err(|e| format!("{}: {e}", file.name))?;
    let mut world = built.world;
    let stage = Stage::of(&world, &names(&built.names));
    let text = File::open(csv).map_err(|e| format!("{}: {e}", csv.display()))?;
    let mut rows = BufReader::new(text).lines().skip(1);
    let count = stage.bodies.len();
    let mut frames: Vec<(u64, f64, Vec<BodyState>)> = Vec::new();
    let mut last = 0;
    let mut recording: Option<Recording> = None;
    // The number of steps is known only at the end of the file, and decides what is kept.
    while let Some(frame) = frame(&mut rows, count)? {
        last = frame.0;
        frames.push(frame);
    }
    for (step, time, bodies) in &frames {
        let first = *step;
        let recording = recording.get_or_insert_with(|| Recording::new(stage.clone(), first, last));
        let sample = sample(&mut world, *time, bodies)?;
        recording.push(&Frame {
            step: *step,
            sample,
            bodies,
            contacts: Contacts::Pairs(&[]),
            islands: &[],
        });
    }
    let mut recording = recording.ok_or_else(|| format!("{} holds no states", csv.display()))?;
    recording.finish();
    Ok(recording)
}

type Lines<'a> = &'a mut dyn Iterator<Item = std::io::Result<String>>;

/// The next `count` rows: step, time and bodies; `None` at the end.
fn frame(rows: Lines<'_>, count: usize) -> Result<Option<(u64, f64, Vec<BodyState>)>, String> {
    let mut bodies = Vec::with_capacity(count);
    let mut head = (0, 0.0);
    for row in rows.take(count) {
        let row = row.map_err(|e| e.to_string())?;
        let (step, time, state) = state(&row).ok_or_else(|| format!("`{row}` is no state"))?;
        head = (step, time);
        bodies.push(state);
    }
    match bodies.len() {
        0 => Ok(None),
        n if n == count => Ok(Some((head.0, head.1, bodies))),
        n => Err(format!(
            "a step has {n} of {count} bodies: the scene differs"
        )),
    }
}

/// `step,time,body,name,x,y,z,qx,qy,qz,qw,vx,vy,vz,wx,wy,wz`; a name may hold commas.
fn state(row: &str) -> Option<(u64, f64, BodyState)> {
    let mut head = row.splitn(3, ',');
    let (step, time) = (head.next()?.parse().ok()?, head.next()?.parse().ok()?);
    let mut x = [0.0; 13];
    let mut tail = row.rsplit(',');
    for value in x.iter_mut().rev() {
        *value = tail.next()?.parse().ok()?;
    }
    let rotation = Quat::from_xyzw(x[3], x[4], x[5], x[6]);
    let state = BodyState {
        pose: Pose::new(vec3(x[0], x[1], x[2]), rotation),
        linear: vec3(x[7], x[8], x[9]),
        angular: vec3(x[10], x[11], x[12]),
        asleep: false,
    };
    Some((step, time, state))
}

/// Time, energies and the fastest body of a state; what only the step itself knew is missing.
fn sample(
    world: &mut World,
    time: f64,
    bodies: &[BodyState],
) -> Result<moreau_page::Sample, String> {
    let ids: Vec<_> = world.bodies().map(|b| (b.id(), b.kind())).collect();
    for ((id, kind), state) in ids.into_iter().zip(bodies) {
        if kind == moreau::BodyKind::Static {
            continue;
        }
        let velocity = Velocity {
            linear: state.linear,
            angular: state.angular,
        };
        world.set_pose(id, state.pose).map_err(|e| e.to_string())?;
        let set = world.set_velocity(id, velocity);
        set.map_err(|e| e.to_string())?;
    }
    let mut sample = moreau_page::state_sample(world);
    sample[0] = time;
    Ok(sample)
}

/// Each figure over the commits that wrote the snapshot, and as it is here.
fn history(
    fixtures: &Fixtures,
    golden: &Golden,
    figures: &[Figure],
) -> Result<Vec<History>, String> {
    let file = Fixtures::snapshot_file(golden);
    let commits = git(
        &fixtures.root,
        &["log", "--reverse", "--format=%h", "--", &file],
    )?;
    let mut versions = Vec::new();
    for commit in commits.lines() {
        // Older formats, and commits that removed the file, have nothing to tell.
        let text = git(&fixtures.root, &["show", &format!("{commit}:{file}")]);
        if let Some(old) = text
            .ok()
            .and_then(|text| Golden::parse(&(text + "\n")).ok())
        {
            versions.push((commit.to_owned(), old.figures));
        }
    }
    let moved = moved(&golden.figures, figures);
    let row = |figure: &Figure| {
        let of = |figures: &[Figure]| {
            figures
                .iter()
                .find(|f| f.name == figure.name)
                .map(|f| f.value)
        };
        let olds = versions.iter();
        let olds = olds.filter_map(|(commit, figures)| Some((commit.clone(), of(figures)?)));
        let kept = golden.figures.iter().find(|f| f.name == figure.name);
        History {
            name: figure.name.clone(),
            unit: if figure.unit == "1" {
                String::new()
            } else {
                figure.unit.clone()
            },
            moved: moved.iter().any(|m| m.name == figure.name),
            tolerance: kept.unwrap_or(figure).tolerance.to_string(),
            values: olds.chain([("now".to_owned(), figure.value)]).collect(),
        }
    };
    Ok(figures.iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use moreau::scene::scenes;

    #[test]
    fn rows_read_back_to_the_bit() {
        let row = "7,0.11666666666666667,2,\"a, b\",0.1,-2.5,3e-300,0.0,0.0,0.0,1.0,1.0,2.0,3.0,4.0,5.0,-0.0";
        let (step, time, state) = state(row).unwrap();
        assert_eq!((step, time), (7, 0.11666666666666667));
        assert_eq!(state.pose.translation, vec3(0.1, -2.5, 3e-300));
        assert_eq!(state.linear, vec3(1.0, 2.0, 3.0));
        assert_eq!(state.angular.z.to_bits(), (-0.0_f64).to_bits());
        assert!(super::state("7,x").is_none());
    }

    /// A tower of two, and the CSV of its run from a little higher.
    fn fallen() -> (SceneFile, std::path::PathBuf, Vec<f64>) {
        let scene = scenes::tower(2);
        let file = SceneFile {
            name: "tower".into(),
            hash: 0,
            scene,
        };
        let mut world = file.scene.build().unwrap().world;
        let top = world.bodies().last().unwrap();
        let (id, pose) = (top.id(), top.pose());
        let higher = Pose::new(pose.translation + vec3(0.0, 0.3, 0.0), pose.rotation);
        world.set_pose(id, higher).unwrap();
        let mut csv = String::from("header\n");
        let mut kinetic = Vec::new();
        for step in 0..=40 {
            for (i, body) in world.bodies().enumerate() {
                let (p, q, v) = (body.position(), body.rotation(), body.velocity());
                let numbers = [&p.to_array()[..], &q.to_array(), &v.linear.to_array()].concat();
                let numbers = numbers.into_iter().chain(v.angular.to_array());
                let numbers: Vec<_> = numbers.map(|x| format!("{x:?}")).collect();
                let time = world.time();
                csv += &format!("{step},{time:?},{i},,{}\n", numbers.join(","));
            }
            kinetic.push(world.kinetic_energy());
            world.step(file.scene.dt).unwrap();
        }
        let name = format!(
            "moreau-{}-{:?}.csv",
            std::process::id(),
            std::thread::current().id()
        );
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, csv).unwrap();
        (file, path, kinetic)
    }

    #[test]
    fn states_have_the_energies_of_their_world() {
        let (file, csv, kinetic) = fallen();
        let recording = replay(&file, &csv).unwrap();
        std::fs::remove_file(&csv).unwrap();
        assert_eq!(recording.series("kinetic_j"), kinetic);
        assert!(kinetic.iter().any(|joule| *joule > 1.0));
    }

    #[test]
    fn a_page_holds_both_runs_and_the_figures() {
        let (file, csv, _) = fallen();
        let history = [History {
            name: "drift".into(),
            unit: "m".into(),
            moved: true,
            tolerance: "absolute 1e-6".into(),
            values: vec![
                ("abc".into(), 0.5),
                ("def".into(), 0.5),
                ("now".into(), 0.25),
            ],
        }];
        let page = overlaid(&file, 40, ("abc (Before)", &csv), &history).unwrap();
        std::fs::remove_file(&csv).unwrap();
        for part in [
            "\"abc (Before)\"",
            "\"this build\"",
            "\"drift\"",
            "[\"now\",0.25]",
        ] {
            assert!(page.contains(part), "no {part}");
        }
    }
}
