//! Homogeneous solids bounded by a closed triangle mesh, by signed tetrahedra.
//!
//! Symbols: a, b, c corners of a triangle, anticlockwise seen from outside, taken from a reference
//! point near the mesh; D = a·(b x c), six times the signed volume of the tetrahedron they span with
//! the reference point; s = a + b + c. Over that tetrahedron, exactly,
//!
//! ```text
//! volume          V = D/6
//! first moment    F = D/24 s
//! second moment   C = D/120 (a a' + b b' + c c' + s s')
//! ```
//!
//! (integrals of monomials over a simplex). Summed over the surface they are the integrals over the
//! solid; then c_m = F/V, C_m = C - V c_m c_m', I = density (tr(C_m) 1 - C_m).

use super::error::positive;
use super::{MassError, MassProperties};
use crate::{SymMat3, Vec3};

/// Least volume that is told from rounding, as a part of what the terms of its sum could add up to.
const FLAT: f64 = 1e-14;

impl MassProperties {
    /// The solid of `density` (kg/m³) inside a closed triangle mesh.
    ///
    /// `vertices` in m, body frame; each triangle holds three indices into them, anticlockwise seen
    /// from outside. Vertices at equal positions count as one. Convex or not, with holes through it or
    /// of several pieces; only every edge must be run through as often one way as the other.
    pub fn mesh(
        vertices: &[Vec3],
        triangles: &[[usize; 3]],
        density: f64,
    ) -> Result<Self, MassError> {
        positive("density", density)?;
        for (vertex, &value) in vertices.iter().enumerate() {
            if !value.is_finite() {
                return Err(MassError::VertexNotFinite { vertex, value });
            }
        }
        check_indices(vertices.len(), triangles)?;
        check_closed(vertices, triangles)?;
        let Some(reference) = centre_of_box(vertices, triangles) else {
            return Err(MassError::NoVolume { volume: 0.0 });
        };

        let mut volume6 = 0.0;
        let mut terms = 0.0;
        let mut first24 = Vec3::ZERO;
        let mut second120 = SymMat3::ZERO;
        for triangle in triangles {
            let [a, b, c] = triangle.map(|i| vertices[i] - reference);
            let normal = b.cross(c);
            let d = a.dot(normal);
            let s = a + b + c;
            volume6 += d;
            terms += a.length() * (b.length() * c.length());
            first24 += s * d;
            second120 = second120
                + SymMat3::outer(a, d)
                + SymMat3::outer(b, d)
                + SymMat3::outer(c, d)
                + SymMat3::outer(s, d);
        }
        let volume = volume6 / 6.0;
        if !volume.is_finite() {
            return Err(MassError::OutOfRange {
                field: "volume",
                value: volume,
            });
        }
        if volume6 <= FLAT * terms {
            return Err(MassError::NoVolume { volume });
        }

        let offset = first24 / (4.0 * volume6);
        let second = second120.scaled(1.0 / 120.0) - SymMat3::outer(offset, volume);
        let inertia = SymMat3::from_diagonal(Vec3::splat(second.trace())) - second;
        Self::solid(
            volume * density,
            reference + offset,
            inertia.scaled(density),
        )
    }
}

fn check_indices(count: usize, triangles: &[[usize; 3]]) -> Result<(), MassError> {
    for (triangle, corners) in triangles.iter().enumerate() {
        for &index in corners {
            if index >= count {
                return Err(MassError::BadIndex {
                    triangle,
                    index,
                    count,
                });
            }
        }
    }
    Ok(())
}

/// Every edge must be run through as often in one direction as in the other.
fn check_closed(vertices: &[Vec3], triangles: &[[usize; 3]]) -> Result<(), MassError> {
    let merged = merge_equal(vertices);
    // (lower, higher, whether run through downwards); sorted, so both directions are neighbours.
    let mut edges: Vec<(usize, usize, bool)> = Vec::with_capacity(3 * triangles.len());
    for triangle in triangles {
        let [a, b, c] = triangle.map(|i| merged[i]);
        for (from, to) in [(a, b), (b, c), (c, a)] {
            if from != to {
                edges.push((from.min(to), from.max(to), from > to));
            }
        }
    }
    edges.sort_unstable();
    for group in edges.chunk_by(|p, q| (p.0, p.1) == (q.0, q.1)) {
        let (low, high, _) = group[0];
        let down = group.iter().filter(|edge| edge.2).count();
        let up = group.len() - down;
        if up > down {
            let (from, to) = (low, high);
            return Err(MassError::OpenEdge { from, to });
        }
        if down > up {
            let (from, to) = (high, low);
            return Err(MassError::OpenEdge { from, to });
        }
    }
    Ok(())
}

/// For every vertex the lowest index of a vertex at the same position.
fn merge_equal(vertices: &[Vec3]) -> Vec<usize> {
    // Adding zero turns -0.0 into 0.0, which is the same position.
    let key = |i: usize| (vertices[i] + Vec3::ZERO).to_array();
    let mut order: Vec<usize> = (0..vertices.len()).collect();
    order.sort_unstable_by(|&i, &j| {
        let (a, b) = (key(i), key(j));
        a[0].total_cmp(&b[0])
            .then(a[1].total_cmp(&b[1]))
            .then(a[2].total_cmp(&b[2]))
            .then(i.cmp(&j))
    });
    let mut merged = vec![0; vertices.len()];
    for group in order.chunk_by(|&i, &j| key(i) == key(j)) {
        for &i in group {
            merged[i] = group[0];
        }
    }
    merged
}

/// Centre of the bounding box of the vertices in use.
fn centre_of_box(vertices: &[Vec3], triangles: &[[usize; 3]]) -> Option<Vec3> {
    let first = vertices[triangles.first()?[0]];
    let (mut low, mut high) = (first, first);
    for &i in triangles.iter().flatten() {
        low = low.min(vertices[i]);
        high = high.max(vertices[i]);
    }
    Some(0.5 * low + 0.5 * high)
}
