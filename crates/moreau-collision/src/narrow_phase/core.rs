//! A convex solid as the hull of *atoms*: points, and discs.
//!
//! A point p reaches as far as p·n along n; a disc about c with axis y and radius r as far as
//! c·n + r |n'|, n' = n - y (y·n). The support of the hull is the greatest of its atoms'. An atom's
//! support is smooth but where n' = 0; its gradient is the atom's furthest point, its Hessian
//! r/|n'| t t' with the unit vector t = y x n'/|n'|.

use super::context::Context;
use super::feature::Feature;
use super::polytope::Polytope;
use super::revolved::Revolved;
use super::round::Round;
use crate::Shape;
use moreau_math::{Mat3, Pose, Vec3};
use smallvec::SmallVec;

/// A point, or a disc.
#[derive(Clone, Copy, Debug)]
pub(super) struct Atom {
    pub(super) center: Vec3,
    /// Unit axes of a disc; the second is its normal.
    axes: [Vec3; 3],
    /// Zero for a point.
    pub(super) radius: f64,
}

/// An atom's furthest point along n, and what the curvature of its rim is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    pub(super) point: Vec3,
    /// The Hessian of the support is `curvature` times the square of the unit vector `around`.
    pub(super) curvature: f64,
    pub(super) around: Vec3,
    /// Sine of the angle to the disc's axis: a turn by that much takes the point anywhere.
    pub(super) sine: f64,
}

impl Atom {
    fn point(center: Vec3) -> Self {
        Self {
            center,
            axes: [Vec3::ZERO; 3],
            radius: 0.0,
        }
    }

    pub(super) fn reach(&self, n: Vec3) -> Reach {
        let mut out = Reach {
            point: self.center,
            curvature: 0.0,
            around: Vec3::ZERO,
            sine: 1.0,
        };
        if self.radius > 0.0 {
            let [x, y, z] = self.axes;
            // In the plane of the disc to the last bit, however short it is.
            let across = x * x.dot(n) + z * z.dot(n);
            let length = across.length();
            if length > 0.0 {
                let outward = across / length;
                out.point += outward * self.radius;
                out.curvature = self.radius / length;
                out.sine = length / n.length();
                out.around = y.cross(outward);
            }
        }
        out
    }
}

/// A core (segment, polytope, cylinder or cone) in the working frame, and the radius around it.
pub(super) struct Core<'a> {
    pub(super) kind: Kind<'a>,
    /// m.
    pub(super) radius: f64,
}

pub(super) enum Kind<'a> {
    Segment(Round),
    Polytope(Polytope<'a>),
    Revolved(Revolved),
}

impl<'a> Core<'a> {
    /// None for shapes that have none here.
    pub(super) fn new(shape: &'a Shape, pose: &Pose, origin: Vec3) -> Option<Self> {
        let hard = |kind| Self { kind, radius: 0.0 };
        if let Some(solid) = Revolved::new(shape, pose, origin) {
            return Some(hard(Kind::Revolved(solid)));
        }
        if let Some(polytope) = Polytope::new(shape, pose, origin) {
            return Some(hard(Kind::Polytope(polytope)));
        }
        let round = Round::new(shape, pose, origin)?;
        Some(Self {
            kind: Kind::Segment(round),
            radius: round.radius,
        })
    }

    /// The ball or capsule that it is, if it is one.
    pub(super) fn as_round(&self) -> Option<&Round> {
        match &self.kind {
            Kind::Segment(round) => Some(round),
            _ => None,
        }
    }

    /// The name and the place of the point furthest along `n`, of any length.
    pub(super) fn support(&self, n: Vec3) -> (u16, Vec3) {
        match &self.kind {
            Kind::Segment(round) => {
                let end = usize::from(round.axis.dot(n) > 0.0);
                (end as u16, round.ends[end])
            }
            Kind::Polytope(polytope) => polytope.support(n),
            Kind::Revolved(_) => {
                let reached = [0, 1].map(|i| self.atom(i).reach(n).point);
                let upper = usize::from(reached[1].dot(n) > reached[0].dot(n));
                (upper as u16, reached[upper])
            }
        }
    }

