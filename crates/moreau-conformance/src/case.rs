use crate::Transform;
use moreau_constraint::{ContactProblem, Impulses};
use moreau_math::Velocity;
use serde::{Deserialize, Serialize};

/// What a case is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// One contact, answer in closed form.
    Single,
    /// A worked example of a text.
    Worked,
    /// A problem with a certified reference.
    Reference,
    /// More contacts than the motion needs.
    Redundant,
    /// Bodies between surfaces that are not parallel.
    Wedge,
    /// Bodies on bodies, up to large mass ratios.
    Stack,
    /// At the edge of what a problem may be.
    Degenerate,
    /// Rows, bilateral and bounded.
    Joint,
    /// Bodies and surfaces that impulses do not move, in motion.
    Kinematic,
    /// The same problem told in another way.
    Invariance,
    /// What may come in as impulses.
    WarmStart,
    /// The same bits.
    Determinism,
    /// Numbers near the end of f64.
    Extreme,
}

/// What is done with a case's problem, and what must come.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Trial {
    /// A small residual; v+ is not unique or not known.
    Residual,
    /// A small residual, and these velocities of all bodies, within `amplification` times the
    /// tolerance.
    Velocities {
        /// v+ of every body.
        want: Vec<Velocity>,
        /// Error in v+ (m/s and rad/s) a residual.
        amplification: f64,
    },
    /// The problem told in another way has the same answer told in that way.
    Same {
        /// The other way.
        by: Transform,
        /// Error in v+ (m/s and rad/s) a residual.
        amplification: f64,
    },
    /// Started from its own answer, the solver is done at once and keeps it.
    WarmStart,
    /// From each of these impulses the answer is as good as from none.
    Starts(Vec<Impulses>),
    /// The same bits on a second solve, after another problem, and by a fork.
    Repeat,
    /// Nothing solves the problem: the solver must not claim it.
    Unsolvable,
    /// A finite answer with an honest report, or an error; never a number that is not finite.
    Finite,
}

/// A problem and what must come of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Unique; words joined by underscores, the kind first.
    pub name: String,
    /// What it is about.
    pub group: Group,
    /// Whether any sound method solves it within its default budget, so that not to converge fails.
    pub essential: bool,
    /// The problem.
    pub problem: ContactProblem,
    /// What is done with it.
    pub trial: Trial,
}

impl Case {
    /// An essential case.
    pub(crate) fn new(name: &str, group: Group, problem: ContactProblem, trial: Trial) -> Self {
        Self {
            name: name.to_owned(),
            group,
            essential: true,
            problem,
            trial,
        }
    }

    /// The same, but honestly not to converge is allowed.
    pub(crate) fn hard(self) -> Self {
        Self {
            essential: false,
            ..self
        }
    }
}
