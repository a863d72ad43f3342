//! How the step's velocities move the bodies.
//!
//! With v and v+ the velocities of a body's centre before and after the step, of length h:
//!
//! ```text
//! x+ = x + h (v+ - P (v+ - v)/2)
//! ```
//!
//! P takes out the directions of the normals along which contacts push on the body. In free flight
//! P = 1: the mean velocity, exact under a constant force. A body that slides or rolls moves with the
//! mean velocity along the surface, so that its way is of second order, and with the end velocity
//! along the normal, for which the contacts were solved. Bodies with joints, with overlaps that are
//! being taken out, or in contact with a kinematic body move with the end velocity in all directions.
//!
//! What pivots about a contact may swing: what pushes it depends on where it is. With the mean velocity a swing of
//! frequency omega grows by (h omega)²/4 a step; with the end velocity it does not:
//!
//! ```text
//! v+ = v - h omega² x,   x+ = x + h (v + v+)/2    (x, v) -> (x+, v+) has the determinant 1 + (h omega)²/2
//! v+ = v - h omega² x,   x+ = x + h v+            1
//! ```
//!
//! So of what changes its velocity only the turn of the arm r about which it pivots counts, h w x (w x -r), which leads it
//! along the arc.
//!
//! Where something bounces, the ways of its island count ([`crate::ways`]).
//!
//! What contacts push and is slower than [`WorldSettings::standstill`](crate::WorldSettings::standstill), before the step
//! and after it, stays where it is, bit for bit, but for what closes a gap; its velocity is kept. Solvers leave velocities
//! of that size where nothing moves. A pile that followed them would present the next step with other contacts, by
//! rounding, whose impulses of old no longer are the answer: in a tall stack what is off grows by half from step to step
//! until it must be solved anew.

use crate::body::BodyState;
use crate::contact::Contact;
use crate::integrate::{Motion, Start};
use crate::island::Islands;
use crate::island_solve::{IslandResult, is_slight};
use crate::share::{SHARE, each_run, each_slot, each_slot_of_two};
use crate::world::WorldState;
use crate::{BodyKind, IslandSolver};
use moreau_math::{Vec3, Velocity};
use rayon::prelude::*;

/// Changes of velocity that no solve resolves, m/s: a contact that does less does not push.
pub(crate) const RESOLVED: f64 = 1e-9;

/// Normals closer to each other's span than this (sine) count as one.
const SAME_SPAN: f64 = 1e-3;

/// The directions, orthonormal, in which a body moves with its end velocity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Held {
    axes: [Vec3; 2],
    rank: usize,
    /// The arms about which it pivots, m, world axes, and how many.
    arms: Vec3,
    pivots: f64,
    /// Whether a joint holds it.
    joined: bool,
    /// How slow it is; of all that pushes what is slow only that something does is noted.
    pace: Pace,
    pushed: bool,
    /// Whether it closes a gap.
    closes: bool,
}

/// How fast a body is beside the speed of standstill.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Pace {
    #[default]
    Fast,
    /// Slow, but the gaps that it closes are more than rounding.
    Slow,
    Still,
}

/// How a body goes through the step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Ride {
    /// Whether the mean velocity is another than that of the end.
    bent: bool,
    /// Whether it stays where it is.
    pub(crate) stands: bool,
    /// In which look at the gaps its mean velocity was changed last; 0: in none.
    changed: u8,
}

impl Held {
    pub(crate) const ALL: Self = Self {
        axes: [Vec3::ZERO; 2],
        rank: 3,
        arms: Vec3::ZERO,
        pivots: 0.0,
        joined: false,
        pace: Pace::Fast,
        pushed: false,
        closes: false,
    };
    const JOINED: Self = Self {
        joined: true,
        ..Self::ALL
    };

    fn hold(&mut self, normal: Vec3) {
        let rest = self.free_part(normal);
        let length = rest.length();
        if length > SAME_SPAN {
            if self.rank < 2 {
                self.axes[self.rank] = rest / length;
            }
            self.rank += 1;
        }
    }

