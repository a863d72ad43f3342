/// Why an input to a contact problem was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProblemError {
    /// The length of the step is none.
    #[error("dt is {dt}, must be positive and finite")]
    Step {
        /// What was given, s.
        dt: f64,
    },
    /// A number that must be finite is not.
    #[error("{what} {index}: {field} is {value}, must be finite")]
    NotFinite {
        /// `body`, `contact` or `row`.
        what: &'static str,
        /// The index that it would have had.
        index: usize,
        /// Which field.
        field: &'static str,
        /// Its value, printed.
        value: String,
    },
    /// A number is outside of what is allowed.
    #[error("{what} {index}: {field} is {value}, must be {allowed}")]
    OutOfRange {
        /// `body`, `contact` or `row`.
        what: &'static str,
        /// The index that it would have had.
        index: usize,
        /// Which field.
        field: &'static str,
        /// Its value.
        value: f64,
        /// What is allowed, in words.
        allowed: &'static str,
    },
    /// A contact or row names a body that the problem does not have.
    #[error("{what} {index}: {field} is {body}, but the problem has {bodies} bodies")]
    NoSuchBody {
        /// `contact` or `row`.
        what: &'static str,
        /// The index that it would have had.
        index: usize,
        /// `a` or `b`.
        field: &'static str,
        /// The body index given.
        body: usize,
        /// How many bodies there are.
        bodies: usize,
    },
    /// A contact was named that the problem does not have.
    #[error("contact {index} was named, but the problem has {contacts} contacts")]
    NoSuchContact {
        /// The index given.
        index: usize,
        /// How many contacts there are.
        contacts: usize,
    },
    /// A contact or row joins a body with itself, or two bodies that cannot move.
    #[error("{what} {index}: nothing can move between bodies {a} and {b}")]
    NothingMoves {
        /// `contact` or `row`.
        what: &'static str,
        /// The index that it would have had.
        index: usize,
        /// First body.
        a: usize,
        /// Second body.
        b: usize,
    },
    /// Bodies or contacts were announced, and not given.
    #[error("{missing} of the {what} that were to be filled are missing")]
    Unfilled {
        /// `bodies` or `contacts`.
        what: &'static str,
        /// How many.
        missing: usize,
    },
}
