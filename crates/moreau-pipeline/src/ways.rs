//! The ways of the bodies of an island in which something bounces.
//!
//! A pair that bounces, and that no other body pushes (all that no impulse moves are one), goes as its impulses l
//! at the times t of the impacts take it: with the acceleration a of the forces, in a step of length h,
//!
//! ```text
//! x+ = x + h (v + h a/2) + sum (h - t) l/m          and its turn likewise
//! ```
//!
//! That is exact in free flight before and after an impact but for what is of second order in the turn, for
//! which a shift along the normal makes up; so the gap is that which the bounce leaves. Bodies that others push too go
//! as in any step ([`crate::motion`]): along the normals with their end velocities.
//!
//! These ways tell the work of the forces in the step, and so whether the impulses give the bodies energy.

use crate::contact::Contact;
use crate::integrate::Start;
use crate::island_solve::StepInput;
use crate::motion::{Held, RESOLVED, hold};
use moreau_constraint::Rebound;
use moreau_math::{Vec3, Velocity};

/// How a body goes through the step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Way {
    /// Mean velocity over the step.
    pub(crate) mean: Velocity,
    /// Whether it is led by a bounce, and not only by the end velocity.
    pub(crate) bounces: bool,
}

/// Stands for all bodies that no impulse moves.
const FIXED: u32 = u32::MAX;

/// What pushes a body.
#[derive(Clone, Copy, Debug, Default)]
struct Push {
    held: Held,
    /// How many bodies, two for any more, where those that no impulse moves are one; and the last of them.
    others: u8,
    other: u32,
    /// Whether a joint holds it, or a contact pushes it that does not bounce.
    holds: bool,
    /// Sum of l t/h over the impulses l that act after the time t of the step of length h, N s and N m s.
    late: Velocity,
}

/// Memory of a worker.
#[derive(Default)]
pub(crate) struct Ways {
    pushes: Vec<Push>,
}

/// An island and what its solve has made of it.
#[derive(Clone, Copy)]
pub(crate) struct Solved<'a> {
    pub(crate) input: &'a StepInput<'a>,
    pub(crate) bodies: &'a [u32],
    pub(crate) contacts: &'a [u32],
    /// Slots of the joints.
    pub(crate) joints: &'a [u32],
    /// Whether what bounces was solved for its bounce.
    pub(crate) bounces: bool,
    pub(crate) impulses: &'a [Vec3],
    pub(crate) velocities: &'a [Velocity],
}

/// Most looks at the gaps.
const LOOKS: usize = 8;

impl Ways {
    pub(crate) fn bytes(&self) -> usize {
        crate::profile::held(&self.pushes)
    }

    /// The way of each body.
    pub(crate) fn find(&mut self, solved: Solved<'_>, ways: &mut Vec<Way>) {
        self.note_pushes(solved);
        ways.clear();
        for (i, slot) in solved.bodies.iter().enumerate() {
            let (end, body) = (solved.velocities[i], solved.body(*slot));
            let change = body.map_or(Vec3::ZERO, |body| end.linear - body.velocity.linear);
            let linear = end.linear - 0.5 * self.pushes[i].held.free_part(change);
            ways.push(Way {
                mean: Velocity::new(linear, end.angular),
                bounces: false,
            });
        }
        if solved.bounces {
            self.follow_bounces(solved, ways);
        }
        keep_gaps(solved, ways);
    }

    /// Whether a body is pushed by one other alone, and that by no third.
    fn is_alone(&self, solved: Solved<'_>, place: usize) -> bool {
        let push = &self.pushes[place];
        let is_alone = |other: usize| self.pushes[other].others == 1;
        push.others == 1 && solved.place_of_other(push.other).is_none_or(is_alone)
    }

