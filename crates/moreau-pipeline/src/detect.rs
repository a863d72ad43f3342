//! Broad and narrow phase over the bodies of a world, and the contact points that follow.

mod found;

use crate::BodyKind;
use crate::activity::Activity;
use crate::body::BodyState;
use crate::contact::Contact;
use crate::profile::held;
use crate::recycle::{Kept, is_flat};
use crate::share::{SHARE, each_slot};
use crate::sweep::{self, Path, Reach};
use crate::wake::is_mover;
use crate::world::WorldState;
pub(crate) use found::Counts;
use found::{AllFound, Given, Keep};
use moreau_collision::{Aabb, BroadPhase, Shape};
use moreau_math::{Quat, Vec3, Velocity};
use rayon::prelude::*;
use std::ops::Range;

/// Boxes and manifolds. Follows from the world's state and carries none of its own: what it keeps
/// between steps only saves time.
#[derive(Default)]
pub(crate) struct Detection {
    broad_phase: BroadPhase,
    /// Slots whose box must be set again although their bodies do not move by themselves.
    touched: Vec<u32>,
    /// Pairs that a joint holds together or that were told apart, sorted.
    joined: Vec<(u32, u32)>,
    is_joined_fresh: bool,
    pairs: Vec<(u32, u32)>,
    /// Pairs of a sensor and a body that may meet in the step, sorted.
    pub(crate) sensor_pairs: Vec<(u32, u32)>,
    found: AllFound,
    /// The next list of kept manifolds.
    next_kept: Vec<Kept>,
    /// By slot; zero for bodies that do not move by themselves.
    reaches: Vec<Reach>,
    /// By slot; of all bodies where they are.
    bounds: Vec<Bound>,
    /// By slot; of the bodies that took part in the last search.
    swept: Vec<Swept>,
    /// Slots whose reach is not zero.
    movers: Vec<u32>,
    /// By slot: whether the body is where it was, and as it was, when points were listed last.
    stood: Vec<bool>,
}

/// Where a body can get in the step.
#[derive(Clone, Copy)]
struct Swept {
    reach: Reach,
    bound: Bound,
    aabb: Aabb,
    /// Where the body is.
    pose: (Vec3, Quat),
    /// Whether it was there before.
    stood: bool,
}

impl Default for Swept {
    fn default() -> Self {
        Self {
            reach: Reach::default(),
            bound: Bound::default(),
            aabb: Aabb::new(Vec3::ZERO, Vec3::ZERO),
            pose: (Vec3::NAN, Quat::IDENTITY),
            stood: false,
        }
    }
}

impl Swept {
    /// Two boxes that stay never meet, so growing the moving ones by the prediction distance is enough.
    fn set(&mut self, body: &BodyState, free: &Velocity, dt: f64, prediction: f64) {
        let path = Path::new(body, free);
        let shift = path.velocity.linear * dt;
        let reach = Reach::new(&path, dt);
        let aabb = aabb_of(body);
        let aabb = aabb.union(&Aabb::new(aabb.min + shift, aabb.max + shift));
        let pose = (body.center, body.rotation);
        *self = Self {
            reach,
            bound: Bound::of(body),
            aabb: aabb.enlarged(prediction + reach.turn),
            pose,
            stood: pose == self.pose,
        };
    }
}

/// A ball around a body, for a glance at pairs whose boxes overlap: of balls in a pile that are two of three which do not
/// touch.
#[derive(Clone, Copy, Debug)]
struct Bound {
    center: Vec3,
    /// m; infinite where manifolds are kept from step to step, even those without points, and for surfaces.
    radius: f64,
}

// Two are read for each pair.
const _: () = assert!(size_of::<Bound>() == 32);

impl Default for Bound {
    fn default() -> Self {
        Self {
            center: Vec3::ZERO,
            radius: f64::INFINITY,
        }
    }
}

impl Bound {
    /// More than rounding does to where shapes are.
    const ROOM: f64 = 1.001;

