use crate::ContactPoint;
use moreau_math::Vec3;

/// Contacts of a problem from which friction and restitution are being taken, see
/// [`ContactProblem::make_frictionless_by`](crate::ContactProblem::make_frictionless_by).
///
/// They can be split, and the parts dealt with on different threads.
#[derive(Debug)]
pub struct Frictionless<'a> {
    contacts: &'a mut [ContactPoint],
}

impl<'a> Frictionless<'a> {
    pub(crate) fn new(contacts: &'a mut [ContactPoint]) -> Self {
        Self { contacts }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.contacts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.contacts.is_empty()
    }

    /// The first `middle` contacts, and the others.
    ///
    /// # Panics
    /// Where there are fewer than `middle`, as the method of slices does.
    pub fn split_at(self, middle: usize) -> (Self, Self) {
        let (first, second) = self.contacts.split_at_mut(middle);
        (Self::new(first), Self::new(second))
    }

    /// Gives contact `i` of these the normal bias `bias(i, contact)` (m/s), for all of them, and takes the other
    /// biases and friction from them. A bias that is not finite changes nothing; returns whether all are.
    #[inline]
    pub fn set_biases(self, mut bias: impl FnMut(usize, &ContactPoint) -> f64) -> bool {
        let mut finite = true;
        for (i, contact) in self.contacts.iter_mut().enumerate() {
            let bias = bias(i, contact);
            if bias.is_finite() {
                contact.bias = Vec3::new(bias, 0.0, 0.0);
                contact.friction = 0.0;
            } else {
                finite = false;
            }
        }
        finite
    }
}
