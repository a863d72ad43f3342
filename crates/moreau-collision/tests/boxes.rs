//! Boxes on boxes and on half-spaces: closed-form answers.

mod scenes;

use moreau_collision::{Manifold, Shape};
use moreau_math::{Pose, Vec3, libm, vec3};
use scenes::{at, contact, turned};

fn ids(manifold: &Manifold) -> Vec<u32> {
    manifold.points().iter().map(|p| p.feature.0).collect()
}

/// A fixed floor of any size under a cube that touches it: the contact does not know the size.
#[test]
fn a_floor_of_any_size_gives_the_same_contact() {
    let cube = Shape::cuboid(0.1, 0.1, 0.1);
    for prediction in [0.0, 0.02] {
        for x in [0.0, 0.3] {
            let mut reference: Option<Manifold> = None;
            for s in [1.0, 10.0, 25.0, 50.0, 100.0, 1e4] {
                let floor = Shape::cuboid(s, s, 0.25);
                let m = contact(
                    (&floor, at(0.0, 0.0, 0.25)),
                    (&cube, at(x, 0.0, 0.6)),
                    prediction,
                );
                assert_eq!(m.points().len(), 4, "floor {s}");
                assert_eq!(m.normal(), Vec3::Z);
                let first = reference.get_or_insert(m);
                assert_eq!(ids(&m), ids(first));
                for (p, q) in m.points().iter().zip(first.points()) {
                    assert!((p.separation - q.separation).abs() <= 1e-12);
                    assert!(p.separation.abs() <= 1e-12);
                    assert!((p.point_a - q.point_a).length() <= 1e-12);
                    assert!((p.point_b - q.point_b).length() <= 1e-12);
                    assert!((p.point_b.x - x).abs() - 0.1 <= 1e-12);
                }
            }
        }
    }
}

/// Two boxes 71 mm wide, face to face, overlapping by 0.056 mm at a corner.
#[test]
fn boxes_face_to_face_have_no_phantom_depth() {
    let width = 0.071;
    let depth = 0.000_056;
    let half = 0.5 * width;
    let shape = Shape::cuboid(half, half, half);
    for i in -10..=10 {
        let yaw = 1e-4 * f64::from(i);
        let (s, c) = (libm::sin(yaw).abs(), libm::cos(yaw));
        // The furthest corner of the turned box reaches half (c + s) towards the other.
        let distance = half + half * (c + s) - depth;
        for offset in [0.0, 0.01, 0.0702, -0.03] {
            let a = at(0.0, 0.0, 0.0);
            let b = turned(vec3(distance, offset, 0.013), Vec3::Z, yaw);
            let m = contact((&shape, a), (&shape, b), 0.001);
            assert!(!m.is_empty());
            let deepest = m.min_separation().unwrap();
            assert!(
                deepest >= -depth - 1e-15,
                "yaw {yaw}, offset {offset}: {deepest}"
            );
            assert!(m.points().iter().all(|p| p.separation <= 0.001 + 1e-12));
            assert!((m.normal() - Vec3::X).length() < 2.0 * yaw.abs() + 1e-15);
        }
    }
}

#[test]
fn a_cube_on_a_half_space_touches_with_four_corners() {
    let floor = Shape::half_space(Vec3::Y);
    let cube = Shape::cuboid(0.5, 0.5, 0.5);
    let m = contact(
        (&floor, at(0.0, 0.0, 0.0)),
        (&cube, at(2.0, 0.49, 3.0)),
        0.0,
    );
    assert_eq!(m.points().len(), 4);
    assert_eq!(m.normal(), Vec3::Y);
    for p in m.points() {
        assert!((p.separation + 0.01).abs() < 1e-15);
        assert!(p.point_a.y == 0.0 && (p.point_b.y + 0.01).abs() < 1e-15);
        assert!(((p.point_b.x - 2.0).abs() - 0.5).abs() < 1e-15);
        assert!(((p.point_b.z - 3.0).abs() - 0.5).abs() < 1e-15);
    }
    let m = contact(
        (&cube, at(0.0, 0.51, 0.0)),
        (&floor, at(0.0, 0.0, 0.0)),
        0.02,
    );
    assert_eq!((m.points().len(), m.normal()), (4, -Vec3::Y));
    let m = contact(
        (&cube, at(0.0, 0.53, 0.0)),
        (&floor, at(0.0, 0.0, 0.0)),
        0.02,
    );
    assert!(m.is_empty());
}

