//! The contact points of all parts of a step, each with the sum of what it did.
//!
//! Its normal turns from part to part, and a sum of impulses, of which each lies in the cone of friction of its
//! own normal, need not lie in that of any of them. What counts for the bodies is the sum J on B; so that is
//! kept to rounding, and the point has the normal n of the part in which it first pushed, or where J is
//! not in the cone of that,
//!
//! ```text
//! n' = (j + mu p) / sqrt(1 + mu²)        j = J/|J|,  p = (n - j (j·n)) / |n - j (j·n)|
//! ```
//!
//! which is n turned towards J as little as that takes. Who looks at the list, and the warm start of the next step,
//! see impulses that obey the law.

use crate::BodyId;
use crate::contact::Contact;
use moreau_constraint::ContactFrame;
use moreau_math::{Vec3, vec3};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// By bodies and point.
#[derive(Default)]
pub(super) struct Sums(BTreeMap<(BodyId, BodyId, u128), Sum>);

struct Sum {
    /// Of the part in which it first pushed, or of the last one while it has not.
    contact: Contact,
    /// Impulse on B, N s, world axes.
    impulse: Vec3,
    /// How many parts it pushed in.
    pushes: u32,
}

impl Sums {
    /// Adds the point of a part.
    pub(super) fn add(&mut self, contact: Contact) {
        let pushes = u32::from(contact.impulse != Vec3::ZERO);
        let impulse = contact.world_impulse();
        match self.0.entry((contact.a, contact.b, contact.key())) {
            Entry::Vacant(place) => {
                place.insert(Sum {
                    contact,
                    impulse,
                    pushes,
                });
            }
            Entry::Occupied(mut place) => {
                let sum = place.get_mut();
                if sum.pushes == 0 {
                    sum.contact = contact;
                }
                sum.impulse += impulse;
                sum.pushes += pushes;
            }
        }
    }

    /// Sorted, with the sums as their impulses.
    pub(super) fn into_contacts(self) -> Vec<Contact> {
        let sums = self.0.into_values();
        sums.map(|sum| match sum.pushes {
            0 | 1 => sum.contact,
            _ => with_impulse(sum.contact, sum.impulse),
        })
        .collect()
    }
}

/// The contact with the impulse `sum` (N s, world axes), its axes turned where that is not in their cone.
fn with_impulse(mut contact: Contact, sum: Vec3) -> Contact {
    let size = sum.length();
    let local = |c: &Contact| vec3(c.normal.dot(sum), c.tangent1.dot(sum), c.tangent2.dot(sum));
    contact.impulse = local(&contact);
    let most = contact.friction * contact.impulse.x;
    let slip = vec3(0.0, contact.impulse.y, contact.impulse.z).length();
    // Without friction the normal alone is in the cone, and there is rounding.
    if contact.impulse.x >= 0.0 && slip <= most + ROUNDING * size {
        return contact;
    }
    if size == 0.0 {
        contact.impulse = Vec3::ZERO;
        return contact;
    }
    let along = sum / size;
    let aside = contact.normal - along * along.dot(contact.normal);
    let aside = if aside.length() > ROUNDING {
        aside.normalize()
    } else {
        contact.tangent1
    };
    // Short of the cone's surface, for the rounding.
    let normal = along + aside * (contact.friction * (1.0 - ROUNDING));
    let frame = ContactFrame::new(normal.normalize());
    (contact.normal, contact.tangent1, contact.tangent2) =
        (frame.normal, frame.tangent1, frame.tangent2);
    contact.impulse = local(&contact);
    contact
}

/// Of sines.
const ROUNDING: f64 = 1e-12;

#[cfg(test)]
mod tests {
    use super::with_impulse;
    use crate::BodyId;
    use crate::contact::Contact;
    use moreau_collision::FeatureId;
    use moreau_constraint::ContactFrame;
    use moreau_math::{Vec3, libm, vec3};

    fn contact(normal: Vec3, friction: f64) -> Contact {
        let frame = ContactFrame::new(normal.normalize());
        Contact {
            a: BodyId::default(),
            b: BodyId::default(),
            part_a: 0,
            part_b: 0,
            feature: FeatureId(0),
            normal: frame.normal,
            tangent1: frame.tangent1,
            tangent2: frame.tangent2,
            lever_a: Vec3::ZERO,
            lever_b: Vec3::ZERO,
            separation: 0.0,
            friction,
            restitution: 0.0,
            approach_velocity: 0.0,
            impulse: Vec3::ZERO,
        }
    }

    #[test]
    fn sums_are_in_the_cone_of_the_normal_that_is_nearest() {
        let sums = [
            vec3(1.0, 0.0, 0.0),
            vec3(-1.0, 0.0, 0.0),
            vec3(0.3, -2.0, 0.7),
            vec3(-0.3, 1.0, 1e-9),
            vec3(1e-9, 1e-3, -1e-8),
            vec3(1.0, 0.4, 0.29),
            Vec3::ZERO,
        ];
        for friction in [0.0, 0.3, 0.5, 2.0] {
            for normal in [Vec3::X, Vec3::Y, vec3(1.0, -2.0, 0.5)] {
                for sum in sums {
                    let before = contact(normal, friction);
                    let after = with_impulse(before, sum);
                    let off = (after.world_impulse() - sum).length();
                    assert!(off <= 1e-15 * sum.length(), "{off} of {sum}");
                    let slip = vec3(0.0, after.impulse.y, after.impulse.z).length();
                    let size = sum.length();
                    assert!(after.impulse.x >= 0.0, "{friction} {normal} {sum}");
                    assert!(slip <= friction * after.impulse.x + 2e-12 * size, "{slip}");
                    // No normal nearer to the one before has it in its cone.
                    let angle = |n: Vec3| libm::atan2(n.cross(sum).length(), n.dot(sum));
                    let turned = before.normal.cross(after.normal).length();
                    let turned = libm::atan2(turned, before.normal.dot(after.normal));
                    let least = (angle(before.normal) - libm::atan2(friction, 1.0)).max(0.0);
                    let least = if size > 0.0 { least } else { 0.0 };
                    assert!((turned - least).abs() < 1e-7, "{turned}, {least}");
                }
            }
        }
    }
}
