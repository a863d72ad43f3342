//! The numbers of a recording as bytes, in the layout that `web/src/data.js` reads.
//!
//! Columns are stored byte plane by byte plane (all first bytes, then all second ones…): alike bytes
//! come together, and deflate well.

use crate::exact::{BODY_COLUMNS, Rows};
use crate::recording::Recording;
use std::collections::BTreeMap;

/// Of what the parts before leave, how much each of these may take, in percent; contact points take the rest.
/// A pile of 2,000 boxes needs 29, 31, 39 and 1 over 600 steps.
const POSES: usize = 65;
const BODIES: usize = 50;
const ROWS: usize = 50;
const ISLANDS: usize = 25;

/// Sections one after the other, where each starts and ends, and of which steps they are.
#[derive(Debug, Default)]
pub(crate) struct Packed {
    pub(crate) bytes: Vec<u8>,
    pub(crate) sections: BTreeMap<&'static str, (usize, usize)>,
    /// Largest rounding of a coordinate, m.
    pub(crate) position_rounding: f32,
    /// The steps that are shown, and one in how many they are.
    pub(crate) frames: Steps,
    /// The steps whose bodies, contacts and islands are there with all their bits.
    pub(crate) bodies: Steps,
    pub(crate) rows: Steps,
    pub(crate) islands: Steps,
    /// The steps whose contact points are there, and the largest number of points.
    pub(crate) contact_steps: Vec<u64>,
    pub(crate) most_contacts: usize,
    /// Deflated bytes that are still to be had.
    room: usize,
}

/// Steps, one in how many.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps {
    pub(crate) steps: Vec<u64>,
    pub(crate) stride: u64,
}

/// What there is of a part: its steps, one in how many, and whether the first and the last must stay.
#[derive(Clone, Copy)]
struct Whole<'a> {
    steps: &'a [u64],
    stride: u64,
    ends: bool,
}

type Section = (&'static str, Vec<u8>);

impl Packed {
    /// Without any bytes: the steps of a recording of which nothing is left out.
    pub(crate) fn whole(recording: &Recording) -> Self {
        let steps = |whole: Whole<'_>| Steps {
            steps: whole.steps.to_vec(),
            stride: whole.stride,
        };
        let exact = &recording.exact;
        let rows = exact.contacts.iter().map(|rows| rows.step);
        let islands = exact.islands.iter().map(|rows| rows.step);
        Self {
            frames: steps(recording.whole_frames()),
            bodies: steps(recording.whole_bodies()),
            rows: Steps {
                steps: rows.collect(),
                stride: exact.contact_stride,
            },
            islands: Steps {
                steps: islands.collect(),
                stride: exact.island_stride,
            },
            contact_steps: recording.frame_steps.clone(),
            ..Self::default()
        }
    }

    fn section(&mut self, name: &'static str, bytes: impl IntoIterator<Item = u8>) {
        let start = self.bytes.len();
        self.bytes.extend(bytes);
        self.sections.insert(name, (start, self.bytes.len()));
    }

    /// Adds what is never left out.
    fn all(&mut self, name: &'static str, bytes: Vec<u8>) {
        self.room = self.room.saturating_sub(deflated(&bytes));
        self.section(name, bytes);
    }

    /// Adds the sections that `pack` makes of the steps with the given indices: of all of them, or of every
    /// second, fourth…, so that they take at most a share of the room, in percent.
    fn thinned(
        &mut self,
        whole: Whole<'_>,
        percent: usize,
        pack: impl Fn(&[usize]) -> Vec<Section>,
    ) -> Steps {
        let most = self.room / 100 * percent;
        let mut stride = whole.stride;
        loop {
            let kept = kept(whole, stride);
            let sections = pack(&kept);
            let size: usize = sections.iter().map(|(_, bytes)| deflated(bytes)).sum();
            let least = if whole.ends { 2 } else { 0 };
            if size <= most || kept.len() <= least || stride > u64::MAX / 2 {
                self.room = self.room.saturating_sub(size);
                for (name, bytes) in sections {
                    self.section(name, bytes);
                }
                let steps = kept.iter().map(|i| whole.steps[*i]).collect();
                return Steps { steps, stride };
            }
            stride *= 2;
        }
    }

    /// The same for sections with the number of rows of each step, and with the rows.
    fn thinned_rows<const W: usize, const N: usize>(
        &mut self,
        log: &[Rows<W, N>],
        stride: u64,
        percent: usize,
        names: [&'static str; 2],
    ) -> Steps {
        let steps: Vec<u64> = log.iter().map(|rows| rows.step).collect();
        let whole = Whole {
            steps: &steps,
            stride,
            ends: false,
        };
        self.thinned(whole, percent, |kept| {
            names.into_iter().zip(rows(log, kept)).collect()
        })
    }
}

/// The indices of the steps that are multiples of `stride`, and of those that must stay.
fn kept(whole: Whole<'_>, stride: u64) -> Vec<usize> {
    let last = whole.steps.len().saturating_sub(1);
    let stays = |i: usize| {
        stride <= whole.stride
            || whole.steps[i].is_multiple_of(stride)
            || (whole.ends && (i == 0 || i == last))
    };
    (0..whole.steps.len()).filter(|i| stays(*i)).collect()
}

fn deflated(bytes: &[u8]) -> usize {
    miniz_oxide::deflate::compress_to_vec(bytes, 5).len()
}

impl Recording {
    fn whole_frames(&self) -> Whole<'_> {
        Whole {
            steps: &self.frame_steps,
            stride: self.stride,
            ends: true,
        }
    }

    fn whole_bodies(&self) -> Whole<'_> {
        Whole {
            steps: &self.exact.body_steps,
            stride: self.exact.body_stride,
            ends: true,
        }
    }
}

