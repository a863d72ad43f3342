//! Level ground of triangles is touched as a half-space is.

mod scenes;

use moreau_collision::{CollideSettings, Manifold, Shape, collide_all};
use moreau_math::{Pose, Quat, Vec3, libm, vec3};
use scenes::{Random, contact};

/// Level ground at height zero about the origin, of `cells` by `cells` triangles of about `size` m on a
/// side, or many times as many that much thinner: a grid whose inner vertices are shifted and whose
/// diagonals run either way.
fn ground(random: &mut Random, size: f64, cells: u32, thin: u32) -> Shape {
    let jitter = if random.range(0.0, 1.0) < 0.5 {
        0.0
    } else {
        0.2
    };
    let counts = [thin * cells, cells];
    let sizes = [size / f64::from(thin), size];
    let mut vertices = Vec::new();
    for i in 0..=counts[0] {
        for k in 0..=counts[1] {
            let is_inner = i > 0 && k > 0 && i < counts[0] && k < counts[1];
            let mut place = |axis: usize, index: u32| {
                let by = random.range(-jitter, jitter);
                let half = 0.5 * f64::from(counts[axis]);
                sizes[axis] * (f64::from(index) - half + if is_inner { by } else { 0.0 })
            };
            vertices.push(vec3(place(0, i), 0.0, place(1, k)));
        }
    }
    let row = cells + 1;
    let mut triangles = Vec::new();
    for i in 0..counts[0] {
        for k in 0..counts[1] {
            let (a, b) = (i * row + k, (i + 1) * row + k);
            if random.range(0.0, 1.0) < 0.5 {
                triangles.extend([[a, a + 1, b], [b, a + 1, b + 1]]);
            } else {
                triangles.extend([[a, a + 1, b + 1], [a, b + 1, b]]);
            }
        }
    }
    Shape::mesh(&vertices, &triangles).unwrap()
}

/// A body of half the height `h`, m, and its rotation where it stands or lies.
fn body(random: &mut Random, kind: u32, h: f64) -> (Shape, Quat) {
    let mut wide = || h * libm::pow(10.0, random.range(-0.5, 0.7));
    let (w, d) = (wide(), wide());
    let quarter = Quat::from_xyzw(0.5_f64.sqrt(), 0.0, 0.0, 0.5_f64.sqrt());
    let shape = match kind {
        0 => Shape::cuboid(w, h, d),
        1 => scenes::box_hull(w, h, d),
        2 => {
            let sides = 3 + (random.range(0.0, 9.0) as u32);
            let corners: Vec<Vec3> = (0..2 * sides)
                .map(|i| {
                    let angle = 6.283 * f64::from(i / 2) / f64::from(sides);
                    let y = if i % 2 == 0 { -h } else { h };
                    vec3(w * libm::cos(angle), y, d * libm::sin(angle))
                })
                .collect();
            Shape::hull(&corners).unwrap()
        }
        3 => Shape::sphere(h),
        4 => Shape::capsule(w, h),
        5 => Shape::cylinder(h, w),
        6 => Shape::cylinder(w, h),
        _ => Shape::cone(h, w),
    };
    let lies = kind == 4 || kind == 6;
    (shape, if lies { quarter } else { Quat::IDENTITY })
}

fn small(random: &mut Random, least: f64, most: f64) -> f64 {
    let size = libm::pow(10.0, random.range(least, most));
    let sign = random.range(-1.0, 1.0);
    if sign > 0.8 { 0.0 } else { size * sign }
}

#[test]
fn level_ground_is_touched_as_a_half_space_is() {
    let mut random = Random(71);
    let plane = Shape::half_space(Vec3::Y);
    let mut bad = [0; 8];
    for i in 0..400_000_u32 {
        let kind = i % 8;
        let size = libm::pow(10.0, random.range(-1.0, 1.0));
        let h = libm::pow(10.0, random.range(-3.0, 0.0));
        let cells = ((20.0 * h / size) as u32 + 4).min(24);
        if f64::from(cells) * size < 20.0 * h {
            continue;
        }
        let ground = ground(&mut random, size, cells, if i % 23 == 0 { 20 } else { 1 });
        let (shape, stands) = body(&mut random, kind, h);
        let place = vec3(
            random.range(-0.7, 0.7) * size,
            h + small(&mut random, -16.0, -4.0) * h,
            random.range(-0.7, 0.7) * size,
        );
        let yaw = {
            let a: f64 = random.range(-3.0, 3.0);
            Quat::from_xyzw(0.0, libm::sin(a), 0.0, libm::cos(a))
        };
        let tilt = vec3(
            small(&mut random, -17.0, -5.0),
            0.0,
            small(&mut random, -17.0, -5.0),
        );
        let tilt = Quat::from_xyzw(tilt.x, 0.0, tilt.z, 1.0).normalize();
        let pose = Pose::new(place, tilt * yaw * stands);
        let frame = if i % 3 == 0 {
            Pose::IDENTITY
        } else {
            Pose::new(random.direction() * 50.0, random.rotation())
        };
        let prediction = if i % 5 == 0 {
            0.02
        } else {
            libm::pow(10.0, random.range(-3.0, 0.0))
        };
        let (there, here) = (frame, frame.mul_pose(&pose));
        let mut found = Vec::new();
        collide_all(
            &ground,
            &there,
            &shape,
            &here,
            &CollideSettings { prediction },
            &mut found,
        );
        let right = contact((&plane, there), (&shape, here), prediction);
        let ok = agree(kind, &found, &right, h);
        if !ok {
            bad[kind as usize] += 1;
            if bad[kind as usize] < 4 {
                println!(
                    "{i} kind {kind} h {h} tri {size} pred {prediction} tilt {tilt:?}\n found {:?}\n right {:?}",
                    show(&found),
                    show(std::slice::from_ref(&right))
                );
            }
        }
    }
    println!("{bad:?}");
    assert_eq!(bad, [0; 8]);
}

fn show(m: &[Manifold]) -> Vec<Vec<(Vec3, f64)>> {
    m.iter()
        .map(|m| {
            m.points()
                .iter()
                .map(|p| (p.point_b, p.separation))
                .collect()
        })
        .collect()
}

fn agree(kind: u32, found: &[Manifold], right: &Manifold, h: f64) -> bool {
    let [found] = found else { return false };
    let close = 1e-8 * h + 1e-12;
    let near = |p: Vec3, s: f64| {
        move |q: &moreau_collision::ManifoldPoint| {
            (q.point_b - p).length() < close && (q.separation - s).abs() < close
        }
    };
    let least = found.min_separation().unwrap() - right.min_separation().unwrap();
    (found.normal() - right.normal()).length() < 1e-12
        && found.points().len() == right.points().len()
        && least.abs() < close
        && (kind == 2
            || kind == 5
            || kind == 7
            || found
                .points()
                .iter()
                .all(|p| right.points().iter().any(near(p.point_b, p.separation))))
}
