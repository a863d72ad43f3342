//! The file of a snapshot: text in insta's format, front matter and contents.
//!
//! ```text
//! ---
//! source: fixtures/scenes/ball.json
//! expression: pgs
//! ---
//! meta
//!   scene     ball
//!   ...
//! settings
//!   gravity.y  -9.81
//! figures
//!   contact_points  1.0  1  exact
//! ladder
//!   16  0123456789abcdef  0123456789abcdef  0123456789abcdef
//! ```

use super::figure::{Figure, Tolerance};
use moreau::StateHash;
use std::fmt::Write as _;
use std::str::FromStr;

/// A rung of the ladder: the state after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rung {
    pub(crate) step: u64,
    pub(crate) hash: StateHash,
}

/// What a snapshot holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Golden {
    pub(crate) scene: String,
    pub(crate) solver: String,
    /// Of the scene's file (XXH3).
    pub(crate) file_hash: u64,
    /// s.
    pub(crate) dt: f64,
    pub(crate) steps: u64,
    /// Why it was last written.
    pub(crate) reason: String,
    /// The world's settings, one by one.
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) figures: Vec<Figure>,
    pub(crate) ladder: Vec<Rung>,
}

impl Golden {
    /// Name of the file in `fixtures/snapshots`.
    pub(crate) fn file_name(scene: &str, solver: &str) -> String {
        format!("{scene}__{solver}.snap")
    }

    /// The text of the file.
    pub(crate) fn to_text(&self) -> String {
        let mut text = format!(
            "---\nsource: fixtures/scenes/{}.json\nexpression: {}\n---\n",
            self.scene, self.solver
        );
        text.push_str(&self.contents());
        text
    }

    /// What follows the front matter.
    fn contents(&self) -> String {
        let meta = [
            ("scene", self.scene.clone()),
            ("solver", self.solver.clone()),
            ("file_hash", format!("{:016x}", self.file_hash)),
            ("dt", format!("{:?}", self.dt)),
            ("steps", self.steps.to_string()),
            ("reason", self.reason.clone()),
        ];
        let mut out = String::from("meta\n");
        let table = |out: &mut String, rows: &[Vec<String>]| {
            let columns = rows.first().map_or(0, Vec::len);
            let width = |c: usize| {
                rows.iter()
                    .map(|row| row[c].chars().count())
                    .max()
                    .unwrap_or(0)
            };
            let widths: Vec<usize> = (0..columns).map(width).collect();
            for row in rows {
                let mut line = String::new();
                for (cell, width) in row.iter().zip(&widths) {
                    // Writing into a String does not fail.
                    let _ = write!(line, "  {cell:width$}");
                }
                out.push_str(line.trim_end());
                out.push('\n');
            }
        };
        table(
            &mut out,
            &meta.map(|(key, value)| vec![key.to_owned(), value]),
        );
        out.push_str("settings\n");
        let rows: Vec<_> = self
            .settings
            .iter()
            .map(|(k, v)| vec![k.clone(), v.clone()])
            .collect();
        table(&mut out, &rows);
        out.push_str("figures\n");
        let cells = |f: &Figure| {
            vec![
                f.name.clone(),
                format!("{:?}", f.value),
                f.unit.clone(),
                f.tolerance.to_string(),
            ]
        };
        table(
            &mut out,
            &self.figures.iter().map(cells).collect::<Vec<_>>(),
        );
        out.push_str("ladder\n");
        let cells = |rung: &Rung| {
            let lanes = [rung.hash.poses, rung.hash.contacts, rung.hash.cache];
            let mut row = vec![rung.step.to_string()];
            row.extend(lanes.map(|lane| format!("{lane:016x}")));
            row
        };
        table(&mut out, &self.ladder.iter().map(cells).collect::<Vec<_>>());
        out
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// Says which line is wrong, and why.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().enumerate();
        let marks = lines
            .by_ref()
            .filter(|(_, line)| *line == "---")
            .take(2)
            .count();
        if marks != 2 || !text.starts_with("---\n") {
            return Err("line 1: does not open with front matter between two lines `---`".into());
        }
        let mut meta: Vec<(String, String)> = Vec::new();
        let mut golden = Self {
            scene: String::new(),
            solver: String::new(),
            file_hash: 0,
            dt: 0.0,
            steps: 0,
            reason: String::new(),
            settings: Vec::new(),
            figures: Vec::new(),
            ladder: Vec::new(),
        };
        let mut section = "";
        for (index, line) in lines {
            let wrong = |why: String| format!("line {}: {why}", index + 1);
            let Some(row) = line.strip_prefix("  ") else {
                section = line;
                if !["meta", "settings", "figures", "ladder"].contains(&section) {
                    return Err(wrong(format!("`{line}` is no section")));
                }
                continue;
            };
            match section {
                "meta" => meta.push(key_value(row).map_err(wrong)?),
                "settings" => golden.settings.push(key_value(row).map_err(wrong)?),
                "figures" => golden.figures.push(figure(row).map_err(wrong)?),
                "ladder" => golden.ladder.push(rung(row).map_err(wrong)?),
                _ => return Err(wrong("stands in no section".into())),
            }
        }
        let take = |key: &str| {
            let entry = meta
                .iter()
                .find(|(k, _)| k == key)
                .map(|(_, value)| value.as_str());
            entry.ok_or_else(|| format!("section meta: has no `{key}`"))
        };
        golden.scene = take("scene")?.to_owned();
        golden.solver = take("solver")?.to_owned();
        golden.file_hash = hex(take("file_hash")?)?;
        golden.dt = number(take("dt")?)?;
        golden.steps = number(take("steps")?)?;
        golden.reason = take("reason")?.to_owned();
        Ok(golden)
    }
}

