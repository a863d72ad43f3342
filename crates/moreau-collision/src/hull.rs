use crate::ShapeError;
use crate::hull_builder::build;
use moreau_math::{MassError, MassProperties, Vec3, vec3};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A convex polyhedron with its faces, edges and vertices. Built once, shared by every body that
/// uses it.
///
/// **Tolerance.** With `s` the largest extent of the points, vertices closer to each other than about
/// 1e-9 `s` are one, vertices that close to an edge or face of the others are dropped, and triangles
/// coplanar to that measure are one face. Faces are planar to 1e-9 `s` and no vertex lies outside of
/// a face's plane. (Far from the origin, more than about 1e5 `s`, the rounding of the coordinates
/// takes the place of 1e-9 `s`.)
///
/// **Canonical.** Vertices are sorted by (x, y, z), loops start at their least vertex, faces and
/// edges are sorted: the hull does not depend on the order of the points given. It is saved as its
/// list of vertices and rebuilt on loading, to the same bits.
///
/// ```
/// use moreau_collision::ConvexHull;
/// use moreau_math::vec3;
///
/// let corners: Vec<_> = (0..8)
///     .map(|i| vec3(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2)))
///     .collect();
/// let cube = ConvexHull::new(&corners)?;
/// assert_eq!((cube.vertices().len(), cube.edges().len(), cube.faces().len()), (8, 12, 6));
/// assert_eq!(cube.face_vertices(0).len(), 4);
/// # Ok::<(), moreau_collision::ShapeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ConvexHull {
    vertices: Vec<Vec3>,
    faces: Vec<HullFace>,
    face_vertices: Vec<u32>,
    face_edges: Vec<u32>,
    edges: Vec<HullEdge>,
    /// Where each vertex's part of the two lists below starts, and the end of the last.
    vertex_starts: Vec<u32>,
    vertex_neighbours: Vec<u32>,
    vertex_faces: Vec<u32>,
    /// The edges to the neighbours of each vertex, as those are listed.
    vertex_edges: Vec<u32>,
    /// Per edge: one over the cosine of half the angle between the normals of its faces.
    edge_secants: Vec<f64>,
    greatest_secant: f64,
    /// A ball inside of the solid.
    inner_ball: (Vec3, f64),
    bounding_radius: f64,
    center: Vec3,
    enclosing_radius: f64,
    inner_radius: f64,
}

/// A face of a [`ConvexHull`]: the points x of its plane satisfy normal·x = offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HullFace {
    /// Unit outward normal, body frame.
    pub normal: Vec3,
    /// Distance of the plane from the body's origin along the normal, m. The plane touches the hull
    /// from outside: normal·v <= offset for every vertex, to rounding.
    pub offset: f64,
    pub(crate) first: u32,
    pub(crate) len: u32,
}

/// An edge of a [`ConvexHull`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HullEdge {
    /// Its ends, the smaller index first.
    pub vertices: [u32; 2],
    /// The faces on both sides: the loop of the first runs from `vertices[0]` to `vertices[1]`, that
    /// of the second back.
    pub faces: [u32; 2],
}

impl HullFace {
    /// Distance of `point` (m, body frame) from the plane, positive outside.
    pub fn distance(&self, point: Vec3) -> f64 {
        self.normal.dot(point) - self.offset
    }

    pub(crate) fn range(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.len) as usize
    }
}

impl ConvexHull {
    /// The hull of `points` (m, body frame). Points inside are dropped. A coordinate below 2^-200 of the
    /// largest counts as zero.
    ///
    /// # Errors
    /// [`ShapeError::NotFinite`], also for points further from the origin than the largest number,
    /// [`ShapeError::TooFewPoints`], and [`ShapeError::Flat`] where the points are thinner than about
    /// 2e-8 of their largest extent.
    pub fn new(points: &[Vec3]) -> Result<Self, ShapeError> {
        let topology = build(points)?;
        let mut hull = Self {
            bounding_radius: (topology.vertices.iter()).fold(0.0, |r: f64, &v| r.max(length(v))),
            vertices: topology.vertices,
            faces: topology.faces,
            face_vertices: topology.face_vertices,
            face_edges: topology.face_edges,
            edges: topology.edges,
            vertex_starts: Vec::new(),
            vertex_neighbours: Vec::new(),
            vertex_faces: Vec::new(),
            vertex_edges: Vec::new(),
            edge_secants: Vec::new(),
            greatest_secant: 1.0,
            inner_ball: (Vec3::ZERO, 0.0),
            center: Vec3::ZERO,
            enclosing_radius: 0.0,
            inner_radius: 0.0,
        };
        if !hull.bounding_radius.is_finite() {
            return Err(ShapeError::NotFinite {
                field: "bounding_radius",
                value: hull.bounding_radius.to_string(),
            });
        }
        hull.link_vertices();
        hull.center = hull.find_center();
        hull.edge_secants = (hull.edges.iter())
            .map(|edge| {
                let [n0, n1] = edge.faces.map(|f| hull.faces[f as usize].normal);
                2.0 / (n0 + n1).length()
            })
            .collect();
        hull.greatest_secant = hull.edge_secants.iter().copied().fold(1.0, f64::max);
        let sum = hull.vertices.iter().fold(Vec3::ZERO, |s, &v| s + v);
        let middle = sum / hull.vertices.len() as f64;
        hull.inner_ball = (middle, hull.depth(middle).max(0.0));
        hull.inner_radius = hull.depth(hull.center);
        hull.enclosing_radius = hull.bounding_radius + hull.center.length();
        Ok(hull)
    }

