//! When moving shapes meet: closed forms, and fine sampling.

mod common;

use common::{Random, shapes};
use moreau_collision::{
    Impact, ImpactSettings, Motion, QueryError, Shape, cast_shape, closest_points, time_of_impact,
};
use moreau_math::{Pose, Quat, Vec3, Velocity, libm, rotation_from_vector, vec3};

fn meet(a: &Shape, ma: &Motion, b: &Shape, mb: &Motion, duration: f64) -> Option<Impact> {
    let settings = ImpactSettings::default();
    let impact = time_of_impact(a, ma, b, mb, duration, &settings).unwrap();
    // Exchanged, it is the same moment.
    let other = time_of_impact(b, mb, a, ma, duration, &settings).unwrap();
    assert_eq!(impact.is_some(), other.is_some());
    if let (Some(i), Some(o)) = (impact, other) {
        let slack = 1e-8 * (1.0 + i.time);
        assert!((i.time - o.time).abs() < slack, "{i:?} {o:?}");
    }
    impact
}

fn close(what: &str, value: f64, expected: f64, tolerance: f64) {
    assert!(
        (value - expected).abs() <= tolerance,
        "{what}: {value}, expected {expected}"
    );
}

#[test]
fn balls_in_flight() {
    // |d + u t| = R: t = (-d·u - sqrt((d·u)² - u² (d² - R²))) / u².
    let mut random = Random(1);
    let mut met = 0;
    for _ in 0..2000 {
        let (ra, rb) = (random.range(0.1, 1.0), random.range(0.1, 1.0));
        let (pa, pb) = (random.vec(3.0), random.vec(3.0));
        let d = pb - pa;
        if d.length() < ra + rb {
            continue;
        }
        let va = random.vec(5.0);
        // Most aim at each other; spin does not matter.
        let vb = va - d * random.range(0.1, 1.0) + random.vec(0.6);
        let u = vb - va;
        let spin = |r: &mut Random| r.vec(20.0);
        let moving = |p: Vec3, v: Vec3, w: Vec3| Motion {
            pose: Pose::from_translation(p),
            center: Vec3::ZERO,
            velocity: Velocity::new(v, w),
        };
        let (ma, mb) = (
            moving(pa, va, spin(&mut random)),
            moving(pb, vb, spin(&mut random)),
        );
        let (square, along) = (u.length_squared(), d.dot(u));
        let reach = ra + rb;
        let root = along * along - square * (d.length_squared() - reach * reach);
        let time = (-along - root.max(0.0).sqrt()) / square;
        let duration = 20.0;
        let (a, b) = (Shape::sphere(ra), Shape::sphere(rb));
        let impact = meet(&a, &ma, &b, &mb, duration);
        if root > 1e-6 && along < 0.0 && time < duration * 0.999 {
            let impact = impact.unwrap();
            // The closing speed there is sqrt(root)/R.
            let tolerance = 1e-9 * ra.min(rb) / (root.sqrt() / reach) + 1e-12;
            close("time", impact.time, time, 1.1 * tolerance);
            let n = (d + u * time) / reach;
            assert!((impact.normal - n).length() < 1e-6);
            assert!((impact.point_a - (pa + va * time + n * ra)).length() < 1e-6);
            met += 1;
        } else if root < -1e-6 || along > 0.0 || time > duration * 1.001 {
            assert_eq!(impact, None);
        }
    }
    assert!(met > 600, "{met}");
}

#[test]
fn a_ball_falls_on_a_plane() {
    let normal = vec3(0.36, 0.48, 0.8);
    let plane = Motion::along(
        Pose::from_translation(vec3(1.0, 2.0, 3.0)),
        vec3(0.5, 0.0, 0.0),
    );
    let ball = Motion::along(
        Pose::from_translation(vec3(10.0, 9.0, 8.0)),
        vec3(-3.0, 1.0, -4.0),
    );
    let gap = normal.dot(vec3(9.0, 7.0, 5.0)) - 0.7;
    let speed = normal.dot(vec3(-3.5, 1.0, -4.0));
    let impact = meet(
        &Shape::half_space(normal),
        &plane,
        &Shape::sphere(0.7),
        &ball,
        100.0,
    );
    let impact = impact.unwrap();
    close("time", impact.time, gap / -speed, 1e-9);
    assert!((impact.normal - normal).length() < 1e-12);
    assert!(impact.steps <= 3, "{}", impact.steps);
}

