//! Mass properties of closed triangle meshes.

use moreau_math::{MassError, MassProperties, Pose, Quat, SymMat3, Vec3, vec3};
use proptest::prelude::*;

const BOX_TRIANGLES: [[usize; 3]; 12] = [
    [0, 2, 1],
    [1, 2, 3],
    [4, 5, 6],
    [5, 7, 6],
    [0, 1, 4],
    [1, 5, 4],
    [2, 6, 3],
    [3, 6, 7],
    [0, 4, 2],
    [2, 4, 6],
    [1, 3, 5],
    [3, 7, 5],
];

/// Corner i has x, y, z by the bits 0, 1, 2 of i.
fn box_vertices(h: Vec3) -> Vec<Vec3> {
    (0..8)
        .map(|i| {
            let side = |bit: usize| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
            h * vec3(side(0), side(1), side(2))
        })
        .collect()
}

fn close(got: &MassProperties, want: &MassProperties, tolerance: f64) {
    let off = got.inertia - want.inertia;
    let worst = off.entries().iter().fold(0.0, |m: f64, e| m.max(e.abs()));
    assert!(
        (got.mass - want.mass).abs() <= tolerance * want.mass
            && (got.center_of_mass - want.center_of_mass).length() <= tolerance
            && worst <= tolerance * want.inertia.trace(),
        "{got:?}\nis not\n{want:?}"
    );
}

#[test]
fn the_unit_tetrahedron() {
    let corners = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    let faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    let solid = MassProperties::mesh(&corners, &faces, 6.0).unwrap();
    // Over it, the integrals of x² and xy are 1/60 and 1/120: about the centroid 1/160 and -1/480.
    let inertia = SymMat3 {
        xx: 0.075,
        yy: 0.075,
        zz: 0.075,
        xy: 0.0125,
        xz: 0.0125,
        yz: 0.0125,
    };
    let want = MassProperties::new(1.0, Vec3::splat(0.25), inertia).unwrap();
    close(&solid, &want, 1e-15);
}

#[test]
fn a_square_ring_is_a_box_less_a_box() {
    // Outer box and, wound inside out, the hole; both open at the top and bottom, where rings close.
    let outer = box_vertices(vec3(2.0, 1.0, 3.0));
    let inner = box_vertices(vec3(1.0, 1.0, 0.5));
    let vertices: Vec<Vec3> = outer.iter().chain(&inner).copied().collect();
    // Faces y = -1 (corners 0, 1, 4, 5) and y = 1 (2, 3, 6, 7) are dropped.
    let mut triangles = Vec::new();
    for [a, b, c] in BOX_TRIANGLES {
        let same_y = (a >> 1 & 1) == (b >> 1 & 1) && (b >> 1 & 1) == (c >> 1 & 1);
        if !same_y {
            triangles.push([a, b, c]);
            triangles.push([8 + a, 8 + c, 8 + b]);
        }
    }
    for [from, to] in [[0, 1], [1, 5], [5, 4], [4, 0]] {
        // Seen from below, from -> to runs anticlockwise.
        triangles.push([from, to, 8 + to]);
        triangles.push([from, 8 + to, 8 + from]);
        let (from, to) = (from + 2, to + 2);
        triangles.push([to, from, 8 + to]);
        triangles.push([8 + to, from, 8 + from]);
    }
    let ring = MassProperties::mesh(&vertices, &triangles, 2.0).unwrap();
    let whole = MassProperties::cuboid(vec3(2.0, 1.0, 3.0), 2.0).unwrap();
    let hole = MassProperties::cuboid(vec3(1.0, 1.0, 0.5), 2.0).unwrap();
    let want = MassProperties {
        mass: whole.mass - hole.mass,
        center_of_mass: Vec3::ZERO,
        inertia: whole.inertia - hole.inertia,
    };
    close(&ring, &want, 1e-14);
}

#[test]
fn far_from_the_origin_no_digit_is_lost() {
    let offset = vec3(1e7, -3e7, 2e7);
    let h = vec3(0.5, 1.0, 0.25);
    let vertices: Vec<Vec3> = box_vertices(h).iter().map(|v| *v + offset).collect();
    let solid = MassProperties::mesh(&vertices, &BOX_TRIANGLES, 3.0).unwrap();
    let want = MassProperties::cuboid(h, 3.0)
        .unwrap()
        .transformed(&Pose::from_translation(offset));
    close(&solid, &want, 1e-14);
}

