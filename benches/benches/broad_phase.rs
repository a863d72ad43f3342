//! Cost of the broad phase: boxes at a fixed density, about four neighbours each.
//!
//! `build`: all boxes are new. `rest`: each moves by 1e-4 of its size and the kept boxes hold.
//! `fall`: each moves by a tenth of its size in one direction. `shake`: each jumps by its size.
//! `shake_2_threads`: the same, the shares of the work done by two threads.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use moreau_benches::Random;
use moreau_collision::{Aabb, BroadPhase};
use moreau_math::{Vec3, libm, vec3};
use rayon::prelude::*;
use std::hint::black_box;

fn scattered(count: usize) -> Vec<Aabb> {
    let mut random = Random::new(1);
    let half = libm::cbrt(count as f64 / 4.0);
    (0..count)
        .map(|_| Aabb::around(random.vec(half), Vec3::splat(0.5) + random.vec(0.2)))
        .collect()
}

fn moved(aabb: &Aabb, by: Vec3) -> Aabb {
    Aabb::new(aabb.min + by, aabb.max + by)
}

fn filled(boxes: &[Aabb]) -> BroadPhase {
    let mut broad_phase = BroadPhase::new();
    let floor = vec3(f64::INFINITY, 0.0, f64::INFINITY);
    broad_phase.set(0, Aabb::new(Vec3::NEG_INFINITY, floor), true);
    for (i, aabb) in boxes.iter().enumerate() {
        broad_phase.set(1 + i as u32, *aabb, false);
    }
    broad_phase
}

fn broad_phase(c: &mut Criterion) {
    let mut group = c.benchmark_group("broad_phase");
    group.sample_size(10);
    for count in [1_000, 10_000, 100_000] {
        group.throughput(Throughput::Elements(count as u64));
        let boxes = scattered(count);
        let mut pairs = Vec::new();
        group.bench_function(BenchmarkId::new("build", count), |b| {
            b.iter(|| {
                filled(&boxes).pairs(&mut pairs);
                black_box(pairs.len())
            });
        });
        type Motion<'a> = &'a dyn Fn(u64, &mut Random) -> Vec3;
        let shake: Motion<'_> = &|_, random| random.vec(1.0);
        let motions: [(&str, usize, Motion<'_>); 4] = [
            ("rest", 1, &|_, random| random.vec(1e-4)),
            ("fall", 1, &|step, _| {
                vec3(0.0, -0.1 * (step % 100) as f64, 0.0)
            }),
            ("shake", 1, shake),
            ("shake_2_threads", 2, shake),
        ];
        for (name, threads, motion) in motions {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let pool = pool.build().expect("threads");
            let mut broad_phase = filled(&boxes);
            broad_phase.pairs(&mut pairs);
            let (mut random, mut step) = (Random::new(2), 0);
            group.bench_function(BenchmarkId::new(name, count), |b| {
                b.iter(|| {
                    step += 1;
                    for (i, aabb) in boxes.iter().enumerate() {
                        let at = moved(aabb, motion(step, &mut random));
                        broad_phase.set(1 + i as u32, at, false);
                    }
                    if threads == 1 {
                        broad_phase.pairs(&mut pairs);
                    } else {
                        broad_phase.pairs_by(&mut pairs, |work, shares| {
                            pool.install(|| {
                                shares.par_iter_mut().for_each(|share| work.run(share));
                            });
                        });
                    }
                    black_box(pairs.len())
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, broad_phase);
criterion_main!(benches);
