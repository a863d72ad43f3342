use crate::narrow_phase::NOT_OF_FACE;
use crate::surface::Surface;
use crate::{Aabb, Compound, ConvexHull, Heightfield, ShapeError, TriangleMesh};
use moreau_math::{MassProperties, Pose, Vec3, vec3};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How far from 1 the length of a half-space's normal may be; within, it counts as a unit vector.
const UNIT_TOLERANCE: f64 = 1e-6;

/// A half-space is level, and has a box bounded on one side, where the other components of its unit
/// normal are at most this: the rounding of a rotation.
const LEVEL: f64 = 4.0 * f64::EPSILON;

/// The geometry of a body, in its own frame.
///
/// Constructors do not check; [`Shape::validate`] does, and a world calls it when a body is added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// A ball about the origin.
    Sphere {
        /// m.
        radius: f64,
    },
    /// A box about the origin.
    Cuboid {
        /// Half the edge lengths, m.
        half_extents: Vec3,
    },
    /// All points within `radius` of the segment from (0, -half_height, 0) to (0, half_height, 0).
    Capsule {
        /// Half the length of the segment, m (the whole capsule is 2 (half_height + radius) long).
        /// Zero is a sphere.
        half_height: f64,
        /// m.
        radius: f64,
    },
    /// The points with normal·x <= 0: solid below the plane through the origin.
    HalfSpace {
        /// Unit outward normal. A length within 1e-6 of 1 is accepted and taken as 1.
        normal: Vec3,
    },
    /// A convex polyhedron.
    Hull(Arc<ConvexHull>),
    /// All points within `radius` of the body's y axis with |y| <= `half_height`.
    Cylinder {
        /// Half the height, m.
        half_height: f64,
        /// m.
        radius: f64,
    },
    /// A cone about the body's y axis: the apex at y = `half_height`, the base, a disc of `radius`, at
    /// y = -`half_height`. The origin is half-way up; the centre of mass is at y = -`half_height`/2.
    Cone {
        /// Half the height, m.
        half_height: f64,
        /// Of the base, m.
        radius: f64,
    },
    /// Triangles that share edges; a solid where they are closed.
    Mesh(Arc<TriangleMesh>),
    /// Ground given by heights on a grid.
    Heightfield(Arc<Heightfield>),
    /// Several shapes that move as one.
    Compound(Arc<Compound>),
}

/// Sine of the slope up to which an edge of a triangle faces along a normal.
const FACING: f64 = 1e-6;

impl Shape {
    /// A ball of `radius` (m).
    pub fn sphere(radius: f64) -> Self {
        Self::Sphere { radius }
    }

    /// A box with the given half extents (m).
    pub fn cuboid(hx: f64, hy: f64, hz: f64) -> Self {
        Self::Cuboid {
            half_extents: vec3(hx, hy, hz),
        }
    }

    /// A capsule along the body's y axis; `half_height` is half the length of its core segment (m).
    pub fn capsule(half_height: f64, radius: f64) -> Self {
        Self::Capsule {
            half_height,
            radius,
        }
    }

    /// A cylinder along the body's y axis; `half_height` is half its height (m).
    pub fn cylinder(half_height: f64, radius: f64) -> Self {
        Self::Cylinder {
            half_height,
            radius,
        }
    }

    /// A cone along the body's y axis, its apex up; `half_height` is half its height, `radius` that of
    /// its base (m). The body's origin is half-way up, the centre of mass a quarter of the way.
    pub fn cone(half_height: f64, radius: f64) -> Self {
        Self::Cone {
            half_height,
            radius,
        }
    }

    /// Solid on the side opposite to the unit vector `normal`; its surface passes the origin.
    pub fn half_space(normal: Vec3) -> Self {
        Self::HalfSpace { normal }
    }

    /// The convex hull of `points` (m).
    pub fn hull(points: &[Vec3]) -> Result<Self, ShapeError> {
        Ok(Self::Hull(Arc::new(ConvexHull::new(points)?)))
    }

