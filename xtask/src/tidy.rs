//! `cargo xtask tidy`: what the compiler cannot check.

mod layers;
mod manifest;
mod rules;
mod source;
mod text;

use layers::Kind;
use rules::Place;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// A line that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    /// From 1.
    pub(crate) line: usize,
    pub(crate) rule: &'static str,
    /// What is wrong, and what to do.
    pub(crate) advice: String,
}

impl Hit {
    fn new(line: usize, rule: &'static str, advice: impl Into<String>) -> Self {
        Self {
            line,
            rule,
            advice: advice.into(),
        }
    }
}

/// A [`Hit`] in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// From the root.
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) rule: &'static str,
    pub(crate) advice: String,
}

impl Problem {
    fn new(file: String, line: usize, rule: &'static str, advice: impl Into<String>) -> Self {
        Self {
            file,
            line,
            rule,
            advice: advice.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}: {}: {}",
            self.file, self.line, self.rule, self.advice
        )
    }
}

/// The rules that an `// tidy: allow(rule): reason` may name.
const ALLOWABLE: &[&str] = &[
    "float",
    "hash",
    "clock",
    "outside-world",
    "print",
    "small-vec",
    "thread-sum",
    "lanes-closure",
    "machine-path",
    "no-test",
    "unfinished",
];

/// What `cargo xtask tidy` found.
pub(crate) struct Report {
    pub(crate) problems: Vec<Problem>,
    /// How many files were read.
    pub(crate) files: usize,
}

/// Checks the workspace at `root`.
pub(crate) fn check(root: &Path) -> Result<Report, String> {
    let mut files = Vec::new();
    list(root, Path::new(""), &mut files)?;
    files.sort();
    let mut problems = Vec::new();
    for file in &files {
        let bytes = fs::read(root.join(file)).map_err(|e| format!("cannot read {file}: {e}"))?;
        // Other files are no text.
        if let Ok(text) = String::from_utf8(bytes) {
            problems.extend(check_file(file, &text));
            if file.ends_with(".md") {
                problems.extend(text::check_links(file, &text, |path| {
                    root.join(path).exists()
                }));
            }
        }
    }
    problems.extend(check_crates(root)?);
    problems.sort_by(|a, b| (&a.file, a.line, a.rule).cmp(&(&b.file, b.line, b.rule)));
    Ok(Report {
        problems,
        files: files.len(),
    })
}

/// Lists the files of the project that people write.
fn list(root: &Path, folder: &Path, files: &mut Vec<String>) -> Result<(), String> {
    const ENDS: &[&str] = &[
        "rs", "md", "toml", "json", "snap", "yml", "yaml", "sh", "html", "js", "css",
    ];
    let here = root.join(folder);
    let entries =
        fs::read_dir(&here).map_err(|e| format!("cannot list {}: {e}", here.display()))?;
    for entry in entries {
        let entry = entry.map_err(|e| format!("cannot list {}: {e}", here.display()))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = folder.join(&name);
        if entry.path().is_dir() {
            let ours = !name.starts_with('.') || [".ci", ".cargo", ".github"].contains(&&*name);
            let made = name.starts_with("target") || ["node_modules", "out"].contains(&&*name);
            if ours && !made {
                list(root, &path, files)?;
            }
            continue;
        }
        let end = path
            .extension()
            .is_some_and(|end| ENDS.iter().any(|e| end == *e));
        if end || folder == Path::new(".ci") {
            files.push(slashes(&path));
        }
    }
    Ok(())
}

