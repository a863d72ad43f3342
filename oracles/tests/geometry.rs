//! Distances, depths and mass properties of shapes against Parry.
//!
//! Parry finds what is not in closed form by iterations that end at its own tolerance, so the two do
//! not agree to rounding. Which is right is decided without either: with the supports h of both shapes
//! as *Parry* computes them, s(n) = -h_B(-n) - h_A(n) separates the shapes for any unit n, so
//!
//! - our normal has to keep what our separation promises, and
//! - Parry's normal must not keep a better promise than ours, for overlapping shapes; of shapes apart
//!   our points must be as near as our separation says.
//!
//! Then ours is right whatever Parry says. How far Parry is from that is held as well, so that neither
//! of the two can change unseen:
//!
//! | pair | apart | overlapping | why |
//! |---|---|---|---|
//! | a ball and anything | 1e-12 | 1e-12 | closed forms, or the projection of a point, on both sides |
//! | boxes and hulls | 1e-12 for 99.9 % | 1e-12 for 99 % | Parry's GJK and EPA end at exact features; rarely EPA takes a face that is not the nearest |
//! | others | 2e-5 for 99.9 % | 1e-6 for 99 % | Parry's GJK ends where the distance changes by about the root of the rounding; its EPA replaces round faces by triangles |
//!
//! `MOREAU_SWEEP=100000 cargo test --release -p moreau-oracles --test geometry -- --nocapture` compares
//! that many of every pair and prints the differences.

mod common;

use common::{KINDS, Random, back, pose, reach, shape, share};
use moreau_collision::closest_points;
use moreau_math::{Pose, Vec3};
use parry3d_f64::query;

#[derive(Default)]
struct Differences {
    apart: Vec<f64>,
    overlapping: Vec<f64>,
}

fn compare(kind_a: usize, kind_b: usize, count: usize) -> Differences {
    let mut out = Differences::default();
    for i in 0..count {
        let mut random = Random(((i * 6 + kind_a) * 6 + kind_b) as u64);
        let (a, b) = (shape(&mut random, kind_a), shape(&mut random, kind_b));
        let pose_a = Pose::new(random.direction(), random.rotation());
        let mut pose_b = Pose::new(pose_a.translation, random.rotation());
        let away = random.direction();
        let gap = -reach(&*b.theirs, &pose_b, -away) - reach(&*a.theirs, &pose_a, away);
        pose_b.translation += away * (random.range(-0.5, 0.2) - gap);
        let along = |n: Vec3| -reach(&*b.theirs, &pose_b, -n) - reach(&*a.theirs, &pose_a, n);

        let near = closest_points(&a.ours, &pose_a, &b.ours, &pose_b).expect("finite");
        let s = near.separation;
        let names = || {
            format!(
                "{:?} at {pose_a:?}\n{:?} at {pose_b:?}: {near:?}",
                a.ours, b.ours
            )
        };
        assert!(
            (along(near.normal) - s).abs() < 1e-9,
            "{}: {}",
            along(near.normal),
            names()
        );
        let (place_a, place_b) = (pose(&pose_a), pose(&pose_b));
        if s > 0.0 {
            assert!(
                ((near.point_b - near.point_a).length() - s).abs() < 1e-9,
                "{}",
                names()
            );
            let d = query::distance(&place_a, &*a.theirs, &place_b, &*b.theirs);
            out.apart.push((d.expect("supported").distance - s).abs());
        } else {
            let contact = query::contact(&place_a, &*a.theirs, &place_b, &*b.theirs, 0.0);
            // Where they find none, they are off by the whole depth.
            let Some(contact) = contact.expect("supported") else {
                out.overlapping.push(s.abs());
                continue;
            };
            out.overlapping.push((contact.dist - s).abs());
            let n = back(contact.normal1);
            if (n.length() - 1.0).abs() < 1e-6 {
                let theirs = along(n.normalize());
                assert!(
                    theirs < s + 1e-9,
                    "{theirs} along {n} is better than {}",
                    names()
                );
            }
        }
    }
    out
}

#[test]
fn separations_are_right_where_parry_differs() {
    let count = std::env::var("MOREAU_SWEEP")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(1000);
    println!("a, b; apart: median, 99.9 %, most; overlapping: median, 99 %, most");
    for kind_a in 0..6 {
        for kind_b in 0..6 {
            let mut d = compare(kind_a, kind_b, count);
            let apart = [0.5, 0.999, 1.0].map(|p| share(&mut d.apart, p));
            let deep = [0.5, 0.99, 1.0].map(|p| share(&mut d.overlapping, p));
            println!(
                "{:9} {:9} {:.0e} {:.0e} {:.0e}   {:.0e} {:.0e} {:.0e}",
                KINDS[kind_a],
                KINDS[kind_b],
                apart[0],
                apart[1],
                apart[2],
                deep[0],
                deep[1],
                deep[2]
            );
            let flat = |kind: usize| kind == 1 || kind == 3;
            if kind_a == 0 || kind_b == 0 {
                assert!(apart[2].max(deep[2]) < 1e-12, "{apart:?} {deep:?}");
            } else if flat(kind_a) && flat(kind_b) {
                assert!(apart[1].max(deep[1]) < 1e-12, "{apart:?} {deep:?}");
            } else {
                assert!(apart[1] < 2e-5 && deep[1] < 1e-6, "{apart:?} {deep:?}");
            }
        }
    }
}

#[test]
fn masses_agree() {
    for kind in 0..6 {
        for i in 0..200 {
            let mut random = Random(1000 * kind as u64 + i);
            let both = shape(&mut random, kind);
            let ours = both.ours.mass_properties(700.0).unwrap();
            let theirs = both.theirs.mass_properties(700.0);
            let names = format!("{:?}: {ours:?} {theirs:?}", both.ours);
            assert!(
                (ours.mass - theirs.mass()).abs() < 1e-9 * ours.mass,
                "{names}"
            );
            let center = back(theirs.local_com);
            assert!((ours.center_of_mass - center).length() < 1e-9, "{names}");
            let m = theirs.reconstruct_inertia_matrix();
            let i = ours.inertia.to_mat3();
            let trace = ours.inertia.trace();
            for (p, q) in [
                (m.x_axis, i.x_axis),
                (m.y_axis, i.y_axis),
                (m.z_axis, i.z_axis),
            ] {
                assert!((back(p) - q).length() < 1e-9 * trace, "{names}");
            }
        }
    }
}
