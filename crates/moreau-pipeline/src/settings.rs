use crate::{Sleeping, SolverSettings, WorldError};
use moreau_math::{Vec3, vec3};
use serde::{Deserialize, Serialize};

/// How overlaps are taken out: by pseudo-velocities that move bodies and are then forgotten, so
/// that a correction never becomes kinetic energy (split impulse).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PositionCorrection {
    /// Part of the overlap beyond the slop that one step takes out, 0 to 1. Default 0.2. 0 switches
    /// it off; too big makes overlapping bodies jump.
    pub rate: f64,
    /// Overlap that is left alone, m. Default 1e-4. Too small lets contacts open and close, too big
    /// shows.
    pub slop: f64,
    /// Largest speed of a correction, m/s. Default 3. Too big throws deeply overlapping bodies
    /// apart in one step, too small leaves them together for long.
    pub max_speed: f64,
    /// Most sweeps of the pseudo-velocity solve. Default 50.
    pub max_sweeps: u32,
}

impl Default for PositionCorrection {
    fn default() -> Self {
        Self {
            rate: 0.2,
            slop: 1e-4,
            max_speed: 3.0,
            max_sweeps: 50,
        }
    }
}

/// Knobs of a world; part of its snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorldSettings {
    /// m/s². Default (0, -9.81, 0).
    pub gravity: Vec3,
    /// Contacts are found up to this separation, m, and beyond it where the motion of the step can
    /// close them. Default 0.02. Zero is allowed. Too big costs time. Results of bounces do not
    /// depend on it.
    pub prediction_distance: f64,
    /// How far a pair of boxes, hulls or half-spaces may move, relative to each other, before its manifold is found
    /// anew: a fraction of the smaller one's bounding radius, and an angle in rad. Default 2e-4. Zero
    /// switches it off: every manifold is found anew in every step. Too big lets contacts lag
    /// behind the surfaces.
    pub recycling: f64,
    /// Gap up to which a contact counts as closed in islands that Newton solves, m, where nothing is faster
    /// than 1e-6 m/s and its force does at most 1e-6 J over it. Default 1e-10. Zero: none. Gaps that are only
    /// rounding ask the four corners of a face for velocities that no rigid body has, and their impulses jump from
    /// corner to corner. Too big lets bodies hover.
    pub closed_gap: f64,
    /// Speed, m/s, below which a body that contacts push, and no joint holds, stays exactly where it is. Default 1e-9, three
    /// centimetres in a year. Zero: none. Solvers leave velocities of that size where nothing moves; to follow them would
    /// only turn rounding into motion, and ask for a new answer in every step. Too big freezes what creeps, and leaves gaps
    /// between what stays and what goes that are more than [`closed_gap`](Self::closed_gap) in a step: tall towers then do
    /// not come to rest.
    pub standstill: f64,
    /// Contacts that close slower than this do not bounce, m/s. Default 0.01. Too small makes rests
    /// chatter, too big ends a bounce early.
    pub bounce_threshold: f64,
    /// Most dynamic bodies of an island in which bounces that follow one another within a step are taken
    /// one by one. Default 16. Zero: only those of bullets ([`crate::Body::bullet`]). Too big makes the
    /// first instant of large piles that bounce dear.
    pub ordered_impacts: u32,
    /// Work that the parts of a step may cost in which impacts are taken one by one, bullets' or others',
    /// for any group of bodies, in looks at a pair or a contact point. Default 6000 (about 5 ms). A group that
    /// needs more has the rest of its step taken as one, like a group without bullets. Too small gives up
    /// the order of impacts in rows and rooms of bullets; too big lets a few bodies hold up a step.
    pub ordered_base_work: u64,
    /// Work that those parts may cost beyond that, as a multiple of the work of the group's step without
    /// them. Default 3. Too small gives up the first blow of a bullet on a large pile; too big lets a pile
    /// of bullets hold up a step for impacts that it hardly ever gets to the last of.
    pub ordered_work_factor: u32,
    /// Keeps simultaneous impacts with friction, and answers that a solver did not get done with, from creating
    /// energy. Default true.
    pub energy_guard: bool,
    /// Starts each solve from the impulses of the last step. Default true; a switch to measure it.
    pub warm_start: bool,
    /// When islands that lie still fall asleep: they cost nothing then, and stay as they are until
    /// something wakes them. Default `None`: never. Games want `Some(Sleeping::default())`.
    pub sleeping: Option<Sleeping>,
    /// Removal of overlaps.
    pub position_correction: PositionCorrection,
    /// Which solver, and the solvers' knobs.
    pub solver: SolverSettings,
}

