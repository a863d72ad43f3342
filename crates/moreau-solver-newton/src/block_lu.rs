//! Sparse LU of square blocks with a symmetric pattern, and no symmetry of values.
//!
//! P H P' = L U with the order of [`Symbolic`]: column k of the factor keeps D_k (LU-factored with
//! partial pivoting inside the block), the lower blocks L_ik = H_ik D_k^-1 and the upper H_ki, for
//! i in the column's list. Right-looking:
//!
//! ```text
//! for k:  factor D_k;  L_ik = H_ik D_k^-1;  H_ij -= L_ik H_kj  for all i, j in column k
//! ```
//!
//! Where the pattern has no room for a block of fill, it is left out: an incomplete factor, a
//! preconditioner for `krylov.rs`.
//!
//! Blocks of zeros are skipped: a contact that is open has none but its diagonal, and so costs no
//! work, although the pattern keeps its place.
//!
//! No pivoting between blocks: H = M + J' K J has a positive definite M, and a step of iterative
//! refinement follows each solve. Sums run in a fixed order: the same bits on any machine and
//! number of threads.

use crate::arithmetic::{Arithmetic, Work};
use crate::block::{
    Block, Column, add_matrix_vector, divide_right, factor, is_zero, solve, subtract_matrix_vector,
    subtract_product,
};
use crate::ordering::Symbolic;

/// A matrix before it is factored.
#[derive(Clone, Debug)]
pub(crate) struct Entries<const B: usize> {
    diagonal: Vec<Block<B>>,
    /// Beside `Symbolic::rows`.
    lower: Vec<Block<B>>,
    upper: Vec<Block<B>>,
    arithmetic: Arithmetic,
}

impl<const B: usize> Default for Entries<B> {
    fn default() -> Self {
        Self {
            diagonal: Vec::new(),
            lower: Vec::new(),
            upper: Vec::new(),
            arithmetic: Arithmetic::fastest(),
        }
    }
}

impl<const B: usize> Entries<B> {
    /// y = H x, one block a node.
    pub(crate) fn multiply(&self, symbolic: &Symbolic, x: &[[f64; B]], y: &mut Vec<[f64; B]>) {
        y.clear();
        y.resize(x.len(), [0.0; B]);
        let work = Multiply {
            matrix: self,
            symbolic,
            x,
            y,
        };
        self.arithmetic.narrow().run(work);
    }

    #[inline(always)]
    fn multiply_all<C: Column<B>>(&self, symbolic: &Symbolic, x: &[[f64; B]], y: &mut [[f64; B]]) {
        for k in 0..symbolic.node.len() {
            let node = symbolic.node[k] as usize;
            let mut sum = add_matrix_vector(C::load(&[0.0; B]), &self.diagonal[k], &x[node]);
            for at in symbolic.start[k]..symbolic.start[k + 1] {
                let i = symbolic.node[symbolic.rows[at] as usize] as usize;
                add_matrix_vector(C::load(&y[i]), &self.lower[at], &x[node]).store(&mut y[i]);
                sum = add_matrix_vector(sum, &self.upper[at], &x[i]);
            }
            C::load(&y[node]).add_scaled(sum, 1.0).store(&mut y[node]);
        }
    }
}

/// The numeric factor.
#[derive(Clone, Debug)]
pub(crate) struct BlockLu<const B: usize> {
    diagonal: Vec<Block<B>>,
    /// The order of rows that pivoting gave each.
    pivoted: Vec<[u8; B]>,
    /// Beside `Symbolic::rows`.
    lower: Vec<Block<B>>,
    upper: Vec<Block<B>>,
    /// Of the column at work: whether its lower and upper blocks are zero.
    is_zero: Vec<(bool, bool)>,
    pub(crate) arithmetic: Arithmetic,
}

impl<const B: usize> Default for BlockLu<B> {
    fn default() -> Self {
        Self {
            diagonal: Vec::new(),
            pivoted: Vec::new(),
            lower: Vec::new(),
            upper: Vec::new(),
            is_zero: Vec::new(),
            arithmetic: Arithmetic::fastest(),
        }
    }
}

impl<const B: usize> BlockLu<B> {
    /// Sets all blocks to zero, in the shape of `symbolic`.
    pub(crate) fn reset(&mut self, symbolic: &Symbolic) {
        let zero = [[0.0; B]; B];
        self.pivoted.resize(symbolic.node.len(), [0; B]);
        self.diagonal.resize(symbolic.node.len(), zero);
        self.lower.resize(symbolic.fill(), zero);
        self.upper.resize(symbolic.fill(), zero);
        for blocks in [&mut self.diagonal, &mut self.lower, &mut self.upper] {
            blocks.as_flattened_mut().as_flattened_mut().fill(0.0);
        }
    }

