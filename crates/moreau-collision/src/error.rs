use moreau_math::{MassError, Vec3};

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
    /// A shape with no finite volume, such as a half-space or an open mesh, cannot have a mass.
    #[error("a {shape} has no finite volume and cannot have a mass")]
    Unbounded {
        /// Which shape.
        shape: &'static str,
    },
    /// A mesh without triangles.
    #[error("a mesh needs a triangle or more")]
    NoTriangles,
    /// A triangle names a vertex that does not exist.
    #[error("triangle {triangle} uses vertex {index}, but there are only {count} vertices")]
    BadIndex {
        /// Index of the triangle.
        triangle: usize,
        /// The index it holds.
        index: u32,
        /// Number of vertices.
        count: usize,
    },
    /// A vertex of a mesh is not finite.
    #[error("vertex {vertex} is {value}, must be finite")]
    VertexNotFinite {
        /// Index of the vertex.
        vertex: usize,
        /// Its position, m.
        value: Vec3,
    },
    /// A triangle whose corners lie on one line or in one point.
    #[error("triangle {triangle} is degenerate: its height is {height} m")]
    DegenerateTriangle {
        /// Index of the triangle.
        triangle: usize,
        /// Its least height, m.
        height: f64,
    },
    /// An edge of more than two triangles, or of two that disagree on where the front is.
    #[error(
        "{triangles} triangles, among them {other} and {triangle}, share an edge and do not run \
         through it in opposite directions"
    )]
    NonManifoldEdge {
        /// Index of one triangle at the edge.
        triangle: usize,
        /// Index of another.
        other: usize,
        /// How many there are.
        triangles: usize,
    },
    /// A closed mesh whose triangles face inwards, or that encloses nothing.
    #[error("the closed mesh encloses a volume of {volume} m³, must be positive")]
    InsideOut {
        /// Signed volume, m³.
        volume: f64,
    },
    /// More triangles or children than can be numbered.
    #[error("{count} triangles or children, at most {most} can be used")]
    TooManyParts {
        /// How many were given.
        count: usize,
        /// How many there may be.
        most: usize,
    },
    /// A heightfield without cells.
    #[error("{rows} rows and {columns} columns of heights, there must be two or more of each")]
    TooFewSamples {
        /// Rows given.
        rows: usize,
        /// Columns given.
        columns: usize,
    },
    /// A heightfield whose list of heights does not fit its rows and columns.
    #[error("{count} heights for {rows} rows of {columns}")]
    HeightCount {
        /// Rows given.
        rows: usize,
        /// Columns given.
        columns: usize,
        /// Heights given.
        count: usize,
    },
    /// A height that is not finite.
    #[error("the height in row {row} and column {column} is {value}, must be finite")]
    HeightNotFinite {
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
        /// Its value.
        value: f64,
    },
    /// A compound without children.
    #[error("a compound needs a child or more")]
    NoChildren,
    /// A child of a compound that cannot be used.
    #[error("child {child} of the compound: {reason}")]
    BadChild {
        /// Index of the child.
        child: usize,
        /// What is wrong with it.
        #[source]
        reason: Box<ShapeError>,
    },
    /// A pose whose quaternion is not a rotation.
    #[error("rotation has length {length}, must be 1")]
    NotUnitRotation {
        /// Its length.
        length: f64,
    },
}
