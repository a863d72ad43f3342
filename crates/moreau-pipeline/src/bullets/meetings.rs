//! When bodies strike each other.
//!
//! A contact tells the gap c t that it closes at the speed c until it meets after t. Points of bodies that
//! turn are accelerated by w² r, together g; so they meet at tau at the soonest, where
//!
//! ```text
//! c tau + g tau²/2 = c t,     tau = 2 t / (1 + sqrt(1 + 2 g t / c))
//! ```
//!
//! A body that turns can also come where no contact of the start of the step tells of it. So pairs of
//! which one turns, and that have no impact by their contacts, are followed to their time of impact.

use super::budget::{FOLLOWED, look_work};
use crate::StepReport;
use crate::body::BodyState;
use crate::contact::Contact;
use crate::crossings::pass_by;
use crate::step::Scratch;
use crate::sweep::Path;
use crate::world::World;
use moreau_collision::{ImpactSettings, Motion, Shape, time_of_impact};
use moreau_constraint::{Approach, Impact};
use moreau_math::Vec3;

/// By how much a flight ends before the impact, relative to it.
const BEFORE: f64 = 1e-9;

/// Gap (m) at which bodies that turn count as having met.
const MEETING_GAP: f64 = 1e-6;

/// Two bodies that are about to meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Meeting {
    /// Slots.
    pub(super) a: u32,
    pub(super) b: u32,
    /// s from now.
    pub(super) time: f64,
    /// Until when they certainly have not met, s from now.
    pub(super) safe: f64,
}

impl World {
    /// The meetings within the next `left` (s), those without a `live` body only as far as contacts tell of
    /// them, and how many pairs and points were looked at. Of the state only what it keeps of manifolds
    /// changes, so that the step that follows need not find them again.
    pub(super) fn next_meetings(&mut self, live: &[bool], left: f64) -> (Vec<Meeting>, u64) {
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut report = StepReport::default();
        self.find_pairs(&mut scratch, left, false, &mut report);
        self.find_contacts(&mut scratch, left, false, &mut report);
        self.detection.list_kept(&mut self.state.kept);
        let (meetings, looks) = self.meetings(&scratch, |slot| live[slot as usize], left);
        self.scratch = scratch;
        let (pairs, parts) = self.detection.counts(&self.state, |_| true);
        (meetings, look_work(pairs, parts) + looks)
    }

    /// The same from what a step has already found; and the looks that it took to follow pairs.
    pub(super) fn meetings(
        &self,
        scratch: &Scratch,
        live: impl Fn(u32) -> bool,
        dt: f64,
    ) -> (Vec<Meeting>, u64) {
        let points = scratch.points.iter();
        let mut meetings: Vec<Meeting> = points
            .filter_map(|p| self.meeting(scratch, p, dt))
            .collect();
        // The points are in the order of their pairs, and so are these.
        let (told, mut looks) = (meetings.len(), 0);
        for &(a, b) in self.detection.pairs() {
            let pair = |m: &Meeting| (m.a, m.b);
            if (live(a) || live(b))
                && meetings[..told]
                    .binary_search_by_key(&(a, b), pair)
                    .is_err()
            {
                let (meeting, more) = self.turning_meeting(scratch, (a, b), dt);
                looks += more;
                meetings.extend(meeting);
            }
        }
        (meetings, looks)
    }

    /// When the surfaces at a contact meet.
    pub(super) fn meeting(&self, scratch: &Scratch, p: &Contact, dt: f64) -> Option<Meeting> {
        let approach = Approach {
            separation: p.separation,
            speed: p.approach_velocity,
            acceleration: (scratch.free_speed(p) - p.approach_velocity) / dt,
        };
        let Impact { time, speed } = approach.impact(dt)?;
        if speed <= self.state.settings.bounce_threshold {
            return None;
        }
        let pull = |slot: u32, lever: Vec3| {
            scratch.free_velocity(slot).angular.length_squared() * lever.length()
        };
        let (a, b) = (p.a.index, p.b.index);
        let pull = pull(a, p.lever_a) + pull(b, p.lever_b);
        let safe = 2.0 * time / (1.0 + (1.0 + 2.0 * pull * time / speed).sqrt());
        Some(Meeting {
            a,
            b,
            time,
            safe: safe * (1.0 - BEFORE),
        })
    }

    /// Of bodies that are apart, one of which turns; and the looks that it took.
    fn turning_meeting(
        &self,
        scratch: &Scratch,
        (a, b): (u32, u32),
        dt: f64,
    ) -> (Option<Meeting>, u64) {
        let body = |slot: u32| self.state.bodies[slot as usize].value.as_ref();
        let (Some(body_a), Some(body_b)) = (body(a), body(b)) else {
            return (None, 0);
        };
        if !(body_a.shape.is_convex() && body_b.shape.is_convex()) {
            return (None, 0);
        }
        let mut turns = false;
        let [way_a, way_b] = [(a, body_a), (b, body_b)].map(|(slot, body)| {
            let velocity = Path::new(body, scratch.free_velocity(slot)).velocity;
            turns |= velocity.angular != Vec3::ZERO && !is_round(body);
            Motion {
                pose: body.pose(),
                center: body.mass.center_of_mass,
                velocity,
            }
        });
        if !turns || pass_by((&body_a.shape, &way_a), (&body_b.shape, &way_b), dt) {
            return (None, 0);
        }
        let settings = ImpactSettings {
            target: MEETING_GAP,
            tolerance: 1e-9,
            max_steps: 64,
        };
        let impact = time_of_impact(&body_a.shape, &way_a, &body_b.shape, &way_b, dt, &settings);
        // Half-spaces that turn strike nobody; who touches already has a contact.
        let impact = impact.ok().flatten();
        let looks = impact.map_or(0, |i| u64::from(i.steps)).max(FOLLOWED);
        let time = impact.map(|i| i.time).filter(|t| *t > 0.0);
        let meeting = |time| Meeting {
            a,
            b,
            time,
            safe: time * (1.0 - BEFORE),
        };
        (time.map(meeting), looks)
    }
}

/// Whether it looks the same however it is turned.
pub(super) fn is_round(body: &BodyState) -> bool {
    matches!(body.shape, Shape::Sphere { .. }) && body.mass.center_of_mass == Vec3::ZERO
}