    /// Keeps the matrix that is about to be factored.
    pub(crate) fn save(&self, to: &mut Entries<B>) {
        to.diagonal.clone_from(&self.diagonal);
        to.lower.clone_from(&self.lower);
        to.upper.clone_from(&self.upper);
        to.arithmetic = self.arithmetic;
    }

    /// Takes a matrix again, its diagonal blocks times `scale`.
    pub(crate) fn restore(&mut self, from: &Entries<B>, scale: f64) {
        self.diagonal.clone_from(&from.diagonal);
        self.lower.clone_from(&from.lower);
        self.upper.clone_from(&from.upper);
        for x in self.diagonal.iter_mut().flatten().flatten() {
            *x *= scale;
        }
    }

    /// The block of rows `i` and columns `j` (nodes), column by column, to be filled before
    /// [`Self::factor`].
    ///
    /// The pair must be an edge of the analysed graph or a node with itself.
    pub(crate) fn entry(&mut self, symbolic: &Symbolic, i: u32, j: u32) -> &mut Block<B> {
        if i == j {
            return self.diagonal(symbolic, i);
        }
        let [entry, _] = self.pair_at(symbolic, symbolic.place(i, j), i, j);
        entry
    }

    /// The block of a node with itself.
    pub(crate) fn diagonal(&mut self, symbolic: &Symbolic, i: u32) -> &mut Block<B> {
        &mut self.diagonal[symbolic.position[i as usize] as usize]
    }

    /// The blocks (i, j) and (j, i) of an edge from its [`Symbolic::place`].
    pub(crate) fn pair_at(
        &mut self,
        symbolic: &Symbolic,
        place: usize,
        i: u32,
        j: u32,
    ) -> [&mut Block<B>; 2] {
        let (lower, upper) = (&mut self.lower[place], &mut self.upper[place]);
        if symbolic.position[i as usize] > symbolic.position[j as usize] {
            [lower, upper]
        } else {
            [upper, lower]
        }
    }

    /// Factors in place; false where a pivot vanishes or is not finite.
    #[must_use]
    pub(crate) fn factor(&mut self, symbolic: &Symbolic) -> bool {
        let arithmetic = self.arithmetic;
        arithmetic.run(Factor { lu: self, symbolic })
    }

    /// Solves H x = r; `x` holds r (one block a node) on the way in.
    pub(crate) fn solve(&self, symbolic: &Symbolic, x: &mut [[f64; B]]) {
        let work = Solve {
            lu: self,
            symbolic,
            x,
        };
        self.arithmetic.narrow().run(work);
    }

    #[inline(always)]
    fn factor_all<C: Column<B>>(&mut self, symbolic: &Symbolic) -> bool {
        for k in 0..symbolic.node.len() {
            if !factor(&mut self.diagonal[k], &mut self.pivoted[k]) {
                return false;
            }
            let range = symbolic.start[k]..symbolic.start[k + 1];
            for lower in &mut self.lower[range.clone()] {
                divide_right::<B, C>(lower, &self.diagonal[k], &self.pivoted[k]);
            }
            self.update_from::<C>(symbolic, range);
        }
        true
    }

    /// H_ij -= L_ik U_kj for all pairs of the column whose blocks lie in `range`.
    #[inline(always)]
    fn update_from<C: Column<B>>(&mut self, symbolic: &Symbolic, range: std::ops::Range<usize>) {
        // Later columns lie behind this one.
        let (lower, later_lower) = self.lower.split_at_mut(range.end);
        let (upper, later_upper) = self.upper.split_at_mut(range.end);
        self.is_zero.clear();
        for at in range.clone() {
            self.is_zero
                .push((is_zero(&lower[at]), is_zero(&upper[at])));
        }
        for at_j in range.clone() {
            let (lower_zero, upper_zero) = self.is_zero[at_j - range.start];
            if lower_zero && upper_zero {
                continue;
            }
            let j = symbolic.rows[at_j] as usize;
            if !lower_zero && !upper_zero {
                subtract_product::<B, C>(&mut self.diagonal[j], &lower[at_j], &upper[at_j]);
            }
            // In a complete pattern later rows of this column all lie in column j; both ascend.
            let mut target = symbolic.start[j];
            for at_i in at_j + 1..range.end {
                let i = symbolic.rows[at_i];
                let end = symbolic.start[j + 1];
                while target < end && symbolic.rows[target] < i {
                    target += 1;
                }
                if target == end {
                    break;
                }
                if symbolic.rows[target] != i {
                    // Fill that an incomplete factor leaves out.
                    continue;
                }
                let to = target - range.end;
                let (other_lower_zero, other_upper_zero) = self.is_zero[at_i - range.start];
                if !other_lower_zero && !upper_zero {
                    subtract_product::<B, C>(&mut later_lower[to], &lower[at_i], &upper[at_j]);
                }
                if !lower_zero && !other_upper_zero {
                    subtract_product::<B, C>(&mut later_upper[to], &lower[at_j], &upper[at_i]);
                }
            }
        }
    }

