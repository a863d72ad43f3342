use crate::shape::ShapeRef;
use moreau_math::{Quat, Vec3, libm};
use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What moves a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BodyKind {
    /// Forces and contacts.
    #[default]
    Dynamic,
    /// Its given velocity, whatever it touches.
    Kinematic,
    /// Nothing.
    Static,
}

impl From<BodyKind> for moreau_pipeline::BodyKind {
    fn from(kind: BodyKind) -> Self {
        match kind {
            BodyKind::Dynamic => Self::Dynamic,
            BodyKind::Kinematic => Self::Kinematic,
            BodyKind::Static => Self::Static,
        }
    }
}

/// How the coefficients of two bodies make one. Of two bodies with different rules the one further
/// down this list is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CombineRule {
    /// sqrt(a b).
    #[default]
    GeometricMean,
    /// (a + b)/2.
    Average,
    /// The smaller.
    Min,
    /// a b.
    Multiply,
    /// The larger.
    Max,
}

impl From<CombineRule> for moreau_pipeline::CombineRule {
    fn from(rule: CombineRule) -> Self {
        match rule {
            CombineRule::GeometricMean => Self::GeometricMean,
            CombineRule::Average => Self::Average,
            CombineRule::Min => Self::Min,
            CombineRule::Multiply => Self::Multiply,
            CombineRule::Max => Self::Max,
        }
    }
}

/// A named surface and the stuff under it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a material, such as {\"friction\": 0.5}"
)]
pub struct MaterialSpec {
    /// Coulomb's coefficient, 0 or more. Default 0.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction: Option<f64>,
    /// Newton's coefficient, 0 (no bounce) to 1 (elastic). Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restitution: Option<f64>,
    /// kg/m³, positive. Default 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// How friction combines with another body's. Default geometric_mean.
    #[serde(default, skip_serializing_if = "is_default")]
    pub friction_rule: CombineRule,
    /// How restitution combines with another body's. Default geometric_mean.
    #[serde(default, skip_serializing_if = "is_default")]
    pub restitution_rule: CombineRule,
}

/// One body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a body, such as {\"shape\": \"cube\"}"
)]
pub struct BodySpec {
    /// Names the body for joints, gates and tools; no two bodies may have the same. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What moves it. Default dynamic.
    #[serde(default, skip_serializing_if = "is_default")]
    pub kind: BodyKind,
    /// Its geometry: a name in `shapes`, or the shape itself. Must be given, but for the body of
    /// instances with a column `shape` and of a pile with `shapes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<ShapeRef>,
    /// Origin of the body's frame in the world, m. Default the world's origin.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub position: [f64; 3],
    /// Body axes to world axes: a unit quaternion [x, y, z, w] or an axis and an angle. Default
    /// unturned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<RotationSpec>,
    /// Velocity of the centre of mass, m/s, world axes. Default at rest.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub linear_velocity: [f64; 3],
    /// Angular velocity, rad/s, world axes. Default at rest.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub angular_velocity: [f64; 3],
    /// Surface and density by the name of an entry of `materials`. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<String>,
    /// kg/m³, positive. Default the material's, else 1000. Only dynamic bodies use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// Mass in kg, positive, spread evenly over the shape; instead of a density. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass: Option<f64>,
    /// Coulomb's coefficient, 0 or more. Default the material's, else 0.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction: Option<f64>,
    /// Newton's coefficient, 0 (no bounce) to 1 (elastic). Default the material's, else 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restitution: Option<f64>,
    /// Velocity of the surface relative to the body, m/s, body axes, as of a conveyor belt. Default
    /// zero.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub surface_velocity: [f64; 3],
    /// Factor of the scene's gravity. Default 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub gravity_scale: f64,
    /// Keeps the body from turning, as if its inertia were infinite. Default false.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lock_rotation: bool,
    /// Constant force through the centre of mass, N, world axes; dynamic bodies only. Default zero.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub force: [f64; 3],
    /// Constant torque, N m, world axes; dynamic bodies only. Default zero.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub torque: [f64; 3],
    /// Which bodies it collides with. Default all.
    #[serde(default, skip_serializing_if = "is_default")]
    pub groups: GroupsSpec,
    /// Reports what overlaps it, and pushes nothing. Default false.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sensor: bool,
    /// Takes its impacts within a step, and those that they lead to, one after the other; dynamic bodies
    /// only. Default false.
    #[serde(default, skip_serializing_if = "is_default")]
    pub bullet: bool,
}

/// The groups that a body belongs to and those that it meets, numbered 0 to 31. Two bodies collide
/// where each belongs to a group that the other meets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupsSpec {
    /// Groups that it belongs to. Default all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<Vec<u64>>,
    /// Groups that it meets. Default all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meets: Option<Vec<u64>>,
}

