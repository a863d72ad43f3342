//! Problem files: the public text format, reference problems, and the project's own JSON.

mod error;
mod json;
mod load;
mod made;
mod text;
mod tokens;

pub use error::FileError;
pub use json::{FORMAT, NamedProblem, VERSION, write_problem};
pub use load::load;
pub use made::{ConvexReference, Reference, ReferenceProblem};

use crate::DelassusProblem;
use json::Header;
use moreau_constraint::ContactProblem;

/// A problem from a file.
#[derive(Clone, Debug, PartialEq)]
pub enum ProblemFile {
    /// Only W, q and mu are known: the public text format.
    Delassus(DelassusProblem),
    /// Bodies and contacts with a certified answer.
    Reference(ReferenceProblem),
    /// Bodies, contacts and rows: the project's own format, see [`write_problem`].
    Problem(NamedProblem),
}

impl ProblemFile {
    /// Reads a problem in whichever format it is written: JSON begins with a brace.
    ///
    /// # Errors
    /// [`FileError`] with the place and what is allowed there.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        if !text.trim_start().starts_with('{') {
            return text::parse(text).map(Self::Delassus);
        }
        let header: Header = json::read(text)?;
        match header.format {
            None => made::parse(text).map(Self::Reference),
            Some(format) if format == FORMAT && header.version == Some(VERSION) => {
                json::parse(text).map(Self::Problem)
            }
            Some(format) => Err(FileError::Format {
                format,
                version: header.version.unwrap_or(0),
            }),
        }
    }

    /// The problem with its bodies, where they are known.
    pub fn problem(&self) -> Option<&ContactProblem> {
        match self {
            Self::Delassus(_) => None,
            Self::Reference(file) => Some(&file.problem),
            Self::Problem(file) => Some(&file.problem),
        }
    }

    /// The answer, where the file holds one.
    pub fn reference(&self) -> Option<&Reference> {
        match self {
            Self::Reference(file) => Some(&file.reference),
            Self::Delassus(_) | Self::Problem(_) => None,
        }
    }

    /// Number of contacts.
    pub fn contacts(&self) -> usize {
        match self {
            Self::Delassus(problem) => problem.contacts(),
            Self::Reference(file) => file.problem.contacts().len(),
            Self::Problem(file) => file.problem.contacts().len(),
        }
    }
}
