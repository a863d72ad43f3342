//! Everything a step did, to the bit, so that two builds can be compared.

use moreau::{BodyId, StepReport, Vec3, World};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Parts of a step in the order in which they happen: each rests on those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Stage {
    /// Contact points and their geometry.
    Detect,
    /// Impulses of contacts and joints.
    Solve,
    /// Velocities and poses of bodies.
    Integrate,
    /// Impulses remembered for the next step.
    Cache,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Detect => "detect",
            Self::Solve => "solve",
            Self::Integrate => "integrate",
            Self::Cache => "cache",
        })
    }
}

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Subject {
    /// Two bodies, and which of their parts and features make the point.
    Contact(u64, u64, u128),
    /// Slot of a joint.
    Joint(u32),
    /// A body.
    Body(u64),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let body = |id: u64| BodyId {
            index: (id >> 32) as u32,
            generation: id as u32,
        };
        match *self {
            Self::Contact(a, b, feature) => {
                write!(
                    f,
                    "contact of bodies {} and {}, feature {feature:#x}",
                    body(a),
                    body(b)
                )
            }
            Self::Joint(index) => write!(f, "joint {index}"),
            Self::Body(id) => write!(f, "body {}", body(id)),
        }
    }
}

/// Names of the numbers in a record.
const DETECT: &[&str] = &[
    "normal.x",
    "normal.y",
    "normal.z",
    "lever_a.x",
    "lever_a.y",
    "lever_a.z",
    "lever_b.x",
    "lever_b.y",
    "lever_b.z",
    "separation",
    "friction",
    "restitution",
    "approach_velocity",
];
const SOLVE: &[&str] = &["impulse.normal", "impulse.tangent1", "impulse.tangent2"];
const JOINT: &[&str] = &["impulse.0", "impulse.1", "impulse.2"];
const INTEGRATE: &[&str] = &[
    "velocity.linear.x",
    "velocity.linear.y",
    "velocity.linear.z",
    "velocity.angular.x",
    "velocity.angular.y",
    "velocity.angular.z",
    "center.x",
    "center.y",
    "center.z",
    "rotation.x",
    "rotation.y",
    "rotation.z",
    "rotation.w",
];
const CACHE: &[&str] = &[
    "normal_impulse",
    "tangential.x",
    "tangential.y",
    "tangential.z",
    "normal.x",
    "normal.y",
    "normal.z",
];

/// The numbers of one subject in one stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) stage: Stage,
    pub(crate) subject: Subject,
    pub(crate) values: Vec<f64>,
}

impl Record {
    /// Names of `values`.
    pub(crate) fn fields(&self) -> &'static [&'static str] {
        match (self.stage, self.subject) {
            (Stage::Detect, _) => DETECT,
            (Stage::Solve, Subject::Joint(_)) => JOINT,
            (Stage::Solve, _) => SOLVE,
            (Stage::Integrate, _) => INTEGRATE,
            (Stage::Cache, _) => CACHE,
        }
    }
}

/// A step: its records, sorted by stage and subject.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StepTrace {
    pub(crate) step: u64,
    pub(crate) records: Vec<Record>,
}

impl StepTrace {
    /// The records of the step that `world` has just made.
    pub(crate) fn of(world: &World, report: &StepReport) -> Self {
        let mut records = Vec::new();
        let mut push = |stage, subject, parts: &[&[f64]]| {
            records.push(Record {
                stage,
                subject,
                values: parts.concat(),
            });
        };
        let xyz = |v: Vec3| v.to_array();
        for c in world.contacts() {
            let subject = Subject::Contact(c.a.to_bits(), c.b.to_bits(), c.key());
            let rest = [c.separation, c.friction, c.restitution, c.approach_velocity];
            let parts = [&xyz(c.normal)[..], &xyz(c.lever_a), &xyz(c.lever_b), &rest];
            push(Stage::Detect, subject, &parts);
            push(Stage::Solve, subject, &[&xyz(c.impulse)]);
        }
        for (id, _) in world.joints() {
            let impulse = world.joint_impulse(id).unwrap_or_default();
            push(Stage::Solve, Subject::Joint(id.index), &[&impulse]);
        }
        for body in world.bodies() {
            let v = body.velocity();
            let parts = [
                &xyz(v.linear)[..],
                &xyz(v.angular),
                &xyz(body.center_of_mass()),
                &body.rotation().to_array(),
            ];
            push(Stage::Integrate, Subject::Body(body.id().to_bits()), &parts);
        }
        for entry in world.contact_cache().entries() {
            let subject = Subject::Contact(entry.pair.a, entry.pair.b, entry.feature);
            let i = &entry.impulse;
            let parts = [&[i.normal_impulse][..], &xyz(i.tangential), &xyz(i.normal)];
            push(Stage::Cache, subject, &parts);
        }
        records.sort_by_key(|r| (r.stage, r.subject));
        Self {
            step: report.step,
            records,
        }
    }
}

const MARK: &[u8; 8] = b"moreauT\0";
const VERSION: u8 = 2;

/// Some steps of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Trace {
    pub(crate) steps: Vec<StepTrace>,
}

impl Trace {
    /// As bytes that another build reads.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, String> {
        let mut bytes = MARK.to_vec();
        bytes.push(VERSION);
        postcard::to_extend(self, bytes).map_err(|e| format!("cannot write the trace: {e}"))
    }

    /// Reads [`Self::to_bytes`].
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let rest = bytes.strip_prefix(MARK.as_slice()).ok_or("is no trace")?;
        match rest.split_first() {
            Some((&VERSION, rest)) => {
                postcard::from_bytes(rest).map_err(|e| format!("is a damaged trace: {e}"))
            }
            Some((other, _)) => Err(format!(
                "is a trace of version {other}; this build reads {VERSION}"
            )),
            None => Err("is a damaged trace: it ends in its header".into()),
        }
    }
}
