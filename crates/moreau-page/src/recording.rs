//! What a page keeps of a run, collected step by step.

use crate::contacts::ContactLog;
use crate::exact::ExactLog;
use crate::frame::{self, BodyState, ContactState, Contacts, Frame, SERIES_COLUMNS, Sample, Stage};
use crate::islands::islands;
use moreau::{BodyId, StepReport, World};

/// Bytes of a packed pose: position 3 x u16, quaternion 4 x i16.
pub(crate) const POSE_BYTES: u64 = 14;

/// Most bytes of packed poses; beyond it only every second, third… step is shown.
const MOST_POSE_BYTES: u64 = 17_000_000;

/// Marks a body that sleeps in [`Recording::states`].
pub(crate) const ASLEEP: u32 = 1 << 31;

/// Poses, contacts and figures of a run. Grows with the steps up to a bound, beyond which it keeps
/// fewer of them (see the crate's documentation).
#[derive(Clone, Debug)]
pub struct Recording {
    pub(crate) stage: Stage,
    /// Poses are kept of every how many steps; the last step is always kept.
    pub(crate) stride: u64,
    pub(crate) first_step: u64,
    last_step: u64,
    ids: Vec<BodyId>,
    /// Shown steps of which it is not known where bodies touch.
    pub(crate) unknown_contacts: Vec<u64>,
    pub(crate) frame_steps: Vec<u64>,
    /// Seven numbers of each body that moves, body by body, frame by frame.
    pub(crate) frames: Vec<f32>,
    /// Island of each body that moves, and whether it sleeps, frame by frame.
    pub(crate) states: Vec<u32>,
    pub(crate) contacts: ContactLog,
    pub(crate) exact: ExactLog,
    pub(crate) series: Vec<Sample>,
    /// Of all bodies and steps, m/s.
    pub(crate) max_speed: f64,
    pending: Option<Pending>,
}

/// The last frame, if it was not shown.
#[derive(Clone, Debug)]
struct Pending {
    step: u64,
    bodies: Vec<BodyState>,
    contacts: Vec<ContactState>,
    /// In place of the contacts, where they are not known.
    pairs: Option<Vec<(u32, u32)>>,
}

impl Recording {
    /// An empty recording of a run that will be at `first` and make steps up to `last`.
    pub fn new(stage: Stage, first: u64, last: u64) -> Self {
        let steps = last.saturating_sub(first);
        let moving = stage.bodies.iter().filter(|body| body.moves).count() as u64;
        let contacts = ContactLog::new(&stage);
        let all_bytes = steps.saturating_add(1).saturating_mul(moving * POSE_BYTES);
        Self {
            stage,
            stride: all_bytes.div_ceil(MOST_POSE_BYTES).max(1),
            first_step: first,
            last_step: last,
            ids: Vec::new(),
            unknown_contacts: Vec::new(),
            frame_steps: Vec::new(),
            frames: Vec::new(),
            states: Vec::new(),
            contacts,
            exact: ExactLog::new(moving, steps),
            series: Vec::new(),
            max_speed: 0.0,
            pending: None,
        }
    }

    /// Starts with the world as it is; `steps` more are planned. `names` are those of the bodies in
    /// id order; missing ones are empty. Bodies that come later are not shown.
    pub fn start(world: &World, names: &[String], steps: u64) -> Self {
        let stage = Stage::of(world, names);
        let mut recording = Self::new(stage, world.steps(), world.steps().saturating_add(steps));
        recording.ids = world.bodies().map(|body| body.id()).collect();
        recording.take(world, None);
        recording
    }

    /// Adds the step that `world` has just made.
    pub fn step(&mut self, world: &World, report: &StepReport) {
        self.take(world, Some(report));
    }

    fn take(&mut self, world: &World, report: Option<&StepReport>) {
        let bodies = frame::bodies(world);
        // Contacts of the world as it was built are those of no step.
        let contacts = match report {
            Some(_) => frame::contacts(world, &self.ids),
            None => Vec::new(),
        };
        let islands = match report {
            Some(_) => frame::islands(world, &self.ids, &contacts),
            None => Vec::new(),
        };
        self.push(&Frame {
            step: world.steps(),
            sample: report.map_or_else(|| frame::state_sample(world), |r| frame::sample(world, r)),
            bodies: &bodies,
            contacts: Contacts::Points(&contacts),
            islands: &islands,
        });
    }

    /// Adds a step. Frames come in order, none left out, and with all bodies.
    pub fn push(&mut self, frame: &Frame<'_>) {
        let Frame {
            step,
            sample,
            bodies,
            contacts,
            islands,
        } = *frame;
        self.series.push(sample);
        for body in bodies {
            self.max_speed = self.max_speed.max(body.linear.length());
        }
        if let Some(points) = contacts.points() {
            self.exact.contacts(step, points);
        }
        self.exact.islands(step, islands);
        let ends = step == self.first_step || step == self.last_step;
        self.pending = None;
        if step.is_multiple_of(self.stride) || ends {
            self.show(step, bodies, contacts);
        } else {
            self.pending = Some(Pending {
                step,
                bodies: bodies.to_vec(),
                contacts: contacts.points().unwrap_or_default().to_vec(),
                pairs: contacts
                    .points()
                    .is_none()
                    .then(|| contacts.pairs().collect()),
            });
        }
        self.exact.bodies(step, ends, &self.stage, bodies);
    }

    /// Shows the last state of a run that was stopped before its end, too.
    pub fn finish(&mut self) {
        if let Some(last) = self.pending.take() {
            let contacts = match &last.pairs {
                Some(pairs) => Contacts::Pairs(pairs),
                None => Contacts::Points(&last.contacts),
            };
            self.show(last.step, &last.bodies, contacts);
            self.exact
                .bodies(last.step, true, &self.stage, &last.bodies);
        }
    }

