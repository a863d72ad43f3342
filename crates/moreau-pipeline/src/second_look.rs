//! A second look at pairs that their contacts do not describe.
//!
//! A contact holds for a step what is true at its start: that a point of one body goes straight, and that no other
//! point comes first. Of bodies that turn by an angle theta in the step both are wrong by up to
//!
//! ```text
//! R theta²/2     the arc of a point at the distance R
//! R theta        a corner that is not among the contacts, for an impact of the same step turns it down
//! ```
//!
//! So where bodies turn that far after the solve, their pairs are looked at where the solve is about to take them. The
//! points of those that would be deeper in each other than
//!
//! ```text
//! delta = max(2 slop, SHARE · least inner radius) + the depth at the start
//! ```
//!
//! become contacts too, beside those that there are. Their levers r are those of the end, and the motion found,
//! v + w × r, leads their gap from there back to the start: phi = separation - h u_n. To first order about that motion
//! they say what the exact way does. Their islands are solved again, which is a step of Newton's method for the exact
//! separation. An arc through its lowest point leaves phi < 0; then u_n >= 0 holds, and nothing is pushed out by
//! velocity. So energy never grows by it: with u+ = -phi/h <= 0 where a contact pushes, the work of all impulses,
//! l·u+ - l·W l/2, is none.
//!
//! That is for pairs of convex shapes. What it misses is of second order in the change of the turn by the solve.

use crate::body::BodyState;
use crate::contact::Contact;
use crate::crossings::inner_radius;
use crate::integrate::{Motion, advance};
use crate::island::Islands;
use crate::profile::held;
use crate::seams::{Plane, carried_over};
use crate::share::each_slot;
use crate::step::Scratch;
use crate::world::{World, WorldState};
use crate::{BodyId, StepReport, WorldError};
use moreau_collision::{CollideSettings, Manifold, Shape, collide};
use moreau_constraint::ContactFrame;
use moreau_math::{Pose, Vec3, Velocity};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// Part of the thinner body's inner radius that two may be deeper in each other than contacts say.
const SHARE: f64 = 0.02;

/// Contact points of an island up to which it is solved again.
const MOST_POINTS: usize = 512;

/// The part of A's shape that points at the end name, beside those of the same corner at the start.
const AT_THE_END: u32 = 1;

/// Where a step is about to take a body.
#[derive(Clone, Copy)]
struct End {
    center: Vec3,
    pose: Pose,
    /// With which it goes from its start to here, and turns in the end.
    velocity: Velocity,
}

/// Memory that steps reuse.
#[derive(Default)]
pub(crate) struct SecondLook {
    /// How far turning brings any point of each slot, m.
    swings: Vec<f64>,
    ends: Vec<Option<End>>,
    pairs: Vec<(u32, u32)>,
}

impl SecondLook {
    /// What is held here.
    pub(crate) fn bytes(&self) -> usize {
        held(&self.swings) + held(&self.ends) + held(&self.pairs)
    }
}

impl World {
    /// After the solve: solves islands again whose bodies would be deep in each other after the step.
    pub(crate) fn look_again(
        &mut self,
        scratch: &mut Scratch,
        (dt, parallel): (f64, bool),
        report: &mut StepReport,
    ) -> Result<(), WorldError> {
        let mut look = std::mem::take(&mut scratch.second_look);
        self.list_turning(&mut look, scratch, (dt, parallel));
        let start = Start {
            state: &self.state,
            islands: &scratch.islands,
            points: &scratch.points,
        };
        let of = |pair: &(u32, u32)| start.deep(&look.ends, *pair, dt);
        let found: Vec<Contact> = if parallel && look.pairs.len() > 64 {
            look.pairs.par_iter().flat_map_iter(of).collect()
        } else {
            look.pairs.iter().flat_map(of).collect()
        };
        scratch.second_look = look;
        if found.is_empty() {
            return Ok(());
        }
        let again = self.take_in(scratch, found);
        report.contact_points = scratch.points.len();
        report.islands = scratch.islands.ranges.len();
        report.islands_again += again.iter().filter(|again| **again).count();
        self.solve_islands(scratch, (dt, parallel), &again, report)?;
        self.gather(scratch, (dt, parallel));
        Ok(())
    }

