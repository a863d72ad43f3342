//! Boxes and hulls as one kind of solid: vertices, faces and edges in its own frame, and its pose.

use super::placed::PlacedBox;
use crate::ConvexHull;
use crate::hull::{HullEdge, HullFace};
use moreau_math::{Mat3, Pose, Vec3, vec3};

/// A convex polyhedron in the working frame; borrows its tables from a hull or a [`BoxTables`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Polyhedron<'a> {
    /// Own frame, m.
    pub(super) vertices: &'a [Vec3],
    pub(super) faces: &'a [HullFace],
    pub(super) edges: &'a [HullEdge],
    face_vertices: &'a [u32],
    face_edges: &'a [u32],
    /// Per edge: one over the cosine of half the angle between the normals of its faces. None of bare tables.
    pub(super) edge_secants: &'a [f64],
    /// The greatest of them.
    pub(super) greatest_secant: f64,
    /// Centre and radius of a ball inside, own frame.
    pub(super) inner_ball: (Vec3, f64),
    /// Where all this comes from, if from a hull.
    pub(super) hull: Option<&'a ConvexHull>,
    /// Own axes to the working frame's.
    pub(super) rotation: Mat3,
    /// Origin of the own frame.
    pub(super) origin: Vec3,
}

impl<'a> Polyhedron<'a> {
    pub(super) fn of_hull(hull: &'a ConvexHull, pose: &Pose, origin: Vec3) -> Self {
        let (face_vertices, face_edges) = hull.loops();
        Self {
            vertices: hull.vertices(),
            faces: hull.faces(),
            edges: hull.edges(),
            face_vertices,
            face_edges,
            edge_secants: hull.edge_secants(),
            greatest_secant: hull.greatest_secant(),
            inner_ball: hull.inner_ball(),
            hull: Some(hull),
            rotation: Mat3::from_quat(pose.rotation),
            origin: pose.translation - origin,
        }
    }

    pub(super) fn of_box(b: &PlacedBox, tables: &'a BoxTables) -> Self {
        Self {
            vertices: &tables.vertices,
            faces: &tables.faces,
            edges: &BOX_EDGES,
            face_vertices: &BOX_FACE_VERTICES,
            face_edges: &BOX_FACE_EDGES,
            edge_secants: &[std::f64::consts::SQRT_2; 12],
            greatest_secant: std::f64::consts::SQRT_2,
            inner_ball: (Vec3::ZERO, b.half[0].min(b.half[1]).min(b.half[2])),
            hull: None,
            rotation: Mat3::from_cols(b.axes[0], b.axes[1], b.axes[2]),
            origin: b.center,
        }
    }

    /// From tables of vertices, of faces and edges, and of the faces' loops of vertices and edges.
    pub(super) fn of_tables(
        vertices: &'a [Vec3],
        (faces, edges): (&'a [HullFace], &'a [HullEdge]),
        (face_vertices, face_edges): (&'a [u32], &'a [u32]),
        rotation: Mat3,
        origin: Vec3,
    ) -> Self {
        Self {
            vertices,
            faces,
            edges,
            face_vertices,
            face_edges,
            edge_secants: &[],
            greatest_secant: 1.0,
            inner_ball: (Vec3::ZERO, 0.0),
            hull: None,
            rotation,
            origin,
        }
    }

    /// Point of the working frame in the own frame.
    pub(super) fn local_point(&self, point: Vec3) -> Vec3 {
        self.local_vector(point - self.origin)
    }

    /// Direction of the working frame in the own frame.
    pub(super) fn local_vector(&self, v: Vec3) -> Vec3 {
        self.rotation.transpose() * v
    }

    /// Point of the own frame in the working frame.
    pub(super) fn placed(&self, point: Vec3) -> Vec3 {
        self.rotation * point + self.origin
    }

