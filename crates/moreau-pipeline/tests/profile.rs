//! Steps that measure themselves: the same bits, and figures that add up.

use moreau_collision::Shape;
use moreau_math::{Vec3, vec3};
use moreau_pipeline::{
    Body, IslandSolver, SolverChoice, StageTimes, StateHash, World, WorldSettings,
};

const DT: f64 = 1.0 / 60.0;

/// Cubes in columns of four, and one that slides among them.
fn world(choice: SolverChoice) -> World {
    let mut settings = WorldSettings::default();
    settings.solver.choice = choice;
    let mut world = World::new(settings).unwrap();
    world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
    for x in 0..6 {
        for y in 0..4 {
            let at = vec3(1.5 * f64::from(x), 0.5 + f64::from(y), 0.0);
            let cube = Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5)).at(at);
            world.add(cube).unwrap();
        }
    }
    let ball = Body::dynamic(Shape::sphere(0.5)).at(vec3(-2.0, 1.0, 0.2));
    world
        .add(ball.moving(vec3(9.0, 0.0, 0.0), Vec3::ZERO))
        .unwrap();
    world
}

#[test]
fn steps_that_are_measured_have_the_same_bits() {
    for threads in [1, 2] {
        let run = |profiling: bool| -> Vec<StateHash> {
            let mut world = world(SolverChoice::Auto);
            world.set_threads(threads).unwrap();
            world.set_profiling(profiling);
            let step = |_| {
                let report = world.step(DT).unwrap();
                assert_eq!(report.profile.is_some(), profiling);
                assert!(report.seconds > 0.0);
                world.hash()
            };
            (0..40).map(step).collect()
        };
        assert!(run(true) == run(false), "on {threads} threads");
    }
}

#[test]
fn stages_add_up_to_the_step() {
    for threads in [1, 2] {
        let mut world = world(SolverChoice::Auto);
        world.set_threads(threads).unwrap();
        world.set_profiling(true);
        let mut best = 0.0;
        for _ in 0..20 {
            let report = world.step(DT).unwrap();
            let times = report.profile.unwrap().times;
            assert_eq!(times.total, report.seconds);
            let stages = times.stages();
            assert!(stages.iter().all(|s| *s >= 0.0), "{times:?}");
            let part = stages.iter().sum::<f64>() / times.total;
            assert!(part <= 1.0 + 1e-9, "{times:?}");
            best = f64::max(best, part);
        }
        // What lies between the stages is nothing, where nobody interrupts the step.
        assert!(best > 0.9, "{best}");
    }
    assert_eq!(
        StageTimes::NAMES.len(),
        StageTimes::default().stages().len()
    );
}

#[test]
fn lanes_hold_what_the_fast_path_solved() {
    let mut world = world(SolverChoice::Simd);
    world.set_profiling(true);
    for _ in 0..5 {
        let report = world.step(DT).unwrap();
        let lanes = report.profile.unwrap().lanes;
        let share = report.solvers.of(IslandSolver::Simd);
        assert!(share.contact_points > 0);
        assert_eq!(lanes.contacts, share.contact_points);
        assert!(lanes.places >= lanes.contacts && lanes.places.is_multiple_of(4));
        assert!(lanes.colours > 0);
        assert_eq!(lanes.fill(), lanes.contacts as f64 / lanes.places as f64);
    }
    // Newton fills no lanes.
    let mut world = self::world(SolverChoice::Newton);
    world.set_profiling(true);
    let lanes = world.step(DT).unwrap().profile.unwrap().lanes;
    assert_eq!((lanes.contacts, lanes.places), (0, 0));
    assert_eq!(lanes.fill(), 1.0);
}

#[test]
fn bytes_grow_with_what_is_there() {
    let empty = World::new(WorldSettings::default()).unwrap().bytes();
    let mut world = world(SolverChoice::Auto);
    let placed = world.bytes();
    assert_eq!(empty.contacts + empty.cache, 0);
    assert!(placed.bodies > empty.bodies && placed.contacts == 0);
    world.set_profiling(true);
    world.step(DT).unwrap();
    let report = world.step(DT).unwrap();
    let bytes = report.profile.unwrap().bytes;
    // Two lists of contact points, the last step's and the one before's, and the cache's own.
    assert!(bytes.contacts >= 2 * report.contact_points * size_of::<moreau_pipeline::Contact>());
    assert!(bytes.cache > 0 && bytes.broad_phase > 0 && bytes.manifolds > 0 && bytes.islands > 0);
    assert_eq!(
        bytes.total(),
        bytes.bodies
            + bytes.contacts
            + bytes.cache
            + bytes.broad_phase
            + bytes.manifolds
            + bytes.islands
    );
    assert_eq!(bytes, world.bytes());
}

#[test]
fn a_restore_keeps_on_measuring() {
    let mut world = world(SolverChoice::Auto);
    world.set_profiling(true);
    let start = world.snapshot();
    world.step(DT).unwrap();
    world.restore(&start).unwrap();
    assert!(world.profiling());
    assert!(!World::from_snapshot(&start).unwrap().profiling());
}
