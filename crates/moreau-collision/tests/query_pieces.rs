//! Queries of surfaces and compounds: the same solid by triangles, by pieces and as one hull.

mod common;

use common::{Random, shapes};
use moreau_collision::{
    ImpactSettings, Inside, Motion, QueryFilter, Ray, Shape, ShapeSet, closest_points, overlaps,
    project_point, time_of_impact,
};
use moreau_math::{Pose, Vec3, vec3};

/// A box as a hull, as a mesh, and as a compound of its halves.
fn one_solid(half: Vec3) -> [Shape; 3] {
    let corners: Vec<Vec3> = (0..8)
        .map(|i| {
            let side = |bit: i32, h: f64| if i >> bit & 1 == 1 { h } else { -h };
            vec3(side(0, half.x), side(1, half.y), side(2, half.z))
        })
        .collect();
    let hull = Shape::hull(&corners).unwrap();
    let Shape::Hull(tables) = &hull else {
        unreachable!()
    };
    let triangles: Vec<[u32; 3]> = tables.triangles().collect();
    let mesh = Shape::mesh(tables.vertices(), &triangles).unwrap();
    let part = Shape::cuboid(half.x / 2.0, half.y, half.z);
    let at = |x: f64| Pose::from_translation(vec3(x, 0.0, 0.0));
    let halves = [(part.clone(), at(half.x / 2.0)), (part, at(-half.x / 2.0))];
    let compound = Shape::compound(&halves).unwrap();
    [hull, mesh, compound]
}

#[test]
fn rays_see_the_same_solid() {
    let mut random = Random(1);
    let mut hits = 0;
    for _ in 0..2000 {
        let half = vec3(
            random.range(0.2, 1.0),
            random.range(0.2, 1.0),
            random.range(0.2, 1.0),
        );
        let [hull, mesh, compound] = one_solid(half);
        let pose = random.pose(2.0);
        let origin = random.vec(2.0);
        let ray = Ray::new(origin, pose.translation + random.vec(0.8) - origin).unwrap();
        for most in [1.0, f64::INFINITY] {
            let solid = |s: &Shape| ray.cast(s, &pose, most, Inside::Solid);
            let hollow = |s: &Shape| ray.cast(s, &pose, most, Inside::Hollow);
            let pairs = [
                (solid(&hull), solid(&mesh)),
                (solid(&hull), solid(&compound)),
                (hollow(&hull), hollow(&mesh)),
            ];
            for (expected, found) in pairs {
                match (expected, found) {
                    (Some(e), Some(f)) => {
                        assert!((e.distance - f.distance).abs() < 1e-12, "{e:?} {f:?}");
                        assert!((e.normal - f.normal).length() < 1e-9, "{e:?} {f:?}");
                        hits += 1;
                    }
                    (None, None) => {}
                    other => panic!("{half} {pose:?} {ray:?}: {other:?}"),
                }
            }
        }
    }
    assert!(hits > 3000, "{hits}");
}

