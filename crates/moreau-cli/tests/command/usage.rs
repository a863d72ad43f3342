//! Wrong usage and input, exit codes, pipes, and where scenes are found.

use crate::folder::{Folder, Ran, SCENE};
use std::path::Path;
use std::process::Stdio;

#[test]
fn wrong_arguments_say_what_is_right() {
    let folder = Folder::new("usage");
    let cases = [
        (vec!["--solver", "magic"], "pgs"),
        (vec!["--dt", "nan"], "positive"),
        (vec!["--dt", "-0.01"], "positive"),
        (vec!["--dt", "0"], "positive"),
        (vec!["--dt", "soon"], "1/240"),
        (vec!["--steps", "-1"], "whole number"),
        (vec!["--steps", "1.5"], "whole number"),
        (vec!["--threads", "0"], "from 1"),
        (vec!["--threads", "-2"], "from 1"),
        (vec!["--frobnicate"], "--frobnicate"),
    ];
    for (args, expect) in cases {
        let ran = folder.moreau(&[&["run", "pair.json"], args.as_slice()].concat());
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {ran:?}");
        assert!(
            ran.err.contains(expect),
            "{args:?}: no {expect:?} in {}",
            ran.err
        );
    }
}

#[test]
fn mistakes_in_scenes_are_shown_in_their_line() {
    let folder = Folder::new("mistakes");
    let cases = [
        (
            "\"radius\": 0.25",
            "\"radius\": -0.25",
            "bodies[2].shape.sphere.radius",
            ":6:",
        ),
        (
            "\"steps\": 20",
            "\"stops\": 20",
            "unknown field `stops`",
            ":2:",
        ),
        ("\"version\": 1", "\"version\": 9", "version", ":2:"),
        (
            "\"position\": [0, 0.5, 0]",
            "\"position\": [0, \"up\", 0]",
            "position",
            ":5:",
        ),
        ("\"bodies\": [", "\"bodies\": [,", "bodies", ":"),
    ];
    for (old, new, expect, line) in cases {
        let text = SCENE.replacen(old, new, 1);
        assert_ne!(text, SCENE, "{old:?} is not in the scene");
        folder.write("bad.json", &text);
        for command in ["check", "run"] {
            let ran = folder.moreau(&[command, "bad.json"]);
            assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{new}: {ran:?}");
            assert!(
                ran.err.contains(expect),
                "{new}: no {expect:?} in {}",
                ran.err
            );
            let place = format!("bad.json{line}");
            assert!(
                ran.err.contains(&place),
                "{new}: no {place:?} in {}",
                ran.err
            );
        }
    }
}

