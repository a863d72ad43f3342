//! Prisms that lie flush on a block, over its edge, beside it, or a little tilted, as hulls and as meshes: what
//! rounding decides must not matter, and meshes touch as hulls do.

mod scenes;

use moreau_collision::{CollideSettings, Manifold, Shape, collide_all, collide_parts};
use moreau_math::{Pose, Quat, Vec3, libm, vec3};
use scenes::{Random, box_hull};

/// A point of the block's plane, m.
type Flat = [f64; 2];

/// A prism of this many sides about y within a box of these half edges, m.
fn prism(sides: u32, half: Vec3) -> Shape {
    if sides == 4 {
        return box_hull(half.x, half.y, half.z);
    }
    let corner = |i: u32| {
        let angle = std::f64::consts::TAU * f64::from(i / 2) / f64::from(sides);
        let level = if i.is_multiple_of(2) { -1.0 } else { 1.0 };
        half * vec3(libm::cos(angle), level, libm::sin(angle))
    };
    let corners: Vec<Vec3> = (0..2 * sides).map(corner).collect();
    Shape::hull(&corners).unwrap()
}

fn vertices(shape: &Shape) -> &[Vec3] {
    match shape {
        Shape::Hull(hull) => hull.vertices(),
        Shape::Mesh(mesh) => mesh.vertices(),
        other => panic!("{}", other.kind()),
    }
}

/// The surface of a hull as a mesh, where it is to be one.
fn as_mesh(shape: &Shape, is_mesh: bool) -> Shape {
    match shape {
        Shape::Hull(hull) if is_mesh => {
            let triangles: Vec<[u32; 3]> = hull.triangles().collect();
            Shape::mesh(hull.vertices(), &triangles).unwrap()
        }
        other => other.clone(),
    }
}

/// Twice the area of a triangle, positive counter-clockwise.
fn turn(a: Flat, b: Flat, c: Flat) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// The convex hull of points, counter-clockwise.
fn outline(mut points: Vec<Flat>) -> Vec<Flat> {
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let back: Vec<Flat> = points.iter().rev().copied().collect();
    let mut out: Vec<Flat> = Vec::new();
    for side in [points, back] {
        let start = out.len();
        for p in side {
            while out.len() >= start + 2 && turn(out[out.len() - 2], out[out.len() - 1], p) <= 0.0 {
                out.pop();
            }
            out.push(p);
        }
        out.pop();
    }
    out
}

fn area(polygon: &[Flat]) -> f64 {
    let next = |i: usize| polygon[(i + 1) % polygon.len()];
    let all = (0..polygon.len()).map(|i| 0.5 * turn([0.0; 2], polygon[i], next(i)));
    all.sum()
}

/// What two convex polygons have in common.
fn common(polygon: &[Flat], other: &[Flat]) -> Vec<Flat> {
    let mut out = polygon.to_vec();
    for i in 0..other.len() {
        let (a, b) = (other[i], other[(i + 1) % other.len()]);
        let whole = std::mem::take(&mut out);
        for k in 0..whole.len() {
            let (p, q) = (whole[k], whole[(k + 1) % whole.len()]);
            let (s, t) = (turn(a, b, p), turn(a, b, q));
            if s >= 0.0 {
                out.push(p);
            }
            if s * t < 0.0 {
                let way = s / (s - t);
                out.push([p[0] + way * (q[0] - p[0]), p[1] + way * (q[1] - p[1])]);
            }
        }
    }
    out
}

/// A number of either sign of any size below ten to the power `most`, or zero.
fn small(random: &mut Random, most: f64) -> f64 {
    let size = libm::pow(10.0, random.range(-17.0, most));
    let sign = random.range(-1.0, 1.0);
    if sign.abs() < 0.2 {
        0.0
    } else {
        size * sign.signum()
    }
}

