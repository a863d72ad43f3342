//! The direction that separates two convex solids best, whatever they are made of.
//!
//! Along the unit vector n from A to B they are apart by
//!
//! ```text
//! s(n) = - h_B(-n) - h_A(n)           h: how far a core reaches along n
//! ```
//!
//! The greatest s is the distance of cores that are apart; of overlapping ones, minus the least
//! translation that separates them. It is minus the least reach of the set A - B, and is found from
//! coarse to exact:
//!
//! 1. `gjk` where the cores are clearly apart: s has then a single maximum, and its direction is near;
//! 2. else a polytope inside of A - B (widened by a ball, so that it holds the origin) is expanded
//!    along the normal of its face nearest to the origin (Expanding Polytope Algorithm, van den Bergen
//!    2001). What the nearest face is away bounds every s from above: it tells when the best direction
//!    known cannot be beaten, so the maximum is the global one;
//! 3. directions near the maximum are made exact by `refine`.
//!
//! None of this is needed where a flat face of the one holds the point of the other that is furthest
//! against it: `is_settled` tells at once that its normal is the best.
//!
//! A corner is added to the polytope only where what it sees has one loop of edges around it, and all new
//! faces have a direction and the inside behind them; so the polytope stays whole, whatever rounding
//! does. Where that leads no further the face is refined as it is. Every direction is judged by the
//! cores' own supports, so what is returned always separates them by as much as is said; where no bound
//! proves that none does better, some directions fixed to the cores are refined, too.
//!
//! Where one round solid is deep in another along almost the same axis, A - B is about as near all
//! around, and a polytope of a bounded number of corners proves nothing. There the `ring` of directions
//! out of the sides is looked through.

use super::context::{Context, unit};
use super::core::Core;
use super::gjk::{self, Difference};
use super::polytope::Axis;
use super::refine;
use moreau_math::{Vec3, libm, tangent_basis};
use smallvec::SmallVec;

/// Distance of the cores, relative to the thinner one, from which on the nearest points give the
/// direction.
const CLEARLY_APART: f64 = 1e-4;

/// Relative precision of a distance that is only looked at for whether there is one.
const MEETING: f64 = 1e-3;

/// Thickness, relative to the sizes, below which a core is a hair.
const HAIR: f64 = 1e-8;

/// Radius of the ball, relative to the thinner core.
const WIDENED: f64 = 1e-3;

/// How fine, relative to the thinner core: a face is refined where the set reaches no further beyond it,
/// and the nearest points are known to its square. The next where what results is no maximum.
pub(super) const FINENESS: [f64; 3] = [1e-3, 1e-6, 1e-9];

/// Rounding of a separation, relative to the sizes.
const COMPUTED: f64 = 1e-14;

/// Corners of the polytope at most.
const MAX_CORNERS: usize = 160;

/// Tangent of the angle between the guess and the directions that the first corners are looked for in.
const TILT: f64 = 0.05;

/// Height of a tetrahedron, relative to its edges, that is none.
const FLAT: f64 = 1e-12;

/// Cosine of the angle between starts from which refinement leads to the same.
const SAME_START: f64 = 0.999;

/// How many of the nearest faces are refined when there are that many.
const MAX_LEFT: usize = 8;

/// Two cores, and the best direction so far.
pub(super) struct Search<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) a: &'a Core<'a>,
    pub(super) b: &'a Core<'a>,
    best: Option<Axis>,
}

impl Search<'_> {
    /// s(n) with the atoms that make it.
    pub(super) fn separation(&self, n: Vec3) -> (f64, [u16; 2]) {
        let ((ia, pa), (ib, pb)) = (self.a.support(n), self.b.support(-n));
        (n.dot(pb - pa), [ia, ib])
    }

    /// Keeps the normal of a face where it separates better, or as well and is to be preferred.
    pub(super) fn offer_face(&mut self, n: Vec3) {
        self.offer(n, self.context.tie, true);
    }

    /// Keeps a direction that was made exact where it separates better beyond the rounding of what is
    /// computed, which is far below that of the inputs: of what is near a maximum only that will do.
    pub(super) fn offer_refined(&mut self, n: Vec3) {
        self.offer(n, COMPUTED * self.context.size, false);
    }

    fn offer(&mut self, n: Vec3, tie: f64, may_prefer: bool) {
        let (separation, _) = self.separation(n);
        let better = self.best.is_none_or(|held| {
            let gain = separation - held.separation;
            gain > tie || (may_prefer && gain >= -tie && self.context.prefers(n, held.normal))
        });
        if better {
            self.best = Some(Axis {
                normal: n,
                separation,
            });
        }
    }

    fn best_separation(&self) -> f64 {
        self.best.map_or(f64::NEG_INFINITY, |axis| axis.separation)
    }
}

