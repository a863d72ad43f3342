use crate::body::RotationSpec;
use crate::error::{Path, SceneError};
use moreau_collision::Shape;
use moreau_math::{Pose, Quat, Vec3};
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The geometry of a body, in its own frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ShapeSpec {
    /// A ball about the origin.
    Sphere {
        /// m, positive.
        radius: f64,
    },
    /// A box about the origin.
    Box {
        /// Half the edge lengths along x, y, z, m, positive.
        half_extents: [f64; 3],
    },
    /// A cylinder along the body's y axis with round ends.
    Capsule {
        /// Half the length of the straight part, m, positive. The whole capsule is
        /// 2 (half_height + radius) long.
        half_height: f64,
        /// m, positive.
        radius: f64,
    },
    /// A cylinder about the body's y axis with flat ends.
    Cylinder {
        /// Half the height, m, positive.
        half_height: f64,
        /// m, positive.
        radius: f64,
    },
    /// A cone about the body's y axis: the apex at y = half_height, the base at y = -half_height. The
    /// centre of mass is at y = -half_height / 2.
    Cone {
        /// Half the height, m, positive.
        half_height: f64,
        /// Of the base, m, positive.
        radius: f64,
    },
    /// Everything below the plane through the origin; only for bodies that are not dynamic.
    HalfSpace {
        /// Unit vector out of the solid, within 1e-6.
        normal: [f64; 3],
    },
    /// The convex hull of points that do not all lie in one plane.
    Hull {
        /// m, four or more; the body's origin need not be inside.
        points: Vec<[f64; 3]>,
    },
    /// Triangles that share edges: a solid where they are closed, else only for bodies that are not
    /// dynamic. Nothing is touched from behind.
    Mesh {
        /// m.
        vertices: Vec<[f64; 3]>,
        /// Three indices into `vertices`, from 0, counter-clockwise seen from the front.
        triangles: Vec<[u32; 3]>,
    },
    /// Ground given by heights on a grid, solid below; only for bodies that are not dynamic. The sample
    /// in row i and column k lies at (k spacing_x, height, i spacing_z) in the body's frame.
    Heightfield {
        /// Between columns, along x, and between rows, along z, m, positive.
        spacing: [f64; 2],
        /// m; rows of equal length, two or more of two samples or more.
        heights: Vec<Vec<f64>>,
    },
    /// Shapes that move as one; they may overlap, but mass then counts twice.
    Compound {
        /// One or more, none of them a half-space.
        children: Vec<ChildSpec>,
    },
}

/// A part of a compound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChildSpec {
    /// Written out; names of `shapes` are not known here.
    pub shape: ShapeSpec,
    /// Origin of its frame in the compound's, m. Default the compound's origin.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub position: [f64; 3],
    /// Its axes to the compound's. Default unturned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<RotationSpec>,
}

fn is_zero(v: &[f64; 3]) -> bool {
    *v == [0.0; 3]
}

