//! A Rust source split into lines of code, comments and test code.
//!
//! Not a parser: enough of a lexer to know what is code, so that a word in a comment or a string
//! breaks no rule.

/// A line of a Rust source.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    /// The code, comments left out and strings emptied.
    pub(crate) code: String,
    /// The text of the line's comments, marks left out.
    pub(crate) comment: String,
    /// Inside an item under `#[cfg(test)]`.
    pub(crate) test: bool,
}

/// Splits a Rust source into its lines.
pub(crate) fn lines(text: &str) -> Vec<Line> {
    let mut lexer = Lexer {
        chars: text.chars().collect(),
        at: 0,
        lines: vec![Line::default()],
    };
    lexer.run();
    let mut lines = lexer.lines;
    mark_tests(&mut lines);
    lines
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    lines: Vec<Line>,
}

impl Lexer {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn line(&mut self) -> &mut Line {
        self.lines.last_mut().expect("there is always a line")
    }

    /// Takes a char; `into` says where it is kept.
    fn take(&mut self, into: fn(&mut Line) -> Option<&mut String>) {
        let c = self.chars[self.at];
        self.at += 1;
        if c == '\n' {
            self.lines.push(Line::default());
        } else if let Some(text) = into(self.line()) {
            text.push(c);
        }
    }

    fn code(&mut self) {
        self.take(|line| Some(&mut line.code));
    }

    fn skip(&mut self) {
        self.take(|_| None);
    }

    fn run(&mut self) {
        while let Some(c) = self.peek(0) {
            match (c, self.peek(1)) {
                ('/', Some('/')) => {
                    while self.peek(0).is_some_and(|c| c != '\n') {
                        self.take(|line| Some(&mut line.comment));
                    }
                }
                ('/', Some('*')) => self.block_comment(),
                ('"', _) => self.string(),
                ('r', _) if self.raw_hashes().is_some() => self.raw_string(),
                ('\'', _) => self.quote(),
                _ => self.code(),
            }
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some('/'), Some('*')) => depth += 1,
                (Some('*'), Some('/')) => depth -= 1,
                (None, _) => return,
                _ => {
                    self.take(|line| Some(&mut line.comment));
                    continue;
                }
            }
            self.skip();
            self.skip();
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.code();
        while let Some(c) = self.peek(0) {
            match c {
                '"' => return self.code(),
                '\\' => {
                    self.skip();
                    if self.peek(0).is_some() {
                        self.skip();
                    }
                }
                _ => self.skip(),
            }
        }
    }

    /// How many hashes open a raw string here; `None` where none opens.
    fn raw_hashes(&self) -> Option<usize> {
        let before = self.at.checked_sub(1).map(|i| self.chars[i]);
        let own = before.is_none_or(|c| !is_word(c) || c == 'b' || c == 'c');
        let hashes = (1..).take_while(|i| self.peek(*i) == Some('#')).count();
        (own && self.peek(1 + hashes) == Some('"')).then_some(hashes)
    }

    fn raw_string(&mut self) {
        let hashes = self.raw_hashes().unwrap_or(0);
        self.skip();
        for _ in 0..hashes {
            self.skip();
        }
        self.code();
        while self.peek(0).is_some() {
            let closes =
                self.peek(0) == Some('"') && (1..=hashes).all(|i| self.peek(i) == Some('#'));
            if closes {
                self.code();
                for _ in 0..hashes {
                    self.skip();
                }
                return;
            }
            self.skip();
        }
    }

    /// A char, or the mark of a lifetime.
    fn quote(&mut self) {
        self.code();
        if self.peek(0) == Some('\\') {
            self.skip();
            self.skip();
            while self.peek(0).is_some_and(|c| c != '\'' && c != '\n') {
                self.skip();
            }
            self.code();
        } else if self.peek(1) == Some('\'') {
            self.skip();
            self.code();
        }
    }
}

/// Marks the items under `#[cfg(test)]`.
fn mark_tests(lines: &mut [Line]) {
    let mut start = 0;
    while start < lines.len() {
        if !lines[start].code.contains("#[cfg(test)]") {
            start += 1;
            continue;
        }
        // The item ends with the brace that closes its first, or with a semicolon before any.
        let mut depth = 0;
        let mut end = lines.len() - 1;
        'item: for (index, line) in lines.iter().enumerate().skip(start) {
            for c in line.code.chars() {
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    ';' if depth == 0 => {}
                    _ => continue,
                }
                if depth == 0 {
                    end = index;
                    break 'item;
                }
            }
        }
        for line in &mut lines[start..=end] {
            line.test = true;
        }
        start = end + 1;
    }
}

/// Whether a char can be part of a word of Rust.
pub(crate) fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Where `pattern` stands in `code`, neither end cutting a word.
pub(crate) fn find(code: &str, pattern: &str) -> Option<usize> {
    let opens = pattern.chars().next().is_some_and(is_word);
    let closes = pattern.chars().next_back().is_some_and(is_word);
    code.match_indices(pattern).map(|(at, _)| at).find(|at| {
        let before = code[..*at].chars().next_back();
        let after = code[at + pattern.len()..].chars().next();
        !(opens && before.is_some_and(is_word) || closes && after.is_some_and(is_word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Vec<String> {
        lines(text).into_iter().map(|line| line.code).collect()
    }

    #[test]
    fn comments_and_strings_are_not_code() {
        assert_eq!(code("a(); // b()"), ["a(); "]);
        assert_eq!(code("a /* b /* c */ d */ e"), ["a  e"]);
        assert_eq!(code("a /* b\nc */ d"), ["a ", " d"]);
        assert_eq!(code(r#"f("x \" // y", 1)"#), [r#"f("", 1)"#]);
        assert_eq!(code("f(r#\"x \" y\"#, br\"z\")"), ["f(\"\", b\"\")"]);
        assert_eq!(code("r#type + bar\"x\""), ["r#type + bar\"\""]);
    }

    #[test]
    fn chars_are_not_strings_and_lifetimes_are_not_chars() {
        assert_eq!(code(r#"f('"', b)"#), ["f('', b)"]);
        assert_eq!(code(r"f('\'', '\u{1F}', b)"), ["f('', '', b)"]);
        assert_eq!(
            code("fn f<'a>(x: &'a str) {} // c"),
            ["fn f<'a>(x: &'a str) {} "]
        );
    }

    #[test]
    fn comments_are_kept_apart() {
        assert_eq!(lines("a // why")[0].comment, "// why");
    }

    #[test]
    fn items_under_cfg_test_are_test_code() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n  fn b() {}\n}\nfn c() {}";
        let test: Vec<bool> = lines(text).iter().map(|line| line.test).collect();
        assert_eq!(test, [false, true, true, true, true, false]);
        let text = "#[cfg(test)]\nmod tests;\nfn c() {}";
        let test: Vec<bool> = lines(text).iter().map(|line| line.test).collect();
        assert_eq!(test, [true, true, false]);
    }

    #[test]
    fn patterns_do_not_cut_words() {
        assert_eq!(find("x.sin()", ".sin("), Some(1));
        assert_eq!(find("MyHashMap HashMapper", "HashMap"), None);
        assert_eq!(find("MyHashMap, HashMap<A, B>", "HashMap"), Some(11));
        assert_eq!(find("f64::sinh", "f64::sin"), None);
    }
}
