//! Contacts with meshes, heightfields and compounds.

mod scenes;

use moreau_collision::{CollideSettings, Manifold, Shape, collide_all, collide_parts};
use moreau_math::{Pose, Quat, Vec3, vec3};
use scenes::{Random, at, contact, turned};

fn all(a: (&Shape, Pose), b: (&Shape, Pose), prediction: f64) -> Vec<Manifold> {
    let mut manifolds = Vec::new();
    let settings = CollideSettings { prediction };
    collide_all(a.0, &a.1, b.0, &b.1, &settings, &mut manifolds);
    for pair in manifolds.windows(2) {
        assert!(pair[0].parts() < pair[1].parts(), "{manifolds:?}");
    }
    for m in &manifolds {
        assert!((m.normal().length() - 1.0).abs() < 1e-15);
        for p in m.points() {
            let along = m.normal().dot(p.point_b - p.point_a);
            assert!((along - p.separation).abs() < 1e-9, "{m:?}");
        }
        for pair in m.points().windows(2) {
            assert!(pair[0].feature < pair[1].feature, "{m:?}");
        }
    }
    manifolds
}

fn least(manifolds: &[Manifold]) -> Option<(f64, Vec3)> {
    let each = manifolds
        .iter()
        .filter_map(|m| Some((m.min_separation()?, m.normal())));
    each.reduce(|a, b| if b.0 < a.0 { b } else { a })
}

/// The surface of a hull as a mesh.
fn mesh_of(shape: &Shape) -> Shape {
    let Shape::Hull(hull) = shape else {
        panic!("{}", shape.kind());
    };
    let triangles: Vec<[u32; 3]> = hull.triangles().collect();
    Shape::mesh(hull.vertices(), &triangles).unwrap()
}

/// All convex kinds but half-spaces.
const KINDS: [u64; 6] = [0, 1, 2, 3, 4, 5];

/// A hull, something else, and the poses at which they are `gap` apart.
fn apart(random: &mut Random, kind: u64, gap: f64) -> (Shape, Pose, Shape, Pose) {
    let hull = random.shape(3);
    let hull = if matches!(hull, Shape::Hull(_)) {
        hull
    } else {
        scenes::box_hull(0.3, 0.4, 0.5)
    };
    let other = random.shape(kind);
    let pose = Pose::new(random.direction() * 3.0, random.rotation());
    let far = Pose::new(
        pose.translation + random.direction() * 5.0,
        random.rotation(),
    );
    let m = contact((&hull, pose), (&other, far), 20.0);
    let way = m.min_separation().unwrap() - gap;
    let near = Pose::new(far.translation - m.normal() * way, far.rotation);
    (hull, pose, other, near)
}

#[test]
fn the_mesh_of_a_hull_is_touched_as_the_hull_is() {
    let mut random = Random(11);
    for i in 0..4000 {
        let kind = KINDS[i as usize % KINDS.len()];
        let gap = random.range(1e-6, 0.019);
        let (hull, pose, other, near) = apart(&mut random, kind, gap);
        let exact = contact((&hull, pose), (&other, near), 0.02);
        let found = all((&mesh_of(&hull), pose), (&other, near), 0.02);
        let (separation, normal) = least(&found).unwrap_or_else(|| panic!("{i}: lost at {gap}"));
        assert!(
            (separation - gap).abs() < 1e-9,
            "{i}: {separation} {gap} {found:?} {exact:?}"
        );
        assert!(
            (normal - exact.normal()).length() < 1e-6,
            "{i}: {found:?} {exact:?}"
        );
    }
}

#[test]
fn shallow_overlaps_have_the_depth_of_the_hull() {
    let mut random = Random(12);
    for i in 0..4000 {
        let kind = i % 4;
        let depth = random.range(1e-6, 0.01);
        let (hull, pose, other, near) = apart(&mut random, kind, -depth);
        let exact = contact((&hull, pose), (&other, near), 0.02);
        let found = all((&mesh_of(&hull), pose), (&other, near), 0.02);
        let (separation, _) = least(&found).unwrap_or_else(|| panic!("{i}: lost at {depth}"));
        let right = exact.min_separation().unwrap();
        assert!(
            (separation - right).abs() < 1e-9,
            "{i}: {separation} {right}\n{found:?}\n{exact:?}"
        );
    }
}

