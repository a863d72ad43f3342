//! What stands still costs next to nothing, and stands still.

use moreau_collision::Shape;
use moreau_math::{Vec3, Velocity, vec3};
use moreau_pipeline::{Body, BodyId, World, WorldSettings};

const DT: f64 = 1.0 / 60.0;

fn ground(settings: WorldSettings) -> World {
    let mut world = World::new(settings).unwrap();
    world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
    world
}

fn cube(at: Vec3) -> Body {
    Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5))
        .at(at)
        .density(1000.0)
        .friction(0.5)
}

/// Rows of cubes, 3 cm apart, each on two others.
fn pyramid(settings: WorldSettings, rows: usize) -> (World, Vec<(BodyId, Vec3)>) {
    let mut world = ground(settings);
    let mut cubes = Vec::new();
    for row in 0..rows {
        for i in 0..rows - row {
            let x = 1.03 * (i as f64 - 0.5 * (rows - row - 1) as f64);
            let at = vec3(x, 0.5 + row as f64, 0.0);
            cubes.push((world.add(cube(at)).unwrap(), at));
        }
    }
    (world, cubes)
}

/// Steps of the last `steps` in which some island needed more than its warm start.
fn busy(world: &mut World, settle: usize, steps: usize) -> usize {
    let mut busy = 0;
    for step in 0..settle + steps {
        let report = world.step(DT).unwrap();
        assert!(report.certified);
        let work = report.total_sweeps > 0 || report.factorizations > 0;
        busy += usize::from(work && step >= settle);
    }
    busy
}

#[test]
fn a_pyramid_at_rest_keeps_its_impulses() {
    let (mut world, cubes) = pyramid(WorldSettings::default(), 8);
    let steps = busy(&mut world, 20, 200);
    assert!(steps <= 4, "{steps}");
    for (id, at) in cubes {
        let body = world.body(id).unwrap();
        assert!((body.pose().translation - at).length() < 1e-9);
        // 1e-10 m/s at a contact, which adds up over the rows.
        assert!(body.velocity().linear.length() < 8e-10);
    }
}

/// The gaps that are only rounding carry 35 kN here.
#[test]
fn a_tall_pyramid_at_rest_is_polished_and_never_solved_again() {
    // Where it stands it needs no polish in hundreds of steps.
    let moving = WorldSettings {
        standstill: 0.0,
        ..WorldSettings::default()
    };
    let (mut world, cubes) = pyramid(moving, 20);
    let (mut polished, mut most) = (0, 0);
    for step in 0..200 {
        let report = world.step(DT).unwrap();
        assert!(report.certified);
        if step > 0 {
            assert_eq!(report.total_sweeps, 0, "step {step}");
            most = most.max(report.factorizations);
            polished += u64::from(report.factorizations > 0);
        }
    }
    assert!(
        most == 1 && polished <= 40,
        "{polished} steps, {most} factorisations"
    );
    for (id, at) in cubes {
        let body = world.body(id).unwrap();
        assert!((body.pose().translation - at).length() < 1e-9);
        assert!(body.velocity().linear.length() < 2e-10);
    }
}

#[test]
fn both_switches_have_their_part_in_it() {
    let without = |change: fn(&mut WorldSettings)| {
        // What stands where it is needs neither.
        let mut settings = WorldSettings {
            standstill: 0.0,
            ..WorldSettings::default()
        };
        change(&mut settings);
        busy(&mut pyramid(settings, 8).0, 20, 200)
    };
    let with = without(|_| {});
    let polish = without(|s| s.solver.newton.polish = 0.0);
    let gap = without(|s| s.closed_gap = 0.0);
    assert!(polish > 2 * with && gap > 2 * with, "{with} {polish} {gap}");
}

#[test]
fn a_gap_that_is_only_rounding_counts_as_closed() {
    // Without gravity: up by `gap` in a step, then down, faster than that.
    let after = |gap: f64, closed_gap: f64| {
        let mut world = ground(WorldSettings {
            closed_gap,
            gravity: Vec3::ZERO,
            ..WorldSettings::default()
        });
        let id = world.add(cube(vec3(0.0, 0.5, 0.0))).unwrap();
        world.step(DT).unwrap();
        for speed in [gap / DT, -3.0 * gap / DT] {
            let velocity = Velocity::new(speed * Vec3::Y, Vec3::ZERO);
            world.set_velocity(id, velocity).unwrap();
            assert_eq!(world.step(DT).unwrap().recycled, 1);
        }
        world.body(id).unwrap().pose().translation.y - 0.5
    };
    let near = |a: f64, b: f64| (a - b).abs() < 1e-3 * b.max(1e-9);
    assert!(near(after(5e-11, 1e-10), 5e-11));
    assert!(near(after(5e-11, 0.0), 0.0));
    // A wider one is closed, and to the end.
    assert!(near(after(1e-9, 1e-10), 0.0));
    assert!(near(after(1e-9, 1e-8), 1e-9));
}

#[test]
fn threads_and_snapshots_change_no_bit() {
    let (mut world, _) = pyramid(WorldSettings::default(), 6);
    let (mut other, _) = pyramid(WorldSettings::default(), 6);
    other.set_threads(3).unwrap();
    for step in 0..120 {
        if step % 7 == 0 {
            let snapshot = other.snapshot();
            other = World::from_snapshot(&snapshot).unwrap();
            other.set_threads(2).unwrap();
        }
        let (report, again) = (world.step(DT).unwrap(), other.step(DT).unwrap());
        assert_eq!(report.factorizations, again.factorizations, "step {step}");
        assert_eq!(world.hash(), other.hash(), "step {step}");
    }
}

#[test]
fn heavy_bodies_gain_no_energy_by_gaps_that_stay() {
    let mut world = ground(WorldSettings::default());
    let light = cube(vec3(0.0, 0.5, 0.0)).density(1.0);
    world.add(light).unwrap();
    let heavy = cube(vec3(0.0, 1.5, 0.0)).density(1e6);
    let heavy = world.add(heavy).unwrap();
    for _ in 0..300 {
        world.step(DT).unwrap();
        let rise = world.body(heavy).unwrap().pose().translation.y - 1.5;
        // What each of eight contacts may hold is less than 1e-6 J.
        assert!(1e6 * 9.81 * rise <= 8e-7, "{rise:e}");
    }
}

/// Heavy on light: the sweeps of one step do not get the corrections right, and the next steps have to go on.
#[test]
fn towers_of_any_masses_lose_their_overlaps() {
    const EXCESS: f64 = 2e-4;
    let slop = WorldSettings::default().position_correction.slop;
    for densities in [
        [30.0, 10_000.0].repeat(6),
        (0..12).map(|i| 30.0 * f64::from(1 << i)).collect(),
        vec![1000.0; 12],
    ] {
        let mut world = ground(WorldSettings::default());
        let spacing = 1.0 - slop - EXCESS;
        for (i, density) in densities.iter().enumerate() {
            let at = vec3(0.0, 0.5 - slop - EXCESS + spacing * i as f64, 0.0);
            world.add(cube(at).density(*density)).unwrap();
        }
        let mut deepest = 0.0;
        for _ in 0..600 {
            deepest = world.step(DT).unwrap().max_penetration;
        }
        assert!(deepest <= slop + 1e-6, "{deepest} m at {densities:?}");
    }
}
