//! Recordings: made, asked, drawn, made again and compared.

use crate::folder::{Folder, Ran, record_without_end};
use serde_json::Value;

fn fine(ran: &Ran) -> &str {
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    &ran.out
}

/// A folder with `out/pair.sqlite`.
fn recorded(name: &str) -> Folder {
    let folder = Folder::new(name);
    let ran = folder.moreau(&["record", "pair.json"]);
    let out = fine(&ran);
    for part in [
        "out/pair.sqlite, run 1, 21 frames",
        "all 20 steps are certified",
        "moreau replay",
    ] {
        assert!(out.contains(part), "no {part:?} in {out}");
    }
    folder
}

const FILE: &str = "out/pair.sqlite";

fn json(ran: &Ran) -> Vec<Value> {
    serde_json::from_str(fine(ran)).unwrap()
}

#[test]
fn contacts_by_frame_pair_and_threshold() {
    let folder = recorded("query");
    let query = |args: &[&str]| folder.moreau(&[&["query", FILE], args].concat());
    let runs = query(&[]);
    assert!(
        fine(&runs).contains("pair") && runs.out.contains("0 to 20"),
        "{runs:?}"
    );

    let all = json(&query(&["--format", "json"]));
    // The box rests on four corners in each step; the ball touches some time after its fall of 5 cm.
    let of_box = all.iter().filter(|c| c["name_b"] == "box, small").count();
    assert_eq!(of_box, 80);
    let ball: Vec<_> = all.iter().filter(|c| c["name_b"] == "ball").collect();
    assert!(!ball.is_empty() && ball.len() < 20, "{}", ball.len());

    let frame = json(&query(&["--frame", "7", "--format", "json"]));
    assert_eq!(frame.len(), all.iter().filter(|c| c["frame"] == 7).count());
    let frames = json(&query(&["--frames", "3..5", "--format", "json"]));
    let count = all
        .iter()
        .filter(|c| (3..=5).contains(&c["frame"].as_u64().unwrap()))
        .count();
    assert_eq!(frames.len(), count);
    let pair = json(&query(&[
        "--pair",
        "box, small",
        "floor",
        "--format",
        "json",
    ]));
    assert_eq!(pair.len(), 80);
    let body = json(&query(&["--body", "2", "--format", "json"]));
    assert_eq!(body.len(), ball.len());

    // The corners together carry m g dt.
    let weight = 1000.0 * 9.81 / 60.0;
    let late = json(&query(&[
        "--frame", "20", "--pair", "0", "1", "--format", "json",
    ]));
    let impulses = late.iter().map(|c| c["impulse"][0].as_f64().unwrap());
    let sum = impulses.fold(0.0, |sum, x| sum + x);
    assert!((sum - weight).abs() < 1e-6 * weight, "{sum} and {weight}");
    // No threshold below the mean of the corners leaves out all four.
    let least = "40";
    let heavy = json(&query(&["--min-impulse", least, "--format", "json"]));
    assert!(heavy.len() >= 20 && heavy.iter().all(|c| c["impulse"][0].as_f64() >= Some(40.0)));
    let above = all
        .iter()
        .filter(|c| c["impulse"][0].as_f64() >= Some(40.0))
        .count();
    assert_eq!(heavy.len(), above);
    let heaviest = json(&query(&["--heaviest", "3", "--format", "json"]));
    let impulses: Vec<_> = heaviest
        .iter()
        .map(|c| c["impulse"][0].as_f64().unwrap())
        .collect();
    assert!(
        impulses.len() == 3 && impulses.is_sorted_by(|x, y| x >= y),
        "{impulses:?}"
    );
    let fast = json(&query(&["--min-approach", "0.5", "--format", "json"]));
    assert!(fast.iter().all(|c| c["name_b"] == "ball") && !fast.is_empty());

    // CSV has the same numbers, to the bit.
    let csv = query(&["--format", "csv"]);
    let mut lines = fine(&csv).lines();
    let header: Vec<_> = lines.next().unwrap().split(',').collect();
    let impulse = header
        .iter()
        .position(|name| *name == "normal_impulse")
        .unwrap();
    let rows: Vec<_> = lines.collect();
    assert_eq!(rows.len(), all.len());
    for (row, object) in rows.iter().zip(&all) {
        // The one name with a comma.
        let row = row.replace("\"box, small\"", "box");
        let fields: Vec<_> = row.split(',').collect();
        assert_eq!(fields.len(), header.len());
        let number: f64 = fields[impulse].parse().unwrap();
        assert_eq!(Some(number), object["impulse"][0].as_f64());
    }
    let table = query(&["--frame", "20", "--heaviest", "1"]);
    assert!(fine(&table).contains("1 contact\n"), "{table:?}");
    let none = query(&["--min-impulse", "1e9"]);
    assert_eq!(fine(&none), "no contacts\n");
}