/// Whether two cores surely meet; `guess` is a unit direction from the one to the other.
pub(super) fn meet(context: &Context<'_>, guess: Vec3, [a, b]: [&Core<'_>; 2]) -> bool {
    let difference = |n: Vec3| Difference::new(a.support(n), b.support(-n));
    let near = gjk::nearest_by(guess, difference, |length| {
        MEETING * length.max(context.touch)
    });
    near.distance <= context.touch
}

/// The axis of greatest separation of the two cores; None where that exceeds `limit` (m). `fine` is one
/// of [`FINENESS`].
pub(super) fn separating_axis<'a>(
    context: &'a Context<'a>,
    [a, b]: [&'a Core<'a>; 2],
    limit: f64,
    fine: f64,
) -> Option<Axis> {
    let mut search = Search {
        context,
        a,
        b,
        best: None,
    };
    for n in a.plain_normals() {
        search.offer_face(n);
    }
    for n in b.plain_normals() {
        search.offer_face(-n);
    }
    if search.best_separation() > limit {
        return None;
    }
    if let Some(axis) = search.best
        && is_settled(&search, axis)
    {
        let normal = unit(axis.normal);
        return Some(Axis { normal, ..axis });
    }
    // A hair is looked at as if it were thicker: lengths of its own are lost in the rounding.
    let thickness = (a.thickness().min(b.thickness())).max(HAIR * context.size);
    let guess = search.best.map_or(a.axes()[0], |axis| axis.normal);
    let difference = |n: Vec3| Difference::new(a.support(n), b.support(-n));
    // Coarse, as it is refined.
    let near = gjk::nearest_by(guess, difference, |length| {
        fine * fine * length.max(CLEARLY_APART * thickness)
    });
    if near.distance > CLEARLY_APART * thickness {
        let atoms: SmallVec<[[u16; 2]; 4]> = near.simplex.iter().map(|d| d.vertices).collect();
        if search.separation(near.normal).0 > limit {
            return None;
        }
        refine::refine(&mut search, near.normal, &atoms, 0.0);
    } else if !expand(&mut search, thickness, fine * thickness) {
        ring(&mut search, fine * thickness);
    }
    let axis = search.best?;
    let normal = unit(axis.normal);
    (axis.separation <= limit).then_some(Axis { normal, ..axis })
}

/// Whether the normal n of a flat face is surely the best direction.
///
/// The face holds the point of the other core that is furthest against it, at the distance rho from its
/// border. Apart, that is the shortest distance. With the depth d = -s(n), A - B holds a disc of the
/// radius rho across n at the distance d from the origin, so along a direction at the angle phi to n it
/// reaches d cos phi + rho sin phi or more: d or more up to tan(phi/2) = rho/d = 1/t. Beyond, the point
/// furthest against n, H behind the origin and L aside, reaches H cos psi - L sin psi for the angle psi
/// to -n, where that is least at tan(psi/2) = t.
fn is_settled(search: &Search<'_>, axis: Axis) -> bool {
    let n = axis.normal;
    let context = search.context;
    let (of_a, of_b) = (search.a.feature(n, context), search.b.feature(-n, context));
    let (face, touching) = if of_a.is_face() && of_a.normal == n {
        (of_a, search.b.furthest(-n, context))
    } else if of_b.is_face() && of_b.normal == -n {
        (of_b, search.a.furthest(n, context))
    } else {
        return false;
    };
    let count = touching.points.len() as f64;
    let middle = (touching.points.iter()).fold(Vec3::ZERO, |sum, &p| sum + p / count);
    let rho = face.inset(middle);
    let depth = -axis.separation;
    if depth <= -context.tie {
        return rho >= 0.0;
    }
    let depth = depth.max(0.0) + context.tie;
    // Written so that what is no number is not settled.
    if !(rho > depth) {
        return false;
    }
    let (near, far) = (search.a.support(-n).1, search.b.support(n).1);
    let behind = far - near;
    let height = behind.dot(n);
    let aside = (behind - n * height).length();
    let t = depth / rho;
    height * (1.0 - t * t) - 2.0 * aside * t > depth * (1.0 + t * t)
}

/// A point of A - B on its surface.
#[derive(Clone, Copy)]
struct Corner {
    place: Vec3,
    atoms: [u16; 2],
}

/// A triangle of the polytope.
struct Face {
    corners: [usize; 3],
    /// Unit, outward.
    normal: Vec3,
    /// Of its plane from the origin, along the normal, m.
    distance: f64,
    /// Whether nothing more is to be found there.
    closed: bool,
}

struct Expansion {
    corners: Vec<Corner>,
    faces: Vec<Face>,
    /// A point inside.
    inside: Vec3,
}

