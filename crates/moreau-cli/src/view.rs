//! `moreau view`: steps a scene and opens its page.

use crate::args::{RunArgs, ViewArgs};
use crate::fault::Fault;
use crate::{output, run, scenes};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// Runs a scene, writes its page and opens it where there is a browser.
pub(crate) fn run(args: &ViewArgs, quiet: bool) -> Result<ExitCode, Fault> {
    let file = match &args.out {
        Some(file) => file.clone(),
        None => PathBuf::from(format!("out/{}.html", scenes::load(&args.scene)?.name)),
    };
    let args_of_run = RunArgs {
        scene: args.scene.clone(),
        solver: args.solver.clone(),
        dt: args.dt,
        steps: args.steps,
        threads: args.threads,
        html: Some(file.clone()),
        ..RunArgs::default()
    };
    let code = run::run(&args_of_run, quiet)?;
    if !args.no_open {
        open(&file)?;
    }
    Ok(code)
}

/// Opens a page in the browser; where there is none, says how to.
pub(crate) fn open(file: &Path) -> Result<(), Fault> {
    let path = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let text = if opener().is_some_and(|opener| started(opener, &path)) {
        format!("opening {}\n", path.display())
    } else {
        format!("no browser here; open {} in one\n", path.display())
    };
    output::print(&text)
}

/// The program and its first arguments that open a file as its kind is opened; none without a screen.
fn opener() -> Option<&'static [&'static str]> {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if cfg!(target_os = "macos") {
        Some(&["open"])
    } else if cfg!(windows) {
        Some(&["cmd", "/C", "start", ""])
    } else if set("DISPLAY") || set("WAYLAND_DISPLAY") {
        Some(&["xdg-open"])
    } else {
        None
    }
}

fn started(opener: &[&str], path: &Path) -> bool {
    let mut command = Command::new(opener[0]);
    command.args(&opener[1..]).arg(path);
    command.stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}
