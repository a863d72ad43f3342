//! Lists whose length is known beforehand: on the stack where they are short.

/// Memory for a list; up to `N` entries need no allocation.
pub(super) struct Room<T, const N: usize> {
    inline: [T; N],
    heap: Vec<T>,
}

impl<T: Copy, const N: usize> Room<T, N> {
    #[inline(always)]
    pub(super) fn new(blank: T) -> Self {
        Self {
            inline: [blank; N],
            heap: Vec::new(),
        }
    }

    /// A list of `count` entries, blank as long as no list was asked for before.
    #[inline(always)]
    pub(super) fn list(&mut self, count: usize, blank: T) -> &mut [T] {
        if count <= N {
            return &mut self.inline[..count];
        }
        self.heap.resize(count, blank);
        &mut self.heap
    }
}

#[cfg(test)]
mod tests {
    use super::Room;

    #[test]
    fn short_and_long_lists_are_blank_and_as_long_as_asked_for() {
        for count in [0, 3, 4, 5, 40] {
            let mut room = Room::<u8, 4>::new(7);
            let list = room.list(count, 7);
            assert_eq!(list, vec![7; count]);
        }
    }
}
