use crate::{BodyId, JointId};
use moreau_math::Vec3;
use serde::{Deserialize, Serialize};

/// What a joint holds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JointKind {
    /// The two anchors coincide.
    Ball,
    /// The two anchors keep this distance.
    Distance {
        /// m, positive.
        length: f64,
    },
}

/// A joint between two bodies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Joint {
    /// What it holds.
    pub kind: JointKind,
    /// First body.
    pub a: BodyId,
    /// Second body.
    pub b: BodyId,
    /// Anchor in A's frame, m.
    pub anchor_a: Vec3,
    /// Anchor in B's frame, m.
    pub anchor_b: Vec3,
    /// Whether the two bodies also collide. Default false.
    pub collide: bool,
}

impl Joint {
    /// Holds `anchor_a` of A and `anchor_b` of B (m, body frames) together.
    pub fn ball(a: BodyId, anchor_a: Vec3, b: BodyId, anchor_b: Vec3) -> Self {
        Self {
            kind: JointKind::Ball,
            a,
            b,
            anchor_a,
            anchor_b,
            collide: false,
        }
    }

    /// Keeps `anchor_a` of A and `anchor_b` of B (m, body frames) at `length` (m).
    pub fn distance(a: BodyId, anchor_a: Vec3, b: BodyId, anchor_b: Vec3, length: f64) -> Self {
        Self {
            kind: JointKind::Distance { length },
            a,
            b,
            anchor_a,
            anchor_b,
            collide: false,
        }
    }

    /// Lets the two bodies collide as well.
    #[must_use]
    pub fn colliding(mut self) -> Self {
        self.collide = true;
        self
    }
}

/// A joint in the world: its definition, its id and what it did in the last step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct JointState {
    pub(crate) id: JointId,
    pub(crate) joint: Joint,
    /// Impulse of each row in the last step, N s: the warm start of the next.
    pub(crate) impulses: [f64; 3],
}
