//! Rules for any text file: white space, machine paths, links.

use super::{Hit, Problem};
use std::path::Path;

/// Folders of somebody's machine.
const MACHINE_PATHS: &[&str] = &[
    "/home/",  // tidy: allow(machine-path): the list itself
    "/root/",  // tidy: allow(machine-path): the list itself
    "/tmp/",   // tidy: allow(machine-path): the list itself
    "/Users/", // tidy: allow(machine-path): the list itself
    "/work/",  // tidy: allow(machine-path): the list itself
];

/// Tabs, white space at the ends of lines, and how the file ends.
pub(crate) fn check_white_space(text: &str) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.contains('\t') {
            hits.push(Hit::new(
                index + 1,
                "white-space",
                "holds a tab; use spaces",
            ));
        }
        if line.ends_with([' ', '\t']) {
            hits.push(Hit::new(
                index + 1,
                "white-space",
                "ends in white space; remove it",
            ));
        }
    }
    let last = text.lines().count().max(1);
    if !text.is_empty() && !text.ends_with('\n') {
        hits.push(Hit::new(
            last,
            "white-space",
            "does not end in a newline; add one",
        ));
    }
    if text.ends_with("\n\n") {
        hits.push(Hit::new(
            last,
            "white-space",
            "ends in an empty line; remove it",
        ));
    }
    hits
}

/// Paths of one machine. Tests may name a path that does not exist.
pub(crate) fn check_machine_paths(text: &str, is_test: impl Fn(usize) -> bool) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for path in MACHINE_PATHS {
            // `crates/home/x` is a path of the project.
            let outside = line.match_indices(path).any(|(at, _)| {
                !line[..at].ends_with(|c: char| c.is_alphanumeric() || "_-.*}".contains(c))
            });
            if outside && !is_test(index) {
                let advice = format!("names `{path}…` of one machine; use a path in the project");
                hits.push(Hit::new(index + 1, "machine-path", advice));
            }
        }
    }
    hits
}

/// Links of a Markdown file to files that are not there. `exists` takes a path from the root.
pub(crate) fn check_links(file: &str, text: &str, exists: impl Fn(&Path) -> bool) -> Vec<Problem> {
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    let mut problems = Vec::new();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        fenced ^= line.trim_start().starts_with("```");
        if fenced {
            continue;
        }
        for (at, _) in line.match_indices("](") {
            let target = line[at + 2..]
                .split([')', '#', ' '])
                .next()
                .unwrap_or_default();
            let outside = target.contains("://") || target.starts_with("mailto:");
            if target.is_empty() || outside {
                continue;
            }
            if !exists(&normal(&folder.join(target))) {
                let advice = format!("links to `{target}`, which is not there; fix or remove it");
                problems.push(Problem::new(file.to_owned(), index + 1, "link", advice));
            }
        }
    }
    problems
}

/// A path without `.` and `..`.
fn normal(path: &Path) -> std::path::PathBuf {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => drop(parts.pop()),
            std::path::Component::CurDir => {}
            other => parts.push(other),
        }
    }
    parts.iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(hits: &[Hit]) -> Vec<usize> {
        hits.iter().map(|hit| hit.line).collect()
    }

    #[test]
    fn white_space() {
        assert_eq!(lines(&check_white_space("a\n  b\n")), [] as [usize; 0]);
        assert_eq!(lines(&check_white_space("a\n\tb\n")), [2]);
        assert_eq!(lines(&check_white_space("a \nb\n")), [1]);
        assert_eq!(lines(&check_white_space("a\r\nb\n")), [] as [usize; 0]);
        assert_eq!(lines(&check_white_space("a\nb")), [2]);
        assert_eq!(lines(&check_white_space("a\n\n")), [2]);
    }

    #[test]
    fn machine_paths() {
        let check = |text: &str| lines(&check_machine_paths(text, |_| false));
        assert_eq!(check("see /home/ann/x"), [1]);
        assert_eq!(check("a\n`/tmp/x`"), [2]);
        assert_eq!(
            check("crates/home/x and https://a.b/home/c"),
            [] as [usize; 0]
        );
        assert!(check_machine_paths("see /home/ann/x", |_| true).is_empty());
    }

    #[test]
    fn links() {
        let there = |path: &Path| path == Path::new("docs/a.md");
        let check = |file: &str, text: &str| check_links(file, text, there).len();
        assert_eq!(
            check("README.md", "[a](docs/a.md) [b](https://b.c) [d](#d)"),
            0
        );
        assert_eq!(
            check("docs/b.md", "[a](a.md#part) and [up](../docs/a.md)"),
            0
        );
        assert_eq!(check("docs/b.md", "[a](b/a.md)"), 1);
        assert_eq!(check("README.md", "```\nx[a](b)\n```\n"), 0);
    }
}
