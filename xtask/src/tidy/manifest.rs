//! What `Cargo.toml` of a crate must say, and on whom a crate may depend.

use super::Problem;
use super::layers::{self, Row};

/// A dependency and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Dependency {
    name: String,
    line: usize,
    dev: bool,
    from_workspace: bool,
}

/// A line `key = value` of a section.
struct Entry<'a> {
    section: &'a str,
    key: &'a str,
    value: &'a str,
    line: usize,
}

fn entries(text: &str) -> Vec<Entry<'_>> {
    let mut section = "";
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with('[') && line.ends_with(']') {
            section = line.trim_matches(['[', ']']);
        } else if let Some((key, value)) = line.split_once('=')
            && !line.starts_with('#')
        {
            found.push(Entry {
                section,
                key: key.trim(),
                value: value.trim(),
                line: index + 1,
            });
        }
    }
    found
}

/// All dependencies, those of `[target.….dependencies]` and `[dependencies.NAME]` included.
fn dependencies(text: &str) -> Vec<Dependency> {
    let mut found: Vec<Dependency> = Vec::new();
    for entry in entries(text) {
        let section = entry
            .section
            .rsplit_once("'.")
            .map_or(entry.section, |(_, rest)| rest);
        let (table, named) = match section.split_once('.') {
            Some((table, name)) => (table, Some(name)),
            None => (section, None),
        };
        let dev = match table {
            "dependencies" | "build-dependencies" => false,
            "dev-dependencies" => true,
            _ => continue,
        };
        let (key, setting) = match (named, entry.key.split_once('.')) {
            (Some(name), _) => (name, entry.key),
            (None, Some((name, setting))) => (name, setting),
            (None, None) => (entry.key, ""),
        };
        let from_workspace =
            setting == "workspace" || (setting.is_empty() && entry.value.contains("workspace"));
        let name = renamed(entry.value).unwrap_or(key).to_owned();
        match found.iter_mut().find(|d| d.name == name && d.dev == dev) {
            Some(known) => known.from_workspace |= from_workspace,
            None => found.push(Dependency {
                name,
                line: entry.line,
                dev,
                from_workspace,
            }),
        }
    }
    found
}

/// The real name in `{ package = "name", … }`.
fn renamed(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("package")?;
    rest.split('"').nth(1)
}

/// Checks the manifest of the crate in `crates/<folder>`.
pub(crate) fn check(folder: &str, text: &str) -> Vec<Problem> {
    let file = format!("crates/{folder}/Cargo.toml");
    let Some(row) = layers::row(folder) else {
        let advice = format!(
            "crate `{folder}` has no row; say what it may know in xtask/src/tidy/layers.rs"
        );
        return vec![Problem::new(file, 1, "layer", advice)];
    };
    let mut problems = Vec::new();
    let mut report = |line: usize, rule: &'static str, advice: String| {
        problems.push(Problem::new(file.clone(), line, rule, advice));
    };

    let entries = entries(text);
    let package = |key: &str| {
        let mut own = entries.iter().filter(|e| e.section == "package");
        own.find(|e| e.key == key || e.key.strip_suffix(".workspace") == Some(key))
    };
    match package("name") {
        Some(name) if name.value.trim_matches('"') == folder => {}
        Some(name) => report(
            name.line,
            "manifest",
            format!(
                "package is called {}; give it its folder's name `{folder}`",
                name.value
            ),
        ),
        None => report(1, "manifest", "has no `name`".into()),
    }
    for key in ["description", "keywords", "license", "readme"] {
        if package(key).is_none() {
            report(
                1,
                "manifest",
                format!("has no `{key}`; crates.io shows it, so give it one"),
            );
        }
    }
    if !entries
        .iter()
        .any(|e| e.section == "lints" && e.key == "workspace" && e.value == "true")
    {
        let advice = "does not share the workspace's lints; add `[lints]` with `workspace = true`";
        report(1, "manifest", advice.into());
    }
    for dependency in dependencies(text) {
        if let Some(advice) = refusal(row, &dependency) {
            report(dependency.line, "layer", advice);
        }
        if !dependency.from_workspace {
            let advice = format!(
                "`{}` has a version of its own; list it in the root's `[workspace.dependencies]` \
                 and write `{0}.workspace = true`",
                dependency.name
            );
            report(dependency.line, "manifest", advice);
        }
    }
    problems
}