fn slashes(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

/// Checks the text of one file.
fn check_file(file: &str, text: &str) -> Vec<Problem> {
    let test = file
        .split('/')
        .any(|part| ["tests", "benches", "examples", "tests.rs"].contains(&part));
    let mut hits = text::check_white_space(text);
    if let Some(stem) = file.strip_suffix(".rs") {
        let lines = source::lines(text);
        let kind = file.strip_prefix("crates/").and_then(|rest| {
            let row = layers::row(rest.split('/').next()?)?;
            Some(row.kind)
        });
        let program = stem.ends_with("/main") || stem.ends_with("/build");
        let kind = kind.map(|kind| if program { Kind::Tool } else { kind });
        let mut code = rules::check(
            &Place {
                path: file,
                kind,
                test,
            },
            text,
            &lines,
        );
        code.extend(text::check_machine_paths(text, |index| {
            test || lines.get(index).is_some_and(|line| line.test)
        }));
        hits.extend(allowed(code, &lines));
    } else {
        hits.extend(text::check_machine_paths(text, |_| test));
    }
    hits.into_iter()
        .map(|h| Problem::new(file.to_owned(), h.line, h.rule, h.advice))
        .collect()
}

/// Leaves out what `// tidy: allow(rule): reason` on the line, or alone on the line above, allows.
/// An allowance that allows nothing, or gives no reason, is a problem itself.
fn allowed(hits: Vec<Hit>, lines: &[source::Line]) -> Vec<Hit> {
    let mut left = hits;
    for (index, line) in lines.iter().enumerate() {
        let Some(rest) = line
            .comment
            .trim_start_matches('/')
            .trim()
            .strip_prefix("tidy: allow(")
        else {
            continue;
        };
        let (rule, reason) = rest.split_once(')').unwrap_or((rest, ""));
        let reason = reason.strip_prefix(':').unwrap_or_default().trim();
        if !ALLOWABLE.contains(&rule) {
            let advice = format!(
                "`{rule}` is no rule that can be allowed: {}",
                ALLOWABLE.join(", ")
            );
            left.push(Hit::new(index + 1, "allow", advice));
            continue;
        }
        if reason.is_empty() {
            let advice = format!("say why: `// tidy: allow({rule}): …`");
            left.push(Hit::new(index + 1, "allow", advice));
            continue;
        }
        let alone = line.code.trim().is_empty();
        let target = if alone { index + 2 } else { index + 1 };
        let before = left.len();
        left.retain(|hit| hit.line != target || hit.rule != rule);
        if left.len() == before {
            let advice = format!("allows `{rule}`, which nothing breaks here; remove it");
            left.push(Hit::new(index + 1, "allow", advice));
        }
    }
    left
}

/// Checks what every crate must have.
fn check_crates(root: &Path) -> Result<Vec<Problem>, String> {
    let mut problems = Vec::new();
    let crates = root.join("crates");
    let entries =
        fs::read_dir(&crates).map_err(|e| format!("cannot list {}: {e}", crates.display()))?;
    let mut folders: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    folders.sort();
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        let name = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let file = |inner: &str| format!("crates/{name}/{inner}");
        match fs::read_to_string(folder.join("Cargo.toml")) {
            Ok(text) => problems.extend(manifest::check(&name, &text)),
            Err(e) => {
                problems.push(Problem::new(
                    file("Cargo.toml"),
                    1,
                    "manifest",
                    e.to_string(),
                ));
                continue;
            }
        }
        if !folder.join("README.md").is_file() {
            let advice = "is missing; say in a few lines what the crate is for";
            problems.push(Problem::new(file("README.md"), 1, "docs", advice));
        }
        match fs::read_to_string(folder.join("src/lib.rs")) {
            Ok(text) => {
                let hits = rules::check_crate_docs(&text).into_iter();
                problems.extend(
                    hits.map(|h| Problem::new(file("src/lib.rs"), h.line, h.rule, h.advice)),
                );
            }
            Err(_) if folder.join("src/main.rs").is_file() => {}
            Err(e) => problems.push(Problem::new(file("src/lib.rs"), 1, "docs", e.to_string())),
        }
    }
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(file: &str, text: &str) -> Vec<(usize, &'static str)> {
        check_file(file, text)
            .into_iter()
            .map(|p| (p.line, p.rule))
            .collect()
    }

    #[test]
    fn a_reason_allows_a_line() {
        let file = "crates/moreau-solver/src/a.rs";
        let bare = "use std::collections::HashMap;\n";
        assert_eq!(found(file, bare), [(1, "hash")]);
        let above = format!("// tidy: allow(hash): look-up only\n{bare}");
        assert_eq!(found(file, &above), []);
        let beside = "use std::collections::HashMap; // tidy: allow(hash): look-up only\n";
        assert_eq!(found(file, beside), []);
    }

    #[test]
    fn an_allowance_needs_a_reason_a_rule_and_a_use() {
        let file = "crates/moreau-solver/src/a.rs";
        let bare = "use std::collections::HashMap; // tidy: allow(hash)\n";
        assert_eq!(found(file, bare), [(1, "hash"), (1, "allow")]);
        assert_eq!(
            found(file, "a(); // tidy: allow(mistakes): all\n"),
            [(1, "allow")]
        );
        assert_eq!(
            found(file, "a(); // tidy: allow(hash): no map here\n"),
            [(1, "allow")]
        );
    }

    #[test]
    fn programs_may_print_and_tests_may_do_more() {
        let text = "println!(\"x\");\n";
        assert_eq!(found("crates/moreau-solver/src/a.rs", text), [(1, "print")]);
        assert_eq!(found("crates/moreau-solver/src/main.rs", text), []);
        assert_eq!(found("crates/moreau-solver/examples/a.rs", text), []);
        assert_eq!(found("crates/moreau-cli/src/a.rs", text), []);
        assert_eq!(found("xtask/src/a.rs", text), []);
    }

    #[test]
    fn texts_are_checked_too() {
        assert_eq!(found("docs/a.md", "a \n"), [(1, "white-space")]);
        assert_eq!(found("docs/a.md", "see /tmp/x\n"), [(1, "machine-path")]);
        assert_eq!(found("docs/a.md", "see fixtures/x\n"), []);
    }

    #[test]
    fn a_problem_names_file_line_rule_and_advice() {
        let problem = &check_file("docs/a.md", "a\tb\n")[0];
        assert_eq!(
            problem.to_string(),
            "docs/a.md:1: white-space: holds a tab; use spaces"
        );
    }

    /// Every "must not know" of the crates' docs is a test.
    #[test]
    fn this_workspace_is_tidy() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let report = check(&root).unwrap();
        let problems: Vec<String> = report.problems.iter().map(Problem::to_string).collect();
        assert!(problems.is_empty(), "{}", problems.join("\n"));
        assert!(
            report.files > 100,
            "only {} files were looked at",
            report.files
        );
    }
}