#[test]
fn runs_that_would_never_end_are_refused() {
    let folder = Folder::new("endless");
    let cases = [
        (["run", "--dt", "1e-300"], "--dt is 1e-300, must be"),
        (["view", "--dt", "1e-19"], "3e18 would follow"),
        (["record", "--dt", "1e-19"], "at most 1000000000 steps"),
        (["run", "--steps", "1000000001"], "from 0 to 1000000000"),
    ];
    for ([command, option, value], part) in cases {
        let ran = folder.moreau(&[command, "pair.json", option, value]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{value}: {ran:?}");
        // Long lines are wrapped.
        let words: Vec<_> = ran.err.split_whitespace().filter(|w| *w != "│").collect();
        assert!(words.join(" ").contains(part), "{value}: {}", ran.err);
    }
    let steps = format!("\"steps\": {}", u64::MAX);
    folder.write("long.json", &SCENE.replace("\"steps\": 20", &steps));
    for command in ["check", "run", "view", "record"] {
        let ran = folder.moreau(&[command, "long.json"]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{ran:?}");
        for part in ["must be 1 to 1000000000", "long.json:2:"] {
            assert!(ran.err.contains(part), "no {part:?} in {}", ran.err);
        }
    }
    assert!(!folder.path("out").exists());
}

#[test]
fn large_numbers_are_short_in_errors() {
    let folder = Folder::new("large");
    let cases = [
        ("\"radius\": 0.25", "\"radius\": -1e151", "-1e151"),
        ("\"steps\": 20", "\"steps\": 20, \"dt\": -1e-300", "-1e-300"),
    ];
    for (old, new, part) in cases {
        folder.write("bad.json", &SCENE.replacen(old, new, 1));
        let ran = folder.moreau(&["check", "bad.json"]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains(&format!("is {part}, must be")), "{ran:?}");
        assert!(!ran.err.contains("00000"), "{ran:?}");
    }
}

#[test]
fn check_describes_a_valid_scene() {
    let folder = Folder::new("check");
    let ran = folder.moreau(&["check", "pair.json"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(
        ran.out.contains("pair: a valid scene of 3 bodies"),
        "{}",
        ran.out
    );
}

#[test]
fn unknown_scenes_and_files() {
    let folder = Folder::new("unknown");
    // The root has no folders above it, so no scenes but the built-in one. The folder itself may
    // lie in a clone or not.
    let here = folder.path("");
    let root = here.ancestors().last().unwrap();
    std::fs::create_dir_all(folder.path("fixtures/scenes")).unwrap();
    folder.write("fixtures/scenes/mine.json", SCENE);
    for (from, scene, expect) in [
        (root, "atlantis", "showcase"),
        (root, "atlantis", "clone"),
        (&*here, "atlantis", "known are: mine, showcase"),
        (&*here, "no/such.json", "no/such.json"),
    ] {
        let ran = Ran::of(
            folder
                .command(&["run", scene])
                .current_dir(from)
                .output()
                .unwrap(),
        );
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains(expect), "{}", ran.err);
    }
    // A file that cannot be written is a failed run, not wrong usage.
    let ran = folder.moreau(&[
        "run",
        "pair.json",
        "--steps",
        "1",
        "--html",
        "pair.json/a.html",
    ]);
    assert_eq!(ran.code, 1, "{ran:?}");
}

#[test]
fn the_examples_of_the_help_text_succeed() {
    let folder = Folder::new("examples");
    std::fs::create_dir_all(folder.path("fixtures/scenes")).unwrap();
    for scene in ["tower_30", "pyramid_20", "seams"] {
        let file = format!("fixtures/scenes/{scene}.json");
        let kept = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .join(&file);
        std::fs::copy(kept, folder.path(&file)).unwrap();
    }
    folder.write("my.json", SCENE);
    let help = folder.moreau(&["--help"]).out;
    let (_, after) = help.split_once("Examples:").unwrap();
    let examples: Vec<Vec<&str>> = after
        .lines()
        .filter_map(|line| line.strip_prefix("  moreau "))
        // What it does follows after some blanks.
        .map(|line| line.split("  ").next().unwrap().split(' ').collect())
        .collect();
    assert_eq!(examples.len(), 11, "{help}");
    for mut example in examples {
        if example[0] == "view" {
            example.push("--no-open");
        }
        let ran = folder.moreau(&example);
        assert_eq!(ran.code, 0, "moreau {}: {}", example.join(" "), ran.err);
    }
}

#[test]
fn names_are_looked_up_from_here_upwards() {
    let folder = Folder::new("lookup");
    let run = |folder: &Folder, dir: &str, name: &str| {
        let mut command = folder.command(&["run", name, "--json", "--steps", "1"]);
        let root = command.get_current_dir().unwrap().to_owned();
        std::fs::create_dir_all(root.join(dir)).unwrap();
        command
            .current_dir(root.join(dir))
            .output()
            .unwrap()
            .status
            .code()
    };
    assert_eq!(run(&folder, "fixtures/scenes", "mine"), Some(2));
    folder.write("fixtures/scenes/mine.json", SCENE);
    for dir in [".", "fixtures/scenes", "some/where/below"] {
        assert_eq!(run(&folder, dir, "mine"), Some(0), "from {dir}");
    }
    let listed = folder.moreau(&["scenes"]);
    assert_eq!(listed.code, 0);
    assert!(
        listed.out.contains("mine") && listed.out.contains("showcase"),
        "{}",
        listed.out
    );
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let folder = Folder::new("pipe");
    for args in [
        vec!["run", "pair.json", "--json"],
        vec!["run", "pair.json"],
        vec!["scenes"],
    ] {
        let mut command = folder.command(&args);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    }
}

#[test]
fn help_is_there() {
    let folder = Folder::new("help");
    for args in [
        vec!["--help"],
        vec!["run", "--help"],
        vec!["check", "--help"],
    ] {
        let ran = folder.moreau(&args);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        assert!(ran.out.contains("Usage: moreau"), "{}", ran.out);
    }
    let codes = folder.moreau(&["--help"]).out;
    for code in ["0 done", "1 the run", "2 wrong usage", "130 interrupted"] {
        assert!(codes.contains(code), "no {code:?} in {codes}");
    }
}
