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
//! Where one of the two is round, that counts for pairs that both move, and for overlaps alone: bodies that just
//! touch, or meet within the step, keep their own points, and so does what rolls on the ground, whose lever is the
//! radius that it rolls on. Points of round edges that are nearly parallel also lie aside of each other, by up to
//! 5 % of the size, which turns both by the normal's impulse, too: beyond the slop, half-way is between the two.

use crate::WorldSettings;
use crate::activity::Marks;
use crate::contact::Contact;
use moreau_collision::Shape;
use moreau_math::Vec3;

/// Which point a pair acts on each other at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum FrictionPoint {
    /// Each body's own.
    #[default]
    Own,
    /// The one half-way, where they overlap. From A's centre to B's, m.
    OfOverlap(Vec3),
    /// The one half-way along the normal, of gaps up to the slop as well.
    Common,
}

impl FrictionPoint {
    /// Of a pair of bodies, `apart` (m) from A's centre to B's.
    pub(crate) fn of([a, b]: [Marks; 2], apart: impl FnOnce() -> Vec3) -> Self {
        if a.is_faceted() && b.is_faceted() {
            Self::Common
        } else if a.moves() && b.moves() {
            Self::OfOverlap(apart())
        } else {
            Self::Own
        }
    }

    /// What A's lever arm gains, and B's loses, m.
    pub(crate) fn shift(self, settings: &WorldSettings, p: &Contact) -> Vec3 {
        let slop = settings.position_correction.slop;
        let (normal, depth) = (p.normal, -p.separation);
        match self {
            Self::OfOverlap(apart) if depth > 0.0 => {
                // What lies aside comes in beyond the slop, little by little: at rest it would make points jump
                // with the last digits of the overlap.
                let aside = apart + p.lever_b - p.lever_a + normal * depth;
                let part = if depth >= 2.0 * slop {
                    1.0
                } else {
                    ((depth - slop) / slop).max(0.0)
                };
                (aside * part - normal * depth) * 0.5
            }
            Self::Own | Self::OfOverlap(_) => Vec3::ZERO,
            // A gap counts up to the slop: what lies still has gaps among its overlaps. A larger one is closed
            // before anything acts, and then both points are one.
            Self::Common => normal * (0.5 * p.separation.min(slop)),
        }
    }
}

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
