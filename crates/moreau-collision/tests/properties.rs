//! What holds for every pair of shapes at every pose, over thousands of random scenes.

mod scenes;

use moreau_collision::{Manifold, Shape};
use moreau_math::{Pose, Vec3, libm};
use scenes::brute::{Solid, separation, separation_along};
use scenes::{Random, contact, scaled};

const PREDICTION: f64 = 0.05;

struct Scene {
    a: Shape,
    pose_a: Pose,
    b: Shape,
    pose_b: Pose,
}

impl Scene {
    fn contact(&self) -> Manifold {
        contact((&self.a, self.pose_a), (&self.b, self.pose_b), PREDICTION)
    }
}

/// Shapes of the given kinds whose distance is about between -0.5 and 0.1 m.
fn scene(random: &mut Random, kind_a: u64, kind_b: u64) -> Scene {
    let (a, b) = (random.shape(kind_a), random.shape(kind_b));
    let pose_a = Pose::new(random.direction() * 3.0, random.rotation());
    let away = random.direction();
    let mut pose_b = Pose::new(pose_a.translation, random.rotation());
    // Slide B away until the gap along the line of centres is a small random number, then sideways.
    let gap = separation_along(&Solid::new(&a, &pose_a), &Solid::new(&b, &pose_b), away);
    let wanted = if random.below(2) == 0 {
        random.range(-0.02, 0.06)
    } else {
        random.range(-0.8, 0.1)
    };
    pose_b.translation += away * (wanted - gap);
    pose_b.translation += random.direction() * random.range(0.0, 0.2);
    Scene {
        a,
        pose_a,
        b,
        pose_b,
    }
}

fn scenes(count: usize) -> impl Iterator<Item = Scene> {
    (0..count).flat_map(|i| {
        (0..4).flat_map(move |ka| {
            (0..4).map(move |kb| {
                let mut random = Random(i as u64 * 16 + ka * 4 + kb);
                scene(&mut random, ka, kb)
            })
        })
    })
}

#[test]
fn separations_are_the_exact_distance_or_the_least_translation() {
    let (mut apart, mut touching, mut overlapping) = (0, 0, 0);
    for s in scenes(1500) {
        let (a, b) = (Solid::new(&s.a, &s.pose_a), Solid::new(&s.b, &s.pose_b));
        let exact = separation(&a, &b);
        let m = s.contact();
        let names = format!("{:?} at {:?}\n{:?} at {:?}", s.a, s.pose_a, s.b, s.pose_b);
        let Some(least) = m.min_separation() else {
            assert!(exact > PREDICTION - 1e-9, "lost at {exact}: {names}");
            apart += 1;
            continue;
        };
        if exact > 0.0 {
            touching += 1;
        } else {
            overlapping += 1;
        }
        assert!(
            (least - exact).abs() < 1e-9,
            "{least}, not {exact}: {names}"
        );
        // The normal is a direction in which the solids really are that far apart.
        let along = separation_along(&a, &b, m.normal());
        assert!(
            (along - exact).abs() < 1e-9,
            "along the normal {along}, not {exact}: {names}"
        );
        assert!((m.normal().length() - 1.0).abs() <= 1e-15);
        for p in m.points() {
            let measured = m.normal().dot(p.point_b - p.point_a);
            assert!((p.separation - measured).abs() < 1e-12);
            assert!(p.separation <= PREDICTION + 1e-11);
            assert!(a.surface_distance(p.point_a).abs() < 1e-9, "{names}\n{p:?}");
            assert!(b.surface_distance(p.point_b).abs() < 1e-9, "{names}\n{p:?}");
        }
        for pair in m.points().windows(2) {
            assert!(pair[0].feature < pair[1].feature, "ids: {names}");
        }
    }
    assert!(
        apart > 1000 && touching > 1000 && overlapping > 1000,
        "{apart} {touching} {overlapping}"
    );
}

#[test]
fn exchanging_the_shapes_exchanges_the_manifold() {
    for s in scenes(500) {
        let m = s.contact();
        let back = contact((&s.b, s.pose_b), (&s.a, s.pose_a), PREDICTION);
        assert_eq!(m, back.swapped());
    }
}

#[test]
fn a_rigid_motion_of_the_scene_moves_the_manifold() {
    for (i, s) in scenes(500).enumerate() {
        let mut random = Random(i as u64);
        let motion = Pose::new(random.direction() * 5.0, random.rotation());
        let m = s.contact();
        let n = contact(
            (&s.a, motion.mul_pose(&s.pose_a)),
            (&s.b, motion.mul_pose(&s.pose_b)),
            PREDICTION,
        );
        let names = format!("{:?} at {:?}\n{:?} at {:?}", s.a, s.pose_a, s.b, s.pose_b);
        assert_eq!(
            m.points().len(),
            n.points().len(),
            "{names}\n{m:#?}\n{n:#?}"
        );
        if m.is_empty() {
            continue;
        }
        assert!((motion.transform_vector(m.normal()) - n.normal()).length() < 1e-9);
        for (p, q) in m.points().iter().zip(n.points()) {
            assert_eq!(p.feature, q.feature);
            assert!((p.separation - q.separation).abs() < 1e-9);
            assert!(
                (motion.transform_point(p.point_a) - q.point_a).length() < 1e-9,
                "{names}"
            );
            assert!(
                (motion.transform_point(p.point_b) - q.point_b).length() < 1e-9,
                "{names}"
            );
        }
    }
}

