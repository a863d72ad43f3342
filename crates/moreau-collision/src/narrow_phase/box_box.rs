//! Box against box: 15 separating axes.
//!
//! With unit axes a_i, b_j, half extents h, d = c_b - c_a, C_ij = a_i·b_j:
//!
//! ```text
//! s(n) = |d·n| - sum_i h_ai |a_i·n| - sum_j h_bj |b_j·n|
//! ```
//!
//! for n = a_i, b_j and a_i x b_j / |a_i x b_j|. The greatest s is the separation; where it is
//! negative, the depth of the least separating translation. (Gottschalk, Lin, Manocha 1996.)
//!
//! The direction of a_i x b_j is rounded by 1/|a_i x b_j|: an edge axis wins only where it beats the
//! faces by more than that rounding can make up, and nearly parallel edges (below 1e-7) are left to
//! the faces.

use super::context::{Context, unit};
use super::placed::PlacedBox;
use super::polytope::Axis;
use moreau_math::Vec3;

/// Square of the sine between edges below which their cross product is not used.
const PARALLEL: f64 = 1e-14;

/// Rounding of an edge axis' separation, relative to the sizes divided by the sine.
const CROSS_ROUNDING: f64 = 4.0 * f64::EPSILON;

/// The axis of greatest separation; None where one separates beyond the limit.
pub(super) fn separating_axis(context: &Context<'_>, a: &PlacedBox, b: &PlacedBox) -> Option<Axis> {
    let d = b.center - a.center;
    let c = a.axes.map(|ai| b.axes.map(|bj| ai.dot(bj)));
    let size = c.map(|row| row.map(f64::abs));
    let along_a = a.axes.map(|axis| axis.dot(d));
    let along_b = b.axes.map(|axis| axis.dot(d));

    let mut faces = [0.0; 6];
    for i in 0..3 {
        let reach = a.half[i] + dot(b.half, size[i]);
        faces[i] = along_a[i].abs() - reach;
        let column = [size[0][i], size[1][i], size[2][i]];
        faces[3 + i] = along_b[i].abs() - (b.half[i] + dot(a.half, column));
    }
    let top = faces.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if top > context.limit {
        return None;
    }

    let edge = edge_axis(
        context,
        &Crossing {
            a,
            b,
            c,
            size,
            along_a,
        },
        top,
    )?;
    if let Some(axis) = edge {
        return Some(axis);
    }
    let mut best: Option<Axis> = None;
    let mut offer = |normal: Vec3, separation: f64| {
        if best.is_none_or(|held| context.prefers(normal, held.normal)) {
            best = Some(Axis { normal, separation });
        }
    };
    for i in 0..6 {
        if faces[i] < top - context.tie {
            continue;
        }
        let (axis, along) = if i < 3 {
            (a.axes[i], along_a[i])
        } else {
            (b.axes[i - 3], along_b[i - 3])
        };
        // Both sides of a box whose centre the other box shares.
        if along >= -context.tie {
            offer(axis, faces[i]);
        }
        if along <= context.tie {
            offer(-axis, faces[i]);
        }
    }
    best.map(|axis| Axis {
        normal: unit(axis.normal),
        ..axis
    })
}

fn dot(u: [f64; 3], v: [f64; 3]) -> f64 {
    u[0] * v[0] + u[1] * v[1] + u[2] * v[2]
}

/// The two boxes and their axes' products.
struct Crossing<'a> {
    a: &'a PlacedBox,
    b: &'a PlacedBox,
    c: [[f64; 3]; 3],
    size: [[f64; 3]; 3],
    along_a: [f64; 3],
}

/// The edge axis that separates by clearly more than the faces' `top`, if any; None where one
/// separates beyond the limit.
fn edge_axis(context: &Context<'_>, x: &Crossing<'_>, top: f64) -> Option<Option<Axis>> {
    let (ha, hb) = (x.a.half, x.b.half);
    let reach = ha[0] + ha[1] + ha[2] + hb[0] + hb[1] + hb[2];
    let mut best: Option<Axis> = None;
    for i in 0..3 {
        let (i1, i2) = ((i + 1) % 3, (i + 2) % 3);
        for j in 0..3 {
            let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
            let across = x.along_a[i2] * x.c[i1][j] - x.along_a[i1] * x.c[i2][j];
            let raw = across.abs()
                - (ha[i1] * x.size[i2][j] + ha[i2] * x.size[i1][j])
                - (hb[j1] * x.size[i][j2] + hb[j2] * x.size[i][j1]);
            // Dividing by a length of at most one makes a negative value smaller still.
            if raw < 0.0 && raw <= top {
                continue;
            }
            let square = x.c[i1][j] * x.c[i1][j] + x.c[i2][j] * x.c[i2][j];
            if square < PARALLEL {
                continue;
            }
            let length = square.sqrt();
            let separation = raw / length;
            let doubt = context.tie + CROSS_ROUNDING * reach / length;
            if separation <= top + doubt {
                continue;
            }
            if separation > context.limit {
                return None;
            }
            let line = unit(x.a.axes[i].cross(x.b.axes[j]));
            let mut offer = |normal: Vec3| {
                let better = best.is_none_or(|held| {
                    separation > held.separation + context.tie
                        || (separation >= held.separation - context.tie
                            && context.prefers(normal, held.normal))
                });
                if better {
                    best = Some(Axis { normal, separation });
                }
            };
            if across >= -context.tie * length {
                offer(line);
            }
            if across <= context.tie * length {
                offer(-line);
            }
        }
    }
    Some(best)
}
