//! Two shapes at two poses: contacts, closest points, rays and times of impact.
//!
//! For any bytes there is no panic. Of valid shapes at finite poses nothing that comes out is NaN,
//! and exchanging the shapes exchanges the answer. Of usual sizes (`shapes::is_usual`) the answers
//! hold to rounding: no point is deeper than the least translation that separates the shapes, which no
//! direction beats.

use crate::bytes::Bytes;
use crate::shapes::{is_rotation, is_usual, shape};
use moreau::collision::{
    ClosestPoints, ImpactSettings, Inside, Motion, Ray, closest_points, collide_holding, overlaps,
    project_point, time_of_impact,
};
use moreau::{CollideSettings, Manifold, Pose, Shape, Vec3, Velocity, collide, collide_all};

/// Relative to the sizes: the direction between edges that are almost parallel is known to the root of
/// the rounding.
const TOLERANCE: f64 = 1e-7;

struct Pair {
    a: Shape,
    pose_a: Pose,
    b: Shape,
    pose_b: Pose,
    /// Whether numbers must come out that are right to rounding.
    usual: bool,
    /// m.
    tolerance: f64,
}

/// Panics where something does not hold.
pub fn check(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let Some(pair) = Pair::read(&mut bytes) else {
        return;
    };
    let prediction = match bytes.byte() % 4 {
        0 => 0.0,
        1 => 0.02,
        2 => 1.0,
        _ => bytes.number(),
    };
    let settings = CollideSettings { prediction };
    pair.manifolds(&settings);
    pair.nearest(&mut bytes);
    pair.rays(&mut bytes);
    pair.impact(&mut bytes);
}

