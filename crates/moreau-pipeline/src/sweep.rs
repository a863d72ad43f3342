//! Contacts that the motion of one step makes: bodies that are apart at its start and would be
//! inside each other at its end.
//!
//! Conservative advancement along the free motion: the pair is moved to the time at which the
//! nearest of its points would close, collided again there, and so on, until the surfaces meet or
//! the step ends. What is reported is the manifold where they meet, so that its normal and its points
//! are those of the impact and not of the start; its separations are traced back to the start along
//! the normal, phi = separation - t u_n, so that the law of an open contact, u_n + phi/h >= 0, stops
//! the bodies at the surface.

mod composite;

use crate::body::BodyState;
use moreau_collision::{CollideSettings, Manifold, Shape, collide, collide_holding, collide_parts};
use moreau_math::{Pose, Vec3, Velocity, integrate_rotation};

/// A body on its free path through a step.
#[derive(Clone, Copy)]
pub(crate) struct Path<'a> {
    pub(crate) body: &'a BodyState,
    /// Mean of the velocities before and after the step's forces.
    pub(crate) velocity: Velocity,
}

impl<'a> Path<'a> {
    pub(crate) fn new(body: &'a BodyState, free: &Velocity) -> Self {
        let velocity = (body.velocity + *free) * 0.5;
        Self { body, velocity }
    }

    /// Centre of mass and frame at the time `t` (s) after the start.
    pub(crate) fn at(&self, t: f64) -> (Vec3, Pose) {
        if t == 0.0 || self.velocity == Velocity::ZERO {
            return (self.body.center, self.body.pose());
        }
        let center = self.body.center + self.velocity.linear * t;
        let rotation = integrate_rotation(self.body.rotation, self.velocity.angular, t);
        let origin = center - rotation * self.body.mass.center_of_mass;
        (center, Pose::new(origin, rotation))
    }

    /// How far any of its points can come in `dt`, relative to its centre of mass and with it, m.
    pub(crate) fn reach(&self, dt: f64) -> f64 {
        let shift = self.velocity.linear.length() * dt;
        if self.velocity.angular == Vec3::ZERO {
            return shift;
        }
        let radius = self.body.shape.bounding_radius() + self.body.mass.center_of_mass.length();
        let turn = (self.velocity.angular.length() * dt).min(2.0);
        shift + turn * radius
    }
}

/// How far any point of a body can come in a step, m.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Reach {
    all: f64,
    /// By turning alone.
    pub(crate) turn: f64,
}

impl Reach {
    pub(crate) fn new(path: &Path<'_>, dt: f64) -> Self {
        let all = path.reach(dt);
        let turn = all - path.velocity.linear.length() * dt;
        Self { all, turn }
    }

    /// Of a body by itself, m.
    pub(crate) fn all(&self) -> f64 {
        self.all
    }

    /// How far two can come towards each other. Either body may be stopped by a third, so the faster
    /// one's way counts, not the relative one.
    pub(crate) fn towards(&self, other: &Self) -> f64 {
        self.all.max(other.all) + self.turn.min(other.turn)
    }
}

/// A manifold and the time after the start of the step (s) at which the bodies are where it was
/// found; 0 for bodies that are within the prediction distance from the start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    pub(crate) manifold: Manifold,
    pub(crate) time: f64,
}

/// Gap (m) at which surfaces count as having met.
const MEETING_GAP: f64 = 1e-4;
const ADVANCES: u32 = 24;

impl Found {
    /// The content of `found`, replaced by one without points. (In the place of the last one: it is large to
    /// write.)
    pub(crate) fn only(found: &mut Vec<Self>) -> &mut Self {
        found.truncate(1);
        if found.is_empty() {
            found.push(Self::default());
        }
        let only = &mut found[0];
        only.manifold.clear();
        only.time = 0.0;
        only
    }
}

