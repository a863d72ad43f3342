//! From points to the faces, edges and vertices of a convex polyhedron.
//!
//! One pass over a point set, sorted by (x, y, z):
//!
//! 1. the exact triangulated hull (`quickhull`);
//! 2. of vertices closer to each other than `tolerance` the later ones are dropped;
//! 3. the middle vertex of a triangle lower than `tolerance` is dropped: it lies on an edge;
//! 4. starting from the largest triangle, connected triangles whose vertices all lie within
//!    `tolerance` of its plane become one face;
//! 5. corners of a face that turn inwards, or outwards by less than `tolerance`, are dropped, and so
//!    are vertices with fewer than three faces: they lie in an edge or a face.
//!
//! Where a pass drops a point the next pass starts from what is left, until nothing changes. So the
//! hull is a function of its own vertices, and building it from them again gives the same bits.
//!
//! Work is done in coordinates scaled by a power of two to below 2, which is exact. Those below
//! `VANISHING` of the largest count as zero: of products of smaller ones the exact predicates would lose
//! what tells points apart.

use crate::ShapeError;
use crate::area_vector::area_vector;
use crate::hull::{HullEdge, HullFace};
use crate::quickhull::{Triangle, simplex, triangulate};
use moreau_math::Vec3;

/// Distance from its plane, relative to the largest extent, at which a vertex belongs to a face, and
/// at which two vertices are one. The sum of what all steps may move stays below four times this.
const TOLERANCE: f64 = 2.5e-10;

/// Rounding of the coordinates themselves, relative to the largest of them.
const COORDINATE_ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Coordinate, relative to the largest, below which it is zero: 2^-200. The last bits of the products of
/// three then lie above 2^-760, where nothing underflows.
const VANISHING: f64 = 1.0 / ((1_u128 << 100) as f64 * (1_u128 << 100) as f64);

/// Thickness in units of the tolerance below which a point set is flat.
const FLAT: f64 = 80.0;

/// Faces, edges and incidences of a polyhedron, in the layout of `ConvexHull`.
#[derive(Default)]
pub(crate) struct Topology {
    pub(crate) vertices: Vec<Vec3>,
    pub(crate) faces: Vec<HullFace>,
    pub(crate) face_vertices: Vec<u32>,
    pub(crate) face_edges: Vec<u32>,
    pub(crate) edges: Vec<HullEdge>,
}

/// The polyhedron around `points`; see the top of the file.
pub(crate) fn build(points: &[Vec3]) -> Result<Topology, ShapeError> {
    check(points)?;
    // -0.0 becomes 0.0, so that equal points are equal bits.
    let mut sorted: Vec<Vec3> = points.iter().map(|&p| p + Vec3::ZERO).collect();
    sort(&mut sorted);
    let scale = power_of_two_near(&sorted);
    let present = |x: f64| if x.abs() < VANISHING { 0.0 } else { x };
    let mut points: Vec<Vec3> = sorted.iter().map(|&p| (p / scale).map(present)).collect();
    // Where coordinates vanished.
    sort(&mut points);
    loop {
        match pass(&points).map_err(|e| unscaled(e, scale))? {
            Pass::Done(faces) => {
                let vertices = points.iter().map(|&p| p * scale).collect();
                return Ok(assemble(&points, vertices, faces, scale));
            }
            Pass::Keep(kept) => points = kept,
        }
    }
}

/// By (x, y, z), each point once.
fn sort(points: &mut Vec<Vec3>) {
    points.sort_unstable_by(|a, b| {
        (a.x.total_cmp(&b.x))
            .then(a.y.total_cmp(&b.y))
            .then(a.z.total_cmp(&b.z))
    });
    points.dedup();
}

fn check(points: &[Vec3]) -> Result<(), ShapeError> {
    for (i, p) in points.iter().enumerate() {
        if !p.is_finite() {
            return Err(ShapeError::NotFinite {
                field: "points",
                value: format!("{p} at index {i}"),
            });
        }
    }
    if points.len() < 4 {
        return Err(ShapeError::TooFewPoints {
            count: points.len(),
        });
    }
    Ok(())
}

