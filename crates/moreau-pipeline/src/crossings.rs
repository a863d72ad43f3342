//! A last look at the way that the bodies are about to go, so that none passes through another.
//!
//! Contacts are found on the free paths of the step. What a body meets only because an impact in the
//! same step turned it aside has no contact. So each body that moves by more than a part of its own
//! thickness is followed along the way it is really about to go, and stops where it would be deeper
//! in another than a part of the thinner one:
//!
//! ```text
//! kappa = SHARE min(inner radius of A, of B), at least twice the slop
//! ```
//!
//! Only the way is cut short, never a velocity, so no momentum is lost: the body turns freely until it
//! stops. The contact follows in the next step. A body that stops early may be met by one behind it: the
//! earliest meeting is dealt with first, and those of the bodies that it stopped are looked for again.
//!
//! Convex shapes are followed to the time of their impact; surfaces and compounds part by part
//! (`parts`). A surface has no thickness: there only the other one's counts.

mod parts;

pub(crate) use parts::inner_radius;

use crate::body::BodyState;
use crate::detect::Detection;
use crate::integrate;
use crate::share::each_slot;
use crate::world::WorldState;
use moreau_collision::{Aabb, ImpactSettings, Motion, Shape, closest_points, time_of_impact};
use moreau_math::{Pose, Quat, Vec3, Velocity, rotation_difference};
use rayon::prelude::*;

/// Part of a body's inner radius that it may move, or go into another, unwatched.
const SHARE: f64 = 0.25;

/// Part of kappa by which bodies that are deeper already may become deeper.
const DEEPER: f64 = 0.1;

/// Turn in a step (rad) beyond which the difference of rotations goes the wrong way round.
const HALF_TURN: f64 = 3.0;

/// Turn (rad) of a leg of the way of a body that turns further than that, and how many there may be for all that it
/// comes near to, together, and for each. Longer ones go the short way round, from one of its poses to the next.
const LEG_TURN: f64 = 0.5;
const MOST_LEGS: f64 = 1024.0;
const LEAST_LEGS: f64 = 64.0;

/// Looks that a pair costs on a leg, at least.
const LEG_LOOKS: u64 = 8;

/// How far (of its size) legs may be off the way of a body in any case, however thin it is.
const FINEST: f64 = 1e-4;

/// By how much of their size shapes must be apart at least to be seen to pass by, for the rounding.
const ROOM: f64 = 1e-9;

/// Legs of a pair from which a look at the balls around both pays.
const MANY_LEGS: usize = 8;

/// Meetings that one thread looks at, at least.
const FEW: usize = 16;

/// What the last look made of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Stopped {
    /// Bodies whose ways were cut short.
    pub(crate) bodies: usize,
    /// Looks at legs, of which each way has one for nothing.
    pub(crate) leg_work: u64,
}

/// Memory that steps reuse.
#[derive(Default)]
pub(crate) struct Crossings {
    /// Whether the body of each slot is to be watched for how far it goes, where it takes part.
    far: Vec<bool>,
    fast: Vec<u32>,
    near: Vec<u32>,
    meetings: Vec<Meeting>,
    /// When each body stops, s after the start of the step.
    stops: Vec<f64>,
    /// The ways of the bodies that are looked at.
    legs: Vec<Option<Legs>>,
}

/// Two bodies by slot, and when they meet.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Meeting {
    pair: (u32, u32),
    time: Option<f64>,
}

/// What a step is about to do to each slot: centre, rotation, angular velocity.
type Moved = (Vec3, Quat, Vec3);

