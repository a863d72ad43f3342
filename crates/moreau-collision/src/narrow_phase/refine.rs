//! From a direction near a maximum of s(n) to the maximum.
//!
//! With the atoms that touch there known, s is smooth: s(n) = n·(p_b - p_a) with their furthest points
//! p, whose gradient is p_b - p_a and whose Hessian is that of the rims (`core`). On the unit sphere
//! Newton's step x, across n, solves
//!
//! ```text
//! [ H - s 1   G' ] [ x  ]     [ gradient of s across n ]
//! [ G         0  ] [ nu ] = - [ c                      ]
//! ```
//!
//! for the maximum of s where other atoms of A or B reach as far: c(n) = n·(p - p0) = 0 with gradient
//! G = p - p0 for each. Two such conditions leave no freedom: n = +-G_1 x G_2.
//!
//! Which atoms touch is not known for sure, so all subsets of a few that are joined are tried, and each result is
//! judged by the true s: a direction that is no maximum does no harm.

use super::context::unit;
use super::core::{Atom, Core};
use super::expand::Search;
use moreau_math::{Vec3, tangent_basis};
use smallvec::SmallVec;

/// Newton steps at most; five suffice where the start is near.
const MAX_STEPS: usize = 32;

/// After a step this short (rad) the error is below rounding, also next to a disc's axis.
const CONVERGED: f64 = 1e-12;

/// Cosine of the angle to the start at which another maximum is being looked for.
const ASTRAY: f64 = 0.7;

/// A step is at most this long (rad),
const LONGEST: f64 = 0.3;

/// and this part of the angle to the axis of a disc: the rim turns fast there.
const TOWARDS_AXIS: f64 = 0.7;

/// Second derivatives this small, relative to the others, are none.
const FLAT: f64 = 1e-9;

/// Up to this many atoms a side.
const MAX_ATOMS: usize = 12;

type Names = SmallVec<[u16; MAX_ATOMS]>;
type Atoms = SmallVec<[Atom; 2]>;

/// Rounds in which atoms that turn out to touch as well are added.
const MAX_ROUNDS: usize = 4;

/// Offers the maxima near the unit vector `start`; `atoms` are pairs of names that touch about there,
/// and so do those within `slack` (m) of touching.
pub(super) fn refine(search: &mut Search<'_>, start: Vec3, atoms: &[[u16; 2]], slack: f64) {
    let mut names: [Names; 2] = [Names::new(), Names::new()];
    for pair in atoms {
        add(&mut names, *pair);
    }
    let (a, b) = (search.a, search.b);
    a.names_near(start, slack, |name| {
        add_to(&mut names[0], name);
    });
    b.names_near(-start, slack, |name| {
        add_to(&mut names[1], name);
    });
    let mut normals: SmallVec<[Vec3; 8]> = SmallVec::new();
    a.face_normals_near(start, |n| normals.push(n));
    b.face_normals_near(-start, |n| normals.push(-n));
    for n in normals {
        search.offer_face(unit(n));
    }
    let mut start = start;
    for _ in 0..MAX_ROUNDS {
        let mut best = (f64::NEG_INFINITY, start, [0; 2]);
        let sets = [subsets(a, &names[0]), subsets(b, &names[1])];
        for of_a in &sets[0] {
            for of_b in &sets[1] {
                let Some(n) = newton(start, of_a, of_b) else {
                    continue;
                };
                search.offer_refined(n);
                let (separation, touching) = search.separation(n);
                if separation > best.0 {
                    best = (separation, n, touching);
                }
            }
        }
        if !add(&mut names, best.2) {
            return;
        }
        start = best.1;
    }
}

/// Whether one of a pair was not known, and there was room for it.
fn add(names: &mut [Names; 2], pair: [u16; 2]) -> bool {
    let [of_a, of_b] = names;
    let first = add_to(of_a, pair[0]);
    add_to(of_b, pair[1]) || first
}

fn add_to(names: &mut Names, name: u16) -> bool {
    let room = !names.contains(&name) && names.len() < MAX_ATOMS;
    if room {
        names.push(name);
    }
    room
}

/// The atoms one by one, and two by two those that are joined.
fn subsets(core: &Core<'_>, names: &Names) -> SmallVec<[Atoms; 8]> {
    let mut out: SmallVec<[Atoms; 8]> = SmallVec::new();
    for (k, &i) in names.iter().enumerate() {
        out.push(Atoms::from_slice(&[core.atom(i)]));
        for &j in &names[..k] {
            if core.are_joined(i, j) {
                out.push(Atoms::from_slice(&[core.atom(j), core.atom(i)]));
            }
        }
    }
    out
}

fn newton(start: Vec3, a: &[Atom], b: &[Atom]) -> Option<Vec3> {
    let mut n = start;
    let conditions = a.len() + b.len() - 2;
    for _ in 0..MAX_STEPS {
        let next = if conditions == 2 {
            crossing(n, a, b)?
        } else {
            step(n, a, b)?
        };
        let moved = (next - n).abs().max_element();
        n = next;
        if moved < CONVERGED {
            break;
        }
        if n.dot(start) < ASTRAY {
            return None;
        }
    }
    Some(n)
}