/// Two long bars crossing with an edge on an edge: one point at the crossing, straight up.
#[test]
fn crossing_edges_touch_at_their_crossing() {
    let bar = Shape::cuboid(1.0, 0.1, 0.1);
    let diagonal = 0.1 * 2f64.sqrt();
    let quarter = std::f64::consts::FRAC_PI_4;
    let a = turned(Vec3::ZERO, Vec3::X, quarter);
    let b = Pose::new(
        vec3(0.2, 2.0 * diagonal - 0.01, -0.3),
        turned(Vec3::ZERO, Vec3::Y, 2.0 * quarter).rotation * a.rotation,
    );
    let m = contact((&bar, a), (&bar, b), 0.0);
    assert_eq!(m.points().len(), 1);
    let p = m.points()[0];
    assert!((m.normal() - Vec3::Y).length() < 1e-15);
    assert!((p.separation + 0.01).abs() < 1e-15);
    assert!((p.point_a - vec3(0.2, diagonal, 0.0)).length() < 1e-15);
}

/// A cube that leans on one of eight corners of a patch, or on two, keeps those that carry it, however it is turned.
#[test]
fn corners_that_carry_a_leaning_cube_are_kept() {
    let cube = Shape::cuboid(0.5, 0.5, 0.5);
    let mut carried_by_two = 0;
    for case in 0..2000 {
        let part = |k: f64| (f64::from(case) * k).fract();
        let yaw = (20.0 + 50.0 * part(0.618_033_988_7)).to_radians();
        let tilt = 1e-3 * libm::pow(10.0, 1.3 * part(0.754_877_666_2));
        let heading = std::f64::consts::TAU * part(0.569_840_290_9);
        // The eight corners: on each side of the lower square, where two sides of the upper one cross it.
        let mut corners = Vec::new();
        for quarter in 0..4 {
            let turn = std::f64::consts::FRAC_PI_2 * f64::from(quarter);
            for along in [
                0.5 * libm::tan(0.5 * yaw),
                -0.5 * libm::tan(0.5 * (std::f64::consts::FRAC_PI_2 - yaw)),
            ] {
                let (s, c) = (libm::sin(turn), libm::cos(turn));
                corners.push(vec3(0.5 * c - along * s, 0.5 * s + along * c, 0.0));
            }
        }
        let axis = vec3(libm::cos(heading), libm::sin(heading), 0.0);
        // Height of the upper cube's lower face over the patch, to first order.
        corners.sort_by(|p, q| axis.cross(*p).z.total_cmp(&axis.cross(*q).z));
        let height = |corner: Vec3| tilt * (axis.cross(corner).z - axis.cross(corners[0]).z);
        let lean = moreau_math::Quat::from_axis_angle(axis, tilt);
        let upright = turned(Vec3::ZERO, Vec3::Z, yaw);
        let up = lean * Vec3::Z;
        let lift = -tilt * axis.cross(corners[0]).z - 1e-4;
        let above = Pose::new(
            vec3(0.0, 0.0, 0.5 + lift) + 0.5 * up,
            lean * upright.rotation,
        );
        let m = contact((&cube, at(0.0, 0.0, 0.0)), (&cube, above), 0.05);
        assert_eq!(m.points().len(), 4, "case {case}");
        let kept = |corner: Vec3| {
            let near = |p: Vec3| (p - corner - vec3(0.0, 0.0, 0.5)).length() < 0.02;
            m.points().iter().any(|p| near(p.point_a))
        };
        let deepest = m.min_separation().unwrap();
        assert!((deepest + 1e-4).abs() < 1e-2 * tilt, "case {case}: {m:?}");
        let two = height(corners[1]) < 1e-4 && height(corners[2]) > 1e-3;
        carried_by_two += usize::from(two);
        assert!(
            !two || (kept(corners[0]) && kept(corners[1])),
            "case {case}, tilt {tilt}: {m:?}"
        );
    }
    assert!(carried_by_two > 50, "{carried_by_two}");
}