/// The least power of two above every coordinate, or the greatest there is; 1 where none is normal.
fn power_of_two_near(points: &[Vec3]) -> f64 {
    let largest = (points.iter()).fold(0.0, |m: f64, p| m.max(p.abs().max_element()));
    // Clearing the fraction bits leaves the power of two at or below.
    let below = f64::from_bits(largest.to_bits() & 0x7ff0_0000_0000_0000);
    let above = 2.0 * below;
    if !above.is_finite() {
        below
    } else if below > 0.0 {
        above
    } else {
        1.0
    }
}

fn unscaled(error: ShapeError, scale: f64) -> ShapeError {
    match error {
        ShapeError::Flat { thickness } => ShapeError::Flat {
            thickness: thickness * scale,
        },
        other => other,
    }
}

enum Pass {
    /// Every point is a vertex.
    Done(Vec<MergedFace>),
    /// The points that are left, still sorted.
    Keep(Vec<Vec3>),
}

fn pass(points: &[Vec3]) -> Result<Pass, ShapeError> {
    let tolerance = tolerance(points);
    let simplex = simplex(points).map_err(|thickness| ShapeError::Flat { thickness })?;
    if simplex.thickness <= FLAT * tolerance {
        return Err(ShapeError::Flat {
            thickness: simplex.thickness,
        });
    }
    let triangles = triangulate(points, &simplex);
    let mut keep = vec![false; points.len()];
    for t in &triangles {
        t.vertices.iter().for_each(|&v| keep[v as usize] = true);
    }
    let vertex_count = keep.iter().filter(|k| **k).count();
    let remaining = |keep: &[bool]| {
        let kept = points.iter().zip(keep).filter(|(_, k)| **k);
        kept.map(|(p, _)| *p).collect::<Vec<_>>()
    };
    if drop_duplicates(points, tolerance, &mut keep)
        || drop_slivers(points, &triangles, tolerance, &mut keep)
    {
        return Ok(Pass::Keep(remaining(&keep)));
    }
    let faces = merge(points, &triangles, tolerance);
    if drop_blunt_corners(points, &faces, tolerance, &mut keep) {
        return Ok(Pass::Keep(remaining(&keep)));
    }
    let mut degree = vec![0; points.len()];
    for v in faces.iter().flat_map(|f| &f.outline) {
        degree[*v as usize] += 1;
    }
    for (k, d) in keep.iter_mut().zip(&degree) {
        *k &= *d >= 3;
    }
    let kept = keep.iter().filter(|k| **k).count();
    if kept == points.len() && kept == vertex_count {
        return Ok(Pass::Done(faces));
    }
    Ok(Pass::Keep(remaining(&keep)))
}

fn tolerance(points: &[Vec3]) -> f64 {
    let (mut min, mut max) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for &p in points {
        (min, max) = (min.min(p), max.max(p));
    }
    let largest = min.abs().max(max.abs()).max_element();
    (TOLERANCE * (max - min).max_element()).max(COORDINATE_ROUNDING * largest)
}

/// Step 2. The points are sorted by x, so a point is compared with the few before it.
fn drop_duplicates(points: &[Vec3], tolerance: f64, keep: &mut [bool]) -> bool {
    let mut dropped = false;
    for i in (0..points.len()).filter(|i| keep[*i]).collect::<Vec<_>>() {
        let mut near = (0..i)
            .rev()
            .take_while(|&k| points[i].x - points[k].x <= tolerance);
        if near.any(|k| keep[k] && points[i].distance(points[k]) <= tolerance) {
            keep[i] = false;
            dropped = true;
        }
    }
    dropped
}

