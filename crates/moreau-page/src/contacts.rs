//! Contact points for the picture: of every shown step while they are few, else of every second, fourth…
//!
//! A point is kept in the frame of one of its bodies, its carrier, where one that lasts hardly moves: so
//! steps are stored as what differs from the step before (see [`block`]), and a pile at rest takes
//! almost nothing.

use crate::frame::{BodyState, ContactState, Stage};
use moreau::Vec3;
use std::collections::BTreeMap;

/// Most points kept, 16 bytes of memory each.
const MOST_POINTS: usize = 8_000_000;

/// Most bytes that they may take in the page, deflated.
const MOST_BYTES: usize = 7_000_000;

/// Units of a coordinate in the reach of the carrier: a place is right to a 256th of a body's half.
pub(crate) const UNITS: f64 = 128.0;

/// Units of the square root of an impulse in that of the largest.
pub(crate) const ROOT_UNITS: f32 = 1023.0;

/// Units of a normal and of an impulse's direction; see [`octahedral`]. That of one is less than a degree.
pub(crate) const NORMAL_UNITS: f64 = 63.0;
pub(crate) const DIRECTION_UNITS: f64 = 31.0;

/// Two bodies that touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pair {
    a: u32,
    b: u32,
    /// Contact points.
    count: u16,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Point {
    /// In the frame of the carrier, in [`UNITS`] of its reach.
    place: [i16; 3],
    /// See [`octahedral`].
    normal: [i8; 2],
    /// Direction of the impulse on the second body.
    direction: [i8; 2],
    /// Size of the impulse, N s.
    impulse: f32,
}

/// The contact points of a step.
#[derive(Clone, Debug, Default)]
struct Step {
    step: u64,
    pairs: Vec<Pair>,
    points: Vec<Point>,
}

/// The contact points of chosen steps.
#[derive(Clone, Debug)]
pub(crate) struct ContactLog {
    steps: Vec<Step>,
    /// How far each body reaches from its origin, m; infinite for a half-space.
    reach: Vec<f64>,
    /// Of how many it was given it keeps one.
    stride: u64,
    given: u64,
    total: usize,
    most: usize,
    /// Each point counted once where it lies between the same bits of an exponent and the next.
    impulses: BTreeMap<u32, u64>,
    impulse_max: f32,
}

/// The contact points as bytes.
#[derive(Debug, Default)]
pub(crate) struct PackedContacts {
    /// Their steps.
    pub(crate) steps: Vec<u64>,
    /// Pairs of each step that were not in the one before.
    pub(crate) added: Vec<u32>,
    /// The largest number of points of a step.
    pub(crate) most: usize,
    pub(crate) bytes: Vec<u8>,
}

impl ContactLog {
    pub(crate) fn new(stage: &Stage) -> Self {
        let reach = stage.bodies.iter();
        let reach = reach.map(|body| stage.shapes[body.shape].bounding_radius());
        Self {
            steps: Vec::new(),
            reach: reach.collect(),
            stride: 1,
            given: 0,
            total: 0,
            most: MOST_POINTS,
            impulses: BTreeMap::new(),
            impulse_max: 0.0,
        }
    }

    /// Takes the contact points of a shown step.
    pub(crate) fn record(&mut self, step: u64, contacts: &[ContactState], bodies: &[BodyState]) {
        self.given += 1;
        if !(self.given - 1).is_multiple_of(self.stride) {
            return;
        }
        let points = contacts.iter().map(|c| self.point(c, bodies)).collect();
        for contact in contacts {
            let impulse = contact.contact.world_impulse().length() as f32;
            if impulse > 0.0 {
                *self.impulses.entry(impulse.to_bits() >> 18).or_default() += 1;
                self.impulse_max = self.impulse_max.max(impulse);
            }
        }
        self.steps.push(Step {
            step,
            pairs: pairs(contacts),
            points,
        });
        self.total += contacts.len();
        while self.total > self.most && self.steps.len() > 1 {
            self.stride *= 2;
            keep_every_second(&mut self.steps, |_| true);
            self.total = self.steps.iter().map(|step| step.points.len()).sum();
        }
    }

