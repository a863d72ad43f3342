//! The page that says what was measured.

use super::instructions::Count;
use super::machine::Machine;
use super::peers::Row;
use super::run::Sample;
use std::fmt::Write;

/// All that is on it.
#[derive(Default)]
pub(crate) struct Page {
    pub(crate) machine: Machine,
    pub(crate) quick: bool,
    pub(crate) scenes: Vec<Sample>,
    /// On one thread, on two.
    pub(crate) threaded: Vec<(Sample, Sample)>,
    /// Runs of a scene each.
    pub(crate) chaotic: Vec<Vec<Sample>>,
    /// On one thread, on two; in the order of size.
    pub(crate) piles: Vec<[Sample; 2]>,
    pub(crate) instructions: Vec<Count>,
    pub(crate) peers: Option<Vec<Row>>,
    pub(crate) versions: Vec<(String, String)>,
}

impl Page {
    /// Markdown.
    pub(crate) fn text(&self) -> String {
        let mut text = self.head();
        if let Some(rows) = &self.peers {
            text += &self.side_by_side(rows);
            text += &self.losses(rows);
        }
        if self.scenes.is_empty() {
            text += "\nThe rest was left out of this run: scenes, where the time goes, growth, threads.\n";
            return text;
        }
        text += &self.all_scenes();
        text += &self.where_time_goes();
        text += &self.runs();
        text += &self.growth();
        text += &self.threads();
        if !self.instructions.is_empty() {
            text += &self.counts();
        }
        text
    }

    fn head(&self) -> String {
        let m = &self.machine;
        let load = |load: Option<f64>| load.map_or("unknown".into(), |l| format!("{l:.1}"));
        let mut text = format!(
            "# Benchmarks\n\nWritten by `cargo xtask bench{}{}`; nobody edits the figures.\n\n\
             | | |\n|---|---|\n| date | {} |\n| processor | {}, {} cores |\n\
             | load before and after | {}, {} |\n| compiler | {}, release profile, no target flags |\n\
             | commit | {} |\n",
            match (&self.peers, self.scenes.is_empty()) {
                (Some(_), false) => " --peers",
                (Some(_), true) => " --peers --only-peers",
                _ => "",
            },
            if self.quick { " --quick" } else { "" },
            m.date,
            m.processor,
            m.cores,
            load(m.load.0),
            load(m.load.1),
            m.compiler,
            m.commit,
        );
        for (name, version) in &self.versions {
            let _ = writeln!(text, "| {name} | {version} |");
        }
        let loads = [m.load.0, m.load.1].into_iter().flatten();
        if loads.fold(0.0, f64::max) > 0.5 * m.cores as f64 {
            text += "\nOther work ran on the machine at the same time: compare within a table, and trust \
                     ratios and least times more than milliseconds.\n";
        }
        if self.quick {
            text += "\nA tenth of the steps: good to see whether it works, and for nothing else.\n";
        }
        text
    }

