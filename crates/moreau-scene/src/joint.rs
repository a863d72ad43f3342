use crate::body::{BodyRef, is_default};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A joint between two bodies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum JointSpec {
    /// A point of each body stays at the other's.
    Ball(BallSpec),
    /// Two points keep their distance, as if a massless rod joined them.
    Distance(DistanceSpec),
}

/// A ball joint. Its place is given either by `at`, or by `anchor_a` and `anchor_b`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BallSpec {
    /// First body, by name or index.
    pub a: BodyRef,
    /// Second body, by name or index; one of the two must be dynamic.
    pub b: BodyRef,
    /// The joint's place at the start, m, world axes. Default: by the anchors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<[f64; 3]>,
    /// Anchor in A's frame, m. Default A's origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor_a: Option<[f64; 3]>,
    /// Anchor in B's frame, m. Default B's origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor_b: Option<[f64; 3]>,
    /// Whether the two bodies also collide. Default false.
    #[serde(default, skip_serializing_if = "is_default")]
    pub collide: bool,
}

/// A distance joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DistanceSpec {
    /// First body, by name or index.
    pub a: BodyRef,
    /// Second body, by name or index; one of the two must be dynamic.
    pub b: BodyRef,
    /// Anchor in A's frame, m. Default A's origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor_a: Option<[f64; 3]>,
    /// Anchor in B's frame, m. Default B's origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor_b: Option<[f64; 3]>,
    /// m, positive. Default the distance at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<f64>,
    /// Whether the two bodies also collide. Default false.
    #[serde(default, skip_serializing_if = "is_default")]
    pub collide: bool,
}