    #[inline(always)]
    fn solve_all<C: Column<B>>(&self, symbolic: &Symbolic, x: &mut [[f64; B]]) {
        for k in 0..symbolic.node.len() {
            let y = x[symbolic.node[k] as usize];
            for at in symbolic.start[k]..symbolic.start[k + 1] {
                let x = &mut x[symbolic.node[symbolic.rows[at] as usize] as usize];
                subtract_matrix_vector(C::load(x), &self.lower[at], &y).store(x);
            }
        }
        for k in (0..symbolic.node.len()).rev() {
            let node = symbolic.node[k] as usize;
            let mut y = C::load(&x[node]);
            for at in symbolic.start[k]..symbolic.start[k + 1] {
                let j = symbolic.node[symbolic.rows[at] as usize] as usize;
                y = subtract_matrix_vector(y, &self.upper[at], &x[j]);
            }
            y.store(&mut x[node]);
            solve(&self.diagonal[k], &self.pivoted[k], &mut x[node]);
        }
    }
}

/// [`Entries::multiply`].
struct Multiply<'a, const B: usize> {
    matrix: &'a Entries<B>,
    symbolic: &'a Symbolic,
    x: &'a [[f64; B]],
    y: &'a mut [[f64; B]],
}

impl<const B: usize> Work<B> for Multiply<'_, B> {
    type Output = ();

    #[inline(always)]
    fn with<C: Column<B>>(self) {
        self.matrix.multiply_all::<C>(self.symbolic, self.x, self.y);
    }
}

/// [`BlockLu::factor`].
struct Factor<'a, const B: usize> {
    lu: &'a mut BlockLu<B>,
    symbolic: &'a Symbolic,
}

impl<const B: usize> Work<B> for Factor<'_, B> {
    type Output = bool;

    #[inline(always)]
    fn with<C: Column<B>>(self) -> bool {
        self.lu.factor_all::<C>(self.symbolic)
    }
}

/// [`BlockLu::solve`].
struct Solve<'a, const B: usize> {
    lu: &'a BlockLu<B>,
    symbolic: &'a Symbolic,
    x: &'a mut [[f64; B]],
}

