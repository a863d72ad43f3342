//! What is read is what was there, to the bit.

mod common;

use common::Folder;
use moreau_collision::Shape;
use moreau_math::{Pose, Vec3, vec3};
use moreau_pipeline::{
    Body, BodyId, Contact, IslandReport, Joint, Mass, StateHash, StepReport, World, WorldSettings,
};
use moreau_record::{
    Ending, FrameReport, RecordedRun, Recorder, RecorderSettings, Recording, RunDescription,
};
use moreau_scene::{Gate, Quantity, Run, RunOptions, Verdict, scenes};

/// What a world showed after a step.
struct Seen {
    frame: u64,
    time: f64,
    /// Bits of the integrated state and of the origin of each body that is not static.
    bodies: Vec<(BodyId, Vec<u64>)>,
    asleep: Vec<BodyId>,
    contacts: Vec<Contact>,
    hash: StateHash,
    report: Option<StepReport>,
    islands: Vec<IslandReport>,
    /// The contacts of awake bodies, which the islands' worst contacts are among.
    awake: Vec<Contact>,
    /// The worst contact's index among all.
    worst: Option<usize>,
}

fn bits(reals: impl IntoIterator<Item = f64>) -> Vec<u64> {
    reals.into_iter().map(f64::to_bits).collect()
}

fn pose_bits(pose: &Pose) -> Vec<u64> {
    bits(
        pose.translation
            .to_array()
            .into_iter()
            .chain(pose.rotation.to_array()),
    )
}

fn see(world: &World, report: Option<StepReport>) -> Seen {
    let moving = world
        .bodies()
        .filter(|b| b.kind() != moreau_pipeline::BodyKind::Static);
    let bodies = moving.map(|b| {
        let v = b.velocity();
        let state = [b.center_of_mass(), v.linear, v.angular];
        let mut all = bits(state.iter().flat_map(|v| v.to_array()));
        all.extend(pose_bits(&b.pose()));
        (b.id(), all)
    });
    Seen {
        frame: world.steps(),
        time: world.time(),
        bodies: bodies.collect(),
        asleep: world
            .bodies()
            .filter(|b| b.is_sleeping())
            .map(|b| b.id())
            .collect(),
        contacts: world.contacts().to_vec(),
        hash: world.hash(),
        islands: world.island_reports().to_vec(),
        awake: world.awake_contacts().to_vec(),
        worst: report.and_then(|report| {
            let worst = world.awake_contacts()[report.worst_contact?];
            world.contacts().iter().position(|c| *c == worst)
        }),
        report,
    }
}

fn contact_bits(c: &Contact) -> Vec<u64> {
    let ids = [c.a.to_bits(), c.b.to_bits()];
    let vectors = [
        c.normal, c.tangent1, c.tangent2, c.lever_a, c.lever_b, c.impulse,
    ];
    let reals = [c.separation, c.friction, c.restitution, c.approach_velocity];
    let mut all = ids.to_vec();
    all.extend([c.key() as u64, (c.key() >> 64) as u64]);
    all.extend(bits(vectors.iter().flat_map(|v| v.to_array()).chain(reals)));
    all
}

fn compare(run: &RecordedRun<'_>, seen: &Seen) {
    let frame = run.frame(seen.frame).unwrap();
    assert_eq!(frame.time.to_bits(), seen.time.to_bits());
    let read: Vec<_> = frame
        .states
        .iter()
        .map(|(index, state)| {
            let body = &run.bodies()[*index];
            let v = state.velocity;
            let vectors = [state.center_of_mass, v.linear, v.angular];
            let mut all = bits(vectors.iter().flat_map(|v| v.to_array()));
            all.extend(pose_bits(&body.pose_of(state)));
            (body.id, all)
        })
        .collect();
    assert!(read == seen.bodies, "states of frame {}", seen.frame);
    let asleep: Vec<_> = frame.asleep.iter().map(|i| run.bodies()[*i].id).collect();
    assert_eq!(asleep, seen.asleep, "frame {}", seen.frame);
    let contacts = run.contacts(seen.frame).unwrap();
    let ordinals: Vec<_> = contacts.iter().map(|c| c.ordinal).collect();
    assert_eq!(ordinals, (0..seen.contacts.len()).collect::<Vec<_>>());
    for (read, there) in contacts.iter().zip(&seen.contacts) {
        assert_eq!(contact_bits(&read.contact), contact_bits(there));
        assert_eq!(read.penetration(), (-there.separation).max(0.0));
    }
    let islands = run.islands(seen.frame).unwrap();
    // Those of the first frame belong to the step before.
    let there = seen.report.map_or(&[][..], |_| &seen.islands);
    assert_eq!(islands.len(), there.len(), "frame {}", seen.frame);
    for (read, there) in islands.iter().zip(there) {
        let solve = &there.solve;
        assert_eq!(read.first_body, there.first_body);
        let counts = [read.bodies, read.contact_points, read.joints];
        let expect = [there.bodies, there.contact_points, there.joints];
        assert_eq!(counts, expect.map(|n| n as u64));
        assert_eq!(
            (read.solver, read.guarded),
            (there.solver.name(), there.guarded)
        );
        assert_eq!(
            (read.stop, read.certified()),
            (&*solve.stop.to_string(), solve.converged())
        );
        let counts = (read.sweeps, read.factorizations);
        assert_eq!(counts, (solve.sweeps.into(), solve.factorizations.into()));
        assert_eq!(read.residual.to_bits(), solve.residual.to_bits());
        let worst = read.worst_contact.map(|at| seen.contacts[at as usize]);
        assert_eq!(worst, solve.worst_contact.map(|at| seen.awake[at]));
    }
    if seen.frame.is_multiple_of(16) {
        assert_eq!(frame.hash, Some(seen.hash));
    }
}