/// The solver, the residual and the contacts of each island of each step.
#[test]
fn islands_of_a_frame() {
    let folder = recorded("islands");
    let query = |args: &[&str]| folder.moreau(&[&["query", FILE, "--islands"], args].concat());
    let all = json(&query(&["--format", "json"]));
    // The box stands in all 20 steps, the ball falls first.
    let count = |name: &str| all.iter().filter(|r| r["name"] == name).count();
    assert_eq!(count("box, small"), 20);
    assert!((1..20).contains(&count("ball")), "{all:?}");
    let contacts = json(&folder.moreau(&["query", FILE, "--frame", "20", "--format", "json"]));
    let frame = json(&query(&["--frame", "20", "--format", "json"]));
    assert_eq!(frame.len(), 2);
    for island in &frame {
        let own = contacts.iter().filter(|c| c["name_b"] == island["name"]);
        assert_eq!(island["contact_points"], own.count());
        assert_eq!(
            (&island["bodies"], &island["stop"]),
            (&1.into(), &"converged".into())
        );
        let worst = island["worst_contact"].as_u64().unwrap() as usize;
        assert_eq!(contacts[worst]["name_b"], island["name"]);
    }
    let worst = json(&query(&["--worst", "3", "--format", "json"]));
    let residual = |r: &Value| r["residual"].as_f64().unwrap();
    let mut sorted: Vec<_> = all.iter().map(residual).collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let found: Vec<_> = worst.iter().map(residual).collect();
    assert_eq!(found, sorted[..3]);
    let csv = query(&["--format", "csv"]);
    assert_eq!(fine(&csv).lines().count(), all.len() + 1);
    let uncertified = query(&["--uncertified"]);
    assert_eq!(fine(&uncertified), "no islands\n");
    let table = query(&["--frame", "20"]);
    assert!(
        fine(&table).contains("certified") && table.out.contains("2 islands\n"),
        "{table:?}"
    );
    // A solver that sweeps once is not certified, and says why.
    let sloppy = crate::folder::SCENE.replace(
        "\"steps\": 20,",
        r#""steps": 20, "settings": {"solver": {"choice": "pgs", "pgs": {"max_sweeps": 1}}},"#,
    );
    folder.write("sloppy.json", &sloppy);
    fine(&folder.moreau(&["record", "sloppy.json", "-o", "s.sqlite"]));
    let args = [
        "query",
        "s.sqlite",
        "--islands",
        "--uncertified",
        "--format",
        "json",
    ];
    let bad = json(&folder.moreau(&args));
    assert!(!bad.is_empty());
    for island in bad {
        assert_eq!(
            (&island["solver"], &island["stop"]),
            (&"pgs".into(), &"budget used up".into())
        );
    }
}

#[test]
fn a_replay_has_the_same_bits_and_says_where_it_has_not() {
    let folder = recorded("replay");
    let ran = folder.moreau(&["replay", FILE, "--threads", "2"]);
    assert_eq!(
        fine(&ran),
        "pair, run 1 of out/pair.sqlite: the same bits in 21 frames\n"
    );
    // Another scene under the recorded states: the ball starts elsewhere.
    let moved = crate::folder::SCENE.replace("[3, 0.3, 0]", "[3, 0.31, 0]");
    folder.write("other.json", &moved);
    fine(&folder.moreau(&["record", "other.json", "-o", "out/other.sqlite"]));
    let ran = folder.moreau(&["compare", FILE, "out/other.sqlite"]);
    let out = fine(&ran);
    let expect = "first difference: frame 0, body `ball` (2v0), center_of_mass.y: \
        out/pair.sqlite 0.3, out/other.sqlite 0.31";
    assert!(out.contains(expect), "{out}");
    assert!(
        out.contains("farthest apart: 0.01 m, body `ball` (2v0) in frame"),
        "{out}"
    );
    let ran = folder.moreau(&["compare", FILE, "out/pair.sqlite#1"]);
    assert!(
        fine(&ran).contains("the same bits in all 21 frames"),
        "{ran:?}"
    );
}

