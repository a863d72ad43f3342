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

use crate::ordering::Symbolic;

/// A `B` x `B` block, row by row.
pub(crate) type Block<const B: usize> = [[f64; B]; B];

/// A matrix before it is factored.
#[derive(Clone, Debug)]
pub(crate) struct Entries<const B: usize> {
    diagonal: Vec<Block<B>>,
    /// Beside `Symbolic::rows`.
    lower: Vec<Block<B>>,
    upper: Vec<Block<B>>,
}

impl<const B: usize> Default for Entries<B> {
    fn default() -> Self {
        Self {
            diagonal: Vec::new(),
            lower: Vec::new(),
            upper: Vec::new(),
        }
    }
}

impl<const B: usize> Entries<B> {
    /// y = H x, one block a node.
    pub(crate) fn multiply(&self, symbolic: &Symbolic, x: &[[f64; B]], y: &mut Vec<[f64; B]>) {
        y.clear();
        y.resize(x.len(), [0.0; B]);
        for k in 0..symbolic.node.len() {
            let node = symbolic.node[k] as usize;
            let mut sum = [0.0; B];
            add_matrix_vector(&mut sum, &self.diagonal[k], &x[node]);
            for at in symbolic.start[k]..symbolic.start[k + 1] {
                let i = symbolic.node[symbolic.rows[at] as usize] as usize;
                add_matrix_vector(&mut y[i], &self.lower[at], &x[node]);
                add_matrix_vector(&mut sum, &self.upper[at], &x[i]);
            }
            for (y, sum) in y[node].iter_mut().zip(sum) {
                *y += sum;
            }
        }
    }
}

/// The numeric factor.
#[derive(Clone, Debug)]
pub(crate) struct BlockLu<const B: usize> {
    diagonal: Vec<Block<B>>,
    pivots: Vec<[u8; B]>,
    /// Beside `Symbolic::rows`.
    lower: Vec<Block<B>>,
    upper: Vec<Block<B>>,
    /// Of the column at work: whether its lower and upper blocks are zero.
    is_zero: Vec<(bool, bool)>,
}

impl<const B: usize> Default for BlockLu<B> {
    fn default() -> Self {
        Self {
            diagonal: Vec::new(),
            pivots: Vec::new(),
            lower: Vec::new(),
            upper: Vec::new(),
            is_zero: Vec::new(),
        }
    }
}

impl<const B: usize> BlockLu<B> {
    /// Sets all blocks to zero, in the shape of `symbolic`.
    pub(crate) fn reset(&mut self, symbolic: &Symbolic) {
        let zero = [[0.0; B]; B];
        self.diagonal.clear();
        self.diagonal.resize(symbolic.node.len(), zero);
        self.pivots.resize(symbolic.node.len(), [0; B]);
        self.lower.clear();
        self.lower.resize(symbolic.fill(), zero);
        self.upper.clear();
        self.upper.resize(symbolic.fill(), zero);
    }

    /// Keeps the matrix that is about to be factored.
    pub(crate) fn save(&self, to: &mut Entries<B>) {
        to.diagonal.clone_from(&self.diagonal);
        to.lower.clone_from(&self.lower);
        to.upper.clone_from(&self.upper);
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

    /// The block of rows `i` and columns `j` (nodes), to be filled before [`Self::factor`].
    ///
    /// The pair must be an edge of the analysed graph or a node with itself.
    pub(crate) fn entry(&mut self, symbolic: &Symbolic, i: u32, j: u32) -> &mut Block<B> {
        let (row, column) = (symbolic.position[i as usize], symbolic.position[j as usize]);
        if row == column {
            return &mut self.diagonal[row as usize];
        }
        let (first, second) = (row.min(column) as usize, row.max(column));
        let at = symbolic.column(first).partition_point(|r| *r < second);
        debug_assert_eq!(symbolic.column(first).get(at), Some(&second));
        let at = symbolic.start[first] + at;
        if row > column {
            &mut self.lower[at]
        } else {
            &mut self.upper[at]
        }
    }

    /// Factors in place; false where a pivot vanishes or is not finite.
    #[must_use]
    pub(crate) fn factor(&mut self, symbolic: &Symbolic) -> bool {
        for k in 0..symbolic.node.len() {
            let Some(pivots) = factor_block(&mut self.diagonal[k]) else {
                return false;
            };
            self.pivots[k] = pivots;
            let range = symbolic.start[k]..symbolic.start[k + 1];
            for at in range.clone() {
                divide_right(&mut self.lower[at], &self.diagonal[k], &pivots);
            }
            self.update_from(symbolic, range);
        }
        true
    }

    /// H_ij -= L_ik U_kj for all pairs of the column whose blocks lie in `range`.
    fn update_from(&mut self, symbolic: &Symbolic, range: std::ops::Range<usize>) {
        // Later columns lie behind this one.
        let (lower, later_lower) = self.lower.split_at_mut(range.end);
        let (upper, later_upper) = self.upper.split_at_mut(range.end);
        self.is_zero.clear();
        let pairs = lower[range.clone()].iter().zip(&upper[range.clone()]);
        self.is_zero
            .extend(pairs.map(|(l, u)| (*l == [[0.0; B]; B], *u == [[0.0; B]; B])));
        for at_j in range.clone() {
            let (lower_zero, upper_zero) = self.is_zero[at_j - range.start];
            if lower_zero && upper_zero {
                continue;
            }
            let j = symbolic.rows[at_j] as usize;
            if !lower_zero && !upper_zero {
                subtract_product(&mut self.diagonal[j], &lower[at_j], &upper[at_j]);
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
                    subtract_product(&mut later_lower[to], &lower[at_i], &upper[at_j]);
                }
                if !lower_zero && !other_upper_zero {
                    subtract_product(&mut later_upper[to], &lower[at_j], &upper[at_i]);
                }
            }
        }
    }

