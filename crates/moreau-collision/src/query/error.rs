use crate::ShapeError;
use moreau_math::Vec3;

/// Why a question about shapes means nothing.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum QueryError {
    /// A position, velocity or pose that is not finite.
    #[error("{field} is {value}, must be finite")]
    NotFinite {
        /// Which input.
        field: &'static str,
        /// Its value, printed.
        value: String,
    },
    /// A direction without length.
    #[error("the direction of a ray is zero")]
    ZeroDirection,
    /// A limit that is negative or not a number.
    #[error("{field} is {value}, must be {allowed}")]
    OutOfRange {
        /// Which input.
        field: &'static str,
        /// Its value.
        value: f64,
        /// What is allowed, in words.
        allowed: &'static str,
    },
    /// A shape asked with is not usable.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// A half-space that turns: its far points are infinitely fast.
    #[error("a half-space that turns has no time of impact")]
    TurningHalfSpace,
    /// A shape without bounds was to be moved through a set.
    #[error("a {shape} has no bounds and cannot be cast")]
    Unbounded {
        /// Which shape.
        shape: &'static str,
    },
    /// No such id in the set.
    #[error("there is no shape {id} in the set")]
    NoSuchShape {
        /// The id given.
        id: u32,
    },
}

pub(crate) fn finite(field: &'static str, value: Vec3) -> Result<Vec3, QueryError> {
    if value.is_finite() {
        return Ok(value);
    }
    let value = value.to_string();
    Err(QueryError::NotFinite { field, value })
}

/// A limit may be infinite.
pub(crate) fn limit(field: &'static str, value: f64) -> Result<f64, QueryError> {
    if value >= 0.0 {
        return Ok(value);
    }
    let allowed = "0 or more";
    Err(QueryError::OutOfRange {
        field,
        value,
        allowed,
    })
}
