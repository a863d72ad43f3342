//! Random configurations of every pair of kinds of shapes against what must hold whatever the answer
//! is.
//!
//! `MOREAU_SWEEP=1000000 cargo test --release -p moreau-collision --test sweep -- --nocapture` runs
//! that many of every pair and prints the greatest errors; without it a share of them runs.
//!
//! With the supports h of the two shapes, s(n) = -h_B(-n) - h_A(n) is a proof for any unit n: shapes
//! with s(n) > 0 are that far apart at least, and those with s(n) < 0 overlap by |s(n)| at most. So an
//! answer is right
//!
//! - where its separation is s of its normal, and
//! - apart: where its closest points are on the surfaces and their distance is its separation (nothing
//!   separates more than the distance of two points of the shapes);
//! - overlapping: where no other direction separates better. That is looked for among many
//!   directions, from the best of them on downhill.

mod scenes;

use moreau_collision::{Shape, closest_points};
use moreau_math::{Pose, Vec3, tangent_basis};
use scenes::{Random, Scene, contact, reach, scaled};

const KINDS: [&str; 7] = [
    "sphere",
    "box",
    "capsule",
    "hull",
    "cylinder",
    "cone",
    "half-space",
];
const PREDICTION: f64 = 0.05;

/// Greatest errors, relative to the sum of the sizes.
#[derive(Clone, Copy, Debug, Default)]
struct Errors {
    /// Separation against s(n).
    along: f64,
    /// Distance of closest points against the separation, of shapes apart.
    gap: f64,
    /// What another direction separates better, of shapes that overlap.
    beaten: f64,
    /// Of a point from its shape's surface, seen along the normal.
    surface: f64,
    /// Separation a million metres away against that near the origin, less the rounding of the poses.
    far: f64,
    overlapping: usize,
    apart: usize,
}

/// A direction at least as good as the best of `count` and of `start`.
fn search(scene: &Scene, random: &mut Random, start: Vec3, count: usize) -> f64 {
    let mut best = (scene.separation(start), start);
    for _ in 0..count {
        let n = random.direction();
        let s = scene.separation(n);
        if s > best.0 {
            best = (s, n);
        }
    }
    let mut stride = 0.3;
    while stride > 1e-9 {
        let (u, v) = tangent_basis(best.1);
        let mut improved = false;
        for _ in 0..6 {
            let n = (best.1 + (u * random.range(-1.0, 1.0) + v * random.range(-1.0, 1.0)) * stride)
                .normalize();
            let s = scene.separation(n);
            if s > best.0 {
                best = (s, n);
                improved = true;
            }
        }
        stride *= if improved { 1.2 } else { 0.6 };
        stride = stride.min(0.3);
    }
    best.0
}

fn scene(random: &mut Random, kind_a: usize, kind_b: usize) -> Scene {
    let shape = |random: &mut Random, kind: usize| match kind {
        6 => Shape::half_space(random.direction()),
        kind => random.shape(kind as u64),
    };
    let (a, b) = (shape(random, kind_a), shape(random, kind_b));
    // One in four is a hundred to ten thousand times smaller; one in four is far away.
    let small = if random.below(4) == 0 {
        moreau_math::libm::exp(random.range(-9.2, -4.6))
    } else {
        1.0
    };
    let b = if kind_b == 6 { b } else { scaled(&b, small) };
    let away = random.direction();
    let far = if random.below(4) == 0 { 1e6 } else { 3.0 };
    let pose_a = Pose::new(random.direction() * far, random.rotation());
    let pose_b = Pose::new(pose_a.translation, random.rotation());
    let mut out = Scene {
        a: (a, pose_a),
        b: (b, pose_b),
    };
    let away = match (&out.a.0, &out.b.0) {
        (Shape::HalfSpace { normal }, _) => pose_a.transform_vector(*normal),
        (_, Shape::HalfSpace { normal }) => -pose_b.transform_vector(*normal),
        _ => away,
    };
    let gap = out.separation(away);
    let wanted = match random.below(4) {
        0 => random.range(-0.02, 0.04) * small,
        1 => 0.0,
        _ => random.range(-0.6, 0.05) * small,
    };
    if gap.is_finite() {
        out.b.1.translation += away * (wanted - gap);
        out.b.1.translation += random.direction() * random.range(0.0, 0.15) * small;
    }
    out
}

