//! Lemke's method with lexicographic pivots.
//!
//! ```text
//! w - M z - d z0 = q,   w, z, z0 >= 0,   w_i z_i = 0,   d > 0
//! ```
//!
//! z0 enters first and makes all w >= 0; then the complement of the variable that left enters, until z0
//! leaves (z0 = 0: a solution) or nothing blocks the entering variable (a ray). Cottle, Pang and Stone,
//! "The Linear Complementarity Problem" (2009), algorithm 4.4.5; the ray proves that there is no
//! solution for copositive-plus M only, positive semi-definite ones among them.
//!
//! **Ties.** The row that leaves has the lexicographically least (q, B^-1)_i / column_i, which makes
//! every basis differ from all before, so that degenerate problems end too. Quotients count as equal
//! within [`TIE`]; a row with z0 among the equal ones goes first.
//!
//! The tableau holds B^-1 (columns of w), -B^-1 M, -B^-1 d and B^-1 q, one row a basic variable. M is
//! expected to be scaled so that its entries are about 1.

/// Quotients that differ by less, in units of the larger, are equal.
const TIE: f64 = 1e-12;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// z0 left the basis.
    Complementary,
    /// Nothing blocked the entering variable.
    Ray,
    /// Too many pivots.
    Budget,
}

/// The tableau, with memory that is reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tableau {
    n: usize,
    width: usize,
    rows: Vec<f64>,
    /// The basic variable of each row: 0..n w, n..2n z, 2n z0.
    basic: Vec<usize>,
    pivot_row: Vec<f64>,
    /// Pivots of the last run.
    pub(crate) pivots: u32,
    /// The variable that entered last.
    entering: usize,
}

/// What a run is given beside the problem.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run<'a> {
    /// The covering vector, positive.
    pub(crate) cover: &'a [f64],
    /// Entries of a column below this do not block.
    pub(crate) pivot_tolerance: f64,
    /// Most pivots.
    pub(crate) budget: u32,
}

impl Tableau {
    /// Runs the method on the row-major n x n `matrix` and `q`.
    pub(crate) fn run(&mut self, matrix: &[f64], q: &[f64], run: Run<'_>) -> End {
        self.load(matrix, q, run.cover);
        let n = self.n;
        if q.iter().all(|q| *q >= 0.0) {
            return End::Complementary;
        }
        let z0 = 2 * n;
        // The row that z0 has to lift most; all others stay feasible.
        let mut row = 0;
        for i in 1..n {
            if self.lifts_more(i, row) {
                row = i;
            }
        }
        let mut leaving = self.pivot(row, z0);
        loop {
            if self.pivots >= run.budget {
                return End::Budget;
            }
            self.entering = if leaving < n {
                leaving + n
            } else {
                leaving - n
            };
            let Some(row) = self.blocking_row(self.entering, run.pivot_tolerance) else {
                return End::Ray;
            };
            leaving = self.pivot(row, self.entering);
            if leaving == z0 {
                return End::Complementary;
            }
        }
    }

    /// Which z are basic, in rising order.
    pub(crate) fn support(&self, out: &mut Vec<usize>) {
        let n = self.n;
        out.clear();
        let basic = self.basic.iter();
        out.extend(basic.filter(|b| (n..2 * n).contains(*b)).map(|b| b - n));
        out.sort_unstable();
    }

    /// After [`End::Ray`]: how fast each z grows along it.
    pub(crate) fn ray(&self, out: &mut Vec<f64>) {
        let n = self.n;
        out.clear();
        out.resize(n, 0.0);
        if self.entering >= n && self.entering < 2 * n {
            out[self.entering - n] = 1.0;
        }
        for (row, basic) in self.rows.chunks_exact(self.width).zip(&self.basic) {
            if (n..2 * n).contains(basic) {
                out[basic - n] = (-row[self.entering]).max(0.0);
            }
        }
    }

    fn load(&mut self, matrix: &[f64], q: &[f64], cover: &[f64]) {
        let n = q.len();
        self.n = n;
        self.width = 2 * n + 2;
        self.rows.clear();
        self.rows.resize(n * self.width, 0.0);
        for (i, row) in self.rows.chunks_exact_mut(self.width).enumerate() {
            row[i] = 1.0;
            for (entry, m) in row[n..2 * n].iter_mut().zip(&matrix[i * n..(i + 1) * n]) {
                *entry = -m;
            }
            row[2 * n] = -cover[i];
            row[2 * n + 1] = q[i];
        }
        self.basic.clear();
        self.basic.extend(0..n);
        self.pivots = 0;
        self.entering = 2 * n;
    }

    fn entry(&self, row: usize, column: usize) -> f64 {
        self.rows[row * self.width + column]
    }

    /// Whether (q, B^-1)_i / d_i is lexicographically less than that of row `k`, at the start.
    fn lifts_more(&self, i: usize, k: usize) -> bool {
        let (di, dk) = (-self.entry(i, 2 * self.n), -self.entry(k, 2 * self.n));
        self.less(i, di, k, dk)
    }

    /// The row that leaves when `column` enters.
    fn blocking_row(&self, column: usize, tolerance: f64) -> Option<usize> {
        let mut best: Option<usize> = None;
        for i in 0..self.n {
            let d = self.entry(i, column);
            if d <= tolerance {
                continue;
            }
            best = match best {
                Some(k) if !self.leaves_before(i, d, k, self.entry(k, column)) => Some(k),
                _ => Some(i),
            };
        }
        best
    }

    /// Whether row `i` with the entry `di` leaves before row `k` with `dk`.
    fn leaves_before(&self, i: usize, di: f64, k: usize, dk: f64) -> bool {
        let right = 2 * self.n + 1;
        let (a, b) = (self.entry(i, right) / di, self.entry(k, right) / dk);
        if equal(a, b) {
            let z0 = 2 * self.n;
            if self.basic[i] == z0 || self.basic[k] == z0 {
                return self.basic[i] == z0;
            }
        }
        self.less(i, di, k, dk)
    }

    /// Whether (q, B^-1)_i / di is lexicographically less than (q, B^-1)_k / dk.
    fn less(&self, i: usize, di: f64, k: usize, dk: f64) -> bool {
        let right = 2 * self.n + 1;
        for column in std::iter::once(right).chain(0..self.n) {
            let (a, b) = (self.entry(i, column) / di, self.entry(k, column) / dk);
            if !equal(a, b) {
                return a < b;
            }
        }
        false
    }

    /// Brings `column` into the basis in `row`; the variable that left.
    fn pivot(&mut self, row: usize, column: usize) -> usize {
        let width = self.width;
        let start = row * width;
        let inverse = 1.0 / self.rows[start + column];
        for x in &mut self.rows[start..start + width] {
            *x *= inverse;
        }
        self.rows[start + column] = 1.0;
        self.pivot_row.clear();
        self.pivot_row
            .extend_from_slice(&self.rows[start..start + width]);
        for (i, other) in self.rows.chunks_exact_mut(width).enumerate() {
            let factor = other[column];
            if i == row || factor == 0.0 {
                continue;
            }
            for (x, p) in other.iter_mut().zip(&self.pivot_row) {
                *x -= factor * p;
            }
            other[column] = 0.0;
        }
        self.pivots += 1;
        std::mem::replace(&mut self.basic[row], column)
    }
}

fn equal(a: f64, b: f64) -> bool {
    (a - b).abs() <= TIE * a.abs().max(b.abs()).max(1.0)
}
