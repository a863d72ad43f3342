//! What went wrong, for people, and the exit code that goes with it.

use crate::output;
use miette::{LabeledSpan, MietteDiagnostic, NamedSource, Report};
use moreau::scene::SceneError;
use std::fmt::Display;
use std::ops::Range;
use std::path::Path;

/// Exit code of a run that failed, or whose gates did.
pub(crate) const RUN: u8 = 1;
/// Exit code of wrong usage or input.
pub(crate) const INPUT: u8 = 2;

/// A failure.
#[derive(Debug)]
pub(crate) struct Fault {
    /// See [`RUN`] and [`INPUT`].
    pub(crate) code: u8,
    /// What to print.
    pub(crate) report: Report,
}

impl Fault {
    /// Wrong input, with advice.
    pub(crate) fn input(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(INPUT, &message.into(), &help.into())
    }

    /// A run that cannot go on.
    pub(crate) fn run(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(RUN, &message.into(), &help.into())
    }

    fn new(code: u8, message: &str, help: &str) -> Self {
        let diagnostic = MietteDiagnostic::new(shown(message)).with_help(shown(help));
        Self {
            code,
            report: Report::new(diagnostic),
        }
    }

    /// A file that cannot be written.
    pub(crate) fn write(file: &Path, error: &std::io::Error) -> Self {
        let help = "check that the directory can be written to and has room";
        Self::run(format!("cannot write {}: {error}", file.display()), help)
    }

    /// A mistake in a scene, shown in its text.
    pub(crate) fn scene(error: &SceneError, file: &str, text: &str) -> Self {
        let (message, label) = words(error);
        let mut diagnostic = MietteDiagnostic::new(shown(&message));
        let text = &*output::plain(text);
        let Some(span) = span(error, text) else {
            return Self {
                code: INPUT,
                report: Report::new(diagnostic),
            };
        };
        let place = error.place().map(|place| (place.line, place.column));
        let (name, text, span) = match place {
            Some((Some(line), Some(column))) if around(text, &span).len() > LONG_TEXT => {
                let (excerpt, span) = excerpt(text, span);
                (format!("{file}:{line}:{column}, excerpt"), excerpt, span)
            }
            _ => (file.to_owned(), text, span),
        };
        diagnostic = diagnostic.with_label(LabeledSpan::at(span, shown(&label)));
        let source = NamedSource::new(output::plain(&name), text.to_owned());
        Self {
            code: INPUT,
            report: Report::new(diagnostic).with_source_code(source),
        }
    }
}

/// A message as people see it.
fn shown(message: &str) -> String {
    output::plain(&output::brief(message))
}

/// Most bytes that are shown of a text; generated files may be one long line.
const LONG_TEXT: usize = 600;

/// The lines of the span and the ones next to them.
fn around<'a>(text: &'a str, span: &Range<usize>) -> &'a str {
    let line = |at: usize| text[..at].rfind('\n');
    let start = line(span.start).and_then(line).map_or(0, |at| at + 1);
    let lines = text[span.end..].match_indices('\n');
    let end = lines
        .map(|(at, _)| span.end + at)
        .nth(1)
        .unwrap_or(text.len());
    &text[start..end]
}

/// The part of the span's line that is close to the span, and the span in it.
fn excerpt(text: &str, span: Range<usize>) -> (&str, Range<usize>) {
    let line = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[span.start..]
        .find('\n')
        .map_or(text.len(), |at| span.start + at);
    let mut start = line.max(span.start.saturating_sub(60));
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let end = (start..=line_end.min(span.end + 60))
        .rev()
        .find(|at| text.is_char_boundary(*at));
    let end = end.unwrap_or(line_end).max(span.start);
    (
        &text[start..end],
        span.start - start..span.end.min(end) - start,
    )
}

/// The message, with the path inside the file, and the words for the mark under the text.
fn words(error: &SceneError) -> (String, String) {
    let path = error
        .place()
        .map(|place| place.path.as_str())
        .unwrap_or_default();
    let label = match error {
        SceneError::Invalid { value, allowed, .. } => format!("is {value}, must be {allowed}"),
        SceneError::Syntax { message, .. } => message.clone(),
        SceneError::Shape { source, .. } => source.to_string(),
        SceneError::World { source, .. } => source.to_string(),
        SceneError::Read { .. } | SceneError::Text { .. } => error.to_string(),
    };
    let message = if path.is_empty() {
        label.clone()
    } else {
        format!("{path}: {label}")
    };
    // Lists of what could stand there are long: they are in the message above the text.
    let label = label
        .split(", expected one of")
        .next()
        .unwrap_or_default()
        .to_owned();
    (message, label)
}

