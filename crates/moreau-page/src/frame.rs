//! A run as plain data: what stands still, and one [`Frame`] a step.

use moreau::{
    BodyKind, Contact, IslandReport, Joint, JointKind, Pose, Quat, Shape, StepReport, StopReason,
    Vec3, World,
};
use serde::Serialize;

/// What does not change in a run.
#[derive(Clone, Debug)]
pub struct Stage {
    /// All bodies; frames name them by index.
    pub bodies: Vec<BodyRecord>,
    /// The shapes that they refer to.
    pub shapes: Vec<Shape>,
    /// Joints.
    pub joints: Vec<JointRecord>,
    /// Unit vector against gravity; y where there is none.
    pub up: Vec3,
}

/// A body as the page describes it.
#[derive(Clone, Debug, Serialize)]
pub struct BodyRecord {
    /// Name; may be empty.
    pub name: String,
    /// Whether and how it moves.
    pub kind: BodyKind,
    /// Index of its shape.
    pub shape: usize,
    /// Whether it may move, and so has a path.
    pub moves: bool,
    /// At the start: x, y, z (m), qx, qy, qz, qw.
    pub pose: [f64; 7],
    /// Mass, kg.
    pub mass_kg: f64,
    /// Its own coefficient of friction.
    pub friction: f64,
    /// Its own coefficient of restitution.
    pub restitution: f64,
    /// The first and the last step in which it is there; `None`: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<(u64, u64)>,
}

/// A joint as the page draws it.
#[derive(Clone, Debug, Serialize)]
pub struct JointRecord {
    /// `ball` or `distance`.
    pub kind: &'static str,
    /// Index of the first body.
    pub a: usize,
    /// Index of the second.
    pub b: usize,
    /// In A's frame, m.
    pub anchor_a: [f64; 3],
    /// In B's frame, m.
    pub anchor_b: [f64; 3],
    /// The first and the last step in which it is there; `None`: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<(u64, u64)>,
}

impl JointRecord {
    /// Of a world's joint, by the indices of its bodies.
    pub fn of(joint: &Joint, a: usize, b: usize) -> Self {
        Self {
            kind: match joint.kind {
                JointKind::Ball => "ball",
                JointKind::Distance { .. } => "distance",
            },
            a,
            b,
            anchor_a: joint.anchor_a.to_array(),
            anchor_b: joint.anchor_b.to_array(),
            steps: None,
        }
    }
}

/// A body after a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyState {
    /// Position and rotation of the body's frame in the world, m.
    pub pose: Pose,
    /// Velocity of the centre of mass, m/s.
    pub linear: Vec3,
    /// Angular velocity, world axes, rad/s.
    pub angular: Vec3,
    /// Whether it sleeps.
    pub asleep: bool,
}

/// A contact point of a step: the contact of the engine with bodies by index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactState {
    /// Index of the first body.
    pub a: u32,
    /// Index of the second.
    pub b: u32,
    /// Where it is drawn: midway between the points on both bodies, m.
    pub point: Vec3,
    /// Everything else; its ids are not looked at.
    pub contact: Contact,
}

/// An island of a step, and how it was solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IslandState {
    /// Index of its dynamic body with the smallest id.
    pub first: u32,
    /// Dynamic bodies.
    pub bodies: u32,
    /// Contact points.
    pub contact_points: u32,
    /// Joints.
    pub joints: u32,
    /// Name of who solved it.
    pub solver: &'static str,
    /// Why that stopped; `converged` where the answer is certified.
    pub stop: &'static str,
    /// Sweeps over its contacts.
    pub sweeps: u32,
    /// Factorisations of its system.
    pub factorizations: u32,
    /// Natural map of its worst contact or row, m/s.
    pub residual: f64,
    /// That contact's index in the frame's contact points; `None` for a joint, or where it is not known.
    pub worst_contact: Option<u32>,
    /// Whether the energy guard reduced the bounce.
    pub guarded: bool,
}

