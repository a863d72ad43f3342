//! Validation, boxes, supports and mass of shapes.

mod common;

use common::Random;
use moreau_collision::{Aabb, Shape, ShapeError};
use moreau_math::{MassError, Pose, Quat, Vec3, vec3};
use std::f64::consts::{FRAC_PI_2, PI};

fn bounded_shapes() -> Vec<Shape> {
    let mut random = Random(1);
    let points: Vec<Vec3> = (0..30)
        .map(|_| random.direction() + Vec3::X * 0.5)
        .collect();
    vec![
        Shape::sphere(0.7),
        Shape::cuboid(0.3, 1.2, 2.0),
        Shape::capsule(1.5, 0.25),
        Shape::capsule(0.0, 0.25),
        Shape::cylinder(0.4, 0.9),
        Shape::cylinder(1.5, 0.2),
        Shape::cone(0.4, 0.9),
        Shape::cone(1.5, 0.2),
        Shape::hull(&points).unwrap(),
    ]
}

#[test]
fn dimensions_that_are_no_dimensions_are_refused_by_name() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let cases = [
            ("radius", Shape::sphere(bad)),
            ("half_extents.x", Shape::cuboid(bad, 1.0, 1.0)),
            ("half_extents.y", Shape::cuboid(1.0, bad, 1.0)),
            ("half_extents.z", Shape::cuboid(1.0, 1.0, bad)),
            ("radius", Shape::capsule(1.0, bad)),
            ("radius", Shape::cylinder(1.0, bad)),
            ("half_height", Shape::cylinder(bad, 1.0)),
            ("radius", Shape::cone(1.0, bad)),
            ("half_height", Shape::cone(bad, 1.0)),
        ];
        for (name, shape) in cases {
            match shape.validate() {
                Err(ShapeError::NotPositive { field, value }) => {
                    assert_eq!(field, name);
                    assert!(value == bad || value.is_nan() && bad.is_nan());
                }
                other => panic!("{shape:?}: {other:?}"),
            }
        }
    }
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        match Shape::capsule(bad, 1.0).validate() {
            Err(ShapeError::Negative { field, value }) => {
                assert_eq!(field, "half_height");
                assert!(value == bad || value.is_nan() && bad.is_nan());
            }
            other => panic!("{other:?}"),
        }
    }
    for shape in bounded_shapes() {
        assert_eq!(shape.validate(), Ok(()));
    }
}

#[test]
fn a_half_space_wants_a_unit_normal() {
    let check = |n: Vec3| Shape::half_space(n).validate();
    assert_eq!(check(vec3(0.6, 0.0, 0.8)), Ok(()));
    assert_eq!(check(Vec3::Y * (1.0 + 0.9e-6)), Ok(()));
    let wrong = check(Vec3::Y * (1.0 + 1.1e-6));
    assert_eq!(
        wrong,
        Err(ShapeError::NotUnit {
            length: 1.0 + 1.1e-6
        })
    );
    assert_eq!(check(Vec3::ZERO), Err(ShapeError::NotUnit { length: 0.0 }));
    for bad in [f64::NAN, f64::INFINITY] {
        let error = check(vec3(0.0, bad, 0.0)).unwrap_err();
        assert!(
            matches!(
                &error,
                ShapeError::NotFinite {
                    field: "normal",
                    ..
                }
            ),
            "{error}"
        );
    }
}

#[test]
fn boxes_are_exact_and_tight() {
    let mut random = Random(2);
    for shape in bounded_shapes() {
        for _ in 0..100 {
            let pose = Pose::new(random.vec(10.0), random.rotation());
            let aabb = shape.aabb(&pose);
            for (axis, direction) in [Vec3::X, Vec3::Y, Vec3::Z].into_iter().enumerate() {
                // The support is an independent way to the extreme points.
                let extreme = |d: Vec3| {
                    let local = shape.support(pose.inverse_transform_vector(d)).unwrap();
                    pose.transform_point(local)[axis]
                };
                assert!((aabb.max[axis] - extreme(direction)).abs() < 1e-14);
                assert!((aabb.min[axis] - extreme(-direction)).abs() < 1e-14);
            }
        }
    }
    let aabb = Shape::cuboid(1.0, 2.0, 3.0).aabb(&Pose::from_translation(vec3(4.0, 5.0, 6.0)));
    assert_eq!(aabb, Aabb::new(vec3(3.0, 3.0, 3.0), vec3(5.0, 7.0, 9.0)));
    let quarter = Pose::new(Vec3::ZERO, Quat::from_rotation_z(PI / 4.0));
    let aabb = Shape::cuboid(1.0, 1.0, 1.0).aabb(&quarter);
    assert!((aabb.max - vec3(2f64.sqrt(), 2f64.sqrt(), 1.0)).length() < 1e-15);
}

