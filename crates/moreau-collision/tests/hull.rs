//! Convex hulls against closed forms and invariants.

mod common;

use common::Random;
use moreau_collision::{ConvexHull, ShapeError};
use moreau_math::{Vec3, libm, vec3};

/// Planarity and containment promised by the documentation, relative to the largest extent.
const TOLERANCE: f64 = 1e-9;

fn extent(points: &[Vec3]) -> f64 {
    let min = points.iter().fold(Vec3::INFINITY, |m, &p| m.min(p));
    let max = points.iter().fold(Vec3::NEG_INFINITY, |m, &p| m.max(p));
    (max - min).max_element()
}

fn volume(hull: &ConvexHull) -> f64 {
    let center = hull.center();
    let six = hull.triangles().map(|t| {
        let [a, b, c] = t.map(|v| hull.vertices()[v as usize] - center);
        a.dot(b.cross(c))
    });
    six.sum::<f64>() / 6.0
}

/// Everything that holds for every hull.
fn check(points: &[Vec3]) -> ConvexHull {
    let hull = ConvexHull::new(points).unwrap();
    let (v, e, f) = (
        hull.vertices().len(),
        hull.edges().len(),
        hull.faces().len(),
    );
    assert_eq!(v + f, e + 2, "Euler: {v} - {e} + {f}");
    let largest = points
        .iter()
        .fold(0.0, |m: f64, p| m.max(p.abs().max_element()));
    let tolerance = (TOLERANCE * extent(points)).max(64.0 * f64::EPSILON * largest);

    for face in hull.faces() {
        assert!((face.normal.length() - 1.0).abs() < 1e-14);
        for &p in points {
            assert!(
                face.distance(p) <= tolerance,
                "{p} is {} outside of {face:?}",
                face.distance(p)
            );
        }
    }
    for vertex in hull.vertices() {
        assert!(points.contains(vertex), "{vertex} is none of the points");
    }
    let mut sides = 0;
    for face in 0..f {
        let corners = hull.face_vertices(face);
        assert!(corners.len() >= 3 && corners[0] == *corners.iter().min().unwrap());
        for (i, (&a, &edge)) in corners.iter().zip(hull.face_edges(face)).enumerate() {
            let distance = hull.faces()[face].distance(hull.vertices()[a as usize]);
            assert!(
                distance.abs() <= tolerance,
                "face {face} bends by {distance}"
            );
            let b = corners[(i + 1) % corners.len()];
            let edge = &hull.edges()[edge as usize];
            let forward = edge.vertices == [a, b] && edge.faces[0] as usize == face;
            let backward = edge.vertices == [b, a] && edge.faces[1] as usize == face;
            assert!(forward || backward);
            sides += 1;
            // No corner lies outside of an edge of its face.
            let (pa, pb) = (hull.vertices()[a as usize], hull.vertices()[b as usize]);
            let inward = hull.faces()[face].normal.cross(pb - pa).normalize();
            for &c in corners {
                assert!(inward.dot(hull.vertices()[c as usize] - pa) >= -tolerance);
            }
        }
    }
    assert_eq!(sides, 2 * e);
    for edge in hull.edges() {
        assert!(edge.vertices[0] < edge.vertices[1] && edge.faces[0] != edge.faces[1]);
        let [a, b] = edge.vertices;
        assert!(hull.vertex_neighbours(a as usize).contains(&b));
    }
    for vertex in 0..v {
        let (around, faces) = (hull.vertex_neighbours(vertex), hull.vertex_faces(vertex));
        assert!(around.len() >= 3 && around.len() == faces.len());
        for i in 0..around.len() {
            // Going round from neighbour i through face i one meets neighbour i + 1.
            let corners = hull.face_vertices(faces[i] as usize);
            let at = corners.iter().position(|&c| c as usize == vertex).unwrap();
            let n = corners.len();
            assert_eq!(corners[(at + 1) % n], around[i]);
            assert_eq!(corners[(at + n - 1) % n], around[(i + 1) % around.len()]);
        }
    }
    for face in hull.faces() {
        assert!(face.distance(hull.center()) < 0.0, "the center is outside");
    }
    check_same(&hull, &ConvexHull::new(hull.vertices()).unwrap());
    let mut shuffled = points.to_vec();
    for seed in 0..3 {
        Random(seed).shuffle(&mut shuffled);
        check_same(&hull, &ConvexHull::new(&shuffled).unwrap());
    }
    hull
}

/// Bit by bit.
fn check_same(a: &ConvexHull, b: &ConvexHull) {
    assert_eq!(format!("{a:?}"), format!("{b:?}"));
}