#[test]
fn a_turning_box_over_a_plane() {
    // Its lowest corner is at h (cos a + sin a) below its centre at the angle a.
    let (h, w) = (0.5, 3.0);
    for height in [0.55, 0.6, 0.65, 0.7] {
        // h sqrt(2) cos(a - 45°) = height.
        let a = libm::acos(height / (h * 2.0_f64.sqrt()));
        let expected = (std::f64::consts::FRAC_PI_4 - a) / w;
        let cube = Motion {
            pose: Pose::from_translation(vec3(0.0, height, 0.0)),
            center: Vec3::ZERO,
            velocity: Velocity::new(Vec3::ZERO, vec3(0.0, 0.0, w)),
        };
        let plane = Motion::still(Pose::IDENTITY);
        let floor = Shape::half_space(Vec3::Y);
        let block = Shape::cuboid(3.0, 1.0, 3.0);
        let under = Motion::still(Pose::from_translation(vec3(0.0, -1.0, 0.0)));
        for (ground, motion) in [(&floor, &plane), (&block, &under)] {
            let impact = meet(ground, motion, &Shape::cuboid(h, h, h), &cube, 10.0).unwrap();
            close("time", impact.time, expected, 2e-8);
            assert!((impact.normal - Vec3::Y).length() < 1e-9);
            assert!(impact.steps < 40, "{}", impact.steps);
        }
    }
    // 0.708 is above the reach of the corners, sqrt(1/2).
    let cube = Motion {
        pose: Pose::from_translation(vec3(0.0, 0.708, 0.0)),
        center: Vec3::ZERO,
        velocity: Velocity::new(Vec3::ZERO, vec3(0.0, 0.0, w)),
    };
    let ground = Motion::still(Pose::IDENTITY);
    let floor = Shape::half_space(Vec3::Y);
    assert_eq!(
        meet(&floor, &ground, &Shape::cuboid(h, h, h), &cube, 10.0),
        None
    );
}

#[test]
fn a_turning_rod_meets_a_post() {
    // The core of the rod is at the sum of the radii from the post's centre, at the distance D from
    // the axis, when D sin(ahead - a) = r + R.
    let mut random = Random(5);
    for _ in 0..300 {
        let (r, post) = (random.range(0.01, 0.05), random.range(0.02, 0.1));
        let at = random.range(0.4, 0.9);
        // Less than what brings the other end to the post at the start.
        let ahead = random.range(0.5, 2.5);
        let w = random.range(1.0, 200.0);
        let rod = Shape::capsule(1.0, r);
        // Along x at the start; a positive turn about y takes x towards -z.
        let quarter = rotation_from_vector(vec3(0.0, 0.0, -std::f64::consts::FRAC_PI_2));
        let spinning = Motion {
            pose: Pose::new(vec3(5.0, 5.0, 5.0), quarter),
            center: Vec3::ZERO,
            velocity: Velocity::new(Vec3::ZERO, vec3(0.0, w, 0.0)),
        };
        let toward = rotation_from_vector(vec3(0.0, ahead, 0.0)) * Vec3::X;
        let place = Motion::still(Pose::from_translation(vec3(5.0, 5.0, 5.0) + toward * at));
        let lag = libm::asin((r + post) / at);
        let angle = ahead - lag;
        for shape in [Shape::sphere(post), Shape::capsule(0.5, post)] {
            let impact = meet(&rod, &spinning, &shape, &place, 4.0 / w).unwrap();
            close("angle", impact.time * w, angle, 1e-8);
            let short = angle / w * 0.999;
            assert_eq!(meet(&rod, &spinning, &shape, &place, short), None);
        }
    }
}