/// Step 3. The ends of the edge that a vertex lies on stay for this pass, so that every dropped
/// vertex is close to an edge of what is left.
fn drop_slivers(
    points: &[Vec3],
    triangles: &[Triangle],
    tolerance: f64,
    keep: &mut [bool],
) -> bool {
    let mut drops = Drops::new(keep);
    for t in triangles {
        let corner = |i: usize| points[t.vertices[i % 3] as usize];
        let length = |i: usize| corner(i).distance(corner(i + 1));
        let longest = (1..3).fold(0, |best, i| if length(i) > length(best) { i } else { best });
        let edge = corner(longest + 1) - corner(longest);
        let area = edge.cross(corner(longest + 2) - corner(longest)).length();
        if area <= tolerance * edge.length() {
            let [a, b, middle] = [longest, longest + 1, longest + 2].map(|i| t.vertices[i % 3]);
            drops.drop_between(a, middle, b);
        }
    }
    drops.any
}

/// Step 5. After it every face is convex, to rounding.
fn drop_blunt_corners(
    points: &[Vec3],
    faces: &[MergedFace],
    tolerance: f64,
    keep: &mut [bool],
) -> bool {
    let mut drops = Drops::new(keep);
    for face in faces {
        let n = face.outline.len();
        for i in 0..n {
            let [a, v, b] = [i, i + 1, i + 2].map(|k| face.outline[k % n]);
            let [pa, pv, pb] = [a, v, b].map(|k| points[k as usize]);
            let chord = pb - pa;
            let height = face.normal.dot((pv - pa).cross(chord)) / chord.length();
            let between = chord.dot(pv - pa) > 0.0 && chord.dot(pb - pv) > 0.0;
            if height <= 0.0 || (height <= tolerance && between) {
                drops.drop_between(a, v, b);
            }
        }
    }
    drops.any
}

/// Vertices dropped in one pass.
struct Drops<'a> {
    keep: &'a mut [bool],
    /// A vertex was dropped because of this one.
    needed: Vec<bool>,
    any: bool,
}

impl<'a> Drops<'a> {
    fn new(keep: &'a mut [bool]) -> Self {
        Self {
            needed: vec![false; keep.len()],
            keep,
            any: false,
        }
    }

    /// Drops `middle`, unless one of the three has played its part in this pass already.
    fn drop_between(&mut self, a: u32, middle: u32, b: u32) {
        let [a, middle, b] = [a, middle, b].map(|i| i as usize);
        if self.keep[a] && self.keep[b] && self.keep[middle] && !self.needed[middle] {
            self.keep[middle] = false;
            self.needed[a] = true;
            self.needed[b] = true;
            self.any = true;
        }
    }
}

struct MergedFace {
    outline: Vec<u32>,
    /// Of the largest triangle.
    normal: Vec3,
}

/// Step 4.
fn merge(points: &[Vec3], triangles: &[Triangle], tolerance: f64) -> Vec<MergedFace> {
    let normals: Vec<Vec3> = triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.vertices.map(|v| points[v as usize]);
            area_vector(a, b, c)
        })
        .collect();
    let mut order: Vec<usize> = (0..triangles.len()).collect();
    // Stable: equal areas keep the order of the triangles.
    order.sort_by(|&a, &b| normals[b].length().total_cmp(&normals[a].length()));
    let mut taken = vec![false; triangles.len()];
    let mut faces = Vec::new();
    for seed in order {
        if taken[seed] {
            continue;
        }
        let normal = normals[seed].normalize();
        let origin = points[triangles[seed].vertices[0] as usize];
        let in_plane = |t: usize| {
            normals[t].dot(normal) > 0.0
                && triangles[t]
                    .vertices
                    .iter()
                    .all(|&v| normal.dot(points[v as usize] - origin).abs() <= tolerance)
        };
        taken[seed] = true;
        let mut patch = vec![seed];
        let mut next = 0;
        while next < patch.len() {
            for n in triangles[patch[next]].neighbours {
                let n = n as usize;
                if !taken[n] && in_plane(n) {
                    taken[n] = true;
                    patch.push(n);
                }
            }
            next += 1;
        }
        match outline(triangles, &patch) {
            Some(outline) => faces.push(MergedFace { outline, normal }),
            // A patch that is no disc stays in triangles.
            None => faces.extend(patch.iter().map(|&t| MergedFace {
                outline: triangles[t].vertices.to_vec(),
                normal: normals[t].normalize(),
            })),
        }
    }
    faces
}