impl Default for WorldSettings {
    fn default() -> Self {
        Self {
            gravity: vec3(0.0, -9.81, 0.0),
            prediction_distance: 0.02,
            recycling: 2e-4,
            closed_gap: 1e-10,
            standstill: 1e-9,
            bounce_threshold: 0.01,
            ordered_impacts: 16,
            ordered_base_work: 6000,
            ordered_work_factor: 3,
            energy_guard: true,
            warm_start: true,
            sleeping: None,
            position_correction: PositionCorrection::default(),
            solver: SolverSettings::default(),
        }
    }
}

impl WorldSettings {
    /// Whether every knob is in range.
    ///
    /// # Errors
    /// The first that is not, with its value.
    pub fn validate(&self) -> Result<(), WorldError> {
        if !self.gravity.is_finite() {
            let value = self.gravity.to_string();
            return Err(WorldError::BadSetting {
                field: "gravity",
                value,
                allowed: "finite",
            });
        }
        let p = &self.position_correction;
        let sleeping = self.sleeping.unwrap_or_default();
        let knobs = [
            (
                "sleeping.speed",
                sleeping.speed,
                f64::MAX,
                "0 or more, and finite",
            ),
            (
                "sleeping.time",
                sleeping.time,
                f64::MAX,
                "0 or more, and finite",
            ),
            (
                "prediction_distance",
                self.prediction_distance,
                f64::MAX,
                "0 or more, and finite",
            ),
            ("recycling", self.recycling, 0.1, "0 to 0.1"),
            (
                "closed_gap",
                self.closed_gap,
                f64::MAX,
                "0 or more, and finite",
            ),
            (
                "standstill",
                self.standstill,
                f64::MAX,
                "0 or more, and finite",
            ),
            (
                "bounce_threshold",
                self.bounce_threshold,
                f64::MAX,
                "0 or more, and finite",
            ),
            ("position_correction.rate", p.rate, 1.0, "0 to 1"),
            (
                "position_correction.slop",
                p.slop,
                f64::MAX,
                "0 or more, and finite",
            ),
            (
                "position_correction.max_speed",
                p.max_speed,
                f64::MAX,
                "0 or more, and finite",
            ),
            (
                "solver.simd.tolerance",
                self.solver.simd.tolerance,
                f64::MAX,
                "0 or more, and finite",
            ),
            (
                "solver.simd.slow_tolerance",
                self.solver.simd.slow_tolerance,
                f64::MAX,
                "0 or more, and finite",
            ),
            (
                "solver.pgs.tolerance",
                self.solver.pgs.tolerance,
                f64::MAX,
                "0 or more, and finite",
            ),
            (
                "solver.block.tolerance",
                self.solver.block.tolerance,
                f64::MAX,
                "0 or more, and finite",
            ),
            (
                "solver.active_set.tolerance",
                self.solver.active_set.tolerance,
                f64::MAX,
                "0 or more, and finite",
            ),
            (
                "solver.newton.tolerance",
                self.solver.newton.tolerance,
                f64::MAX,
                "0 or more, and finite",
            ),
            (
                "solver.newton.aim",
                self.solver.newton.aim,
                f64::MAX,
                "0 or more, and finite",
            ),
            (
                "solver.newton.polish",
                self.solver.newton.polish,
                f64::MAX,
                "0 or more, and finite",
            ),
        ];
        for (field, value, most, allowed) in knobs {
            if !(0.0..=most).contains(&value) {
                let value = value.to_string();
                return Err(WorldError::BadSetting {
                    field,
                    value,
                    allowed,
                });
            }
        }
        Ok(())
    }
}