    /// Lists the pairs that turn so far that contacts may not describe them, and meet where the step leads.
    fn list_turning(&self, look: &mut SecondLook, scratch: &Scratch, (dt, parallel): (f64, bool)) {
        let SecondLook {
            swings,
            ends,
            pairs,
        } = look;
        pairs.clear();
        let slop = 2.0 * self.state.settings.position_correction.slop;
        swings.clear();
        swings.resize(self.state.bodies.len(), 0.0);
        let turns = AtomicBool::new(false);
        let (bodies, motions) = (&self.state.bodies, &scratch.motions);
        each_slot(parallel, &self.activity.bodies, swings, |_, slot, to| {
            if let Some(body) = &bodies[slot].value {
                *to = swing(body, &motions[slot], dt);
                if 2.0 * *to > slop && !turns.load(Ordering::Relaxed) {
                    turns.store(true, Ordering::Relaxed);
                }
            }
        });
        if !turns.into_inner() {
            return;
        }
        ends.clear();
        ends.resize(self.state.bodies.len(), None);
        for &(a, b) in self.detection.pairs() {
            let (i, j) = (a as usize, b as usize);
            let swing = swings[i] + swings[j];
            if swing <= slop {
                continue;
            }
            let (Some(body_a), Some(body_b)) =
                (&self.state.bodies[i].value, &self.state.bodies[j].value)
            else {
                continue;
            };
            let convex = body_a.shape.is_convex() && body_b.shape.is_convex();
            if !convex || swing <= allowed(&self.state, (body_a, body_b)) {
                continue;
            }
            let mut end = |index: usize, body| {
                *ends[index].get_or_insert_with(|| end(body, &scratch.motions[index], dt))
            };
            let (end_a, end_b) = (end(i, body_a), end(j, body_b));
            let box_a = body_a.shape.aabb(&end_a.pose);
            if box_a.overlaps(&body_b.shape.aabb(&end_b.pose)) {
                pairs.push((a, b));
            }
        }
    }

    /// Puts the `found` contacts among those of the step, and makes the islands anew; says for each whether it must be
    /// solved.
    fn take_in(&self, scratch: &mut Scratch, found: Vec<Contact>) -> Vec<bool> {
        let mut touched: Vec<u32> = found.iter().flat_map(|p| [p.a.index, p.b.index]).collect();
        touched.sort_unstable();
        touched.dedup();
        let asleep = |slot: u32| {
            let body = self.state.bodies[slot as usize].value.as_ref();
            body.is_some_and(|b| b.rest.is_asleep())
        };
        let with_sleepers = found
            .iter()
            .filter(|p| asleep(p.a.index) || asleep(p.b.index));
        scratch.sleeping_points += with_sleepers.count();
        let points = &mut scratch.points;
        let name = |p: &Contact| (p.a, p.b, p.key());
        points.extend(found);
        points.sort_by_key(name);
        scratch.warm.clear();
        scratch.warm.extend(points.iter().map(|p| p.impulse));
        let islands = &mut scratch.islands;
        let firsts = islands.ranges.iter();
        let firsts: Vec<u32> = firsts.map(|r| islands.bodies[r.bodies.start]).collect();
        let results = scratch.results.iter_mut().map(std::mem::take);
        let mut old = firsts
            .into_iter()
            .zip(results.collect::<Vec<_>>())
            .peekable();
        islands.list_ends(points, false);
        islands.build(&self.state, &self.activity);
        scratch.results.clear();
        let mut again = Vec::with_capacity(islands.ranges.len());
        for range in &islands.ranges {
            let bodies = &islands.bodies[range.bodies.clone()];
            while old.next_if(|(slot, _)| *slot < bodies[0]).is_some() {}
            let result = old.next_if(|(slot, _)| *slot == bodies[0]);
            scratch
                .results
                .push(result.map(|(_, r)| r).unwrap_or_default());
            let is_touched = |slot: &u32| touched.binary_search(slot).is_ok();
            again.push(bodies.iter().any(is_touched));
        }
        again
    }
}

/// How much deeper two bodies may be in each other than contacts say, m.
fn allowed(state: &WorldState, (a, b): (&BodyState, &BodyState)) -> f64 {
    let inner = inner_radius(&a.shape).min(inner_radius(&b.shape));
    (SHARE * inner).max(2.0 * state.settings.position_correction.slop)
}

/// The step's start.
struct Start<'a> {
    state: &'a WorldState,
    islands: &'a Islands,
    /// With the impulses of the solve.
    points: &'a [Contact],
}

