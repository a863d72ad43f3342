//! Impacts one after the other, where a step would take them all at once: those of bullets, and in
//! small islands all bounces that follow one another.
//!
//! A step solves all contacts of its duration together. That is right for bodies that rest, and for one
//! impact a body; where one impact leads to the next within the step, Newton's law for both at once
//! gives another answer than for the first and then the second. An island in which a bullet is about
//! to strike goes through the step in parts: the flight to the first impact that a bullet, or what it has
//! struck, takes part in, that impact, the flight to the next, and so on (`course`). Each part is an
//! ordinary step of its own length, so that momentum, friction and energy are kept as in any step.
//!
//! In an island of few bodies without a bullet the same is done, for all of its impacts, where the solve
//! shows that their order matters (`order`).
//!
//! On the way that it takes so, an island may come near bodies that it does not touch on the free
//! paths: these join it with their own islands, and it starts again from the beginning of the step.
//! So what the parts see is the same however bodies are numbered. What sleeps and is struck wakes, and
//! the whole step starts again.
//!
//! What all of this may cost is bounded (`budget`): a group whose impacts would cost more has the rest of the step
//! taken as one, as other bodies have all of it. Nothing passes through anything either way.

mod budget;
mod course;
mod meetings;
mod order;
mod sums;

use crate::body::BodyState;
use crate::crossings::{least_leg_work, turn_reach};
use crate::integrate::Motion;
use crate::island_solve::IslandResult;
use crate::motion::Ride;
use crate::step::Scratch;
use crate::world::World;
use crate::{BodyKind, StepReport};
use course::{Course, STRIKE};
use moreau_collision::Aabb;
use moreau_math::Pose;

/// Bodies that go through a step together.
struct Group {
    /// Slots, ascending.
    members: Vec<u32>,
    /// Whether all impacts among them count, and not only those that come of bullets.
    all: bool,
    /// Not yet made, or no longer valid, where `None`.
    course: Option<Course>,
    /// Looks, in all attempts so far.
    spent: u64,
    /// Whether it goes through the step in one: its parts cost too much, or leave the range of numbers.
    in_one: bool,
}

impl World {
    /// After the solve: takes the islands in which bullets strike through the step impact by impact,
    /// and puts what comes of it in place of what the solve made of them. Returns the sleeping islands
    /// that were struck; the step must then be done again with them awake.
    pub(crate) fn follow_bullets(
        &mut self,
        scratch: &mut Scratch,
        dt: f64,
        report: &mut StepReport,
    ) -> Vec<u32> {
        scratch.followed.clear();
        let mut groups = Vec::new();
        self.struck_islands(scratch, dt, &mut groups);
        self.bouncing_islands(scratch, dt, &mut groups);
        if groups.is_empty() {
            return Vec::new();
        }
        loop {
            for group in groups
                .iter_mut()
                .filter(|g| g.course.is_none() && !g.in_one)
            {
                let mut allowance = self.allowance(scratch, &group.members);
                allowance.most = allowance.most.saturating_sub(group.spent);
                let bodies = (&group.members[..], group.all);
                let (course, spent) = course::follow(self, scratch, bodies, dt, allowance);
                group.spent += spent;
                (group.in_one, group.course) = (course.is_none(), course);
            }
            let spans = self.spans(scratch, &groups);
            let met: Vec<(u32, Vec<u32>)> = groups
                .iter()
                .map(|g| (g.members[0], self.met(scratch, &spans, g, dt)))
                .filter(|(_, met)| !met.is_empty())
                .collect();
            if met.is_empty() {
                break;
            }
            for (member, met) in met {
                let has = |g: &Group| g.members.binary_search(&member).is_ok();
                let group = groups.iter().position(has);
                join(&mut groups, group, (&met, false), scratch);
            }
        }
        report.ordered_work = groups.iter().map(|g| g.spent).sum();
        let hurried = |g: &&Group| g.in_one || g.course.as_ref().is_some_and(|c| c.hurried);
        report.hurried_groups = groups.iter().filter(hurried).count();
        let courses: Vec<Course> = groups.into_iter().filter_map(|g| g.course).collect();
        let mut asleep: Vec<u32> = courses.iter().flat_map(|c| c.woken.clone()).collect();
        if asleep.is_empty() {
            self.take_over(scratch, courses, dt, report);
        }
        asleep.sort_unstable();
        asleep.dedup();
        asleep
    }

