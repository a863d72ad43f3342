//! Boxes in the order of a curve through space, so that neighbours lie near each other in memory.
//!
//! ```text
//! c = floor((center - least center) 1024 / largest spread of the centers)     per axis, 0..1023
//! code = bits of c_x, c_y, c_z by turns                                        30 bits (Morton)
//! ```
//!
//! The codes are sorted by digits, which costs a box the same however many there are.

use crate::Aabb;
use moreau_math::Vec3;

const BITS: u32 = 10;

/// Fewer boxes than this need no order.
const FEW: usize = 256;

/// Boxes' places on the curve, with the memory for finding them.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    codes: Vec<u32>,
    keys: Vec<Key>,
    sorted: Vec<Key>,
    leaves: Vec<(u32, Aabb)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Key {
    code: u32,
    index: u32,
}

impl Order {
    /// The codes of the boxes that were put in order last, in that order.
    pub(super) fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// What is held here.
    pub(super) fn bytes(&self) -> usize {
        self.codes.capacity() * size_of::<u32>()
            + (self.keys.capacity() + self.sorted.capacity()) * size_of::<Key>()
            + self.leaves.capacity() * size_of::<(u32, Aabb)>()
    }

    /// Puts `leaves` in order; of equal codes those that were first stay first.
    pub(super) fn put_near_together(&mut self, leaves: &mut Vec<(u32, Aabb)>) {
        self.codes.clear();
        if leaves.len() < FEW {
            self.codes.resize(leaves.len(), 0);
            return;
        }
        let mut centers = Aabb::EMPTY;
        for (_, aabb) in leaves.iter() {
            centers.include(doubled_center(aabb));
        }
        let cells = f64::from(1u32 << BITS);
        // Zero where all are in one place: the conversion takes what is not a number for 0.
        let scale = cells / centers.extents().max_element();
        let cell = |x: f64| spread(((x * scale) as u32).min((1 << BITS) - 1));
        self.keys.clear();
        self.keys
            .extend(leaves.iter().zip(0..).map(|((_, aabb), index)| {
                let from: Vec3 = doubled_center(aabb) - centers.min;
                let code = cell(from.x) | cell(from.y) << 1 | cell(from.z) << 2;
                Key { code, index }
            }));
        for shift in [0, BITS, 2 * BITS] {
            sort_by_digit(&self.keys, &mut self.sorted, shift);
            std::mem::swap(&mut self.keys, &mut self.sorted);
        }
        self.codes.extend(self.keys.iter().map(|key| key.code));
        self.leaves.clear();
        let in_order = self.keys.iter().map(|key| leaves[key.index as usize]);
        self.leaves.extend(in_order);
        std::mem::swap(leaves, &mut self.leaves);
    }
}

/// Twice the center: it orders boxes as the center does.
pub(super) fn doubled_center(aabb: &Aabb) -> Vec3 {
    aabb.min + aabb.max
}

/// Two zeros after each of the ten bits.
fn spread(x: u32) -> u32 {
    let x = (x | x << 16) & 0x030000ff;
    let x = (x | x << 8) & 0x0300f00f;
    let x = (x | x << 4) & 0x030c30c3;
    (x | x << 2) & 0x09249249
}

/// By the `BITS` bits from `shift` on; equal ones stay in their order.
fn sort_by_digit(keys: &[Key], sorted: &mut Vec<Key>, shift: u32) {
    const DIGITS: usize = 1 << BITS;
    let digit = |key: &Key| (key.code >> shift) as usize % DIGITS;
    let mut starts = [0usize; DIGITS];
    keys.iter().for_each(|key| starts[digit(key)] += 1);
    let mut before = 0;
    for start in &mut starts {
        before += std::mem::replace(start, before);
    }
    sorted.resize(keys.len(), Key::default());
    for key in keys {
        let place = &mut starts[digit(key)];
        sorted[*place] = *key;
        *place += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use moreau_math::vec3;

    #[test]
    fn boxes_of_a_grid_come_cell_by_cell() {
        // 8 x 8 x 8 places, listed along rows.
        let mut leaves: Vec<(u32, Aabb)> = (0..512)
            .map(|i| {
                let place = vec3(f64::from(i % 8), f64::from(i / 8 % 8), f64::from(i / 64));
                (i, Aabb::around(place, Vec3::splat(0.1)))
            })
            .collect();
        let mut order = Order::default();
        order.put_near_together(&mut leaves);
        assert!(order.codes().is_sorted());
        let mut slots: Vec<u32> = leaves.iter().map(|l| l.0).collect();
        // Each run of 8 is a cube of 2 x 2 x 2, each of 64 one of 4 x 4 x 4.
        for (run, edge) in [(8, 1.0), (64, 3.0)] {
            for run in leaves.chunks(run) {
                let mut centers = Aabb::EMPTY;
                run.iter().for_each(|l| centers.include(l.1.center()));
                assert_eq!(centers.extents(), Vec3::splat(edge));
            }
        }
        slots.sort_unstable();
        assert!(slots.iter().copied().eq(0..512));
    }

    #[test]
    fn boxes_in_one_place_and_far_apart_keep_their_order() {
        for far in [0.0, 1e90] {
            let mut leaves: Vec<(u32, Aabb)> = (0..300)
                .map(|i| {
                    let place = if i == 150 { Vec3::X * far } else { Vec3::ZERO };
                    (i, Aabb::around(place, Vec3::ONE))
                })
                .collect();
            let mut order = Order::default();
            order.put_near_together(&mut leaves);
            let last = if far > 0.0 { 150 } else { 299 };
            assert_eq!((leaves[0].0, leaves[299].0), (0, last));
            assert!(leaves[..299].is_sorted_by_key(|l| l.0));
        }
    }
}