/// The names of [`Sample`]'s numbers.
pub const SERIES_COLUMNS: [&str; 21] = [
    "time_s",
    "kinetic_j",
    "potential_j",
    "contact_points",
    "residual_m_s",
    "max_penetration_m",
    "sweeps",
    "islands",
    "certified",
    "max_speed_m_s",
    "total_s",
    "broad_s",
    "narrow_s",
    "islands_s",
    "assembly_s",
    "solve_s",
    "correction_s",
    "integration_s",
    "continuous_s",
    "commit_s",
    "sleeping_bodies",
];

/// A step's numbers in the order of [`SERIES_COLUMNS`]; NaN where there was no step, or for what it was
/// not asked to measure.
pub type Sample = [f64; SERIES_COLUMNS.len()];

/// One step of a run.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// How many steps the run has made.
    pub step: u64,
    /// The step's figures.
    pub sample: Sample,
    /// Every body, in the order of [`Stage::bodies`]; anything for those that are not there.
    pub bodies: &'a [BodyState],
    /// What touches.
    pub contacts: Contacts<'a>,
    /// The islands, in the order of their first bodies; none where that is not known.
    pub islands: &'a [IslandState],
}

/// What is known of a step's contacts.
#[derive(Clone, Copy, Debug)]
pub enum Contacts<'a> {
    /// Every contact point, in a fixed order.
    Points(&'a [ContactState]),
    /// The points were not kept; which bodies touch, by index.
    Pairs(&'a [(u32, u32)]),
}

impl<'a> Contacts<'a> {
    /// The contact points, where they are known.
    pub(crate) fn points(self) -> Option<&'a [ContactState]> {
        match self {
            Self::Points(points) => Some(points),
            Self::Pairs(_) => None,
        }
    }

    /// Which bodies touch, once or more.
    pub(crate) fn pairs(self) -> impl Iterator<Item = (u32, u32)> + 'a {
        let (points, pairs) = match self {
            Self::Points(points) => (points, [].as_slice()),
            Self::Pairs(pairs) => ([].as_slice(), pairs),
        };
        let points = points.iter().map(|c| (c.a, c.b));
        points.chain(pairs.iter().copied())
    }
}

impl Stage {
    /// Of a world. `names` are those of the bodies in id order; missing ones are empty.
    pub fn of(world: &World, names: &[String]) -> Self {
        let mut shapes: Vec<Shape> = Vec::new();
        let mut ids = Vec::new();
        let mut bodies = Vec::new();
        for (index, body) in world.bodies().enumerate() {
            let known = shapes.iter().position(|s| s == body.shape());
            let shape = known.unwrap_or_else(|| {
                shapes.push(body.shape().clone());
                shapes.len() - 1
            });
            let (p, q) = (body.position(), body.rotation());
            ids.push(body.id());
            bodies.push(BodyRecord {
                name: names.get(index).cloned().unwrap_or_default(),
                kind: body.kind(),
                shape,
                moves: body.kind() != BodyKind::Static,
                pose: [p.x, p.y, p.z, q.x, q.y, q.z, q.w],
                mass_kg: body.mass_properties().mass,
                friction: body.material().friction,
                restitution: body.material().restitution,
                steps: None,
            });
        }
        let index = |id| ids.binary_search(&id).ok();
        let joints = world.joints().filter_map(|(_, joint)| {
            let (a, b) = (index(joint.a)?, index(joint.b)?);
            Some(JointRecord::of(&joint, a, b))
        });
        let joints = joints.collect();
        Self {
            bodies,
            shapes,
            joints,
            up: up(world.settings().gravity),
        }
    }
}

/// The unit vector against gravity; y where there is none.
pub fn up(gravity: Vec3) -> Vec3 {
    if gravity.length() > 0.0 {
        -gravity.normalize()
    } else {
        Vec3::Y
    }
}