/// Where two conditions hold.
fn crossing(n: Vec3, a: &[Atom], b: &[Atom]) -> Option<Vec3> {
    let mut gradients: SmallVec<[Vec3; 2]> = SmallVec::new();
    for (atoms, along) in [(a, n), (b, -n)] {
        let first = atoms[0].reach(along).point;
        gradients.extend(
            atoms[1..]
                .iter()
                .map(|atom| atom.reach(along).point - first),
        );
    }
    let line = gradients[0].cross(gradients[1]);
    let scale = line.abs().max_element();
    if !(scale > 0.0 && scale.is_finite()) {
        return None;
    }
    let line = unit(line / scale);
    Some(if line.dot(n) < 0.0 { -line } else { line })
}

/// One Newton step with no condition or one.
fn step(n: Vec3, a: &[Atom], b: &[Atom]) -> Option<Vec3> {
    let (of_a, of_b) = (a[0].reach(n), b[0].reach(-n));
    let gradient = of_b.point - of_a.point;
    let separation = n.dot(gradient);
    let (u, v) = tangent_basis(n);
    let flat = |p: Vec3| [u.dot(p), v.dot(p)];
    // The Hessian of s less s times the identity: xx, xy, yy.
    let mut hessian = [-separation, 0.0, -separation];
    let mut bend = |curvature: f64, around: Vec3| {
        let [x, y] = flat(around);
        hessian[0] -= curvature * x * x;
        hessian[1] -= curvature * x * y;
        hessian[2] -= curvature * y * y;
    };
    bend(of_a.curvature, of_a.around);
    bend(of_b.curvature, of_b.around);
    let other = match (a.get(1), b.get(1)) {
        (Some(atom), _) => Some((of_a, atom.reach(n), 1.0)),
        (_, Some(atom)) => Some((of_b, atom.reach(-n), -1.0)),
        _ => None,
    };
    let slope = flat(gradient);
    let sine = other
        .map_or(1.0, |(_, second, _)| second.sine)
        .min(of_a.sine)
        .min(of_b.sine);
    let longest = LONGEST.min(TOWARDS_AXIS * sine);
    let scale = separation.abs() + of_a.curvature + of_b.curvature;
    let x = match other {
        None => limited(uphill(hessian, slope, scale), longest),
        Some((first, second, sign)) => {
            let along = second.point - first.point;
            let normal = flat(along);
            let square = normal[0] * normal[0] + normal[1] * normal[1];
            // The multiplier that the present direction asks for, and its part of the curvature.
            let nu = (slope[0] * normal[0] + slope[1] * normal[1]) / square;
            bend_back(
                &mut hessian,
                flat(first.around),
                -sign * nu * first.curvature,
            );
            bend_back(
                &mut hessian,
                flat(second.around),
                sign * nu * second.curvature,
            );
            // Onto the condition, then along it.
            let value = n.dot(along);
            let onto = limited(normal.map(|c| -c * value / square), longest);
            let length = square.sqrt();
            let way = [-normal[1] / length, normal[0] / length];
            let product = |p: [f64; 2], q: [f64; 2]| {
                hessian[0] * p[0] * q[0]
                    + hessian[1] * (p[0] * q[1] + p[1] * q[0])
                    + hessian[2] * p[1] * q[1]
            };
            let steepness = way[0] * slope[0] + way[1] * slope[1] + product(way, onto);
            let t = -steepness / downward(product(way, way), scale);
            let t = t.clamp(-longest, longest);
            [onto[0] + t * way[0], onto[1] + t * way[1]]
        }
    };
    (x[0].is_finite() && x[1].is_finite()).then(|| unit(n + u * x[0] + v * x[1]))
}

/// `x`, shortened to the length `longest`.
fn limited(x: [f64; 2], longest: f64) -> [f64; 2] {
    let length = (x[0] * x[0] + x[1] * x[1]).sqrt();
    if length > longest {
        x.map(|c| c * (longest / length))
    } else {
        x
    }
}

/// A second derivative of a maximum: where there is none, a step up the slope results; where it is next
/// to nothing, so does a step of bounded length for what is not to be gained.
fn downward(bend: f64, scale: f64) -> f64 {
    if bend < 0.0 {
        bend.min(-FLAT * scale)
    } else {
        -scale
    }
}

/// Takes `amount` times the square of `around` from a matrix.
fn bend_back(matrix: &mut [f64; 3], around: [f64; 2], amount: f64) {
    matrix[0] -= amount * around[0] * around[0];
    matrix[1] -= amount * around[0] * around[1];
    matrix[2] -= amount * around[1] * around[1];
}

/// x with M x = -g for a maximum; where M has none, up the slope.
fn uphill(m: [f64; 3], g: [f64; 2], scale: f64) -> [f64; 2] {
    let determinant = m[0] * m[2] - m[1] * m[1];
    if m[0] < 0.0 && determinant > FLAT * scale * -(m[0] + m[2]) {
        [
            (m[1] * g[1] - m[2] * g[0]) / determinant,
            (m[1] * g[0] - m[0] * g[1]) / determinant,
        ]
    } else {
        g.map(|c| c / scale)
    }
}