impl Start<'_> {
    /// The contacts of a pair that would be too deep in each other.
    fn deep(&self, ends: &[Option<End>], (a, b): (u32, u32), dt: f64) -> Vec<Contact> {
        let [i, j] = [a, b].map(|slot| slot as usize);
        let bodies = (&self.state.bodies[i].value, &self.state.bodies[j].value);
        let (Some(body_a), Some(body_b)) = bodies else {
            return Vec::new();
        };
        let (Some(end_a), Some(end_b)) = (ends[i], ends[j]) else {
            return Vec::new();
        };
        let too_many = |slot: u32| {
            let island = self.islands.island_of(slot);
            island.is_some_and(|range| range.contacts.len() > MOST_POINTS)
        };
        if too_many(a) || too_many(b) {
            return Vec::new();
        }
        // Relative to A's origin, so that nothing is lost far from the world's.
        let near = Pose::new(Vec3::ZERO, end_a.pose.rotation);
        let between = end_b.pose.translation - end_a.pose.translation;
        let far = Pose::new(between, end_b.pose.rotation);
        let mut manifold = Manifold::default();
        let settings = CollideSettings { prediction: 0.0 };
        collide(
            &body_a.shape,
            &near,
            &body_b.shape,
            &far,
            &settings,
            &mut manifold,
        );
        let Some(deepest) = manifold.min_separation() else {
            return Vec::new();
        };
        let allowed = allowed(self.state, (body_a, body_b));
        if deepest >= -allowed {
            return Vec::new();
        }
        let ids = [i, j].map(|index| BodyId {
            index: index as u32,
            generation: self.state.bodies[index].generation,
        });
        let from = self
            .points
            .partition_point(|p| (p.a, p.b) < (ids[0], ids[1]));
        let there = self.points[from..].iter();
        let there = there.take_while(|p| (p.a, p.b) == (ids[0], ids[1]));
        let at_start = there.map(|p| p.separation).fold(0.0, f64::min);
        if deepest >= at_start - allowed {
            return Vec::new();
        }
        let (friction, restitution) = body_a.material.combine(&body_b.material);
        // Of flush tiles the next one has no side: what comes down on it meets the plane of that which carries it.
        let plane = self.plane_beyond_seam((a, b), manifold.normal());
        let frame = match plane {
            Some((plane, outward)) => ContactFrame::new(plane.normal * outward),
            None => ContactFrame::new(manifold.normal()),
        };
        let arm_a = end_a.center - end_a.pose.translation;
        let arm_b = end_b.center - end_a.pose.translation;
        let height = |p: &moreau_collision::ManifoldPoint| match plane {
            // Of the point on the body, over the plane, at the end.
            Some((plane, outward)) => {
                let (point, start) = if outward > 0.0 {
                    (p.point_b, body_b.center)
                } else {
                    (p.point_a, body_a.center)
                };
                let moved = end_a.pose.translation - start;
                plane.normal.dot(point + moved - plane.point)
            }
            None => p.separation,
        };
        let deep = manifold
            .points()
            .iter()
            .map(|p| (p, height(p)))
            .filter(|(_, separation)| *separation < -0.5 * allowed);
        let contact = |(p, separation): (&moreau_collision::ManifoldPoint, f64)| {
            let (lever_a, lever_b) = (p.point_a - arm_a, p.point_b - arm_b);
            let speed =
                |va: &Velocity, vb: &Velocity| frame.normal.dot(vb.at(lever_b) - va.at(lever_a));
            let gap = separation - dt * speed(&end_a.velocity, &end_b.velocity);
            Contact {
                a: ids[0],
                b: ids[1],
                part_a: AT_THE_END,
                part_b: 0,
                feature: p.feature,
                normal: frame.normal,
                tangent1: frame.tangent1,
                tangent2: frame.tangent2,
                lever_a,
                lever_b,
                separation: gap.max(at_start),
                friction,
                restitution,
                approach_velocity: speed(&body_a.velocity, &body_b.velocity),
                impulse: Vec3::ZERO,
            }
        };
        deep.map(contact).collect()
    }

    /// The plane in which a fixed body ends that the other one comes to with this normal, where another fixed one
    /// carries it up to there; and 1 where the normal from A is that of the plane, -1 where it is opposite.
    fn plane_beyond_seam(&self, (a, b): (u32, u32), normal: Vec3) -> Option<(Plane, f64)> {
        let is_dynamic = |slot: u32| {
            let body = self.state.bodies[slot as usize].value.as_ref();
            body.is_some_and(BodyState::is_dynamic)
        };
        let (body, fixed, outward) = match (is_dynamic(a), is_dynamic(b)) {
            (false, true) => (b, a, 1.0),
            (true, false) => (a, b, -1.0),
            _ => return None,
        };
        let range = self.islands.island_of(body)?;
        let contacts = self.islands.contacts[range.contacts.clone()].iter();
        let contacts = contacts.map(|i| &self.points[*i as usize]);
        let contacts = contacts.filter(|p| p.a.index == body || p.b.index == body);
        let plane = carried_over(self.state, (body, fixed, normal * outward), contacts)?;
        Some((plane, outward))
    }
}

/// How far turning brings any point of a body's surface in the step, m.
fn swing(body: &BodyState, motion: &Motion, dt: f64) -> f64 {
    let arm = body.mass.center_of_mass.length();
    let radius = match &body.shape {
        Shape::Sphere { .. } => 0.0,
        shape => shape.bounding_radius(),
    };
    let swing = motion.velocity.angular.length() * dt * (radius + arm);
    // Of a half-space there is none.
    if swing.is_finite() { swing } else { 0.0 }
}

fn end(body: &BodyState, motion: &Motion, dt: f64) -> End {
    let (center, rotation, angular) = advance(body, motion, dt);
    let origin = center - rotation * body.mass.center_of_mass;
    End {
        center,
        pose: Pose::new(origin, rotation),
        velocity: Velocity::new(
            (center - body.center) / dt,
            angular + motion.correction.angular,
        ),
    }
}