fn key_value(row: &str) -> Result<(String, String), String> {
    let (key, value) = row.split_once(' ').ok_or("has a key without a value")?;
    Ok((key.to_owned(), value.trim().to_owned()))
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}

fn hex(text: &str) -> Result<u64, String> {
    u64::from_str_radix(text, 16).map_err(|_| format!("`{text}` is no hash"))
}

fn figure(row: &str) -> Result<Figure, String> {
    let cells: Vec<&str> = row.split_whitespace().collect();
    let [name, value, unit, class @ ..] = cells.as_slice() else {
        return Err("a figure has a name, a value, a unit and a tolerance".into());
    };
    let tolerance: Tolerance = class.join(" ").parse()?;
    Ok(Figure {
        tolerance,
        ..Figure::new(name, number(value)?, unit, Tolerance::Exact)
    })
}

fn rung(row: &str) -> Result<Rung, String> {
    let cells: Vec<&str> = row.split_whitespace().collect();
    let [step, poses, contacts, cache] = cells.as_slice() else {
        return Err("a rung has a step and three hashes".into());
    };
    let hash = StateHash {
        poses: hex(poses)?,
        contacts: hex(contacts)?,
        cache: hex(cache)?,
    };
    Ok(Rung {
        step: number(step)?,
        hash,
    })
}

/// Which lanes of two hashes differ.
pub(crate) fn lanes(old: &StateHash, new: &StateHash) -> Vec<&'static str> {
    let pairs = [
        ("poses", old.poses, new.poses),
        ("contacts", old.contacts, new.contacts),
        ("cache", old.cache, new.cache),
    ];
    pairs
        .into_iter()
        .filter(|(_, old, new)| old != new)
        .map(|(name, _, _)| name)
        .collect()
}

/// The first rung where two ladders part, as (last common step, step of the difference, lanes).
///
/// A rung that one ladder lacks counts as a difference in no lane.
pub(crate) fn first_difference(
    old: &[Rung],
    new: &[Rung],
) -> Option<(u64, u64, Vec<&'static str>)> {
    let mut common = 0;
    for index in 0..old.len().max(new.len()) {
        match (old.get(index), new.get(index)) {
            (Some(a), Some(b)) if a == b => common = a.step,
            (Some(a), Some(b)) if a.step == b.step => {
                return Some((common, a.step, lanes(&a.hash, &b.hash)));
            }
            (Some(a), Some(b)) => return Some((common, a.step.min(b.step), Vec::new())),
            (a, b) => return a.or(b).map(|rung| (common, rung.step, Vec::new())),
        }
    }
    None
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn sample() -> Golden {
        let hash = StateHash {
            poses: 1,
            contacts: u64::MAX,
            cache: 0x0123_4567_89ab_cdef,
        };
        Golden {
            scene: "ball".into(),
            solver: "pgs".into(),
            file_hash: 0xfedc_ba98_7654_3210,
            dt: 1.0 / 60.0,
            steps: 20,
            reason: "a ball: it bounces, once".into(),
            settings: vec![
                ("gravity.y".into(), "-9.81".into()),
                ("warm".into(), "true".into()),
            ],
            figures: vec![
                Figure::new("contact_points", 4.0, "1", Tolerance::Exact),
                Figure::new("max_penetration", 1.0 / 3.0, "m", Tolerance::Absolute(1e-7)),
            ],
            ladder: vec![Rung { step: 16, hash }, Rung { step: 20, hash }],
        }
    }

    #[test]
    fn a_snapshot_survives_its_text() {
        let golden = sample();
        assert_eq!(Golden::parse(&golden.to_text()), Ok(golden));
    }

    #[test]
    fn a_damaged_text_names_the_line() {
        let text = sample().to_text();
        for (from, to, at) in [
            ("---\nsource", "source", "line 1:"),
            ("figures", "numbers", "line 15:"),
            ("exact", "loose", "line 16:"),
            ("  20  ", "  x  ", "line 20:"),
            ("ffffffffffffffff", "0", ""),
        ] {
            let damaged = text.replacen(from, to, 1);
            match Golden::parse(&damaged) {
                Err(message) => assert!(message.starts_with(at), "{from}: {message}"),
                Ok(read) => assert_ne!(read, sample(), "{from}"),
            }
        }
        assert!(
            Golden::parse(&text.replace("  steps", "  stops"))
                .unwrap_err()
                .contains("steps")
        );
        assert!(Golden::parse("").is_err());
    }

    #[test]
    fn ladders_part_at_the_first_rung_that_differs() {
        let old = sample().ladder;
        assert_eq!(first_difference(&old, &old), None);
        let mut new = old.clone();
        new[1].hash.cache += 1;
        assert_eq!(first_difference(&old, &new), Some((16, 20, vec!["cache"])));
        new[0].hash.poses += 1;
        assert_eq!(first_difference(&old, &new), Some((0, 16, vec!["poses"])));
        assert_eq!(
            first_difference(&old, &old[..1]),
            Some((16, 20, Vec::new()))
        );
    }

    #[test]
    fn insta_reads_the_file_as_its_own() {
        let golden = sample();
        let folder = std::env::temp_dir().join(format!("moreau-golden-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join(Golden::file_name(&golden.scene, &golden.solver));
        std::fs::write(&file, golden.to_text()).unwrap();
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(&folder);
        settings.set_prepend_module_to_snapshot(false);
        let check = |contents: String| {
            let settings = settings.clone();
            let name = "ball__pgs";
            let compare = || {
                settings.bind(|| insta::assert_snapshot!(name, contents));
            };
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(compare))
        };
        let same = check(golden.contents());
        let other = check(golden.contents().replace("exact", "loose"));
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(same.is_ok());
        assert!(other.is_err());
    }
}
