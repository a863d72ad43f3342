//! `moreau replay`: makes a recorded run again and compares every bit.

use super::args::ReplayArgs;
use super::{fault, open, pick};
use crate::fault::{Fault, RUN};
use crate::progress::Progress;
use crate::{interrupt, output};
use moreau_record::{Replay, ReplayError};
use std::process::ExitCode;

pub(crate) fn run(args: &ReplayArgs, quiet: bool) -> Result<ExitCode, Fault> {
    let (recording, number) = open(&args.of)?;
    let run = pick(&recording, number)?;
    let failed = |error: ReplayError| match &error {
        ReplayError::Record(error) => fault(error),
        ReplayError::Solver { .. } => Fault::input(
            format!("{}: {error}", recording.file().display()),
            "replay it with the program that recorded it",
        ),
        ReplayError::Scene(_) | ReplayError::World { .. } => {
            let help = format!("it was recorded by {}", run.info().build);
            let message = format!("{}: {error}", recording.file().display());
            Fault::run(message, help)
        }
    };
    let mut replay = Replay::new(&run, args.threads).map_err(failed)?;
    let total = run.last_frame() - run.first_frame() + 1;
    let mut progress = Progress::new(total, "frame", quiet);
    let _gently = interrupt::gently();
    let (name, number) = (&run.info().scene, run.number());
    let file = recording.file().display();
    let mut compared = 0;
    while !replay.finished() && !interrupt::asked() {
        let difference = replay.step().map_err(failed)?;
        progress.step();
        compared += 1;
        if let Some(difference) = difference {
            drop(progress);
            output::print(&format!(
                "{name}, run {number} of {file}: NOT the same bits\nfirst difference: {difference}\n\
                 recorded by {}\n",
                run.info().build
            ))?;
            return Ok(ExitCode::from(RUN));
        }
    }
    drop(progress);
    let rest = if replay.finished() {
        String::new()
    } else {
        format!(" of {total}; interrupted")
    };
    output::print(&format!(
        "{name}, run {number} of {file}: the same bits in {compared} frames{rest}\n"
    ))?;
    Ok(ExitCode::from(if replay.finished() {
        0
    } else {
        interrupt::EXIT
    }))
}
