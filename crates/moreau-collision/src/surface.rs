//! Triangles that share edges and vertices, and what lies about each: what meshes and heightfields
//! are made of.
//!
//! Solid lies behind a triangle, on the side from which its corners run clockwise. An edge of two
//! triangles is *flat* where they lie in one plane to `FLAT`; triangles joined by flat edges are one
//! *patch*, named after its first triangle.

use crate::static_tree::StaticTree;
use crate::{Aabb, ShapeError};
use moreau_math::Vec3;

/// No triangle there.
pub(crate) const NONE: u32 = u32::MAX;

/// Sine of the angle between triangles up to which the edge between them is flat. No force could be
/// told from what an edge this flat makes of it.
const FLAT: f64 = 1e-7;

/// Least height of a triangle, as a part of its longest side.
const THIN: f64 = 1e-9;

/// The most vertices of a surface of which hulls are made, and that is asked whether it is convex.
pub(crate) const MOST_CONVEX: usize = 512;

/// Height of a vertex over a plane that it is said to lie in, as a part of the surface's radius.
const SAME_PLANE: f64 = FLAT;

/// Triangles with all that contacts and queries look up.
#[derive(Clone, Debug)]
pub(crate) struct Surface {
    pub(crate) vertices: Vec<Vec3>,
    pub(crate) triangles: Vec<Triangle>,
    /// Where each vertex's part of `around` starts, and the end of the last.
    around_starts: Vec<u32>,
    /// The vertices joined to a vertex by an edge.
    around: Vec<u32>,
    /// Per vertex: whether all triangles about it lie in one plane and close around it.
    flat_vertices: Vec<bool>,
    /// Triangles sorted by patch; a patch's part starts at the place of its first triangle.
    by_patch: Vec<u32>,
    pub(crate) tree: StaticTree,
    pub(crate) bounding_radius: f64,
    pub(crate) is_closed: bool,
    /// Whether it is known to be closed and convex.
    pub(crate) is_convex: bool,
}

/// A triangle and its neighbours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Triangle {
    /// Counter-clockwise seen from the front.
    pub(crate) vertices: [u32; 3],
    /// Unit, to the front.
    pub(crate) normal: Vec3,
    /// The triangle beyond the edge that starts at each vertex, or `NONE`.
    pub(crate) neighbours: [u32; 3],
    /// Whether that edge is flat.
    pub(crate) flat: [bool; 3],
    /// The first triangle of its patch.
    pub(crate) patch: u32,
    /// Where it stands in `by_patch`.
    place: u32,
}

impl Surface {
    /// Checks and links triangles.
    ///
    /// # Errors
    /// [`ShapeError::DegenerateTriangle`] and [`ShapeError::NonManifoldEdge`]; indices must be valid
    /// and coordinates finite.
    pub(crate) fn new(vertices: Vec<Vec3>, corners: &[[u32; 3]]) -> Result<Self, ShapeError> {
        let mut triangles = Vec::with_capacity(corners.len());
        for (index, &vertices_of) in corners.iter().enumerate() {
            let points = vertices_of.map(|v| vertices[v as usize]);
            let normal = unit_normal(points).ok_or(ShapeError::DegenerateTriangle {
                triangle: index,
                height: height(points),
            })?;
            triangles.push(Triangle {
                vertices: vertices_of,
                normal,
                neighbours: [NONE; 3],
                flat: [false; 3],
                patch: index as u32,
                place: 0,
            });
        }
        let boxes: Vec<Aabb> = corners
            .iter()
            .map(|t| Aabb::of_points(&t.map(|v| vertices[v as usize])))
            .collect();
        let mut surface = Self {
            bounding_radius: vertices.iter().fold(0.0, |r: f64, v| r.max(v.length())),
            vertices,
            triangles,
            around_starts: Vec::new(),
            around: Vec::new(),
            flat_vertices: Vec::new(),
            by_patch: Vec::new(),
            tree: StaticTree::new(&boxes),
            is_closed: false,
            is_convex: false,
        };
        surface.link_triangles()?;
        surface.link_vertices();
        surface.find_patches();
        surface.is_convex = surface.is_closed && surface.lies_behind_its_triangles();
        Ok(surface)
    }

