use moreau_math::MassError;

/// Why a shape cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShapeError {
    /// A dimension that must be positive and finite is not.
    #[error("{field} is {value}, must be positive and finite")]
    NotPositive {
        /// Which dimension.
        field: &'static str,
        /// Its value.
        value: f64,
    },
    /// A dimension that must be zero or more and finite is not.
    #[error("{field} is {value}, must be zero or more and finite")]
    Negative {
        /// Which dimension.
        field: &'static str,
        /// Its value.
        value: f64,
    },
    /// A coordinate or direction that must be finite is not.
    #[error("{field} is {value}, must be finite")]
    NotFinite {
        /// Which input.
        field: &'static str,
        /// Its value, printed.
        value: String,
    },
    /// A half-space whose normal is not a unit vector.
    #[error("normal has length {length}, must be 1")]
    NotUnit {
        /// Its length.
        length: f64,
    },
    /// Too few points for a solid.
    #[error("a convex hull needs 4 points or more, got {count}")]
    TooFewPoints {
        /// How many were given.
        count: usize,
    },
    /// The points lie (almost) in one plane, line or point.
    #[error("the points are flat: their thickness is {thickness} m")]
    Flat {
        /// Greatest distance of a point from a plane through three far corners, m: an estimate of the
        /// least width, not below it.
        thickness: f64,
    },
    /// Mass properties of a shape without volume were asked for.
    #[error(transparent)]
    Mass(#[from] MassError),
    /// A shape with no finite volume, such as a half-space, cannot have a mass.
    #[error("a {shape} has no finite volume and cannot have a mass")]
    Unbounded {
        /// Which shape.
        shape: &'static str,
    },
}