    fn show(&mut self, step: u64, bodies: &[BodyState], contacts: Contacts<'_>) {
        self.frame_steps.push(step);
        let islands = islands(&self.stage, step, contacts.pairs());
        for ((record, body), island) in self.stage.bodies.iter().zip(bodies).zip(islands) {
            if record.moves {
                self.frames.extend(frame::pose32(&body.pose));
                self.states
                    .push(island | if body.asleep { ASLEEP } else { 0 });
            }
        }
        match contacts.points() {
            Some(points) => self.contacts.record(step, points, bodies),
            None => self.unknown_contacts.push(step),
        }
        self.exact
            .heaviest(step, contacts.points().unwrap_or_default());
    }

    /// How many bodies move.
    pub(crate) fn moving(&self) -> usize {
        self.stage.bodies.iter().filter(|body| body.moves).count()
    }

    /// A figure of every step, the state before the first included; empty for an unknown name.
    pub fn series(&self, column: &str) -> Vec<f64> {
        let index = SERIES_COLUMNS.iter().position(|name| *name == column);
        let of = |i: usize| self.series.iter().map(|sample| sample[i]).collect();
        index.map(of).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use moreau::pipeline::Sleeping;
    use moreau::{Body, Shape, Vec3, WorldSettings};

    #[test]
    fn bodies_that_sleep_are_marked_and_counted() {
        let settings = WorldSettings {
            sleeping: Some(Sleeping::default()),
            ..WorldSettings::default()
        };
        let mut world = World::new(settings).unwrap();
        world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
        let cube = Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5)).at(Vec3::Y * 0.5);
        world.add(cube).unwrap();
        let mut recording = Recording::start(&world, &[], 120);
        for _ in 0..120 {
            let report = world.step(1.0 / 60.0).unwrap();
            recording.step(&world, &report);
        }
        // Its island is named after itself, awake or asleep.
        assert_eq!(recording.states[1], 1);
        assert_eq!(recording.states[120], 1 | ASLEEP);
        let counts = recording.series("sleeping_bodies");
        assert_eq!((counts[1], counts[120]), (0.0, 1.0));
    }

    /// Two balls on the ground and one that flies, from step 7 on; the contact points of even steps only.
    fn from_the_middle(stride: u64) -> Recording {
        let mut world = World::new(WorldSettings::default()).unwrap();
        world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
        for height in [0.499, 1.497, 9.0] {
            let ball = Body::dynamic(Shape::sphere(0.5)).at(Vec3::Y * height);
            world.add(ball).unwrap();
        }
        let ids: Vec<_> = world.bodies().map(|b| b.id()).collect();
        let mut recording = Recording::new(Stage::of(&world, &[]), 7, 13);
        recording.stride = stride;
        for step in 7..=13 {
            world.step(0.001).unwrap();
            let points = frame::contacts(&world, &ids);
            let islands = frame::islands(&world, &ids, &points);
            recording.push(&Frame {
                step,
                sample: frame::state_sample(&world),
                bodies: &frame::bodies(&world),
                contacts: if step.is_multiple_of(2) {
                    Contacts::Points(&points)
                } else {
                    Contacts::Pairs(&[(1, 2), (0, 1)])
                },
                islands: &islands,
            });
        }
        recording.finish();
        recording
    }

    #[test]
    fn islands_are_known_where_contact_points_are_not() {
        let recording = from_the_middle(1);
        assert_eq!(recording.frame_steps, [7, 8, 9, 10, 11, 12, 13]);
        assert_eq!(recording.unknown_contacts, [7, 9, 11, 13]);
        let none = crate::islands::NONE;
        for states in recording.states.chunks(3) {
            assert_eq!(states, [1, 1, none]);
        }
        let steps: Vec<_> = recording.exact.contacts.iter().map(|r| r.step).collect();
        assert_eq!(steps, [8, 10, 12]);
        for (step, rows) in (7..).zip(&recording.exact.heaviest) {
            assert_eq!(rows.step, step);
            assert_eq!(rows.len(), if step % 2 == 0 { 2 } else { 0 });
        }
        for rows in &recording.exact.islands {
            // First body, bodies, contact points, joints.
            assert_eq!(rows.words[0][..4], [1, 2, 2, 0]);
            assert_eq!((rows.len(), rows.words[0][8] > 0), (1, true));
            let names = rows.words[0][4..6].iter();
            let names: Vec<_> = names.map(|i| recording.exact.names[*i as usize]).collect();
            assert_eq!(names[1], "converged");
        }
    }

    #[test]
    fn any_number_of_planned_steps_has_a_page() {
        let mut world = World::new(WorldSettings::default()).unwrap();
        world.add(Body::dynamic(Shape::sphere(0.5))).unwrap();
        for steps in [0, 1, u64::MAX - 1, u64::MAX] {
            let mut recording = Recording::start(&world, &[], steps);
            let report = world.step(0.01).unwrap();
            recording.step(&world, &report);
            recording.finish();
            assert_eq!(recording.series.len(), 2);
            assert!(crate::html(&recording, &crate::About::named("ball", 0.01)).len() > 1000);
        }
    }

    #[test]
    fn first_and_last_step_are_shown_whatever_is_left_out() {
        let recording = from_the_middle(4);
        assert_eq!(recording.frame_steps, [7, 8, 12, 13]);
        assert_eq!(recording.unknown_contacts, [7, 13]);
        assert_eq!(recording.exact.heaviest.len(), 4);
        assert_eq!(recording.series.len(), 7);
        let body_steps = &recording.exact.body_steps;
        assert_eq!(
            (body_steps.first(), body_steps.last()),
            (Some(&7), Some(&13))
        );
    }
}
