//! Queries give what looking at every contact gives.

mod common;

use common::Folder;
use moreau_pipeline::BodyId;
use moreau_record::{
    ContactQuery, ContactRecord, Ending, RecordedRun, Recorder, RecorderSettings, Recording,
    RunDescription,
};
use moreau_scene::{Run, RunOptions, ShapeSpec, scenes};

/// Balls that fall into a box: pairs come and go.
fn record(folder: &Folder) -> Recording {
    let file = folder.file("pile.sqlite");
    let options = RunOptions {
        steps: Some(80),
        ..RunOptions::default()
    };
    let ball = ShapeSpec::Sphere { radius: 0.2 };
    let mut run = Run::new(&scenes::pile(ball, 120, 3), options).unwrap();
    let about = RunDescription::of(&run);
    let mut recorder =
        Recorder::create(&file, run.world(), &about, RecorderSettings::default()).unwrap();
    while !run.finished() {
        let report = run.step().unwrap();
        recorder.record(run.world(), &report).unwrap();
    }
    recorder.finish(Ending::Finished, None).unwrap();
    Recording::open(&file).unwrap()
}

fn all(run: &RecordedRun<'_>) -> Vec<ContactRecord> {
    let frames = run.first_frame()..=run.last_frame();
    frames
        .flat_map(|frame| run.contacts(frame).unwrap())
        .collect()
}

#[test]
fn queries_find_what_a_search_of_everything_finds() {
    let folder = Folder::new("query");
    let recording = record(&folder);
    let run = recording.last_run().unwrap();
    let everything = all(&run);
    assert!(everything.len() > 5000, "{}", everything.len());
    let id = |index| BodyId {
        index,
        generation: 0,
    };
    let mut impulses: Vec<_> = everything.iter().map(|c| c.contact.impulse.x).collect();
    impulses.sort_by(f64::total_cmp);
    let heavy = impulses[impulses.len() * 99 / 100];
    let deep = everything
        .iter()
        .map(|c| c.penetration())
        .fold(0.0, f64::max)
        / 2.0;
    let fast = everything
        .iter()
        .map(|c| c.approach_speed())
        .fold(0.0, f64::max)
        / 2.0;
    let none = ContactQuery::default;
    let sample = everything[everything.len() / 2].contact;
    let queries = [
        none(),
        ContactQuery {
            frames: Some(17..=17),
            ..none()
        },
        ContactQuery {
            frames: Some(70..=1000),
            ..none()
        },
        ContactQuery {
            frames: Some(1000..=2000),
            ..none()
        },
        ContactQuery {
            of: Some(sample.a),
            ..none()
        },
        ContactQuery {
            with: Some(sample.b),
            ..none()
        },
        ContactQuery {
            of: Some(id(0)),
            frames: Some(30..=60),
            ..none()
        },
        ContactQuery {
            of: Some(sample.b),
            with: Some(sample.a),
            ..none()
        },
        ContactQuery {
            of: Some(sample.a),
            with: Some(sample.a),
            ..none()
        },
        ContactQuery {
            of: Some(id(999)),
            ..none()
        },
        ContactQuery {
            min_normal_impulse: Some(heavy),
            ..none()
        },
        ContactQuery {
            min_normal_impulse: Some(0.0),
            ..none()
        },
        ContactQuery {
            min_penetration: Some(deep),
            ..none()
        },
        ContactQuery {
            min_approach_speed: Some(fast),
            ..none()
        },
        ContactQuery {
            of: Some(sample.a),
            min_normal_impulse: Some(heavy / 4.0),
            min_penetration: Some(1e-6),
            ..none()
        },
    ];
    for query in queries {
        let found = run.contacts_where(&query).unwrap();
        let takes = |c: &ContactRecord| {
            let frames = query.frames.clone().unwrap_or(0..=u64::MAX);
            let on = |id: Option<BodyId>| id.is_none_or(|id| c.other(id).is_some());
            frames.contains(&c.frame)
                && on(query.of)
                && on(query.with)
                && (query.of.is_none() || query.of != query.with)
                && c.contact.impulse.x >= query.min_normal_impulse.unwrap_or(f64::NEG_INFINITY)
                && c.penetration() >= query.min_penetration.unwrap_or(0.0)
                && c.approach_speed() >= query.min_approach_speed.unwrap_or(0.0)
        };
        let expected: Vec<_> = everything.iter().copied().filter(takes).collect();
        assert!(
            found == expected,
            "{query:?}: {} of {}",
            found.len(),
            expected.len()
        );
        // The heaviest of them.
        let query = ContactQuery {
            heaviest: Some(7),
            ..query
        };
        let mut heaviest = expected;
        heaviest.sort_by(|x, y| y.contact.impulse.x.total_cmp(&x.contact.impulse.x));
        heaviest.truncate(7);
        assert_eq!(run.contacts_where(&query).unwrap(), heaviest, "{query:?}");
    }
}

#[test]
fn touches_are_the_spans_of_contact() {
    let folder = Folder::new("touches");
    let recording = record(&folder);
    let run = recording.last_run().unwrap();
    let mut pairs: Vec<_> = all(&run)
        .iter()
        .map(|c| (c.contact.a, c.contact.b, c.frame))
        .collect();
    pairs.dedup();
    let touches = run.touches().unwrap();
    let mut spans: Vec<_> = touches
        .iter()
        .flat_map(|t| {
            let id = |body: usize| run.bodies()[body].id;
            let last = t.last_frame.unwrap_or(run.last_frame());
            (t.first_frame..=last).map(move |frame| (id(t.a), id(t.b), frame))
        })
        .collect();
    pairs.sort_unstable();
    spans.sort_unstable();
    assert!(pairs == spans, "{} and {}", pairs.len(), spans.len());
    // Each span is as long as it can be.
    for pair in touches.windows(2) {
        let [x, y] = pair else { unreachable!() };
        let apart = x.last_frame.is_some_and(|last| last + 1 < y.first_frame);
        assert!((x.a, x.b) != (y.a, y.b) || apart, "{x:?}, {y:?}");
    }
}

#[test]
fn bodies_are_found_by_name_and_id() {
    let folder = Folder::new("find");
    let recording = record(&folder);
    let run = recording.last_run().unwrap();
    let named = run.bodies().iter().find(|b| !b.name.is_empty());
    if let Some(body) = named {
        assert_eq!(run.find(&body.name), Some(body.id));
    }
    let third = run.bodies()[3].id;
    assert_eq!(run.find("3"), Some(third));
    assert_eq!(run.find("3v0"), Some(third));
    assert_eq!(run.find("3v1"), None);
    assert_eq!(run.find("no such body"), None);
}