fn sweep(kind_a: usize, kind_b: usize, count: usize, seed: u64, searches: usize) -> Errors {
    let mut out = Errors::default();
    for i in 0..count {
        let mut random = Random(seed + (i * 64 + kind_a * 8 + kind_b) as u64);
        let mut s = scene(&mut random, kind_a, kind_b);
        let size = [&s.a, &s.b].iter().fold(0.0, |sum, (shape, _)| {
            let r = shape.bounding_radius();
            sum + if r.is_finite() { r } else { 0.0 }
        });
        let far = closest_points(&s.a.0, &s.a.1, &s.b.0, &s.b.1).expect("finite poses");
        // The same near the origin, where coordinates have no rounding to speak of.
        let place = s.a.1.translation;
        s.a.1.translation -= place;
        s.b.1.translation -= place;
        let names = || {
            let brief = |shape: &Shape| match shape {
                Shape::Hull(hull) => format!("hull of {:?}", hull.vertices()),
                other => format!("{other:?}"),
            };
            let (a, b) = (brief(&s.a.0), brief(&s.b.0));
            format!("number {i}\n{a} at {:?}\n{b} at {:?}", s.a.1, s.b.1)
        };
        let near = closest_points(&s.a.0, &s.a.1, &s.b.0, &s.b.1).expect("finite poses");
        let rounding = 3e-14 * place.length();
        let moved = ((far.separation - near.separation).abs() - rounding).max(0.0);
        out.far = out.far.max(moved / size);
        assert!(
            moved < 1e-9 * size,
            "{} far away, not {}: {}",
            far.separation,
            near.separation,
            names()
        );

        let error = |e: f64| e.abs() / size;
        let n = near.normal;
        assert!((n.length() - 1.0).abs() < 1e-14, "{}", names());
        let exact = s.separation(n);
        out.along = out.along.max(error(near.separation - exact));
        assert!(
            error(near.separation - exact) < 1e-9,
            "{} not {exact}: {}",
            near.separation,
            names()
        );
        let (pa, pb) = (near.point_a, near.point_b);
        let off = (n.dot(pa) - reach(&s.a.0, &s.a.1, n)).abs();
        let off = off.max((n.dot(pb) + reach(&s.b.0, &s.b.1, -n)).abs());
        out.surface = out.surface.max(error(off));
        assert!(
            error(off) < 1e-9,
            "point off the surface by {off}: {}",
            names()
        );
        if near.separation > 0.0 {
            out.apart += 1;
            let gap = (pb - pa).length() - near.separation;
            out.gap = out.gap.max(error(gap));
            assert!(error(gap) < 1e-9, "gap {gap} of {near:?}: {}", names());
        } else {
            out.overlapping += 1;
            let bounded = kind_a != 6 && kind_b != 6;
            if i % (count / searches.min(count)).max(1) == 0 && bounded {
                let other = random.direction();
                let better = search(&s, &mut random, n, 300);
                let better = search(&s, &mut random, other, 600).max(better) - near.separation;
                out.beaten = out.beaten.max(better / size);
                assert!(better < 1e-9 * size, "beaten by {better}: {}", names());
            }
        }
        let m = contact((&s.a.0, s.a.1), (&s.b.0, s.b.1), PREDICTION);
        let Some(least) = m.min_separation() else {
            assert!(
                near.separation > PREDICTION * (1.0 - 1e-9),
                "lost: {}",
                names()
            );
            continue;
        };
        assert!(
            error(least - near.separation) < 1e-9,
            "{least} not {}: {}",
            near.separation,
            names()
        );
        for p in m.points() {
            let measured = m.normal().dot(p.point_b - p.point_a);
            assert!(error(p.separation - measured) < 1e-9, "{}", names());
            assert!(p.separation >= near.separation - 1e-9 * size, "{}", names());
        }
    }
    out
}

#[test]
fn every_pair_of_kinds() {
    let full = std::env::var("MOREAU_SWEEP")
        .ok()
        .and_then(|n| n.parse::<usize>().ok());
    let seed = std::env::var("MOREAU_SEED")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(1_u64);
    let count = full.unwrap_or(400);
    println!("a, b, apart, overlapping, along, gap, beaten, surface, far");
    let only = std::env::var("MOREAU_PAIR").ok();
    for kind_a in 0..7 {
        for kind_b in 0..7 {
            if only
                .as_deref()
                .is_some_and(|p| p != format!("{} {}", KINDS[kind_a], KINDS[kind_b]))
            {
                continue;
            }
            if kind_a == 6 && kind_b == 6 {
                continue;
            }
            let e = sweep(
                kind_a,
                kind_b,
                count,
                seed << 32,
                if full.is_some() { 2000 } else { 100 },
            );
            println!(
                "{:10} {:10} {:8} {:8} {:.1e} {:.1e} {:.1e} {:.1e} {:.1e}",
                KINDS[kind_a],
                KINDS[kind_b],
                e.apart,
                e.overlapping,
                e.along,
                e.gap,
                e.beaten,
                e.surface,
                e.far
            );
            assert!(e.apart > count / 20 && e.overlapping > count / 20, "{e:?}");
        }
    }
}