fn counts(hull: &ConvexHull) -> (usize, usize, usize) {
    (
        hull.vertices().len(),
        hull.edges().len(),
        hull.faces().len(),
    )
}

fn cube() -> Vec<Vec3> {
    (0..8)
        .map(|i| {
            let sign = |bit: i32| if i >> bit & 1 == 0 { -1.0 } else { 1.0 };
            vec3(sign(0), sign(1), sign(2))
        })
        .collect()
}

fn tetrahedron() -> Vec<Vec3> {
    vec![
        vec3(1.0, 1.0, 1.0),
        vec3(1.0, -1.0, -1.0),
        vec3(-1.0, 1.0, -1.0),
        vec3(-1.0, -1.0, 1.0),
    ]
}

fn octahedron() -> Vec<Vec3> {
    vec![Vec3::X, -Vec3::X, Vec3::Y, -Vec3::Y, Vec3::Z, -Vec3::Z]
}

fn golden() -> f64 {
    (1.0 + 5f64.sqrt()) / 2.0
}

fn dodecahedron() -> Vec<Vec3> {
    let (p, q) = (golden(), 1.0 / golden());
    let mut points = cube();
    for i in 0..4 {
        let (s, t) = ([1.0, -1.0][i & 1], [1.0, -1.0][i >> 1]);
        points.push(vec3(0.0, s * q, t * p));
        points.push(vec3(s * q, t * p, 0.0));
        points.push(vec3(t * p, 0.0, s * q));
    }
    points
}

fn prism(sides: u32) -> Vec<Vec3> {
    (0..sides)
        .flat_map(|i| {
            let angle = 2.0 * std::f64::consts::PI * f64::from(i) / f64::from(sides);
            [-0.5, 0.5].map(|y| vec3(libm::cos(angle), y, libm::sin(angle)))
        })
        .collect()
}

fn sphere(count: usize) -> Vec<Vec3> {
    let mut random = Random(7);
    (0..count).map(|_| random.direction()).collect()
}

/// All grid points of the surface of a cube of edge 2.
fn grid_on_cube(n: i32) -> Vec<Vec3> {
    let mut points = Vec::new();
    let at = |i: i32| -1.0 + 2.0 * f64::from(i) / f64::from(n);
    for i in 0..=n {
        for j in 0..=n {
            for end in [-1.0, 1.0] {
                points.push(vec3(end, at(i), at(j)));
                points.push(vec3(at(i), end, at(j)));
                points.push(vec3(at(i), at(j), end));
            }
        }
    }
    points
}