struct Case {
    /// A prism over a block, as hulls.
    block: Shape,
    prism: Shape,
    frame: Pose,
    /// In the frame; the top of the block lies at y = 0.
    below: Pose,
    above: Pose,
    prediction: f64,
    /// Half height of the prism, m.
    height: f64,
    /// What must not matter, m: rounding and how far a point comes by the tilt.
    rounding: f64,
    /// Area that lies over the block, m².
    over: f64,
}

impl Case {
    /// `tilt` is that of the prism, rad, about x and z.
    fn new(random: &mut Random, number: u64, tilt: [f64; 2]) -> Self {
        let h = libm::pow(10.0, random.range(-2.5, 0.0));
        let mut wide = |low: f64, high: f64| h * libm::pow(10.0, random.range(low, high));
        let block = vec3(wide(-0.5, 1.0), wide(-0.5, 1.0), wide(-0.5, 2.5));
        let size = vec3(wide(-0.3, 0.6), h, wide(-0.3, 0.6));
        let half: f64 = random.range(-3.0, 3.0);
        let yaw = match number % 7 {
            0 => Quat::IDENTITY,
            _ => Quat::from_xyzw(0.0, libm::sin(half), 0.0, libm::cos(half)),
        };
        // A point within the prism, or about it, over one of the block.
        let mut on_block = |half: f64| half * random.range(-1.0, 1.0);
        let place = vec3(on_block(block.x), 0.0, on_block(block.z));
        let angle = random.range(-3.2, 3.2);
        let part = random.range(0.0, if number.is_multiple_of(2) { 0.95 } else { 4.0 });
        let off = vec3(size.x * libm::cos(angle), 0.0, size.z * libm::sin(angle));
        let lift = vec3(0.0, h * (1.0 + small(random, -10.0)), 0.0);
        let slope = Quat::from_xyzw(tilt[0], 0.0, tilt[1], 1.0).normalize();
        let above = Pose::new(place + yaw * (off * part) + lift, slope * yaw);
        let below = Pose::from_translation(vec3(0.0, -block.y, 0.0));
        let frame = match number % 3 {
            0 => Pose::IDENTITY,
            _ => Pose::new(random.direction() * 50.0, random.rotation()),
        };
        let leaning = 3.0 * tilt[0].abs().max(tilt[1].abs()) * (size.x + size.z);
        let rounding = 1e-13 * (100.0 + block.z) + 1e-9 * h + leaning;
        let (block, prism) = (
            box_hull(block.x, block.y, block.z),
            prism(3 + (number / 4 % 6) as u32, size),
        );
        let seen = |shape: &Shape, pose: &Pose| {
            let flat = vertices(shape).iter().map(|&v| pose.transform_point(v));
            outline(flat.map(|v| [v.x, v.z]).collect())
        };
        let over = area(&common(&seen(&prism, &above), &seen(&block, &below)));
        Self {
            block,
            prism,
            frame,
            below,
            above,
            prediction: rounding.max(h * libm::pow(10.0, random.range(-2.0, 2.0))),
            height: h,
            rounding,
            over,
        }
    }

    fn settings(&self) -> CollideSettings {
        CollideSettings {
            prediction: self.prediction,
        }
    }

    fn poses(&self) -> (Pose, Pose) {
        let placed = |pose: &Pose| self.frame.mul_pose(pose);
        (placed(&self.below), placed(&self.above))
    }

    /// The contacts where the block, the prism are meshes.
    fn touch(&self, meshes: [bool; 2]) -> Vec<Manifold> {
        let (block, prism) = (
            as_mesh(&self.block, meshes[0]),
            as_mesh(&self.prism, meshes[1]),
        );
        let (below, above) = self.poses();
        let mut found = Vec::new();
        collide_all(&block, &below, &prism, &above, &self.settings(), &mut found);
        found
    }

    /// The part of the area over the block that the points of the level contacts span.
    fn spanned(&self, found: &[Manifold], lean: f64) -> f64 {
        let up = self.frame.rotation * Vec3::Y;
        let level = found.iter().filter(|m| (m.normal() - up).length() < lean);
        let points = level.flat_map(Manifold::points).map(|p| {
            let place = self.frame.inverse_transform_point(p.point_b);
            [place.x, place.z]
        });
        area(&outline(points.collect())) / self.over
    }
}