/// In all but a few overlaps the greatest depth is the least translation of the hull.
#[test]
fn overlaps_with_cylinders_and_cones_have_the_depth_of_the_hull() {
    let mut random = Random(13);
    let (mut shallower, mut deeper) = (0, 0);
    for i in 0..4000 {
        let kind = 4 + i % 2;
        let depth = if i % 4 < 2 {
            random.range(1e-6, 0.01)
        } else {
            random.range(0.01, 0.1)
        };
        let (hull, pose, other, near) = apart(&mut random, kind, -depth);
        let exact = contact((&hull, pose), (&other, near), 0.02);
        // What was far inside may have come out on the other side.
        let Some(right) = exact.min_separation() else {
            continue;
        };
        let found = all((&mesh_of(&hull), pose), (&other, near), 0.02);
        let (separation, _) = least(&found).unwrap_or_else(|| panic!("{i}: lost at {depth}"));
        shallower += usize::from(separation > right + 1e-9);
        deeper += usize::from(separation < right - 1e-9);
    }
    assert!(shallower == 0 && deeper <= 3, "{shallower} {deeper}");
}

/// A strip of flush triangles along x, from x = 0, of cells `size` by 2 m.
fn strip(cells: usize, size: f64) -> Shape {
    let heights = vec![0.0; 2 * (cells + 1)];
    Shape::heightfield(2, cells + 1, heights, [size, 2.0]).unwrap()
}

#[test]
fn a_flat_strip_is_one_plane() {
    let ground = strip(20, 0.3);
    let mut random = Random(5);
    for shape in [
        Shape::cuboid(0.5, 0.25, 0.4),
        scenes::box_hull(0.5, 0.25, 0.4),
        Shape::sphere(0.25),
        Shape::capsule(0.4, 0.25),
        Shape::cylinder(0.25, 0.4),
        Shape::cone(0.25, 0.4),
    ] {
        let count = match shape {
            Shape::Sphere { .. } => 1,
            Shape::Capsule { .. } => 2,
            _ => 4,
        };
        let mut ids = None;
        for i in 0..400 {
            let x = random.range(1.0, 5.0);
            let z = random.range(0.7, 1.3);
            let gap = random.range(-1e-3, 1e-3);
            // A capsule lies down.
            let axis = if count == 2 { Vec3::Z } else { Vec3::Y };
            let tilt = if count == 2 {
                0.5 * std::f64::consts::PI
            } else if i % 2 == 0 {
                0.0
            } else {
                random.range(-3.0, 3.0)
            };
            let pose = turned(vec3(x, 0.25 + gap, z), axis, tilt);
            let found = all((&ground, Pose::IDENTITY), (&shape, pose), 0.02);
            assert_eq!(found.len(), 1, "{i} {found:?}");
            let m = &found[0];
            assert_eq!(m.normal(), Vec3::Y);
            assert_eq!(m.points().len(), count, "{i} {m:?}");
            for p in m.points() {
                assert!((p.separation - gap).abs() < 1e-14, "{m:?}");
            }
            let features: Vec<_> = m.points().iter().map(|p| p.feature).collect();
            let known = ids.get_or_insert_with(|| features.clone());
            assert_eq!(*known, features);
        }
    }
}

#[test]
fn exchanged_shapes_exchange_the_contacts() {
    let mut random = Random(21);
    for i in 0..1000 {
        let (hull, pose, other, near) = apart(&mut random, KINDS[i as usize % KINDS.len()], -0.005);
        let mesh = mesh_of(&hull);
        let bent = Shape::compound(&[
            (other.clone(), at(0.3, 0.0, 0.0)),
            (Shape::sphere(0.3), at(-0.3, 0.1, 0.0)),
        ])
        .unwrap();
        for b in [&other, &bent] {
            let one = all((&mesh, pose), (b, near), 0.02);
            let mut two: Vec<Manifold> = all((b, near), (&mesh, pose), 0.02)
                .iter()
                .map(Manifold::swapped)
                .collect();
            two.sort_by_key(Manifold::parts);
            assert_eq!(one, two);
        }
    }
}