/// Cuts the ways in `moved` short where bodies would pass through each other; returns how many were, and what the legs
/// have cost. The ways of the bodies in `followed` (slots, ascending) are known to be free.
pub(crate) fn stop(
    crossings: &mut Crossings,
    detection: &mut Detection,
    (state, active, followed): (&WorldState, &[u32], &[u32]),
    (motions, moved): (&[integrate::Motion], &mut [Moved]),
    (dt, parallel): (f64, bool),
) -> Stopped {
    let Crossings {
        far,
        fast,
        near,
        meetings,
        stops,
        legs,
    } = crossings;
    let goes_far = |index: usize, moved: &Moved| {
        let body = state.bodies[index].value.as_ref();
        body.is_some_and(|body| {
            let room = SHARE * parts::inner_radius(&body.shape);
            body.is_dynamic()
                && !body.sensor
                && !surely_stays(body, moved, dt, room)
                && reach(body, &way(body, moved, dt), dt) > room
        })
    };
    far.resize(state.bodies.len(), false);
    each_slot(parallel, active, far, |_, slot, far| {
        *far = goes_far(slot, &moved[slot]);
    });
    fast.clear();
    for index in active.iter().map(|i| *i as usize).filter(|i| far[*i]) {
        let Some(body) = &state.bodies[index].value else {
            continue;
        };
        if followed.binary_search(&(index as u32)).is_ok() {
            continue;
        }
        let way = way(body, &moved[index], dt);
        let end = way.at(dt);
        let turn = reach(body, &way, dt) - way.velocity.linear.length() * dt;
        let swept = body.shape.aabb(&way.pose).union(&body.shape.aabb(&end));
        detection.stretch(index as u32, &swept.enlarged(turn));
        fast.push(index as u32);
    }
    if fast.is_empty() {
        return Stopped::default();
    }
    meetings.clear();
    for &index in fast.iter() {
        detection.near(index, near);
        for &other in near.iter().filter(|o| **o != index) {
            let pair = (index.min(other), index.max(other));
            if detection.may_touch(state, pair) {
                meetings.push(Meeting { pair, time: None });
            }
        }
    }
    meetings.sort_unstable_by_key(|m| m.pair);
    meetings.dedup();

    stops.clear();
    stops.resize(state.bodies.len(), dt);
    legs.clear();
    legs.resize_with(state.bodies.len(), || None);
    let mut leg_work = 0;
    let passes = |pair: (u32, u32)| {
        let [a, b] = [pair.0, pair.1].map(|index| {
            let body = state.bodies[index as usize].value.as_ref()?;
            Some((&body.shape, way(body, &moved[index as usize], dt)))
        });
        let (Some(a), Some(b)) = (a, b) else {
            return true;
        };
        pass_by((a.0, &a.1), (b.0, &b.1), dt)
    };
    for index in meetings.iter().flat_map(|m| [m.pair.0, m.pair.1]) {
        let i = index as usize;
        if let (None, Some(body)) = (&legs[i], &state.bodies[i].value) {
            let is_followed = followed.binary_search(&index).is_ok();
            // Those that it comes near to share its legs.
            let most = || {
                let own = meetings.iter().map(|m| m.pair);
                let own = own.filter(|(a, b)| *a == index || *b == index);
                let near = own.filter(|pair| !passes(*pair)).count();
                (MOST_LEGS / near.max(1) as f64).floor().max(LEAST_LEGS)
            };
            let new = Legs::new((body, is_followed), &motions[i], &moved[i], dt, most);
            leg_work += new.legs.len() as u64 - 1;
            legs[i] = Some(new);
        }
    }
    let look = |pair: (u32, u32), stops: &[f64]| {
        let side = |index: u32| {
            let i = index as usize;
            Some(Side {
                body: state.bodies[i].value.as_ref()?,
                legs: legs[i].as_ref()?,
                stop: stops[i],
            })
        };
        let (Some(a), Some(b)) = (side(pair.0), side(pair.1)) else {
            return (None, 0);
        };
        meet(&a, &b, state.settings.position_correction.slop)
    };
    let first = |meeting: &mut Meeting| {
        let looks;
        (meeting.time, looks) = look(meeting.pair, stops);
        looks
    };
    leg_work += if parallel && meetings.len() > 2 * FEW {
        let meetings = meetings.par_iter_mut().with_min_len(FEW);
        meetings.map(first).sum::<u64>()
    } else {
        meetings.iter_mut().map(first).sum()
    };
    let mut stopped = 0;
    // Stops only become earlier; the limit is for what rounding could do to that.
    for _ in 0..4 * meetings.len() {
        let due = meetings.iter().filter_map(|m| Some((m.time?, m.pair)));
        let Some((time, pair)) = due.reduce(|m, n| if n.0 < m.0 { n } else { m }) else {
            break;
        };
        let mut changed = [None; 2];
        for (index, change) in [pair.0, pair.1].into_iter().zip(&mut changed) {
            let body = state.bodies[index as usize].value.as_ref();
            let stop = &mut stops[index as usize];
            if body.is_some_and(|b| b.moves()) && time < *stop {
                stopped += usize::from(*stop == dt);
                *stop = time;
                *change = Some(index);
            }
        }
        for meeting in meetings.iter_mut() {
            let (a, b) = meeting.pair;
            if meeting.pair == pair {
                meeting.time = None;
            } else if changed.contains(&Some(a)) || changed.contains(&Some(b)) {
                let looks;
                (meeting.time, looks) = look(meeting.pair, stops);
                leg_work += looks;
            }
        }
    }
    for index in active.iter().map(|i| *i as usize) {
        let body = state.bodies[index].value.as_ref();
        let body = body.filter(|_| stops[index] < dt);
        if let (Some(body), Some(legs)) = (body, &legs[index]) {
            let ends = (stops[index], dt);
            moved[index] = cut((body, legs), &motions[index], &moved[index], ends);
        }
    }
    Stopped {
        bodies: stopped,
        leg_work,
    }
}