impl ShapeSpec {
    /// The shape, or what is wrong with it.
    pub(crate) fn build(&self, path: &Path<'_>) -> Result<Shape, SceneError> {
        let positive = |kind: &str, field: &str, value: f64| {
            if value > 0.0 && value.is_finite() {
                return Ok(());
            }
            Err(path
                .key(kind)
                .key(field)
                .invalid(value, "positive and finite"))
        };
        let shape = match self {
            Self::Sphere { radius } => {
                positive("sphere", "radius", *radius)?;
                Ok(Shape::sphere(*radius))
            }
            Self::Box {
                half_extents: [x, y, z],
            } => {
                for (i, value) in [*x, *y, *z].into_iter().enumerate() {
                    if !(value > 0.0 && value.is_finite()) {
                        let path = path.key("box");
                        let path = path.key("half_extents");
                        return Err(path.index(i).invalid(value, "positive and finite"));
                    }
                }
                Ok(Shape::cuboid(*x, *y, *z))
            }
            Self::Capsule {
                half_height,
                radius,
            } => {
                positive("capsule", "half_height", *half_height)?;
                positive("capsule", "radius", *radius)?;
                Ok(Shape::capsule(*half_height, *radius))
            }
            Self::Cylinder {
                half_height,
                radius,
            } => {
                positive("cylinder", "half_height", *half_height)?;
                positive("cylinder", "radius", *radius)?;
                Ok(Shape::cylinder(*half_height, *radius))
            }
            Self::Cone {
                half_height,
                radius,
            } => {
                positive("cone", "half_height", *half_height)?;
                positive("cone", "radius", *radius)?;
                Ok(Shape::cone(*half_height, *radius))
            }
            Self::HalfSpace { normal } => {
                let n = Vec3::from_array(*normal);
                let length = n.length();
                if (length - 1.0).abs() > 1e-6 || !length.is_finite() {
                    let path = path.key("half_space");
                    let allowed = "a unit vector within 1e-6";
                    return Err(path.key("normal").invalid(format!("{normal:?}"), allowed));
                }
                let exact = (length - 1.0).abs() <= 4.0 * f64::EPSILON;
                Ok(Shape::half_space(if exact { n } else { n / length }))
            }
            Self::Hull { points } => {
                let points: Vec<Vec3> = points.iter().map(|p| Vec3::from_array(*p)).collect();
                Shape::hull(&points)
            }
            Self::Mesh {
                vertices,
                triangles,
            } => {
                let vertices: Vec<Vec3> = vertices.iter().map(|p| Vec3::from_array(*p)).collect();
                Shape::mesh(&vertices, triangles)
            }
            Self::Heightfield { spacing, heights } => {
                let columns = heights.first().map_or(0, Vec::len);
                if let Some(row) = heights.iter().position(|row| row.len() != columns) {
                    let path = path.key("heightfield");
                    let path = path.key("heights");
                    let count = format!("of {} samples", heights[row].len());
                    let allowed = format!("as long as the first row, {columns}");
                    return Err(path.index(row).invalid(count, &allowed));
                }
                Shape::heightfield(heights.len(), columns, heights.concat(), *spacing)
            }
            Self::Compound { children } => {
                let path = path.key("compound");
                let path = path.key("children");
                let mut parts = Vec::new();
                for (i, child) in children.iter().enumerate() {
                    parts.push(child.build(&path.index(i))?);
                }
                Shape::compound(&parts)
            }
        };
        let bad = |source| {
            let (place, source) = (path.place(), Box::new(source));
            SceneError::Shape { place, source }
        };
        shape
            .and_then(|shape| shape.validate().map(|()| shape))
            .map_err(bad)
    }
}

impl ChildSpec {
    fn build(&self, path: &Path<'_>) -> Result<(Shape, Pose), SceneError> {
        let shape = self.shape.build(&path.key("shape"))?;
        let rotation = match &self.rotation {
            None => Quat::IDENTITY,
            Some(spec) => spec.quaternion().ok_or_else(|| {
                let allowed = "a unit quaternion within 1e-6, or a turn about an axis";
                path.key("rotation").invalid(spec, allowed)
            })?,
        };
        Ok((shape, Pose::new(Vec3::from_array(self.position), rotation)))
    }
}

/// A shape by its name in `shapes`, or written out.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ShapeRef {
    /// Name of an entry of `shapes`.
    Named(String),
    /// The shape itself.
    Inline(ShapeSpec),
}

impl From<&str> for ShapeRef {
    fn from(name: &str) -> Self {
        Self::Named(name.into())
    }
}

impl From<ShapeSpec> for ShapeRef {
    fn from(shape: ShapeSpec) -> Self {
        Self::Inline(shape)
    }
}

impl<'de> Deserialize<'de> for ShapeRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Ref;
        impl<'de> Visitor<'de> for Ref {
            type Value = ShapeRef;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "the name of a shape, or a shape such as {\"sphere\": {\"radius\": 0.5}}",
                )
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<ShapeRef, E> {
                Ok(ShapeRef::Named(name.into()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ShapeRef, A::Error> {
                ShapeSpec::deserialize(MapAccessDeserializer::new(map)).map(ShapeRef::Inline)
            }
        }
        deserializer.deserialize_any(Ref)
    }
}
