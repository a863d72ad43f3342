//! From a caller's id to a slot.
//!
//! A table in pages that are made when an id first falls into them: as fast as an array, and a large
//! id costs a list of empty pages (8 bytes for each 4096 ids) instead of an entry for each.

const PAGE: usize = 4096;

/// No slot.
pub(super) const NONE: u32 = u32::MAX;

#[derive(Clone, Debug, Default)]
pub(super) struct IdMap {
    pages: Vec<Option<Box<[u32]>>>,
}

impl IdMap {
    pub(super) fn get(&self, id: u32) -> u32 {
        match self.pages.get(id as usize / PAGE) {
            Some(Some(page)) => page[id as usize % PAGE],
            _ => NONE,
        }
    }

    /// What is held here.
    pub(super) fn bytes(&self) -> usize {
        let made = self.pages.iter().flatten().count();
        self.pages.capacity() * size_of::<Option<Box<[u32]>>>() + made * PAGE * size_of::<u32>()
    }

    pub(super) fn set(&mut self, id: u32, slot: u32) {
        let page = id as usize / PAGE;
        if page >= self.pages.len() {
            self.pages.resize_with(page + 1, || None);
        }
        let page = self.pages[page].get_or_insert_with(|| vec![NONE; PAGE].into());
        page[id as usize % PAGE] = slot;
    }
}
