//! What does not hold as it should, with its measured figures, so that a change for the better or
//! the worse is seen. The right answers are in the comments.

use crate::harness::{Placement, Random, Scene, near};
use crate::stacking::tower;
use moreau::pipeline::SolverChoice;
use moreau::{Body, MassProperties, Quat, Shape, SymMat3, Vec3, World, WorldSettings, vec3};

/// Sweeps alone, at their default budget, do not hold heavy on light, and the report says so. The
/// default solver holds each of these to 1e-8 m.
#[test]
fn sweeps_let_heavy_bodies_sink_and_say_so() {
    // Masses from below, drift in 10 s at 60 Hz: at least, at most (m). Right: 0.
    let rows = [
        (vec![1.0, 1e3], 1e-3, 0.03),
        (vec![1.0, 1e4], 0.1, 2.0),
        // It falls, and how far its cubes go is chance.
        (vec![1.0, 1.0, 1.0, 1.0, 1e3], 0.1, 10.0),
    ];
    for (masses, least, most) in rows {
        let mut scene = tower(&masses);
        scene.settings.solver.choice = SolverChoice::Pgs;
        (scene.residual, scene.energy_slack) = (f64::INFINITY, f64::INFINITY);
        let mut placed = scene.place(&Placement::HOME);
        let (mut farthest, mut uncertified): (f64, u32) = (0.0, 0);
        placed.run(&scene, 1.0 / 60.0, 10.0, |placed, report| {
            for i in 1..=masses.len() {
                let right = vec3(0.0, i as f64 - 0.5, 0.0);
                farthest = farthest.max((placed.position(i) - right).length());
            }
            uncertified += u32::from(!report.certified);
        });
        assert!(
            (least..most).contains(&farthest),
            "{masses:?}: drift {farthest}"
        );
        assert!(
            uncertified > 30,
            "{masses:?}: {uncertified} steps are marked"
        );
    }
}

/// In islands of more bodies than `ordered_impacts`, impacts that follow one another within one step are
/// solved as one: the first of 20 balls 1 mm apart, with 1 m/s, comes back. Where all are bullets, and in
/// a smaller island, the answer is the right one: (0, .., 0, 1).
#[test]
fn b56_impacts_closer_than_a_step_are_simultaneous_in_large_islands() {
    let row = |ordered: u32, bullet: bool| {
        let mut scene = Scene::weightless();
        scene.settings.ordered_impacts = ordered;
        for i in 0..20 {
            let ball = Body::dynamic(Shape::sphere(0.5))
                .mass(1.0)
                .restitution(1.0)
                .friction(0.0);
            let speed = if i == 0 { 1.0 } else { 0.0 };
            let at = vec3(1.001 * f64::from(i), 0.0, 0.0);
            let mut ball = ball.at(at).moving(vec3(speed, 0.0, 0.0), Vec3::ZERO);
            ball.bullet = bullet;
            scene.add(ball);
        }
        let mut placed = scene.place(&Placement::HOME);
        placed.run(&scene, 1.0 / 60.0, 0.5, |_, _| {});
        let momentum = (0..20).map(|i| placed.linear(i).x).sum::<f64>();
        near("momentum", momentum, 1.0, 1e-12);
        [0, 19].map(|i| placed.linear(i).x)
    };
    let [first, last] = row(16, false);
    assert!((-0.9..-0.3).contains(&first), "the first has {first} m/s");
    assert!(last < 0.9, "the last has {last} m/s");
    for (ordered, bullet) in [(20, false), (16, true), (0, true)] {
        let [first, last] = row(ordered, bullet);
        near("first", first, 0.0, 1e-9);
        near("last", last, 1.0, 1e-9);
    }
}

/// A flat plate that turns by nearly a radian a step wanders. Right: it stays.
#[test]
fn b64_a_plate_that_turns_a_radian_a_step_wanders() {
    let mut scene = Scene::new();
    scene.floor(0.5, 0.0);
    let plate = Body::dynamic(Shape::cuboid(0.5, 0.1, 0.5))
        .mass(1.0)
        .friction(0.5);
    let plate = plate.at(vec3(0.0, 0.1, 0.0));
    scene.add(plate.moving(Vec3::ZERO, vec3(0.0, 50.0, 0.0)));
    scene.energy_slack = 0.1;
    let mut placed = scene.place(&Placement::HOME);
    placed.run(&scene, 1.0 / 60.0, 5.0, |placed, _| {
        let off = placed.position(1) - vec3(0.0, 0.1, 0.0);
        near("way", off.length(), 0.0, 0.02);
    });
    near("at rest", placed.angular(1).length(), 0.0, 1e-9);
}

/// A pile of 343 boxes that fall on each other is not solved exactly while it lands: the worst contact of a step is
/// off by centimetres per second and more, and such a step is not certified. Right: 1e-8 m/s, which the steps
/// hold in which the boxes still fly.
#[test]
fn large_piles_in_motion_are_not_solved_exactly_and_say_so() {
    let mut scene = Scene::new();
    scene.floor(0.5, 0.0);
    let mut random = Random(5);
    for i in 0..343 {
        let at = vec3(
            f64::from(i % 7) - 3.0,
            f64::from(i / 49),
            f64::from(i / 7 % 7) - 3.0,
        );
        let cube = Body::dynamic(Shape::cuboid(0.1, 0.1, 0.1)).friction(0.5);
        let cube = cube.at(at * 0.25 + Vec3::Y * 0.4);
        scene.add(cube.moving(random.vector(1.0), random.vector(1.0)));
    }
    (scene.residual, scene.energy_slack) = (f64::INFINITY, f64::INFINITY);
    let mut placed = scene.place(&Placement::HOME);
    let (mut certified, mut worst): (u32, f64) = (0, 0.0);
    placed.run(&scene, 1.0 / 60.0, 0.5, |_, report| {
        certified += u32::from(report.certified);
        worst = worst.max(report.residual);
        assert_eq!(
            report.certified,
            report.residual <= 1e-8,
            "{} m/s at step {}",
            report.residual,
            report.step
        );
    });
    assert!((1..15).contains(&certified), "{certified} of 30 steps");
    assert!((1e-3..1.0).contains(&worst), "the worst is off by {worst}");
}

