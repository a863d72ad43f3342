use crate::{BodyInput, ContactPoint, ProblemError};
use moreau_math::Vec3;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Places for contacts that are being added to a problem, see
/// [`ContactProblem::add_contacts_by`](crate::ContactProblem::add_contacts_by).
///
/// They can be split, and the parts filled on different threads.
#[derive(Debug)]
pub struct NewContacts<'a> {
    bodies: &'a [BodyInput],
    /// Contacts of the problem before the first of these.
    before: usize,
    places: &'a mut [ContactPoint],
    filled: &'a AtomicUsize,
}

impl<'a> NewContacts<'a> {
    pub(crate) fn new(
        bodies: &'a [BodyInput],
        before: usize,
        places: &'a mut [ContactPoint],
        filled: &'a AtomicUsize,
    ) -> Self {
        Self {
            bodies,
            before,
            places,
            filled,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The bodies of the problem.
    pub fn bodies(&self) -> &'a [BodyInput] {
        self.bodies
    }

    /// The first `middle` places, and the others.
    ///
    /// # Panics
    /// Where there are fewer than `middle`, as the method of slices does.
    pub fn split_at(self, middle: usize) -> (Self, Self) {
        let (first, second) = self.places.split_at_mut(middle);
        let part = |before, places| Self {
            before,
            places,
            ..self
        };
        (part(self.before, first), part(self.before + middle, second))
    }

    /// Puts `contact(i)` at place `i` of these, for all of them.
    ///
    /// # Errors
    /// The first contact that [`add_contact_point`](crate::ContactProblem::add_contact_point) would refuse.
    #[inline]
    pub fn fill(self, mut contact: impl FnMut(usize) -> ContactPoint) -> Result<(), ProblemError> {
        let count = self.places.len();
        for (i, place) in self.places.iter_mut().enumerate() {
            let contact = contact(i);
            let index = self.before + i;
            check_bodies(self.bodies, "contact", index, [contact.a, contact.b])?;
            contact.validate(index)?;
            *place = contact;
        }
        self.filled.fetch_add(count, Ordering::Relaxed);
        Ok(())
    }
}

/// u of a contact (contact frame, m/s) at the free velocities of `bodies`.
pub(crate) fn free_velocity(bodies: &[BodyInput], c: &ContactPoint) -> Vec3 {
    let (a, b) = (&bodies[c.a].velocity, &bodies[c.b].velocity);
    c.frame.to_local(b.at(c.lever_b) - a.at(c.lever_a))
}

/// Are two bodies there between which something can move?
pub(crate) fn check_bodies(
    bodies: &[BodyInput],
    what: &'static str,
    index: usize,
    [a, b]: [usize; 2],
) -> Result<(), ProblemError> {
    for (field, body) in [("a", a), ("b", b)] {
        if body >= bodies.len() {
            return Err(ProblemError::NoSuchBody {
                what,
                index,
                field,
                body,
                bodies: bodies.len(),
            });
        }
    }
    if a == b || (bodies[a].is_immovable() && bodies[b].is_immovable()) {
        return Err(ProblemError::NothingMoves { what, index, a, b });
    }
    Ok(())
}
