//! The moreau command: run scenes, print figures, write traces and pages, solve problem files.
//!
//! **Owns**: the command line ([`args`]), what people and programs read of a run ([`run`],
//! [`table`], [`poses`]), of recordings ([`recordings`]) and of a solve ([`solve`]), the page that plays
//! a run ([`view`]), which files are written and how ([`places`], [`target`]), and how mistakes look
//! ([`fault`]).
//!
//! **Must not know**: how a scene is read, measured or stepped; a number that it prints comes from
//! `moreau::scene::Run`, a step's report, a recording or `moreau::solve`.
//!
//! ```sh
//! moreau                      # the showcase, and out/showcase.html
//! moreau run tower_30 --json  # figures as JSON
//! moreau view pyramid_20      # watch it in the browser
//! moreau scenes               # what else there is
//! ```

mod args;
mod dump;
mod fault;
mod interrupt;
mod output;
mod places;
mod poses;
mod profile;
mod progress;
mod recordings;
mod run;
mod scenes;
mod solve;
mod solvers;
mod table;
mod target;
mod view;

use args::{Cli, Command, RunArgs};
use clap::Parser;
use fault::Fault;
use recordings::{compare, plot, query, record, replay};
use std::process::ExitCode;

fn main() -> ExitCode {
    interrupt::listen();
    let done = match Cli::try_parse() {
        Ok(cli) => dispatch(cli),
        Err(error) => told(&error),
    };
    match done {
        Ok(code) => code,
        Err(Fault { code, report }) => {
            fault::print(&format!("{report:?}"));
            ExitCode::from(code)
        }
    }
}

/// Prints what is wrong with the arguments, or the help that they ask for.
fn told(error: &clap::Error) -> Result<ExitCode, Fault> {
    let printed = error.print();
    if !error.use_stderr() {
        output::flushed(printed)?;
    }
    let code = u8::try_from(error.exit_code()).unwrap_or(fault::INPUT);
    Ok(ExitCode::from(code))
}

fn dispatch(cli: Cli) -> Result<ExitCode, Fault> {
    match cli.command {
        Some(Command::Run(args)) => run::run(&args, cli.quiet),
        Some(Command::View(args)) => view::run(&args, cli.quiet),
        Some(Command::Record(args)) => record::run(&args, cli.quiet),
        Some(Command::Replay(args)) => replay::run(&args, cli.quiet),
        Some(Command::Query(args)) => query::run(&args, cli.quiet),
        Some(Command::Plot(args)) => plot::run(&args, cli.quiet),
        Some(Command::Compare(args)) => compare::run(&args, cli.quiet),
        Some(Command::Solve(args)) => solve::run(&args, cli.quiet),
        Some(Command::Scenes) => scenes::print_list(cli.quiet).map(|()| ExitCode::SUCCESS),
        Some(Command::Check { scene }) => scenes::check(&scene).map(|()| ExitCode::SUCCESS),
        None => {
            let showcase = RunArgs {
                scene: scenes::SHOWCASE.into(),
                threads: 1,
                html: Some("out/showcase.html".into()),
                ..RunArgs::default()
            };
            run::run(&showcase, cli.quiet)
        }
    }
}