#[test]
fn a_compound_touches_as_its_children_do() {
    let mut random = Random(33);
    let mut some = 0;
    for i in 0..600 {
        let shapes: Vec<(Shape, Pose)> = (0..5)
            .map(|k| {
                (
                    random.shape(k % 4),
                    Pose::new(random.direction(), random.rotation()),
                )
            })
            .collect();
        let compound = Shape::compound(&shapes).unwrap();
        let pose = Pose::new(random.direction(), random.rotation());
        let other = random.shape(i % 4);
        let there = Pose::new(random.direction() * 2.0, random.rotation());
        let found = all((&compound, pose), (&other, there), 0.02);
        let brute: Vec<Manifold> = shapes
            .iter()
            .map(|(shape, own)| contact((shape, pose.mul_pose(own)), (&other, there), 0.02))
            .filter(|m| !m.is_empty())
            .collect();
        some += brute.len();
        assert_eq!(found.len(), brute.len());
        for (m, n) in found.iter().zip(&brute) {
            assert_eq!((m.normal(), m.points()), (n.normal(), n.points()));
        }
    }
    assert!(some > 100, "{some}");
}

#[test]
fn moved_pairs_have_moved_contacts() {
    let mut random = Random(44);
    for i in 0..500 {
        let (hull, pose, other, near) = apart(&mut random, i % 4, random_gap(i));
        let mesh = mesh_of(&hull);
        let frame = Pose::new(random.direction() * 10.0, random.rotation());
        let one = all((&mesh, pose), (&other, near), 0.02);
        let two = all(
            (&mesh, frame.mul_pose(&pose)),
            (&other, frame.mul_pose(&near)),
            0.02,
        );
        let (s, n) = least(&one).unwrap();
        let (t, m) = least(&two).unwrap();
        assert!((s - t).abs() < 1e-12, "{s} {t}");
        assert!(
            (frame.transform_vector(n) - m).length() < 1e-6,
            "{i} {one:?} {two:?}"
        );
    }
}

fn random_gap(i: u64) -> f64 {
    (i as f64 / 500.0 - 0.5) * 0.03 + 1e-5
}

#[test]
fn edges_have_the_normals_of_the_surface() {
    // A ridge along z at x = 1 m, height 1 m, and a valley at x = 2 m.
    let heights = vec![0.0, 1.0, 0.0, 1.0];
    let both = [heights.clone(), heights].concat();
    let ground = Shape::heightfield(2, 4, both, [1.0, 2.0]).unwrap();
    let ball = Shape::sphere(0.3);
    let floor = |x, y| all((&ground, Pose::IDENTITY), (&ball, at(x, y, 1.0)), 0.02);
    // Over the ridge: one contact, straight up.
    let top = floor(1.0, 1.305);
    assert_eq!(top.len(), 1);
    assert!((top[0].normal() - Vec3::Y).length() < 1e-12);
    assert!((top[0].points()[0].separation - 0.005).abs() < 1e-14);
    // To its side, and still in the range of the edge: away from the edge.
    let (dx, dy) = (0.1, 0.3);
    let side = floor(1.0 + dx, 1.0 + dy);
    assert_eq!(side.len(), 1);
    let away = vec3(dx, dy, 0.0).normalize();
    assert!((side[0].normal() - away).length() < 1e-12, "{side:?}");
    // In the valley: the two slopes, and no edge.
    let s = 0.5_f64.sqrt();
    let valley = floor(2.0, 0.3 / s);
    assert_eq!(valley.len(), 2, "{valley:?}");
    for (m, n) in valley.iter().zip([vec3(s, s, 0.0), vec3(-s, s, 0.0)]) {
        assert!((m.normal() - n).length() < 1e-12, "{m:?}");
        assert!(m.points()[0].separation.abs() < 1e-12);
    }
    // A cube that lies across the ridge touches it with its face: the edge's two ends of the face.
    let cube = Shape::cuboid(0.4, 0.4, 0.4);
    let across = all(
        (&ground, Pose::IDENTITY),
        (&cube, at(1.0, 1.395, 1.0)),
        0.02,
    );
    assert_eq!(across.len(), 1, "{across:?}");
    assert!((across[0].normal() - Vec3::Y).length() < 1e-12);
    assert_eq!(across[0].points().len(), 2);
    for p in across[0].points() {
        assert!((p.separation + 0.005).abs() < 1e-12, "{across:?}");
        assert!((p.point_a.x - 1.0).abs() < 1e-12);
    }
}