    fn follow_bounces(&self, solved: Solved<'_>, ways: &mut [Way]) {
        for (place, push) in self.pushes.iter().enumerate() {
            if !self.is_alone(solved, place) {
                continue;
            }
            let other = solved.place_of_other(push.other);
            if !push.holds && other.is_none_or(|other| !self.pushes[other].holds) {
                ways[place] = solved.in_time(place, push.late);
            }
        }
        let point = |i: &u32| &solved.input.points[*i as usize];
        let same = |i: &u32, j: &u32| point(i).same_manifold(point(j));
        let mut from = 0;
        for manifold in solved.contacts.chunk_by(same) {
            let impulses = &solved.impulses[from..from + manifold.len()];
            from += manifold.len();
            let p = point(&manifold[0]);
            let ends = [p.a.index, p.b.index].map(|slot| solved.place(slot));
            let places = || ends.iter().flatten();
            if !places().all(|place| self.is_alone(solved, *place)) {
                continue;
            }
            let shift = manifold.iter().zip(impulses);
            let shift = shift.filter_map(|(i, l)| solved.shift(point(i), *l, ways));
            let Some(shift) = shift.reduce(f64::max) else {
                continue;
            };
            let mass = |place: &usize| solved.start(*place).inverse_mass;
            let masses: f64 = places().map(mass).sum();
            let speed = p.normal * (shift / (solved.input.dt * masses));
            for (place, sign) in ends.iter().zip([-1.0, 1.0]) {
                if let Some(place) = place {
                    ways[*place].mean.linear += speed * (sign * mass(place));
                    ways[*place].bounces = true;
                }
            }
        }
    }

    fn note_pushes(&mut self, solved: Solved<'_>) {
        self.pushes.clear();
        self.pushes.resize(solved.bodies.len(), Push::default());
        let pushes = &mut self.pushes;
        let state = solved.input.state;
        for (index, impulse) in solved.contacts.iter().zip(solved.impulses) {
            let p = &solved.input.points[*index as usize];
            let end = solved.end_of_bounce(p);
            let late = end.map_or(0.0, |end| end.time / solved.input.dt);
            let late = p.in_world(*impulse) * late;
            let ends = [(p.a.index, p.b.index), (p.b.index, p.a.index)];
            let sides = [(-1.0, p.lever_a), (1.0, p.lever_b)];
            for ((slot, other), (sign, lever)) in ends.into_iter().zip(sides) {
                let Some(place) = solved.place(slot) else {
                    continue;
                };
                let push = &mut pushes[place];
                hold(
                    (state, solved.input.starts),
                    p,
                    *impulse,
                    (slot, other),
                    &mut push.held,
                );
                if *impulse == Vec3::ZERO {
                    continue;
                }
                push.holds |= end.is_none();
                push.late += Velocity::new(late, lever.cross(late)) * sign;
                let other = solved.place(other).map_or(FIXED, |_| other);
                if push.others == 0 || push.other != other {
                    push.others = (push.others + 1).min(2);
                    push.other = other;
                }
            }
        }
        for slot in solved.joints {
            if let Some(joint) = &state.joints[*slot as usize].value {
                for end in [joint.joint.a, joint.joint.b] {
                    if let Some(place) = solved.place(end.index) {
                        (pushes[place].holds, pushes[place].held) = (true, Held::ALL);
                    }
                }
            }
        }
    }
}

/// A contact's normal velocity, m/s, with these velocities of its bodies.
fn closing(p: &Contact, (a, b): (&Velocity, &Velocity)) -> f64 {
    p.normal.dot(b.at(p.lever_b) - a.at(p.lever_a))
}

/// Where the mean velocities would close a gap which the end velocities leave open, as much of these counts
/// as keeps it. Other gaps may close by that; so all are looked at again, there and back by turns, and where that
/// goes on for long, all bodies go with their end velocities.
fn keep_gaps(solved: Solved<'_>, ways: &mut [Way]) {
    let dt = solved.input.dt;
    let look = |index: &u32, ways: &mut [Way]| {
        let p = &solved.input.points[*index as usize];
        let mean = solved.of(p, |place| ways[place].mean);
        let mean = closing(p, (&mean[0], &mean[1]));
        let end = solved.of(p, |place| solved.velocities[place]);
        let end = closing(p, (&end[0], &end[1]));
        let wanted = -p.separation.max(0.0) / dt;
        if mean >= wanted - RESOLVED || mean >= end - RESOLVED {
            return false;
        }
        let part = ((wanted - mean) / (end - mean)).min(1.0);
        for place in [p.a.index, p.b.index]
            .map(|slot| solved.place(slot))
            .into_iter()
            .flatten()
        {
            let (way, end) = (&mut ways[place].mean, solved.velocities[place]);
            *way = *way + (end - *way) * part;
        }
        true
    };
    let contacts = solved.contacts.iter();
    for i in 0..LOOKS {
        let moved = if i % 2 == 0 {
            contacts.clone().filter(|i| look(i, ways)).count()
        } else {
            contacts.clone().rev().filter(|i| look(i, ways)).count()
        };
        if moved == 0 {
            return;
        }
    }
    for (way, end) in ways.iter_mut().zip(solved.velocities) {
        way.mean = *end;
    }
}