fn compare_all(run: &RecordedRun<'_>, seen: &[Seen]) {
    assert_eq!(run.first_frame(), seen[0].frame);
    assert_eq!(run.last_frame(), seen[seen.len() - 1].frame);
    seen.iter().for_each(|seen| compare(run, seen));
    // In any order, too.
    for i in (0..seen.len()).rev().step_by(7).chain([3, 1, 2, 2]) {
        compare(run, &seen[i]);
    }
    let reports = run.reports().unwrap();
    let expected: Vec<_> = seen
        .iter()
        .filter_map(|s| Some((s, FrameReport::of(s.report.as_ref()?))))
        .map(|(seen, mut report)| {
            report.worst_contact = seen.worst.map(|worst| worst as u64);
            report.solvers.sort_by(|a, b| a.solver.cmp(&b.solver));
            report
        })
        .collect();
    assert_eq!(reports, expected);
}

#[test]
fn a_scene_reads_back_to_the_bit() {
    let folder = Folder::new("scene");
    let file = folder.file("pyramid.sqlite");
    let options = RunOptions {
        steps: Some(100),
        ..RunOptions::default()
    };
    let mut scene = scenes::pyramid(8);
    // One gate that holds, one that does not, and one that this run is too short for.
    scene.expect = vec![
        Gate::at_most(Quantity::MaxPenetration, 1e-2, "little overlaps").at_step(100),
        Gate::near(Quantity::PositionY, -1.0, 0.5, "below the ground")
            .of(1)
            .at_step(100),
        Gate::at_least(Quantity::ContactPoints, 1.0, "it stands").at_step(5000),
    ];
    let mut run = Run::new(&scene, options).unwrap();
    let about = RunDescription::of(&run);
    let mut recorder =
        Recorder::create(&file, run.world(), &about, RecorderSettings::default()).unwrap();
    let mut seen = vec![see(run.world(), None)];
    while !run.finished() {
        let report = run.step().unwrap();
        recorder.record(run.world(), &report).unwrap();
        seen.push(see(run.world(), Some(report)));
    }
    assert_eq!(recorder.frames(), 101);
    let figures = run.figures();
    recorder.finish(Ending::Finished, Some(&run)).unwrap();
    assert_eq!(folder.list(), ["pyramid.sqlite"], "nothing beside it");

    let recording = Recording::open(&file).unwrap();
    let recorded = recording.last_run().unwrap();
    compare_all(&recorded, &seen);
    let info = recorded.info();
    assert_eq!(info.scene, run.scene().name);
    assert_eq!(info.settings, *run.world().settings());
    assert_eq!((info.steps, info.dt, info.threads), (100, run.dt(), 1));
    assert_eq!(info.ending, Some(Ending::Finished));
    let text = info.scene_json.as_deref().unwrap();
    assert_eq!(&moreau_scene::Scene::from_json(text).unwrap(), run.scene());
    let expect = serde_json::to_value(&figures).unwrap();
    let read = recorded.figures().unwrap();
    for name in [
        "kinetic_energy_j",
        "max_penetration_m",
        "state_hash",
        "steps",
        "residual_max_m_s",
    ] {
        assert_eq!(read[name], expect[name], "{name}");
    }
    let gates = recorded.gates().unwrap();
    assert_eq!(gates, run.gates());
    let verdicts: Vec<_> = gates.iter().map(|gate| gate.verdict).collect();
    let expect = [Verdict::Passed, Verdict::Failed, Verdict::NotReached];
    assert_eq!(verdicts, expect);
}

