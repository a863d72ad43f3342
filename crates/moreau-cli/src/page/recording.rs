//! What a page shows, collected step by step.

use super::contacts::ContactLog;
use moreau::{BodyKind, JointKind, Shape, StepReport, World};
use serde::Serialize;

/// Bytes of a packed pose: position 3 x u16, quaternion 4 x i16.
pub(super) const POSE_BYTES: u64 = 14;

/// Most bytes of packed poses; beyond it only every second, third… step is shown.
const MOST_POSE_BYTES: u64 = 17_000_000;

/// A body as the page describes it.
#[derive(Debug, Serialize)]
pub(super) struct BodyRecord {
    pub(super) name: String,
    pub(super) kind: BodyKind,
    /// Index of its shape.
    pub(super) shape: usize,
    /// Whether it may move, and so has a path.
    pub(super) moves: bool,
    /// At the start: x, y, z, qx, qy, qz, qw.
    pub(super) pose: [f32; 7],
    pub(super) mass_kg: f64,
    pub(super) friction: f64,
    pub(super) restitution: f64,
}

/// A joint as the page draws it; bodies by index.
#[derive(Debug, Serialize)]
pub(super) struct JointRecord {
    pub(super) kind: &'static str,
    pub(super) a: usize,
    pub(super) b: usize,
    pub(super) anchor_a: [f64; 3],
    pub(super) anchor_b: [f64; 3],
}

/// The names of [`Sample`]'s numbers on the page.
pub(super) const SERIES_COLUMNS: [&str; 8] = [
    "time_s",
    "kinetic_j",
    "potential_j",
    "contact_points",
    "residual_m_s",
    "max_penetration_m",
    "ms",
    "certified",
];

/// A step's numbers, unrounded, in the order of [`SERIES_COLUMNS`]; NaN where there was no step.
pub(super) type Sample = [f64; SERIES_COLUMNS.len()];

/// Poses, contacts and reports of a run.
#[derive(Debug)]
pub(crate) struct Recording {
    pub(super) bodies: Vec<BodyRecord>,
    pub(super) shapes: Vec<Shape>,
    pub(super) joints: Vec<JointRecord>,
    /// Poses are kept of every how many steps; the last step is always kept.
    pub(super) stride: u64,
    last_step: u64,
    pub(super) frame_steps: Vec<u64>,
    /// Seven numbers of each body that moves, body by body, frame by frame.
    pub(super) frames: Vec<f32>,
    pub(super) contacts: ContactLog,
    pub(super) series: Vec<Sample>,
    /// m/s.
    pub(super) max_speed: f64,
    /// Unit vector against gravity; y where there is none.
    pub(super) up: [f64; 3],
}

impl Recording {
    /// Starts with the world as it is; `steps` more are planned. `names` are those of the bodies in
    /// id order; missing ones are empty.
    pub(crate) fn start(world: &World, names: &[String], steps: u64) -> Self {
        let mut shapes = Vec::new();
        let mut ids = Vec::new();
        let mut bodies = Vec::new();
        for (index, body) in world.bodies().enumerate() {
            let shape = shapes
                .iter()
                .position(|s| s == body.shape())
                .unwrap_or_else(|| {
                    shapes.push(body.shape().clone());
                    shapes.len() - 1
                });
            ids.push(body.id());
            bodies.push(BodyRecord {
                name: names.get(index).cloned().unwrap_or_default(),
                kind: body.kind(),
                shape,
                moves: body.kind() != BodyKind::Static,
                pose: pose(&body),
                mass_kg: body.mass_properties().mass,
                friction: body.material().friction,
                restitution: body.material().restitution,
            });
        }
        let index = |id| ids.iter().position(|other| *other == id);
        let joints = world.joints().filter_map(|(_, joint)| {
            Some(JointRecord {
                kind: match joint.kind {
                    JointKind::Ball => "ball",
                    JointKind::Distance { .. } => "distance",
                },
                a: index(joint.a)?,
                b: index(joint.b)?,
                anchor_a: joint.anchor_a.to_array(),
                anchor_b: joint.anchor_b.to_array(),
            })
        });
        let moving = bodies.iter().filter(|body| body.moves).count() as u64;
        let all_bytes = (steps + 1).saturating_mul(moving * POSE_BYTES);
        let gravity = world.settings().gravity;
        let up = if gravity.length() > 0.0 {
            -gravity.normalize()
        } else {
            moreau::Vec3::Y
        };
        let mut recording = Self {
            joints: joints.collect(),
            bodies,
            shapes,
            stride: all_bytes.div_ceil(MOST_POSE_BYTES).max(1),
            last_step: world.steps() + steps,
            frame_steps: Vec::new(),
            frames: Vec::new(),
            contacts: ContactLog::new(),
            series: Vec::new(),
            max_speed: 0.0,
            up: up.to_array(),
        };
        recording.take(world, None);
        recording
    }

    /// Adds the step that `world` has just made.
    pub(crate) fn step(&mut self, world: &World, report: &StepReport) {
        self.take(world, Some(report));
    }

    /// Keeps the last state of a run that was stopped before its end.
    pub(crate) fn finish(&mut self, world: &World) {
        if self.frame_steps.last() != Some(&world.steps()) {
            self.frame(world);
        }
    }

    fn frame(&mut self, world: &World) {
        self.frame_steps.push(world.steps());
        for (body, record) in world.bodies().zip(&self.bodies) {
            if record.moves {
                self.frames.extend(pose(&body));
            }
        }
    }

    fn take(&mut self, world: &World, report: Option<&StepReport>) {
        let step = world.steps();
        if step.is_multiple_of(self.stride) || step == self.last_step {
            self.frame(world);
        }
        for body in world.bodies() {
            self.max_speed = self.max_speed.max(body.velocity().linear.length());
        }
        self.contacts.record(world);
        self.series.push(match report {
            None => [
                world.time(),
                world.kinetic_energy(),
                world.potential_energy(),
                f64::NAN,
                f64::NAN,
                f64::NAN,
                f64::NAN,
                f64::NAN,
            ],
            Some(report) => [
                world.time(),
                report.kinetic_energy,
                report.potential_energy,
                report.contact_points as f64,
                report.residual,
                report.max_penetration,
                report.seconds * 1e3,
                f64::from(u8::from(report.certified)),
            ],
        });
    }
}

fn pose(body: &moreau::BodyView<'_>) -> [f32; 7] {
    let p = body.position().to_array();
    let q = body.rotation().to_array();
    [p[0], p[1], p[2], q[0], q[1], q[2], q[3]].map(|x| x as f32)
}
