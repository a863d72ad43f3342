//! What bullets may cost, and that what they cannot afford is taken as other bodies' is: nothing passes through
//! anything.

#[path = "support/random.rs"]
mod random;

use moreau_collision::Shape;
use moreau_math::{Vec3, vec3};
use moreau_pipeline::{Body, BodyId, StepReport, World, WorldSettings};
use random::Random;

const DT: f64 = 1.0 / 60.0;

/// 216 boxes on their way down, close to each other, all of them bullets or none.
fn pile(bullet: bool, settings: WorldSettings) -> World {
    let mut world = World::new(settings).unwrap();
    world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
    let mut random = Random(5);
    for i in 0..216 {
        let at = vec3(
            f64::from(i % 6) - 2.5,
            f64::from(i / 36),
            f64::from(i / 6 % 6) - 2.5,
        );
        let mut body = Body::dynamic(Shape::cuboid(0.1, 0.1, 0.1)).friction(0.5);
        body.bullet = bullet;
        let body = body.at(at * 0.25 + Vec3::Y * 0.3);
        world
            .add(body.moving(random.vec(1.0), random.vec(1.0)))
            .unwrap();
    }
    world
}

/// The work of a step that takes all as one, in looks: pairs, points, and sweeps and factorisations of all of them.
fn in_one(report: &StepReport) -> u64 {
    let solves = report.solvers.iter().map(|(_, share)| {
        let points = share.contact_points as u64;
        points + points * share.sweeps / 100 + points * share.factorizations / 8
    });
    report.pairs as u64 + solves.sum::<u64>()
}

#[test]
fn a_pile_of_bullets_costs_a_few_steps_at_most() {
    let settings = WorldSettings::default();
    let mut world = pile(true, settings);
    let (mut hurried, mut most) = (0, 0.0f64);
    for step in 0..40 {
        let report = world.step(DT).unwrap();
        hurried += report.hurried_groups;
        let groups = (report.islands + report.hurried_groups) as u64;
        let allowed = groups * settings.ordered_base_work
            + u64::from(settings.ordered_work_factor + 2) * in_one(&report);
        assert!(
            report.ordered_work <= allowed,
            "step {step}: {} looks of {allowed}",
            report.ordered_work
        );
        most = most.max(report.ordered_work as f64 / in_one(&report) as f64);
    }
    assert!(hurried > 20, "{hurried} groups were hurried");
    assert!(most > 0.0);
}

/// With nothing to spend, bullets go as other bodies, to the last bit.
#[test]
fn bullets_that_may_cost_nothing_are_bodies_like_others() {
    let mut settings = WorldSettings::default();
    (
        settings.ordered_base_work,
        settings.ordered_work_factor,
        settings.ordered_impacts,
    ) = (0, 0, 0);
    let (mut with, mut without) = (pile(true, settings), pile(false, settings));
    let mut hurried = 0;
    for _ in 0..30 {
        let report = with.step(DT).unwrap();
        assert_eq!(report.ordered_impacts, 0);
        hurried += report.hurried_groups;
        assert_eq!(without.step(DT).unwrap().hurried_groups, 0);
        for (a, b) in with.bodies().zip(without.bodies()) {
            assert_eq!(a.pose(), b.pose());
            assert_eq!(a.velocity(), b.velocity());
        }
    }
    assert!(hurried > 20, "{hurried}");
}