/// A ball lands on a chain of two, another one comes, one goes, a third becomes heavier and the ground
/// moves: each frame has its own bodies.
#[test]
fn a_world_that_is_changed_on_the_way() {
    let folder = Folder::new("changes");
    let file = folder.file("changes.sqlite");
    let mut world = World::new(WorldSettings::default()).unwrap();
    let ground = world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
    let ball = |x: f64, y: f64| Body::dynamic(Shape::sphere(0.25)).at(vec3(x, y, 0.0));
    let a = world.add(ball(0.0, 0.3)).unwrap();
    let b = world.add(ball(0.5, 0.3)).unwrap();
    let slab = Shape::compound(&[
        (
            Shape::cuboid(0.2, 0.1, 0.3),
            Pose::from_translation(vec3(0.3, 0.0, 0.0)),
        ),
        (Shape::sphere(0.2), Pose::IDENTITY),
    ]);
    let c = world
        .add(Body::dynamic(slab.unwrap()).at(vec3(0.1, 1.5, 0.1)))
        .unwrap();
    let rod = Joint::distance(a, Vec3::ZERO, b, Vec3::ZERO, 0.5);
    let rod = world.add_joint(rod.colliding()).unwrap();
    // The recording starts in the middle of a run.
    for _ in 0..5 {
        world.step(0.01).unwrap();
    }

    let about = RunDescription {
        scene: "changes".into(),
        names: vec![(b, "second".into()), (a, "first".into())],
        ..RunDescription::default()
    };
    let mut recorder =
        Recorder::create(&file, &world, &about, RecorderSettings::default()).unwrap();
    let mut seen = vec![see(&world, None)];
    let mut d = None;
    for i in 0..90 {
        match i {
            10 => d = Some(world.add(ball(-1.0, 0.4)).unwrap()),
            20 => world.remove(b).unwrap(),
            // Takes the place of the one removed.
            30 => {
                world.add(ball(0.7, 0.5)).unwrap();
            }
            40 => world.set_mass(d.unwrap(), Mass::Total(7.0)).unwrap(),
            50 => {
                let pose = Pose::from_translation(vec3(0.0, -0.01, 0.0));
                world.set_pose(ground, pose).unwrap();
            }
            60 => {
                let (box_, mass) = (Shape::cuboid(0.2, 0.2, 0.2), Mass::Density(500.0));
                world.set_shape(a, box_, mass).unwrap();
            }
            70 => world.put_to_sleep(c).unwrap(),
            _ => {}
        }
        let report = world.step(0.01).unwrap();
        recorder.record(&world, &report).unwrap();
        seen.push(see(&world, Some(report)));
    }
    recorder.finish(Ending::Interrupted, None).unwrap();

    let recording = Recording::open(&file).unwrap();
    let run = recording.last_run().unwrap();
    assert_eq!(run.first_frame(), 5);
    compare_all(&run, &seen);
    assert!(seen.iter().any(|seen| !seen.asleep.is_empty()));
    assert!(
        seen.iter()
            .any(|seen| seen.awake.len() < seen.contacts.len() && !seen.islands.is_empty())
    );
    let lives: Vec<_> = run
        .bodies()
        .iter()
        .map(|x| (x.id.index, x.id.generation, x.first_frame, x.last_frame))
        .collect();
    assert_eq!(
        lives,
        [
            (0, 0, 5, Some(55)),
            (1, 0, 5, Some(65)),
            (2, 0, 5, Some(25)),
            (3, 0, 5, None),
            (4, 0, 16, Some(45)),
            (2, 1, 36, None),
            (4, 0, 46, None),
            (0, 0, 56, None),
            (1, 0, 66, None),
        ]
    );
    let names: Vec<_> = run.bodies().iter().map(|b| b.label()).collect();
    assert_eq!(
        names,
        [
            "0v0", "first", "second", "3v0", "4v0", "2v1", "4v0", "0v0", "first"
        ]
    );
    assert_eq!(run.joints().len(), 1);
    assert_eq!(
        (run.joints()[0].id, run.joints()[0].last_frame),
        (rod, Some(25))
    );
    assert_eq!(run.shapes().len(), 4);
    assert_eq!(run.bodies()[3].id, c);
    for body in run.bodies() {
        assert_eq!(body.mass.mass > 0.0, body.moves());
    }
    assert!(run.figures().unwrap().is_empty());
}

#[test]
fn a_file_holds_several_runs() {
    let folder = Folder::new("several");
    let file = folder.file("runs.sqlite");
    for steps in [3, 5] {
        let options = RunOptions {
            steps: Some(steps),
            ..RunOptions::default()
        };
        let mut run = Run::new(&scenes::tower(2), options).unwrap();
        let about = RunDescription::of(&run);
        let settings = RecorderSettings {
            contacts_every: 2,
            ..RecorderSettings::default()
        };
        let mut recorder = Recorder::create(&file, run.world(), &about, settings).unwrap();
        while !run.finished() {
            let report = run.step().unwrap();
            recorder.record(run.world(), &report).unwrap();
        }
        // The second is not finished.
        if steps == 3 {
            recorder.finish(Ending::Finished, None).unwrap();
        }
    }
    let recording = Recording::open(&file).unwrap();
    let runs = recording.runs().unwrap();
    let ends: Vec<_> = runs
        .iter()
        .map(|r| (r.run, r.last_frame, r.ending))
        .collect();
    assert_eq!(ends, [(1, 3, Some(Ending::Finished)), (2, 5, None)]);
    let run = recording.run(2).unwrap();
    assert_eq!(run.number(), 2);
    assert!(run.contacts(3).unwrap().is_empty());
    assert_eq!(run.contacts(4).unwrap().len(), 8);
    let message = recording.run(3).unwrap_err().to_string();
    assert!(
        message.contains("there is no run 3; its last is 2"),
        "{message}"
    );
    let message = run.frame(6).unwrap_err().to_string();
    assert!(
        message.contains("run 2 has no frame 6; it has 0 to 5"),
        "{message}"
    );
}
