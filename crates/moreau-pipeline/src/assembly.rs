//! The contact points of an island as contacts of its problem.
//!
//! Each follows from the island's bodies alone, so those of a large island are worked out in parts, on the
//! threads of the pool.

use crate::activity::Marks;
use crate::common_point::FrictionPoint;
use crate::contact::Contact;
use crate::island::NONE;
use crate::island_solve::{Bounce, StepInput, normal_bias};
use crate::share::SHARE;
use crate::world::WorldState;
use moreau_constraint::{
    BodyInput, ContactFrame, ContactPoint, Frictionless, NewBodies, NewContacts, ProblemError,
};
use moreau_math::{Vec3, vec3};

/// Which body of a problem is in which slot.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    /// Of each slot.
    pub(crate) marks: &'a [Marks],
    /// Of each slot whose body moves, its place among the bodies of its island.
    pub(crate) places: &'a [u32],
    /// How many bodies the island has.
    pub(crate) bodies: usize,
    /// Slots of those that follow them, ascending.
    pub(crate) others: &'a [u32],
}

impl Names<'_> {
    /// Index in the problem of the body in slot `index`.
    pub(crate) fn local(self, index: u32) -> usize {
        if self.marks[index as usize].moves() {
            self.places[index as usize] as usize
        } else {
            self.bodies + self.others.partition_point(|other| *other < index)
        }
    }
}

/// What is to be known of all contacts of an island.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Seen {
    /// Whether any bounces.
    pub(crate) bounces: bool,
    /// Whether any bounces perhaps.
    pub(crate) perhaps: bool,
    /// The largest normal velocity before forces, m/s.
    pub(crate) speed: f64,
}

impl Seen {
    fn and(self, other: Self) -> Self {
        Self {
            bounces: self.bounces || other.bounces,
            perhaps: self.perhaps || other.perhaps,
            speed: self.speed.max(other.speed),
        }
    }
}

/// Fills the bodies in the slots `slots`; returns the largest of their speeds before forces, m/s.
pub(crate) fn fill_bodies(
    input: &StepInput<'_>,
    slots: &[u32],
    places: NewBodies<'_>,
    parallel: bool,
) -> Result<f64, ProblemError> {
    if parallel && slots.len() >= 2 * SHARE {
        let middle = slots.len() / 2;
        let (slots, more_slots) = slots.split_at(middle);
        let (places, more_places) = places.split_at(middle);
        let (first, second) = rayon::join(
            || fill_bodies(input, slots, places, true),
            || fill_bodies(input, more_slots, more_places, true),
        );
        return Ok(first?.max(second?));
    }
    let mut fastest = 0.0_f64;
    places.fill(|i| {
        let slot = slots[i] as usize;
        let start = &input.starts[slot];
        fastest = fastest.max(start.speed);
        BodyInput {
            inverse_mass: start.inverse_mass,
            inverse_inertia: start.inverse_inertia,
            velocity: input.free[slot],
        }
    })?;
    Ok(fastest)
}

/// Fills the contacts of the points `indices`, their warm starts and their separations.
pub(crate) fn fill(
    (input, names): (&StepInput<'_>, Names<'_>),
    indices: &[u32],
    (places, warm, gaps): (NewContacts<'_>, &mut [Vec3], &mut [f64]),
    parallel: bool,
) -> Result<Seen, ProblemError> {
    if parallel && indices.len() >= 2 * SHARE {
        let middle = indices.len() / 2;
        let (indices, more_indices) = indices.split_at(middle);
        let (places, more_places) = places.split_at(middle);
        let (warm, more_warm) = warm.split_at_mut(middle);
        let (gaps, more_gaps) = gaps.split_at_mut(middle);
        let at = (places, warm, gaps);
        let more = (more_places, more_warm, more_gaps);
        let (first, second) = rayon::join(
            || fill((input, names), indices, at, true),
            || fill((input, names), more_indices, more, true),
        );
        return Ok(first?.and(second?));
    }
    for (to, index) in warm.iter_mut().zip(indices) {
        *to = input.warm[*index as usize];
    }
    let mut seen = Seen::default();
    let mut pair = Pair::default();
    let bodies = places.bodies();
    places.fill(|i| {
        let p = &input.points[indices[i] as usize];
        if pair.slots != (p.a.index, p.b.index) {
            pair = Pair::of(input, names, p);
        }
        seen.speed = seen.speed.max(p.approach_velocity.abs());
        gaps[i] = p.separation;
        let mut point = pair.contact(input, p);
        // Others neither bounce nor have a gap to close.
        if p.restitution != 0.0 || p.separation > 0.0 {
            let (a, b) = (&bodies[point.a].velocity, &bodies[point.b].velocity);
            let free = p.normal.dot(b.at(point.lever_b) - a.at(point.lever_a));
            let (bias, bounce) = normal_bias(input, p, free);
            point.bias.x = bias;
            seen.bounces |= bounce == Bounce::Yes;
            seen.perhaps |= matches!(bounce, Bounce::Perhaps(_));
        }
        point
    })?;
    Ok(seen)
}

/// What the correction asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Asked {
    /// Whether any contact is to open.
    pub(crate) any: bool,
    /// Whether all that is asked for is finite.
    pub(crate) finite: bool,
}

