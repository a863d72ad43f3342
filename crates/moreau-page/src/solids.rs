//! Shapes as vertices and faces, for the parts of compounds.

use moreau::math::libm;
use moreau::{Shape, Vec3, vec3};
use std::f64::consts::{FRAC_PI_2, TAU};

/// Corners of what is round, once about and from the middle to a pole.
const SLICES: u32 = 24;
const STACKS: u32 = 6;

/// Vertices (m, body frame) and faces, counter-clockwise from outside.
#[derive(Default)]
pub(crate) struct Solid {
    pub(crate) vertices: Vec<Vec3>,
    pub(crate) faces: Vec<Vec<u32>>,
}

impl Solid {
    /// Nothing for a half-space.
    pub(crate) fn new(shape: &Shape) -> Self {
        let mut out = Self::default();
        match shape {
            Shape::Cuboid { half_extents: h } => out.cuboid(*h),
            Shape::Sphere { radius } => out.turn(&arc(0.0, *radius)),
            Shape::Capsule {
                half_height,
                radius,
            } => out.turn(&arc(*half_height, *radius)),
            Shape::Cylinder {
                half_height: h,
                radius: r,
            } => out.turn(&[(0.0, -h), (*r, -h), (*r, *h), (0.0, *h)]),
            Shape::Cone {
                half_height: h,
                radius: r,
            } => out.turn(&[(0.0, -h), (*r, -h), (0.0, *h)]),
            Shape::Hull(hull) => {
                out.vertices = hull.vertices().to_vec();
                let faces = 0..hull.faces().len();
                out.faces = faces.map(|f| hull.face_vertices(f).to_vec()).collect();
            }
            Shape::Mesh(mesh) => {
                out.vertices = mesh.vertices().to_vec();
                out.faces = mesh.triangles().map(|t| t.to_vec()).collect();
            }
            Shape::Heightfield(field) => {
                out.vertices = field.vertices().to_vec();
                out.faces = field.triangles().map(|t| t.to_vec()).collect();
            }
            Shape::Compound(compound) => {
                for child in compound.children() {
                    let part = Self::new(&child.shape);
                    let first = out.vertices.len() as u32;
                    let place = |v: &Vec3| child.pose.transform_point(*v);
                    out.vertices.extend(part.vertices.iter().map(place));
                    let shifted = |face: Vec<u32>| face.iter().map(|v| v + first).collect();
                    out.faces.extend(part.faces.into_iter().map(shifted));
                }
            }
            Shape::HalfSpace { .. } => {}
        }
        out
    }

    fn cuboid(&mut self, h: Vec3) {
        let side = |i: u32, axis: u32| if i >> axis & 1 == 1 { 1.0 } else { -1.0 };
        let corners = (0..8).map(|i| h * vec3(side(i, 0), side(i, 1), side(i, 2)));
        self.vertices.extend(corners);
        let faces = [
            [1, 3, 7, 5],
            [0, 4, 6, 2],
            [2, 6, 7, 3],
            [0, 1, 5, 4],
            [4, 5, 7, 6],
            [0, 2, 3, 1],
        ];
        self.faces.extend(faces.map(|f| f.to_vec()));
    }

    /// The profile (distance from the axis, height), from below, turned about y.
    fn turn(&mut self, profile: &[(f64, f64)]) {
        let mut below: Vec<u32> = Vec::new();
        for &(radius, height) in profile {
            let count = if radius == 0.0 { 1 } else { SLICES };
            let first = self.vertices.len() as u32;
            for k in 0..count {
                let angle = TAU * f64::from(k) / f64::from(SLICES);
                let (s, c) = (libm::sin(angle), libm::cos(angle));
                self.vertices.push(vec3(radius * s, height, radius * c));
            }
            let ring: Vec<u32> = (0..SLICES).map(|k| first + k % count).collect();
            if !below.is_empty() {
                for k in 0..SLICES as usize {
                    let next = (k + 1) % SLICES as usize;
                    let mut face = vec![below[k], below[next], ring[next], ring[k]];
                    face.dedup();
                    if face.first() == face.last() {
                        face.pop();
                    }
                    if face.len() > 2 {
                        self.faces.push(face);
                    }
                }
            }
            below = ring;
        }
    }
}

/// Half a turn about the ends of a core from `-half_height` to `half_height`.
fn arc(half_height: f64, radius: f64) -> Vec<(f64, f64)> {
    let steps = 2 * STACKS + 1;
    (0..=steps)
        .map(|i| {
            // The middle step is the straight part.
            let (upper, k) = if i > STACKS {
                (1.0, i - STACKS - 1)
            } else {
                (-1.0, STACKS - i)
            };
            let angle = FRAC_PI_2 * f64::from(k) / f64::from(STACKS);
            let across = if k == STACKS {
                0.0
            } else {
                radius * libm::cos(angle)
            };
            (across, upper * (half_height + radius * libm::sin(angle)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use moreau::Pose;

    /// Volume inside of the faces.
    fn volume(solid: &Solid) -> f64 {
        let mut six = 0.0;
        for face in &solid.faces {
            let p = |i: usize| solid.vertices[face[i] as usize];
            for i in 1..face.len() - 1 {
                six += p(0).dot(p(i).cross(p(i + 1)));
            }
        }
        six / 6.0
    }

    #[test]
    fn faces_enclose_the_solid() {
        let place = |x: f64| Pose::from_translation(vec3(x, 0.0, 0.0));
        let shapes = [
            (Shape::sphere(0.5), 0.93),
            (Shape::cuboid(0.5, 0.4, 0.3), 1.0 - 1e-12),
            (Shape::capsule(0.5, 0.3), 0.93),
            (Shape::cylinder(0.5, 0.3), 0.98),
            (Shape::cone(0.5, 0.3), 0.98),
        ];
        let exact = |shape: &Shape| shape.mass_properties(1.0).unwrap().mass;
        for (shape, part) in &shapes {
            let ratio = volume(&Solid::new(shape)) / exact(shape);
            assert!(
                ratio > *part && ratio < 1.0 + 1e-12,
                "{} {ratio}",
                shape.kind()
            );
        }
        let children = shapes.map(|(shape, _)| (shape, place(2.0)));
        let compound = Shape::compound(&children).unwrap();
        let ratio = volume(&Solid::new(&compound)) / exact(&compound);
        assert!(ratio > 0.93 && ratio < 1.0, "{ratio}");
    }
}
