//! A group of bodies on its way through a step, impact after impact, in a world of its own: the group
//! and what is in its way and does not move by impulses.

use super::budget::{Allowance, look_work, solve_work};
use super::meetings::Meeting;
use super::sums::Sums;
use super::{cover_of, is_obstacle};
use crate::contact::Contact;
use crate::crossings::least_leg_work;
use crate::joint::JointState;
use crate::sleep::{Rest, Sleepers};
use crate::step::Scratch;
use crate::world::{Slot, World, WorldState};
use crate::{BodyId, BodyKind, IslandSolver, Joint, JointId};
use moreau_cache::ContactCache;
use moreau_collision::Aabb;
use moreau_math::{Quat, SymMat3, Vec3, Velocity};
use moreau_solver::SolveReport;

/// Most impacts of a step that are taken one by one, and most parts. The last takes what is left.
const MOST_IMPACTS: usize = 32;
const MOST_PARTS: usize = 128;

/// Length of a part in which something strikes, in steps. Impacts that follow sooner count as one: 0.1 mm
/// at 400 m/s and 60 Hz.
pub(super) const STRIKE: f64 = 1.0 / 65536.0;

/// How often the region that is looked at may double.
const MOST_DOUBLINGS: u32 = 24;

/// Where a body of the group is at the end of the step.
pub(super) struct End {
    pub(super) slot: u32,
    pub(super) center: Vec3,
    pub(super) rotation: Quat,
    pub(super) velocity: Velocity,
    /// A box over all that it went through.
    cover: Aabb,
}

/// What the step makes of a group.
pub(super) struct Course {
    /// In the order of their slots.
    pub(super) ends: Vec<End>,
    /// A box over all that the group went through.
    pub(super) around: Aabb,
    /// Of all parts, sorted; the geometry is that of the part in which the point first pushed, the
    /// impulse the sum of all parts.
    pub(super) contacts: Vec<Contact>,
    /// By slot, N s, the sum of all parts.
    joints: Vec<(u32, [f64; 3])>,
    /// The worst solve.
    pub(super) solve: SolveReport,
    pub(super) solver: IslandSolver,
    pub(super) guarded: bool,
    /// How many parts had an impact.
    pub(super) impacts: usize,
    /// Bodies whose ways were cut short.
    pub(super) stopped: usize,
    /// Sleeping islands that were pushed.
    pub(super) woken: Vec<u32>,
    /// Whether the rest of its step was taken as one although there were more impacts.
    pub(super) hurried: bool,
}

impl Course {
    /// The box of a member.
    pub(super) fn cover(&self, slot: u32) -> Option<Aabb> {
        let at = self.ends.binary_search_by_key(&slot, |end| end.slot).ok()?;
        Some(self.ends[at].cover)
    }

    /// Slots and boxes.
    pub(super) fn members(&self) -> impl Iterator<Item = (u32, &Aabb)> {
        self.ends.iter().map(|end| (end.slot, &end.cover))
    }

    /// Of the joints in these slots.
    pub(super) fn joint_impulses(&self, slots: &[u32]) -> Vec<[f64; 3]> {
        let of = |slot: &u32| {
            let at = self.joints.binary_search_by_key(slot, |(joint, _)| *joint);
            at.map_or([0.0; 3], |at| self.joints[at].1)
        };
        slots.iter().map(of).collect()
    }
}

