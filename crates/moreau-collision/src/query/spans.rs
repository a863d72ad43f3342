//! The part of a line inside of a convex shape.
//!
//! For a line o + t d, |d| = 1, in the shape's frame:
//!
//! ```text
//! ball       q = o - (o·d) d, the point nearest to the centre:  t = -o·d ± sqrt(r² - |q|²)
//! plane      n·o + t n·d <= c
//! polytope   all its planes
//! cylinder   the disc across (a ball in two dimensions, t scaled by 1/|d_xz|) and the slab along y
//! cone       |x_xz| <= k (h - y), k = r/2h: a quadratic in t measured from the point nearest to the apex,
//!            of whose two cones the lower one counts; and the plane of the base
//! capsule    its cylinder and its two balls, united: the line meets a convex shape in one piece
//! ```

use crate::Shape;
use moreau_math::{Vec3, vec3};

/// From `enter` to `leave` along a line, with the outward unit normals there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) enter: f64,
    pub(super) leave: f64,
    pub(super) normal_in: Vec3,
    pub(super) normal_out: Vec3,
}

impl Span {
    const LINE: Self = Self {
        enter: f64::NEG_INFINITY,
        leave: f64::INFINITY,
        normal_in: Vec3::ZERO,
        normal_out: Vec3::ZERO,
    };

    /// What of it lies on the inner side of a plane: normal·x <= offset.
    fn cut(mut self, origin: Vec3, way: Vec3, normal: Vec3, offset: f64) -> Option<Self> {
        let above = normal.dot(origin) - offset;
        let slope = normal.dot(way);
        if slope == 0.0 {
            return (above <= 0.0).then_some(self);
        }
        let t = -above / slope;
        if slope < 0.0 && t > self.enter {
            (self.enter, self.normal_in) = (t, normal);
        } else if slope > 0.0 && t < self.leave {
            (self.leave, self.normal_out) = (t, normal);
        }
        (self.enter <= self.leave).then_some(self)
    }

    /// The smallest span that holds both.
    fn unite(self, other: Option<Self>) -> Self {
        let Some(other) = other else { return self };
        let (first, last) = (
            if other.enter < self.enter {
                other
            } else {
                self
            },
            if other.leave > self.leave {
                other
            } else {
                self
            },
        );
        Self {
            enter: first.enter,
            normal_in: first.normal_in,
            leave: last.leave,
            normal_out: last.normal_out,
        }
    }
}

/// None where the line misses the shape.
pub(super) fn of(shape: &Shape, origin: Vec3, way: Vec3) -> Option<Span> {
    match shape {
        Shape::Sphere { radius } => ball(origin, way, *radius),
        Shape::Cuboid { half_extents } => cuboid(origin, way, *half_extents),
        Shape::Capsule {
            half_height,
            radius,
        } => {
            let end = vec3(0.0, *half_height, 0.0);
            let balls = [end, -end].map(|c| ball(origin - c, way, *radius));
            let tube = cylinder(origin, way, *half_height, *radius);
            let mut parts = [tube, balls[0], balls[1]].into_iter().flatten();
            let first = parts.next()?;
            Some(parts.fold(first, |span, part| span.unite(Some(part))))
        }
        Shape::HalfSpace { normal } => Span::LINE.cut(origin, way, normal.normalize(), 0.0),
        Shape::Hull(hull) => {
            let cut = |span: Span, face: &crate::HullFace| {
                span.cut(origin, way, face.normal, face.offset)
            };
            hull.faces().iter().try_fold(Span::LINE, cut)
        }
        Shape::Cylinder {
            half_height,
            radius,
        } => cylinder(origin, way, *half_height, *radius),
        Shape::Cone {
            half_height,
            radius,
        } => cone(origin, way, *half_height, *radius),
        // Not in one piece: see `pieces`.
        Shape::Mesh(_) | Shape::Heightfield(_) | Shape::Compound(_) => None,
    }
}