    /// A mesh of `triangles` (three indices each, counter-clockwise seen from the front) over
    /// `vertices` (m).
    pub fn mesh(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Result<Self, ShapeError> {
        Ok(Self::Mesh(Arc::new(TriangleMesh::new(
            vertices, triangles,
        )?)))
    }

    /// `rows` times `columns` heights (m), row by row, `spacing` (m) apart along x and z.
    pub fn heightfield(
        rows: usize,
        columns: usize,
        heights: Vec<f64>,
        spacing: [f64; 2],
    ) -> Result<Self, ShapeError> {
        let field = Heightfield::new(rows, columns, heights, spacing)?;
        Ok(Self::Heightfield(Arc::new(field)))
    }

    /// The union of shapes, each at its pose in the body's frame.
    pub fn compound(children: &[(Shape, Pose)]) -> Result<Self, ShapeError> {
        Ok(Self::Compound(Arc::new(Compound::new(children)?)))
    }

    /// The name of the kind of shape.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Sphere { .. } => "sphere",
            Self::Cuboid { .. } => "box",
            Self::Capsule { .. } => "capsule",
            Self::Cylinder { .. } => "cylinder",
            Self::Cone { .. } => "cone",
            Self::HalfSpace { .. } => "half-space",
            Self::Hull(_) => "hull",
            Self::Mesh(_) => "mesh",
            Self::Heightfield(_) => "heightfield",
            Self::Compound(_) => "compound",
        }
    }

    /// Whether the shape can be used.
    ///
    /// # Errors
    /// [`ShapeError::NotPositive`] for a radius, half extent or half height that is zero, negative,
    /// infinite or not a number, [`ShapeError::Negative`] for a capsule's half height (which may be
    /// zero) that is negative, infinite or not a number, [`ShapeError::NotFinite`] and
    /// [`ShapeError::NotUnit`] for a normal. What is shared was checked when it was built.
    pub fn validate(&self) -> Result<(), ShapeError> {
        match *self {
            Self::Sphere { radius } => positive("radius", radius),
            Self::Cuboid { half_extents: h } => {
                positive("half_extents.x", h.x)?;
                positive("half_extents.y", h.y)?;
                positive("half_extents.z", h.z)
            }
            Self::Capsule {
                half_height,
                radius,
            } => {
                if !(half_height >= 0.0 && half_height.is_finite()) {
                    return Err(ShapeError::Negative {
                        field: "half_height",
                        value: half_height,
                    });
                }
                positive("radius", radius)
            }
            Self::Cylinder {
                half_height,
                radius,
            }
            | Self::Cone {
                half_height,
                radius,
            } => {
                positive("half_height", half_height)?;
                positive("radius", radius)
            }
            Self::HalfSpace { normal } => {
                if !normal.is_finite() {
                    return Err(ShapeError::NotFinite {
                        field: "normal",
                        value: normal.to_string(),
                    });
                }
                let length = normal.length();
                if (length - 1.0).abs() > UNIT_TOLERANCE {
                    return Err(ShapeError::NotUnit { length });
                }
                Ok(())
            }
            Self::Hull(_) | Self::Mesh(_) | Self::Heightfield(_) | Self::Compound(_) => Ok(()),
        }
    }

    /// Whether the shape lies within a finite distance of its origin.
    pub fn is_bounded(&self) -> bool {
        !matches!(self, Self::HalfSpace { .. })
    }

    /// Whether the shape is bounded and has a volume, so that a body of it can have a mass: not a
    /// half-space, a heightfield, an open mesh, or a compound with one of those.
    pub fn is_solid(&self) -> bool {
        match self {
            Self::HalfSpace { .. } | Self::Heightfield(_) => false,
            Self::Mesh(mesh) => mesh.is_closed(),
            Self::Compound(compound) => compound.children().iter().all(|c| c.shape.is_solid()),
            _ => true,
        }
    }

    /// Radius (m) of a ball that fits into the shape: how thick it is. The largest there is, for a hull
    /// the largest about its centroid; infinite for a half-space, zero for surfaces and compounds.
    pub fn inner_radius(&self) -> f64 {
        match self {
            Self::Sphere { radius } | Self::Capsule { radius, .. } => *radius,
            Self::Cuboid { half_extents } => half_extents.min_element(),
            Self::Cylinder {
                half_height,
                radius,
            } => half_height.min(*radius),
            Self::Cone {
                half_height,
                radius,
            } => {
                let height = 2.0 * half_height;
                height * radius / (radius + vec3(height, *radius, 0.0).length())
            }
            Self::HalfSpace { .. } => f64::INFINITY,
            Self::Hull(hull) => hull.inner_radius(),
            Self::Mesh(_) | Self::Heightfield(_) | Self::Compound(_) => 0.0,
        }
    }

    /// Whether the segment between any two points of the shape lies in the shape.
    pub fn is_convex(&self) -> bool {
        !matches!(
            self,
            Self::Mesh(_) | Self::Heightfield(_) | Self::Compound(_)
        )
    }

    /// The point (m, body frame) furthest along `direction` of what makes the contacts of a `part`, as
    /// [`collide_all`](crate::collide_all) numbers them, whose normal (out of the shape) is `facing`:
    ///
    /// - a convex shape, or child of a compound: all of it;
    /// - a face of a surface: its triangles;
    /// - an edge or vertex of a surface: what of the triangle lies furthest along `facing`.
    ///
    /// Directions in the body frame; `facing` a unit vector. `None` where there is no such part, or it
    /// is unbounded.
    pub fn part_support(&self, part: u32, facing: Vec3, direction: Vec3) -> Option<Vec3> {
        if let Self::Compound(compound) = self {
            let (child, first) = compound.child_of_part(part & !NOT_OF_FACE)?;
            let pose = &child.pose;
            let own = (part & NOT_OF_FACE) | ((part & !NOT_OF_FACE) - first);
            let facing = pose.inverse_transform_vector(facing);
            let direction = pose.inverse_transform_vector(direction);
            let point = child.shape.part_support(own, facing, direction)?;
            return Some(pose.transform_point(point));
        }
        let Some(surface) = self.surface() else {
            return self.support(direction);
        };
        let index = part & !NOT_OF_FACE;
        surface.triangles.get(index as usize)?;
        let further = |p: Vec3, q: Vec3| {
            if q.dot(direction) > p.dot(direction) {
                q
            } else {
                p
            }
        };
        if part & NOT_OF_FACE == 0 {
            let triangles = surface.patch(index).iter();
            let corners = triangles.flat_map(|&t| surface.corners(t));
            return corners.reduce(further);
        }
        let corners = surface.corners(index);
        let top = corners
            .into_iter()
            .reduce(|p, q| if q.dot(facing) > p.dot(facing) { q } else { p })?;
        let level = corners.into_iter().filter(|&p| {
            let arm = top - p;
            arm.dot(facing) <= FACING * arm.length()
        });
        level.reduce(further)
    }

    /// The outward unit normal (body frame) of the flat face of a convex `part`, numbered as for
    /// [`part_support`](Self::part_support), that faces along the unit vector `direction` the most. `None` where
    /// there is no such part, or it has no flat faces: balls, capsules, and the parts of surfaces, whose contacts know
    /// their faces.
    ///
    /// ```
    /// use moreau_collision::Shape;
    /// use moreau_math::{Vec3, vec3};
    ///
    /// let up = vec3(0.1, 1.0, -0.2).normalize();
    /// assert_eq!(Shape::cuboid(3.0, 0.1, 2.0).part_face_normal(0, up), Some(Vec3::Y));
    /// assert_eq!(Shape::cylinder(0.5, 1.0).part_face_normal(0, -up), Some(-Vec3::Y));
    /// assert_eq!(Shape::sphere(1.0).part_face_normal(0, up), None);
    /// ```
    pub fn part_face_normal(&self, part: u32, direction: Vec3) -> Option<Vec3> {
        match self {
            Self::Cuboid { .. } => {
                let size = direction.abs();
                let axis = if size.x >= size.y && size.x >= size.z {
                    Vec3::X
                } else if size.y >= size.z {
                    Vec3::Y
                } else {
                    Vec3::Z
                };
                let side = if axis.dot(direction) < 0.0 { -1.0 } else { 1.0 };
                Some(axis * side)
            }
            Self::Cylinder { .. } if direction.y > 0.0 => Some(Vec3::Y),
            Self::Cylinder { .. } | Self::Cone { .. } => Some(-Vec3::Y),
            Self::HalfSpace { normal } => Some(normal.normalize()),
            Self::Hull(hull) => {
                let normals = hull.faces().iter().map(|face| face.normal);
                let further = |p: Vec3, q: Vec3| {
                    if q.dot(direction) > p.dot(direction) {
                        q
                    } else {
                        p
                    }
                };
                normals.reduce(further)
            }
            Self::Compound(compound) => {
                let (child, first) = compound.child_of_part(part & !NOT_OF_FACE)?;
                let own = (part & NOT_OF_FACE) | ((part & !NOT_OF_FACE) - first);
                let direction = child.pose.inverse_transform_vector(direction);
                let normal = child.shape.part_face_normal(own, direction)?;
                Some(child.pose.transform_vector(normal))
            }
            Self::Sphere { .. } | Self::Capsule { .. } | Self::Mesh(_) | Self::Heightfield(_) => {
                None
            }
        }
    }

    /// Which child of a compound the part belongs to, by the number of the child's first part; 0 for
    /// other shapes.
    pub fn child_of_part(&self, part: u32) -> u32 {
        let Self::Compound(compound) = self else {
            return 0;
        };
        let child = compound.child_of_part(part & !NOT_OF_FACE);
        child.map_or(0, |(_, first)| first)
    }

    /// How many parts contacts can tell apart: triangles, children and theirs; 1 for convex shapes.
    pub(crate) fn part_count(&self) -> usize {
        match self {
            Self::Mesh(mesh) => mesh.triangles().len(),
            Self::Heightfield(field) => field.triangle_count(),
            Self::Compound(compound) => compound.part_count(),
            _ => 1,
        }
    }

    /// The triangles of a mesh or heightfield.
    pub(crate) fn surface(&self) -> Option<&Surface> {
        match self {
            Self::Mesh(mesh) => Some(mesh.surface()),
            Self::Heightfield(field) => Some(field.surface()),
            _ => None,
        }
    }

    /// The smallest axis-aligned box (m, world frame) around the shape at `pose`, to rounding.
    ///
    /// That of a half-space is infinite; where its surface is level with a world plane to rounding,
    /// it ends there.
    pub fn aabb(&self, pose: &Pose) -> Aabb {
        let center = pose.translation;
        match self {
            Self::Sphere { radius } => Aabb::around(center, Vec3::splat(*radius)),
            Self::Cuboid { half_extents: h } => {
                let axes = [Vec3::X * h.x, Vec3::Y * h.y, Vec3::Z * h.z];
                let [x, y, z] = axes.map(|a| pose.transform_vector(a).abs());
                Aabb::around(center, x + y + z)
            }
            Self::Capsule {
                half_height,
                radius,
            } => {
                let arm = pose.transform_vector(Vec3::Y * *half_height).abs();
                Aabb::around(center, arm + Vec3::splat(*radius))
            }
            Self::Cylinder {
                half_height,
                radius,
            } => {
                let arm = pose.transform_vector(Vec3::Y * *half_height).abs();
                Aabb::around(center, arm + disc_reach(pose, *radius))
            }
            Self::Cone {
                half_height,
                radius,
            } => {
                let apex = pose.transform_vector(Vec3::Y * *half_height);
                let reach = disc_reach(pose, *radius);
                let min = apex.min(-apex - reach);
                let max = apex.max(-apex + reach);
                Aabb::new(min + center, max + center)
            }
            Self::HalfSpace { normal } => {
                let n = pose.transform_vector(*normal).normalize();
                let mut aabb = Aabb::INFINITE;
                for axis in 0..3 {
                    let rest = (0..3).filter(|k| *k != axis).map(|k| n[k].abs());
                    if rest.fold(0.0, f64::max) <= LEVEL {
                        let end = if n[axis] > 0.0 {
                            &mut aabb.max
                        } else {
                            &mut aabb.min
                        };
                        end[axis] = center[axis];
                    }
                }
                aabb
            }
            Self::Hull(hull) => of_points(hull.vertices(), pose),
            Self::Mesh(mesh) => of_points(mesh.vertices(), pose),
            Self::Heightfield(field) => of_points(field.vertices(), pose),
            Self::Compound(compound) => {
                let boxes = (compound.children().iter())
                    .map(|child| child.shape.aabb(&pose.mul_pose(&child.pose)));
                boxes.fold(Aabb::EMPTY, |union, aabb| union.union(&aabb))
            }
        }
    }

    /// The point (m, body frame) of the shape furthest along `direction` (body frame, any length),
    /// of its convex hull that is;
    /// some point of the surface where `direction` is zero; `None` for an unbounded shape.
    pub fn support(&self, direction: Vec3) -> Option<Vec3> {
        match self {
            Self::Sphere { radius } => Some(unit_or_y(direction) * *radius),
            Self::Cuboid { half_extents } => Some(with_signs(*half_extents, direction)),
            Self::Capsule {
                half_height,
                radius,
            } => {
                let end = with_signs(vec3(0.0, *half_height, 0.0), direction);
                Some(end + unit_or_y(direction) * *radius)
            }
            Self::Cylinder {
                half_height,
                radius,
            } => {
                let cap = with_signs(vec3(0.0, *half_height, 0.0), direction);
                Some(cap + rim(direction) * *radius)
            }
            Self::Cone {
                half_height,
                radius,
            } => {
                let rim = rim(direction) * *radius;
                let over = 2.0 * half_height * direction.y - direction.dot(rim);
                Some(if over > 0.0 {
                    vec3(0.0, *half_height, 0.0)
                } else {
                    vec3(0.0, -half_height, 0.0) + rim
                })
            }
            Self::HalfSpace { .. } => None,
            Self::Hull(hull) => Some(hull.vertices()[hull.support_vertex(direction)]),
            Self::Mesh(mesh) => Some(mesh.surface().support(direction)),
            Self::Heightfield(field) => Some(field.surface().support(direction)),
            Self::Compound(compound) => compound.support(direction),
        }
    }

    /// Greatest distance (m) of a point of the shape from the body's origin, for a compound an upper
    /// bound of it; infinite for a half-space.
    pub fn bounding_radius(&self) -> f64 {
        match self {
            Self::Sphere { radius } => *radius,
            Self::Cuboid { half_extents } => half_extents.length(),
            Self::Capsule {
                half_height,
                radius,
            } => half_height + radius,
            Self::Cylinder {
                half_height,
                radius,
            }
            | Self::Cone {
                half_height,
                radius,
            } => vec3(*half_height, *radius, 0.0).length(),
            Self::HalfSpace { .. } => f64::INFINITY,
            Self::Hull(hull) => hull.bounding_radius(),
            Self::Mesh(mesh) => mesh.surface().bounding_radius,
            Self::Heightfield(field) => field.surface().bounding_radius,
            Self::Compound(compound) => compound.bounding_radius(),
        }
    }

    /// Mass properties (body frame) of the solid at `density` (kg/m³).
    ///
    /// # Errors
    /// [`ShapeError::Unbounded`] for a half-space, a heightfield and an open mesh,
    /// [`ShapeError::BadChild`] for a compound with one of them, [`ShapeError::Mass`] for a density or
    /// dimension that gives no usable mass.
    pub fn mass_properties(&self, density: f64) -> Result<MassProperties, ShapeError> {
        Ok(match self {
            Self::Sphere { radius } => MassProperties::sphere(*radius, density)?,
            Self::Cuboid { half_extents } => MassProperties::cuboid(*half_extents, density)?,
            Self::Capsule {
                half_height,
                radius,
            } => MassProperties::capsule(*half_height, *radius, density)?,
            Self::Cylinder {
                half_height,
                radius,
            } => MassProperties::cylinder(*half_height, *radius, density)?,
            Self::Cone {
                half_height,
                radius,
            } => MassProperties::cone(*half_height, *radius, density)?,
            Self::HalfSpace { .. } | Self::Heightfield(_) => {
                return Err(ShapeError::Unbounded { shape: self.kind() });
            }
            Self::Hull(hull) => hull.mass_properties(density)?,
            Self::Mesh(mesh) => mesh.mass_properties(density)?,
            Self::Compound(compound) => compound.mass_properties(density)?,
        })
    }
}

