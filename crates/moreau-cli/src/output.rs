//! Standard output that survives a closed pipe, and numbers for people.

use crate::fault::Fault;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Prints. A reader that has gone away is no failure.
pub(crate) fn print(text: &str) -> Result<(), Fault> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Fault::write(Path::new("standard output"), &error))
        }
        _ => Ok(()),
    }
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