#[test]
fn what_lies_behind_a_mesh_is_not_touched() {
    let sheet = [
        vec3(0.0, 0.0, 0.0),
        vec3(0.0, 0.0, 2.0),
        vec3(2.0, 0.0, 0.0),
    ];
    let sheet = Shape::mesh(&sheet, &[[0, 1, 2]]).unwrap();
    let ground = strip(4, 0.5);
    for shape in [Shape::sphere(0.2), Shape::cuboid(0.2, 0.2, 0.2)] {
        let below = all((&sheet, Pose::IDENTITY), (&shape, at(0.5, -0.2, 0.5)), 0.02);
        assert!(below.is_empty(), "{below:?}");
        let above = all((&sheet, Pose::IDENTITY), (&shape, at(0.5, 0.2, 0.5)), 0.02);
        assert!(!above.is_empty());
        // There is no way out of the ground but up.
        let deep = all(
            (&ground, Pose::IDENTITY),
            (&shape, at(1.1, -5.0, 0.7)),
            0.02,
        );
        assert_eq!(deep.len(), 1);
        assert_eq!(deep[0].normal(), Vec3::Y);
        assert!((deep[0].points()[0].separation + 5.2).abs() < 1e-12);
        let beside = all(
            (&ground, Pose::IDENTITY),
            (&shape, at(-1.0, -5.0, 0.7)),
            0.02,
        );
        assert!(beside.is_empty());
        let nan = Pose::from_translation(Vec3::NAN);
        assert!(all((&ground, nan), (&shape, at(1.0, 0.2, 1.0)), 0.02).is_empty());
        let huge = Pose::from_translation(Vec3::splat(1e300));
        assert!(all((&ground, huge), (&shape, at(1.0, 0.2, 1.0)), 0.02).is_empty());
    }
}

/// What overlaps is touched however far ahead is looked.
#[test]
fn overlaps_are_found_without_a_prediction_distance() {
    let mut random = Random(61);
    let mut deep = 0;
    for i in 0..3000 {
        let heights = (0..56).map(|_| random.range(0.0, 0.5)).collect();
        let ground = Shape::heightfield(7, 8, heights, [0.7, 1.0]).unwrap();
        let shape = random.shape(i % 6);
        let place = vec3(
            random.range(1.5, 3.4),
            random.range(0.0, 1.0),
            random.range(1.5, 4.5),
        );
        let pose = Pose::new(place, random.rotation());
        let ahead = all((&ground, Pose::IDENTITY), (&shape, pose), 0.02);
        let now = all((&ground, Pose::IDENTITY), (&shape, pose), 0.0);
        let overlaps = least(&ahead).is_some_and(|(s, _)| s < -1e-9);
        deep += usize::from(overlaps);
        assert!(!overlaps || !now.is_empty(), "{i}: {ahead:?}");
    }
    assert!(deep > 1000, "{deep}");
}

#[test]
fn a_mesh_stands_on_a_half_space_and_on_a_box() {
    let cube = mesh_of(&scenes::box_hull(0.5, 0.5, 0.5));
    let floor = Shape::half_space(Vec3::Y);
    let slab = Shape::cuboid(5.0, 1.0, 5.0);
    let turn = Quat::from_xyzw(0.0, 0.6, 0.0, 0.8);
    for (ground, y) in [(&floor, 0.0), (&slab, -1.0)] {
        let pose = Pose::new(vec3(0.2, 0.499, 0.1), turn);
        let found = all((ground, at(0.0, y, 0.0)), (&cube, pose), 0.02);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!((found[0].normal() - Vec3::Y).length() < 1e-12);
        assert_eq!(found[0].points().len(), 4);
        for p in found[0].points() {
            assert!((p.separation + 0.001).abs() < 1e-12);
        }
    }
}

