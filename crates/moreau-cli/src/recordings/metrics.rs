//! The CSV file in which the metrics of runs gather.

use super::COMMIT;
use crate::fault::Fault;
use crate::target::Target;
use moreau::scene::Figures;
use moreau_record::{METRICS_HEADER, Metrics};
use std::fs::File;
use std::io::{ErrorKind, Result as IoResult, Write};
use std::path::Path;

/// A file that gets a row of a run at its end.
#[derive(Debug)]
pub(crate) struct MetricsFile(Target);

impl MetricsFile {
    /// Finds out, before the run, whether a row can be added.
    pub(crate) fn new(path: &Path) -> Result<Self, Fault> {
        let file = Self(Target::new(path)?);
        file.start_of_row()?;
        Ok(file)
    }

    /// Adds a row, and the header where it is not there. Rows of several programs may gather at once, so it is
    /// one write at the end of the file.
    pub(crate) fn add(&self, figures: &Figures) -> Result<(), Fault> {
        let row = Metrics::of(figures, COMMIT).row();
        let text = format!("{}{row}\n", self.start_of_row()?);
        self.append(&text)
            .map_err(|error| Fault::write(self.0.path(), &error))
    }

    /// What comes before the row.
    fn start_of_row(&self) -> Result<String, Fault> {
        let header = || format!("{METRICS_HEADER}\n");
        // Whoever reads a pipe waits for what is written to it.
        if !self.0.is_regular() {
            return Ok(header());
        }
        let path = self.0.path();
        let old = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Fault::write(path, &error)),
        };
        match old.lines().next() {
            None => Ok(header()),
            Some(METRICS_HEADER) if old.ends_with('\n') => Ok(String::new()),
            Some(METRICS_HEADER) => Ok("\n".into()),
            Some(_) => {
                let message = format!("{}: has other columns than metrics have", path.display());
                Err(Fault::input(message, "give a new file with --metrics"))
            }
        }
    }

    fn append(&self, text: &str) -> IoResult<()> {
        let path = self.0.path();
        let is_new = !path.exists();
        let mut file = File::options().append(true).create(true).open(path)?;
        let length = file.metadata()?.len();
        let written = file.write_all(text.as_bytes());
        if written.is_err() && self.0.is_regular() {
            // A part of a row would spoil the next one.
            let _ = file.set_len(length);
            if is_new {
                let _ = std::fs::remove_file(path);
            }
        }
        written
    }
}