/// The bytes of the text to mark.
fn span(error: &SceneError, text: &str) -> Option<Range<usize>> {
    let place = error.place()?;
    let at = offset(text, place.line?, place.column?);
    if !matches!(error, SceneError::Syntax { .. }) {
        return Some(at..at + token_length(&text[at..]));
    }
    // A parser stops behind what it could not take: the mark starts at the key, if there is one.
    let end = at + text[at..].chars().next().map_or(0, char::len_utf8);
    let key = place
        .path
        .rsplit('.')
        .next()
        .filter(|key| !key.is_empty() && !key.ends_with(']'));
    let start = key.and_then(|key| text[..end].rfind(&format!("\"{key}\"")));
    let same_line = start.filter(|start| !text[*start..at].contains('\n'));
    Some(same_line.unwrap_or(at)..end)
}

/// Bytes before `line` and `column` (in bytes), both from 1; clamped into the text.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    let mut at = (before + column.saturating_sub(1)).min(text.len().saturating_sub(1));
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Length of the JSON token that `text` starts with; only the first sign of lists and objects.
fn token_length(text: &str) -> usize {
    if let Some(rest) = text.strip_prefix('"') {
        let mut escaped = false;
        let end = rest.find(|c| {
            let closing = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            closing || c == '\n'
        });
        return end.map_or(1, |end| end + 2).min(text.len());
    }
    let part = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    match text.find(|c| !part(c)) {
        Some(0) => text.chars().next().map_or(0, char::len_utf8),
        Some(end) => end,
        None => text.len(),
    }
}

/// Says to standard error what failed in a run that came to its end.
pub(crate) fn say(words: &str) {
    print(&shown(words));
}

/// Prints a failure to standard error.
pub(crate) fn print(report: &impl Display) {
    use std::io::Write;
    // Where standard error is gone there is nobody to tell.
    let _ = writeln!(std::io::stderr(), "{report}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use moreau::scene::Scene;

    #[test]
    fn tokens() {
        let cases = [
            ("12.5e-3, 4", 7),
            ("\"a \\\" b\": 1", 8),
            ("{\"a\"", 1),
            ("true}", 4),
            ("\"open\n", 7),
            ("é", 2),
            ("", 0),
        ];
        for (text, expect) in cases {
            let length = token_length(text);
            assert_eq!(
                length.min(text.len()),
                expect.min(text.len()),
                "of {text:?}"
            );
        }
    }

    #[test]
    fn places_in_a_text() {
        let text = "ab\ncdé\n\nx";
        let cases = [
            ((1, 1), 0),
            ((2, 2), 4),
            ((2, 4), 5),
            ((4, 1), 9),
            ((9, 9), 9),
        ];
        for ((line, column), expect) in cases {
            assert_eq!(offset(text, line, column), expect, "of {line}:{column}");
        }
        assert_eq!(offset("", 1, 1), 0);
    }

    #[test]
    fn what_a_mistake_marks() {
        let scene = |rest: &str| {
            format!("{{\"format\": \"moreau-scene\", \"version\": 1, \"name\": \"a\",\n{rest}}}")
        };
        let cases = [
            ("\"dt\": -1", "-1"),
            ("\"dt\": \"fast\"", "\"dt\": \"fast\""),
            ("\"time\": 3", "\"time\""),
        ];
        for (rest, expect) in cases {
            let text = scene(rest);
            let error = Scene::from_json(&text).unwrap_err();
            let marked = &text[span(&error, &text).unwrap()];
            assert_eq!(marked, expect, "of {error}");
        }
    }

    #[test]
    fn one_long_line_is_cut() {
        let bodies = r#"{"shape": {"sphere": {"radius": 1}}},"#.repeat(500);
        let head = r#"{"format": "moreau-scene", "version": 1, "name": "ä", "bodies": ["#;
        let text = format!("{head}{bodies}{{\"shape\": {{\"sphere\": {{\"radius\": -7}}}}}}]}}");
        let error = Scene::from_json(&text).unwrap_err();
        let shown = format!("{:?}", Fault::scene(&error, "a.json", &text).report);
        assert!(shown.len() < 1500, "{} bytes", shown.len());
        assert!(
            shown.contains("a.json:1:") && shown.contains("\"radius\": -7"),
            "{shown}"
        );
    }

    #[test]
    fn mistakes_show_their_line() {
        let text =
            "{\n\"format\": \"moreau-scene\", \"version\": 1, \"name\": \"a\",\n \"dt\": -1\n}";
        let error = Scene::from_json(text).unwrap_err();
        let shown = format!("{:?}", Fault::scene(&error, "a.json", text).report);
        for part in ["dt", "a.json:3:", "-1", "positive"] {
            assert!(shown.contains(part), "no {part:?} in {shown}");
        }
    }
}
