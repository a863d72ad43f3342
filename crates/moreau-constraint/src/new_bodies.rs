use crate::{BodyInput, ProblemError};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Places for bodies that are being added to a problem, see
/// [`ContactProblem::add_bodies_by`](crate::ContactProblem::add_bodies_by).
///
/// They can be split, and the parts filled on different threads.
#[derive(Debug)]
pub struct NewBodies<'a> {
    /// Bodies of the problem before the first of these.
    before: usize,
    places: &'a mut [BodyInput],
    filled: &'a AtomicUsize,
}

impl<'a> NewBodies<'a> {
    pub(crate) fn new(before: usize, places: &'a mut [BodyInput], filled: &'a AtomicUsize) -> Self {
        Self {
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

    /// The first `middle` places, and the others.
    ///
    /// # Panics
    /// Where there are fewer than `middle`, as the method of slices does.
    pub fn split_at(self, middle: usize) -> (Self, Self) {
        let (first, second) = self.places.split_at_mut(middle);
        let filled = self.filled;
        (
            Self::new(self.before, first, filled),
            Self::new(self.before + middle, second, filled),
        )
    }

    /// Puts `body(i)` at place `i` of these, for all of them.
    ///
    /// # Errors
    /// The first body that [`add_body`](crate::ContactProblem::add_body) would refuse.
    #[inline]
    pub fn fill(self, mut body: impl FnMut(usize) -> BodyInput) -> Result<(), ProblemError> {
        let count = self.places.len();
        for (i, place) in self.places.iter_mut().enumerate() {
            *place = body(i);
            place.validate(self.before + i)?;
        }
        self.filled.fetch_add(count, Ordering::Relaxed);
        Ok(())
    }
}
