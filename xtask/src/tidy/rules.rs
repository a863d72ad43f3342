//! Rules for Rust sources.

use super::Hit;
use super::layers::{self, Kind};
use super::source::{self, Line};

/// Which sources a rule looks at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    /// From the root, with slashes.
    pub(crate) path: &'a str,
    /// The crate under `crates/`; `None` elsewhere.
    pub(crate) kind: Option<Kind>,
    /// A test, bench or example.
    pub(crate) test: bool,
}

impl Place<'_> {
    /// Same bits on every machine.
    fn deterministic(&self) -> bool {
        matches!(self.kind, Some(Kind::Simulation | Kind::Library))
    }
}

/// A rule that forbids words of code.
struct Forbid {
    rule: &'static str,
    words: &'static [&'static str],
    applies: fn(&Place<'_>) -> bool,
    /// Whether test code keeps it too.
    in_tests: bool,
    advice: &'static str,
}

/// Functions whose bits differ from platform to platform, or whose rounding is not specified.
const FLOAT_FUNCTIONS: &[&str] = &[
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sin_cos", "sinh", "cosh", "tanh",
    "asinh", "acosh", "atanh", "exp", "exp2", "exp_m1", "ln", "ln_1p", "log", "log10", "log2",
    "powf", "powi", "cbrt", "hypot", "mul_add",
];

const FORBIDDEN: &[Forbid] = &[
    Forbid {
        rule: "hash",
        words: &["HashMap", "HashSet", "RandomState"],
        applies: |p| p.deterministic(),
        in_tests: false,
        advice: "its order differs from run to run; use a sorted Vec or a BTreeMap",
    },
    Forbid {
        rule: "clock",
        words: &["Instant", "SystemTime"],
        applies: |p| p.deterministic() && !layers::CLOCKS.contains(&p.path),
        in_tests: false,
        advice: "only the step's clock tells the time (CLOCKS in xtask/src/tidy/layers.rs)",
    },
    Forbid {
        rule: "outside-world",
        words: &[
            "std::fs",
            "std::env",
            "std::net",
            "std::process",
            "std::io::stdout",
            "env!",
        ],
        applies: |p| p.kind == Some(Kind::Simulation) && !layers::DISK.contains(&p.path),
        in_tests: false,
        advice: "a simulation crate knows no files, environment or processes; take values instead",
    },
    Forbid {
        rule: "unsafe",
        words: &["unsafe"],
        applies: |p| !layers::UNSAFE.contains(&p.path),
        in_tests: true,
        advice: "write it in safe Rust, or list the file in UNSAFE of xtask/src/tidy/layers.rs",
    },
    Forbid {
        rule: "print",
        words: &["print!", "println!", "eprint!", "eprintln!"],
        applies: |p| p.deterministic(),
        in_tests: false,
        advice: "a library never prints; return it, or put it in a report",
    },
    Forbid {
        rule: "unfinished",
        words: &["todo!", "unimplemented!", "dbg!"],
        applies: |_| true,
        in_tests: true,
        advice: "finish it, or take it out",
    },
    Forbid {
        rule: "no-test",
        words: &[
            "#[ignore",
            "assert!(true",
            "assert_eq!(true, true)",
            "assert_eq!(false, false)",
        ],
        applies: |_| true,
        in_tests: true,
        advice: "a test always runs and can fail; test something or delete it",
    },
];

const LONG_FILE: usize = 700;

/// Checks a Rust source.
pub(crate) fn check(place: &Place<'_>, text: &str, lines: &[Line]) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let test = place.test || line.test;
        for forbid in FORBIDDEN {
            if !(forbid.applies)(place) || (test && !forbid.in_tests) {
                continue;
            }
            if let Some(word) = forbid
                .words
                .iter()
                .find(|w| source::find(&line.code, w).is_some())
            {
                let advice = format!("`{word}`: {}", forbid.advice);
                hits.push(Hit::new(index + 1, forbid.rule, advice));
            }
        }
        if place.deterministic() && !test {
            hits.extend(float_function(&line.code).map(|name| {
                let advice = format!(
                    "`{name}` gives other bits on other machines; use moreau_math::libm, or \
                     multiply out"
                );
                Hit::new(index + 1, "float", advice)
            }));
        }
        if place.kind.is_some() && !place.path.starts_with("crates/moreau-math/") {
            hits.extend(foreign_math(&line.code).map(|name| {
                let advice = format!("`{name}` is named directly; import it from moreau_math");
                Hit::new(index + 1, "glam", advice)
            }));
        }
    }
    if place.deterministic() && !place.test {
        hits.extend(public_small_vec(lines));
        hits.extend(thread_sum(lines));
        hits.extend(lanes_closure(lines));
    }
    hits.extend(long_file(text));
    hits
}