    fn of(body: &BodyState) -> Self {
        if !body.shape.is_convex() || is_flat(&body.shape) {
            return Self::default();
        }
        Self {
            center: body.center,
            radius: body.shape.bounding_radius() + body.mass.center_of_mass.length(),
        }
    }

    /// Whether two are surely further than `room` (m) from each other.
    fn is_apart(&self, other: &Self, room: f64) -> bool {
        let near = Self::ROOM * (self.radius + other.radius + room);
        self.center.distance_squared(other.center) > near * near
    }
}

impl Detection {
    pub(crate) fn rebuild(&mut self, state: &WorldState) {
        *self = Self::default();
        for (index, slot) in state.bodies.iter().enumerate() {
            if slot.value.is_some() {
                self.touch(index as u32);
            }
        }
    }

    /// What is held here: boxes and pairs, manifolds.
    pub(crate) fn bytes(&self) -> (usize, usize) {
        (
            self.broad_phase.bytes()
                + held(&self.touched)
                + held(&self.joined)
                + held(&self.pairs)
                + held(&self.sensor_pairs)
                + held(&self.reaches)
                + held(&self.bounds)
                + held(&self.swept)
                + held(&self.movers)
                + held(&self.stood),
            self.found.bytes() + held(&self.next_kept),
        )
    }

    /// A body was added or changed between steps.
    pub(crate) fn touch(&mut self, index: u32) {
        self.forget_found(index);
        self.touched.push(index);
    }

    /// The world's list of kept manifolds has changed.
    pub(crate) fn forget_kept(&mut self) {
        self.found.forget_kept();
    }

    /// What was found of a body before no longer holds.
    pub(crate) fn forget_found(&mut self, index: u32) {
        if let Some(stood) = self.stood.get_mut(index as usize) {
            *stood = false;
        }
    }

    /// What was found before no longer holds.
    pub(crate) fn forget_all_found(&mut self) {
        self.stood.fill(false);
    }

    /// A body was removed.
    pub(crate) fn remove(&mut self, index: u32) {
        self.broad_phase.remove(index);
        self.touched.retain(|t| *t != index);
    }

    /// Sets the boxes of the bodies that were touched and do not move: those of sleeping ones grown by
    /// the prediction distance.
    pub(crate) fn set_touched(&mut self, state: &WorldState) {
        self.bounds.resize(state.bodies.len(), Bound::default());
        self.stood.resize(state.bodies.len(), false);
        for index in self.touched.drain(..) {
            let Some(body) = &state.bodies[index as usize].value else {
                continue;
            };
            let asleep = body.rest.is_asleep();
            if body.kind == BodyKind::Static || asleep {
                let mut aabb = aabb_of(body);
                if asleep {
                    aabb = aabb.enlarged(state.settings.prediction_distance);
                }
                self.bounds[index as usize] = Bound::of(body);
                // Two fixed bodies need no contact, but a sensor that is fixed sees moving ones.
                self.broad_phase.set(index, aabb, !body.sensor);
            }
        }
    }

    /// Joints or ignored pairs have changed.
    pub(crate) fn forget_joined(&mut self) {
        self.is_joined_fresh = false;
    }

    /// Brings the list of pairs that do not collide up to date.
    pub(crate) fn join(&mut self, state: &WorldState) {
        if self.is_joined_fresh {
            return;
        }
        self.is_joined_fresh = true;
        self.joined.clear();
        for joint in state.joints.iter().filter_map(|slot| slot.value.as_ref()) {
            if !joint.joint.collide {
                let (a, b) = (joint.joint.a.index, joint.joint.b.index);
                self.joined.push((a.min(b), a.max(b)));
            }
        }
        for (a, b) in &state.ignored {
            self.joined.push((a.index, b.index));
        }
        self.joined.sort_unstable();
    }