/// Packs a recording behind `bytes`, so that what is added takes at most `room` bytes, deflated, of a run
/// that is not very long: the figures of every step are never left out.
pub(crate) fn pack(recording: &Recording, bytes: Vec<u8>, room: usize) -> Packed {
    let mut packed = Packed {
        bytes,
        room,
        ..Packed::default()
    };
    let series = recording.series.iter().flatten();
    packed.all("series", series.flat_map(|x| x.to_le_bytes()).collect());
    let paths = paths(recording);
    let unit = paths
        .iter()
        .flat_map(|path| path.unit)
        .fold(0.0_f32, f32::max);
    packed.position_rounding = 0.5 * unit;
    let numbers = paths
        .iter()
        .flat_map(|path| path.low.into_iter().chain(path.unit));
    packed.all("paths", numbers.flat_map(f32::to_le_bytes).collect());
    let exact = &recording.exact;
    packed.frames = packed.thinned(recording.whole_frames(), POSES, |kept| {
        let [counts, rows] = rows(&exact.heaviest, kept);
        vec![
            ("poses", poses(recording, &paths, kept)),
            ("states", states(recording, kept)),
            ("heaviest_counts", counts),
            ("heaviest", rows),
        ]
    });
    packed.bodies = packed.thinned(recording.whole_bodies(), BODIES, |kept| {
        vec![("body_values", body_values(recording, kept))]
    });
    let names = ["row_counts", "rows"];
    packed.rows = packed.thinned_rows(&exact.contacts, exact.contact_stride, ROWS, names);
    let names = ["island_counts", "islands"];
    packed.islands = packed.thinned_rows(&exact.islands, exact.island_stride, ISLANDS, names);
    // Last: what all the others leave is theirs.
    let contacts = recording.contacts.pack(packed.room, &packed.frames.steps);
    let added = contacts.added.iter();
    packed.section("added_pairs", added.flat_map(|n| n.to_le_bytes()));
    packed.section("contacts", contacts.bytes);
    packed.contact_steps = contacts.steps;
    packed.most_contacts = contacts.most;
    packed
}

/// How many rows each of the chosen steps has, and the rows.
fn rows<const W: usize, const N: usize>(log: &[Rows<W, N>], kept: &[usize]) -> [Vec<u8>; 2] {
    let chosen = || kept.iter().map(|i| &log[*i]);
    let lengths = chosen().map(|rows| rows.len() as u32);
    let counts = lengths.flat_map(u32::to_le_bytes).collect();
    [counts, chosen().flat_map(row_planes).collect()]
}

/// The chosen ones of equally long blocks.
fn blocks<'a, T>(all: &'a [T], width: usize, kept: &'a [usize]) -> impl Iterator<Item = &'a [T]> {
    // Where nothing moves there are no blocks.
    let kept = if width == 0 { &[] } else { kept };
    kept.iter().map(move |i| &all[i * width..(i + 1) * width])
}

