use moreau_pipeline::{IslandSolver, SolverShare};
use serde::Serialize;

/// What a run came to. The names of the fields are those of the tools' JSON.
///
/// "So far" means: over all steps that the run has made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Name of the scene.
    pub scene: String,
    /// Name of the solver.
    pub solver: String,
    /// Threads that the world steps on.
    pub threads: usize,
    /// Bodies in the world.
    pub bodies: usize,
    /// Bodies that slept through the last step.
    pub sleeping_bodies: usize,
    /// Contact points in the last step.
    pub contact_points: usize,
    /// Joints in the world.
    pub joints: usize,
    /// Steps made.
    pub steps: u64,
    /// Median time of a step, ms, of the steps from `measure_from` on, or of all of a run that ends before.
    pub ms_per_step_median: f64,
    /// The time that 95 % of those steps did not exceed (nearest rank), ms.
    pub ms_per_step_p95: f64,
    /// Deepest overlap of a contact point so far, m, each measured at the start of its step.
    pub max_penetration_m: f64,
    /// Deepest overlap of a contact point in the last step, m.
    pub end_max_penetration_m: f64,
    /// Kinetic energy of all dynamic bodies after the last step, J.
    pub kinetic_energy_j: f64,
    /// Largest speed of a dynamic body's centre of mass after the last step, m/s.
    pub max_speed_m_s: f64,
    /// Largest distance so far of a dynamic body's centre of mass from where it was at the start,
    /// measured perpendicular to gravity (to the up axis where there is none), m.
    pub max_horizontal_drift_m: f64,
    /// Largest rise so far of the total mechanical energy over that at the start, J; at least 0.
    /// Kinetic energy, and the potentials of gravity and of the bodies' constant forces; all dynamic
    /// bodies. Constant torques, kinematic bodies and moving surfaces may rightly raise it.
    pub energy_gain_j: f64,
    /// Largest distance so far of that energy from the one at the start, J; friction and impacts take
    /// energy out rightly.
    pub energy_drift_j: f64,
    /// Largest change so far of the total linear momentum of the dynamic bodies that gravity,
    /// constant forces and the impulses of other bodies (contacts and joints) do not account for,
    /// over the largest of 1 N s, the sum of m |v| so far, and what gravity and constant forces give
    /// in one step. Only rounding in a right step.
    pub momentum_drift: f64,
    /// The same change, not relative: its largest part along one of the ten directions of
    /// [`moreau_solver::momentum_directions`], N s.
    pub directional_momentum_drift_n_s: f64,
    /// How far friction left its cone so far: the largest |l_t| - mu l_n of a contact of a step over the
    /// step's largest l_n.
    pub cone_excess: f64,
    /// Largest natural map of a step so far, m/s.
    pub residual_max_m_s: f64,
    /// The world's state after the last step: 16 hexadecimal digits.
    pub state_hash: String,
    /// Whether every solve so far converged to its tolerance.
    pub certified: bool,
    /// Steps so far in which one did not.
    pub uncertified_steps: u64,
    /// Steps so far in which the energy guard reduced a bounce, or an unfinished answer.
    pub guarded_steps: u64,
    /// What each solver did so far; those that did nothing are left out.
    pub solvers: Vec<SolverFigures>,
    /// Most sweeps of an island so far.
    pub max_sweeps: u32,
    /// Most contact points of a step so far.
    pub max_contact_points: usize,
    /// Largest speed of a dynamic body's centre of mass so far, m/s.
    pub peak_speed_m_s: f64,
    /// Length of a step, s.
    pub dt_s: f64,
}

/// What one solver did in a run: sums over all steps so far.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SolverFigures {
    /// Its name.
    pub solver: String,
    /// Islands that it solved; an island counts once in each step.
    pub islands: u64,
    /// Those among them that did not converge to its tolerance.
    pub uncertified_islands: u64,
    /// Contact points of these islands.
    pub contact_points: u64,
    /// Its sweeps.
    pub sweeps: u64,
    /// Its factorisations.
    pub factorizations: u64,
    /// Its largest natural map, m/s.
    pub residual_max_m_s: f64,
}

impl SolverFigures {
    pub(crate) fn none(solver: IslandSolver) -> Self {
        Self {
            solver: solver.name().into(),
            islands: 0,
            uncertified_islands: 0,
            contact_points: 0,
            sweeps: 0,
            factorizations: 0,
            residual_max_m_s: 0.0,
        }
    }

    pub(crate) fn add(&mut self, share: &SolverShare) {
        self.islands += share.islands as u64;
        self.uncertified_islands += share.uncertified_islands as u64;
        self.contact_points += share.contact_points as u64;
        self.sweeps += share.sweeps;
        self.factorizations += share.factorizations;
        self.residual_max_m_s = self.residual_max_m_s.max(share.residual);
    }
}

/// Median of `times`, in the same unit.
pub(crate) fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    match n {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        _ => 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]),
    }
}

/// The value that `percent` of `times` do not exceed, by nearest rank.
pub(crate) fn percentile(times: &[f64], percent: usize) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (percent * sorted.len()).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_percentiles() {
        assert_eq!(median(&[]), 0.0);
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        let hundred: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!(percentile(&hundred, 95), 95.0);
        assert_eq!(percentile(&[7.0], 95), 7.0);
        assert_eq!(percentile(&[1.0, 2.0, 3.0], 50), 2.0);
        assert_eq!(percentile(&[], 95), 0.0);
    }
}