/// Gives all contacts the normal bias `bias(i, contact)` (m/s), and no friction; `first` is the place of the first.
/// Less than `tolerance` (m/s) is nothing to ask for.
pub(crate) fn ask_for(
    bias: &(impl Fn(usize, &ContactPoint) -> f64 + Sync),
    tolerance: f64,
    (first, contacts): (usize, Frictionless<'_>),
    parallel: bool,
) -> Asked {
    if parallel && contacts.len() >= 2 * SHARE {
        let middle = contacts.len() / 2;
        let (contacts, more) = contacts.split_at(middle);
        let (x, y) = rayon::join(
            || ask_for(bias, tolerance, (first, contacts), true),
            || ask_for(bias, tolerance, (first + middle, more), true),
        );
        return Asked {
            any: x.any || y.any,
            finite: x.finite && y.finite,
        };
    }
    let mut any = false;
    let finite = contacts.set_biases(|i, contact| {
        let bias = bias(first + i, contact);
        any |= bias < -tolerance;
        bias
    });
    Asked { any, finite }
}

/// What all contacts of two bodies share.
struct Pair {
    slots: (u32, u32),
    a: usize,
    b: usize,
    surface: Vec3,
    friction_point: FrictionPoint,
}

impl Default for Pair {
    fn default() -> Self {
        Self {
            slots: (NONE, NONE),
            a: 0,
            b: 0,
            surface: Vec3::ZERO,
            friction_point: FrictionPoint::default(),
        }
    }
}

impl Pair {
    #[inline]
    fn of(input: &StepInput<'_>, names: Names<'_>, p: &Contact) -> Self {
        let (a, b) = (p.a.index, p.b.index);
        let marks = [a, b].map(|index| names.marks[index as usize]);
        let center = |index: u32| input.starts[index as usize].center;
        let surface = if marks.iter().any(|m| m.has_moving_surface()) {
            surface_velocity(input.state, (a, b))
        } else {
            Vec3::ZERO
        };
        Self {
            slots: (a, b),
            a: names.local(a),
            b: names.local(b),
            surface,
            friction_point: FrictionPoint::of(marks, || center(b) - center(a)),
        }
    }

    /// Closed, and without bounce.
    #[inline]
    fn contact(&self, input: &StepInput<'_>, p: &Contact) -> ContactPoint {
        let shift = self.friction_point.shift(&input.state.settings, p);
        let frame = ContactFrame {
            normal: p.normal,
            tangent1: p.tangent1,
            tangent2: p.tangent2,
        };
        ContactPoint {
            a: self.a,
            b: self.b,
            frame,
            lever_a: p.lever_a + shift,
            lever_b: p.lever_b - shift,
            friction: p.friction,
            bias: surface_bias(self.surface, &frame),
        }
    }
}

/// Moving surfaces: the velocity of B's material relative to B, less that of A's, world axes, m/s.
fn surface_velocity(state: &WorldState, (a, b): (u32, u32)) -> Vec3 {
    let surface = |index: u32| {
        let body = state.bodies[index as usize].value.as_ref();
        body.filter(|b| b.surface_velocity != Vec3::ZERO)
            .map_or(Vec3::ZERO, |b| b.rotation * b.surface_velocity)
    };
    surface(b) - surface(a)
}

/// (0, b_t1, b_t2) of it, m/s.
fn surface_bias(relative: Vec3, frame: &ContactFrame) -> Vec3 {
    if relative == Vec3::ZERO {
        return Vec3::ZERO;
    }
    vec3(
        0.0,
        frame.tangent1.dot(relative),
        frame.tangent2.dot(relative),
    )
}