/// A closed room of thin plates with bullets of every kind in it, whatever they may cost.
#[test]
fn bullets_in_a_hurry_stay_in_their_room() {
    let mut random = Random(3);
    let shapes = [
        Shape::sphere(0.02),
        Shape::cuboid(0.05, 0.02, 0.002),
        Shape::capsule(0.05, 0.005),
        Shape::cylinder(0.03, 0.01),
        Shape::cuboid(0.02, 0.02, 0.02),
    ];
    let (mut hurried, mut ordered) = (0, 0);
    for base in [0, 500, 6000] {
        for speed in [10.0, 100.0, 1000.0] {
            let mut settings = WorldSettings {
                gravity: Vec3::ZERO,
                ordered_base_work: base,
                ..WorldSettings::default()
            };
            settings.ordered_work_factor = (base > 0).into();
            let mut world = World::new(settings).unwrap();
            for (axis, half) in [
                (Vec3::X, vec3(0.002, 1.1, 1.1)),
                (Vec3::Y, vec3(1.1, 0.002, 1.1)),
                (Vec3::Z, vec3(1.1, 1.1, 0.002)),
            ] {
                for side in [-1.0, 1.0] {
                    let wall = Body::fixed(Shape::cuboid(half.x, half.y, half.z));
                    let wall = wall.at(axis * side).restitution(0.9).friction(0.3);
                    world.add(wall).unwrap();
                }
            }
            let mut ids: Vec<BodyId> = Vec::new();
            for k in 0..15 {
                let body = Body::dynamic(shapes[k % 5].clone()).restitution(0.9);
                let body = body.friction(0.3).bullet().at(random.vec(0.8));
                let velocity = random.vec(1.0).normalize() * speed;
                let body = body.rotated(random.rotation());
                let spin = random.vec(30.0 * (k / 5) as f64);
                ids.push(world.add(body.moving(velocity, spin)).unwrap());
            }
            for step in 0..12 {
                let report = world.step(DT).unwrap();
                hurried += report.hurried_groups;
                ordered += report.ordered_impacts;
                for &id in &ids {
                    let p = world.body(id).unwrap().position();
                    assert!(
                        p.abs().max_element() < 1.0,
                        "{p} after step {step} at {speed} m/s, {base}"
                    );
                }
            }
        }
    }
    assert!(
        hurried > 30 && ordered > 30,
        "{hurried} groups, {ordered} impacts"
    );
}

/// What turns by up to 1700 rad a step, beside others that do: the legs of its way count, and are shared by all that is
/// near, so that neither bullets nor others hold up a step; and nothing passes through anything.
#[test]
fn fast_spinners_cost_no_more_than_their_legs() {
    let (bodies, legs) = (6, 1024);
    let shapes = [
        Shape::cone(0.4, 0.4),
        Shape::cuboid(0.4, 0.3, 0.2),
        Shape::cylinder(0.02, 0.4),
    ];
    let mut random = Random(17);
    let (mut most, mut ordered) = (0, 0);
    for shape in shapes {
        for spin in [100.0, 1e3, 1e4, 1e5] {
            for speed in [1.0, 30.0] {
                let mut world = World::new(WorldSettings::default()).unwrap();
                let ground = Body::fixed(Shape::half_space(Vec3::Y));
                world.add(ground.restitution(0.5)).unwrap();
                for i in 0..bodies {
                    let at = vec3(f64::from(i % 3), 0.7, f64::from(i / 3));
                    let body = Body::dynamic(shape.clone()).restitution(0.5).bullet();
                    let body = body.at(at).rotated(random.rotation());
                    let spin = random.vec(1.0).normalize() * spin;
                    world.add(body.moving(random.vec(speed), spin)).unwrap();
                }
                let mut energy = f64::INFINITY;
                for step in 0..12 {
                    let mut settings = *world.settings();
                    let mut plain = World::from_snapshot(&world.snapshot()).unwrap();
                    (
                        settings.ordered_base_work,
                        settings.ordered_work_factor,
                        settings.ordered_impacts,
                    ) = (0, 0, 0);
                    plain.set_settings(settings).unwrap();
                    let plain = plain.step(DT).unwrap();
                    let report = world.step(DT).unwrap();
                    let what = format!("{} {spin} rad/s {speed} m/s step {step}", shape.kind());
                    // Each leg is made, and looked at with all that is near.
                    let all_legs = bodies as u64 * legs * 9;
                    for work in [plain.leg_work, report.leg_work] {
                        assert!(work <= 2 * all_legs, "{what}: {work} of {all_legs}");
                        most = most.max(work);
                    }
                    let groups = (report.islands + report.hurried_groups) as u64;
                    let allowed = groups * 6000 + 5 * in_one(&plain) + all_legs;
                    let work = report.ordered_work;
                    assert!(work <= allowed, "{what}: {work} looks of {allowed}");
                    ordered += report.ordered_impacts;
                    for body in world.bodies().skip(1) {
                        let p = body.center_of_mass();
                        assert!(p.y > 0.0, "{what}: {p}");
                    }
                    let now = report.kinetic_energy + report.potential_energy;
                    assert!(
                        now <= energy + 1e-6 * now.abs(),
                        "{what}: {energy} to {now} J"
                    );
                    energy = energy.min(now);
                }
            }
        }
    }
    assert!(
        most > 10_000 && ordered > 30,
        "{most} looks, {ordered} impacts"
    );
}