/// A body with three different moments that turns by more than 64 rad in a step loses the phase of its wobble, and
/// keeps angular momentum and energy. Right: where steps of a sixteenth of that take it, as up to 64 rad.
#[test]
fn a_wobble_of_more_than_64_rad_a_step_loses_its_phase() {
    let dt = 1.0 / 60.0;
    let inertia = vec3(1.0, 2.0, 3.0);
    let spins = |turn: f64| {
        let mut scene = Scene::weightless();
        let mass = MassProperties {
            mass: 1.0,
            center_of_mass: Vec3::ZERO,
            inertia: SymMat3::from_diagonal(inertia),
        };
        let body = Body::dynamic(Shape::cuboid(0.5, 0.4, 0.3)).mass_properties(mass);
        let spin = vec3(2.0, 1.0, 2.0) / 3.0 * (turn / dt);
        scene.add(body.moving(Vec3::ZERO, spin));
        let (mut coarse, mut fine) = (
            scene.place(&Placement::HOME).world,
            scene.place(&Placement::HOME).world,
        );
        let of = |world: &moreau::World| {
            let body = world.bodies().next().unwrap();
            (
                body.rotation(),
                body.angular_momentum(),
                body.kinetic_energy(),
            )
        };
        let (_, momentum, energy) = of(&coarse);
        coarse.step(dt).unwrap();
        for _ in 0..16 {
            fine.step(dt / 16.0).unwrap();
        }
        let (a, b) = (of(&coarse), of(&fine));
        for (_, l, e) in [a, b] {
            near(
                "momentum",
                (l - momentum).length() / momentum.length(),
                0.0,
                1e-9,
            );
            near("energy", e / energy, 1.0, 1e-9);
        }
        let between: Quat = a.0.conjugate() * b.0;
        2.0 * between.xyz().length()
    };
    for turn in [4.0, 20.0, 60.0] {
        let off = spins(turn);
        assert!(off < 1e-9, "{turn} rad: off by {off} rad");
    }
    let off = [80.0, 90.0, 100.0, 120.0].map(spins);
    let most = off.into_iter().fold(0.0, f64::max);
    assert!(most > 0.1, "{off:?} rad");
}

/// Bodies that land with 1.7 rad a step: contacts and the second look are linear in the turn, so that corners come in by
/// up to a quarter of the inner radius, or R theta²/2. Right: no overlap. With a quarter of that turn it is 6 % at most.
#[test]
fn what_lands_with_a_radian_a_step_overlaps() {
    let deepest = |turn: f64| {
        let dt = 1.0 / 60.0;
        let (size, mut random, mut deepest) = (0.05, Random(4), 0.0f64);
        for seed in 0..40 {
            let mut world = World::new(WorldSettings::default()).unwrap();
            let ground = Body::fixed(Shape::half_space(Vec3::Y)).friction(0.5);
            world.add(ground).unwrap();
            let axis = random.vector(1.0).normalize();
            let shape = match seed % 2 {
                0 => Shape::cuboid(0.5 * size, 0.4 * size, 0.3 * size),
                _ => Shape::cone(0.6 * size, 0.6 * size),
            };
            let body = Body::dynamic(shape).friction(0.5).at(vec3(0.0, 0.15, 0.0));
            let body = body.rotated(Quat::from_scaled_axis(random.vector(3.0)));
            let body = body.moving(vec3(0.3, -1.0, 0.2), axis * (turn / dt));
            world.add(body).unwrap();
            for _ in 0..30 {
                deepest = deepest.max(world.step(dt).unwrap().max_penetration / size);
            }
        }
        deepest
    };
    let far = deepest(1.7);
    assert!((0.03..0.3).contains(&far), "{far} of its size");
    let near = deepest(0.4);
    assert!(near < 0.07, "{near} of its size");
}

/// Gaps up to a micrometre count as none: three equal balls 1e-7 m apart part as touching ones do, (-1/3, 2/3, 2/3) v.
/// Right: (0, 0, 1) v, as they do 1e-5 m apart.
#[test]
fn gaps_of_a_micrometre_touch() {
    for (gap, first, last) in [(1e-7, -1.0 / 3.0, 2.0 / 3.0), (1e-5, 0.0, 1.0)] {
        let mut scene = Scene::weightless();
        for i in 0..3 {
            let ball = Body::dynamic(Shape::sphere(0.5)).mass(1.0);
            let ball = ball.restitution(1.0).friction(0.0);
            let speed = if i == 0 { 1.0 } else { 0.0 };
            let at = vec3((1.0 + gap) * f64::from(i), 0.0, 0.0);
            scene.add(ball.at(at).moving(vec3(speed, 0.0, 0.0), Vec3::ZERO));
        }
        let mut placed = scene.place(&Placement::HOME);
        placed.run(&scene, 1.0 / 60.0, 0.5, |_, _| {});
        near("first", placed.linear(0).x, first, 1e-3);
        near("last", placed.linear(2).x, last, 1e-3);
    }
}