/// What is left of a move until `stop`.
fn cut(
    (body, legs): (&BodyState, &Legs),
    motion: &integrate::Motion,
    moved: &Moved,
    (stop, dt): (f64, f64),
) -> Moved {
    let rotation = legs.at(stop).rotation;
    let center = body.center + way(body, moved, dt).velocity.linear * stop;
    // The free rotation until then keeps energy and angular momentum.
    let free = integrate::advance(body, motion, stop);
    let off = rotation_difference(rotation, free.1).length() * body.shape.bounding_radius();
    if off <= DEEPER * SHARE * parts::inner_radius(&body.shape) {
        return (center, free.1, free.2);
    }
    // It wobbles so much that it would not be where it was seen to have room. The spin turns along with
    // the way, so that at least the energy stays.
    (center, rotation, rotation * (moved.1.conjugate() * moved.2))
}

/// The way of a body through the step, in legs of equal duration: one, or where it turns by more than
/// half a turn, or wobbles, as many as follow its free rotation.
struct Legs {
    legs: Vec<Motion>,
    /// Of each, s.
    duration: f64,
    /// How far any of its points may be from where a leg says, m.
    off: f64,
}

/// How far a leg of `duration` (s) is off the way of a body that starts it with the angular velocity `spin` (rad/s),
/// and turns evenly in it although it wobbles, m.
fn off_the_way(body: &BodyState, spin: Vec3, leg: &Motion, duration: f64) -> f64 {
    let radius = body.shape.bounding_radius() + body.mass.center_of_mass.length();
    let wobble = (leg.velocity.angular - spin).length() * duration;
    // Half of that is gained until the middle, and lost until the end.
    if wobble > 0.0 {
        0.25 * wobble * radius
    } else {
        0.0
    }
}