/// Exchanging two compounds exchanges their contacts, also of what lies far below a heightfield, out
/// of its box; and a heightfield in a compound is as deep as one by itself.
#[test]
fn below_a_heightfield_in_a_compound_all_is_solid() {
    let ground = Shape::heightfield(3, 3, vec![0.0; 9], [2.0, 2.0]).unwrap();
    let place = Pose::from_translation(vec3(-2.0, 1.0, -2.0));
    let bar = Shape::cuboid(0.25, 0.25, 0.25);
    let scenery = Shape::compound(&[(bar, Pose::IDENTITY), (ground.clone(), place)]).unwrap();
    let ball = Shape::sphere(0.5);
    let low = Pose::from_translation(vec3(0.75, -7.0, 0.5));
    let aside = Pose::from_translation(vec3(5.0, -3.0, 0.0));
    let balls = Shape::compound(&[(ball.clone(), aside), (ball.clone(), low)]).unwrap();
    let settings = CollideSettings { prediction: 0.0 };
    let all = |a: (&Shape, &Pose), b: (&Shape, &Pose), settings: &CollideSettings| {
        let mut manifolds = Vec::new();
        collide_all(a.0, a.1, b.0, b.1, settings, &mut manifolds);
        manifolds
    };
    let origin = Pose::IDENTITY;
    let alone = all((&ground, &place), (&ball, &low), &settings);
    assert_eq!(alone[0].min_separation(), Some(-8.5));
    let partners = [(&balls, origin), (&ball, low)];
    for (partner, pose) in partners {
        let found = all((&scenery, &origin), (partner, &pose), &settings);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].points()[0].separation, -8.5);
        assert_eq!(found[0].normal(), Vec3::Y);
        let back = all((partner, &pose), (&scenery, &origin), &settings);
        assert_eq!(
            found,
            back.iter().map(Manifold::swapped).collect::<Vec<_>>()
        );
    }
}

/// A prediction below zero reports what is that deep, of composite shapes, too.
#[test]
fn a_negative_prediction_reports_deep_contacts_only() {
    let ground = Shape::heightfield(2, 2, vec![0.0; 4], [4.0, 4.0]).unwrap();
    let ball = Shape::sphere(1.0);
    let whole = Shape::compound(&[(ball.clone(), Pose::IDENTITY)]).unwrap();
    let cube = Shape::cuboid(1.0, 1.0, 1.0);
    for (height, prediction, expected) in [
        (0.5, -0.25, true),
        (0.5, -0.75, false),
        (-0.5, -1.25, true),
        (-0.5, -1.75, false),
        (-7.0, -7.5, true),
        (-7.0, -8.5, false),
    ] {
        let settings = CollideSettings { prediction };
        let above = Pose::from_translation(vec3(2.0, height, 2.0));
        for shape in [&ball, &whole] {
            let mut found = [Vec::new(), Vec::new()];
            let origin = Pose::IDENTITY;
            collide_all(&ground, &origin, shape, &above, &settings, &mut found[0]);
            collide_all(shape, &above, &ground, &origin, &settings, &mut found[1]);
            for manifolds in &found {
                assert_eq!(
                    !manifolds.is_empty(),
                    expected,
                    "{height} {prediction}: {manifolds:?}"
                );
            }
        }
    }
    // Beside each other by 1.5 of 2 m: half a metre deep.
    let beside = Pose::from_translation(vec3(1.5, 0.0, 0.0));
    for (prediction, expected) in [(-0.4, 1), (-0.6, 0)] {
        let settings = CollideSettings { prediction };
        for (a, b) in [(&whole, &cube), (&cube, &whole), (&whole, &whole)] {
            let mut manifolds = Vec::new();
            collide_all(a, &Pose::IDENTITY, b, &beside, &settings, &mut manifolds);
            assert_eq!(manifolds.len(), expected, "{prediction}: {manifolds:?}");
        }
    }
}

