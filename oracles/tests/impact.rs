//! Times of impact against Parry.
//!
//! Which of the two is right is decided with Parry's supports h and its projection of points, but
//! without its times. An answer t of ours with the normal n and the points p_a, p_b is right if
//!
//! - p_a lies in A and p_b in B at t, and they are no further apart than the tolerance: they touch;
//! - before t there is always a normal along which s(n) = -h_B(-n) - h_A(n) is positive: they did not
//!   touch before. Without rotation s along one n falls at the constant rate n·(v_b - v_a), and our n
//!   proves it for all times at once; turning shapes are looked at in 16 moments.
//!
//! "Never" is right if no moment is found where they touch. Without rotation the distance is a convex
//! function of time, and its least value is searched for; turning shapes are looked at in 64 moments.
//!
//! Where Parry answers otherwise by more than 1e-6 m, it is one of these, and counted:
//!
//! | Parry | why |
//! |---|---|
//! | early | its own supports are still apart at its time (checked); GJK takes round shapes as touching at the root of its tolerance |
//! | late | ours touch at our time; turning shapes: it halves the time to find a root of s(n) for a fixed n, which need not be the first; others: grazing, where a tolerance goes a long way |
//! | misses | as late: where that s(n) is positive again at the end, it gives up |
//! | invents | its shapes are apart all the time; does not happen |
//!
//! Differences as a way, the difference of times by the closing speed of the points that meet:
//!
//! | pair | bound | misses, late, early of those that meet |
//! |---|---|---|
//! | none turns | 1e-7 m for 99 %, 1e-5 m for all | none, 0.1 %, none |
//! | turning | 2e-8 m for half, 2e-6 m for 95 % | 0.5 %, 1.5 %, 1 % |
//!
//! `MOREAU_SWEEP=2800 cargo test --release -p moreau-oracles --test impact -- --nocapture` compares that
//! many of every pair, 100,800 of each kind of motion, and prints the differences.

mod common;

use common::{Both, KINDS, Random, pose, reach, shape, share, vector};
use moreau_collision::{Impact, ImpactSettings, Motion, closest_points, time_of_impact};
use moreau_math::{Pose, Vec3, Velocity};
use parry3d_f64::query::{self, NonlinearRigidMotion, ShapeCastOptions};

const DURATION: f64 = 1.0;
/// m; ours is 1e-9 of the smaller shape's size, and Parry's projections are rounded.
const TOUCH: f64 = 4e-9;

/// Two shapes apart, on their ways.
struct Pair {
    a: Both,
    b: Both,
    motion_a: Motion,
    motion_b: Motion,
    turning: bool,
}

impl Pair {
    fn new(random: &mut Random, kinds: (usize, usize), turning: bool) -> Self {
        let (a, b) = (shape(random, kinds.0), shape(random, kinds.1));
        let pose_a = Pose::new(random.direction(), random.rotation());
        let mut pose_b = Pose::new(pose_a.translation, random.rotation());
        let away = random.direction();
        let gap = -reach(&*b.theirs, &pose_b, -away) - reach(&*a.theirs, &pose_a, away);
        pose_b.translation += away * (random.range(0.05, 1.5) - gap);
        // Most aim at each other and are fast enough, some do neither.
        let between = pose_b.translation - pose_a.translation;
        let linear_a = random.direction() * 3.0;
        let closing =
            between * random.range(0.2, 1.5) + random.direction() * random.range(0.0, 0.8);
        let mut moving = |pose: Pose, linear: Vec3| {
            let angular = if turning {
                random.direction() * random.range(0.1, 6.0)
            } else {
                Vec3::ZERO
            };
            Motion {
                pose,
                center: Vec3::ZERO,
                velocity: Velocity::new(linear, angular),
            }
        };
        let motion_a = moving(pose_a, linear_a);
        let motion_b = moving(pose_b, linear_a - closing);
        Self {
            a,
            b,
            motion_a,
            motion_b,
            turning,
        }
    }

    fn ours(&self) -> Option<Impact> {
        let settings = ImpactSettings::default();
        let (a, b) = (&self.a.ours, &self.b.ours);
        time_of_impact(a, &self.motion_a, b, &self.motion_b, DURATION, &settings).expect("usable")
    }