/// Name, points, numbers of vertices, edges and faces, volume.
type Solid = (&'static str, Vec<Vec3>, (usize, usize, usize), f64);

fn solids() -> Vec<Solid> {
    let p = golden();
    let n = 24.0;
    let ngon = 0.5 * n * libm::sin(2.0 * std::f64::consts::PI / n);
    vec![
        ("cube", cube(), (8, 12, 6), 8.0),
        ("tetrahedron", tetrahedron(), (4, 6, 4), 8.0 / 3.0),
        ("octahedron", octahedron(), (6, 12, 8), 4.0 / 3.0),
        ("dodecahedron", dodecahedron(), (20, 30, 12), {
            // Edge 2/phi: V = (15 + 7 sqrt 5)/4 a^3.
            let a = 2.0 / p;
            (15.0 + 7.0 * 5f64.sqrt()) / 4.0 * a * a * a
        }),
        ("prism", prism(24), (48, 72, 26), ngon),
        ("grid on a cube", grid_on_cube(7), (8, 12, 6), 8.0),
    ]
}

#[test]
fn solids_have_the_right_faces_and_volume() {
    for (name, points, expected, closed_form) in solids() {
        let hull = check(&points);
        assert_eq!(counts(&hull), expected, "{name}");
        let v = volume(&hull);
        assert!((v / closed_form - 1.0).abs() < 1e-13, "{name}: volume {v}");
        assert!(hull.center().length() < 1e-14, "{name}: {}", hull.center());
    }
}

#[test]
fn turned_scaled_and_moved_solids_keep_their_faces() {
    let mut random = Random(3);
    for (name, points, expected, closed_form) in solids() {
        for scale in [1e-4, 1.0, 1e4] {
            for distance in [0.0, 1.0, 1e3, 1e6] {
                let rotation = random.rotation();
                let offset = random.direction() * (distance * scale);
                let moved: Vec<Vec3> = points
                    .iter()
                    .map(|&p| rotation * p * scale + offset)
                    .collect();
                let hull = check(&moved);
                assert_eq!(counts(&hull), expected, "{name}, {scale}, {distance}");
                let ratio = volume(&hull) / (closed_form * scale * scale * scale);
                let rounding = 1e-13 + 1e-14 * distance;
                assert!((ratio - 1.0).abs() < rounding, "{name}: {ratio}");
            }
        }
    }
}

#[test]
fn the_faces_of_a_cube_are_exact() {
    let hull = check(&cube());
    let mut normals: Vec<_> = hull.faces().iter().map(|f| f.normal.to_array()).collect();
    normals.sort_by(|a, b| a.partial_cmp(b).unwrap());
    let expected = [
        [-1.0, 0.0, 0.0],
        [0.0, -1.0, 0.0],
        [0.0, 0.0, -1.0],
        [0.0, 0.0, 1.0],
        [0.0, 1.0, 0.0],
        [1.0, 0.0, 0.0],
    ];
    assert_eq!(normals, expected);
    assert!(hull.faces().iter().all(|f| f.offset == 1.0));
    assert_eq!(hull.bounding_radius(), 3f64.sqrt());
}

#[test]
fn random_points_on_a_sphere_are_all_corners() {
    let hull = check(&sphere(1000));
    assert_eq!(hull.vertices().len(), 1000);
    // In general position every face is a triangle.
    assert_eq!(hull.faces().len(), 2 * 1000 - 4);
}

#[test]
fn random_points_in_a_ball_keep_only_corners() {
    let mut random = Random(11);
    for _ in 0..50 {
        let points: Vec<Vec3> = (0..60)
            .map(|_| random.direction() * random.unit())
            .collect();
        check(&points);
    }
}

#[test]
fn noise_far_below_the_tolerance_does_not_split_faces() {
    let mut random = Random(5);
    for (name, points, expected, closed_form) in solids() {
        for noise in [1e-16, 1e-14, 1e-12, 2e-11] {
            let rotation = random.rotation();
            let noisy: Vec<Vec3> = points
                .iter()
                .map(|&p| rotation * p + random.vec(noise))
                .collect();
            let hull = check(&noisy);
            assert_eq!(counts(&hull), expected, "{name}, noise {noise}");
            assert!((volume(&hull) / closed_form - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn noise_about_the_tolerance_still_gives_a_valid_hull() {
    let mut random = Random(17);
    for (_, points, _, closed_form) in solids() {
        for noise in [1e-10, 3e-10, 1e-9, 3e-9, 1e-8, 1e-6] {
            let noisy: Vec<Vec3> = points.iter().map(|&p| p + random.vec(noise)).collect();
            let hull = check(&noisy);
            assert!((volume(&hull) / closed_form - 1.0).abs() < 10.0 * noise);
        }
    }
}

#[test]
fn duplicates_and_near_duplicates_are_one_vertex() {
    let mut random = Random(23);
    for (name, points, expected, _) in solids() {
        let mut many = points.clone();
        for _ in 0..3 {
            many.extend(points.iter().map(|&p| p + random.vec(1e-12)));
            many.extend(&points);
        }
        assert_eq!(counts(&check(&many)), expected, "{name}");
    }
}

#[test]
fn a_thin_plate_is_a_solid_and_a_sheet_is_not() {
    let plate = |half: f64| -> Vec<Vec3> {
        let q = Random(2).rotation();
        let squeezed = cube().into_iter().map(|p| vec3(p.x, half * p.y, p.z));
        squeezed.map(|p| q * p).collect()
    };
    for half in [1e-2, 1e-4, 1e-6] {
        let hull = check(&plate(half));
        assert_eq!(counts(&hull), (8, 12, 6), "{half}");
        assert!((volume(&hull) / (8.0 * half) - 1.0).abs() < 1e-9);
    }
    for half in [1e-9, 1e-12, 0.0] {
        match ConvexHull::new(&plate(half)) {
            Err(ShapeError::Flat { thickness }) => {
                // Measured across a plane of three corners, which may be a diagonal one.
                let ratio = thickness / (2.0 * half);
                assert!(half == 0.0 || (0.99..2.01).contains(&ratio), "{thickness}");
                assert!(thickness < 1e-8);
            }
            other => panic!("{half}: {other:?}"),
        }
    }
}

#[test]
fn a_blunted_edge_keeps_its_bevel() {
    // A cube whose edge is cut off by 1e-5: a face much smaller than the others, far above the
    // tolerance.
    let mut points = cube();
    points.retain(|p| !(p.x > 0.0 && p.y > 0.0));
    for z in [-1.0, 1.0] {
        points.push(vec3(1.0, 1.0 - 1e-5, z));
        points.push(vec3(1.0 - 1e-5, 1.0, z));
    }
    let hull = check(&points);
    assert_eq!(counts(&hull), (10, 15, 7));
}

#[test]
fn input_that_makes_no_solid_is_refused() {
    let few = ConvexHull::new(&cube()[..3]);
    assert_eq!(few.unwrap_err(), ShapeError::TooFewPoints { count: 3 });
    let none = ConvexHull::new(&[]);
    assert_eq!(none.unwrap_err(), ShapeError::TooFewPoints { count: 0 });
    let same = ConvexHull::new(&[Vec3::ONE; 9]);
    assert_eq!(same.unwrap_err(), ShapeError::Flat { thickness: 0.0 });
    let line: Vec<Vec3> = (0..9).map(|i| Vec3::X * f64::from(i)).collect();
    let line = ConvexHull::new(&line);
    assert_eq!(line.unwrap_err(), ShapeError::Flat { thickness: 0.0 });
    let flat: Vec<Vec3> = sphere(50).iter().map(|p| vec3(p.x, p.y, 0.25)).collect();
    let flat = ConvexHull::new(&flat);
    assert_eq!(flat.unwrap_err(), ShapeError::Flat { thickness: 0.0 });
    for bad in [f64::NAN, f64::INFINITY] {
        let mut points = cube();
        points[5].y = bad;
        let error = ConvexHull::new(&points).unwrap_err();
        assert!(error.to_string().contains("index 5"), "{error}");
    }
}

#[test]
fn sizes_at_the_ends_of_the_number_range_do_not_break_it() {
    for scale in [1e-300, 1e-200, 1e100, 1e200, 1e300] {
        let points: Vec<Vec3> = dodecahedron().iter().map(|&p| p * scale).collect();
        let hull = ConvexHull::new(&points).unwrap();
        assert_eq!(counts(&hull), (20, 30, 12), "{scale}");
        check_same(&hull, &ConvexHull::new(hull.vertices()).unwrap());
        assert!(hull.center().is_finite());
    }
}

#[test]
fn negative_zero_is_zero() {
    let mut points = octahedron();
    let positive = ConvexHull::new(&points).unwrap();
    for p in &mut points {
        *p = p.map(|c| if c == 0.0 { -0.0 } else { c });
    }
    check_same(&positive, &ConvexHull::new(&points).unwrap());
}

#[test]
fn support_is_the_furthest_vertex() {
    let mut random = Random(29);
    for points in [sphere(300), dodecahedron(), prism(24), cube()] {
        let hull = check(&points);
        let mut start = 0;
        for _ in 0..500 {
            let d = random.direction();
            let best = (points.iter()).fold(f64::NEG_INFINITY, |m, p| m.max(p.dot(d)));
            let found = hull.vertices()[hull.support_vertex(d)].dot(d);
            assert_eq!(found, best);
            start = hull.support_vertex_from(d, start);
            assert!((hull.vertices()[start].dot(d) - best).abs() < 1e-12);
        }
    }
}

#[test]
fn a_saved_hull_comes_back_with_the_same_bits() {
    let mut random = Random(31);
    for (_, points, ..) in solids() {
        let q = random.rotation();
        let turned: Vec<Vec3> = points.iter().map(|&p| q * p + Vec3::ONE * 0.1).collect();
        let hull = ConvexHull::new(&turned).unwrap();
        let text = serde_json::to_string(&hull).unwrap();
        check_same(&hull, &serde_json::from_str(&text).unwrap());
        let bytes = postcard::to_stdvec(&hull).unwrap();
        check_same(&hull, &postcard::from_bytes(&bytes).unwrap());
    }
    let flat = "[[0,0,0],[1,0,0],[0,1,0],[1,1,0]]";
    let error = serde_json::from_str::<ConvexHull>(flat).unwrap_err();
    assert!(error.to_string().contains("flat"), "{error}");
}

#[test]
fn points_at_every_scale_about_a_solid_give_a_valid_hull() {
    // Corners, and points off them and off the segments between them by 1e-17 to 1e-1.
    let mut random = Random(37);
    for round in 0..300 {
        let solids = solids();
        let (_, corners, ..) = &solids[round % solids.len()];
        let rotation = random.rotation();
        let mut points: Vec<Vec3> = corners.iter().map(|&p| rotation * p).collect();
        let n = points.len();
        for _ in 0..40 {
            let (i, j) = (random.below(n), random.below(n));
            let between = points[i].lerp(points[j], random.unit());
            let noise = libm::pow(10.0, random.range(-17.0, -1.0));
            points.push(between + random.vec(noise));
        }
        check(&points);
    }
}

#[test]
fn thousands_of_points_are_built_in_no_time_worth_noting() {
    for points in [sphere(5000), grid_on_cube(40), prism(1000)] {
        let hull = ConvexHull::new(&points).unwrap();
        assert_eq!(
            hull.vertices().len() + hull.faces().len(),
            hull.edges().len() + 2
        );
    }
}