impl Legs {
    /// Of a body that was followed impact by impact the motion tells the end, and not how it came there. Where it
    /// takes many, there are at most as many as `most` says.
    fn new(
        (body, is_followed): (&BodyState, bool),
        motion: &integrate::Motion,
        moved: &Moved,
        dt: f64,
        most: impl FnOnce() -> f64,
    ) -> Self {
        let turn = motion.velocity.angular.length().max(moved.2.length()) * dt;
        let whole = way(body, moved, dt);
        let off = off_the_way(body, motion.velocity.angular, &whole, dt);
        let share = DEEPER * SHARE * parts::inner_radius(&body.shape);
        let share = share.max(FINEST * body.shape.bounding_radius());
        // Where it is does not depend on how a ball about its centre turns.
        let is_ball = matches!(body.shape, Shape::Sphere { .. });
        let is_round = is_ball && body.mass.center_of_mass == Vec3::ZERO;
        let is_even = is_round || is_followed && turn < HALF_TURN;
        if is_even || turn < HALF_TURN && off <= share {
            return Self {
                off: if is_even { 0.0 } else { off },
                legs: vec![whole],
                duration: dt,
            };
        }
        let next = |from: &Moved, duration: f64| {
            let center = from.0 + whole.velocity.linear * duration;
            let correction = motion.correction.angular;
            let (rotation, spin) = integrate::turn(body, (from.1, from.2), correction, duration);
            (center, rotation, spin)
        };
        let center = body.mass.center_of_mass;
        let leg = |from: &Moved, to: &Moved, duration: f64| Motion {
            pose: Pose::new(from.0 - from.1 * center, from.1),
            center,
            velocity: Velocity::new(
                (to.0 - from.0) / duration,
                rotation_difference(from.1, to.1) / duration,
            ),
        };
        let start = (body.center, body.rotation, motion.velocity.angular);
        let mut count = (turn / LEG_TURN).ceil().max(1.0);
        // Half of the time takes it off by a quarter of the way.
        let first = leg(&start, &next(&start, dt / count), dt / count);
        let off = off_the_way(body, start.2, &first, dt / count);
        if off > share {
            count *= (off / share).sqrt().ceil();
        }
        if count > LEAST_LEGS {
            count = count.min(most());
        }
        let duration = dt / count;
        let (mut from, mut most) = (start, 0.0f64);
        let legs = (1..=count as u32).map(|k| {
            let is_last = f64::from(k) == count;
            let to = if is_last {
                *moved
            } else {
                next(&from, duration)
            };
            let leg = leg(&from, &to, duration);
            // The last goes to where the step leads, whose phase is lost where it turns far.
            if !is_last {
                most = most.max(off_the_way(body, from.2, &leg, duration));
            }
            from = to;
            leg
        });
        Self {
            legs: legs.collect(),
            duration,
            off: most,
        }
    }

    /// The leg of the time `t`, and how far into it that is, s.
    fn leg(&self, t: f64) -> (&Motion, f64) {
        let mut index = ((t / self.duration) as usize).min(self.legs.len() - 1);
        // The end of a leg is the start of the next, whatever the rounding.
        if index + 1 < self.legs.len() && t >= self.duration * (index + 1) as f64 {
            index += 1;
        }
        (&self.legs[index], t - self.duration * index as f64)
    }

    fn at(&self, t: f64) -> Pose {
        let (leg, since) = self.leg(t);
        leg.at(since)
    }
}

/// What it costs at least to follow a body that turns with `spin` (rad/s) for `dt` (s) beside another one, in looks.
pub(crate) fn least_leg_work(body: &BodyState, spin: Vec3, dt: f64) -> u64 {
    let turn = spin.length() * dt;
    let is_ball = matches!(body.shape, Shape::Sphere { .. });
    if turn < HALF_TURN || is_ball && body.mass.center_of_mass == Vec3::ZERO {
        return 0;
    }
    (turn / LEG_TURN).ceil().min(MOST_LEGS) as u64 * LEG_LOOKS
}

/// A body on its way, which ends at `stop`.
struct Side<'a> {
    body: &'a BodyState,
    legs: &'a Legs,
    stop: f64,
}

