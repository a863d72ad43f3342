//! The project's own problem files.
//!
//! ```json
//! {"format": "moreau-problem", "version": 1, "name": "", "dt": 0.01,
//!  "bodies": [], "contacts": [], "rows": []}
//! ```
//!
//! The lists hold [`BodyInput`]s, [`ContactPoint`]s and [`Row`]s field by field. JSON has no
//! infinity: a bound of a row that is `null` is none. Numbers are written so that reading gives
//! their bits back.

use super::FileError;
use moreau_constraint::{BodyInput, ContactPoint, ContactProblem, Row};
use moreau_math::Vec3;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// `format` of the project's own files.
pub const FORMAT: &str = "moreau-problem";
/// Their newest version.
pub const VERSION: u64 = 1;

/// A contact problem and its name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedProblem {
    /// What it is called; may be empty.
    pub name: String,
    /// The problem.
    pub problem: ContactProblem,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    version: u64,
    #[serde(default)]
    name: String,
    dt: f64,
    bodies: Vec<BodyInput>,
    contacts: Vec<ContactPoint>,
    rows: Vec<FileRow>,
}

/// A [`Row`] whose bounds JSON can hold.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileRow {
    a: usize,
    b: usize,
    linear_a: Vec3,
    angular_a: Vec3,
    linear_b: Vec3,
    angular_b: Vec3,
    bias: f64,
    lower: Option<f64>,
    upper: Option<f64>,
    regularization: f64,
}

/// What tells one kind of JSON file from another.
#[derive(Deserialize)]
pub(super) struct Header {
    pub(super) format: Option<String>,
    pub(super) version: Option<u64>,
}

/// Reads JSON of a known shape.
pub(super) fn read<T: DeserializeOwned>(text: &str) -> Result<T, FileError> {
    serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        FileError::Json {
            line: error.line(),
            column: error.column(),
            message: message.strip_suffix(&place).unwrap_or(&message).to_owned(),
        }
    })
}

/// Reads one of the project's own files, whose header was looked at.
pub(super) fn parse(text: &str) -> Result<NamedProblem, FileError> {
    let file: File = read(text)?;
    let mut problem = ContactProblem::new(file.dt)?;
    for body in file.bodies {
        problem.add_body(body)?;
    }
    for contact in file.contacts {
        problem.add_contact_point(contact)?;
    }
    for row in file.rows {
        problem.add_row(Row {
            a: row.a,
            b: row.b,
            linear_a: row.linear_a,
            angular_a: row.angular_a,
            linear_b: row.linear_b,
            angular_b: row.angular_b,
            bias: row.bias,
            lower: row.lower.unwrap_or(f64::NEG_INFINITY),
            upper: row.upper.unwrap_or(f64::INFINITY),
            regularization: row.regularization,
        })?;
    }
    Ok(NamedProblem {
        name: file.name,
        problem,
    })
}

/// A problem as JSON; [`super::ProblemFile::parse`] gives it back to the bit.
pub fn write_problem(name: &str, problem: &ContactProblem) -> String {
    let bound = |x: f64| x.is_finite().then_some(x);
    let rows = problem.rows().iter().map(|row| FileRow {
        a: row.a,
        b: row.b,
        linear_a: row.linear_a,
        angular_a: row.angular_a,
        linear_b: row.linear_b,
        angular_b: row.angular_b,
        bias: row.bias,
        lower: bound(row.lower),
        upper: bound(row.upper),
        regularization: row.regularization,
    });
    let file = File {
        format: FORMAT.to_owned(),
        version: VERSION,
        name: name.to_owned(),
        dt: problem.dt(),
        bodies: problem.bodies().to_vec(),
        contacts: problem.contacts().to_vec(),
        rows: rows.collect(),
    };
    // Strings, finite numbers and lists: nothing that JSON could not hold.
    let mut text = serde_json::to_string(&file).unwrap_or_default();
    text.push('\n');
    text
}
