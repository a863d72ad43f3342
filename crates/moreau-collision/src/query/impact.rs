//! When two moving shapes meet: conservative advancement with a bound that becomes exact.
//!
//! A shape moves with the constant velocity v of its point c and turns about it with the constant
//! angular velocity w: x(t) = c + v t + R(t) r. At the time t the shapes are s > 0 apart along the
//! unit vector n from A to B. How far they are apart along the same n after a further time tau follows
//! from the support functions h(d) = max d·r:
//!
//! ```text
//! n·R(tau) r      <= n·r + tau n·(w x r) + tau² |w|² rho / 2           rho = max |r|
//! max over r of it = h(n + tau n x w) + tau² |w|² rho / 2
//!
//! s(t + tau) >= f(tau) = n·(c_b - c_a) + tau n·(v_b - v_a)
//!                        - h_A(n + tau n x w_a) - h_B(-n - tau n x w_b) - tau² (W_a + W_b) / 2
//! ```
//!
//! f is concave (h is convex) and f(0) = s, so wherever f(tau) >= 0 the shapes are apart in all of
//! [t, t + tau]. Its root is the next t. The slope of f at 0 is the true closing speed of the points
//! that are nearest, so the steps converge quadratically where the shapes approach at a finite speed.
//! Shapes that are not convex have no such n; they are apart for s over the greatest speed of a point,
//! which converges linearly.
//! (Conservative advancement: Mirtich 1996; the concave bound replaces the usual constant one.)

use super::error::{QueryError, finite, limit};
use super::pieces::distance;
use crate::{ClosestPoints, Shape};
use moreau_math::{Pose, Vec3, Velocity, integrate_rotation, vec3};

/// How a shape moves: from `pose` on, with constant velocities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// At time 0.
    pub pose: Pose,
    /// The point about which it turns and that has the linear velocity, shape's frame, m. For a free
    /// body its centre of mass.
    pub center: Vec3,
    /// World frame.
    pub velocity: Velocity,
}

/// Knobs of [`time_of_impact`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImpactSettings {
    /// Separation at which the shapes count as having met, m. Default 0. Negative: they may overlap by
    /// that; positive: they keep that distance.
    pub target: f64,
    /// Gap at which the shapes count as having met, as a part of the smaller one's size. Default 1e-9.
    /// The time is as exact as that gap over the closing speed. Below about 1e-12 nothing is gained.
    pub tolerance: f64,
    /// Steps after which the pair counts as meeting where it then is. Default 10,000. A handful
    /// suffices, but for shapes that turn for long next to each other: about one for each angle of
    /// sqrt(gap/size).
    pub max_steps: u32,
}

impl Default for ImpactSettings {
    fn default() -> Self {
        Self {
            target: 0.0,
            tolerance: 1e-9,
            max_steps: 10_000,
        }
    }
}

/// Where two moving shapes meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// s after the start.
    pub time: f64,
    /// On the surface of A at that time, world frame, m.
    pub point_a: Vec3,
    /// On the surface of B at that time, world frame, m.
    pub point_b: Vec3,
    /// Unit, from A to B.
    pub normal: Vec3,
    /// m; within the tolerance of the target, or below it where it was so at the start.
    pub separation: f64,
    /// Steps that it took.
    pub steps: u32,
}

impl Motion {
    /// Stays at `pose`.
    pub fn still(pose: Pose) -> Self {
        Self::along(pose, Vec3::ZERO)
    }

    /// Moves without turning, m/s.
    pub fn along(pose: Pose, velocity: Vec3) -> Self {
        Self {
            pose,
            center: Vec3::ZERO,
            velocity: Velocity::new(velocity, Vec3::ZERO),
        }
    }

    /// The pose at the time `t`, s.
    pub fn at(&self, t: f64) -> Pose {
        if t == 0.0 || self.velocity == Velocity::ZERO {
            return self.pose;
        }
        let v = self.velocity;
        if v.angular == Vec3::ZERO {
            return Pose::new(self.pose.translation + v.linear * t, self.pose.rotation);
        }
        let center = self.pose.transform_point(self.center) + v.linear * t;
        let rotation = integrate_rotation(self.pose.rotation, v.angular, t);
        Pose::new(center - rotation * self.center, rotation)
    }

    fn checked(&self) -> Result<(), QueryError> {
        if !self.pose.is_finite() {
            let value = format!("{:?}", self.pose);
            return Err(QueryError::NotFinite {
                field: "pose",
                value,
            });
        }
        finite("center", self.center)?;
        finite("velocity.linear", self.velocity.linear)?;
        finite("velocity.angular", self.velocity.angular)?;
        Ok(())
    }

