//! The run made again, and compared with its recording.

use crate::state::BodyState;
use crate::{RecordError, RecordedRun};
use moreau_pipeline::{BodyKind, Contact, World, WorldError};
use moreau_scene::{Scene, SceneError};
use std::fmt;

/// Why a run cannot be made again.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The recording cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The recorded scene cannot be built by this version.
    #[error("the recorded scene cannot be built: {0}")]
    Scene(#[from] SceneError),
    /// The world's state cannot be restored, or a step of the replay fails.
    #[error("frame {frame} of the replay: {source}")]
    World {
        /// Which frame.
        frame: u64,
        /// What the world says.
        source: WorldError,
    },
    /// The solver was the caller's own, and a file cannot hold it.
    #[error("the run was solved by the solver `{solver}`, which is not among this program's")]
    Solver {
        /// Its name.
        solver: String,
    },
}

/// The first thing in which a replay differs from its recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The frame.
    pub frame: u64,
    /// The body or contact, for people; empty for the world itself.
    pub at: String,
    /// The field, such as `velocity.linear.x` or `impulse.normal`.
    pub field: &'static str,
    /// Its value in the recording.
    pub recorded: f64,
    /// Its value in the replay.
    pub replayed: f64,
}

impl Difference {
    /// How many `f64` lie between both values; `None` where one is no number.
    pub fn ulps(&self) -> Option<u64> {
        moreau_scene::ulps(self.recorded, self.replayed)
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            frame,
            at,
            field,
            recorded,
            replayed,
        } = self;
        write!(f, "frame {frame}")?;
        if !at.is_empty() {
            write!(f, ", {at}")?;
        }
        write!(f, ", {field}: recorded {recorded:?}, replayed {replayed:?}")?;
        match self.ulps() {
            Some(ulps) if !field.starts_with("number of") => write!(f, " ({ulps} ulp apart)"),
            _ => Ok(()),
        }
    }
}

/// A recorded run that is being made again.
///
/// It starts from the recorded scene, or from the recorded state of the world where there was no scene
/// or the recording began in the middle.
#[derive(Debug)]
pub struct Replay<'a> {
    run: &'a RecordedRun<'a>,
    world: World,
    next: u64,
}

pub(crate) const STATE_FIELDS: [&str; 13] = [
    "center_of_mass.x",
    "center_of_mass.y",
    "center_of_mass.z",
    "rotation.x",
    "rotation.y",
    "rotation.z",
    "rotation.w",
    "velocity.linear.x",
    "velocity.linear.y",
    "velocity.linear.z",
    "velocity.angular.x",
    "velocity.angular.y",
    "velocity.angular.z",
];

const CONTACT_FIELDS: [&str; 27] = [
    "a",
    "b",
    "part_a",
    "part_b",
    "feature",
    "normal.x",
    "normal.y",
    "normal.z",
    "tangent1.x",
    "tangent1.y",
    "tangent1.z",
    "tangent2.x",
    "tangent2.y",
    "tangent2.z",
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
    "impulse.normal",
    "impulse.tangent1",
    "impulse.tangent2",
];

/// The numbers of a contact, along [`CONTACT_FIELDS`]; whole ones below 2^53.
fn numbers(c: &Contact) -> [f64; 27] {
    let [n, t1, t2, a, b] =
        [c.normal, c.tangent1, c.tangent2, c.lever_a, c.lever_b].map(|v| v.to_array());
    let i = c.impulse;
    [
        f64::from(c.a.index),
        f64::from(c.b.index),
        c.part_a.into(),
        c.part_b.into(),
        c.feature.0.into(),
        n[0],
        n[1],
        n[2],
        t1[0],
        t1[1],
        t1[2],
        t2[0],
        t2[1],
        t2[2],
        a[0],
        a[1],
        a[2],
        b[0],
        b[1],
        b[2],
        c.separation,
        c.friction,
        c.restitution,
        c.approach_velocity,
        i.x,
        i.y,
        i.z,
    ]
}

impl<'a> Replay<'a> {
    /// Makes the world of the run's first frame. Its results have the same bits for any number of
    /// `threads`.
    ///
    /// # Errors
    /// Where that cannot be done.
    pub fn new(run: &'a RecordedRun<'a>, threads: usize) -> Result<Self, ReplayError> {
        let info = run.info();
        let frame = info.first_frame;
        let failed = |source| ReplayError::World { frame, source };
        let mut world = match &info.scene_json {
            Some(text) if frame == 0 => Scene::from_json(text)?.build()?.world,
            _ => World::from_snapshot(&run.start()?).map_err(failed)?,
        };
        if world.solver_name() != info.solver {
            let solver = info.solver.clone();
            return Err(ReplayError::Solver { solver });
        }
        world.set_threads(threads).map_err(failed)?;
        let next = frame;
        Ok(Self { run, world, next })
    }