/// Replaces the content of `found` by the contacts of a pair whose bodies move along `a` and `b` for
/// `dt` (s) and reach so far in it, in the order of their parts. Each part of a pair is followed on its own. Of two convex shapes the corners at the points `held` (as [`poses`] places them) are
/// kept before others, and one manifold is there in any case, which may have no points.
pub(crate) fn find(
    (a, b): (&Path<'_>, &Path<'_>),
    reaches: (&Reach, &Reach),
    (prediction, dt): (f64, f64),
    held: &[Vec3],
    found: &mut Vec<Found>,
) {
    let settings = CollideSettings {
        prediction: prediction + reaches.0.towards(reaches.1),
    };
    if a.body.shape.is_convex() && b.body.shape.is_convex() {
        let pair = Pair { a, b, part: None };
        let only = Found::only(found);
        let (near, far) = poses(a, b, 0.0);
        let (first, second) = ((&a.body.shape, &near), (&b.body.shape, &far));
        collide_holding(first, second, &settings, held, &mut only.manifold);
        if !only.manifold.is_empty() {
            pair.follow(prediction, dt, &settings, only);
            return;
        }
        // Each comes half of the way: what counts is only whether they meet.
        let closing = (b.velocity.linear - a.velocity.linear).length();
        let way = closing * dt + reaches.0.turn + reaches.1.turn;
        let far = CollideSettings {
            prediction: prediction + way,
        };
        if far.prediction > settings.prediction {
            collide(
                first.0,
                first.1,
                second.0,
                second.1,
                &far,
                &mut only.manifold,
            );
            pair.follow(prediction, dt, &far, only);
            if only.time == 0.0 {
                only.manifold.clear();
            }
        }
        return;
    }
    found.clear();
    let mut manifolds = Vec::new();
    composite::at(a, b, 0.0, &settings, &mut manifolds);
    for manifold in manifolds {
        let part = Some(manifold.parts());
        let mut one = Found {
            manifold,
            time: 0.0,
        };
        Pair { a, b, part }.follow(prediction, dt, &settings, &mut one);
        if !one.manifold.is_empty() {
            found.push(one);
        }
    }
    composite::find_on_the_way(a, b, (prediction, dt), found);
}

/// How often about a pair of shapes that come `reach` (m) towards each other is looked at on its way; a look at a
/// ball counts as a quarter.
pub(crate) fn looks(a: &Shape, b: &Shape, reach: f64) -> usize {
    if a.is_convex() && b.is_convex() {
        return 0;
    }
    let is_ball = [a, b].iter().any(|s| matches!(s, Shape::Sphere { .. }));
    let looks = composite::looks(a, b, reach) as usize;
    if is_ball { looks / 4 } else { looks }
}

/// Two bodies, or a part of one and a part of the other.
struct Pair<'a> {
    a: &'a Path<'a>,
    b: &'a Path<'a>,
    part: Option<(u32, u32)>,
}