/// A corner that touches the common edge of triangles that are one patch and yet of several planes, as
/// each is bent by less than counts against the next: each manifold has a name of its own, and is found
/// by it.
#[test]
fn the_planes_of_an_almost_flat_patch_have_names_of_their_own() {
    let step = 0.000_244_148_075_807_977_54;
    let vertices = [
        vec3(-14.625, -14.625_000_909_848_323, -14.625_000_909_848_323),
        vec3(-step, -step, -step),
        vec3(-step, -step, 0.499_771_111_178_93),
        vec3(0.875_000_054_902_798_5, 0.875, 0.125),
        vec3(9.75, 9.75, 8.375),
    ];
    let triangles = [[0, 1, 3], [0, 2, 1], [0, 3, 4], [1, 2, 4]];
    let mesh = Shape::mesh(&vertices, &triangles).unwrap();
    let corners = [
        Vec3::ZERO,
        vec3(0.875, -0.5, 2.0),
        vec3(0.875, 0.875, 0.875),
        vec3(2.188_299_203_466_902_7, 0.375, 2.125),
    ];
    let body = Shape::hull(&corners).unwrap();
    let ground = Pose::new(Vec3::splat(0.875), Quat::from_xyzw(0.5, 0.5, 0.5, 0.5));
    let pose = Pose::IDENTITY;
    let settings = CollideSettings { prediction: 0.0 };
    let mut manifolds = Vec::new();
    collide_all(&mesh, &ground, &body, &pose, &settings, &mut manifolds);
    let parts: Vec<_> = manifolds.iter().map(Manifold::parts).collect();
    assert!(parts.len() > 2, "{parts:?}");
    assert!(parts.windows(2).all(|p| p[0] < p[1]), "{parts:?}");
    for manifold in &manifolds {
        let mut found = Vec::new();
        let sides = ((&mesh, &ground), (&body, &pose));
        collide_parts(sides.0, sides.1, manifold.parts(), &settings, &mut found);
        let named = found.iter().find(|m| m.parts() == manifold.parts());
        assert!(
            named.is_some(),
            "{:?} is not in {found:?}",
            manifold.parts()
        );
    }
}

/// A tetrahedron that rests with a face on the end of a cylinder, tilted by less than a tenth of a
/// millimetre over its width and overlapping by as much: no corner is as deep as the end's plane is in it.
#[test]
fn a_face_that_lies_almost_flush_on_the_end_of_a_cylinder_is_no_deeper_than_its_hull() {
    let t = 0.194_142_985_306_364_98;
    let corners = [
        vec3(t, t, t),
        vec3(t, -t, -t),
        vec3(-t, t, -t),
        vec3(-t, -t, t),
    ];
    let hull = Shape::hull(&corners).unwrap();
    let mesh = Shape::mesh(&corners, &[[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]]).unwrap();
    let cylinder = Shape::cylinder(0.209_440_270_872_033_46, 0.244_346_982_684_039);
    let pose = Pose::new(
        vec3(
            -0.953_880_642_327_273_8,
            0.311_481_067_582_086_6,
            1.311_419_712_008_076_2,
        ),
        Quat::from_xyzw(
            -0.918_156_856_837_247_9,
            0.277_952_055_535_014_9,
            0.258_914_953_590_356_9,
            0.112_666_267_684_293_47,
        ),
    );
    let on_top = Pose::new(
        vec3(
            -0.795_838_250_299_712_6,
            0.586_797_453_164_249_7,
            1.403_546_685_749_791_6,
        ),
        Quat::from_xyzw(
            -0.260_175_171_732_198_95,
            0.769_021_584_561_162_5,
            0.173_897_730_647_423_6,
            -0.557_381_612_334_705_6,
        ),
    );
    let exact = contact((&cylinder, pose), (&hull, on_top), 0.02);
    let found = all((&cylinder, pose), (&mesh, on_top), 0.02);
    let (separation, normal) = least(&found).unwrap();
    assert!(exact.normal().dot(normal) > 1.0 - 1e-6, "{found:?}");
    assert!(
        (separation - exact.min_separation().unwrap()).abs() < 5e-5,
        "{found:?}"
    );
}