    fn theirs(&self) -> Option<f64> {
        let (a, b) = (&*self.a.theirs, &*self.b.theirs);
        let (ma, mb) = (&self.motion_a, &self.motion_b);
        let hit = if self.turning {
            let motion = |m: &Motion| {
                let v = m.velocity;
                let center = vector(m.center);
                NonlinearRigidMotion::new(
                    pose(&m.pose),
                    center,
                    vector(v.linear),
                    vector(v.angular),
                )
            };
            query::cast_shapes_nonlinear(&motion(ma), a, &motion(mb), b, 0.0, DURATION, true)
        } else {
            let options = ShapeCastOptions::with_max_time_of_impact(DURATION);
            let (va, vb) = (vector(ma.velocity.linear), vector(mb.velocity.linear));
            query::cast_shapes(&pose(&ma.pose), va, a, &pose(&mb.pose), vb, b, options)
        };
        hit.expect("supported").map(|hit| hit.time_of_impact)
    }

    /// How far Parry's shapes are apart along `n` at the time `t`, m.
    fn along(&self, n: Vec3, t: f64) -> f64 {
        let (pose_a, pose_b) = (self.motion_a.at(t), self.motion_b.at(t));
        -reach(&*self.b.theirs, &pose_b, -n) - reach(&*self.a.theirs, &pose_a, n)
    }

    /// How far Parry's shapes are apart at least at the time `t`, m.
    fn gap(&self, t: f64) -> f64 {
        let (pose_a, pose_b) = (self.motion_a.at(t), self.motion_b.at(t));
        let near = closest_points(&self.a.ours, &pose_a, &self.b.ours, &pose_b).expect("finite");
        self.along(near.normal, t)
    }

    /// The least of [`Self::gap`] over the duration, of shapes that do not turn.
    fn least_gap(&self) -> f64 {
        let (mut low, mut high) = (0.0, DURATION);
        let mut least = self.gap(DURATION);
        for _ in 0..60 {
            let (t, u) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            let (at_t, at_u) = (self.gap(t), self.gap(u));
            least = least.min(at_t).min(at_u);
            if at_t < at_u { high = u } else { low = t }
        }
        least
    }

    /// See the head of the file.
    fn prove(&self, impact: &Impact) {
        let names = || format!("{:?} {:?} {impact:?}", self.a.ours, self.b.ours);
        let (t, n) = (impact.time, impact.normal);
        let sides = [
            (&self.a, &self.motion_a, impact.point_a),
            (&self.b, &self.motion_b, impact.point_b),
        ];
        for (side, motion, point) in sides {
            let place = pose(&motion.at(t));
            let off = side.theirs.distance_to_point(&place, vector(point), true);
            assert!(off < TOUCH, "{off} outside: {}", names());
        }
        let apart = (impact.point_b - impact.point_a).length();
        assert!(apart < TOUCH, "{apart} apart: {}", names());
        if self.turning {
            for k in 0..16 {
                let gap = self.gap(t * f64::from(k) / 16.0);
                assert!(gap > 0.0, "touch before: {gap} at {k}, {}", names());
            }
        } else {
            let gap = self.along(n, t);
            assert!(gap > -TOUCH, "touch before: {gap}, {}", names());
            let rate = n.dot(self.motion_b.velocity.linear - self.motion_a.velocity.linear);
            assert!(rate < 0.0, "parting: {rate}, {}", names());
        }
    }

    fn prove_never(&self) {
        let least = if self.turning {
            let gaps = (0..=64).map(|k| self.gap(DURATION * f64::from(k) / 64.0));
            gaps.fold(f64::INFINITY, f64::min)
        } else {
            self.least_gap()
        };
        assert!(
            least > -TOUCH,
            "they meet, {least}: {:?} {:?} {:?} {:?}",
            self.a.ours,
            self.motion_a,
            self.b.ours,
            self.motion_b
        );
    }
}