    fn moved(&self, by: Vec3) -> Self {
        let pose = Pose::new(self.pose.translation + by, self.pose.rotation);
        Self { pose, ..*self }
    }
}

/// When the shapes first touch within `duration` (s; infinite is allowed where neither turns); None
/// where they do not. Shapes that touch or overlap at the start meet at 0, whichever way they move.
///
/// Before the time returned they do not touch, which is certain and not sampled.
///
/// # Errors
/// Where a number is not finite, the duration is negative or infinite for turning shapes, a shape is
/// not usable, or a half-space turns.
pub fn time_of_impact(
    a: &Shape,
    motion_a: &Motion,
    b: &Shape,
    motion_b: &Motion,
    duration: f64,
    settings: &ImpactSettings,
) -> Result<Option<Impact>, QueryError> {
    for (shape, motion) in [(a, motion_a), (b, motion_b)] {
        shape.validate()?;
        motion.checked()?;
        if !shape.is_bounded() && motion.velocity.angular != Vec3::ZERO {
            return Err(QueryError::TurningHalfSpace);
        }
    }
    limit("duration", duration)?;
    limit("tolerance", settings.tolerance)?;
    if !settings.target.is_finite() {
        let (field, value) = ("target", settings.target.to_string());
        return Err(QueryError::NotFinite { field, value });
    }
    let turning = [motion_a, motion_b]
        .iter()
        .any(|m| m.velocity.angular != Vec3::ZERO);
    if turning && duration.is_infinite() {
        return Err(QueryError::OutOfRange {
            field: "duration",
            value: duration,
            allowed: "finite for shapes that turn",
        });
    }
    // Near the origin, so that nothing is lost far from the world's.
    let home = if a.is_bounded() { motion_a } else { motion_b }
        .pose
        .translation;
    let pair = [
        Mover::new(a, motion_a.moved(-home)),
        Mover::new(b, motion_b.moved(-home)),
    ];
    Ok(advance(&pair, duration, settings).map(|impact| Impact {
        point_a: impact.point_a + home,
        point_b: impact.point_b + home,
        ..impact
    }))
}

/// When `shape`, moved from `pose` with `velocity` (m/s) and not turned, first touches the `target`
/// at rest at `target_pose`: a [`time_of_impact`] with the target as A, so that the normal points out
/// of it. The velocity may be a displacement: the time is then the part of it.
///
/// # Errors
/// As [`time_of_impact`].
pub fn cast_shape(
    shape: &Shape,
    pose: &Pose,
    velocity: Vec3,
    target: &Shape,
    target_pose: &Pose,
    duration: f64,
) -> Result<Option<Impact>, QueryError> {
    let moving = Motion::along(*pose, velocity);
    let still = Motion::still(*target_pose);
    let settings = ImpactSettings::default();
    time_of_impact(target, &still, shape, &moving, duration, &settings)
}

/// A shape on its way.
struct Mover<'a> {
    shape: &'a Shape,
    motion: Motion,
    /// |w|² rho, m/s².
    swing: f64,
}

impl<'a> Mover<'a> {
    fn new(shape: &'a Shape, motion: Motion) -> Self {
        let w = motion.velocity.angular;
        let swing = if w == Vec3::ZERO {
            0.0
        } else {
            let core = match shape {
                Shape::Sphere { .. } => 0.0,
                Shape::Capsule { half_height, .. } => *half_height,
                _ => shape.bounding_radius(),
            };
            w.length_squared() * (core + motion.center.length())
        };
        Self {
            shape,
            motion,
            swing,
        }
    }

    /// The point of the core furthest along `direction` at `pose`, relative to the centre. The radius
    /// of balls and capsules, which no turn changes, is left out. A half-space, which does not turn, is
    /// only asked along its normal.
    fn support(&self, pose: &Pose, direction: Vec3) -> Vec3 {
        let local = pose.inverse_transform_vector(direction);
        let point = match self.shape {
            Shape::Sphere { .. } => Vec3::ZERO,
            Shape::Capsule { half_height, .. } => vec3(0.0, half_height.copysign(local.y), 0.0),
            shape => shape.support(local).unwrap_or(Vec3::ZERO),
        };
        pose.transform_vector(point - self.motion.center)
    }
}