/// A pose changed by 1e-6 changes the manifold by about as much, but for the few scenes that lie on a
/// border: where two directions separate equally well, or a feature comes into view.
#[test]
fn a_small_motion_changes_the_manifold_by_as_much() {
    const STEP: f64 = 1e-6;
    let (mut smooth, mut jumps) = (0, 0);
    for (i, s) in scenes(500).enumerate() {
        let mut random = Random(i as u64);
        let m = s.contact();
        let mut moved = s.pose_b;
        moved.translation += random.direction() * STEP;
        let turn = random.direction() * (0.5 * STEP);
        let q = moreau_math::Quat::from_xyzw(turn.x, turn.y, turn.z, 1.0).normalize();
        moved.rotation = (q * moved.rotation).normalize();
        let n = contact((&s.a, s.pose_a), (&s.b, moved), PREDICTION);
        let same = m.points().len() == n.points().len()
            && (m.points().iter().zip(n.points())).all(|(p, q)| {
                p.feature == q.feature
                    && (p.separation - q.separation).abs() < 100.0 * STEP
                    && close(p.point_a, q.point_a, 1e3 * STEP)
                    && close(p.point_b, q.point_b, 1e3 * STEP)
            })
            && close(m.normal(), n.normal(), 1e3 * STEP);
        if same {
            smooth += 1;
        } else {
            jumps += 1;
        }
        // The depth itself is continuous everywhere.
        if let (Some(d), Some(e)) = (m.min_separation(), n.min_separation()) {
            assert!((d - e).abs() < 4.0 * STEP);
        }
    }
    assert!(smooth > 7000);
    assert!(jumps < 40, "{jumps} jumps, {smooth} smooth");
}

/// Sizes from 0.1 mm to 10 km, in any mixture: exact relative to the sizes, and never a NaN.
#[test]
fn sizes_may_differ_by_any_factor() {
    let mut found = 0;
    for seed in 0..20_000 {
        let mut random = Random(seed);
        let mut s = scene(&mut random, seed % 4, seed / 4 % 4);
        let mut factor = || libm::exp(random.range(-9.2, 9.2));
        let (scale_a, scale_b) = (factor(), factor());
        s.a = scaled(&s.a, scale_a);
        s.b = scaled(&s.b, scale_b);
        let away = random.direction();
        s.pose_b.translation = s.pose_a.translation;
        let (a, b) = (Solid::new(&s.a, &s.pose_a), Solid::new(&s.b, &s.pose_b));
        let small = scale_a.min(scale_b);
        let gap = separation_along(&a, &b, away);
        s.pose_b.translation += away * (random.range(-0.3, 0.0) * small - gap);
        let b = Solid::new(&s.b, &s.pose_b);
        let exact = separation(&a, &b);
        let tolerance = 1e-11 * (scale_a + scale_b) + 1e-14;
        let m = contact((&s.a, s.pose_a), (&s.b, s.pose_b), 0.01 * small);
        let names = format!(
            "seed {seed}: {:?} {:?}\n{:?} {:?}",
            s.a, s.pose_a, s.b, s.pose_b
        );
        let Some(least) = m.min_separation() else {
            assert!(exact > 0.01 * small - tolerance, "lost at {exact}: {names}");
            continue;
        };
        found += 1;
        assert!(
            (least - exact).abs() < tolerance,
            "{least}, not {exact}: {names}"
        );
        assert!((m.normal().length() - 1.0).abs() <= 1e-15);
        for p in m.points() {
            assert!(a.surface_distance(p.point_a).abs() < tolerance, "{names}");
            assert!(b.surface_distance(p.point_b).abs() < tolerance, "{names}");
        }
    }
    assert!(found > 5000, "{found}");
}

/// A cube slides and turns on its equal through the aligned position, by a micrometre a step: as a
/// set, its points move by about as much.
#[test]
fn sliding_through_alignment_is_continuous() {
    const STEP: f64 = 1e-6;
    let cube = Shape::cuboid(0.5, 0.5, 0.5);
    for way in 0..50 {
        let mut random = Random(way);
        let slide = random.direction() * Vec3::new(1.0, 0.05, 1.0);
        let turn = Vec3::Y * random.range(-0.5, 0.5);
        let mut before: Option<Manifold> = None;
        for i in -40..=40 {
            let x = (f64::from(i) + 0.3) * STEP;
            let t = turn * (0.5 * x);
            let q = moreau_math::Quat::from_xyzw(t.x, t.y, t.z, 1.0).normalize();
            let pose = Pose::new(Vec3::Y * 0.9999 + slide * x, q);
            let m = contact((&cube, Pose::IDENTITY), (&cube, pose), 0.01);
            assert_eq!(m.points().len(), 4, "way {way}, step {i}");
            if let Some(n) = before {
                assert!(
                    close(m.normal(), n.normal(), 4.0 * STEP),
                    "way {way}, step {i}"
                );
                for p in m.points() {
                    let kept = n.points().iter().any(|q| {
                        close(p.point_a, q.point_a, 4.0 * STEP)
                            && (p.separation - q.separation).abs() < 4.0 * STEP
                            && p.feature == q.feature
                    });
                    assert!(kept, "way {way}, step {i}: {m:?} after {n:?}");
                }
            }
            before = Some(m);
        }
    }
}

fn close(p: Vec3, q: Vec3, tolerance: f64) -> bool {
    (p - q).length() < tolerance
}
