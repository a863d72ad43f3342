//! Separations by brute force: all axes, all pairs of features, no shortcuts.

use moreau_collision::{ConvexHull, Shape};
use moreau_math::{Pose, Vec3, vec3};

/// A core (point, segment or polytope) in the world frame, and the radius around it.
pub struct Solid {
    pub vertices: Vec<Vec3>,
    /// Normal, offset, corners.
    pub faces: Vec<(Vec3, f64, Vec<Vec3>)>,
    pub edges: Vec<[Vec3; 2]>,
    pub radius: f64,
}

impl Solid {
    pub fn new(shape: &Shape, pose: &Pose) -> Self {
        let mut out = Self {
            vertices: Vec::new(),
            faces: Vec::new(),
            edges: Vec::new(),
            radius: 0.0,
        };
        match shape {
            Shape::Sphere { radius } => {
                out.radius = *radius;
                out.vertices.push(pose.translation);
            }
            Shape::Capsule {
                half_height,
                radius,
            } => {
                out.radius = *radius;
                let ends =
                    [-half_height, *half_height].map(|y| pose.transform_point(vec3(0.0, y, 0.0)));
                out.vertices.extend(ends);
                out.edges.push(ends);
            }
            Shape::Cuboid { half_extents: h } => {
                let Shape::Hull(hull) = super::box_hull(h.x, h.y, h.z) else {
                    unreachable!()
                };
                out.add_hull(&hull, pose);
            }
            Shape::Hull(hull) => out.add_hull(hull, pose),
            other => panic!("a {} has no vertices", other.kind()),
        }
        out
    }

    fn add_hull(&mut self, hull: &ConvexHull, pose: &Pose) {
        self.vertices
            .extend(hull.vertices().iter().map(|&v| pose.transform_point(v)));
        for (i, face) in hull.faces().iter().enumerate() {
            let corners = (hull.face_vertices(i).iter())
                .map(|&v| self.vertices[v as usize])
                .collect();
            let normal = pose.transform_vector(face.normal);
            let offset = face.offset + normal.dot(pose.translation);
            self.faces.push((normal, offset, corners));
        }
        for edge in hull.edges() {
            self.edges
                .push(edge.vertices.map(|v| self.vertices[v as usize]));
        }
    }

    /// Greatest extent of the core along `n`.
    pub fn support(&self, n: Vec3) -> f64 {
        (self.vertices.iter()).fold(f64::NEG_INFINITY, |m, v| m.max(v.dot(n)))
    }

    /// Signed distance of a point from the surface; exact on and near it.
    pub fn surface_distance(&self, p: Vec3) -> f64 {
        let core = if self.faces.is_empty() {
            match self.edges.first() {
                Some(&[a, b]) => (p - on_segment(a, b, p)).length(),
                None => (p - self.vertices[0]).length(),
            }
        } else {
            (self.faces.iter()).fold(f64::NEG_INFINITY, |m, f| m.max(f.0.dot(p) - f.1))
        };
        core - self.radius
    }
}

fn on_segment(a: Vec3, b: Vec3, p: Vec3) -> Vec3 {
    let t = (p - a).dot(b - a) / (b - a).length_squared();
    a + (b - a) * t.clamp(0.0, 1.0)
}

/// s(n) of the rounded solids.
pub fn separation_along(a: &Solid, b: &Solid, n: Vec3) -> f64 {
    -b.support(-n) - a.support(n) - a.radius - b.radius
}

/// All axes that can be the least separating translation of overlapping cores.
fn axes(a: &Solid, b: &Solid) -> Vec<Vec3> {
    let mut out: Vec<Vec3> = (a.faces.iter().map(|f| f.0))
        .chain(b.faces.iter().map(|f| -f.0))
        .collect();
    for e in &a.edges {
        for f in &b.edges {
            let n = (e[1] - e[0]).cross(f[1] - f[0]);
            if n.length() > 1e-9 {
                out.push(n.normalize());
                out.push(-n.normalize());
            }
        }
    }
    out
}

/// Distance of two segments.
fn segments(a: [Vec3; 2], b: [Vec3; 2]) -> f64 {
    let mut best = f64::INFINITY;
    for p in a {
        best = best.min((p - on_segment(b[0], b[1], p)).length());
    }
    for p in b {
        best = best.min((p - on_segment(a[0], a[1], p)).length());
    }
    let n = (a[1] - a[0]).cross(b[1] - b[0]);
    if n.length() > 1e-9 {
        // The segments cross in projection along n where each has the other's ends on both sides.
        let straddle = |u: [Vec3; 2], v: [Vec3; 2]| {
            let m = n.cross(u[1] - u[0]);
            m.dot(v[0] - u[0]) * m.dot(v[1] - u[0]) <= 0.0
        };
        if straddle(a, b) && straddle(b, a) {
            best = best.min(n.normalize().dot(b[0] - a[0]).abs());
        }
    }
    best
}

fn vertices_to_faces(a: &Solid, b: &Solid) -> f64 {
    let mut best = f64::INFINITY;
    for (normal, offset, corners) in &a.faces {
        for &v in &b.vertices {
            let distance = normal.dot(v) - offset;
            let inside = (0..corners.len()).all(|i| {
                let (p, q) = (corners[i], corners[(i + 1) % corners.len()]);
                normal.cross(q - p).dot(v - p) >= 0.0
            });
            if distance >= 0.0 && inside {
                best = best.min(distance);
            }
        }
    }
    best
}

/// Distance of solids that are apart, or minus the least separating translation.
pub fn separation(a: &Solid, b: &Solid) -> f64 {
    let radii = a.radius + b.radius;
    let deepest = (axes(a, b).into_iter())
        .map(|n| -b.support(-n) - a.support(n))
        .fold(f64::NEG_INFINITY, f64::max);
    let flat = a.faces.is_empty() && b.faces.is_empty();
    if deepest <= 0.0 && !flat {
        return deepest - radii;
    }
    let mut best = vertices_to_faces(a, b).min(vertices_to_faces(b, a));
    let edges = |s: &Solid| {
        let mut e = s.edges.clone();
        if e.is_empty() {
            e.push([s.vertices[0], s.vertices[0] + vec3(0.0, 0.0, 1e-300)]);
        }
        e
    };
    for e in edges(a) {
        for f in edges(b) {
            best = best.min(if a.edges.is_empty() {
                if b.edges.is_empty() {
                    (f[0] - e[0]).length()
                } else {
                    (e[0] - on_segment(f[0], f[1], e[0])).length()
                }
            } else if b.edges.is_empty() {
                (f[0] - on_segment(e[0], e[1], f[0])).length()
            } else {
                segments(e, f)
            });
        }
    }
    best - radii
}
