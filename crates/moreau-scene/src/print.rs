//! JSON that reads and diffs well: an array of plain values is one line, anything else is one line
//! where that fits, and whole numbers have no fraction. Numbers read back to the bit.

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use std::io;

const WIDTH: usize = 100;

/// `value` as text that ends with a newline.
pub(crate) fn to_text<T: Serialize>(value: &T) -> String {
    let mut bytes = Vec::new();
    // Nothing in a scene fails to serialize, and neither does writing to memory.
    if value
        .serialize(&mut Serializer::with_formatter(&mut bytes, Compact))
        .is_err()
    {
        bytes.clear();
    }
    let compact = String::from_utf8(bytes).unwrap_or_default();
    let mut out = String::with_capacity(2 * compact.len());
    let mut layout = Layout {
        text: compact.as_bytes(),
        at: 0,
        out: &mut out,
    };
    layout.value(0, 0);
    out.push('\n');
    out
}

/// One line, with a space after commas and colons.
struct Compact;

impl Formatter for Compact {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, x: f64) -> io::Result<()> {
        // Whole numbers are exact and shorter without a fraction; -0 stays -0.
        if x == x.trunc() && x.abs() < 1e15 {
            write!(writer, "{x:.0}")
        } else {
            writer.write_all(
                serde_json::Number::from_f64(x)
                    .map_or("null".into(), |n| n.to_string())
                    .as_bytes(),
            )
        }
    }

    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        w: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { w.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        w: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { w.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, w: &mut W) -> io::Result<()> {
        w.write_all(b": ")
    }
}

/// Breaks the lines of a compact text.
struct Layout<'t> {
    text: &'t [u8],
    at: usize,
    out: &'t mut String,
}

impl Layout<'_> {
    /// Copies the value at hand; `indent` of its line, `used` columns of that line are taken.
    fn value(&mut self, indent: usize, used: usize) {
        let (end, nested) = self.extent();
        let open = self.text.get(self.at).copied().unwrap_or(0);
        let scalars = open == b'[' && !nested;
        let plain = open != b'[' && open != b'{';
        if plain || scalars || used + (end - self.at) < WIDTH {
            self.copy(end);
            return;
        }
        self.out.push(open as char);
        self.at += 1;
        while self.at < end - 1 {
            self.out.push('\n');
            self.out.push_str(&"  ".repeat(indent + 1));
            let mut used = 2 * (indent + 1);
            if open == b'{' {
                let key = self.at + string_length(&self.text[self.at..]) + 2;
                used += key - self.at;
                self.copy(key);
            }
            // The comma after it counts as well.
            self.value(indent + 1, used + 1);
            if self.text[self.at] == b',' {
                self.out.push(',');
                self.at += 2;
            }
        }
        self.out.push('\n');
        self.out.push_str(&"  ".repeat(indent));
        self.copy(end);
    }

    fn copy(&mut self, end: usize) {
        self.out
            .push_str(&String::from_utf8_lossy(&self.text[self.at..end]));
        self.at = end;
    }

    /// End of the value at hand, and whether containers are inside it.
    fn extent(&self) -> (usize, bool) {
        let (mut at, mut depth, mut nested) = (self.at, 0, false);
        while at < self.text.len() {
            match self.text[at] {
                b'"' => {
                    at += string_length(&self.text[at..]);
                    if depth == 0 {
                        break;
                    }
                    continue;
                }
                b'[' | b'{' => {
                    nested |= depth > 0;
                    depth += 1;
                }
                b']' | b'}' if depth == 0 => break,
                b']' | b'}' => {
                    depth -= 1;
                    if depth == 0 {
                        at += 1;
                        break;
                    }
                }
                b',' if depth == 0 => break,
                _ => {}
            }
            at += 1;
        }
        (at, nested)
    }
}

/// Bytes of the string at the start of `text`, quotes included.
fn string_length(text: &[u8]) -> usize {
    let mut at = 1;
    while at < text.len() && text[at] != b'"' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(text.len())
}

#[cfg(test)]
mod tests {
    use super::to_text;
    use serde_json::{Value, json};

    #[test]
    fn every_number_reads_back_to_the_bit() {
        let mut numbers = vec![
            0.0,
            -0.0,
            1.0,
            -22.5,
            0.1,
            1e15,
            1e16,
            1e300,
            -1e-300,
            5e-324,
            f64::MAX,
            1.0 / 60.0,
            123456789012345.0,
        ];
        let mut random = crate::SplitMix64::new(1);
        numbers.extend(
            (0..2000)
                .map(|_| f64::from_bits(random.next_u64()))
                .filter(|x| x.is_finite()),
        );
        let back: Vec<f64> = serde_json::from_str(&to_text(&numbers)).unwrap();
        assert_eq!(numbers.len(), back.len());
        for (x, y) in numbers.iter().zip(&back) {
            assert_eq!(x.to_bits(), y.to_bits(), "{x} {y}");
        }
    }

    #[test]
    fn long_values_break_and_plain_rows_do_not() {
        let row: Vec<i32> = (0..60).collect();
        let long = "a \"quoted\" ] text, ".repeat(5);
        let value = json!({ "a": { "rows": [row, [1.5]], "text": long }, "b": [], "c": {} });
        let text = to_text(&value);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "{");
        assert_eq!(lines[1], "  \"a\": {");
        assert_eq!(lines[2], "    \"rows\": [");
        assert!(lines[3].starts_with("      [0, 1, 2,") && lines[3].ends_with("59],"));
        assert_eq!(lines[4], "      [1.5]");
        assert_eq!(lines[5], "    ],");
        assert_eq!(lines[8], "  \"b\": [],");
        assert_eq!(lines[9], "  \"c\": {}");
        assert_eq!(lines[10], "}");
    }
}
