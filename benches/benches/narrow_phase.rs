//! Cost of one call of `collide` for the common pairs, resting and apart.

use criterion::{Criterion, criterion_group, criterion_main};
use moreau_benches::Random;
use moreau_collision::{CollideSettings, Manifold, Shape, collide};
use moreau_math::{Pose, Quat, Vec3, libm, vec3};
use std::hint::black_box;

fn hull(corners: usize) -> Shape {
    let mut random = Random::new(7);
    let points: Vec<Vec3> = (0..corners)
        .map(|_| (random.vec(1.0) + Vec3::splat(1e-3)).normalize() * 0.5)
        .collect();
    Shape::hull(&points).unwrap_or_else(|_| Shape::cuboid(0.3, 0.3, 0.3))
}

fn narrow_phase(c: &mut Criterion) {
    let yaw = Quat::from_xyzw(0.0, libm::sin(0.15), 0.0, libm::cos(0.15));
    let lying = Quat::from_xyzw(0.5f64.sqrt(), 0.0, 0.0, 0.5f64.sqrt());
    // By about 30 degrees.
    let tilted = Quat::from_xyzw(0.26, 0.0, 0.0, 0.966).normalize();
    let cube = Shape::cuboid(0.5, 0.5, 0.5);
    let floor = Shape::cuboid(20.0, 0.5, 20.0);
    let ball = Shape::sphere(0.5);
    let capsule = Shape::capsule(0.3, 0.1);
    let plane = Shape::half_space(Vec3::Y);
    let (rock, boulder) = (hull(16), hull(64));
    let (drum, cone) = (Shape::cylinder(0.5, 0.3), Shape::cone(0.5, 0.3));
    let above = |y: f64| Pose::from_translation(vec3(0.0, y, 0.0));
    let turned = |y: f64| Pose::new(vec3(0.1, y, 0.05), yaw);
    let corner = Pose::from_translation(Vec3::splat(1.005));
    let pairs = [
        ("box on box, aligned", &cube, &cube, above(0.999)),
        ("box on box, turned", &cube, &cube, turned(0.999)),
        ("box on floor", &floor, &cube, turned(0.999)),
        ("box on half-space", &plane, &cube, turned(0.499)),
        ("boxes apart", &cube, &cube, turned(1.1)),
        ("boxes across a corner", &cube, &cube, corner),
        ("balls", &ball, &ball, above(0.999)),
        ("ball on box", &cube, &ball, above(0.999)),
        (
            "capsule on box",
            &cube,
            &capsule,
            Pose::new(vec3(0.0, 0.599, 0.0), lying),
        ),
        ("capsules", &capsule, &capsule, turned(0.05)),
        ("hull of 16 on floor", &floor, &rock, turned(0.9)),
        ("hulls of 16", &rock, &rock, turned(0.8)),
        ("hulls of 16, apart", &rock, &rock, turned(1.0)),
        ("cylinder on floor", &floor, &drum, turned(0.999)),
        ("cylinder on half-space", &plane, &drum, turned(0.499)),
        (
            "cylinder lying on floor",
            &floor,
            &drum,
            Pose::new(vec3(0.0, 0.799, 0.0), lying),
        ),
        (
            "cylinder on edge",
            &floor,
            &drum,
            Pose::new(vec3(0.0, 1.06, 0.0), tilted),
        ),
        ("cylinders, stacked", &drum, &drum, turned(0.999)),
        (
            "cylinders, crossed",
            &drum,
            &drum,
            Pose::new(vec3(0.599, 0.0, 0.0), lying),
        ),
        (
            "cylinders apart",
            &drum,
            &drum,
            Pose::new(vec3(0.4, 0.83, 0.3), tilted),
        ),
        ("cone on floor", &floor, &cone, turned(0.999)),
        (
            "cones, side by side",
            &cone,
            &cone,
            Pose::new(vec3(0.5, 0.1, 0.1), tilted),
        ),
        ("ball on cylinder", &drum, &ball, above(0.999)),
        (
            "capsule on cylinder",
            &drum,
            &capsule,
            Pose::new(vec3(0.0, 0.599, 0.0), lying),
        ),
        ("hull of 16 on cylinder", &drum, &rock, turned(0.9)),
        ("hulls of 64", &boulder, &boulder, turned(0.95)),
    ];
    let mut group = c.benchmark_group("narrow_phase");
    let settings = CollideSettings::default();
    let mut manifold = Manifold::default();
    for (name, a, b, pose) in pairs {
        group.bench_function(name, |bench| {
            bench.iter(|| {
                let (a, b, pose) = (black_box(a), black_box(b), black_box(&pose));
                collide(a, &Pose::IDENTITY, b, pose, &settings, &mut manifold);
                black_box(&manifold);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, narrow_phase);
criterion_main!(benches);
