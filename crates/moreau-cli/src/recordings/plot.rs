//! `moreau plot`: what a run's reports say, over time.

use super::args::{Panel, PlotArgs};
use super::chart::{self, Line, PanelOf, Picture};
use super::{fault, open, pick};
use crate::fault::Fault;
use crate::progress::Progress;
use crate::{output, places};
use moreau::pipeline::StageTimes;
use moreau_record::{FrameReport, RecordedRun};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::ExitCode;

pub(crate) fn run(args: &PlotArgs, quiet: bool) -> Result<ExitCode, Fault> {
    let (recording, number) = open(&args.of)?;
    let run = pick(&recording, number)?;
    let info = run.info();
    let files = match args.output.as_slice() {
        [] => vec![places::default(&info.scene, ".svg")],
        files => files.to_vec(),
    };
    let outputs: Vec<_> = files.iter().map(|file| ("-o", file.as_path())).collect();
    places::apart(&[recording.file()], &outputs)?;
    let pictures = Picture::all(&files)?;
    let series = {
        let _waiting = Progress::waiting("reading reports", quiet);
        Series::of(&run, "")?
    };
    let panels: Vec<_> = args.panels.iter().map(|p| panel(*p, &[&series])).collect();
    let title = format!("{}, solver {}, run {}", info.scene, info.solver, info.run);
    let mut text = String::new();
    // A long run takes a while to read and to draw.
    for picture in &pictures {
        let file = picture.file().display();
        let _waiting = Progress::waiting(&format!("drawing {file}"), quiet);
        chart::draw(picture, &title, &panels)?;
        let _ = writeln!(text, "plot: {file}");
    }
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// A run's reports with the times of their frames.
pub(crate) struct Series {
    /// What to call the run beside another; empty where it is alone.
    name: String,
    reports: Vec<(f64, FrameReport)>,
}

impl Series {
    pub(crate) fn of(run: &RecordedRun<'_>, name: &str) -> Result<Self, Fault> {
        let read = || {
            let times = run.times()?;
            let at = |frame: u64| {
                let index = times.partition_point(|(f, _)| *f < frame);
                times.get(index).map_or(f64::NAN, |(_, time)| *time)
            };
            let reports = run.reports()?.into_iter();
            Ok(reports.map(|report| (at(report.frame), report)).collect())
        };
        Ok(Self {
            name: name.into(),
            reports: read().map_err(|error| fault(&error))?,
        })
    }

    /// A line for each solver that took an island, and one for the largest island.
    fn solvers(&self) -> Vec<Line> {
        let all = self.reports.iter().flat_map(|(_, report)| &report.solvers);
        let names: BTreeSet<&str> = all.map(|share| share.solver.as_str()).collect();
        let points = |report: &FrameReport, name: &str| {
            let share = report.solvers.iter().find(|share| share.solver == name);
            share.map_or(0.0, |share| share.contact_points as f64)
        };
        let mut lines = vec![self.line("largest island", |r| r.largest_island as f64)];
        lines.extend(
            names
                .iter()
                .map(|name| self.line(name, |r| points(r, name))),
        );
        lines
    }

    fn line(&self, what: &str, value: impl Fn(&FrameReport) -> f64) -> Line {
        let name = match (self.name.as_str(), what) {
            ("", what) => what.to_owned(),
            (name, "") => name.to_owned(),
            (name, what) => format!("{name}: {what}"),
        };
        let points = self.reports.iter().map(|(t, report)| (*t, value(report)));
        Line {
            name,
            points: points.collect(),
        }
    }
}

/// The panel of one or several runs.
pub(crate) fn panel(panel: Panel, runs: &[&Series]) -> PanelOf {
    let alone = runs.len() == 1;
    let (title, decades) = match panel {
        Panel::Energy => ("energy, J", false),
        Panel::Penetration => ("deepest overlap, m", false),
        Panel::Residual => ("residual: natural map of the worst contact, m/s", true),
        Panel::Iterations => ("iterations of a step", false),
        Panel::Solvers => ("contact points of the islands of each solver", false),
        Panel::Times => ("time of a step, ms", false),
    };
    let ms = |x: f64| x * 1e3;
    let lines = runs.iter().flat_map(|run| match panel {
        Panel::Energy if alone => vec![
            run.line("kinetic", |r| r.kinetic_energy),
            run.line("potential", |r| r.potential_energy),
            run.line("both", |r| r.kinetic_energy + r.potential_energy),
        ],
        Panel::Energy => vec![
            run.line("kinetic", |r| r.kinetic_energy),
            run.line("kinetic and potential", |r| {
                r.kinetic_energy + r.potential_energy
            }),
        ],
        Panel::Penetration => vec![run.line("", |r| r.max_penetration)],
        Panel::Residual => vec![run.line("", |r| r.residual)],
        Panel::Iterations => vec![
            run.line("most sweeps of an island", |r| r.sweeps as f64),
            run.line("factorisations", |r| r.factorizations as f64),
        ],
        Panel::Solvers => run.solvers(),
        Panel::Times if alone => {
            let mut lines = vec![run.line("whole step", |r| ms(r.times.total))];
            for (i, name) in StageTimes::NAMES.iter().enumerate() {
                lines.push(run.line(name, |r| ms(r.times.stages()[i])));
            }
            // Stages that nobody measured.
            lines.retain(|line| line.points.iter().any(|(_, y)| *y > 0.0));
            lines
        }
        Panel::Times => vec![run.line("", |r| ms(r.times.total))],
    });
    PanelOf {
        title: title.into(),
        decades,
        lines: lines.collect(),
    }
}
