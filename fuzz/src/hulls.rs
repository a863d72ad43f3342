//! Builders of solids and surfaces: an error, or what they promise.

use crate::bytes::Bytes;
use crate::shapes::{points, samples, triangles};
use moreau::collision::{Inside, Ray};
use moreau::{ConvexHull, Heightfield, Pose, Shape, TriangleMesh, Vec3, vec3};
use std::collections::BTreeMap;

/// Panics where something does not hold.
pub fn check(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    match bytes.byte() % 4 {
        0 | 1 => {
            let mut points = points(&mut bytes);
            while !bytes.is_empty() && points.len() < 200 {
                points.push(bytes.vector());
            }
            check_hull(&points);
        }
        2 => {
            let points = points(&mut bytes);
            let triangles = triangles(&mut bytes, points.len());
            check_mesh(&points, &triangles);
        }
        _ => check_heightfield(&mut bytes),
    }
}

/// Whether products of three lengths neither overflow nor vanish.
fn is_usual(points: &[Vec3]) -> bool {
    let largest = points
        .iter()
        .map(|p| p.abs().max_element())
        .fold(0.0, f64::max);
    (1e-60..1e60).contains(&largest)
}

fn check_hull(points: &[Vec3]) {
    let Ok(hull) = ConvexHull::new(points) else {
        return;
    };
    let names = || format!("{points:?}\n{hull:?}");
    let (v, e, f) = (
        hull.vertices().len(),
        hull.edges().len(),
        hull.faces().len(),
    );
    assert_eq!(v + f, e + 2, "Euler: {}", names());
    // What is below 2^-200 of the largest coordinate counts as zero.
    let largest = points
        .iter()
        .map(|p| p.abs().max_element())
        .fold(0.0, f64::max);
    let vanishing = 1e-60 * largest;
    let given = |v: &Vec3| {
        points
            .iter()
            .any(|p| (*p - *v).abs().max_element() <= vanishing)
    };
    assert!(
        hull.vertices().iter().all(given),
        "made up a vertex: {}",
        names()
    );
    for (i, face) in hull.faces().iter().enumerate() {
        let corners = hull.face_vertices(i);
        assert!(corners.len() >= 3, "face {i}: {}", names());
        assert!(
            (face.normal.length() - 1.0).abs() <= 1e-9,
            "normal {i}: {}",
            names()
        );
        assert!(face.offset.is_finite(), "offset {i}: {}", names());
    }
    for (i, edge) in hull.edges().iter().enumerate() {
        let [from, to] = edge.vertices;
        assert!(
            from < to && edge.faces[0] != edge.faces[1],
            "edge {i}: {}",
            names()
        );
        for (face, [from, to]) in edge.faces.into_iter().zip([[from, to], [to, from]]) {
            let corners = hull.face_vertices(face as usize);
            let at = corners.iter().position(|c| *c == from);
            let next = at.map(|at| corners[(at + 1) % corners.len()]);
            assert_eq!(next, Some(to), "edge {i} of face {face}: {}", names());
        }
    }
    for vertex in 0..v {
        let (joined, around) = (hull.vertex_neighbours(vertex), hull.vertex_faces(vertex));
        assert!(
            joined.len() >= 3 && joined.len() == around.len(),
            "{}",
            names()
        );
    }
    // A function of its vertices, in whatever order they come.
    let reversed: Vec<Vec3> = hull.vertices().iter().rev().copied().collect();
    let again = ConvexHull::new(&reversed);
    let same = again.as_ref().is_ok_and(|again| {
        *again == hull && again.faces() == hull.faces() && again.edges() == hull.edges()
    });
    assert!(same, "not of its own vertices: {}\n{again:?}", names());

    if !is_usual(points) {
        return;
    }
    // Faces are planar to 1e-9 of the extent; so far a point that was dropped may lie outside.
    let (mut min, mut max) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for &p in points {
        (min, max) = (min.min(p), max.max(p));
    }
    let room = 2e-9 * (max - min).max_element() + 64.0 * f64::EPSILON * largest;
    for (i, face) in hull.faces().iter().enumerate() {
        for p in points {
            let out = face.distance(*p);
            assert!(
                out <= room,
                "{p} is {out} m outside of face {i}: {}",
                names()
            );
        }
        assert!(
            face.distance(hull.center()) < 0.0,
            "the center: {}",
            names()
        );
        for &c in hull.face_vertices(i) {
            let off = face.distance(hull.vertices()[c as usize]).abs();
            assert!(
                off <= room,
                "corner {c} is {off} m off face {i}: {}",
                names()
            );
        }
    }
    if let Ok(mass) = hull.mass_properties(1000.0) {
        assert!(
            mass.mass > 0.0 && mass.center_of_mass.is_finite(),
            "{mass:?} {}",
            names()
        );
        let inside = hull
            .faces()
            .iter()
            .all(|f| f.distance(mass.center_of_mass) <= room);
        assert!(inside, "{mass:?} {}", names());
    }
    // Its surface is a closed mesh, unless it has triangles too thin for one.
    let triangles: Vec<[u32; 3]> = hull.triangles().collect();
    if let Ok(mesh) = TriangleMesh::new(hull.vertices(), &triangles) {
        assert!(mesh.is_closed(), "an open hull: {}", names());
    }
}