fn float_function(code: &str) -> Option<String> {
    FLOAT_FUNCTIONS.iter().find_map(|name| {
        let method = format!(".{name}(");
        if source::find(code, &method).is_some() {
            return Some(format!(".{name}()"));
        }
        let paths = ["f64", "f32"].map(|kind| format!("{kind}::{name}"));
        paths
            .into_iter()
            .find(|path| source::find(code, path).is_some())
    })
}

/// `glam` or `libm` named as a crate, and not as `moreau_math::glam`.
fn foreign_math(code: &str) -> Option<&'static str> {
    ["glam", "libm"].into_iter().find(|name| {
        let import = format!("use {name}");
        let path = format!("{name}::");
        let direct = source::find(code, &import).is_some_and(|at| {
            // `use glam as x;`, `use glam;`, but not `use glam_like`, which `find` refuses.
            !code[at..].contains("moreau_math")
        });
        let used = source::find(code, &path).is_some_and(|at| {
            let before = code[..at].trim_end();
            // `moreau_math::libm::sin`, or `libm::sin` after an import of moreau_math's.
            before.ends_with("use")
                || (before.ends_with("::") && !before.ends_with("moreau_math::"))
        });
        direct || used
    })
}

/// The statement or declaration that starts in a line: up to `{`, `;`, or a comma outside of
/// brackets.
fn declaration(lines: &[Line], start: usize, offset: usize) -> String {
    let mut text = String::new();
    let mut depth = 0;
    for (index, line) in lines.iter().enumerate().skip(start) {
        let code = if index == start {
            &line.code[offset..]
        } else {
            &line.code
        };
        for c in code.chars() {
            match c {
                '(' | '<' | '[' => depth += 1,
                ')' | ']' => depth -= 1,
                '>' if !text.ends_with('-') => depth -= 1,
                ',' if depth <= 0 => return text,
                '{' | ';' => return text,
                _ => {}
            }
            text.push(c);
        }
        text.push(' ');
    }
    text
}

fn public_small_vec(lines: &[Line]) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| !line.test) {
        let Some(at) = source::find(&line.code, "pub ") else {
            continue;
        };
        if source::find(&declaration(lines, index, at), "SmallVec").is_some() {
            let advice = "`SmallVec` in a public signature ties users to its version; give a slice";
            hits.push(Hit::new(index + 1, "small-vec", advice));
        }
    }
    hits
}

/// A parallel iterator that ends in a sum: the order of its additions follows the threads.
fn thread_sum(lines: &[Line]) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| !line.test) {
        let Some(at) = line
            .code
            .find(".par_")
            .or_else(|| line.code.find("into_par_"))
        else {
            continue;
        };
        let mut statement = line.code[at..].to_owned();
        for next in lines[index + 1..].iter().take(30) {
            if statement.contains(';') {
                break;
            }
            statement.push_str(&next.code);
        }
        let statement = statement.split(';').next().unwrap_or_default();
        let end = [
            ".sum(",
            ".sum::",
            ".product(",
            ".reduce(",
            ".fold(",
            ".reduce_with(",
        ];
        if let Some(end) = end.into_iter().find(|end| statement.contains(end)) {
            let advice = format!(
                "`{end}…` on a parallel iterator adds in the order of the threads; collect in \
                 index order, then add"
            );
            hits.push(Hit::new(index + 1, "thread-sum", advice));
        }
    }
    hits
}

/// A closure beside code over lanes. It is a function of its own: where it is not put into the place it is called
/// from, it is compiled without the wide instructions of the function around it, at twenty times the time.
fn lanes_closure(lines: &[Line]) -> Vec<Hit> {
    let code = || lines.iter().enumerate().filter(|(_, line)| !line.test);
    let mut over_lanes = code().map(|(_, line)| &line.code);
    if !over_lanes.any(|code| code.contains(": Lanes>") || code.contains("trait Lanes")) {
        return Vec::new();
    }
    let closures = code().filter(|(_, line)| {
        // Pasted, or a pattern of what is pasted.
        let pasted = line.code.contains("each!(") || line.code.contains("(|$");
        !pasted && opens_closure(&line.code)
    });
    closures
        .map(|(index, _)| {
            let advice = "a closure is not compiled for the instructions of the lanes around it; \
                          write a loop, or paste it by `each!`";
            Hit::new(index + 1, "lanes-closure", advice)
        })
        .collect()
}

/// Whether a `|` of the line stands where an expression starts.
fn opens_closure(code: &str) -> bool {
    code.match_indices('|').any(|(at, _)| {
        let before = code[..at].trim_end();
        before.ends_with(['(', ',', '=', '{']) || before.ends_with("move")
    })
}