impl Side<'_> {
    /// Whether all of them, however they turn, stay apart; looked at where one has many legs, and only in the plain case.
    fn is_clear_of(&self, other: &Self) -> bool {
        if self.legs.legs.len() + other.legs.legs.len() < MANY_LEGS || self.stop != other.stop {
            return false;
        }
        let around = |side: &Self| {
            let (shape, way) = (&side.body.shape, side.from(0.0));
            let radius = shape.bounding_radius() + way.center.length();
            // What is not bounded has no ball around it, and does not turn.
            if side.legs.legs.len() == 1 || radius.is_infinite() {
                return (shape.clone(), way);
            }
            let center = Pose::from_translation(way.pose.transform_point(way.center));
            let along = Motion::along(center, way.velocity.linear);
            (Shape::sphere(radius), along)
        };
        let ((a, way_a), (b, way_b)) = (around(self), around(other));
        let settings = ImpactSettings {
            max_steps: 16,
            ..ImpactSettings::default()
        };
        let impact = time_of_impact(&a, &way_a, &b, &way_b, self.stop, &settings);
        matches!(impact, Ok(None))
    }

    /// Where it is at the time `t`, and how it moves on from there until its leg ends.
    fn from(&self, t: f64) -> Motion {
        let (leg, _) = self.legs.leg(t);
        let velocity = if self.stop <= t {
            Velocity::ZERO
        } else {
            leg.velocity
        };
        Motion {
            pose: self.legs.at(t.min(self.stop)),
            velocity,
            ..*leg
        }
    }
}

/// The times between which both move evenly, from 0 to when the last one stops.
fn times(a: &Side<'_>, b: &Side<'_>) -> Vec<f64> {
    let last = a.stop.max(b.stop);
    let mut times = vec![0.0, a.stop, b.stop];
    for side in [a, b] {
        let ends = (1..side.legs.legs.len()).map(|k| side.legs.duration * k as f64);
        times.extend(ends.filter(|t| *t < last));
    }
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}

/// How deep two bodies may become (m) that start the step `there` (m) deep in each other, where their legs may be `off`
/// (m) their ways: what is deep already stops nobody, nor does a leg that is a little deeper than the way.
fn depth_limit(kappa: f64, off: f64, there: f64) -> f64 {
    if there < kappa {
        kappa + off
    } else if there <= kappa + off {
        there + DEEPER * kappa + off
    } else {
        there + DEEPER * kappa
    }
}

/// When one of the two is too deep in the other, None where that does not happen; and the looks that legs after the
/// first have cost.
fn meet(a: &Side<'_>, b: &Side<'_>, slop: f64) -> (Option<f64>, u64) {
    let (shape_a, shape_b) = (&a.body.shape, &b.body.shape);
    let kappa = parts::kappa(shape_a, shape_b, slop);
    let mut looks = 0;
    if kappa.is_infinite() {
        return (None, looks);
    }
    if !(shape_a.is_convex() && shape_b.is_convex()) {
        return parts::meet(a, b, kappa);
    }
    if a.is_clear_of(b) {
        return (None, looks);
    }
    let off = (a.legs.off + b.legs.off).min(kappa);
    let at_first = || {
        let start = [a, b].map(|side| side.legs.at(0.0));
        let near = (off > 0.0).then(|| closest_points(shape_a, &start[0], shape_b, &start[1]));
        let near = near.flatten();
        near.map_or(kappa + off, |near| {
            depth_limit(kappa, off, -near.separation)
        })
    };
    // Most pass by, and then nobody asks.
    let mut depth = None;
    let times = times(a, b);
    for span in times.windows(2) {
        let (start, end) = (span[0], span[1]);
        let (way_a, way_b) = (a.from(start), b.from(start));
        if pass_by((shape_a, &way_a), (shape_b, &way_b), end - start) {
            continue;
        }
        let depth = depth.get_or_insert_with(at_first);
        for _ in 0..2 {
            let settings = ImpactSettings {
                target: -*depth,
                tolerance: 1e-6,
                max_steps: 64,
            };
            let (duration, at_once) = (end - start, 1e-12 * (end - start));
            let impact = time_of_impact(shape_a, &way_a, shape_b, &way_b, duration, &settings);
            let impact = impact.ok().flatten();
            if start > 0.0 {
                looks += impact.map_or(0, |i| u64::from(i.steps)).max(LEG_LOOKS);
            }
            // Half-spaces that turn stop nobody.
            let Some(impact) = impact else {
                break;
            };
            if impact.time > at_once || start > 0.0 {
                return (Some(start + impact.time), looks);
            }
            // They are that deep already.
            *depth = -impact.separation + DEEPER * kappa;
        }
    }
    (None, looks)
}

