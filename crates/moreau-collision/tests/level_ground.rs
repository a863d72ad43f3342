//! Level ground of triangles is touched as a half-space is.

mod scenes;

use moreau_collision::{CollideSettings, Manifold, ManifoldPoint, Shape, collide_all};
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
                    let angle = std::f64::consts::TAU * f64::from(i / 2) / f64::from(sides);
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

/// A number of either sign of any size below ten to the power `most`, or zero.
fn small(random: &mut Random, most: f64) -> f64 {
    let size = libm::pow(10.0, random.range(-17.0, most));
    let sign = random.range(-1.0, 1.0);
    if sign > 0.8 { 0.0 } else { size * sign }
}

/// A body that lies on the ground but for rounding and slop, anywhere, of any size relative to the
/// triangles, seen from near or far.
#[test]
fn level_ground_is_touched_as_a_half_space_is() {
    let mut random = Random(71);
    let plane = Shape::half_space(Vec3::Y);
    for i in 0..20_000_u32 {
        let kind = i % 8;
        let size = libm::pow(10.0, random.range(-1.0, 1.0));
        let h = libm::pow(10.0, random.range(-3.0, 0.0));
        let cells = ((20.0 * h / size) as u32 + 4).min(24);
        if f64::from(cells) * size < 20.0 * h {
            continue;
        }
        let thin = if i % 230 == 0 { 20 } else { 1 };
        let ground = ground(&mut random, size, cells, thin);
        let (shape, stands) = body(&mut random, kind, h);
        let mut off = || 0.7 * size * random.range(-1.0, 1.0);
        let (x, z) = (off(), off());
        let place = vec3(x, h * (1.0 + small(&mut random, -4.0)), z);
        let half: f64 = random.range(-3.0, 3.0);
        let yaw = Quat::from_xyzw(0.0, libm::sin(half), 0.0, libm::cos(half));
        let (a, b) = (small(&mut random, -5.0), small(&mut random, -5.0));
        let tilt = Quat::from_xyzw(a, 0.0, b, 1.0).normalize();
        let pose = Pose::new(place, tilt * yaw * stands);
        let frame = match i % 3 {
            0 => Pose::IDENTITY,
            _ => Pose::new(random.direction() * 50.0, random.rotation()),
        };
        let prediction = match i % 5 {
            0 => 0.02,
            _ => libm::pow(10.0, random.range(-3.0, 0.0)),
        };
        let (there, here) = (frame, frame.mul_pose(&pose));
        let settings = CollideSettings { prediction };
        let mut found = Vec::new();
        collide_all(&ground, &there, &shape, &here, &settings, &mut found);
        let right = contact((&plane, there), (&shape, here), prediction);
        assert!(
            agree(kind, &found, &right, h),
            "{i}: kind {kind}, {h} on {size}\n{found:?}\n{right:?}"
        );
    }
}

/// Whether the one manifold `found` is the `right` one of a shape of half the height `h`, m. Which four
/// of more corners there are is another matter.
fn agree(kind: u32, found: &[Manifold], right: &Manifold, h: f64) -> bool {
    let [found] = found else { return false };
    let close = 1e-8 * h + 1e-12;
    let is_known = |p: &ManifoldPoint| {
        let same = |q: &ManifoldPoint| {
            (q.point_b - p.point_b).length() < close && (q.separation - p.separation).abs() < close
        };
        right.points().iter().any(same)
    };
    let least = |m: &Manifold| m.min_separation().unwrap_or(f64::INFINITY);
    let is_reduced = matches!(kind, 2 | 5 | 7);
    (found.normal() - right.normal()).length() < 1e-12
        && found.points().len() == right.points().len()
        && (least(found) - least(right)).abs() < close
        && (is_reduced || found.points().iter().all(is_known))
}
