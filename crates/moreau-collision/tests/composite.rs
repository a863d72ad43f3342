//! Meshes, heightfields and compounds as shapes: what is accepted, mass, boxes, saving.

use moreau_collision::{ConvexHull, Shape, ShapeError, TriangleMesh};
use moreau_math::{MassProperties, Pose, Quat, SymMat3, Vec3, vec3};

/// The surface of a box about the origin.
fn box_mesh(h: Vec3) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let corners: Vec<Vec3> = (0..8)
        .map(|i| {
            let side = |axis: usize| if i >> axis & 1 == 1 { 1.0 } else { -1.0 };
            h * vec3(side(0), side(1), side(2))
        })
        .collect();
    let hull = ConvexHull::new(&corners).unwrap();
    (hull.vertices().to_vec(), hull.triangles().collect())
}

/// A ball of `slices` by `stacks` quadrilaterals, cut into triangles.
fn ball_mesh(radius: f64, slices: u32, stacks: u32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut vertices = vec![Vec3::Y * radius, -Vec3::Y * radius];
    for i in 1..stacks {
        let polar = std::f64::consts::PI * f64::from(i) / f64::from(stacks);
        for k in 0..slices {
            let around = std::f64::consts::TAU * f64::from(k) / f64::from(slices);
            let (s, c) = (moreau_math::libm::sin(polar), moreau_math::libm::cos(polar));
            let (z, x) = (
                moreau_math::libm::sin(around),
                moreau_math::libm::cos(around),
            );
            vertices.push(vec3(s * x, c, -s * z) * radius);
        }
    }
    let at = |i: u32, k: u32| 2 + (i - 1) * slices + k % slices;
    let mut triangles = Vec::new();
    for k in 0..slices {
        triangles.push([0, at(1, k), at(1, k + 1)]);
        triangles.push([1, at(stacks - 1, k + 1), at(stacks - 1, k)]);
        for i in 1..stacks - 1 {
            triangles.push([at(i, k), at(i + 1, k), at(i + 1, k + 1)]);
            triangles.push([at(i, k), at(i + 1, k + 1), at(i, k + 1)]);
        }
    }
    (vertices, triangles)
}

/// The L of two boxes of width 1 (z): 3 x 1 (x, y) at the origin's corner, and 1 x 2 on its left end.
fn l_mesh() -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let outline = [
        (0.0, 0.0),
        (3.0, 0.0),
        (3.0, 1.0),
        (1.0, 1.0),
        (1.0, 3.0),
        (0.0, 3.0),
    ];
    let mut vertices = Vec::new();
    for z in [0.0, 1.0] {
        vertices.extend(outline.map(|(x, y)| vec3(x, y, z)));
    }
    // Of the outline; corner 3 is hollow, so a fan about it covers the L.
    let fan = [[3, 4, 5], [3, 5, 0], [3, 0, 1], [3, 1, 2]];
    let mut triangles = Vec::new();
    for [a, b, c] in fan {
        triangles.push([a + 6, b + 6, c + 6]);
        triangles.push([a, c, b]);
    }
    for i in 0..6 {
        let k = (i + 1) % 6;
        triangles.push([i, k, k + 6]);
        triangles.push([i, k + 6, i + 6]);
    }
    (vertices, triangles)
}

fn near(m: &MassProperties, n: &MassProperties, tolerance: f64) {
    let size = n.inertia.trace();
    let difference = (m.inertia + n.inertia.scaled(-1.0)).entries();
    assert!((m.mass / n.mass - 1.0).abs() < tolerance, "{m:?} {n:?}");
    assert!(
        (m.center_of_mass - n.center_of_mass).length() < tolerance,
        "{m:?} {n:?}"
    );
    assert!(
        difference.iter().all(|d| d.abs() < tolerance * size),
        "{m:?} {n:?}"
    );
}