    /// By how much (m/s) the velocity at the end of a step of `dt` (s) is ahead of the mean one, where it has changed by
    /// `change` (m/s) and the body turns with `angular` (rad/s).
    fn ahead(&self, change: Vec3, angular: Vec3, dt: f64) -> Vec3 {
        let swings = (angular * dt).length_squared() <= MOST_TURN * MOST_TURN;
        let change = if self.pivots > 0.0 && swings {
            let turn = angular.cross(angular.cross(self.arms / self.pivots));
            turn * -dt
        } else {
            change
        };
        0.5 * self.free_part(change)
    }

    /// The part of `v` along which nothing pushes.
    pub(crate) fn free_part(&self, v: Vec3) -> Vec3 {
        match self.rank {
            0 => v,
            1 => v - self.axes[0] * self.axes[0].dot(v),
            2 => v - self.axes[0] * self.axes[0].dot(v) - self.axes[1] * self.axes[1].dot(v),
            _ => Vec3::ZERO,
        }
    }
}

/// What [`gather`] reads and fills for each slot.
pub(crate) struct Moving<'a> {
    /// Slots of the bodies that move; the motions of all others are none.
    pub(crate) active: &'a [u32],
    pub(crate) starts: &'a [Start],
    /// Velocities after forces and before impulses.
    pub(crate) free: &'a [Velocity],
    pub(crate) motions: &'a mut Vec<Motion>,
    pub(crate) held: &'a mut Vec<Held>,
    pub(crate) rides: &'a mut Vec<Ride>,
    /// Memory for which contacts close their gaps.
    pub(crate) closing: &'a mut Vec<bool>,
    pub(crate) dt: f64,
    /// Whether the threads of the pool take parts of it.
    pub(crate) parallel: bool,
}

/// Velocities and mean velocities of all bodies from the islands' results; writes the impulses into
/// the contact points.
pub(crate) fn gather(
    state: &WorldState,
    islands: &Islands,
    results: &[IslandResult],
    points: &mut [Contact],
    moving: Moving<'_>,
) {
    let Moving {
        active,
        starts,
        free,
        motions,
        held,
        rides,
        closing,
        dt,
        parallel,
    } = moving;
    let lists = (&mut motions[..], &mut held[..]);
    each_slot_of_two(parallel, active, lists, |_, slot, (motion, held)| {
        let velocity = free[slot];
        *motion = Motion {
            velocity,
            mean: velocity.linear,
            correction: Velocity::ZERO,
        };
        *held = Held::default();
    });
    let standstill = state.settings.standstill;
    for (range, result) in islands.ranges.iter().zip(results) {
        let bodies = &islands.bodies[range.bodies.clone()];
        let contacts = &islands.contacts[range.contacts.clone()];
        let parallel = parallel && bodies.len() >= 2 * SHARE;
        let lists = (&mut motions[..], &mut held[..]);
        each_slot_of_two(parallel, bodies, lists, |i, slot, (motion, held)| {
            motion.velocity = result.velocities[i];
            motion.mean = motion.velocity.linear;
            if let Some(correction) = result.corrections.get(i) {
                motion.correction = *correction;
                if *correction != Velocity::ZERO {
                    *held = Held::ALL;
                    return;
                }
            }
            let speed = starts[slot].speed.max(motion.velocity.linear.length());
            held.pace = pace(&state.bodies[slot].value, (speed, motion), standstill);
        });
        let marking = Marking {
            state,
            ends: &islands.ends,
            starts,
            exact: result.solver == IslandSolver::Newton,
            dt,
        };
        if parallel {
            each_slot(true, contacts, points, |i, _, p| {
                p.impulse = result.impulses[i];
            });
            // Marks of a body follow from its contacts in their order, so bodies may be shared out.
            let points = &points[..];
            each_run(true, bodies, held, |first, held| {
                for (index, impulse) in contacts.iter().zip(&result.impulses) {
                    marking.mark((*index, *impulse), points, (first, held));
                }
            });
        } else {
            for (index, impulse) in contacts.iter().zip(&result.impulses) {
                points[*index as usize].impulse = *impulse;
                marking.mark((*index, *impulse), points, (0, held));
            }
        }
        for slot in &islands.joints[range.joints.clone()] {
            if let Some(joint) = &state.joints[*slot as usize].value {
                held[joint.joint.a.index as usize] = Held::JOINED;
                held[joint.joint.b.index as usize] = Held::JOINED;
            }
        }
    }
    let held = &held[..];
    rides.clear();
    rides.resize(motions.len(), Ride::default());
    let lists = (&mut motions[..], &mut rides[..]);
    each_slot_of_two(parallel, active, lists, |_, slot, (motion, ride)| {
        let held = &held[slot];
        ride.stands = held.pushed && !held.closes && !held.joined;
        if held.pushed || held.rank >= Held::ALL.rank {
            return;
        }
        let body = state.bodies[slot].value.as_ref();
        if let Some(body) = body.filter(|b| b.is_dynamic()) {
            let change = motion.velocity.linear - body.velocity.linear;
            let ahead = held.ahead(change, motion.velocity.angular, dt);
            motion.mean = motion.velocity.linear - ahead;
            ride.bent = true;
        }
    });
    for (range, result) in islands.ranges.iter().zip(results) {
        let bodies = &islands.bodies[range.bodies.clone()];
        for (slot, way) in bodies.iter().zip(&result.ways) {
            let motion = &mut motions[*slot as usize];
            rides[*slot as usize].stands = false;
            let corrected = motion.correction != Velocity::ZERO && !way.bounces;
            if !corrected {
                motion.mean = way.mean.linear;
                rides[*slot as usize].bent = true;
                motion.correction.angular += way.mean.angular - motion.velocity.angular;
            }
        }
    }
    keep_gaps(
        (islands, results),
        points,
        (motions, rides),
        closing,
        (dt, parallel),
    );
}