    /// Finds the pairs whose boxes, grown by the prediction distance and along the motion of the
    /// step, overlap; returns how many.
    pub(crate) fn find_pairs(
        &mut self,
        (state, activity): (&WorldState, &Activity),
        free: &[Velocity],
        dt: f64,
        parallel: bool,
    ) -> usize {
        self.set_touched(state);
        let prediction = state.settings.prediction_distance;
        let sleepers = activity.sleeping.bodies > 0;
        let mut movers = false;
        for index in self.movers.drain(..) {
            self.reaches[index as usize] = Reach::default();
        }
        self.reaches.resize(state.bodies.len(), Reach::default());
        self.swept.resize(state.bodies.len(), Swept::default());
        self.movers.extend_from_slice(&activity.bodies);
        let parallel_boxes = parallel && self.movers.len() >= 2 * SHARE;
        each_slot(
            parallel_boxes,
            &self.movers,
            &mut self.swept,
            |_, slot, swept| {
                if let Some(body) = &state.bodies[slot].value {
                    swept.set(body, &free[slot], dt, prediction);
                }
            },
        );
        for &index in &self.movers {
            let Some(body) = &state.bodies[index as usize].value else {
                continue;
            };
            // Two fixed bodies need no contact, but a sensor that is fixed sees kinematic ones, and
            // a kinematic one wakes what it meets.
            let moves = sleepers && is_mover(body.kind, &body.velocity);
            movers |= moves;
            let fixed = !body.is_dynamic() && !body.sensor && !moves;
            let Swept {
                reach,
                bound,
                aabb,
                stood,
                ..
            } = self.swept[index as usize];
            self.stood[index as usize] &= stood;
            self.reaches[index as usize] = reach;
            self.bounds[index as usize] = bound;
            self.broad_phase.set(index, aabb, fixed);
        }
        self.broad_phase.pairs_by(&mut self.pairs, |work, shares| {
            if parallel && shares.len() > 1 {
                shares.par_iter_mut().for_each(|share| work.run(share));
            } else {
                shares.iter_mut().for_each(|share| work.run(share));
            }
        });
        self.sensor_pairs.clear();
        if movers {
            let matters = |index: u32| {
                let body = state.bodies[index as usize].value.as_ref();
                body.is_some_and(|b| b.is_dynamic() || b.sensor)
            };
            self.pairs.retain(|(a, b)| matters(*a) || matters(*b));
        }
        if activity.selective {
            self.filter_pairs(state);
        }

        // Bodies that a joint holds together need no contact.
        self.join(state);
        if !self.joined.is_empty() {
            let joined = &self.joined;
            self.pairs
                .retain(|pair| joined.binary_search(pair).is_err());
        }
        self.pairs.len()
    }

    /// Lets the box of a body grow over where it is about to go, until the next step sets it.
    pub(crate) fn stretch(&mut self, index: u32, over: &Aabb) {
        if let Some(aabb) = self.broad_phase.aabb(index) {
            self.broad_phase.set(index, aabb.union(over), false);
        }
    }

    /// The bodies whose boxes overlap that of a body, itself among them.
    pub(crate) fn near(&mut self, index: u32, near: &mut Vec<u32>) {
        near.clear();
        if let Some(aabb) = self.broad_phase.aabb(index) {
            self.broad_phase.query_aabb(&aabb, near);
        }
    }

    /// Pairs of the last search, sorted.
    pub(crate) fn pairs(&self) -> &[(u32, u32)] {
        &self.pairs
    }

    /// The bodies whose boxes overlap `aabb`.
    pub(crate) fn within(&mut self, aabb: &Aabb, near: &mut Vec<u32>) {
        self.broad_phase.query_aabb(aabb, near);
    }

    /// Whether two bodies collide at all.
    pub(crate) fn may_touch(&self, state: &WorldState, pair: (u32, u32)) -> bool {
        let body = |index: u32| state.bodies[index as usize].value.as_ref();
        let (Some(a), Some(b)) = (body(pair.0), body(pair.1)) else {
            return false;
        };
        !(a.sensor || b.sensor)
            && a.groups.meets(b.groups)
            && self.joined.binary_search(&pair).is_err()
    }