    /// The corners, m, body frame, sorted by (x, y, z).
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }

    /// The faces, sorted by their loops.
    pub fn faces(&self) -> &[HullFace] {
        &self.faces
    }

    /// The edges, sorted by their vertices.
    pub fn edges(&self) -> &[HullEdge] {
        &self.edges
    }

    /// The vertices of a face, counter-clockwise seen from outside, the smallest index first.
    ///
    /// # Panics
    /// Where there is no such face.
    pub fn face_vertices(&self, face: usize) -> &[u32] {
        &self.face_vertices[self.faces[face].range()]
    }

    /// The edges of a face: the i-th joins the i-th of [`face_vertices`](Self::face_vertices) to the
    /// next.
    ///
    /// # Panics
    /// Where there is no such face.
    pub fn face_edges(&self, face: usize) -> &[u32] {
        &self.face_edges[self.faces[face].range()]
    }

    /// The loops of all faces end to end: vertices, and the edges that start at them.
    pub(crate) fn loops(&self) -> (&[u32], &[u32]) {
        (&self.face_vertices, &self.face_edges)
    }

    /// Per edge: one over the cosine of half the angle between the normals of its faces.
    pub(crate) fn edge_secants(&self) -> &[f64] {
        &self.edge_secants
    }

    /// The greatest of [`edge_secants`](Self::edge_secants).
    pub(crate) fn greatest_secant(&self) -> f64 {
        self.greatest_secant
    }

    /// Radius of a ball about the centre that holds the solid, m.
    pub(crate) fn enclosing_radius(&self) -> f64 {
        self.enclosing_radius
    }

    /// Distance of the centre from the nearest face, m.
    pub(crate) fn inner_radius(&self) -> f64 {
        self.inner_radius
    }

    /// Centre and radius (m, body frame) of a ball inside of the solid.
    pub(crate) fn inner_ball(&self) -> (Vec3, f64) {
        self.inner_ball
    }

    /// The vertices joined to a vertex by an edge, counter-clockwise seen from outside, the smallest
    /// index first.
    ///
    /// # Panics
    /// Where there is no such vertex.
    pub fn vertex_neighbours(&self, vertex: usize) -> &[u32] {
        &self.vertex_neighbours[self.vertex_range(vertex)]
    }

    /// The faces about a vertex: the i-th lies between the i-th of
    /// [`vertex_neighbours`](Self::vertex_neighbours) and the next.
    ///
    /// # Panics
    /// Where there is no such vertex.
    pub fn vertex_faces(&self, vertex: usize) -> &[u32] {
        &self.vertex_faces[self.vertex_range(vertex)]
    }

    /// The edges about a vertex: the i-th leads to the i-th of
    /// [`vertex_neighbours`](Self::vertex_neighbours).
    pub(crate) fn vertex_edges(&self, vertex: usize) -> &[u32] {
        &self.vertex_edges[self.vertex_range(vertex)]
    }

    /// The centroid of the solid, m, body frame; strictly inside.
    pub fn center(&self) -> Vec3 {
        self.center
    }

    /// Greatest distance of a vertex from the body's origin, m.
    pub fn bounding_radius(&self) -> f64 {
        self.bounding_radius
    }

    /// Index of the vertex furthest along `direction` (body frame, any length); of equals the first.
    pub fn support_vertex(&self, direction: Vec3) -> usize {
        let mut best = (0, self.vertices[0].dot(direction));
        for (i, v) in self.vertices.iter().enumerate().skip(1) {
            let d = v.dot(direction);
            if d > best.1 {
                best = (i, d);
            }
        }
        best.0
    }

    /// As [`support_vertex`](Self::support_vertex), climbing along edges from the vertex `start`.
    ///
    /// Faster for hulls of some dozens of vertices when `start` is near. Of vertices that are equally
    /// far to rounding it may return any.
    pub fn support_vertex_from(&self, direction: Vec3, start: usize) -> usize {
        let mut best = (start, self.vertices[start].dot(direction));
        loop {
            let here = best.0;
            for &n in self.vertex_neighbours(here) {
                let d = self.vertices[n as usize].dot(direction);
                if d > best.1 {
                    best = (n as usize, d);
                }
            }
            if best.0 == here {
                return here;
            }
        }
    }

    /// The surface in triangles (vertex indices, counter-clockwise seen from outside): each face as
    /// a fan about its first vertex.
    pub fn triangles(&self) -> impl Iterator<Item = [u32; 3]> + '_ {
        (0..self.faces.len()).flat_map(|f| {
            let l = self.face_vertices(f);
            (1..l.len() - 1).map(move |i| [l[0], l[i], l[i + 1]])
        })
    }

    /// Mass properties (body frame) of the solid at `density` (kg/m³), by integrals over its surface.
    ///
    /// # Errors
    /// For a density that is not positive, or a mass or volume out of the range of `f64`.
    pub fn mass_properties(&self, density: f64) -> Result<MassProperties, MassError> {
        let triangles: Vec<_> = self.triangles().map(|t| t.map(|v| v as usize)).collect();
        MassProperties::mesh(&self.vertices, &triangles, density)
    }

    /// Distance of a point inside from the nearest face, m.
    fn depth(&self, point: Vec3) -> f64 {
        let depths = self.faces.iter().map(|face| -face.distance(point));
        depths.fold(f64::INFINITY, f64::min)
    }

    fn vertex_range(&self, vertex: usize) -> std::ops::Range<usize> {
        self.vertex_starts[vertex] as usize..self.vertex_starts[vertex + 1] as usize
    }

    /// Fills the lists of what lies about each vertex.
    fn link_vertices(&mut self) {
        // About a vertex, the face that leaves it towards `to` is followed by the face that leaves it
        // towards the vertex from which the first face came.
        let mut corners: Vec<(u32, u32, u32, u32)> = Vec::with_capacity(self.face_vertices.len());
        for f in 0..self.faces.len() {
            let l = self.face_vertices(f);
            let n = l.len();
            for i in 0..n {
                corners.push((l[i], l[(i + 1) % n], l[(i + n - 1) % n], f as u32));
            }
        }
        corners.sort_unstable();
        let mut start = 0;
        for v in 0..self.vertices.len() as u32 {
            self.vertex_starts.push(start as u32);
            let end = start + corners[start..].partition_point(|c| c.0 == v);
            let around = &corners[start..end];
            let mut to = around.first().map_or(0, |c| c.1);
            for _ in around {
                if let Ok(k) = around.binary_search_by_key(&to, |c| c.1) {
                    self.vertex_neighbours.push(to);
                    self.vertex_faces.push(around[k].3);
                    let ends = [v.min(to), v.max(to)];
                    let edge = self.edges.binary_search_by_key(&ends, |e| e.vertices);
                    self.vertex_edges.push(edge.unwrap_or(0) as u32);
                    to = around[k].2;
                }
            }
            start = end;
        }
        self.vertex_starts.push(start as u32);
    }

    /// Centroid by tetrahedra from the mean vertex.
    fn find_center(&self) -> Vec3 {
        let count = self.vertices.len() as f64;
        let mean = self.vertices.iter().fold(Vec3::ZERO, |s, &v| s + v / count);
        let (mut volume, mut moment) = (0.0, Vec3::ZERO);
        for t in self.triangles() {
            let [a, b, c] = t.map(|v| self.vertices[v as usize] - mean);
            let six_volumes = a.dot(b.cross(c));
            volume += six_volumes;
            moment += (a + b + c) * six_volumes;
        }
        let offset = moment / (4.0 * volume);
        // A volume that underflows leaves the mean, which is inside as well.
        if offset.is_finite() {
            mean + offset
        } else {
            mean
        }
    }
}

/// Of any vector, also where its square overflows or vanishes.
fn length(v: Vec3) -> f64 {
    let square = v.length_squared();
    if square.is_finite() && square > f64::MIN_POSITIVE {
        return v.length();
    }
    let scale = v.abs().max_element();
    if scale > 0.0 {
        scale * (v / scale).length()
    } else {
        0.0
    }
}

/// Equal vertices; all else follows from them.
impl PartialEq for ConvexHull {
    fn eq(&self, other: &Self) -> bool {
        self.vertices == other.vertices
    }
}

/// As the list of vertices.
impl Serialize for ConvexHull {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.vertices.iter().map(|v| v.to_array()))
    }
}

/// From a list of points, by building their hull.
impl<'de> Deserialize<'de> for ConvexHull {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let points: Vec<[f64; 3]> = Vec::deserialize(deserializer)?;
        let points: Vec<Vec3> = points.iter().map(|p| vec3(p[0], p[1], p[2])).collect();
        Self::new(&points).map_err(serde::de::Error::custom)
    }
}
