//! Cylinder or cone against a ball: the exact signed distance of the centre.
//!
//! In the half-plane through the axis and the centre, with coordinates (rho, y), the solid is a
//! rectangle or a triangle. Outside: the distance of the nearest point of its outline. Inside: minus
//! the distance of the nearest of its faces.

use super::context::Context;
use super::revolved::Revolved;
use super::round::{direction, emit_single};
use moreau_math::Vec3;
use moreau_math::glam::{DVec2 as Vec2, dvec2 as vec2};

pub(super) fn collide(context: &mut Context<'_>, a: &Revolved, center: Vec3, radius: f64) {
    let offset = center - a.center;
    let outward = a.outward(offset);
    let place = vec2(outward.dot(offset), a.axes[1].dot(offset));
    let world = |v: Vec2| outward * v.x + a.axes[1] * v.y;

    let faces = faces(a);
    let beyond = faces.each_ref().map(|f| f.normal.dot(place - f.from));
    let count = if a.is_cone() { 2 } else { 3 };
    let top = beyond[..count]
        .iter()
        .copied()
        .fold(f64::NEG_INFINITY, f64::max);
    if top <= context.touch {
        let mut best: Option<(Vec3, usize)> = None;
        for i in 0..count {
            let normal = world(faces[i].normal);
            let deep = beyond[i] < top - context.tie;
            if !deep && best.is_none_or(|(held, _)| context.prefers(normal, held)) {
                best = Some((normal, i));
            }
        }
        let (normal, i) = best.unwrap_or((a.axes[1], 0));
        let normal = super::context::unit(normal);
        let surface = center - normal * beyond[i];
        let separation = beyond[i] - radius;
        emit_single(
            context,
            normal,
            [surface, center - normal * radius],
            separation,
        );
        return;
    }
    // A centre over a side is nearest to that side; over none, to a corner. Squares of distances could
    // not tell them apart near the border.
    let over = (faces[..count].iter().zip(beyond)).find(|(f, d)| *d > 0.0 && f.is_below(place));
    let (nearest, toward) = match over {
        Some((face, distance)) => (place - face.normal * distance, face.normal * distance),
        None => {
            let corners = (faces[..count].iter()).flat_map(|f| [f.from, f.to]);
            let square = |p: Vec2| (place - p).length_squared();
            let first = (square(faces[0].to), faces[0].to);
            let (_, corner) = corners.map(|p| (square(p), p)).fold(first, |best, next| {
                if next.0 < best.0 { next } else { best }
            });
            (corner, place - corner)
        }
    };
    let normal = direction(context, world(toward), a.axes[1]);
    let distance = normal.dot(world(place - nearest));
    let surface = a.center + world(nearest);
    let surfaces = [surface, center - normal * radius];
    emit_single(context, normal, surfaces, distance - radius);
}

/// A side of the outline.
struct Face {
    from: Vec2,
    to: Vec2,
    /// Unit, outward.
    normal: Vec2,
}

impl Face {
    /// Whether the point lies between the ends, as seen along the normal.
    fn is_below(&self, point: Vec2) -> bool {
        let along = self.to - self.from;
        along.dot(point - self.from) >= 0.0 && along.dot(point - self.to) <= 0.0
    }
}

/// Base, side, and the top of a cylinder (or the base again).
fn faces(a: &Revolved) -> [Face; 3] {
    let (h, r, top) = (a.half_height, a.radius, a.top_radius);
    let side = vec2(2.0 * h, r - top);
    let face = |from: Vec2, to: Vec2, normal: Vec2| Face { from, to, normal };
    let base = || face(vec2(0.0, -h), vec2(r, -h), vec2(0.0, -1.0));
    [
        base(),
        face(vec2(r, -h), vec2(top, h), side / side.length()),
        if a.is_cone() {
            base()
        } else {
            face(vec2(0.0, h), vec2(top, h), vec2(0.0, 1.0))
        },
    ]
}
