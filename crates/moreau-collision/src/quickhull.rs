//! The triangulated hull of a point set, with exact predicates.
//!
//! Quickhull (Barber, Dobkin, Huhdanpaa 1996): every point outside waits in the list of one
//! triangle that it is above; the furthest of a list joins the hull, the triangles it sees are
//! replaced by a fan over their border, and their lists are dealt out to the fan.
//!
//! "Above" is the sign of the exact determinant |b - a, c - a, p - a| (crate `robust`), so that the
//! surface is closed and convex whatever the rounding of the input. A point in the plane of a
//! triangle is not above it: coplanar triangles stay, and no triangle is ever without area.
//!
//! The result is a function of the points and of their order.

use moreau_math::Vec3;
use robust::{Coord3D, orient3d};

/// A triangle of the surface, counter-clockwise seen from outside.
#[derive(Clone, Debug)]
pub(crate) struct Triangle {
    pub(crate) vertices: [u32; 3],
    /// `neighbours[i]` lies across the edge from `vertices[i]` to `vertices[i + 1]`.
    pub(crate) neighbours: [u32; 3],
}

/// Four affinely independent points of a set, and how thick the set is across their base.
pub(crate) struct Simplex {
    vertices: [u32; 4],
    /// Greatest distance of a point from the base plane: at most the extent of the set, and within a
    /// small factor of its least width.
    pub(crate) thickness: f64,
}

/// A wide simplex among the points, or `Err(thickness)` where they lie in a plane.
pub(crate) fn simplex(points: &[Vec3]) -> Result<Simplex, f64> {
    let a = 0;
    let b = furthest(points, |p| (p - points[0]).length_squared());
    let axis = points[b] - points[a];
    let c = furthest(points, |p| axis.cross(p - points[a]).length_squared());
    let normal = axis.cross(points[c] - points[a]);
    let length = normal.length();
    if length == 0.0 {
        return Err(0.0);
    }
    let distance = |p: Vec3| (normal.dot(p - points[a]) / length).abs();
    let d = furthest(points, distance);
    let thickness = distance(points[d]);
    let vertices = [a, b, c, d].map(|i| i as u32);
    match side(points, [vertices[0], vertices[1], vertices[2]], vertices[3]) {
        s if s > 0.0 => Ok(Simplex {
            vertices: [vertices[0], vertices[2], vertices[1], vertices[3]],
            thickness,
        }),
        s if s < 0.0 => Ok(Simplex {
            vertices,
            thickness,
        }),
        _ => Err(thickness),
    }
}

/// The triangulated hull of `points`, grown from `simplex`.
pub(crate) fn triangulate(points: &[Vec3], simplex: &Simplex) -> Vec<Triangle> {
    let mut hull = Builder::new(points, simplex);
    let mut next = 0;
    // Fans are appended, so one pass over the growing list meets every list of waiting points.
    while next < hull.triangles.len() {
        match hull.furthest_waiting(next) {
            Some(point) => hull.add(point, next as u32),
            None => next += 1,
        }
    }
    hull.finish()
}

/// Index of the first point with the greatest `measure`.
fn furthest(points: &[Vec3], measure: impl Fn(Vec3) -> f64) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (i, &p) in points.iter().enumerate() {
        let m = measure(p);
        if m > best.1 {
            best = (i, m);
        }
    }
    best.0
}

/// Positive where the point is above the triangle (on its outer side), zero exactly in its plane.
fn side(points: &[Vec3], triangle: [u32; 3], point: u32) -> f64 {
    let coord = |i: u32| {
        let p = points[i as usize];
        Coord3D {
            x: p.x,
            y: p.y,
            z: p.z,
        }
    };
    let [a, b, c] = triangle;
    -orient3d(coord(a), coord(b), coord(c), coord(point))
}

struct Builder<'a> {
    points: &'a [Vec3],
    triangles: Vec<Triangle>,
    /// Points above each triangle, each point in one list only.
    waiting: Vec<Vec<u32>>,
    alive: Vec<bool>,
}

impl<'a> Builder<'a> {
    fn new(points: &'a [Vec3], simplex: &Simplex) -> Self {
        // The apex d is below the base (a, b, c).
        let [a, b, c, d] = simplex.vertices;
        let triangles = vec![
            triangle([a, b, c], [1, 2, 3]),
            triangle([b, a, d], [0, 3, 2]),
            triangle([c, b, d], [0, 1, 3]),
            triangle([a, c, d], [0, 2, 1]),
        ];
        let mut builder = Self {
            points,
            triangles,
            waiting: vec![Vec::new(); 4],
            alive: vec![true; 4],
        };
        for p in 0..points.len() as u32 {
            builder.wait(p, 0);
        }
        builder
    }