impl Solved<'_> {
    fn body(&self, slot: u32) -> Option<&crate::body::BodyState> {
        self.input.state.bodies[slot as usize].value.as_ref()
    }

    fn start(&self, place: usize) -> &Start {
        &self.input.starts[self.bodies[place] as usize]
    }

    /// Of the last body that pushes another one; `None` for one that no impulse moves.
    fn place_of_other(&self, other: u32) -> Option<usize> {
        (other != FIXED).then(|| self.place(other)).flatten()
    }

    /// The way of a body whose impulses act so late.
    fn in_time(&self, place: usize, late: Velocity) -> Way {
        let slot = self.bodies[place];
        let (start, end) = (self.start(place), self.velocities[place]);
        let before = self.body(slot).map_or(Vec3::ZERO, |b| b.velocity.linear);
        let forces = self.input.free[slot as usize].linear - before;
        let linear = end.linear - 0.5 * forces - late.linear * start.inverse_mass;
        let angular = end.angular - start.inverse_inertia.mul_vec(late.angular);
        Way {
            mean: Velocity::new(linear, angular),
            bounces: true,
        }
    }

    /// Of a slot among the island's bodies; `None` for one that no impulse moves.
    fn place(&self, slot: u32) -> Option<usize> {
        let moves = self.input.marks[slot as usize].moves();
        moves.then(|| self.input.islands.places[slot as usize] as usize)
    }

    /// Velocities of both bodies of a contact, where `moving` tells those of the island's own.
    fn of(&self, p: &Contact, moving: impl Fn(usize) -> Velocity) -> [Velocity; 2] {
        [p.a.index, p.b.index].map(|slot| match self.place(slot) {
            Some(place) => moving(place),
            None => self.input.free[slot as usize],
        })
    }

    /// Where Newton's law of impact leaves a contact, if it bounces.
    fn end_of_bounce(&self, p: &Contact) -> Option<Rebound> {
        let free = &self.input.free;
        let free = closing(p, (&free[p.a.index as usize], &free[p.b.index as usize]));
        p.rebound(
            free,
            self.input.dt,
            self.input.state.settings.bounce_threshold,
        )
    }

    /// By how much the ways leave a contact short of the gap that its bounce gives it, m; `None` where it did
    /// not bounce, or not as Newton's law alone would have it.
    fn shift(&self, p: &Contact, impulse: Vec3, ways: &[Way]) -> Option<f64> {
        if impulse.x <= 0.0 {
            return None;
        }
        let end = self.end_of_bounce(p)?;
        let reached = self.of(p, |place| self.velocities[place]);
        let reached = closing(p, (&reached[0], &reached[1]));
        if (reached - end.speed).abs() > 1e-6 * (1.0 + end.speed.abs()) {
            return None;
        }
        let mean = self.of(p, |place| ways[place].mean);
        Some(end.separation - (p.separation + self.input.dt * closing(p, (&mean[0], &mean[1]))))
    }

    /// By how much less work (J) the forces do on the ways than on the free ways: what the bodies have gained
    /// over the energy that the impulses put in as seen at the end of the step; and the size of its terms.
    pub(crate) fn risen(&self, ways: &[Way]) -> (f64, f64) {
        let (dt, settings) = (self.input.dt, &self.input.state.settings);
        let (mut energy, mut scale) = (0.0, 0.0);
        for (slot, way) in self.bodies.iter().zip(ways) {
            let Some(body) = self.body(*slot) else {
                continue;
            };
            let force = settings.gravity * (body.gravity_scale * body.mass.mass)
                + body.force
                + body.constant_force;
            let free = (body.velocity.linear + self.input.free[*slot as usize].linear) * 0.5;
            energy += dt * force.dot(free - way.mean.linear);
            scale += dt * force.length() * (free.length() + way.mean.linear.length());
        }
        (energy, scale)
    }
}

/// a + theta (b - a).
pub(crate) fn blend(a: &[Way], b: &mut [Way], theta: f64) {
    for (a, b) in a.iter().zip(b) {
        b.mean = a.mean + (b.mean - a.mean) * theta;
        b.bounces |= a.bounces;
    }
}
