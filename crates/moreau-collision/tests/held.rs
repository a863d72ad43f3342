//! Corners that the caller holds stay among the points of a manifold.

use moreau_collision::{CollideSettings, Manifold, Shape, collide, collide_holding};
use moreau_math::{Pose, Quat, Vec3, vec3};

/// Two cubes on each other, one turned by 45 degrees about the vertical, then by `tilt` (rad) about `axis`. Their
/// faces meet in a regular octagon at height zero.
fn cubes(tilt: f64, axis: Vec3) -> (Shape, Pose, Pose) {
    let eighth = Quat::from_axis_angle(Vec3::Y, std::f64::consts::FRAC_PI_4);
    let turn = Quat::from_axis_angle(axis, tilt) * eighth;
    let below = Pose::from_translation(vec3(0.0, -1.0, 0.0));
    let above = Pose {
        translation: vec3(0.0, 1.0, 0.0),
        rotation: turn,
    };
    (Shape::cuboid(1.0, 1.0, 1.0), below, above)
}

/// The corners of the octagon, in their order around it.
fn octagon() -> [Vec3; 8] {
    let short = std::f64::consts::SQRT_2 - 1.0;
    let quarter = [[1.0, -short], [1.0, short]];
    let mut corners = [Vec3::ZERO; 8];
    for (k, corner) in corners.iter_mut().enumerate() {
        let [mut x, mut z] = quarter[k % 2];
        for _ in 0..k / 2 {
            [x, z] = [-z, x];
        }
        *corner = vec3(x, 0.0, z);
    }
    corners
}

fn holding(tilt: f64, axis: Vec3, held: &[Vec3]) -> Manifold {
    let (cube, below, above) = cubes(tilt, axis);
    let settings = CollideSettings::default();
    let mut manifold = Manifold::default();
    collide_holding(
        (&cube, &below),
        (&cube, &above),
        &settings,
        held,
        &mut manifold,
    );
    // The same the other way round.
    let mut turned = Manifold::default();
    collide_holding(
        (&cube, &above),
        (&cube, &below),
        &settings,
        held,
        &mut turned,
    );
    let pairs = manifold.points().iter().map(|p| (p.point_a, p.point_b));
    for (a, b) in pairs {
        let is_it = |q: &&moreau_collision::ManifoldPoint| (q.point_a, q.point_b) == (b, a);
        assert_eq!(turned.points().iter().filter(is_it).count(), 1);
    }
    manifold
}

fn has(manifold: &Manifold, corner: Vec3) -> bool {
    let near = |p: &moreau_collision::ManifoldPoint| (p.point_a - corner).length() < 1e-2;
    manifold.points().iter().any(near)
}

#[test]
fn any_four_corners_can_be_held() {
    let corners = octagon();
    for chosen in (0_u32..256).filter(|set| set.count_ones() <= 4) {
        let held = (0..8).filter(|k| chosen >> k & 1 == 1).map(|k| corners[k]);
        let held: Vec<_> = held.collect();
        let manifold = holding(0.0, Vec3::X, &held);
        assert_eq!(manifold.points().len(), 4);
        for corner in &held {
            assert!(has(&manifold, *corner), "{chosen:08b} {corner}");
        }
        let mut names: Vec<_> = manifold.points().iter().map(|p| p.feature).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 4, "{chosen:08b}");
    }
}

#[test]
fn nothing_held_and_what_is_no_corner_change_nothing() {
    let (cube, below, above) = cubes(0.0, Vec3::X);
    let mut plain = Manifold::default();
    collide(
        &cube,
        &below,
        &cube,
        &above,
        &CollideSettings::default(),
        &mut plain,
    );
    let away = [
        vec3(0.0, 0.0, 0.0),
        vec3(1.0, 0.0, 0.0),
        vec3(9.0, 0.0, 0.0),
    ];
    assert_eq!(holding(0.0, Vec3::X, &[]), plain);
    assert_eq!(holding(0.0, Vec3::X, &away), plain);
}

/// What is held gives way to the deepest corner only where there are four.
#[test]
fn the_deepest_corner_is_a_point_whatever_is_held() {
    let corners = octagon();
    for deepest in 0..8 {
        // Down at that corner, about the axis across.
        let axis = vec3(corners[deepest].z, 0.0, -corners[deepest].x).normalize();
        for count in 0..=4 {
            let held: Vec<_> = (1..=count)
                .map(|k| corners[(deepest + 2 * k) % 8])
                .collect();
            let held = &held[..count.min(3)];
            let manifold = holding(1e-3, axis, held);
            assert!(has(&manifold, corners[deepest]), "{deepest} {count}");
            for corner in held {
                assert!(has(&manifold, *corner), "{deepest} {count} {corner}");
            }
        }
        let others = [1, 3, 4, 6].map(|k| corners[(deepest + k) % 8]);
        let manifold = holding(1e-3, axis, &others);
        assert!(has(&manifold, corners[deepest]));
        let stay = others.iter().filter(|corner| has(&manifold, **corner));
        assert_eq!(stay.count(), 3);
    }
}