    /// Takes out pairs whose groups do not meet, and puts those of sensors apart.
    fn filter_pairs(&mut self, state: &WorldState) {
        let sensor_pairs = &mut self.sensor_pairs;
        self.pairs.retain(|&(a, b)| {
            let bodies = [a, b].map(|i| state.bodies[i as usize].value.as_ref());
            let [Some(first), Some(second)] = bodies else {
                return false;
            };
            if !first.groups.meets(second.groups) {
                return false;
            }
            match (first.sensor, second.sensor) {
                (false, false) => return true,
                (true, false) => sensor_pairs.push((a, b)),
                (false, true) => sensor_pairs.push((b, a)),
                (true, true) => {}
            }
            false
        });
        sensor_pairs.sort_unstable();
    }

    /// Lists the contact points of all pairs in the order (a, b, parts, feature).
    pub(crate) fn find_points(
        &mut self,
        state: &WorldState,
        (free, dt): (&[Velocity], f64),
        points: &mut Vec<Contact>,
        parallel: bool,
    ) -> Counts {
        let kept = self.found.kept_pairs(&state.kept);
        let given = Given {
            state,
            free,
            kept: &kept,
            reaches: &self.reaches,
            bounds: &self.bounds,
            stood: &self.stood,
            dt,
        };
        let counts = (self.found).fill(&given, &self.pairs, points, parallel);
        self.found.give_back(kept);
        self.stood.fill(true);
        counts
    }

    /// Of each pair that was found last and of which one body alone is dynamic, where its points are listed.
    pub(crate) fn mixed(&self) -> &[Range<usize>] {
        self.found.mixed()
    }

    /// Lists what to keep for the next step, sorted by pair. `kept` is the list that the manifolds were
    /// found with.
    pub(crate) fn list_kept(&mut self, kept: &mut Vec<Kept>) {
        // Of balls nothing is kept, and there may be many pairs.
        if self.found.keeps() == 0 {
            if !kept.is_empty() {
                kept.clear();
                self.found.forget_kept();
            }
            return;
        }
        let found = self.found.of(&self.pairs);
        let mut keeps = found.iter().filter(|f| !matches!(f.keep, Keep::Nothing));
        // While a pile lies still its pairs stay the same, and most of what is kept of them.
        let stays = keeps.clone().count() == kept.len() && keeps.all(|f| f.kept_before.is_some());
        if !stays {
            self.next_kept.clear();
        }
        for (pair, found) in found.iter().enumerate() {
            match (found.keep, found.kept_before) {
                (Keep::Anew(index), Some(before)) if stays => {
                    kept[before as usize] = *self.found.anew(pair, index);
                }
                (Keep::Anew(index), _) => self.next_kept.push(*self.found.anew(pair, index)),
                (Keep::Same, Some(before)) if !stays => self.next_kept.push(kept[before as usize]),
                _ => {}
            }
        }
        if !stays {
            std::mem::swap(kept, &mut self.next_kept);
            self.found.forget_kept();
        }
    }

    /// How many pairs of the last search have a body that `is_one`, and how often they were looked at beyond once
    /// each: for their other manifolds, and on the way of surfaces.
    pub(crate) fn counts(
        &self,
        state: &WorldState,
        is_one: impl Fn(u32) -> bool,
    ) -> (usize, usize) {
        let (mut pairs, mut more) = (0, 0);
        for (&(a, b), found) in self.pairs.iter().zip(self.found.of(&self.pairs)) {
            if !is_one(a) && !is_one(b) {
                continue;
            }
            pairs += 1;
            more += found.manifolds.saturating_sub(1) as usize;
            let body = |slot: u32| state.bodies[slot as usize].value.as_ref();
            if let (Some(body_a), Some(body_b)) = (body(a), body(b)) {
                let reach = |index: u32| &self.reaches[index as usize];
                let reach = reach(a).towards(reach(b));
                more += sweep::looks(&body_a.shape, &body_b.shape, reach);
            }
        }
        (pairs, more)
    }

    /// What the next step will keep of the pairs that were found last, sorted by pair; `state` is that which they
    /// were found with.
    pub(crate) fn kept<'a>(&'a self, state: &'a WorldState) -> impl Iterator<Item = &'a Kept> {
        let found = self.found.of(&self.pairs).iter().enumerate();
        found.filter_map(|(pair, found)| match found.keep {
            Keep::Nothing => None,
            Keep::Anew(index) => Some(self.found.anew(pair, index)),
            Keep::Same => Some(&state.kept[found.kept_before? as usize]),
        })
    }
}

