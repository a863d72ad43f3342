//! Meshes and heightfields against each other and against half-spaces.

mod scenes;

use moreau_collision::{CollideSettings, Manifold, Shape, collide_all, collide_parts};
use moreau_math::{Pose, Quat, Vec3, vec3};
use scenes::{Random, at, box_hull, contact, turned};

type Placed<'a> = (&'a Shape, Pose);

fn all(a: Placed<'_>, b: Placed<'_>, prediction: f64) -> Vec<Manifold> {
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

fn some_hull(random: &mut Random) -> Shape {
    match random.shape(3) {
        Shape::Hull(hull) => Shape::Hull(hull),
        _ => box_hull(0.3, 0.4, 0.5),
    }
}

/// Two hulls at the poses at which they are `gap` apart.
fn hulls(random: &mut Random, gap: f64) -> ((Shape, Pose), (Shape, Pose)) {
    let (a, b) = (some_hull(random), some_hull(random));
    let pose = Pose::new(random.direction() * 3.0, random.rotation());
    let away = pose.translation + random.direction() * 5.0;
    let far = Pose::new(away, random.rotation());
    let m = contact((&a, pose), (&b, far), 20.0);
    let way = m.min_separation().unwrap() - gap;
    let near = Pose::new(far.translation - m.normal() * way, far.rotation);
    ((a, pose), (b, near))
}

#[test]
fn meshes_of_hulls_touch_as_the_hulls_do() {
    let mut random = Random(51);
    let mut compared = 0;
    for i in 0..3000 {
        let gap = match i % 3 {
            0 => random.range(1e-6, 0.019),
            1 => random.range(-0.01, -1e-6),
            _ => random.range(-0.2, -0.01),
        };
        let ((a, pose), (b, near)) = hulls(&mut random, gap);
        let exact = contact((&a, pose), (&b, near), 0.02);
        // What was far inside may have come out on the other side.
        let Some(right) = exact.min_separation() else {
            continue;
        };
        compared += 1;
        let found = all((&mesh_of(&a), pose), (&mesh_of(&b), near), 0.02);
        let (separation, normal) = least(&found).unwrap_or_else(|| panic!("{i}: lost at {gap}"));
        let is_right = (separation - right).abs() < 1e-9;
        assert!(is_right, "{i}: {separation} {right}\n{found:?}\n{exact:?}");
        // Overlapping ones may have several least normals, apart ones have not.
        let turn = (normal - exact.normal()).length();
        assert!(turn < 1e-6 || right < 0.0, "{i}: {found:?} {exact:?}");
    }
    assert!(compared > 2900, "{compared}");
}

/// A tetrahedron with thin wedges.
fn sharp(random: &mut Random) -> Shape {
    let corners: Vec<Vec3> = (0..4).map(|_| random.direction() * 0.3).collect();
    Shape::hull(&corners).unwrap_or_else(|_| box_hull(0.3, 0.01, 0.2))
}

#[test]
fn sharp_meshes_touch_where_their_hulls_do() {
    let mut random = Random(53);
    let (mut apart, mut beside) = (0, 0);
    for i in 0..2000 {
        let (a, b) = (sharp(&mut random), sharp(&mut random));
        let pose = Pose::new(random.direction() * 3.0, random.rotation());
        let there = pose.translation + random.direction() * random.range(0.0, 0.5);
        let there = Pose::new(there, random.rotation());
        let exact = contact((&a, pose), (&b, there), 0.02);
        let found = all((&mesh_of(&a), pose), (&mesh_of(&b), there), 0.02);
        let separation = least(&found).map(|(separation, _)| separation);
        match exact.min_separation() {
            None => {
                apart += 1;
                beside += usize::from(!contact((&a, pose), (&b, there), 0.1).is_empty());
                assert_eq!(separation, None, "{i}: {found:?}");
            }
            Some(right) => {
                let is_right = separation.is_some_and(|s| (s - right).abs() < 1e-9);
                assert!(is_right, "{i}: {right} {found:?}");
            }
        }
    }
    assert!(apart > 500 && beside > 250, "{apart} {beside}");
}

/// Also where no triangle of the one crosses any of the other.
#[test]
fn what_lies_within_a_convex_mesh_is_found() {
    let mut random = Random(54);
    let mut within = 0;
    for i in 0..400 {
        let half = vec3(
            random.range(0.5, 1.0),
            random.range(0.5, 1.0),
            random.range(0.5, 1.0),
        );
        let around = box_hull(half.x, half.y, half.z);
        let pose = Pose::new(random.direction() * 3.0, random.rotation());
        let size = random.range(0.02, 0.2);
        let inner = [
            Shape::sphere(size),
            Shape::capsule(size, 0.5 * size),
            box_hull(size, 0.7 * size, 0.4 * size),
            mesh_of(&box_hull(size, 0.7 * size, 0.4 * size)),
        ];
        let at = pose.transform_point(half * 0.4 * random.direction());
        let place = Pose::new(at, random.rotation());
        for shape in &inner {
            let solid = match shape {
                Shape::Mesh(mesh) => Shape::hull(mesh.vertices()).unwrap(),
                other => other.clone(),
            };
            let exact = contact((&around, pose), (&solid, place), 0.02);
            let right = exact.min_separation().unwrap();
            for (a, b) in [
                ((&mesh_of(&around), pose), (shape, place)),
                ((shape, place), (&mesh_of(&around), pose)),
            ] {
                let found = all(a, b, 0.02);
                let (separation, _) = least(&found).unwrap_or_else(|| panic!("{i}: lost"));
                assert!(
                    (separation - right).abs() < 1e-9,
                    "{i}: {separation} {right}"
                );
                within += 1;
            }
        }
    }
    assert_eq!(within, 400 * 8);
}

/// Hilly ground of 5 m by 6 m.
fn hills(random: &mut Random) -> Shape {
    let heights = (0..56).map(|_| random.range(0.0, 0.5)).collect();
    Shape::heightfield(7, 8, heights, [0.7, 1.0]).unwrap()
}

/// The ground without its knowledge that all below is solid.
fn as_mesh(ground: &Shape) -> Shape {
    let Shape::Heightfield(field) = ground else {
        panic!("{}", ground.kind());
    };
    let triangles: Vec<[u32; 3]> = field.triangles().collect();
    Shape::mesh(field.vertices(), &triangles).unwrap()
}

#[test]
fn a_mesh_on_hills_touches_as_its_hull_does() {
    let mut random = Random(52);
    let (mut touching, mut apart) = (0, 0);
    for i in 0..2000 {
        let ground = hills(&mut random);
        let hull = some_hull(&mut random);
        let place = vec3(random.range(1.5, 3.4), 0.0, random.range(1.5, 4.5));
        let turn = random.rotation();
        // Let down until it touches.
        let pose = |y: f64| Pose::new(place + Vec3::Y * y, turn);
        let touches = |y: f64| !all((&ground, Pose::IDENTITY), (&hull, pose(y)), 0.0).is_empty();
        let mut high = 3.0;
        while !touches(high - 0.02) {
            high -= 0.02;
        }
        let mut low = high - 0.02;
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if touches(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        let mesh = mesh_of(&hull);
        let gap = if i % 2 == 0 { 0.01 } else { -0.002 };
        let there = pose(high + gap);
        for ground in [&ground, &as_mesh(&ground)] {
            let exact = all((ground, Pose::IDENTITY), (&hull, there), 0.02);
            let found = all((ground, Pose::IDENTITY), (&mesh, there), 0.02);
            let (s, n) = least(&exact).unwrap_or_else(|| panic!("{i}: {hull:?} at {there:?}"));
            let (t, m) = least(&found).unwrap_or_else(|| panic!("{i}: lost {exact:?}"));
            if gap > 0.0 {
                apart += 1;
                assert!((s - t).abs() < 1e-9, "{i}: {s} {t}\n{exact:?}\n{found:?}");
                assert!((n - m).length() < 1e-6, "{i}: {exact:?} {found:?}");
            } else {
                touching += 1;
                // Wedges that stick out beyond a ridge are deeper for the triangles that they leave.
                assert!(t < 0.0 && t > -0.02, "{i}: {s} {t}\n{exact:?}\n{found:?}");
            }
        }
    }
    assert_eq!((touching, apart), (2000, 2000));
}

#[test]
fn exchanged_surfaces_exchange_the_contacts() {
    let mut random = Random(53);
    let mut some = 0;
    for i in 0..1500 {
        let gap = random.range(-0.1, 0.01);
        let ((a, pose), (b, near)) = hulls(&mut random, gap);
        let bent = Shape::compound(&[
            (mesh_of(&b), at(0.2, 0.0, 0.1)),
            (mesh_of(&some_hull(&mut random)), at(-0.3, 0.2, 0.0)),
        ])
        .unwrap();
        let a = if i % 3 == 0 {
            hills(&mut random)
        } else {
            mesh_of(&a)
        };
        for b in [&mesh_of(&b), &bent] {
            let one = all((&a, pose), (b, near), 0.02);
            let two = all((b, near), (&a, pose), 0.02);
            let mut two: Vec<Manifold> = two.iter().map(Manifold::swapped).collect();
            two.sort_by_key(Manifold::parts);
            some += one.len();
            assert_eq!(one, two);
        }
    }
    assert!(some > 2000, "{some}");
}

#[test]
fn moved_surfaces_have_moved_contacts() {
    let mut random = Random(54);
    for i in 0..600 {
        let gap = random.range(-0.02, 0.015);
        let ((a, pose), (b, near)) = hulls(&mut random, gap);
        let (a, b) = (mesh_of(&a), mesh_of(&b));
        let far = if i % 4 == 0 { 1e6 } else { 10.0 };
        let frame = Pose::new(random.direction() * far, random.rotation());
        let one = all((&a, pose), (&b, near), 0.02);
        let moved = [frame.mul_pose(&pose), frame.mul_pose(&near)];
        let two = all((&a, moved[0]), (&b, moved[1]), 0.02);
        let (s, n) = least(&one).unwrap();
        let (t, m) = least(&two).unwrap();
        let tolerance = 1e-12 + 1e-15 * far;
        assert!((s - t).abs() < tolerance, "{i}: {s} {t}");
        let turned = (frame.transform_vector(n) - m).length();
        assert!(turned < 1e-6, "{i}: {turned} {one:?} {two:?}");
    }
}

fn grounds() -> Vec<(Shape, Pose)> {
    let flat = Shape::heightfield(5, 5, vec![0.0; 25], [1.0, 1.0]).unwrap();
    let slab = mesh_of(&box_hull(2.0, 0.5, 2.0));
    vec![
        (as_mesh(&flat), Pose::IDENTITY),
        (flat, Pose::IDENTITY),
        (slab, at(2.0, -0.5, 2.0)),
    ]
}

#[test]
fn a_cube_of_triangles_stands_on_four_points() {
    let cube = mesh_of(&box_hull(0.5, 0.25, 0.4));
    let mut random = Random(55);
    for (ground, place) in grounds() {
        let mut ids = None;
        for i in 0..300 {
            let gap = random.range(-1e-3, 1e-3);
            let position = vec3(random.range(1.0, 3.0), 0.25 + gap, random.range(1.0, 3.0));
            let angle = if i % 2 == 0 {
                0.0
            } else {
                random.range(-3.0, 3.0)
            };
            let found = all(
                (&ground, place),
                (&cube, turned(position, Vec3::Y, angle)),
                0.02,
            );
            assert_eq!(found.len(), 1, "{i} {found:?}");
            let m = &found[0];
            assert!((m.normal() - Vec3::Y).length() < 1e-14, "{m:?}");
            assert_eq!(m.points().len(), 4, "{i} {m:?}");
            for p in m.points() {
                assert!((p.separation - gap).abs() < 1e-14, "{m:?}");
                let arm = p.point_b - position;
                let size = vec3(arm.x, 0.0, arm.z).length();
                let corner = vec3(0.5, 0.0, 0.4).length();
                assert!((size - corner).abs() < 1e-12, "{i} {m:?}");
            }
            let features: Vec<_> = m.points().iter().map(|p| p.feature).collect();
            let known = ids.get_or_insert_with(|| features.clone());
            assert_eq!(*known, features);
        }
    }
}

/// The upper corners of a thin plate are within the prediction, right above the lower ones.
#[test]
fn a_thin_plate_lies_on_its_lower_corners() {
    let mut random = Random(31);
    let mut seen = 0;
    for _ in 0..300 {
        let thick = random.range(1e-3, 0.3);
        let half = vec3(random.range(0.3, 1.0), thick, random.range(0.3, 1.0));
        let plate = mesh_of(&box_hull(half.x, half.y, half.z));
        for (ground, place) in grounds() {
            // Over a corner of cells or anywhere.
            let off = if random.range(0.0, 1.0) < 0.5 {
                Vec3::ZERO
            } else {
                vec3(random.range(-0.4, 0.4), 0.0, random.range(-0.4, 0.4))
            };
            let yaw = Quat::from_axis_angle(Vec3::Y, random.range(-3.0, 3.0));
            let pose = Pose::new(vec3(2.0, half.y, 2.0) + off, yaw);
            let manifolds = all((&ground, place), (&plate, pose), 0.7);
            let points = manifolds.iter().flat_map(Manifold::points);
            for p in points {
                assert!(
                    p.separation.abs() < 1e-9,
                    "{} {off} {yaw}: {manifolds:?}",
                    ground.kind()
                );
                seen += 1;
            }
        }
    }
    assert!(seen >= 4 * 3 * 300);
}

#[test]
fn ridges_cross_at_their_common_perpendicular() {
    // A roof along z with its ridge at height 1, and the same upside down along x.
    let roof = [
        vec3(-1.0, 0.0, -2.0),
        vec3(1.0, 0.0, -2.0),
        vec3(0.0, 1.0, -2.0),
        vec3(-1.0, 0.0, 2.0),
        vec3(1.0, 0.0, 2.0),
        vec3(0.0, 1.0, 2.0),
    ];
    let roof = mesh_of(&Shape::hull(&roof).unwrap());
    let mut turn = turned(Vec3::ZERO, Vec3::X, std::f64::consts::PI);
    turn = turned(Vec3::ZERO, Vec3::Y, 0.5 * std::f64::consts::PI).mul_pose(&turn);
    for gap in [0.01, -0.01, -0.2] {
        let over = Pose::new(vec3(0.3, 2.0 + gap, 0.2), turn.rotation);
        let found = all((&roof, Pose::IDENTITY), (&roof, over), 0.02);
        assert_eq!(found.len(), 1, "{found:?}");
        let m = &found[0];
        assert!((m.normal() - Vec3::Y).length() < 1e-12, "{m:?}");
        assert_eq!(m.points().len(), 1);
        let p = m.points()[0];
        assert!((p.separation - gap).abs() < 1e-12, "{m:?}");
        assert!((p.point_a - vec3(0.0, 1.0, 0.2)).length() < 1e-12, "{m:?}");
    }
}

/// A room: a box of walls 0.1 m thick around a hollow of 2 m, a corner of which is at the origin.
fn room() -> Shape {
    let walls = [
        (vec3(1.0, -0.05, 1.0), vec3(1.1, 0.05, 1.1)),
        (vec3(1.0, 2.05, 1.0), vec3(1.1, 0.05, 1.1)),
    ];
    let mut vertices: Vec<Vec3> = Vec::new();
    let mut triangles: Vec<[u32; 3]> = Vec::new();
    for (center, half) in walls {
        let Shape::Hull(hull) = box_hull(half.x, half.y, half.z) else {
            unreachable!()
        };
        let first = vertices.len() as u32;
        vertices.extend(hull.vertices().iter().map(|&v| v + center));
        triangles.extend(hull.triangles().map(|t| t.map(|v| v + first)));
    }
    Shape::mesh(&vertices, &triangles).unwrap()
}

#[test]
fn what_lies_beyond_a_wall_is_not_touched() {
    let room = room();
    let cube = mesh_of(&box_hull(0.5, 0.5, 0.5));
    // On the floor, under the ceiling, on the roof: one plane each, and none of the others.
    for (y, up) in [(0.499, 1.0), (1.501, -1.0), (2.599, 1.0), (-0.599, -1.0)] {
        let found = all((&room, Pose::IDENTITY), (&cube, at(1.0, y, 1.0)), 0.02);
        assert_eq!(found.len(), 1, "{y} {found:?}");
        let m = &found[0];
        assert!((m.normal() - Vec3::Y * up).length() < 1e-12, "{m:?}");
        assert!((m.min_separation().unwrap() + 0.001).abs() < 1e-12);
        assert_eq!(m.points().len(), 4);
    }
    // In the middle of the room.
    assert!(all((&room, Pose::IDENTITY), (&cube, at(1.0, 1.0, 1.0)), 0.02).is_empty());
    // A sheet is touched from its front only.
    let sheet = [
        vec3(0.0, 0.0, 0.0),
        vec3(0.0, 0.0, 4.0),
        vec3(4.0, 0.0, 0.0),
    ];
    let sheet = Shape::mesh(&sheet, &[[0, 1, 2]]).unwrap();
    for (y, count) in [(0.51, 1), (0.4, 1), (-0.51, 0), (-3.0, 0)] {
        let found = all((&sheet, Pose::IDENTITY), (&cube, at(1.0, y, 1.0)), 0.02);
        assert_eq!(found.len(), count, "{y} {found:?}");
    }
}

#[test]
fn legs_of_different_lengths_stand_on_a_step() {
    // A table of three boxes in one mesh: a top, and legs that end at 0 and at 0.2.
    let boxes = [
        (vec3(0.0, 1.1, 0.0), vec3(1.0, 0.1, 0.3)),
        (vec3(-0.8, 0.5, 0.0), vec3(0.1, 0.499, 0.2)),
        (vec3(0.8, 0.6, 0.0), vec3(0.1, 0.399, 0.2)),
    ];
    let mut vertices: Vec<Vec3> = Vec::new();
    let mut triangles: Vec<[u32; 3]> = Vec::new();
    for (center, half) in boxes {
        let Shape::Hull(hull) = box_hull(half.x, half.y, half.z) else {
            unreachable!()
        };
        let first = vertices.len() as u32;
        vertices.extend(hull.vertices().iter().map(|&v| v + center));
        triangles.extend(hull.triangles().map(|t| t.map(|v| v + first)));
    }
    let table = Shape::mesh(&vertices, &triangles).unwrap();
    // Ground at 0 for x < 0.3, at 0.2 for x > 0.4.
    let row = [0.0, 0.0, 0.2, 0.2];
    let xs = [-2.0, 0.3, 0.4, 2.0];
    let corners: Vec<Vec3> = (0..8)
        .map(|i| vec3(xs[i % 4], row[i % 4], if i < 4 { -1.0 } else { 1.0 }))
        .collect();
    let strips = (0..3u32).flat_map(|i| [[i, i + 4, i + 1], [i + 1, i + 4, i + 5]]);
    let ground = Shape::mesh(&corners, &strips.collect::<Vec<_>>()).unwrap();
    // The legs end 1 mm over the ground's two levels at y = 0: let them sink in by 2 mm.
    for dy in [0.0, -0.002] {
        let found = all((&ground, Pose::IDENTITY), (&table, at(0.0, dy, 0.0)), 0.02);
        let level: Vec<&Manifold> = (found.iter())
            .filter(|m| (m.normal() - Vec3::Y).length() < 1e-9)
            .collect();
        assert_eq!((level.len(), found.len()), (2, 2), "{found:?}");
        for m in level {
            assert_eq!(m.points().len(), 4, "{m:?}");
            for p in m.points() {
                assert!((p.separation - (0.001 + dy)).abs() < 1e-12, "{m:?}");
            }
        }
    }
}

#[test]
fn a_mesh_all_below_a_heightfield_is_brought_up() {
    let ground = Shape::heightfield(3, 3, vec![0.0; 9], [2.0, 2.0]).unwrap();
    let cube = mesh_of(&box_hull(0.5, 0.5, 0.5));
    let low = at(1.5, -6.0, 1.8);
    for swapped in [false, true] {
        let found = if swapped {
            all((&cube, low), (&ground, Pose::IDENTITY), 0.02)
        } else {
            all((&ground, Pose::IDENTITY), (&cube, low), 0.02)
        };
        assert_eq!(found.len(), 1);
        let up = if swapped { -Vec3::Y } else { Vec3::Y };
        assert_eq!(found[0].normal(), up);
        assert!((found[0].min_separation().unwrap() + 6.5).abs() < 1e-12);
    }
    let above = all((&ground, Pose::IDENTITY), (&cube, at(1.5, 0.6, 1.8)), 0.02);
    let beside = all(
        (&ground, Pose::IDENTITY),
        (&cube, at(-3.0, -6.0, 1.8)),
        0.02,
    );
    assert!(above.is_empty() && beside.is_empty());
}

/// A half-space against the vertices of whatever has some.
#[test]
fn vertices_meet_a_half_space() {
    let mut random = Random(56);
    for _ in 0..200 {
        let ground = hills(&mut random);
        let normal = random.direction();
        let plane = Shape::half_space(normal);
        let pose = Pose::new(random.direction(), random.rotation());
        for surface in [&ground, &as_mesh(&ground)] {
            let vertices = match surface {
                Shape::Heightfield(field) => field.vertices().to_vec(),
                Shape::Mesh(mesh) => mesh.vertices().to_vec(),
                other => panic!("{}", other.kind()),
            };
            let height = |v: &Vec3| normal.dot(pose.transform_point(*v));
            let lowest = vertices.iter().map(height).fold(f64::INFINITY, f64::min);
            let lift = Pose::from_translation(normal * (lowest + 0.01));
            let found = all((&plane, lift), (surface, pose), 0.02);
            let (separation, n) = least(&found).unwrap();
            assert!((separation + 0.01).abs() < 1e-12, "{separation}");
            assert!((n - normal).length() < 1e-12);
        }
    }
}

/// What is found of the parts that a manifold names is that manifold.
#[test]
fn parts_are_found_again() {
    let mut random = Random(57);
    let settings = CollideSettings { prediction: 0.02 };
    let mut some = 0;
    for i in 0..400 {
        let gap = random.range(-0.05, 0.015);
        let ((a, pose), (b, near)) = hulls(&mut random, gap);
        let a = if i % 3 == 0 {
            hills(&mut random)
        } else {
            mesh_of(&a)
        };
        let b = mesh_of(&b);
        for m in all((&a, pose), (&b, near), 0.02) {
            let mut again = Vec::new();
            let parts = m.parts();
            collide_parts((&a, &pose), (&b, &near), parts, &settings, &mut again);
            some += 1;
            let same = again.iter().any(|n| {
                let gaps = (n.min_separation().unwrap(), m.min_separation().unwrap());
                (n.normal() - m.normal()).length() < 1e-6 && (gaps.0 - gaps.1).abs() < 1e-9
            });
            assert!(same, "{i}: {m:?}\n{again:?}");
        }
    }
    assert!(some > 300, "{some}");
}

/// A negative prediction asks for what is deeper than that only.
#[test]
fn a_negative_prediction_leaves_out_what_is_not_that_deep() {
    let mut random = Random(31);
    let (mut some, mut none) = (0, 0);
    for case in 0..400 {
        let ground = hills(&mut random);
        let other = match case % 4 {
            0 => hills(&mut random),
            1 => mesh_of(&some_hull(&mut random)),
            2 => as_mesh(&hills(&mut random)),
            _ => some_hull(&mut random),
        };
        let turn = random.rotation();
        let pose = Pose::new(random.direction() * 2.0, turn);
        let over = turn * vec3(2.5, 0.0, 3.0);
        let tilt = if case % 2 == 0 {
            turn
        } else {
            random.rotation()
        };
        let sunk = turn * vec3(0.0, random.range(-4.0, 0.3), 0.0);
        let off = if case % 4 == 1 || case % 4 == 3 {
            over
        } else {
            random.direction()
        };
        let there = Pose::new(pose.translation + off + sunk, tilt);
        for prediction in [-1e-3, -0.1, -random.range(0.2, 5.0)] {
            let found = [
                all((&ground, pose), (&other, there), prediction),
                all((&other, there), (&ground, pose), prediction),
            ];
            for m in found.iter().flatten() {
                assert!(!m.is_empty(), "case {case}");
                let least = m.points().iter().map(|p| p.separation);
                let most = least.fold(f64::NEG_INFINITY, f64::max);
                assert!(
                    most <= prediction + 1e-9,
                    "case {case}: {most}, not {prediction}"
                );
            }
            some += usize::from(!found[0].is_empty());
            none += usize::from(found[0].is_empty());
        }
    }
    assert!(
        some > 50 && none > 50,
        "{some} found something, {none} nothing"
    );
}
