//! The table of crates: who may know whom.
//!
//! ```text
//!                    moreau-cli
//!                     |      \
//!                  moreau   moreau-record
//!                     |      /
//!                  moreau-scene
//!                        |
//!                 moreau-pipeline
//!            /       |       |       \
//!   collision   solver-*   cache      |
//!        |          |        |        |
//!        |       solver      |        |
//!        |          |        |        |
//!        |      constraint --|--------'
//!         \         |        /
//!              moreau-math
//! ```

/// What a crate is, and so which rules its sources keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Part of a step: same bits on every machine, no files, no clock.
    Simulation,
    /// Deterministic too, but may read files.
    Library,
    /// A program: may print and tell the time.
    Tool,
}

/// A crate under `crates/` and what it may depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// Crates of this workspace that it may know.
    pub(crate) uses: &'static [&'static str],
    /// Crates of others that it may depend on.
    pub(crate) external: &'static [&'static str],
}

/// A new crate gets a row here before anything else.
pub(crate) const ROWS: &[Row] = &[
    Row {
        name: "moreau-math",
        kind: Kind::Simulation,
        uses: &[],
        external: &["glam", "libm", "serde", "thiserror"],
    },
    Row {
        name: "moreau-collision",
        kind: Kind::Simulation,
        uses: &["moreau-math"],
        external: &["robust", "serde", "smallvec", "thiserror"],
    },
    Row {
        name: "moreau-constraint",
        kind: Kind::Simulation,
        uses: &["moreau-math"],
        external: &["serde", "smallvec", "thiserror"],
    },
    Row {
        name: "moreau-solver",
        kind: Kind::Simulation,
        uses: &["moreau-math", "moreau-constraint"],
        // JSON problem files.
        external: &["serde", "serde_json", "smallvec", "thiserror"],
    },
    // A solver crate knows no other solver crate.
    Row {
        name: "moreau-solver-pgs",
        kind: Kind::Simulation,
        uses: &["moreau-math", "moreau-constraint", "moreau-solver"],
        external: &["serde", "smallvec", "thiserror"],
    },
    Row {
        name: "moreau-solver-newton",
        kind: Kind::Simulation,
        uses: &["moreau-math", "moreau-constraint", "moreau-solver"],
        external: &["serde", "smallvec", "thiserror"],
    },
    // Checks any solver, and so knows none.
    Row {
        name: "moreau-conformance",
        kind: Kind::Library,
        uses: &["moreau-math", "moreau-constraint", "moreau-solver"],
        external: &["serde"],
    },
    Row {
        name: "moreau-solver-block",
        kind: Kind::Simulation,
        uses: &["moreau-math", "moreau-constraint", "moreau-solver"],
        external: &["serde", "smallvec", "thiserror"],
    },
    Row {
        name: "moreau-solver-simd",
        kind: Kind::Simulation,
        uses: &["moreau-math", "moreau-constraint", "moreau-solver"],
        external: &["rayon", "serde", "smallvec", "thiserror"],
    },
    Row {
        name: "moreau-solver-active-set",
        kind: Kind::Simulation,
        uses: &["moreau-math", "moreau-constraint", "moreau-solver"],
        external: &["serde", "smallvec", "thiserror"],
    },
    Row {
        name: "moreau-cache",
        kind: Kind::Simulation,
        uses: &["moreau-math"],
        external: &["serde", "smallvec", "thiserror"],
    },
    Row {
        name: "moreau-pipeline",
        kind: Kind::Simulation,
        uses: &[
            "moreau-math",
            "moreau-collision",
            "moreau-constraint",
            "moreau-solver",
            "moreau-solver-active-set",
            "moreau-solver-simd",
            "moreau-solver-block",
            "moreau-solver-pgs",
            "moreau-solver-newton",
            "moreau-cache",
        ],
        external: &[
            "postcard",
            "rayon",
            "serde",
            "smallvec",
            "thiserror",
            "xxhash-rust",
        ],
    },
    Row {
        name: "moreau-scene",
        kind: Kind::Library,
        uses: &[
            "moreau-math",
            "moreau-collision",
            "moreau-solver",
            "moreau-pipeline",
        ],
        external: &[
            "schemars",
            "serde",
            "serde_json",
            "serde_path_to_error",
            "thiserror",
        ],
    },
    // The one crate that compiles C: nothing but tools may know it.
    Row {
        name: "moreau-record",
        kind: Kind::Library,
        uses: &[
            "moreau-math",
            "moreau-collision",
            "moreau-pipeline",
            "moreau-scene",
        ],
        external: &["rusqlite", "serde", "serde_json", "thiserror"],
    },
    Row {
        name: "moreau",
        kind: Kind::Library,
        uses: &[
            "moreau-math",
            "moreau-collision",
            "moreau-constraint",
            "moreau-solver",
            "moreau-solver-pgs",
            "moreau-solver-block",
            "moreau-solver-active-set",
            "moreau-solver-simd",
            "moreau-solver-newton",
            "moreau-cache",
            "moreau-pipeline",
            "moreau-scene",
        ],
        external: &[],
    },
    Row {
        name: "moreau-page",
        kind: Kind::Library,
        uses: &["moreau"],
        external: &["miniz_oxide", "serde", "serde_json"],
    },
    Row {
        name: "moreau-cli",
        kind: Kind::Tool,
        uses: &["moreau", "moreau-page", "moreau-record"],
        external: &[
            "clap",
            "comfy-table",
            "console",
            "ctrlc",
            "indicatif",
            "miette",
            "miniz_oxide",
            "plotters",
            "serde",
            "serde_json",
        ],
    },
];

