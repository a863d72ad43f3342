use crate::{ConvexHull, Manifold, Shape};
use moreau_math::{Pose, Vec3, vec3};
use std::cmp::Ordering;

/// A direction in general position, about a unit vector: ties between directions, points and faces
/// are broken by their components along it in a shape's own frame. Its components have no simple
/// ratios, so scenes built on grids are not symmetric about it.
pub(super) const GENERIC: Vec3 = vec3(0.415_827, 0.846_731, 0.331_949);

/// One of the two shapes.
pub(super) struct Operand<'a> {
    pub(super) shape: &'a Shape,
    pub(super) pose: &'a Pose,
    /// Centre of the bounding sphere, world frame, m.
    pub(super) center: Vec3,
    /// Radius of the bounding sphere, m; zero for half-spaces.
    pub(super) radius: f64,
}

impl<'a> Operand<'a> {
    pub(super) fn new(shape: &'a Shape, pose: &'a Pose) -> Self {
        let (center, radius) = match shape {
            Shape::Sphere { radius } => (pose.translation, *radius),
            Shape::Cuboid { half_extents } => (pose.translation, half_extents.length()),
            Shape::Capsule {
                half_height,
                radius,
            } => (pose.translation, half_height + radius),
            Shape::Cylinder { .. } | Shape::Cone { .. } => {
                (pose.translation, shape.bounding_radius())
            }
            Shape::HalfSpace { .. } => (pose.translation, 0.0),
            Shape::Hull(hull) => hull_sphere(hull, pose),
            Shape::Mesh(_) | Shape::Heightfield(_) | Shape::Compound(_) => {
                (pose.translation, shape.bounding_radius())
            }
        };
        Self {
            shape,
            pose,
            center,
            radius,
        }
    }

    /// Kinds in the order in which the pair functions take them.
    fn rank(&self) -> u8 {
        match self.shape {
            Shape::HalfSpace { .. } => 0,
            Shape::Cuboid { .. } => 1,
            Shape::Hull(_) => 2,
            Shape::Cylinder { .. } => 3,
            Shape::Cone { .. } => 4,
            Shape::Capsule { .. } => 5,
            Shape::Sphere { .. } => 6,
            // Compounds are taken apart before they get here.
            Shape::Mesh(_) | Shape::Heightfield(_) | Shape::Compound(_) => 7,
        }
    }

    /// All that tells two operands of a kind apart.
    fn numbers(&self) -> impl Iterator<Item = f64> {
        let (p, r) = (self.center, self.pose.rotation);
        let (size, vertices) = match self.shape {
            Shape::Cuboid { half_extents } => (*half_extents, [].as_slice()),
            Shape::Capsule {
                half_height,
                radius,
            }
            | Shape::Cylinder {
                half_height,
                radius,
            }
            | Shape::Cone {
                half_height,
                radius,
            } => (vec3(*half_height, *radius, 0.0), [].as_slice()),
            Shape::Hull(hull) => (Vec3::ZERO, hull.vertices()),
            Shape::Mesh(mesh) => (Vec3::ZERO, mesh.vertices()),
            Shape::Heightfield(field) => (Vec3::ZERO, field.vertices()),
            _ => (Vec3::ZERO, [].as_slice()),
        };
        [p.x, p.y, p.z, r.x, r.y, r.z, r.w, size.x, size.y, size.z]
            .into_iter()
            .chain(vertices.iter().flat_map(|v| v.to_array()))
    }

    /// A direction fixed to the shape that no symmetry of the shape leaves in place; zero for shapes
    /// whose rotation cannot be seen.
    fn generic_direction(&self) -> Vec3 {
        match self.shape {
            Shape::Sphere { .. }
            | Shape::HalfSpace { .. }
            | Shape::Mesh(_)
            | Shape::Heightfield(_)
            | Shape::Compound(_) => Vec3::ZERO,
            Shape::Capsule { .. } => self.pose.rotation * Vec3::Y,
            Shape::Cuboid { .. } | Shape::Hull(_) | Shape::Cylinder { .. } | Shape::Cone { .. } => {
                self.pose.rotation * GENERIC
            }
        }
    }
}

