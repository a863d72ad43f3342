use crate::body::BodySpec;
use schemars::JsonSchema;
use serde::de::{Deserializer, Error, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Many bodies that differ in a few numbers: one row a body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Instances {
    /// The bodies are named `NAME_0`, `NAME_1` and so on. Default: they have no names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What all of them have; a column overrides it.
    pub body: BodySpec,
    /// What the numbers of a row are, in order.
    pub columns: Vec<Column>,
    /// One row a body: the cells of the first column, then those of the next, without nesting.
    pub rows: Vec<Vec<Cell>>,
}

/// A field of a body that has its own value in each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Column {
    /// One cell: the name of a shape.
    Shape,
    /// Three cells, m.
    Position,
    /// Four cells: a unit quaternion x, y, z, w.
    Rotation,
    /// Three cells, m/s.
    LinearVelocity,
    /// Three cells, rad/s.
    AngularVelocity,
    /// One cell, kg/m³.
    Density,
    /// One cell, kg.
    Mass,
    /// One cell.
    Friction,
    /// One cell.
    Restitution,
}

impl Column {
    /// How many cells of a row it takes.
    pub fn width(self) -> usize {
        match self {
            Self::Position | Self::LinearVelocity | Self::AngularVelocity => 3,
            Self::Rotation => 4,
            Self::Shape | Self::Density | Self::Mass | Self::Friction | Self::Restitution => 1,
        }
    }
}

/// One cell of a row: a number, or a name in the column `shape`.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub enum Cell {
    /// A number.
    Number(f64),
    /// A name.
    Name(String),
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(x) => serializer.serialize_f64(*x),
            Self::Name(name) => serializer.serialize_str(name),
        }
    }
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Scalar;
        impl Visitor<'_> for Scalar {
            type Value = Cell;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or a name in the column `shape`")
            }

            fn visit_f64<E: Error>(self, x: f64) -> Result<Cell, E> {
                Ok(Cell::Number(x))
            }

            fn visit_u64<E: Error>(self, x: u64) -> Result<Cell, E> {
                Ok(Cell::Number(x as f64))
            }

            fn visit_i64<E: Error>(self, x: i64) -> Result<Cell, E> {
                Ok(Cell::Number(x as f64))
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Cell, E> {
                Ok(Cell::Name(name.into()))
            }
        }
        deserializer.deserialize_any(Scalar)
    }
}
