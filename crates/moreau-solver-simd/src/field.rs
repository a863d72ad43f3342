//! Memory that several threads write, each its own part.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;

pub(crate) struct Field<'a, T>(&'a [UnsafeCell<T>]);

// SAFETY: threads that hold the field reach its items through `unsafe` methods alone, whose
// callers keep them apart.
unsafe impl<T: Send + Sync> Sync for Field<'_, T> {}

impl<'a, T> Field<'a, T> {
    pub(crate) fn new(items: &'a mut [T]) -> Self {
        let items: *mut [T] = items;
        // SAFETY: `UnsafeCell<T>` has the layout of `T`, and the exclusive borrow lasts as long as
        // the shared one that replaces it.
        Self(unsafe { &*(items as *const [UnsafeCell<T>]) })
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// # Safety
    /// While the borrow lasts nobody writes the item.
    #[inline(always)]
    pub(crate) unsafe fn get(&self, index: usize) -> &T {
        // SAFETY: the caller's promise.
        unsafe { &*self.0[index].get() }
    }

    /// # Safety
    /// While the borrow lasts nobody else reads or writes the item.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn get_mut(&self, index: usize) -> &mut T {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.0[index].get() }
    }

    /// # Safety
    /// While the borrow lasts nobody else reads or writes any item.
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn all(&self) -> &mut [T] {
        let first = UnsafeCell::raw_get(self.0.as_ptr());
        // SAFETY: the caller's promise; the pointer is that of the whole slice.
        unsafe { std::slice::from_raw_parts_mut(first, self.0.len()) }
    }
}
