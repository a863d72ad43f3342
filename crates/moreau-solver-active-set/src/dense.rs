//! Small dense linear algebra: elimination with row pivoting.
//!
//! Matrices are row-major.

/// P A = L U of a square matrix, with memory that is reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct Factorization {
    n: usize,
    lu: Vec<f64>,
    order: Vec<usize>,
    scratch: Vec<f64>,
}

impl Factorization {
    /// Factorises the n x n matrix `entry(i, j)`. Says how near to singular it is: the least pivot
    /// over the largest entry, 0 where a pivot vanishes (then it cannot be solved).
    pub(crate) fn factorize(&mut self, n: usize, entry: impl Fn(usize, usize) -> f64) -> f64 {
        self.n = n;
        self.lu.clear();
        self.order.clear();
        self.order.extend(0..n);
        for i in 0..n {
            self.lu.extend((0..n).map(|j| entry(i, j)));
        }
        let largest = self.lu.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let mut least = f64::INFINITY;
        for k in 0..n {
            let mut pivot = k;
            for i in k + 1..n {
                if self.lu[i * n + k].abs() > self.lu[pivot * n + k].abs() {
                    pivot = i;
                }
            }
            let size = self.lu[pivot * n + k].abs();
            if !(size > 0.0) {
                return 0.0;
            }
            least = f64::min(least, size);
            if pivot != k {
                self.order.swap(pivot, k);
                for j in 0..n {
                    self.lu.swap(pivot * n + j, k * n + j);
                }
            }
            let (top, below) = self.lu.split_at_mut((k + 1) * n);
            let top = &top[k * n..];
            for row in below.chunks_exact_mut(n) {
                let factor = row[k] / top[k];
                row[k] = factor;
                if factor != 0.0 {
                    for j in k + 1..n {
                        row[j] -= factor * top[j];
                    }
                }
            }
        }
        if n == 0 { 1.0 } else { least / largest }
    }

    /// Solves A x = b in place.
    pub(crate) fn solve(&mut self, b: &mut [f64]) {
        let n = self.n;
        self.scratch.clear();
        self.scratch.extend(self.order.iter().map(|i| b[*i]));
        let x = &mut self.scratch;
        for i in 0..n {
            for j in 0..i {
                x[i] -= self.lu[i * n + j] * x[j];
            }
        }
        for i in (0..n).rev() {
            for j in i + 1..n {
                x[i] -= self.lu[i * n + j] * x[j];
            }
            x[i] /= self.lu[i * n + i];
        }
        b.copy_from_slice(x);
    }
}

/// The power of two next below `x`; 1 for what has none. Scaling with it changes no digit.
pub(crate) fn power_of_two(x: f64) -> f64 {
    let power = f64::from_bits(x.abs().to_bits() & 0x7FF0_0000_0000_0000);
    if power > 0.0 && power.is_finite() {
        power
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factorization_solves_and_tells_singular_matrices() {
        let a = [0.0, 2.0, 1.0, 4.0, 1.0, 0.0, 1.0, 1.0, 5.0];
        let mut f = Factorization::default();
        assert!(f.factorize(3, |i, j| a[i * 3 + j]) > 0.1);
        let mut x = [7.0, 6.0, 18.0];
        f.solve(&mut x);
        for (x, want) in x.iter().zip([1.0, 2.0, 3.0]) {
            assert!((x - want).abs() < 1e-15);
        }
        assert!(f.factorize(2, |i, j| [1.0, 2.0, 2.0, 4.0][i * 2 + j]) < 1e-16);
        assert_eq!(f.factorize(0, |_, _| 0.0), 1.0);
    }

    #[test]
    fn powers_of_two() {
        assert_eq!(power_of_two(-5.0), 4.0);
        assert_eq!(power_of_two(0.3), 0.25);
        assert_eq!(power_of_two(0.0), 1.0);
        assert_eq!(power_of_two(f64::INFINITY), 1.0);
    }
}
