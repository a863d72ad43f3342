//! Progress and Ctrl-C as somebody at a terminal sees them: the command runs on a pseudo-terminal.

use crate::folder::{Folder, record_without_end};
use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A command on a terminal of its own.
struct Terminal {
    child: Child,
    written: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Terminal {
    fn run(folder: &Folder, args: &[&str]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let size = Winsize {
            ws_row: 30,
            ws_col: 100,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&master, size).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let open = || {
            let flags = OFlags::NOCTTY.bits() as i32;
            let mut options = File::options();
            options.read(true).write(true).custom_flags(flags);
            options.open(Path::new(name.to_str().unwrap())).unwrap()
        };
        let mut command = folder.command(args);
        command.env("TERM", "xterm");
        let child = command.stdin(open()).stdout(open()).stderr(open()).spawn();
        // The terminal ends when nobody holds it any more.
        drop(command);
        let written = Arc::new(Mutex::new(Vec::new()));
        let (to, mut from) = (written.clone(), File::from(master));
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Where the other side is closed some systems say so by an error.
            while let Ok(count @ 1..) = from.read(&mut bytes) {
                to.lock().unwrap().extend_from_slice(&bytes[..count]);
            }
        });
        Self {
            child: child.unwrap(),
            written,
            reader,
        }
    }

    /// All that was written, with the signs that move the cursor.
    fn written(&self) -> String {
        String::from_utf8_lossy(&self.written.lock().unwrap()).into_owned()
    }

    fn wait_for(&self, words: &str) {
        let start = Instant::now();
        while !screen(&self.written())
            .iter()
            .any(|line| line.contains(words))
        {
            let written = self.written();
            assert!(
                start.elapsed().as_secs() < 60,
                "no {words:?} in {written:?}"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// What Ctrl-C does.
    fn interrupt(&self) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &pid]).status().unwrap();
        assert!(sent.success());
    }

    /// The exit code, and the lines that are left on the screen.
    fn end(mut self) -> (Option<i32>, Vec<String>) {
        let status = self.child.wait().unwrap();
        self.reader.join().unwrap();
        let text = String::from_utf8_lossy(&self.written.lock().unwrap()).into_owned();
        assert!(!text.ends_with("\x1b[?25l"), "the cursor is hidden");
        (status.code(), screen(&text))
    }
}

/// The lines of a screen on which `text` was written: what of a terminal progress uses.
fn screen(text: &str) -> Vec<String> {
    let mut lines = vec![Vec::new()];
    let (mut row, mut column) = (0, 0);
    let mut signs = text.chars();
    while let Some(sign) = signs.next() {
        match sign {
            '\r' => column = 0,
            '\n' => {
                row += 1;
                if row == lines.len() {
                    lines.push(Vec::new());
                }
            }
            '\x1b' => {
                let mut number = String::new();
                let end = loop {
                    match signs.next() {
                        Some(digit) if digit.is_ascii_digit() => number.push(digit),
                        Some('[' | '?' | ';') => {}
                        end => break end,
                    }
                };
                match end {
                    Some('A') => row = row.saturating_sub(number.parse().unwrap_or(1)),
                    Some('K') if number == "2" => lines[row].clear(),
                    Some('K') => lines[row].truncate(column),
                    // Colours, and whether the cursor is seen.
                    Some('m' | 'h' | 'l') => {}
                    other => panic!("{number:?} {other:?} in {text:?}"),
                }
            }
            sign => {
                let line = &mut lines[row];
                if line.len() <= column {
                    line.resize(column + 1, ' ');
                }
                line[column] = sign;
                column += 1;
            }
        }
    }
    let lines = lines.iter().map(|line| line.iter().collect::<String>());
    lines.map(|line| line.trim_end().to_owned()).collect()
}

#[test]
fn ctrl_c_while_recording_keeps_the_run_and_clears_the_bar() {
    let folder = Folder::new("terminal-record");
    let terminal = Terminal::run(&folder, &record_without_end("long.sqlite"));
    terminal.wait_for(" of 100000000, ");
    // Not in the moment in which it is drawn anew.
    let mut bars = (0..1000).map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(1));
        screen(&terminal.written()).pop().unwrap()
    });
    let bar = bars.find(|bar| bar.contains(" left")).unwrap_or_default();
    for part in ["step ", "/s", " left"] {
        assert!(bar.contains(part), "no {part:?} in {bar:?}");
    }
    assert!(bar.chars().count() <= 100, "{bar:?}");
    terminal.interrupt();
    let (code, lines) = terminal.end();
    assert_eq!(code, Some(130), "{lines:?}");
    assert!(
        !lines.iter().any(|line| line.contains(" left")),
        "{lines:?}"
    );
    assert!(
        lines.iter().any(|line| line.contains("they are kept")),
        "{lines:?}"
    );
    assert_eq!(lines.last().map(String::as_str), Some(""), "{lines:?}");
    assert!(!folder.path("long.sqlite-wal").exists(), "one file is left");
    let runs = folder.moreau(&["query", "long.sqlite"]);
    assert!(runs.out.contains("interrupted"), "{runs:?}");
    // It is long enough to see all who read it.
    let whole: [(&[&str], &str); 3] = [
        (&["replay", "long.sqlite"], "the same bits"),
        (&["view", "long.sqlite", "--no-open"], "long.html"),
        (
            &["query", "long.sqlite", "--islands", "--worst", "1"],
            "1 island",
        ),
    ];
    for (args, words) in whole {
        let (code, lines) = Terminal::run(&folder, args).end();
        assert_eq!(code, Some(0), "{args:?}: {lines:?}");
        assert!(
            lines.iter().any(|line| line.contains(words)),
            "{args:?}: {lines:?}"
        );
        assert!(
            !lines.iter().any(|line| line.contains(" left")),
            "{args:?}: {lines:?}"
        );
    }
}

#[test]
fn ctrl_c_while_drawing_ends_it_and_clears_the_line() {
    let folder = Folder::new("terminal-plot");
    assert_eq!(folder.moreau(&["record", "pair.json"]).code, 0);
    // Nobody reads it, so that it takes as long as one likes to write it.
    let pipe = folder.path("p.svg");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let terminal = Terminal::run(&folder, &["plot", "out/pair.sqlite", "-o", "p.svg"]);
    terminal.wait_for("drawing p.svg");
    terminal.interrupt();
    let (code, lines) = terminal.end();
    assert_eq!((code, lines), (Some(130), vec![String::new()]));
}

#[test]
fn quiet_shows_no_bar() {
    let folder = Folder::new("terminal-quiet");
    let mut args = record_without_end("long.sqlite").to_vec();
    args.push("--quiet");
    let terminal = Terminal::run(&folder, &args);
    let journal = folder.path("long.sqlite-wal");
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < 1.5 || !journal.exists() {
        assert!(start.elapsed().as_secs() < 60, "nothing is recorded");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(terminal.written(), "");
    terminal.interrupt();
    let (code, lines) = terminal.end();
    assert_eq!(code, Some(130), "{lines:?}");
}
