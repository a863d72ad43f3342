//! Square blocks, column by column: what a factorisation does with them.
//!
//! All loops are over whole columns, so that the compiler makes lanes of them; the sum of each number
//! is in the order of the plain algorithm, and so the same for any number of lanes. The functions are
//! inlined always, to be compiled for the instructions of the function that they end up in.

/// A `B` x `B` block: its columns.
pub(crate) type Block<const B: usize> = [[f64; B]; B];

/// A column in registers.
pub(crate) trait Column<const B: usize>: Copy {
    fn load(from: &[f64; B]) -> Self;
    fn store(self, to: &mut [f64; B]);
    /// self + x `scale`.
    fn add_scaled(self, x: Self, scale: f64) -> Self;
    /// self - x `scale`.
    fn subtract_scaled(self, x: Self, scale: f64) -> Self;
    fn divide(self, by: f64) -> Self;
}

impl<const B: usize> Column<B> for [f64; B] {
    #[inline(always)]
    fn load(from: &[f64; B]) -> Self {
        *from
    }

    #[inline(always)]
    fn store(self, to: &mut [f64; B]) {
        *to = self;
    }

    #[inline(always)]
    fn add_scaled(mut self, x: Self, scale: f64) -> Self {
        for i in 0..B {
            self[i] += x[i] * scale;
        }
        self
    }

    #[inline(always)]
    fn subtract_scaled(mut self, x: Self, scale: f64) -> Self {
        for i in 0..B {
            self[i] -= x[i] * scale;
        }
        self
    }

    #[inline(always)]
    fn divide(mut self, by: f64) -> Self {
        for i in 0..B {
            self[i] /= by;
        }
        self
    }
}

/// The block of the given rows.
pub(crate) fn transposed<const B: usize>(rows: &Block<B>) -> Block<B> {
    let mut a = [[0.0; B]; B];
    for i in 0..B {
        for j in 0..B {
            a[j][i] = rows[i][j];
        }
    }
    a
}

#[inline(always)]
pub(crate) fn is_zero<const B: usize>(a: &Block<B>) -> bool {
    for column in a {
        for x in column {
            if *x != 0.0 {
                return false;
            }
        }
    }
    true
}

/// P A = L U with partial pivoting in place; row i of P A is row `rows[i]` of A. False where a pivot is
/// zero or not finite.
#[inline(always)]
pub(crate) fn factor<const B: usize>(a: &mut Block<B>, rows: &mut [u8; B]) -> bool {
    for i in 0..B {
        rows[i] = i as u8;
    }
    for k in 0..B {
        let mut best = k;
        for i in k + 1..B {
            if a[k][i].abs() > a[k][best].abs() {
                best = i;
            }
        }
        if best != k {
            rows.swap(k, best);
            for column in a.iter_mut() {
                column.swap(k, best);
            }
        }
        let inverse = 1.0 / a[k][k];
        if a[k][k] == 0.0 || !inverse.is_finite() {
            return false;
        }
        // Along rows, so number by number: vectors would have to be loaded from what several stores wrote
        // just before, which takes longer than all the rest.
        for i in k + 1..B {
            let factor = a[k][i] * inverse;
            a[k][i] = factor;
            for j in k + 1..B {
                a[j][i] -= factor * a[j][k];
            }
        }
    }
    true
}

/// x = A^-1 x from the factor.
#[inline(always)]
pub(crate) fn solve<const B: usize>(lu: &Block<B>, rows: &[u8; B], x: &mut [f64; B]) {
    let mut y = [0.0; B];
    for i in 0..B {
        y[i] = x[rows[i] as usize];
    }
    for k in 0..B {
        for i in k + 1..B {
            y[i] -= lu[k][i] * y[k];
        }
    }
    for k in (0..B).rev() {
        for j in k + 1..B {
            y[k] -= lu[j][k] * y[j];
        }
        y[k] /= lu[k][k];
    }
    *x = y;
}

/// X = X A^-1 from the factor P A = L U: solve Y U = X, then Z L = Y, then Z P.
#[inline(always)]
pub(crate) fn divide_right<const B: usize, C: Column<B>>(
    x: &mut Block<B>,
    lu: &Block<B>,
    rows: &[u8; B],
) {
    let mut z = load(x);
    for j in 0..B {
        let mut y = z[j];
        for k in 0..j {
            y = C::subtract_scaled(y, z[k], lu[j][k]);
        }
        z[j] = y.divide(lu[j][j]);
    }
    for j in (0..B).rev() {
        let mut y: C = z[j];
        for k in j + 1..B {
            y = y.subtract_scaled(z[k], lu[j][k]);
        }
        z[j] = y;
    }
    for j in 0..B {
        z[j].store(&mut x[rows[j] as usize]);
    }
}

/// C -= A B.
#[inline(always)]
pub(crate) fn subtract_product<const B: usize, C: Column<B>>(
    c: &mut Block<B>,
    a: &Block<B>,
    b: &Block<B>,
) {
    let a: [C; B] = load(a);
    for j in 0..B {
        let mut column = C::load(&c[j]);
        for k in 0..B {
            column = column.subtract_scaled(a[k], b[j][k]);
        }
        column.store(&mut c[j]);
    }
}

/// y + A x.
#[inline(always)]
pub(crate) fn add_matrix_vector<const B: usize, C: Column<B>>(
    mut y: C,
    a: &Block<B>,
    x: &[f64; B],
) -> C {
    for j in 0..B {
        y = y.add_scaled(C::load(&a[j]), x[j]);
    }
    y
}

/// y - A x.
#[inline(always)]
pub(crate) fn subtract_matrix_vector<const B: usize, C: Column<B>>(
    mut y: C,
    a: &Block<B>,
    x: &[f64; B],
) -> C {
    for j in 0..B {
        y = y.subtract_scaled(C::load(&a[j]), x[j]);
    }
    y
}

/// All columns.
#[inline(always)]
pub(crate) fn load<const B: usize, C: Column<B>>(a: &Block<B>) -> [C; B] {
    let mut columns = [C::load(&a[0]); B];
    for j in 1..B {
        columns[j] = C::load(&a[j]);
    }
    columns
}