#[test]
fn masses_are_those_of_the_solids() {
    let half = vec3(0.5, 1.0, 2.0);
    let (vertices, triangles) = box_mesh(half);
    let shape = Shape::mesh(&vertices, &triangles).unwrap();
    let exact = MassProperties::cuboid(half, 700.0).unwrap();
    near(&shape.mass_properties(700.0).unwrap(), &exact, 1e-14);

    // A ball of n facets a turn is smaller by O(1/n²).
    let exact = MassProperties::sphere(2.0, 1.0).unwrap();
    let error = |n: u32| {
        let (vertices, triangles) = ball_mesh(2.0, n, n / 2);
        let mesh = Shape::mesh(&vertices, &triangles).unwrap();
        let m = mesh.mass_properties(1.0).unwrap();
        assert!(m.center_of_mass.length() < 1e-14);
        1.0 - m.mass / exact.mass
    };
    let (coarse, fine) = (error(20), error(40));
    assert!(
        fine > 0.0 && (coarse / fine - 4.0).abs() < 0.05,
        "{coarse} {fine}"
    );
}

#[test]
fn an_l_is_one_solid_as_a_mesh_and_as_a_compound() {
    // By hand, density 1: boxes of mass 3 at (1.5, 0.5, 0.5) and 2 at (0.5, 2, 0.5).
    let center = vec3(
        (3.0 * 1.5 + 2.0 * 0.5) / 5.0,
        (3.0 * 0.5 + 2.0 * 2.0) / 5.0,
        0.5,
    );
    let about = |m: f64, size: Vec3, at: Vec3| {
        let (s, d) = (size * size, at - center);
        let own = vec3(s.y + s.z, s.x + s.z, s.x + s.y) * (m / 12.0);
        SymMat3 {
            xx: own.x + m * (d.y * d.y + d.z * d.z),
            yy: own.y + m * (d.x * d.x + d.z * d.z),
            zz: own.z + m * (d.x * d.x + d.y * d.y),
            xy: -m * d.x * d.y,
            xz: -m * d.x * d.z,
            yz: -m * d.y * d.z,
        }
    };
    let inertia = about(3.0, vec3(3.0, 1.0, 1.0), vec3(1.5, 0.5, 0.5))
        + about(2.0, vec3(1.0, 2.0, 1.0), vec3(0.5, 2.0, 0.5));
    let exact = MassProperties::new(5.0, center, inertia).unwrap();

    let (vertices, triangles) = l_mesh();
    let mesh = Shape::mesh(&vertices, &triangles).unwrap();
    near(&mesh.mass_properties(1.0).unwrap(), &exact, 1e-14);

    // The upright box lies on its side in its own frame.
    let quarter = Quat::from_xyzw(0.0, 0.0, 0.5_f64.sqrt(), 0.5_f64.sqrt());
    let compound = Shape::compound(&[
        (
            Shape::cuboid(1.5, 0.5, 0.5),
            Pose::from_translation(vec3(1.5, 0.5, 0.5)),
        ),
        (
            Shape::cuboid(1.0, 0.5, 0.5),
            Pose::new(vec3(0.5, 2.0, 0.5), quarter),
        ),
    ])
    .unwrap();
    near(&compound.mass_properties(1.0).unwrap(), &exact, 1e-14);
    // And within another compound, moved: the same again.
    let pose = Pose::new(vec3(1.0, -2.0, 3.0), quarter);
    let nested = Shape::compound(&[(compound, pose)]).unwrap();
    near(
        &nested.mass_properties(1.0).unwrap(),
        &exact.transformed(&pose),
        1e-14,
    );
}

#[test]
fn what_has_no_volume_has_no_mass() {
    let strip = Shape::heightfield(2, 2, vec![0.0; 4], [1.0, 1.0]).unwrap();
    let open = Shape::mesh(&[Vec3::ZERO, Vec3::Z, Vec3::X], &[[0, 1, 2]]).unwrap();
    for shape in [&strip, &open] {
        assert!(!shape.is_solid());
        let error = shape.mass_properties(1.0).unwrap_err();
        assert!(matches!(error, ShapeError::Unbounded { .. }), "{error}");
        let compound = Shape::compound(&[(shape.clone(), Pose::IDENTITY)]).unwrap();
        assert!(!compound.is_solid());
        let error = compound.mass_properties(1.0).unwrap_err();
        assert!(
            matches!(error, ShapeError::BadChild { child: 0, .. }),
            "{error}"
        );
    }
}

