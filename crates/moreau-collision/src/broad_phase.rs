use crate::Aabb;

/// Finds the pairs of boxes that overlap.
///
/// Proxies carry a caller's id; pairs come out as (smaller id, larger id), sorted, and depend only
/// on the boxes and ids given, never on the order or history of calls.
#[derive(Clone, Debug, Default)]
pub struct BroadPhase {
    boxes: Vec<(u32, Aabb, bool)>,
}

impl BroadPhase {
    /// An empty broad phase.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the proxy `id` or moves it. `is_static` proxies are never paired with each other.
    pub fn set(&mut self, id: u32, aabb: Aabb, is_static: bool) {
        self.remove(id);
        self.boxes.push((id, aabb, is_static));
    }

    /// Removes the proxy `id`; nothing happens where there is none.
    pub fn remove(&mut self, id: u32) {
        self.boxes.retain(|b| b.0 != id);
    }

    /// Replaces the content of `pairs` by all pairs of overlapping boxes, sorted.
    pub fn pairs(&mut self, pairs: &mut Vec<(u32, u32)>) {
        pairs.clear();
        for (i, a) in self.boxes.iter().enumerate() {
            for b in &self.boxes[i + 1..] {
                if !(a.2 && b.2) && a.1.overlaps(&b.1) {
                    pairs.push((a.0.min(b.0), a.0.max(b.0)));
                }
            }
        }
        pairs.sort_unstable();
    }
}
