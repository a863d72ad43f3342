//! Where friction acts on bodies that overlap.
//!
//! ```text
//! r_a' = r_a + phi/2 n,   r_b' = r_b - phi/2 n      (phi < 0, or hardly more)
//! ```
//!
//! The contact points of an overlap phi lie |phi| apart. The normal's impulse has the same lever at
//! both, friction's has not: applied at the two points it changes the angular momentum by phi n × l_t, and
//! bodies that stick and turn as one with w slip at w × n phi, at each point by another amount, which
//! no velocities can bring to rest. At the point half-way both are right to rounding, and the normal's rows
//! stay as they are.
//!
//! Round surfaces keep their own points: there the lever is the radius that a body rolls on.

use crate::WorldSettings;
use moreau_collision::Shape;
use moreau_math::Vec3;

/// Whether all of the surface is made of plane faces.
pub(crate) fn is_faceted(shape: &Shape) -> bool {
    match shape {
        Shape::Cuboid { .. }
        | Shape::Hull(_)
        | Shape::HalfSpace { .. }
        | Shape::Mesh(_)
        | Shape::Heightfield(_) => true,
        Shape::Sphere { .. }
        | Shape::Capsule { .. }
        | Shape::Cylinder { .. }
        | Shape::Cone { .. } => false,
        Shape::Compound(compound) => compound.children().iter().all(|c| is_faceted(&c.shape)),
    }
}

/// What A's lever arm gains along the normal, and B's loses, m. A gap counts up to the slop: what lies still
/// has gaps among its overlaps. A larger one is closed before anything acts, and then both points are one.
pub(crate) fn shift(settings: &WorldSettings, normal: Vec3, separation: f64) -> Vec3 {
    let most = settings.position_correction.slop;
    normal * (0.5 * separation.min(most))
}