#[test]
fn a_thrown_stick_turns_about_its_own_centre() {
    // A rod whose frame is at one end: the end that leads depends on the centre given.
    let end = vec3(0.0, 0.0, 0.0);
    let points: Vec<Vec3> = [0.0, 2.0]
        .into_iter()
        .flat_map(|y| {
            [(0.1, 0.1), (-0.1, 0.1), (0.1, -0.1), (-0.1, -0.1)].map(|(x, z)| vec3(x, y, z))
        })
        .collect();
    let rod = Shape::hull(&points).unwrap();
    let w = 10.0;
    for (center, reach) in [(end, 2.0), (vec3(0.0, 1.0, 0.0), 1.0)] {
        let spinning = Motion {
            pose: Pose::from_translation(-center),
            center,
            velocity: Velocity::new(Vec3::ZERO, vec3(0.0, 0.0, w)),
        };
        // A wall at x = -(reach/2): the corner (+0.1, reach) turns to -x: x = 0.1 cos a - reach sin a;
        // the other, (-0.1, reach), is ahead: -0.1 cos a - reach sin a = -reach/2.
        let wall = Shape::half_space(Vec3::X);
        let there = Motion::still(Pose::from_translation(vec3(-reach / 2.0, 0.0, 0.0)));
        let impact = meet(&wall, &there, &rod, &spinning, 0.2).unwrap();
        let radius = (reach * reach + 0.01).sqrt();
        let lead = libm::atan2(0.1, reach);
        let angle = libm::asin(reach / 2.0 / radius) - lead;
        close("angle", impact.time * w, angle, 1e-8);
    }
}

#[test]
fn nothing_touches_before_the_impact() {
    // Fine sampling, both shapes moving and turning.
    let mut random = Random(7);
    let (mut met, mut missed, mut most) = (0, 0, 0);
    for _ in 0..150 {
        let (first, second) = (shapes(&mut random), shapes(&mut random));
        for a in &first {
            let b = &second[random.below(second.len())];
            let mut motion = |shape: &Shape, away: f64| {
                let pose = random.pose(away);
                let turns = if shape.is_bounded() { 8.0 } else { 0.0 };
                Motion {
                    pose,
                    center: random.vec(0.3),
                    velocity: Velocity::new(random.vec(4.0), random.vec(turns)),
                }
            };
            let (ma, mut mb) = (motion(a, 2.0), motion(b, 2.0));
            mb.velocity.linear += (ma.pose.translation - mb.pose.translation) * 2.0;
            let apart = |t: f64| closest_points(a, &ma.at(t), b, &mb.at(t)).map(|d| d.separation);
            if apart(0.0).is_none_or(|s| s < 0.01) {
                continue;
            }
            let impact = meet(a, &ma, b, &mb, 1.0);
            let end = impact.map_or(1.0, |i| i.time);
            for k in 0..400 {
                let t = end * f64::from(k) / 400.0;
                let s = apart(t).unwrap();
                assert!(
                    s > 0.0,
                    "{a:?} {ma:?}\n{b:?} {mb:?}\n{s} at {t} of {impact:?}"
                );
            }
            match impact {
                Some(impact) => {
                    met += 1;
                    most = most.max(impact.steps);
                    assert!(impact.separation.abs() < 2e-9, "{impact:?}");
                    let s = apart(end).unwrap();
                    close("separation", s, impact.separation, 1e-12);
                }
                None => missed += 1,
            }
        }
    }
    assert!(met > 150 && missed > 80, "{met} {missed}");
    assert!(most < 120, "{most} steps");
}

