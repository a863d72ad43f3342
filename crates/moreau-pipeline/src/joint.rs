use crate::world::{Slot, World};
use crate::{BodyId, JointId, WorldError};
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

impl World {
    /// Adds a joint.
    ///
    /// # Errors
    /// Where a body does not exist, both are the same or cannot move, an anchor is not finite or a
    /// length not positive.
    pub fn add_joint(&mut self, joint: Joint) -> Result<JointId, WorldError> {
        let index = match self.state.free_joints.last() {
            Some(index) => *index as usize,
            None => self.state.joints.len(),
        };
        let generation = self
            .state
            .joints
            .get(index)
            .map_or(0, |slot| slot.generation);
        let id = JointId {
            index: index as u32,
            generation,
        };
        let bad = |field, value: String, allowed| WorldError::BadJoint {
            id,
            field,
            value,
            allowed,
        };
        let moves = self.get(joint.a)?.is_dynamic() || self.get(joint.b)?.is_dynamic();
        if joint.a == joint.b || !moves {
            let allowed = "two bodies of which one at least is dynamic";
            return Err(bad(
                "bodies",
                format!("{} and {}", joint.a, joint.b),
                allowed,
            ));
        }
        for (field, anchor) in [("anchor_a", joint.anchor_a), ("anchor_b", joint.anchor_b)] {
            if !anchor.is_finite() {
                return Err(bad(field, anchor.to_string(), "finite"));
            }
        }
        if let JointKind::Distance { length } = joint.kind
            && !(length > 0.0 && length.is_finite())
        {
            return Err(bad("length", length.to_string(), "positive and finite"));
        }
        self.wake(joint.a)?;
        self.wake(joint.b)?;
        self.activity.forget();
        self.detection.forget_joined();
        let value = Some(JointState {
            id,
            joint,
            impulses: [0.0; 3],
        });
        if index == self.state.joints.len() {
            self.state.joints.push(Slot { generation, value });
        } else {
            self.state.free_joints.pop();
            self.state.joints[index].value = value;
        }
        Ok(id)
    }

    /// Removes a joint.
    ///
    /// # Errors
    /// Where there is no such joint.
    pub fn remove_joint(&mut self, id: JointId) -> Result<(), WorldError> {
        let joint = self.joint_state(id)?.joint;
        self.wake(joint.a)?;
        self.wake(joint.b)?;
        self.activity.forget();
        self.detection.forget_joined();
        let slot = &mut self.state.joints[id.index as usize];
        slot.value = None;
        slot.generation += 1;
        self.state.free_joints.push(id.index);
        Ok(())
    }

    /// A joint.
    ///
    /// # Errors
    /// Where there is no such joint.
    pub fn joint(&self, id: JointId) -> Result<Joint, WorldError> {
        Ok(self.joint_state(id)?.joint)
    }

    /// The impulses (N s) that a joint applied to B in the last step: along the world axes for a
    /// ball joint, along the rod (first entry) for a distance joint.
    ///
    /// # Errors
    /// Where there is no such joint.
    pub fn joint_impulse(&self, id: JointId) -> Result<[f64; 3], WorldError> {
        Ok(self.joint_state(id)?.impulses)
    }

    /// All joints in id order.
    pub fn joints(&self) -> impl Iterator<Item = (JointId, Joint)> + '_ {
        self.state
            .joints
            .iter()
            .filter_map(|slot| slot.value.map(|j| (j.id, j.joint)))
    }

    fn joint_state(&self, id: JointId) -> Result<&JointState, WorldError> {
        self.state
            .joints
            .get(id.index as usize)
            .filter(|slot| slot.generation == id.generation)
            .and_then(|slot| slot.value.as_ref())
            .ok_or(WorldError::NoSuchJoint { id })
    }
}
