//! Standard output that survives a closed pipe, and numbers for people.

use crate::fault::Fault;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;

/// Prints words for people.
pub(crate) fn print(text: &str) -> Result<(), Fault> {
    write(&plain(text))
}

/// Prints rows for programs, to which no letter is lost.
pub(crate) fn print_rows(text: &str) -> Result<(), Fault> {
    if std::io::stdout().is_terminal() {
        print(text)
    } else {
        write(text)
    }
}

fn write(text: &str) -> Result<(), Fault> {
    flushed(std::io::stdout().lock().write_all(text.as_bytes()))
}

/// What became of something that was printed. A reader that has gone away is no failure.
pub(crate) fn flushed(written: std::io::Result<()>) -> Result<(), Fault> {
    match written.and_then(|()| std::io::stdout().flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Fault::write(Path::new("standard output"), &error))
        }
        _ => Ok(()),
    }
}

/// Without control characters: names come from files of anybody, and could turn a terminal upside down. What
/// stands in their place takes as many bytes where that can be, so that places in a text stay.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let ends_line = letter == '\r' && letters.peek() == Some(&'\n');
        out.push(match letter {
            '\n' | '\t' => letter,
            _ if ends_line => letter,
            '\0'..='\x1f' | '\x7f' => '?',
            '\u{80}'..='\u{9f}' => '¿',
            _ => letter,
        });
    }
    out
}

/// Makes the directories above `file`.
pub(crate) fn make_room(file: &Path) -> Result<(), Fault> {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => {
            std::fs::create_dir_all(folder).map_err(|error| Fault::write(file, &error))
        }
        _ => Ok(()),
    }
}

/// A page's path, and what to do with it where it is not opened.
pub(crate) fn page(path: &Path, opens: bool) -> String {
    let hint = if opens { "" } else { " (open it in a browser)" };
    format!("{}{hint}", path.display())
}

/// Four significant digits, with an exponent where many zeros would hide them.
pub(crate) fn short(x: f64) -> String {
    digits(x, 4)
}

/// So many significant digits; one less with an exponent.
pub(crate) fn digits(x: f64, count: usize) -> String {
    let size = x.abs();
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    if !(1e-3..1e5).contains(&size) {
        let text = format!("{x:.*e}", count.saturating_sub(2));
        return match text.split_once('e') {
            Some((mantissa, exponent)) => format!("{}e{exponent}", without_zeros(mantissa)),
            None => text,
        };
    }
    // Zeros before the first digit, or digits before the point.
    let (mut decimals, mut power) = (count + 2, 1e-3);
    while power * 10.0 <= size && decimals > 0 {
        power *= 10.0;
        decimals -= 1;
    }
    without_zeros(&format!("{x:.decimals$}")).to_owned()
}

/// Most letters of a number in words; one in f64 has at most 24 that say something.
const MOST_LETTERS: usize = 24;

/// With numbers that are nearly all zeros by their exponent.
pub(crate) fn brief(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_inclusive([' ', ',', ';', ':', '(', ')', '[', ']', '\n']) {
        let number = word.trim_end_matches([' ', ',', ';', ':', '(', ')', '[', ']', '\n']);
        let digits = |c: char| c.is_ascii_digit() || "-.".contains(c);
        match number.parse::<f64>() {
            Ok(x) if number.len() > MOST_LETTERS && number.chars().all(digits) => {
                out.push_str(&format!("{x:e}{}", &word[number.len()..]));
            }
            _ => out.push_str(word),
        }
    }
    out
}

/// Without zeros at the end of the decimals.
fn without_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_masked_in_place() {
        let text = "\x1b[31mred\x07\tä\u{9b}2J\r\n\x7f\r";
        assert_eq!(plain(text), "?[31mred?\tä¿2J\r\n??");
        assert_eq!(plain(text).len(), text.len());
    }

    #[test]
    fn long_numbers_in_words() {
        let cases = [
            (
                format!("radius is {}, must be", 1e151),
                "radius is 1e151, must be",
            ),
            (format!("[{} -{}]", 1e-300, 1e30), "[1e-300 -1e30]"),
            (
                format!("is {}, {}", u64::MAX, 0.1 + 0.2),
                "is 18446744073709551615, 0.30000000000000004",
            ),
            ("a.json: is 8".to_owned(), "a.json: is 8"),
        ];
        for (text, expect) in cases {
            assert_eq!(brief(&text), expect);
        }
    }

    #[test]
    fn short_numbers() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (12345.0, "12345"),
            (9.80665, "9.807"),
            (-0.5, "-0.5"),
            (0.0012345, "0.001234"),
            (1.2345e-9, "1.23e-9"),
            (123456.0, "1.23e5"),
            (f64::INFINITY, "inf"),
            (10.0, "10"),
            (1e-6, "1e-6"),
            (2.5e9, "2.5e9"),
        ];
        for (x, expect) in cases {
            assert_eq!(short(x), expect, "of {x:?}");
        }
        assert_eq!(digits(-2.857142857, 7), "-2.857143");
        assert_eq!(digits(99999.0, 7), "99999");
        assert_eq!(digits(0.00123456789, 7), "0.001234568");
        assert_eq!(digits(1.0 / 3.0e9, 7), "3.33333e-10");
    }
}