/// Why a crate may not have this dependency.
fn refusal(row: &Row, dependency: &Dependency) -> Option<String> {
    let (own, name) = (row.name, dependency.name.as_str());
    let ours = layers::row(name).is_some() || name.starts_with("moreau");
    if dependency.dev {
        // A test may look up to any crate that does not rest on the one under test.
        let cycle = name == own || layers::reaches(name, own);
        return cycle.then(|| {
            format!("`{name}` rests on `{own}`, so `{own}` could not be published; move the test")
        });
    }
    if ours && !row.uses.contains(&name) {
        return Some(format!(
            "`{own}` must not know `{name}`; move what it needs down, or change its row in \
             xtask/src/tidy/layers.rs if the design changed"
        ));
    }
    if !ours && !row.external.contains(&name) {
        return Some(format!(
            "`{own}` may not depend on `{name}`; do without, or add it to its row in \
             xtask/src/tidy/layers.rs with a good reason in the commit"
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"[package]
name = "moreau-solver"
description = "d"
license.workspace = true
keywords = ["a"]
readme = "README.md"

[dependencies]
moreau-constraint.workspace = true
serde.workspace = true

[dev-dependencies]
moreau-collision = { workspace = true }

[lints]
workspace = true
"#;

    fn rules(folder: &str, text: &str) -> Vec<(usize, &'static str)> {
        check(folder, text)
            .into_iter()
            .map(|p| (p.line, p.rule))
            .collect()
    }

    #[test]
    fn a_good_manifest_passes() {
        assert_eq!(rules("moreau-solver", GOOD), []);
    }

    #[test]
    fn a_crate_without_a_row_fails() {
        assert_eq!(rules("moreau-fresh", GOOD), [(1, "layer")]);
    }

    #[test]
    fn an_upward_dependency_fails() {
        let text = GOOD.replace("serde.workspace", "moreau-pipeline.workspace");
        assert_eq!(rules("moreau-solver", &text), [(10, "layer")]);
        let text = GOOD.replace(
            "serde.workspace = true",
            "moreau-solver-pgs = { workspace = true }",
        );
        assert_eq!(rules("moreau-solver", &text), [(10, "layer")]);
    }

    #[test]
    fn a_foreign_dependency_that_is_not_listed_fails() {
        let text = GOOD.replace("serde.workspace", "rayon.workspace");
        assert_eq!(rules("moreau-solver", &text), [(10, "layer")]);
        let table = GOOD.replace(
            "[lints]",
            "[dependencies.rayon]\nworkspace = true\n\n[lints]",
        );
        assert_eq!(rules("moreau-solver", &table), [(16, "layer")]);
        let target = GOOD.replace(
            "[lints]",
            "[target.'cfg(unix)'.dependencies]\nrayon.workspace = true\n[lints]",
        );
        assert_eq!(rules("moreau-solver", &target), [(16, "layer")]);
    }

    #[test]
    fn a_rename_does_not_hide_a_dependency() {
        let text = GOOD.replace(
            "serde.workspace = true",
            "serde = { package = \"rayon\", workspace = true }",
        );
        assert_eq!(rules("moreau-solver", &text), [(10, "layer")]);
    }

    #[test]
    fn a_test_dependency_that_rests_on_the_crate_fails() {
        let text = GOOD.replace("moreau-collision = {", "moreau-pipeline = {");
        assert_eq!(rules("moreau-solver", &text), [(13, "layer")]);
    }

    #[test]
    fn an_own_version_fails() {
        let text = GOOD.replace("serde.workspace = true", "serde = \"1\"");
        assert_eq!(rules("moreau-solver", &text), [(10, "manifest")]);
    }

    #[test]
    fn missing_words_and_lints_fail() {
        for line in [
            "description = \"d\"\n",
            "license.workspace = true\n",
            "keywords = [\"a\"]\n",
        ] {
            assert_eq!(
                rules("moreau-solver", &GOOD.replace(line, "")),
                [(1, "manifest")]
            );
        }
        let text = GOOD.replace("[lints]\nworkspace = true\n", "");
        assert_eq!(rules("moreau-solver", &text), [(1, "manifest")]);
        let text = GOOD.replace("name = \"moreau-solver\"", "name = \"solver\"");
        assert_eq!(rules("moreau-solver", &text), [(2, "manifest")]);
    }
}
