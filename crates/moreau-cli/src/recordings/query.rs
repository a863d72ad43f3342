//! `moreau query`: the runs of a recording, contacts by pair, frame and threshold, and islands.

use super::args::{Format, QueryArgs};
use super::{fault, islands, open, pick, table};
use crate::fault::Fault;
use crate::output;
use crate::progress::Progress;
use moreau::BodyId;
use moreau_record::{ContactQuery, ContactRecord, RecordedRun};
use std::io::IsTerminal;
use std::process::ExitCode;

/// Frames that are looked through at once.
const SPAN: u64 = 16;

pub(crate) fn run(args: &QueryArgs, quiet: bool) -> Result<ExitCode, Fault> {
    let (recording, number) = open(&args.of)?;
    let filters = [
        args.frame.is_some(),
        args.frames.is_some(),
        args.pair.is_some(),
        args.body.is_some(),
        args.min_impulse.is_some(),
        args.min_penetration.is_some(),
        args.min_approach.is_some(),
        args.heaviest.is_some(),
        args.islands,
    ];
    if !filters.contains(&true) && args.format == Format::Table {
        if number.is_some() {
            pick(&recording, number)?;
        }
        let runs = recording.runs().map_err(|error| fault(&error))?;
        output::print(&table::runs(&runs, recording.file()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let run = pick(&recording, number)?;
    if args.islands {
        return islands::run(recording.file(), &run, args, quiet);
    }
    let query = query(&run, args)?;
    let mut printer = Printer::new(&run, args.format);
    if query.heaviest.is_some() {
        // Their order is not that of frames.
        let contacts = {
            let _waiting = Progress::waiting("looking for the heaviest contacts", quiet);
            run.contacts_where(&query).map_err(|error| fault(&error))?
        };
        printer.add(&contacts)?;
    } else {
        let (first, last) = asked(&run, args);
        // Rows on the screen tell enough, and a bar would stand between them.
        let rows = args.format != Format::Table && std::io::stdout().is_terminal();
        let frames = (last + 1).saturating_sub(first);
        let mut progress = Progress::new(frames, "frame", quiet || rows);
        let mut from = first;
        while from <= last {
            let to = last.min(from + SPAN - 1);
            let part = ContactQuery {
                frames: Some(from..=to),
                ..query.clone()
            };
            let contacts = run.contacts_where(&part).map_err(|error| fault(&error))?;
            printer.add(&contacts)?;
            (from..=to).for_each(|_| progress.step());
            from = to + 1;
        }
    }
    printer.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// The first and the last frame that are asked for and there.
pub(crate) fn asked(run: &RecordedRun<'_>, args: &QueryArgs) -> (u64, u64) {
    let (first, last) = match (args.frame, args.frames) {
        (Some(frame), _) => (frame, frame),
        (None, Some(frames)) => frames,
        (None, None) => (0, u64::MAX),
    };
    (first.max(run.first_frame()), last.min(run.last_frame()))
}

/// Prints contacts as they come.
struct Printer<'a> {
    run: &'a RecordedRun<'a>,
    format: Format,
    count: usize,
    /// What a table shows.
    first: Vec<ContactRecord>,
}

impl<'a> Printer<'a> {
    fn new(run: &'a RecordedRun<'a>, format: Format) -> Self {
        Self {
            run,
            format,
            count: 0,
            first: Vec::new(),
        }
    }

    fn add(&mut self, contacts: &[ContactRecord]) -> Result<(), Fault> {
        let start = self.count == 0;
        self.count += contacts.len();
        match self.format {
            Format::Table => {
                let room = table::MOST_ROWS.saturating_sub(self.first.len());
                self.first.extend(contacts.iter().take(room));
                Ok(())
            }
            Format::Csv if !contacts.is_empty() => {
                let header = if start { table::HEADER_LINE } else { "" };
                let rows = table::contacts_csv(self.run, contacts);
                output::print_rows(&format!("{header}{rows}"))
            }
            Format::Json if !contacts.is_empty() => {
                let objects = table::contacts_json(self.run, contacts);
                output::print_rows(&format!("{}{objects}", if start { "[" } else { ",\n" }))
            }
            Format::Csv | Format::Json => Ok(()),
        }
    }

    fn finish(self) -> Result<(), Fault> {
        match (self.format, self.count) {
            (Format::Table, count) => output::print(&table::contacts(self.run, &self.first, count)),
            (Format::Csv, 0) => output::print(table::HEADER_LINE),
            (Format::Csv, _) => Ok(()),
            (Format::Json, 0) => output::print("[]\n"),
            (Format::Json, _) => output::print("]\n"),
        }
    }
}

fn query(run: &RecordedRun<'_>, args: &QueryArgs) -> Result<ContactQuery, Fault> {
    let frames = match (args.frame, args.frames) {
        (Some(frame), _) => {
            // A frame that is not there is a mistake; an empty span is not.
            run.frame(frame).map_err(|error| fault(&error))?;
            if !run.keeps_contacts(frame) {
                let every = run.info().contacts_every;
                return Err(Fault::input(
                    format!("the contacts of frame {frame} were not kept"),
                    format!("those of every frame that {every} divides were"),
                ));
            }
            Some(frame..=frame)
        }
        (None, Some((first, last))) => Some(first..=last),
        (None, None) => None,
    };
    let (mut of, mut with) = (None, None);
    if let Some([a, b]) = args.pair.as_deref() {
        (of, with) = (Some(find(run, a)?), Some(find(run, b)?));
    }
    if let Some(body) = &args.body {
        of = Some(find(run, body)?);
    }
    Ok(ContactQuery {
        frames,
        of,
        with,
        min_normal_impulse: args.min_impulse,
        min_penetration: args.min_penetration,
        min_approach_speed: args.min_approach,
        heaviest: args.heaviest,
    })
}

fn find(run: &RecordedRun<'_>, name: &str) -> Result<BodyId, Fault> {
    run.find(name).ok_or_else(|| {
        let names: Vec<_> = run.bodies().iter().map(|b| b.name.as_str()).collect();
        let named: Vec<_> = names
            .into_iter()
            .filter(|n| !n.is_empty())
            .take(12)
            .collect();
        let help = if named.is_empty() {
            format!(
                "bodies have no names here; give an id, 0 to {}",
                run.bodies().len() - 1
            )
        } else {
            format!("names are: {}; ids count from 0", named.join(", "))
        };
        Fault::input(format!("there is no body `{name}`"), help)
    })
}