#[test]
fn two_solvers_side_by_side() {
    let folder = Folder::new("solvers");
    let args = [
        "compare",
        "pair.json",
        "--solvers",
        "newton,pgs",
        "--plot",
        "both.svg",
    ];
    let ran = folder.moreau(&args);
    let out = fine(&ran);
    for part in [
        "newton",
        "pgs",
        "hash of the state",
        "first difference",
        "plot: both.svg",
    ] {
        assert!(out.contains(part), "no {part:?} in {out}");
    }
    let picture = folder.read("both.svg");
    assert!(picture.contains("newton: kinetic") && picture.contains("pgs: kinetic"));
    // Both can be looked at afterwards.
    let ran = folder.moreau(&["query", "out/pair-newton-pgs.sqlite"]);
    assert!(fine(&ran).matches("0 to 20").count() == 2, "{ran:?}");
}

#[test]
fn plots_as_svg_and_png() {
    let folder = recorded("plot");
    fine(&folder.moreau(&["plot", FILE, "-o", "a.svg", "-o", "deep/a.png"]));
    let svg = folder.read("a.svg");
    assert!(svg.starts_with("<svg"), "{}", &svg[..60]);
    for title in [
        "energy, J",
        "deepest overlap, m",
        "residual",
        "iterations",
        "contact points of the islands of each solver",
        "largest island",
        "time of a step, ms",
    ] {
        assert!(svg.contains(title), "no {title:?}");
    }
    assert!(svg.matches("<polyline").count() >= 12);
    let png = folder.bytes("deep/a.png");
    assert!(
        png.starts_with(b"\x89PNG\r\n\x1a\n") && png.len() > 20_000,
        "{}",
        png.len()
    );
    fine(&folder.moreau(&["plot", FILE, "--panels", "energy"]));
    let svg = folder.read("out/pair.svg");
    assert!(svg.contains("energy, J") && !svg.contains("residual"));
}

#[test]
fn metrics_gather_in_one_file() {
    let folder = Folder::new("metrics");
    for solver in ["newton", "pgs"] {
        let args = [
            "record",
            "pair.json",
            "--solver",
            solver,
            "--metrics",
            "m.csv",
        ];
        fine(&folder.moreau(&args));
    }
    let text = folder.read("m.csv");
    let rows: Vec<Vec<_>> = text.lines().map(|l| l.split(',').collect()).collect();
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row.len() == 16), "{text}");
    let column = |name| rows[0].iter().position(|c| *c == name).unwrap();
    assert_eq!(
        (rows[1][column("solver")], rows[2][column("solver")]),
        ("newton", "pgs")
    );
    for row in &rows[1..] {
        let number = |name| row[column(name)].parse::<f64>().unwrap();
        assert_eq!(
            (number("steps"), number("N_bodies"), number("N_joints")),
            (20.0, 3.0, 0.0)
        );
        assert!(number("drift_max") < 1e-9 && number("cone_consistency") < 1e-9);
        // The ball loses what it had at its impact: m g times 5 cm.
        let lost = 1000.0 * 4.0 / 3.0 * std::f64::consts::PI * 0.25 * 0.25 * 0.25 * 9.81 * 0.05;
        assert!(
            (number("energy_drift") / lost - 1.0).abs() < 0.1,
            "{row:?} {lost}"
        );
    }
    folder.write("m.csv", "a,b\n");
    let ran = folder.moreau(&["record", "pair.json", "--metrics", "m.csv"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("other columns"), "{ran:?}");
}