    /// The corners of a triangle.
    pub(crate) fn corners(&self, triangle: u32) -> [Vec3; 3] {
        let vertices = self.triangles[triangle as usize].vertices;
        vertices.map(|v| self.vertices[v as usize])
    }

    /// The vertices joined to a vertex by an edge.
    pub(crate) fn around(&self, vertex: u32) -> &[u32] {
        let v = vertex as usize;
        &self.around[self.around_starts[v] as usize..self.around_starts[v + 1] as usize]
    }

    /// Whether a vertex lies inside of a patch.
    pub(crate) fn is_flat_vertex(&self, vertex: u32) -> bool {
        self.flat_vertices[vertex as usize]
    }

    /// The triangles of the patch that starts with the triangle `first`.
    pub(crate) fn patch(&self, first: u32) -> &[u32] {
        let start = self.triangles[first as usize].place as usize;
        let rest = &self.by_patch[start..];
        let same = |&t: &u32| self.triangles[t as usize].patch == first;
        &rest[..rest.iter().take_while(|t| same(t)).count()]
    }

    /// The corner of a triangle that is none of an edge's ends.
    pub(crate) fn opposite(&self, triangle: u32, edge: [u32; 2]) -> Option<Vec3> {
        let vertices = self.triangles.get(triangle as usize)?.vertices;
        let corner = vertices.into_iter().find(|v| !edge.contains(v))?;
        Some(self.vertices[corner as usize])
    }

    /// The vertex furthest along `direction`; of equals the first.
    pub(crate) fn support(&self, direction: Vec3) -> Vec3 {
        let first = (self.vertices[0].dot(direction), self.vertices[0]);
        let further = |best: (f64, Vec3), v: &Vec3| {
            let along = v.dot(direction);
            if along > best.0 { (along, *v) } else { best }
        };
        self.vertices.iter().fold(first, further).1
    }

    /// Finds what lies beyond each edge, and which edges are flat.
    fn link_triangles(&mut self) -> Result<(), ShapeError> {
        // (lower vertex, higher vertex, runs downwards, triangle, side)
        let mut edges: Vec<(u32, u32, bool, u32, usize)> = Vec::new();
        for (index, triangle) in self.triangles.iter().enumerate() {
            for side in 0..3 {
                let (from, to) = (triangle.vertices[side], triangle.vertices[(side + 1) % 3]);
                edges.push((from.min(to), from.max(to), from > to, index as u32, side));
            }
        }
        edges.sort_unstable();
        self.is_closed = true;
        for group in edges.chunk_by(|p, q| (p.0, p.1) == (q.0, q.1)) {
            match *group {
                [_] => self.is_closed = false,
                [(from, to, false, t, i), (_, _, true, u, k)] => {
                    self.triangles[t as usize].neighbours[i] = u;
                    self.triangles[u as usize].neighbours[k] = t;
                    let flat = self.is_flat([t, u], [from, to]);
                    self.triangles[t as usize].flat[i] = flat;
                    self.triangles[u as usize].flat[k] = flat;
                }
                _ => {
                    return Err(ShapeError::NonManifoldEdge {
                        triangle: group[group.len() - 1].3 as usize,
                        other: group[0].3 as usize,
                        triangles: group.len(),
                    });
                }
            }
        }
        Ok(())
    }

    fn is_flat(&self, [t, u]: [u32; 2], edge: [u32; 2]) -> bool {
        let normals = [t, u].map(|t| self.triangles[t as usize].normal);
        let start = self.vertices[edge[0] as usize];
        let in_plane = |normal: Vec3, triangle: u32| {
            self.opposite(triangle, edge).is_some_and(|corner| {
                let arm = corner - start;
                normal.dot(arm).abs() <= FLAT * arm.length()
            })
        };
        normals[0].dot(normals[1]) > 0.0 && in_plane(normals[0], u) && in_plane(normals[1], t)
    }

    /// Whether no vertex is before the plane of a triangle; not looked at where there are many.
    fn lies_behind_its_triangles(&self) -> bool {
        let tolerance = SAME_PLANE * self.bounding_radius;
        let is_behind = |t: &Triangle| {
            let height = t.normal.dot(self.vertices[t.vertices[0] as usize]);
            let is_below = |v: &Vec3| t.normal.dot(*v) <= height + tolerance;
            self.vertices.iter().all(is_below)
        };
        self.vertices.len() <= MOST_CONVEX && self.triangles.iter().all(is_behind)
    }