/// Takes the bodies in the slots `members` through a step of `dt` (s); where `all`, impact by impact for
/// all of them, not only for bullets. `None` where a part would leave numbers that are not finite, or that
/// would cost more than it may; and what it has cost in looks.
pub(super) fn follow(
    whole: &mut World,
    scratch: &Scratch,
    (members, all): (&[u32], bool),
    dt: f64,
    allowance: Allowance,
) -> (Option<Course>, u64) {
    // How far any of them may come in the step.
    let speeds = members.iter().filter_map(|slot| {
        let index = *slot as usize;
        let body = whole.state.bodies[index].value.as_ref()?;
        let free = scratch.free_velocity(*slot);
        let solved = &scratch.motions[index].velocity;
        let spins = [&body.velocity, free, solved].map(|v| v.angular.length());
        let speeds = [&body.velocity, free, solved].map(|v| v.linear.length());
        let radius = body.shape.bounding_radius() + body.mass.center_of_mass.length();
        let most = |of: [f64; 3]| of.into_iter().fold(0.0, f64::max);
        Some(most(speeds) + most(spins) * radius)
    });
    let mut reach = 2.0 * dt * speeds.fold(0.0, f64::max) + whole.settings().prediction_distance;
    let (mut doublings, mut spent) = (0, 0);
    loop {
        let (obstacles, boxes) = surroundings(whole, members, reach);
        let mut twin = Twin::new(whole, (members, all), &obstacles);
        let left = Allowance {
            most: allowance.most.saturating_sub(spent),
            ..allowance
        };
        let course = twin.run(whole, dt, left);
        spent += twin.work;
        let Some(course) = course else {
            return (None, spent);
        };
        let inside = course.ends.iter().zip(&boxes);
        if inside.into_iter().all(|(end, b)| b.contains(&end.cover)) || doublings == MOST_DOUBLINGS
        {
            return (Some(course), spent);
        }
        reach *= 2.0;
        doublings += 1;
    }
}

/// What is in the way of the members within `reach` (m), and the boxes that say so.
fn surroundings(whole: &mut World, members: &[u32], reach: f64) -> (Vec<u32>, Vec<Aabb>) {
    let state = &whole.state;
    let (mut all, mut near, mut boxes) = (Vec::new(), Vec::new(), Vec::new());
    for slot in members {
        let Some(body) = &state.bodies[*slot as usize].value else {
            continue;
        };
        let around = body.shape.aabb(&body.pose()).enlarged(reach);
        whole.detection.within(&around, &mut near);
        all.append(&mut near);
        boxes.push(around);
    }
    let joints = whole.activity.joints.iter();
    for joint in joints.filter_map(|slot| state.joints[*slot as usize].value) {
        let (a, b) = (joint.joint.a.index, joint.joint.b.index);
        if members.binary_search(&a).is_ok() || members.binary_search(&b).is_ok() {
            all.extend([a, b]);
        }
    }
    all.sort_unstable();
    all.dedup();
    all.retain(|slot| {
        let body = state.bodies[*slot as usize].value.as_ref();
        body.is_some_and(is_obstacle)
    });
    (all, boxes)
}

/// A part of a step.
struct Part {
    /// s.
    duration: f64,
    /// Whether a live body strikes in it.
    strikes: bool,
}

impl Part {
    fn flight(duration: f64) -> Self {
        Self {
            duration,
            strikes: false,
        }
    }
}

/// The world of a group.
struct Twin {
    world: World,
    /// In the whole world, of each body here.
    slots: Vec<u32>,
    /// Places of the group's bodies here.
    members: Vec<u32>,
    /// Slots in the whole world, of each joint here.
    joints: Vec<u32>,
    /// Of each body here: whether a bullet, or one that it struck, has part in its impacts.
    live: Vec<bool>,
    /// Force and torque of this step on each member.
    forces: Vec<(Vec3, Vec3)>,
    /// Looks so far, and the most of a part.
    work: u64,
    dearest: u64,
}

