use crate::{BodyId, JointId};
use moreau_collision::ShapeError;
use moreau_constraint::ProblemError;
use moreau_solver::SolveError;

/// Why a world refused something. The world is then as it was before the call.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WorldError {
    /// The id names no body of this world (any more).
    #[error("there is no body {id}: it was removed, or belongs to another world")]
    NoSuchBody {
        /// The id given.
        id: BodyId,
    },
    /// The id names no joint of this world (any more).
    #[error("there is no joint {id}: it was removed, or belongs to another world")]
    NoSuchJoint {
        /// The id given.
        id: JointId,
    },
    /// A field of a body that is added or changed is out of range or not finite.
    #[error("body {id}: {field} is {value}, must be {allowed}")]
    BadBody {
        /// The body, or the id that it would have had.
        id: BodyId,
        /// Which field.
        field: &'static str,
        /// Its value, printed.
        value: String,
        /// What is allowed, in words.
        allowed: &'static str,
    },
    /// A body's shape cannot be used.
    #[error("body {id}: {source}")]
    BadShape {
        /// The body, or the id that it would have had.
        id: BodyId,
        /// What is wrong with it.
        source: ShapeError,
    },
    /// A field of a joint is out of range or not finite.
    #[error("joint {id}: {field} is {value}, must be {allowed}")]
    BadJoint {
        /// The id that it would have had.
        id: JointId,
        /// Which field.
        field: &'static str,
        /// Its value, printed.
        value: String,
        /// What is allowed, in words.
        allowed: &'static str,
    },
    /// A setting is out of range.
    #[error("setting {field} is {value}, must be {allowed}")]
    BadSetting {
        /// Which knob.
        field: &'static str,
        /// Its value, printed.
        value: String,
        /// What is allowed, in words.
        allowed: &'static str,
    },
    /// The time step is not positive and finite.
    #[error("dt is {dt} s, must be positive and finite")]
    BadTimeStep {
        /// What was given, s.
        dt: f64,
    },
    /// A step would have left a number that is not finite. The world is as before the step.
    #[error("body {id}: {field} would become {value} in this step; the world was left as it was")]
    Diverged {
        /// The body.
        id: BodyId,
        /// Which field.
        field: &'static str,
        /// The value, printed.
        value: String,
    },
    /// An island's problem could not be built.
    #[error("a contact problem of this step is not usable: {0}")]
    Problem(#[from] ProblemError),
    /// The solver refused an island's problem.
    #[error("the solver refused a contact problem of this step: {0}")]
    Solve(#[from] SolveError),
    /// Snapshot bytes that cannot be restored.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// The threads asked for could not be started.
    #[error("{threads} threads could not be started: {reason}")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// What the system said.
        reason: String,
    },
}

/// Why snapshot bytes cannot be restored.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SnapshotError {
    /// Not a world snapshot at all.
    #[error("these bytes are not a world snapshot (they do not begin with its mark)")]
    Foreign,
    /// Of another version of the format.
    #[error("the snapshot has format version {found}, this build reads {expected}")]
    Version {
        /// In the bytes.
        found: u16,
        /// Of this build.
        expected: u16,
    },
    /// Cut short or damaged.
    #[error("the snapshot is damaged: {reason}")]
    Damaged {
        /// What was found.
        reason: String,
    },
}