/// The box of a body where it is.
fn aabb_of(body: &BodyState) -> Aabb {
    let aabb = body.shape.aabb(&body.pose());
    if let Shape::Heightfield(_) = body.shape {
        // What a fast flight has taken below the ground is still found.
        let down = body.rotation * Vec3::NEG_Y * body.shape.bounding_radius();
        return aabb.union(&Aabb::new(aabb.min + down, aabb.max + down));
    }
    aabb
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::Found;
    use crate::{Body, BodyId};
    use moreau_math::{Pose, Quat, vec3};

    /// Two shapes of which no manifold is kept, that go and turn through a step past each other.
    #[test]
    fn what_is_apart_has_no_contact() {
        let part = |k: usize| (k * 7919 % 10_007) as f64 / 10_007.0 - 0.5;
        let vector = |k: usize| vec3(part(k), part(k + 17), part(k + 31));
        let id = BodyId {
            index: 0,
            generation: 0,
        };
        let body = |k: usize| {
            let (half_height, radius) = (0.6 + part(k), 0.6 + part(k + 1));
            let shape = match k % 4 {
                0 => Shape::Sphere { radius },
                1 => Shape::Capsule {
                    half_height,
                    radius,
                },
                2 => Shape::Cylinder {
                    half_height,
                    radius,
                },
                _ => Shape::Cone {
                    half_height,
                    radius,
                },
            };
            let turn = Quat::from_scaled_axis(3.0 * vector(k + 5));
            let mut body = Body::dynamic(shape);
            body.pose = Pose::new(1000.0 * vector(k / 4) + 3.0 * vector(k + 7), turn);
            let mut body = BodyState::new(body, id).unwrap();
            body.velocity = Velocity::new(20.0 * vector(k + 2), 20.0 * vector(k + 3));
            body
        };
        let (prediction, dt) = (0.02, 1.0 / 60.0);
        let mut counts = [0; 2];
        let mut found: Vec<Found> = Vec::new();
        for k in 0..40_000 {
            // The second one is near the first.
            let (a, mut b) = (body(8 * k), body(8 * k + 1 + k % 4));
            let start = a.center + 4.0 * vector(11 * k);
            b.center = start;
            let free = [a.velocity, b.velocity * 0.9];
            let paths = (Path::new(&a, &free[0]), Path::new(&b, &free[1]));
            let reaches = (Reach::new(&paths.0, dt), Reach::new(&paths.1, dt));
            sweep::find(
                (&paths.0, &paths.1),
                (&reaches.0, &reaches.1),
                (prediction, dt),
                &[],
                &mut found,
            );
            let touches = found.iter().any(|found| !found.manifold.is_empty());
            let room = prediction + reaches.0.all() + reaches.1.all();
            let apart = Bound::of(&a).is_apart(&Bound::of(&b), room);
            assert!(!(apart && touches), "{k}");
            counts[0] += usize::from(apart);
            counts[1] += usize::from(touches);
        }
        assert!(counts.iter().all(|count| *count > 5000), "{counts:?}");
    }

    #[test]
    fn bodies_whose_manifolds_are_kept_are_looked_at() {
        let id = BodyId {
            index: 0,
            generation: 0,
        };
        let cuboid = Shape::Cuboid {
            half_extents: Vec3::ONE,
        };
        let of = |shape: Shape, at: Vec3| {
            let mut body = Body::dynamic(shape);
            body.pose = Pose::new(at, Quat::IDENTITY);
            Bound::of(&BodyState::new(body, id).unwrap())
        };
        let ball = Shape::Sphere { radius: 1.0 };
        let (near, far) = (of(ball.clone(), Vec3::ZERO), of(ball, 5.0 * Vec3::X));
        assert!(near.is_apart(&far, 2.9) && !near.is_apart(&far, 3.1));
        assert!(!near.is_apart(&of(cuboid, 100.0 * Vec3::X), 0.0));
    }
}