/// What marks bodies that the contacts of an island push.
struct Marking<'a> {
    state: &'a WorldState,
    /// Slots of the bodies of each contact.
    ends: &'a [(u32, u32)],
    starts: &'a [Start],
    /// Whether the island is solved exactly.
    exact: bool,
    dt: f64,
}

impl Marking<'_> {
    /// Of a contact, by its index, with its impulse (n, t1, t2; N s), those of its bodies that are among `held`, whose
    /// first is in the slot `first`.
    fn mark(
        &self,
        (index, impulse): (u32, Vec3),
        points: &[Contact],
        (first, held): (usize, &mut [Held]),
    ) {
        if impulse == Vec3::ZERO {
            return;
        }
        let (state, standstill) = (self.state, self.state.settings.standstill);
        let (a, b) = self.ends[index as usize];
        for (slot, other) in [(a, b), (b, a)] {
            let Some(held) = held.get_mut((slot as usize).wrapping_sub(first)) else {
                continue;
            };
            let known = held.rank >= Held::ALL.rank || held.pushed && held.pace == Pace::Still;
            if known || impulse.length() * self.starts[slot as usize].inverse_mass <= RESOLVED {
                continue;
            }
            // The point is large: not fetched for nothing.
            let p = &points[index as usize];
            match held.pace {
                Pace::Fast => hold((state, self.starts), p, impulse, (slot, other), held),
                Pace::Slow => {
                    let slight = is_slight(&state.settings, p.separation, impulse.x, self.dt);
                    let stays = self.exact && slight;
                    held.closes |= p.separation > ROUNDING * standstill * self.dt && !stays;
                    held.pushed = true;
                }
                Pace::Still => held.pushed = true,
            }
        }
    }
}

/// Part of the speed of standstill that is rounding: no gap is closed with it.
const ROUNDING: f64 = 1e-2;