#[test]
fn unwelded_corners_count_as_one() {
    let vertices = box_vertices(Vec3::ONE);
    let mut soup = Vec::new();
    let mut triangles = Vec::new();
    for triangle in BOX_TRIANGLES {
        let at = soup.len();
        soup.extend(triangle.map(|i| vertices[i]));
        triangles.push([at, at + 1, at + 2]);
    }
    let solid = MassProperties::mesh(&soup, &triangles, 1.0).unwrap();
    close(
        &solid,
        &MassProperties::cuboid(Vec3::ONE, 1.0).unwrap(),
        1e-15,
    );
}

#[test]
fn what_is_not_a_closed_solid_is_refused() {
    let corners = box_vertices(Vec3::ONE);
    let mesh = |v: &[Vec3], t: &[[usize; 3]]| MassProperties::mesh(v, t, 1.0);

    // Without [0, 2, 1], the first edge that lacks a partner is its neighbour's from 0 to 1.
    assert_eq!(
        mesh(&corners, &BOX_TRIANGLES[1..]),
        Err(MassError::OpenEdge { from: 0, to: 1 })
    );
    let mut flipped = BOX_TRIANGLES;
    flipped[3].swap(0, 1);
    assert!(matches!(
        mesh(&corners, &flipped),
        Err(MassError::OpenEdge { .. })
    ));
    let mut wrong = BOX_TRIANGLES;
    wrong[7][2] = 8;
    assert_eq!(
        mesh(&corners, &wrong),
        Err(MassError::BadIndex {
            triangle: 7,
            index: 8,
            count: 8
        })
    );
    let inside_out = BOX_TRIANGLES.map(|[a, b, c]| [a, c, b]);
    assert!(matches!(
        mesh(&corners, &inside_out),
        Err(MassError::NoVolume { volume }) if (volume + 8.0).abs() < 1e-14
    ));
    assert_eq!(
        mesh(&corners, &[]),
        Err(MassError::NoVolume { volume: 0.0 })
    );
    // Flat, in a plane of no simple direction.
    let turn = Quat::from_xyzw(0.1, -0.5, 0.3, 0.7).normalize();
    let flat: Vec<Vec3> = box_vertices(vec3(1.0, 0.0, 2.0))
        .iter()
        .map(|v| turn * *v + vec3(0.3, 0.1, 9.0))
        .collect();
    assert!(matches!(
        mesh(&flat, &BOX_TRIANGLES),
        Err(MassError::NoVolume { volume }) if volume.abs() < 1e-14
    ));
    let mut nan = corners.clone();
    nan[3].y = f64::NAN;
    assert!(matches!(
        mesh(&nan, &BOX_TRIANGLES),
        Err(MassError::VertexNotFinite { vertex: 3, .. })
    ));
    assert!(matches!(
        MassProperties::mesh(&corners, &BOX_TRIANGLES, 0.0),
        Err(MassError::NotPositive {
            field: "density",
            ..
        })
    ));
    for size in [1e160, 1e90, 1e-90, 1e-160] {
        let scaled: Vec<Vec3> = corners.iter().map(|v| *v * size).collect();
        assert!(mesh(&scaled, &BOX_TRIANGLES).is_err(), "{size}");
    }
}

#[test]
fn a_thin_sheet_is_still_a_solid() {
    let h = vec3(1.0, 1e-7, 1.0);
    let solid = MassProperties::mesh(&box_vertices(h), &BOX_TRIANGLES, 1.0).unwrap();
    close(&solid, &MassProperties::cuboid(h, 1.0).unwrap(), 1e-14);
}

proptest! {
    /// A turned and moved box mesh against the turned and moved box.
    #[test]
    fn a_box_mesh_is_a_box(
        h in [0.01..3.0, 0.01..3.0, 0.01..3.0f64],
        q in [-1.0..1.0, -1.0..1.0, -1.0..1.0, 0.1..1.0f64],
        place in [-1e3..1e3, -1e3..1e3, -1e3..1e3f64],
    ) {
        let h = Vec3::from_array(h);
        let pose = Pose::new(Vec3::from_array(place), Quat::from_array(q).normalize());
        let vertices: Vec<Vec3> =
            box_vertices(h).iter().map(|v| pose.transform_point(*v)).collect();
        let solid = MassProperties::mesh(&vertices, &BOX_TRIANGLES, 5.0).unwrap();
        let want = MassProperties::cuboid(h, 5.0).unwrap().transformed(&pose);
        // The corners themselves are rounded at 1e3 m, against an extent of 0.02 m.
        close(&solid, &want, 1e-10);
    }
}