fn check_mesh(points: &[Vec3], triangles: &[[u32; 3]]) {
    let Ok(mesh) = TriangleMesh::new(points, triangles) else {
        return;
    };
    let names = || format!("{points:?}\n{triangles:?}\n{mesh:?}");
    assert_eq!(mesh.triangles().len(), triangles.len());
    // How often each edge is run through, upwards and downwards.
    let mut edges: BTreeMap<(u32, u32), (u32, u32)> = BTreeMap::new();
    for (triangle, was) in mesh.triangles().zip(triangles) {
        for k in 0..3 {
            let (from, to) = (triangle[k], triangle[(k + 1) % 3]);
            let uses = edges.entry((from.min(to), from.max(to))).or_default();
            let side = if from < to { &mut uses.0 } else { &mut uses.1 };
            *side += 1;
            let same = mesh.vertices()[from as usize] == points[was[k] as usize];
            assert!(same, "a corner moved: {}", names());
        }
    }
    let two_sided = edges.values().all(|uses| uses.0 <= 1 && uses.1 <= 1);
    assert!(two_sided, "edges: {}", names());
    let closed = edges.values().all(|uses| *uses == (1, 1));
    assert_eq!(closed, mesh.is_closed(), "closed: {}", names());
    let mass = mesh.mass_properties(1000.0);
    assert!(
        mass.is_err() || closed,
        "an open mesh has {mass:?}: {}",
        names()
    );
    if let Ok(mass) = mass {
        assert!(
            mass.mass > 0.0 && mass.center_of_mass.is_finite(),
            "{mass:?} {}",
            names()
        );
    }
}

fn check_heightfield(bytes: &mut Bytes<'_>) {
    let (rows, columns, heights, spacing) = samples(bytes);
    let rows = if bytes.is_wild() {
        bytes.below(256)
    } else {
        rows
    };
    let Ok(field) = Heightfield::new(rows, columns, heights.clone(), spacing) else {
        return;
    };
    let names = || format!("{rows} x {columns}, {heights:?}, {spacing:?}");
    assert_eq!(
        field.triangle_count(),
        2 * (rows - 1) * (columns - 1),
        "{}",
        names()
    );
    for (i, height) in heights.iter().enumerate() {
        assert_eq!(
            field.height(i / columns, i % columns),
            Some(*height),
            "{}",
            names()
        );
    }
    let top = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let bottom = heights.iter().copied().fold(f64::INFINITY, f64::min);
    let widest = spacing[0].max(spacing[1]);
    let usual = top.max(-bottom).max(widest) <= 1e6 && spacing[0].min(spacing[1]) >= 1e-3;
    if !usual {
        return;
    }
    // A ray from above meets the sample that it is aimed at, and slips through between no triangles.
    let vertices = field.vertices().to_vec();
    let shape = Shape::Heightfield(std::sync::Arc::new(field));
    for (i, at) in vertices.iter().enumerate() {
        let (row, column) = (i / columns, i % columns);
        let inner = row > 0 && row + 1 < rows && column > 0 && column + 1 < columns;
        if !inner {
            continue;
        }
        let ray = Ray::new(vec3(at.x, top + 1.0, at.z), Vec3::NEG_Y).expect("finite");
        let hit = ray.cast(&shape, &Pose::IDENTITY, f64::INFINITY, Inside::Hollow);
        let height = hit.map(|hit| hit.point.y);
        // By the steepest cell the rounding of the place becomes one of the height.
        let slope = 1.0 + (top - bottom) / spacing[0].min(spacing[1]);
        let room = 1e-12 * (top.abs() + bottom.abs() + widest * columns.max(rows) as f64) * slope;
        let right = height.is_some_and(|height| (height - at.y).abs() <= room);
        assert!(
            right,
            "{height:?} at row {row}, column {column}: {}",
            names()
        );
    }
}
