//! Performance profiles (Dolan and Moré, Mathematical Programming 91, 2002).
//!
//! ```text
//! ratio(p, s) = time of solver s on problem p / least time of any solver on p
//! rho_s(x)    = part of the problems whose ratio is at most x
//! ```
//!
//! rho_s(1) says how often s is the fastest, its limit how often it solves at all.

use super::plot::{Panel, Scale, Series, page};
use super::trial::Trial;
use std::fmt::Write;

/// The ratios of all solvers.
pub(crate) struct Profile {
    solvers: Vec<Solver>,
    problems: usize,
}

struct Solver {
    name: &'static str,
    /// Of the solved problems, ascending.
    ratios: Vec<f64>,
    /// Median time of the solved problems, ms.
    median: f64,
    sweeps: u64,
    factorizations: u64,
}

impl Profile {
    /// From the trials, a row a problem. Solvers that take none of the problems are left out.
    pub(crate) fn new(trials: &[Vec<Trial>]) -> Self {
        let least = |row: &[Trial]| {
            let times = row.iter().filter_map(Trial::ms);
            times.fold(f64::INFINITY, f64::min)
        };
        let count = trials.first().map_or(0, Vec::len);
        let solver = |k: usize| {
            let column = trials.iter().map(|row| &row[k]);
            let mut ratios: Vec<f64> = trials
                .iter()
                .filter_map(|row| row[k].ms().map(|ms| ms / least(row)))
                .collect();
            ratios.sort_by(f64::total_cmp);
            let mut times: Vec<f64> = column.clone().filter_map(Trial::ms).collect();
            times.sort_by(f64::total_cmp);
            Solver {
                name: trials[0][k].solver,
                median: times.get(times.len() / 2).copied().unwrap_or(f64::NAN),
                sweeps: column.clone().map(|t| u64::from(t.sweeps)).sum(),
                factorizations: column.map(|t| u64::from(t.factorizations)).sum(),
                ratios,
            }
        };
        let takes_any = |k: &usize| trials.iter().any(|row| row[*k].residual.is_some());
        Self {
            solvers: (0..count).filter(takes_any).map(solver).collect(),
            problems: trials.len(),
        }
    }

    fn part(&self, solver: &Solver, ratio: f64) -> f64 {
        let count = solver.ratios.partition_point(|r| *r <= ratio);
        count as f64 / self.problems as f64
    }

    /// Parts of the problems that are solved within some times of the fastest.
    pub(crate) fn table(&self) -> String {
        let at = [1.0, 2.0, 5.0, 10.0, 100.0];
        let mut text = format!(
            "{} problems; parts solved within\n{:<12}",
            self.problems, ""
        );
        for x in at {
            let _ = write!(text, " {:>7}", format!("{x} x"));
        }
        let _ = writeln!(
            text,
            " {:>7} {:>10} {:>10} {:>9}",
            "solved", "median ms", "sweeps", "factored"
        );
        for solver in &self.solvers {
            let _ = write!(text, "{:<12}", solver.name);
            for x in at {
                let _ = write!(text, " {:>6.0}%", 100.0 * self.part(solver, x));
            }
            let solved = format!("{}/{}", solver.ratios.len(), self.problems);
            let _ = writeln!(
                text,
                " {solved:>7} {:>10.3} {:>10} {:>9}",
                solver.median, solver.sweeps, solver.factorizations
            );
        }
        text
    }

    /// The curves as a picture.
    pub(crate) fn plot(&self, tolerance: f64) -> String {
        let most = self.solvers.iter().flat_map(|s| s.ratios.last());
        let most = most.fold(10.0_f64, |m, r| m.max(*r));
        // The next power of ten, so that every curve shows its limit.
        let mut end = 10.0;
        while end < 1.5 * most {
            end *= 10.0;
        }
        let series = self.solvers.iter().map(|solver| {
            let mut points = vec![(1.0, self.part(solver, 1.0))];
            for ratio in solver.ratios.iter().filter(|r| **r > 1.0) {
                let before = points[points.len() - 1].1;
                points.push((*ratio, before));
                points.push((*ratio, self.part(solver, *ratio)));
            }
            points.push((end, points[points.len() - 1].1));
            Series {
                name: solver.name.to_owned(),
                points,
            }
        });
        let panel = Panel {
            title: format!(
                "{} problems to {tolerance:e} m/s: part solved within x times the fastest",
                self.problems
            ),
            x: ("time / time of the fastest".into(), Scale::Log, (1.0, end)),
            y: ("part of the problems".into(), Scale::Linear, (0.0, 1.0)),
            series: series.collect(),
        };
        page("Performance profile of the solvers", &[vec![panel]])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(solver: &'static str, ms: Option<f64>) -> Trial {
        Trial {
            solver,
            residual: Some(0.0),
            certified: ms.is_some(),
            sweeps: 3,
            factorizations: 1,
            seconds: 1e-3 * ms.unwrap_or(1.0),
        }
    }

    #[test]
    fn parts_of_four_problems() {
        let rows = [
            (Some(1.0), Some(3.0)),
            (Some(8.0), Some(2.0)),
            (Some(5.0), None),
            (None, None),
        ];
        let rows = rows.map(|(a, b)| vec![trial("a", a), trial("b", b)]);
        let profile = Profile::new(&rows);
        let parts = |k: usize| {
            [1.0, 2.0, 3.0, 4.0, 100.0].map(|x| profile.part(&profile.solvers[k], x + 1e-9))
        };
        assert_eq!(parts(0), [0.5, 0.5, 0.5, 0.75, 0.75]);
        assert_eq!(parts(1), [0.25, 0.25, 0.5, 0.5, 0.5]);
        assert!(profile.table().contains("3/4"), "{}", profile.table());
    }

    #[test]
    fn who_takes_nothing_is_left_out() {
        let mut other = trial("c", None);
        other.residual = None;
        let profile = Profile::new(&[vec![trial("a", Some(1.0)), other]]);
        let names: Vec<_> = profile.solvers.iter().map(|s| s.name).collect();
        assert_eq!(names, ["a"]);
    }
}