impl Twin {
    fn new(whole: &World, (members, all): (&[u32], bool), obstacles: &[u32]) -> Self {
        let state = &whole.state;
        let mut slots = [members, obstacles].concat();
        slots.sort_unstable();
        slots.dedup();
        let ends = (slots.first().copied(), slots.last().copied());
        // Most of what is looked up is beyond the ends of a small group.
        let local = |slot: u32| {
            if Some(slot) < ends.0 || Some(slot) > ends.1 {
                return None;
            }
            slots.binary_search(&slot).ok().map(|i| i as u32)
        };
        let id = |index: u32| BodyId {
            index,
            generation: 0,
        };
        let own: Vec<u32> = members.iter().filter_map(|slot| local(*slot)).collect();
        let mut bodies = Vec::with_capacity(slots.len());
        let mut live = vec![false; slots.len()];
        for (index, slot) in slots.iter().enumerate() {
            let mut value = state.bodies[*slot as usize].value.clone();
            if let Some(body) = &mut value {
                let is_member = members.binary_search(slot).is_ok();
                live[index] = (body.bullet || all && body.is_dynamic()) && is_member;
                (body.bullet, body.rest) = (false, Rest::AWAKE);
                body.trial = body.trial.from(state.steps);
                if body.is_dynamic() && !is_member {
                    // It sleeps: where it is pushed, the step begins again with it awake.
                    body.kind = BodyKind::Static;
                    (body.inverse_mass, body.inverse_inertia) = (0.0, SymMat3::ZERO);
                }
            }
            bodies.push(Slot {
                generation: 0,
                value,
            });
        }
        let (mut joints, mut joint_slots) = (Vec::new(), Vec::new());
        for slot in &whole.activity.joints {
            let Some(joint) = state.joints[*slot as usize].value else {
                continue;
            };
            let (a, b) = (joint.joint.a.index, joint.joint.b.index);
            if members.binary_search(&a).is_err() && members.binary_search(&b).is_err() {
                continue;
            }
            let (Some(a), Some(b)) = (local(a), local(b)) else {
                continue;
            };
            let index = joints.len() as u32;
            joints.push(Slot {
                generation: 0,
                value: Some(JointState {
                    id: JointId {
                        index,
                        generation: 0,
                    },
                    joint: Joint {
                        a: id(a),
                        b: id(b),
                        ..joint.joint
                    },
                    impulses: joint.impulses,
                }),
            });
            joint_slots.push(*slot);
        }
        let both = |a: u32, b: u32| Some((id(local(a)?), id(local(b)?)));
        let mut cache = ContactCache::new(state.cache.settings());
        cache.begin();
        for entry in state.cache.entries() {
            let slot = |bits: u64| (bits >> 32) as u32;
            if let Some((a, b)) = both(slot(entry.pair.a), slot(entry.pair.b)) {
                cache.push((a.to_bits(), b.to_bits()), entry.feature, entry.impulse);
            }
        }
        cache.finish();
        let ignored = state.ignored.iter();
        let ignored = ignored.filter_map(|(a, b)| both(a.index, b.index));
        let forces = own.iter().map(|index| {
            let body = bodies[*index as usize].value.as_ref();
            body.map_or((Vec3::ZERO, Vec3::ZERO), |b| (b.force, b.torque))
        });
        let forces = forces.collect();
        let kept = whole.detection.kept(state);
        let kept = kept.filter_map(|kept| {
            let (a, b) = kept.pair();
            let (a, b) = both(a, b)?;
            Some(kept.of(a, b))
        });
        let kept = kept.collect();
        let mut settings = state.settings;
        (settings.sleeping, settings.ordered_impacts) = (None, 0);
        let mut world = World::from_state(WorldState {
            settings,
            steps: 0,
            time: 0.0,
            last_dt: state.last_dt,
            trials_until: state.trials_until.saturating_sub(state.steps),
            bodies,
            free_bodies: Vec::new(),
            joints,
            free_joints: Vec::new(),
            cache,
            contacts: Vec::new(),
            ignored: ignored.collect(),
            sensor_events: Vec::new(),
            kept,
            sleepers: Sleepers::default(),
            edited: Vec::new(),
        });
        world.solver = whole.solver.fork();
        Self {
            world,
            slots,
            members: own,
            joints: joint_slots,
            live,
            forces,
            work: 0,
            dearest: 0,
        }
    }

