//! Where files are written: nothing that is read or was there before is lost, and nothing is written elsewhere.

use crate::folder::{Folder, Ran, SCENE};
use std::path::Path;

/// Names of what a folder holds, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
    let names = entries.map(name).map(|name| name.into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

/// A folder with a recording, a contact problem, and another name for the scene.
fn full(name: &str) -> Folder {
    let folder = Folder::new(name);
    let made: [&[&str]; 2] = [
        &["record", "pair.json", "-o", "r.sqlite"],
        &["run", "pair.json", "--dump-step", "9", "p.json"],
    ];
    for args in made {
        let ran = folder.moreau(args);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    std::fs::hard_link(folder.path("pair.json"), folder.path("link.json")).unwrap();
    std::fs::copy(folder.path("r.sqlite"), folder.path("r.svg")).unwrap();
    folder
}

#[test]
fn what_is_read_is_not_overwritten() {
    let folder = full("overwrite");
    let read = "is what is read, and would be overwritten";
    let twice = "writes to the same file";
    let cases: [(&[&str], &str); 17] = [
        (&["run", "pair.json", "--poses", "pair.json"], read),
        (&["run", "pair.json", "--html", "./pair.json"], read),
        (&["run", "pair.json", "--html", "link.json"], read),
        (&["run", "pair.json", "--dump-step", "1", "pair.json"], read),
        (&["view", "pair.json", "--no-open", "-o", "pair.json"], read),
        (&["view", "r.sqlite", "--no-open", "-o", "r.sqlite"], read),
        (&["view", "r.sqlite#1", "--no-open", "-o", "r.sqlite"], read),
        (&["record", "pair.json", "-o", "pair.json"], read),
        (&["record", "pair.json", "--metrics", "pair.json"], read),
        (&["plot", "r.svg", "-o", "r.svg"], read),
        (&["compare", "r.sqlite", "r.svg", "--plot", "r.svg"], read),
        (
            &[
                "compare",
                "pair.json",
                "--solvers",
                "pgs,newton",
                "-o",
                "pair.json",
            ],
            read,
        ),
        (&["solve", "p.json", "--impulses", "p.json"], read),
        (
            &[
                "run",
                "pair.json",
                "--poses",
                "new/a",
                "--html",
                "new/b/../a",
            ],
            twice,
        ),
        (&["record", "pair.json", "-o", "n", "--metrics", "n"], twice),
        (&["plot", "r.sqlite", "-o", "a.svg", "-o", "a.svg"], twice),
        (
            &[
                "compare", "r.sqlite", "r.svg", "--plot", "a.png", "--plot", "./a.png",
            ],
            twice,
        ),
    ];
    let kept = ["pair.json", "r.sqlite", "r.svg", "p.json"];
    let (before, bytes) = (names(&folder.path("")), kept.map(|file| folder.bytes(file)));
    for (args, part) in cases {
        let ran = folder.moreau(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {ran:?}");
        // Long lines are wrapped.
        let words: Vec<_> = ran.err.split_whitespace().filter(|w| *w != "│").collect();
        assert!(words.join(" ").contains(part), "{args:?}: {}", ran.err);
        assert!(kept.map(|file| folder.bytes(file)) == bytes, "{args:?}");
        assert_eq!(names(&folder.path("")), before, "{args:?}");
    }
}

#[test]
fn a_scene_s_name_does_not_lead_elsewhere() {
    let folder = Folder::new("names-of-files");
    let here = folder.path("deep/down");
    std::fs::create_dir_all(&here).unwrap();
    let name = "\"../../up\\u001b[31m\"";
    folder.write("deep/down/up.json", &SCENE.replace("\"pair\"", name));
    let stem = "_._.._up__31m";
    let file = format!("out/{stem}.sqlite");
    let runs: [&[&str]; 7] = [
        &["view", "up.json", "--no-open"],
        &["record", "up.json"],
        &["compare", "up.json", "--solvers", "pgs,newton"],
        &["plot", &file],
        &["query", &file],
        &["replay", &file],
        &["check", "up.json"],
    ];
    for args in runs {
        let mut command = folder.command(args);
        let ran = Ran::of(command.current_dir(&here).output().unwrap());
        assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
        assert!(!ran.out.contains('\x1b'), "{args:?}: {ran:?}");
    }
    let expect = ["-pgs-newton.sqlite", ".html", ".sqlite", ".svg"];
    let expect = expect.map(|rest| format!("{stem}{rest}"));
    assert_eq!(names(&here.join("out")), expect);
    assert_eq!(names(&here), ["out", "up.json"]);
    assert_eq!(names(&folder.path("deep")), ["down"]);
    assert_eq!(names(&folder.path("")), ["deep", "pair.json"]);
}

#[test]
fn control_characters_of_a_scene_stay_out_of_errors() {
    let folder = Folder::new("control");
    let bad = SCENE.replace("\"ball\"", "\"\x1b]0;title\x07\"");
    let unknown = SCENE.replace("\"steps\"", "\"\\u001b[2J\"");
    for text in [bad, unknown] {
        folder.write("bad.json", &text);
        let ran = folder.moreau(&["check", "bad.json"]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(!ran.err.contains(['\x1b', '\x07']), "{ran:?}");
    }
}

#[test]
fn what_cannot_be_written_is_said_before_the_run() {
    let folder = full("unwritable");
    // Without end, if it were begun.
    let steps = ["--steps", "100000000", "--quiet"];
    let cases: [&[&str]; 6] = [
        &["run", "pair.json", "--html", "pair.json/a.html"],
        &["run", "pair.json", "--poses", "pair.json/a.csv"],
        &["run", "pair.json", "--html", "."],
        &["run", "pair.json", "--dump-step", "90000000", "p.json/a"],
        &["record", "pair.json", "--metrics", "pair.json/a.csv"],
        &[
            "compare",
            "pair.json",
            "--solvers",
            "pgs,newton",
            "--plot",
            "p.json/a.svg",
        ],
    ];
    let before = names(&folder.path(""));
    for args in cases {
        let ran = folder.moreau(&[args, &steps].concat());
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{args:?}: {ran:?}");
        assert!(ran.err.contains("cannot write"), "{args:?}: {ran:?}");
        assert_eq!(names(&folder.path("")), before, "{args:?}");
    }
    let ran = folder.moreau(&["solve", "p.json", "--impulses", "p.json/a.txt"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
    folder.write("other.csv", "a,b\n1,2\n");
    let args = ["record", "pair.json", "--metrics", "other.csv"];
    let ran = folder.moreau(&[&args, &steps[..]].concat());
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("other columns"), "{ran:?}");
}

/// Files, links and limits that other systems have not, or elsewhere.
#[cfg(target_os = "linux")]
mod linux {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::process::{Command, Stdio};

    /// Runs `moreau` with files limited to some kilobytes, as on a disk that gets full.
    fn limited(folder: &Folder, kilobytes: u32, args: &[&str]) -> Ran {
        let mut command = Command::new("bash");
        let script = format!("trap '' XFSZ; ulimit -f {kilobytes}; exec \"$@\"");
        let program = env!("CARGO_BIN_EXE_moreau");
        command.args(["-c", &script, "moreau", program]).args(args);
        command.current_dir(folder.path("")).env("NO_COLOR", "1");
        Ran::of(command.output().unwrap())
    }

    #[test]
    fn a_file_that_cannot_be_finished_leaves_the_old_one() {
        let folder = full("finish");
        let cases: [(&[&str], &str); 6] = [
            (&["run", "pair.json", "--html", "keep.html"], "keep.html"),
            (
                &["run", "pair.json", "--steps", "500", "--poses", "keep.csv"],
                "keep.csv",
            ),
            (
                &["view", "pair.json", "--no-open", "-o", "keep.html"],
                "keep.html",
            ),
            (
                &["view", "r.sqlite", "--no-open", "-o", "keep.html"],
                "keep.html",
            ),
            (&["plot", "r.sqlite", "-o", "keep.png"], "keep.png"),
            (&["plot", "r.sqlite", "-o", "keep.svg"], "keep.svg"),
        ];
        for (args, file) in cases {
            for there in [true, false] {
                let _ = std::fs::remove_file(folder.path(file));
                if there {
                    folder.write(file, "old");
                }
                let before = names(&folder.path(""));
                let ran = limited(&folder, 8, args);
                assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{args:?}: {ran:?}");
                let words = format!("cannot write {file}: File too large");
                assert!(ran.err.contains(&words), "{args:?}: {ran:?}");
                assert_eq!(names(&folder.path("")), before, "{args:?}");
                assert!(!there || folder.read(file) == "old", "{args:?}");
            }
        }
    }

    #[test]
    fn a_row_of_metrics_is_whole_or_not_there() {
        let folder = Folder::new("row");
        let args = ["record", "pair.json", "--steps", "2", "--metrics", "m.csv"];
        assert_eq!(folder.moreau(&args).code, 0);
        let old = folder.read("m.csv");
        // 2 MB, so that the recording fits and the next row does not.
        let row = format!("{}\n", old.lines().nth(1).unwrap());
        let long = old + &row.repeat(2 * 1024 * 1024 / row.len() - 1);
        folder.write("m.csv", &long);
        let ran = limited(&folder, 2048, &args);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.err.contains("cannot write m.csv"), "{ran:?}");
        assert!(folder.read("m.csv") == long);
    }

    #[test]
    fn a_recording_that_cannot_be_begun_leaves_no_file() {
        let folder = Folder::new("begin");
        for kilobytes in [8, 40, 150] {
            let ran = limited(
                &folder,
                kilobytes,
                &["record", "pair.json", "-o", "r.sqlite"],
            );
            assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
            assert!(ran.err.contains("r.sqlite: cannot be written"), "{ran:?}");
            assert!(ran.err.contains("disk may be full"), "{ran:?}");
            assert_eq!(names(&folder.path("")), ["pair.json"], "{kilobytes}");
        }
    }

    #[test]
    fn links_and_rights_stay() {
        let folder = Folder::new("links");
        std::fs::create_dir(folder.path("deep")).unwrap();
        folder.write("deep/real.csv", "old");
        let mode = || {
            std::fs::metadata(folder.path("deep/real.csv"))
                .unwrap()
                .permissions()
                .mode()
        };
        std::fs::set_permissions(
            folder.path("deep/real.csv"),
            std::fs::Permissions::from_mode(0o640),
        )
        .unwrap();
        let old = mode();
        symlink("deep/real.csv", folder.path("link.csv")).unwrap();
        symlink("deep/new.csv", folder.path("ahead.csv")).unwrap();
        for file in ["link.csv", "ahead.csv"] {
            let ran = folder.moreau(&["run", "pair.json", "--poses", file]);
            assert_eq!(ran.code, 0, "{ran:?}");
            assert!(folder.path(file).is_symlink());
            assert!(folder.read(file).starts_with("step,time"));
        }
        assert_eq!(mode(), old);
        assert_eq!(names(&folder.path("deep")), ["new.csv", "real.csv"]);
        // A scene behind a link is the same file, too.
        symlink("pair.json", folder.path("scene.json")).unwrap();
        let ran = folder.moreau(&["run", "scene.json", "--html", "pair.json"]);
        assert_eq!(ran.code, 2, "{ran:?}");
    }

    #[test]
    fn pipes_and_devices_are_written_where_they_are() {
        let folder = full("pipes");
        let cases: [(&[&str], &str); 6] = [
            (
                &["run", "pair.json", "--html", "/dev/stdout"],
                "<!doctype html>",
            ),
            (&["run", "pair.json", "--poses", "/dev/stdout"], "step,time"),
            (
                &["run", "pair.json", "--dump-step", "9", "/dev/stdout"],
                "{",
            ),
            (&["solve", "p.json", "--impulses", "/dev/stdout"], ""),
            (&["plot", "r.sqlite", "-o", "pipe.svg"], ""),
            // Nobody else writes to it: what is read from it never ends.
            (
                &["record", "pair.json", "--metrics", "/dev/stdout"],
                "scene,",
            ),
        ];
        symlink("/dev/stdout", folder.path("pipe.svg")).unwrap();
        for (args, start) in cases {
            let child = folder
                .command(args)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn();
            let ran = Ran::of(child.unwrap().wait_with_output().unwrap());
            assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args:?}: {ran:?}");
            assert!(ran.out.starts_with(start), "{args:?}: {}", ran.out);
        }
        for file in ["/dev/null", "/dev/full"] {
            let ran = folder.moreau(&["run", "pair.json", "--html", file, "--poses", file]);
            assert_eq!(ran.code, i32::from(file == "/dev/full"), "{file}: {ran:?}");
        }
    }

    #[test]
    fn help_that_cannot_be_printed_is_a_failure() {
        let folder = Folder::new("full-help");
        for args in [["--help"], ["--version"]] {
            let full = std::fs::File::options()
                .write(true)
                .open("/dev/full")
                .unwrap();
            let mut command = folder.command(&args);
            let ran = Ran::of(command.stdout(full).output().unwrap());
            assert_eq!(ran.code, 1, "{args:?}: {ran:?}");
            assert!(ran.err.contains("cannot write standard output"), "{ran:?}");
        }
    }
}