#[test]
fn casts_agree_with_their_closed_forms() {
    let cube = Shape::cuboid(0.5, 0.5, 0.5);
    let up = Pose::from_translation(vec3(0.2, 3.0, 0.1));
    let turned = Pose::new(
        vec3(0.0, 3.0, 0.0),
        rotation_from_vector(vec3(0.0, 0.0, std::f64::consts::FRAC_PI_4)),
    );
    let ground = Pose::IDENTITY;
    let down = vec3(0.0, -2.0, 0.0);
    let flat = cast_shape(&cube, &up, down, &cube, &ground, f64::INFINITY).unwrap();
    let flat = flat.unwrap();
    close("face on face", flat.time, 1.0, 1e-12);
    assert!((flat.normal - Vec3::Y).length() < 1e-12);
    let edge = cast_shape(&cube, &turned, down, &cube, &ground, 2.0).unwrap();
    close(
        "edge on face",
        edge.unwrap().time,
        (2.5 - 0.5_f64.sqrt()) / 2.0,
        1e-9,
    );
    // At rest, away, and past it.
    for v in [Vec3::ZERO, -down, vec3(1.0, 0.0, 0.0)] {
        let hit = cast_shape(&cube, &up, v, &cube, &ground, f64::INFINITY).unwrap();
        assert_eq!(hit, None, "{v}");
    }
    // What overlaps at the start meets at once.
    let hit = cast_shape(&cube, &Pose::IDENTITY, down, &cube, &ground, 1.0).unwrap();
    assert_eq!(hit.unwrap().time, 0.0);
    assert!(hit.unwrap().separation < 0.0);
}

#[test]
fn far_from_the_origin_as_near_it() {
    let far = vec3(1e6, -2e6, 5e5);
    let ball = Shape::sphere(0.5);
    let moving = Motion::along(Pose::from_translation(far), vec3(10.0, 0.0, 0.0));
    let still = Motion::still(Pose::from_translation(far + vec3(6.0, 0.0, 0.0)));
    let impact = meet(&ball, &moving, &ball, &still, 10.0).unwrap();
    close("time", impact.time, 0.5, 1e-9);
}

#[test]
fn what_means_nothing_is_refused() {
    let ball = Shape::sphere(1.0);
    let here = Motion::still(Pose::IDENTITY);
    let settings = ImpactSettings::default();
    let ask = |a: &Shape, ma: &Motion, duration: f64| {
        let there = Motion::still(Pose::from_translation(vec3(5.0, 0.0, 0.0)));
        time_of_impact(a, ma, &Shape::sphere(1.0), &there, duration, &settings)
    };
    assert_eq!(ask(&ball, &here, 0.0), Ok(None));
    for duration in [-1.0, f64::NAN] {
        assert!(matches!(
            ask(&ball, &here, duration),
            Err(QueryError::OutOfRange {
                field: "duration",
                ..
            })
        ));
    }
    let mut spinning = here;
    spinning.velocity.angular = Vec3::Y;
    assert!(matches!(
        ask(&ball, &spinning, f64::INFINITY),
        Err(QueryError::OutOfRange { .. })
    ));
    let plane = Shape::half_space(Vec3::Y);
    assert_eq!(
        ask(&plane, &spinning, 1.0),
        Err(QueryError::TurningHalfSpace)
    );
    assert!(matches!(
        ask(&Shape::sphere(-1.0), &here, 1.0),
        Err(QueryError::Shape(_))
    ));
    let nan = vec3(f64::NAN, 0.0, 0.0);
    let broken = [
        Motion::along(Pose::from_translation(nan), Vec3::ZERO),
        Motion::along(Pose::IDENTITY, nan),
        Motion {
            center: nan,
            ..here
        },
        Motion {
            pose: Pose::new(Vec3::ZERO, Quat::from_xyzw(f64::NAN, 0.0, 0.0, 1.0)),
            ..here
        },
    ];
    for motion in broken {
        assert!(matches!(
            ask(&ball, &motion, 1.0),
            Err(QueryError::NotFinite { .. })
        ));
    }
    // Two half-spaces never meet.
    let both = time_of_impact(&plane, &here, &plane, &here, 1.0, &settings);
    assert_eq!(both, Ok(None));
}
