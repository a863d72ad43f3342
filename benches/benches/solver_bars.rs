//! The bars that the solver family has to clear, each beside its name: public friction-contact files,
//! islands of a few contacts from a warm start, a tower exactly and by sweeps, a settled pile.
//!
//! The public files are looked for in `MOREAU_PROBLEMS`, or in `../shared/problems` beside the
//! repository; where they are missing their group is left out.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use moreau::scene::{Run, RunOptions, Scene};
use moreau::solver::files::{ProblemFile, load};
use moreau::solver_block::BlockSolver;
use moreau::{
    Body, BodyInput, ContactInput, ContactProblem, ContactSolver, NewtonSettings, NewtonSolver,
    PgsSolver, Shape, SolverChoice, SymMat3, Vec3, Velocity, World, WorldSettings, vec3,
};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Duration;

const DT: f64 = 1.0 / 60.0;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// To 1e-8 m/s, from zero.
fn public_files(c: &mut Criterion) {
    let folder = std::env::var_os("MOREAU_PROBLEMS")
        .map_or_else(|| root().join("../shared/problems"), PathBuf::from);
    let mut group = c.benchmark_group("public file");
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(3));
    for (name, bar) in [
        ("Capsules-i101-404.dat", "300 ms"),
        ("BoxesStack1-i100000-32.hdf5.dat", "50 ms"),
        ("KaplasTower-i1061-4.hdf5.dat", "3 s"),
    ] {
        let Ok(ProblemFile::Delassus(problem)) = load(&folder.join("fclib").join(name)) else {
            eprintln!("{name} is not there, or is no problem in contact space");
            continue;
        };
        let mut solver = NewtonSolver::new(NewtonSettings {
            tolerance: 1e-8,
            ..NewtonSettings::default()
        });
        let id = BenchmarkId::new(format!("below {bar}"), name);
        group.bench_function(id, |b| {
            b.iter(|| {
                let mut impulses = Vec::new();
                let report = solver.solve_delassus(black_box(&problem), &mut impulses);
                assert!(report.converged(), "{name}: {report:?}");
            });
        });
    }
    group.finish();
}

/// A disc of 1 kg on `count` points on the floor.
fn on_points(count: usize) -> ContactProblem {
    let mut problem = ContactProblem::new(DT).unwrap();
    let floor = problem.add_body(BodyInput::fixed()).unwrap();
    let disc = BodyInput {
        inverse_mass: 1.0,
        inverse_inertia: SymMat3::from_diagonal(Vec3::splat(6.0)),
        velocity: Velocity::new(vec3(0.02, -9.81 * DT, 0.01), Vec3::ZERO),
    };
    let disc = problem.add_body(disc).unwrap();
    // On a spiral of golden angles, which needs no sine: each turns the last by the same rotation.
    let (mut x, mut z) = (0.3, 0.0);
    for _ in 0..count {
        let contact = ContactInput {
            a: floor,
            b: disc,
            normal: Vec3::Y,
            lever_a: vec3(x, 0.0, z),
            lever_b: vec3(x, -0.5, z),
            separation: 0.0,
            friction: 0.5,
            restitution: 0.0,
        };
        problem.add_contact(contact).unwrap();
        (x, z) = (-0.7374 * x - 0.6755 * z, 0.6755 * x - 0.7374 * z);
    }
    problem
}

/// Started from its own answer: what a contact at rest costs.
fn small_islands(c: &mut Criterion) {
    let mut group = c.benchmark_group("warm island below 30 us");
    for count in [1, 4, 10] {
        let problem = on_points(count);
        let solvers: [Box<dyn ContactSolver>; 3] = [
            Box::new(NewtonSolver::default()),
            Box::new(BlockSolver::default()),
            Box::new(PgsSolver::default()),
        ];
        for mut solver in solvers {
            let mut impulses = problem.cold_start();
            let mut velocities = Vec::new();
            // The exact answer of one is within the tolerance of all.
            let first = NewtonSolver::default().solve(&problem, &mut impulses, &mut velocities);
            assert!(first.unwrap().converged());
            group.bench_function(BenchmarkId::new(solver.name(), count), |b| {
                b.iter(|| {
                    let report = solver
                        .solve(black_box(&problem), &mut impulses, &mut velocities)
                        .unwrap();
                    assert!(report.converged() && report.factorizations == 0);
                });
            });
        }
    }
    // The whole step of a world with one cube at rest: four contacts.
    let mut world = World::new(WorldSettings::default()).unwrap();
    world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
    let cube = Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5)).at(vec3(0.0, 0.5, 0.0));
    world.add(cube).unwrap();
    group.bench_function("whole step, a cube", |b| {
        b.iter(|| world.step(black_box(DT)).unwrap());
    });
    group.finish();
}

/// The exact step should take at most five times that of sweeps. Slid by its foot, so that there is
/// something to solve in every step.
fn tower(c: &mut Criterion) {
    let mut group = c.benchmark_group("tower of 30");
    for (name, choice) in [
        ("exact", SolverChoice::Newton),
        ("sequential impulses", SolverChoice::Pgs),
    ] {
        for moves in [false, true] {
            let mut settings = WorldSettings::default();
            settings.solver.choice = choice;
            let mut world = World::new(settings).unwrap();
            world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
            let mut foot = None;
            for k in 0..30 {
                let cube = Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5)).density(1.0);
                let id = world.add(cube.at(vec3(0.0, 0.5 + f64::from(k), 0.0)));
                foot.get_or_insert(id.unwrap());
            }
            for _ in 0..30 {
                world.step(DT).unwrap();
            }
            let how = if moves { "pushed" } else { "at rest" };
            let mut sign = 1.0;
            group.bench_function(BenchmarkId::new(name, how), |b| {
                b.iter(|| {
                    if moves {
                        sign = -sign;
                        world
                            .add_force(foot.unwrap(), vec3(20.0 * sign, 0.0, 0.0))
                            .unwrap();
                    }
                    world.step(black_box(DT)).unwrap()
                });
            });
        }
    }
    group.finish();
}

/// 2000 boxes, five seconds after they were let go.
fn pile(c: &mut Criterion) {
    let mut group = c.benchmark_group("pile of 2000 boxes");
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(5));
    // Criterion calls the closure more than once; the way to rest is long.
    let mut settled = None;
    let settle = || {
        let path = root().join("fixtures/scenes/pile_boxes_2000.json");
        let scene = Scene::from_json(&std::fs::read_to_string(path).unwrap()).unwrap();
        let options = RunOptions {
            steps: Some(300),
            ..RunOptions::default()
        };
        let mut run = Run::new(&scene, options).unwrap();
        run.run_to_end().unwrap();
        run
    };
    group.bench_function("settled step", |b| {
        let run = settled.get_or_insert_with(settle);
        b.iter(|| run.step().unwrap());
    });
    group.finish();
}

criterion_group!(benches, public_files, small_islands, tower, pile);
criterion_main!(benches);