    /// The largest impulse, and about the one that 95 % of the positive ones do not exceed, N s.
    pub(crate) fn impulses(&self) -> (f32, f32) {
        let all: u64 = self.impulses.values().sum();
        let mut below = 0;
        let typical = self.impulses.iter().find(|(_, count)| {
            below += **count;
            below * 100 >= all * 95
        });
        let typical = typical.map_or(0.0, |(key, _)| f32::from_bits(key << 18));
        (self.impulse_max, typical)
    }

    fn point(&self, state: &ContactState, bodies: &[BodyState]) -> Point {
        let carrier = carrier(&self.reach, state.a, state.b);
        let unit = self.reach[carrier] / UNITS;
        let local = bodies[carrier].pose.inverse_transform_point(state.point);
        let impulse = state.contact.world_impulse();
        let size = impulse.length();
        let direction = if size > 0.0 {
            impulse / size
        } else {
            state.contact.normal
        };
        Point {
            place: local.to_array().map(|x| (x / unit).round() as i16),
            normal: octahedral(state.contact.normal, NORMAL_UNITS),
            direction: octahedral(direction, DIRECTION_UNITS),
            impulse: size as f32,
        }
    }

    /// The bytes: those of all steps that were taken and are `shown` (sorted), or of fewer, so many that they
    /// take at most `room` bytes, deflated. Steps in which much changes are the first to be left out.
    pub(crate) fn pack(&self, room: usize, shown: &[u64]) -> PackedContacts {
        let most = room.min(MOST_BYTES);
        let steps = self.steps.iter();
        let mut kept: Vec<&Step> = steps
            .filter(|step| shown.binary_search(&step.step).is_ok())
            .collect();
        loop {
            let (packed, costs) = self.packed(&kept);
            let total: usize = costs.iter().sum();
            if total <= most || kept.len() < 3 {
                return packed;
            }
            // A step that follows one that is left out differs more: so half as much again.
            let bar = bar(&costs, (total - most) * 5 / 2);
            let mut costs = costs.into_iter();
            keep_every_second(&mut kept, |_| costs.next().is_some_and(|cost| cost >= bar));
        }
    }

    /// The bytes of steps, and what each takes when it is deflated.
    fn packed(&self, steps: &[&Step]) -> (PackedContacts, Vec<usize>) {
        let mut out = PackedContacts::default();
        let mut costs = Vec::with_capacity(steps.len());
        let nothing = Step::default();
        let mut before = &nothing;
        for now in steps {
            let start = out.bytes.len();
            let added = block(before, now, self.impulse_max, &mut out.bytes);
            out.steps.push(now.step);
            out.added.push(added);
            out.most = out.most.max(now.points.len());
            costs.push(miniz_oxide::deflate::compress_to_vec(&out.bytes[start..], 5).len());
            before = now;
        }
        (out, costs)
    }
}

/// The cost from which on steps must be halved to save `excess`.
fn bar(costs: &[usize], excess: usize) -> usize {
    let mut sorted = costs.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let mut saved = 0;
    let found = sorted.iter().find(|cost| {
        saved += **cost;
        saved >= excess
    });
    found.copied().unwrap_or(0)
}

/// Leaves out every second of those that `chosen` picks, but not the first.
fn keep_every_second<T>(list: &mut Vec<T>, mut chosen: impl FnMut(&T) -> bool) {
    let mut odd = false;
    list.retain(|item| {
        if !chosen(item) {
            return true;
        }
        odd = !odd;
        odd
    });
}

/// The body in whose frame a point is kept: the smaller one, B where they are alike.
fn carrier(reach: &[f64], a: u32, b: u32) -> usize {
    if reach[b as usize] <= reach[a as usize] {
        b as usize
    } else {
        a as usize
    }
}

fn pairs(contacts: &[ContactState]) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = Vec::new();
    for &ContactState { a, b, .. } in contacts {
        match pairs.last_mut() {
            Some(last) if (last.a, last.b) == (a, b) && last.count < u16::MAX => last.count += 1,
            _ => pairs.push(Pair { a, b, count: 1 }),
        }
    }
    pairs
}

