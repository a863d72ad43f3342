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

/// Four significant digits, with an exponent where many zeros would hide them.
pub(crate) fn short(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 || !x.is_finite() {
        format!("{x}")
    } else if !(1e-3..1e5).contains(&size) {
        format!("{x:.2e}")
    } else {
        let decimals = (0..=6).find(|d| size * POWERS[*d] >= 1000.0).unwrap_or(6);
        let text = format!("{x:.decimals$}");
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        }
    }
}

const POWERS: [f64; 7] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6];

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
        ];
        for (x, expect) in cases {
            assert_eq!(short(x), expect, "of {x:?}");
        }
    }
}