fn ball(origin: Vec3, way: Vec3, radius: f64) -> Option<Span> {
    let along = -origin.dot(way);
    let nearest = origin + way * along;
    let square = radius * radius - nearest.length_squared();
    if !(square >= 0.0) {
        return None;
    }
    let half = square.sqrt();
    let out = |t: f64| (nearest + way * t).try_normalize().unwrap_or(way);
    Some(Span {
        enter: along - half,
        leave: along + half,
        normal_in: out(-half),
        normal_out: out(half),
    })
}

fn cuboid(origin: Vec3, way: Vec3, half: Vec3) -> Option<Span> {
    let mut span = Span::LINE;
    for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
        let reach = axis.dot(half);
        span = span.cut(origin, way, axis, reach)?;
        span = span.cut(origin, way, -axis, reach)?;
    }
    Some(span)
}

/// A cylinder about the y axis with flat ends.
fn cylinder(origin: Vec3, way: Vec3, half_height: f64, radius: f64) -> Option<Span> {
    let flat = |v: Vec3| vec3(v.x, 0.0, v.z);
    let speed = flat(way).length();
    let tube = if speed == 0.0 {
        (flat(origin).length() <= radius).then_some(Span::LINE)?
    } else {
        let across = ball(flat(origin), flat(way) / speed, radius)?;
        Span {
            enter: across.enter / speed,
            leave: across.leave / speed,
            ..across
        }
    };
    let tube = tube.cut(origin, way, Vec3::Y, half_height)?;
    tube.cut(origin, way, -Vec3::Y, half_height)
}

/// A cone with its apex at y = `half_height` and its base at y = -`half_height`.
fn cone(origin: Vec3, way: Vec3, half_height: f64, radius: f64) -> Option<Span> {
    let flat = |v: Vec3| vec3(v.x, 0.0, v.z);
    let k = radius / (2.0 * half_height);
    let from_apex = origin - vec3(0.0, half_height, 0.0);
    let shift = -from_apex.dot(way);
    let near = from_apex + way * shift;
    // a t² + 2 b t + c <= 0, below the apex.
    let a = flat(way).length_squared() - k * k * way.y * way.y;
    let b = flat(near).dot(flat(way)) - k * k * near.y * way.y;
    let c = flat(near).length_squared() - k * k * near.y * near.y;
    let mut square = b * b - a * c;
    if a < 0.0 {
        // Steeper than the cone: the line is in it at both ends, so there are roots.
        square = square.max(0.0);
    } else if !(square >= 0.0) {
        return None;
    }
    let root = square.sqrt();
    // Without a difference of equal numbers.
    let q = -(b + root.copysign(b));
    let (t0, t1) = if q == 0.0 { (0.0, 0.0) } else { (q / a, c / q) };
    let (first, last) = (t0.min(t1), t0.max(t1));
    let mut span = Span::LINE;
    if a > 0.0 {
        (span.enter, span.leave) = (first, last);
        if near.y + 0.5 * (first + last) * way.y > 0.0 {
            return None;
        }
    } else if a == 0.0 {
        // Along the side: one root, where the line goes in or comes out.
        if b == 0.0 {
            return None;
        }
        let t = -0.5 * c / b;
        if near.y + t * way.y > 0.0 {
            return None;
        }
        if b < 0.0 {
            span.enter = t;
        } else {
            span.leave = t;
        }
    } else if way.y < 0.0 {
        span.enter = last;
    } else {
        span.leave = first;
    }
    let out = |t: f64| {
        let radial = flat(near + way * t).try_normalize();
        radial.map_or(Vec3::Y, |r| (r + Vec3::Y * k).normalize())
    };
    if span.enter.is_finite() {
        span.normal_in = out(span.enter);
    }
    if span.leave.is_finite() {
        span.normal_out = out(span.leave);
    }
    span.enter += shift;
    span.leave += shift;
    span.cut(origin, way, -Vec3::Y, half_height)
}