    /// The atom of that name.
    pub(super) fn atom(&self, index: u16) -> Atom {
        match &self.kind {
            Kind::Segment(round) => Atom::point(round.ends[usize::from(index)]),
            Kind::Polytope(polytope) => Atom::point(polytope.vertex(index)),
            Kind::Revolved(solid) => {
                let (side, radius) = if index == 0 {
                    (-1.0, solid.radius)
                } else {
                    (1.0, solid.top_radius)
                };
                Atom {
                    center: solid.end(side),
                    axes: solid.axes,
                    radius,
                }
            }
        }
    }

    /// Calls `f` with the names of atoms that reach as far as the furthest along the unit vector `n`,
    /// less `slack` (m); of a cylinder, cone or segment with both.
    pub(super) fn names_near(&self, n: Vec3, slack: f64, mut f: impl FnMut(u16)) {
        let (first, top) = self.support(n);
        f(first);
        match &self.kind {
            Kind::Segment(_) | Kind::Revolved(_) => f(1 - first),
            Kind::Polytope(polytope) => {
                let bar = n.dot(top) - slack;
                for i in 0..polytope.vertex_count() {
                    if polytope.vertex(i).dot(n) >= bar {
                        f(i);
                    }
                }
            }
        }
    }

    /// Whether two atoms can reach equally far without more of them: ends of an edge, a disc and what
    /// it is joined to. (Three vertices make a face, whose normal is known.)
    pub(super) fn are_joined(&self, i: u16, j: u16) -> bool {
        match &self.kind {
            Kind::Segment(_) | Kind::Revolved(_) => true,
            Kind::Polytope(Polytope::Box(_)) => (i ^ j).is_power_of_two(),
            Kind::Polytope(Polytope::Hull(hull)) => {
                let ends = [u32::from(i.min(j)), u32::from(i.max(j))];
                let found = hull.edges.binary_search_by_key(&ends, |e| e.vertices);
                found.is_ok()
            }
        }
    }

    /// Outward unit normals of faces that are cheap to try: of a box, and of the ends of a cylinder or
    /// cone.
    pub(super) fn plain_normals(&self) -> SmallVec<[Vec3; 6]> {
        let both = |axis: Vec3| [axis, -axis];
        match &self.kind {
            Kind::Segment(_) | Kind::Polytope(Polytope::Hull(_)) => SmallVec::new(),
            Kind::Polytope(Polytope::Box(b)) => b.axes.into_iter().flat_map(both).collect(),
            Kind::Revolved(solid) => {
                let count = if solid.is_cone() { 1 } else { 2 };
                [-solid.axes[1], solid.axes[1]]
                    .into_iter()
                    .take(count)
                    .collect()
            }
        }
    }

    /// Calls `f` with the outward normals of a hull's faces within about 10 degrees of `n`.
    pub(super) fn face_normals_near(&self, n: Vec3, mut f: impl FnMut(Vec3)) {
        if let Kind::Polytope(Polytope::Hull(hull)) = &self.kind {
            let local = hull.local_vector(n);
            for face in hull.faces {
                if face.normal.dot(local) > 0.985 {
                    f(hull.rotation * face.normal);
                }
            }
        }
    }

    /// Its own axes.
    pub(super) fn axes(&self) -> [Vec3; 3] {
        match &self.kind {
            Kind::Segment(round) => {
                let (u, v) = moreau_math::tangent_basis(round.axis);
                [v, round.axis, u]
            }
            Kind::Polytope(Polytope::Box(b)) => b.axes,
            Kind::Polytope(Polytope::Hull(hull)) => {
                let Mat3 {
                    x_axis,
                    y_axis,
                    z_axis,
                } = hull.rotation;
                [x_axis, y_axis, z_axis]
            }
            Kind::Revolved(solid) => solid.axes,
        }
    }