/// Appends the bytes of equally long numbers plane by plane.
fn planes<const N: usize>(out: &mut Vec<u8>, numbers: impl Iterator<Item = [u8; N]> + Clone) {
    for plane in 0..N {
        out.extend(numbers.clone().map(|bytes| bytes[plane]));
    }
}

/// Whole numbers, then numbers, column by column.
fn row_planes<const W: usize, const N: usize>(rows: &Rows<W, N>) -> Vec<u8> {
    let mut out = Vec::new();
    for c in 0..W {
        planes(&mut out, rows.words.iter().map(|row| row[c].to_le_bytes()));
    }
    for c in 0..N {
        planes(
            &mut out,
            rows.numbers.iter().map(|row| row[c].to_le_bytes()),
        );
    }
    out
}

/// Key step after key step and column after column, the bits that differ from the key step before.
fn body_values(recording: &Recording, kept: &[usize]) -> Vec<u8> {
    let width = recording.moving();
    let mut out = Vec::new();
    let mut before = vec![[0.0_f64; BODY_COLUMNS.len()]; width];
    for now in blocks(&recording.exact.bodies, width, kept) {
        for c in 0..BODY_COLUMNS.len() {
            let pairs = now.iter().zip(&before);
            let changed = pairs.map(|(x, old)| (x[c].to_bits() ^ old[c].to_bits()).to_le_bytes());
            planes(&mut out, changed);
        }
        before.copy_from_slice(now);
    }
    out
}

/// Frame after frame the differences to the frame before.
fn states(recording: &Recording, kept: &[usize]) -> Vec<u8> {
    let width = recording.moving();
    let mut out = Vec::new();
    let mut before = vec![0_u32; width];
    for now in blocks(&recording.states, width, kept) {
        let pairs = now.iter().zip(&before);
        planes(&mut out, pairs.map(|(x, old)| (x ^ old).to_le_bytes()));
        before.copy_from_slice(now);
    }
    out
}

/// Where the coordinates of a body lie: low + unit * (0..=65535).
#[derive(Clone, Copy, Debug)]
struct Path {
    low: [f32; 3],
    unit: [f32; 3],
}

/// The path of each body that moves. Each has its own units: the less a body moves the finer.
fn paths(recording: &Recording) -> Vec<Path> {
    let width = recording.moving() * 7;
    let mut bounds = vec![([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]); width / 7];
    for frame in recording.frames.chunks_exact(width.max(1)) {
        for (bound, pose) in bounds.iter_mut().zip(frame.chunks_exact(7)) {
            for c in 0..3 {
                bound.0[c] = bound.0[c].min(pose[c]);
                bound.1[c] = bound.1[c].max(pose[c]);
            }
        }
    }
    let path = |(low, high): ([f32; 3], [f32; 3])| Path {
        low,
        unit: [0, 1, 2].map(|c| (high[c] - low[c]) / 65535.0),
    };
    bounds.into_iter().map(path).collect()
}