#[test]
fn what_is_wrong_is_said() {
    let folder = recorded("wrong");
    folder.write("letter.txt", &"Dear recorder, ".repeat(200));
    std::fs::write(folder.path("cut.sqlite"), &folder.bytes(FILE)[..20_000]).unwrap();
    let cases: [(&[&str], i32, &str); 18] = [
        (&["query", "none.sqlite"], 2, "cannot be opened"),
        (&["query", "cut.sqlite"], 2, "cut.sqlite: is damaged"),
        (&["replay", "#1"], 2, "#1: cannot be opened"),
        (&["query", FILE, "--heaviest", "-1..3"], 2, "whole number"),
        (&["query", FILE, "--frames", "-1..3"], 2, "100..200"),
        (&["query", FILE, "--frame", "-1"], 2, "whole number"),
        (&["query", FILE, "--run", "-1"], 2, "there is no run -1"),
        (
            &["record", "pair.json", "--contacts-every", "-1"],
            2,
            "whole number, 1 or more",
        ),
        (&["query", "letter.txt"], 2, "is not a recording"),
        (
            &["record", "pair.json", "-o", "letter.txt"],
            2,
            "is not a recording",
        ),
        (&["query", FILE, "--run", "7"], 2, "there is no run 7"),
        (&["query", FILE, "--frame", "21"], 2, "it has 0 to 20"),
        (
            &["query", FILE, "--body", "cat"],
            2,
            "names are: floor, box, small, ball",
        ),
        (&["query", FILE, "--frames", "5"], 2, "100..200"),
        (&["plot", FILE, "-o", "a.pdf"], 2, "neither .svg nor .png"),
        (&["compare", FILE], 2, "SECOND"),
        (
            &["compare", "pair.json", "--solvers", "pgs"],
            2,
            "takes two solvers",
        ),
        (&["record", "pair.json", "--max-size", "0"], 2, "0"),
    ];
    for (args, code, part) in cases {
        let ran = folder.moreau(args);
        assert_eq!(
            (ran.code, ran.out.as_str()),
            (code, ""),
            "{args:?}: {ran:?}"
        );
        assert!(
            ran.err.contains(part),
            "{args:?}: no {part:?} in {}",
            ran.err
        );
    }
    assert!(folder.read("letter.txt").starts_with("Dear"));
}