    fn run(&mut self, whole: &World, dt: f64, allowance: Allowance) -> Option<Course> {
        self.dearest = allowance.part;
        let mut covers = vec![Aabb::EMPTY; self.members.len()];
        let mut contacts = Sums::default();
        let mut woken = Vec::new();
        let mut joints: Vec<_> = self.joints.iter().map(|slot| (*slot, [0.0; 3])).collect();
        let (mut worst, mut guarded) = (None, false);
        let (mut left, mut parts, mut impacts, mut stopped) = (dt, 0, 0, 0);
        let (mut struck, mut hurried) = (false, false);
        while left > 0.0 {
            parts += 1;
            self.push();
            let before = self.work;
            let part = if parts < MOST_PARTS && impacts < MOST_IMPACTS {
                self.part(left, dt * STRIKE, &allowance)
            } else {
                None
            };
            hurried |= part.is_none();
            if parts == 1 && hurried {
                return None;
            }
            let part = part.unwrap_or(Part::flight(left));
            impacts += usize::from(part.strikes);
            // An impulse of a strike is none of a longer part, however it is scaled: sweeps that begin
            // with it would leave its energy in what they do not finish.
            let last = &mut self.world.state.last_dt;
            *last = if struck { 0.0 } else { last.max(part.duration) };
            struck = part.strikes;
            let part = part.duration;
            let starts: Vec<_> = self
                .members
                .iter()
                .map(|i| self.body(*i).cloned())
                .collect();
            let report = self.world.step(part).ok()?;
            let islands = self.world.island_reports.iter();
            let solves = islands.map(|island| solve_work(island.contact_points, &island.solve));
            let world = &self.world;
            let (pairs, parts) = world.detection.counts(&world.state, |_| true);
            self.work += look_work(pairs, parts) + solves.sum::<u64>();
            self.dearest = self.dearest.max(self.work - before);
            // Legs are as many as the body turns, in however many parts.
            self.work += report.leg_work;
            for ((member, before), cover) in self.members.iter().zip(&starts).zip(&mut covers) {
                if let (Some(before), Some(after)) = (before, self.body(*member)) {
                    let spin = after.velocity.angular.length();
                    *cover = cover.union(&cover_of(before, &after.pose(), spin, part));
                }
            }
            for contact in &self.world.state.contacts {
                self.add_contact(whole, contact, &mut contacts, &mut woken);
            }
            for (joint, sum) in self.world.state.joints.iter().zip(&mut joints) {
                let impulses = joint.value.map_or([0.0; 3], |j| j.impulses);
                for (sum, impulse) in sum.1.iter_mut().zip(impulses) {
                    *sum += impulse;
                }
            }
            for island in &self.world.island_reports {
                add_solve(&mut worst, (island.solve, island.solver));
                guarded |= island.guarded;
            }
            stopped += report.stopped_bodies;
            left = if part < left { left - part } else { 0.0 };
        }
        let (mut solve, solver) = worst.unwrap_or((SolveReport::empty(), IslandSolver::default()));
        // Its index is that of a part.
        solve.worst_contact = None;
        let ends = self
            .members
            .iter()
            .zip(covers)
            .filter_map(|(member, cover)| {
                let body = self.body(*member)?;
                Some(End {
                    slot: self.slots[*member as usize],
                    center: body.center,
                    rotation: body.rotation,
                    velocity: body.velocity,
                    cover,
                })
            });
        let ends: Vec<End> = ends.collect();
        let around = ends
            .iter()
            .fold(Aabb::EMPTY, |all, end| all.union(&end.cover));
        Some(Course {
            around,
            ends,
            contacts: contacts.into_contacts(),
            joints,
            solve,
            solver,
            guarded,
            impacts,
            stopped,
            woken,
            hurried,
        })
    }

    fn body(&self, index: u32) -> Option<&crate::body::BodyState> {
        self.world.state.bodies[index as usize].value.as_ref()
    }

    /// Sets the forces of the step again, which a part has used up.
    fn push(&mut self) {
        for (member, (force, torque)) in self.members.iter().zip(&self.forces) {
            if let Some(body) = &mut self.world.state.bodies[*member as usize].value {
                (body.force, body.torque) = (*force, *torque);
            }
        }
    }