    /// The frame that is compared next.
    pub fn next_frame(&self) -> u64 {
        self.next
    }

    /// Whether all frames were compared.
    pub fn finished(&self) -> bool {
        self.next > self.run.last_frame()
    }

    /// Makes the next step, except before the first frame, and compares the world with the recording:
    /// states of bodies, contacts and hashes, as far as they were recorded.
    ///
    /// # Errors
    /// Where the step fails or the recording cannot be read.
    pub fn step(&mut self) -> Result<Option<Difference>, ReplayError> {
        let frame = self.run.frame(self.next)?;
        if self.next != self.run.first_frame() {
            self.world
                .step(frame.dt)
                .map_err(|source| ReplayError::World {
                    frame: frame.frame,
                    source,
                })?;
        }
        self.next += 1;
        let mut differences = Differences {
            frame: frame.frame,
            first: None,
        };
        self.compare_states(&frame, &mut differences);
        if differences.first.is_none() && self.run.keeps_contacts(frame.frame) {
            let contacts = self.world.contacts();
            differences.first = contact_difference(self.run, frame.frame, contacts)?;
        }
        if let Some(hash) = frame.hash.filter(|_| differences.first.is_none()) {
            let now = self.world.hash();
            for (field, x, y) in [
                ("hash of poses", hash.poses, now.poses),
                ("hash of contacts", hash.contacts, now.contacts),
                ("hash of remembered impulses", hash.cache, now.cache),
            ] {
                if x != y {
                    differences.note(String::new(), field, x as f64, y as f64);
                }
            }
        }
        Ok(differences.first)
    }

    fn compare_states(&self, frame: &crate::Frame, out: &mut Differences) {
        let moving = || self.world.bodies().filter(|b| b.kind() != BodyKind::Static);
        let (recorded, replayed) = (frame.states.len(), moving().count());
        if recorded != replayed {
            let field = "number of bodies that move";
            out.note(String::new(), field, recorded as f64, replayed as f64);
        }
        for ((index, state), view) in frame.states.iter().zip(moving()) {
            let record = &self.run.bodies()[*index];
            let at = || format!("body {}", self.run.title(record.id));
            if record.id != view.id() {
                let (x, y) = (record.id.index, view.id().index);
                out.note(at(), "slot", x.into(), y.into());
            }
            let (x, y) = (state.to_array(), BodyState::of(&view).to_array());
            out.compare(at, &STATE_FIELDS, &x, &y);
        }
    }
}

/// Where contacts first differ from the recorded ones of a frame.
pub(crate) fn contact_difference(
    run: &RecordedRun<'_>,
    frame: u64,
    contacts: &[Contact],
) -> Result<Option<Difference>, RecordError> {
    let mut out = Differences { frame, first: None };
    let recorded = run.contacts(frame)?;
    for (x, y) in recorded.iter().zip(contacts) {
        let at = || {
            let (a, b) = (run.title(x.contact.a), run.title(x.contact.b));
            format!("contact {} of {a} and {b}", x.ordinal)
        };
        let (x, y) = (numbers(&x.contact), numbers(y));
        out.compare(at, &CONTACT_FIELDS, &x, &y);
    }
    if recorded.len() != contacts.len() {
        let (x, y) = (recorded.len() as f64, contacts.len() as f64);
        out.note(String::new(), "number of contact points", x, y);
    }
    Ok(out.first)
}

/// Keeps the first difference of a frame.
struct Differences {
    frame: u64,
    first: Option<Difference>,
}

impl Differences {
    fn note(&mut self, at: String, field: &'static str, recorded: f64, replayed: f64) {
        let frame = self.frame;
        self.first.get_or_insert(Difference {
            frame,
            at,
            field,
            recorded,
            replayed,
        });
    }

    fn compare(
        &mut self,
        at: impl Fn() -> String,
        fields: &[&'static str],
        recorded: &[f64],
        replayed: &[f64],
    ) {
        if self.first.is_some() {
            return;
        }
        if let Some(d) = moreau_scene::differences(fields, recorded, replayed).next() {
            self.note(at(), d.field, d.old, d.new);
        }
    }
}