/// Appends a step as its difference to the step before, which the answer counts new pairs of:
///
/// ```text
/// planes of u16   for each pair of the step before: how many points more it has, as a difference; all gone: pair gone
/// planes of u32   for each new pair: how many pairs of the step before stand before it, a, b, each as
///                 the difference to the new pair before it (b: the number itself); then planes of u16:
///                 its points
/// bits            for each point: whether it differs from the point with its number in its pair in the
///                 step before (zeros where there is none); the lowest of a byte first
/// planes          for those that do, differences: place (three u16), normal, direction (two u8 each),
///                 root of the impulse (u16)
/// ```
fn block(before: &Step, now: &Step, impulse_max: f32, out: &mut Vec<u8>) -> u32 {
    let mut known = BTreeMap::new();
    let mut at = 0;
    for (i, pair) in before.pairs.iter().enumerate() {
        known.insert((pair.a, pair.b), (i, at));
        at += usize::from(pair.count);
    }
    let mut counts = vec![0_u16; before.pairs.len()];
    let mut added: Vec<(u32, Pair)> = Vec::new();
    let mut predictions = Vec::with_capacity(now.points.len());
    let mut passed = 0;
    for pair in &now.pairs {
        let count = usize::from(pair.count);
        let old = match known.get(&(pair.a, pair.b)) {
            Some(&(i, at)) if i >= passed => {
                counts[i] = pair.count;
                passed = i + 1;
                let old = usize::from(before.pairs[i].count).min(count);
                &before.points[at..at + old]
            }
            _ => {
                added.push((passed as u32, *pair));
                &[]
            }
        };
        let end = predictions.len() + count;
        predictions.extend_from_slice(old);
        predictions.resize(end, Point::default());
    }
    let olds = before.pairs.iter().map(|pair| pair.count);
    let more = counts.iter().zip(olds).map(|(n, old)| n.wrapping_sub(old));
    planes(out, more.map(u16::to_le_bytes));
    let differences = |of: fn(&(u32, Pair)) -> u32| {
        let all = added.iter().map(of);
        let before = std::iter::once(0).chain(all.clone());
        all.zip(before)
            .map(|(x, old)| x.wrapping_sub(old).to_le_bytes())
    };
    planes(out, differences(|(passed, _)| *passed));
    planes(out, differences(|(_, pair)| pair.a));
    planes(out, added.iter().map(|(_, pair)| pair.b.to_le_bytes()));
    planes(out, added.iter().map(|(_, pair)| pair.count.to_le_bytes()));
    let words = |p: &Point| p.words(impulse_max);
    let changes = now.points.iter().zip(&predictions);
    let changes = changes.map(|(new, old)| {
        let (new, old) = (words(new), words(old));
        let differs = new != old;
        let wrapped: [u16; 8] = std::array::from_fn(|i| new[i].wrapping_sub(old[i]));
        (differs, wrapped)
    });
    let changes: Vec<_> = changes.collect();
    for eight in changes.chunks(8) {
        let bits = eight.iter().enumerate();
        out.push(bits.fold(0, |byte, (i, (differs, _))| byte | u8::from(*differs) << i));
    }
    let changed = changes.iter().filter(|(differs, _)| *differs);
    for (c, wide) in WIDE.into_iter().enumerate() {
        out.extend(changed.clone().map(|(_, words)| words[c] as u8));
        if wide {
            out.extend(changed.clone().map(|(_, words)| (words[c] >> 8) as u8));
        }
    }
    added.len() as u32
}

/// Which of a point's words have two bytes.
const WIDE: [bool; 8] = [true, true, true, false, false, false, false, true];

impl Point {
    fn words(&self, impulse_max: f32) -> [u16; 8] {
        let share = if impulse_max > 0.0 {
            (self.impulse / impulse_max).max(0.0).sqrt()
        } else {
            0.0
        };
        let ([x, y, z], [n, m], [d, e]) = (self.place, self.normal, self.direction);
        let byte = |b: i8| u16::from(b as u8);
        let root = (share * ROOT_UNITS).round() as u16;
        [
            x as u16,
            y as u16,
            z as u16,
            byte(n),
            byte(m),
            byte(d),
            byte(e),
            root,
        ]
    }
}

/// Appends the bytes of equally long numbers plane by plane.
fn planes<const N: usize>(out: &mut Vec<u8>, numbers: impl Iterator<Item = [u8; N]> + Clone) {
    for plane in 0..N {
        out.extend(numbers.clone().map(|bytes| bytes[plane]));
    }
}