    /// The islands in which a bullet is about to strike, with what it strikes.
    fn struck_islands(&self, scratch: &Scratch, dt: f64, groups: &mut Vec<Group>) {
        if self.activity.bullets.is_empty() {
            return;
        }
        let bullet = |slot: u32| self.activity.bullets.binary_search(&slot).is_ok();
        let (meetings, _) = self.meetings(scratch, bullet, dt);
        for meeting in &meetings {
            let (a, b) = (meeting.a, meeting.b);
            if !bullet(a) && !bullet(b) {
                continue;
            }
            let moves = |slot: &u32| {
                let body = self.state.bodies[*slot as usize].value.as_ref();
                body.is_some_and(|b| b.moves())
            };
            let struck: Vec<u32> = [a, b].into_iter().filter(moves).collect();
            join(groups, None, (&struck, false), scratch);
        }
        // What is seen to be too dear is not begun.
        for group in groups {
            let has = |slot: u32| group.members.binary_search(&slot).is_ok();
            let live = |slot: u32| bullet(slot) && has(slot);
            let allowance = self.allowance(scratch, &group.members);
            let turning = group.members.iter().filter_map(|slot| {
                let body = self.state.bodies[*slot as usize].value.as_ref()?;
                let spin = scratch.free_velocity(*slot).angular;
                Some(least_leg_work(body, spin, dt))
            });
            let each = (turning.sum(), allowance.part);
            group.in_one = !allowance.covers(&meetings, live, dt * STRIKE, each);
        }
    }

    /// Awake bodies outside a group whose ways come near that of one of its members.
    fn met(&self, scratch: &Scratch, spans: &Spans, group: &Group, dt: f64) -> Vec<u32> {
        let Some(course) = &group.course else {
            return Vec::new();
        };
        let mut met = Vec::new();
        for span in spans.near(&course.around) {
            let slot = span.slot;
            if group.members.binary_search(&slot).is_ok() {
                continue;
            }
            let cover = match span.course {
                true => span.around,
                false => {
                    let Some(body) = self.state.bodies[slot as usize].value.as_ref() else {
                        continue;
                    };
                    let (center, rotation, _) = scratch.moved[slot as usize];
                    let end = Pose::new(center - rotation * body.mass.center_of_mass, rotation);
                    let spin = scratch.motions[slot as usize].velocity.angular.length();
                    cover_of(body, &end, spin, dt)
                }
            };
            let touches = course.members().any(|(member, box_)| {
                let pair = (slot.min(member), slot.max(member));
                box_.overlaps(&cover) && self.detection.may_touch(&self.state, pair)
            });
            if touches {
                met.push(slot);
            }
        }
        met.sort_unstable();
        met
    }

    /// The ways of all awake bodies, as far as courses are known by these.
    fn spans(&self, scratch: &Scratch, groups: &[Group]) -> Spans {
        let courses = groups.iter().filter_map(|g| g.course.as_ref());
        let mut followed: Vec<(u32, Aabb)> = courses
            .flat_map(Course::members)
            .map(|(slot, cover)| (slot, *cover))
            .collect();
        followed.sort_unstable_by_key(|(slot, _)| *slot);
        let span = |slot: &u32| {
            let slot = *slot;
            let body = self.state.bodies[slot as usize].value.as_ref();
            let body = body.filter(|b| b.is_dynamic() && !b.sensor)?;
            let at = followed.binary_search_by_key(&slot, |(slot, _)| *slot);
            let around = match at {
                Ok(at) => followed[at].1,
                Err(_) => {
                    let (from, to) = (body.center, scratch.moved[slot as usize].0);
                    let reach = body.shape.bounding_radius() + body.mass.center_of_mass.length();
                    Aabb::new(from.min(to), from.max(to)).enlarged(reach)
                }
            };
            Some(Span {
                slot,
                around,
                course: at.is_ok(),
            })
        };
        Spans::new(self.activity.bodies.iter().filter_map(span).collect())
    }

