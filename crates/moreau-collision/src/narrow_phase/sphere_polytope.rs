//! Box or hull against a ball: the exact signed distance of the centre.
//!
//! Outside: the distance of the nearest point of the surface. Inside: minus the distance of the
//! nearest face. The separation is that less the radius.

use super::context::Context;
use super::nearest::{Shortlist, across, nearest_on_segment};
use super::placed::PlacedBox;
use super::polyhedron::Polyhedron;
use super::round::{direction, emit_single};
use moreau_math::Vec3;

/// The point of a surface nearest to a point: unit direction from it, and the signed distance.
struct Nearest {
    surface: Vec3,
    normal: Vec3,
    distance: f64,
}

fn emit(context: &mut Context<'_>, nearest: &Nearest, center: Vec3, radius: f64) {
    let surfaces = [nearest.surface, center - nearest.normal * radius];
    let separation = nearest.distance - radius;
    emit_single(context, nearest.normal, surfaces, separation);
}

pub(super) fn collide_box(context: &mut Context<'_>, a: &PlacedBox, center: Vec3, radius: f64) {
    let offset = center - a.center;
    let local = a.axes.map(|axis| axis.dot(offset));
    let beyond: [f64; 3] = std::array::from_fn(|i| local[i].abs() - a.half[i]);
    let nearest = if beyond.iter().all(|&x| x <= context.touch) {
        nearest_face_of_box(context, a, local, beyond)
    } else {
        let mut on_surface = a.center;
        let mut across = Vec3::ZERO;
        for i in 0..3 {
            let clamped = local[i].clamp(-a.half[i], a.half[i]);
            on_surface += a.axes[i] * clamped;
            across += a.axes[i] * (local[i] - clamped);
        }
        let normal = direction(context, across, Vec3::Y);
        Nearest {
            surface: on_surface,
            normal,
            distance: normal.dot(across),
        }
    };
    emit(context, &nearest, center, radius);
}

fn nearest_face_of_box(
    context: &Context<'_>,
    a: &PlacedBox,
    local: [f64; 3],
    beyond: [f64; 3],
) -> Nearest {
    let top = beyond.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut best: Option<(Vec3, usize)> = None;
    for i in 0..3 {
        if beyond[i] < top - context.tie {
            continue;
        }
        for (axis, reached) in [
            (a.axes[i], local[i] >= -context.tie),
            (-a.axes[i], local[i] <= context.tie),
        ] {
            if reached && best.is_none_or(|(held, _)| context.prefers(axis, held)) {
                best = Some((axis, i));
            }
        }
    }
    let (axis, i) = best.unwrap_or((a.axes[0], 0));
    let normal = super::context::unit(axis);
    // In the plane of the face, under the centre.
    let mut surface = a.center + axis * a.half[i];
    for j in [(i + 1) % 3, (i + 2) % 3] {
        surface += a.axes[j] * local[j].clamp(-a.half[j], a.half[j]);
    }
    Nearest {
        surface,
        normal,
        distance: beyond[i],
    }
}

pub(super) fn collide_hull(
    context: &mut Context<'_>,
    a: &Polyhedron<'_>,
    center: Vec3,
    radius: f64,
) {
    let local = a.local_point(center);
    let nearest = nearest_on_hull(context, a, local);
    if let Some(nearest) = nearest {
        emit(context, &nearest, center, radius);
    }
}

/// None where the shapes are too far apart.
fn nearest_on_hull(context: &Context<'_>, a: &Polyhedron<'_>, local: Vec3) -> Option<Nearest> {
    let world = |normal: Vec3| super::context::unit(a.rotation * normal);
    let top = (a.faces.iter()).fold(f64::NEG_INFINITY, |top, f| top.max(f.distance(local)));
    let on_face = |face: &crate::hull::HullFace| {
        let distance = face.distance(local);
        Nearest {
            surface: a.placed(local - face.normal * distance),
            normal: world(face.normal),
            distance,
        }
    };
    if top <= context.touch {
        let mut best: Option<Nearest> = None;
        for face in a.faces {
            if face.distance(local) < top - context.tie {
                continue;
            }
            let candidate = on_face(face);
            if (best.as_ref()).is_none_or(|b| context.prefers(candidate.normal, b.normal)) {
                best = Some(candidate);
            }
        }
        return best;
    }
    // A centre over a face is nearest to that face, and over no other.
    let over = (a.faces.iter()).find(|f| f.distance(local) > 0.0 && a.face_holds(f, local));
    if let Some(face) = over {
        return Some(on_face(face));
    }
    let mut nearest = Shortlist::new();
    for edge in a.edges {
        let visible = |&f: &u32| a.faces[f as usize].distance(local) > 0.0;
        if edge.faces.iter().any(visible) {
            let ends = a.ends(edge);
            let point = nearest_on_segment(ends, local);
            let toward = across(ends, point, local - point);
            nearest.offer((local - point).length_squared(), (point, toward));
        }
    }
    // Nothing of the solid reaches beyond the nearest point towards the centre.
    let (point, toward) =
        nearest.best(|&(_, toward)| (toward.dot(local) - a.support(toward).1) / toward.length())?;
    let toward = a.rotation * toward;
    let normal = direction(context, toward, Vec3::Y);
    Some(Nearest {
        surface: a.placed(point),
        normal,
        distance: normal.dot(toward),
    })
}