impl Expansion {
    /// A tetrahedron whose first face lies about the direction `n`: what is flat there is found at
    /// once; `aside` is any direction across it. None where it comes out flat itself.
    fn about(n: Vec3, aside: Vec3, corner: impl Fn(Vec3) -> Corner) -> Option<Self> {
        let u = unit(n.cross(aside));
        let v = n.cross(u);
        let half = 0.5 * 3f64.sqrt();
        let tilted = [u, v * half - u * 0.5, v * -half - u * 0.5];
        let [p, q, r] = tilted.map(|t| corner(unit(n + t * TILT)));
        Self::of_corners([p, q, r, corner(-n)])
    }

    /// Any tetrahedron; the ball around every point of the set keeps it from being flat.
    fn start(first: Vec3, corner: impl Fn(Vec3) -> Corner) -> Self {
        // Of both ends of the set along a direction, the one further from `from`.
        let further = |n: Vec3, from: Vec3| {
            let (p, q) = (corner(n), corner(-n));
            let offset = |c: &Corner| n.dot(c.place - from).abs();
            if offset(&p) >= offset(&q) { p } else { q }
        };
        let (p, q) = (corner(first), corner(-first));
        let line = unit(q.place - p.place);
        let r = further(unit(tangent_basis(line).0), p.place);
        let across = unit(line.cross(unit(r.place - p.place)));
        let apex = further(across, p.place);
        Self::of_corners([p, q, r, apex]).unwrap_or_else(|| Self {
            corners: Vec::new(),
            faces: Vec::new(),
            inside: Vec3::ZERO,
        })
    }

    fn of_corners(corners: [Corner; 4]) -> Option<Self> {
        let [p, q, r, apex] = corners.map(|c| c.place);
        let area = (q - p).cross(r - p);
        let volume = area.dot(apex - p);
        let size = (q - p)
            .length()
            .max((r - p).length())
            .max((apex - p).length());
        if !(volume.abs() > FLAT * area.length() * size) {
            return None;
        }
        let mut out = Self {
            corners: corners.to_vec(),
            faces: Vec::with_capacity(64),
            inside: (p + q + r + apex) * 0.25,
        };
        for [i, j, k] in [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]] {
            let face = out.face(if volume > 0.0 { [i, j, k] } else { [i, k, j] })?;
            out.faces.push(face);
        }
        Some(out)
    }

    /// None for a triangle without a direction, or without the inside behind it.
    fn face(&self, corners: [usize; 3]) -> Option<Face> {
        let [p, q, r] = corners.map(|i| self.corners[i].place);
        let cross = (q - p).cross(r - p);
        let scale = cross.abs().max_element();
        if !(scale > 0.0 && scale.is_finite()) {
            return None;
        }
        let normal = unit(cross / scale);
        let distance = normal.dot(p).min(normal.dot(q)).min(normal.dot(r));
        (normal.dot(self.inside) < distance).then_some(Face {
            corners,
            normal,
            distance,
            closed: false,
        })
    }

    /// Index of the nearest face that is not closed.
    fn nearest(&self) -> Option<usize> {
        let mut best: Option<usize> = None;
        for (i, face) in self.faces.iter().enumerate() {
            let nearer = best.is_none_or(|b| face.distance < self.faces[b].distance);
            if !face.closed && nearer {
                best = Some(i);
            }
        }
        best
    }

    /// Puts a corner outside of some faces in their place; false, and nothing changes, where rounding
    /// would tear the polytope.
    fn grow(&mut self, corner: Corner, tolerance: f64) -> bool {
        let seen = |f: &Face| f.normal.dot(corner.place) > f.distance + tolerance;
        let mut edges: SmallVec<[[usize; 2]; 24]> = SmallVec::new();
        for face in self.faces.iter().filter(|f| seen(f)) {
            let [i, j, k] = face.corners;
            for edge in [[i, j], [j, k], [k, i]] {
                // An edge between two faces that go goes with them.
                match edges.iter().position(|e| *e == [edge[1], edge[0]]) {
                    Some(at) => {
                        edges.swap_remove(at);
                    }
                    None => edges.push(edge),
                }
            }
        }
        if !is_loop(&edges) {
            return false;
        }
        let apex = self.corners.len();
        self.corners.push(corner);
        let mut added: SmallVec<[Face; 24]> = SmallVec::new();
        added.extend(edges.iter().map_while(|&[i, j]| self.face([i, j, apex])));
        if added.len() < edges.len() {
            self.corners.pop();
            return false;
        }
        self.faces.retain(|f| !seen(f));
        self.faces.extend(added);
        true
    }
}

/// Whether edges make one loop, of three or more.
fn is_loop(edges: &[[usize; 2]]) -> bool {
    let Some(&[start, mut at]) = edges.first() else {
        return false;
    };
    let mut count = 1;
    while at != start && count <= edges.len() {
        let mut next = edges.iter().filter(|edge| edge[0] == at);
        match (next.next(), next.next()) {
            (Some(edge), None) => at = edge[1],
            _ => return false,
        }
        count += 1;
    }
    count == edges.len() && count >= 3
}