/// A unit vector as a point of the unfolded octahedron |x| + |y| + |z| = 1 whose lower half (y < 0)
/// is folded outwards, in so many `units`. Exact along the axes.
fn octahedral(n: Vec3, units: f64) -> [i8; 2] {
    let sum = n.x.abs() + n.y.abs() + n.z.abs();
    let (mut u, mut v) = (n.x / sum, n.z / sum);
    if n.y < 0.0 {
        let sign = |x: f64| if x < 0.0 { -1.0 } else { 1.0 };
        (u, v) = ((1.0 - v.abs()) * sign(u), (1.0 - u.abs()) * sign(v));
    }
    [u, v].map(|x| (x * units).round() as i8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame;
    use moreau::{Body, Shape, World, WorldSettings, vec3};

    #[test]
    fn normals_unfold_to_the_octahedron() {
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let cases = [
            (Vec3::Y, [0, 0]),
            (Vec3::X, [63, 0]),
            (-Vec3::Z, [0, -63]),
            (-Vec3::Y, [63, 63]),
            (vec3(half, 0.0, half), [32, 32]),
            (vec3(0.0, -half, half), [32, 63]),
        ];
        for (normal, expect) in cases {
            assert_eq!(octahedral(normal, 63.0), expect, "of {normal}");
        }
    }

    /// A ball that rests on the ground and two that fall on it, one after the other.
    fn balls(most: usize, steps: u64) -> (ContactLog, Vec<Step>) {
        let mut world = World::new(WorldSettings::default()).unwrap();
        world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
        for height in [0.5, 1.7, 2.9] {
            let ball = Body::dynamic(Shape::sphere(0.5)).at(vec3(0.1 * height, height, 0.0));
            world.add(ball).unwrap();
        }
        let ids: Vec<_> = world.bodies().map(|b| b.id()).collect();
        let mut log = ContactLog {
            most,
            ..ContactLog::new(&Stage::of(&world, &[]))
        };
        let mut all = Vec::new();
        for _ in 0..steps {
            world.step(0.01).unwrap();
            let contacts = frame::contacts(&world, &ids);
            let bodies = frame::bodies(&world);
            log.record(world.steps(), &contacts, &bodies);
            all.push(Step {
                step: world.steps(),
                pairs: pairs(&contacts),
                points: contacts.iter().map(|c| log.point(c, &bodies)).collect(),
            });
        }
        (log, all)
    }

    fn shown(log: &ContactLog) -> Vec<u64> {
        log.steps.iter().map(|step| step.step).collect()
    }

    /// Pairs with their numbers of points, and the words of the points.
    type Unpacked = (Vec<(u32, u32, u16)>, Vec<[u16; 8]>);

    /// Steps as the page reads them.
    fn unpack(packed: &PackedContacts) -> Vec<Unpacked> {
        let mut bytes = packed.bytes.as_slice();
        let mut take = |n: usize| {
            let (part, rest) = bytes.split_at(n);
            bytes = rest;
            part
        };
        let number = |part: &[u8], n: usize, i: usize| {
            let planes = part.len() / n.max(1);
            (0..planes).fold(0_u32, |x, p| x | u32::from(part[p * n + i]) << (8 * p))
        };
        let mut out = vec![Unpacked::default()];
        for &added in &packed.added {
            let (pairs, points) = out.last().unwrap().clone();
            let (n, m) = (pairs.len(), added as usize);
            let more = take(2 * n);
            let parts = [take(4 * m), take(4 * m), take(4 * m), take(2 * m)];
            let (mut passed, mut a) = (0_u32, 0_u32);
            let mut news = (0..m).map(|i| {
                passed = passed.wrapping_add(number(parts[0], m, i));
                a = a.wrapping_add(number(parts[1], m, i));
                let count = number(parts[3], m, i) as u16;
                (passed as usize, (a, number(parts[2], m, i), count))
            });
            let mut next = news.next();
            let (mut new_pairs, mut predictions, mut at) = (Vec::new(), Vec::new(), 0);
            for i in 0..=n {
                while let Some((_, pair)) = next.filter(|(passed, _)| *passed == i) {
                    new_pairs.push(pair);
                    predictions.extend(vec![[0; 8]; usize::from(pair.2)]);
                    next = news.next();
                }
                let Some(&(a, b, old)) = pairs.get(i) else {
                    break;
                };
                let count = old.wrapping_add(number(more, n, i) as u16);
                if count > 0 {
                    new_pairs.push((a, b, count));
                }
                let kept = usize::from(old.min(count));
                predictions.extend(&points[at..at + kept]);
                predictions.extend(vec![[0; 8]; usize::from(count) - kept]);
                at += usize::from(old);
            }
            let bits = take(predictions.len().div_ceil(8)).to_vec();
            let changed: Vec<_> = (0..predictions.len())
                .filter(|i| bits[i / 8] >> (i % 8) & 1 == 1)
                .collect();
            for (c, wide) in WIDE.into_iter().enumerate() {
                let part = take(changed.len() * if wide { 2 } else { 1 });
                for (k, i) in changed.iter().enumerate() {
                    let x: u16 = predictions[*i][c];
                    let x = x.wrapping_add(number(part, changed.len(), k) as u16);
                    predictions[*i][c] = if wide { x } else { x & 0xff };
                }
            }
            out.push((new_pairs, predictions));
        }
        assert!(bytes.is_empty());
        out.remove(0);
        out
    }

    fn assert_unpacks(log: &ContactLog, packed: &PackedContacts, all: &[Step]) {
        for (step, (pairs, points)) in packed.steps.iter().zip(unpack(packed)) {
            let wanted = all.iter().find(|s| s.step == *step).unwrap();
            let expect = wanted.pairs.iter().map(|p| (p.a, p.b, p.count));
            assert_eq!(pairs, expect.collect::<Vec<_>>(), "step {step}");
            let expect = wanted.points.iter().map(|p| p.words(log.impulse_max));
            assert_eq!(points, expect.collect::<Vec<_>>(), "step {step}");
        }
    }

    #[test]
    fn steps_come_back_from_their_differences() {
        let (log, all) = balls(MOST_POINTS, 150);
        let packed = log.pack(usize::MAX, &shown(&log));
        assert_eq!(packed.steps, (1..=150).collect::<Vec<_>>());
        assert_unpacks(&log, &packed, &all);
        // They touch, and roll off each other again: pairs come and go.
        let most = all.iter().map(|step| step.pairs.len()).max();
        let added: u32 = packed.added.iter().sum();
        assert!(
            most >= Some(2) && added > 3,
            "{most:?} pairs at most, {added} new"
        );
    }

    #[test]
    fn too_many_points_thin_out_evenly() {
        let (log, all) = balls(5, 16);
        let packed = log.pack(usize::MAX, &shown(&log));
        let strides: Vec<_> = packed.steps.windows(2).map(|w| w[1] - w[0]).collect();
        assert!(strides.iter().all(|s| *s == strides[0]) && strides[0] > 1);
        assert_eq!(packed.steps[0], 1);
        assert_unpacks(&log, &packed, &all);
    }

    #[test]
    fn too_many_bytes_thin_out_where_much_changes() {
        let (log, all) = balls(MOST_POINTS, 150);
        let (_, costs) = log.packed(&log.steps.iter().collect::<Vec<_>>());
        let most = costs.iter().sum::<usize>() * 3 / 4;
        let packed = log.pack(most, &shown(&log));
        assert_eq!(packed.steps[0], 1);
        assert!(packed.steps.len() < 150 && packed.steps.len() > 40);
        assert_unpacks(&log, &packed, &all);
    }

    #[test]
    fn a_point_is_drawn_where_it_is() {
        let (log, _) = balls(MOST_POINTS, 3);
        let first = &log.steps[0];
        assert_eq!(
            first.pairs[0],
            Pair {
                a: 0,
                b: 1,
                count: 1
            }
        );
        // Below the ball's middle, a reach away: the ground has none.
        let point = first.points[0];
        assert_eq!(point.place, [0, -(UNITS as i16), 0], "in its carrier");
        assert_eq!((point.normal, point.direction), ([0, 0], [0, 0]));
        // A resting ball takes m g dt.
        let weight = std::f64::consts::PI / 6.0 * 1000.0 * 9.81 * 0.01;
        assert!((f64::from(point.impulse) - weight).abs() < 1e-4 * weight);
        let (most, typical) = log.impulses();
        assert!(f64::from(most) >= weight * 0.9999);
        assert!(
            typical <= most && f64::from(typical) > 0.9 * weight,
            "{typical} of {most}"
        );
    }
}