fn advance(pair: &[Mover<'_>; 2], duration: f64, settings: &ImpactSettings) -> Option<Impact> {
    let size = pair
        .iter()
        .map(|m| m.shape.bounding_radius())
        .fold(f64::INFINITY, f64::min);
    let gap = settings.tolerance * size;
    let is_convex = pair.iter().all(|m| m.shape.is_convex());
    let fastest = (!is_convex).then(|| fastest(pair));
    let mut time = 0.0;
    let mut steps = 0;
    loop {
        let poses = [pair[0].motion.at(time), pair[1].motion.at(time)];
        let near = distance(pair[0].shape, &poses[0], pair[1].shape, &poses[1])?;
        steps += 1;
        if near.separation <= settings.target + gap || steps > settings.max_steps {
            return Some(impact(time, &near, steps));
        }
        let rest = duration - time;
        let clear = match fastest {
            None => Bound::new(pair, &poses, &near, settings.target).clear_for(rest),
            Some(speed) => (near.separation - settings.target) / speed,
        };
        if clear >= rest {
            return None;
        }
        if time + clear <= time {
            return Some(impact(time, &near, steps));
        }
        time += clear;
    }
}

/// Greatest speed at which a point of one can come near to a point of the other, m/s.
fn fastest([a, b]: &[Mover<'_>; 2]) -> f64 {
    let turn = |m: &Mover<'_>| {
        let w = m.motion.velocity.angular.length();
        if w == 0.0 {
            return 0.0;
        }
        w * (m.shape.bounding_radius() + m.motion.center.length())
    };
    let linear = b.motion.velocity.linear - a.motion.velocity.linear;
    linear.length() + turn(a) + turn(b)
}

fn impact(time: f64, near: &ClosestPoints, steps: u32) -> Impact {
    Impact {
        time,
        point_a: near.point_a,
        point_b: near.point_b,
        normal: near.normal,
        separation: near.separation,
        steps,
    }
}

/// f of the formula above, at one time.
struct Bound<'a> {
    pair: &'a [Mover<'a>; 2],
    poses: &'a [Pose; 2],
    normal: Vec3,
    /// n x w of A and B.
    turns: [Vec3; 2],
    /// n·(v_b - v_a).
    speed: f64,
    swing: f64,
    separation: f64,
    /// n·r of the supports at tau = 0.
    reach: [f64; 2],
}

impl<'a> Bound<'a> {
    fn new(
        pair: &'a [Mover<'a>; 2],
        poses: &'a [Pose; 2],
        near: &ClosestPoints,
        target: f64,
    ) -> Self {
        let n = near.normal;
        let [a, b] = [0, 1].map(|i| pair[i].motion.velocity);
        let reach = [
            n.dot(pair[0].support(&poses[0], n)),
            n.dot(pair[1].support(&poses[1], -n)),
        ];
        Self {
            pair,
            poses,
            normal: n,
            turns: [n.cross(a.angular), n.cross(b.angular)],
            speed: n.dot(b.linear - a.linear),
            swing: pair[0].swing + pair[1].swing,
            separation: near.separation - target,
            reach,
        }
    }

    /// f and its slope.
    fn at(&self, tau: f64) -> (f64, f64) {
        let mut value = self.separation + tau * self.speed - 0.5 * self.swing * tau * tau;
        let mut slope = self.speed - self.swing * tau;
        for (side, sign) in [(0, 1.0), (1, -1.0)] {
            let turn = self.turns[side];
            if turn == Vec3::ZERO {
                continue;
            }
            let direction = self.normal + turn * tau;
            let arm = self.pair[side].support(&self.poses[side], direction * sign);
            value -= sign * (direction.dot(arm) - self.reach[side]);
            slope -= sign * turn.dot(arm);
        }
        (value, slope)
    }

    /// A time, as long as possible and at most `rest`, for which f stays positive.
    fn clear_for(&self, rest: f64) -> f64 {
        // Part of the gap that a step may leave, and how far it stays short of the root for the rounding
        // of f.
        const CLOSE: f64 = 1e-4;
        const SHORT: f64 = 1e-5;
        let (start, slope) = self.at(0.0);
        if !(start > 0.0) {
            return 0.0;
        }
        // Chords lie below a concave function and tangents above, so they close in on the root from
        // both sides.
        let (mut low, mut high) = ((0.0, start, slope), rest);
        if rest.is_infinite() {
            // Nothing turns: f is a line.
            return if slope < 0.0 { start / -slope } else { rest };
        }
        for _ in 0..32 {
            if low.2 < 0.0 {
                high = high.min(low.0 + low.1 / -low.2);
            }
            let (value, _) = self.at(high);
            if value >= 0.0 {
                return high;
            }
            let chord = low.0 + (high - low.0) * (low.1 / (low.1 - value)) * (1.0 - SHORT);
            let (value, slope) = self.at(chord);
            if !(value > 0.0) {
                high = chord;
                continue;
            }
            if chord <= low.0 {
                break;
            }
            low = (chord, value, slope);
            if value <= CLOSE * start {
                break;
            }
        }
        low.0
    }
}
