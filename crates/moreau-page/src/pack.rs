//! The numbers of a recording as bytes, in the layout that `web/src/data.js` reads.
//!
//! Columns are stored byte plane by byte plane (all first bytes, then all second ones…): alike bytes
//! come together, and deflate well.

use crate::exact::{BODY_COLUMNS, Rows};
use crate::recording::Recording;
use std::collections::BTreeMap;

/// Sections one after the other, and where each starts and ends.
#[derive(Debug, Default)]
pub(crate) struct Packed {
    pub(crate) bytes: Vec<u8>,
    pub(crate) sections: BTreeMap<&'static str, (usize, usize)>,
    /// Largest rounding of a coordinate, m.
    pub(crate) position_rounding: f32,
    /// The steps whose contact points are there, and the largest number of points.
    pub(crate) contact_steps: Vec<u64>,
    pub(crate) most_contacts: usize,
}

impl Packed {
    fn section(&mut self, name: &'static str, bytes: impl IntoIterator<Item = u8>) {
        let start = self.bytes.len();
        self.bytes.extend(bytes);
        self.sections.insert(name, (start, self.bytes.len()));
    }

    /// How many rows each step has, and the rows.
    fn rows<const W: usize, const N: usize>(
        &mut self,
        [counts, rows]: [&'static str; 2],
        log: &[Rows<W, N>],
    ) {
        let lengths = log.iter().map(|rows| rows.len() as u32);
        self.section(counts, lengths.flat_map(u32::to_le_bytes));
        self.section(rows, log.iter().flat_map(row_planes));
    }
}

/// Packs a recording behind `bytes`; the contacts take what the others leave of `most_bytes`, deflated.
pub(crate) fn pack(recording: &Recording, bytes: Vec<u8>, most_bytes: usize) -> Packed {
    let start = bytes.len();
    let mut packed = Packed {
        bytes,
        ..Packed::default()
    };
    let series = recording.series.iter().flatten();
    packed.section("series", series.flat_map(|x| x.to_le_bytes()));
    let paths = paths(recording);
    let unit = paths
        .iter()
        .flat_map(|path| path.unit)
        .fold(0.0_f32, f32::max);
    packed.position_rounding = 0.5 * unit;
    let numbers = paths
        .iter()
        .flat_map(|path| path.low.into_iter().chain(path.unit));
    packed.section("paths", numbers.flat_map(f32::to_le_bytes));
    packed.section("poses", poses(recording, &paths));
    packed.section("states", states(recording));
    let exact = &recording.exact;
    packed.section("body_values", body_values(recording));
    packed.rows(["heaviest_counts", "heaviest"], &exact.heaviest);
    packed.rows(["row_counts", "rows"], &exact.contacts);
    packed.rows(["island_counts", "islands"], &exact.islands);
    // Last: what all the others leave is theirs.
    let others = miniz_oxide::deflate::compress_to_vec(&packed.bytes[start..], 5).len();
    let contacts = recording.contacts.pack(most_bytes.saturating_sub(others));
    let added = contacts.added.iter();
    packed.section("added_pairs", added.flat_map(|n| n.to_le_bytes()));
    packed.section("contacts", contacts.bytes);
    packed.contact_steps = contacts.steps;
    packed.most_contacts = contacts.most;
    packed
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
fn body_values(recording: &Recording) -> Vec<u8> {
    let width = recording.moving();
    let mut out = Vec::new();
    let mut before = vec![[0.0_f64; BODY_COLUMNS.len()]; width];
    for now in recording.exact.bodies.chunks_exact(width.max(1)) {
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
fn states(recording: &Recording) -> Vec<u8> {
    let width = recording.moving();
    let mut out = Vec::new();
    let mut before = vec![0_u32; width];
    for now in recording.states.chunks_exact(width.max(1)) {
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
fn poses(recording: &Recording, paths: &[Path]) -> Vec<u8> {
    let n = paths.len();
    let mut out = Vec::with_capacity(recording.frames.len() * 2);
    let mut before = vec![0_u16; n * 7];
    let mut words = before.clone();
    for frame in recording.frames.chunks_exact((n * 7).max(1)) {
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
    use moreau::{Body, Quat, Shape, Vec3, World, WorldSettings, vec3};

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
}