    fn side_by_side(&self, rows: &[Row]) -> String {
        let mut text = String::from(
            "\n## Side by side\n\n\
             The same scenes, geometry, friction and steps of 1/60 s in all engines; one thread, no body \
             sleeps, all else each engine's default. What stands still keeps its pose and the places of its \
             contacts in moreau (`standstill`), whose forces are held against Coulomb's law in every step all \
             the same. Each engine runs in a process of its own, and they take turns of ten steps. Times are of the steps from `measure_from` on, `all` is the mean of \
             all steps. Overlap is measured on the final poses by `closest_points` for everybody. Drift \
             is the largest move across gravity, for the spinning top the relative change of its angular \
             momentum. The residual is how far the worst contact of the worst step is from Coulomb's law; \
             the others do not say. `rapier3d` and `box3d` compute in f32, which alone gives errors \
             of some micrometres.\n\n\
             | scene | steps | engine | ms median | ms least | ms all | overlap, um | drift, m | speed, m/s | \
             residual, m/s | MB |\n|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|\n",
        );
        for row in rows {
            let drift = row.drift_m.or(row.spin_drift);
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
                row.scene,
                row.steps,
                row.engine,
                digits(row.ms_median),
                digits(row.ms_min),
                digits(row.ms_mean),
                digits(1e6 * row.penetration_m),
                drift.map_or("-".into(), digits),
                digits(row.speed_m_s),
                row.residual_m_s.map_or("-".into(), digits),
                row.bytes.map_or("-".into(), |b| digits(b as f64 / 1e6)),
            );
        }
        text
    }

    /// Where another engine is faster, or stands better, and by how much.
    fn losses(&self, rows: &[Row]) -> String {
        let mut text = String::from(
            "\n## Where others are better\n\n\
             Every scene in which another engine takes less time (median), and what the time goes into \
             here:\n\n",
        );
        let ours = rows.iter().filter(|row| row.engine == "moreau");
        fn others<'a>(rows: &'a [Row], scene: &'a str) -> impl Iterator<Item = &'a Row> {
            let others = |row: &&Row| row.engine != "moreau";
            rows.iter()
                .filter(others)
                .filter(move |row| row.scene == scene)
        }
        let mut any = false;
        for our in ours.clone() {
            let mut faster: Vec<&Row> = others(rows, &our.scene)
                .filter(|row| row.ms_median < our.ms_median)
                .collect();
            faster.sort_by(|a, b| a.ms_median.total_cmp(&b.ms_median));
            if faster.is_empty() {
                continue;
            }
            any = true;
            let names = faster.iter().map(|row| {
                let times = our.ms_median / row.ms_median;
                format!("{} by {}", row.engine, digits(times))
            });
            let names: Vec<String> = names.collect();
            let stages = self.scenes.iter().find(|s| s.scene() == our.scene);
            let stages = stages.map(shares).unwrap_or_default();
            let _ = writeln!(
                text,
                "* {}: {} times. {stages}",
                our.scene,
                names.join(", ")
            );
        }
        if !any {
            text += "* none.\n";
        }
        text += "\nEvery scene in which another engine's bodies overlap less at the end, by more than a \
                 micrometre:\n\n";
        any = false;
        for our in ours {
            let less =
                others(rows, &our.scene).filter(|r| r.penetration_m < our.penetration_m - 1e-6);
            for row in less {
                any = true;
                let _ = writeln!(
                    text,
                    "* {}: {} um here, {} um in {}",
                    our.scene,
                    digits(1e6 * our.penetration_m),
                    digits(1e6 * row.penetration_m),
                    row.engine
                );
            }
        }
        if !any {
            text += "* none.\n";
        }
        text
    }

    fn all_scenes(&self) -> String {
        let mut text = String::from(
            "\n## All scenes\n\n\
             Overlap is the deepest of a contact in the last step, drift the largest move across gravity, \
             the residual that of the worst step.\n\n\
             | scene | bodies | contacts | ms median | ms 95 % | overlap, um | drift, m | residual, m/s |\n\
             |---|--:|--:|--:|--:|--:|--:|--:|\n",
        );
        for s in &self.scenes {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} | {} | {} |",
                s.scene(),
                s.number(&["bodies"]),
                s.number(&["contact_points"]),
                digits(s.ms()),
                digits(s.number(&["ms_per_step_p95"])),
                digits(1e6 * s.number(&["end_max_penetration_m"])),
                digits(s.number(&["max_horizontal_drift_m"])),
                digits(s.number(&["residual_max_m_s"])),
            );
        }
        text
    }

    fn where_time_goes(&self) -> String {
        let mut text = String::from(
            "\n## Where the time goes\n\nOf the scenes with at least 200 bodies: shares of the stages of a \
             step, kept manifolds, and how full the SIMD lanes of the fast path are (`-` where it solved \
             nothing).\n\n| scene | stages | kept | lanes | colours |\n|---|---|--:|--:|--:|\n",
        );
        for s in self
            .scenes
            .iter()
            .filter(|s| s.number(&["bodies"]) >= 200.0)
        {
            let lane = |name: &str| s.number(&["profile", "lanes", name]);
            let (fill, colours) = if lane("places") > 0.0 {
                let fill = 100.0 * lane("contacts") / lane("places");
                (format!("{fill:.0} %"), lane("colours").to_string())
            } else {
                ("-".into(), "-".into())
            };
            let kept = 100.0 * s.number(&["profile", "recycled"]);
            let _ = writeln!(
                text,
                "| {} | {} | {kept:.0} % | {fill} | {colours} |",
                s.scene(),
                shares(s)
            );
        }
        text
    }

    fn runs(&self) -> String {
        let mut text = String::from(
            "\n## How much is chance\n\n\
             A pile ends otherwise where anything is off by a hair, and what it costs in the end depends on how it \
             came to lie: one body that is wedged and swings, which nothing dampens, keeps all forces of the pile \
             changing. Medians of runs with 0, 1, 2 .. times 1e-7 m/s² of gravity to the side, in the order of \
             their size; the tables above have the first of these runs.\n\n\
             | scene | ms a step | median of these |\n|---|---|--:|\n",
        );
        for runs in &self.chaotic {
            let mut ms: Vec<f64> = runs.iter().map(Sample::ms).collect();
            ms.sort_by(f64::total_cmp);
            let middle = [ms[(ms.len() - 1) / 2], ms[ms.len() / 2]];
            let all: Vec<String> = ms.iter().copied().map(digits).collect();
            let _ = writeln!(
                text,
                "| {} | {} | {} |",
                runs[0].scene(),
                all.join(", "),
                digits(0.5 * (middle[0] + middle[1]))
            );
        }
        text
    }

    fn growth(&self) -> String {
        let mut text = String::from(
            "\n## How cost grows\n\n\
             Piles of balls that fill a container from wall to wall, as they settle. World: what the \
             world's own lists hold. Process: the most that the process had, solvers and the reading of \
             the scene included.\n\n\
             | bodies | contacts | ms a step | us a body | us a contact | 2 threads | world, bytes a body \
             | process, bytes a body | time goes into |\n|--:|--:|--:|--:|--:|--:|--:|--:|---|\n",
        );
        for [one, two] in &self.piles {
            let bodies = one.number(&["bodies"]);
            let ms = one.ms();
            let bytes = one.figures["profile"]["bytes"].as_object();
            let bytes = bytes.into_iter().flatten().filter_map(|(_, v)| v.as_f64());
            let peak = one.peak.map(|peak| peak as f64 / bodies);
            let _ = writeln!(
                text,
                "| {bodies} | {} | {} | {} | {} | {} | {} | {} | {} |",
                one.number(&["contact_points"]),
                digits(ms),
                digits(1e3 * ms / bodies),
                digits(1e3 * ms / one.number(&["contact_points"])),
                speedup(one, two),
                digits(bytes.sum::<f64>() / bodies),
                peak.map_or("-".into(), digits),
                shares(one),
            );
        }
        text
    }

    fn threads(&self) -> String {
        let mut text = String::from(
            "\n## Threads\n\nThe bits are the same on any number of threads.\n\n\
             | scene | ms, 1 thread | ms, 2 threads | faster by |\n|---|--:|--:|--:|\n",
        );
        for (one, two) in &self.threaded {
            let ms = |s: &Sample| digits(s.ms());
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} |",
                one.scene(),
                ms(one),
                ms(two),
                speedup(one, two)
            );
        }
        text
    }

    fn counts(&self) -> String {
        let mut text = String::from(
            "\n## Instructions\n\nOf a mean step early in the scene, counted by Valgrind: the same on \
             every run, whatever else the machine does. Valgrind has no AVX-512: of sweeps in lanes it \
             counts the AVX2 code.\n\n| scene | million instructions |\n|---|--:|\n",
        );
        for (scene, count) in &self.instructions {
            let _ = writeln!(text, "| {scene} | {} |", digits(1e-6 * count));
        }
        text
    }
}