#[test]
fn boxes_and_supports_are_those_of_the_points() {
    let (vertices, triangles) = l_mesh();
    let mesh = Shape::mesh(&vertices, &triangles).unwrap();
    let hull = Shape::hull(&vertices).unwrap();
    let heights = vec![0.1, -0.2, 0.4, 0.0, 0.3, 0.25];
    let field = Shape::heightfield(2, 3, heights, [0.5, 2.0]).unwrap();
    let Shape::Heightfield(inner) = &field else {
        panic!("{}", field.kind());
    };
    assert_eq!(inner.vertices()[5], vec3(1.0, 0.25, 2.0));
    let field_hull = Shape::hull(inner.vertices()).unwrap();
    let rotation = Quat::from_xyzw(0.1, 0.5, -0.3, 0.8).normalize();
    let pose = Pose::new(vec3(3.0, -1.0, 2.0), rotation);
    for (shape, hull) in [(&mesh, &hull), (&field, &field_hull)] {
        assert_eq!(shape.aabb(&pose), hull.aabb(&pose));
        assert_eq!(shape.bounding_radius(), hull.bounding_radius());
        for direction in [Vec3::X, vec3(1.0, -2.0, 0.5), vec3(-0.3, 0.1, 0.9)] {
            let (p, q) = (
                shape.support(direction).unwrap(),
                hull.support(direction).unwrap(),
            );
            assert_eq!(p.dot(direction), q.dot(direction));
        }
        let compound = Shape::compound(&[(shape.clone(), pose)]).unwrap();
        assert_eq!(compound.aabb(&Pose::IDENTITY), hull.aabb(&pose));
        let there = pose.transform_point(shape.support(Vec3::X).unwrap());
        let along = compound.support(pose.transform_vector(Vec3::X)).unwrap();
        assert!((there - along).length() < 1e-14);
        assert!(compound.bounding_radius() >= there.length());
    }
}

#[test]
fn what_cannot_be_used_is_refused() {
    let (vertices, triangles) = box_mesh(Vec3::ONE);
    let mesh = |v: &[Vec3], t: &[[u32; 3]]| Shape::mesh(v, t).unwrap_err();
    assert_eq!(mesh(&vertices, &[]), ShapeError::NoTriangles);
    let error = mesh(&vertices, &[[0, 1, 8]]);
    assert!(
        matches!(
            error,
            ShapeError::BadIndex {
                triangle: 0,
                index: 8,
                count: 8
            }
        ),
        "{error}"
    );
    let mut broken = vertices.clone();
    broken[3].y = f64::NAN;
    let error = mesh(&broken, &triangles);
    assert!(
        matches!(error, ShapeError::VertexNotFinite { vertex: 3, .. }),
        "{error}"
    );
    for thin in [[0, 1, 1], [2, 2, 2]] {
        let error = mesh(&vertices, &[thin]);
        assert!(
            matches!(error, ShapeError::DegenerateTriangle { triangle: 0, .. }),
            "{error}"
        );
    }
    let line = [Vec3::ZERO, vec3(0.1, 0.2, 0.3), vec3(0.3, 0.6, 0.9)];
    let error = mesh(&line, &[[0, 1, 2]]);
    assert!(
        matches!(error, ShapeError::DegenerateTriangle { .. }),
        "{error}"
    );
    // Three triangles at an edge, and two that disagree.
    let fan = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, -Vec3::Y];
    let error = mesh(&fan, &[[0, 1, 2], [1, 0, 3], [0, 1, 4]]);
    assert!(
        matches!(error, ShapeError::NonManifoldEdge { triangles: 3, .. }),
        "{error}"
    );
    let error = mesh(&fan, &[[0, 1, 2], [0, 1, 3]]);
    assert!(
        matches!(error, ShapeError::NonManifoldEdge { triangles: 2, .. }),
        "{error}"
    );
    let inward: Vec<[u32; 3]> = triangles.iter().map(|t| [t[0], t[2], t[1]]).collect();
    let error = mesh(&vertices, &inward);
    assert_eq!(error, ShapeError::InsideOut { volume: -8.0 });
    // Both sides of a sheet enclose nothing.
    let error = mesh(&fan, &[[0, 1, 2], [0, 2, 1]]);
    assert_eq!(error, ShapeError::InsideOut { volume: 0.0 });

    let field = |rows, columns, heights: Vec<f64>, spacing| {
        Shape::heightfield(rows, columns, heights, spacing).unwrap_err()
    };
    for (rows, columns) in [(1, 3), (3, 1), (0, 0)] {
        let error = field(rows, columns, vec![0.0; rows * columns], [1.0; 2]);
        assert_eq!(error, ShapeError::TooFewSamples { rows, columns });
    }
    let error = field(2, 2, vec![0.0; 5], [1.0; 2]);
    assert!(
        matches!(error, ShapeError::HeightCount { count: 5, .. }),
        "{error}"
    );
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = field(2, 2, vec![0.0; 4], [1.0, bad]);
        assert!(
            matches!(
                error,
                ShapeError::NotPositive {
                    field: "spacing.z",
                    ..
                }
            ),
            "{error}"
        );
    }
    let error = field(2, 3, vec![0.0, 0.0, 0.0, 0.0, f64::INFINITY, 0.0], [1.0; 2]);
    assert!(
        matches!(
            error,
            ShapeError::HeightNotFinite {
                row: 1,
                column: 1,
                ..
            }
        ),
        "{error}"
    );

    assert_eq!(Shape::compound(&[]).unwrap_err(), ShapeError::NoChildren);
    for (shape, pose) in [
        (Shape::sphere(-1.0), Pose::IDENTITY),
        (Shape::half_space(Vec3::Y), Pose::IDENTITY),
        (
            Shape::sphere(1.0),
            Pose::from_translation(vec3(f64::NAN, 0.0, 0.0)),
        ),
        (
            Shape::sphere(1.0),
            Pose::new(Vec3::ZERO, Quat::from_xyzw(0.0, 0.0, 0.0, 2.0)),
        ),
    ] {
        let error = Shape::compound(&[(Shape::sphere(1.0), Pose::IDENTITY), (shape, pose)]);
        let error = error.unwrap_err();
        assert!(
            matches!(error, ShapeError::BadChild { child: 1, .. }),
            "{error}"
        );
    }
}

