//! The one place of this crate that reads the disk.

use super::{FileError, ProblemFile};
use std::path::Path;

/// Reads the problem file at `path`; what format it is in is seen from its content.
///
/// # Errors
/// [`FileError`], as [`ProblemFile::parse`], or where the file cannot be read.
pub fn load(path: &Path) -> Result<ProblemFile, FileError> {
    let text = std::fs::read_to_string(path).map_err(|error| FileError::Read {
        path: path.display().to_string(),
        message: error.to_string(),
    })?;
    ProblemFile::parse(&text)
}