impl<const B: usize> Work<B> for Solve<'_, B> {
    type Output = ();

    #[inline(always)]
    fn with<C: Column<B>>(self) {
        self.lu.solve_all::<C>(self.symbolic, self.x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A deterministic number in (-1, 1).
    fn number(seed: &mut u64) -> f64 {
        *seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (*seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn check<const B: usize>(nodes: usize, edges: &[(u32, u32)]) {
        let symbolic = Symbolic::new(nodes, edges.iter().copied());
        let mut seed = 7;
        let mut lu = BlockLu::<B>::default();
        lu.reset(&symbolic);
        let mut pairs: Vec<(u32, u32)> = (0..nodes as u32).map(|i| (i, i)).collect();
        pairs.extend(edges.iter().flat_map(|&(a, b)| [(a, b), (b, a)]));
        let mut blocks = Vec::new();
        for &(i, j) in &pairs {
            let mut block = [[0.0; B]; B];
            block
                .iter_mut()
                .flatten()
                .for_each(|x| *x = number(&mut seed));
            if i == j {
                // Strong, but on a permuted diagonal: pivots must be exchanged.
                (0..B).for_each(|k| block[k][(k + 2) % B] += 3.0 * B as f64);
            }
            *lu.entry(&symbolic, i, j) = block;
            blocks.push(block);
        }
        let want: Vec<[f64; B]> = (0..nodes)
            .map(|_| [(); B].map(|()| number(&mut seed)))
            .collect();
        let mut x = vec![[0.0; B]; nodes];
        for (&(i, j), block) in pairs.iter().zip(&blocks) {
            let x = &mut x[i as usize];
            *x = add_matrix_vector(*x, block, &want[j as usize]);
        }
        assert!(lu.factor(&symbolic));
        lu.solve(&symbolic, &mut x);
        for (x, want) in x.iter().zip(&want) {
            assert!(
                (0..B).all(|k| (x[k] - want[k]).abs() < 1e-12),
                "{x:?} {want:?}"
            );
        }
    }

    #[test]
    fn solves_what_it_multiplied() {
        check::<6>(1, &[]);
        check::<6>(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]);
        let grid: Vec<(u32, u32)> = (0..36_u32)
            .flat_map(|i| [(i, i + 1), (i, i + 6)])
            .filter(|&(i, j)| j < 36 && (j == i + 6 || j % 6 != 0))
            .collect();
        check::<3>(36, &grid);
        check::<6>(36, &grid);
    }

    #[test]
    fn a_singular_block_is_refused() {
        let symbolic = Symbolic::new(1, std::iter::empty());
        let mut lu = BlockLu::<3>::default();
        lu.reset(&symbolic);
        assert!(!lu.factor(&symbolic));
    }
    /// All that this processor has.
    fn all_arithmetic() -> Vec<Arithmetic> {
        let fastest = Arithmetic::fastest();
        let mut all = vec![Arithmetic::Plain, fastest.narrow(), fastest];
        all.dedup();
        all
    }

    /// Of all numbers, row by row, of the factors of a random matrix and what is solved with them; of what
    /// there is, where it is refused.
    fn bits<const B: usize>(
        arithmetic: Arithmetic,
        symbolic: &Symbolic,
        mut seed: u64,
    ) -> Vec<u64> {
        let mut lu = BlockLu::<B> {
            arithmetic,
            ..BlockLu::default()
        };
        lu.reset(symbolic);
        let nodes = symbolic.node.len();
        let refused = number(&mut seed) < -0.5;
        for blocks in [&mut lu.diagonal, &mut lu.lower, &mut lu.upper] {
            for block in blocks {
                let size = number(&mut seed);
                for x in block.as_flattened_mut() {
                    // Zero blocks, and zeros of both signs in others.
                    let x_size = number(&mut seed);
                    *x = if size < -0.4 { 0.0 } else { number(&mut seed) };
                    *x *= if x_size < -0.9 { 0.0 } else { 1.0 };
                }
            }
        }
        for (k, block) in lu.diagonal.iter_mut().enumerate() {
            if !refused || k + 1 < nodes {
                (0..B).for_each(|i| block[i][(i + k) % B] += 2.0);
            }
        }
        if refused && let Some(column) = lu.diagonal.last_mut().and_then(|b| b.last_mut()) {
            *column = [f64::NAN; B];
        }
        let mut saved = Entries::default();
        lu.save(&mut saved);
        let mut x: Vec<[f64; B]> = (0..nodes)
            .map(|_| [(); B].map(|()| number(&mut seed)))
            .collect();
        let mut product = Vec::new();
        saved.multiply(symbolic, &x, &mut product);
        let solved = lu.factor(symbolic);
        if solved {
            lu.solve(symbolic, &mut x);
        }
        assert_ne!(solved, refused);
        let blocks = [&lu.diagonal, &lu.lower, &lu.upper].into_iter().flatten();
        let numbers = blocks.flatten().chain(&x).chain(&product).flatten();
        // One NaN is as good as another.
        numbers
            .map(|x| if x.is_nan() { f64::NAN } else { *x }.to_bits())
            .collect()
    }

    #[test]
    fn all_instructions_give_the_same_bits() {
        let edges = (0..20_u32).flat_map(|i| [(i, (i * 7 + 3) % 20), (i, (i + 1) % 20)]);
        let patterns = [
            Symbolic::new(1, std::iter::empty()),
            Symbolic::new(20, edges.clone()),
            Symbolic::without_fill(20, edges, std::iter::once(3)),
        ];
        for symbolic in &patterns {
            for seed in 0..30 {
                let six = bits::<6>(Arithmetic::Plain, symbolic, seed);
                let three = bits::<3>(Arithmetic::Plain, symbolic, seed);
                for arithmetic in all_arithmetic() {
                    let name = format!("{arithmetic:?}, seed {seed}");
                    assert!(six == bits::<6>(arithmetic, symbolic, seed), "{name}");
                    assert!(three == bits::<3>(arithmetic, symbolic, seed), "{name}");
                }
            }
        }
    }
}