/// Step 2. `fine` in m. Whether no direction separates better than the best found, surely.
fn expand(search: &mut Search<'_>, thickness: f64, fine: f64) -> bool {
    let radius = WIDENED * thickness;
    let corner = |search: &Search<'_>, n: Vec3| {
        let ((ia, pa), (ib, pb)) = (search.a.support(n), search.b.support(-n));
        Corner {
            place: (pa - pb) + n * radius,
            atoms: [ia, ib],
        }
    };
    let guess = search.best.map_or(search.a.axes()[0], |axis| axis.normal);
    // Not the world's axes: what is chosen moves with the shapes.
    let [x, y, _] = search.a.axes();
    let aside = if guess.dot(x).abs() < 0.8 { x } else { y };
    let mut polytope = Expansion::about(guess, aside, |n| corner(search, n))
        .unwrap_or_else(|| Expansion::start(guess, |n| corner(search, n)));
    let size = (polytope.corners.iter()).fold(radius, |m, c| m.max(c.place.abs().max_element()));
    let tolerance = 1e-14 * size;
    let mut refined: Vec<(Vec3, SmallVec<[[u16; 2]; 4]>)> = Vec::new();
    let mut left = MAX_LEFT;
    while let Some(nearest) = polytope.nearest() {
        let face = &polytope.faces[nearest];
        // Nowhere do the cores separate better than this.
        let bound = radius - face.distance;
        if bound <= search.best_separation() + search.context.tie {
            return true;
        }
        let (normal, distance) = (face.normal, face.distance);
        let next = corner(search, normal);
        let beyond = normal.dot(next.place) - distance;
        let last = polytope.corners.len() >= MAX_CORNERS;
        if beyond <= fine || last || !polytope.grow(next, tolerance) {
            let face = &polytope.faces[nearest];
            let mut atoms: SmallVec<[[u16; 2]; 4]> = SmallVec::new();
            for at in face.corners.map(|i| polytope.corners[i].atoms) {
                if !atoms.contains(&at) {
                    atoms.push(at);
                }
            }
            if !atoms.contains(&next.atoms) {
                atoms.push(next.atoms);
            }
            // From where it starts hardly matters.
            let known = (refined.iter()).any(|(n, held)| {
                n.dot(normal) > SAME_START && atoms.iter().all(|at| held.contains(at))
            });
            if !known {
                refine::refine(search, normal, &atoms, fine);
                refined.push((normal, atoms));
            }
            left -= usize::from(last);
            if left == 0 {
                return false;
            }
            polytope.faces[nearest].closed = true;
        }
    }
    false
}

/// Directions out of the sides of round solids that are tried.
const SPOKES: usize = 32;

/// The best of so many directions are refined.
const STARTS: usize = 3;

/// Looks for a better direction than the best known all around the axes, along them, and from one core to
/// the other.
fn ring(search: &mut Search<'_>, fine: f64) {
    let way = search.b.middle() - search.a.middle();
    let mut spokes = Vec::with_capacity(2 * (SPOKES + 2));
    for (core, sign) in [(search.a, 1.0), (search.b, -1.0)] {
        let Some(rise) = core.side_rise() else {
            continue;
        };
        let [u, axis, v] = core.axes();
        let around = (0..SPOKES).map(|i| {
            let angle = std::f64::consts::TAU / SPOKES as f64 * i as f64;
            u * libm::cos(angle) + v * libm::sin(angle)
        });
        let across = unit_or_zero(way - axis * axis.dot(way));
        for outward in around.chain([across, -across]) {
            if outward != Vec3::ZERO {
                let n = unit(outward + axis * rise) * sign;
                spokes.push((search.separation(n).0, n));
            }
        }
    }
    let along = [search.a, search.b].map(|core| core.axes());
    let toward = unit_or_zero(way);
    for n in along.into_iter().flatten().chain([toward]) {
        if n != Vec3::ZERO {
            spokes.extend([n, -n].map(|n| (search.separation(n).0, n)));
        }
    }
    // Stable, so that of equals the first are taken.
    spokes.sort_by(|p, q| q.0.total_cmp(&p.0));
    for (_, n) in spokes.into_iter().take(STARTS) {
        let (_, atoms) = search.separation(n);
        refine::refine(search, n, &[atoms], fine);
        search.offer_refined(n);
    }
}

/// The direction of `v`; zero where it has none.
fn unit_or_zero(v: Vec3) -> Vec3 {
    let scale = v.abs().max_element();
    if scale > 0.0 {
        unit(v / scale)
    } else {
        Vec3::ZERO
    }
}
