//! `moreau view`: steps a scene, or takes a recording, and opens its page.

use crate::args::{RunArgs, ViewArgs};
use crate::fault::Fault;
use crate::recordings::{self, page};
use crate::{output, places, run, scenes};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// Runs a scene or reads a recording, writes its page and opens it where there is a browser.
pub(crate) fn run(args: &ViewArgs, quiet: bool) -> Result<ExitCode, Fault> {
    let opener = opener().filter(|_| !args.no_open);
    let opens = opener.is_some();
    let (file, code) = match recordings::named(&args.scene) {
        Some((recording, run)) => recorded(args, (&recording, run), opens, quiet)?,
        None => stepped(args, opens, quiet)?,
    };
    if let Some(opener) = opener {
        let path = std::fs::canonicalize(&file).unwrap_or(file);
        output::print(if started(opener, &path) {
            "opening it\n"
        } else {
            "no program opens it here; open it in a browser\n"
        })?;
    }
    Ok(code)
}

fn stepped(args: &ViewArgs, opens: bool, quiet: bool) -> Result<(PathBuf, ExitCode), Fault> {
    if args.run.is_some() {
        return Err(Fault::input(
            format!(
                "--run names a run of a recording; `{}` is a scene",
                args.scene
            ),
            "leave it out, or give a recording",
        ));
    }
    let file = match &args.out {
        Some(file) => file.clone(),
        None => places::default(&scenes::load(&args.scene)?.name, ".html"),
    };
    let args_of_run = RunArgs {
        scene: args.scene.clone(),
        solver: args.solver.clone(),
        dt: args.dt,
        steps: args.steps,
        threads: args.threads.unwrap_or(1),
        html: Some(file.clone()),
        opens,
        is_view: true,
        ..RunArgs::default()
    };
    let code = run::run(&args_of_run, quiet)?;
    Ok((file, code))
}

fn recorded(
    args: &ViewArgs,
    (recording, run): (&Path, Option<i64>),
    opens: bool,
    quiet: bool,
) -> Result<(PathBuf, ExitCode), Fault> {
    let of_scenes = [
        ("--solver", args.solver.is_some()),
        ("--dt", args.dt.is_some()),
        ("--steps", args.steps.is_some()),
        ("--threads", args.threads.is_some()),
    ];
    if let Some((option, _)) = of_scenes.iter().find(|(_, given)| *given) {
        return Err(Fault::input(
            format!("{option} says how a scene is stepped; a recording is shown as it was"),
            "leave it out, or give the scene",
        ));
    }
    let beside = || recording.with_extension("html");
    let file = args.out.clone().unwrap_or_else(beside);
    let code = page::write(
        recording,
        recordings::one_run(run, args.run)?,
        (&file, opens),
        quiet,
    )?;
    Ok((file, code))
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