    /// The next part of the `left` (s): the flight to shortly before the next impact of a live body, or
    /// the impact itself, which lasts for `strike` (s). So nothing that the impact sends off meets
    /// anything in its own part, and the impact has the normal of the moment at which it happens.
    ///
    /// `None` where the impacts in sight would make all of it cost more than it may.
    fn part(&mut self, left: f64, strike: f64, allowance: &Allowance) -> Option<Part> {
        let (impacts, work) = self.world.next_meetings(&self.live, left);
        self.work += work;
        let live = |i: &&Meeting| self.live[i.a as usize] || self.live[i.b as usize];
        let alive = || impacts.iter().filter(live);
        let Some(safe) = alive().map(|i| i.safe).reduce(f64::min) else {
            return Some(Part::flight(left));
        };
        let turning = self.members.iter().filter_map(|member| self.body(*member));
        let turning = turning.map(|body| least_leg_work(body, body.velocity.angular, left));
        let cost = (self.work.saturating_add(turning.sum()), self.dearest);
        if !allowance.covers(&impacts, |slot| self.live[slot as usize], strike, cost) {
            return None;
        }
        let room = left - strike;
        if safe > 0.5 * strike && room > 0.0 {
            return Some(Part::flight(safe.min(room)));
        }
        let duration = if room > 0.0 { strike } else { left };
        let strikes = alive().any(|i| i.time <= duration);
        // What was struck strikes on.
        let due = impacts.iter().filter(|i| i.time <= duration);
        let due: Vec<_> = due.flat_map(|i| [(i.a, i.b), (i.b, i.a)]).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for (from, to) in due.iter().map(|(from, to)| (*from as usize, *to)) {
                let moves = self.body(to).is_some_and(|body| body.is_dynamic());
                if self.live[from] && moves && !self.live[to as usize] {
                    self.live[to as usize] = true;
                    changed = true;
                }
            }
        }
        Some(Part { duration, strikes })
    }

    /// Adds a contact of a part, in the whole world's ids.
    fn add_contact(
        &self,
        whole: &World,
        contact: &Contact,
        contacts: &mut Sums,
        woken: &mut Vec<u32>,
    ) {
        let id = |local: BodyId| {
            let index = self.slots[local.index as usize];
            let slot = &whole.state.bodies[index as usize];
            if let Some(body) = slot.value.as_ref().filter(|_| contact.impulse.x > 0.0) {
                woken.extend(body.rest.island());
            }
            BodyId {
                index,
                generation: slot.generation,
            }
        };
        let [a, b] = [contact.a, contact.b].map(id);
        contacts.add(Contact { a, b, ..*contact });
    }
}

/// Adds the solve of an island of a part to `worst`: the worst answer of all parts counts and names the
/// solver, one that is not certified before all that are; the residual is the largest, work is summed.
fn add_solve(
    worst: &mut Option<(SolveReport, IslandSolver)>,
    (solve, solver): (SolveReport, IslandSolver),
) {
    let Some((sum, named)) = worst else {
        *worst = Some((solve, solver));
        return;
    };
    let rank = |report: &SolveReport| (!report.converged(), report.residual);
    let mut next = if rank(&solve) > rank(sum) {
        *named = solver;
        solve
    } else {
        *sum
    };
    next.residual = sum.residual.max(solve.residual);
    next.sweeps = sum.sweeps + solve.sweeps;
    next.factorizations = sum.factorizations + solve.factorizations;
    *sum = next;
}

#[cfg(test)]
mod tests {
    use super::*;
    use moreau_solver::StopReason;

    /// Whatever the order of parts and islands, what is said of all is the worst of them.
    #[test]
    fn worst_solve_counts_in_any_order() {
        let of = |stop, residual, sweeps| SolveReport {
            stop,
            residual,
            sweeps,
            factorizations: 1,
            worst_contact: None,
        };
        let solves = [
            (of(StopReason::Converged, 1e-12, 1), IslandSolver::Simd),
            (of(StopReason::Stalled, 1e-6, 2), IslandSolver::Newton),
            (of(StopReason::Stalled, 1e-3, 4), IslandSolver::Pgs),
            (of(StopReason::Converged, 1e-2, 8), IslandSolver::Block),
        ];
        for first in 0..4 {
            for second in (0..4).filter(|i| *i != first) {
                let mut order = vec![first, second];
                order.extend((0..4).filter(|i| *i != first && *i != second));
                let mut worst = None;
                for i in &order {
                    add_solve(&mut worst, solves[*i]);
                }
                let (solve, solver) = worst.expect("four were added");
                assert_eq!(solve.stop, StopReason::Stalled, "{order:?}");
                assert_eq!(solve.residual, 1e-2, "{order:?}");
                assert_eq!((solve.sweeps, solve.factorizations), (15, 4), "{order:?}");
                assert!(
                    solver == IslandSolver::Pgs || solver == IslandSolver::Newton,
                    "{order:?}"
                );
            }
        }
        // Of two that are not certified the worse one names the solver.
        for order in [[1, 2], [2, 1]] {
            let mut worst = None;
            for i in order {
                add_solve(&mut worst, solves[i]);
            }
            assert_eq!(worst.map(|(_, solver)| solver), Some(IslandSolver::Pgs));
        }
    }
}
