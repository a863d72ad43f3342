//! Cost of contact manifolds for each pair of kinds of shapes, at random poses from deep overlap to
//! just apart. The time is that of all `POSES` poses.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use moreau_benches::Random;
use moreau_collision::{CollideSettings, Manifold, Shape, collide};
use moreau_math::{Pose, Vec3, vec3};
use std::hint::black_box;

const POSES: usize = 256;

fn shapes() -> Vec<(&'static str, Shape)> {
    let mut random = Random::new(3);
    let stone: Vec<Vec3> = (0..24)
        .map(|_| random.vec(1.0).normalize() * vec3(0.5, 0.4, 0.6))
        .collect();
    let stone = Shape::hull(&stone).expect("points about an ellipsoid are a solid");
    vec![
        ("half_space", Shape::half_space(Vec3::Y)),
        ("sphere", Shape::sphere(0.5)),
        ("capsule", Shape::capsule(0.4, 0.3)),
        ("box", Shape::cuboid(0.5, 0.4, 0.3)),
        ("hull", stone),
    ]
}

/// Relative poses with the centers up to a distance at which the shapes only just reach each other.
fn poses(a: &Shape, b: &Shape) -> Vec<(Pose, Pose)> {
    let mut random = Random::new(4);
    let inner = if a.is_bounded() {
        a.bounding_radius()
    } else {
        0.0
    };
    let reach = inner + b.bounding_radius();
    (0..POSES)
        .map(|_| {
            let direction = if a.is_bounded() {
                random.vec(1.0).normalize()
            } else {
                Vec3::Y
            };
            let apart = direction * (reach * (0.75 + 0.25 * random.signed()));
            let base = random.vec(10.0);
            let turn = if a.is_bounded() {
                random.rotation()
            } else {
                Pose::IDENTITY.rotation
            };
            (
                Pose::new(base, turn),
                Pose::new(base + apart, random.rotation()),
            )
        })
        .collect()
}

fn narrow_phase(c: &mut Criterion) {
    let mut group = c.benchmark_group("narrow_phase");
    group.throughput(Throughput::Elements(POSES as u64));
    let shapes = shapes();
    let settings = CollideSettings::default();
    for (i, (name_a, a)) in shapes.iter().enumerate() {
        for (name_b, b) in &shapes[i.max(1)..] {
            let poses = poses(a, b);
            group.bench_function(format!("{name_a}-{name_b}"), |bench| {
                let mut manifold = Manifold::default();
                bench.iter(|| {
                    let mut points = 0;
                    for (pose_a, pose_b) in &poses {
                        collide(a, pose_a, b, pose_b, &settings, &mut manifold);
                        points += manifold.points().len();
                    }
                    black_box(points)
                });
            });
        }
    }
    group.finish();
}

fn resting_boxes(c: &mut Criterion) {
    // A face on a face with four points: the commonest contact of piles and stacks.
    let shape = Shape::cuboid(0.5, 0.5, 0.5);
    let lower = Pose::IDENTITY;
    let upper = Pose::from_translation(vec3(0.1, 0.999, 0.05));
    let settings = CollideSettings::default();
    let mut manifold = Manifold::default();
    c.bench_function("narrow_phase/box_on_box", |bench| {
        bench.iter(|| {
            collide(
                &shape,
                &lower,
                &shape,
                black_box(&upper),
                &settings,
                &mut manifold,
            );
            black_box(manifold.points().len())
        });
    });
}

criterion_group!(benches, narrow_phase, resting_boxes);
criterion_main!(benches);
