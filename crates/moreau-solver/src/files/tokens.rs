//! Words of a text, with the place of each.

use super::FileError;

/// A cursor over white-space separated words.
pub(super) struct Tokens<'a> {
    rest: &'a str,
    /// Line of the last word, from 1.
    line: usize,
    /// Words read.
    token: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            rest: text,
            line: 1,
            token: 0,
        }
    }

    /// The next word, `None` at the end.
    pub(super) fn next(&mut self) -> Option<&'a str> {
        let start = self
            .rest
            .find(|c: char| !c.is_ascii_whitespace())
            .unwrap_or(self.rest.len());
        self.line += self.rest[..start].matches('\n').count();
        let rest = &self.rest[start..];
        let end = rest
            .find(|c: char| c.is_ascii_whitespace())
            .unwrap_or(rest.len());
        self.rest = &rest[end..];
        self.token += usize::from(end > 0);
        (end > 0).then(|| &rest[..end])
    }

    /// The next word must be there: it is `what`.
    fn word(&mut self, what: &'static str) -> Result<&'a str, FileError> {
        let (line, token) = (self.line, self.token);
        self.next().ok_or(FileError::End { line, token, what })
    }

    /// A whole number.
    pub(super) fn count(&mut self, what: &'static str) -> Result<usize, FileError> {
        let word = self.word(what)?;
        word.parse()
            .map_err(|_| self.refuse(what, word, "a whole number"))
    }

    /// A whole number that must be `want`.
    pub(super) fn expect(&mut self, what: &'static str, want: usize) -> Result<(), FileError> {
        let word = self.word(what)?;
        if word.parse() == Ok(want) {
            return Ok(());
        }
        Err(self.refuse(what, word, &want.to_string()))
    }

    /// A finite number.
    pub(super) fn number(&mut self, what: &'static str) -> Result<f64, FileError> {
        let word = self.word(what)?;
        match word.parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(x),
            _ => Err(self.refuse(what, word, "a finite number")),
        }
    }

    /// An error about the last word.
    pub(super) fn refuse(&self, what: &'static str, word: &str, allowed: &str) -> FileError {
        FileError::Token {
            line: self.line,
            token: self.token,
            what,
            found: word.chars().take(40).collect(),
            allowed: allowed.to_owned(),
        }
    }

    /// The error for a dimension, the last word, that is not 3.
    pub(super) fn other_dimension(&self, found: usize) -> FileError {
        FileError::Dimension {
            line: self.line,
            token: self.token,
            found,
        }
    }

    /// Whether the rest of the text has room for `count` more words; so that no buffer is larger
    /// than the file.
    pub(super) fn room_for(&self, what: &'static str, count: u64) -> Result<(), FileError> {
        // A word and the space before it take two bytes.
        if count <= self.rest.len() as u64 / 2 {
            return Ok(());
        }
        Err(FileError::Count {
            line: self.line,
            token: self.token,
            what,
            count,
            bytes: self.rest.len(),
        })
    }
}
