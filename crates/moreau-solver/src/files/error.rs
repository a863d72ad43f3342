use crate::DelassusError;
use moreau_constraint::ProblemError;

/// Why a problem file was refused. Lines, columns (in bytes) and tokens count from 1.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FileError {
    /// The file could not be read.
    #[error("{path}: {message}")]
    Read {
        /// Path of the file.
        path: String,
        /// What the system says.
        message: String,
    },
    /// A token of a text file that does not belong there.
    #[error("line {line}, token {token}: {what} is `{found}`, must be {allowed}")]
    Token {
        /// Line of the token.
        line: usize,
        /// Number of the token in the file.
        token: usize,
        /// What stands there.
        what: &'static str,
        /// The token, cut where it is long.
        found: String,
        /// What is allowed, in words.
        allowed: String,
    },
    /// A text file that begins with another dimension than contact problems in space have.
    #[error(
        "line {line}, token {token}: the dimension is `{found}`, must be 3: is it a linear complementarity \
         problem (its size, M and q), or one in the plane? Only contacts in space with friction are solved"
    )]
    Dimension {
        /// Line of the dimension.
        line: usize,
        /// Number of its token.
        token: usize,
        /// What stands there.
        found: usize,
    },
    /// A text file that ends early.
    #[error("the file ends at line {line} after {token} tokens, where {what} should follow")]
    End {
        /// Last line.
        line: usize,
        /// Tokens in the file.
        token: usize,
        /// What is missing.
        what: &'static str,
    },
    /// A count that the rest of the file has no room for.
    #[error(
        "line {line}, token {token}: {count} {what} do not fit into the {bytes} bytes that follow"
    )]
    Count {
        /// Line of the count.
        line: usize,
        /// Number of its token.
        token: usize,
        /// What is counted.
        what: &'static str,
        /// How many there should be.
        count: u64,
        /// Bytes behind the count.
        bytes: usize,
    },
    /// JSON that is malformed, or has other fields than the format.
    #[error("line {line}, column {column}: {message}")]
    Json {
        /// Line.
        line: usize,
        /// Column.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// JSON of another format or version.
    #[error(
        "format `{format}` version {version} is unknown; this program reads `{}` version {}",
        super::FORMAT,
        super::VERSION
    )]
    Format {
        /// The file's format.
        format: String,
        /// The file's version.
        version: u64,
    },
    /// A reference problem whose typical velocity, of which its tolerance is a part, is none of its own.
    #[error(
        "reference.residual_scale is {scale}, must be positive and at most {most} m/s, a thousand times the largest speed at a contact"
    )]
    Scale {
        /// What the file says, m/s.
        scale: f64,
        /// The most that it may say, m/s.
        most: f64,
    },
    /// A problem of bodies whose numbers are out of range.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// A problem in contact space whose numbers are out of range.
    #[error(transparent)]
    Delassus(#[from] DelassusError),
}