/// Files that may read the clock: what they measure is reported, and never part of a state.
pub(crate) const CLOCKS: &[&str] = &["crates/moreau-pipeline/src/profile.rs"];

/// Files of simulation crates that may read the disk, so that whoever uses a crate alone can load its
/// inputs; nothing in a step calls them.
pub(crate) const DISK: &[&str] = &["crates/moreau-solver/src/files/load.rs"];

/// Files that may hold `unsafe` code, and write its contract down once.
pub(crate) const UNSAFE: &[&str] = &[
    "benches/peers/src/engines/box3d.rs",
    "crates/moreau-pipeline/tests/allocations.rs",
    "crates/moreau-solver-newton/src/arithmetic.rs",
    "crates/moreau-solver-simd/src/arithmetic.rs",
    "crates/moreau-solver-simd/src/field.rs",
    "crates/moreau-solver-simd/src/kernel.rs",
    "crates/moreau-solver-simd/src/kernel/passes.rs",
    "crates/moreau-solver-simd/src/lanes.rs",
];

/// The row of a crate.
pub(crate) fn row(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.name == name)
}

/// Whether `name` may know `other`, straight or through others.
pub(crate) fn reaches(name: &str, other: &str) -> bool {
    row(name).is_some_and(|row| {
        row.uses
            .iter()
            .any(|used| *used == other || reaches(used, other))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_no_cycles_and_names_only_its_rows() {
        for row in ROWS {
            for used in row.uses {
                assert!(
                    super::row(used).is_some(),
                    "{} uses {used}, which has no row",
                    row.name
                );
            }
            assert!(!reaches(row.name, row.name), "{} reaches itself", row.name);
        }
    }

    #[test]
    fn solver_crates_do_not_know_each_other() {
        let is_family = |name: &str| name.starts_with("moreau-solver-");
        for row in ROWS.iter().filter(|row| is_family(row.name)) {
            assert!(!row.uses.iter().any(|used| is_family(used)), "{}", row.name);
        }
    }

    #[test]
    fn collision_does_not_reach_solvers_and_solvers_do_not_reach_collision() {
        assert!(!reaches("moreau-collision", "moreau-constraint"));
        assert!(!reaches("moreau-solver-pgs", "moreau-collision"));
        assert!(reaches("moreau-scene", "moreau-constraint"));
    }
}