impl Pair<'_> {
    /// From what is `found` at the start of the step to what the step's motion makes of it.
    fn follow(&self, prediction: f64, dt: f64, settings: &CollideSettings, found: &mut Found) {
        match found.manifold.min_separation() {
            // Only the motion can make this contact.
            Some(gap) if gap > prediction => self.follow_apart((gap, dt), settings, found),
            _ => {}
        }
    }

    /// The same of what is apart by `gap` (m), more than the prediction distance.
    fn follow_apart(&self, (gap, dt): (f64, f64), settings: &CollideSettings, found: &mut Found) {
        let (a, b) = (self.a, self.b);
        let at_start = *found;
        if self.advance((gap, dt), settings, found) {
            return;
        }
        // The free paths pass by. The contact at the start stays as a guard for the case that a third
        // body changes them, unless its plane, which has no edges, would stop bodies that miss.
        *found = at_start;
        let normal = found.manifold.normal();
        let crosses = points(a, b, found).any(|(lever_a, lever_b, separation)| {
            let speed = normal.dot(b.velocity.at(lever_b) - a.velocity.at(lever_a));
            separation + dt * speed < 0.0
        });
        if crosses {
            found.manifold.clear();
        }
    }

    /// Moves the pair to where it meets; false where it does not within the step.
    fn advance(
        &self,
        (mut gap, dt): (f64, f64),
        settings: &CollideSettings,
        found: &mut Found,
    ) -> bool {
        let (a, b) = (self.a, self.b);
        // The last time at which they were seen apart, and one at which they are inside each other.
        let (mut apart, mut inside) = (found.time, None);
        for _ in 0..ADVANCES {
            found.time = match inside {
                Some(inside) => 0.5 * (apart + inside),
                None => match closing_time(a, b, found) {
                    Some(wait) => (found.time + wait).min(dt),
                    None => return false,
                },
            };
            self.collide_at(found.time, settings, &mut found.manifold);
            match found.manifold.min_separation() {
                // Turning bodies close faster than the first moment tells.
                Some(next) if next < -MEETING_GAP => inside = Some(found.time),
                Some(next) if next <= MEETING_GAP => return true,
                // Turning bodies can seem to back off for a while; that is no contact yet.
                Some(next) if found.time < dt => {
                    apart = found.time;
                    gap = next.min(gap);
                }
                None if inside.is_some() => apart = found.time,
                _ => return false,
            }
        }
        if inside.is_some() {
            // A normal that jumps where they meet leaves no moment at which they just touch.
            found.time = apart;
            self.collide_at(apart, settings, &mut found.manifold);
            return !found.manifold.is_empty();
        }
        // Grazing: so slow an approach that it may wait for the next step, unless it is close.
        gap <= 10.0 * MEETING_GAP
    }

    /// Collides in coordinates relative to A's origin, so that nothing is lost far from the world's.
    fn collide_at(&self, t: f64, settings: &CollideSettings, manifold: &mut Manifold) {
        let (near, far) = poses(self.a, self.b, t);
        let (a, b) = (&self.a.body.shape, &self.b.body.shape);
        let Some(parts) = self.part else {
            collide(a, &near, b, &far, settings, manifold);
            return;
        };
        let mut all = Vec::new();
        collide_parts((a, &near), (b, &far), parts, settings, &mut all);
        let nearest = all.into_iter().min_by(|m, n| {
            let gap = |m: &Manifold| m.min_separation().unwrap_or(f64::INFINITY);
            gap(m).total_cmp(&gap(n))
        });
        *manifold = nearest.unwrap_or_default();
    }
}

/// When the first point of the manifold closes if its velocity stays, s from `found.time`.
fn closing_time(a: &Path<'_>, b: &Path<'_>, found: &Found) -> Option<f64> {
    let normal = found.manifold.normal();
    let times = points(a, b, found).filter_map(|(lever_a, lever_b, separation)| {
        let speed = normal.dot(b.velocity.at(lever_b) - a.velocity.at(lever_a));
        (speed < 0.0).then(|| separation.max(0.0) / -speed)
    });
    times.reduce(f64::min)
}

/// Lever arms (m, world axes) and separation at the start of the step of each point.
pub(crate) fn points<'a>(
    a: &'a Path<'_>,
    b: &'a Path<'_>,
    found: &'a Found,
) -> impl Iterator<Item = (Vec3, Vec3, f64)> + 'a {
    let (center_a, pose_a) = a.at(found.time);
    let (center_b, _) = b.at(found.time);
    let arm_a = center_a - pose_a.translation;
    // Points are relative to A's origin.
    let arm_b = center_b - pose_a.translation;
    found
        .manifold
        .points()
        .iter()
        .map(move |p| (p.point_a - arm_a, p.point_b - arm_b, p.separation))
}

/// Both bodies' frames at the time `t`, relative to A's origin, so that nothing is lost far from the
/// world's.
pub(crate) fn poses(a: &Path<'_>, b: &Path<'_>, t: f64) -> (Pose, Pose) {
    let ((_, pose_a), (_, pose_b)) = (a.at(t), b.at(t));
    let near = Pose::new(Vec3::ZERO, pose_a.rotation);
    let far = Pose::new(pose_b.translation - pose_a.translation, pose_b.rotation);
    (near, far)
}