/// Lengths (m) with which contacts are computed. Beyond, products of lengths overflow or vanish.
const LEAST: f64 = 1e-50;
const MOST: f64 = 1e50;

/// Whether contacts of the shape at the pose can be computed: its dimensions and coordinates are
/// lengths between `LEAST` and `MOST`. A dimension may also be zero.
pub(super) fn is_usable(shape: &Shape, pose: &Pose) -> bool {
    let is_length = |x: f64| x == 0.0 || (LEAST..=MOST).contains(&x);
    let has_lengths = match *shape {
        Shape::Sphere { radius } => is_length(radius),
        Shape::Cuboid { half_extents: h } => is_length(h.x) && is_length(h.y) && is_length(h.z),
        Shape::Capsule {
            half_height,
            radius,
        }
        | Shape::Cylinder {
            half_height,
            radius,
        }
        | Shape::Cone {
            half_height,
            radius,
        } => is_length(half_height) && is_length(radius),
        Shape::HalfSpace { normal } => is_length(normal.length()) && normal != Vec3::ZERO,
        Shape::Hull(_) | Shape::Mesh(_) | Shape::Heightfield(_) | Shape::Compound(_) => {
            is_length(shape.bounding_radius())
        }
    };
    let reach = pose.translation.abs();
    has_lengths
        && reach.x <= MOST
        && reach.y <= MOST
        && reach.z <= MOST
        && pose.rotation.is_finite()
}

/// The sphere about the centroid of a hull that surely holds it.
fn hull_sphere(hull: &ConvexHull, pose: &Pose) -> (Vec3, f64) {
    (pose.transform_point(hull.center()), hull.enclosing_radius())
}

/// Whether `b` comes before `a` in the order of the pair functions.
///
/// Kinds first, then sizes, then positions along a generic direction: equal shapes in a stack keep
/// their order while they shake. The rest tells apart what lies in one place.
pub(super) fn is_reversed(a: &Operand<'_>, b: &Operand<'_>) -> bool {
    let order = (a.rank().cmp(&b.rank()))
        .then_with(|| order_of_spheres((a.center, a.radius), (b.center, b.radius)))
        .then_with(|| {
            let differing = a.numbers().zip(b.numbers()).find(|(x, y)| x != y);
            differing.map_or(Ordering::Equal, |(x, y)| x.total_cmp(&y))
        });
    order == Ordering::Greater
}

/// The part of [`is_reversed`] that bounding spheres (centre and radius, m) tell of two of a kind.
pub(super) fn order_of_spheres(a: (Vec3, f64), b: (Vec3, f64)) -> Ordering {
    let along = GENERIC.dot(b.0 - a.0);
    (b.1.total_cmp(&a.1)).then(0.0_f64.total_cmp(&(along + 0.0)))
}

/// `v` at length 1 to the last bits; `v` must not be zero.
pub(super) fn unit(v: Vec3) -> Vec3 {
    // The second division takes out what the rounding of the first length left.
    let once = v / v.length();
    once / once.length()
}

/// What every pair function needs besides the two shapes.
pub(super) struct Context<'m> {
    /// Origin of the working frame, world frame, m.
    pub(super) origin: Vec3,
    /// Points up to this separation are reported, m: the prediction distance and `touch`.
    pub(super) limit: f64,
    /// Sum of the radii of the bounding spheres, m.
    pub(super) size: f64,
    /// Separations closer than this to zero are touching, m: rounding of the inputs.
    pub(super) touch: f64,
    /// Depths closer than this to each other are equal, m.
    pub(super) tie: f64,
    /// Part of the radii of round shapes by which their lines may miss each other across the normal
    /// and still count as lying along each other; [`ALONGSIDE`], or zero for the closest points.
    pub(super) alongside: f64,
    /// A direction fixed to the pair that decides where two choices are equal. Zero where both
    /// shapes are balls.
    pub(super) generic: Vec3,
    /// Points at which corners are kept before others, world frame, m.
    pub(super) held: &'m [Vec3],
    pub(super) manifold: &'m mut Manifold,
}