/// That of the fastest point of a body whose centre has at most the speed `speed` (m/s).
fn pace(body: &Option<BodyState>, (speed, motion): (f64, &Motion), standstill: f64) -> Pace {
    let Some(body) = body.as_ref().filter(|_| speed < standstill) else {
        return Pace::Fast;
    };
    let arm = body.shape.bounding_radius() + body.mass.center_of_mass.length();
    let most = speed + motion.velocity.angular.length() * arm;
    if most < ROUNDING * standstill {
        Pace::Still
    } else if most < standstill {
        Pace::Slow
    } else {
        Pace::Fast
    }
}

/// Marks the normal of a contact whose impulse (n, t1, t2; N s) pushes the body in `slot` off that in `other`. `starts`: by slot.
pub(crate) fn hold(
    (state, starts): (&WorldState, &[Start]),
    p: &Contact,
    impulse: Vec3,
    (slot, other): (u32, u32),
    held: &mut Held,
) {
    // What is held in all directions already need not be looked up.
    let nothing = impulse == Vec3::ZERO || held.rank >= Held::ALL.rank;
    let inverse_mass = |index: u32| starts[index as usize].inverse_mass;
    if nothing || impulse.length() * inverse_mass(slot) <= RESOLVED {
        return;
    }
    // Bodies are large: not fetched for nothing.
    if inverse_mass(other) == 0.0 {
        let body = state.bodies[other as usize].value.as_ref();
        if body.is_some_and(|body| body.kind == BodyKind::Kinematic) {
            *held = Held::ALL;
            return;
        }
    }
    held.hold(p.normal);
    if let Some(arm) = pivot(state, p, (slot, other)) {
        held.arms += arm;
        held.pivots += 1.0;
    }
}

/// A body pivots where its contact point moves by less than this part of what its centre does.
const PIVOT: f64 = 0.5;

/// Turn in a step (rad) up to which a body that pivots may be swinging. Faster ones whirl.
const MOST_TURN: f64 = 0.1;

/// Speed up to which a body is at rest, m/s.
const AT_REST: f64 = 1e-6;

/// The arm (m, world axes) about which the body in `slot` pivots at its contact with that in `other`, if it does and the
/// arm turns along the surface. The arms of what slides or rolls do not: those of a ball lie along the normal, those of a
/// wheel turn along it.
fn pivot(state: &WorldState, p: &Contact, (slot, other): (u32, u32)) -> Option<Vec3> {
    let (own, others) = if slot == p.a.index {
        (p.lever_a, p.lever_b)
    } else {
        (p.lever_b, p.lever_a)
    };
    if own.cross(p.normal).length_squared() <= SAME_SPAN * SAME_SPAN * own.length_squared() {
        return None;
    }
    let body = |slot: u32| state.bodies[slot as usize].value.as_ref();
    let (one, two) = (body(slot)?, body(other)?);
    let base = two.velocity.at(others);
    let center = one.velocity.linear - base;
    let point = one.velocity.at(own) - base;
    let speed_squared = center.length_squared();
    let moves = speed_squared > AT_REST * AT_REST;
    if !(moves && point.length_squared() < PIVOT * PIVOT * speed_squared) {
        return None;
    }
    let w = one.velocity.angular;
    let turn = w.cross(w.cross(own));
    let along = turn - p.normal * p.normal.dot(turn);
    (along.length() > SAME_SPAN * w.length_squared() * own.length()).then_some(own)
}

/// Most looks at the gaps of an island.
const LOOKS: u8 = 8;