#[test]
fn vertices_in_one_place_are_one() {
    let (vertices, triangles) = box_mesh(Vec3::ONE);
    // Every triangle with corners of its own, and a corner that none uses.
    let mut loose = vec![vec3(9.0, 9.0, 9.0)];
    let mut corners = Vec::new();
    for t in &triangles {
        let first = loose.len() as u32;
        loose.extend(t.map(|v| vertices[v as usize]));
        corners.push([first, first + 1, first + 2]);
    }
    let mesh = TriangleMesh::new(&loose, &corners).unwrap();
    assert!(mesh.is_closed());
    assert_eq!(mesh.vertices().len(), 8);
}

#[test]
fn saved_and_read_back_is_the_same_to_the_bit() {
    let (vertices, triangles) = l_mesh();
    let mesh = Shape::mesh(&vertices, &triangles).unwrap();
    let field = Shape::heightfield(2, 3, vec![0.1, 0.2, 0.3, -0.4, 0.5, 0.6], [0.7, 0.9]).unwrap();
    let rotation = Quat::from_xyzw(0.1, 0.5, -0.3, 0.8).normalize();
    let pose = Pose::new(vec3(0.1, 0.2, 0.3), rotation);
    let children = [
        (mesh.clone(), pose),
        (Shape::sphere(0.3), pose.inverse()),
        (Shape::hull(&vertices).unwrap(), Pose::IDENTITY),
    ];
    let compound = Shape::compound(&children).unwrap();
    let nested = Shape::compound(&[(compound.clone(), pose), (field.clone(), pose)]).unwrap();
    for shape in [mesh, field, compound, nested] {
        let bytes = postcard::to_stdvec(&shape).unwrap();
        let back: Shape = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(back, shape);
        assert_eq!(postcard::to_stdvec(&back).unwrap(), bytes);
        let text = serde_json::to_string(&shape).unwrap();
        assert_eq!(serde_json::from_str::<Shape>(&text).unwrap(), shape);
    }
    // What is read is checked as what is built.
    for wrong in [
        r#"{"mesh": {"vertices": [[0,0,0],[1,0,0],[0,1,0]], "triangles": [[0,1,3]]}}"#,
        r#"{"heightfield": {"rows": 2, "columns": 2, "heights": [0,0,0], "spacing": [1,1]}}"#,
        r#"{"compound": {"children": []}}"#,
    ] {
        assert!(serde_json::from_str::<Shape>(wrong).is_err(), "{wrong}");
    }
}
