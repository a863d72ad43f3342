use crate::Vec3;

/// Why mass properties could not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MassError {
    /// A dimension, density or mass that must be positive and finite is not.
    #[error("{field} is {value}, must be positive and finite")]
    NotPositive {
        /// What was given.
        field: &'static str,
        /// Its value.
        value: f64,
    },
    /// A dimension that may be zero is negative or not finite.
    #[error("{field} is {value}, must be zero or more and finite")]
    Negative {
        /// What was given.
        field: &'static str,
        /// Its value.
        value: f64,
    },
    /// A coordinate or tensor entry that must be finite is not.
    #[error("{field} is {value}, must be finite")]
    NotFinite {
        /// What was given.
        field: &'static str,
        /// Its value.
        value: f64,
    },
    /// The input is valid, but a result leaves the range of `f64` (it overflows or vanishes).
    #[error("{field} comes out as {value}: the solid is too large or too small for f64")]
    OutOfRange {
        /// Which result.
        field: &'static str,
        /// Its value.
        value: f64,
    },
    /// An inertia tensor with a negative principal moment.
    #[error("the inertia tensor has a principal moment of {moment} kg m², must not be negative")]
    NegativeMoment {
        /// The least principal moment, kg m².
        moment: f64,
    },
    /// An inertia tensor that has no inverse, such as that of an infinitely thin rod.
    #[error("the inertia tensor is singular: its least principal moment is {moment} kg m²")]
    SingularInertia {
        /// The least principal moment, kg m².
        moment: f64,
    },
    /// The solid encloses no volume (it is flat, or inside out).
    #[error("the solid encloses a volume of {volume} m³, must be positive")]
    NoVolume {
        /// Signed volume, m³.
        volume: f64,
    },
    /// A vertex of a mesh is not finite.
    #[error("vertex {vertex} is {value}, must be finite")]
    VertexNotFinite {
        /// Index of the vertex.
        vertex: usize,
        /// Its position, m.
        value: Vec3,
    },
    /// A triangle names a vertex that does not exist.
    #[error("triangle {triangle} uses vertex {index}, but there are only {count} vertices")]
    BadIndex {
        /// Index of the triangle.
        triangle: usize,
        /// The index it holds.
        index: usize,
        /// Number of vertices.
        count: usize,
    },
    /// The surface of a mesh has a hole or disagreeing windings along this edge.
    #[error("the mesh is not closed: the edge from vertex {from} to vertex {to} has no partner")]
    OpenEdge {
        /// First vertex, in the winding of the triangle that has the edge.
        from: usize,
        /// Second vertex.
        to: usize,
    },
    /// A compound of no parts.
    #[error("a compound needs at least one part")]
    NoParts,
    /// A part of a compound is not valid by itself.
    #[error("part {part} of the compound is not valid")]
    InvalidPart {
        /// Index of the part.
        part: usize,
        /// What is wrong with it.
        #[source]
        reason: Box<MassError>,
    },
}

pub(super) fn positive(field: &'static str, value: f64) -> Result<(), MassError> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(MassError::NotPositive { field, value })
    }
}

pub(super) fn not_negative(field: &'static str, value: f64) -> Result<(), MassError> {
    if value >= 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(MassError::Negative { field, value })
    }
}

pub(super) fn finite(field: &'static str, value: f64) -> Result<(), MassError> {
    if value.is_finite() {
        Ok(())
    } else {
        Err(MassError::NotFinite { field, value })
    }
}