/// Whether two shapes on their ways for `duration` (s) stay so far apart that no turn of theirs matters: the balls
/// around their centres do not meet, or the boxes around their ways.
pub(crate) fn pass_by(a: (&Shape, &Motion), b: (&Shape, &Motion), duration: f64) -> bool {
    let radius = |(shape, way): (&Shape, &Motion)| shape.bounding_radius() + way.center.length();
    let center = |way: &Motion| way.pose.transform_point(way.center);
    let reach = radius(a) + radius(b);
    let from = center(b.1) - center(a.1);
    let speed = b.1.velocity.linear - a.1.velocity.linear;
    // When they are nearest; at once where they do not move.
    let time = -from.dot(speed) / speed.length_squared();
    let time = if time > 0.0 { time.min(duration) } else { 0.0 };
    // Not for half-spaces, whose reach is infinite.
    if (from + speed * time).length() > reach * (1.0 + ROOM) {
        return true;
    }
    let around = |(shape, way): (&Shape, &Motion)| {
        if way.velocity == Velocity::ZERO {
            return shape.aabb(&way.pose);
        }
        let from = center(way);
        let to = from + way.velocity.linear * duration;
        Aabb::new(from.min(to), from.max(to)).enlarged(radius((shape, way)) * (1.0 + ROOM))
    };
    // Where nothing moves, it is up to the shapes.
    !around(a).overlaps(&around(b)) && speed != Vec3::ZERO
}

/// The way of a body to where the step takes it.
pub(crate) fn way(body: &BodyState, moved: &Moved, dt: f64) -> Motion {
    let velocity = if body.kind == crate::BodyKind::Static {
        Velocity::ZERO
    } else {
        let turn = if moved.2.length() * dt < HALF_TURN {
            rotation_difference(body.rotation, moved.1) / dt
        } else {
            moved.2
        };
        Velocity::new((moved.0 - body.center) / dt, turn)
    };
    Motion {
        pose: body.pose(),
        center: body.mass.center_of_mass,
        velocity,
    }
}

/// How far any point of the body comes, at most, that turns by `angle` (rad), m.
pub(crate) fn turn_reach(body: &BodyState, angle: f64) -> f64 {
    angle.min(2.0) * (body.shape.bounding_radius() + body.mass.center_of_mass.length())
}

/// A turn (rad) is at most pi/sqrt 2 = 2.222 of the distance of its unit quaternions.
const TURN: f64 = 2.25;

/// Whether no point of the body comes further than `room` (m), as far as that is seen at once: [`reach`] has to work
/// the turn out.
fn surely_stays(body: &BodyState, moved: &Moved, dt: f64, room: f64) -> bool {
    let (from, to) = (body.rotation, moved.1);
    // Of q and -q, which are the same rotation, the nearer one.
    let distance = (to - from).length_squared();
    let distance = distance.min((to + from).length_squared()).sqrt();
    let turn = TURN
        * (distance + ROOM)
        * (body.shape.bounding_radius() + body.mass.center_of_mass.length());
    let shift = (moved.0 - body.center).length();
    moved.2.length() * dt < HALF_TURN && (shift + turn) * (1.0 + ROOM) <= room
}

/// How far any point of the body can come, m.
fn reach(body: &BodyState, way: &Motion, dt: f64) -> f64 {
    let shift = way.velocity.linear.length() * dt;
    let turn = turn_reach(body, way.velocity.angular.length() * dt);
    if turn > 0.0 { shift + turn } else { shift }
}
