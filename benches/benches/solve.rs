//! Assembly of a contact problem, sweeps over it, an exact solve of it, and a whole step.
//!
//! The problem is a pyramid of cubes at rest on the ground, four contact points a face.

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use moreau::solver_simd::Instructions;
use moreau::{
    Body, BodyInput, ContactInput, ContactProblem, ContactSolver, NewtonSolver, PgsSettings,
    PgsSolver, Shape, SimdSettings, SimdSolver, SymMat3, Vec3, Velocity, World, WorldSettings,
    vec3,
};
use std::hint::black_box;

const DT: f64 = 1.0 / 60.0;

/// Bodies (the first is the ground) and contacts of a pyramid of unit cubes of 1 kg.
fn pyramid(base: usize) -> (Vec<BodyInput>, Vec<ContactInput>) {
    let cube = BodyInput {
        inverse_mass: 1.0,
        inverse_inertia: SymMat3::from_diagonal(Vec3::splat(6.0)),
        velocity: Velocity::new(vec3(0.0, -9.81 * DT, 0.0), Vec3::ZERO),
    };
    let mut bodies = vec![BodyInput::fixed()];
    let mut contacts = Vec::new();
    let mut below: Vec<usize> = Vec::new();
    for row in 0..base {
        let mut here = Vec::new();
        for column in 0..base - row {
            let b = bodies.len();
            bodies.push(cube);
            here.push(b);
            let supports = if row == 0 {
                vec![(0, 0.0)]
            } else {
                vec![(below[column], -0.25), (below[column + 1], 0.25)]
            };
            for (a, middle) in supports {
                let half = if row == 0 { 0.5 } else { 0.25 };
                for (sx, sz) in [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)] {
                    let on_b = vec3(middle + half * sx, -0.5, 0.5 * sz);
                    let shift = if row == 0 { 0.0 } else { 2.0 * middle };
                    contacts.push(ContactInput {
                        a,
                        b,
                        normal: Vec3::Y,
                        lever_a: vec3(on_b.x - shift, 0.5, on_b.z),
                        lever_b: on_b,
                        separation: 0.0,
                        friction: 0.5,
                        restitution: 0.0,
                    });
                }
            }
        }
        below = here;
    }
    (bodies, contacts)
}

fn assemble((bodies, contacts): &(Vec<BodyInput>, Vec<ContactInput>)) -> ContactProblem {
    let mut problem = ContactProblem::new(DT).unwrap();
    for body in bodies {
        problem.add_body(*body).unwrap();
    }
    for contact in contacts {
        problem.add_contact(*contact).unwrap();
    }
    problem
}

fn problem(c: &mut Criterion) {
    let mut group = c.benchmark_group("problem");
    for base in [5, 20] {
        let parts = pyramid(base);
        group.throughput(Throughput::Elements(parts.1.len() as u64));
        group.bench_function(BenchmarkId::new("assembly", base), |b| {
            b.iter(|| assemble(black_box(&parts)));
        });
        let problem = assemble(&parts);
        // A tolerance that is never met: what is timed is one sweep and the set-up of a solve.
        let settings = PgsSettings {
            max_sweeps: 1,
            tolerance: 0.0,
            ..PgsSettings::default()
        };
        let mut sweeper = PgsSolver::new(settings);
        let mut velocities = Vec::new();
        group.bench_function(BenchmarkId::new("one sweep", base), |b| {
            b.iter_batched_ref(
                || problem.cold_start(),
                |impulses| sweeper.solve(&problem, impulses, &mut velocities).unwrap(),
                BatchSize::SmallInput,
            );
        });
        // The packing of lanes and the last look at the residual are in the time of ten sweeps too.
        for (name, instructions) in [
            ("fastest", Instructions::Fastest),
            ("avx2", Instructions::Avx2),
            ("baseline", Instructions::Baseline),
        ] {
            for (momentum, accelerate) in [("plain", false), ("momentum", true)] {
                let mut sweeper = SimdSolver::new(SimdSettings {
                    max_sweeps: 10,
                    tolerance: 0.0,
                    accelerate,
                    instructions,
                    ..SimdSettings::default()
                });
                let id = BenchmarkId::new(format!("ten sweeps in lanes, {momentum}, {name}"), base);
                group.bench_function(id, |b| {
                    b.iter_batched_ref(
                        || problem.cold_start(),
                        |impulses| sweeper.solve(&problem, impulses, &mut velocities).unwrap(),
                        BatchSize::SmallInput,
                    );
                });
            }
        }
        let mut newton = NewtonSolver::default();
        group.bench_function(BenchmarkId::new("exact, cold", base), |b| {
            b.iter_batched_ref(
                || problem.cold_start(),
                |impulses| newton.solve(&problem, impulses, &mut velocities).unwrap(),
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

/// A pyramid of cubes in a world that has come to rest.
fn resting_world(base: usize) -> World {
    let mut world = World::new(WorldSettings::default()).unwrap();
    world.add(Body::fixed(Shape::half_space(Vec3::Y))).unwrap();
    for row in 0..base {
        for column in 0..base - row {
            let x = 1.03 * column as f64 + 0.515 * row as f64;
            let cube = Body::dynamic(Shape::cuboid(0.5, 0.5, 0.5));
            world.add(cube.at(vec3(x, 0.5 + row as f64, 0.0))).unwrap();
        }
    }
    for _ in 0..30 {
        world.step(DT).unwrap();
    }
    world
}

fn step(c: &mut Criterion) {
    let mut group = c.benchmark_group("step");
    for base in [5, 20] {
        let mut world = resting_world(base);
        group.bench_function(BenchmarkId::new("pyramid at rest", base), |b| {
            b.iter(|| world.step(black_box(DT)).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, problem, step);
criterion_main!(benches);
