//! Numbers at the edge of f64 and dimensions that are none: answers as of usual numbers, or none.

mod scenes;

use moreau_collision::{
    CollideSettings, ConvexHull, Shape, ShapeError, closest_points, collide_all,
};
use moreau_math::{Pose, Quat, Vec3, libm, vec3};
use scenes::{Random, Scene, at, box_hull, contact, turned};

fn partners() -> Vec<Shape> {
    let triangle = [Vec3::ZERO, vec3(0.0, 0.0, 2.0), vec3(2.0, 0.0, 0.0)];
    vec![
        Shape::sphere(0.5),
        Shape::cuboid(0.5, 0.25, 0.5),
        Shape::capsule(0.5, 0.25),
        Shape::capsule(0.0, 0.5),
        Shape::cylinder(0.5, 0.25),
        Shape::cone(0.5, 0.5),
        Shape::half_space(Vec3::Y),
        box_hull(0.5, 0.25, 0.5),
        Shape::mesh(&triangle, &[[0, 1, 2]]).unwrap(),
        Shape::heightfield(2, 2, vec![0.0; 4], [1.0, 1.0]).unwrap(),
        Shape::compound(&[(Shape::sphere(0.5), at(0.25, 0.0, 0.0))]).unwrap(),
    ]
}

/// A capsule may have no cylinder between its half balls.
#[test]
fn a_capsule_of_no_height_is_a_ball() {
    let settings = CollideSettings { prediction: 0.1 };
    let (ball, capsule) = (Shape::sphere(0.5), Shape::capsule(0.0, 0.5));
    let mut touching = 0;
    for partner in partners() {
        for y in [-0.25, 0.0, 0.125, 0.5, 0.74, 0.99, 1.0] {
            for x in [0.0, 0.25] {
                let pose = turned(vec3(x, y, 0.125), Vec3::X, 0.5);
                let (mut balls, mut capsules) = (Vec::new(), Vec::new());
                collide_all(
                    &partner,
                    &Pose::IDENTITY,
                    &ball,
                    &pose,
                    &settings,
                    &mut balls,
                );
                collide_all(
                    &partner,
                    &Pose::IDENTITY,
                    &capsule,
                    &pose,
                    &settings,
                    &mut capsules,
                );
                let names = format!("{} at ({x}, {y})\n{balls:?}\n{capsules:?}", partner.kind());
                assert_eq!(balls.len(), capsules.len(), "{names}");
                for (m, n) in balls.iter().zip(&capsules) {
                    let (d, e) = (m.min_separation().unwrap(), n.min_separation().unwrap());
                    assert!((d - e).abs() < 1e-12, "{names}");
                    assert!((n.normal().length() - 1.0).abs() < 1e-14, "{names}");
                    touching += 1;
                }
            }
        }
    }
    assert!(touching > 60, "{touching}");
    let near = closest_points(&capsule, &Pose::IDENTITY, &ball, &Pose::IDENTITY).unwrap();
    assert_eq!(near.separation, -1.0);
    assert!(near.point_a.is_finite() && near.point_b.is_finite());
}

#[test]
fn what_is_nowhere_touches_nothing() {
    let bad = [
        -1.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1e51,
        f64::MAX,
        1e-51,
        5e-324,
    ];
    for x in bad {
        let shapes = [
            Shape::sphere(x),
            Shape::cuboid(1.0, x, 1.0),
            Shape::capsule(x, 1.0),
            Shape::capsule(1.0, x),
            Shape::cylinder(x, 1.0),
            Shape::cylinder(1.0, x),
            Shape::cone(x, 1.0),
            Shape::cone(1.0, x),
        ];
        for (shape, partner) in shapes
            .iter()
            .flat_map(|s| partners().into_iter().map(move |p| (s, p)))
        {
            let pose = at(0.1, 0.2, 0.3);
            let mut manifolds = Vec::new();
            let settings = CollideSettings::default();
            collide_all(
                shape,
                &pose,
                &partner,
                &Pose::IDENTITY,
                &settings,
                &mut manifolds,
            );
            assert!(manifolds.is_empty(), "{shape:?} and a {}", partner.kind());
            assert!(contact((&partner, Pose::IDENTITY), (shape, pose), 0.1).is_empty());
            assert!(closest_points(shape, &pose, &partner, &Pose::IDENTITY).is_none());
        }
    }
    for far in [f64::NAN, f64::INFINITY, 1e51, -f64::MAX] {
        for partner in partners() {
            let ball = Shape::sphere(1.0);
            let pose = at(0.0, far, 0.0);
            let mut manifolds = Vec::new();
            let settings = CollideSettings {
                prediction: f64::INFINITY,
            };
            collide_all(
                &partner,
                &Pose::IDENTITY,
                &ball,
                &pose,
                &settings,
                &mut manifolds,
            );
            assert!(manifolds.is_empty(), "a {} and {far}", partner.kind());
        }
    }
}

