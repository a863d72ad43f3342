//! Line and column of a path in a JSON text.
//!
//! The text has been parsed before, so it is known to be JSON; the walk still never panics on any
//! text, it only stops early.

/// Line and column (from 1, in bytes) of the value at `path` (such as `bodies[3].density`), or of
/// the innermost value on the way to it that exists.
pub(crate) fn locate(text: &str, path: &str) -> (usize, usize) {
    let mut walk = Walk {
        text: text.as_bytes(),
        at: 0,
    };
    walk.space();
    let mut rest = path;
    while !rest.is_empty() {
        let found = if let Some(tail) = rest.strip_prefix('[') {
            let Some((index, tail)) = tail.split_once(']') else {
                break;
            };
            let Ok(index) = index.parse::<usize>() else {
                break;
            };
            rest = tail;
            walk.element(index)
        } else {
            // Keys may hold dots, so the keys that are there decide where this one ends.
            match walk.member(rest.strip_prefix('.').unwrap_or(rest)) {
                Some((at, tail)) => {
                    rest = tail;
                    Some(at)
                }
                None => None,
            }
        };
        match found {
            Some(at) => walk.at = at,
            None => break,
        }
    }
    let before = &text.as_bytes()[..walk.at.min(text.len())];
    let line = 1 + before.iter().filter(|b| **b == b'\n').count();
    let column = 1 + before.iter().rev().take_while(|b| **b != b'\n').count();
    (line, column)
}

struct Walk<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Walk<'t> {
    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\r' | b'\n') {
            self.at += 1;
        }
    }

    /// Passes a string; returns what is between its quotes, escapes left as they are.
    fn string(&mut self) -> &'t [u8] {
        self.at += 1;
        let start = self.at.min(self.text.len());
        while self.at < self.text.len() && self.peek() != b'"' {
            self.at += if self.peek() == b'\\' { 2 } else { 1 };
        }
        let end = self.at.min(self.text.len());
        self.at = end + 1;
        &self.text[start..end]
    }

    /// Passes one value and the space after it.
    fn value(&mut self) {
        let mut depth = 0_usize;
        while self.at < self.text.len() {
            match self.peek() {
                b'"' => {
                    self.string();
                }
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' | b',' if depth == 0 => return,
                b'}' | b']' => {
                    depth -= 1;
                    self.at += 1;
                }
                _ => self.at += 1,
            }
        }
    }

    /// Start of an element of the array at hand.
    fn element(&self, index: usize) -> Option<usize> {
        if self.peek() != b'[' {
            return None;
        }
        let mut walk = Walk {
            text: self.text,
            at: self.at + 1,
        };
        walk.space();
        for _ in 0..index {
            walk.value();
            if walk.peek() != b',' {
                return None;
            }
            walk.at += 1;
            walk.space();
        }
        (walk.peek() != b']').then_some(walk.at)
    }

    /// Start of the value of the member of the object at hand with which `path` begins, and the
    /// rest of the path.
    fn member<'p>(&self, path: &'p str) -> Option<(usize, &'p str)> {
        if self.peek() != b'{' {
            return None;
        }
        let mut walk = Walk {
            text: self.text,
            at: self.at + 1,
        };
        loop {
            walk.space();
            if walk.peek() != b'"' {
                return None;
            }
            let key = walk.string();
            walk.space();
            if walk.peek() != b':' {
                return None;
            }
            walk.at += 1;
            walk.space();
            if let Some(tail) = path.as_bytes().strip_prefix(key)
                && matches!(tail.first(), None | Some(b'.' | b'['))
                && let Some(tail) = path.get(key.len()..)
            {
                return Some((walk.at, tail));
            }
            walk.value();
            if walk.peek() != b',' {
                return None;
            }
            walk.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::locate;

    const TEXT: &str = "{\n  \"a.b\": {\"c\": [1, \"]}\\\"\", {\"d\": 2}]},\n  \"bodies\": [[], {\n   \"x\": 3}]\n}";

    #[test]
    fn finds_values_by_their_paths() {
        let at = |path| {
            let (line, column) = locate(TEXT, path);
            TEXT.lines().nth(line - 1).unwrap()[column - 1..]
                .chars()
                .next()
                .unwrap()
        };
        assert_eq!(at(""), '{');
        assert_eq!(at("a.b.c[0]"), '1');
        assert_eq!(at("a.b.c[2].d"), '2');
        assert_eq!(at("bodies[0]"), '[');
        assert_eq!(at("bodies[1].x"), '3');
        assert_eq!(locate(TEXT, "bodies[1].x"), (4, 9));
    }

    #[test]
    fn stops_at_the_innermost_value_that_exists() {
        assert_eq!(locate(TEXT, "bodies[1].missing"), locate(TEXT, "bodies[1]"));
        assert_eq!(locate(TEXT, "bodies[7]"), locate(TEXT, "bodies"));
        assert_eq!(locate(TEXT, "nothing"), (1, 1));
    }

    #[test]
    fn survives_any_text() {
        for cut in 0..TEXT.len() {
            if TEXT.is_char_boundary(cut) {
                for path in ["bodies[1].x", "a.b.c[2].d", "[0", "[x]", "..", "[0][1]"] {
                    let (line, column) = locate(&TEXT[..cut], path);
                    assert!(line >= 1 && column >= 1);
                }
            }
        }
    }
}
