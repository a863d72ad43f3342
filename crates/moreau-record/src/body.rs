use crate::BodyState;
use moreau_collision::Shape;
use moreau_math::{MassProperties, Pose, Vec3};
use moreau_pipeline::{BodyId, BodyKind, BodyView, Joint, JointId, Material};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A body of a run, as it was from one frame to another. A body that is changed in between (its shape,
/// mass, material or kind; a static one's pose) counts as another from then on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodyRecord {
    /// Its index in [`crate::RecordedRun::bodies`].
    #[serde(skip)]
    pub body: usize,
    /// The first frame that has it.
    #[serde(skip)]
    pub first_frame: u64,
    /// The last frame that has it; `None` where the run ends with it.
    #[serde(skip)]
    pub last_frame: Option<u64>,
    /// Its id in the world.
    pub id: BodyId,
    /// Its name in the scene; empty where it has none.
    #[serde(skip)]
    pub name: String,
    /// What moves it.
    pub kind: BodyKind,
    /// Index of its shape in [`crate::RecordedRun::shapes`].
    #[serde(skip)]
    pub shape: usize,
    /// Its frame in the world in its first frame; a static body's in all.
    pub pose: Pose,
    /// Its mass (kg), centre of mass (m) and inertia (kg m²) in its own frame; no mass for a body
    /// that is not dynamic.
    pub mass: MassProperties,
    /// Its surface.
    pub material: Material,
    /// Whether it only reports what overlaps it.
    #[serde(default)]
    pub sensor: bool,
}

impl BodyRecord {
    pub(crate) fn of(view: &BodyView<'_>, body: usize, shape: usize, name: &str) -> Self {
        Self {
            body,
            first_frame: 0,
            last_frame: None,
            id: view.id(),
            name: name.into(),
            kind: view.kind(),
            shape,
            pose: view.pose(),
            mass: view.mass_properties(),
            material: view.material(),
            sensor: view.is_sensor(),
        }
    }

    /// Whether the body is still the one that this describes, its shape apart.
    pub(crate) fn describes(&self, view: &BodyView<'_>) -> bool {
        self.id == view.id()
            && self.kind == view.kind()
            && self.mass == view.mass_properties()
            && self.material == view.material()
            && (self.kind != BodyKind::Static || self.pose == view.pose())
    }

    /// Whether frames have a state of it.
    pub fn moves(&self) -> bool {
        self.kind != BodyKind::Static
    }

    /// Whether it is there in `frame`.
    pub fn is_in(&self, frame: u64) -> bool {
        self.first_frame <= frame && self.last_frame.is_none_or(|last| frame <= last)
    }

    /// Its frame in the world where its state is `state`: the same bits as the world's.
    pub fn pose_of(&self, state: &BodyState) -> Pose {
        let center = self.mass.center_of_mass;
        let origin = if center == Vec3::ZERO {
            state.center_of_mass
        } else {
            state.center_of_mass - state.rotation * center
        };
        Pose::new(origin, state.rotation)
    }

    /// What to call it: its name, or its id.
    pub fn label(&self) -> String {
        if self.name.is_empty() {
            self.id.to_string()
        } else {
            self.name.clone()
        }
    }
}

/// A joint of a run, as it was from one frame to another.
#[derive(Clone, Debug, PartialEq)]
pub struct JointRecord {
    /// The first frame that has it.
    pub first_frame: u64,
    /// The last frame that has it; `None` where the run ends with it.
    pub last_frame: Option<u64>,
    /// Its id in the world.
    pub id: JointId,
    /// What it holds, and where.
    pub joint: Joint,
}

/// The shapes of a run, each once.
#[derive(Debug, Default)]
pub(crate) struct Shapes(Vec<Shape>);

impl Shapes {
    /// Index of a shape, and whether it was not there before. `guess` is looked at first: bodies of
    /// one kind often follow each other.
    pub(crate) fn index(&mut self, shape: &Shape, guess: usize) -> (usize, bool) {
        if self.0.get(guess) == Some(shape) {
            return (guess, false);
        }
        match self.0.iter().position(|s| s == shape) {
            Some(index) => (index, false),
            None => {
                self.0.push(shape.clone());
                (self.0.len() - 1, true)
            }
        }
    }

    /// Whether the shape of that index is this one, as far as can be told without looking at all of a
    /// mesh: false where it is another value, even of the same content.
    pub(crate) fn is_surely(&self, index: usize, shape: &Shape) -> bool {
        match (self.0.get(index), shape) {
            (Some(Shape::Hull(a)), Shape::Hull(b)) => Arc::ptr_eq(a, b),
            (Some(Shape::Mesh(a)), Shape::Mesh(b)) => Arc::ptr_eq(a, b),
            (Some(Shape::Heightfield(a)), Shape::Heightfield(b)) => Arc::ptr_eq(a, b),
            (Some(Shape::Compound(a)), Shape::Compound(b)) => Arc::ptr_eq(a, b),
            (kept, shape) => kept == Some(shape),
        }
    }
}