    /// Solves H x = r; `x` holds r (one block a node) on the way in.
    pub(crate) fn solve(&self, symbolic: &Symbolic, x: &mut [[f64; B]]) {
        for k in 0..symbolic.node.len() {
            let y = x[symbolic.node[k] as usize];
            for at in symbolic.start[k]..symbolic.start[k + 1] {
                let i = symbolic.node[symbolic.rows[at] as usize] as usize;
                subtract_matrix_vector(&mut x[i], &self.lower[at], &y);
            }
        }
        for k in (0..symbolic.node.len()).rev() {
            let node = symbolic.node[k] as usize;
            let mut y = x[node];
            for at in symbolic.start[k]..symbolic.start[k + 1] {
                let j = symbolic.node[symbolic.rows[at] as usize] as usize;
                subtract_matrix_vector(&mut y, &self.upper[at], &x[j]);
            }
            solve_block(&self.diagonal[k], &self.pivots[k], &mut y);
            x[node] = y;
        }
    }
}

/// LU with partial pivoting in place; `None` where a pivot is zero or not finite.
fn factor_block<const B: usize>(a: &mut Block<B>) -> Option<[u8; B]> {
    let mut pivots = [0_u8; B];
    for k in 0..B {
        let mut best = k;
        for i in k + 1..B {
            if a[i][k].abs() > a[best][k].abs() {
                best = i;
            }
        }
        pivots[k] = best as u8;
        a.swap(k, best);
        let inverse = 1.0 / a[k][k];
        if a[k][k] == 0.0 || !inverse.is_finite() {
            return None;
        }
        let row = a[k];
        for next in a.iter_mut().skip(k + 1) {
            let factor = next[k] * inverse;
            next[k] = factor;
            for j in k + 1..B {
                next[j] -= factor * row[j];
            }
        }
    }
    Some(pivots)
}

/// x = A^-1 x from the factor.
fn solve_block<const B: usize>(lu: &Block<B>, pivots: &[u8; B], x: &mut [f64; B]) {
    // All exchanges first: the factor's rows were exchanged whole.
    for k in 0..B {
        x.swap(k, pivots[k] as usize);
    }
    for k in 0..B {
        for i in k + 1..B {
            x[i] -= lu[i][k] * x[k];
        }
    }
    for k in (0..B).rev() {
        for j in k + 1..B {
            x[k] -= lu[k][j] * x[j];
        }
        x[k] /= lu[k][k];
    }
}

/// X = X A^-1 from the factor P A = L U: solve y U = x, then z L = y, then z P.
fn divide_right<const B: usize>(x: &mut Block<B>, lu: &Block<B>, pivots: &[u8; B]) {
    for row in x.iter_mut() {
        for j in 0..B {
            let mut y = row[j];
            for k in 0..j {
                y -= row[k] * lu[k][j];
            }
            row[j] = y / lu[j][j];
        }
        for j in (0..B).rev() {
            for k in j + 1..B {
                row[j] -= row[k] * lu[k][j];
            }
        }
        for k in (0..B).rev() {
            row.swap(k, pivots[k] as usize);
        }
    }
}

fn subtract_product<const B: usize>(c: &mut Block<B>, a: &Block<B>, b: &Block<B>) {
    for i in 0..B {
        for k in 0..B {
            for j in 0..B {
                c[i][j] -= a[i][k] * b[k][j];
            }
        }
    }
}

fn add_matrix_vector<const B: usize>(y: &mut [f64; B], a: &Block<B>, x: &[f64; B]) {
    for i in 0..B {
        for j in 0..B {
            y[i] += a[i][j] * x[j];
        }
    }
}

fn subtract_matrix_vector<const B: usize>(y: &mut [f64; B], a: &Block<B>, x: &[f64; B]) {
    for i in 0..B {
        for j in 0..B {
            y[i] -= a[i][j] * x[j];
        }
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
            let mut y = [0.0; B];
            subtract_matrix_vector(&mut y, block, &want[j as usize]);
            (0..B).for_each(|k| x[i as usize][k] -= y[k]);
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
}