    /// Puts the point in the list of the first triangle from `first` on that it is above.
    fn wait(&mut self, point: u32, first: usize) {
        for t in first..self.triangles.len() {
            if side(self.points, self.triangles[t].vertices, point) > 0.0 {
                self.waiting[t].push(point);
                return;
            }
        }
    }

    fn furthest_waiting(&self, t: usize) -> Option<u32> {
        let [a, b, c] = self.triangles[t].vertices.map(|i| self.points[i as usize]);
        let normal = (b - a).cross(c - a);
        let mut best: Option<(u32, f64)> = None;
        for &p in &self.waiting[t] {
            let distance = normal.dot(self.points[p as usize] - a);
            if best.is_none_or(|(_, d)| distance > d) {
                best = Some((p, distance));
            }
        }
        best.map(|(p, _)| p)
    }

    /// Adds `point`, which is above triangle `seen`.
    fn add(&mut self, point: u32, seen: u32) {
        let visible = self.visible_from(point, seen);
        let fan = self.border(&visible);
        let first = self.triangles.len();
        let mut orphans = Vec::new();
        for &t in &visible {
            orphans.append(&mut self.waiting[t as usize]);
        }
        // One triangle over each border edge; the edges follow each other round the border.
        let count = fan.len();
        for (i, edge) in fan.iter().enumerate() {
            let this = (first + i) as u32;
            let after = (first + (i + 1) % count) as u32;
            let before = (first + (i + count - 1) % count) as u32;
            self.triangles.push(triangle(
                [edge.from, edge.to, point],
                [edge.outside, after, before],
            ));
            self.waiting.push(Vec::new());
            self.alive.push(true);
            self.triangles[edge.outside as usize].neighbours[edge.outside_slot] = this;
        }
        for p in orphans {
            if p != point {
                self.wait(p, first);
            }
        }
    }

    /// Takes out the connected triangles that `point` is above, in order of discovery.
    fn visible_from(&mut self, point: u32, seen: u32) -> Vec<u32> {
        let mut visible = vec![seen];
        self.alive[seen as usize] = false;
        let mut next = 0;
        while next < visible.len() {
            for n in self.triangles[visible[next] as usize].neighbours {
                if self.alive[n as usize]
                    && side(self.points, self.triangles[n as usize].vertices, point) > 0.0
                {
                    self.alive[n as usize] = false;
                    visible.push(n);
                }
            }
            next += 1;
        }
        visible
    }

    /// The border of the region just taken out, as a closed chain of edges.
    fn border(&self, visible: &[u32]) -> Vec<BorderEdge> {
        let mut edges = Vec::new();
        for &t in visible {
            let here = &self.triangles[t as usize];
            for i in 0..3 {
                let outside = here.neighbours[i];
                if !self.alive[outside as usize] {
                    continue;
                }
                let (from, to) = (here.vertices[i], here.vertices[(i + 1) % 3]);
                let across = &self.triangles[outside as usize];
                let outside_slot = (0..3).find(|&k| across.vertices[k] == to).unwrap_or(0);
                edges.push(BorderEdge {
                    from,
                    to,
                    outside,
                    outside_slot,
                });
            }
        }
        // The region is a disc, so each vertex starts one edge of its border.
        for i in 1..edges.len() {
            let wanted = edges[i - 1].to;
            if let Some(k) = (i..edges.len()).find(|&k| edges[k].from == wanted) {
                edges.swap(i, k);
            }
        }
        edges
    }

    /// The living triangles, renumbered.
    fn finish(self) -> Vec<Triangle> {
        let mut renumbered = vec![u32::MAX; self.triangles.len()];
        let mut count = 0;
        for (t, slot) in renumbered.iter_mut().enumerate() {
            if self.alive[t] {
                *slot = count;
                count += 1;
            }
        }
        let alive = self.alive;
        (self.triangles.into_iter().enumerate())
            .filter(|(t, _)| alive[*t])
            .map(|(_, t)| Triangle {
                vertices: t.vertices,
                neighbours: t.neighbours.map(|n| renumbered[n as usize]),
            })
            .collect()
    }
}

struct BorderEdge {
    from: u32,
    to: u32,
    outside: u32,
    /// Which side of `outside` this edge is.
    outside_slot: usize,
}

fn triangle(vertices: [u32; 3], neighbours: [u32; 3]) -> Triangle {
    Triangle {
        vertices,
        neighbours,
    }
}