/// The border of connected triangles, or `None` where it is not one simple loop.
fn outline(triangles: &[Triangle], patch: &[usize]) -> Option<Vec<u32>> {
    let mut inside: Vec<u32> = patch.iter().map(|&t| t as u32).collect();
    inside.sort_unstable();
    let mut border: Vec<(u32, u32)> = Vec::new();
    for &t in patch {
        let t = &triangles[t];
        for i in 0..3 {
            if inside.binary_search(&t.neighbours[i]).is_err() {
                border.push((t.vertices[i], t.vertices[(i + 1) % 3]));
            }
        }
    }
    border.sort_unstable();
    if border.windows(2).any(|w| w[0].0 == w[1].0) {
        return None;
    }
    let &(start, mut to) = border.first()?;
    let mut outline = vec![start];
    while to != start {
        outline.push(to);
        let k = border.binary_search_by_key(&to, |e| e.0).ok()?;
        to = border[k].1;
    }
    (outline.len() == border.len()).then_some(outline)
}

/// Numbers faces and edges canonically: loops start at their least vertex, faces are sorted by their
/// loops and edges by their vertices.
fn assemble(
    points: &[Vec3],
    vertices: Vec<Vec3>,
    mut faces: Vec<MergedFace>,
    scale: f64,
) -> Topology {
    for face in &mut faces {
        let l = &mut face.outline;
        let least = (0..l.len()).min_by_key(|&i| l[i]).unwrap_or(0);
        l.rotate_left(least);
    }
    faces.sort_by(|a, b| a.outline.cmp(&b.outline));

    let mut topology = Topology {
        vertices,
        ..Topology::default()
    };
    // (least vertex, greatest vertex, runs upwards, face, place in `face_edges`).
    let mut sides = Vec::new();
    for (f, face) in faces.iter().enumerate() {
        let l = &face.outline;
        let first = topology.face_vertices.len();
        for (i, &v) in l.iter().enumerate() {
            let w = l[(i + 1) % l.len()];
            sides.push((v.min(w), v.max(w), v > w, f as u32, first + i));
        }
        let (normal, offset) = plane(points, face);
        topology.faces.push(HullFace {
            normal,
            offset: offset * scale,
            first: first as u32,
            len: l.len() as u32,
        });
        topology.face_vertices.extend(l);
    }
    sides.sort_unstable();
    topology.face_edges = vec![0; sides.len()];
    for pair in sides.chunks_exact(2) {
        let e = topology.edges.len() as u32;
        topology.edges.push(HullEdge {
            vertices: [pair[0].0, pair[0].1],
            faces: [pair[0].3, pair[1].3],
        });
        topology.face_edges[pair[0].4] = e;
        topology.face_edges[pair[1].4] = e;
    }
    topology
}

/// Normal and offset of the plane that touches all points from outside and is closest to the face's
/// corners: of the mean normal of the face (Newell), which evens out rounding, and that of its
/// largest triangle, which a narrow face needs.
fn plane(points: &[Vec3], face: &MergedFace) -> (Vec3, f64) {
    let corner = |i: usize| points[face.outline[i] as usize];
    let arm = |i: usize| corner(i) - corner(0);
    let n = face.outline.len();
    let sum = (1..n - 1).fold(Vec3::ZERO, |sum, i| sum + arm(i).cross(arm(i + 1)));
    let offset = |normal: Vec3| {
        points
            .iter()
            .map(|p| normal.dot(*p))
            .fold(f64::MIN, f64::max)
    };
    let gap = |normal: Vec3, offset: f64| {
        let corners = (0..n).map(|i| offset - normal.dot(corner(i)));
        corners.fold(0.0, f64::max)
    };
    let mean = sum.normalize_or(face.normal);
    let (mean_offset, offset) = (offset(mean), offset(face.normal));
    if gap(mean, mean_offset) <= gap(face.normal, offset) {
        (mean, mean_offset)
    } else {
        (face.normal, offset)
    }
}
