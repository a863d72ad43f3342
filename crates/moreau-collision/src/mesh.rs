use crate::ShapeError;
use crate::surface::Surface;
use moreau_math::{MassProperties, Vec3, vec3};
use serde::{Deserialize, Serialize};

/// Triangles that share their edges. Built once, shared by every body that uses it.
///
/// **One-sided**: solid lies behind a triangle, on the side from which its corners run clockwise;
/// nothing is touched from there. A mesh without boundary edges is *closed*: the solid inside has
/// mass properties. An open one has none and cannot be moved by forces.
///
/// **Edges** know the triangles on both sides, so a contact at an edge or a vertex gets a normal that
/// the surface really has there; a flat or hollow edge has none of its own, and what slides over it
/// does not feel it.
///
/// Vertices at equal positions count as one, and those that no triangle uses are dropped.
///
/// ```
/// use moreau_collision::TriangleMesh;
/// use moreau_math::{Vec3, vec3};
///
/// let corners = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
/// let mesh = TriangleMesh::new(&corners, &[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])?;
/// assert!(mesh.is_closed());
/// let mass = mesh.mass_properties(6000.0)?;
/// assert!((mass.mass - 1000.0).abs() < 1e-9);
/// assert!((mass.center_of_mass - vec3(0.25, 0.25, 0.25)).length() < 1e-15);
/// # Ok::<(), moreau_collision::ShapeError>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Given", into = "Given")]
pub struct TriangleMesh {
    surface: Surface,
}

/// The most triangles of a shape.
pub(crate) const MOST_PARTS: usize = 1 << 30;

impl TriangleMesh {
    /// A mesh of `triangles`, each three indices into `vertices` (m, body frame), counter-clockwise
    /// seen from the front.
    ///
    /// # Errors
    /// - [`ShapeError::NoTriangles`], [`ShapeError::TooManyParts`], [`ShapeError::BadIndex`],
    ///   [`ShapeError::VertexNotFinite`];
    /// - [`ShapeError::DegenerateTriangle`] where a triangle is a point or a line, to 1e-9 of its
    ///   longest side;
    /// - [`ShapeError::NonManifoldEdge`] where more than two triangles share an edge, or two run
    ///   through it in the same direction, and so disagree on where the front is;
    /// - [`ShapeError::InsideOut`] where a mesh is closed and its solid is outside of it, or has no
    ///   volume.
    pub fn new(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Result<Self, ShapeError> {
        if triangles.is_empty() {
            return Err(ShapeError::NoTriangles);
        }
        if triangles.len() > MOST_PARTS {
            return Err(ShapeError::TooManyParts {
                count: triangles.len(),
                most: MOST_PARTS,
            });
        }
        let count = vertices.len();
        for (triangle, corners) in triangles.iter().enumerate() {
            if let Some(&index) = corners.iter().find(|&&i| i as usize >= count) {
                return Err(ShapeError::BadIndex {
                    triangle,
                    index,
                    count,
                });
            }
        }
        if let Some(vertex) = vertices.iter().position(|v| !v.is_finite()) {
            return Err(ShapeError::VertexNotFinite {
                vertex,
                value: vertices[vertex],
            });
        }
        let (vertices, triangles) = weld(vertices, triangles);
        let surface = Surface::new(vertices, &triangles)?;
        if surface.is_closed {
            let volume = volume(&surface);
            // Negated, so that NaN counts as none.
            if !(volume > 0.0) {
                return Err(ShapeError::InsideOut { volume });
            }
        }
        Ok(Self { surface })
    }

    /// m, body frame.
    pub fn vertices(&self) -> &[Vec3] {
        &self.surface.vertices
    }

    /// The vertices of each triangle, counter-clockwise seen from the front.
    pub fn triangles(&self) -> impl ExactSizeIterator<Item = [u32; 3]> + '_ {
        self.surface.triangles.iter().map(|t| t.vertices)
    }

    /// Whether no edge is a boundary, so that the mesh encloses a solid.
    pub fn is_closed(&self) -> bool {
        self.surface.is_closed
    }

    /// Mass properties (body frame) of the solid inside at `density` (kg/m³).
    ///
    /// # Errors
    /// [`ShapeError::Unbounded`] for an open mesh, [`ShapeError::Mass`] for a density or size that
    /// gives no usable mass.
    pub fn mass_properties(&self, density: f64) -> Result<MassProperties, ShapeError> {
        if !self.is_closed() {
            return Err(ShapeError::Unbounded { shape: "open mesh" });
        }
        let triangles: Vec<_> = self.triangles().map(|t| t.map(|v| v as usize)).collect();
        Ok(MassProperties::mesh(self.vertices(), &triangles, density)?)
    }

    pub(crate) fn surface(&self) -> &Surface {
        &self.surface
    }
}

/// The same triangles over the vertices in use, one a position, in their order.
fn weld(vertices: &[Vec3], triangles: &[[u32; 3]]) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    // Adding zero turns -0.0 into 0.0, which is the same position.
    let key = |i: u32| (vertices[i as usize] + Vec3::ZERO).to_array();
    let mut order: Vec<u32> = triangles.iter().flatten().copied().collect();
    order.sort_unstable();
    order.dedup();
    order.sort_by(|&i, &k| {
        let (a, b) = (key(i), key(k));
        (a[0].total_cmp(&b[0]))
            .then(a[1].total_cmp(&b[1]))
            .then(a[2].total_cmp(&b[2]))
            .then(i.cmp(&k))
    });
    let mut first = vec![u32::MAX; vertices.len()];
    for group in order.chunk_by(|&i, &k| key(i) == key(k)) {
        for &i in group {
            first[i as usize] = group[0];
        }
    }
    let mut place = vec![u32::MAX; vertices.len()];
    let mut kept = Vec::new();
    for (i, &f) in first.iter().enumerate() {
        if f == i as u32 {
            place[i] = kept.len() as u32;
            kept.push(vertices[i]);
        }
    }
    let triangles = triangles
        .iter()
        .map(|t| t.map(|i| place[first[i as usize] as usize]))
        .collect();
    (kept, triangles)
}

/// Signed volume inside of a closed surface, m³.
fn volume(surface: &Surface) -> f64 {
    let origin = surface.tree.bounds().center();
    let six = (0..surface.triangles.len() as u32).fold(0.0, |sum, t| {
        let [a, b, c] = surface.corners(t).map(|p| p - origin);
        sum + a.dot(b.cross(c))
    });
    six / 6.0
}

/// Equal vertices and triangles; all else follows from them.
impl PartialEq for TriangleMesh {
    fn eq(&self, other: &Self) -> bool {
        self.vertices() == other.vertices() && self.triangles().eq(other.triangles())
    }
}

/// How a mesh is saved; it is linked again on loading, to the same bits.
#[derive(Serialize, Deserialize)]
struct Given {
    vertices: Vec<[f64; 3]>,
    triangles: Vec<[u32; 3]>,
}

impl From<TriangleMesh> for Given {
    fn from(mesh: TriangleMesh) -> Self {
        Self {
            vertices: mesh.vertices().iter().map(|v| v.to_array()).collect(),
            triangles: mesh.triangles().collect(),
        }
    }
}

impl TryFrom<Given> for TriangleMesh {
    type Error = ShapeError;

    fn try_from(given: Given) -> Result<Self, ShapeError> {
        let vertices: Vec<Vec3> = (given.vertices.iter())
            .map(|v| vec3(v[0], v[1], v[2]))
            .collect();
        Self::new(&vertices, &given.triangles)
    }
}