impl Default for BodySpec {
    fn default() -> Self {
        Self {
            name: None,
            kind: BodyKind::Dynamic,
            shape: None,
            position: [0.0; 3],
            rotation: None,
            linear_velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
            material: None,
            density: None,
            mass: None,
            friction: None,
            restitution: None,
            surface_velocity: [0.0; 3],
            gravity_scale: 1.0,
            lock_rotation: false,
            force: [0.0; 3],
            torque: [0.0; 3],
            groups: GroupsSpec::default(),
            sensor: false,
            bullet: false,
        }
    }
}

impl BodySpec {
    /// A dynamic body of that shape at the origin.
    pub fn dynamic(shape: impl Into<ShapeRef>) -> Self {
        Self {
            shape: Some(shape.into()),
            ..Self::default()
        }
    }

    /// A static body of that shape at the origin.
    pub fn fixed(shape: impl Into<ShapeRef>) -> Self {
        Self {
            kind: BodyKind::Static,
            ..Self::dynamic(shape)
        }
    }

    /// Gives it a name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Places its origin, m.
    #[must_use]
    pub fn at(mut self, x: f64, y: f64, z: f64) -> Self {
        self.position = [x, y, z];
        self
    }

    /// Friction and restitution.
    #[must_use]
    pub fn surface(mut self, friction: f64, restitution: f64) -> Self {
        (self.friction, self.restitution) = (Some(friction), Some(restitution));
        self
    }
}

/// A rotation from body axes to world axes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum RotationSpec {
    /// Unit quaternion [x, y, z, w], within 1e-6.
    Quaternion([f64; 4]),
    /// Right-handed turn about an axis.
    AxisAngle(AxisAngle),
}

/// A right-handed turn about an axis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AxisAngle {
    /// Direction of the axis, world axes, of any length but zero.
    pub axis: [f64; 3],
    /// Angle, degrees.
    pub degrees: f64,
}

impl RotationSpec {
    /// The quaternion, or `None` where the numbers are not a rotation.
    pub fn quaternion(&self) -> Option<Quat> {
        match self {
            Self::Quaternion(q) => {
                let q = Quat::from_array(*q);
                ((q.length() - 1.0).abs() <= 1e-6).then_some(q)
            }
            Self::AxisAngle(AxisAngle { axis, degrees }) => {
                let axis = Vec3::from_array(*axis);
                let length = axis.length();
                if !(length > 0.0 && length.is_finite() && degrees.is_finite()) {
                    return None;
                }
                let half = 0.5 * degrees.to_radians();
                let v = axis * (libm::sin(half) / length);
                Some(Quat::from_xyzw(v.x, v.y, v.z, libm::cos(half)))
            }
        }
    }
}

impl fmt::Display for RotationSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quaternion(q) => write!(f, "{q:?}"),
            Self::AxisAngle(turn) => {
                write!(f, "{} degrees about {:?}", turn.degrees, turn.axis)
            }
        }
    }
}

impl<'de> Deserialize<'de> for RotationSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Rotation;
        impl<'de> Visitor<'de> for Rotation {
            type Value = RotationSpec;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a quaternion [x, y, z, w] or a turn such as {\"axis\": [0, 0, 1], \"degrees\": 15}",
                )
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<RotationSpec, A::Error> {
                Deserialize::deserialize(SeqAccessDeserializer::new(seq))
                    .map(RotationSpec::Quaternion)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RotationSpec, A::Error> {
                AxisAngle::deserialize(MapAccessDeserializer::new(map)).map(RotationSpec::AxisAngle)
            }
        }
        deserializer.deserialize_any(Rotation)
    }
}

/// A body by its name or its index, counted from 0 in the order `bodies`, `instances`, `generate`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum BodyRef {
    /// Its name.
    Name(String),
    /// Its index.
    Index(u64),
}

impl From<&str> for BodyRef {
    fn from(name: &str) -> Self {
        Self::Name(name.into())
    }
}

impl From<u64> for BodyRef {
    fn from(index: u64) -> Self {
        Self::Index(index)
    }
}

impl fmt::Display for BodyRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Index(index) => write!(f, "{index}"),
        }
    }
}

impl<'de> Deserialize<'de> for BodyRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Ref;
        impl Visitor<'_> for Ref {
            type Value = BodyRef;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name or the index of a body")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<BodyRef, E> {
                Ok(BodyRef::Name(name.into()))
            }

            fn visit_u64<E: Error>(self, index: u64) -> Result<BodyRef, E> {
                Ok(BodyRef::Index(index))
            }
        }
        deserializer.deserialize_any(Ref)
    }
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// To the bit: -0.0 is worth writing.
pub(crate) fn is_zero(v: &[f64; 3]) -> bool {
    v.iter().all(|x| x.to_bits() == 0)
}

pub(crate) fn one() -> f64 {
    1.0
}

pub(crate) fn is_one(x: &f64) -> bool {
    *x == 1.0
}