    fn link_vertices(&mut self) {
        let mut links: Vec<(u32, u32)> = Vec::with_capacity(6 * self.triangles.len());
        let mut sharp = vec![false; self.vertices.len()];
        for triangle in &self.triangles {
            for side in 0..3 {
                let (from, to) = (triangle.vertices[side], triangle.vertices[(side + 1) % 3]);
                links.extend([(from, to), (to, from)]);
                if !triangle.flat[side] {
                    sharp[from as usize] = true;
                    sharp[to as usize] = true;
                }
            }
        }
        links.sort_unstable();
        links.dedup();
        self.flat_vertices = sharp.iter().map(|s| !s).collect();
        self.around_starts = vec![0; self.vertices.len() + 1];
        for &(from, to) in &links {
            self.around_starts[from as usize + 1] += 1;
            self.around.push(to);
        }
        for v in 0..self.vertices.len() {
            self.around_starts[v + 1] += self.around_starts[v];
        }
    }

    fn find_patches(&mut self) {
        let mut found = vec![false; self.triangles.len()];
        let mut waiting = Vec::new();
        for first in 0..self.triangles.len() as u32 {
            if std::mem::replace(&mut found[first as usize], true) {
                continue;
            }
            waiting.push(first);
            while let Some(index) = waiting.pop() {
                let triangle = &mut self.triangles[index as usize];
                triangle.patch = first;
                for side in 0..3 {
                    let next = triangle.neighbours[side];
                    if triangle.flat[side] && !std::mem::replace(&mut found[next as usize], true) {
                        waiting.push(next);
                    }
                }
            }
        }
        self.by_patch = (0..self.triangles.len() as u32).collect();
        let triangles = &self.triangles;
        self.by_patch
            .sort_unstable_by_key(|&t| (triangles[t as usize].patch, t));
        for (place, &t) in self.by_patch.iter().enumerate() {
            self.triangles[t as usize].place = place as u32;
        }
    }
}

/// The unit normal of a triangle; `None` where it is too thin to have one.
fn unit_normal([a, b, c]: [Vec3; 3]) -> Option<Vec3> {
    let longest = (b - a).length().max((c - b).length()).max((a - c).length());
    // Negated, so that NaN counts as thin.
    if !(height([a, b, c]) > THIN * longest) {
        return None;
    }
    // Scaled, so that the areas of very small triangles do not vanish.
    let (u, v) = ((b - a) / longest, (c - a) / longest);
    let once = u.cross(v).normalize();
    let normal = once / once.length();
    normal.is_finite().then_some(normal)
}

/// Least height of a triangle, m.
fn height([a, b, c]: [Vec3; 3]) -> f64 {
    let longest = (b - a).length().max((c - b).length()).max((a - c).length());
    if longest == 0.0 {
        return 0.0;
    }
    ((b - a) / longest).cross((c - a) / longest).length() * longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use moreau_math::vec3;

    /// A pyramid over a square, closed, its tip at `height` over it.
    fn pyramid(height: f64) -> Surface {
        let corner = |x: f64, z: f64| vec3(x, 0.0, z);
        let vertices = vec![
            corner(-1.0, -1.0),
            corner(1.0, -1.0),
            corner(1.0, 1.0),
            corner(-1.0, 1.0),
            vec3(0.0, height, 0.0),
            vec3(0.0, -1.0, 0.0),
        ];
        let sides = [[0, 1], [1, 2], [2, 3], [3, 0]];
        let triangles: Vec<[u32; 3]> = sides
            .iter()
            .flat_map(|&[a, b]| [[b, a, 4], [a, b, 5]])
            .collect();
        Surface::new(vertices, &triangles).unwrap()
    }

    #[test]
    fn closed_surfaces_without_dents_are_convex() {
        assert!(pyramid(0.5).is_convex);
        assert!(pyramid(1e-9).is_convex);
        assert!(pyramid(-1e-9).is_convex);
        assert!(!pyramid(-0.1).is_convex);
        let open = Surface::new(vec![Vec3::X, Vec3::Y, Vec3::Z], &[[0, 1, 2]]).unwrap();
        assert!(!open.is_convex);
    }
}