    /// How much the normal of a round solid's side rises along the axis, the second of
    /// [`axes`](Self::axes), for each metre outward; none for others.
    pub(super) fn side_rise(&self) -> Option<f64> {
        match &self.kind {
            Kind::Segment(_) => Some(0.0),
            Kind::Polytope(_) => None,
            Kind::Revolved(solid) => {
                Some((solid.radius - solid.top_radius) / (2.0 * solid.half_height))
            }
        }
    }

    /// A point well inside.
    pub(super) fn middle(&self) -> Vec3 {
        match &self.kind {
            Kind::Segment(round) => (round.ends[0] + round.ends[1]) * 0.5,
            Kind::Polytope(Polytope::Box(b)) => b.center,
            Kind::Polytope(Polytope::Hull(hull)) => {
                let count = hull.vertices.len() as f64;
                hull.placed(hull.vertices.iter().fold(Vec3::ZERO, |s, &v| s + v / count))
            }
            Kind::Revolved(solid) => solid.center,
        }
    }

    /// A length of the order of its least dimension, m.
    pub(super) fn thickness(&self) -> f64 {
        match &self.kind {
            Kind::Segment(_) => self.radius,
            Kind::Polytope(Polytope::Box(b)) => b.half[0].min(b.half[1]).min(b.half[2]),
            // A triangle is flat: what counts is how thin it is in its plane.
            Kind::Polytope(Polytope::Hull(hull)) if hull.faces.len() == 1 => {
                let [a, b, c] = [hull.vertices[0], hull.vertices[1], hull.vertices[2]];
                let longest = [b - a, c - b, a - c].map(|side| side.length());
                let longest = longest.into_iter().fold(0.0, f64::max);
                (b - a).cross(c - a).length() / longest
            }
            Kind::Polytope(Polytope::Hull(hull)) => {
                let count = hull.vertices.len() as f64;
                let middle = hull.vertices.iter().fold(Vec3::ZERO, |s, &v| s + v) / count;
                let depth = hull.faces.iter().map(|f| -f.distance(middle));
                depth.fold(f64::INFINITY, f64::min)
            }
            Kind::Revolved(solid) => solid.half_height.min(solid.radius),
        }
    }

    /// How far a line down its side may be missed across the normal and still be met, over
    /// [`Context::alongside`], m.
    pub(super) fn roundness(&self) -> f64 {
        match &self.kind {
            Kind::Segment(_) => self.radius,
            Kind::Polytope(_) => 0.0,
            Kind::Revolved(solid) => solid.radius,
        }
    }

    /// What faces along the unit vector `n`.
    pub(super) fn feature(&self, n: Vec3, context: &Context<'_>) -> Feature {
        match &self.kind {
            Kind::Segment(round) => round.feature(n),
            Kind::Polytope(polytope) => polytope.feature(n, context),
            Kind::Revolved(solid) => solid.feature(n, context.tie),
        }
    }

    /// All points furthest along the unit vector `n`, to `tie`.
    pub(super) fn furthest(&self, n: Vec3, context: &Context<'_>) -> Feature {
        if let Kind::Revolved(solid) = &self.kind {
            return solid.furthest(n, context.tie);
        }
        let feature = self.feature(n, context);
        let top = self.support(n).1.dot(n);
        let reached: SmallVec<[usize; 8]> = (0..feature.points.len())
            .filter(|&i| feature.points[i].dot(n) >= top - context.tie)
            .collect();
        let named = |i: usize| (feature.points[i], feature.vertices[i]);
        match *reached.as_slice() {
            [i] => Feature::point(named(i).0, named(i).1),
            [i, j] => {
                let ((p, vp), (q, vq)) = (named(i), named(j));
                Feature::segment([p, q], [vp, vq], 0)
            }
            _ => feature,
        }
    }
}