/// Capsules and cylinders that lie side by side touch at two points, although they are never quite
/// parallel.
pub(super) const ALONGSIDE: f64 = 0.02;

/// Rounding of lengths computed from the shapes' sizes, relative; many operations deep.
const SIZE_ROUNDING: f64 = 1e-12;

/// Rounding of the poses' coordinates, relative; a coordinate is the result of some operations.
const COORDINATE_ROUNDING: f64 = 8.0 * f64::EPSILON;

/// What the bounding spheres of two shapes tell.
pub(super) struct Bounds {
    /// Sum of the radii, m.
    size: f64,
    touch: f64,
    pub(super) limit: f64,
    /// Whether they come as near as `limit`.
    pub(super) meet: bool,
}

impl Bounds {
    /// Of spheres of centres and radii, m.
    pub(super) fn new(a: (Vec3, f64), b: (Vec3, f64), prediction: f64) -> Self {
        let size = a.1 + b.1;
        let largest = (a.0.abs().max(b.0.abs())).max_element();
        let touch = SIZE_ROUNDING * size + COORDINATE_ROUNDING * largest;
        let limit = prediction + touch;
        let apart = (b.0 - a.0).length_squared();
        let reach = size + limit + touch;
        // Written so that infinities and NaN of overflowing differences end here, too.
        let meet = apart <= reach * reach;
        Self {
            size,
            touch,
            limit,
            meet,
        }
    }

    /// Length below which the difference of two points is nothing but rounding, m.
    pub(super) fn lost(&self) -> f64 {
        lost(self.touch)
    }
}

/// Length below which the difference of two points is nothing but rounding, m.
pub(super) fn lost(touch: f64) -> f64 {
    1e-3 * touch
}

impl<'m> Context<'m> {
    /// None where the pair cannot touch: bounding spheres too far apart, or a shape or pose that is not
    /// usable.
    pub(super) fn new(
        first: &Operand<'_>,
        second: &Operand<'_>,
        prediction: f64,
        manifold: &'m mut Manifold,
    ) -> Option<Self> {
        let spheres = ((first.center, first.radius), (second.center, second.radius));
        let bounds = Bounds::new(spheres.0, spheres.1, prediction);
        let bounded = !matches!(first.shape, Shape::HalfSpace { .. });
        if bounded && !bounds.meet {
            return None;
        }
        let Bounds {
            size, touch, limit, ..
        } = bounds;
        if !(is_usable(first.shape, first.pose) && is_usable(second.shape, second.pose)) {
            return None;
        }
        let smaller = if bounded && first.radius < second.radius {
            first
        } else {
            second
        };
        Some(Self {
            origin: smaller.center,
            limit,
            size,
            touch,
            tie: 10.0 * touch,
            alongside: ALONGSIDE,
            generic: first.generic_direction() + second.generic_direction(),
            held: &[],
            manifold,
        })
    }

    /// For shapes in a working frame of the caller's: `radius` of the smaller one, `largest` coordinate
    /// (m) of any frame. Nothing is written to the manifold.
    pub(super) fn in_own_frame(
        radius: f64,
        largest: f64,
        prediction: f64,
        manifold: &'m mut Manifold,
    ) -> Self {
        let size = 2.0 * radius;
        let touch = SIZE_ROUNDING * size + COORDINATE_ROUNDING * largest;
        Self {
            origin: Vec3::ZERO,
            limit: prediction + touch,
            size,
            touch,
            tie: 10.0 * touch,
            alongside: ALONGSIDE,
            generic: Vec3::ZERO,
            held: &[],
            manifold,
        }
    }

    /// Of two candidates for the normal that are equally deep: whether `candidate` is to be preferred.
    ///
    /// The line of the normal decides, then its sign.
    pub(super) fn prefers(&self, candidate: Vec3, over: Vec3) -> bool {
        const SAME: f64 = 1e-9;
        let c = self.generic.dot(candidate);
        let o = self.generic.dot(over);
        let gain = c.abs() - o.abs();
        gain > SAME || (gain >= -SAME && c > o + SAME)
    }
}
