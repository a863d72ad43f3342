//! The figures of a run as tables for people.

use crate::output::{digits, short};
use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, TableStyle};
use moreau::scene::{Figures, GateResult, Verdict};

/// Whether every step was certified, in words.
pub(crate) fn verdict(figures: &Figures) -> String {
    let Figures {
        steps,
        uncertified_steps: bad,
        residual_max_m_s,
        ..
    } = figures;
    let worst = short(*residual_max_m_s);
    match (steps, bad) {
        (0, _) => "no steps were made".into(),
        (1, 0) => format!("the step is certified: residual {worst} m/s"),
        (_, 0) => format!("all {steps} steps are certified: worst residual {worst} m/s"),
        _ => format!("{bad} of {steps} steps are NOT certified: worst residual {worst} m/s"),
    }
}

/// What that means where some steps are not.
pub(crate) const UNCERTIFIED: &str = "the residual says how far the worst contact of these steps is from Coulomb's law; \
     `moreau record`, then `moreau query FILE --islands --uncertified`, lists where";

/// The figures, a row each.
pub(crate) fn figures(figures: &Figures) -> Table {
    let f = figures;
    let time = f.steps as f64 * f.dt_s;
    let rows: [(&str, String, &str); 17] = [
        ("solver", f.solver.clone(), ""),
        ("threads", f.threads.to_string(), ""),
        ("bodies", f.bodies.to_string(), ""),
        ("asleep, last step", f.sleeping_bodies.to_string(), ""),
        (
            "contact points, last step",
            f.contact_points.to_string(),
            "",
        ),
        ("steps", f.steps.to_string(), ""),
        ("simulated time", short(time), "s"),
        ("time of a step, median", short(f.ms_per_step_median), "ms"),
        ("time of a step, 95 %", short(f.ms_per_step_p95), "ms"),
        ("deepest overlap", short(f.max_penetration_m), "m"),
        (
            "deepest overlap, last step",
            short(f.end_max_penetration_m),
            "m",
        ),
        ("kinetic energy, last step", short(f.kinetic_energy_j), "J"),
        ("largest speed, last step", short(f.max_speed_m_s), "m/s"),
        (
            "largest horizontal drift",
            short(f.max_horizontal_drift_m),
            "m",
        ),
        ("largest gain of energy", short(f.energy_gain_j), "J"),
        ("drift of momentum, relative", short(f.momentum_drift), ""),
        ("hash of the state", f.state_hash.clone(), ""),
    ];
    let mut table = new_table(["figure", "value", "unit"]);
    for (name, value, unit) in rows {
        table.add_row([
            Cell::new(name),
            Cell::new(value).set_alignment(CellAlignment::Right),
            Cell::new(unit),
        ]);
    }
    table
}

/// What each solver did in all steps together, a row each.
pub(crate) fn solvers(figures: &Figures) -> Table {
    let mut table = new_table([
        "solver",
        "islands",
        "contacts",
        "sweeps",
        "factored",
        "worst m/s",
        "not certified",
    ]);
    for solver in &figures.solvers {
        let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
        table.add_row([
            Cell::new(&solver.solver),
            right(solver.islands.to_string()),
            right(solver.contact_points.to_string()),
            right(solver.sweeps.to_string()),
            right(solver.factorizations.to_string()),
            right(short(solver.residual_max_m_s)),
            right(solver.uncertified_islands.to_string()),
        ]);
    }
    table
}

/// The gates of the scene, a row each.
pub(crate) fn gates(gates: &[GateResult]) -> Table {
    let mut table = new_table(["gate", "step", "found", "allowed", ""]);
    for gate in gates {
        let allowed = match (gate.at_least, gate.at_most) {
            (Some(low), Some(high)) => {
                let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
                format!("{} ± {}", digits(middle, 7), short(half))
            }
            (Some(low), None) => format!("at least {}", digits(low, 7)),
            (None, Some(high)) => format!("at most {}", digits(high, 7)),
            (None, None) => "anything".into(),
        };
        let found = gate.found.map_or("-".into(), |x| digits(x, 7));
        table.add_row([
            Cell::new(subject(gate)),
            Cell::new(gate.step).set_alignment(CellAlignment::Right),
            Cell::new(found).set_alignment(CellAlignment::Right),
            Cell::new(allowed),
            Cell::new(match gate.verdict {
                Verdict::Passed => "passed",
                Verdict::Failed => "FAILED",
                Verdict::NotReached => "not reached",
            }),
        ]);
    }
    table
}

/// What a gate looks at.
pub(crate) fn subject(gate: &GateResult) -> String {
    match &gate.body {
        Some(body) => format!("{} of {body}", gate.quantity),
        None => gate.quantity.to_string(),
    }
}

pub(crate) fn new_table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = new(UTF8_FULL_CONDENSED);
    table.set_header(header);
    table
}

/// An empty table that fits the terminal, or a file's usual width.
pub(crate) fn new(style: TableStyle) -> Table {
    let mut table = Table::new();
    table
        .load_style(style)
        .set_content_arrangement(ContentArrangement::Dynamic);
    // Some terminals say that they have no columns.
    let width = table
        .width()
        .unwrap_or(MOST_COLUMNS)
        .clamp(LEAST_COLUMNS, MOST_COLUMNS);
    table.set_width(width);
    table
}

const LEAST_COLUMNS: u16 = 80;
const MOST_COLUMNS: u16 = 110;