fn long_file(text: &str) -> Option<Hit> {
    let count = text.lines().count();
    let mut top = text.lines().take(30);
    let excused = top.any(|line| {
        let reason = line.trim().strip_prefix("// tidy: long file because ");
        reason.is_some_and(|reason| !reason.trim().is_empty())
    });
    (count > LONG_FILE && !excused).then(|| {
        let advice = format!(
            "has {count} lines, more than {LONG_FILE}; split it, or open it with \
             `// tidy: long file because …`"
        );
        Hit::new(LONG_FILE + 1, "long-file", advice)
    })
}

/// The docs that open a crate's `lib.rs`.
pub(crate) fn check_crate_docs(text: &str) -> Vec<Hit> {
    let docs: Vec<&str> = text
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .collect();
    if docs.is_empty() {
        return vec![Hit::new(
            1,
            "docs",
            "does not open with `//!` docs of the crate",
        )];
    }
    let has = |word: &str| docs.iter().any(|line| line.contains(word));
    let mut hits = Vec::new();
    for word in ["**Owns**", "**Must not know**"] {
        if !has(word) {
            let advice = format!("the crate's docs do not say {word}; a reader looks there first");
            hits.push(Hit::new(1, "docs", advice));
        }
    }
    let fences = docs
        .iter()
        .filter(|line| line.trim_start().starts_with("```"))
        .count();
    if fences < 2 {
        let advice = "the crate's docs have no example; ten lines that run are enough";
        hits.push(Hit::new(1, "docs", advice));
    }
    hits
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIMULATION: Place<'_> = Place {
        path: "crates/moreau-solver/src/a.rs",
        kind: Some(Kind::Simulation),
        test: false,
    };
    const LIBRARY: Place<'_> = Place {
        path: "crates/moreau-scene/src/a.rs",
        kind: Some(Kind::Library),
        test: false,
    };
    const TOOL: Place<'_> = Place {
        path: "crates/moreau-cli/src/a.rs",
        kind: Some(Kind::Tool),
        test: false,
    };
    const TEST: Place<'_> = Place {
        path: "crates/moreau-solver/tests/a.rs",
        kind: Some(Kind::Simulation),
        test: true,
    };

    fn rules(place: Place<'_>, text: &str) -> Vec<&'static str> {
        check(&place, text, &source::lines(text))
            .into_iter()
            .map(|hit| hit.rule)
            .collect()
    }

    #[test]
    fn float_functions_of_the_platform_are_caught_in_all_spellings() {
        for code in [
            "x.sin()",
            "x.powi(2)",
            "a.mul_add(b, c)",
            "xs.map(f64::exp)",
            "f64::ln(x)",
        ] {
            let text = format!("fn f() {{ {code}; }}");
            assert_eq!(rules(SIMULATION, &text), ["float"], "{code}");
            assert_eq!(rules(TOOL, &text), [""; 0], "{code}");
            assert_eq!(rules(TEST, &text), [""; 0], "{code}");
        }
        for code in [
            "x.sqrt()",
            "libm::sin(x)",
            "x.signum()",
            "f64::EPSILON",
            "// x.sin()",
            "y.exponent()",
        ] {
            assert_eq!(rules(SIMULATION, code), [""; 0], "{code}");
        }
    }

    #[test]
    fn hash_maps_are_caught_outside_of_tests() {
        let text = "use std::collections::HashMap;";
        assert_eq!(rules(SIMULATION, text), ["hash"]);
        assert_eq!(rules(LIBRARY, text), ["hash"]);
        assert_eq!(rules(TOOL, text), [""; 0]);
        let test = "#[cfg(test)]\nmod tests {\n    use std::collections::HashSet;\n}\n";
        assert_eq!(rules(SIMULATION, test), [""; 0]);
        assert_eq!(
            rules(SIMULATION, "use std::collections::BTreeMap;"),
            [""; 0]
        );
    }

    #[test]
    fn only_the_step_tells_the_time() {
        let text = "let t = Instant::now();";
        assert_eq!(rules(SIMULATION, text), ["clock"]);
        assert_eq!(
            rules(
                Place {
                    path: layers::CLOCKS[0],
                    ..SIMULATION
                },
                text
            ),
            [""; 0]
        );
        assert_eq!(rules(TOOL, text), [""; 0]);
    }

    #[test]
    fn simulation_crates_do_not_open_files() {
        let text = "let t = std::fs::read(path);";
        assert_eq!(rules(SIMULATION, text), ["outside-world"]);
        assert_eq!(rules(LIBRARY, text), [""; 0]);
    }

    #[test]
    fn libraries_do_not_print_and_nothing_is_left_unfinished() {
        assert_eq!(rules(LIBRARY, "println!(\"x\");"), ["print"]);
        assert_eq!(rules(TOOL, "println!(\"x\");"), [""; 0]);
        assert_eq!(rules(TOOL, "todo!()"), ["unfinished"]);
        assert_eq!(rules(TEST, "dbg!(x);"), ["unfinished"]);
        assert_eq!(rules(TOOL, "// a todo! in words"), [""; 0]);
    }

    #[test]
    fn unsafe_code_is_caught_but_not_the_lint() {
        assert_eq!(rules(TOOL, "unsafe { f() }"), ["unsafe"]);
        assert_eq!(rules(TOOL, "#![forbid(unsafe_code)]"), [""; 0]);
    }

    #[test]
    fn tests_run_and_can_fail() {
        assert_eq!(rules(TEST, "#[ignore]"), ["no-test"]);
        assert_eq!(rules(TEST, "#[ignore = \"slow\"]"), ["no-test"]);
        assert_eq!(rules(TEST, "assert!(true);"), ["no-test"]);
        assert_eq!(rules(TEST, "assert!(true_when_done);"), [""; 0]);
    }

    #[test]
    fn glam_and_libm_come_from_math() {
        assert_eq!(rules(SIMULATION, "use glam::DVec3;"), ["glam"]);
        assert_eq!(rules(SIMULATION, "let x = ::libm::sin(y);"), ["glam"]);
        assert_eq!(rules(SIMULATION, "use moreau_math::glam::DMat2;"), [""; 0]);
        assert_eq!(rules(SIMULATION, "use moreau_math::libm;"), [""; 0]);
        assert_eq!(rules(SIMULATION, "let x = libm::sin(y);"), [""; 0]);
    }

    #[test]
    fn small_vec_stays_inside() {
        assert_eq!(
            rules(SIMULATION, "pub fn f(x: u8) -> SmallVec<[u8; 4]> {"),
            ["small-vec"]
        );
        assert_eq!(
            rules(SIMULATION, "pub fn f(\n    x: &SmallVec<[u8; 4]>,\n) {"),
            ["small-vec"]
        );
        assert_eq!(
            rules(SIMULATION, "    pub points: SmallVec<[u8; 4]>,"),
            ["small-vec"]
        );
        assert_eq!(
            rules(
                SIMULATION,
                "pub struct A {\n    points: SmallVec<[u8; 4]>,\n}"
            ),
            [""; 0]
        );
        assert_eq!(
            rules(SIMULATION, "pub(crate) fn f() -> SmallVec<[u8; 4]> {"),
            [""; 0]
        );
        let body = "pub fn f(x: u8) -> u8 {\n    let v: SmallVec<[u8; 4]> = a;\n}";
        assert_eq!(rules(SIMULATION, body), [""; 0]);
    }

    #[test]
    fn threads_do_not_add() {
        assert_eq!(
            rules(SIMULATION, "xs.par_iter()\n    .map(f)\n    .sum::<f64>();"),
            ["thread-sum"]
        );
        assert_eq!(
            rules(
                SIMULATION,
                "xs.par_iter().map(f).collect();\nys.iter().sum();"
            ),
            [""; 0]
        );
    }

    #[test]
    fn long_files_need_a_reason() {
        let long = "x\n".repeat(701);
        assert_eq!(rules(TOOL, &long), ["long-file"]);
        assert_eq!(rules(TOOL, &"x\n".repeat(700)), [""; 0]);
        let excuse = format!("// tidy: long file because it is one table\n{long}");
        assert_eq!(rules(TOOL, &excuse), [""; 0]);
        assert_eq!(
            rules(TOOL, &format!("// tidy: long file because \n{long}")),
            ["long-file"]
        );
    }

    #[test]
    fn crate_docs_say_what_the_crate_owns() {
        let good = "//! A.\n//!\n//! **Owns**: a.\n//!\n//! **Must not know**: b.\n//!\n//! ```\n//! c();\n//! ```\n";
        assert!(check_crate_docs(good).is_empty());
        for word in ["**Owns**", "**Must not know**", "//! ```\n"] {
            assert_eq!(
                check_crate_docs(&good.replace(word, "//! ")).len(),
                1,
                "{word}"
            );
        }
        assert_eq!(check_crate_docs("use a;\n").len(), 1);
    }

    #[test]
    fn lanes_are_not_put_into_closures() {
        let kernel = "fn f<L: Lanes>(x: L) {\n    BODY\n}";
        let with = |body: &str| rules(SIMULATION, &kernel.replace("BODY", body));
        for body in [
            "points.for_each(|i| visit(x, i));",
            "let f = move |y: L| x + y;",
            "run(a, || x.store());",
        ] {
            assert_eq!(with(body), ["lanes-closure"], "{body}");
        }
        for body in [
            "let y = each!(|i| x.0[i]);",
            "if a | b || c { for i in points { visit(x, i); } }",
            "match x { A | B => 1 }",
            "// |i| x",
        ] {
            assert_eq!(with(body), [""; 0], "{body}");
        }
        let other = "points.for_each(|i| visit(i));";
        assert_eq!(rules(SIMULATION, other), [""; 0]);
    }
}