/// FILE#N means run N, whatever the command.
#[test]
fn a_run_of_a_file_by_its_number() {
    let folder = recorded("numbered");
    fine(&folder.moreau(&["record", "pair.json", "--steps", "5", "-o", FILE]));
    let first = format!("{FILE}#1");
    let of_first = |args: &[&str], last: &[&str]| {
        let by_number = fine(&folder.moreau(&[args, &[&first], last].concat())).to_owned();
        let by_option = folder.moreau(&[args, &[FILE, "--run", "1"], last].concat());
        assert_eq!(by_number, fine(&by_option), "{args:?}");
        let of_last = folder.moreau(&[args, &[FILE], last].concat());
        assert_ne!(by_number, of_last.out, "{args:?}");
        by_number
    };
    let contacts = of_first(&["query"], &["--frame", "7", "--format", "json"]);
    let contacts: Vec<Value> = serde_json::from_str(&contacts).unwrap();
    assert!(contacts.iter().all(|c| c["frame"] == 7) && contacts.len() == 5);
    let same = of_first(&["replay"], &[]);
    assert!(
        same.contains("run 1 of out/pair.sqlite: the same bits in 21 frames"),
        "{same}"
    );
    let pictures = [&first, FILE].map(|file| {
        fine(&folder.moreau(&["plot", file, "--panels", "energy", "-o", "a.svg"]));
        folder.read("a.svg")
    });
    assert!(pictures[0].contains("run 1") && pictures[1].contains("run 2"));
    let second = format!("{FILE}#2");
    let compared = folder.moreau(&["compare", &first, &second]);
    assert!(
        fine(&compared).contains("the same bits in all 6 frames"),
        "{compared:?}"
    );

    // A file may be called like that; two numbers contradict each other.
    std::fs::copy(folder.path(FILE), folder.path("odd#1")).unwrap();
    let odd = folder.moreau(&["replay", "odd#1"]);
    assert!(fine(&odd).contains("run 2 of odd#1"), "{odd:?}");
    for command in ["query", "plot", "replay", "view"] {
        let ran = folder.moreau(&[command, &second, "--run", "1"]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{ran:?}");
        assert!(
            ran.err.contains("#2 names one run, and --run 1 another"),
            "{ran:?}"
        );
        let ran = folder.moreau(&[command, &format!("{FILE}#7")]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{ran:?}");
        assert!(ran.err.contains("there is no run 7"), "{ran:?}");
    }
}

/// A recording that is full says so, and that its run has no more frames.
#[test]
fn a_full_file_is_kept() {
    let folder = Folder::new("full");
    let args = [
        "record",
        "pair.json",
        "--steps",
        "100000000",
        "--max-size",
        "1",
    ];
    let ran = folder.moreau(&args);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
    assert!(ran.err.contains("no room is left"), "{ran:?}");
    assert!(folder.bytes(FILE).len() <= 1_000_000);
    let runs = folder.moreau(&["query", FILE]);
    assert!(fine(&runs).contains("interrupted"), "{runs:?}");
    let replayed = folder.moreau(&["replay", FILE]);
    assert!(fine(&replayed).contains("the same bits"), "{replayed:?}");
    // What is in it leaves no room for another.
    let ran = folder.moreau(&args);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{ran:?}");
    assert!(ran.err.contains("max_bytes is 1000000"), "{ran:?}");
}

/// What the page says of its run.
fn page(folder: &Folder, file: &str) -> Value {
    let text = folder.read(file);
    let start = text.split_once("<script id=\"meta\" type=\"application/json\">");
    let meta = start.unwrap().1.split_once("</script>").unwrap().0;
    serde_json::from_str(meta).unwrap()
}

#[test]
fn the_page_of_a_recording() {
    let folder = recorded("page");
    let ran = folder.moreau(&["view", FILE, "--no-open"]);
    assert_eq!(
        fine(&ran),
        "pair, run 1 of out/pair.sqlite: 21 frames\npage: out/pair.html (open it in a browser)\n"
    );
    // Elsewhere a browser opens.
    if cfg!(target_os = "linux") {
        for scene in [FILE, "pair.json"] {
            let mut command = folder.command(&["view", scene]);
            command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
            let ran = Ran::of(command.output().unwrap());
            assert_eq!(fine(&ran).matches("pair.html").count(), 1, "{ran:?}");
            assert_eq!(ran.out.matches("browser").count(), 1, "{ran:?}");
        }
    }
    let meta = page(&folder, "out/pair.html");
    let frames: Vec<u64> = (0..=20).collect();
    assert_eq!(meta["runs"][0]["frame_steps"], serde_json::json!(frames));
    let verdict = &meta["verdict"];
    assert_eq!(verdict["good"], true, "{verdict}");
    let names = meta["runs"][0]["bodies"].as_array().unwrap();
    let names: Vec<_> = names.iter().map(|body| &body["name"]).collect();
    assert_eq!(names, ["floor", "box, small", "ball"]);

    // A second run in the file is the one that is meant, unless another is named.
    let args = ["record", "pair.json", "--steps", "5", "-o", FILE];
    fine(&folder.moreau(&args));
    let last = |args: &[&str], file: &str| {
        fine(&folder.moreau(&[&["view", "--no-open"], args].concat()));
        let meta = page(&folder, file);
        let steps = meta["runs"][0]["frame_steps"].as_array().unwrap();
        steps.last().unwrap().as_u64().unwrap()
    };
    assert_eq!(last(&[FILE], "out/pair.html"), 5);
    let first = format!("{FILE}#1");
    assert_eq!(last(&[&first, "-o", "deep/1.html"], "deep/1.html"), 20);
    assert_eq!(last(&[FILE, "--run", "1"], "out/pair.html"), 20);
}

#[test]
fn what_is_no_recording_has_no_page() {
    let folder = recorded("no-page");
    folder.write("letter.sqlite", &"Dear recorder, ".repeat(200));
    folder.write("empty.sqlite", "");
    // SQLite keeps the application's id and the tables' version at these places of the header.
    let patched = |name: &str, at: usize, value: u32| {
        let mut bytes = folder.bytes(FILE);
        bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
        std::fs::write(folder.path(name), bytes).unwrap();
    };
    patched("newer.sqlite", 60, 1000);
    patched("foreign", 68, 7);
    let cases: [(&[&str], i32, &str); 9] = [
        (&["view", "none.sqlite"], 2, "none.sqlite: cannot be opened"),
        (&["view", "letter.sqlite"], 2, "is not a recording"),
        (&["view", "foreign"], 2, "foreign: is not a recording"),
        (&["view", "newer.sqlite"], 2, "has schema version 1000"),
        (
            &["view", "empty.sqlite"],
            2,
            "empty.sqlite: is damaged: it is empty",
        ),
        (&["view", FILE, "--run", "7"], 2, "there is no run 7"),
        (&["view", FILE, "--solver", "pgs"], 2, "--solver says how"),
        (&["view", "pair.json", "--run", "1"], 2, "is a scene"),
        (&["run", FILE], 2, "is a recording, not a scene"),
    ];
    for (args, code, part) in cases {
        let ran = folder.moreau(&[args, &["--quiet"]].concat());
        assert_eq!(
            (ran.code, ran.out.as_str()),
            (code, ""),
            "{args:?}: {ran:?}"
        );
        // Long lines are wrapped.
        let words: Vec<_> = ran.err.split_whitespace().filter(|w| *w != "│").collect();
        assert!(
            words.join(" ").contains(part),
            "{args:?}: no {part:?} in {}",
            ran.err
        );
    }
    assert!(!folder.path("letter.html").exists() && !folder.path("foreign.html").exists());
}

/// `kill -9` while a long run is recorded: the page goes to the last frame that is in the file.
#[cfg(unix)]
#[test]
fn the_page_of_a_run_that_was_killed() {
    let folder = Folder::new("killed");
    let args = record_without_end("k.sqlite");
    let mut child = folder
        .command(&args)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let journal = folder.path("k.sqlite-wal");
    let start = std::time::Instant::now();
    while std::fs::metadata(&journal).map_or(0, |data| data.len()) < 400_000 {
        assert!(start.elapsed().as_secs() < 60, "nothing is recorded");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    // Also while it is still written to.
    fine(&folder.moreau(&["view", "k.sqlite", "--no-open"]));
    let during = page(&folder, "k.html");
    child.kill().unwrap();
    child.wait().unwrap();
    fine(&folder.moreau(&["view", "k.sqlite", "--no-open"]));
    let meta = page(&folder, "k.html");
    let steps = |meta: &Value| meta["runs"][0]["frame_steps"].as_array().unwrap().clone();
    let (early, all) = (steps(&during), steps(&meta));
    assert!(early.len() > 1 && all.starts_with(&early[..early.len() - 1]));
    let last = all.last().unwrap();
    let runs = folder.moreau(&["query", "k.sqlite"]);
    assert!(
        fine(&runs).contains(&format!("0 to {last}")),
        "{last}: {runs:?}"
    );
    let text = meta["verdict"]["text"].as_str().unwrap();
    assert!(text.contains("of 100000000 steps so far"), "{text}");
    assert_eq!(meta["verdict"]["good"], false);
}

/// Ctrl-C while a long run is recorded: what was recorded is kept, and replays.
#[cfg(unix)]
#[test]
fn an_interrupted_recording_is_kept() {
    let folder = Folder::new("interrupted");
    let args = record_without_end("long.sqlite");
    let child = folder
        .command(&args)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // It is recording once the journal has frames.
    let journal = folder.path("long.sqlite-wal");
    let start = std::time::Instant::now();
    while std::fs::metadata(&journal).map_or(0, |data| data.len()) < 400_000 {
        assert!(start.elapsed().as_secs() < 60, "nothing is recorded");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let pid = child.id().to_string();
    let sent = std::process::Command::new("kill")
        .args(["-INT", &pid])
        .status()
        .unwrap();
    assert!(sent.success());
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.err.as_str()), (130, ""), "{ran:?}");
    assert!(ran.out.contains("they are kept"), "{ran:?}");
    assert!(!journal.exists(), "one file is left");
    let ran = folder.moreau(&["query", "long.sqlite"]);
    assert!(fine(&ran).contains("interrupted"), "{ran:?}");
    let ran = folder.moreau(&["replay", "long.sqlite"]);
    assert!(fine(&ran).contains("the same bits in"), "{ran:?}");
}
