use serde::{Serialize, Serializer};
use std::ops::{Deref, DerefMut};

/// A list that keeps what was in it when it is emptied, so that places for as much as that are there at once, to be
/// written over.
#[derive(Debug)]
pub(crate) struct Reused<T> {
    places: Vec<T>,
    /// How many of them are taken.
    len: usize,
}

impl<T> Reused<T> {
    pub(crate) const fn new() -> Self {
        Self {
            places: Vec::new(),
            len: 0,
        }
    }

    /// Bytes on the heap, with what it keeps free.
    pub(crate) fn bytes(&self) -> usize {
        self.places.capacity() * size_of::<T>()
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    pub(crate) fn push(&mut self, value: T) {
        match self.places.get_mut(self.len) {
            Some(place) => *place = value,
            None => self.places.push(value),
        }
        self.len += 1;
    }
}

impl<T: Copy> Reused<T> {
    /// Adds `count` places, which hold anything: `new` where nothing was there before.
    pub(crate) fn extend(&mut self, count: usize, new: T) {
        self.len += count;
        if self.places.len() < self.len {
            self.places.resize(self.len, new);
        }
    }
}

impl<T> Deref for Reused<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.places[..self.len]
    }
}

impl<T> DerefMut for Reused<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.places[..self.len]
    }
}

impl<T: Clone> Clone for Reused<T> {
    fn clone(&self) -> Self {
        Self {
            places: self.to_vec(),
            len: self.len,
        }
    }
}

impl<T: PartialEq> PartialEq for Reused<T> {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl<T: Serialize> Serialize for Reused<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self[..].serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::Reused;

    #[test]
    fn what_was_there_before_does_not_count() {
        let mut list = Reused::new();
        for i in 0..4 {
            list.push(i);
        }
        list.truncate(1);
        list.push(7);
        assert_eq!(list[..], [0, 7]);
        let mut twin = Reused::new();
        twin.push(0);
        twin.push(7);
        assert_eq!(list, twin);
        assert_eq!(list.clone().places, [0, 7]);
        list.extend(3, 9);
        assert_eq!(list[..], [0, 7, 2, 3, 9]);
        list[2] = 5;
        list.truncate(3);
        assert_eq!(list[..], [0, 7, 5]);
        assert_eq!(serde_json::to_string(&list).unwrap(), "[0,7,5]");
    }
}