const MESHES: [[bool; 2]; 4] = [[false, false], [true, false], [false, true], [true, true]];

fn least(found: &[Manifold]) -> f64 {
    let all = found.iter().filter_map(Manifold::min_separation);
    all.fold(f64::INFINITY, f64::min)
}

/// One level manifold, of points about the whole area, wherever the prism lies; and none that is deep.
#[test]
fn what_lies_flush_has_one_firm_contact() {
    let mut random = Random(91);
    let (mut on, mut beside) = (0, 0);
    for i in 0..12_000 {
        let tilt = [small(&mut random, -11.0), small(&mut random, -11.0)];
        let case = Case::new(&mut random, i, tilt);
        let meshes = MESHES[i as usize % 4];
        let found = case.touch(meshes);
        let deepest = least(&found);
        assert!(deepest > -case.rounding, "{i} {meshes:?}: {found:?}");
        if case.over == 0.0 {
            beside += 1;
            let right = least(&case.touch([false, false]));
            let same = deepest == right
                || (deepest - right).abs() < case.rounding
                || (deepest.min(right) - case.prediction).abs() < case.rounding;
            assert!(same, "{i} {meshes:?}: {deepest} {right}");
        } else if case.over > 1e-4 * case.height * case.height {
            on += 1;
            assert_eq!(found.len(), 1, "{i} {meshes:?}: {found:?}");
            let spanned = case.spanned(&found, 1e-6);
            assert!(
                (0.5..1.0001).contains(&spanned),
                "{i} {meshes:?}: {spanned} {found:?}"
            );
        }
    }
    assert!(on > 6000 && beside > 1000, "{on} {beside}");
}

/// The faces of a mesh, each on its own, are not deeper than the whole.
#[test]
fn faces_that_lie_flush_touch_without_depth() {
    let mut random = Random(92);
    let mut some = 0;
    for i in 0..2000 {
        let tilt = [0.0, small(&mut random, -11.0)];
        let case = Case::new(&mut random, i, tilt);
        let meshes = MESHES[1 + i as usize % 3];
        let (block, prism) = (
            as_mesh(&case.block, meshes[0]),
            as_mesh(&case.prism, meshes[1]),
        );
        let (below, above) = case.poses();
        let count = |shape: &Shape| match shape {
            Shape::Mesh(mesh) => mesh.triangles().count() as u32,
            _ => 1,
        };
        for a in 0..count(&block) {
            for b in 0..count(&prism) {
                let mut found = Vec::new();
                let shapes = ((&block, &below), (&prism, &above));
                collide_parts(shapes.0, shapes.1, (a, b), &case.settings(), &mut found);
                some += usize::from(!found.is_empty());
                let deepest = least(&found);
                assert!(
                    deepest > -case.rounding,
                    "{i} {meshes:?} {a} {b}: {found:?}"
                );
            }
        }
    }
    assert!(some > 2000, "{some}");
}

/// The points that a tilted face is about to land on are there.
#[test]
fn tilted_faces_of_meshes_have_the_points_of_hulls() {
    let mut random = Random(93);
    for meshes in MESHES {
        let (mut all, mut narrow) = (0, 0);
        for i in 0..4000 {
            let tilt = [small(&mut random, -2.0), small(&mut random, -2.0)];
            let case = Case::new(&mut random, 4 * i, tilt);
            if case.over < 0.1 * case.height * case.height || case.prediction < 2.0 * case.rounding
            {
                continue;
            }
            let found = case.touch(meshes);
            let deepest = least(&found);
            assert!(deepest > -case.rounding, "{i} {meshes:?}: {found:?}");
            all += 1;
            let lean = 1e-6 + 4.0 * tilt[0].abs().max(tilt[1].abs());
            narrow += usize::from(case.spanned(&found, lean) < 0.5);
        }
        assert!(
            all > 2000 && narrow * 100 < all,
            "{meshes:?}: {narrow} of {all}"
        );
    }
}