/// Frame after frame the differences to the frame before: small numbers, which deflate well.
fn poses(recording: &Recording, paths: &[Path], kept: &[usize]) -> Vec<u8> {
    let n = paths.len();
    let mut out = Vec::with_capacity(kept.len() * n * 14);
    let mut before = vec![0_u16; n * 7];
    let mut words = before.clone();
    for frame in blocks(&recording.frames, n * 7, kept) {
        for (k, (path, pose)) in paths.iter().zip(frame.chunks_exact(7)).enumerate() {
            for c in 0..3 {
                let unit = path.unit[c];
                let at = if unit > 0.0 {
                    (pose[c] - path.low[c]) / unit
                } else {
                    0.0
                };
                words[c * n + k] = at.round() as u16;
            }
            // q and -q turn alike: the one closer to the frame before makes a smooth path.
            let old: [f32; 4] = [3, 4, 5, 6].map(|c| f32::from(before[c * n + k] as i16));
            let dot: f32 = old.iter().zip(&pose[3..]).map(|(a, b)| a * b).sum();
            let sign = if dot < 0.0 { -1.0 } else { 1.0 };
            for c in 3..7 {
                words[c * n + k] = (sign * pose[c] * 32767.0).round() as i16 as u16;
            }
        }
        let differences = || {
            words
                .iter()
                .zip(&before)
                .map(|(new, old)| new.wrapping_sub(*old))
        };
        out.extend(differences().map(|d| d.to_le_bytes()[0]));
        out.extend(differences().map(|d| d.to_le_bytes()[1]));
        before.copy_from_slice(&words);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{self, ContactState, Contacts, Frame, IslandState, Stage};
    use moreau::{Body, Contact, Pose, Quat, Shape, Vec3, World, WorldSettings, vec3};

    /// A spinning ball that flies past a wall.
    fn flight(steps: u64) -> Recording {
        let mut world = World::new(WorldSettings::default()).unwrap();
        world
            .add(Body::fixed(Shape::cuboid(1.0, 1.0, 1.0)).at(vec3(0.0, -50.0, 0.0)))
            .unwrap();
        let ball = Body::dynamic(Shape::cuboid(0.1, 0.2, 0.3))
            .moving(vec3(3.0, 4.0, 0.0), vec3(0.0, 9.0, 0.1))
            .rotated(Quat::from_xyzw(0.6, 0.0, 0.8, 0.0));
        world.add(ball).unwrap();
        let mut recording = Recording::start(&world, &[], steps);
        for _ in 0..steps {
            let report = world.step(0.01).unwrap();
            recording.step(&world, &report);
        }
        recording
    }

    /// The poses as the page reads them.
    fn unpack(packed: &Packed, n: usize) -> Vec<[f32; 7]> {
        let part = |name| {
            let (start, end) = packed.sections[name];
            &packed.bytes[start..end]
        };
        let float =
            |k: usize| f32::from_le_bytes(part("paths")[4 * k..4 * k + 4].try_into().unwrap());
        let mut words = vec![0_u16; n * 7];
        let mut out = Vec::new();
        for frame in part("poses").chunks_exact(n * 14) {
            for (i, word) in words.iter_mut().enumerate() {
                let difference = u16::from_le_bytes([frame[i], frame[n * 7 + i]]);
                *word = word.wrapping_add(difference);
            }
            for k in 0..n {
                out.push(std::array::from_fn(|c| match c {
                    0..3 => float(6 * k + c) + f32::from(words[c * n + k]) * float(6 * k + 3 + c),
                    _ => f32::from(words[c * n + k] as i16) / 32767.0,
                }));
            }
        }
        out
    }

    #[test]
    fn poses_come_back_within_their_rounding() {
        let recording = flight(60);
        let packed = pack(&recording, Vec::new(), usize::MAX);
        let poses = unpack(&packed, 1);
        assert_eq!(poses.len(), 61);
        // 1.8 m of flight in 65535 units.
        assert!(packed.position_rounding > 1.3e-5 && packed.position_rounding < 2e-5);
        for (pose, exact) in poses.iter().zip(recording.frames.chunks_exact(7)) {
            for c in 0..3 {
                assert!((pose[c] - exact[c]).abs() <= packed.position_rounding * 1.01);
            }
            let dot: f32 = pose[3..].iter().zip(&exact[3..]).map(|(a, b)| a * b).sum();
            assert!(
                (dot.abs() - 1.0).abs() < 1e-4,
                "rotation {pose:?} of {exact:?}"
            );
        }
        for pair in poses.windows(2) {
            let dot: f32 = pair[0][3..]
                .iter()
                .zip(&pair[1][3..])
                .map(|(a, b)| a * b)
                .sum();
            assert!(dot > 0.9, "a rotation jumps to its other sign");
        }
    }

    #[test]
    fn series_keep_every_bit() {
        let recording = flight(5);
        let packed = pack(&recording, Vec::new(), usize::MAX);
        let (start, end) = packed.sections["series"];
        let numbers: Vec<_> = packed.bytes[start..end]
            .chunks_exact(8)
            .map(|b| f64::from_le_bytes(b.try_into().unwrap()).to_bits())
            .collect();
        let exact: Vec<_> = recording
            .series
            .iter()
            .flatten()
            .map(|x| x.to_bits())
            .collect();
        assert_eq!(numbers, exact);
        assert_eq!(recording.series.len(), 6);
    }

    #[test]
    fn a_world_at_rest_packs_too() {
        let mut world = World::new(WorldSettings::default()).unwrap();
        world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
        let recording = Recording::start(&world, &[], 0);
        let packed = pack(&recording, Vec::new(), usize::MAX);
        assert_eq!(packed.sections["poses"], packed.sections["paths"]);
        assert_eq!(packed.position_rounding, 0.0);
    }

    /// A run in which no number tells the next: what is hardest to deflate.
    fn noise(bodies: usize, steps: u64, contacts: usize) -> Recording {
        let mut world = World::new(WorldSettings::default()).unwrap();
        world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
        for i in 1..bodies {
            let ball = Body::dynamic(Shape::sphere(0.5)).at(vec3(2.0 * i as f64, 0.5, 0.0));
            world.add(ball).unwrap();
        }
        world.step(0.01).unwrap();
        let first = world.contacts()[0];
        let mut seed = 7_u64;
        let mut random = move || {
            // Steele, Lea and Flood's SplitMix.
            seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = seed;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        let mut vector = || vec3(random(), random(), random());
        let mut recording = Recording::new(Stage::of(&world, &[]), 0, steps);
        for step in 0..=steps {
            let mut states = frame::bodies(&world);
            for state in &mut states {
                let (v, w) = (vector(), vector());
                let turned = Quat::from_xyzw(v.x, v.y, v.z, w.x).normalize();
                state.pose = Pose::new(vector() * 9.0, turned);
                (state.linear, state.angular) = (vector(), vector());
            }
            let point = |i: usize| {
                let [normal, tangent1, tangent2] = [(); 3].map(|()| vector().normalize());
                let scalars = vector();
                let b = 1 + i * (bodies - 1) / contacts;
                ContactState {
                    a: (b as f64 * scalars.x.abs()) as u32,
                    b: b as u32,
                    point: states[b].pose.translation + 0.4 * vector(),
                    contact: Contact {
                        normal,
                        tangent1,
                        tangent2,
                        lever_a: vector(),
                        lever_b: vector(),
                        separation: scalars.x,
                        approach_velocity: scalars.y,
                        friction: scalars.z,
                        impulse: vector(),
                        ..first
                    },
                }
            };
            let mut points: Vec<_> = (0..contacts).map(point).collect();
            points.sort_by_key(|point| (point.a, point.b));
            let island = |i: usize| IslandState {
                first: i as u32,
                bodies: 1,
                contact_points: (vector().x.abs() * 1e3) as u32,
                joints: 0,
                solver: "newton",
                stop: "converged",
                sweeps: (vector().x.abs() * 1e3) as u32,
                factorizations: 1,
                residual: vector().x,
                worst_contact: Some(i as u32),
                guarded: false,
            };
            let islands: Vec<_> = (1..bodies).map(island).collect();
            recording.push(&Frame {
                step,
                sample: frame::state_sample(&world),
                bodies: &states,
                contacts: Contacts::Points(&points),
                islands: &islands,
            });
        }
        recording.finish();
        recording
    }

    #[test]
    fn a_page_of_noise_is_no_larger_than_any() {
        let page = crate::html(&noise(2001, 600, 1500), &crate::About::default());
        assert!(page.len() <= 25_000_000, "{} bytes", page.len());
        assert!(page.len() > 15_000_000, "{} bytes", page.len());
    }

    #[test]
    fn what_does_not_deflate_finds_room_too() {
        let recording = noise(40, 60, 60);
        let size = |packed: &Packed| deflated(&packed.bytes);
        let all = pack(&recording, Vec::new(), usize::MAX);
        assert_eq!(all.frames.steps, recording.frame_steps);
        assert_eq!(all.contact_steps, recording.frame_steps);
        let whole = size(&all);
        let mut shown = Vec::new();
        for percent in [95, 60, 20, 7] {
            let room = whole / 100 * percent;
            let packed = pack(&recording, Vec::new(), room);
            assert!(size(&packed) <= room, "{} of {room}", size(&packed));
            // No part is lost to another, and what is left is not idle.
            let parts = [
                &packed.frames,
                &packed.bodies,
                &packed.rows,
                &packed.islands,
            ];
            let counts = parts.map(|part| part.steps.len());
            assert!(
                counts.iter().all(|count| *count > 0),
                "{percent}: {counts:?}"
            );
            assert!(packed.contact_steps.len() > 1, "{percent}");
            assert!(size(&packed) * 3 > room, "{} of {room}", size(&packed));
            for step in &packed.contact_steps {
                assert!(packed.frames.steps.contains(step), "{step}");
            }
            let ends = [packed.frames.steps.first(), packed.frames.steps.last()];
            assert_eq!(ends, [Some(&0), Some(&60)]);
            shown.push(packed.frames.steps.len());
        }
        assert!(
            shown.is_sorted_by(|a, b| a >= b) && shown[3] < shown[0],
            "{shown:?}"
        );
    }
}