/// Exact predicates are exact only as long as no product underflows.
#[test]
fn coordinates_next_to_nothing_count_as_zero_in_a_hull() {
    let t = f64::MIN_POSITIVE;
    let points = [
        vec3(5.396_160_771_507_92, 10.75, 10.75),
        vec3(10.75, 10.75, 10.75),
        vec3(-0.125, -0.375, -13.5),
        vec3(-0.000_244_148_075_807_977_54, t, t),
        vec3(t, t, t),
        vec3(t, -14.875_000_000_092_554, -14.875_000_000_092_554),
        vec3(15.250_000_000_000_417, 0.0, 5e-324),
        Vec3::ZERO,
    ];
    let exact = points.map(|p| p.map(|x| if x.abs() < 1e-200 { 0.0 } else { x }));
    let hull = ConvexHull::new(&points).unwrap();
    assert_eq!(hull, ConvexHull::new(&exact).unwrap());
    for face in hull.faces() {
        for p in points {
            // Planar to 1e-9 of the extent.
            assert!(
                face.distance(p) < 1e-9 * 30.0,
                "{p} is {} m outside",
                face.distance(p)
            );
        }
    }
}

/// The same solid in units from the smallest to the largest: the same faces and edges.
#[test]
fn a_hull_of_any_scale_has_the_same_faces() {
    let corners: Vec<Vec3> = (0..8)
        .map(|i| {
            vec3(
                f64::from(i & 1),
                0.75 * f64::from(i >> 1 & 1),
                0.5 * f64::from(i >> 2),
            )
        })
        .collect();
    let unit = ConvexHull::new(&corners).unwrap();
    for exponent in [-1022, -1000, -300, -1, 1, 300, 1000, 1022, 1023] {
        let scale = if exponent == -1022 {
            f64::MIN_POSITIVE
        } else {
            two_to(exponent)
        };
        let scaled: Vec<Vec3> = corners.iter().map(|&c| c * scale).collect();
        let hull = ConvexHull::new(&scaled).unwrap();
        assert_eq!(hull.edges(), unit.edges(), "2^{exponent}");
        for (face, of_unit) in hull.faces().iter().zip(unit.faces()) {
            assert_eq!(face.normal, of_unit.normal, "2^{exponent}");
            assert_eq!(face.offset, of_unit.offset * scale, "2^{exponent}");
        }
        let radius = unit.bounding_radius() * scale;
        assert!(
            (hull.bounding_radius() - radius).abs() <= 1e-15 * radius,
            "2^{exponent}"
        );
    }
    let corner = f64::MAX;
    let beyond = [
        vec3(corner, 0.0, 0.0),
        vec3(0.0, corner, corner),
        vec3(corner, corner, 0.0),
        Vec3::ZERO,
    ];
    let error = ConvexHull::new(&beyond).unwrap_err();
    assert!(matches!(error, ShapeError::NotFinite { .. }), "{error}");
}

fn two_to(exponent: i32) -> f64 {
    let factor = if exponent < 0 { 0.5 } else { 2.0 };
    (0..exponent.abs()).fold(1.0, |power, _| power * factor)
}

/// Capsules so thin that the polytope between them and a round solid is nothing but rounding.
#[test]
fn a_hair_in_a_round_solid_is_found() {
    let hair = Shape::capsule(6.5, 3.125_095_370_342_113e-11);
    let lean = Quat::from_xyzw(3.7e-9, 3e-9, 1.9e-9, 1.0);
    let (cylinder, origin) = (Shape::cylinder(4.875, 4.875), Pose::IDENTITY);
    let leaning = Pose::new(Vec3::ZERO, lean);
    let near = closest_points(&cylinder, &leaning, &hair, &origin).unwrap();
    assert!((near.separation + 4.875).abs() < 1e-6, "{near:?}");

    let hair = Shape::capsule(0.125, 6.408_886_989_959_41e-12);
    let level = turned(vec3(0.75, 0.0, 0.75), Vec3::X, std::f64::consts::FRAC_PI_2);
    let cone = Shape::cone(1.625, 6.0);
    let near = closest_points(&hair, &level, &cone, &origin).unwrap();
    assert!(near.separation < 0.0, "{near:?}");
    let scene = Scene {
        a: (hair, level),
        b: (cone, origin),
    };
    let mut random = Random(3);
    // Among them the normals of the base and, all around, of the side.
    let side = (0..360).map(|i| {
        let angle = std::f64::consts::TAU / 360.0 * f64::from(i);
        let rise = 6.0 / 3.25;
        -vec3(libm::cos(angle), rise, libm::sin(angle)).normalize()
    });
    let others: Vec<Vec3> = (0..1000).map(|_| random.direction()).collect();
    for n in side.chain(others).chain([Vec3::Y, Vec3::NEG_Y]) {
        let along = scene.separation(n);
        assert!(
            along <= near.separation + 1e-9,
            "{along} along {n}: {near:?}"
        );
    }
}

/// What is no rotation gives no right answer, but an answer, and soon.
#[test]
fn a_quaternion_of_any_length_comes_to_an_end() {
    let cone = Shape::cone(9.0, 6.5);
    let cube = Shape::cuboid(10.625, 10.625, 10.625);
    let stretched = Pose::new(
        vec3(0.125, 10.625, 10.625),
        Quat::from_xyzw(10.625, 10.625, 10.625, 2.875),
    );
    let pose = at(10.625, 0.0, 0.0);
    let there = contact((&cube, stretched), (&cone, pose), 0.0);
    let back = contact((&cone, pose), (&cube, stretched), 0.0);
    assert_eq!(there, back.swapped());
}