    /// The vertices of a face, counter-clockwise from outside.
    pub(super) fn face_vertices(&self, face: &HullFace) -> &'a [u32] {
        &self.face_vertices[face.range()]
    }

    /// The edges that start at the vertices of a face.
    pub(super) fn face_edges(&self, face: &HullFace) -> &'a [u32] {
        &self.face_edges[face.range()]
    }

    /// Index of the vertex furthest along `direction` (own frame), and how far that is.
    pub(super) fn support(&self, direction: Vec3) -> (usize, f64) {
        let mut best = (0, f64::NEG_INFINITY);
        for (i, v) in self.vertices.iter().enumerate() {
            let along = v.dot(direction);
            if along > best.1 {
                best = (i, along);
            }
        }
        best
    }

    /// The ends of an edge, own frame.
    pub(super) fn ends(&self, edge: &HullEdge) -> [Vec3; 2] {
        edge.vertices.map(|v| self.vertices[v as usize])
    }

    /// Whether the projection of `point` (own frame) on a face lies inside of it.
    pub(super) fn face_holds(&self, face: &HullFace, point: Vec3) -> bool {
        let ring = self.face_vertices(face);
        let mut from = self.vertices[ring[ring.len() - 1] as usize];
        ring.iter().all(|&v| {
            let to = self.vertices[v as usize];
            let inside = face.normal.dot((to - from).cross(point - from)) >= 0.0;
            from = to;
            inside
        })
    }
}

/// The tables of a box that depend on its size.
pub(super) struct BoxTables {
    vertices: [Vec3; 8],
    faces: [HullFace; 6],
}

impl BoxTables {
    pub(super) fn new(half: [f64; 3]) -> Self {
        let side = |index: usize, axis: usize| {
            if index >> axis & 1 == 1 {
                half[axis]
            } else {
                -half[axis]
            }
        };
        let mut normals = [Vec3::ZERO; 6];
        for (i, n) in normals.iter_mut().enumerate() {
            n[i / 2] = if i % 2 == 0 { 1.0 } else { -1.0 };
        }
        let vertex = |i: usize| vec3(side(i, 0), side(i, 1), side(i, 2));
        Self {
            vertices: std::array::from_fn(vertex),
            faces: std::array::from_fn(|i| HullFace {
                normal: normals[i],
                offset: half[i / 2],
                first: 4 * i as u32,
                len: 4,
            }),
        }
    }
}

/// Corners by the bits of their sides, faces +x, -x, +y, -y, +z, -z, four corners each.
const BOX_FACE_VERTICES: [u32; 24] = [
    1, 3, 7, 5, 0, 4, 6, 2, 2, 6, 7, 3, 0, 1, 5, 4, 4, 5, 7, 6, 0, 2, 3, 1,
];

const BOX_FACE_EDGES: [u32; 24] = [
    5, 11, 7, 9, 8, 6, 10, 4, 10, 3, 11, 1, 0, 9, 2, 8, 2, 7, 3, 6, 4, 1, 5, 0,
];

/// Four edges along each axis; the loop of the first face runs along the edge, of the second back.
const BOX_EDGES: [HullEdge; 12] = [
    edge(0, 1, 3, 5),
    edge(2, 3, 5, 2),
    edge(4, 5, 4, 3),
    edge(6, 7, 2, 4),
    edge(0, 2, 5, 1),
    edge(1, 3, 0, 5),
    edge(4, 6, 1, 4),
    edge(5, 7, 4, 0),
    edge(0, 4, 1, 3),
    edge(1, 5, 3, 0),
    edge(2, 6, 2, 1),
    edge(3, 7, 0, 2),
];

const fn edge(from: u32, to: u32, first: u32, second: u32) -> HullEdge {
    HullEdge {
        vertices: [from, to],
        faces: [first, second],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_of_a_box_agree_with_each_other() {
        let b = PlacedBox::new(vec3(1.0, 2.0, 3.0), &Pose::IDENTITY, Vec3::ZERO);
        let tables = BoxTables::new(b.half);
        let p = Polyhedron::of_box(&b, &tables);
        for (f, face) in p.faces.iter().enumerate() {
            let ring = p.face_vertices(face);
            for (i, &v) in ring.iter().enumerate() {
                let next = ring[(i + 1) % 4];
                let to = p.vertices[next as usize];
                let from = p.vertices[v as usize];
                assert_eq!(face.distance(from), 0.0);
                let after = p.vertices[ring[(i + 2) % 4] as usize];
                assert!((to - from).cross(after - to).dot(face.normal) > 0.0);
                let edge = p.edges[p.face_edges(face)[i] as usize];
                let forward = edge.vertices == [v, next];
                assert!(forward || edge.vertices == [next, v], "face {f}, edge {i}");
                assert_eq!(edge.faces[usize::from(!forward)], f as u32);
            }
        }
    }
}