/// Of one pair of kinds.
#[derive(Default)]
struct Differences {
    met: usize,
    never: usize,
    misses: usize,
    invents: usize,
    early: usize,
    late: usize,
    /// Difference of times by closing speed, m.
    way: Vec<f64>,
}

/// Above it a difference is counted as one, m.
const DIFFERENT: f64 = 1e-6;

fn compare(kinds: (usize, usize), turning: bool, count: usize) -> Differences {
    let mut out = Differences::default();
    for i in 0..count {
        let seed = ((i * 6 + kinds.0) * 6 + kinds.1) * 2 + usize::from(turning);
        let pair = Pair::new(&mut Random(seed as u64), kinds, turning);
        let (ours, theirs) = (pair.ours(), pair.theirs());
        match &ours {
            Some(impact) => pair.prove(impact),
            None => pair.prove_never(),
        }
        out.met += usize::from(ours.is_some());
        out.never += usize::from(ours.is_none());
        match (ours, theirs) {
            (None, None) => {}
            (Some(_), None) => out.misses += 1,
            (None, Some(_)) => out.invents += 1,
            (Some(impact), Some(t)) => {
                let p = impact.point_a;
                let velocity = |m: &Motion| {
                    m.velocity
                        .at(p - m.at(impact.time).transform_point(m.center))
                };
                let u = velocity(&pair.motion_b) - velocity(&pair.motion_a);
                // At grazing the time says little; the way along the normal does.
                let way = (t - impact.time) * u.dot(impact.normal).abs();
                if way < -DIFFERENT {
                    let gap = pair.gap(t);
                    assert!(gap > 0.0, "early by {way}, but touching: {gap}");
                    out.early += 1;
                }
                out.late += usize::from(way > DIFFERENT);
                out.way.push(way.abs());
            }
        }
    }
    out
}

/// Compares all pairs of kinds, prints a row for each, and returns the sum.
fn sweep(turning: bool, least_count: usize) -> Differences {
    let count = std::env::var("MOREAU_SWEEP")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(least_count);
    println!("a, b; met, never; misses, invents, early, late; way: median, 99 %, most");
    let mut all = Differences::default();
    for kind_a in 0..6 {
        for kind_b in 0..6 {
            let mut d = compare((kind_a, kind_b), turning, count);
            let way = [0.5, 0.99, 1.0].map(|p| share(&mut d.way, p));
            println!(
                "{:9} {:9} {:5} {:5}   {:4} {:4} {:4} {:4}   {:.0e} {:.0e} {:.0e}",
                KINDS[kind_a],
                KINDS[kind_b],
                d.met,
                d.never,
                d.misses,
                d.invents,
                d.early,
                d.late,
                way[0],
                way[1],
                way[2]
            );
            all.met += d.met;
            all.never += d.never;
            all.misses += d.misses;
            all.invents += d.invents;
            all.early += d.early;
            all.late += d.late;
            all.way.append(&mut d.way);
        }
    }
    // Both answers are put to the test often.
    assert!(all.met > 12 * count && all.never > 6 * count);
    all
}

/// Whether `count` is at most a part of all that meet.
fn within(count: usize, part: f64, all: &Differences) -> bool {
    count as f64 <= part * all.met as f64
}

#[test]
fn casts_are_right_where_parry_differs() {
    let mut all = sweep(false, 300);
    assert_eq!((all.misses, all.invents, all.early), (0, 0, 0));
    assert!(within(all.late, 1e-3, &all), "{}", all.late);
    let way = [0.99, 1.0].map(|p| share(&mut all.way, p));
    assert!(way[0] < 1e-7 && way[1] < 1e-5, "{way:?}");
}

#[test]
fn impacts_of_turning_shapes_are_right_where_parry_differs() {
    let mut all = sweep(true, 100);
    assert_eq!(all.invents, 0);
    for (count, part) in [(all.misses, 0.005), (all.late, 0.015), (all.early, 0.01)] {
        assert!(within(count, part, &all), "{count} of {}", all.met);
    }
    let way = [0.5, 0.95].map(|p| share(&mut all.way, p));
    assert!(way[0] < 2e-8 && way[1] < 2e-6, "{way:?}");
}