#[test]
fn a_level_half_space_is_bounded_on_one_side() {
    let at = vec3(1.0, 2.0, 3.0);
    let infinite = Aabb::INFINITE;
    let level = [
        (Vec3::X, Quat::IDENTITY),
        (Vec3::Y, Quat::IDENTITY),
        (Vec3::Z, Quat::IDENTITY),
        // A rotation whose rounding leaves the normal a hair off the axis.
        (Vec3::X, Quat::from_rotation_z(FRAC_PI_2)),
        (Vec3::Y * (1.0 - 1e-7), Quat::from_rotation_x(PI)),
    ];
    for (normal, rotation) in level {
        let aabb = Shape::half_space(normal).aabb(&Pose::new(at, rotation));
        let world = rotation * normal;
        for axis in 0..3 {
            let bound = |up: bool| if up { aabb.max[axis] } else { aabb.min[axis] };
            let along = world[axis].abs() > 0.5;
            let up = world[axis] > 0.0;
            assert_eq!(bound(up) == at[axis], along, "{normal} {rotation}");
            assert!(along || bound(up).is_infinite());
            assert!(bound(!up).is_infinite());
        }
    }
    for normal in [
        vec3(0.6, 0.8, 0.0),
        vec3(1e-9, 1.0, 0.0),
        vec3(0.0, -1.0, 1e-14),
    ] {
        let aabb = Shape::half_space(normal).aabb(&Pose::from_translation(at));
        assert_eq!(aabb, infinite, "{normal}");
    }
}

#[test]
fn supports_are_the_furthest_points() {
    let mut random = Random(3);
    for shape in bounded_shapes() {
        let radius = shape.bounding_radius();
        let mut furthest: f64 = 0.0;
        for _ in 0..2000 {
            let d = random.direction();
            let p = shape.support(d).unwrap();
            // No other support goes further along d, whatever the length of d.
            let q = shape.support(random.direction()).unwrap();
            assert!(q.dot(d) <= p.dot(d) + 1e-14);
            assert!((shape.support(d * 1e-3).unwrap() - p).length() < 1e-14);
            assert!(p.length() <= radius + 1e-14);
            furthest = furthest.max(p.length());
        }
        assert!(
            furthest > 0.99 * radius,
            "{shape:?}: {furthest} of {radius}"
        );
        assert!(shape.support(Vec3::ZERO).unwrap().is_finite());
        assert!(shape.is_bounded());
    }
    let ground = Shape::half_space(Vec3::Y);
    assert!(!ground.is_bounded() && ground.bounding_radius().is_infinite());
    assert_eq!(ground.support(Vec3::Y), None);
}

#[test]
fn masses_are_those_of_the_solids() {
    let mass = |shape: &Shape| shape.mass_properties(10.0).unwrap();
    let ball = mass(&Shape::sphere(0.5));
    assert!((ball.mass - 10.0 * 4.0 / 3.0 * PI * 0.125).abs() < 1e-13);
    let capsule = mass(&Shape::capsule(1.0, 0.5));
    assert!((capsule.mass - (ball.mass + 10.0 * PI * 0.25 * 2.0)).abs() < 1e-12);

    let drum = mass(&Shape::cylinder(0.75, 0.5));
    assert!((drum.mass - 10.0 * PI * 0.25 * 1.5).abs() < 1e-12);
    assert_eq!(drum.center_of_mass, Vec3::ZERO);
    // A third of the cylinder around it, its centre of mass a quarter of the height above the base.
    let cone = mass(&Shape::cone(0.75, 0.5));
    assert!((cone.mass - drum.mass / 3.0).abs() < 1e-12);
    assert!((cone.center_of_mass - vec3(0.0, -0.375, 0.0)).length() < 1e-15);

    // A hull in the form of a box, off its origin and turned, has the mass of the box.
    let half = vec3(0.2, 0.3, 0.5);
    let pose = Pose::new(vec3(3.0, -1.0, 2.0), Random(4).rotation());
    let corners: Vec<Vec3> = (0..8)
        .map(|i| {
            let sign = |bit: i32| if i >> bit & 1 == 0 { -1.0 } else { 1.0 };
            pose.transform_point(half * vec3(sign(0), sign(1), sign(2)))
        })
        .collect();
    let hull = mass(&Shape::hull(&corners).unwrap());
    let cuboid = mass(&Shape::cuboid(half.x, half.y, half.z)).transformed(&pose);
    assert!((hull.mass - cuboid.mass).abs() < 1e-13 * cuboid.mass);
    assert!((hull.center_of_mass - cuboid.center_of_mass).length() < 1e-14);
    let difference = (hull.inertia - cuboid.inertia).to_mat3();
    assert!(difference.abs_diff_eq(moreau_math::Mat3::ZERO, 1e-13 * cuboid.inertia.trace()));

    let ground = Shape::half_space(Vec3::Y).mass_properties(10.0);
    assert_eq!(
        ground,
        Err(ShapeError::Unbounded {
            shape: "half-space"
        })
    );
    let void = Shape::sphere(1.0).mass_properties(-1.0);
    assert!(matches!(
        void,
        Err(ShapeError::Mass(MassError::NotPositive {
            field: "density",
            ..
        }))
    ));
}

#[test]
fn shapes_survive_a_file() {
    let mut shapes = bounded_shapes();
    shapes.push(Shape::half_space(vec3(0.6, 0.8, 0.0)));
    for shape in shapes {
        let text = serde_json::to_string(&shape).unwrap();
        assert_eq!(
            serde_json::from_str::<Shape>(&text).unwrap(),
            shape,
            "{text}"
        );
        let bytes = postcard::to_stdvec(&shape).unwrap();
        assert_eq!(postcard::from_bytes::<Shape>(&bytes).unwrap(), shape);
    }
}
