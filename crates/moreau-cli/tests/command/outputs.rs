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

/// Files, links and limits that other systems have not, or elsewhere.
#[cfg(target_os = "linux")]
mod linux {
    use super::*;
    use std::process::Command;

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