fn speedup(one: &Sample, two: &Sample) -> String {
    digits(one.ms() / two.ms())
}

/// The largest shares of a step, down to 3 %.
fn shares(sample: &Sample) -> String {
    let stages = sample
        .stages()
        .into_iter()
        .filter(|(_, share)| *share >= 0.03);
    let stages = stages.map(|(stage, share)| format!("{stage} {:.0} %", 100.0 * share));
    stages.collect::<Vec<_>>().join(", ")
}

/// Three digits.
fn digits(x: f64) -> String {
    if x == 0.0 {
        return "0".into();
    }
    if !x.is_finite() {
        return "-".into();
    }
    let size = x.abs();
    if !(1e-3..1e6).contains(&size) {
        return format!("{x:.1e}");
    }
    let mut places: usize = 0;
    let mut scaled = size;
    while scaled < 100.0 && places < 6 {
        scaled *= 10.0;
        places += 1;
    }
    format!("{x:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn three_digits() {
        for (x, text) in [
            (0.0, "0"),
            (1.0, "1.00"),
            (12.345, "12.3"),
            (123.45, "123"),
            (1234.4, "1234"),
            (0.01234, "0.0123"),
            (1.23e-7, "1.2e-7"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(digits(x), text, "of {x}");
        }
    }

    fn sample(scene: &str) -> Sample {
        let stages = json!([
            {"stage": "broad phase", "share": 0.2}, {"stage": "solve", "share": 0.7},
            {"stage": "commit", "share": 0.01},
        ]);
        let figures = json!({
            "scene": scene, "bodies": 1000, "contact_points": 4000, "ms_per_step_median": 8.0,
            "profile": {"stages": stages, "recycled": 0.5, "lanes": {"contacts": 9, "places": 12,
                "colours": 5}, "bytes": {"bodies": 1000, "cache": 3000}},
        });
        Sample {
            figures,
            peak: Some(8_000_000),
        }
    }

    fn taking(ms: f64) -> Sample {
        let mut sample = sample("pile");
        sample.figures["ms_per_step_median"] = json!(ms);
        sample
    }

    fn row(engine: &str, ms: f64, overlap: f64) -> Row {
        Row {
            scene: "pile".into(),
            engine: engine.into(),
            steps: 60,
            ms_median: ms,
            ms_min: ms,
            ms_mean: ms,
            penetration_m: overlap,
            drift_m: Some(0.0),
            speed_m_s: 0.0,
            spin_drift: None,
            residual_m_s: None,
            bytes: None,
        }
    }

    #[test]
    fn losses_are_told_and_wins_are_not_among_them() {
        let page = Page {
            machine: Machine::look(),
            quick: false,
            scenes: vec![sample("pile")],
            threaded: vec![(sample("pile"), sample("pile"))],
            chaotic: vec![vec![taking(9.0), taking(4.0), taking(6.0), taking(5.0)]],
            piles: vec![[sample("pile"), sample("pile")]],
            instructions: vec![("pile".into(), 5.5e6)],
            peers: Some(vec![
                row("moreau", 8.0, 1e-4),
                row("fast", 2.0, 1e-3),
                row("slow", 9.0, 1e-5),
            ]),
            versions: vec![("fast".into(), "1.2.3".into())],
        };
        let text = page.text();
        for part in [
            "| pile | 4.00, 5.00, 6.00, 9.00 | 5.50 |",
            "* pile: fast by 4.00 times. solve 70 %, broad phase 20 %\n",
            "* pile: 100 um here, 10.0 um in slow\n",
            "| fast | 1.2.3 |",
            "| pile | 5.50 |",
            "| pile | solve 70 %, broad phase 20 % | 50 % | 75 % | 5 |",
            "| 1000 | 4000 | 8.00 | 8.00 | 2.00 | 1.00 | 4.00 | 8000 |",
        ] {
            assert!(text.contains(part), "no {part:?} in\n{text}");
        }
        assert!(!text.contains("slow by") && !text.contains("um in fast"));
    }
}
