//! The sum of H = M + J' K J, block by block.

use crate::arithmetic::Work;
use crate::block::{Block, Column, is_zero, load};
use crate::block_lu::BlockLu;
use crate::form::{BodyForm, Contact, NONE, Six};
use crate::maps::Three;
use crate::ordering::Symbolic;
use crate::system::Weights;

/// Points of a manifold whose sum is made in registers.
const BATCH: usize = 4;

/// Adds all of H to blocks of zeros.
pub(crate) struct Assembly<'a> {
    pub(crate) form: &'a BodyForm,
    pub(crate) weights: &'a Weights,
    pub(crate) symbolic: &'a Symbolic,
    pub(crate) lu: &'a mut BlockLu<6>,
}

impl Work<6> for Assembly<'_> {
    type Output = ();

    #[inline(always)]
    fn with<C: Column<6>>(mut self) {
        self.add_masses();
        self.add_contacts::<C>();
        self.add_rows::<C>();
    }
}

impl Assembly<'_> {
    #[inline(always)]
    fn add_masses(&mut self) {
        for (body, i) in self.form.inertia.iter().enumerate() {
            let block = self.lu.diagonal(self.symbolic, body as u32);
            for d in 0..3 {
                block[d][d] = self.form.mass[body];
            }
            let inertia = [[i.xx, i.xy, i.xz], [i.xy, i.yy, i.yz], [i.xz, i.yz, i.zz]];
            for d in 0..3 {
                block[3 + d][3..].copy_from_slice(&inertia[d]);
            }
        }
    }

    /// The points of a manifold follow each other: the blocks of a pair are taken to registers once for up
    /// to [`BATCH`] of them.
    #[inline(always)]
    fn add_contacts<C: Column<6>>(&mut self) {
        let contacts = &self.form.contacts;
        let (mut ka, mut kb) = ([[[0.0; 6]; 3]; BATCH], [[[0.0; 6]; 3]; BATCH]);
        let mut at = 0;
        while at < contacts.len() {
            let (a, b) = (contacts[at].a, contacts[at].b);
            let mut batch = [&contacts[at]; BATCH];
            let mut count = 0;
            while at < contacts.len() && count < BATCH {
                let (c, k) = (&contacts[at], &self.weights.contacts[at]);
                if (c.a, c.b) != (a, b) {
                    break;
                }
                at += 1;
                if is_zero(k) {
                    continue;
                }
                batch[count] = c;
                weigh::<C>(k, &c.ja, &mut ka[count]);
                weigh::<C>(k, &c.jb, &mut kb[count]);
                count += 1;
            }
            if count == 0 {
                continue;
            }
            let batch = &batch[..count];
            if a != NONE {
                let block = self.lu.diagonal(self.symbolic, a);
                add_products::<C, false>(block, batch, &ka);
            }
            if b != NONE {
                let block = self.lu.diagonal(self.symbolic, b);
                add_products::<C, true>(block, batch, &kb);
            }
            if a != NONE && b != NONE {
                let place = self.symbolic.place(a, b);
                let [ab, ba] = self.lu.pair_at(self.symbolic, place, a, b);
                add_products::<C, false>(ab, batch, &kb);
                add_products::<C, true>(ba, batch, &ka);
            }
        }
    }

    #[inline(always)]
    fn add_rows<C: Column<6>>(&mut self) {
        for (r, k) in self.form.rows.iter().zip(&self.weights.rows) {
            if *k == 0.0 {
                continue;
            }
            for (i, ji) in [(r.a, &r.ja), (r.b, &r.jb)] {
                let mut weighted = *ji;
                for x in &mut weighted {
                    *x *= k;
                }
                let weighted = C::load(&weighted);
                for (j, jj) in [(r.a, &r.ja), (r.b, &r.jb)] {
                    if i != NONE && j != NONE {
                        let block = self.lu.entry(self.symbolic, i, j);
                        for (column, x) in block.iter_mut().zip(jj) {
                            C::load(column).add_scaled(weighted, *x).store(column);
                        }
                    }
                }
            }
        }
    }
}

/// K J.
#[inline(always)]
fn weigh<C: Column<6>>(k: &Three, j: &[Six; 3], out: &mut [Six; 3]) {
    let j = [C::load(&j[0]), C::load(&j[1]), C::load(&j[2])];
    for i in 0..3 {
        let mut row = C::load(&[0.0; 6]);
        for m in 0..3 {
            row = row.add_scaled(j[m], k[i][m]);
        }
        row.store(&mut out[i]);
    }
}

/// block += J' (K J) of all, with the J of their A, or of their B.
#[inline(always)]
fn add_products<C: Column<6>, const OF_B: bool>(
    block: &mut Block<6>,
    batch: &[&Contact],
    kj: &[[Six; 3]; BATCH],
) {
    let mut columns: [C; 6] = load(block);
    for (c, kj) in batch.iter().zip(kj) {
        let j = if OF_B { &c.jb } else { &c.ja };
        for m in 0..3 {
            let row = C::load(&j[m]);
            for i in 0..6 {
                columns[i] = columns[i].add_scaled(row, kj[m][i]);
            }
        }
    }
    for i in 0..6 {
        columns[i].store(&mut block[i]);
    }
}