impl Pair {
    fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        let (a, pose_a) = (shape(bytes)?, bytes.pose());
        let (b, pose_b) = (shape(bytes)?, bytes.pose());
        let usual = is_usual(&a, &pose_a) && is_usual(&b, &pose_b);
        let size = |s: &Shape| Some(s.bounding_radius()).filter(|r| r.is_finite());
        let sizes = size(&a).unwrap_or(0.0) + size(&b).unwrap_or(0.0);
        let far = (pose_a.translation.abs()).max(pose_b.translation.abs());
        let tolerance = TOLERANCE * sizes + 1e-14 * far.max_element();
        Some(Self {
            a,
            pose_a,
            b,
            pose_b,
            usual,
            tolerance,
        })
    }

    /// Whether the answers are those of numbers at all.
    fn is_sound(&self) -> bool {
        let sound = |shape: &Shape, pose: &Pose| {
            shape.validate().is_ok() && pose.is_finite() && is_rotation(pose)
        };
        sound(&self.a, &self.pose_a) && sound(&self.b, &self.pose_b)
    }

    fn is_convex(&self) -> bool {
        self.a.is_convex() && self.b.is_convex()
    }

    /// Whether equal shapes are at equal poses: they cannot be told apart, so neither can the order of
    /// them.
    fn has_twins(&self) -> bool {
        let of_b = parts(&self.b, &self.pose_b);
        parts(&self.a, &self.pose_a)
            .iter()
            .any(|part| of_b.contains(part))
    }

    fn names(&self) -> String {
        let (a, b) = (&self.a, &self.b);
        format!("{a:?}\nat {:?}\n{b:?}\nat {:?}", self.pose_a, self.pose_b)
    }

    fn manifolds(&self, settings: &CollideSettings) {
        let (mut all, mut back) = (Vec::new(), Vec::new());
        let (a, b) = ((&self.a, &self.pose_a), (&self.b, &self.pose_b));
        collide_all(a.0, a.1, b.0, b.1, settings, &mut all);
        collide_all(b.0, b.1, a.0, a.1, settings, &mut back);
        let (mut one, mut reversed) = (Manifold::default(), Manifold::default());
        collide(a.0, a.1, b.0, b.1, settings, &mut one);
        collide(b.0, b.1, a.0, a.1, settings, &mut reversed);
        // Its own points, some of them moved, and what is no point.
        let mut held: Vec<Vec3> = one.points().iter().map(|p| p.point_b).collect();
        if let [first, .., last] = &mut held[..] {
            *first = 0.5 * (*first + *last);
        }
        held.extend([self.pose_b.translation, Vec3::NAN]);
        let mut kept = Manifold::default();
        collide_holding(a, b, settings, &held, &mut kept);
        if !self.is_sound() || settings.prediction.is_nan() {
            return;
        }
        let names = || format!("{}\n{settings:?}\n{one:#?}\n{all:#?}", self.names());
        for manifold in all.iter().chain([&one, &kept]) {
            self.check_manifold(manifold, settings, &names);
        }
        assert!(
            all.windows(2).all(|m| m[0].parts() < m[1].parts()),
            "order of the parts: {}",
            names()
        );
        if !self.has_twins() {
            assert_eq!(one, reversed.swapped(), "{}", names());
            let mut back: Vec<Manifold> = back.iter().map(Manifold::swapped).collect();
            back.sort_by_key(Manifold::parts);
            assert_eq!(all, back, "{}", names());
        }
        if self.is_convex() {
            let expected: Vec<Manifold> = if one.is_empty() { vec![] } else { vec![one] };
            assert_eq!(all, expected, "{}", names());
        }
    }

    fn check_manifold(
        &self,
        manifold: &Manifold,
        settings: &CollideSettings,
        names: &dyn Fn() -> String,
    ) {
        if manifold.is_empty() {
            return;
        }
        let n = manifold.normal();
        assert!((n.length() - 1.0).abs() <= 1e-9, "normal: {}", names());
        for p in manifold.points() {
            let finite = p.point_a.is_finite() && p.point_b.is_finite() && p.separation.is_finite();
            assert!(finite, "not finite: {}", names());
        }
        let ids = manifold
            .points()
            .windows(2)
            .all(|p| p[0].feature < p[1].feature);
        assert!(ids, "features: {}", names());
        if !self.usual {
            return;
        }
        for p in manifold.points() {
            let measured = n.dot(p.point_b - p.point_a);
            let same = (p.separation - measured).abs() <= self.tolerance;
            assert!(same, "separation: {}", names());
            let reported = p.separation <= settings.prediction + self.tolerance;
            assert!(reported, "beyond the prediction: {}", names());
        }
        if !self.is_convex() {
            return;
        }
        if let Some(along) = self.separation_along(n) {
            let least = manifold.min_separation().unwrap_or(f64::NAN);
            let same = (least - along).abs() <= self.tolerance;
            assert!(same, "{least}, but {along} along the normal: {}", names());
        }
    }

    /// How far the shapes are apart along `n`, m; None where a half-space does not end that way.
    fn separation_along(&self, n: Vec3) -> Option<f64> {
        let reach = |shape: &Shape, pose: &Pose, n: Vec3| {
            let local = shape.support(pose.inverse_transform_vector(n))?;
            Some(n.dot(pose.transform_point(local)))
        };
        Some(-reach(&self.b, &self.pose_b, -n)? - reach(&self.a, &self.pose_a, n)?)
    }

    fn nearest(&self, bytes: &mut Bytes<'_>) {
        let near = closest_points(&self.a, &self.pose_a, &self.b, &self.pose_b);
        let back = closest_points(&self.b, &self.pose_b, &self.a, &self.pose_a);
        let touching = overlaps(&self.a, &self.pose_a, &self.b, &self.pose_b);
        let point = bytes.vector();
        let on_a = project_point(&self.a, &self.pose_a, point);
        if !self.is_sound() {
            return;
        }
        let names = || format!("{}\n{near:?}\n{back:?}", self.names());
        let near_by = point.is_finite() && point.abs().max_element() <= 1e6;
        if self.usual && self.a.is_convex() && near_by {
            assert!(on_a.is_ok(), "projection of {point}: {on_a:?}\n{}", names());
        }
        if let Ok(on_a) = on_a {
            let finite = on_a.point.is_finite() && on_a.distance.is_finite();
            let unit = (on_a.normal.length() - 1.0).abs() <= 1e-9;
            assert!(
                finite && unit,
                "projection of {point}: {on_a:?}\n{}",
                names()
            );
        }
        let Some(near) = near else {
            let both = |kind: fn(&Shape) -> bool| kind(&self.a) && kind(&self.b);
            let none = both(|s| !s.is_bounded()) || !self.is_convex() || !self.usual;
            assert!(none, "no closest points: {}", names());
            return;
        };
        check_nearest(&near, &names);
        if !self.has_twins() {
            let separation = back.map(|b| b.separation);
            assert_eq!(Some(near.separation), separation, "exchanged: {}", names());
        }
        if !self.usual || !self.is_convex() {
            return;
        }
        let room = self.tolerance;
        let separation = near.separation;
        let measured = near.normal.dot(near.point_b - near.point_a);
        assert!(
            (measured - separation).abs() <= room,
            "separation: {}",
            names()
        );
        if separation > room {
            assert!(!touching, "apart, but they overlap: {}", names());
        } else if separation < -room {
            assert!(touching, "they do not overlap: {}", names());
        }
        let between = self.pose_b.translation - self.pose_a.translation;
        let mut directions = vec![Vec3::X, Vec3::Y, Vec3::Z, between.normalize_or(Vec3::X)];
        directions.extend((0..4).map(|_| bytes.direction()));
        for direction in directions {
            for n in [direction, -direction] {
                let Some(along) = self.separation_along(n) else {
                    continue;
                };
                assert!(
                    along <= separation + room,
                    "{along} m apart along {n}: {}",
                    names()
                );
            }
        }
    }

    fn rays(&self, bytes: &mut Bytes<'_>) {
        let (origin, way) = (bytes.vector(), bytes.vector());
        let most = if bytes.byte() % 2 == 0 {
            f64::INFINITY
        } else {
            bytes.number()
        };
        let Ok(ray) = Ray::new(origin, way) else {
            assert!(!(origin.is_finite() && way.is_finite()) || way == Vec3::ZERO);
            return;
        };
        assert!((ray.direction().length() - 1.0).abs() <= 1e-12, "{ray:?}");
        for inside in [Inside::Solid, Inside::Hollow] {
            let hit = ray.cast(&self.a, &self.pose_a, most, inside);
            if !self.is_sound() {
                continue;
            }
            let Some(hit) = hit else {
                continue;
            };
            let names = || format!("{}\n{ray:?} {most} {inside:?}\n{hit:?}", self.names());
            let finite = hit.distance.is_finite() && hit.point.is_finite();
            assert!(finite, "not finite: {}", names());
            let unit = (hit.normal.length() - 1.0).abs() <= 1e-9;
            assert!(unit, "normal: {}", names());
            assert!(
                (0.0..=most).contains(&hit.distance),
                "distance: {}",
                names()
            );
            if self.usual && self.a.is_convex() && hit.distance > 0.0 && hit.distance < 1e6 {
                let near = project_point(&self.a, &self.pose_a, hit.point);
                // Along a grazing ray a rounding of the surface is the root of it along the ray.
                let room = 1e-6 * (hit.distance + origin.abs().max_element()) + self.tolerance;
                let off = near.as_ref().map_or(f64::NAN, |near| near.distance.abs());
                assert!(off <= room, "{near:?} off the surface: {}", names());
            }
        }
        self.ray_at_the_middle(&ray);
    }

    /// A ray at a point inside meets the shape.
    fn ray_at_the_middle(&self, ray: &Ray) {
        let center = match &self.a {
            Shape::Hull(hull) => hull.center(),
            shape if shape.is_convex() && shape.is_bounded() => Vec3::ZERO,
            _ => return,
        };
        let target = self.pose_a.transform_point(center);
        let near = (ray.origin() - target).abs().max_element() <= 1e6;
        if !(self.usual && near) {
            return;
        }
        let Ok(aimed) = Ray::new(ray.origin(), target - ray.origin()) else {
            return;
        };
        let hit = aimed.cast(&self.a, &self.pose_a, f64::INFINITY, Inside::Solid);
        assert!(hit.is_some(), "{aimed:?} misses {}", self.names());
    }

    fn impact(&self, bytes: &mut Bytes<'_>) {
        let mut motion = |pose: Pose| Motion {
            pose,
            center: if bytes.byte() % 2 == 0 {
                Vec3::ZERO
            } else {
                bytes.vector()
            },
            velocity: Velocity::new(
                bytes.vector(),
                if bytes.byte() % 2 == 0 {
                    Vec3::ZERO
                } else {
                    bytes.vector()
                },
            ),
        };
        let (a, b) = (motion(self.pose_a), motion(self.pose_b));
        let duration = bytes.number();
        let settings = ImpactSettings {
            target: if bytes.byte() % 2 == 0 {
                0.0
            } else {
                bytes.number()
            },
            max_steps: 200,
            ..ImpactSettings::default()
        };
        let found = time_of_impact(&self.a, &a, &self.b, &b, duration, &settings);
        let Ok(found) = found else {
            return;
        };
        if !self.is_sound() {
            return;
        }
        let names = || format!("{}\n{a:?}\n{b:?}\n{duration} s, {found:?}", self.names());
        if let Some(impact) = &found {
            assert!((0.0..=duration).contains(&impact.time), "time: {}", names());
            let points = impact.point_a.is_finite() && impact.point_b.is_finite();
            let finite = points && impact.separation.is_finite();
            assert!(finite, "not finite: {}", names());
            assert!(
                (impact.normal.length() - 1.0).abs() <= 1e-9,
                "normal: {}",
                names()
            );
        }
        let tame = |m: &Motion| {
            let v = m.velocity.linear.abs().max(m.velocity.angular.abs());
            v.max(m.center.abs()).max_element() <= 1e3
        };
        if !(self.usual && self.is_convex() && tame(&a) && tame(&b) && duration <= 1e3) {
            return;
        }
        // Until then they keep their distance.
        let end = found.as_ref().map_or(duration, |i| i.time);
        for part in [0.0, 0.25, 0.5, 0.75, 1.0] {
            let t = end * part;
            let Some(near) = closest_points(&self.a, &a.at(t), &self.b, &b.at(t)) else {
                continue;
            };
            let moved = 1e-14 * 1e3 * t * 1e3;
            let met_at_once = found.as_ref().is_some_and(|i| i.time == 0.0);
            let room = 10.0 * self.tolerance + moved;
            let apart = near.separation >= settings.target - room;
            assert!(apart || met_at_once, "{near:?} at {t} s: {}", names());
        }
    }
}

/// A shape, or the children of a compound, at their poses in the world.
fn parts(shape: &Shape, pose: &Pose) -> Vec<(Shape, Pose)> {
    match shape {
        Shape::Compound(compound) => (compound.children().iter())
            .map(|child| (child.shape.clone(), pose.mul_pose(&child.pose)))
            .collect(),
        shape => vec![(shape.clone(), *pose)],
    }
}

fn check_nearest(near: &ClosestPoints, names: &dyn Fn() -> String) {
    let points = near.point_a.is_finite() && near.point_b.is_finite();
    assert!(
        points && near.separation.is_finite(),
        "not finite: {}",
        names()
    );
    assert!(
        (near.normal.length() - 1.0).abs() <= 1e-9,
        "normal: {}",
        names()
    );
}