    /// Puts what the courses say in place of what the solve said.
    fn take_over(
        &mut self,
        scratch: &mut Scratch,
        courses: Vec<Course>,
        dt: f64,
        report: &mut StepReport,
    ) {
        if courses.is_empty() {
            return;
        }
        for course in &courses {
            report.ordered_impacts += course.impacts;
            report.stopped_bodies += course.stopped;
            for end in &course.ends {
                let index = end.slot as usize;
                let from = self.state.bodies[index].value.as_ref();
                let from = from.map_or(end.center, |b| b.center);
                scratch.followed.push(end.slot);
                scratch.moved[index] = (end.center, end.rotation, end.velocity.angular);
                scratch.rides[index] = Ride::default();
                scratch.motions[index] = Motion {
                    velocity: end.velocity,
                    mean: (end.center - from) / dt,
                    ..Motion::NONE
                };
            }
        }
        scratch.followed.sort_unstable();
        let followed = &scratch.followed;
        let is_followed = |slot: u32| followed.binary_search(&slot).is_ok();
        let points = &mut scratch.points;
        points.retain(|p| !is_followed(p.a.index) && !is_followed(p.b.index));
        points.extend(courses.iter().flat_map(|c| &c.contacts));
        points.sort_by_key(|p| (p.a, p.b, p.key()));

        // The islands in the order of their first bodies, before and after.
        let islands = &mut scratch.islands;
        let firsts = islands
            .ranges
            .iter()
            .map(|r| islands.bodies[r.bodies.start]);
        let results = scratch.results.iter_mut().map(std::mem::take);
        let mut old = firsts
            .zip(results)
            .collect::<Vec<_>>()
            .into_iter()
            .peekable();
        islands.list_ends(&scratch.points, false);
        islands.build(&self.state, &self.activity);
        scratch.results.clear();
        for range in &islands.ranges {
            let first = islands.bodies[range.bodies.start];
            let course = courses.iter().find(|c| c.cover(first).is_some());
            while old.next_if(|(slot, _)| *slot < first).is_some() {}
            let before = old.next_if(|(slot, _)| *slot == first || course.is_none());
            let before = before.map(|(_, result)| result).unwrap_or_default();
            let mut result = match course {
                Some(course) => IslandResult {
                    report: Some(course.solve),
                    solver: course.solver,
                    guarded: course.guarded,
                    joint_impulses: course.joint_impulses(&islands.joints[range.joints.clone()]),
                    trial: before.trial,
                    pause: before.pause,
                    ..IslandResult::default()
                },
                None => before,
            };
            if course.is_some() {
                let contacts = islands.contacts[range.contacts.clone()].iter();
                let points = contacts.map(|i| scratch.points[*i as usize].impulse);
                result.impulses.extend(points);
            }
            scratch.results.push(result);
        }
        report.islands = islands.ranges.len();
        report.contact_points = scratch.points.len();
    }
}

/// Where a body goes in the step.
struct Span {
    slot: u32,
    /// A box over all of it.
    around: Aabb,
    /// Whether it is that of a course, and not only a box about that.
    course: bool,
}

/// In the order of their ends along the x axis.
struct Spans {
    sorted: Vec<Span>,
    /// The longest along that axis, m.
    longest: f64,
}

impl Spans {
    fn new(mut spans: Vec<Span>) -> Self {
        spans.sort_unstable_by(|v, w| v.around.min.x.total_cmp(&w.around.min.x));
        let lengths = spans.iter().map(|w| w.around.max.x - w.around.min.x);
        Self {
            longest: lengths.fold(0.0, f64::max),
            sorted: spans,
        }
    }

    /// Those whose boxes overlap `around`.
    fn near<'a>(&'a self, around: &'a Aabb) -> impl Iterator<Item = &'a Span> {
        let rounding = 4.0 * f64::EPSILON * (around.min.x.abs() + self.longest);
        let first = around.min.x - self.longest - rounding;
        let from = self.sorted.partition_point(|w| w.around.min.x < first);
        let there = self.sorted[from..].iter();
        there
            .take_while(|w| w.around.min.x <= around.max.x)
            .filter(|w| w.around.overlaps(around))
    }
}

/// Makes one group of bodies, their islands, a group that is there already, and all groups that have one
/// of these as a member.
fn join(
    groups: &mut Vec<Group>,
    group: Option<usize>,
    (met, mut all): (&[u32], bool),
    scratch: &Scratch,
) {
    let mut members = group.map_or(Vec::new(), |g| groups[g].members.clone());
    let islands = &scratch.islands;
    for &slot in met {
        match islands.island_of(slot) {
            Some(range) => members.extend_from_slice(&islands.bodies[range.bodies.clone()]),
            None => members.push(slot),
        }
    }
    members.sort_unstable();
    members.dedup();
    if members.is_empty() || groups.iter().any(|g| g.members == members && g.all >= all) {
        return;
    }
    // Groups are made of whole islands, so that none that is not taken in shares a member with one that is.
    let shares = |g: &Group| {
        g.members
            .iter()
            .any(|slot| members.binary_search(slot).is_ok())
    };
    let (taken, mut rest): (Vec<Group>, Vec<Group>) =
        std::mem::take(groups).into_iter().partition(shares);
    let (mut spent, mut in_one) = (0, false);
    for group in taken {
        all |= group.all;
        spent += group.spent;
        in_one |= group.in_one;
        members.extend(group.members);
    }
    members.sort_unstable();
    members.dedup();
    rest.push(Group {
        members,
        all,
        course: None,
        spent,
        in_one,
    });
    rest.sort_by_key(|g| g.members.first().copied());
    *groups = rest;
}

/// A box over all that a body goes through on its way to `end`, turning by at most `spin` (rad/s) for
/// `dt` (s).
fn cover_of(body: &BodyState, end: &Pose, spin: f64, dt: f64) -> Aabb {
    let ends = body.shape.aabb(&body.pose()).union(&body.shape.aabb(end));
    let spin = spin.max(body.velocity.angular.length());
    ends.enlarged(turn_reach(body, spin * dt))
}

/// Whether a body is in the way of others without being moved by them.
fn is_obstacle(body: &BodyState) -> bool {
    !body.sensor && (body.kind != BodyKind::Dynamic || body.rest.is_asleep())
}
