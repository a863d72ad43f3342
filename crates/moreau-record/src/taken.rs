//! What is taken of a world after a step: enough to write the frame while the world goes on.

use crate::body::{BodyRecord, Shapes};
use crate::island;
use crate::state;
use crate::{BodyState, FrameReport, IslandRecord};
use moreau_collision::Shape;
use moreau_pipeline::{BodyId, BodyView, Contact, Joint, JointId, StateHash, StepReport, World};

/// A frame that is to be written. Its memory is used again for a later one.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) frame: u64,
    /// s.
    pub(crate) time: f64,
    /// Length of the step, s.
    pub(crate) dt: f64,
    /// What came, went or was changed since the frame before, in order.
    pub(crate) changes: Vec<Change>,
    /// The bodies in id order with the numbers of their records; `None` where they are those of the
    /// frame before.
    pub(crate) bodies: Option<Vec<(BodyId, usize)>>,
    /// Of the bodies that are not static.
    pub(crate) states: Vec<BodyState>,
    /// Bits along `states`; empty where none sleeps.
    pub(crate) asleep: Vec<u8>,
    pub(crate) hash: Option<StateHash>,
    pub(crate) contacts: Vec<Contact>,
    /// Whether the contacts are to be kept, and not only who touches whom.
    pub(crate) keeps_contacts: bool,
    pub(crate) islands: Vec<IslandRecord>,
    /// None for the first frame.
    pub(crate) report: Option<FrameReport>,
}

/// Something that most frames do not change.
#[derive(Debug)]
pub(crate) enum Change {
    /// A shape that was not there before, by its index.
    Shape(usize, Shape),
    BodyStarts(BodyRecord),
    /// A body's record ends with the frame before.
    BodyEnds(usize),
    JointStarts(usize, JointId, Joint),
    JointEnds(usize),
}

/// What of a frame is wanted that costs time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) contacts: bool,
    pub(crate) hash: bool,
}

/// Watches what bodies, shapes and joints a world has from frame to frame.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Sorted.
    names: Vec<(BodyId, String)>,
    shapes: Shapes,
    /// The bodies of the frame in id order.
    bodies: Vec<BodyRecord>,
    /// How many body records the run has.
    body_count: usize,
    /// The joints of the frame, with the numbers of their records.
    joints: Vec<(usize, JointId, Joint)>,
    joint_count: usize,
}

impl Watch {
    pub(crate) fn new(names: &[(BodyId, String)]) -> Self {
        let mut names = names.to_vec();
        names.sort();
        Self {
            names,
            ..Self::default()
        }
    }

    /// Takes the state of `world`, and what its last step did where there is a `report`.
    pub(crate) fn take(
        &mut self,
        world: &World,
        report: Option<&StepReport>,
        wanted: Wanted,
        out: &mut Taken,
    ) {
        out.frame = world.steps();
        out.time = world.time();
        out.dt = report.map_or(0.0, |report| report.dt);
        out.changes.clear();
        self.bodies(world, out);
        self.joints(world, &mut out.changes);
        self.states(world, out);
        out.hash = wanted.hash.then(|| world.hash());
        out.contacts.clear();
        out.contacts.extend_from_slice(world.contacts());
        out.keeps_contacts = wanted.contacts;
        out.islands.clear();
        if report.is_some() {
            island::islands(world, out.frame, &mut out.islands);
        }
        out.report = report.map(|report| FrameReport {
            worst_contact: worst_contact(world, report),
            ..FrameReport::of(report)
        });
    }

    /// Notes which bodies came, went or were changed.
    fn bodies(&mut self, world: &World, out: &mut Taken) {
        out.bodies = None;
        let same = self.bodies.len() == world.body_count()
            && world.bodies().zip(&self.bodies).all(|(view, body)| {
                body.describes(&view) && self.shapes.is_surely(body.shape, view.shape())
            });
        if same {
            return;
        }
        let mut old = std::mem::take(&mut self.bodies).into_iter().peekable();
        let mut bodies = Vec::with_capacity(world.body_count());
        let changes = &mut out.changes;
        for view in world.bodies() {
            while let Some(gone) = old.next_if(|body| body.id < view.id()) {
                changes.push(Change::BodyEnds(gone.body));
            }
            let kept = old.next_if(|body| body.id == view.id());
            let guess = bodies.last().map_or(0, |body: &BodyRecord| body.shape);
            let guess = kept.as_ref().map_or(guess, |body| body.shape);
            let shape = self.shape(&view, guess, changes);
            let body = match kept {
                Some(body) if body.describes(&view) && body.shape == shape => body,
                changed => {
                    if let Some(body) = changed {
                        changes.push(Change::BodyEnds(body.body));
                    }
                    let name = self.name(view.id());
                    let body = BodyRecord {
                        first_frame: out.frame,
                        ..BodyRecord::of(&view, self.body_count, shape, name)
                    };
                    self.body_count += 1;
                    changes.push(Change::BodyStarts(body.clone()));
                    body
                }
            };
            bodies.push(body);
        }
        changes.extend(old.map(|gone| Change::BodyEnds(gone.body)));
        out.bodies = Some(bodies.iter().map(|body| (body.id, body.body)).collect());
        self.bodies = bodies;
    }

    fn name(&self, id: BodyId) -> &str {
        let found = self.names.binary_search_by_key(&id, |(id, _)| *id);
        found.map_or("", |i| &self.names[i].1)
    }

    fn shape(&mut self, view: &BodyView<'_>, guess: usize, changes: &mut Vec<Change>) -> usize {
        let (index, added) = self.shapes.index(view.shape(), guess);
        if added {
            changes.push(Change::Shape(index, view.shape().clone()));
        }
        index
    }

    /// Notes which joints came, went or were changed.
    fn joints(&mut self, world: &World, changes: &mut Vec<Change>) {
        let kept = self.joints.iter().map(|(_, id, joint)| (*id, *joint));
        if world.joints().eq(kept) {
            return;
        }
        let joints: Vec<_> = world.joints().collect();
        for (number, id, joint) in &self.joints {
            if !joints.contains(&(*id, *joint)) {
                changes.push(Change::JointEnds(*number));
            }
        }
        let mut numbered = Vec::with_capacity(joints.len());
        for (id, joint) in joints {
            let old = self.joints.iter().find(|j| (j.1, j.2) == (id, joint));
            let number = old.map_or(self.joint_count, |(number, ..)| *number);
            if old.is_none() {
                self.joint_count += 1;
                changes.push(Change::JointStarts(number, id, joint));
            }
            numbered.push((number, id, joint));
        }
        self.joints = numbered;
    }

    /// The states of all bodies that are not static.
    fn states(&self, world: &World, out: &mut Taken) {
        out.states.clear();
        out.asleep.clear();
        for (view, body) in world.bodies().zip(&self.bodies) {
            if body.moves() {
                if view.is_sleeping() {
                    state::set_bit(&mut out.asleep, out.states.len());
                }
                out.states.push(BodyState::of(&view));
            }
        }
    }
}

/// The index of the worst contact among all contacts; a report has it among those of awake bodies.
fn worst_contact(world: &World, report: &StepReport) -> Option<u64> {
    let key = |c: &Contact| (c.a, c.b, c.key());
    let worst = world.awake_contacts().get(report.worst_contact?)?;
    let found = world.contacts().binary_search_by_key(&key(worst), key);
    found.ok().map(|index| index as u64)
}
