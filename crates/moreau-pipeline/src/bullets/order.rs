//! Where the order of bounces matters.
//!
//! Newton's law for all contacts of a step at once and for one after the other differ where a bounce gives
//! a body the speed with which it meets another one within the same step, or where it has two impacts at
//! different times. What touches already belongs to the same impact: three balls in contact part as
//! Newton's law for both contacts says.
//!
//! So an island is looked at where it has an impact that bounces. If a body in it is pushed at that contact at
//! the time t1, and at another one, of the same pair or not, at a time t2 that is not t1, or across a gap that the
//! free motion does not close, then its impacts are taken in their order. So is a single one before which a body turns
//! so far that its lever is another one then.

use super::course::STRIKE;
use super::meetings::is_round;
use super::{Group, join};
use crate::contact::Contact;
use crate::island::IslandRange;
use crate::step::Scratch;
use crate::world::World;

/// Gap (m) up to which surfaces touch.
const TOUCHING: f64 = 1e-6;

/// Turn (rad) before an impact up to which the lever of the start of the step is that of the impact.
const SAME_LEVER: f64 = 1e-3;

/// Contacts of a pair that push: its bodies, when they meet, and whether any bounces.
struct Push {
    bodies: (u32, u32),
    /// s; infinite where the free motion does not bring them together.
    time: f64,
    bounces: bool,
    /// Whether a body has turned far by then.
    turned: bool,
}

impl World {
    /// Adds the small islands in which the order of bounces matters.
    pub(super) fn bouncing_islands(&self, scratch: &Scratch, dt: f64, groups: &mut Vec<Group>) {
        let most = self.state.settings.ordered_impacts as usize;
        let islands = &scratch.islands;
        for range in &islands.ranges {
            let bodies = &islands.bodies[range.bodies.clone()];
            if bodies.len() <= most && self.order_matters(scratch, range, dt) {
                join(groups, None, (bodies, true), scratch);
            }
        }
    }

    fn order_matters(&self, scratch: &Scratch, range: &IslandRange, dt: f64) -> bool {
        let points = scratch.islands.contacts[range.contacts.clone()].iter();
        let points = points.map(|i| &scratch.points[*i as usize]);
        let mut pushes: Vec<Push> = Vec::new();
        for p in points.filter(|p| p.impulse.x > 0.0) {
            let Some(push) = self.pushes(scratch, p, dt) else {
                continue;
            };
            if push.bounces && push.turned {
                return true;
            }
            match pushes.last_mut() {
                Some(last)
                    if last.bodies == push.bodies
                        && (last.time - push.time).abs() <= STRIKE * dt =>
                {
                    last.time = last.time.min(push.time);
                    last.bounces |= push.bounces;
                }
                _ => pushes.push(push),
            }
        }
        let moves = |slot: u32| {
            let body = self.state.bodies[slot as usize].value.as_ref();
            body.is_some_and(|b| b.moves())
        };
        let bounces = pushes.iter().filter(|p| p.bounces);
        bounces.into_iter().any(|first| {
            pushes.iter().any(|second| {
                let (a, b) = second.bodies;
                let shares = |slot: u32| moves(slot) && (slot == a || slot == b);
                let shared = shares(first.bodies.0) || shares(first.bodies.1);
                shared && (first.time - second.time).abs() > STRIKE * dt
            })
        })
    }

    /// `None` where the surfaces touch without striking.
    fn pushes(&self, scratch: &Scratch, p: &Contact, dt: f64) -> Option<Push> {
        let meeting = self.meeting(scratch, p, dt);
        if meeting.is_none() && p.separation <= TOUCHING {
            return None;
        }
        let time = meeting.map_or(f64::INFINITY, |m| m.time);
        let turned = |slot: u32| {
            let body = self.state.bodies[slot as usize].value.as_ref();
            body.is_some_and(|body| body.is_dynamic() && !is_round(body))
                && scratch.free_velocity(slot).angular.length() * time > SAME_LEVER
        };
        Some(Push {
            bodies: (p.a.index, p.b.index),
            time,
            bounces: meeting.is_some() && p.restitution > 0.0,
            turned: turned(p.a.index) || turned(p.b.index),
        })
    }
}
