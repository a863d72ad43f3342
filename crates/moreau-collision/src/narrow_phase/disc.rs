//! The patch of a round face: its disc, and any other feature, projected along n and intersected.
//!
//! All is seen in the plane of the disc, along n: there its rim is the circle x² + y² = r². Corners
//! are
//!
//! - vertices of the other feature inside the disc;
//! - the four points that stand for the rim, inside the other feature;
//! - where the rim crosses an edge of the other feature: |p + t (q - p)| = r;
//! - where it crosses another rim, which is seen as an ellipse: found between points of the rim that
//!   lie on different sides of it.

use super::context::unit;
use super::feature::{Feature, Rim};
use super::patch::{Code, Corners, NONE, Projection};
use moreau_math::Vec3;
use smallvec::SmallVec;

/// How many points of a rim are looked at to find where it crosses another.
const SAMPLES: usize = 24;

/// Bisections between two of them; then the crossing is exact.
const BISECTIONS: usize = 60;

/// Adds the corners where `a` and `b`, at least one of them round, face each other. `tolerance` is the
/// width across n (m) within which points and lines coincide.
pub(super) fn intersect(
    a: &Feature,
    b: &Feature,
    projection: &Projection,
    tolerance: f64,
    corners: &mut Corners,
) {
    // The disc is A's where both are.
    let (disc, other, disc_is_a) = match (a.rim, b.rim) {
        (Some(rim), _) => (Disc::new(a, rim), b, true),
        (None, Some(rim)) => (Disc::new(b, rim), a, false),
        (None, None) => return,
    };
    let n = projection.normal;
    let mut add = |on_disc: Vec3, on_other: Vec3, crossing: bool, [d, o]: [u16; 2]| {
        let corner = if disc_is_a {
            let code = Code {
                crossing,
                a: d,
                b: o,
            };
            projection.corner(on_disc, on_other, code)
        } else {
            let code = Code {
                crossing,
                a: o,
                b: d,
            };
            projection.corner(on_other, on_disc, code)
        };
        corners.push(corner);
    };
    let flat: Points = (other.points.iter())
        .map(|&p| disc.flat(disc.lift(p, n)))
        .collect();
    let mut paired = [false; 4];
    for (i, &p) in other.points.iter().enumerate() {
        if length(flat[i]) > disc.rim.radius + tolerance {
            continue;
        }
        let on_disc = disc.lift(p, n);
        let twin = (0..4).find(|&k| {
            !paired[k] && (disc.feature.points[k] - on_disc).length() <= 4.0 * tolerance
        });
        if let Some(k) = twin {
            paired[k] = true;
        }
        let name = twin.map_or(NONE, |k| disc.feature.vertices[k]);
        add(on_disc, p, false, [name, other.vertices[i]]);
    }
    for (k, &p) in disc.feature.points.iter().enumerate() {
        if !paired[k] && holds(&disc, other, &flat, p, n, tolerance) {
            add(p, other.lift(p, n), false, [disc.feature.vertices[k], NONE]);
        }
    }
    match other.rim {
        Some(rim) => {
            for (way, p) in crossings_of_rims(&disc, other, rim, n, tolerance) {
                add(
                    p,
                    other.lift(p, n),
                    true,
                    [disc.feature.edges[0] + way, other.edges[0]],
                );
            }
        }
        None => {
            for i in 0..other.edge_count() {
                let j = if i + 1 == other.points.len() {
                    0
                } else {
                    i + 1
                };
                for (way, t) in crossings_of_edge(flat[i], flat[j], disc.rim.radius, tolerance) {
                    let on_other = other.points[i].lerp(other.points[j], t);
                    let names = [disc.feature.edges[0] + way, other.edges[i]];
                    add(disc.lift(on_other, n), on_other, true, names);
                }
            }
        }
    }
}

type Points = SmallVec<[[f64; 2]; 8]>;

/// A round face with coordinates in its plane, from its centre.
struct Disc<'a> {
    feature: &'a Feature,
    rim: Rim,
    axes: [Vec3; 2],
}

impl<'a> Disc<'a> {
    fn new(feature: &'a Feature, rim: Rim) -> Self {
        let x = unit(feature.points[0] - rim.center);
        Self {
            feature,
            rim,
            axes: [x, feature.normal.cross(x)],
        }
    }

    fn flat(&self, p: Vec3) -> [f64; 2] {
        self.axes.map(|axis| axis.dot(p - self.rim.center))
    }

    /// Onto the plane, along n.
    fn lift(&self, p: Vec3, n: Vec3) -> Vec3 {
        self.feature.lift(p, n)
    }
}

fn length(p: [f64; 2]) -> f64 {
    (p[0] * p[0] + p[1] * p[1]).sqrt()
}