/// All bodies of a world.
pub(crate) fn bodies(world: &World) -> Vec<BodyState> {
    let state = |body: moreau::BodyView<'_>| BodyState {
        pose: body.pose(),
        linear: body.velocity().linear,
        angular: body.velocity().angular,
        asleep: body.is_sleeping(),
    };
    world.bodies().map(state).collect()
}

/// All contacts of a world whose ids are `ids` in ascending order.
pub(crate) fn contacts(world: &World, ids: &[moreau::BodyId]) -> Vec<ContactState> {
    let state = |contact: &Contact| {
        let index = |id| ids.binary_search(&id).ok().map(|i| i as u32);
        let center = |id| world.body(id).ok().map(|b| b.center_of_mass());
        let on_a = center(contact.a)? + contact.lever_a;
        let on_b = center(contact.b)? + contact.lever_b;
        Some(ContactState {
            a: index(contact.a)?,
            b: index(contact.b)?,
            point: (on_a + on_b) * 0.5,
            contact: *contact,
        })
    };
    world.contacts().iter().filter_map(state).collect()
}

/// The islands of the step that a world has just made; `contacts` are those of [`contacts`].
pub(crate) fn islands(
    world: &World,
    ids: &[moreau::BodyId],
    contacts: &[ContactState],
) -> Vec<IslandState> {
    let awake = world.awake_contacts();
    let key = |c: &Contact| (c.a, c.b, c.key());
    let index = |worst: usize| {
        let worst = key(awake.get(worst)?);
        let found = contacts.binary_search_by_key(&worst, |state| key(&state.contact));
        found.ok().map(|index| index as u32)
    };
    let state = |r: &IslandReport| {
        let first = ids.binary_search(&r.first_body).ok()?;
        Some(IslandState {
            first: first as u32,
            bodies: r.bodies as u32,
            contact_points: r.contact_points as u32,
            joints: r.joints as u32,
            solver: r.solver.name(),
            stop: match r.solve.stop {
                StopReason::Converged => "converged",
                StopReason::Budget => "budget used up",
                StopReason::Stalled => "stalled",
                StopReason::NoSolution => "no solution",
            },
            sweeps: r.solve.sweeps,
            factorizations: r.solve.factorizations,
            residual: r.solve.residual,
            worst_contact: r.solve.worst_contact.and_then(index),
            guarded: r.guarded,
        })
    };
    world.island_reports().iter().filter_map(state).collect()
}

/// The figures of a world that tells nothing of a step: time, energies, and its fastest body.
pub fn state_sample(world: &World) -> Sample {
    let mut sample = [f64::NAN; SERIES_COLUMNS.len()];
    let speeds = world.bodies().map(|b| b.velocity().linear.length());
    sample[0] = world.time();
    sample[1] = world.kinetic_energy();
    sample[2] = world.potential_energy();
    sample[9] = speeds.fold(0.0, f64::max);
    sample
}

/// The figures of the step that `world` has just made.
pub(crate) fn sample(world: &World, r: &StepReport) -> Sample {
    let mut sample = state_sample(world);
    sample[1..9].copy_from_slice(&[
        r.kinetic_energy,
        r.potential_energy,
        r.contact_points as f64,
        r.residual,
        r.max_penetration,
        f64::from(r.sweeps),
        r.islands as f64,
        f64::from(u8::from(r.certified)),
    ]);
    sample[10] = r.seconds;
    if let Some(profile) = &r.profile {
        sample[11..20].copy_from_slice(&profile.times.stages());
    }
    sample[20] = r.sleeping_bodies as f64;
    sample
}

/// As the page draws it.
pub(crate) fn pose32(pose: &Pose) -> [f32; 7] {
    let p: Vec3 = pose.translation;
    let q: Quat = pose.rotation;
    [p.x, p.y, p.z, q.x, q.y, q.z, q.w].map(|x| x as f32)
}