/// The box around `points` (body frame) at `pose`.
fn of_points(points: &[Vec3], pose: &Pose) -> Aabb {
    let mut aabb = Aabb::EMPTY;
    for point in points {
        aabb.include(pose.transform_vector(*point));
    }
    Aabb::new(aabb.min + pose.translation, aabb.max + pose.translation)
}

fn positive(field: &'static str, value: f64) -> Result<(), ShapeError> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(ShapeError::NotPositive { field, value })
    }
}

fn unit_or_y(direction: Vec3) -> Vec3 {
    direction.try_normalize().unwrap_or(Vec3::Y)
}

/// The unit vector across y furthest along `direction`; along x where none is.
fn rim(direction: Vec3) -> Vec3 {
    vec3(direction.x, 0.0, direction.z)
        .try_normalize()
        .unwrap_or(Vec3::X)
}

/// How far a disc about the body's y axis reaches along the world's axes, m.
fn disc_reach(pose: &Pose, radius: f64) -> Vec3 {
    let (x, z) = (
        pose.transform_vector(Vec3::X),
        pose.transform_vector(Vec3::Z),
    );
    let square = x * x + z * z;
    vec3(square.x.sqrt(), square.y.sqrt(), square.z.sqrt()) * radius
}

/// The components of `v` (not negative) with the signs of `direction`, plus where that is zero.
fn with_signs(v: Vec3, direction: Vec3) -> Vec3 {
    let signed = |v: f64, d: f64| if d < 0.0 { -v } else { v };
    vec3(
        signed(v.x, direction.x),
        signed(v.y, direction.y),
        signed(v.z, direction.z),
    )
}