/// How far a point, moved along n, is outside of a rim.
fn outside(feature: &Feature, rim: Rim, p: Vec3, n: Vec3) -> f64 {
    (feature.lift(p, n) - rim.center).length() - rim.radius
}

/// Whether a point of the disc lies inside the other feature, seen along n. A point has no inside, and
/// neither has a line.
fn holds(
    disc: &Disc<'_>,
    other: &Feature,
    flat: &Points,
    p: Vec3,
    n: Vec3,
    tolerance: f64,
) -> bool {
    if let Some(rim) = other.rim {
        return outside(other, rim, p, n) <= tolerance;
    }
    if !other.is_face() {
        return false;
    }
    let place = disc.flat(p);
    // Its corners run clockwise as seen from outside the disc.
    (0..flat.len()).all(|i| {
        let (from, to) = (flat[i], flat[(i + 1) % flat.len()]);
        let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
        let turn = dx * (place[1] - from[1]) - dy * (place[0] - from[0]);
        -turn >= -tolerance * length([dx, dy])
    })
}

/// Where the segment p q crosses the circle about the origin: whether out of it (1) or into it (0), and
/// where along it. An end on the circle, or inside, is no crossing but a vertex.
fn crossings_of_edge(
    p: [f64; 2],
    q: [f64; 2],
    radius: f64,
    tolerance: f64,
) -> SmallVec<[(u16, f64); 2]> {
    let mut out = SmallVec::new();
    let d = [q[0] - p[0], q[1] - p[1]];
    let square = d[0] * d[0] + d[1] * d[1];
    let middle = -(p[0] * d[0] + p[1] * d[1]) / square;
    let nearest = [p[0] + middle * d[0], p[1] + middle * d[1]];
    let inside = radius * radius - (nearest[0] * nearest[0] + nearest[1] * nearest[1]);
    // Written so that a segment of no length crosses nothing.
    let half = (inside / square).sqrt();
    if !(half > 0.0 && half.is_finite()) {
        return out;
    }
    let edge = square.sqrt();
    let is_vertex = |end: [f64; 2], t: f64| {
        length(end) <= radius + tolerance && t.abs() * edge <= 4.0 * tolerance
    };
    for (way, t) in [(0, middle - half), (1, middle + half)] {
        if t > 0.0 && t < 1.0 && !is_vertex(p, t) && !is_vertex(q, 1.0 - t) {
            out.push((way, t));
        }
    }
    out
}

/// Points of the disc's rim that lie on the other rim, seen along n: whether it runs out of it (1) or
/// into it (0).
fn crossings_of_rims(
    disc: &Disc<'_>,
    other: &Feature,
    rim: Rim,
    n: Vec3,
    tolerance: f64,
) -> SmallVec<[(u16, Vec3); 4]> {
    let at = |d: [f64; 2]| {
        let scale = disc.rim.radius / length(d);
        disc.rim.center + disc.axes[0] * (scale * d[0]) + disc.axes[1] * (scale * d[1])
    };
    // The first sample is turned to the other's centre: a narrow overlap lies about it.
    let toward = disc.flat(disc.lift(rim.center, n));
    let toward = if length(toward) > tolerance {
        toward.map(|c| c / length(toward))
    } else {
        [1.0, 0.0]
    };
    // Cosine and sine of a 24th of a turn.
    const TURN: [f64; 2] = [0.965_925_826_289_068_3, 0.258_819_045_102_520_74];
    let mut directions = [toward; SAMPLES];
    for i in 1..SAMPLES {
        let [x, y] = directions[i - 1];
        directions[i] = [x * TURN[0] - y * TURN[1], x * TURN[1] + y * TURN[0]];
    }
    let beyond = directions.map(|d| outside(other, rim, at(d), n));
    // Only those clearly on one side.
    let clear: SmallVec<[usize; SAMPLES]> = (0..SAMPLES)
        .filter(|&i| beyond[i].abs() > tolerance)
        .collect();
    let mut out = SmallVec::new();
    for (k, &i) in clear.iter().enumerate() {
        let j = clear[(k + 1) % clear.len()];
        if (beyond[i] > 0.0) == (beyond[j] > 0.0) {
            continue;
        }
        let (mut from, mut to) = (directions[i], directions[j]);
        for _ in 0..BISECTIONS {
            let middle = [from[0] + to[0], from[1] + to[1]];
            let middle = middle.map(|c| c / length(middle));
            if (outside(other, rim, at(middle), n) > 0.0) == (beyond[i] > 0.0) {
                from = middle;
            } else {
                to = middle;
            }
        }
        out.push((u16::from(beyond[i] < 0.0), at(from)));
    }
    out
}
