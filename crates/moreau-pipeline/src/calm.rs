//! Islands that are calm: their contacts stay as they are, but for a few.
//!
//! In a row of boxes that is pushed, in a wall, or under a slab that rolls on balls, contacts hold from step to step:
//! the exact answer of a step is nearly that of the next, which then costs next to nothing. So it is worth some time
//! where it is looked for, and sweeps, which carry a push from body to body, hardly find it. In what collapses it
//! would have to be found anew in each step, and hardly ever is. Some islands are calm and are not solved all the same;
//! they wait for long before they are tried again, see [`crate::trial`]. Smaller ones, which are solved exactly anyway, get
//! the same budget while they are calm: what is solved once holds.

use crate::contact::Contact;
use serde::{Deserialize, Serialize};

/// Normal speed before forces (m/s) up to which a contact stays as it is. Gravity alone gives 160 times that in a
/// step of 1/60 s.
const STILL: f64 = 1e-3;

/// Of so many contacts one may move.
const ONE_IN: usize = 100;

/// How far [`crate::SolverChoice::Auto`] goes to solve calm islands exactly. Calm: at most one in a hundred of its
/// contacts closed or opened with more than 1 mm/s before forces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CalmLimits {
    /// Most contact points. Default 12,500 (some 1500 boxes in a row). 0: calm islands are treated as all others, which
    /// no other limit does. Too small leaves long rows to sweeps, which do not push them as one; too big lets those
    /// that Newton does not get done with hold up steps.
    pub contact_limit: usize,
    /// Largest work of one factorisation, in multiply-adds. Default 60 million (about 15 ms; a wall of 30 by 20 bricks
    /// takes 37 to 45, which depends on the order of its bodies). Too small: walls of many rows are swept, and lose
    /// bricks; too big: the budget ends after a few factorisations.
    pub work_limit: u64,
    /// Multiply-adds that the exact solve may cost for each contact and row, beyond
    /// [`crate::SolverSettings::exact_base_work`]. Default 150,000 (about 60 us): a row of boxes that is set in motion
    /// takes 50,000 to 70,000, a wall that is set up 70,000 to 150,000.
    pub contact_work: u64,
    /// Multiply-adds that it may cost in all. Default 1 billion (about 0.4 s). What is not solved within
    /// waits, see [`crate::SolverSettings::exact_wait`].
    pub max_work: u64,
}

impl Default for CalmLimits {
    fn default() -> Self {
        Self {
            contact_limit: 12_500,
            work_limit: 60_000_000,
            contact_work: 150_000,
            max_work: 1_000_000_000,
        }
    }
}

/// How far the exact solver goes with an island.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// It is swept.
    None,
    Usual,
    /// That of [`CalmLimits`].
    Calm,
}

/// Whether the contacts `indices` of an island say that it is calm.
pub(crate) fn is_calm(points: &[Contact], indices: &[u32]) -> bool {
    let moves = |index: &&u32| points[**index as usize].approach_velocity.abs() > STILL;
    indices
        .iter()
        .filter(moves)
        .nth(indices.len() / ONE_IN)
        .is_none()
}
