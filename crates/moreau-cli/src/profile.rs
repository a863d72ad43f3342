//! Where the time of a run went, as a table for people.

use crate::output::short;
use crate::table::new_table;
use comfy_table::{Cell, CellAlignment, Table};
use moreau::scene::ProfileFigures;

/// A row each stage, then what they sum up to.
pub(crate) fn table(profile: &ProfileFigures) -> Table {
    let mut table = new_table(["stage of a step", "median ms", "95 % ms", "share"]);
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    let percent = |share: f64| right(format!("{:.1} %", 100.0 * share));
    for stage in &profile.stages {
        table.add_row([
            Cell::new(stage.stage),
            right(short(stage.ms_median)),
            right(short(stage.ms_p95)),
            percent(stage.share),
        ]);
    }
    table
}

/// What else the steps said of themselves.
pub(crate) fn words(profile: &ProfileFigures) -> String {
    let mut text = format!(
        "{} steps measured; {:.0} % of the pairs kept their manifold, {:.0} % as it was; {} islands",
        profile.steps,
        100.0 * profile.recycled,
        100.0 * profile.placed,
        profile.islands
    );
    let lanes = &profile.lanes;
    if lanes.contacts > 0 {
        text += &format!(
            "; lanes {:.0} % full in {} colours, {} pairs in none, {:.0} % of the visits spared",
            100.0 * lanes.fill(),
            lanes.colours,
            lanes.serial,
            100.0 * lanes.rest()
        );
        if lanes.side_by_side > 0 {
            text += &format!(", up to {} sweeps side by side", lanes.side_by_side);
        }
    }
    text + &format!("; {} kB held by the world", profile.bytes.total() / 1000)
}