/// Where mean velocities would close a gap which the end velocities leave open, the end velocities
/// count.
///
/// A body whose mean velocity has changed may close other gaps, so that its contacts are looked at again, those of the
/// island there and back by turns. Where that goes on for long, in a chain whose contacts are in no order, all bodies of the island
/// with contacts get their end velocities, which close none. `closing`: memory for what each contact does at first, where
/// threads share that.
fn keep_gaps(
    (islands, results): (&Islands, &[IslandResult]),
    points: &[Contact],
    (motions, rides): (&mut [Motion], &mut [Ride]),
    closing: &mut Vec<bool>,
    (dt, parallel): (f64, bool),
) {
    let closes = |p: &Contact, motions: &[Motion]| {
        let (a, b) = (&motions[p.a.index as usize], &motions[p.b.index as usize]);
        let turning = |m: &Motion, lever: Vec3| m.velocity.angular.cross(lever);
        let turn = turning(b, p.lever_b) - turning(a, p.lever_a);
        let mean = p.normal.dot(b.mean - a.mean + turn);
        let end = b.velocity.linear - a.velocity.linear;
        let end = p.normal.dot(end + turn);
        p.separation.max(0.0) + dt * mean < -RESOLVED * dt && mean < end - RESOLVED
    };
    let bent = |slot: u32| rides[slot as usize].bent;
    let may = |((a, b), p): (&(u32, u32), &Contact)| (bent(*a) || bent(*b)) && closes(p, motions);
    closing.clear();
    let any = if parallel {
        let pairs = islands.ends.par_iter().zip(points);
        let pairs = pairs.with_min_len(SHARE);
        pairs.map(may).collect_into_vec(closing);
        closing.contains(&true)
    } else {
        islands.ends.iter().zip(points).any(may)
    };
    if !any {
        return;
    }
    let end = |p: &Contact, motions: &mut [Motion]| {
        for body in [p.a, p.b] {
            let motion = &mut motions[body.index as usize];
            motion.mean = motion.velocity.linear;
        }
    };
    for (range, result) in islands.ranges.iter().zip(results) {
        if !result.ways.is_empty() {
            continue;
        }
        let contacts = &islands.contacts[range.contacts.clone()];
        // Whether a contact closes its gap in a look. Others than those of bodies that were changed in this look or the last
        // one would be found as they were.
        let mut look = |index: u32, number: u8| {
            let (a, b) = islands.ends[index as usize];
            let changed = |slot: u32| rides[slot as usize].changed > 0;
            if number == 1
                && !(changed(a) || changed(b))
                && closing.get(index as usize) == Some(&false)
            {
                return false;
            }
            let may = |slot: u32| match number {
                1 => rides[slot as usize].bent,
                _ => rides[slot as usize].changed + 1 >= number,
            };
            if !(may(a) || may(b)) {
                return false;
            }
            let p = &points[index as usize];
            let does = closes(p, motions);
            if does {
                end(p, motions);
                for slot in [a, b] {
                    rides[slot as usize].changed = number;
                }
            }
            does
        };
        let mut open = false;
        for number in 1..=LOOKS {
            // All of them, whatever the first ones are.
            let of = |found: usize, index: &u32| found + usize::from(look(*index, number));
            let count = if number % 2 == 1 {
                contacts.iter().fold(0, of)
            } else {
                contacts.iter().rev().fold(0, of)
            };
            if count == 0 {
                open = true;
                break;
            }
        }
        if !open {
            for index in contacts {
                end(&points[*index as usize], motions);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Held;
    use moreau_math::{Vec3, vec3};

    #[test]
    fn pushed_directions_are_taken_out() {
        let v = vec3(1.0, 2.0, 3.0);
        let mut held = Held::default();
        assert_eq!(held.free_part(v), v);
        held.hold(Vec3::Y);
        held.hold(Vec3::Y);
        held.hold(-Vec3::Y);
        assert_eq!(held.free_part(v), vec3(1.0, 0.0, 3.0));
        let slanted = vec3(0.6, 0.8, 0.0);
        held.hold(slanted);
        assert!((held.free_part(v) - vec3(0.0, 0.0, 3.0)).length() < 1e-15);
        held.hold(vec3(0.0, 0.6, 0.8));
        assert_eq!(held.free_part(v), Vec3::ZERO);
        assert_eq!(Held::ALL.free_part(v), Vec3::ZERO);
    }
}