#[test]
fn no_ray_slips_through_a_seam() {
    // Straight at the diagonals, vertices and edges of a field of squares.
    let field = Shape::heightfield(9, 9, vec![0.0; 81], [0.7, 0.3]).unwrap();
    let bounds = field.aabb(&Pose::IDENTITY);
    let (min, size) = (bounds.min, bounds.extents());
    for i in 1..64 {
        for k in 1..64 {
            let at = min
                + vec3(
                    size.x * f64::from(i) / 64.0,
                    0.0,
                    size.z * f64::from(k) / 64.0,
                );
            for way in [-Vec3::Y, vec3(0.3, -1.0, 0.1)] {
                let ray = Ray::new(at - way * 2.0, way).unwrap();
                let hit = ray.cast(&field, &Pose::IDENTITY, 9.0, Inside::Solid);
                let hit = hit.unwrap_or_else(|| panic!("{at} along {way}"));
                assert!((hit.point - at).length() < 1e-12);
                assert!((hit.normal - Vec3::Y).length() < 1e-12);
            }
            // From below it starts inside of the ground.
            let up = Ray::new(at - Vec3::Y, Vec3::Y).unwrap();
            let solid = up.cast(&field, &Pose::IDENTITY, 9.0, Inside::Solid);
            assert_eq!(solid.unwrap().distance, 0.0);
            let hollow = up.cast(&field, &Pose::IDENTITY, 9.0, Inside::Hollow);
            assert!((hollow.unwrap().distance - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn distances_and_times_see_the_same_solid() {
    let mut random = Random(2);
    let (mut apart, mut together, mut met) = (0, 0, 0);
    for _ in 0..60 {
        let half = vec3(
            random.range(0.3, 1.0),
            random.range(0.3, 1.0),
            random.range(0.3, 1.0),
        );
        let [hull, mesh, compound] = one_solid(half);
        for shape in shapes(&mut random) {
            if !shape.is_bounded() {
                continue;
            }
            let (pose, other) = (random.pose(1.5), random.pose(1.5));
            let near = closest_points(&hull, &pose, &shape, &other).unwrap();
            for pieces in [&mesh, &compound] {
                let touching = overlaps(pieces, &pose, &shape, &other);
                if near.separation.abs() > 1e-9 {
                    // What is inside of a closed mesh and touches no triangle is not told.
                    let hidden = near.separation < -0.1 && std::ptr::eq(pieces, &mesh);
                    assert!(hidden || touching == (near.separation < 0.0), "{near:?}");
                }
                if near.separation < 0.01 {
                    together += 1;
                    continue;
                }
                apart += 1;
                let mut set = ShapeSet::new();
                set.insert(pieces.clone(), pose).unwrap();
                let all = QueryFilter::default();
                let found = set.closest_shape(&shape, &other, 9.0, &all).unwrap();
                let found = found.unwrap().at;
                assert!(
                    (found.separation - near.separation).abs() < 1e-8,
                    "{shape:?} {other:?} {half} {pose:?}: {found:?} {near:?}"
                );
                let point = project_point(pieces, &pose, other.translation).unwrap();
                let by_hull = project_point(&hull, &pose, other.translation).unwrap();
                if by_hull.distance > 0.0 {
                    assert!((point.distance - by_hull.distance).abs() < 1e-9);
                }
                let way = (pose.translation - other.translation) * 1.5 + random.vec(0.5);
                let moving = Motion::along(other, way);
                let still = Motion::still(pose);
                let settings = ImpactSettings {
                    tolerance: 1e-7,
                    ..ImpactSettings::default()
                };
                let time = |s: &Shape| {
                    let impact = time_of_impact(s, &still, &shape, &moving, 1.0, &settings);
                    impact.unwrap().map(|i| i.time)
                };
                match (time(&hull), time(pieces)) {
                    (Some(e), Some(f)) => {
                        assert!((e - f).abs() < 1e-4, "{e} {f}");
                        met += 1;
                    }
                    (None, None) => {}
                    // At the edge of missing each other, the tolerance decides.
                    (e, f) => panic!("{shape:?} {other:?} {half} {pose:?} {way}: {e:?} {f:?}"),
                }
            }
        }
    }
    assert!(
        apart > 200 && together > 100 && met > 100,
        "{apart} {together} {met}"
    );
}

/// A triangle is flat, and so is a part of its difference to a cylinder that pierces it deep. The search
/// of the difference must end all the same.
#[test]
fn a_mesh_pierced_by_a_cylinder_overlaps_it() {
    use moreau_math::Quat;
    let [hull, mesh, _] = one_solid(vec3(
        0.3636804629909348,
        0.9768565981833197,
        0.5375529493048424,
    ));
    let pose = Pose::new(
        vec3(
            -0.13933170443333132,
            0.3950808382983464,
            -0.15237336705348659,
        ),
        Quat::from_xyzw(
            -0.3855164184302894,
            -0.7012080271739615,
            0.39529947148348205,
            0.4510240809450897,
        ),
    );
    let cylinder = Shape::cylinder(0.5140386243688494, 0.1531585206588191);
    let other = Pose::new(
        vec3(-0.8667861082127186, 0.6177794603427911, -0.2515048312227621),
        Quat::from_xyzw(
            -0.3659193831330257,
            0.8541663985365232,
            0.11904349668907409,
            -0.34975908073233736,
        ),
    );
    assert!(overlaps(&hull, &pose, &cylinder, &other));
    assert!(overlaps(&mesh, &pose, &cylinder, &other));
}

/// Pieces however small and far apart, of which a part of the size is rounded to zero: the search for the
/// nearest ends, and finds it.
#[test]
fn tiny_pieces_far_apart_have_a_distance() {
    for radius in [5e-324, 1e-320, f64::MIN_POSITIVE, 1e-200, 1e-50, 1e-9, 0.1] {
        for apart in [0.0, 1e-300, 1e-60, 1.0, 1e6, 1e150] {
            let ball = Shape::sphere(radius);
            let at = |x: f64| Pose::from_translation(vec3(x, 0.0, 0.0));
            let pair = [(ball.clone(), at(0.0)), (ball, at(4.0 * radius))];
            let pair = Shape::compound(&pair).unwrap();
            let (near, far) = (at(0.0), at(apart + 8.0 * radius));
            let right = apart + 2.0 * radius;
            let still = Motion::still(near);
            let way = Motion::along(far, vec3(-right, 0.0, 0.0));
            let settings = ImpactSettings::default();
            let met = time_of_impact(&pair, &still, &pair, &way, 2.0, &settings);
            // What is smaller touches nothing, and further away its size is less than a rounding.
            if radius > 1e-100 && right < 1e12 * radius {
                let time = met.unwrap().map(|m| m.time);
                let holds = time.is_some_and(|t| (t - 1.0).abs() <= 1e-6);
                assert!(holds, "{time:?} s, balls of {radius} m, {apart} m apart");
            }
        }
    }
}
